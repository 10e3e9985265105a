"""Stages for robots that turn fast for the step: Coriolis forces at its middle (`pliant.dynamics.implicit_coriolis`).

A robot of which a joint, or the base, turns faster than 20 rad/s or by more than 0.04 rad in the step is ``fast``: its
forces are taken once more, at the middle of the motion that those of the start lead to. One that turns by more than a
tenth of a radian ``whirls``, and solves for the middle. All others skip these stages. Robots with springs at spherical
joints, which swing about several axes, take the mean of start and end in every step; fast ones predict the end more
often, and whirl from half a radian on.
"""

from pliant.dynamics.gyroscopic import held_centers
from pliant.dynamics.implicit_coriolis import change_in_fast_motion, without_gain
from pliant.dynamics.joint_space_inertia import composite_inertia
from pliant.dynamics.newton_euler import newton_euler
from pliant.robot.configurations import held_acceleration
from pliant.scalar import Scalar, Scalars, abs, maximum
from pliant.simulation.model import StepModel
from pliant.simulation.solver_stages import Record, StepProgram, factor_of
from pliant.spatial import Vector

# turns in a step from which on a robot is fast, and whirls [rad]
_FAST = 0.04
_WHIRLING = 0.1
_WHIRLING_BALLS = 0.5

# more predictions of the velocity at the end, of robots with springs at spherical joints
_MORE = 2

# and a rate that is fast in any step [rad/s]
_RATE = 20


def turning_flags(m: StepModel, v: Scalars, start: Scalars, w: Scalars) -> Record:
    """Whether a robot is fast and whirls, by name, or becomes so: ``start`` and ``w`` are L v and L v+."""
    if not m.can_be_fast:
        return {}
    now: Scalar = 0
    soon: Scalar = 0
    for d in m.turning_dofs:
        now, soon = maximum(now, abs(v[d])), maximum(soon, abs(v[d]) + abs(w[d] - start[d]))
    whirling = _WHIRLING_BALLS if m.has_ball_springs else _WHIRLING
    return {"fast": [now > min(_FAST / m.dt, _RATE)], "whirls": [soon > whirling / m.dt]}


def turn_fast(step: StepProgram) -> None:
    """w of robots that turn fast; those with loops do so when they are closed (`pliant.simulation.loop_stages`)."""
    if not step.model.can_be_fast or step.model.closures:
        return

    def turned(m: StepModel, q, v, w, motion):
        robot, factor = m.robot, factor_of(m, motion)
        centers = {name: Vector(*c) for name, c in motion["held centers"].items()}

        def bias(v: Scalars) -> list[Scalar]:
            return newton_euler(robot, q, v, held_acceleration(robot, list(v), centers))

        def corrected(share: Scalar, later: Scalars) -> list[Scalar]:
            both = [c + share * m.dt * (a - b) for c, a, b in zip(motion["change"], first, later, strict=True)]
            return [a + b for a, b in zip(motion["start"], factor.half_solve(both), strict=True)]

        first = motion["bias"] or bias(v)
        if m.has_ball_springs:  # of which the mean of start and end has been taken already
            for _ in range(_MORE):
                w = corrected(1 / 2, bias(factor.velocity(w)))
        else:
            w = corrected(1, bias([(a + b) / 2 for a, b in zip(v, factor.velocity(w), strict=True)]))
        return {"w": w, "free": w if m.can_fail else []}

    def whirled(m: StepModel, q, v, motion):
        robot, factor = m.robot, factor_of(m, motion)
        M = composite_inertia(robot, q)
        A, centers = _product(m, motion["factor"]), held_centers(robot.mechanism, M)
        x = change_in_fast_motion(robot, q, v, A, M, motion["change"], m.dt, centers)
        ahead = [a + b for a, b in zip(v, x, strict=True)]
        w = factor.coordinates(without_gain(robot, q, v, ahead, M, m.dt, centers))
        return {"w": w, "free": w if m.can_fail else []}

    with step.only_if("fast"):
        step.add(turned)
    with step.only_if("whirls"):
        step.add(whirled)


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
