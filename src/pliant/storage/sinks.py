"""Runs whose blocks go to a file."""

import os
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.errors import SimulationWarning
from pliant.files.writing import checked_folder
from pliant.recording.log import Log
from pliant.recording.run import Keeper
from pliant.storage.reading import load_log
from pliant.storage.writing import LogWriter

__all__ = ["FileSink"]

# numbers of a log that is read back whole from its file at the end
_MOST = 5e7


class FileSink(Keeper):
    """Writes the blocks of a run to a log file, which opens at any time; memory stays bounded.

    Args:
        path: of the file, such as "run.h5".
        until: when the run is going to end [s].
    """

    def __init__(self, path: str | os.PathLike[str], until: float):
        self.path = checked_folder(path)
        self.until = until
        self._writer: Any = None
        self._first: Log | None = None
        self._last: Log | None = None

    def put(self, block: Log) -> None:
        if self._writer is None:
            self._writer = LogWriter(self.path, block, until=self.until)
            self._first = block
        else:
            self._writer.append(block)
        self._last = block

    def close(self, *, is_complete: bool) -> None:
        if self._writer is not None:
            (self._writer.finish if is_complete else self._writer.close)()

    def log(self) -> Log:
        """The log as it is on file; if it is large, one of so many entries, with a warning."""
        assert self._first is not None and self._last is not None
        first, rows = self._first, self._writer.rows
        numbers = sum(array.size for array in first.channels.values()) / len(first.t) * rows
        every = max(1, int(np.ceil(numbers / _MOST)))
        if every > 1:
            warnings.warn(
                f"the log of this run is large: {self.path} has {rows} entries, of which one in {every} is returned; "
                "pliant.load_log(path, start=, end=) reads others",
                SimulationWarning,
                stacklevel=4,
            )
        with warnings.catch_warnings():
            # that the run did not end is known
            warnings.simplefilter("ignore", SimulationWarning)
            found = load_log(self.path, every=every)
        return replace(found, source=first.source, metadata=self._last.metadata)
