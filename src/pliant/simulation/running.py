"""Runs: a simulation yields blocks, logs that follow one another in time, and `record` makes one log of them.

The blocks of a `Simulation` are made here, too: what to do in each control period, and the channels of the log.
"""

import math
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.actuation.joint_springs import check_flexible, flexibility_names
from pliant.checks import check, check_callable, is_real
from pliant.compiler import Kernel, kernel_from_function
from pliant.errors import SimulationError, SimulationWarning
from pliant.files.writing import checked_folder
from pliant.progress import Progress
from pliant.recording.log import Log
from pliant.recording.protocol import CHANNELS as DEFAULT_CHANNELS
from pliant.recording.source import Source, plain
from pliant.recording.troubles import plain_troubles
from pliant.signatures import explained
from pliant.simulation.controllers import Controller, given_controls, no_sensors, takes_sensors
from pliant.simulation.model import StepModel
from pliant.simulation.noticing import look, periods_apart, tell, troubles_of
from pliant.simulation.rollout import channel_names, roll
from pliant.simulation.sensing import channel_columns, channel_spans
from pliant.simulation.sensor_stages import by_channel, reading_parts
from pliant.simulation.state import time_of

if TYPE_CHECKING:
    from pliant.simulation.simulation import Simulation

BLOCK = 0.25
"""Wall-clock time that a block takes, about [s]: so often a file grows and progress is shown."""

_CHANNELS = (
    "q", "v", "tau", "u", "forces", "energy", "impulses", "solver", "divergence", "flexibility", "power",
    "contact_memory", "motors", "sensors", "truth",
)  # fmt: skip
_TRUTH = "truth."
# parts of the state that have another name in a log
_PARTS = {"tau": "torques", "contact_memory": "contact memory"}
# numbers that a block keeps in memory at most
_MEMORY = 2e7
# control periods of the first block
_FIRST = 64
# numbers of a log that is read back whole from its file at the end
_MOST = 5e7


@explained
def record(
    blocks: Iterable[Log],
    span: tuple[float, float] = (0.0, 0.0),
    *,
    save: str | os.PathLike[str] | None = None,
    progress: bool | None = False,
) -> Log:
    """Drive a run to its end, and return its log.

    If an error or Ctrl-C ends it, the blocks until then are kept: on file, if there is one, and as the attribute
    ``log`` of the error or `KeyboardInterrupt`, with ``log.is_complete`` False.

    Args:
        blocks: of the run, as the method `blocks` of a simulation gives them.
        span: start and end of the run [s].
        save, progress: as in `Simulation.run`.
    """
    path = None if save is None else checked_folder(save)
    kept: list[Log] = []
    writer: Any = None
    try:
        with Progress(*span, progress) as bar, _heard_interrupts() as check_interrupt:
            for block in blocks:
                check("blocks", block, "logs that follow one another", isinstance(block, Log))
                if path is None:
                    kept.append(block)
                elif writer is None:
                    # files are not needed by most runs, and take time to import
                    from pliant.storage.writing import LogWriter

                    writer, kept = LogWriter(path, block, until=span[1]), [block]
                else:
                    writer.append(block)
                    kept[1:] = [block]
                bar.update(float(block.t[-1]))
                check_interrupt()
        if writer is not None:
            writer.finish()
    except BaseException as error:
        if writer is not None:
            writer.close()
        with suppress(Exception):  # without any block there is no log
            error.log = _joined(kept, writer, is_complete=False)  # type: ignore[attr-defined]
        raise
    return _joined(kept, writer, is_complete=True)


