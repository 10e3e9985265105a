"""The ground: its height as a function of x and y, over any scalar.

The function is traced once, when the ground is made. Its normal comes from the derivative of that trace,
and both are put into whatever scalars ask: numbers, arrays, symbols, or the trace of a robot's step.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pliant.checks import (
    check, check_at_least, check_finite, check_friction, check_restitution, function_name, is_whole,
)  # fmt: skip
from pliant.contact.ground_faces import Faces, GroundTouch, MapFaces, StairFaces, corner_heights, nearest_of
from pliant.errors import ContactError, TraceError, bad_value
from pliant.scalar import (
    Expr, Graph, Scalar, Scalars, Table, cos, floor, is_constant, maximum, minimum, sin, sqrt, tan,
)  # fmt: skip
from pliant.scalar.evaluation import interpret, nodes_of, tangents
from pliant.scalar.formulas import Formula
from pliant.scalar.ops import CONDITIONS, MOST_ENTRIES
from pliant.scalar.pickling import kept
from pliant.signatures import explained
from pliant.spatial import Vector

# of Newton's method, for the place where a ball touches: quadratic, from a ball's radius away
_ITERATIONS = 3

# the least determinant of its matrix
_NARROW = 0.1

# operations after which a height may have edges
_EDGED = CONDITIONS | {"floor", "round", "mod", "select", "min", "max", "abs", "lookup"}


class _Traced(NamedTuple):
    """The ground as a graph over x, y and the parameters that are not numbers."""

    height: Expr
    normal: tuple[Expr, Expr, Expr]
    turns: tuple[Expr, Expr, Expr, Expr]  # of the normal's x by x and by y, and of its y
    is_flat: bool
    is_curved: bool
    has_edges: bool


@explained
@dataclass(frozen=True, eq=False)
class Ground:
    """Height of the ground as a function of x and y, in the world frame.

        Ground(lambda x, y: 0.1 * pliant.math.sin(x))

    The function is generic over the scalar: it uses Pliant's functions and `pliant.math.select`, and neither
    branches on x and y nor keeps anything between calls.

    Attributes:
        function: height [m] at x and y [m], with ``parameters`` after them.
        name: for messages.
        friction: coefficient of friction on this ground; None leaves it to the contact model.
        restitution: coefficient of restitution on this ground, 0 to 1; None leaves it to the contact model.
        parameters: scalars that the function takes after x and y. Numbers may as well be in the function
            itself; traced scalars, for a ground that differs between robots, and symbols must be here.
        faces: of ground with edges, where they are known, as those of `stairs` and `height_map` are.
    """

    function: Callable[..., Scalar]
    name: str = "ground"
    friction: Scalar | None = None
    restitution: Scalar | None = None
    parameters: Scalars = ()
    faces: Faces | None = None

    def __post_init__(self):
        if not callable(self.function):
            raise ContactError(bad_value("function", self.function, "a function of x and y", f"ground {self.name!r}"))
        check_friction(self.name, self.friction)
        check_restitution(self.name, self.restitution)
        for k, p in enumerate(self.parameters):
            check_finite(f"parameters[{k}]", p, subject=self.name, error=ContactError)
        _ = self._traced  # so that a function that cannot be traced says so here

    def __getstate__(self) -> dict[str, Any]:
        # the trace is made again; what depends on other traces does not pickle
        inputs = ("x", "y", *(f"p{k}" for k in range(len(self.parameters))))
        function = kept(self.function, lambda: Formula.of(self.function, inputs), f"ground {self.name!r}", "function")
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"function": function}

    @property
    def is_curved(self) -> bool:
        """Whether the normal differs from place to place, and there are no edges."""
        return self._traced.is_curved

    @property
    def has_edges(self) -> bool:
        """Whether the height may have edges: it selects, rounds or looks up."""
        return self._traced.has_edges

    @property
    def is_flat(self) -> bool:
        """Whether the height depends on neither x nor y, so that the normal is (0, 0, 1)."""
        return self._traced.is_flat

    @explained
    def height(self, x: Scalar, y: Scalar) -> Scalar:
        """Height [m] at x and y [m], in the scalars of the arguments."""
        return self._at([self._traced.height], x, y)[0]

    @explained
    def surface(self, x: Scalar, y: Scalar) -> tuple[Scalar, Vector]:
        """Height, and the unit vector that is normal to the ground and points out of it.

        n = (-dh/dx, -dh/dy, 1) / sqrt(1 + (dh/dx)^2 + (dh/dy)^2). What is 0 or 1 by structure is that
        integer. On an edge, where the height has no derivative, it is that of one of the sides.

        Args:
            x, y: a point in the world [m].

        Returns:
            The height [m] and the normal, in the world frame.
        """
        height, *normal = self._at([self._traced.height, *self._traced.normal], x, y)
        return height, Vector(*normal)

    @explained
    def turns(self, x: Scalar, y: Scalar) -> tuple[Vector, Vector, Vector]:
        """The normal at a point, and how it changes with x and y [1/m]."""
        n_x, n_y, n_z, xx, xy, yx, yy = self._at([*self._traced.normal, *self._traced.turns], x, y)
        # the normal stays a unit vector
        by_x, by_y = (Vector(a, b, -(n_x * a + n_y * b) / n_z) for a, b in ((xx, yx), (xy, yy)))
        return Vector(n_x, n_y, n_z), by_x, by_y

    @explained
    def ball(self, center: Vector, radius: Scalar) -> tuple[Scalar, Vector]:
        """The gap between a ball and the ground, negative for a penetration, and the normal where it touches.

        On curved ground a ball that just touches does so at the place p with c = p + radius n(p), which is not below
        its center. Newton's method finds it, on ground without edges whose curvature is nowhere larger than the
        ball's. On stairs and height maps it is the nearest of the `touches`. Where the ground has other edges, which
        nothing is known of, it is the distance to the plane that is tangent to the ground below the center.

        Args:
            center: in the world [m].
            radius: of the ball [m]; 0 for a point.

        Returns:
            The gap [m] and the unit normal, in the world frame.
        """
        if self.faces is not None and self.touch_count(radius) > 1:
            gap, normal, _ = nearest_of(self.faces.touches(center, radius, None))
            return gap, normal
        if self._is_below(radius):
            height, normal = self.surface(center.x, center.y)
            return (center.z - height) * normal.z - radius, normal
        x, y = self._nearest(center, radius)
        height, normal = self.surface(x, y)
        return (center - Vector(x, y, height)).dot(normal) - radius, normal

    @explained
    def touch_count(self, radius: Scalar) -> int:
        """How many parts of the ground a ball may touch at once: one, but for the faces of ground with edges."""
        return 1 if self.faces is None else self.faces.count(radius)

    @explained
    def touches(self, center: Vector, radius: Scalar, velocity: Vector | None = None) -> list[GroundTouch]:
        """All parts of the ground that a ball may touch, `touch_count` in all.

        Args:
            center, radius: see `ball`.
            velocity: of the center [m/s], for the bend of the gaps.
        """
        if self.faces is not None and self.touch_count(radius) > 1:
            return self.faces.touches(center, radius, velocity)
        bend = 0 if velocity is None else self.bend(center, radius, velocity)
        return [GroundTouch(*self.ball(center, radius), bend)]

    @explained
    def bend(self, center: Vector, radius: Scalar, velocity: Vector) -> Scalar:
        """The acceleration of the gap of a ball that moves straight on, by the curvature of the ground [m/s^2].

        It is the velocity times the rate of the normal: negative in a hollow, positive on a hill, and zero on planes
        and between edges.
        """
        if not self._traced.is_curved:
            return 0
        x, y = self._nearest(center, radius)
        n_x, n_y, n_z, xx, xy, yx, yy = self._at([*self._traced.normal, *self._traced.turns], x, y)
        # the place goes with the center, p + radius n(p) = c
        a, b, c, d = 1 + radius * xx, radius * xy, radius * yx, 1 + radius * yy
        share = 1 / maximum(a * d - b * c, _NARROW)
        p_x, p_y = (d * velocity.x - b * velocity.y) * share, (a * velocity.y - c * velocity.x) * share
        turn_x, turn_y = xx * p_x + xy * p_y, yx * p_x + yy * p_y
        turn = Vector(turn_x, turn_y, -(n_x * turn_x + n_y * turn_y) / n_z)
        return velocity.dot(turn)

    def _nearest(self, center: Vector, radius: Scalar) -> tuple[Scalar, Scalar]:
        """Where a ball touches: below its center, or by Newton's method."""
        x, y = center.x, center.y
        for _ in range(0 if self._is_below(radius) else _ITERATIONS):
            x, y = self._nearer(center, radius, x, y)
        return x, y

    def _is_below(self, radius: Scalar) -> bool:
        """Whether a ball touches below its center, or is taken to."""
        return not self._traced.is_curved or (is_constant(radius) and radius == 0)

    def _nearer(self, center: Vector, radius: Scalar, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
        """One step of Newton's method for p + radius n(p) = c, from x and y."""
        nodes = [*self._traced.normal[:2], *self._traced.turns]
        n_x, n_y, xx, xy, yx, yy = self._at(nodes, x, y)
        a, b, c, d = 1 + radius * xx, radius * xy, radius * yx, 1 + radius * yy
        off_x, off_y = center.x - x - radius * n_x, center.y - y - radius * n_y
        # in a hollow that is narrower than the ball there is no such place: go part of the way
        share = 1 / maximum(a * d - b * c, _NARROW)
        return x + (d * off_x - b * off_y) * share, y + (a * off_y - c * off_x) * share

    def _at(self, nodes: Sequence[Expr], x: Scalar, y: Scalar) -> list[Scalar]:
        """Nodes of the traced ground at a point; 0 and 1 by structure are integers."""
        values = {"x": x, "y": y, **{f"p{k}": p for k, p in enumerate(self.parameters)}}
        arrays = [a for a in values.values() if isinstance(a, np.ndarray)]
        try:
            np.broadcast_shapes(*(a.shape for a in arrays))
        except ValueError:
            problem = f"x and y have shapes {np.shape(x)} and {np.shape(y)}"
            raise ContactError(problem, subject="ground", field="shape", cure="they must fit each other") from None
        found = interpret(nodes, values)
        if arrays:  # a height for each point, also where it is the same for all
            return [v + np.zeros(np.broadcast_shapes(*(a.shape for a in arrays))) for v in found]
        return [_exact(v) if n.op == "const" else v for n, v in zip(nodes, found, strict=True)]

    @cached_property
    def _traced(self) -> _Traced:
        graph = Graph()
        x, y = graph.input("x"), graph.input("y")
        inputs = [p if is_constant(p) else graph.input(f"p{k}") for k, p in enumerate(self.parameters)]
        height = self._call(graph, x, y, *inputs)
        slope_x, slope_y = (graph.lift(tangents([height], {point: 1})[0]) for point in (x, y))
        to_unit = 1 / graph.lift(sqrt(1 + slope_x * slope_x + slope_y * slope_y))
        normal = (-slope_x * to_unit, -slope_y * to_unit, to_unit)
        turns = [graph.lift(tangents([n], {point: 1})[0]) for n in normal[:2] for point in (x, y)]
        own = {x.index, y.index}
        is_flat, is_plane = (not own & {node.index for node in nodes_of(part)} for part in ([height], list(normal)))
        has_edges = any(node.op in _EDGED for node in nodes_of([height]))
        a, b, c, d = turns
        return _Traced(height, normal, (a, b, c, d), is_flat, not (is_plane or has_edges), has_edges)

    def _call(self, graph: Graph, *args: Scalar) -> Expr:
        """The node that the function returns, with messages that name the function."""
        label = f"ground {self.name!r}, function {function_name(self.function)}"
        _check_arguments(label, self.function, args)
        try:
            height = self.function(*args)
        except TraceError as error:
            raise error.within(label) from error
        except (AttributeError, TypeError) as error:
            problem = f"{label}: x and y are traced scalars, which it cannot use: {error}"
            cure = "use their operators and functions of pliant.math (sin, select, ...), not of math and numpy"
            raise TraceError(problem, subject=label, field="function", cure=cure) from error
        except Exception as error:
            error.add_note(f"while tracing {label}, which gets traced scalars for x and y")
            raise
        if isinstance(height, np.ndarray) and height.shape == ():
            height = height.item()
        is_one = isinstance(height, Expr) or is_constant(height)
        if not is_one or isinstance(height, bool) or (isinstance(height, Expr) and height.op in CONDITIONS):
            problem = f"{label}: it returned {height!r} of type {type(height).__name__}"
            cure = "return one scalar, the height [m] (a condition becomes one by pliant.math.select(condition, a, b))"
            raise ContactError(problem, subject=label, field="height", cure=cure)
        node = graph.lift(height)
        if node.op == "const":
            check_finite("height", node.value, subject=label, error=ContactError)
        return node


def _exact(value: float) -> float | int:
    return int(value) if value in (0, 1) else value


def _check_arguments(label: str, function: Callable[..., Any], args: Sequence[Any]) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions written in C do not say
        return
    try:
        signature.bind(*args)
    except TypeError:
        wanted = "x, y" + (" and the parameters" if len(args) > 2 else "")
        cure = f"it is called with {wanted}, {len(args)} in all"
        raise ContactError(f"{label}: it takes {signature}", subject=label, field="function", cure=cure) from None


@explained
def as_ground(value: Any) -> Ground:
    """A ground from what stands for one: a `Ground`, a function of x and y, a height, or None for zero height."""
    if isinstance(value, Ground):
        return value
    if value is None:
        return flat()
    if (
        (is_constant(value) and not isinstance(value, bool))
        or isinstance(value, Expr)
        or hasattr(value, "free_symbols")
    ):
        return flat(value)
    if callable(value):
        return Ground(value, name=function_name(value))
    raise ContactError(
        bad_value("ground", value, "a Ground, as from flat() or slope(), a function of x and y, a height, or None")
    )


def _check_finite(ground: str, **values: Scalar) -> None:
    for name, value in values.items():
        check_finite(name, value, subject=ground, error=ContactError)


@explained
def flat(height: Scalar = 0, *, friction: Scalar | None = None, restitution: Scalar | None = None) -> Ground:
    """Level ground at a height [m]."""
    _check_finite("flat", height=height)
    return Ground(lambda x, y, h: h, "flat", friction, restitution, (height,))


@explained
def slope(
    angle: Scalar, *, direction: Scalar = 0, friction: Scalar | None = None, restitution: Scalar | None = None
) -> Ground:
    """A plane through the origin: h = tan(angle) s, with s = x cos(direction) + y sin(direction).

    Args:
        angle: how steep it is, less than pi/2 either way [rad].
        direction: where it rises to, from x towards y [rad].
    """
    _check_finite("slope", angle=angle, direction=direction)
    if is_constant(angle) and abs(angle) >= math.pi / 2:
        raise ContactError(bad_value("angle", angle, "less than pi/2 either way: that would be a wall", "slope"))
    return Ground(lambda x, y, a, d: tan(a) * _along(x, y, d), "slope", friction, restitution, (angle, direction))


@explained
def stairs(
    rise: Scalar, run: Scalar, *, steps: int | None = None, start: Scalar = 0, direction: Scalar = 0,
    riser: Scalar | None = None, friction: Scalar | None = None, restitution: Scalar | None = None,
) -> Ground:  # fmt: skip
    """Stairs up from height zero: h = rise (i + min(1, (s - i run) / riser)), with i = floor(s / run).

    s = x cos(direction) + y sin(direction) - start; before the first riser h = 0, after the last one
    h = steps rise. Treads are level. A riser is a steep plane of width ``riser``, since a height has one
    value at each point: a foot that is pushed against it slides up if friction lets it.

    Args:
        rise: height of a step [m]; negative for stairs that go down.
        run: from riser to riser [m].
        steps: how many; None for stairs without end.
        start: where the first riser begins [m].
        direction: where the stairs lead, from x towards y [rad].
        riser: width of a riser, less than ``run`` [m]; None for a hundredth of ``run``.
    """
    check_at_least("run", run, 0, strict=True, subject="stairs")
    riser = run / 100 if riser is None else riser
    _check_finite("stairs", rise=rise, start=start, direction=direction)
    check_at_least("riser", riser, 0, strict=True, subject="stairs")
    if is_constant(run) and is_constant(riser) and riser >= run:
        raise ContactError(bad_value("riser", riser, f"less than the run, {run} m, which leaves a tread", "stairs"))
    is_count = steps is None or (is_whole(steps) and steps > 0)
    check("steps", steps, "1 or more, or None for stairs without end", is_count, subject="stairs", error=ContactError)

    def height(x, y, rise, run, start, direction, riser):
        s = _along(x, y, direction) - start
        i = maximum(floor(s / run), 0)
        if steps is not None:
            i = minimum(i, steps - 1)
        return rise * (i + minimum(maximum((s - i * run) / riser, 0), 1))

    faces = StairFaces(rise, run, start, direction, riser, steps)
    return Ground(height, "stairs", friction, restitution, (rise, run, start, direction, riser), faces)


@explained
def waves(
    amplitude: Scalar, length: Scalar, *, direction: Scalar | None = None, friction: Scalar | None = None,
    restitution: Scalar | None = None,
) -> Ground:  # fmt: skip
    """Hills and hollows: h = amplitude sin(k x) sin(k y), or amplitude sin(k s), with k = 2 pi / length.

    Args:
        amplitude: largest height [m].
        length: from crest to crest [m].
        direction: of s = x cos(direction) + y sin(direction), for waves in one direction [rad]; None for both.
    """
    _check_finite("waves", amplitude=amplitude, direction=0 if direction is None else direction)
    check_at_least("length", length, 0, strict=True, subject="waves")
    if direction is not None:

        def ridges(x, y, a, length, d):
            return a * sin(2 * math.pi / length * _along(x, y, d))

        return Ground(ridges, "waves", friction, restitution, (amplitude, length, direction))

    def hills(x, y, a, length):
        k = 2 * math.pi / length
        return a * sin(k * x) * sin(k * y)

    return Ground(hills, "waves", friction, restitution, (amplitude, length))


def _along(x: Scalar, y: Scalar, direction: Scalar) -> Scalar:
    """The coordinate in a direction, from x towards y."""
    return x * cos(direction) + y * sin(direction)


@explained
def height_map(
    heights: Any, *, spacing: float | tuple[float, float] | None = None, size: tuple[float, float] | None = None,
    origin: tuple[float, float] = (0, 0), friction: Scalar | None = None, restitution: Scalar | None = None,
) -> Ground:  # fmt: skip
    """Heights on a grid, bilinear between its points and constant beyond its edges: continuous.

    ``heights[i, j]`` is the height at x = origin[0] + i spacing[0], y = origin[1] + j spacing[1]. With
    u and v the coordinates in cells, i and j their floors, and f, g what is left of them,

        h = (1 - f) ((1 - g) h[i, j] + g h[i, j+1]) + f ((1 - g) h[i+1, j] + g h[i+1, j+1])

    The normal jumps from cell to cell; beyond an edge, the slope across the edge is zero.

    Args:
        heights: an array, at least 2 x 2, x first [m].
        spacing: between neighbours, one number or one for x and one for y [m]; or
        size: of the whole map in x and y [m].
        origin: where ``heights[0, 0]`` is [m].
    """
    table, shape = _grid(heights)
    if (spacing is None) == (size is None):
        problem = f"height_map has {'neither' if size is None else 'both'} spacing and size"
        cure = "give either spacing, between neighbours, or size, of the whole map"
        raise ContactError(problem, subject="height_map", field="spacing", cure=cure)
    if size is not None:
        steps = [side / (n - 1) for side, n in zip(_pair("size", size), shape, strict=True)]
    else:
        steps = _pair("spacing", spacing)
    for step in steps:
        check_at_least("spacing" if size is None else "size", step, 0, strict=True, subject="height_map")
    start = _pair("origin", origin)

    def height(x, y):
        (i, f), (j, g) = (_cell((c - c0) / d, n) for c, c0, d, n in zip((x, y), start, steps, shape, strict=True))
        h00, h01, h10, h11 = corner_heights(table, shape, i, j)
        low, high = (1 - g) * h00 + g * h01, (1 - g) * h10 + g * h11
        return (1 - f) * low + f * high

    faces = MapFaces(table, shape, (steps[0], steps[1]), (start[0], start[1]))
    return Ground(height, "height_map", friction, restitution, faces=faces)


def _cell(u: Scalar, n: int) -> tuple[Scalar, Scalar]:
    """The cell of a coordinate among n points, and the place in it, 0 to 1."""
    u = minimum(maximum(u, 0), n - 1)
    i = minimum(floor(u), n - 2)
    return i, u - i


def _grid(heights: Any) -> tuple[Table, tuple[int, int]]:
    about: dict[str, Any] = {"subject": "height_map", "field": "heights"}
    try:
        grid = np.asarray(heights, dtype=np.float64)
    except (TypeError, ValueError, TraceError) as error:
        raise ContactError(f"heights of height_map: {error}", **about, cure="give an array of numbers") from error
    if grid.ndim != 2 or min(grid.shape) < 2:
        problem = f"heights of height_map has shape {grid.shape}"
        raise ContactError(problem, **about, cure="it takes at least 2 x 2 points")
    if grid.size > MOST_ENTRIES:
        problem = f"heights of height_map has {grid.size} points"
        raise ContactError(problem, **about, cure=f"it takes at most {MOST_ENTRIES}")
    bad = np.argwhere(~np.isfinite(grid))
    if len(bad):
        i, j = (int(k) for k in bad[0])
        takes = f"finite numbers; {len(bad)} of all are not"
        raise ContactError(bad_value(f"heights[{i}, {j}]", float(grid[i, j]), takes, "height_map"))
    return Table(grid.ravel()), (grid.shape[0], grid.shape[1])


def _pair(name: str, value: Any) -> list[float]:
    pair = [value, value] if is_constant(value) else list(value) if isinstance(value, tuple | list | np.ndarray) else []
    if len(pair) != 2 or not all(is_constant(v) for v in pair):
        raise ContactError(bad_value(name, value, "two numbers, for x and y", "height_map"))
    for v in pair:
        check_finite(name, v, subject="height_map", error=ContactError)
    return [float(v) for v in pair]
