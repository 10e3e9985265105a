"""The log of a simulation: named channels over time, for one robot or many."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from pliant.errors import PliantError, unknown_name
from pliant.recording.source import Source
from pliant.recording.upward import Upward

__all__ = ["Log"]


@dataclass(frozen=True, eq=False, repr=False)
class Log(Upward):
    """What was recorded: a time axis, and channels with an entry at each of its times.

        log.t                     # (steps,)
        log["q"], log.q           # (steps, nq), or (batch, steps, nq) for many robots
        log["q", "knee"]          # one column, (steps,) or (batch, steps)
        log[10:20], log.between(0.5, 1), log.robot(3)        # logs again

    Arrays cannot be written to, and share their memory with those they were made of or cut from. A
    channel without columns, such as an energy, is (steps,) or (batch, steps).

    Attributes:
        t: times [s].
        channels: arrays by name.
        columns: what the entries of a channel are called, by its name; not every channel needs names.
        batch: how many robots, or None for one without a batch axis.
        metadata: whatever is worth knowing: the robot's name, dt, ...
        source: the robot, ground and settings that it comes from; None for one made by hand.
        is_complete: whether the run went to its end; not if it was cut off while it was saved.
    """

    t: np.ndarray
    channels: Mapping[str, np.ndarray]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    batch: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: Source | None = None
    is_complete: bool = True

    def __post_init__(self):
        t = _read_only(self.t)
        if t.ndim != 1:
            raise PliantError(f"log: t has shape {t.shape}; it takes one time axis, (steps,)")
        channels = {str(name): _read_only(array) for name, array in self.channels.items()}
        if "t" in channels:
            raise PliantError("log: a channel cannot be named 't', which is the time axis")
        columns = {str(name): tuple(names) for name, names in self.columns.items()}
        lead = (len(t),) if self.batch is None else (self.batch, len(t))
        for name, array in channels.items():
            if array.shape[: len(lead)] != lead:
                axes = "(steps, ...)" if self.batch is None else "(batch, steps, ...)"
                raise PliantError(f"log: channel {name!r} has shape {array.shape}; it takes {axes} from {lead} on")
        for name, names in columns.items():
            if name not in channels:
                raise PliantError(unknown_name("channel", name, channels, "the log (it has names of columns)"))
            found = channels[name].shape[len(lead) :]
            if found != (len(names),) or len(set(names)) < len(names):
                raise PliantError(
                    f"log: channel {name!r} has entries of shape {found}, but its columns are {list(names)}; "
                    "it takes as many different names as there are entries"
                )
        for attribute, value in (("t", t), ("channels", channels), ("columns", columns), ("metadata", self.metadata)):
            kept = MappingProxyType(dict(value)) if isinstance(value, Mapping) else value
            object.__setattr__(self, attribute, kept)

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
            if key == "t":
                return self.t
            if key not in self.channels:
                raise PliantError(unknown_name("channel", key, ["t", *self.channels], "the log"))
            return self.channels[key]
        if isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, str) for k in key):
            return self.column(*key)
        if isinstance(key, slice) and all(k is None or _is_index(k) for k in (key.start, key.stop, key.step)):
            return self._cut(key)
        if isinstance(key, list | np.ndarray) and np.asarray(key).dtype.kind in "bi":
            return self._cut(np.asarray(key))
        raise PliantError(
            f"a log takes a channel, log['q'], a column, log['q', 'knee'], or a slice of steps, log[10:20]; not {key!r}"
        )

    def column(self, channel: str, name: str) -> np.ndarray:
        """One column of a channel, (steps,) or (batch, steps)."""
        array = self[channel]
        names = self.columns.get(channel)
        if names is None:
            raise PliantError(f"channel {channel!r} of the log has no names for its columns; index log[{channel!r}]")
        if name not in names:
            raise PliantError(unknown_name("column", name, names, f"channel {channel!r} of the log"))
        return array[..., names.index(name)]

    # ---- parts

    def between(self, start: float, end: float) -> "Log":
        """The steps with start <= t <= end [s]; to a millionth of the mean step, since times are rounded."""
        slack = 1e-6 * abs(self.t[-1] - self.t[0]) / (len(self.t) - 1) if len(self.t) > 1 else 0
        return self._cut((self.t >= start - slack) & (self.t <= end + slack))

    def robot(self, k: int) -> "Log":
        """The log of one robot of the batch."""
        if self.batch is None:
            raise PliantError("this log is of one robot; log.robot(k) is for a batch")
        if not _is_index(k) or not -self.batch <= k < self.batch:
            raise PliantError(f"log.robot({k!r}): the batch has {self.batch} robots, 0 to {self.batch - 1}")
        return self._like(self.t, {n: a[k] for n, a in self.channels.items()}, None)

    def _cut(self, steps: Any) -> "Log":
        axes = (steps,) if self.batch is None else (slice(None), steps)
        try:
            channels = {name: array[axes] for name, array in self.channels.items()}
            return self._like(self.t[steps], channels, self.batch)
        except IndexError as error:
            raise PliantError(f"the log has {len(self.t)} steps; {error}") from None

    def _like(self, t: np.ndarray, channels: Mapping[str, np.ndarray], batch: int | None) -> "Log":
        """A log with other entries, of the same source."""
        return Log(t, channels, self.columns, batch, self.metadata, self.source, self.is_complete)

    def needs_source(self, what: str) -> Source:
        """The source, or an error that says why there is none.

        Args:
            what: for which it is needed, e.g. "log.to_video()".
        """
        if self.source is None:
            raise PliantError(
                f"{what} needs the robot that the log is of, and this log was made without: give it one with "
                "Log(..., source=pliant.simulation.Source(robot)), or take the log of Simulation.run"
            )
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
            raise PliantError("log.to_frame() needs pandas, which is not installed: pip install pandas") from None
        flat = self.to_dict()
        t = flat.pop("t")
        if self.batch is None:
            return pandas.DataFrame(flat, index=pandas.Index(t, name="t"))
        index = pandas.MultiIndex.from_product([range(self.batch), t], names=["robot", "t"])
        return pandas.DataFrame({name: array.reshape(-1) for name, array in flat.items()}, index=index)

    # ---- comparing and showing

    def identical(self, other: "Log") -> bool:
        """Whether times, channels and columns are the same, bit for bit; NaN equals NaN, metadata have no say."""
        if not isinstance(other, Log) or list(self.channels) != list(other.channels) or self.batch != other.batch:
            return False
        pairs = [(self.t, other.t), *((self.channels[n], other.channels[n]) for n in self.channels)]
        return dict(self.columns) == dict(other.columns) and all(
            a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in pairs
        )

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
        # views of mappings do not pickle
        about = self.batch, dict(self.metadata), self.source, self.is_complete
        return _unpickled, (self.t, dict(self.channels), dict(self.columns), *about)


def _unpickled(*fields: Any) -> Log:
    return Log(*fields)


def _read_only(array: Any) -> np.ndarray:
    """A view that cannot be written to."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _is_index(k: Any) -> bool:
    return isinstance(k, int | np.integer) and not isinstance(k, bool)
