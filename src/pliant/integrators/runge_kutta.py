"""Explicit Runge-Kutta methods on the configuration manifold: tableaus, one step, and the step as a program.

A step works in the chart at its own start [Munthe-Kaas 1999, "High order Runge-Kutta methods on
manifolds"]: q = integrate(q0, w), and the equations are those of a vector space,

    w' = chart_rate(w, v)        v' = acceleration(t, q, v)        from w = 0

so a method has on rotations the order that it has on vectors. Tableaus and their names: Hairer,
Norsett, Wanner 1993, *Solving Ordinary Differential Equations I*, II.1, II.5 and II.6.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pliant.compiler import Block, Loop
from pliant.errors import PliantError
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars

Acceleration = Callable[..., Sequence[Scalar]]
Settle = Callable[..., tuple[Sequence[Scalar], Sequence[Scalar]]]
Stage = tuple[list[Scalar], list[Scalar]]


class Manifold(Protocol):
    """Where configurations live: a `Robot`, or its compiled `Chart`."""

    def integrate(self, q: Any, w: Any, /) -> Any:
        """q moved by w."""
        ...

    def chart_rate(self, w: Any, v: Any, /) -> Any:
        """w' for which integrate(q, w) moves with v."""
        ...


@dataclass(frozen=True)
class WithMemory:
    """A manifold and numbers with rates of their own, which take part in a step as if they were velocities.

    Its v is [v, memory], and the acceleration that goes with it [vd, rate of the memory].

    Attributes:
        robot: where the configurations are.
        size: how many numbers.
    """

    robot: Robot
    size: int

    @property
    def nq(self) -> int:
        """Size of a configuration."""
        return self.robot.nq

    @property
    def nv(self) -> int:
        """Size of a velocity and the memory."""
        return self.robot.nv + self.size

    def integrate(self, q: Any, w: Any, /) -> Any:
        """q moved by w."""
        return self.robot.integrate(q, list(w)[: self.robot.nv])

    def chart_rate(self, w: Any, v: Any, /) -> Any:
        """w' of the configuration; what the memory adds up to is nobody's."""
        n = self.robot.nv
        return [*self.robot.chart_rate(list(w)[:n], list(v)[:n]), *list(v)[n:]]


@dataclass(frozen=True)
class Tableau:
    """The coefficients of an explicit Runge-Kutta method.

    Stage i is taken at t + c_i h from w_i = h sum_j a_ij k_j over the stages before it; the step ends
    at w = h sum_i b_i k_i.

    Attributes:
        a: row i has the i coefficients of stage i.
        order: of the error: that of a step is of order + 1 in h.
        b_embedded: a second, less accurate result of the same stages, or None.
        dense: for each stage the coefficients of theta, theta^2, ... in b_i(theta), which reaches
            t + theta h in place of t + h; or None.
    """

    name: str
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]
    order: int
    b_embedded: tuple[float, ...] | None = None
    dense: tuple[tuple[float, ...], ...] | None = None

    def weights(self, theta: Any) -> list[Any]:
        """b_i(theta) of the dense output; theta may be an array."""
        if self.dense is None:
            raise PliantError(f"the method {self.name!r} has no dense output; DORMAND_PRINCE has")
        return [sum(c * theta ** (k + 1) for k, c in enumerate(row)) for row in self.dense]


HEUN = Tableau("Heun", a=((), (1,)), b=(1 / 2, 1 / 2), c=(0, 1), order=2)

RK4 = Tableau(
    "RK4", a=((), (1 / 2,), (0, 1 / 2), (0, 0, 1)), b=(1 / 6, 1 / 3, 1 / 3, 1 / 6), c=(0, 1 / 2, 1 / 2, 1), order=4
)

