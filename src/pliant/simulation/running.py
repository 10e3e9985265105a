"""Runs: going on for a while, with a log."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.dynamics.flexibility import flexibility_names
from pliant.errors import SimulationError
from pliant.simulation.checks import check, check_callable, check_flexible, is_real, is_whole
from pliant.simulation.log import Log
from pliant.simulation.rollouts import channel_names, roll

if TYPE_CHECKING:
    from pliant.simulation.simulation import Simulation

__all__ = ["run"]

_CHANNELS = ("q", "v", "tau", "forces", "energy", "impulses", "solver", "trouble", "flexibility")

# numbers that a part of a run keeps in memory at most
_MEMORY = 2e7


def run(
    sim: "Simulation",
    duration: float,
    controller: Callable[..., Any] | None,
    u: Any,
    channels: Sequence[str],
    every: int,
) -> Log:
    """`Simulation.run`, where the arguments are told."""
    check("duration", duration, "a time in seconds", is_real(duration) and duration >= 0)
    check("every", every, "1 or more", is_whole(every) and every > 0)
    names = channel_names(channels, _CHANNELS)
    if controller is not None and u is not None:
        raise SimulationError("run takes a controller or constant controls u, not both")
    if controller is not None:
        check_callable("controller", controller, "t", "q", "v")
    period = sim.dt * sim.plan.substeps
    periods = round(float(duration) / period)
    rows, kept = [sim.data.copy()], [0]
    first = sim.time
    if controller is None:
        _run_compiled(sim, periods, u, int(every), rows, kept)
    else:
        for k in range(1, periods + 1):
            sim.step(controller(first + (k - 1) * period, sim.q, sim.v))
            if k % every == 0 or k == periods:
                rows.append(sim.data.copy())
                kept.append(k)
    times = np.array([first + k * period for k in kept])
    return _log(sim, times, np.stack(rows, axis=0 if sim.batch is None else 1), names)


def _run_compiled(sim: "Simulation", periods: int, u: Any, every: int, rows: list, kept: list[int]) -> None:
    """Without a call of Python in between, in parts that fit in memory."""
    given = None if u is None else sim.inputs(u)
    names = tuple(sim.layout.sizes)
    robots = sim.batch or 1
    chunk = max(every, int(_MEMORY / (sim.layout.size * robots)) // every * every)
    done = 0
    while done < periods:
        count = min(chunk, periods - done)
        held = None if given is None else np.repeat(given[..., None, :], count, axis=-2)
        result = roll(sim, sim.data, held, count, names, sim.threads, sim.batch)
        sim.data[...] = result.pop("next")
        whole = np.concatenate([result[name] for name in names], axis=-1)
        for k in range(1, count + 1):
            if (done + k) % every == 0 or done + k == periods:
                rows.append(whole[..., k - 1, :].copy())
                kept.append(done + k)
        done += count
    sim.note_troubles()


def _log(sim: "Simulation", t: np.ndarray, data: np.ndarray, channels: Sequence[str]) -> Log:
    found: dict[str, np.ndarray] = {}
    columns: dict[str, tuple[str, ...]] = {}
    giving = flexibility_names(sim.robot)
    for name in channels:
        if name == "energy":
            for term, values in sim.kernels.energy(data, sim.parameters.data).items():
                found[f"energy.{term}"] = values
        elif name == "flexibility":
            check_flexible(sim.robot)
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
    return Log(t, found, columns, sim.batch, about)
