"""Derivatives of any function of a robot, compiled; those of inverse and forward dynamics by a recursion of their own.

The chain rule through Newton-Euler would do the work once per dof. Instead, moving joint j a little
carries all that hangs on it along as one rigid body, so the change of a force felt at joint i is a
product of something of i with something of j [Carpentier and Mansard 2018; Singh, Russell and Wensing
2022]. With v and a of the parent of joint j seen at j, and S its columns,

    Pd = v_p x S,   Pdd = a_p x S + v_p x Pd,   Sd = v x S,

and with I, B, f composite over what hangs on i, for j on the path from i to the root,

    d tau_i / d q_j = S_i^T (2 B Pd_j + I Pdd_j)
    d tau_j / d q_i = S_j^T (2 B Pd_i + I Pdd_i + S_i x* f)       (j above i)
    d tau_i / d v_j = S_i^T (2 B S_j + I (Pd_j + Sd_j)),   and the same with i and j changed round.

B, which gives the part of the force that is linear in a change of velocity, is the `SwayInertia`: it
looks at the angular part of the change only, and takes twelve numbers, not thirty-six.

Derivatives by q are in the tangent space: by w in q (+) w, as `Robot.integrate` has it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pliant.checks import check_known
from pliant.compiler import Kernel, kernel_from_function
from pliant.compiler.tracing import flattened, shaped
from pliant.dynamics.articulated_body import forward_dynamics
from pliant.dynamics.coriolis import SwayInertia
from pliant.dynamics.functions import RobotFunction, array_shapes, robot_function
from pliant.dynamics.joint_space_inertia import Factor, factorized
from pliant.dynamics.newton_euler import external_forces, inverse_dynamics
from pliant.errors import PliantError, bad_value
from pliant.robot import Link, Robot
from pliant.scalar import Expr, Graph, Scalar, Scalars
from pliant.scalar.evaluation import adjoints, interpret, tangents
from pliant.signatures import explained
from pliant.spatial import Force, Motion, Steps, Vector

Matrix = list[list[Scalar]]


class InverseDerivatives(NamedTuple):
    """Derivatives of tau by q, v and vd; the last is M."""

    q: Matrix
    v: Matrix
    vd: Matrix


class _State(NamedTuple):
    """Data of a link for the inward pass: its pose, its motion and its parent's, all in its frame."""

    link: Link
    X_PB: Steps
    v_P: Motion  # noqa: N815
    a_P: Motion  # noqa: N815
    v: Motion

    def changes(self) -> list[tuple[Motion, Motion, Motion, Motion]]:
        """S, Pd, Pdd and Pd + Sd of each dof (times the ratio of a joint that mimics)."""
        found = []
        for column in self.link.kind.columns:
            S = column * self.link.ratio
            Pd = self.v_P.cross(S)
            found.append((S, Pd, self.a_P.cross(S) + self.v_P.cross(Pd), Pd + self.v.cross(S)))
        return found