@contextmanager
def _heard_interrupts() -> Iterator[Callable[[], None]]:
    """A function that raises `KeyboardInterrupt` if Ctrl-C was pressed and went unheard.

    Python drops the exception if the signal falls into a callback, as that of a weak reference, from which nothing can
    be raised.
    """
    pressed: list[bool] = []

    def heard() -> None:
        if pressed:
            raise KeyboardInterrupt

    def handler(number: int, frame: Any) -> None:
        pressed.append(True)
        signal.default_int_handler(number, frame)

    # other threads get no signals, and a handler of the user's own is left alone
    is_ours = threading.current_thread() is threading.main_thread()
    is_ours = is_ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_ours:
        signal.signal(signal.SIGINT, handler)
    try:
        yield heard
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _joined(kept: Sequence[Log], writer: Any, *, is_complete: bool) -> Log:
    """The log of all blocks, or the one on file; if that is large, one of so many entries, with a warning."""
    # counts, such as that of the steps, are those of the last block
    first, metadata = kept[0], kept[-1].metadata
    if writer is None:
        return replace(Log.joined(kept), metadata=metadata, is_complete=is_complete)
    from pliant.storage.reading import load_log

    numbers = sum(array.size for array in first.channels.values()) / len(first.t) * writer.rows
    stride = max(1, int(np.ceil(numbers / _MOST)))
    if stride > 1:
        message = f"the log of this run is large: {writer.path} has {writer.rows} entries, of which one in {stride} is "
        message += "returned; pliant.load_log(path, start=, end=) reads others"
        warnings.warn(message, SimulationWarning, stacklevel=4)
    with warnings.catch_warnings():
        # that the run did not end is known
        warnings.simplefilter("ignore", SimulationWarning)
        return replace(load_log(writer.path, stride=stride), source=first.source, metadata=metadata)


def blocks_of(
    sim: "Simulation", duration: float, *, controller: Callable[..., Any] | None = None, u: Any = None,
    commands: Any = None, every: float | None = None, channels: Sequence[str] = DEFAULT_CHANNELS,
    settings: Mapping[str, Any] | None = None,
) -> Iterator[Log]:  # fmt: skip
    """The blocks of a run, with the options of `Simulation.run`; the first has the state at the start alone."""
    check("duration", duration, "a time in seconds, 0 or more", is_real(duration) and duration >= 0)
    check("duration", duration, "less than 2^53 steps", float(duration) / sim.dt < 2**53)
    names = _names(sim, channels)
    if "flexibility" in names:
        check_flexible(sim.robot)
    if "motors" in names and not sim.motor_state:
        problem = f"the motors of robot {sim.robot.name!r} have no state to log"
        cure = "leave 'motors' out, or give them a delay, friction that bends or a winding, see pliant.robot.Motor"
        raise SimulationError(problem, subject="run", field="channels", cure=cure)
    period = sim.dt * sim.plan.substeps
    if every is not None:
        takes = f"a time in seconds, not shorter than the control period of {period:g} s"
        check("every", every, takes, is_real(every) and every >= period * (1 - 1e-9))
    apart = 1 if every is None else round(every / period)
    periods = round(float(duration) / period)
    first = sim.t
    log = _Entries(sim, names, source_of(sim, **dict(settings or {})), first, period)
    given = _inputs(sim, controller, u, commands)
    yield log.start()
    if callable(given):
        most = max(1, int(_MEMORY / sim.data.size))
        yield from in_blocks(_called_periods(sim, periods, given, apart, log), log, most)
    else:
        yield from _compiled_blocks(sim, periods, given, apart, log)
    sim.note_divergences()


def sensor_channels(sim: "Simulation") -> dict[str, slice]:
    """The channels of sensors by name, with those of their truth, and where they are in a state."""
    readers, layout = sim.model.readers, sim.layout
    truth = {f"{_TRUTH}{name}": span for name, span in channel_spans(readers, layout, "truth").items()}
    return channel_spans(readers, layout, "reading") | truth


def _names(sim: "Simulation", channels: Any) -> tuple[str, ...]:
    """The channels of a run; "sensors" and "truth" are all of theirs, and the first are kept by default."""
    own = sensor_channels(sim)
    names = channel_names(channels, (*_CHANNELS, *own))
    names += ("sensors",) if channels is DEFAULT_CHANNELS and own else ()
    groups = {
        "sensors": [name for name in own if not name.startswith(_TRUTH)],
        "truth": [name for name in own if name.startswith(_TRUTH)],
    }
    return tuple(dict.fromkeys(one for name in names for one in groups.get(name, [name])))


