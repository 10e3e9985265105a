"""Frames of Denavit and Hartenberg on given axes: where the common normals are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Axis", "FramePose", "link_frames", "parameters"]

NEARLY = 1e-3
"""Axes closer to parallel than this, but not parallel [rad], have no normal that is any good."""

ROUNDING = 1e-14


@dataclass(frozen=True)
class Axis:
    """The axis of a joint in the world: a point ``p`` [m] and a unit direction ``z``; joint None: put between."""

    p: np.ndarray
    z: np.ndarray
    joint: str | None = None


@dataclass(frozen=True)
class FramePose:
    """A frame by its origin [m], its x and its z."""

    p: np.ndarray
    x: np.ndarray
    z: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> "FramePose":
        """From a 4x4 matrix."""
        return cls(X[:3, 3], X[:3, 0], X[:3, 2])

    def matrix(self) -> np.ndarray:
        """As a 4x4 matrix."""
        X = np.eye(4)
        X[:3, :3] = np.stack([self.x, np.cross(self.z, self.x), self.z], axis=1)
        X[:3, 3] = self.p
        return X


def link_frames(
    axes: Sequence[Axis], first: FramePose, last: FramePose, tolerance: float
) -> tuple[list[FramePose], list[Axis]]:
    """Frame 0 and one for each axis, as the modified convention has them, and the axes with those put between.

    Frame i has z along axis i, and x along the common normal to axis i+1 [Craig 2005, 3.4]. Where that leaves
    a choice, distances d and angles theta are zero. Frame 0 is ``first`` if x of that meets the first axis at
    a right angle, else frame 1; frame n is ``last`` if that stands on the last axis.

    Axes within `NEARLY` of each other, but not within ``tolerance``, mostly have their normal far away, where
    rounding ruins it: an axis at a right angle to both is put between, for a joint that is fixed.

    Args:
        axes: with all joints at zero.
        first, last: the world, and the tool with all joints at zero.
        tolerance: axes this close to parallel are parallel [rad].
    """
    scale = max([1.0, *(float(np.linalg.norm(axis.p)) for axis in axes)])
    foot = _foot(axes[0], first.p)
    meets = abs(first.x @ axes[0].z) <= ROUNDING and _off_line(foot, first) <= ROUNDING * scale
    # x and the place on its axis that the frame has unless a normal says otherwise
    x, origin = (first.x, foot) if meets else (_across(axes[0].z), axes[0].p)
    frames: list[FramePose] = []
    used: list[Axis] = []
    waiting = list(reversed(axes))
    while len(waiting) > 1:
        axis, following = waiting.pop(), waiting[-1]
        if tolerance < _sine(axis, following) < NEARLY and not _has_near_normal(axis, following, scale):
            waiting.append(Axis(origin, _sideways(axis, following, origin, scale)))
            following = waiting[-1]
        x, origin, foot = _normal(axis, following, x, origin, scale, tolerance)
        used.append(axis)
        frames.append(FramePose(origin, x, axis.z))
        origin = foot
    end = waiting.pop()
    stands = np.linalg.norm(last.z - end.z) <= ROUNDING and np.linalg.norm(last.p - _foot(end, last.p)) <= (
        ROUNDING * scale
    )
    frames.append(last if stands else FramePose(origin, _unit(x - (x @ end.z) * end.z), end.z))
    return [first if meets else frames[0], *frames], [*used, end]


def parameters(before: FramePose, after: FramePose, tolerance: float) -> tuple[float, float, float, float]:
    """alpha, a, theta and d of the step between two frames of `link_frames`.

    Lengths that are zero but for rounding are zero; angles within ``tolerance`` of right ones are right.
    """
    x, z = before.x, after.z
    alpha = math.atan2(np.cross(before.z, z) @ x, before.z @ z)
    theta = math.atan2(np.cross(x, after.x) @ z, x @ after.x)
    along = after.p - before.p
    lengths = along @ x, along @ z
    # alpha's turn leaves x where it is, so that a and d are at right angles
    scale = max(1.0, float(np.linalg.norm(along)))
    a, d = (0.0 if abs(length) <= ROUNDING * scale else float(length) for length in lengths)
    return _rounded(alpha, tolerance), a, _rounded(theta, tolerance), d


def _normal(
    axis: Axis, following: Axis, x: np.ndarray, origin: np.ndarray, scale: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The direction of the common normal, and its ends on the two axes; x and origin are what to prefer."""
    between = following.p - axis.p
    sine = _sine(axis, following)
    if tolerance < sine < NEARLY:  # `link_frames` lets only those through that have a normal here
        start = _foot(axis, following.p)
        return _unit(following.p - start), start, following.p
    if sine <= tolerance:  # parallel: any place will do
        across = following.p - origin
        across = across - (across @ axis.z) * axis.z
        if np.linalg.norm(across) > ROUNDING * scale:
            x = across
        return _unit(x - (x @ axis.z) * axis.z), origin, origin + across
    normal = np.cross(axis.z, following.z)
    square = normal @ normal
    start = axis.p + axis.z * (np.cross(between, following.z) @ normal / square)
    end = following.p + following.z * (np.cross(between, axis.z) @ normal / square)
    normal = normal / math.sqrt(square)
    length = between @ normal
    # from axis to axis; if they meet, to the side where x has been
    backward = length < 0 if abs(length) > ROUNDING * scale else normal @ x < -ROUNDING
    return -normal if backward else normal, start, end


def _has_near_normal(axis: Axis, following: Axis, scale: float) -> bool:
    """Whether axes that are nearly parallel are so by a turn about the line from one to the other."""
    across = following.p - _foot(axis, following.p)
    length = np.linalg.norm(across)
    return bool(length > NEARLY * scale and abs(across @ following.z) <= ROUNDING * length)


def _sideways(axis: Axis, following: Axis, origin: np.ndarray, scale: float) -> np.ndarray:
    """A direction at a right angle to an axis, toward the following one if that is apart from it."""
    across = following.p - origin
    across = across - (across @ axis.z) * axis.z
    return _unit(across) if np.linalg.norm(across) > NEARLY * scale else _across(axis.z)


def _sine(a: Axis, b: Axis) -> float:
    return float(np.linalg.norm(np.cross(a.z, b.z)))


def _foot(axis: Axis, p: np.ndarray) -> np.ndarray:
    """The point of an axis nearest to p."""
    return axis.p + axis.z * (axis.z @ (p - axis.p))


def _off_line(p: np.ndarray, frame: FramePose) -> float:
    """How far p is from the x axis of a frame."""
    away = p - frame.p
    return float(np.linalg.norm(away - (away @ frame.x) * frame.x))


def _across(z: np.ndarray) -> np.ndarray:
    """A unit vector at a right angle to z: x of the world, if that is one, or what is nearest."""
    x = np.eye(3)[int(np.argmin(abs(z)))]
    return _unit(x - (x @ z) * z)


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v)


def _rounded(angle: float, tolerance: float) -> float:
    """The multiple of a right angle that an angle is within the tolerance, or itself."""
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * (math.pi / 2)) > tolerance:
        return angle
    return (0.0, math.pi / 2, math.pi, -math.pi, -math.pi / 2)[quarters]
