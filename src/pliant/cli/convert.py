"""``pliant convert``: a robot file in another format."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.sources import Base, Packages, RobotName, Xacro, XacroArguments, load_robot
from pliant.cli.terminal import Json, print_json, say
from pliant.errors import PliantError

if TYPE_CHECKING:
    from pliant.formats.exported import Exported
    from pliant.robot import Robot

_WRITERS: dict[str, Callable[["Robot"], "Exported"]] = {
    ".urdf": lambda robot: robot.to_urdf(),
    ".xml": lambda robot: robot.to_mjcf(),
}
# readers that leave couplings out unless they are asked for them
_MIMIC_SUFFIXES = (".urdf", ".xacro")


def convert(
    robot: RobotName,
    out: Annotated[str, typer.Argument(metavar="OUT", help="file to write: .urdf, or .xml for MJCF")],
    base: Base = None,
    packages: Packages = None,
    xacro: Xacro = False,
    xacro_arg: XacroArguments = None,
    json: Json = False,
) -> None:
    """Write a robot as URDF or MJCF; print what is lost."""
    suffix = Path(out).suffix.lower()
    if suffix not in _WRITERS:
        cure = f"it writes {' and '.join(_WRITERS)} (MJCF)"
        raise PliantError(f"{out}: no writer for {suffix or 'files without a suffix'}", subject=out, cure=cure)
    # joints that follow others stay coupled
    options: dict[str, Any] = {"mimic": True} if Path(robot).suffix.lower() in _MIMIC_SUFFIXES else {}
    loaded = load_robot(robot, base, xacro, packages, xacro_arg, **options)
    made = _WRITERS[suffix](loaded)
    path = made.save(out)
    if json:
        findings = [{"kind": f.kind, "subject": f.subject, "message": f.message} for f in made.findings]
        print_json({"path": str(path), "robot": loaded.name, "findings": findings})
        return
    say(f"{path}: {loaded.name}, {loaded.nv} degrees of freedom")
    for finding in made.findings:
        say(f"  {finding}")