def _inputs(sim: "Simulation", controller: Callable[..., Any] | None, u: Any, commands: Any) -> Any:
    """The inputs of a period: a row, None for zeros, or a function (t, q, v) that gives them."""
    own = sim.plan.controller
    given = {"controller": controller, "u": u, "commands": commands}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        problem = f"run has {' and '.join(named)}"
        raise SimulationError(problem, subject="run", field=named[1], cure="give one of them")
    if isinstance(controller, Controller):
        cure = "Simulation(robot, controller=...) compiles it into the step"
        problem = "controller of run is a Controller; it takes a function (t, q, v) -> u"
        raise SimulationError(problem, subject="run", field="controller", cure=cure)
    if controller is not None and takes_sensors(controller):
        if not sim.model.readers:
            raise no_sensors(controller)
        return lambda t, q, v: given_controls(controller(t, sim.sensors), controller, sim.plan.inputs)
    if controller is not None:
        check_callable("controller", controller, "t", "q", "v")
        return lambda t, q, v: given_controls(controller(t, q, v), controller, sim.plan.inputs)
    if u is not None and own is not None:
        cure = "give commands=" if own.commands else "leave it out"
        problem = "u: this simulation has a compiled controller, which gives the controls"
        raise SimulationError(problem, subject="run", field="u", cure=cure)
    if commands is None:
        return None if u is None else sim.inputs(u)
    if own is None or not own.commands:
        cure = "see pliant.Controller"
        problem = "run has commands, but the simulation has no compiled controller that takes any"
        raise SimulationError(problem, subject="run", field="commands", cure=cure)
    if not callable(commands):
        return sim.inputs(commands)
    check_callable("commands", commands, "t")
    return lambda t, q, v: commands(t)


# ---- going on


def in_blocks(periods: Iterable[None], entries: Any, most: float = math.inf) -> Iterator[Log]:
    """The blocks of a run whose entries come one by one, also those that there are when an error ends it.

    Args:
        periods: goes on with the run, a part each time.
        entries: of the run; ``len(entries)`` are there, and ``entries.block()`` takes them out as a log.
        most: entries of a block.
    """
    begun = time.perf_counter()
    try:
        for _ in periods:
            if len(entries) and (len(entries) >= most or time.perf_counter() - begun > BLOCK):
                yield entries.block()
                begun = time.perf_counter()
    except (Exception, KeyboardInterrupt):
        if len(entries):
            yield entries.block()
        raise
    if len(entries):
        yield entries.block()


def _called_periods(
    sim: "Simulation", periods: int, inputs: Callable[..., Any], apart: int, log: "_Entries"
) -> Iterator[None]:
    """With a call of Python in each period."""
    looks = periods_apart(sim)
    for k in range(1, periods + 1):
        given = inputs(log.first + (k - 1) * log.period, sim.q, sim.v)
        before = sim.data.copy() if sim.plan.controller else sim.data
        sim.advance(given)
        if k % apart == 0 or k == periods:
            log.add(k, before, given)
        if k % looks == 0 or k == periods:
            # the log has the trouble already, even if the warning raises
            sim.notice()
        yield


