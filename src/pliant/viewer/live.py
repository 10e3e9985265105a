"""A simulation in the browser while it runs: push the robot, change gains, pause, reset."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import SimulationError
from pliant.events.simulation import EventSimulation
from pliant.plots.column_groups import column_groups
from pliant.render.drawing import DETAIL
from pliant.simulation import Simulation
from pliant.simulation.running import source_of
from pliant.viewer.page import Viewer, closing_on_error, nice, opened, served
from pliant.viewer.panels import show_panel
from pliant.viewer.recording import checked_number, chosen_robots
from pliant.viewer.runner import Runner
from pliant.viewer.scene import Scene, check_marks
from pliant.viewer.side_plots import rolling_plot

__all__ = ["live"]

DIRECTIONS = {"+x": (1, 0, 0), "-x": (-1, 0, 0), "+y": (0, 1, 0), "-y": (0, -1, 0), "+z": (0, 0, 1), "-z": (0, 0, -1)}
SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x")


def live(
    sim: Simulation,
    controller: Callable[..., Any] | None = None,
    *,
    gains: Mapping[str, Any] | None = None,
    robots: int | slice | Sequence[int] | None = None,
    layout: str = "grid",
    show: str | Iterable[str] = (),
    follow: bool | None = True,
    play: bool = True,
    speed: float = 1.0,
    port: int = 8080,
    host: str = "127.0.0.1",
    block: bool | None = None,
    browser: bool = False,
    detail: int = DETAIL,
    packages: str | Path | Iterable[str | Path] = (),
) -> Viewer:
    """Run a simulation in real time in the browser: `Simulation.view`, which has the arguments."""
    if isinstance(sim, EventSimulation):
        raise SimulationError(
            "live: a EventSimulation goes from event to event and cannot be pushed in between; "
            "use a pliant.Simulation with RigidContact, or run it first and look at the log: sim.run(2.0).view()"
        )
    if not isinstance(sim, Simulation):
        raise SimulationError(f"live takes a Simulation first, not {type(sim).__name__}; see pliant.Simulation")
    if controller is not None and not callable(controller):
        raise SimulationError(f"live: controller is {controller!r}; it takes a function (t, q, v) -> u")
    ranges = {name: _range(name, value) for name, value in (gains or {}).items()}
    if ranges and controller is None:
        raise SimulationError("live: gains are for a controller; give one that takes them by name")
    speed = checked_number("live", "speed", speed, above=0)
    indices = chosen_robots(sim.batch, robots, "live")
    marks = check_marks(show)
    viewer = served("live", port=port, host=host, label=f"Pliant: {sim.robot.name}, live")
    with closing_on_error(viewer):
        q = _rows(sim, np.asarray(sim.q, dtype=float), indices)[:, None]
        scene = Scene(viewer.server, source_of(sim), q, layout=layout, show=marks, follow=follow, detail=detail,
                      packages=packages)  # fmt: skip
        names = sim.contact_names
        wanted = [names.index(p.name) if p.name in names else -1 for p in sim.robot.contact_points]

        def draw(sim: Simulation) -> None:
            forces = None
            if wanted:
                found = _rows(sim, np.asarray(sim.contact_forces, dtype=float), indices)
                empty = np.zeros((*found.shape[:-2], 1, 3))
                forces = np.concatenate([found, empty], axis=-2)[..., wanted, :]
            scene.draw(_rows(sim, np.asarray(sim.q, dtype=float), indices), forces)

        runner = viewer.player = Runner(sim, controller, {n: first for n, (_, _, first) in ranges.items()}, draw)
        runner.is_playing, runner.speed = bool(play), speed
        _run_panel(viewer.server, runner)
        _push_panel(viewer.server, runner, scene.size)
        _gain_panel(viewer.server, runner, ranges)
        _plot_panel(viewer.server, runner, indices[0])
        show_panel(viewer.server, scene)
        viewer.at_end(runner.stop)
        draw(sim)
        runner.start()
    return opened(viewer, port, block, browser)


def _rows(sim: Simulation, array: np.ndarray, indices: list[int]) -> np.ndarray:
    return array[None] if sim.batch is None else array[indices]


def _range(name: str, value: Any) -> tuple[float, float, float]:
    try:
        numbers = [float(x) for x in (value if isinstance(value, tuple | list) else [value])]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) == 1 and math.isfinite(numbers[0]):
        return _around(numbers[0])
    if len(numbers) != 3 or not numbers[0] <= numbers[2] <= numbers[1] or numbers[0] == numbers[1]:
        raise SimulationError(f"live: gain {name!r} is {value!r}; it takes a number, or (lowest, highest, first)")
    low, high, first = numbers
    return low, high, first


def _around(value: float) -> tuple[float, float, float]:
    """A range for a slider that says nothing of its own: from zero to three times the value."""
    if value == 0:
        return -1.0, 1.0, 0.0
    return min(0.0, 3 * value), max(0.0, 3 * value), value


def _run_panel(server: Any, runner: Runner) -> None:
    gui = server.gui
    with gui.add_folder("Simulation"):
        play = gui.add_button("Pause" if runner.is_playing else "Run")
        step = gui.add_button("Step")
        reset = gui.add_button("Reset")
        speed = gui.add_dropdown("speed", SPEEDS, initial_value="1x")
        status = gui.add_markdown("")
    shown = {"at": 0.0}

    @play.on_click
    def _(_: Any) -> None:
        if runner.error is None:
            runner.is_playing = not runner.is_playing

    @step.on_click
    def _(_: Any) -> None:
        runner.is_playing = False
        runner.advance()

    @reset.on_click
    def _(_: Any) -> None:
        runner.reset()
        runner.is_playing = True

    @speed.on_update
    def _(event: Any) -> None:
        runner.speed = float(event.target.value.removesuffix("x"))

    def follow() -> None:
        now = time.monotonic()
        if now - shown["at"] < 0.15:
            return
        shown["at"] = now
        play.label = "Pause" if runner.is_playing else "Run"
        text = f"t = {runner.sim.t:.2f} s, {runner.pace:.2f} of real time"
        if runner.error is not None:
            what = f"**{type(runner.error).__name__}: {runner.error}**"
            text = f"{what}\n\n```text\n{runner.text[-1500:]}\n```\n\nReset starts again."
        if status.content != text:
            status.content = text

    runner.on_change(follow)


def _push_panel(server: Any, runner: Runner, size: float) -> None:
    gui, robot = server.gui, runner.sim.robot
    bodies = tuple(name for name, body in robot.bodies.items() if body.inertia.mass) or tuple(robot.bodies)
    if not bodies or not robot.nv:
        return
    heavy = max(bodies, key=lambda name: float(robot.bodies[name].inertia.mass))
    weight = max(9.81 * float(robot.mass), 1e-3)
    with gui.add_folder("Push"):
        body = gui.add_dropdown("body", bodies, initial_value=heavy)
        direction = gui.add_dropdown("direction", tuple(DIRECTIONS), initial_value="+y")
        force = gui.add_slider("force [N]", 0.0, nice(6 * weight), nice(weight / 100), nice(weight))
        duration = gui.add_slider("for [s]", 0.02, 1.0, 0.02, 0.1)
        button = gui.add_button("Push")

    @button.on_click
    def _(_: Any) -> None:
        runner.push(body.value, np.array(DIRECTIONS[direction.value]) * force.value, duration.value)


def _gain_panel(server: Any, runner: Runner, ranges: Mapping[str, tuple[float, float, float]]) -> None:
    gui, parameters = server.gui, runner.sim.parameters
    if ranges:
        with gui.add_folder("Gains"):
            for name, (low, high, first) in ranges.items():
                slider = gui.add_slider(name, low, high, nice((high - low) / 200), first)
                slider.on_update(lambda event, name=name: runner.gains.__setitem__(name, float(event.target.value)))
    if not len(parameters):
        return
    with gui.add_folder("Parameters"):
        trouble = gui.add_markdown("")
        for path in parameters:
            start = np.array(parameters[path], dtype=float)
            is_one = np.unique(start).size == 1
            # several numbers keep their proportions
            low, high, first = _around(float(start.flat[0])) if is_one else (0.0, 3.0, 1.0)
            slider = gui.add_slider(path if is_one else f"{path} x", low, high, nice((high - low) / 300), first)

            def change(event: Any, path: str = path, start: np.ndarray = start, is_one: bool = is_one) -> None:
                value = float(event.target.value)
                try:
                    parameters[path] = np.full_like(start, value) if is_one else start * value
                    trouble.content = ""
                except SimulationError as error:
                    trouble.content = f"**{error}**"

            slider.on_update(change)


def _plot_panel(server: Any, runner: Runner, index: int) -> None:
    """The last moments of q, v or tau of the first robot shown."""
    sim, robot = runner.sim, runner.sim.robot
    names = {"q": robot.coordinate_names, "v": robot.velocity_names, "tau": tuple(robot.motors)}

    def now(channel: str) -> tuple[float, np.ndarray]:
        values = np.asarray(getattr(sim, channel), dtype=float)
        return sim.t, values if sim.batch is None else values[index]

    add = rolling_plot(server, [g for c, columns in names.items() for g in column_groups(c, columns, robot)], now)
    shown = {"at": 0.0}

    def follow() -> None:
        at = time.monotonic()
        if runner.is_playing and at - shown["at"] > 0.1:
            shown["at"] = at
            add()

    runner.on_change(follow)
