"""Logs from files of HDF5: all, a part, or what is left of one."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.errors import PliantError, SimulationWarning, unknown_name
from pliant.recording.log import Log
from pliant.storage.event_logs import with_events
from pliant.storage.hdf5 import dataset, group, opened, read_all, read_text, trouble_with
from pliant.storage.sources import source_of

__all__ = ["load_log"]

MAX_CHANNELS = 10_000
_CHECKSUM = 3  # number of the filter


def load_log(
    path: str | os.PathLike[str],
    channels: Sequence[str] | None = None,
    start: float | None = None,
    end: float | None = None,
    robots: int | Sequence[int] | None = None,
    *,
    every: int = 1,
) -> Log:
    """Read a log that `Log.save` or a run with ``save=`` wrote: the same arrays, bit for bit, and its source.

        log = pliant.load_log("run.h5")
        log = pliant.load_log("long.h5", channels=["q"], start=10, end=12, robots=3)

    Of a run that was cut off, or goes on, it reads what is there and warns.

    Args:
        path: of the file.
        channels: which of them, None for all.
        start, end: only entries with start <= t <= end [s].
        robots: of a batch: one by its number, for a log without a batch axis, or several.
        every: one of so many of the entries.

    Returns:
        The log. ``log.source`` has the robot with its meshes, the ground and settings.
    """
    with opened(path) as file:
        try:
            return _Reader(file, path).log(channels, start, end, robots, every)
        except PliantError as error:
            raise PliantError(f"{os.fspath(path)}: {error}") from None
        except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError) as error:
            raise trouble_with(path, error) from None


class _Reader:
    """Reads one file."""

    def __init__(self, file: Any, path: Any):
        self.file, self.path = file, os.fspath(path)
        self.about = _mapping(read_text(file, "about"), "about")
        batch = self.about.get("batch")
        if batch is not None and (type(batch) is not int or not 0 < batch < 2**31):
            raise PliantError(f"it says that it has {batch!r} robots; it is damaged")
        self.batch: int | None = batch
        self.notes = self.steps = 0
        self.lost: dict[str, str] = {}

    def log(self, channels: Any, start: Any, end: Any, robots: Any, every: Any) -> Log:
        wanted = self._wanted(channels)
        rows, is_complete = self._state()
        # a writer that was stopped while it wrote a block anew left a wrong checksum, and entries as they were
        torn = None if is_complete or not rows else rows - 1
        times = dataset(self.file, "t")
        t = self._read("t", times, slice(0, rows), None)
        if t is None and torn is not None and times.ndim == 1:
            t = self._rescued(times, slice(0, rows), None, torn, has_batch=False)
            t = t if len(t) == rows else None
            self.lost.pop("t")
        if t is None or t.ndim != 1:
            raise PliantError("its times cannot be read; it is damaged")
        taken, number = self._robots(robots)
        steps = _between(t, start, end, every)
        found: dict[str, np.ndarray] = {}
        counts: dict[str, int] = {}
        for name, place in wanted.items():
            lead = (rows,) if self.batch is None else (self.batch, rows)
            try:
                source = dataset(group(self.file, "channels"), place)
            except (OSError, RuntimeError, KeyError):
                self.lost[name] = "all of it"
                continue
            if source.ndim < len(lead) or (self.batch is not None and source.shape[0] != self.batch):
                raise PliantError(f"channel {name!r} has shape {source.shape}; it is damaged")
            array = self._read(name, source, steps, taken)
            if array is None:
                array = self._rescued(source, steps, taken, torn, has_batch=self.batch is not None)
                if torn is not None and array.shape[len(lead) - 1] == len(t[steps]):
                    del self.lost[name]
            counts[name] = array.shape[len(lead) - 1]
            found[name] = array
        t = t[steps]
        found, t = self._agreed(found, counts, t)
        if number is not None:
            found = {name: array[0] for name, array in found.items()}
        batch = None if self.batch is None or number is not None else self.batch if taken is None else len(taken)
        columns = {
            name: tuple(map(str, names))
            for name, names in _mapping(self.about.get("columns"), "columns").items()
            if name in found
        }
        metadata = _mapping(self.about.get("metadata"), "metadata")
        try:
            source = source_of(self.file)
        except (OSError, RuntimeError, KeyError):
            self.lost["source"], source = "all of it", None
        log = Log(t, found, columns, batch, metadata, source, is_complete and not self.lost)
        if self.about.get("is_event_driven") is True:
            try:
                log = self._with_events(log, start, end)
            except (OSError, RuntimeError, KeyError):
                self.lost["events"] = "all of it"
                log = replace(log, is_complete=False)
        self._warn(is_complete, rows, t)
        return log

    # ---- what is wanted

    def _wanted(self, channels: Any) -> dict[str, str]:
        listed = self.about.get("channels")
        if not isinstance(listed, list) or len(listed) > MAX_CHANNELS:
            raise PliantError("its list of channels is damaged")
        places = {str(_mapping(c, "channels")["name"]): str(c["dataset"]) for c in listed}
        if channels is None:
            return places
        names = [channels] if isinstance(channels, str) else list(channels)
        for name in names:
            if name not in places:
                raise PliantError(unknown_name("channel", name, places, "the log"))
        return {name: places[name] for name in places if name in names}

    def _state(self) -> tuple[int, bool]:
        state = read_all(dataset(self.file, "state"))
        if state.shape != (4,) or state.dtype.kind != "i" or state.min() < 0:
            raise PliantError("it does not say how many entries it has; it is damaged")
        self.notes, self.steps = int(state[2]), int(state[3])
        rows = min(int(state[0]), dataset(self.file, "t").shape[0])
        if rows < state[0]:
            self.lost["t"] = f"{int(state[0]) - rows} of {int(state[0])} entries"
        return rows, bool(state[1] == 1)

    def _robots(self, robots: Any) -> tuple[list[int] | None, int | None]:
        """Which of the batch, and the one if it is one alone."""
        if robots is None:
            return None, None
        if self.batch is None:
            raise PliantError("it is the log of one robot; robots= is for a batch")
        alone = isinstance(robots, int | np.integer) and not isinstance(robots, bool)
        picked: Any = range(self.batch)[robots] if isinstance(robots, slice) else [robots] if alone else robots
        taken = []
        for k in picked if isinstance(picked, Sequence | np.ndarray) else [picked]:
            if isinstance(k, bool) or not isinstance(k, int | np.integer) or not -self.batch <= k < self.batch:
                raise PliantError(f"robots={robots!r}: the batch has {self.batch} robots, 0 to {self.batch - 1}")
            taken.append(int(k) % self.batch)
        if not taken:
            raise PliantError(f"robots={robots!r} names none of the {self.batch} robots")
        return taken, taken[0] if alone else None

    # ---- reading

    def _read(self, name: str, source: Any, steps: slice | np.ndarray, taken: list[int] | None) -> np.ndarray | None:
        """Entries of a dataset; None if some of them cannot be read."""
        try:
            return _entries(source, steps, taken, self.batch is not None and name != "t")
        except (OSError, RuntimeError) as error:
            self.lost[name] = str(error).splitlines()[0]
            return None

    def _rescued(
        self, source: Any, steps: slice, taken: list[int] | None, torn: int | None, *, has_batch: bool
    ) -> np.ndarray:
        """Entries up to the first that cannot be read.

        Args:
            torn: an entry whose block may have a wrong checksum, or None.
        """
        axis = int(has_batch)
        places = np.arange(source.shape[axis])[steps]
        parts: list[np.ndarray] = []
        size = max(1, source.chunks[axis] if source.chunks else 64)
        # block by block, since one that is damaged takes none of the others along
        for inside in np.split(places, np.flatnonzero(np.diff(places // size)) + 1) if len(places) else ():
            piece = slice(int(inside[0]), int(inside[-1]) + 1, steps.step)
            try:
                part = _entries(source, piece, taken, has_batch)
            except (OSError, RuntimeError):
                part = None if torn is None else _unchecked(source, piece, taken, has_batch, torn)
                if part is None:
                    break
            parts.append(part)
        if not parts:
            parts = [_entries(source, slice(0, 0), taken, has_batch)]
        return np.concatenate(parts, axis=axis)

    def _agreed(
        self, found: dict[str, np.ndarray], counts: Mapping[str, int], t: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Channels of equal length: fewer entries of all, or all of fewer channels, whichever keeps more."""
        if all(n >= len(t) for n in counts.values()):
            return found, t
        options = {n: [name for name in counts if counts[name] >= n] for n in {len(t), *counts.values()}}
        rows, names = max(options.items(), key=lambda item: (item[0] * len(item[1]), len(item[1])))
        axis = 0 if self.batch is None else 1
        for name in counts:
            if name in names:
                self.lost.pop(name, None) if counts[name] >= len(t) else None
            else:
                self.lost[name] = "all of it"
        cut = (slice(None),) * axis + (slice(0, rows),)
        return {name: found[name][cut] for name in names}, t[:rows]

    def _with_events(self, log: Log, start: float | None, end: float | None) -> Log:
        made = with_events(self.file, log, self.notes, self.steps)
        if start is None and end is None:
            return made
        low, high = -np.inf if start is None else start, np.inf if end is None else end
        events = [event for event in made.events if low <= event.t <= high]
        return replace(made, events=events)

    def _warn(self, is_complete: bool, rows: int, t: np.ndarray) -> None:
        until = f"t = {t[-1]:g} s" if len(t) else "nothing yet"
        if self.lost:
            names = ", ".join(self.lost)
            message = f"{self.path} is cut off or damaged: {names} could not be read whole; read until {until}"
        elif not is_complete:
            planned = self.about.get("until")
            aim = f" of {planned:g} s" if isinstance(planned, float | int) else ""
            message = f"{self.path} is of a run that did not end: saved until {until}{aim}, {rows} entries"
        else:
            return
        warnings.warn(message, SimulationWarning, stacklevel=4)


