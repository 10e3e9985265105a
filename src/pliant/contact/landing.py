"""Landings: what a contact or a joint limit asks of a step in which it may be met.

A step has two velocities. The *mean* moves the positions: it closes a gap that is met within the step, and no more.
The velocity at the *end* is that after the whole impact. They differ only in steps in which something lands, and only
there the solver runs twice, with the same constraints:

1. with the mean as the least velocity of each constraint. One that pushes, was apart and approached lands.
2. with the velocity at the end as the least one of those that touch and of those that land first. What lands later in
   the step opens: it is on the ground now, and has its impact in the next step.

So friction and restitution of an impact are resolved at once, whatever its time within the step, and no state shows
half of one. Impacts that the step does not tell apart are taken together: contacts are alike if they are as near as
gravity takes them within a step.

A contact that comes with the speed s, at the time t = gap / s of the step, leaves with e s. But s is the speed in the
middle of the step, and so is that which the step ends with: with a the acceleration that forces give along the normal,
the contact hits the ground with s + a (dt/2 - t), and what it leaves with gains another a (dt/2 - t) until then,
u = e s + (1 + e) a (dt/2 - t) in all. The mean velocity takes it to where it is then, u (dt - t) above the ground.

With e = 1 and without friction this keeps the energy, to rounding for a single body: what a rebound has more or less by
a, gravity and springs had before or get back (`pliant.simulation.landing_stages`). Coriolis forces and the acceleration
of a point that goes round have no part in a. They do no work, and in a point that flies straight each is the other's
opposite.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.scalar import Scalar, both, either, is_constant, maximum, minimum, negation, select

# nearer than this, contacts touch and limits are reached [m or rad], whatever the step
_TOUCHING = 4e-6

SHALLOW = {"float64": 2e-6, "float32": 0.0}
"""Contacts of a body go as deep as the deepest of them, if that is no deeper than this, which corrections leave [m]."""

# and so much more for a step, times dt^2 [m/s^2 or rad/s^2]: about what gravity does
_ACCELERATION = 10

# a time that is never in a step, as a share of it
_NEVER = 1e9


def nearness(dt: Scalar) -> Scalar:
    """Gaps up to this are closed without an impact of their own, and landings less apart are one [m or rad]."""
    return _TOUCHING + _ACCELERATION * dt * dt


def closing_speed(dt: Scalar) -> Scalar:
    """What is left of the gap of something that touches is closed with this speed at most [m/s or rad/s]."""
    return _ACCELERATION * dt


@dataclass(frozen=True)
class Arrival:
    """What a constraint asks for in a step.

    Attributes:
        touches: whether it touches at the start.
        comes: whether it is apart and approaches, faster than gravity makes it within the step.
        mean: least velocity of the step's mean.
        end: least velocity at the end of the step, once it has landed.
        time: of the landing, as a share of the step.
        margin: landings that are earlier by less are at the same time, as a share of the step.
    """

    touches: Scalar
    comes: Scalar
    mean: Scalar
    end: Scalar
    time: Scalar
    margin: Scalar

    def lands(self, push: Scalar) -> Scalar:
        """Whether it lands in the step; ``push`` is its impulse in the solution of the mean velocity."""
        return both(push > 0, self.comes)

    def stays(self, push: Scalar, last: Scalar) -> Scalar:
        """Whether it holds at the end of a step in which landings up to the time ``last`` are taken together."""
        return either(self.touches, both(push > 0, either(negation(self.comes), self.time <= last)))


def common_depth(gaps: Sequence[Scalar], most: float) -> Scalar:
    """Where all contacts of a group may go, 0 or negative: where the deepest is, if that is not deeper than this.

    So corners of a face that is flat on the ground ask for velocities that a rigid body can have. If one that is too
    high by 1e-10 m asked to come down and one that is too low by as much stayed, another one would have to open in each
    step, and take its load up again in the next.
    """
    if not most or len(gaps) == 1:
        return 0
    deepest = gaps[0]
    for gap in gaps[1:]:
        deepest = minimum(deepest, gap)
    return minimum(maximum(deepest, -most), 0)


def mean_of(gap: Scalar, dt: Scalar, bend: Scalar = 0, depth: Scalar = 0) -> Scalar:
    """Least velocity of the step's mean without restitution: a gap is closed, and one that is small not too fast.

    Args:
        bend: acceleration of the gap by curved ground [m/s^2]: what it does to the gap within the step is foreseen, so
            that a ball that rolls in a bowl neither sinks in nor loses energy.
        depth: see `common_depth`.
    """
    open_gap = maximum(gap - depth, 0)
    return -select(gap <= nearness(dt), minimum(open_gap / dt, closing_speed(dt)), open_gap / dt) - bend * dt / 2


def arrival(
    gap: Scalar, u: Scalar, free: Scalar, e: Scalar, dt: Scalar, bend: Scalar = 0, gained: Scalar = 0,
    depth: Scalar = 0,
) -> Arrival:  # fmt: skip
    """What a constraint asks for.

    Args:
        gap: distance at the start [m or rad].
        u: velocity along the normal at the start; free: the one that it comes with if nothing touches.
        e: coefficient of restitution.
        bend, depth: see `mean_of`.
        gained: what forces add to the velocity in the step.
    """
    near = nearness(dt)
    touches = gap <= near
    closing = mean_of(gap, dt, bend, depth)
    came = maximum(-u, 0)
    comes = both(gap > near, came > closing_speed(dt))
    if is_constant(e) and e == 0:
        return Arrival(touches, comes, closing, select(comes, 0, closing), *_timing(gap, came, near, dt))
    s = select(comes, minimum(maximum(-free, 0), 2 * came), came)
    time, margin = _timing(gap, s, near, dt)
    rebound = e * s
    # one that rests or comes slowly: a rebound that is slower than what closes the gap is none
    resting = select(rebound * dt > gap, maximum(rebound, closing), closing)
    shift = (1 + e) * minimum(maximum(gained, -s), s) * (0.5 - time)
    shift = select(both(comes, s * dt > gap), maximum(shift, -rebound), 0)
    leaves = rebound + shift
    mean, end = select(comes, closing + (1 - time) * leaves, resting), select(comes, leaves, resting)
    return Arrival(touches, comes, mean, end, time, margin)


def _timing(gap: Scalar, s: Scalar, near: Scalar, dt: Scalar) -> tuple[Scalar, Scalar]:
    """When a gap closes, and what counts as the same time, as shares of the step."""
    share = 1 / maximum(s * dt, near / _NEVER)
    return minimum(gap * share, 1), minimum(near * share, 1)
