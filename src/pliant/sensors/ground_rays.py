"""Rays against the ground: the first place where a straight line meets it.

With f(t) = p_z + t d_z - h(p_x + t d_x, p_y + t d_y), the height of a point of the ray over the ground, the distance is
the least t from 0 to ``reach`` at which f changes sign. So the ground is seen from both sides: a ray that starts below
it ends where it comes out. A plane and stairs have a closed form. A height map is walked through cell by cell, skipping
blocks of cells that the ray stays clear of, with the closed form of a bilinear patch in each (`map_rays`). Any other
function is searched in steps.

A `GroundRay` does that in rounds, as many as it says at most, so that a kernel can loop over them until all of its
robots are done.
"""

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

from pliant.contact.ground import Ground
from pliant.contact.ground_faces import StairFaces
from pliant.scalar import (
    Expr, Graph, Scalar, Scalars, abs, both, cos, either, equal, floor, is_constant, maximum, minimum, negation,
    select, sin, sqrt,
)  # fmt: skip
from pliant.scalar.evaluation import nodes_of, tangents
from pliant.spatial import Vector

RESOLUTION = 0.02
"""How long a ray must stay below the ground at least to be seen there, on ground that is searched [m]."""

# a rate that is zero but for rounding; its inverse still is a number in float32
TINY = 1e-30

# farther than any ray goes [m]; its square still is a number in float32
BEYOND = 1e18

# steps of a search along a ray whose reach is not known beforehand
_STEPS = 500
_MOST_STEPS = 20_000

# how narrow a bracket around the place becomes [m], and rounds that is given at most
_BRACKET = 1e-10
_NARROWING = 64

# steps of stairs without end
_ENDLESS = 1e6


class Ray(NamedTuple):
    """A ray: from p along the unit vector d, both in the world, as far as reach [m]."""

    p: Vector
    d: Vector
    reach: Scalar

    def at(self, t: Scalar) -> Vector:
        """Its point at the distance t."""
        return self.p + self.d * t


class GroundRay(ABC):
    """How the rays of a sensor meet a ground.

    Attributes:
        rounds: of `advance`, at most; 0 for a closed form.
        size: how many numbers go from round to round; the first one is not zero as long as more rounds are needed.
    """

    rounds: int = 0
    size: int = 0

    def begin(self, ray: Ray) -> list[Scalar]:
        """What the first round starts with."""
        return []

    def advance(self, ray: Ray, state: Scalars) -> list[Scalar]:
        """One round."""
        return list(state)

    @abstractmethod
    def end(self, ray: Ray, state: Scalars) -> tuple[Scalar, Scalar]:
        """Distance [m] and 1 for a ray that meets the ground, its reach and 0 for one that does not."""


