"""Springs between frames: force, energy and power of a spring and damper along the line from one frame to another.

With s the distance of the origins of frames a and b and e the unit vector from a to b, the spring pulls b towards a
with

    f = k (s - s0) + d s',        s' = e . (v_b - v_a),        and stores        U = k (s - s0)^2 / 2
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.actuation.outside_forces import LinkForces
from pliant.robot import FrameSpring, Robot
from pliant.scalar import sqrt
from pliant.spatial import Force, Motion, Transform, Vector

__all__ = ["GUARD", "Stretch", "frame_spring_forces", "stretches"]

Scalar = Any

GUARD = 1e-24
"""Added to s^2 [m^2], so that the direction of a spring of no length is finite: it is zero."""


@dataclass(frozen=True)
class End:
    """Where a spring is fixed: the link, -1 for the world, the point in its frame, and the link's pose."""

    link: int
    p: Vector
    pose: Transform

    @property
    def place(self) -> Vector:
        """The point in the frame of the poses."""
        return self.pose.transform_point(self.p)

    def velocity(self, velocities: Sequence[Motion]) -> Vector:
        """Of the point, in the axes of the poses, from the velocities of the links in their own frames."""
        V = velocities[self.link] if self.link >= 0 else Motion.zero()
        return self.pose.R.rotate(V.linear + V.angular.cross(self.p))


@dataclass(frozen=True)
class Stretch:
    """A spring between frames at a configuration.

    Attributes:
        a, b: its ends.
        along: unit vector from a to b.
        length: from a to b [m].
    """

    spring: FrameSpring
    a: End
    b: End
    along: Vector
    length: Scalar

    def rate(self, velocities: Sequence[Motion]) -> Scalar:
        """s' for velocities of the links, each in its own frame [m/s]."""
        return self.along.dot(self.b.velocity(velocities) - self.a.velocity(velocities))

    def pull(self, rate: Scalar) -> Scalar:
        """The force with which the ends are pulled together at a rate s' [N]."""
        return self.spring.stiffness * (self.length - self.spring.length) + self.damper_pull(rate)

    def damper_pull(self, rate: Scalar) -> Scalar:
        """The damper's part of it, whose power is -d s' s' [N]."""
        return self.spring.damping * rate

    @property
    def energy(self) -> Scalar:
        """Stored in the spring [J]."""
        stretch = self.length - self.spring.length
        return self.spring.stiffness * stretch * stretch / 2

    def forces(self, pull: Scalar) -> LinkForces:
        """A pull as forces on the links."""
        found = LinkForces()
        for end, f in ((self.a, self.along * pull), (self.b, self.along * -pull)):
            if end.link >= 0:
                local = end.pose.R.rotate_back(f)
                found.add(end.link, Force(local, end.p.cross(local)))
        return found


def stretches(robot: Robot, poses: Sequence[Transform], origin: Vector, *, guard: Scalar = GUARD) -> list[Stretch]:
    """The springs between frames of a robot.

    Args:
        poses: of the links, in the world's axes about ``origin``.
        guard: see `GUARD`; formulas take 0 and are singular where the frames coincide.
    """
    world = Transform(Transform.identity().R, -origin)
    found = []
    for spring in robot.springs.values():
        ends = []
        for name in (spring.a, spring.b):
            i, X = robot.mechanism.frame(name)
            ends.append(End(i, X.p, poses[i] if i >= 0 else world))
        a, b = ends
        apart = b.place - a.place
        length = sqrt(apart.dot(apart) + guard)
        found.append(Stretch(spring, a, b, apart * (1 / length), length))
    return found


def frame_spring_forces(
    robot: Robot, poses: Sequence[Transform], origin: Vector, velocities: Sequence[Motion]
) -> LinkForces:
    """The forces of all springs between frames on the links."""
    found = LinkForces()
    for stretch in stretches(robot, poses, origin):
        found.add_all(stretch.forces(stretch.pull(stretch.rate(velocities))))
    return found