# Dormand and Prince 1980; the dense output, of order 4, is that of Shampine 1986
DORMAND_PRINCE = Tableau(
    "Dormand-Prince 5(4)",
    a=(
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    b=(35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0),
    c=(0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1),
    order=5,
    b_embedded=(5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40),
    dense=(
        (1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
        (0, 0, 0, 0),
        (0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
        (0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
        (0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
        (0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
        (0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
    ),
)


def combination(weights: Scalars, vectors: Sequence[Scalars]) -> list[Scalar]:
    """sum_i weights_i vectors_i, without those whose weight is the number 0."""
    kept = [(b, k) for b, k in zip(weights, vectors, strict=True) if not (isinstance(b, int | float) and b == 0)]
    return [sum(b * k[d] for b, k in kept) for d in range(len(vectors[0]))]


def explicit_step(
    robot: Manifold,
    tableau: Tableau,
    acceleration: Acceleration,
    t: Scalar,
    q: Scalars,
    v: Scalars,
    dt: Scalar,
    *,
    vd: Scalars | None = None,
) -> tuple[list[Scalar], list[Scalar], list[Stage]]:
    """One step of the method, for scalars of any kind.

    Args:
        acceleration: generic function ``acceleration(t, q, v)`` of lists of scalars, nv.
        t, q, v: time [s], configuration, nq, and velocity, nv, at the start.
        dt: length of the step [s].
        vd: the acceleration at the start, if it is known already.

    Returns:
        q and v at the end, and the stages: (w', v') of each.
    """
    # at w = 0 the rate of the chart is v
    stages: list[Stage] = [(list(v), list(acceleration(t, list(q), list(v)) if vd is None else vd))]
    for row, c in zip(tableau.a[1:], tableau.c[1:], strict=True):
        w_s, v_s = _reached(row, stages, v, dt)
        vd_s = acceleration(t + c * dt, list(robot.integrate(q, w_s)), v_s)
        stages.append((list(robot.chart_rate(w_s, v_s)), list(vd_s)))
    w, v_end = _reached(tableau.b, stages, v, dt)
    return list(robot.integrate(q, w)), v_end, stages


def _reached(weights: Scalars, stages: Sequence[Stage], v: Scalars, dt: Scalar) -> Stage:
    """w and v after the stages with these weights."""
    w = [dt * k for k in combination(weights, [s[0] for s in stages])]
    return w, [a + dt * k for a, k in zip(v, combination(weights, [s[1] for s in stages]), strict=True)]


def euler_step(
    robot: Manifold, acceleration: Acceleration, t: Scalar, q: Scalars, v: Scalars, dt: Scalar
) -> tuple[list[Scalar], list[Scalar]]:
    """q and v after a step of Euler's method: v1 = v + dt a, q1 = integrate(q, dt v1 + dt^2/2 a), a at the start."""
    a = list(acceleration(t, list(q), list(v)))
    v1 = [x + dt * y for x, y in zip(v, a, strict=True)]
    w = [dt * x + dt * dt / 2 * y for x, y in zip(v1, a, strict=True)]
    return list(robot.integrate(q, w)), v1


def explicit_body(
    robot: Robot | WithMemory, tableau: Tableau | None, acceleration: Acceleration, *, reads: Sequence[str] = (),
    v: str = "v", settle: Settle | None = None,
) -> tuple[dict[str, int], list[Block | Loop]]:  # fmt: skip
    """A step of fixed length as pieces of a program: it reads t, q, v and dt, and writes t, q and v.

    Args:
        tableau: of the method; None for `euler_step`.
        acceleration: generic function ``acceleration(t, q, v, *values)``, nv; the values are arrays of
            the variables that ``reads`` names.
        reads: variables of the program that the acceleration depends on, e.g. ``("u",)``.
        v: name of the variable with the velocities, and the memory of a `WithMemory`.
        settle: generic function ``settle(q, v, *values)``, what q and v become after the step.

    Returns:
        The variables it needs beyond t, q, v, dt and ``reads`` (none), and the statements.
    """

    def step(t, q, v, dt, *values):
        def at(t, q, v):
            return acceleration(t, q, v, *values)

        if tableau is None:
            q, v = euler_step(robot, at, t[0], q, v, dt[0])
        else:
            q, v, _ = explicit_step(robot, tableau, at, t[0], q, v, dt[0])
        if settle is not None:
            q, v = settle(q, v, *values)
        return [t[0] + dt[0]], q, v

    return {}, [Block(step, ("t", "q", v, "dt", *reads), ("t", "q", v))]
