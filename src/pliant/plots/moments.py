"""Moments of a log: where the robots are, and what pushes them, at any time."""

import numpy as np

from pliant.errors import PliantError
from pliant.recording.log import Log
from pliant.robot import Robot
from pliant.robot.joints import Free, Planar, Spherical

__all__ = ["contact_columns", "moments"]


def moments(log: Log, times: np.ndarray, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Configurations of all robots at some times, and the entries of the log that are next to these.

    Between entries they are in between; quaternions, and cosines with their sines, are scaled to one.

    Args:
        times: [s], within the log.
        what: for whom, in messages.

    Returns:
        q, (robots, times, nq), and indices of entries, (times,).
    """
    source = log.needs_source(what)
    if "q" not in log:
        raise PliantError(f"{what} needs channel 'q' of the log; it has {', '.join(log) or 'none'}")
    if not len(log):
        raise PliantError(f"{what}: the log has no steps")
    q = log["q"] if log.batch is not None else log["q"][None]
    after = np.clip(np.searchsorted(log.t, times, "right"), 1, max(len(log) - 1, 1))
    after = np.minimum(after, len(log) - 1)
    before = np.maximum(after - 1, 0)
    apart = log.t[after] - log.t[before]
    share = np.divide(times - log.t[before], apart, out=np.ones(len(times)), where=apart > 0).clip(0, 1)
    first, second = q[:, before], q[:, after]
    found = first + share[:, None] * (second - first)
    for span in _unit_parts(source.robot):
        a, b = first[..., span], second[..., span]
        # the shorter way round
        b = np.where((a * b).sum(axis=-1, keepdims=True) < 0, -b, b)
        mixed = a + share[:, None] * (b - a)
        length = np.linalg.norm(mixed, axis=-1, keepdims=True)
        found[..., span] = np.divide(mixed, length, out=np.array(a), where=length > 0)
    return found, np.where(share < 0.5, before, after)


def _unit_parts(robot: Robot) -> list[slice]:
    """Where q has quaternions, or a cosine and a sine."""
    sizes = {Free: 4, Spherical: 4, Planar: 2}
    found = []
    for joint in robot.joints.values():
        size = sizes.get(type(joint.kind))
        if size is not None:
            end = robot.q_slice(joint.name).stop
            found.append(slice(end - size, end))
    return found


def contact_columns(log: Log) -> list[tuple[int, str]]:
    """First columns of channel "forces" and the names of the contacts to which they belong."""
    names = log.columns.get("forces", ())
    return [(k, name.removesuffix(".x")) for k, name in enumerate(names) if name.endswith(".x")]
