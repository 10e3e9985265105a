"""Ground with edges: the faces of stairs and height maps, and how far a ball is from each.

A ball may touch several faces at once, as the tread and the riser in an inner edge. Each *touch* is the distance to a
part of the ground that is there, with its outer edges, around which the normal turns steadily. A touch keeps its part
as long as that is near, so that contact forces and modes go on from step to step.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pliant.errors import ContactError
from pliant.scalar import (
    Scalar, Scalars, Table, abs, both, cos, either, floor, is_constant, lookup, maximum, minimum, negation, select,
    sin, sqrt,
)  # fmt: skip
from pliant.spatial import Vector


class GroundTouch(NamedTuple):
    """A part of the ground that a ball may touch.

    Attributes:
        gap: distance, negative for a penetration [m].
        normal: unit vector out of the ground.
        bend: acceleration of the gap of a ball that moves straight on [m/s^2], see `Ground.bend`.
    """

    gap: Scalar
    normal: Vector
    bend: Scalar = 0


# what is added to the gap of a part that is not there [m]
FAR = 1e3

# no ball turns faster around an edge, it flies [m/s^2]
_SHARPEST = 100

# nearer to an edge than this, it has the normal of the face [m^2]
_AT_EDGE = 1e-18


class Faces(ABC):
    """What is known of ground with edges."""

    @abstractmethod
    def count(self, radius: Scalar) -> int:
        """How many touches a ball has; with one, it is that of the plane below its center."""

    @abstractmethod
    def touches(self, center: Vector, radius: Scalar, velocity: Vector | None) -> list[GroundTouch]:
        """The touches of a ball, as many as `count` says; without the velocity of its center, with no bend."""


def turning(velocity: Vector, radius: Scalar, distance: Scalar, normal: Vector, *along: Vector) -> Scalar:
    """How the gap of a ball at an edge bends: what it moves across, squared, over its distance from the edge.

    Args:
        along: unit vectors along the edge; none for a corner.
    """
    across = velocity.dot(velocity)
    for axis in (normal, *along):
        across = across - velocity.dot(axis) * velocity.dot(axis)
    return minimum(maximum(across, 0) / maximum(distance, radius), _SHARPEST)


# ---- stairs


# steps that a ball may span
_MOST_STEPS = 6


@dataclass(frozen=True, eq=False)
class StairFaces(Faces):
    """Stairs: step k is its riser, the outer edge and the tread above, which a ball meets as one convex part.

    A ball is near the step below its center and the next one up. At the inner edges between them both planes go on,
    since there the ground is all that is below either. With s the coordinate uphill from the outer edge of a step, z
    the height over it, w the width of the riser and H its height, the distance of the center from the step is

        z                               over the tread, s >= 0
        (w z - H s) / sqrt(w^2 + H^2)   before the riser, w s + H z <= 0
        sqrt(s^2 + z^2)                 around the edge

    Attributes:
        rise, run, start, direction, riser, steps: see `stairs`.
    """

    rise: Scalar
    run: Scalar
    start: Scalar
    direction: Scalar
    riser: Scalar
    steps: int | None

    def count(self, radius: Scalar) -> int:
        """Two; more if the ball is so large that on an outer edge it also touches a step after the next."""
        if is_constant(self.rise) and self.rise == 0:
            return 1
        sizes = [self.rise, self.run, self.riser, radius]
        if not all(map(is_constant, sizes)):
            return 2
        H, run, w, r = (math.fabs(float(x)) for x in sizes)
        ahead = 0
        most = _MOST_STEPS if self.steps is None else min(self.steps - 1, _MOST_STEPS)
        while ahead < most and _from_segment((ahead + 1) * run, (ahead + 1) * H - r, w, H) < r:
            ahead += 1
        if ahead == _MOST_STEPS:
            problem = f"stairs: a contact of {r:g} m radius spans {_MOST_STEPS} steps of {H:g} by {run:g} m and more"
            cure = "use slope(angle) for stairs that are so small, or a smaller radius"
            raise ContactError(problem, subject="stairs", field="radius", cure=cure)
        return 2 + ahead

    def touches(self, center: Vector, radius: Scalar, velocity: Vector | None) -> list[GroundTouch]:
        """The distances from the steps."""
        goes_up = self.rise >= 0
        sign, first = select(goes_up, 1, -1), select(goes_up, 1, 0)
        H = abs(self.rise)
        uphill = Vector(cos(self.direction) * sign, sin(self.direction) * sign, 0)
        # outer edge k is at s = k run + offset, at the height (k + first) H
        offset = first * self.riser
        s = uphill.x * center.x + uphill.y * center.y - sign * self.start
        # steps go from low to high; the tread of the one before the lowest has no end
        low, high = self._range(goes_up)
        k = floor((s - offset) / self.run)
        k = k if low is None else maximum(k, low - 1)
        k = k if high is None else minimum(k, high)
        n = self.count(radius)
        found = []
        for slot in range(n):
            # of the steps k to k + n - 1, that whose number is the slot's, modulo n
            step = slot + n * floor((k - slot + (n - 1)) / n)
            a, b = s - (step * self.run + offset), center.z - (step + first) * H
            is_last = False if low is None else step < low
            touch = self._step_touch(a, b, H, uphill, is_last, radius, velocity)
            beyond = 0 if high is None else select(step > high, FAR, 0)
            found.append(touch._replace(gap=touch.gap + beyond))
        return found

    def _range(self, goes_up: Scalar) -> tuple[Scalar | None, Scalar | None]:
        """The lowest and the highest step."""
        if self.steps is not None:
            return select(goes_up, 0, 1 - self.steps), select(goes_up, self.steps - 1, 0)
        if is_constant(goes_up):
            return (0, None) if goes_up else (None, 0)
        return select(goes_up, 0, -_ENDLESS), select(goes_up, _ENDLESS, 0)

    def _step_touch(
        self, a: Scalar, b: Scalar, H: Scalar, uphill: Vector, is_last: Scalar, radius: Scalar, velocity: Vector | None
    ) -> GroundTouch:
        """Of one step; a and b are the center's place from its outer edge, uphill and up."""
        w = self.riser
        over_tread = a >= 0 if is_last is False else either(a >= 0, is_last)
        square = a * a + b * b
        at_face = either(a * w + b * H <= 0, square < _AT_EDGE)
        distance = sqrt(maximum(square, _AT_EDGE))
        to_unit = 1 / sqrt(w * w + H * H)
        gap = select(over_tread, b, select(at_face, (b * w - a * H) * to_unit, distance))
        share = 1 / distance
        ahead = select(over_tread, 0, select(at_face, -H * to_unit, a * share))
        up = select(over_tread, 1, select(at_face, w * to_unit, b * share))
        normal = Vector(uphill.x * ahead, uphill.y * ahead, up)
        if velocity is None or _is_point(radius):
            return GroundTouch(gap - radius, normal)
        level = Vector(-uphill.y, uphill.x, 0)
        bend = turning(velocity, radius, distance, normal, level)
        return GroundTouch(gap - radius, normal, select(either(over_tread, at_face), 0, bend))


