"""The ground under a run, as heights on a grid."""

from typing import Any

import numpy as np

from pliant.recording.log import Log
from pliant.recording.source import Relief

__all__ = ["relief_of"]

_POINTS = 129
_MARGIN = 2.0


def relief_of(log: Log) -> Relief | None:
    """The ground of a log, over the region that the robots travelled and two metres around it.

    Robots that are fixed to the world are at the origin.
    """
    ground: Any = None if log.source is None else log.source.ground
    if ground is None:
        return None
    if isinstance(ground, Relief):
        return ground
    assert log.source is not None
    robot = log.source.robot
    low = high = np.zeros(2)
    first = next(iter(robot.joints.values()), None)
    if first is not None and first.kind.name == "free" and "q" in log and len(log.t):
        places = log["q"][..., robot.q_slice(first.name)][..., :2].reshape(-1, 2)
        places = places[np.isfinite(places).all(axis=-1)]
        if len(places):
            low, high = places.min(axis=0), places.max(axis=0)
    low, high = low - _MARGIN, high + _MARGIN
    x, y = (np.linspace(a, b, _POINTS) for a, b in zip(low, high, strict=True))
    heights = np.asarray(ground.height(*np.meshgrid(x, y, indexing="ij")), dtype=float)
    if not np.isfinite(heights).all():
        return None
    numbers = {
        what: float(value) if isinstance(value := getattr(ground, what), int | float) else None
        for what in ("friction", "restitution")
    }
    spacing = tuple(float(s) for s in (high - low) / (_POINTS - 1))
    return Relief(heights, (float(low[0]), float(low[1])), (spacing[0], spacing[1]), ground.name, **numbers)
