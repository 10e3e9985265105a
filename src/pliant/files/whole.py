"""Files that are written whole or not at all."""

import contextlib
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pliant.errors import PliantError

__all__ = ["checked_folder", "file_error", "whole_file"]

_WHY = {
    errno.ENOSPC: "the disk is full; free some space, or give a path on another disk",
    errno.EDQUOT: "the quota of the disk is used up; free some space, or give a path on another disk",
    errno.EACCES: "it may not be written to; give a path in a folder that is yours",
    errno.EPERM: "it may not be written to; give a path in a folder that is yours",
    errno.EROFS: "the disk is read-only; give a path on another",
    errno.ENAMETOOLONG: "the name is too long; give a shorter one",
    errno.EISDIR: "it is a folder; give the name of a file in it",
    errno.EFBIG: "the disk takes no file that large; give a path on another disk, or fewer channels",
}


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to beside the wanted one, which takes its place when all is written; if not, it is removed.

        with whole_file("run.csv") as beside:
            beside.write_text(...)

    So a reader never sees half a file, and one that was there before stays until then.

    Args:
        path: of the file wanted; its folder must exist.

    Raises:
        PliantError: where the folder cannot be written to, or the disk is full.
    """
    target = checked_folder(path)
    # the suffix stays, since some libraries go by it
    beside = target.with_name(f".{target.stem[:80]}.{os.getpid()}.{os.urandom(4).hex()}{target.suffix}")
    try:
        yield beside
        if not beside.exists():
            raise PliantError(f"{target}: nothing was written to it")
        _on_disk(beside)
        os.replace(beside, target)
    except OSError as error:
        raise file_error(target, error) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def checked_folder(path: str | os.PathLike[str]) -> Path:
    """The path, if a file can be made there; else an error that says why not."""
    try:
        target = Path(os.fspath(path)).expanduser()
    except TypeError:
        raise PliantError(f"{path!r} is no path; give the name of a file to write") from None
    folder = target.parent
    try:
        is_folder = target.is_dir()
    except (OSError, ValueError) as error:
        raise file_error(target, error if isinstance(error, OSError) else OSError(0, str(error))) from None
    if is_folder:
        raise PliantError(f"{target} is a folder; give the name of a file in it")
    if not folder.is_dir():
        why = "is no folder" if folder.exists() else "does not exist; make it first"
        raise PliantError(f"cannot write {target}: folder {folder} {why}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PliantError(f"cannot write {target}: folder {folder} may not be written to; give a path elsewhere")
    return target


def file_error(path: str | os.PathLike[str], error: OSError) -> PliantError:
    """The error of the system, in words."""
    why = _WHY.get(error.errno or 0) or error.strerror or str(error) or type(error).__name__
    return PliantError(f"cannot write {os.fspath(path)}: {why}")


def _on_disk(path: Path) -> None:
    """Wait until the content is on the disk, so that a crash after the rename cannot leave an empty file."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
