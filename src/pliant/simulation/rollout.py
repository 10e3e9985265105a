"""Rollouts: many control periods of many robots in one native call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant.checks import check, check_known, is_whole, numbers
from pliant.errors import SimulationError
from pliant.robot import Robot
from pliant.signatures import explained
from pliant.simulation.noticing import look_at_rollout
from pliant.simulation.sensing import begun
from pliant.simulation.state import State

if TYPE_CHECKING:
    from pliant.simulation.simulation import Simulation


@explained
@dataclass(frozen=True)
class Rollout:
    """Parts of the state after each control period, and the whole state at the end.

        result.q                 # (batch, periods, nq)
        result["impulses"]       # if it was among the channels

    Attributes:
        state: of all robots at the end; go on with ``sim.rollout(result.state, ...)``.
        channels: arrays by name.
        robot: of whom.
    """

    state: State
    channels: Mapping[str, np.ndarray]
    robot: Robot

    def __getitem__(self, name: str) -> np.ndarray:
        check_known("channel", name, self.channels, "the rollout", error=SimulationError)
        return self.channels[name]

    @property
    def q(self) -> np.ndarray:
        """Configurations."""
        return self["q"]

    @property
    def v(self) -> np.ndarray:
        """Velocities."""
        return self["v"]

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in self.channels.items())
        return f"Rollout of {self.robot.name!r}: {shapes}"


def rollout(
    sim: "Simulation", states: Any, controls: Any, periods: int | None, channels: Sequence[str],
    out: Mapping[str, np.ndarray] | None, threads: int | None,
) -> Rollout:  # fmt: skip
    """`Simulation.rollout`, which documents the arguments."""
    threads = sim.threads if threads is None else threads
    check("threads", threads, "1 or more", is_whole(threads) and threads > 0)
    work = asked(sim, states, controls, periods, channels)
    found = roll(sim, work.start, work.controls, work.periods, work.names, int(threads), work.robots, out)
    return rolled(sim, found, work.periods)


class Work(NamedTuple):
    """What a rollout has to do: arguments of `roll`."""

    start: np.ndarray
    controls: np.ndarray | None
    periods: int
    names: tuple[str, ...]
    robots: int | None


def asked(sim: "Simulation", states: Any, controls: Any, periods: int | None, channels: Sequence[str]) -> Work:
    """The work that a user asks for, checked."""
    check("periods", periods, "None, or 0 or more", periods is None or (is_whole(periods) and periods >= 0))
    names = channel_names(channels, sim.layout.sizes, "the state")
    start = _start(sim, states)
    given, count = _controls(sim, controls, periods)
    return Work(start, given, count, names, _robots(sim, start, given))


def rolled(sim: "Simulation", found: dict[str, np.ndarray], periods: int) -> Rollout:
    """The result of what `roll` has found; warns of troubles if a look is due."""
    if sim.is_look_due(periods):
        look_at_rollout(sim, found["next"])
    return Rollout(State(found.pop("next"), sim.layout), found, sim.robot)


def channel_names(channels: Any, valid: Mapping[str, Any] | Sequence[str], owner: str = "") -> tuple[str, ...]:
    """Names of channels, each once."""
    if isinstance(channels, str):
        cure = f"give a list of names, as in [{channels!r}]"
        raise SimulationError(f"channels is the text {channels!r}", field="channels", cure=cure)
    check("channels", channels, "a list of names", isinstance(channels, Sequence | set | frozenset | dict))
    for name in channels:
        check_known("channel", name, valid, owner, error=SimulationError)
    return tuple(dict.fromkeys(channels))


def roll(
    sim: "Simulation", start: np.ndarray, controls: np.ndarray | None, periods: int, names: tuple[str, ...],
    threads: int, robots: int | None, out: Mapping[str, np.ndarray] | None = None,
    parameters: np.ndarray | None = None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """The channels of so many periods, and the state at the end as "next".

    Args:
        start: (size,) or (robots, size).
        controls: (periods, n), (robots, periods, n), or None for zero.
        names: of the channels; "state" for the whole state.
        robots: how many, None for one without a batch axis.
        parameters: of the robots; None for those of the simulation.
    """
    values = sim.parameters.data if parameters is None else parameters
    if values.ndim == 2 and values.shape[0] != robots:
        values = values[0]  # there are none: the numbers of robots have been compared
    n, lead = sim.plan.inputs, () if robots is None else (robots,)
    given = np.zeros((periods, n), sim.dtype) if controls is None else np.ascontiguousarray(controls, sim.dtype)
    found = room_for(sim, names, robots, periods, out)
    end = np.empty((*lead, sim.layout.size), sim.dtype)
    sim.kernels.advance(start, given, values, end, found, periods=periods, threads=threads)
    return {**found, "next": end}


def room_for(
    sim: "Simulation", names: tuple[str, ...], robots: int | None, periods: int, out: Mapping[str, np.ndarray] | None
) -> dict[str, np.ndarray]:
    """Arrays for channels: those of the user, checked, and new ones for the others."""
    if out is not None:
        _check_outputs(sim, names, out, robots, periods)
    own, sizes = out or {}, {"state": sim.layout.size, **sim.layout.sizes}
    lead = () if robots is None else (robots,)
    return {name: own[name] if name in own else np.empty((*lead, periods, sizes[name]), sim.dtype) for name in names}


def _start(sim: "Simulation", states: Any) -> np.ndarray:
    """The rows of the states to begin with."""
    if states is None:
        return sim.data
    if isinstance(states, State):
        states.check_layout(sim.layout)
        return np.ascontiguousarray(states.data, sim.dtype)
    if not isinstance(states, tuple | list) or len(states) != 2:
        cure = "give a State, arrays (q, v), or None"
        raise SimulationError(f"states is a {type(states).__name__}", field="states", cure=cure)
    q, v = (numbers(name, x) for name, x in zip("qv", states, strict=True))
    try:
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    except ValueError:
        problem = f"states: q has shape {q.shape} and v {v.shape}"
        cure = "give both for the same robots, or one for all"
        raise SimulationError(problem, field="states", cure=cure) from None
    check("states", states, "(nq,) or (batch, nq), and (nv,) or (batch, nv)", len(lead) < 2)
    return begun(sim, lead, q, v)


def _controls(sim: "Simulation", controls: Any, periods: int | None) -> tuple[np.ndarray | None, int]:
    """The controls as an array, if there are any, and the number of periods."""
    if controls is None:
        if periods is None:
            cure = "give them, or the number of periods"
            raise SimulationError("rollout has no controls", field="controls", cure=cure)
        return None, int(periods)
    given, n = numbers("controls", controls, sim.dtype), sim.plan.inputs
    if given.ndim not in (2, 3) or given.shape[-1] != n:
        cure = f"they take (periods, {n}) or (batch, periods, {n})"
        raise SimulationError(f"controls have shape {given.shape}", field="controls", cure=cure)
    if periods not in (None, given.shape[-2]):
        problem = f"controls have {given.shape[-2]} periods, but periods is {periods}"
        raise SimulationError(problem, field="periods", cure="leave periods out")
    return given, given.shape[-2]


def _robots(sim: "Simulation", start: np.ndarray, controls: np.ndarray | None) -> int | None:
    """How many robots states, controls and parameters agree on; None for one without a batch axis."""
    robots = start.shape[0] if start.ndim == 2 else None
    if controls is not None and controls.ndim == 3:
        if robots not in (None, controls.shape[0]):
            problem = f"the states are of {robots} robots, the controls of {controls.shape[0]}"
            raise SimulationError(problem, field="controls", cure="give both the same batch, or one of them without")
        robots = controls.shape[0]
    values = sim.parameters.data
    if values.ndim == 2 and values.shape[1] and values.shape[0] != robots:
        problem = f"the parameters are of {values.shape[0]} robots, the rollout has {1 if robots is None else robots}"
        raise SimulationError(problem, field="states", cure="give states of as many robots")
    return robots


def _bad_output(channel: str, problem: str, cure: str) -> SimulationError:
    subject = f"out for channel {channel!r}"
    return SimulationError(f"{subject} {problem}", subject=subject, field="out", cure=cure)


def _check_outputs(sim: "Simulation", names: tuple[str, ...], out: Any, robots: int | None, periods: int) -> None:
    """Raise unless the user's arrays can take their channels."""
    check("out", out, "arrays by the names of channels, as in {'q': array}", isinstance(out, Mapping))
    lead = () if robots is None else (robots,)
    for name, array in out.items():
        check_known("channel", name, names, "the rollout's out", error=SimulationError)
        shape = (*lead, periods, sim.layout.sizes[name])
        if not isinstance(array, np.ndarray):
            raise _bad_output(name, f"is a {type(array).__name__}", "it takes a NumPy array")
        if array.shape != shape or array.dtype != sim.dtype:
            cure = f"this rollout makes {shape} of {sim.dtype}"
            raise _bad_output(name, f"has shape {array.shape} and type {array.dtype}", cure)
        row = array[0] if robots else array  # robots themselves may lie anywhere
        if not (array.flags.writeable and array.flags.aligned and row.flags.c_contiguous):
            raise _bad_output(name, "is read-only or not in C order", "make it with numpy.empty")
        if np.may_share_memory(array, sim.data):
            raise _bad_output(name, "shares its memory with the state", "make it with numpy.empty")
