"""The log of a simulation: named channels over time, for one robot or many, and events where there are any."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from pliant.checks import check_known, is_whole
from pliant.errors import PliantError, bad_value, unknown_name
from pliant.integrators.dense import DenseSolution
from pliant.recording.exports import LogExports
from pliant.recording.source import Source
from pliant.recording.troubles import Trouble, read_troubles
from pliant.signatures import explained

KINDS = ("touch-down", "lift-off", "slip", "stick", "reversal")
"""Kinds of events, the most important first."""


@explained
@dataclass(frozen=True, eq=False)
class Event:
    """Something that changes how the robot moves.

    Attributes:
        t: when [s].
        kind: "touch-down", "lift-off", "slip", "stick" or "reversal" (of a slide).
        names: of the contacts and joint limits.
        impulse: of each constraint that took part, by name, in the world's axes [N s]; of a joint limit one number.
        energy_lost: in the impact [J].
        before, after: modes, as `Log.modes` names them.
    """

    t: float
    kind: str
    names: tuple[str, ...]
    impulse: dict[str, Any] = field(default_factory=dict)
    energy_lost: float = 0.0
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        # an elastic impact loses nothing but rounding
        energy = self.energy_lost if abs(self.energy_lost) > 1e-14 else 0.0
        lost = f", {energy:.4g} J lost" if self.kind == "touch-down" else ""
        return f"{self.t:.9f} s: {self.kind} of {', '.join(self.names)}{lost}; {self.before} -> {self.after}"

    def _content(self) -> tuple[Any, ...]:
        impulses = tuple((name, np.asarray(p, dtype=float).tobytes()) for name, p in self.impulse.items())
        return self.t, self.kind, tuple(self.names), impulses, self.energy_lost, self.before, self.after

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Event) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content())


@explained
@dataclass(frozen=True, eq=False, repr=False)
class Log(LogExports):
    """What was recorded: a time axis, and channels with an entry at each of its times.

        log.t                     # (steps,)
        log["q"], log.q           # (steps, nq), or (batch, steps, nq) for many robots
        log["q", "knee"]          # one column, (steps,) or (batch, steps)
        log[10:20], log.between(0.5, 1), log.robot(3)        # logs again

    Arrays cannot be written to, and share their memory with those they were made of or cut from. A
    channel without columns, such as an energy, is (steps,) or (batch, steps).

    An event-driven run also has events, modes and dense output:

        log.events, log.events_of("touch-down")
        log.in_mode("flight")     # which entries are, (steps,)
        log.at(0.123)             # q and v at any time

    Around an event there are two entries of the same time: the state before and the state after.

    Attributes:
        t: times [s].
        channels: arrays by name.
        columns: what the entries of a channel are called, by its name; not every channel needs names.
        batch: how many robots, or None for one without a batch axis.
        metadata: whatever is worth knowing: the robot's name, dt, ...
        source: the robot, ground and settings that it comes from; None for one made by hand.
        is_complete: whether the run went to its end; not if it was cut off while it was saved.
        events: in order.
        modes: names of the modes, "flight" if nothing touches; channel "mode" has indices into them.
        dense: the motion between events, for `at`; parts of a log keep all of it. None for other runs.
    """

    t: np.ndarray
    channels: Mapping[str, np.ndarray]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    batch: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: Source | None = None
    is_complete: bool = True
    events: tuple[Event, ...] = ()
    modes: tuple[str, ...] = ()
    dense: DenseSolution | None = None

    def __post_init__(self) -> None:
        t = _read_only(self.t)
        if t.ndim != 1:
            raise _wrong("t", f"t has shape {t.shape}", "it takes one time axis, (steps,)")
        channels = {str(name): _read_only(array) for name, array in self.channels.items()}
        if "t" in channels:
            raise _wrong("channels", "a channel cannot be named 't', which is the time axis", "")
        columns = {str(name): tuple(names) for name, names in self.columns.items()}
        lead = (len(t),) if self.batch is None else (self.batch, len(t))
        for name, array in channels.items():
            if array.shape[: len(lead)] != lead:
                axes = "(steps, ...)" if self.batch is None else "(batch, steps, ...)"
                raise _wrong(name, f"channel {name!r} has shape {array.shape}", f"it takes {axes} from {lead} on")
        for name, names in columns.items():
            check_known("channel", name, channels, "the log (it has names of columns)")
            found = channels[name].shape[len(lead) :]
            if found != (len(names),) or len(set(names)) < len(names):
                problem = f"channel {name!r} has entries of shape {found}, but its columns are {list(names)}"
                raise _wrong("columns", problem, "it takes as many different names as there are entries")
        modes, mode = tuple(self.modes), channels.get("mode")
        if modes and mode is not None and mode.size:
            is_index = mode.dtype.kind in "iu" and np.isin(mode, range(len(modes))).all()
            if not is_index:
                raise _wrong("modes", "channel 'mode' has numbers that are not indices of modes", f"modes: {modes}")
        checked = {"t": t, "channels": MappingProxyType(channels), "columns": MappingProxyType(columns), "modes": modes}
        checked |= {"metadata": MappingProxyType(dict(self.metadata)), "events": tuple(self.events)}
        for attribute, value in checked.items():
            object.__setattr__(self, attribute, value)

    @classmethod
    def joined(cls, parts: Sequence["Log"]) -> "Log":
        """One log of parts that follow one another in time.

        An entry that a part begins with and the part before ended with counts once, as do events and steps that
        both have; entries before and after an event have one time, but are two. Modes are numbered anew. Metadata,
        source and columns are those of the first part.

        Args:
            parts: logs with the same channels and batch.
        """
        if not parts:
            raise _wrong("parts", "there are no parts to join", "")
        first = parts[0]
        for part in parts:
            for what, own, wanted in (
                ("channels", list(part.channels), list(first.channels)), ("batch", part.batch, first.batch),
            ):  # fmt: skip
                if own != wanted:
                    raise _wrong(what, f"the {what} of the parts differ", f"{own} cannot follow {wanted}")
        parts = [part for part in parts if len(part)] or [first]
        modes = tuple(dict.fromkeys(name for part in parts for name in part.modes))
        pieces = [parts[0], *(part[1:] if _continues(before, part) else part for before, part in pairwise(parts))]
        axis = 0 if first.batch is None else 1
        channels = {
            name: np.concatenate([_channel(piece, name, modes) for piece in pieces], axis=axis) for name in first
        }
        events = list(parts[0].events)
        for before, part in pairwise(parts):
            # the seam may be at an event
            known = [event for event in before.events if event.t >= part.t[0]]
            events += [event for event in part.events if event not in known]
        t = np.concatenate([piece.t for piece in pieces])
        # parts that were cut from one log have all of its steps
        solutions = [part.dense for part in parts if part.dense is not None]
        return replace(
            parts[0], t=t, channels=channels, events=tuple(events), modes=modes,
            dense=DenseSolution.joined(solutions) if solutions else None, is_complete=parts[-1].is_complete,
        )  # fmt: skip

    # ---- channels and columns

    def __getattr__(self, name: str) -> np.ndarray:
        # asked only for what is no attribute; before __init__, as when unpickling, there are no channels
        if name.startswith("_") or "channels" not in self.__dict__:
            raise AttributeError(name)
        if name not in self.channels:
            # hasattr and the like expect this kind of error
            raise AttributeError(unknown_name("channel", name, self.channels, "the log"))
        return self.channels[name]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            check_known("channel", key, ["t", *self.channels], "the log")
            return self.t if key == "t" else self.channels[key]
        if isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, str) for k in key):
            return self.column(*key)
        if isinstance(key, slice) and all(k is None or is_whole(k) for k in (key.start, key.stop, key.step)):
            return self._cut(key)
        if isinstance(key, list | np.ndarray) and np.asarray(key).dtype.kind in "bi":
            return self._cut(np.asarray(key))
        takes = "a channel, log['q'], a column, log['q', 'knee'], or a slice of steps, log[10:20]"
        raise PliantError(bad_value("index", key, takes, "the log"))

    @explained
    def column(self, channel: str, name: str) -> np.ndarray:
        """One column of a channel, (steps,) or (batch, steps)."""
        array = self[channel]
        names = self.columns.get(channel)
        if names is None:
            problem = f"channel {channel!r} of the log has no names for its columns"
            raise PliantError(problem, subject=f"channel {channel!r}", field="columns", cure=f"index log[{channel!r}]")
        check_known("column", name, names, f"channel {channel!r} of the log")
        return array[..., names.index(name)]

    # ---- parts

    @explained
    def between(self, start: float, end: float) -> "Log":
        """The steps with start <= t <= end [s], and the events.

        Times of steps count to a millionth of the mean step, since they are rounded.
        """
        slack = 1e-6 * abs(self.t[-1] - self.t[0]) / (len(self.t) - 1) if len(self.t) > 1 else 0
        cut = self._cut((self.t >= start - slack) & (self.t <= end + slack))
        return replace(cut, events=tuple(event for event in self.events if start <= event.t <= end))

    @explained
    def robot(self, k: int) -> "Log":
        """The log of one robot of the batch."""
        if self.batch is None:
            raise _wrong("batch", "this log is of one robot", "log.robot(k) is for a batch")
        if not is_whole(k) or not -self.batch <= k < self.batch:
            cure = f"the batch has {self.batch} robots, 0 to {self.batch - 1}"
            raise PliantError(f"there is no robot {k!r} in the log", subject="log", field="robot", cure=cure)
        return replace(self, channels={name: array[k] for name, array in self.channels.items()}, batch=None)

    def _cut(self, steps: Any) -> "Log":
        """Some of the entries, with the events between the first and the last of them."""
        axes = (steps,) if self.batch is None else (slice(None), steps)
        try:
            t, channels = self.t[steps], {name: array[axes] for name, array in self.channels.items()}
        except IndexError as error:
            raise _wrong("steps", f"the log has {len(self.t)} steps", str(error)) from None
        low, high = (t.min(), t.max()) if len(t) else (np.inf, -np.inf)
        return replace(
            self, t=t, channels=channels, events=tuple(event for event in self.events if low <= event.t <= high)
        )

    # ---- events, modes and dense output

    @property
    def is_event_driven(self) -> bool:
        """Whether it has events, modes or dense output."""
        return bool(self.modes or self.events or self.dense)

    @explained
    def at(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """q and v at a time, or at many: (nq,), (nv,) or (n, nq), (n, nv); at an event the state after it."""
        if self.dense is None:
            problem = "the log has no dense output, which runs of EventSimulation keep"
            raise _wrong("dense", problem, "use log.between(...) or log['q'] instead")
        return self.dense(t)

    @explained
    def events_of(self, kind: str) -> list[Event]:
        """The events of a kind, such as "touch-down"."""
        self._check_event_driven("events")
        found = [event for event in self.events if event.kind == kind]
        if not found:
            check_known("kind of event", kind, KINDS)
        return found

    @explained
    def in_mode(self, name: str) -> np.ndarray:
        """Which of the entries are in a mode, (steps,)."""
        self._check_event_driven("modes")
        check_known("mode", name, self.modes, "the log")
        return self["mode"] == self.modes.index(name)

    def _check_event_driven(self, what: str) -> None:
        if not self.is_event_driven:
            raise _wrong(what, f"the log has no {what}", "logs of EventSimulation have")

    # ---- where it comes from

    @property
    def troubles(self) -> tuple[Trouble, ...]:
        """What went wrong in the run without ending it, such as steps that did not converge; empty if nothing did."""
        return read_troubles(self.metadata.get("troubles"))

    @explained
    def needs_source(self, what: str) -> Source:
        """The source; raises if there is none, for ``what`` needs it, e.g. "log.to_video()"."""
        if self.source is None:
            cure = "give it one with Log(..., source=pliant.recording.Source(robot)), or take the log of Simulation.run"
            raise _wrong("source", f"{what} needs the robot of the log, and this log was made without", cure)
        return self.source

    # ---- other forms

    def to_dict(self) -> dict[str, np.ndarray]:
        """Flat: "t", and "q.knee" for each column, "q.0" where it has no name, "energy" for a channel without."""
        flat = {"t": self.t}
        lead = 1 if self.batch is None else 2
        for name, array in self.channels.items():
            if array.ndim == lead:
                flat[name] = array
                continue
            entries = array.reshape(*array.shape[:lead], -1)
            indices: Sequence[str] = [".".join(map(str, i)) for i in np.ndindex(array.shape[lead:])]
            for k, label in enumerate(self.columns.get(name, indices)):
                flat[f"{name}.{label}"] = entries[..., k]
        return flat

    def to_frame(self) -> Any:
        """A pandas.DataFrame with a row a step and the columns of `to_dict`; for many robots indexed by (robot, t)."""
        try:
            import pandas  # type: ignore[reportMissingImports]
        except ImportError:
            raise _wrong("pandas", "log.to_frame() needs pandas", "pip install pandas") from None
        flat = self.to_dict()
        t = flat.pop("t")
        if self.batch is None:
            return pandas.DataFrame(flat, index=pandas.Index(t, name="t"))
        index = pandas.MultiIndex.from_product([range(self.batch), t], names=["robot", "t"])
        return pandas.DataFrame({name: array.reshape(-1) for name, array in flat.items()}, index=index)

    # ---- comparing and showing

    @explained
    def identical(self, other: "Log") -> bool:
        """Whether times, channels, columns, events and modes are the same, bit for bit.

        NaN equals NaN. Metadata, source and dense output do not count.
        """
        if not isinstance(other, Log) or self._exact() != other._exact():
            return False
        pairs = [(self.t, other.t), *((self.channels[n], other.channels[n]) for n in self.channels)]
        return all(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in pairs)

    def _exact(self) -> tuple[Any, ...]:
        return list(self.channels), dict(self.columns), self.batch, self.modes, self.events

    def __eq__(self, other: object) -> bool:
        return self.identical(other) if isinstance(other, Log) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it is compared by content, and too large to hash

    def __len__(self) -> int:
        return len(self.t)

    def __iter__(self) -> Iterator[str]:
        """Names of the channels."""
        return iter(self.channels)

    def __contains__(self, name: object) -> bool:
        return name in self.channels

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.channels]

    def __repr__(self) -> str:
        robots = "" if self.batch is None else f" of {self.batch} robots"
        span = f", t = {self.t[0]:g} to {self.t[-1]:g} s" if len(self.t) else ""
        lines = [f"Log{robots}: {len(self.t)} steps{span}"]
        width = max((len(n) for n in self.channels), default=0)
        for name, array in self.channels.items():
            names = self.columns.get(name, ())
            shown = "  " + ", ".join(names[:6]) + (", ..." if len(names) > 6 else "") if names else ""
            lines.append(f"  {name:<{width}}  {array.shape}{shown}")
        return "\n".join(lines)

    def __reduce__(self) -> Any:
        # views of mappings do not pickle; the robot is that of the source
        state = {f.name: getattr(self, f.name) for f in fields(self)}
        state |= {name: dict(state[name]) for name in ("channels", "columns", "metadata")}
        if self.dense is not None and self.source is not None:
            state["dense"] = self.dense.steps, self.dense.t[-1]
        return _unpickled, (state,)


def _unpickled(state: dict[str, Any]) -> Log:
    if isinstance(state["dense"], tuple):
        state["dense"] = DenseSolution.from_steps(state["source"].robot, *state["dense"])
    return Log(**state)


def _wrong(field: str, problem: str, cure: str) -> PliantError:
    return PliantError(f"log: {problem}", subject="log", field=field, cure=cure)


def _channel(part: Log, name: str, modes: tuple[str, ...]) -> np.ndarray:
    """A channel of a part; "mode" by the numbers that all parts share."""
    array = part.channels[name]
    if name != "mode" or not part.modes:
        return array
    return np.array([modes.index(mode) for mode in part.modes], dtype=array.dtype)[array]


def _continues(before: Log, part: Log) -> bool:
    """Whether a part begins with the last entry of the one before: at its time, in its state and mode."""
    if part.t[0] != before.t[-1]:
        return False
    states = [name for name in ("q", "v") if name in part.channels]
    same = all(np.array_equal(part.channels[n][..., :1, :], before.channels[n][..., -1:, :]) for n in states)
    if "mode" in part.channels and part.modes and before.modes:
        same = same and part.modes[part.channels["mode"][0]] == before.modes[before.channels["mode"][-1]]
    return same


def _read_only(array: Any) -> np.ndarray:
    """A view that cannot be written to."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
