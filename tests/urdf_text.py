"""Small URDF texts, and the errors that they should meet."""

from pathlib import Path

import pytest

from pliant.errors import RobotError
from pliant.formats import load_urdf

INERTIAL = """<inertial>
  <origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/> <mass value="2"/>
  <inertia ixx="0.03" ixy="0.001" ixz="0.002" iyy="0.04" iyz="0.003" izz="0.05"/>
</inertial>"""
LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'


def link(name: str, inside: str = INERTIAL) -> str:
    return f'<link name="{name}">{inside}</link>\n'


def joint(name: str, parent: str, child: str, type_: str = "revolute", inside: str = LIMIT) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{type_}">{ends}<axis xyz="0 0 1"/>{inside}</joint>\n'


# a link takes four lines, so the first is on line 2 of the file, the second on 6, the joint on 10
PENDULUM = (link("base"), link("rod"), joint("hinge", "base", "rod"))


def refused(path: Path, *words: str, **options: object) -> str:
    """The message of the error that loading meets, which must hold these words."""
    with pytest.raises(RobotError) as caught:
        load_urdf(path, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    for word in words:
        assert word in message, f"{word!r} not in: {message}"
    return message


def write_urdf(folder: Path, *elements: str, name: str = "robot.urdf", head: str = '<robot name="r">\n') -> Path:
    """A URDF file with these elements, the first on line 2."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + "".join(elements) + "</robot>\n", encoding="utf-8")
    return path
