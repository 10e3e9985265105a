"""Rays against shapes: boxes, spheres, cylinders and capsules, in closed form, and the shapes of a whole robot.

All of them are convex, so that a ray is in one from ``near`` to ``far``. Seen from outside it meets the shape at near;
one that starts within it meets it at far, where it comes out.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pliant.errors import RobotError, unknown_name
from pliant.robot import Robot
from pliant.robot.model import Geometry
from pliant.scalar import Scalar, abs, both, either, maximum, minimum, select, sqrt
from pliant.sensors.ground_rays import BEYOND, TINY, away_from_zero, met
from pliant.spatial import Transform, Vector

SHAPES = ("box", "sphere", "cylinder", "capsule")
"""Kinds of geometry that rays meet; they pass through meshes."""


class Span(NamedTuple):
    """The part of a line that is in a shape: from near to far [m], if it is there at all."""

    near: Scalar
    far: Scalar
    exists: Scalar

    def within(self, other: "Span") -> "Span":
        """What is in both shapes."""
        near, far = maximum(self.near, other.near), minimum(self.far, other.far)
        return Span(near, far, both(both(self.exists, other.exists), near <= far))

    def joined(self, other: "Span") -> "Span":
        """What is in either of two shapes, without a gap between them."""
        near = minimum(select(self.exists, self.near, BEYOND), select(other.exists, other.near, BEYOND))
        far = maximum(select(self.exists, self.far, -BEYOND), select(other.exists, other.far, -BEYOND))
        return Span(near, far, either(self.exists, other.exists))


def shape_span(kind: str, size: Sequence[Scalar], p: Vector, d: Vector) -> Span:
    """The part of the line p + t d that is in a shape, in the frame of the shape.

    Args:
        kind: one of `SHAPES`; size: see `Geometry`.
        p, d: a point [m] and a unit vector.
    """
    if kind == "sphere":
        return _ball(size[0], p, d)
    if kind == "box":
        spans = [_slab(side / 2, at, rate) for side, at, rate in zip(size, p, d, strict=True)]
        return spans[0].within(spans[1]).within(spans[2])
    radius, length = size
    tube = _tube(radius, p, d).within(_slab(length / 2, p.z, d.z))
    if kind == "cylinder":
        return tube
    ends = [_ball(radius, Vector(p.x, p.y, p.z + side * length / 2), d) for side in (1, -1)]
    return tube.joined(ends[0]).joined(ends[1])


def shape_distance(kind: str, size: Sequence[Scalar], p: Vector, d: Vector, reach: Scalar) -> tuple[Scalar, Scalar]:
    """How far along a ray a shape is, in the frame of the shape.

    Args:
        kind, size, p, d: see `shape_span`.
        reach: how far the ray goes [m].

    Returns:
        Distance [m] and 1; for a ray that misses, its reach and 0.
    """
    span = shape_span(kind, size, p, d)
    distance = select(span.near >= 0, span.near, span.far)
    return met(distance, both(span.exists, distance >= 0), reach)


def _slab(half: Scalar, at: Scalar, rate: Scalar) -> Span:
    """All that is at most half a width away from a plane, one coordinate of which is given."""
    inverse = 1 / away_from_zero(rate)
    one, other = (-half - at) * inverse, (half - at) * inverse
    return Span(minimum(one, other), maximum(one, other), either(abs(rate) >= TINY, abs(at) <= half))


def _ball(radius: Scalar, p: Vector, d: Vector) -> Span:
    middle = -p.dot(d)
    nearest = p + d * middle
    square = radius * radius - nearest.dot(nearest)
    half = sqrt(maximum(square, 0))
    return Span(middle - half, middle + half, square >= 0)


def _tube(radius: Scalar, p: Vector, d: Vector) -> Span:
    """All that is at most the radius away from the z axis."""
    rate = d.x * d.x + d.y * d.y
    is_along = rate < TINY
    inverse = 1 / maximum(rate, TINY)
    middle = -(p.x * d.x + p.y * d.y) * inverse
    x, y = p.x + middle * d.x, p.y + middle * d.y
    square = radius * radius - select(is_along, p.x * p.x + p.y * p.y, x * x + y * y)
    half = select(is_along, BEYOND, sqrt(maximum(square, 0) * inverse))
    middle = select(is_along, 0, middle)
    return Span(middle - half, middle + half, square >= 0)


def robot_distance(
    robot: Robot, poses: Sequence[Transform], p: Vector, d: Vector, reach: Scalar, *, without: Collection[str] = ()
) -> tuple[Scalar, Scalar]:
    """How far along a ray the robot is: the nearest of the collision shapes of its bodies.

    A ray passes through meshes.

    Args:
        poses: X_WB of the links of ``robot.mechanism``, as `pliant.dynamics.kinematics.link_poses` gives them.
        p, d: a point and a unit vector, in the world [m, 1].
        reach: how far the ray goes [m].
        without: names of bodies that it passes through, with all that is fixed to them, as that which has the sensor.

    Returns:
        Distance [m] and 1; for a ray that misses, its reach and 0.
    """
    distance, hit = reach, 0
    for i, shapes in ray_shapes(robot, without).items():
        start, along = p, d
        if i >= 0:
            start, along = poses[i].R.rotate_back(p - poses[i].p), poses[i].R.rotate_back(d)
        for shape in shapes:
            X = shape.placement
            own = X.R.rotate_back(start - X.p), X.R.rotate_back(along)
            found, is_hit = shape_distance(shape.kind, shape.size, *own, reach)
            # a miss has the whole reach
            distance, hit = minimum(distance, found), maximum(hit, is_hit)
    return distance, hit


def ray_shapes(robot: Robot, without: Collection[str] = ()) -> dict[int, list[Geometry]]:
    """The shapes that rays meet, placed in the frames of the links of the mechanism, by link; -1 is the world.

    Args:
        without: see `robot_distance`.
    """
    poses = robot.mechanism.poses
    for name in without:
        if name not in poses:
            raise RobotError(unknown_name("body", name, robot.bodies, f"robot {robot.name!r}"))
    left_out = {poses[name][0] for name in without}
    found: dict[int, list[Geometry]] = {}
    for body in robot.bodies.values():
        i, X_LB = poses[body.name]
        if i in left_out:
            continue
        for shape in body.collisions:
            if shape.kind in SHAPES:
                placed = Geometry(shape.kind, shape.size, X_LB @ shape.placement, name=shape.name)
                found.setdefault(i, []).append(placed)
    return found
