"""Three ways to the equations of motion M vd + b + g = Q. They share no step, and must agree.

- "newton-euler": the recursive algorithm, run on symbols. It returns tau = M vd + b + g: g at rest, b with the
  velocity but without gravity, and column j of M for the acceleration 1 of dof j alone.
- "projected": Newton's and Euler's equations of each body, projected by its Jacobians.
- "lagrange": d/dt dT/dv - dT/dq + dU/dq, by derivatives of the energies.

`traced_terms` runs them by way of an expression graph, which is much quicker than SymPy for long formulas: traced
scalars fold and share as they are made; each node then is one operation on SymPy's symbols. Numbers of the algorithms
become floats on the way, 1/2 is 0.5.
"""

from collections.abc import Callable, Sequence
from dataclasses import is_dataclass, replace
from typing import Any

from pliant.dynamics import ProjectedEquations as Terms
from pliant.dynamics import inverse_dynamics, kinetic_energy, potential_energy, projected_newton_euler
from pliant.errors import PliantError
from pliant.robot import Named, Robot
from pliant.scalar import Expr, Graph, Scalar, as_sympy
from pliant.scalar.evaluation import adjoints, interpret, tangents
from pliant.symbolic.coordinates import parts_of, sympy


def _newton_euler(robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar]) -> Terms:
    nv = robot.nv
    rest = [0] * nv
    floating = robot.with_gravity(0, 0, 0)
    units = [[int(i == j) for i in range(nv)] for j in range(nv)]
    columns = [inverse_dynamics.algorithm(floating, q, rest, unit) for unit in units]
    return Terms(
        # M is symmetric, and the lower triangle is shorter: what is nearer to the world moves less
        [[columns[min(i, j)][max(i, j)] for j in range(nv)] for i in range(nv)],
        inverse_dynamics.algorithm(floating, q, v, rest),
        inverse_dynamics.algorithm(robot, q, rest, rest),
    )


def _lagrange(robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar]) -> Terms:
    def gradient(e: Scalar, by: Sequence[Scalar]) -> list[Scalar]:
        return [sympy.diff(as_sympy(e), x) for x in by]

    def along(formulas: Sequence[Scalar], rates: dict[Scalar, Scalar]) -> list[Scalar]:
        return [sympy.Add(*(sympy.diff(e, x) * rate for x, rate in rates.items())) for e in formulas]

    return _by_energies(robot, q, v, gradient, along)


def _by_energies(robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar], gradient: Any, along: Any) -> Terms:
    """M = d2T/dv2 and, with M' v = sum_k dM/dq_k v_k v, b = M' v - dT/dq and g = dU/dq.

    ``gradient`` is of a formula by symbols; ``along`` gives changes of formulas whose symbols change at given rates.
    """
    check_minimal_coordinates(robot)
    T, U = kinetic_energy.algorithm(robot, q, v), potential_energy.algorithm(robot, q)
    momenta = gradient(T, v)
    # d/dt dT/dv = M vd + sum_k d(dT/dv)/dq_k v_k
    drift = along(momenta, dict(zip(q, v, strict=True)))
    columns = [along(momenta, {rate: 1}) for rate in v]
    return Terms(
        [[column[i] for column in columns] for i in range(robot.nv)],
        [a - b for a, b in zip(drift, gradient(T, q), strict=True)],
        gradient(U, q),
    )


METHODS: dict[str, Callable[[Robot, Sequence[Scalar], Sequence[Scalar]], Terms]] = {
    "newton-euler": _newton_euler,
    "projected": projected_newton_euler.algorithm,
    "lagrange": _lagrange,
}


def christoffel(M: Any, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """C_ij = 1/2 sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_kj/dq_i) v_k, with the rates v of the coordinates q."""
    n = len(q)
    dM = [[[sympy.diff(M[i, j], x) for x in q] for j in range(n)] for i in range(n)]

    def entry(i: int, j: int) -> Scalar:
        return sympy.Add(*((dM[i][j][k] + dM[i][k][j] - dM[k][j][i]) * v[k] for k in range(n))) / 2

    return [[entry(i, j) for j in range(n)] for i in range(n)]


def several_coordinates(robot: Robot) -> list[str]:
    """The joints whose velocities are not the rates of their coordinates: quaternions, or a cosine and a sine."""
    return [j.name for j in robot.joints.values() if j.kind.nq != j.kind.nv]


def check_minimal_coordinates(robot: Robot) -> None:
    """Raise if the velocities are not the rates of the coordinates, as Lagrange's equations need."""
    joints = several_coordinates(robot)
    if joints:
        kinds = ", ".join(f"{name!r} ({robot.joints[name].kind.name})" for name in joints)
        problem = f"method 'lagrange' takes coordinates whose rates are the velocities, but {robot.name!r} has joints "
        problem += f"with more coordinates than that: {kinds}"
        cure = "use rotations='euler', which makes them single joints, or another method"
        raise PliantError(problem, subject=f"robot {robot.name!r}", field="method", cure=cure)


# ---- by way of an expression graph


def traced_terms(method: str, robot: Robot, q: Sequence[Any], v: Sequence[Any]) -> Terms:
    """M, b and g as formulas in the symbols q and v and those of the robot, by one of `METHODS`."""
    graph = Graph()
    inputs: dict[Any, Expr] = {}

    def traced(e: Any) -> Expr:
        if e not in inputs:
            inputs[e] = graph.input(f"s{len(inputs)}")
        return inputs[e]

    x, rates = [traced(s) for s in q], [traced(s) for s in v]
    own = _traced_robot(robot, traced)

    def gradient(e: Scalar, by: Sequence[Expr]) -> list[Expr]:
        return [graph.lift(slope) for slope in adjoints([graph.lift(e)], [1], by)]

    is_lagrange = method == "lagrange"
    terms = _by_energies(own, x, rates, gradient, tangents) if is_lagrange else METHODS[method](own, x, rates)
    flat = [*(e for row in terms.M for e in row), *terms.b, *terms.g]
    made = iter(interpret([graph.lift(e) for e in flat], {node.value: e for e, node in inputs.items()}))
    n = robot.nv
    return Terms([[next(made) for _ in range(n)] for _ in range(n)], [next(made) for _ in range(n)], list(made))


def _traced_robot(robot: Robot, traced: Callable[[Any], Expr]) -> Robot:
    """A copy whose symbols are traced scalars."""

    def named(old: Named[Any]) -> Named[Any]:
        return Named(old.kind, [_changed(item, traced) for item in old.values()], old.owner)

    return replace(
        robot, bodies=named(robot.bodies), joints=named(robot.joints), motors=named(robot.motors),
        frames=named(robot.frames), gravity=_changed(robot.gravity, traced),
    )  # fmt: skip


def _changed(part: Any, traced: Callable[[Any], Expr]) -> Any:
    """A part with traced scalars for what has symbols; itself, if nothing has."""
    if hasattr(part, "free_symbols"):
        return traced(part) if part.free_symbols else float(part)
    if isinstance(part, tuple):
        new = [_changed(x, traced) for x in part]
        return part if _is_same(new, part) else tuple(new)
    old = parts_of(part)
    new = {name: _changed(x, traced) for name, x in old.items()}
    if _is_same(new.values(), old.values()):
        return part
    if is_dataclass(part):
        return replace(part, **new)  # type: ignore[type-var]
    made = object.__new__(type(part))
    for slot, x in new.items():
        object.__setattr__(made, slot, x)
    return made


def _is_same(new: Any, old: Any) -> bool:
    return all(a is b for a, b in zip(new, old, strict=True))
