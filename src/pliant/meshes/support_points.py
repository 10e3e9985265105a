"""A few pieces that stand for many: those that keep the outline of a convex body best.

Pieces S of a body K reach at most as far as K; the largest shortfall over unit directions, max_d h(d) - h_S(d), is the
distance of their outlines (`pliant.meshes.outlines`). Only pieces that are extreme along one of a fixed set of
directions are candidates.

That measure alone would let a flat sole become uneven, since a few millimetres there are little beside what
the ankle's outline loses. So flat sides are seen to first, the largest one before the others.
"""

import numpy as np

from pliant.meshes.outlines import DIRECTIONS, NOTHING, Outline, distance

_FLAT = 0.005  # how uneven a flat side may be, as a share of an extent
_SIDE = 0.25  # how large it must be, as a share of the rectangle around the whole


def few_points(
    outline: Outline, count: int, rest: Outline = NOTHING, *, enough: float = 0.0
) -> tuple[list[int], float]:
    """At most ``count`` of the pieces that reach, with the rest, nearly as far as all of them along every direction.

    Flat sides across a coordinate axis get four each, the largest side first, of half of them at most. Then each
    one taken is the extreme one along the direction that falls short most. At last those are exchanged for others,
    one at a time, as long as the largest shortfall decreases.

    Args:
        outline: of one piece or more.
        count: at least 1.
        rest: what touches in any case.
        enough: the shortfall at which no more are taken [m].

    Returns:
        Which ones, in order, and the largest shortfall [m].
    """
    outer = outline.extreme()
    first: list[int] = []
    for side in flat_sides(outline, rest):
        seen = [k for k in first if k in side]
        room = min(4, count // 2 - len(first) + len(seen))
        if room <= len(seen):
            continue
        chosen = _chosen(outline, rest, side, np.array(seen, dtype=int), room, enough)
        first += [k for k in chosen if k not in first]
    chosen = _chosen(outline, rest, outer, np.array(first, dtype=int), count, enough)
    return chosen, distance(outline.some(outer), outline.some(chosen), rest)


def needed(outline: Outline, rest: Outline, enough: float) -> list[int]:
    """Pieces without which the outline, with the rest, would fall short by more than ``enough`` [m], in order.

    The others are hidden by these, or nearly equal to them.
    """
    return _chosen(outline, rest, outline.extreme(), np.zeros(0, dtype=int), len(outline), enough)


def outermost(outline: Outline) -> np.ndarray:
    """Indices of the pieces that the outline and that of each flat side need, in order."""
    sides = [side for of_width in (False, True) for side in flat_sides(outline, of_width=of_width)]
    return np.unique(np.concatenate([outline.extreme(), *(side[outline.some(side).extreme()] for side in sides)]))


def flat_sides(outline: Outline, rest: Outline = NOTHING, *, of_width: bool = False) -> list[np.ndarray]:
    """Indices of the pieces on each flat side across a coordinate axis, the largest side first.

    Args:
        outline: of one piece or more.
        rest: a side that this reaches beyond is none.
        of_width: whether a side may be uneven by a share of the smallest extent, not of the largest: the side of a long
            round rod is flat beside its length, but not beside its width.
    """
    upper, lower = outline.reaches(np.eye(3)), outline.reaches(-np.eye(3))
    extent = upper.max(axis=0) + lower.max(axis=0)
    uneven = _FLAT * (extent.min() if of_width else extent.max())
    sides = []
    for axis in range(3):
        across = [k for k in range(3) if k != axis]
        for sign, reach in ((-1, lower[:, axis]), (1, upper[:, axis])):
            end = reach.max()
            if rest.support(sign * np.eye(3)[axis : axis + 1])[0] >= end:
                continue
            side = np.flatnonzero(end - reach <= uneven)
            area = float(np.prod(np.ptp(outline.centers[side][:, across], axis=0)))
            if area >= _SIDE * np.prod(extent[across]) and area > 0:
                sides.append((area, side))
    return [side for _, side in sorted(sides, key=lambda pair: -pair[0])]


def _chosen(
    outline: Outline, rest: Outline, among: np.ndarray, first: np.ndarray, count: int, enough: float
) -> list[int]:
    """Up to ``count`` of those ``among`` which to choose, with the ``first`` ones in any case."""
    if not len(among):
        return []
    candidates = np.unique(np.concatenate([among[outline.some(among).extreme()], first]))
    reach = outline.some(candidates).reaches(DIRECTIONS)
    there = rest.support(DIRECTIONS)
    support = np.maximum(reach.max(axis=0), there)
    # pieces that differ by rounding are the same: a box has eight corners, not more
    small = max(1e-9 * float(np.ptp(reach)), enough)

    fixed = [int(k) for k in np.searchsorted(candidates, first)]
    chosen = list(fixed)
    while len(chosen) < min(count, len(candidates)):
        covered = np.maximum(reach[chosen].max(axis=0), there) if chosen else there
        short = support - covered
        if short.max() <= small:
            break
        # of pieces equally far out along that direction, the one that helps the others most
        worst = int(short.argmax())
        ties = np.flatnonzero(reach[:, worst] >= support[worst] - 1e-9 * float(np.ptp(reach)))
        helped = np.maximum(reach[ties], covered)
        chosen.append(int(ties[helped.sum(axis=1).argmax()]))
    chosen = _exchanged(chosen, len(fixed), np.maximum(reach, there), support, small)
    return sorted(int(candidates[c]) for c in chosen)


def _exchanged(chosen: list[int], fixed: int, reach: np.ndarray, support: np.ndarray, small: float) -> list[int]:
    """The choice after every exchange of one piece, but the first ``fixed``, that makes the shortfall smaller."""
    if not chosen:
        return chosen
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