# steps of stairs without end whose direction is not known beforehand
_ENDLESS = 1e6


def _from_segment(x: float, y: float, w: float, H: float) -> float:
    """Distance of the origin from a riser whose upper end is at x and y."""
    t = min(max((x * w + y * H) / (w * w + H * H), 0.0), 1.0)
    return math.hypot(x - t * w, y - t * H)


def _is_point(radius: Scalar) -> bool:
    return is_constant(radius) and radius == 0


# ---- height maps


# cells around the center on each side
_MOST_CELLS = 3

# steps of Newton's method for the nearest point of a cell, and rounds of exact ones along its axes
_NEWTON = 2
_ROUNDS = 2

# the least determinant of Newton's matrix, as a share
_NARROW = 0.1

# a share of a cell within which a point is on its border
_ON_BORDER = 1e-6


class _Patch(NamedTuple):
    """The nearest point of a cell, and on which borders of it that is: left, right, below, above."""

    touch: GroundTouch
    borders: tuple[Scalar, Scalar, Scalar, Scalar]


@dataclass(frozen=True, eq=False)
class MapFaces(Faces):
    """A height map: every cell of the grid is a bilinear patch, and a ball touches the cells around its center.

    A touch is a place where the distance from the center is the least all around: within a cell, or on a border that
    both sides fall off from. So an inner edge has two touches and an outer one has one.

    Attributes:
        table: the heights, row by row; shape: how many, in x and y.
        spacing, origin: see `height_map`.
    """

    table: Table
    shape: tuple[int, int]
    spacing: tuple[float, float]
    origin: tuple[float, float]

    def count(self, radius: Scalar) -> int:
        """Four; one for a point, which touches the face below it."""
        return 1 if _is_point(radius) else 4

    def touches(self, center: Vector, radius: Scalar, velocity: Vector | None) -> list[GroundTouch]:
        """The distances from cells, by whether their numbers in x and y are even or odd."""
        halves = [self._half(radius, d) for d in self.spacing]
        spans = [range(-n, n) for n in halves]
        numbers, places = [], []
        for c, c0, d in zip((center.x, center.y), self.origin, self.spacing, strict=True):
            number = floor((c - c0) / d + 0.5)
            numbers.append(number)
            places.append(c - (c0 + number * d))
        heights = {
            (i, j): self._height(numbers[0] + i, numbers[1] + j)
            for i in range(-halves[0], halves[0] + 1)
            for j in range(-halves[1], halves[1] + 1)
        }
        local = Vector(places[0], places[1], center.z)
        corners = [(a, b) for a in (0, 1) for b in (0, 1)]
        patches = {
            (i, j): self._patch(local, radius, velocity, (i, j), [heights[i + a, j + b] for a, b in corners])
            for i in spans[0]
            for j in spans[1]
        }
        # cells that are two apart share a touch, the nearer one has it
        folded: dict[tuple[int, int], GroundTouch] = {}
        for (i, j), patch in patches.items():
            touch = patch.touch._replace(gap=patch.touch.gap + select(self._is_least(patches, i, j), 0, FAR))
            slot = i % 2, j % 2
            folded[slot] = _nearer(folded[slot], touch) if slot in folded else touch
        odd = [number - 2 * floor(number / 2) > 0 for number in numbers]
        found = []
        for i in (0, 1):
            for j in (0, 1):
                columns = [_chosen(odd[0], folded[1 - i, k], folded[i, k]) for k in (0, 1)]
                found.append(_chosen(odd[1], columns[1 - j], columns[j]))
        return found

    def _half(self, radius: Scalar, spacing: float) -> int:
        """Cells on each side that a ball can reach."""
        reach = math.ceil(float(radius) / spacing + 0.5) if is_constant(radius) else 1
        if reach > _MOST_CELLS:
            most = f"{_MOST_CELLS - 0.5:g} cells of {spacing:g} m"
            problem = f"height_map: a contact of {float(radius):g} m radius is larger than {most}"
            cure = "use a coarser map for contacts of that size, or a smaller radius"
            raise ContactError(problem, subject="height_map", field="radius", cure=cure)
        return max(reach, 1)

    def _height(self, i: Scalar, j: Scalar) -> Scalar:
        i, j = (minimum(maximum(k, 0), n - 1) for k, n in zip((i, j), self.shape, strict=True))
        return lookup(self.table, i * self.shape[1] + j)

    def _patch(
        self, center: Vector, radius: Scalar, velocity: Vector | None, cell: tuple[int, int], heights: Scalars
    ) -> _Patch:
        """The nearest point of a cell, h = h00 + f A + g B + f g C with f and g from 0 to 1."""
        dx, dy = self.spacing
        h00, h01, h10, h11 = heights
        A, B, C = h10 - h00, h01 - h00, h11 - h10 - h01 + h00
        x, y, z = center.x - cell[0] * dx, center.y - cell[1] * dy, center.z - h00

        def off(f: Scalar, g: Scalar) -> tuple[Vector, Scalar, Scalar]:
            """From the point to the center, and the slopes there, per cell."""
            return Vector(x - f * dx, y - g * dy, z - (f * A + g * B + f * g * C)), A + g * C, B + f * C

        f, g = _within(x / dx), _within(y / dy)
        for _ in range(_NEWTON):
            r, p, q = off(f, g)
            aa, bb, ab = dx * dx + p * p, dy * dy + q * q, p * q - r.z * C
            left, right = r.x * dx + r.z * p, r.y * dy + r.z * q
            share = 1 / maximum(aa * bb - ab * ab, _NARROW * (aa * bb))
            f, g = _within(f + (bb * left - ab * right) * share), _within(g + (aa * right - ab * left) * share)
        # along one axis a patch is straight
        for _ in range(_ROUNDS):
            p = A + g * C
            f = _within((x * dx + (z - g * B) * p) / (dx * dx + p * p))
            q = B + f * C
            g = _within((y * dy + (z - f * A) * q) / (dy * dy + q * q))
        r, p, q = off(f, g)
        slope_x, slope_y = p / dx, q / dy
        to_unit = 1 / sqrt(1 + slope_x * slope_x + slope_y * slope_y)
        face = Vector(-slope_x * to_unit, -slope_y * to_unit, to_unit)
        over, square = r.dot(face), r.dot(r)
        on_x, on_y = either(f <= 0, f >= 1), either(g <= 0, g >= 1)
        at_edge = both(both(either(on_x, on_y), over > 0), square >= _AT_EDGE)
        distance = sqrt(maximum(square, _AT_EDGE))
        edge = r * (1 / distance)
        normal = Vector(*(select(at_edge, a, b) for a, b in zip(edge, face, strict=True)))
        bend = 0
        if velocity is not None:
            # an edge along x or y is straight, a corner is none
            steep = select(on_x, q / dy, p / dx)
            to_axis = select(both(on_x, on_y), 0, 1 / sqrt(1 + steep * steep))
            axis = Vector(select(on_x, 0, to_axis), select(on_x, to_axis, 0), steep * to_axis)
            bend = select(at_edge, turning(velocity, radius, distance, normal, axis), 0)
        gap = select(at_edge, distance, over) - radius
        borders = f <= _ON_BORDER, f >= 1 - _ON_BORDER, g <= _ON_BORDER, g >= 1 - _ON_BORDER
        return _Patch(GroundTouch(gap, normal, bend), borders)

    @staticmethod
    def _is_least(patches: dict[tuple[int, int], _Patch], i: int, j: int) -> Scalar:
        """Whether the nearest point of a cell is the nearest all around; of cells that share it, the first has it."""
        left, right, below, above = patches[i, j].borders
        found: list[Scalar] = []
        if (i - 1, j) in patches:
            found.append(negation(left))
        if (i, j - 1) in patches:
            found.append(negation(below))
        if (i + 1, j) in patches:
            found.append(either(negation(right), patches[i + 1, j].borders[0]))
        if (i, j + 1) in patches:
            found.append(either(negation(above), patches[i, j + 1].borders[2]))
        if (i + 1, j + 1) in patches:
            other = patches[i + 1, j + 1].borders
            found.append(either(negation(both(right, above)), both(other[0], other[2])))
        return _all(found)


