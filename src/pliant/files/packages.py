"""Where the mesh files that a robot file names are, and which of them it may name.

A robot file is untrusted: it may point into its own folder, into the package it lies in, and into the
folders that the user gives. A path that leaves them is never handed on, so nothing will read it.
"""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from pliant.errors import RobotError


class EscapingPathError(RobotError):
    """A file reference that leaves the folders the robot file may use."""


class MissingFileError(RobotError):
    """A file reference that is allowed, but leads to no file."""


class Packages:
    """Resolves ``package://``, ``file://`` and relative references of one robot file.

    Args:
        folder: the robot file's own folder.
        given: folders that contain packages (as ROS_PACKAGE_PATH does), or are packages themselves.
    """

    def __init__(self, folder: Path, given: Iterable[str | Path] = ()):
        self.folder = folder.resolve()
        self.given = [existing_folder(g) for g in given]
        lineage = [self.folder, *self.folder.parents]
        own = next((a for a in lineage if (a / "package.xml").is_file()), None)
        self.roots = [self.folder, *([own] if own else []), *self.given]

    def resolve(self, reference: str, beside: Path | None = None) -> Path:
        """The file that a reference names.

        Args:
            beside: a file found before, which the reference is in, and which a path is relative to.

        Raises:
            EscapingPathError: it leaves the allowed folders, or names a server.
            MissingFileError: there is no such file or package.
        """
        try:
            if beside is None or "://" in reference:
                return self._resolve(reference)
            home = [a for a in beside.parents if (a / "package.xml").is_file()][:1]
            return self._inside(beside.parent / unquote(reference), [*self.roots, *home], reference)
        except (OSError, RuntimeError, ValueError) as error:  # names too long, links in a circle
            raise MissingFileError(f"{reference!r} is not a usable path: {error}", subject=reference) from None

    def _resolve(self, reference: str) -> Path:
        scheme, separator, rest = reference.partition("://")
        if not separator:
            return self._inside(self.folder / reference, self.roots, reference)
        if scheme == "file":
            return self._inside(self.folder / unquote(rest), self.roots, reference)
        if scheme != "package":
            problem = f"{reference!r} is an address of another kind"
            cure = "only package://, file:// and relative paths are read, nothing is fetched"
            raise EscapingPathError(problem, subject=reference, cure=cure)
        name, _, inner = rest.lstrip("/").partition("/")
        if name in ("", ".", ".."):
            cure = "write package://name/path"
            raise EscapingPathError(f"{reference!r} names no package", subject=reference, cure=cure)
        home = self._package(name)
        return self._inside(home / inner, [home], reference)

    def _package(self, name: str) -> Path:
        """The folder of a package: in a given folder, or around the robot file, or next to a folder around it.

        Folders that the user did not give must have a package.xml, since package://home/ and package://etc/ are not
        packages.
        """
        for parent in self.given:
            if (parent / name).is_dir():
                return (parent / name).resolve()
            if parent.name == name:
                return parent
        if self.folder.name == name:
            return self.folder
        for ancestor in self.folder.parents:
            if (ancestor / name / "package.xml").is_file():
                return (ancestor / name).resolve()
        problem, cure = f"package {name!r} not found", f"give packages=[a folder that contains {name!r}]"
        raise MissingFileError(problem, subject=f"package {name!r}", field="packages", cure=cure)

    @staticmethod
    def _inside(path: Path, roots: list[Path], reference: str) -> Path:
        path = path.resolve()
        if not any(path.is_relative_to(root) for root in roots):
            shown = ", ".join(str(root) for root in roots)
            cure = "if you trust it, name its folder in packages="
            raise EscapingPathError(f"{reference!r} leaves {shown}", subject=reference, field="packages", cure=cure)
        if not path.is_file():
            raise MissingFileError(f"no file {path}", subject=reference)
        return path


def existing_folder(folder: str | Path) -> Path:
    """A folder of packages that a user gives; raises if it does not exist."""
    path = Path(folder)
    if not path.is_dir():
        problem, cure = f"packages: {folder} is not a folder", "give folders that contain packages"
        raise RobotError(problem, subject=str(folder), field="packages", cure=cure)
    return path.resolve()
