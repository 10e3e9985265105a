"""Stages for robots that turn fast for the step: Coriolis forces at its middle (`pliant.dynamics.implicit_coriolis`).

A robot of which a joint, or the base, turns faster than 20 rad/s or by more than 0.04 rad in the step is ``fast``: its
forces are taken once more, at the middle of the motion that those of the start lead to. One that turns by more than a
tenth of a radian ``whirls``, and solves for the middle. All others skip these stages. Robots with springs at spherical
joints, which swing about several axes, take the mean of start and end in every step; fast ones predict the end more
often, and whirl from half a radian on.

Contacts and limits lead to another v+ than the forces alone. A robot that ends the step otherwise than its Coriolis
forces were taken for makes another round with those of the v+ found (`expect_turning`).
"""

from pliant.dynamics.articulated_coriolis import CoriolisRecursion
from pliant.dynamics.energy_and_momentum import kinetic_energy
from pliant.dynamics.gyroscopic import held_centers
from pliant.dynamics.implicit_coriolis import (
    SOLUTIONS, CoriolisMatrix, change_in_fast_motion, drift_of, half_way, impulses_but_turning, smaller_share,
)  # fmt: skip
from pliant.dynamics.joint_space_inertia import composite_inertia
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot.configurations import held_acceleration
from pliant.scalar import Scalar, Scalars, abs, either, equal, negation, select
from pliant.simulation.model import StepModel
from pliant.simulation.solver_stages import Record, StepProgram, any_of, factor_of, largest_known
from pliant.spatial import Vector

# turns in a step from which on a robot is fast, and whirls [rad]
_FAST = 0.04
_WHIRLING = 0.1
_WHIRLING_BALLS = 0.5

# and a rate that is fast in any step [rad/s]
_RATE = 20

# predictions of the middle: with one alone, light bodies among heavy ones gain a share of (w dt)^2 a step
_MIDDLES = 2

# more predictions of the velocity at the end, of robots with springs at spherical joints
_MORE = 2

# iterations for the share of the motion that keeps its energy, and a change of it that no longer matters
_SHARES = 4
_NEARLY = 0.999

# a robot that goes by so much more or less than expected makes another round [rad or m]; with spherical joints, whose
# Coriolis forces are half those of the end at any rate, that must not differ by what a contact does in a step
_OTHERWISE = 0.002
_OTHERWISE_BALLS = 5e-5


def turning_flags(m: StepModel, v: Scalars, start: Scalars, w: Scalars, found: Scalars) -> Record:
    """Whether a robot is fast and whirls, by name, or becomes so: ``start`` and ``w`` are L v and L v+.

    Args:
        found: whether it was found to be fast, and to whirl, in the round before.
    """
    if not m.can_be_fast:
        return {}
    rates = [abs(v[d]) for d in m.turning_dofs]
    now = largest_known(rates)
    soon = largest_known([rate + abs(w[d] - start[d]) for d, rate in zip(m.turning_dofs, rates, strict=True)])
    flags = (now > _fast_rate(m), soon > _whirling_rate(m))
    fast, whirls = (either(flag, negation(equal(x, 0))) for flag, x in zip(flags, found, strict=True))
    return {"fast": [fast], "whirls": [whirls]}


def _fast_rate(m: StepModel) -> float:
    return min(_FAST / m.dt, _RATE)


def _whirling_rate(m: StepModel) -> float:
    return (_WHIRLING_BALLS if m.has_ball_springs else _WHIRLING) / m.dt


def turn_fast(step: StepProgram) -> None:
    """w of robots that turn fast; those with loops do so when they are closed (`pliant.simulation.loop_stages`)."""
    if not step.model.can_be_fast or step.model.closures:
        return

    def turned(m: StepModel, q, v, w, motion, ahead, expects):
        robot, factor = m.robot, factor_of(m, motion, q)
        centers = {name: Vector(*c) for name, c in motion["held centers"].items()}

        def bias(v: Scalars) -> list[Scalar]:
            return newton_euler(robot, q, v, held_acceleration(robot, list(v), centers))

        def corrected(share: Scalar, later: Scalars) -> list[Scalar]:
            both = [c + share * m.dt * (a - b) for c, a, b in zip(motion["change"], first, later, strict=True)]
            return [a + b for a, b in zip(motion["start"], factor.half_solve(both), strict=True)]

        def expected(w: Scalars) -> list[Scalar]:
            own = factor.velocity(w)
            return [select(equal(expects[0], 0), a, b) for a, b in zip(own, ahead, strict=True)]

        first, end = motion["bias"] or bias(v), expected(w)
        if m.has_ball_springs:  # of which the mean of start and end has been taken already
            w = corrected(1 / 2, bias(end))
        else:
            w = corrected(1, bias([(a + b) / 2 for a, b in zip(v, end, strict=True)]))
        return {"w": w, "ahead": end, "free": w if m.can_fail else []}

    def whirled(m: StepModel, q, v, motion, ahead, expects, whirl):
        robot, factor, is_known = m.robot, factor_of(m, motion, q), negation(equal(expects[0], 0))

        def recursion(u: Scalars) -> CoriolisRecursion:
            return CoriolisRecursion(robot.mechanism, q, u, motion["factor"]["extra"], m.dt / 2)

        def matrix(u: Scalars) -> CoriolisMatrix:
            return CoriolisMatrix(robot, q, u, A, M, centers, m.dt / 2)

        at = recursion
        if not m.is_recursive:
            M = composite_inertia(robot, q)
            A, centers, at = _product(m, motion["factor"]), held_centers(robot.mechanism, M), matrix
        x, end, turning = change_in_fast_motion(v, motion["change"], whirl, m.dt, ahead, is_known, at)
        w = factor.coordinates([a + b for a, b in zip(v, x, strict=True)])
        return {"w": w, "whirl": x, "ahead": end, "turning": turning, "free": w if m.can_fail else []}

    step.stages.variable("whirl", step.model.robot.nv)
    with step.stages.loop(_MORE if step.model.has_ball_springs else _MIDDLES, when="fast"):
        step.add(turned)
    with step.only_if("whirls"):
        step.add(lambda m: {"whirl": [0] * m.robot.nv})
    with step.stages.loop(SOLUTIONS, when="whirls"):
        step.add(whirled)


