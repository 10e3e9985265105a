"""Round shapes nearest to an outline: ball, ellipsoid, capsule, rim with a tube, cylinder.

About an axis u, all but the ellipsoid have the support function

    h(d) = c.d + L |u.d| + R sqrt(1 - (u.d)^2) + r

with L half of the length, R the radius of the rim and r that of the tube or ball around: linear in c, L, R and r. An
ellipsoid has h(d) = c.d + sqrt(d.Q d), from which h^2 = 2 h c.d + d.(Q - c c^T) d is linear in c and the matrix. So
each is fitted by least squares over the directions along which the body reaches farther than the rest of its part.
Weights that grow where a fit is worst [Lawson 1961] bring it near the smallest largest error. The axis is one of the
ellipsoid's, or of the coordinates, along which meshes are mostly drawn.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pliant.meshes.outlines import DIRECTIONS, Outline, distance

RoundKind = Literal["sphere", "ellipsoid", "capsule", "rim", "cylinder"]

_ROUNDS = 20  # of weights; after these the largest error is within some hundredths of the smallest possible
_LEAST = 1e-6  # of weights, so that a direction that is well met may count again

_CONTACTS = {"sphere": 1, "ellipsoid": 1, "capsule": 2, "rim": 3, "cylinder": 6}


@dataclass(frozen=True, eq=False)
class RoundFit:
    """A round shape in place of an outline.

    Attributes:
        kind: of shape.
        centers: of a capsule the ends of its segment, of a cylinder those of its rims, else one (n, 3) [m].
        radius: of the ball or tube [m]; 0 for an ellipsoid.
        sizes: the radius of rims, the half axes of an ellipsoid [m]; else none.
        axes: rows are those of the ellipsoid; the last is that of a rim or cylinder (3, 3).
        error: how far it is from the outline, each with the rest, at most [m].
    """

    kind: RoundKind
    centers: np.ndarray
    radius: float
    sizes: tuple[float, ...]
    axes: np.ndarray
    error: float = 0.0

    @property
    def contacts(self) -> int:
        """How many contacts it has."""
        return _CONTACTS[self.kind]

    @property
    def girth(self) -> float:
        """Half of its smallest width [m], which is the radius of a ball, a capsule or the tube of a rim."""
        if self.kind == "ellipsoid":
            return min(self.sizes)
        half = float(np.linalg.norm(self.centers[-1] - self.centers[0])) / 2
        return self.radius + (min(half, *self.sizes) if self.kind == "cylinder" else 0)

    @property
    def outline(self) -> Outline:
        """Its own."""
        sizes = {3: self.sizes, 1: (*self.sizes * 2, 0.0), 0: (0.0, 0.0, 0.0)}[len(self.sizes)]
        return Outline.of(self.centers, self.radius, self.axes.T * np.array(sizes))


def round_fits(outline: Outline, rest: Outline, tolerance: float, most: float) -> Iterator[RoundFit]:
    """The nearest shape of each kind that is near enough, those with fewer contacts first.

    Args:
        outline: of the body.
        rest: of what else is in its part; where that reaches farther, the shape may have any that does not stick out.
        tolerance: how far they may be off, as a share of half their smallest width.
        most: how far they may be off at all; half of that may be beyond the tolerance [m].
    """
    goal = _Goal(outline, rest)
    ellipsoid = goal.ellipsoid()
    axes = [*ellipsoid.axes, *np.eye(3)] if ellipsoid is not None else list(np.eye(3))
    yield from goal.near([goal.ball()], tolerance, most)
    yield from goal.near([ellipsoid], tolerance, most)
    kinds: tuple[RoundKind, ...] = ("capsule", "rim", "cylinder")
    for kind in kinds:
        yield from goal.near([goal.about(axis, kind) for axis in axes], tolerance, most)


class _Goal:
    """What a shape is to reach along `DIRECTIONS`."""

    def __init__(self, outline: Outline, rest: Outline):
        self.outline, self.rest = outline.some(outline.extreme()), rest
        self.there = rest.support(DIRECTIONS)
        own = self.outline.support(DIRECTIONS)
        self.reach = np.maximum(own, self.there)
        self.counts = np.where(own > self.there, 1.0, 0.0)

    def error(self, reach: np.ndarray) -> np.ndarray:
        """How far a shape with this reach is off along each direction, with the rest [m]."""
        return abs(np.maximum(reach, self.there) - self.reach)

    def near(self, fits: "list[RoundFit | None]", tolerance: float, most: float) -> Iterator[RoundFit]:
        """The nearest of them with its error over all directions, if that is near enough."""
        made = [fit for fit in fits if fit is not None]
        for fit in sorted(made, key=lambda fit: fit.error)[:1]:
            largest = min(most, max(tolerance * fit.girth, most / 2))
            if fit.error <= largest:
                error = distance(self.outline, fit.outline, self.rest)
                if error <= largest:
                    yield replace(fit, error=error)

    def ball(self) -> RoundFit | None:
        """The nearest ball."""
        c, (r,), error = self._linear(np.ones((len(DIRECTIONS), 1)))
        return RoundFit("sphere", c[None], float(r), (), np.eye(3), error) if r > 0 else None

    def about(self, u: np.ndarray, kind: RoundKind) -> RoundFit | None:
        """The nearest shape of a kind about the axis u."""
        along = abs(DIRECTIONS @ u)
        across, around = np.sqrt(np.maximum(1 - along * along, 0)), np.ones(len(DIRECTIONS))
        columns = {"capsule": [along, around], "rim": [across, around], "cylinder": [along, across, around]}[kind]
        c, found, error = self._linear(np.stack(columns, axis=1))
        if kind == "cylinder" and found[2] < 0:  # sharp edges
            c, found, error = self._linear(np.stack(columns[:2], axis=1))
            found = np.append(found, 0)
        if found[:-1].min() <= 0 or found[-1] < 0 or (kind == "capsule" and found[-1] == 0):
            return None
        length = 0.0 if kind == "rim" else float(found[0])
        sizes = () if kind == "capsule" else (float(found[-2]),)
        centers = c[None] if kind == "rim" else np.stack([c - length * u, c + length * u])
        return RoundFit(kind, centers, float(found[-1]), sizes, _frame(u), error)

    def ellipsoid(self) -> RoundFit | None:
        """The nearest ellipsoid."""
        # about a center nearby, so that its square is small
        middle = self.outline.middle
        reach, offset = self.reach - DIRECTIONS @ middle, DIRECTIONS @ middle
        x, y, z = DIRECTIONS.T
        squares = np.stack([x * x, y * y, z * z, 2 * x * y, 2 * x * z, 2 * y * z], axis=1)
        table = np.concatenate([2 * reach[:, None] * DIRECTIONS, squares], axis=1)

        best, least = None, np.inf
        weights = self.counts
        for _ in range(_ROUNDS):
            found = _weighted(table, reach * reach, weights)
            c, (xx, yy, zz, xy, xz, yz) = found[:3], found[3:]
            matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + np.outer(c, c)
            values, vectors = np.linalg.eigh(matrix)
            if values[0] <= 0:
                break
            vectors[:, 0] *= np.linalg.det(vectors)  # right-handed
            error = self.error(DIRECTIONS @ c + np.sqrt(((DIRECTIONS @ vectors) ** 2) @ values) + offset)
            if error.max() < least:
                half, least = tuple(float(s) for s in np.sqrt(values)), float(error.max())
                best = RoundFit("ellipsoid", (c + middle)[None], 0.0, half, vectors.T, least)
            weights = _reweighted(weights, error)
        return best

    def _linear(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """The center and the factors of the columns (directions, n) with the least largest error, and that."""
        table = np.concatenate([DIRECTIONS, columns], axis=1)
        best, least = np.zeros(table.shape[1]), np.inf
        weights = self.counts
        for _ in range(_ROUNDS):
            found = _weighted(table, self.reach, weights)
            error = self.error(table @ found)
            if error.max() < least:
                best, least = found, float(error.max())
            weights = _reweighted(weights, error)
        return best[:3], best[3:], least


def _weighted(table: np.ndarray, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """x for which table x is nearest to the values by weighted least squares."""
    root = np.sqrt(weights)
    return np.linalg.lstsq(table * root[:, None], values * root, rcond=None)[0]


def _reweighted(weights: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Weights that grow with the error; a share of the old, for a steady way there."""
    worst = max(float(error.max()), 1e-300)
    grown = np.maximum(weights, _LEAST) * (0.2 + error / worst)
    return grown / grown.max()


def _frame(u: np.ndarray) -> np.ndarray:
    """A right-handed frame (3, 3) whose last row is u."""
    other = np.eye(3)[abs(u).argmin()]
    x = np.cross(other, u)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(u, x), u])
