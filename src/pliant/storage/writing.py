"""Logs to HDF5 files: at once, or as a run goes on.

A file has the datasets "t" and "channels/NAME", which grow along time, and texts of JSON that say what they are. Those
of event-driven runs also have "notes", with events and modes, and "steps", the dense output. "state" says how many
entries, bytes of notes and steps are complete; it is written last, so that what it counts is there.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from pliant.errors import PliantError, needs
from pliant.files.writing import careful, checked_folder, file_error, reserve, whole_file
from pliant.recording.log import Log
from pliant.recording.source import plain
from pliant.signatures import explained
from pliant.storage.hdf5 import FORMAT, VERSION, put_text, to_json
from pliant.storage.readable_file import trim
from pliant.storage.source_codec import put_source

# readers of HDF5 from 1.10 on (2016), the first that reads while another program writes
_LIBRARY = ("v110", "v110")
# bytes of the disk to reserve at a time, if it has them
_RESERVE = 4_000_000
# bytes of a chunk, about
_CHUNK = 131_072
# bytes by which the index of the chunks of a dataset grows at most, and more for each chunk that there is
_INDEX, _INDEXED = 16_384, 64
# bytes of a chunk of text
_TEXT = 4096
_PACKING = {"compression": "gzip", "compression_opts": 1}


def save(log: Log, path: str | os.PathLike[str], *, packed: bool = True) -> Path:
    """Write an HDF5 file: `Log.save`."""
    h5py = needs("h5py", "logs", "log.save()")
    with whole_file(path) as beside, careful(beside) as raw, h5py.File(raw, "w", libver=_LIBRARY) as file:
        _put_header(file, log, rows=len(log.t), is_packed=packed)
        _append(file, log, [])
        _put_state(file, is_complete=log.is_complete)
    return Path(path)


@explained
class LogWriter:
    """Writes a log part by part, so that the file opens at any moment, also if this program is killed.

        with LogWriter("run.h5", first, until=10.0) as writer:
            for part in parts:
                writer.append(part)
            writer.finish()

    The head of the file is written whole beside it and moved into place, so that an existing log is replaced only by
    one that opens. From then on entries are appended in the way in which HDF5 lets others read meanwhile (SWMR):
    numbers first, then how many there are. Numbers are not packed, since a packed part would have to be written anew
    whenever it grows. See docs/decisions/0016.

    Attributes:
        rows: entries that are on file.
        end: time of the last of them [s], or None.
    """

    def __init__(self, path: str | os.PathLike[str], first: Log, *, until: float | None = None):
        """Make the file.

        Args:
            first: the log that it begins with, possibly without entries; its channels are those of the file.
            until: when the run is going to end [s].
        """
        h5py = needs("h5py", "logs", "a log that is saved as it goes on")
        self.path = checked_folder(path)
        self.batch, self.until = first.batch, until
        self.rows, self.end = 0, None
        self._names, self._modes = list(first.channels), list[str]()
        self._file: Any = None
        self._troubles: Any = None
        with whole_file(self.path) as beside, careful(beside) as raw, h5py.File(raw, "w", libver=_LIBRARY) as file:
            _put_header(file, first, rows=0, is_packed=False, until=until)
            # room for what is known at the end only
            file.create_dataset("troubles", (0,), np.uint8, maxshape=(None,), chunks=(_TEXT,), fletcher32=True)
            _append(file, first, self._modes)
            _put_state(file, is_complete=False)
        try:
            # both flags at once: there is no moment at which the file is open for writing and says nothing of readers
            access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
            access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
            flags = h5py.h5f.ACC_RDWR | h5py.h5f.ACC_SWMR_WRITE
            self._file = h5py.File(h5py.h5f.open(os.fsencode(self.path), flags, fapl=access))
        except (OSError, RuntimeError) as error:
            raise _write_error(self.path, error) from None
        self._count(first)

    def append(self, part: Log) -> None:
        """Append entries and the events among them; they are on file when this returns."""
        if list(part.channels) != self._names or part.batch != self.batch:
            problem = f"the log in {self.path} has channels {self._names} of {self.batch or 1} robots"
            cure = f"a part with {list(part.channels)} of {part.batch or 1} cannot follow"
            raise PliantError(problem, subject="log", field="channels", cure=cure)
        with self._reporting():
            self._append_what_fits(part)

    def _append_what_fits(self, part: Log) -> None:
        """Append a part; if the disk has no room for it, as many of its entries as it has room for, and raise."""
        try:
            # room on the disk for it, before HDF5 gets it
            missing = self._file.id.get_filesize() + needed_bytes(part, self.rows) - self.path.stat().st_size
            if missing > 0:
                reserve(self.path, missing, _RESERVE)
        except OSError:
            # events and steps belong to entries on both sides of them
            if len(part.t) < 2 or part.is_event_driven:
                raise
            half = len(part.t) // 2
            self._append_what_fits(part[:half])
            self._append_what_fits(part[half:])
            return
        _append(self._file, part, self._modes)
        self._file.flush()
        _put_state(self._file, is_complete=False)
        self._file["state"].flush()
        self._count(part)

    def _count(self, part: Log) -> None:
        self.rows += len(part.t)
        self._troubles = part.metadata.get("troubles", self._troubles)
        self.end = float(part.t[-1]) if len(part.t) else self.end

    def finish(self) -> None:
        """Mark the log as complete and close the file."""
        with self._reporting():
            self._put_troubles()
            _put_state(self._file, is_complete=True)
            self._file.flush()
            self.close()

    def close(self) -> None:
        """Leave the file as it is, for a run that was cut off."""
        if self._file:  # which is false when it is closed
            with contextlib.suppress(OSError, RuntimeError, ValueError):
                self._put_troubles()
            with contextlib.suppress(OSError, RuntimeError, ValueError):
                self._file.close()
            trim(self.path)

    def _put_troubles(self) -> None:
        """What went wrong in the run, once: metadata at the head of the file are those of its begin."""
        if self._troubles:
            _extend(self._file["troubles"], np.frombuffer(to_json(plain(self._troubles)), dtype=np.uint8))
            self._troubles = None

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError) as error:
            kept = f"the log until t = {self.end:g} s, {self.rows} entries" if self.rows else "no entry"
            self.close()
            found = _write_error(self.path, error)
            cure = f"{found.cure}; the file opens and has {kept}" if found.cure else f"the file opens and has {kept}"
            raise found.with_cure(cure) from None

    def __enter__(self) -> "LogWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _write_error(path: str | os.PathLike[str], error: Exception) -> PliantError:
    said = str(error)
    number = getattr(error, "errno", None)
    if number is None and "errno = " in said:
        # HDF5 reports the number of the system's error in its text only
        digits = said.split("errno = ")[1].split(",")[0].strip("' )")
        number = int(digits) if digits.isdecimal() else None
    return file_error(path, OSError(number or 0, said.splitlines()[0] if said else type(error).__name__))


# ---- the head of a file


def dataset_name(channel: str) -> str:
    """The name of a channel's dataset: the channel's own, but for a slash and the like."""
    name = quote(channel, safe=" !#$&'()*+,-:;<=>?@[]^_`{|}~.")
    return "%2E" + name[1:] if name.startswith(".") else name


def _put_header(file: Any, log: Log, *, rows: int, is_packed: bool, until: float | None = None) -> None:
    """All but the entries: the source of the log, and an empty dataset for each channel.

    There are going to be so many ``rows``, 0 if that is not known, ``until`` the end of the run [s].
    """
    file.attrs["format"], file.attrs["version"] = FORMAT, VERSION
    lead = 1 if log.batch is None else 2
    about = {
        "batch": log.batch,
        "channels": [{"name": name, "dataset": dataset_name(name)} for name in log.channels],
        "columns": {name: list(names) for name, names in log.columns.items()},
        "metadata": plain(dict(log.metadata)),
        "until": until,
        "is_event_driven": log.is_event_driven,
    }
    put_text(file, "about", about)
    # entries, whether these are all, bytes of notes, steps
    file.create_dataset("state", data=np.zeros(4, dtype=np.int64), chunks=(4,), fletcher32=True)
    _put_entries(file, "t", log.t.dtype, None, (), rows, is_packed)
    channels = file.create_group("channels")
    for name, array in log.channels.items():
        if array.dtype.kind not in "biufc":
            problem = f"channel {name!r} holds {array.dtype}, which a log file cannot hold"
            raise PliantError(problem, subject="log", field=name, cure="it takes numbers")
        _put_entries(channels, dataset_name(name), array.dtype, log.batch, array.shape[lead:], rows, is_packed)
    if log.is_event_driven:
        _put_event_header(file, log, is_packed)
    put_source(file, log)


def _put_entries(
    parent: Any, name: str, dtype: Any, batch: int | None, entry: Sequence[int], rows: int, is_packed: bool
) -> None:
    """An empty dataset that grows along time."""
    robots = () if batch is None else (batch,)
    chunk = _chunk(dtype, batch, entry)
    axis = len(robots)
    if is_packed and rows:
        chunk = (*chunk[:axis], min(chunk[axis], rows), *chunk[axis + 1 :])
    packing = _PACKING | {"shuffle": True} if is_packed else {}
    # a side of length zero may have no chunk unless it could grow
    most = (*robots, None, *(n or None for n in entry))
    parent.create_dataset(name, (*robots, 0, *entry), dtype, maxshape=most, chunks=chunk, fletcher32=True, **packing)


def _chunk(dtype: Any, batch: int | None, entry: Sequence[int]) -> tuple[int, ...]:
    """The shape of a chunk: many steps of one robot, fewer of several."""
    sides = tuple(max(1, n) for n in entry)
    size = int(np.prod(sides)) * np.dtype(dtype).itemsize
    steps = int(np.clip(_CHUNK // size, 1, 4096 if batch is None else 64))
    return (*(() if batch is None else (int(np.clip(_CHUNK // (size * steps), 1, batch)),)), steps, *sides)


def _put_event_header(file: Any, log: Log, is_packed: bool) -> None:
    """Empty datasets for the notes, lines of JSON, and for the steps of the dense output."""
    packing = _PACKING if is_packed else {}
    file.create_dataset("notes", (0,), np.uint8, maxshape=(None,), chunks=(16_384,), fletcher32=True, **packing)
    steps = file.create_group("steps")
    nq, nv = (log.source.robot.nq, log.source.robot.nv) if log.source is not None else (0, 0)
    shuffled = packing | {"shuffle": True} if is_packed else {}
    for name, entry in (("t", ()), ("h", ()), ("q", (nq,)), ("v", (nv,)), ("stages", (7, 2, nv))):
        chunk, most = (256, *(max(1, n) for n in entry)), (None, *(n or None for n in entry))
        steps.create_dataset(name, (0, *entry), float, maxshape=most, chunks=chunk, fletcher32=True, **shuffled)


# ---- entries


def _append(file: Any, part: Log, modes: list[str]) -> None:
    """Entries after those that are there, and the events among them; they count from `_put_state` on.

    New ``modes`` of an event-driven run are added to those of the parts so far.
    """
    channels = dict(part.channels)
    if part.is_event_driven:
        channels |= _append_events(file, part, modes)
    _extend(file["t"], part.t)
    for name, array in channels.items():
        _extend(file["channels"][dataset_name(name)], array, axis=0 if part.batch is None else 1)


def _append_events(file: Any, part: Log, modes: list[str]) -> dict[str, np.ndarray]:
    """Events and steps of a part; returns its channel "mode" by the numbers that all parts share."""
    fresh = [name for name in part.modes if name not in modes]
    modes += fresh
    events = [plain(event) for event in part.events]
    end = None if part.dense is None else float(part.dense.t[-1])
    line = to_json({"events": events, "modes": fresh, "end": end}) + b"\n"
    _extend(file["notes"], np.frombuffer(line, dtype=np.uint8))
    for name, array in ({} if part.dense is None else part.dense.steps).items():
        _extend(file["steps"][name], array)
    if "mode" not in part.channels:
        return {}
    places = np.array([*map(modes.index, part.modes)] or [0], dtype=part["mode"].dtype)
    return {"mode": places[part["mode"]]}


def _extend(target: Any, array: np.ndarray, axis: int = 0) -> None:
    first = target.shape[axis]
    target.resize(first + array.shape[axis], axis=axis)
    if array.size:
        target[(slice(None),) * axis + (slice(first, None),)] = array


def _put_state(file: Any, *, is_complete: bool) -> None:
    """Count what has been appended."""
    notes = file["notes"].shape[0] if "notes" in file else 0
    steps = file["steps/t"].shape[0] if "steps" in file else 0
    file["state"][:] = file["t"].shape[0], int(is_complete), notes, steps


def needed_bytes(part: Log, rows: int = 0) -> int:
    """How much a file of so many rows grows at most with a part: its new chunks count whole, and their index, too."""
    lead = 1 if part.batch is None else 2
    total = 2 * _INDEX
    for array in (part.t, *part.channels.values()):
        batch, entry = (None, ()) if array is part.t else (part.batch, array.shape[lead:])
        chunk = _chunk(array.dtype, batch, entry)
        axis = 0 if batch is None else 1
        sides = 1 if batch is None else -(-batch // chunk[0])
        # a chunk that is not full has its place already
        fresh = -(-(rows + len(part.t)) // chunk[axis]) - -(-rows // chunk[axis])
        chunks = sides * -(-(rows + len(part.t)) // chunk[axis])
        total += sides * fresh * (int(np.prod(chunk)) * array.dtype.itemsize + 32) + _INDEX + _INDEXED * chunks
    if part.is_event_driven:
        steps = {} if part.dense is None else part.dense.steps
        total += 2 * sum(array.nbytes for array in steps.values()) + 2000 * len(part.events)
    return total
