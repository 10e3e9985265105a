"""The inertia of a body in two parts.

Ten numbers do not determine a body's shape. For a cut, it is taken for the uniform box that has its mass, its
centre and its principal moments of inertia: a rod is a box with two edges of no length, a plate has one.

The box is the image of the unit cube by u -> c + B u, B = (principal axes) diag(edges). The cut is made
in the cube, which keeps its volume however thin the box is, so that rods and plates need no special care.
"""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pliant.checks import check_finite
from pliant.errors import Call, RobotError, bad_value
from pliant.robot.joints import ROUNDING
from pliant.robot.mechanism import snapped_inertia
from pliant.robot.part_checks import impossible_inertia, second_moments, tensor_of
from pliant.scalar import Scalar, is_constant
from pliant.spatial import Inertia, Symmetric3, Vector

NOISE = 10 * ROUNDING  # second moments about the centre are differences of those about the origin
EQUAL = 1e-9  # second moments this close, relative to the largest, are equal
NOTHING = 1e-9  # a plane along a side of the box cuts off some rounding: that much of the mass is none
IN_PLANE = 1e-12  # distance, relative to all lengths involved, at which a flat body lies in the plane

_CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2
_FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))


def share_inertia(inertia: Inertia, share: Scalar, subject: str = "the body") -> tuple[Inertia, Inertia]:
    """Two parts with the centre of the whole, mass and tensor in the ratio 1 - share : share.

    Args:
        inertia: of the whole, in scalars of any kind.
        share: of the second part, between 0 and 1.
        subject: how errors call the body, e.g. "body 'shank'".
    """
    check_finite("share", share, subject=subject)
    if is_constant(share) and not 0 < share < 1:
        raise RobotError(bad_value("share", share, "a number above 0 and below 1: each part needs mass", subject))
    return _scaled(inertia, 1 - share), _scaled(inertia, share)


def split_inertia(
    inertia: Inertia, point: Vector, normal: Vector, subject: str = "the body", instead: Call | None = None
) -> tuple[Inertia, Inertia]:
    """The parts (near, beyond) of a body that a plane cuts, taken for a uniform box.

    Beyond is where normal . (r - point) > 0. Both are about the origin of the body's frame, and add up to
    the body: the smaller is found by geometry, the larger is the rest. Second moments that are negative
    by rounding in print, as far as `impossible_inertia` lets them pass, count as zero. Where principal
    moments are equal, the box is turned as squarely to the plane as they allow.

    A point mass goes to the side on which it is. A body that lies in the plane goes by halves to either.

    Args:
        inertia: of the whole, in plain numbers.
        point: of the plane, in the body's frame [m].
        normal: of the plane, in the body's frame, of any length.
        subject: how errors call the body, e.g. "body 'shank'".
        instead: a call that divides the body in a ratio, for errors.
    """

    def fault(problem: str, field: str, cure: str) -> RobotError:
        by_share = "{call}" if instead else "share="
        return RobotError(problem, subject=subject, field=field, cure=f"{cure} {by_share}", call=instead)

    if not all(is_constant(x) for x in (inertia.mass, *inertia.h, *inertia.J, *point, *normal)):
        problem = f"a plane cuts {subject} only if its inertia and the plane are plain numbers"
        raise fault(problem, "share", "divide the body by")
    check_finite("inertia", inertia.mass, *inertia.h, *inertia.J, subject=subject)
    check_finite("plane", *point, *normal, subject=f"the cut of {subject}")
    if all(x == 0 for x in normal):
        raise RobotError(bad_value("normal", (0, 0, 0), "a direction", f"the plane that cuts {subject}"))
    if inertia.mass < 0 or (inertia.mass == 0 and any(x != 0 for x in (*inertia.h, *inertia.J))):
        problem = f"{subject} has the mass {inertia.mass:g} kg and cannot be cut"
        raise fault(problem, "mass", "give it mass, or divide the body by")
    if inertia.mass == 0:
        return Inertia.zero(), Inertia.zero()
    p, n = np.array([*point], float), np.array([*normal], float)
    n = n / abs(n).max()
    n /= np.linalg.norm(n)
    box, wrong = _box(inertia, n)
    if wrong:
        raise fault(
            f"{subject} cannot be cut: it has {wrong}", "inertia", "load it with repair=True, or divide the body by"
        )
    slope = box.edges @ n  # of the height above the plane, per edge
    level, reach = n @ (p - box.centre), abs(slope).sum() / 2

    in_plane = IN_PLANE * (np.linalg.norm(box.edges) + np.linalg.norm(p) + np.linalg.norm(box.centre))
    if max(reach, abs(level)) <= in_plane:
        return share_inertia(inertia, 1 / 2, subject)
    if not box.edges.any():
        return (inertia, Inertia.zero()) if level > 0 else (Inertia.zero(), inertia)

    # the part without the centre is the smaller; of the rest, no digits are lost
    side = 1 if level >= 0 else -1
    small = _cut_off(box, side * slope, side * level) if abs(level) < reach else None
    if small is None:
        where = "beyond" if level > 0 else "before"
        centre = ", ".join(f"{x:.4g}" for x in box.centre)
        problem = (
            f"the cut leaves nothing of {subject} {where} the plane: a box of its inertia ends "
            f"{reach:.4g} m from its centre, the plane is {abs(level):.4g} m away"
        )
        raise fault(problem, "share", f"move the point towards ({centre}), or divide the body by")
    rest = Inertia(box.whole.mass - small.mass, box.whole.h - small.h, box.whole.J - small.J)
    parts = (_cleared(rest), _cleared(small))
    for part in parts:
        wrong = impossible_inertia(part.about_com())
        if wrong:
            far_off = "it is too small for its distance from the origin"
            problem = f"a part of {subject}, of {part.mass:.3g} kg, has {wrong}: {far_off}"
            raise fault(problem, "share", "move the point, or divide the body by")
    return parts if side > 0 else (parts[1], parts[0])


