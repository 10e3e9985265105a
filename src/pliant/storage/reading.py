"""Logs from HDF5 files: all, a part, or what is left of a damaged one."""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.checks import check, check_known, chosen_robots, is_whole
from pliant.errors import PliantError, SimulationWarning, bad_value
from pliant.integrators.dense import DenseSolution
from pliant.recording.log import Event, Log
from pliant.recording.protocol import CHANNELS
from pliant.signatures import explained
from pliant.storage.chunks import CHECKSUM, Chunks
from pliant.storage.forms import AboutLog, Note, checked, made
from pliant.storage.hdf5 import damaged, dataset, from_json, group, has, opened, read_all, read_error, read_text
from pliant.storage.source_codec import source_of

# channels of a simulation, whose numbers are real; those of the user's own may be complex
_REAL = {*CHANNELS, "u", "energy"}
_UNREADABLE = (OSError, RuntimeError, KeyError)


@explained
def load_log(
    path: str | os.PathLike[str],
    channels: Sequence[str] | None = None,
    start: float | None = None,
    end: float | None = None,
    robots: int | slice | Sequence[int] | None = None,
    *,
    stride: int = 1,
) -> Log:
    """Read a log that `Log.save` or a run with ``save=`` wrote: the same arrays, bit for bit, and its source.

        log = pliant.load_log("run.h5")
        log = pliant.load_log("long.h5", channels=["q"], start=10, end=12, robots=3)

    Of a run that was cut off, or goes on, it reads what is there and warns.

    Args:
        path: of the file.
        channels: names of channels, None (default) for all.
        start, end: only entries with start <= t <= end [s].
        robots: the robots of a batch: an index, for a log without a batch axis, several, or a slice; None (default)
            for all.
        stride: reads one of so many entries (default 1).

    Returns:
        The log. ``log.source`` has the robot with its meshes, the ground and settings.
    """
    with opened(path) as file:
        try:
            return _Reader(file, os.fspath(path)).log(channels, start, end, robots, stride)
        except PliantError as error:
            raise error.at(os.fspath(path)) from None
        except (*_UNREADABLE, ValueError, TypeError, AttributeError) as error:
            raise read_error(path, error) from None


