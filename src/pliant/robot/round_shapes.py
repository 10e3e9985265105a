"""Ellipsoids and rims as support functions: the farthest point of a shape in a direction.

An ellipsoid with half axes A = diag(a, b, c) reaches farthest along d at s(d) = A y with y = A d / |A d|, and as far as
|A d|. With c = 0 it is a disc, whose rim is the circle of a = b. How s turns with d is the Hessian of |A d|,

    H = A (1 - y y^T) A / |A d|

which is the matrix of the radii of curvature where d is normal to the shape.

A disc that lies flat touches with all of its rim: |A d| is zero, and each point is as low as the others. So a rim is
three points, the lowest one and those 120 degrees off around the axis, and a fixed direction serves where none is the
lowest.
"""

import math
from dataclasses import dataclass, replace

from pliant.scalar import Scalar, is_constant, maximum, select, sqrt
from pliant.spatial import Transform, Vector

# a rim is level where the share of its radius by which its lowest point is lower than its center is below this
_LEVEL = 1e-8

# steeper than this share, the lowest point of a rim moves along it as the rim turns, and friction there with it
_STEEP = 1e-3


@dataclass(frozen=True)
class Support:
    """One point of an ellipsoid or a rim about a center: the farthest in a direction, or one 120 degrees off.

    Attributes:
        axes: unit vectors of the half axes, in the frame of the body.
        sizes: half axes [m]; the last is 0 for a rim.
        turn: 0 for the farthest point, 1 and 2 for those 120 and 240 degrees further around the last axis.
    """

    axes: tuple[Vector, Vector, Vector]
    sizes: tuple[Scalar, Scalar, Scalar]
    turn: int = 0

    def moved(self, X: Transform) -> "Support":
        """The same as seen from a frame in which that of the body has the pose X."""
        x, y, z = (X.R.rotate(axis) for axis in self.axes)
        return replace(self, axes=(x, y, z))

    @property
    def reach(self) -> Scalar:
        """The longest half axis [m]."""
        found = self.sizes[0]
        for size in self.sizes[1:]:
            found = max(found, size) if is_constant(found) and is_constant(size) else maximum(found, size)
        return found

    def arm(self, d: Vector) -> Vector:
        """From the center to the point, for the unit vector d; both in the frame of the body."""
        y, _ = self._unit(d)
        if self.turn:
            angle = 2 * math.pi * self.turn / 3
            c, s = math.cos(angle), math.sin(angle)
            y = Vector(c * y.x - s * y.y, s * y.x + c * y.y, y.z)
        return self._scaled_back(y)

    def arm_change(self, d: Vector, change: Vector, dt: Scalar = 0) -> Vector:
        """H change: how the arm changes with d, seen from the body. Points off the farthest stay where they are.

        Args:
            change: of d, or its rate.
            dt: if it is a rate, the time within which the point is not to go around the rim.
        """
        if self.turn:
            return Vector.zero()
        y, g = self._unit(d)
        x = self._scaled(change)
        across = x - y * y.dot(x)
        least = self.reach * _STEEP
        share = g / (g * g + across.dot(across) * (dt * dt) + least * least)
        return self._scaled_back(across * share)

    def sag(self, d: Vector, rate: Vector, dt: Scalar) -> Scalar:
        """rate H rate: how fast |A d| grows beyond its tangent as d changes [m/s^2].

        It is twice what |A (d + rate dt)| exceeds the tangent by, over dt^2: the same for a short step, and finite
        where the lowest point of a rim that is nearly level runs around.
        """
        if self.turn:
            return 0
        y, g = self._unit(d)
        x = self._scaled(rate)
        along = y.dot(x)
        end = y * g + x * dt
        length = sqrt(end.dot(end) + 1e-30)
        return 2 * (x.dot(x) - along * along) / (length + maximum(g + along * dt, 0) + 1e-12)

    def _scaled(self, d: Vector) -> Vector:
        return Vector(*(axis.dot(d) * size for axis, size in zip(self.axes, self.sizes, strict=True)))

    def _scaled_back(self, y: Vector) -> Vector:
        parts = [axis * (size * a) for axis, size, a in zip(self.axes, self.sizes, y, strict=True)]
        return parts[0] + parts[1] + parts[2]

    def _unit(self, d: Vector) -> tuple[Vector, Scalar]:
        """A d / |A d| and |A d|; for a rim that is level, its first axis."""
        x = self._scaled(d)
        square = x.dot(x)
        if not (is_constant(self.sizes[2]) and self.sizes[2] == 0):
            g = sqrt(square)
            return x * (1 / g), g
        least = (self.reach * _LEVEL) * (self.reach * _LEVEL)
        is_level = square < least
        g = sqrt(maximum(square, least))
        share = 1 / g
        return Vector(select(is_level, 1, x.x * share), select(is_level, 0, x.y * share), 0), g
