"""What a log's file holds, in which order, and how it is put there."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import numpy as np

from pliant.contact.ground import Ground
from pliant.errors import PliantError
from pliant.recording.formulas import MAX_NODES
from pliant.recording.log import Log
from pliant.recording.portable import ground_parts
from pliant.recording.source import Relief, Source, plain
from pliant.storage.event_logs import append_events, put_event_header
from pliant.storage.hdf5 import FORMAT, VERSION, put_text
from pliant.storage.reliefs import relief_of
from pliant.storage.robots import robot_to_plain

__all__ = ["append", "dataset_name", "needed_bytes", "put_count", "put_header"]

# bytes of a chunk, about
_CHUNK = 131_072
# bytes by which the index of chunks grows at a time, about
_INDEX = 500_000
MAX_TABLES = 4_000_000


def dataset_name(channel: str) -> str:
    """The name of a channel's dataset: the channel's own, but for a slash and the like."""
    name = quote(channel, safe=" !#$&'()*+,-:;<=>?@[]^_`{|}~.")
    return "%2E" + name[1:] if name.startswith(".") else name


def put_header(file: Any, log: Log, *, rows: int, is_packed: bool, until: float | None = None) -> None:
    """All but the entries: what the log is of, and an empty dataset for each channel.

    Args:
        log: whose channels say types and shapes.
        rows: how many there are going to be, 0 if that is not known.
        is_packed: whether to pack the numbers.
        until: when the run is going to end [s].
    """
    file.attrs["format"], file.attrs["version"] = FORMAT, VERSION
    lead = 1 if log.batch is None else 2
    about = {
        "is_event_driven": log.is_event_driven,
        "batch": log.batch,
        "channels": [{"name": name, "dataset": dataset_name(name)} for name in log.channels],
        "columns": {name: list(names) for name, names in log.columns.items()},
        "metadata": plain(dict(log.metadata)),
        "until": until,
    }
    put_text(file, "about", about)
    # entries, bytes of notes and steps that are there for good, and whether these are all
    file.create_dataset("state", data=np.zeros(4, dtype=np.int64), chunks=(4,), fletcher32=True)
    _entries(file, "t", log.t.dtype, None, (), rows, is_packed)
    channels = file.create_group("channels")
    for name, array in log.channels.items():
        if array.dtype.kind not in "biufc":
            raise PliantError(f"channel {name!r} holds {array.dtype}, which no log file can hold; it takes numbers")
        _entries(channels, dataset_name(name), array.dtype, log.batch, array.shape[lead:], rows, is_packed)
    if log.is_event_driven:
        put_event_header(file, log, is_packed)
    if log.source is not None:
        folder = file.create_group("source")
        _put_source(folder, log.source)
        relief = relief_of(log)
        if relief is not None:
            _put_relief(folder, relief)


def _entries(
    parent: Any, name: str, dtype: Any, batch: int | None, entry: Sequence[int], rows: int, is_packed: bool
) -> None:
    """An empty dataset that grows along time."""
    robots = () if batch is None else (batch,)
    chunk = _chunk(dtype, batch, entry)
    axis = len(robots)
    if is_packed and rows:
        chunk = (*chunk[:axis], min(chunk[axis], rows), *chunk[axis + 1 :])
    packing = {"compression": "gzip", "compression_opts": 1, "shuffle": True} if is_packed else {}
    # a side of length zero may have no chunk unless it could grow
    most = (*robots, None, *(n or None for n in entry))
    parent.create_dataset(name, (*robots, 0, *entry), dtype, maxshape=most, chunks=chunk, fletcher32=True, **packing)


def _chunk(dtype: Any, batch: int | None, entry: Sequence[int]) -> tuple[int, ...]:
    """The shape of a chunk: many steps of one robot, fewer of several."""
    sides = tuple(max(1, n) for n in entry)
    size = int(np.prod(sides)) * np.dtype(dtype).itemsize
    steps = int(np.clip(_CHUNK // size, 1, 4096 if batch is None else 64))
    return (*(() if batch is None else (int(np.clip(_CHUNK // (size * steps), 1, batch)),)), steps, *sides)


def _put_source(file: Any, source: Source) -> None:
    """The robot with its meshes, the ground, the settings."""
    about = {
        "contacts": list(source.contacts), "settings": plain(dict(source.settings)),
        "versions": plain(dict(source.versions)), "created": source.created,
    }  # fmt: skip
    robot, meshes = robot_to_plain(source.robot)
    put_text(file, "about", about)
    put_text(file, "robot", robot)
    if meshes:
        folder = file.create_group("meshes")
        for k, surfaces in enumerate(meshes):
            mesh = folder.create_group(str(k))
            for j, surface in enumerate(surfaces):
                part = mesh.create_group(str(j))
                for what in ("points", "faces"):
                    options = {"compression": "gzip", "compression_opts": 4, "shuffle": True, "fletcher32": True}
                    part.create_dataset(what, data=getattr(surface, what), **options)
                part.attrs["color"] = np.array(surface.color or [], dtype=float)
    if source.ground is not None:
        _put_ground(file, source.ground)


def _put_ground(file: Any, ground: Ground | Relief) -> None:
    """As the formula that it computes; where it has none, or one too large, by heights."""
    about: dict[str, Any] = {"name": ground.name, "friction": None, "restitution": None, "numbers": [], "formula": None}
    if isinstance(ground, Relief):
        put_text(file, "ground", about | {"friction": ground.friction, "restitution": ground.restitution})
        return
    parts = ground_parts(ground)
    formula = parts.pop("formula")
    about |= parts
    if formula is not None and len(formula.nodes) <= MAX_NODES and sum(map(len, formula.tables)) <= MAX_TABLES:
        about["formula"] = formula.to_plain() | {"tables": len(formula.tables)}
        for k, table in enumerate(formula.tables):
            options = {"compression": "gzip", "shuffle": True} if len(table) > 500 else {}
            file.require_group("tables").create_dataset(str(k), data=table.numbers, fletcher32=True, **options)
    put_text(file, "ground", about)


def _put_relief(file: Any, relief: Relief) -> None:
    """Heights on a grid, for readers that know no formulas."""
    made = file.create_dataset("heights", data=relief.heights, compression="gzip", shuffle=True, fletcher32=True)
    made.attrs["origin"], made.attrs["spacing"] = np.array(relief.origin, float), np.array(relief.spacing, float)


def append(file: Any, part: Log, modes: list[str]) -> None:
    """Entries after those that are there, and the events among them; they count from `put_count` on.

    Args:
        modes: that have been so far, of an event-driven run; those of the part are put behind them.
    """
    first = file["t"].shape[0]
    stop = first + len(part.t)
    channels = dict(part.channels)
    if part.is_event_driven:
        channels |= append_events(file, part, modes)
    file["t"].resize(stop, axis=0)
    file["t"][first:stop] = part.t
    axis = 0 if part.batch is None else 1
    for name, array in channels.items():
        target = file["channels"][dataset_name(name)]
        target.resize(stop, axis=axis)
        if array.size:
            target[(slice(None),) * axis + (slice(first, stop),)] = array


def put_count(file: Any, *, is_complete: bool) -> None:
    """Say that what was appended is there for good."""
    notes = file["notes"].shape[0] if "notes" in file else 0
    steps = file["steps/t"].shape[0] if "steps" in file else 0
    file["state"][:] = file["t"].shape[0], int(is_complete), notes, steps


def needed_bytes(part: Log) -> int:
    """How much a file grows at most with a part: chunks that are not full count whole, and their index, too."""
    lead = 1 if part.batch is None else 2
    total = _INDEX
    for array in (part.t, *part.channels.values()):
        batch, entry = (None, ()) if array is part.t else (part.batch, array.shape[lead:])
        chunk = _chunk(array.dtype, batch, entry)
        axis = 0 if batch is None else 1
        sides = 1 if batch is None else -(-batch // chunk[0])
        steps = len(part.t) // chunk[axis] + 2
        total += sides * steps * (int(np.prod(chunk)) * array.dtype.itemsize + 32)
    if part.is_event_driven:
        steps = {} if part.dense is None else part.dense.steps
        total += 2 * sum(array.nbytes for array in steps.values()) + 2000 * len(part.events)
    return total