@robot_function
def inverse_dynamics_derivatives(
    robot: Robot, q: Scalars, v: Scalars, vd: Scalars, *, external: Any = None
) -> InverseDerivatives:
    """Derivatives of `inverse_dynamics` by q (in the tangent space), v and vd, nv x nv each.

    Args:
        q, v: configuration, nq [rad or m], and velocity, nv [rad/s or m/s].
        vd: acceleration, nv.
        external: forces on the bodies as for `inverse_dynamics`, each constant in its body's frame.
    """
    mechanism = robot.mechanism
    n = mechanism.nv
    states, f = _outward(robot, q, v, vd)
    if external is not None:
        f = [a - b for a, b in zip(f, external_forces(robot, external), strict=True)]
    by_q, by_v, by_vd = ([[0] * n for _ in range(n)] for _ in range(3))
    I = [link.inertia for link in mechanism.links]
    B = [SwayInertia.of(s.link.inertia, s.v) for s in states]
    changes = [s.changes() for s in states]
    for state in reversed(states):
        link, i = state.link, state.link.index
        for d, (S, Pd, Pdd, both) in zip(link.dofs, changes[i], strict=True):
            # seen from joint i: what its own force is made of, and what its own change brings about
            inertial, convective = I[i] @ S, B[i].transposed_times(S) * 2
            moved = B[i] @ (Pd * 2) + I[i] @ Pdd
            hurried = B[i] @ (S * 2) + I[i] @ both
            rest = S.cross_force(f[i])
            above = state
            while True:
                own = above is state
                for e, (S_e, Pd_e, Pdd_e, both_e) in zip(above.link.dofs, changes[above.link.index], strict=True):
                    _add(by_q, d, e, convective.dot(Pd_e.angular) + Pdd_e.dot(inertial))
                    _add(by_v, d, e, convective.dot(S_e.angular) + both_e.dot(inertial))
                    _add(by_vd, d, e, S_e.dot(inertial))
                    if not own:
                        _add(by_q, e, d, S_e.dot(moved))
                        _add(by_v, e, d, S_e.dot(hurried))
                        _add(by_vd, e, d, S_e.dot(inertial))
                if above.link.parent < 0:
                    break
                X = above.X_PB
                inertial, convective, hurried = X.act(inertial), X.rotate(convective), X.act(hurried)
                moved = X.act(moved + rest) if own else X.act(moved)
                above = states[above.link.parent]
        if link.parent >= 0:
            p = link.parent
            I[p] = I[p] + I[i].transformed(state.X_PB)
            B[p] = B[p] + B[i].transformed(state.X_PB)
            f[p] = f[p] + state.X_PB.act(f[i])
    for d, arm in enumerate(mechanism.armature):
        by_vd[d][d] = by_vd[d][d] + arm
    for (d, e), arm in mechanism.couplings.items():
        for r, c in {(d, e), (e, d)}:
            by_vd[r][c] = by_vd[r][c] + arm
    return InverseDerivatives(by_q, by_v, by_vd)


def _add(matrix: Matrix, r: int, c: int, value: Scalar) -> None:
    matrix[r][c] = matrix[r][c] + value


def _outward(robot: Robot, q, v, vd) -> tuple[list[_State], list[Force]]:
    """Motion of every link and the force its inertia asks for; accelerations are spatial here."""
    mechanism = robot.mechanism
    rest, falling = Motion.zero(), Motion(-mechanism.gravity, Vector.zero())
    states: list[_State] = []
    accelerations: list[Motion] = []
    forces: list[Force] = []
    for link in mechanism.links:
        X_PB = link.transform(q)
        v_P = X_PB.act_back(states[link.parent].v if link.parent >= 0 else rest)
        a_P = X_PB.act_back(accelerations[link.parent] if link.parent >= 0 else falling)
        vJ = link.kind.motion(link.rate(v))
        velocity = v_P + vJ
        a = a_P + link.kind.motion(link.rate(vd)) + velocity.cross(vJ)
        states.append(_State(link, X_PB, v_P, a_P, velocity))
        accelerations.append(a)
        forces.append(link.inertia @ a + velocity.cross_force(link.inertia @ velocity))
    return states, forces


@inverse_dynamics.derivative
def _inverse_rule(robot: Robot, q, v, vd, *, external: Any = None, wrt: Sequence[str]) -> dict[str, Matrix]:
    found = inverse_dynamics_derivatives.algorithm(robot, q, v, vd, external=external)
    return {name: getattr(found, name) for name in wrt if name in InverseDerivatives._fields}


@forward_dynamics.derivative
def _forward_rule(robot: Robot, q, v, tau, *, external: Any = None, wrt: Sequence[str]) -> dict[str, Matrix]:
    """By the implicit function: with tau = ID(q, v, vd), d vd / d x = -M^-1 d ID / d x."""
    vd = forward_dynamics.algorithm(robot, q, v, tau, external=external)
    found = inverse_dynamics_derivatives.algorithm(robot, q, v, vd, external=external)
    factor = factorized(robot.mechanism, found.vd)
    results: dict[str, Matrix] = {}
    for name in wrt:
        if name in ("q", "v"):
            results[name] = _solved(factor, getattr(found, name), sign=-1)
        elif name == "tau":
            inverse = _solved(factor, _units(robot.nv))
            # symmetric: the half that costs less
            results[name] = [[inverse[min(r, c)][max(r, c)] for c in range(robot.nv)] for r in range(robot.nv)]
    return results


def _solved(factor: Factor, matrix: Matrix, sign: int = 1) -> Matrix:
    """sign M^-1 matrix."""
    n = len(matrix)
    columns = [factor.solve([sign * matrix[r][c] for r in range(n)]) for c in range(n)]
    return [[columns[c][r] for c in range(n)] for r in range(n)]


