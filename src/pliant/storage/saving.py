"""Logs to files of HDF5: at once, or as a run goes on."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pliant.errors import PliantError, needs
from pliant.files.disk import careful, reserve, trim
from pliant.files.whole import checked_folder, file_trouble, whole_file
from pliant.recording.log import Log
from pliant.storage.writing import append, needed_bytes, put_count, put_header

__all__ = ["LogWriter", "save"]

# readers of HDF5 from 1.10 on (2016), which was the first that reads while another program writes
_LIBRARY = ("v110", "v110")
# bytes of the disk that are asked for at a time, if it has them
_RESERVE = 4_000_000


def save(log: Log, path: str | os.PathLike[str], *, packed: bool = True) -> Path:
    """Write an HDF5 file: `Log.save`."""
    h5py = needs("h5py", "logs", "log.save()")
    with whole_file(path) as beside, careful(beside) as raw, h5py.File(raw, "w", libver=_LIBRARY) as file:
        put_header(file, log, rows=len(log.t), is_packed=packed)
        append(file, log, [])
        put_count(file, is_complete=log.is_complete)
    return Path(path)


class LogWriter:
    """Writes a log as it comes, so that what is there opens at any moment, also if this program is killed.

        with LogWriter("run.h5", first, until=10.0) as writer:
            for part in parts:
                writer.append(part)
            writer.finish()

    The head of the file is written whole beside it and moved into place, so that a log which was there is replaced
    only by one that opens. From then on entries are appended in the way in which HDF5 lets others read meanwhile
    (SWMR): numbers first, then how many there are. Numbers are not packed, since a packed part would have to be
    written anew whenever it grows.

    Attributes:
        rows: entries that are on file.
        end: time of the last of them [s], or None.
    """

    def __init__(self, path: str | os.PathLike[str], first: Log, *, until: float | None = None):
        """Make the file.

        Args:
            path: of the file.
            first: the log that it begins with, maybe of no entries; it says what the channels are.
            until: when the run is going to end [s].
        """
        h5py = needs("h5py", "logs", "a log that is saved as it goes on")
        self.path = checked_folder(path)
        self.batch, self.until = first.batch, until
        self.rows, self.end = 0, None
        self._names, self._modes = list(first.channels), list[str]()
        self._file: Any = None
        with whole_file(self.path) as beside, careful(beside) as raw, h5py.File(raw, "w", libver=_LIBRARY) as file:
            put_header(file, first, rows=0, is_packed=False, until=until)
            append(file, first, self._modes)
            put_count(file, is_complete=False)
        with _in_words(self.path):
            # both flags at once: there is no moment at which the file is open for writing and says nothing of readers
            access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
            access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
            flags = h5py.h5f.ACC_RDWR | h5py.h5f.ACC_SWMR_WRITE
            self._file = h5py.File(h5py.h5f.open(os.fsencode(self.path), flags, fapl=access))
        self._count(first)

    def append(self, part: Log) -> None:
        """Entries that follow, and the events among them; they are on file when this returns."""
        if list(part.channels) != self._names or part.batch != self.batch:
            raise PliantError(
                f"the log in {self.path} has channels {self._names} of {self.batch or 1} robots; what is to follow has "
                f"{list(part.channels)} of {part.batch or 1}"
            )
        with self._telling():
            self._reserve(part)
            append(self._file, part, self._modes)
            self._file.flush()
            put_count(self._file, is_complete=False)
            self._file["state"].flush()
        self._count(part)

    def _count(self, part: Log) -> None:
        self.rows += len(part.t)
        self.end = float(part.t[-1]) if len(part.t) else self.end

    def finish(self) -> None:
        """Say that these are all."""
        with self._telling():
            put_count(self._file, is_complete=True)
            self._file.flush()
            self.close()

    def close(self) -> None:
        """Leave the file as it is, for a run that was cut off."""
        if self._file:  # which is false when it is closed
            with contextlib.suppress(OSError, RuntimeError, ValueError):
                self._file.close()
            trim(self.path)

    def _reserve(self, part: Log) -> None:
        """Have room on the disk for a part before HDF5 is told of it."""
        missing = self._file.id.get_filesize() + needed_bytes(part) - self.path.stat().st_size
        if missing > 0:
            reserve(self.path, missing, _RESERVE)

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError) as error:
            kept = f"the log until t = {self.end:g} s, {self.rows} entries" if self.rows else "no entry"
            self.close()
            raise PliantError(f"{_trouble(self.path, error)}; what is there opens: {kept}") from None

    def __enter__(self) -> "LogWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def _in_words(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of HDF5 while writing."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise _trouble(path, error) from None


def _trouble(path: str | os.PathLike[str], error: Exception) -> PliantError:
    said = str(error)
    number = getattr(error, "errno", None)
    if number is None and "errno = " in said:
        # HDF5 tells the number of the system's error in its text
        digits = said.split("errno = ")[1].split(",")[0].strip("' )")
        number = int(digits) if digits.isdecimal() else None
    return file_trouble(path, OSError(number or 0, said.splitlines()[0] if said else type(error).__name__))
