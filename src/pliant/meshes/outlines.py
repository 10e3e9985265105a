"""Outlines of convex bodies made of round pieces, by their support functions, and how far two outlines are apart.

The support function of a convex body K, h(d) = max over p in K of d.p, says how far K reaches along the unit vector d,
and so where it can touch. Ground that is flat below the body sees nothing else, and a body can turn, so all directions
count alike. The largest difference of two support functions over the unit directions, max_d |h(d) - g(d)|, is the
Hausdorff distance of the two convex bodies [Schneider, Convex Bodies, 1.8]. Here it is measured over a fixed set of
directions, and then ever nearer to the worst of them, which needs no hull.

A piece is an ellipsoid with a ball around each of its points: h(d) = c.d + |B^T d| + r. B is zero for a point or a ball
and flat for the disc within a rim. The support function of several pieces is the largest of theirs, which is that of
their convex hull.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

_CHUNK = 2**17  # products at a time, 1 MB, however large the mesh; ten times slower by 2 MB


def spread_directions(count: int) -> np.ndarray:
    """Unit vectors (count + 26, 3): a Fibonacci spiral on the sphere, and a cube's faces, edges and corners.

    Meshes of robots are mostly drawn along their axes, so that the latter are where a box is at its widest.
    """
    k = np.arange(count) + 0.5
    z, angle = 1 - 2 * k / count, math.pi * (1 + math.sqrt(5)) * k
    r = np.sqrt(1 - z * z)
    spiral = np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)
    cube = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], float)
    return np.concatenate([cube / np.linalg.norm(cube, axis=1, keepdims=True), spiral])


DIRECTIONS = spread_directions(500)
"""The directions along which shapes are chosen, about 9 degrees apart."""

_FINE = spread_directions(2000)  # and those along which the result is measured at first


@dataclass(frozen=True, eq=False)
class Outline:
    """The convex hull of some pieces; of none of them, nothing, which reaches nowhere.

    Attributes:
        centers: c of each piece (n, 3) [m].
        radii: r of the ball around it (n,) [m].
        spreads: B, whose columns are the half axes of the ellipsoid (n, 3, 3) [m].
    """

    centers: np.ndarray
    radii: np.ndarray
    spreads: np.ndarray

    @classmethod
    def of(cls, centers: np.ndarray, radii: np.ndarray | float = 0, spreads: np.ndarray | None = None) -> "Outline":
        """Points, balls with radii for each or for all, or other pieces with spreads for each or for all."""
        count = len(centers)
        flat = np.zeros((3, 3)) if spreads is None else spreads
        return cls(centers, np.broadcast_to(radii, (count,)), np.broadcast_to(flat, (count, 3, 3)))

    @classmethod
    def joined(cls, outlines: Iterable["Outline"]) -> "Outline":
        """The pieces of all, in order."""
        every = [cls.of(np.zeros((0, 3))), *outlines]
        centers, radii, spreads = (
            np.concatenate([getattr(one, part) for one in every]) for part in ("centers", "radii", "spreads")
        )
        return cls(centers, radii, spreads)

    def __len__(self) -> int:
        return len(self.centers)

    def some(self, chosen: list[int] | np.ndarray) -> "Outline":
        """Those pieces only."""
        index = np.asarray(chosen, dtype=int)
        return Outline(self.centers[index], self.radii[index], self.spreads[index])

    def moved(self, rotation: np.ndarray, position: np.ndarray) -> "Outline":
        """The same in a frame in which that of the outline has this pose."""
        return Outline(self.centers @ rotation.T + position, self.radii, rotation @ self.spreads)

    def reaches(self, directions: np.ndarray) -> np.ndarray:
        """How far each piece reaches along each direction (n, directions) [m]."""
        found = self.centers @ directions.T + self.radii[:, None]
        wide = np.flatnonzero(self.spreads.any(axis=(1, 2)))
        if len(wide):
            found[wide] += np.linalg.norm(directions @ self.spreads[wide], axis=-1)
        return found

    def support(self, directions: np.ndarray) -> np.ndarray:
        """h: how far the hull reaches along each direction (directions,) [m]."""
        return self._farthest(directions)[0]

    def extreme(self) -> np.ndarray:
        """Indices of the pieces that reach farthest along one of `DIRECTIONS`.

        What sticks out between two of these only, by a thousandth of the size or so, is not found.
        """
        return np.unique(self._farthest(DIRECTIONS)[1]) if len(self) else np.zeros(0, dtype=int)

    @property
    def size(self) -> float:
        """Half of the mean width [m]: the radius of a ball. Zero of nothing."""
        # directions spread over the sphere, whose mean is zero but for rounding: the center does not matter
        return float(self.support(_FINE[26:]).mean() - _FINE[26:].mean(axis=0) @ self.middle) if len(self) else 0.0

    @property
    def middle(self) -> np.ndarray:
        """The middle of the box around it (3,) [m]."""
        return (self.support(np.eye(3)) - self.support(-np.eye(3))) / 2

    def _farthest(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The support along each direction, and the piece that it is of."""
        best = np.full(len(directions), -np.inf)
        where = np.zeros(len(directions), dtype=int)
        step = max(_CHUNK // len(directions), 1)
        for start in range(0, len(self), step):
            reach = self.some(np.arange(start, min(start + step, len(self)))).reaches(directions)
            own = reach.argmax(axis=0)
            value = reach[own, np.arange(len(directions))]
            where = np.where(value > best, own + start, where)
            best = np.maximum(best, value)
        return best, where


NOTHING = Outline.of(np.zeros((0, 3)))
"""The outline of no piece."""


def distance(before: Outline, after: Outline, rest: Outline = NOTHING) -> float:
    """How far the outlines are apart at most, each with the rest [m]; infinite if one of them is nothing.

    Along directions in which the rest reaches farther than both, they are alike.
    """
    worst, middle = 0.0, np.zeros(3)
    for width, spread in ((1, _FINE), (0.1, DIRECTIONS), (0.03, DIRECTIONS), (0.01, DIRECTIONS)):
        directions = middle + width * spread
        directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
        other = rest.support(directions)
        pair = [np.maximum(one.support(directions), other) for one in (before, after)]
        if not np.isfinite(pair).all():
            return 0.0 if not len(before) and not len(after) else math.inf
        apart = abs(pair[0] - pair[1])
        worst, middle = max(worst, float(apart.max())), directions[apart.argmax()]
    return worst