def corner_heights(table: Table, shape: tuple[int, int], i: Scalar, j: Scalar) -> list[Scalar]:
    """The heights at the corners of a cell: h[i, j], h[i, j+1], h[i+1, j] and h[i+1, j+1].

    Args:
        table, shape: of the map, see `MapFaces`.
        i, j: whole numbers, from 0 to two less than the shape.
    """
    columns = shape[1]
    last = len(table) - columns - 2
    return [lookup(table, i * columns + j, offset, last) for offset in (0, 1, columns, columns + 1)]


def _all(conditions: Sequence[Scalar]) -> Scalar:
    result = conditions[0]
    for c in conditions[1:]:
        result = both(result, c)
    return result


def _within(x: Scalar) -> Scalar:
    return minimum(maximum(x, 0), 1)


def _chosen(condition: Scalar, then: GroundTouch, otherwise: GroundTouch) -> GroundTouch:
    normal = Vector(*(select(condition, a, b) for a, b in zip(then.normal, otherwise.normal, strict=True)))
    bend = select(condition, then.bend, otherwise.bend)
    return GroundTouch(select(condition, then.gap, otherwise.gap), normal, bend)


def _nearer(a: GroundTouch, b: GroundTouch) -> GroundTouch:
    return _chosen(a.gap <= b.gap, a, b)


def nearest_of(touches: Sequence[GroundTouch]) -> GroundTouch:
    """The touch with the least gap."""
    result = touches[0]
    for touch in touches[1:]:
        result = _nearer(result, touch)
    return result
