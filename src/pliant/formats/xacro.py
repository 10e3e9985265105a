"""Xacro: a macro language over URDF, expanded by the extra xacrodoc."""

from collections.abc import Iterable
from pathlib import Path

from pliant.errors import RobotError
from pliant.files.xml import parse_xml, read_file

__all__ = ["expanded_xacro"]


def expanded_xacro(path: Path, packages: Iterable[str | Path], *, trusted: bool) -> bytes:
    """The URDF that a xacro file expands to.

    Args:
        path: of the file.
        packages: folders in which ``$(find package)`` looks.
        trusted: whether the user said that the file may evaluate expressions and read files.
    """
    given = parse_xml(read_file(path), str(path)).attributes.get("name", "")
    name = given if given and "$" not in given else path.name.partition(".")[0]
    if not trusted:
        raise RobotError(
            f"{path} is xacro, a program: expanding it evaluates its Python expressions and reads the files that it "
            "includes. If you trust it, load it with xacro=True; or expand it elsewhere and load the URDF"
        )
    from xml.sax.saxutils import escape  # slow to import

    try:
        import xacrodoc
    except ImportError:
        raise RobotError(f"{path}: xacro files need an extra; pip install 'pliant[xacro]'") from None
    xacrodoc.packages.reset()
    xacrodoc.packages.walk_up_from(path)
    if folders := [str(Path(p).resolve()) for p in packages]:
        xacrodoc.packages.look_in(folders)
    try:
        # by way of an include, so that the file's own includes are relative to it; meshes stay
        # package://, for our own rules of what may be referred to
        document = xacrodoc.XacroDoc.from_includes([escape(str(path.resolve()))], name=name, resolve_packages=False)
    except Exception as error:  # xacro raises whatever the expressions in the file raise
        raise RobotError(f"{path}: xacro could not expand it: {type(error).__name__}: {error}") from error
    return document.dom.toxml(encoding="utf-8")