class _Reader:
    """Reads one file.

    Attributes:
        about: what the log is of.
        rows, notes, steps: entries, bytes of notes and steps of the dense output that are complete.
        is_complete: whether the run went to its end.
        torn: the last entry of a run that did not end. Its writer may have been killed while it wrote a chunk anew,
            which leaves a wrong checksum, and entries as they were; None if there is no such entry.
        lost: parts that could not be read whole, and why.
    """

    def __init__(self, file: Any, path: str):
        self.file, self.path = file, path
        self.about: AboutLog = checked(read_text(file, "about"), AboutLog, "the description")
        state = read_all(dataset(file, "state"))
        if state.shape != (4,) or state.dtype.kind != "i" or state.min() < 0:
            raise damaged("the number of entries cannot be read", "state")
        entries, is_complete, self.notes, self.steps = state.tolist()
        self.is_complete = is_complete == 1
        self.rows = min(entries, dataset(file, "t").shape[0])
        self.torn = None if self.is_complete or not self.rows else self.rows - 1
        self.lost: dict[str, str] = {"t": f"{entries - self.rows} entries"} if self.rows < entries else {}

    def log(self, channels: Any, start: Any, end: Any, robots: Any, stride: Any) -> Log:
        """The log, or the part of it that is asked for."""
        wanted = self._wanted(channels)
        t = self._times()
        steps = _between(t, start, end, stride)
        taken = self._robots(robots)
        arrays = {name: self._channel(name, place, steps, taken) for name, place in wanted.items()}
        found = {name: array for name, array in arrays.items() if array is not None}
        found, t = self._agreed(found, t[steps])
        batch = self.about.batch if taken is None else len(taken)
        if is_whole(robots):
            found, batch = {name: array[0] for name, array in found.items()}, None
        columns = {name: names for name, names in self.about.columns.items() if name in found}
        source = self._source()
        log = Log(t, found, columns, batch, self._metadata(), source, self.is_complete and not self.lost)
        if self.about.is_event_driven:
            log = self._with_events(log, start, end)
        self._warn(t)
        return log

    def _metadata(self) -> dict[str, Any]:
        """Those of the head, and what went wrong in a run that was saved as it went on, if that can be read."""
        metadata = dict(self.about.metadata)
        with suppress(PliantError, *_UNREADABLE):
            if has(self.file, "troubles") and dataset(self.file, "troubles").shape != (0,):
                metadata["troubles"] = read_text(self.file, "troubles")
        return metadata

    # ---- what is wanted

    def _wanted(self, channels: Any) -> dict[str, str]:
        """Datasets by the names of their channels."""
        places = {channel.name: channel.dataset for channel in self.about.channels}
        names = [channels] if isinstance(channels, str) else list(places if channels is None else channels)
        for name in names:
            check_known("channel", name, places, "the log")
        return {name: place for name, place in places.items() if name in names}

    def _robots(self, robots: Any) -> list[int] | None:
        """Indices of robots; None for all, or for a log of one robot."""
        if robots is None:
            return None
        if self.about.batch is None:
            raise PliantError("the log is of one robot; robots= is for a batch", subject="log", field="robots")
        return chosen_robots(robots, self.about.batch, least=1, error=PliantError).tolist()

    # ---- parts

    def _times(self) -> np.ndarray:
        times = dataset(self.file, "t")
        is_axis = len(times.shape) == 1 and times.dtype.kind in "fiu"
        t = self._read("t", times, slice(0, self.rows), None, has_batch=False) if is_axis else None
        if t is None or len(t) < self.rows:
            raise damaged("the times cannot be read", "t")
        return t

    def _channel(self, name: str, place: str, steps: slice, taken: list[int] | None) -> np.ndarray | None:
        """Entries of a channel up to the first that cannot be read; None if nothing is left of it."""
        try:
            source = dataset(group(self.file, "channels"), place)
        except _UNREADABLE:
            self.lost[name] = "all of it"
            return None
        if name in _REAL and source.dtype.kind not in "fiub":
            raise damaged(f"channel {name!r} has numbers of type {source.dtype}, which are not real", name)
        batch = self.about.batch
        if len(source.shape) < (1 if batch is None else 2) or (batch is not None and source.shape[0] != batch):
            raise damaged(f"channel {name!r} has shape {source.shape}", name)
        return self._read(name, source, steps, taken, has_batch=batch is not None)

    def _read(self, name: str, source: Chunks, steps: slice, taken: list[int] | None, *, has_batch: bool) -> np.ndarray:
        """Entries of a dataset up to the first that cannot be read."""
        try:
            return _entries(source, steps, taken, has_batch)
        except (OSError, RuntimeError) as error:
            why = str(error).splitlines()[0]
        axis = int(has_batch)
        places = np.arange(source.shape[axis])[steps]
        parts = [_entries(source, slice(0, 0), taken, has_batch), *self._blocks(source, places, steps, taken, axis)]
        found = np.concatenate(parts, axis=axis)
        if found.shape[axis] < len(places):
            self.lost[name] = why
        return found

    def _blocks(
        self, source: Chunks, places: np.ndarray, steps: slice, taken: list[int] | None, axis: int
    ) -> Iterator[np.ndarray]:
        """Entries chunk by chunk, since a damaged one leaves the others whole, up to the first that is damaged."""
        if not len(places):
            return
        size = source.chunks[axis]
        for inside in np.split(places, np.flatnonzero(np.diff(places // size)) + 1):
            piece = slice(int(inside[0]), int(inside[-1]) + 1, steps.step)
            try:
                part = _entries(source, piece, taken, bool(axis))
            except (OSError, RuntimeError):
                part = None if self.torn is None else _unchecked(source, piece, taken, bool(axis), self.torn)
            if part is None:
                return
            yield part

    def _agreed(self, found: dict[str, np.ndarray], t: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Channels of equal length: fewer entries of all, or all of fewer channels, whichever keeps more."""
        axis = 0 if self.about.batch is None else 1
        counts = {name: array.shape[axis] for name, array in found.items()}
        if all(n >= len(t) for n in counts.values()):
            return found, t
        options = {n: [name for name in counts if counts[name] >= n] for n in {len(t), *counts.values()}}
        rows, names = max(options.items(), key=lambda item: (item[0] * len(item[1]), len(item[1])))
        self.lost |= {name: "all of it" for name in counts if name not in names}
        cut = (slice(None),) * axis + (slice(0, rows),)
        return {name: found[name][cut] for name in names}, t[:rows]

    def _source(self) -> Any:
        try:
            return source_of(self.file)
        except _UNREADABLE:
            self.lost["source"] = "all of it"
            return None

    def _with_events(self, log: Log, start: float | None, end: float | None) -> Log:
        """The log with its events, modes and dense output, where they can be read."""
        try:
            events, modes, until = self._notes()
            dense = None
            if has(self.file, "steps") and log.source is not None and self.steps and until is not None:
                steps = group(self.file, "steps")
                arrays = {name: dataset(steps, name)[: self.steps] for name in ("t", "h", "q", "v", "stages")}
                dense = DenseSolution.from_steps(log.source.robot, arrays, until)
        except _UNREADABLE:
            self.lost["events"] = "all of it"
            return replace(log, is_complete=False)
        low, high = -np.inf if start is None else start, np.inf if end is None else end
        events = tuple(event for event in events if low <= event.t <= high)
        return replace(log, events=events, modes=modes, dense=dense)

    def _notes(self) -> tuple[list[Event], tuple[str, ...], float | None]:
        """Events, modes, and when the steps end [s]."""
        notes = dataset(self.file, "notes")
        if notes.dtype != np.uint8 or len(notes.shape) != 1:
            raise damaged("the events cannot be read", "notes")
        lines = [from_json(line, "events") for line in notes[: self.notes].tobytes().splitlines()]
        found: tuple[Note, ...] = checked(lines, tuple[Note, ...], "the list of events")
        events = [made(event) for note in found for event in note.events]
        ends = [note.end for note in found if note.end is not None]
        return events, tuple(name for note in found for name in note.modes), ends[-1] if ends else None

    def _warn(self, t: np.ndarray) -> None:
        until = f"t = {t[-1]:g} s" if len(t) else "nothing yet"
        if self.lost:
            names = ", ".join(self.lost)
            message = f"{self.path} is cut off or damaged: {names} could not be read whole; read until {until}"
        elif not self.is_complete:
            aim = f" of {self.about.until:g} s" if self.about.until is not None else ""
            message = f"{self.path} is of a run that did not end: saved until {until}{aim}, {self.rows} entries"
        else:
            return
        warnings.warn(message, SimulationWarning, stacklevel=4)


def _entries(
    source: Chunks, steps: slice, taken: list[int] | None, has_batch: bool, *, is_checked: bool = True
) -> np.ndarray:
    lead = () if not has_batch else (slice(None) if taken is None else taken,)
    return source.read((*lead, steps), is_checked=is_checked)


def _unchecked(source: Chunks, steps: slice, taken: list[int] | None, has_batch: bool, torn: int) -> np.ndarray | None:
    """`_entries` without checksums, if all are in chunks of the entry ``torn``; None if they are not."""
    size = source.chunks[int(has_batch)]
    first = torn // size * size
    if source.filters != [CHECKSUM] or not first <= steps.start < steps.stop <= first + size:
        return None
    try:
        return _entries(source, steps, taken, has_batch, is_checked=False)
    except (OSError, RuntimeError):
        return None


def _between(t: np.ndarray, start: float | None, end: float | None, stride: int) -> slice:
    """The entries from the first to the last within the times, as `Log.between` finds them."""
    for name, value in (("start", start), ("end", end)):
        if value is not None and (not isinstance(value, int | float | np.number) or np.isnan(value)):
            raise PliantError(bad_value(name, value, "a time in seconds"))
    check("stride", stride, "1 or more", is_whole(stride) and stride >= 1, error=PliantError)
    slack = 1e-6 * abs(t[-1] - t[0]) / (len(t) - 1) if len(t) > 1 else 0
    low, high = -np.inf if start is None else start - slack, np.inf if end is None else end + slack
    inside = np.flatnonzero((t >= low) & (t <= high)) if start is not None or end is not None else np.arange(len(t))
    if len(t) and not len(inside):
        bounds = " and ".join(f"{n}={x:g}" for n, x in (("start", start), ("end", end)) if x is not None)
        cure = f"its times are from {t[0]:g} to {t[-1]:g} s"
        raise PliantError(f"there are no entries with {bounds}", subject="log", field="t", cure=cure)
    return slice(int(inside[0]), int(inside[-1]) + 1, int(stride)) if len(inside) else slice(0, 0)
