"""Disks that fill up: HDF5 ends the whole program then, and others fail in ways of their own, so none may see it."""

import contextlib
import errno
import os
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["CarefulFile", "PlacedFile", "careful", "reserve", "trim"]


class PlacedFile(ABC):
    """What files made by hand have in common: a place in them that reading and writing move on."""

    def __init__(self, size: int):
        self._at, self._size = 0, size

    @abstractmethod
    def read(self, size: int = -1) -> bytes:
        """What is at this place."""

    def readinto(self, buffer: Any) -> int:
        """As `read`, into a buffer."""
        found = self.read(len(buffer))
        memoryview(buffer).cast("B")[: len(found)] = found
        return len(found)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        """This place."""
        return self._at


class CarefulFile(PlacedFile):
    """A file for libraries that cannot bear errors: it takes all that is written, and keeps the first error to itself.

    Attributes:
        error: that of the system, if there was one; what came after it is lost.
    """

    def __init__(self, handle: int):
        super().__init__(0)
        self._handle = handle
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        """All of the data, at this place."""
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

    def read(self, size: int = -1) -> bytes:
        """What is at this place; zeros where it was lost."""
        size = max(0, min(size if size >= 0 else self._size, self._size - self._at))
        found = os.pread(self._handle, size, self._at)
        self._at += size
        return found.ljust(size, b"\0")

    def truncate(self, size: int | None = None) -> int:
        """Make it so long."""
        self._size = self._at if size is None else size
        if self.error is None:
            try:
                os.ftruncate(self._handle, self._size)
            except OSError as error:
                self.error = error
        return self._size

    def flush(self) -> None:
        """Nothing: it keeps nothing back."""


@contextlib.contextmanager
def careful(path: Path) -> Iterator[CarefulFile]:
    """A new file; what was wrong with it is raised at the end."""
    with path.open("w+b") as raw:
        file = CarefulFile(raw.fileno())
        yield file
        if file.error is not None:
            raise file.error


def reserve(path: Path, size: int, more: int = 0) -> None:
    """Make sure that the disk has room for so many more bytes of a file, or raise the error of the system.

    Args:
        size: that must be there [bytes].
        more: that would be good to have, so as not to ask again soon [bytes].
    """
    if more:
        with contextlib.suppress(OSError):
            reserve(path, size + more)
            return
    before = path.stat().st_size
    if not hasattr(os, "posix_fallocate"):
        import shutil

        if shutil.disk_usage(path.parent).free < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return
    handle = os.open(path, os.O_RDWR)
    try:
        os.posix_fallocate(handle, before, size)
    except OSError as error:
        # what there was of it is given back
        with contextlib.suppress(OSError):
            os.ftruncate(handle, before)
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
    finally:
        os.close(handle)


def trim(path: Path) -> None:
    """Give back what was reserved and not used: all beyond the end that a file of HDF5 states."""
    with contextlib.suppress(OSError, struct.error), path.open("r+b") as file:
        head = file.read(64)
        # superblock of version 2 or 3: signature, version, sizes, flags, two addresses, and the end [HDF5 format, II.A]
        if head[:8] == b"\x89HDF\r\n\x1a\n" and head[8] in (2, 3) and head[9] == 8:
            (end,) = struct.unpack_from("<Q", head, 28)
            if end < path.stat().st_size:
                file.truncate(end)