def _compiled_blocks(
    sim: "Simulation", periods: int, given: np.ndarray | None, apart: int, log: "_Entries"
) -> Iterator[Log]:
    """Without a call of Python in between, in parts that fit in memory."""
    most = max(1, int(_MEMORY / sim.data.size))
    chunk, done, looks = min(most, _FIRST), 0, periods_apart(sim, is_called=False)
    while done < periods:
        begun = time.perf_counter()
        count = min(chunk, periods - done)
        held = None if given is None else np.repeat(given[..., None, :], count, axis=-2)
        with sim.moving:
            result = roll(sim, sim.data, held, count, ("state",), sim.threads, sim.batch)
            start = sim.data[..., None, :].copy()
            sim.data[...], whole = result["next"], result["state"]
        # at multiples of a number of periods, and at the end
        seen = [k - 1 for k in range(looks - done % looks, count + 1, looks)]
        seen += [count - 1] if done + count == periods and count - 1 not in seen else []
        if seen:
            look(sim, whole.reshape(-1, count, sim.layout.size)[:, seen])
        kept = [k for k in range(1, count + 1) if (done + k) % apart == 0 or done + k == periods]
        if kept:
            u = None
            if "u" in log.names:
                before = np.concatenate([start, whole], axis=-2)[..., [k - 1 for k in kept], :]
                lead = before.shape[:-1]
                row = np.zeros(sim.plan.inputs) if given is None else given[..., None, :]
                u = log.controls(before, np.broadcast_to(row, (*lead, sim.plan.inputs)))
            yield log.of([done + k for k in kept], whole[..., [k - 1 for k in kept], :], u)
        tell(sim)
        done += count
        faster = min(8.0, BLOCK / max(time.perf_counter() - begun, 1e-6))
        chunk = min(most, max(1, round(count * faster)))


# ---- what is kept


