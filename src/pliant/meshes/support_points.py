"""A few points that stand for many: those that keep the outline of a convex body best.

The support function of a convex body K, h(d) = max over p in K of d.p, says how far K reaches along the direction d,
and so where it can touch. Ground that is flat below the body sees nothing else, and a body can turn, so
all directions count alike. Points S of K reach at most as far; the largest shortfall over unit directions,
max_d h(d) - h_S(d), is the Hausdorff distance between K and the convex hull of S [Schneider, Convex Bodies,
1.8]. It is measured over a fixed set of directions, which needs no hull: only vertices that are extreme along
one of them are candidates. What sticks out between two of them only, by a thousandth of the size or so, is lost.

That measure alone would let a flat sole become uneven, since a few millimetres there are little beside what
the ankle's outline loses. So flat sides are seen to first, the largest one before the others.
"""

import math

import numpy as np

_CHUNK = 256  # vertices at a time: 1 MB of products, however large the mesh; ten times slower by 512
_FLAT = 0.005  # how uneven a flat side may be, as a share of the largest extent
_SIDE = 0.25  # how large it must be, as a share of the rectangle around the whole


def _spread_directions(count: int) -> np.ndarray:
    """Unit vectors (count + 26, 3): a Fibonacci spiral on the sphere, and a cube's faces, edges and corners.

    Meshes of robots are mostly drawn along their axes, so that the latter are where a box is at its widest.
    """
    k = np.arange(count) + 0.5
    z, angle = 1 - 2 * k / count, math.pi * (1 + math.sqrt(5)) * k
    r = np.sqrt(1 - z * z)
    spiral = np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)
    cube = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], float)
    return np.concatenate([cube / np.linalg.norm(cube, axis=1, keepdims=True), spiral])


DIRECTIONS = _spread_directions(500)
"""The directions along which points are chosen, about 9 degrees apart."""

_FINE = _spread_directions(2000)  # and those along which the result is measured at first


