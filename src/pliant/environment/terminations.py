"""Conditions that end episodes; each a function of `Now`, for `Termination`."""

from collections.abc import Sequence

from pliant.environment.now import Now
from pliant.scalar import Scalar, abs, either


def fell(now: Now, height: float = 0.0, upright: float = 0.3) -> Scalar:
    """Whether the base is lower than a height above the ground [m], or tilted.

    Args:
        upright: least cosine of the angle between the base's z axis and the vertical.
    """
    return either(now.up[2] < upright, now.height < height)


def touches(now: Now, bodies: Sequence[str], threshold: float = 1.0) -> Scalar:
    """Whether one of these contacts or bodies is pressed by more than a threshold [N]."""
    found: Scalar = False
    for body in bodies:
        f = now.force_on(body)
        found = either(found, f.x * f.x + f.y * f.y + f.z * f.z > threshold**2)
    return found


def joint_beyond(now: Now, joint: str, most: float) -> Scalar:
    """Whether the coordinate of a joint is larger than a bound, on either side [rad or m]."""
    return abs(now.q[now.robot.q_slice(joint).start]) > most


def far_from_start(now: Now, distance: float) -> Scalar:
    """Whether the base is further from where it began than a distance, along x or y [m]."""
    x, y = now.start
    return either(abs(now.place.x - x) > distance, abs(now.place.y - y) > distance)
