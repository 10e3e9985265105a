"""Disks that fill up: HDF5 ends the whole program then, and other libraries fail in their own ways; none may see it."""

import contextlib
import errno
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["CarefulFile", "PlacedFile", "careful", "reserve"]


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

    def bytes_at(self, at: int, size: int) -> bytes:
        """So many bytes from a place on."""
        raise NotImplementedError


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
        """So many bytes from a place on."""
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


@contextlib.contextmanager
def careful(path: Path) -> Iterator[CarefulFile]:
    """A new file; an error while writing is raised at the end."""
    with path.open("w+b") as raw:
        file = CarefulFile(raw.fileno())
        yield file
        if file.error is not None:
            raise file.error


def reserve(path: Path, size: int, more: int = 0) -> None:
    """Reserve room on the disk behind the end of a file, or raise the error of the system.

    Args:
        size: needed [bytes].
        more: wanted on top of it, so as not to ask again soon [bytes].
    """
    if more:
        with contextlib.suppress(OSError):
            reserve(path, size + more)
            return
    before = path.stat().st_size
    if not hasattr(os, "posix_fallocate"):
        if shutil.disk_usage(path.parent).free < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return
    handle = os.open(path, os.O_RDWR)
    try:
        os.posix_fallocate(handle, before, size)
    except OSError as error:
        # give back what could be reserved
        with contextlib.suppress(OSError):
            os.ftruncate(handle, before)
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
    finally:
        os.close(handle)
