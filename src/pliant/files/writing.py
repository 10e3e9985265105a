"""Files that are written whole or not at all, and disks that fill up meanwhile.

HDF5 ends the whole program when a disk is full, and other libraries fail in their own ways; none may see it.
"""

import contextlib
import errno
import io
import os
import shutil
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pliant.errors import PliantError, bad_value

_ELSEWHERE = "free some space, or give a path on another disk"
_OWN = "give a path in a folder that is yours"
# what the system's errors mean, and what to do
_WHY = {
    errno.ENOSPC: ("the disk is full", _ELSEWHERE),
    errno.EDQUOT: ("the quota of the disk is used up", _ELSEWHERE),
    errno.EACCES: ("it may not be written to", _OWN),
    errno.EPERM: ("it may not be written to", _OWN),
    errno.EROFS: ("the disk is read-only", "give a path on another disk"),
    errno.ENAMETOOLONG: ("the name is too long", "give a shorter one"),
    errno.EISDIR: ("it is a folder", "give the name of a file in it"),
    errno.EFBIG: ("the disk takes no file that large", "give a path on another disk, or fewer channels"),
}


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to beside the wanted one, which it replaces when all is written; otherwise it is removed.

        with whole_file("run.csv") as beside:
            beside.write_text(...)

    So a reader never sees half a file, and an existing file stays until then. The folder must exist.

    Raises:
        PliantError: if the folder cannot be written to, or the disk is full.
    """
    target = checked_folder(path)
    # the suffix stays, since some libraries go by it
    beside = target.with_name(f".{target.stem[:80]}.{os.getpid()}.{os.urandom(4).hex()}{target.suffix}")
    try:
        yield beside
        if not beside.exists():
            raise PliantError(f"{target}: nothing was written to it", subject=str(target))
        # on the disk before the rename, so that a crash cannot leave an empty file
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(beside, target)
    except OSError as error:
        raise file_error(target, error) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def checked_folder(path: str | os.PathLike[str]) -> Path:
    """The path, if a file can be made there; raises if not."""
    try:
        target = Path(os.fspath(path)).expanduser()
    except TypeError:
        raise PliantError(bad_value("path", path, "the name of a file to write")) from None
    folder = target.parent
    try:
        is_folder = target.is_dir()
    except (OSError, ValueError) as error:
        raise file_error(target, error if isinstance(error, OSError) else OSError(0, str(error))) from None
    if is_folder:
        raise _path_error(f"{target} is a folder", target, "give the name of a file in it")
    problem = f"cannot write {target}: folder {folder}"
    if not folder.exists():
        raise _path_error(f"{problem} does not exist", target, "make it first")
    if not folder.is_dir():
        raise _path_error(f"{problem} is not a folder", target, "give a path elsewhere")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _path_error(f"{problem} may not be written to", target, "give a path elsewhere")
    return target


def file_error(path: str | os.PathLike[str], error: OSError) -> PliantError:
    """The system's error about a file that is written, in words."""
    said = error.strerror or str(error) or type(error).__name__
    why, cure = _WHY.get(error.errno or 0, (said, ""))
    return _path_error(f"cannot write {os.fspath(path)}: {why}", path, cure)


def _path_error(problem: str, path: str | os.PathLike[str], cure: str) -> PliantError:
    return PliantError(problem, subject=os.fspath(path), field="path", cure=cure)


# ---- disks that fill up


class PlacedFile(io.RawIOBase):
    """A file object with a size and a position, which reading and writing advance."""

    def __init__(self, size: int):
        self._at, self._size = 0, size

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a position."""
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer from this position on, up to the end of the file."""
        view = memoryview(buffer).cast("B")
        size = max(0, min(len(view), self._size - self._at))
        view[:size] = self.bytes_at(self._at, size)
        self._at += size
        return size

    @abstractmethod
    def bytes_at(self, at: int, size: int) -> bytes:
        """So many bytes from a place on."""


class CarefulFile(PlacedFile):
    """A file for libraries that do not survive errors: it accepts all writes, and keeps the first error to itself.

    Attributes:
        error: the first of the system, if there was one; all that was written after it is lost, and reads as zeros.
    """

    def __init__(self, handle: int):
        super().__init__(0)
        self._handle = handle
        self.error: OSError | None = None

    def bytes_at(self, at: int, size: int) -> bytes:
        return os.pread(self._handle, size, at).ljust(size, b"\0")

    def write(self, data: Any) -> int:
        """Write all of the data at this position."""
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view) and self.error is None:
            try:
                done += os.pwrite(self._handle, view[done:], self._at + done)
            except OSError as error:
                self.error = error
        self._at += len(view)
        self._size = max(self._size, self._at)
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        """Make the file this long."""
        self._size = self._at if size is None else size
        if self.error is None:
            try:
                os.ftruncate(self._handle, self._size)
            except OSError as error:
                self.error = error
        return self._size


@contextmanager
def careful(path: Path) -> Iterator[CarefulFile]:
    """A new file; an error while writing is raised at the end."""
    with path.open("w+b") as raw:
        file = CarefulFile(raw.fileno())
        yield file
        if file.error is not None:
            raise file.error


def reserve(path: Path, size: int, more: int = 0) -> None:
    """Reserve bytes of the disk behind the end of a file, ``more`` than needed if it has them; or raise its error."""
    if more:
        with contextlib.suppress(OSError):
            reserve(path, size + more)
            return
    before = path.stat().st_size
    if not hasattr(os, "posix_fallocate"):
        if shutil.disk_usage(path.parent).free < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return
    with path.open("r+b", buffering=0) as file:
        try:
            os.posix_fallocate(file.fileno(), before, size)
        except OSError as error:
            # give back what could be reserved
            with contextlib.suppress(OSError):
                os.ftruncate(file.fileno(), before)
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
                raise
