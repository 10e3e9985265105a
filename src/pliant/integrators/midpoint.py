"""The implicit midpoint rule on the configuration manifold, for stiff springs and for keeping energy.

    vm = (v + v1) / 2        qm = integrate(q, dt/2 vm)        q1 = integrate(q, dt vm)
    M(qm) (v1 - v) = dt (force(t + dt/2, qm, vm) - h(qm, vm))

It has order 2, is its own inverse backward in time, is stable however stiff the springs, and keeps
quadratic invariants, such as energy and momentum of a free body, to rounding [Hairer, Lubich, Wanner
2006, *Geometric Numerical Integration*, IV.2]. v1 is found by simplified Newton iterations

    v1 <- v1 - A^-1 r,      r = M(qm) (v1 - v) - dt (force - h),      A = M(q) + dt/2 D + dt^2/4 K

with r by Newton-Euler, and A, taken once at the start of the step, factorized like a mass matrix. D and
K are -d force/dv and -d force/dq, with the zeros of M: what they hold of the stiffness converges at once.
"""

from collections.abc import Callable, Sequence

from pliant.compiler import Block, Loop
from pliant.dynamics.joint_space_inertia import Factor, composite_inertia, factorized
from pliant.dynamics.newton_euler import newton_euler
from pliant.errors import PliantError
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars, both, either, maximum, select
from pliant.scalar.functions import largest

JointForces = Callable[..., Scalars]
Linear = Callable[..., tuple]

# a correction so much smaller than v is none; one that shrinks no more below the second is rounding
TOLERANCES = {"float64": (1e-13, 1e-8), "float32": (1e-6, 1e-3)}


def midpoint_factor(robot: Robot, q: Scalars, v: Scalars, dt: Scalar, linear: Linear | None) -> Factor:
    """The factor of A = M(q) + dt/2 D + dt^2/4 K.

    Args:
        linear: generic function ``linear(q, v)`` that gives the diagonals (D, K), nv each [N s/m or N m s,
            N/m or N m], and maybe a dict with the entries (d, e) of K below the diagonal; None for zeros.
    """
    A = composite_inertia(robot, q)
    if linear is not None:
        D, K, *more = linear(q, v)
        if len(D) != robot.nv or len(K) != robot.nv:
            problem = f"implicit midpoint: linear(q, v) gave diagonals D and K with {len(D)} and {len(K)} entries"
            raise PliantError(problem, field="linear", cure=f"robot {robot.name!r} has nv = {robot.nv}")
        for d in range(robot.nv):
            A[d][d] = A[d][d] + dt / 2 * (D[d] + dt / 2 * K[d])
        for (d, e), k in more[0].items() if more else ():
            A[d][e] = A[d][e] + dt * dt / 4 * k
    return factorized(robot.mechanism, A)


def midpoint_residual(
    robot: Robot, force: JointForces, t: Scalar, q: Scalars, v: Scalars, dt: Scalar, v1: Scalars
) -> list[Scalar]:
    """r = M(qm) (v1 - v) - dt (force - h), zero for the v1 that is sought [N s or N m s]."""
    vm = [(a + b) / 2 for a, b in zip(v, v1, strict=True)]
    vd = [(b - a) / dt for a, b in zip(v, v1, strict=True)]
    qm = list(robot.integrate(q, vm, dt / 2))
    needed = newton_euler(robot, qm, vm, vd)
    return [dt * (a - b) for a, b in zip(needed, force(t + dt / 2, qm, vm), strict=True)]


def midpoint_step(
    robot: Robot,
    force: JointForces,
    t: Scalar,
    q: Scalars,
    v: Scalars,
    dt: Scalar,
    *,
    linear: Linear | None = None,
    iterations: int = 20,
) -> tuple[list[Scalar], list[Scalar]]:
    """q and v after one step with a fixed number of iterations, for scalars of any kind; what `midpoint_body` means.

    Args:
        force: generic function ``force(t, q, v)``: joint forces of motors, springs and dampers, nv.
        t, q, v: time [s], configuration, nq, and velocity, nv, at the start.
        dt: length of the step, not zero [s].
        linear: see `midpoint_factor`.
    """
    factor = midpoint_factor(robot, q, v, dt, linear)
    v1 = list(v)
    for _ in range(iterations):
        change = factor.solve(midpoint_residual(robot, force, t, q, v, dt, v1))
        v1 = [a - b for a, b in zip(v1, change, strict=True)]
    return _moved(robot, q, v, v1, dt), v1


