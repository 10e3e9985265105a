"""Where the mesh files that a robot file names are, and which of them it may name.

A robot file is untrusted: it may point into its own folder, into the package it lies in, into packages beside that, and
into the folders that the user gives, as an argument or by the variables that ROS and Gazebo set. A path that leaves
them is never handed on, so nothing will read it.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from pliant.errors import RobotError

PACKAGE_PATHS = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH")
"""Variables of the environment with folders of packages; in those of ament, packages are in "share"."""
MODEL_PATHS = ("GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "GAZEBO_MODEL_PATH", "SDF_PATH")
"""Variables of the environment with folders of models."""
# files that make a folder a package or a model
_MARKS = ("package.xml", "model.config")


class EscapingPathError(RobotError):
    """A file reference that leaves the folders the robot file may use."""


class MissingFileError(RobotError):
    """A file reference that is allowed, but leads to no file."""


class Packages:
    """Resolves ``package://``, ``model://``, ``file://`` and relative references of one robot file.

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
        if scheme not in ("package", "model"):
            problem = f"{reference!r} is an address of another kind"
            cure = "only package://, model://, file:// and relative paths are read, nothing is fetched"
            raise EscapingPathError(problem, subject=reference, cure=cure)
        name, _, inner = rest.lstrip("/").partition("/")
        if name in ("", ".", ".."):
            cure = f"write {scheme}://name/path"
            raise EscapingPathError(f"{reference!r} names no package", subject=reference, cure=cure)
        home = self._package(name)
        return self._inside(home / inner, [home], reference)

    def _package(self, name: str) -> Path:
        """The folder of a package or model: in a given folder, around or in that of the robot file, or beside these.

        Folders that the user did not give must have a package.xml or model.config unless they are in the robot file's
        own, since package://home/ and package://etc/ are not packages.
        """
        for parent in self.given:
            if (parent / name).is_dir():
                return (parent / name).resolve()
            if parent.name == name:
                return parent
        if self.folder.name == name:
            return self.folder
        if (self.folder / name).is_dir() and (self.folder / name).resolve().is_relative_to(self.folder):
            return (self.folder / name).resolve()
        for ancestor in self.folder.parents:
            if any((ancestor / name / mark).is_file() for mark in _MARKS):
                return (ancestor / name).resolve()
        for parent in _set_folders():
            if (parent / name).is_dir():
                return (parent / name).resolve()
            if parent.name == name and parent.is_dir():
                return parent.resolve()
        problem = f"package {name!r} not found in {', '.join(self._searched())}"
        cure = f"give packages=[a folder that contains {name!r}], or set {PACKAGE_PATHS[0]}"
        raise MissingFileError(problem, subject=f"package {name!r}", field="packages", cure=cure)

    def _searched(self) -> Iterator[str]:
        """The folders in which packages are looked for, in words."""
        yield from map(str, self.given)
        yield f"{self.folder}, beside the folders around it"
        for variable in (*PACKAGE_PATHS, *MODEL_PATHS):
            if os.environ.get(variable):
                yield f"{variable} ({os.environ[variable]})"

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


def _set_folders() -> Iterator[Path]:
    """Folders of packages and models that variables of the environment name."""
    for variable in (*PACKAGE_PATHS, *MODEL_PATHS):
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(entry) / "share" if variable == "AMENT_PREFIX_PATH" else Path(entry)


def existing_folder(folder: str | Path) -> Path:
    """A folder of packages that a user gives; raises if it does not exist."""
    path = Path(folder)
    if not path.is_dir():
        problem, cure = f"packages: {folder} is not a folder", "give folders that contain packages"
        raise RobotError(problem, subject=str(folder), field="packages", cure=cure)
    return path.resolve()