@dataclass
class _Entries:
    """Makes logs of states: channels by name, ``first`` the time at the start and ``period`` that of an entry [s]."""

    sim: "Simulation"
    names: Sequence[str]
    source: Source
    first: float
    period: float
    _before: np.ndarray | None = None
    _added: list[tuple[int, np.ndarray, np.ndarray | None]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._added)

    def add(self, k: int, before: np.ndarray, given: Any) -> None:
        """Keep the state after period k; ``before`` is the one that a compiled controller saw, with its inputs."""
        u = None
        if "u" in self.names:
            zeros = np.zeros((*before.shape[:-1], self.sim.plan.inputs))
            u = self.controls(before, zeros if given is None else self.sim.inputs(given))
        self._added.append((k, self.sim.data.copy(), u))

    def block(self) -> Log:
        """The log of the states that were added."""
        numbers, rows, u = zip(*self._added, strict=True)
        self._added = []
        axis = 0 if self.sim.batch is None else 1
        return self.of(numbers, np.stack(rows, axis=axis), np.stack(u, axis=axis) if "u" in self.names else None)

    def start(self) -> Log:
        """The block of the state at the start; no controls have acted yet."""
        data = np.expand_dims(self.sim.data.copy(), 0 if self.sim.batch is None else 1)
        return self.of([0], data, np.zeros((*data.shape[:-1], self.sim.robot.nu)))

    def of(self, numbers: Sequence[int], data: np.ndarray, u: np.ndarray | None) -> Log:
        """The block of states (..., times, size) after periods of these numbers, and controls u in these, if kept."""
        sim, robot = self.sim, self.sim.robot
        t = np.array([self.first + k * self.period for k in numbers])
        data = np.ascontiguousarray(data)
        found: dict[str, np.ndarray] = {}
        columns: dict[str, tuple[str, ...]] = {}
        for name in self.names:
            if name == "energy":
                for term, values in sim.kernels.energy(data, sim.parameters.data).items():
                    found[f"energy.{term}"] = values
            elif name == "power":
                # the mean of a step takes its start, too
                longer = data if self._before is None else np.concatenate([self._before, data], axis=-2)
                for term, values in sim.kernels.power(longer, sim.parameters.data).items():
                    found[f"power.{term}"] = values[..., -len(t) :]
            elif name == "flexibility":
                state = sim.kernels.flexibility(data, sim.parameters.data)
                for part, values in state._asdict().items():
                    found[part] = values
                    is_of_motor = "position" in part or "velocity" in part
                    columns[part] = tuple(robot.motors) if is_of_motor else flexibility_names(robot)
            elif name == "motors":
                layout = sim.plan.model.motor_memory
                for part, values in layout.shown(data[..., sim.layout.span("motor memory")]).items():
                    found[f"motors.{part}"] = values
                    columns[f"motors.{part}"] = layout.motors(part)
            elif name == "forces":
                found["forces"] = sim.forces_of(data).reshape(*data.shape[:-1], 3 * len(sim.contact_names))
            elif name == "u" and u is not None:
                found["u"] = u
            elif name in self._channels:
                found[name] = data[..., self._channels[name]]
                columns[name] = channel_columns(sim.model.readers)[name.removeprefix(_TRUTH)]
            else:
                found[name] = data[..., sim.layout.span(_PARTS.get(name, name))]
            if name == "contact_memory":
                labels = sim.model.memory.labels
                columns[name] = tuple(f"{touch}.{label}" for touch in sim.model.touch_labels for label in labels)
        about = {"robot": robot.name, "dt": sim.dt, "substeps": sim.plan.substeps,
                 "integrator": sim.plan.integrator, "precision": sim.precision}  # fmt: skip
        troubles = troubles_of(sim)
        about |= {"troubles": plain_troubles(troubles)} if troubles else {}
        self._before = data[..., -1:, :]
        return Log(t, found, columns_of(sim, found) | columns, sim.batch, about, self.source)

    @cached_property
    def _channels(self) -> dict[str, slice]:
        return sensor_channels(self.sim)

    def controls(self, before: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """Controls of periods, from the states (..., size) before them and their inputs (..., n)."""
        if self.sim.plan.controller is None:
            return np.array(inputs, dtype=float)
        lead, layout = before.shape[:-1], self.sim.layout
        parts = [before[..., layout.span(name)] for name in self._seen]
        rows = np.concatenate([*parts, inputs], axis=-1).astype(float)
        return self._controls(np.ascontiguousarray(rows.reshape(-1, rows.shape[-1]))).reshape(*lead, -1)

    @property
    def _seen(self) -> list[str]:
        """The parts of the state that a compiled controller sees."""
        return ["clock", "q", "v", "memory", *reading_parts(self.sim.model, self.sim.plan.controller)]

    @cached_property
    def _controls(self) -> Kernel:
        sim = self.sim
        controller = sim.plan.controller
        assert controller is not None
        sizes = [*(sim.layout.sizes[name] for name in self._seen), sim.plan.inputs]
        ends = np.cumsum(sizes).tolist()

        def run(row: Any) -> list[Any]:
            clock, q, v, memory, *readings, command = (row[b - n : b] for b, n in zip(ends, sizes, strict=True))
            sensors = by_channel(sim.model.readers, readings)
            return controller(sim.robot, time_of(clock, sim.dt), q, v, command, memory, sensors)[0]

        return kernel_from_function(run, {"row": (sum(sizes),)}, name="controls")


def columns_of(sim: Any, channels: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Names of the columns of those channels that both simulations have."""
    robot, motors = sim.robot, tuple(sim.robot.motors)
    known = {"q": robot.coordinate_names, "v": robot.velocity_names, "tau": motors, "u": motors,
             "forces": tuple(f"{contact}.{axis}" for contact in sim.contact_names for axis in "xyz")}  # fmt: skip
    return {name: known[name] for name in channels if name in known}


def source_with(sim: Any, model: StepModel, settings: Mapping[str, Any]) -> Source:
    """The source of a log, from what both simulations have and the settings of one."""
    own = {"simulation": type(sim).__name__, "contact": model.contact, "forces": (*model.forces, *model.disturbances)}
    own |= {"limits": model.has_limits, "coriolis": model.coriolis}
    return Source(sim.robot, model.ground, tuple(sim.contact_names), plain(own | dict(settings)))


def source_of(sim: "Simulation", **more: Any) -> Source:
    """The source of a log of the simulation; ``more`` are settings of the run."""
    plan, varied = sim.plan, sim.parameters
    settings = {
        "dt": sim.dt, "substeps": plan.substeps, "integrator": plan.integrator, "precision": sim.precision,
        "batch": sim.batch, "threads": sim.threads, "rtol": plan.control.rtol, "atol": plan.control.atol,
        "held": list(sim.model.held), "controller": plan.controller,
        "parameters": {path: varied[path] for path in varied}, **more,
    }  # fmt: skip
    return source_with(sim, sim.model, settings)
