"""Height fields: heights on a square grid, which add up, merge, get borders and platforms, and become a ground."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from pliant.checks import check, check_at_least, check_finite, is_real
from pliant.contact.ground import Ground, height_map
from pliant.errors import ContactError, bad_value
from pliant.scalar import Scalar
from pliant.scalar.ops import MOST_ENTRIES
from pliant.signatures import explained

QUANTUM = 2.0**-20
"""Heights are multiples of this, a micrometre: exact in float32 up to 16 m, and the same on every machine."""


@explained
@dataclass(frozen=True, eq=False)
class HeightField:
    """Heights at the points of a square grid, x first.

    ``heights[i, j]`` is at x = corner[0] + i spacing, y = corner[1] + j spacing. Heights are rounded to multiples of
    2^-20 m. Fields on the same grid add up, ``a + b``, and scale, ``0.5 * a``; numbers are added to all heights.

    Attributes:
        heights: at least 2 x 2 [m]; read-only.
        spacing: between neighbours [m].
        corner: x and y of ``heights[0, 0]`` [m]; None puts the middle of the field at the origin.
    """

    heights: np.ndarray
    spacing: float
    corner: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        check_at_least("spacing", self.spacing, 0, strict=True, subject="height field")
        heights = _checked(self.heights)
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "spacing", float(self.spacing))
        corner = [-0.5 * (n - 1) * self.spacing for n in heights.shape] if self.corner is None else self.corner
        is_pair = isinstance(corner, tuple | list) and len(corner) == 2 and all(map(is_real, corner))
        check("corner", corner, "two numbers, x and y", is_pair, subject="height field", error=ContactError)
        object.__setattr__(self, "corner", tuple(map(float, corner)))

    @property
    def size(self) -> tuple[float, float]:
        """Length along x and y [m]."""
        n, m = self.heights.shape
        return (n - 1) * self.spacing, (m - 1) * self.spacing

    @property
    def center(self) -> tuple[float, float]:
        """x and y of its middle [m]."""
        (x, y), (a, b) = self._corner, self.size
        return x + a / 2, y + b / 2

    @property
    def rms(self) -> float:
        """Root of the mean square of the heights about their mean [m]."""
        return float(self.heights.std())

    @property
    def steepest(self) -> float:
        """The largest slope between neighbours along x or y, a tangent."""
        return max(float(abs(np.diff(self.heights, axis=axis)).max()) for axis in (0, 1)) / self.spacing

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """x and y of all points, each of the shape of the heights [m]."""
        n, m = self.heights.shape
        x, y = self._corner
        return (
            np.broadcast_to((x + self.spacing * np.arange(n))[:, None], (n, m)),
            np.broadcast_to(y + self.spacing * np.arange(m), (n, m)),
        )

    @explained
    def ground(self, *, friction: Scalar | None = None, restitution: Scalar | None = None) -> Ground:
        """The ground: bilinear between the points, and constant beyond the edges; see `pliant.height_map`."""
        made = height_map(
            self.heights, spacing=self.spacing, origin=self._corner, friction=friction, restitution=restitution
        )
        return replace(made, name="terrain")

    # ---- sums

    def __add__(self, other: "HeightField | float") -> "HeightField":
        return self.with_heights(self.heights + self._number_or_heights(other, "+"))

    __radd__ = __add__

    def __sub__(self, other: "HeightField | float") -> "HeightField":
        return self.with_heights(self.heights - self._number_or_heights(other, "-"))

    def __mul__(self, factor: float) -> "HeightField":
        check_finite("factor", factor, subject="height field", error=ContactError)
        return self.with_heights(self.heights * factor)

    __rmul__ = __mul__

    def __neg__(self) -> "HeightField":
        return self.with_heights(-self.heights)

    def _number_or_heights(self, other: Any, sign: str) -> Any:
        if isinstance(other, HeightField):
            check_grids(sign, self, other)
            return other.heights
        if not is_real(other):
            raise ContactError(bad_value(f"what is to the right of {sign}", other, "a height field or a number"))
        return other

    # ---- copies

    @explained
    def with_heights(self, heights: Any) -> "HeightField":
        """Other heights on the same grid."""
        return HeightField(heights, self.spacing, self.corner)

    @explained
    def moved(self, x: float = 0, y: float = 0, z: float = 0) -> "HeightField":
        """The field elsewhere [m]."""
        check_finite("the displacement", x, y, z, subject="height field", error=ContactError)
        own = self._corner
        return HeightField(self.heights + z, self.spacing, (own[0] + x, own[1] + y))

    @explained
    def with_border(self, width: float, height: float = 0) -> "HeightField":
        """Level ground all around, at a height [m]; where that is another one, it begins within a cell."""
        check_at_least("width", width, 0, subject="border")
        check_finite("height", height, subject="border", error=ContactError)
        n = round(width / self.spacing)
        check_count([m + 2 * n for m in self.heights.shape], self.spacing, "with_border")
        x, y = self._corner
        heights = np.pad(self.heights, n, constant_values=height)
        return HeightField(heights, self.spacing, (x - n * self.spacing, y - n * self.spacing))

    @explained
    def with_platform(self, side: float, *, fade: float | None = None) -> "HeightField":
        """A level square in the middle, at the mean of the heights there; ground that is level there stays as it is.

        Args:
            side: of the square [m].
            fade: width around it over which the heights go back to their own [m]; None for half a side.
        """
        check_at_least("side", side, 0, strict=True, subject="platform")
        fade = side / 2 if fade is None else fade
        check_at_least("fade", fade, 0, subject="platform")
        distance = self._rings() - half_side(side, self.heights.shape, self.spacing)
        inside = distance <= 0
        here = self.heights[inside]
        if not here.size:
            raise ContactError(bad_value("side", side, f"at least the spacing, {float(self.spacing):g} m", "platform"))
        if (here == here[0]).all():
            return self
        # a share that rises and ends level
        s = np.clip(distance * (self.spacing / 2) / fade, 0, 1) if fade > 0 else (distance > 0).astype(float)
        share = s * s * (3 - 2 * s)
        level = _rounded(np.asarray(here.mean()))
        return self.with_heights(np.where(inside, level, level + share * (self.heights - level)))

    def _rings(self) -> np.ndarray:
        """How far points are from the middle along x or y, whichever is more, in half cells: whole numbers."""
        return rings(self.heights.shape)

    @property
    def _corner(self) -> tuple[float, float]:
        assert self.corner is not None
        return self.corner

    def __repr__(self) -> str:
        (n, m), (a, b) = self.heights.shape, self.size
        low, high = self.heights.min(), self.heights.max()
        return f"HeightField: {a:g} x {b:g} m, {n} x {m} points, from {low:.3g} to {high:.3g} m"


# ---- several fields


@explained
def highest(*fields: HeightField) -> HeightField:
    """The higher of several fields at each point."""
    return _of_all("highest", np.maximum, fields)


@explained
def lowest(*fields: HeightField) -> HeightField:
    """The lower of several fields at each point."""
    return _of_all("lowest", np.minimum, fields)


@explained
def merged(a: HeightField, b: HeightField, share: Any) -> HeightField:
    """One field passing over to another: (1 - share) a + share b.

    Args:
        share: of ``b``, 0 to 1: a number, an array of the shape of the heights (conditions choose one or the other), or
            a function of the arrays x and y [m] that gives such an array.
    """
    check_grids("merged", a, b)
    given = share(*a.points()) if isinstance(share, Callable) else share
    try:
        found = np.broadcast_to(np.asarray(given, dtype=float), a.heights.shape)
    except (TypeError, ValueError):
        takes = f"a number, an array of shape {a.heights.shape}, or a function of x and y"
        raise ContactError(bad_value("share", given, takes, "merged")) from None
    if not ((found >= 0) & (found <= 1)).all():
        wrong = found[~((found >= 0) & (found <= 1))][0]
        raise ContactError(bad_value("share", float(wrong), "0 to 1", "merged"))
    return a.with_heights((1 - found) * a.heights + found * b.heights)


def _of_all(name: str, choose: Callable[..., Any], fields: tuple[Any, ...]) -> HeightField:
    if not fields:
        raise ContactError(f"{name} has no fields", subject=name, field="fields", cure="give one or more")
    check_grids(name, *fields)
    return fields[0].with_heights(reduce(choose, (f.heights for f in fields)))


def check_grids(subject: str, *fields: Any) -> None:
    """Raise unless all are height fields on the same grid."""
    for field in fields:
        check("field", field, "a HeightField", isinstance(field, HeightField), subject=subject, error=ContactError)
    first = fields[0]
    for field in fields[1:]:
        off = max(abs(a - b) for a, b in zip(first._corner, field._corner, strict=True))
        is_same = field.heights.shape == first.heights.shape and math.isclose(field.spacing, first.spacing)
        if not is_same or off > 1e-6 * first.spacing:
            grids = [
                f"{f.heights.shape} points from {tuple(round(c, 6) for c in f._corner)} at {f.spacing:g} m"
                for f in (first, field)
            ]
            problem = f"{subject}: the grids differ, {grids[0]} and {grids[1]}"
            cure = "make them with the same size and spacing; moved() shifts one"
            raise ContactError(problem, subject=subject, field="grid", cure=cure)


# ---- grids


def grid_shape(size: Any, spacing: Any, subject: str) -> tuple[int, int]:
    """Points along x and y of a grid of a size [m], one number or two, with points on all its edges."""
    check_at_least("spacing", spacing, 0, strict=True, subject=subject)
    sides = [size, size] if is_real(size) else list(size) if isinstance(size, tuple | list | np.ndarray) else []
    is_right = len(sides) == 2 and all(is_real(s) and s >= spacing for s in sides)
    takes = f"one or two numbers, not below the spacing, {float(spacing):g} m"
    check("size", size, takes, is_right, subject=subject, error=ContactError)
    n, m = (round(s / spacing) + 1 for s in sides)
    check_count((n, m), spacing, subject)
    return n, m


def check_count(shape: Any, spacing: float, subject: str) -> None:
    """Raise unless a map of so many points can be."""
    n, m = shape
    if n * m > MOST_ENTRIES:
        problem = f"the map of {subject} has {n} x {m} points, {n * m / 1e6:.0f} million"
        # it is shown with three digits
        least = 1.005 * spacing * math.sqrt(n * m / MOST_ENTRIES)
        cure = f"it takes {MOST_ENTRIES / 1e6:.0f} million; use a spacing of {least:.3g} m or more, or a smaller size"
        raise ContactError(problem, subject=subject, field="size", cure=cure)


def offsets(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Places of the points from the middle, along x and along y, in half cells: whole numbers."""
    n, m = shape
    return 2 * np.arange(n)[:, None] - (n - 1), 2 * np.arange(m)[None, :] - (m - 1)