def expect_turning(step: StepProgram) -> None:
    """Another round for robots that turn fast, and otherwise than their Coriolis forces were taken for."""
    if not (step.model.can_be_fast and step.model.has_rows):
        return

    def watched(m: StepModel, v_next, fast):
        now = largest_known([abs(v_next[d]) for d in m.turning_dofs])
        is_fast = either(negation(equal(fast[0], 0)), now > _fast_rate(m))
        # with spherical joints, forces of the end are taken at any rate
        return {"turns": [is_fast, now > _whirling_rate(m)], "has turned": [1 if m.has_balls else is_fast]}

    def compared(m: StepModel, v, v_next, ahead, settled, fast, whirls, turns):
        # forces at the start of the step are those of v+ = v
        was_fast = 1 if m.has_balls or m.closures else negation(equal(fast[0], 0))
        used = [select(was_fast, a, b) for a, b in zip(ahead, v, strict=True)]
        off = largest_known([abs(a - b) for a, b in zip(v_next, used, strict=True)])
        # a velocity that grew so much by forces at the start of the step is not to be trusted
        is_known = either(negation(equal(whirls[0], 0)), equal(turns[1], 0))
        again = select(off * m.dt > (_OTHERWISE_BALLS if m.has_balls else _OTHERWISE), 0, settled[0])
        return {"settled": [again], "ahead": v_next, "expects": [is_known]}

    step.stages.variable("has turned", 1)
    step.add(watched)
    with step.only_if("has turned"):
        step.add(compared)


def keep_energy(step: StepProgram) -> None:
    """Robots that whirl end the step without the energy that turning by much has brought."""
    if not step.model.can_be_fast:
        return
    nv = step.model.robot.nv
    for name, size in {"drift": nv, "gains": nv, "before": 1, "share": 1, "is kept": 1}.items():
        step.stages.variable(name, size)

    def begun(m: StepModel, q, v, v_next, turning, impulse):
        M = None if m.is_recursive else composite_inertia(m.robot, q)
        is_held = any_of([negation(equal(x, 0)) for part in impulse for x in part])
        impulses = impulses_but_turning(m.robot, q, v, v_next, M, turning)
        half = half_way(m.robot, q, v, M, -m.dt)
        return {
            "drift": drift_of(m.robot, q, half, impulses, is_held),
            "gains": impulses,
            "before": [kinetic_energy.algorithm(m.robot, *half)],
            "share": [1],
        }

    def lowered(m: StepModel, q, v, v_next, drift, gains, before, share):
        M = None if m.is_recursive else composite_inertia(m.robot, q)
        new = smaller_share(m.robot, q, v, v_next, drift, share[0], before[0], gains, M, m.dt)
        return {"share": [new], "is kept": [new > share[0] * _NEARLY]}

    def kept(m: StepModel, v_next, v_mean, drift, share):
        def slower(v: Scalars) -> list[Scalar]:
            return [c + share[0] * (a - c) for a, c in zip(v, drift, strict=True)]

        return {"v next": slower(v_next), "v mean": slower(v_mean)}

    with step.only_if("whirls"):
        step.add(begun)
    with step.stages.loop(_SHARES, when="whirls", until="is kept"):
        step.add(lowered)
    with step.only_if("whirls"):
        step.add(kept)


def _product(m: StepModel, factor: Record) -> list[list[Scalar]]:
    """The lower triangle of A = L^T D L."""
    n, support = m.robot.nv, m.robot.mechanism.support
    A: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for k in range(n):
        row = {k: 1, **factor["L"][k]}
        for d in support[k]:
            for e in support[k]:
                if e <= d:
                    A[d][e] = A[d][e] + row[d] * factor["D"][k] * row[e]
    return A