def clamped(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """A number, or the nearer end of a range."""
    return minimum(maximum(x, low), high)


def away_from_zero(x: Scalar) -> Scalar:
    """A divisor: itself, or a tiny number in place of zero."""
    return select(abs(x) < TINY, TINY, x)


def met(distance: Scalar, is_met: Scalar, reach: Scalar) -> tuple[Scalar, Scalar]:
    """Distance and 1, or reach and 0. A NaN counts as a miss."""
    hit = both(is_met, distance <= reach)
    return select(hit, distance, reach), select(hit, 1, 0)


# ---- planes


class PlaneRay(GroundRay):
    """Level ground and slopes: t = -f(0) / (d_z - dh/dx d_x - dh/dy d_y)."""

    def __init__(self, ground: Ground):
        self.ground = ground

    def end(self, ray: Ray, state: Scalars) -> tuple[Scalar, Scalar]:
        height, n = self.ground.surface(ray.p.x, ray.p.y)
        # the rate of f, times n_z as f itself
        distance = (height - ray.p.z) * n.z / away_from_zero(n.dot(ray.d))
        return met(distance, distance >= 0, ray.reach)


# ---- stairs


class StairRay(GroundRay):
    """Stairs: closed form, however many steps the ray passes.

    The outer edges of the steps are on a line, a run apart, so how far a ray passes above edge k is linear in k, and
    the first edge that it does not pass above follows from a division. The space between two edges, above a tread and
    before a riser, is convex: the ray leaves it through the plane that it reaches first. A ray below the stairs sees
    the same stairs turned by half a turn, with their inner edges as the outer ones.
    """

    def __init__(self, ground: Ground, faces: StairFaces):
        self.ground, self.faces = ground, faces

    def end(self, ray: Ray, state: Scalars) -> tuple[Scalar, Scalar]:
        faces, p, d = self.faces, ray.p, ray.d
        is_up = faces.rise >= 0
        turn = select(is_up, 1, -1)
        along = Vector(cos(faces.direction) * turn, sin(faces.direction) * turn, 0)
        H, run, w = abs(faces.rise), faces.run, faces.riser
        low, high = self._range(is_up)
        # uphill and up; half a turn for rays from below
        is_below = p.z < self.ground.height(p.x, p.y)
        side = select(is_below, -1, 1)
        s, z = side * (along.dot(p) - turn * faces.start), side * p.z
        ds, dz = side * along.dot(d), side * d.z
        is_first = select(is_below, select(is_up, 0, 1), select(is_up, 1, 0))
        low, high = select(is_below, -high, low), select(is_below, -low, high)
        # edge k is at s = k run + offset, z = (k + is_first) H
        offset = is_first * w
        # the edges that the ray comes to, k = start, start + ahead, ..., and how far it passes above each, times |ds|
        is_ahead = ds >= 0
        ahead = select(is_ahead, 1, -1)
        behind = floor((s - offset) / run)
        start = select(is_ahead, clamped(behind + 1, low, high + 1), clamped(behind, low - 1, high))
        above = (z - (start + is_first) * H) * abs(ds) + ahead * (start * run + offset - s) * dz
        change = run * dz - ahead * H * abs(ds)
        count = select(above < 0, 0, select(change < 0, floor(above / maximum(-change, TINY)) + 1, 2 * _ENDLESS))
        edge = clamped(start + ahead * count, low - 1, high + 1)
        # it leaves through the riser of this step or the tread of the one before
        step = select(is_ahead, clamped(edge, low, high + 1), clamped(edge + 1, low, high + 1))
        tread = self._leaving(z - (step - 1 + is_first) * H, dz)
        over_riser = w * (z - (step + is_first) * H) - H * (s - step * run - offset)
        has_riser = both(step <= high, H > 0)
        riser = select(has_riser, self._leaving(over_riser, w * dz - H * ds), BEYOND)
        distance = minimum(tread, riser)
        is_there = both(step <= _ENDLESS, step >= -_ENDLESS)
        return met(distance, is_there, ray.reach)

    def _range(self, is_up: Scalar) -> tuple[Scalar, Scalar]:
        """The lowest and the highest step."""
        steps = self.faces.steps
        if steps is None:
            return select(is_up, 0, -2 * _ENDLESS), select(is_up, 2 * _ENDLESS, 0)
        return select(is_up, 0, 1 - steps), select(is_up, steps - 1, 0)

    @staticmethod
    def _leaving(over: Scalar, rate: Scalar) -> Scalar:
        """When a point that is so far over a plane comes to it."""
        return select(rate < -TINY, maximum(over, 0) / maximum(-rate, TINY), BEYOND)


# ---- any function


class SearchedRay(GroundRay):
    """Ground of which no more than the height is known: steps along the ray until f has changed its sign.

    A step is ``resolution`` long, or longer where a bound of the slopes says that the ground cannot be reached before.
    So what is missed is at most ground that the ray is below for less than the resolution. The place is then found
    between the last two points, to 1e-10 m or the rounding of f, by ITP, which needs hardly more rounds than
    bisection at worst and converges as the secant method on smooth ground [Oliveira and Takahashi 2020].
    """

    size = 8

    def __init__(self, ground: Ground, reach: Scalar, resolution: float):
        steps = math.ceil(float(reach) / resolution) if is_constant(reach) else _STEPS
        self.steps = max(1, min(steps, _MOST_STEPS))
        self.ground = ground
        self.steepest = slope_bound(ground)
        self.rounds = self.steps + 1 + _NARROWING

    def begin(self, ray: Ray) -> list[Scalar]:
        over = ray.p.z - self.ground.height(ray.p.x, ray.p.y)
        side = select(over < 0, -1, 1)
        return [1, side, 0, 0, abs(over), 0, 0, 0]

    def advance(self, ray: Ray, state: Scalars) -> list[Scalar]:
        # f times the side is positive at a, and at b it is not, once there is one
        _, side, has_both, a, f_a, b, f_b, room = state
        step = ray.reach / self.steps
        is_narrowing = equal(has_both, 1)
        ahead = minimum(a + self._step(ray, step, f_a), ray.reach)
        t = select(is_narrowing, self._between(a, f_a, b, f_b, room, step), ahead)
        place = ray.at(t)
        f = side * (place.z - self.ground.height(place.x, place.y))
        is_under = f <= 0
        is_found = either(is_narrowing, is_under)
        a_next, fa_next = select(is_under, a, t), select(is_under, f_a, f)
        b_next, fb_next = select(is_under, t, b), select(is_under, f, f_b)
        # rounding may leave nothing between a and b
        is_between = either(negation(is_narrowing), both(t > a, t < b))
        is_wide = both(is_between, b_next - a_next > 2 * _BRACKET)
        goes_on = either(both(is_found, is_wide), both(negation(is_found), t < ray.reach))
        room = select(is_narrowing, room / 2, b_next - a_next)
        return [select(goes_on, 1, 0), side, select(is_found, 1, 0), a_next, fa_next, b_next, fb_next, room]

    def _step(self, ray: Ray, step: Scalar, f: Scalar) -> Scalar:
        if not math.isfinite(self.steepest):
            return step
        fastest = abs(ray.d.z) + self.steepest * sqrt(ray.d.x * ray.d.x + ray.d.y * ray.d.y)
        return maximum(step, f / maximum(fastest, TINY))

    @staticmethod
    def _between(a: Scalar, f_a: Scalar, b: Scalar, f_b: Scalar, room: Scalar, step: Scalar) -> Scalar:
        """The point of a secant, moved towards the middle, and near to it while the bracket is wide for its round."""
        middle = (a + b) / 2
        secant = a + (b - a) * f_a / maximum(f_a - f_b, TINY)
        inward = select(secant < middle, 1, -1)
        shift = minimum(0.2 / step * (b - a) * (b - a), abs(middle - secant))
        moved = secant + inward * shift
        radius = maximum(room - (b - a) / 2, 0)
        return select(abs(moved - middle) <= radius, moved, middle - inward * radius)

    def end(self, ray: Ray, state: Scalars) -> tuple[Scalar, Scalar]:
        _, _, has_both, a, f_a, b, f_b, _ = state
        between = a + (b - a) * (f_a / maximum(f_a - f_b, TINY))
        return met(clamped(between, a, b), equal(has_both, 1), ray.reach)


# ---- bounds of slopes, by interval arithmetic over all x and y


def slope_bound(ground: Ground) -> float:
    """A number that the ground is nowhere steeper than, dh/ds; infinite if its formula does not tell."""
    if not all(map(is_constant, ground.parameters)) or ground.has_edges:
        return math.inf
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    height = graph.lift(ground.height(x, y))
    sizes = [_bounds(graph.lift(tangents([height], {point: 1})[0])) for point in (x, y)]
    return math.hypot(*(max(math.fabs(low), math.fabs(high)) for low, high in sizes))


def _bounds(result: Expr) -> tuple[float, float]:
    everything = -math.inf, math.inf
    found: dict[int, tuple[float, float]] = {}
    for node in nodes_of([result]):
        args = [found[a.index] for a in node.args]
        if node.op == "const":
            found[node.index] = node.value, node.value
        elif node.op in ("add", "sub"):
            (a, b), (c, e) = args
            found[node.index] = (a + c, b + e) if node.op == "add" else (a - e, b - c)
        elif node.op == "neg":
            found[node.index] = -args[0][1], -args[0][0]
        elif node.op == "mul":
            # zero times infinity is zero: all numbers are finite
            ends = [0.0 if 0 in (a, b) else a * b for a in args[0] for b in args[1]]
            found[node.index] = min(ends), max(ends)
        elif node.op in ("sin", "cos"):
            found[node.index] = -1.0, 1.0
        else:
            found[node.index] = everything
        if any(math.isnan(end) for end in found[node.index]):
            found[node.index] = everything
    return found[result.index]