def rings(shape: tuple[int, int]) -> np.ndarray:
    """The larger of the two distances from the middle, in half cells."""
    i, j = offsets(shape)
    return np.maximum(abs(i), abs(j))


def half_side(side: float, shape: tuple[int, int], spacing: float) -> int:
    """Half a side of a square in the middle, in half cells, whose edges are on points of the grid."""
    n = round(side / spacing)
    return n + (n - (shape[0] - 1)) % 2


def _checked(heights: Any) -> np.ndarray:
    about: dict[str, Any] = {"subject": "height field", "field": "heights"}
    try:
        found = np.asarray(heights, dtype=float)
    except (TypeError, ValueError) as error:
        raise ContactError(f"heights of a height field: {error}", **about, cure="give an array of numbers") from error
    if found.ndim != 2 or min(found.shape) < 2:
        problem = f"heights of a height field has shape {found.shape}"
        raise ContactError(problem, **about, cure="it takes at least 2 x 2 points")
    if not np.isfinite(found).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(found))[0])
        raise ContactError(bad_value(f"heights[{i}, {j}]", float(found[i, j]), "a finite number", "height field"))
    found = _rounded(found)
    found.setflags(write=False)
    return found


def _rounded(heights: np.ndarray) -> np.ndarray:
    # plus zero: no negative ones
    return np.rint(heights / QUANTUM) * QUANTUM + 0.0