class _Box(NamedTuple):
    """A uniform box: its edges are the rows of ``edges``, and ``whole`` its inertia about the origin."""

    centre: np.ndarray
    edges: np.ndarray
    whole: Inertia


def _box(inertia: Inertia, normal: np.ndarray) -> tuple[_Box, str | None]:
    """The box that has the inertia: m a_k^2 / 12 is its second moment along the principal axis k; and why none has."""
    second, axes = np.linalg.eigh(second_moments(inertia.about_com()))
    second[abs(second) <= NOISE * sum(inertia.J.entry(k, k) for k in range(3))] = 0
    wrong = impossible_inertia(tensor_of((axes * second) @ axes.T))
    second = second.clip(0)

    # equal moments leave their axes open: the first is along the normal's part in their span
    for group in np.split(np.arange(3), np.flatnonzero(np.diff(second) > EQUAL * second[-1]) + 1):
        along = axes[:, group].T @ normal
        turn, _ = np.linalg.qr(np.column_stack([along, np.eye(len(group))]))
        axes[:, group] = axes[:, group] @ turn

    com = inertia.com()
    whole = Inertia.from_com(inertia.mass, com, tensor_of((axes * second) @ axes.T))
    lengths = np.sqrt(12 * second / inertia.mass)
    return _Box(np.array([*com], float), (axes * lengths).T, Inertia(inertia.mass, inertia.h, whole.J)), wrong


def _cut_off(box: _Box, slope: np.ndarray, level: float) -> Inertia | None:
    """The part of the box where slope . u > level, u in the unit cube; None if that is nothing."""
    heights = _CORNERS @ slope - level
    polygons, crossings = [], []
    for face in _FACES:
        polygon = []
        for i, j in zip(face, face[1:] + face[:1], strict=True):
            if heights[i] > 0:
                polygon.append(_CORNERS[i])
            if (heights[i] > 0) != (heights[j] > 0):
                along = heights[i] / (heights[i] - heights[j])
                crossings.append(_CORNERS[i] + along * (_CORNERS[j] - _CORNERS[i]))
                polygon.append(crossings[-1])
        polygons.append(polygon)
    if not crossings:
        return None

    # tetrahedra from a point of the cut to the triangles of the faces; those to the cut itself are flat
    apex = np.mean(crossings, axis=0)
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for polygon in polygons:
        for b, c in pairwise(polygon[1:]):
            corners = np.array([polygon[0], b, c]) - apex
            v, total = abs(np.linalg.det(corners)) / 6, corners.sum(axis=0)
            volume += v
            first += v / 4 * total
            second += v / 20 * (corners.T @ corners + np.outer(total, total))
    if volume < NOTHING:
        return None
    mass, centre = box.whole.mass, apex + first / volume
    about_centre = second - np.outer(first, first) / volume
    com = Vector(*(float(x) for x in box.centre + centre @ box.edges))
    return Inertia.from_com(mass * volume, com, tensor_of(mass * box.edges.T @ about_centre @ box.edges))


def _scaled(inertia: Inertia, s: Scalar) -> Inertia:
    return snapped_inertia(Inertia(inertia.mass * s, inertia.h * s, Symmetric3(*(e * s for e in inertia.J))))


def _cleared(inertia: Inertia) -> Inertia:
    """The inertia with integer zeros for what is none but for rounding."""
    m, J = float(inertia.mass), inertia.J
    least = ROUNDING * (J.xx + J.yy + J.zz)
    h = (0 if abs(e) <= math.sqrt(ROUNDING * least * m) else float(e) for e in inertia.h)
    return Inertia(m, Vector(*h), Symmetric3(*(0 if abs(e) <= least else float(e) for e in J)))