def midpoint_body(
    robot: Robot,
    force: JointForces,
    linear: Linear | None = None,
    *,
    reads: Sequence[str] = (),
    iterations: int = 50,
    robot_at: Callable[..., Robot] | None = None,
    precision: str = "float64",
    is_linear: bool = True,
) -> tuple[dict[str, int], list[Block | Loop]]:
    """A step as pieces of a program: it reads t, q, v and dt, and writes t, q and v.

    Each robot iterates until its correction is 1e-13 of its largest velocity (1e-6 in float32), or is small and no
    longer shrinks: rounding. ``iterations`` and ``unsolved`` say how many that took in all steps, and in how
    many steps they did not suffice.

    Args:
        force: generic function ``force(t, q, v, *values)``, nv; the values are arrays of the variables
            that ``reads`` names.
        linear: generic function ``linear(q, v, *values)`` that gives (D, K); see `midpoint_factor`.
        reads: variables of the program that force and linear depend on, e.g. ``("u",)``.
        iterations: of a step, at most.
        robot_at: the robot as a function of the values, if its numbers depend on them.
        precision: of the kernel, "float64" or "float32".
        is_linear: whether D and K hardly change within a step; else A is made anew in every iteration, and a
            correction that does not shrink is halved.

    Returns:
        The variables it needs beyond t, q, v, dt and ``reads``, and the statements.
    """
    enough, rounding = TOLERANCES[precision]
    above = [support[1:] for support in robot.mechanism.support]
    places = [(d, e) for d in range(robot.nv) for e in above[d]]

    def begin(q, v, dt, *values):
        def diagonals(q, v):
            return linear(q, v, *values) if linear else ([0] * robot.nv, [0] * robot.nv)

        own = robot_at(*values) if robot_at else robot
        factor = midpoint_factor(own, list(q), list(v), dt[0], diagonals)
        return [*factor.D_inverse, *(factor.L[d][e] for d, e in places)], list(v), [float("inf")]

    def iterate(t, q, v, dt, v1, packed, before, count, *values):
        L: list[list[Scalar]] = [[0] * robot.nv for _ in range(robot.nv)]
        for (d, e), x in zip(places, packed[robot.nv :], strict=True):
            L[d][e] = x
        factor = Factor(L, list(packed[: robot.nv]), above)
        own = robot_at(*values) if robot_at else robot
        if linear is not None and not is_linear:
            own_linear = linear
            vm = [(a + b) / 2 for a, b in zip(v, v1, strict=True)]
            qm = list(robot.integrate(q, vm, dt[0] / 2))
            factor = midpoint_factor(own, qm, vm, dt[0], lambda q, v: own_linear(q, v, *values))
        residual = midpoint_residual(own, lambda *a: force(*a, *values), t[0], list(q), list(v), dt[0], list(v1))
        change = factor.solve(residual)
        if not is_linear:
            share = select(largest(change) < before[0], 1, 1 / 2)
            change = [share * x for x in change]
        better = [a - b for a, b in zip(v1, change, strict=True)]
        size, scale = largest(change), maximum(largest(better), largest(v))
        is_rounding = both(size >= before[0], size <= rounding * scale)
        return better, [size], [count[0] + 1], [either(size <= enough * scale, is_rounding)]

    def finish(t, q, v, dt, v1, solved, unsolved):
        return [t[0] + dt[0]], _moved(robot, q, v, v1, dt[0]), list(v1), [unsolved[0] + 1 - solved[0]]

    names = ("midpoint_v", "midpoint_factor", "midpoint_change", "iterations")
    step = Block(iterate, ("t", "q", "v", "dt", *names, *reads), ("midpoint_v", *names[2:], "midpoint_solved"))
    body = [
        Block(begin, ("q", "v", "dt", *reads), ("midpoint_factor", "midpoint_v", "midpoint_change")),
        Loop((step,), iterations, "midpoint_solved"),
        Block(finish, ("t", "q", "v", "dt", "midpoint_v", "midpoint_solved", "unsolved"), ("t", "q", "v", "unsolved")),
    ]
    sizes = dict.fromkeys(("midpoint_change", "midpoint_solved", "iterations", "unsolved"), 1)
    return {"midpoint_v": robot.nv, "midpoint_factor": robot.nv + len(places), **sizes}, body


def _moved(robot: Robot, q: Scalars, v: Scalars, v1: Scalars, dt: Scalar) -> list[Scalar]:
    return list(robot.integrate(q, [a + b for a, b in zip(v, v1, strict=True)], dt / 2))
