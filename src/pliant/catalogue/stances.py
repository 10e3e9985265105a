"""Poses in which robots stand, from the SRDF file beside a robot's own file."""

from pathlib import Path
from typing import Any, NamedTuple

from pliant.catalogue.placement import within_limits
from pliant.errors import PliantError, RobotError, unknown_name
from pliant.files.xml import parse_xml, read_file
from pliant.robot import Robot

__all__ = ["Stance", "known_stance", "stance"]

# names of SRDF states in which robots stand, the best first
_STANDING = ("half_sitting", "standing", "half_sitting_free_flyer", "reference", "home")
# a folder may hold the SRDF files of many robots; only so many are read
_MOST_FILES = 4


class Stance(NamedTuple):
    """A pose in which a robot stands.

    Attributes:
        q: configuration, nq [rad or m].
        origin: in words, such as "'standing' of anymal.srdf".
    """

    q: Any
    origin: str


def stance(robot: Robot, state: str | None = None) -> Any:
    """The configuration in which a robot stands; see `Robot.stance`."""
    found = known_stance(robot, state)
    if found is not None:
        return found.q
    subject = f"robot {robot.name!r}"
    states = _states(robot)
    if state is not None and states:
        raise RobotError(unknown_name("state", state, states, f"the SRDF files of {subject}"))
    cure = f"write a state named 'standing' into an SRDF file beside the robot's file, {Path(robot.name).name}.srdf"
    if robot.file is None:
        cure = "set the joints yourself, from robot.neutral() on"
    raise RobotError(f"{subject} has no known standing pose", subject=subject, field="stance", cure=cure)


def known_stance(robot: Robot, state: str | None = None) -> Stance | None:
    """The standing pose of a robot and where it is from; None if there is none.

    Args:
        state: name of a state of the SRDF file; by default the first of half_sitting, standing, reference and home.
    """
    states = _states(robot)
    chosen = next((name for name in (_STANDING if state is None else (state,)) if name in states), None)
    if chosen is None:
        return None
    file, angles = states[chosen]
    q = robot.neutral()
    for name, angle in angles.items():
        q[robot.coordinate_names.index(name)] = angle
    return Stance(within_limits(robot, q), f"{chosen!r} of {file.name}")


def _states(robot: Robot) -> dict[str, tuple[Path, dict[str, float]]]:
    """The states of the first SRDF file that knows the robot's joints: file and angles by name."""
    for file in _files(robot.file) if robot.file is not None else ():
        found = {}
        for name, angles in _read(file).items():
            own = {joint: angle for joint, angle in angles.items() if joint in robot.coordinate_names}
            found |= {name: (file, own)} if own else {}
        if found:
            return found
    return {}


def _files(path: Path) -> list[Path]:
    """SRDF files beside a robot's file, the one of its own name first."""
    folders = [path.parent, path.parent.parent / "srdf"]
    found = [file for folder in folders if folder.is_dir() for file in sorted(folder.glob("*.srdf"))]
    return sorted(found, key=lambda file: (file.stem != path.stem, not path.stem.startswith(file.stem)))[:_MOST_FILES]


def _read(file: Path) -> dict[str, dict[str, float]]:
    """The states of a file; those that cannot be read are left out, since they are a convenience."""
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
            except ValueError:  # the pose of a base, several numbers: robot.on_ground places that
                continue
    return found