def few_points(centers: np.ndarray, count: int, radii: np.ndarray | None = None) -> tuple[list[int], float]:
    """At most ``count`` of the points, or balls, that reach nearly as far as all of them along every direction.

    Flat sides across a coordinate axis get four each, the largest side first, of half of them at most. Then each
    one taken is the extreme one along the direction that falls short most. At last those are exchanged for others,
    one at a time, as long as the largest shortfall decreases.

    Args:
        centers: (n, 3) with n > 0 [m].
        count: at least 1.
        radii: of balls around them (n,) [m].

    Returns:
        Which ones, in order, and the largest shortfall [m].
    """
    radii = np.zeros(len(centers)) if radii is None else radii
    outer = extreme_points(centers, radii)
    first: list[int] = []
    for side in _flat_sides(centers, radii):
        seen = [k for k in first if k in side]
        room = min(4, count // 2 - len(first) + len(seen))
        if room <= len(seen):
            continue
        chosen = _chosen(centers, radii, side, np.array(seen, dtype=int), room)
        first += [k for k in chosen if k not in first]
    chosen = _chosen(centers, radii, outer, np.array(first, dtype=int), count)
    return chosen, _shortfall((centers[outer], radii[outer]), (centers[chosen], radii[chosen]))


def _shortfall(every: tuple[np.ndarray, np.ndarray], few: tuple[np.ndarray, np.ndarray]) -> float:
    """How much less far the few reach at most [m]: along spread directions, then around the worst, ever nearer."""
    worst, middle = 0.0, np.zeros(3)
    for width in (1, 0.1, 0.03, 0.01):
        directions = middle + width * _FINE
        directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
        short = _reach(*every, directions) - _reach(*few, directions)
        worst, middle = max(worst, float(short.max())), directions[short.argmax()]
    return worst


def _reach(centers: np.ndarray, radii: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """How far they reach along each direction [m]."""
    return (directions @ centers.T + radii).max(axis=1)


def _chosen(centers: np.ndarray, radii: np.ndarray, among: np.ndarray, first: np.ndarray, count: int) -> list[int]:
    """Up to ``count`` of those ``among`` which to choose, with the ``first`` ones in any case."""
    candidates = np.unique(np.concatenate([among[extreme_points(centers[among], radii[among])], first]))
    reach = centers[candidates] @ DIRECTIONS.T + radii[candidates, None]
    support = reach.max(axis=0)
    # points that differ by rounding are the same: a box has eight corners, not more
    small = 1e-9 * float(np.ptp(reach))

    fixed = [int(k) for k in np.searchsorted(candidates, first)]
    chosen = list(fixed)
    while len(chosen) < min(count, len(candidates)):
        covered = reach[chosen].max(axis=0) if chosen else np.full(len(DIRECTIONS), -np.inf)
        short = support - covered
        if short.max() <= small:
            break
        # of points equally far out along that direction, the one that helps the others most
        worst = int(short.argmax())
        ties = np.flatnonzero(reach[:, worst] >= support[worst] - small)
        helped = np.maximum(reach[ties], covered)
        chosen.append(int(ties[helped.sum(axis=1).argmax()]))
    chosen = _exchanged(chosen, len(fixed), reach, support, small)
    return sorted(int(candidates[c]) for c in chosen)


def _flat_sides(centers: np.ndarray, radii: np.ndarray) -> list[np.ndarray]:
    """Indices of the points on each flat side across a coordinate axis, the largest side first."""
    lower, upper = (centers - radii[:, None]).min(axis=0), (centers + radii[:, None]).max(axis=0)
    extent = upper - lower
    sides = []
    for axis in range(3):
        across = [k for k in range(3) if k != axis]
        for sign, end in ((-1, -lower[axis]), (1, upper[axis])):
            side = np.flatnonzero(end - sign * centers[:, axis] - radii <= _FLAT * extent.max())
            area = float(np.prod(np.ptp(centers[side][:, across], axis=0)))
            if area >= _SIDE * np.prod(extent[across]) and area > 0:
                sides.append((area, side))
    return [side for _, side in sorted(sides, key=lambda pair: -pair[0])]


def nearest_ball(vertices: np.ndarray) -> tuple[np.ndarray, float, float]:
    """The ball that reaches most nearly as far as the vertices: h(d) = c.d + r fitted by least squares.

    Args:
        vertices: (n, 3) with n > 0 [m].

    Returns:
        Its center c (3,), its radius r and the largest difference over `DIRECTIONS`, either way [m].
    """
    support = (vertices[extreme_points(vertices)] @ DIRECTIONS.T).max(axis=0)
    terms = np.column_stack([DIRECTIONS, np.ones(len(DIRECTIONS))])
    solution = np.linalg.lstsq(terms, support, rcond=None)[0]
    return solution[:3], float(solution[3]), float(abs(terms @ solution - support).max())


def extreme_points(centers: np.ndarray, radii: np.ndarray | None = None) -> np.ndarray:
    """Indices of the points, or balls, that reach farthest along one of `DIRECTIONS`; arguments as `few_points`."""
    best = np.full(len(DIRECTIONS), -np.inf)
    where = np.zeros(len(DIRECTIONS), dtype=int)
    for start in range(0, len(centers), _CHUNK):
        reach = DIRECTIONS @ centers[start : start + _CHUNK].T
        reach += 0 if radii is None else radii[start : start + _CHUNK]
        own = reach.argmax(axis=1)
        value = reach[np.arange(len(DIRECTIONS)), own]
        where = np.where(value > best, own + start, where)
        best = np.maximum(best, value)
    return np.unique(where)


def _exchanged(chosen: list[int], fixed: int, reach: np.ndarray, support: np.ndarray, small: float) -> list[int]:
    """The choice after every exchange of one point, but the first ``fixed``, that makes the shortfall smaller."""
    error = float((support - reach[chosen].max(axis=0)).max())
    improves = True
    while improves and error > small:
        improves = False
        for k in range(fixed, len(chosen)):
            others = [c for c in chosen if c != chosen[k]]
            rest = reach[others].max(axis=0) if others else np.full(len(support), -np.inf)
            errors = (support - np.maximum(reach, rest)).max(axis=1)
            best = int(errors.argmin())
            # by a hundredth at least, so that it ends soon
            if errors[best] < 0.99 * error:
                chosen[k], error, improves = best, float(errors[best]), True
    return chosen
