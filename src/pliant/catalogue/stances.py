"""Poses in which robots stand: those of the shipped ones, and what a file of SRDF beside a robot's file says."""

import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.errors import PliantError

if TYPE_CHECKING:
    from pliant.robot import Robot

__all__ = ["stance"]

# by patterns of joints [rad]
_SHIPPED = {
    "quadruped": {"*_hip_pitch": 0.8, "*_knee": -1.6},
    "biped": {"*_hip_pitch": -0.3, "*_knee": 0.6, "*_ankle_pitch": -0.3},
}
# states of SRDF files in which robots stand, the best first
_STATES = ("half_sitting", "standing", "half_sitting_free_flyer", "reference", "home")


def stance(robot: "Robot", path: Path | None) -> tuple[dict[str, float], str]:
    """Angles of joints in which the robot stands, and where they are from; nothing if nobody knows.

    Args:
        path: of the robot's file, None for a shipped robot.
    """
    if path is None:
        patterns = _SHIPPED.get(robot.name, {})
        found = {
            name: angle
            for name in robot.joints
            for pattern, angle in patterns.items()
            if fnmatch.fnmatch(name, pattern)
        }
        return found, "a stance" if found else ""
    for file in _files(path):
        states = _states(file)
        chosen = next((name for name in _STATES if name in states), None)
        if chosen is not None:
            return states[chosen], f"{chosen!r} of {file.name}"
    return {}, ""


def _files(path: Path) -> list[Path]:
    """SRDF files of the robot, the one of its own name first."""
    folders = [path.parent, path.parent.parent / "srdf"]
    found = [file for folder in folders if folder.is_dir() for file in sorted(folder.glob("*.srdf"))]
    return sorted(found, key=lambda file: (file.stem != path.stem, not path.stem.startswith(file.stem)))[:4]


def _states(file: Path) -> dict[str, dict[str, float]]:
    """The states that a file names; those that cannot be read are left out, since they are a convenience."""
    from pliant.files.xml import parse_xml, read_file

    try:
        root = parse_xml(read_file(file), str(file))
    except PliantError:
        return {}
    found: dict[str, dict[str, float]] = {}
    for state in root.all("group_state"):
        angles: dict[str, float] = found.setdefault(state.attributes.get("name", ""), {})
        for joint in state.all("joint"):
            try:
                angles[joint.attributes.get("name", "")] = float(joint.attributes.get("value", ""))
            except ValueError:  # a pose of the base, which is placed on the ground anyway
                continue
    return found