def _entries(source: Any, steps: slice | np.ndarray, taken: list[int] | None, has_batch: bool) -> np.ndarray:
    if not has_batch:
        return source[steps]
    if taken is None:
        return source[:, steps]
    # one at a time: HDF5 wants places in order, and each once
    return np.stack([source[k, steps] for k in taken])


def _unchecked(source: Any, steps: slice, taken: list[int] | None, has_batch: bool, torn: int) -> np.ndarray | None:
    """`_entries` without a look at checksums, if all are in blocks of the entry ``torn``; None if they are not."""
    axis = int(has_batch)
    plan = source.id.get_create_plist()
    if source.chunks is None or plan.get_nfilters() != 1 or plan.get_filter(0)[0] != _CHECKSUM:
        return None
    size = source.chunks[axis]
    first = torn // size * size
    if not first <= steps.start < steps.stop <= first + size:
        return None
    block = np.zeros((*source.shape[:axis], size, *source.shape[axis + 1 :]), source.dtype)
    for k in range(0, source.shape[0], source.chunks[0]) if has_batch else [0]:
        place = ((k, first) if has_batch else (first,)) + (0,) * (source.ndim - axis - 1)
        try:
            data = source.id.read_direct_chunk(place)[1]
        except (OSError, RuntimeError):
            return None
        # four bytes of checksum follow the numbers
        found = np.frombuffer(data[:-4], source.dtype).reshape(source.chunks)
        if has_batch:
            block[k : k + source.chunks[0]] = found[: source.shape[0] - k]
        else:
            block[...] = found
    inside = slice(steps.start - first, steps.stop - first, steps.step)
    return _entries(block, inside, taken, has_batch)


def _between(t: np.ndarray, start: float | None, end: float | None, every: int) -> slice:
    """The entries from the first to the last within the times, as `Log.between` finds them."""
    for name, value in (("start", start), ("end", end)):
        if value is not None and (not isinstance(value, int | float | np.number) or np.isnan(value)):
            raise PliantError(f"{name} is {value!r}; it takes a time in seconds")
    if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
        raise PliantError(f"every is {every!r}; it takes 1 or more")
    slack = 1e-6 * abs(t[-1] - t[0]) / (len(t) - 1) if len(t) > 1 else 0
    low, high = -np.inf if start is None else start - slack, np.inf if end is None else end + slack
    inside = np.flatnonzero((t >= low) & (t <= high)) if start is not None or end is not None else np.arange(len(t))
    if len(t) and not len(inside):
        bounds = " and ".join(f"{n}={x:g}" for n, x in (("start", start), ("end", end)) if x is not None)
        raise PliantError(f"it has no entries with {bounds}; its times are from {t[0]:g} to {t[-1]:g} s")
    return slice(int(inside[0]), int(inside[-1]) + 1, int(every)) if len(inside) else slice(0, 0)


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise PliantError(f"its {what} cannot be read; it is damaged")
    return value
