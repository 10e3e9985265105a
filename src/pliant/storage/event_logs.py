"""What a file keeps of an event-driven run besides its channels: events, modes and steps."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.integrators.dense import DenseSolution
from pliant.recording.events import Event
from pliant.recording.log import Log
from pliant.storage.coding import Coder, many, number, record, text
from pliant.storage.hdf5 import dataset, group, has

__all__ = ["append_events", "put_event_header", "with_events"]

_impulse = Coder(
    lambda p, where: number.write(p, where) if np.ndim(p) == 0 else many(number).write(np.asarray(p).tolist(), where),
    lambda p, where: np.array(many(number).read(p, where)) if isinstance(p, list) else number.read(p, where),
)


def _read_impulses(found: Any, where: str) -> dict[str, Any]:
    if not isinstance(found, Mapping):
        raise PliantError(f"{where} is no impulses by name; it is damaged")
    return {text.read(name, where): _impulse.read(p, where) for name, p in found.items()}


_events = many(
    record(
        Event, t=number, kind=text, names=many(text),
        impulse=Coder(lambda p, where: {name: _impulse.write(x, where) for name, x in p.items()}, _read_impulses),
        energy_lost=number, before=text, after=text,
    )
)  # fmt: skip


def put_event_header(file: Any, log: Log, is_packed: bool) -> None:
    """Empty datasets for the notes, lines of JSON, and for the steps of the dense output."""
    packing = {"compression": "gzip", "compression_opts": 1} if is_packed else {}
    file.create_dataset("notes", (0,), np.uint8, maxshape=(None,), chunks=(16_384,), fletcher32=True, **packing)
    steps = file.create_group("steps")
    nq, nv = (log.channels[name].shape[-1] if name in log.channels else 0 for name in "qv")
    for name, entry in (("t", ()), ("h", ()), ("q", (nq,)), ("v", (nv,)), ("stages", (7, 2, nv))):
        chunk = (256, *(max(1, n) for n in entry))
        shuffled = {"fletcher32": True} | (packing and packing | {"shuffle": True})
        steps.create_dataset(
            name, (0, *entry), float, maxshape=(None, *(n or None for n in entry)), chunks=chunk, **shuffled
        )


def append_events(file: Any, part: Log, modes: list[str]) -> dict[str, np.ndarray]:
    """Events and steps of a part; its channel "mode" by the numbers that all parts share.

    Args:
        modes: of the parts before; those of this one are put behind them.
    """
    fresh = [name for name in part.modes if name not in modes]
    modes += fresh
    end = None if part.dense is None else float(part.dense.t[-1])
    note = {"events": _events.write(part.events, "events"), "modes": fresh, "end": end}
    line = np.frombuffer((json.dumps(note, ensure_ascii=False) + "\n").encode(), dtype=np.uint8)
    _extend(file["notes"], line)
    for name, array in ({} if part.dense is None else part.dense.steps).items():
        _extend(file["steps"][name], array)
    if "mode" not in part.channels:
        return {}
    places = np.array([*map(modes.index, part.modes)] or [0], dtype=part["mode"].dtype)
    return {"mode": places[part["mode"]]}


def _extend(target: Any, array: np.ndarray) -> None:
    first = target.shape[0]
    target.resize(first + len(array), axis=0)
    if array.size:
        target[first:] = array


def _lines(notes: np.ndarray) -> list[Any]:
    try:
        return [json.loads(line) for line in notes.tobytes().decode().splitlines()]
    except (ValueError, RecursionError) as error:
        raise PliantError(f"its notes on events cannot be read: {error}; it is damaged") from None


def with_events(file: Any, log: Log, notes: int, count: int) -> Log:
    """The log with what the file has besides its channels.

    Args:
        notes: bytes that are there for good.
        count: steps that are.
    """
    found = dataset(file, "notes")
    if found.dtype != np.uint8 or found.ndim != 1:
        raise PliantError("its notes on events cannot be read; it is damaged")
    modes: list[str] = []
    events: list[Event] = []
    end = None
    for note in _lines(found[:notes]):
        if not isinstance(note, Mapping):
            raise PliantError("its notes on events cannot be read; it is damaged")
        modes += many(text).read(note.get("modes"), "modes")
        events += _events.read(note.get("events"), "events")
        end = number.read(note.get("end"), "end") if note.get("end") is not None else end
    mode = log.channels.get("mode")
    if mode is not None and mode.size and not (mode.dtype.kind in "iu" and 0 <= mode.min() <= mode.max() < len(modes)):
        raise PliantError("its channel 'mode' names modes that there are not; it is damaged")
    dense = None
    if has(file, "steps") and log.source is not None and count and end is not None:
        steps = group(file, "steps")
        arrays = {name: dataset(steps, name)[:count] for name in ("t", "h", "q", "v", "stages")}
        dense = DenseSolution.from_steps(log.source.robot, arrays, end)
    return replace(log, events=events, modes=modes, dense=dense)
