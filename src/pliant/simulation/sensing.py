"""Where a simulation begins, and its sensors as users see them: states, seeds, and readings by name."""

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.chance import keys_of, next_key
from pliant.checks import check_known
from pliant.errors import SimulationError, SimulationWarning
from pliant.sensors.readings import Reader, rounding_notes
from pliant.simulation.sensor_stages import part_of
from pliant.simulation.state import State, StateLayout, configurations, level_of_caller, set_clock, velocities

if TYPE_CHECKING:
    from pliant.simulation.simulation import Simulation


class Readings(Mapping[str, np.ndarray]):
    """What sensors read, by channel, such as "imu.gyro": (n,) or (batch, n), copies.

    Attributes:
        data: numbers of states, (..., size).
    """

    def __init__(self, readers: list[Reader], layout: StateLayout, data: np.ndarray, what: str = "reading"):
        self._spans: dict[str, slice] = channel_spans(readers, layout, what)
        self.data = data

    def __getitem__(self, channel: str) -> np.ndarray:
        check_known("channel", channel, self._spans, "the sensors", error=SimulationError)
        return self.data[..., self._spans[channel]].copy()

    def __contains__(self, channel: object) -> bool:
        return channel in self._spans

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)

    def __repr__(self) -> str:
        return f"sensors: {', '.join(f'{name} {self[name].shape}' for name in self) or 'none'}"


def channel_spans(readers: list[Reader], layout: StateLayout, what: str) -> dict[str, slice]:
    """Where in a state each channel is: of "reading" or "truth"."""
    found = {}
    for reader in readers:
        start = layout.span(part_of(reader, what)).start
        for channel, span in reader.spans.items():
            found[f"{reader.name}.{channel}"] = slice(start + span.start, start + span.stop)
    return found


def channel_columns(readers: list[Reader]) -> dict[str, tuple[str, ...]]:
    """Names of the columns of each channel."""
    return {f"{r.name}.{channel}": r.sensor.columns(channel) for r in readers for channel in r.sensor.channels}


def tell_rounding(sim: "Simulation") -> None:
    """Warn of sensors whose times are not whole steps, and how they are rounded."""
    notes = [note for reader in sim.model.readers for note in rounding_notes(reader.sensor, sim.dt)]
    for note in notes:
        warnings.warn(note, SimulationWarning, stacklevel=level_of_caller())


def keys_after(sim: "Simulation", robots: Any, seed: int | None) -> np.ndarray | None:
    """The keys of robots that are reset, (n, size) or (size,): of a seed, or those that follow the ones they have.

    Args:
        robots: indices, or None for all.
    """
    if not sim.layout.sizes["chance"]:
        return None
    numbers = np.arange(sim.batch or 1) if robots is None else np.asarray(robots)
    if seed is None:
        now = sim.data.reshape(-1, sim.layout.size)[numbers][:, sim.layout.span("chance")].astype(float)
        keys = np.stack(next_key(list(now.T)), axis=-1)
    else:
        keys = keys_of(seed, sim.first + numbers)
    return keys[0] if sim.batch is None else keys


def begun(
    sim: "Simulation", lead: tuple[int, ...], q: Any = None, v: Any = None, t: float = 0,
    keys: np.ndarray | None = None, robots: Any = None,
) -> np.ndarray:  # fmt: skip
    """The numbers of states that begin here, (*lead, size), with sensors just turned on.

    Args:
        q, v, t: as for `Simulation.reset`.
        keys: of the robots' random numbers; by default those of the simulation's seed.
        robots: their indices, if they are some of the simulation's.
    """
    data, model = np.zeros((*lead, sim.layout.size), sim.dtype), sim.model
    state, robot = State(data, sim.layout), sim.robot
    q, v = robot.neutral() if q is None else q, np.zeros(robot.nv) if v is None else v
    state.q[...] = configurations(robot, q, state.q.shape, sim.precision)
    state.v[...] = velocities(robot, v, state.v.shape)
    set_clock(state.part("clock"), round(t / sim.dt))
    if sim.plan.controller:
        state.part("memory")[...] = np.asarray(sim.plan.controller.memory, dtype=float)
    state.part("contact memory")[...] = np.array(model.memory.stored * len(model.touch_names), dtype=float)
    state.part("motor memory")[...] = sim.plan.model.motor_memory.initial(robot, state.q)
    state.part("anchors")[...] = model.holds.anchored(state.q)
    return _turned_on(sim, data, keys, robots)


def _turned_on(sim: "Simulation", data: np.ndarray, keys: np.ndarray | None, robots: Any) -> np.ndarray:
    """The same with the sensors of robots of these keys just turned on."""
    if not (sim.model.readers or sim.model.disturbances):
        return data
    if sim.layout.sizes["chance"]:
        lead = data.shape[:-1]
        if keys is None:
            keys = keys_of(sim.seed, sim.first + np.arange(int(np.prod(lead)))).reshape(*lead, -1)
        data[..., sim.layout.span("chance")] = keys
    parameters = sim.parameters.data
    if parameters.ndim == 2 and robots is not None:
        parameters = parameters[robots]
    return sim.kernels.turn_on(data, parameters)