CONFIGURATIONS = ("q", "q0", "q1")


@explained
def jacobian(
    function: Callable[..., Any], robot: Robot, wrt: str | Sequence[str], *, precision: str = "float64",
    threads: int = 1, shapes: Mapping[str, Any] | None = None, **options: Any,
) -> Kernel:  # fmt: skip
    """The kernel of a function's derivatives by some of its array arguments.

    Derivatives by a configuration are in the tangent space: by w in q (+) w, nv columns, as
    `Robot.integrate` has it (for q without rotations that is d/dq). `forward_dynamics` and
    `inverse_dynamics` bring derivatives of their own; any other function is differentiated operation by
    operation.

    Args:
        function: one of Pliant's or your own generic ``function(robot, q, ...)`` that returns one array.
        robot: the robot it is specialised to.
        wrt: name of an argument, or several names.
        precision, threads, shapes, options: as for `compile`.

    Returns:
        A kernel of the function's arguments that returns an array (*result, n), or a tuple of them, one
        for each name in ``wrt``.
    """
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    algorithm = function.algorithm if isinstance(function, RobotFunction) else function
    label = getattr(function, "__name__", "function")
    arrays, options = array_shapes(algorithm, robot, shapes or {}, options)
    if not names or len(set(names)) < len(names):
        raise PliantError(bad_value("wrt", wrt, "the name of one argument, or several different ones", "jacobian"))
    for name in names:
        check_known("array argument", name, arrays, label)
    rule = function.derivative_rule if isinstance(function, RobotFunction) else None
    package = NamedTuple("Jacobian", [(n, Any) for n in names])  # type: ignore[misc]

    def run(*values: Any) -> Any:
        given = dict(zip(arrays, values, strict=True))
        found = rule(robot, **given, **options, wrt=names) if rule else {}
        rest = [n for n in names if n not in found]
        if rest:
            found.update(_chain_rule(algorithm, robot, given, options, rest, arrays))
        return found[names[0]] if isinstance(wrt, str) else package(*(found[n] for n in names))

    title = f"d {label} / d {', '.join(names)}"
    return kernel_from_function(run, arrays, name=title, precision=precision, threads=threads)


def _chain_rule(algorithm, robot: Robot, given, options, names, arrays) -> dict[str, Any]:
    """Derivatives operation by operation, forward or backward, whichever takes fewer passes."""
    value = algorithm(robot, **given, **options)
    if isinstance(value, tuple):
        problem = "jacobian takes a function that returns one array, not a tuple of them"
        raise PliantError(problem, subject="jacobian", field="function")
    scalars, shape = flattened(value)
    graph = next((s.graph for v in given.values() for s in flattened(v)[0] if isinstance(s, Expr)), Graph())
    outputs = [graph.lift(s) for s in scalars]
    results = {}
    for name in names:
        inputs = flattened(given[name])[0]
        directions = tangent_directions(robot, inputs) if name in CONFIGURATIONS else _units(len(inputs))
        if len(directions) <= len(outputs):
            columns = [tangents(outputs, dict(zip(inputs, seed, strict=True))) for seed in directions]
            rows = [[column[r] for column in columns] for r in range(len(outputs))]
        else:
            rows = [_combined(adjoints([y], [1], inputs), directions) for y in outputs]
        size = () if name not in CONFIGURATIONS and not arrays[name] else (len(directions),)
        results[name] = shaped([x for row in rows for x in row], (*shape, *size))
    return results


def _units(n: int) -> list[list[int]]:
    return [[1 if r == c else 0 for r in range(n)] for c in range(n)]


def _combined(row: list, directions: list) -> list:
    return [sum((a * b for a, b in zip(row, seed, strict=True)), 0) for seed in directions]


def tangent_directions(robot: Robot, q: list) -> list[list]:
    """The rates of q along each direction of the tangent space: d (q (+) w) / d w at w = 0."""
    graph = Graph()
    names = [f"q{k}" for k in range(robot.nq)]
    symbols = [graph.input(name) for name in names]
    w = [graph.input(f"w{k}") for k in range(robot.nv)]
    moved = [graph.lift(x) for x in robot.integrate(symbols, w)]
    rates = [[graph.lift(r) for r in tangents(moved, {x: 1})] for x in w]
    values = {**dict(zip(names, q, strict=True)), **{f"w{k}": 0 for k in range(robot.nv)}}
    return [interpret(row, values) for row in rates]
