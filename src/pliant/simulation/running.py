"""Runs: going on for a while, with a log, in memory or on file."""

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.actuation.flexibility import check_flexible, flexibility_names
from pliant.checks import check, check_callable, is_real, is_whole
from pliant.errors import SimulationError, SimulationWarning
from pliant.progress import Progress
from pliant.recording.log import Log
from pliant.recording.source import Source, plain
from pliant.simulation.rollout import channel_names, roll

if TYPE_CHECKING:
    from pliant.simulation.simulation import Simulation

__all__ = ["read_back", "run", "source_of"]

_CHANNELS = ("q", "v", "tau", "forces", "energy", "impulses", "solver", "divergence", "flexibility", "power")

# numbers that a part of a run keeps in memory at most
_MEMORY = 2e7
# time that a part takes of a run that goes to a file, or shows how far it is [s]
_PART = 0.25
# numbers of a log that is read back from its file at the end
_MOST = 5e7


def run(
    sim: "Simulation",
    duration: float,
    controller: Callable[..., Any] | None,
    u: Any,
    channels: Sequence[str],
    every: int,
    save: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Log:
    """`Simulation.run`, where the arguments are told.

    An error on the way, such as the controller's, has what there was until then as its attribute ``log``.
    """
    check("duration", duration, "a time in seconds", is_real(duration) and duration >= 0)
    check("every", every, "1 or more", is_whole(every) and every > 0)
    names = channel_names(channels, _CHANNELS)
    if "flexibility" in names:
        check_flexible(sim.robot)
    if controller is not None and u is not None:
        raise SimulationError("run takes a controller or constant controls u, not both")
    if controller is not None:
        check_callable("controller", controller, "t", "q", "v")
    period = sim.dt * sim.plan.substeps
    periods = round(float(duration) / period)
    first = sim.time
    until = first + periods * period
    source = source_of(sim, **dict(settings or {}))
    with Progress(first, until, progress) as shown:
        is_paced = save is not None or shown.is_shown
        blocks = (
            _compiled_blocks(sim, periods, u, int(every), is_paced)
            if controller is None
            else _called_blocks(sim, periods, controller, int(every), is_paced, first)
        )

        def timed() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for kept, rows in blocks:
                times = np.array([first + k * period for k in kept])
                yield times, rows
                shown.update(float(times[-1]))

        if save is not None:
            return _saved(sim, timed(), names, source, save, until)
        found: list[tuple[np.ndarray, np.ndarray]] = []
        try:
            found.extend(timed())
        except Exception as error:
            if found:
                with suppress(Exception):  # there is another error on its way
                    error.log = _joined(sim, found, names, source)  # type: ignore[attr-defined]
            raise
    return _joined(sim, found, names, source)


def _joined(
    sim: "Simulation", found: Sequence[tuple[np.ndarray, np.ndarray]], names: Sequence[str], source: Source
) -> Log:
    times, parts = zip(*found, strict=True)
    data = np.concatenate(parts, axis=0 if sim.batch is None else 1)
    return _log(sim, np.concatenate(times), data, names, source)


# ---- going on

Block = tuple[list[int], np.ndarray]


def _called_blocks(
    sim: "Simulation", periods: int, controller: Callable[..., Any], every: int, is_paced: bool, first: float
) -> Iterator[Block]:
    """With a call of the controller in each period; what a block holds: numbers of periods, and states then."""
    axis = 0 if sim.batch is None else 1
    period = sim.dt * sim.plan.substeps
    yield [0], np.expand_dims(sim.data.copy(), axis)
    rows, kept = [], []
    most = max(1, int(_MEMORY / sim.data.size))
    begun = time.perf_counter()
    try:
        for k in range(1, periods + 1):
            sim.step(controller(first + (k - 1) * period, sim.q, sim.v))
            if k % every == 0 or k == periods:
                rows.append(sim.data.copy())
                kept.append(k)
            if rows and (len(rows) >= most or (is_paced and time.perf_counter() - begun > _PART)):
                yield kept, np.stack(rows, axis=axis)
                rows, kept, begun = [], [], time.perf_counter()
    except (Exception, KeyboardInterrupt):
        # a file gets what there was until then
        if rows:
            yield kept, np.stack(rows, axis=axis)
        raise
    if rows:
        yield kept, np.stack(rows, axis=axis)


def _compiled_blocks(sim: "Simulation", periods: int, u: Any, every: int, is_paced: bool) -> Iterator[Block]:
    """Without a call of Python in between, in parts that fit in memory."""
    given = None if u is None else sim.inputs(u)
    yield [0], np.expand_dims(sim.data.copy(), 0 if sim.batch is None else 1)
    names = tuple(sim.layout.sizes)
    most = max(1, int(_MEMORY / sim.data.size))
    chunk = min(most, 16) if is_paced else most
    done = 0
    while done < periods:
        begun = time.perf_counter()
        count = min(chunk, periods - done)
        held = None if given is None else np.repeat(given[..., None, :], count, axis=-2)
        result = roll(sim, sim.data, held, count, names, sim.threads, sim.batch)
        sim.data[...] = result.pop("next")
        whole = np.concatenate([result[name] for name in names], axis=-1)
        kept = [k for k in range(1, count + 1) if (done + k) % every == 0 or done + k == periods]
        if kept:
            yield [done + k for k in kept], whole[..., [k - 1 for k in kept], :]
        done += count
        if is_paced:
            faster = min(8.0, _PART / max(time.perf_counter() - begun, 1e-6))
            chunk = min(most, max(1, round(count * faster)))
    sim.note_divergences()


# ---- what is kept


def _saved(
    sim: "Simulation",
    blocks: Iterator[tuple[np.ndarray, np.ndarray]],
    names: Sequence[str],
    source: Source,
    path: str | os.PathLike[str],
    until: float,
) -> Log:
    """Each block on file as it comes; the log is what is read back at the end."""
    import_module("pliant.files.writing").checked_folder(path)  # before anything is compiled
    t, data = next(blocks)
    begin = _log(sim, t, data, names, source)
    with import_module("pliant.storage.writing").LogWriter(path, begin, until=until) as writer:
        before = data[..., -1:, :]
        for t, data in blocks:
            writer.append(_log(sim, t, data, names, source, before))
            before = data[..., -1:, :]
        writer.finish()
    return replace(read_back(path, writer.rows, begin, stacklevel=5), source=source)


def read_back(path: str | os.PathLike[str], rows: int, begin: Log, stacklevel: int) -> Log:
    """The log of a run that is on file; if it is large, every so many-th entry, with a warning.

    Args:
        rows: entries on file.
        begin: the part with which it begins.
        stacklevel: of the warning.
    """
    numbers = sum(array.size for array in begin.channels.values()) / len(begin.t) * rows
    every = max(1, int(np.ceil(numbers / _MOST)))
    if every > 1:
        warnings.warn(
            f"the log of this run is large: {os.fspath(path)} has {rows} entries, of which every {every}th is "
            "returned; pliant.load_log(path, start=, end=) reads others",
            SimulationWarning,
            stacklevel=stacklevel,
        )
    return import_module("pliant.storage.reading").load_log(path, every=every)


def _log(
    sim: "Simulation",
    t: np.ndarray,
    data: np.ndarray,
    channels: Sequence[str],
    source: Source,
    before: np.ndarray | None = None,
) -> Log:
    """The log of states (..., times, size); ``before`` is the one before the first, if there is one."""
    found: dict[str, np.ndarray] = {}
    columns: dict[str, tuple[str, ...]] = {}
    giving = flexibility_names(sim.robot)
    data = np.ascontiguousarray(data)
    for name in channels:
        if name == "energy":
            for term, values in sim.kernels.energy(data, sim.parameters.data).items():
                found[f"energy.{term}"] = values
        elif name == "power":
            # the mean of a step takes its start, too
            longer = data if before is None else np.concatenate([before, data], axis=-2)
            for term, values in sim.kernels.power(longer, sim.parameters.data).items():
                found[f"power.{term}"] = values[..., -len(t) :]
        elif name == "flexibility":
            state = sim.kernels.flexibility(data, sim.parameters.data)
            for part, values in state._asdict().items():
                found[part] = values
                columns[part] = tuple(sim.robot.motors) if "position" in part or "velocity" in part else giving
        elif name == "forces":
            forces = sim.forces_of(data)
            found["forces"] = forces.reshape(*data.shape[:-1], 3 * len(sim.contact_names))
            columns["forces"] = tuple(f"{c}.{axis}" for c in sim.contact_names for axis in "xyz")
        else:
            found[name] = data[..., sim.layout.span({"tau": "torques"}.get(name, name))]
    robot = sim.robot
    names = {"q": robot.coordinate_names, "v": robot.velocity_names, "tau": tuple(robot.motors)}
    columns |= {name: names[name] for name in names if name in found}
    about = {"robot": robot.name, "dt": sim.dt, "substeps": sim.plan.substeps,
             "integrator": sim.plan.integrator, "precision": sim.precision}  # fmt: skip
    return Log(t, found, columns, sim.batch, about, source)


def source_of(sim: "Simulation", **more: Any) -> Source:
    """What a log of the simulation comes from.

    Args:
        more: settings of the run.
    """
    model, plan, varied = sim.model, sim.plan, sim.parameters
    settings = {
        "simulation": type(sim).__name__, "dt": sim.dt, "substeps": plan.substeps, "integrator": plan.integrator,
        "contact": model.contact, "forces": model.forces, "limits": model.has_limits, "precision": sim.precision,
        "batch": sim.batch, "threads": sim.threads, "rtol": plan.control.rtol, "atol": plan.control.atol,
        "controller": plan.controller, "parameters": {path: varied[path] for path in varied}, **more,
    }  # fmt: skip
    return Source(sim.robot, model.ground, tuple(sim.contact_names), plain(settings))
