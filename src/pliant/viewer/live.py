"""A simulation that runs in real time in the browser: pushed, paused, reset and tuned while it runs."""

import math
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.checks import check, check_at_least, chosen_robots, is_whole
from pliant.errors import SimulationError
from pliant.events import EventSimulation
from pliant.plots.curves import column_groups
from pliant.plots.figures import round_number
from pliant.recording.source import Source
from pliant.render.log_motion import forces_at_points
from pliant.signatures import explained
from pliant.simulation import Simulation
from pliant.simulation.running import source_of, source_with
from pliant.viewer.browser_scene import BrowserScene
from pliant.viewer.controls import camera_panel, rolling_plot, show_panel, speed_choice
from pliant.viewer.dragging import Dragging
from pliant.viewer.reading import Reading, read_panel
from pliant.viewer.recorder import Recorder, record_panel
from pliant.viewer.server import Clock, Viewer, opened
from pliant.viewer.stepping import Pull, Push, stepping

DIRECTIONS = {"+x": (1, 0, 0), "-x": (-1, 0, 0), "+y": (0, 1, 0), "-y": (0, -1, 0), "+z": (0, 0, 1), "-z": (0, 0, -1)}
MOST = 9  # robots of a batch that are shown by default
SPEEDS = (0.1, 0.25, 0.5, 1, 2)
RATE = 50.0
"""Pictures a second, at most."""
# how far a run may fall behind real time before the rest is forgotten [s]
_LATEST = 0.1


class Runner(Clock):
    """Runs a simulation in real time, or at a factor of it.

    Args:
        sim: to run, from its present state.
        controller: a function (t, q, v) -> u, with the values of ``gains`` by name if there are any; None for zero.
        gains: numbers that the controller takes by name.
        draw: called with the simulation, `RATE` times a second.

    Attributes:
        pace: simulated over real time, lately; a run that falls behind does not catch up.
        pushes, pulls: forces for a while, and those of mice that drag a body, by who drags.
        error: the exception that stopped it, or None; ``text`` has its traceback.
    """

    def __init__(
        self, sim: Simulation | EventSimulation, controller: Callable[..., Any] | None, gains: Mapping[str, float],
        draw: Callable[[Any], None],
    ):  # fmt: skip
        super().__init__(self._run)
        self.sim: Any = sim
        self.gains, self.draw = dict(gains), draw
        self.moved = stepping(sim, controller)
        self.is_playing, self.pace = True, 0.0
        self.error: BaseException | None = None
        self.text = ""
        self.pushes: list[Push] = []
        self.pulls: dict[Any, Pull] = {}
        self._start: Any = sim.state

    def push(
        self, body: str, force: Any, duration: float = 0.1, *, robot: int | None = None, point: Any = (0.0, 0.0, 0.0)
    ) -> None:
        """Push a body with a force in the world's axes, 3 [N], for a while [s].

        Args:
            robot: of a batch; None for all of them.
            point: where the force acts, in the frame of the body [m].
        """
        self.sim.robot.frame(body)
        at, batch = np.asarray(point, dtype=float), self.moved.batch
        is_place = at.shape == (3,) and bool(np.isfinite(at).all())
        check("point", point, "three numbers [m]", is_place, subject="push")
        takes = "None, since there is one robot" if batch is None else f"None, or 0 to {batch - 1}"
        is_there = robot is None or (batch is not None and is_whole(robot) and 0 <= robot < batch)
        check("robot", robot, takes, is_there, subject="push")
        array = np.asarray(force, dtype=float)
        is_right = array.shape == (3,) and np.isfinite(array).all() and duration > 0
        check("force", force, "three numbers [N], for a time above zero [s]", bool(is_right), subject="push")
        with self._lock:
            self.pushes.append(Push(body, array, self.sim.t + duration, at, robot))

    def reset(self) -> None:
        """Back to the state at the start, without error."""
        with self._lock:
            self.sim.state = self._start
            self.pushes, self.pulls, self.error, self.text = [], {}, None, ""

    def advance(self, periods: int = 1) -> None:
        """Go on by control periods; an exception is kept as `error`, and pauses."""
        with self._lock:
            try:
                for _ in range(periods):
                    self._period()
            except Exception as error:
                own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
                self.text = "".join([*traceback.format_list(own), *traceback.format_exception_only(error)])
                self.error, self.is_playing = error, False

    def _period(self) -> None:
        t = self.sim.t
        self.pushes = [push for push in self.pushes if push.until > t + self.moved.period / 2]
        self.moved.advance([*self.pushes, *self.pulls.copy().values()], self.gains)

    def _run(self) -> None:
        """Until the end: a part of a second of motion, the wait for real time, and a picture."""
        due = before = time.monotonic()
        while not self._end.is_set():
            began, start = time.monotonic(), self.sim.t
            for _ in range(max(1, round(self.speed / RATE / self.moved.period))):
                # a slow robot is shown after part of the time
                if not self.is_playing or self.error is not None or time.monotonic() - began > 2 / RATE:
                    break
                self.advance()
            passed = max(0.0, self.sim.t - start)
            due += passed / self.speed if passed else 1 / RATE
            self._end.wait(max(0.0, due - time.monotonic()))
            now = time.monotonic()
            due = max(due, now - _LATEST)
            if passed:
                self.pace = 0.9 * self.pace + 0.1 * passed / max(now - before, 1e-6)
            before = now
            self.changed()

    def changed(self) -> None:
        """Draw the simulation, and call the listeners."""
        with self._lock:
            self.draw(self.sim)
        self.notify()


# ---- the page


@explained
def live(sim: Simulation | EventSimulation, controller: Callable[..., Any] | None = None, **options: Any) -> Viewer:
    """Run a simulation of either kind in real time in the browser: `Simulation.view`, which has the options."""
    if not isinstance(sim, Simulation | EventSimulation):
        problem = f"live takes a simulation first, not {type(sim).__name__}"
        raise SimulationError(problem, subject="live", field="sim", cure="view a robot or a log by its method view")
    return sim.view(controller, **options)


def view_simulation(
    sim: Any, controller, *, gains, robots, layout, show, follow, play, speed, port, host, block, browser,
    detail, packages,
) -> Viewer:  # fmt: skip
    """Run a simulation in the browser: `Simulation.view`, which has the arguments."""
    is_function = controller is None or callable(controller)
    check("controller", controller, "a function (t, q, v) -> u", is_function, subject="live")
    check_at_least("speed", speed, 0, strict=True, subject="live", error=SimulationError)
    ranges = {name: _range(name, value) for name, value in (gains or {}).items()}
    if ranges and controller is None:
        cure = "give a controller that takes them by name"
        raise SimulationError("live: gains need a controller", subject="live", field="gains", cure=cure)
    batch = getattr(sim, "batch", None)
    indices = chosen_robots(robots, batch, first=MOST, least=1)

    def shown(values: Any) -> np.ndarray:
        """The rows of the robots that are shown."""
        array = np.asarray(values, dtype=float)
        return array[None] if batch is None else array[indices]

    page = {"port": port, "host": host, "block": block, "browser": browser}
    with opened("live", f"Pliant: {sim.robot.name}, live", **page) as viewer:
        options = {"layout": layout, "show": show, "follow": follow, "detail": detail, "packages": packages}
        scene = BrowserScene(viewer.server, _source(sim), shown(sim.q)[:, None], **options)

        def draw(sim: Any) -> None:
            forces = None
            if sim.robot.contact_points:
                forces = forces_at_points(sim.robot, sim.contact_names, shown(sim.contact_forces))
            scene.draw(shown(sim.q), forces)
            for dragging in drags:
                dragging.draw()

        drags: list[Dragging] = []
        runner = viewer.player = Runner(sim, controller, {n: first for n, (_, _, first) in ranges.items()}, draw)
        runner.is_playing, runner.speed = bool(play), float(speed)
        _run_panel(viewer.server, runner)
        numbers = [None] if batch is None else indices.tolist()
        drags += [Dragging(viewer.server, scene, runner, k, number) for k, number in enumerate(numbers)]
        _push_panel(viewer.server, runner, numbers)
        _gain_panel(viewer.server, runner, ranges)
        _plot_panel(viewer.server, runner, int(indices[0]))
        reading = Reading(
            scene.robot, sim.contact_names,
            lambda: (shown(sim.q), shown(sim.v), shown(sim.tau), shown(sim.contact_forces)),
        )  # fmt: skip
        runner.on_change(read_panel(viewer.server, scene, reading, numbers), every=0.2)
        show_panel(viewer.server, scene)
        camera_panel(viewer.server, scene)
        record_panel(viewer.server, Recorder(viewer.server))
        draw(sim)
        runner.start()
    return viewer


def _source(sim: Any) -> Source:
    return source_of(sim) if isinstance(sim, Simulation) else source_with(sim, sim.model, {})


def _range(name: str, value: Any) -> tuple[float, float, float]:
    try:
        numbers = [float(x) for x in (value if isinstance(value, tuple | list) else [value])]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) == 1 and math.isfinite(numbers[0]):
        return _around(numbers[0])
    is_right = len(numbers) == 3 and numbers[0] <= numbers[2] <= numbers[1] and numbers[0] != numbers[1]
    check(f"gain {name!r}", value, "a number, or (lowest, highest, initial)", is_right, subject="live")
    low, high, first = numbers
    return low, high, first


def _around(value: float) -> tuple[float, float, float]:
    """The default range of a slider: from zero to three times the value."""
    if value == 0:
        return -1.0, 1.0, 0.0
    return min(0.0, 3 * value), max(0.0, 3 * value), value


def _run_panel(server: Any, runner: Runner) -> None:
    gui = server.gui
    with gui.add_folder("Simulation"):
        play = gui.add_button("Pause" if runner.is_playing else "Run")
        step = gui.add_button("Step")
        reset = gui.add_button("Reset")
        speed_choice(gui, runner, SPEEDS)
        status = gui.add_markdown("")

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

    def follow() -> None:
        play.label = "Pause" if runner.is_playing else "Run"
        text = f"t = {runner.sim.t:.2f} s, {runner.pace:.2f} x real time"
        if runner.error is not None:
            what = f"**{type(runner.error).__name__}: {runner.error}**"
            text = f"{what}\n\n```text\n{runner.text[-1500:]}\n```\n\nReset starts again."
        if status.content != text:
            status.content = text

    runner.on_change(follow, every=0.15)


def _push_panel(server: Any, runner: Runner, numbers: Sequence[int | None]) -> None:
    gui, robot = server.gui, runner.sim.robot
    bodies = tuple(name for name, body in robot.bodies.items() if body.inertia.mass) or tuple(robot.bodies)
    if not bodies or not robot.nv:
        return
    heavy = max(bodies, key=lambda name: float(robot.bodies[name].inertia.mass))
    weight = max(9.81 * float(robot.mass), 1e-3)
    with gui.add_folder("Push"):
        gui.add_markdown("Or drag a body with the mouse.")
        robots = ("all", *map(str, numbers))
        which = gui.add_dropdown("robot", robots, initial_value="all") if numbers != [None] else None
        body = gui.add_dropdown("body", bodies, initial_value=heavy)
        direction = gui.add_dropdown("direction", tuple(DIRECTIONS), initial_value="+y")
        most, step, first = (round_number(share * weight) for share in (6, 0.01, 1))
        force = gui.add_slider("force [N]", 0.0, most, step, first)
        duration = gui.add_slider("for [s]", 0.02, 1.0, 0.02, 0.1)
        button = gui.add_button("Push")

    @button.on_click
    def _(_: Any) -> None:
        one = None if which is None or which.value == "all" else int(which.value)
        runner.push(body.value, np.array(DIRECTIONS[direction.value]) * force.value, duration.value, robot=one)


def _gain_panel(server: Any, runner: Runner, ranges: Mapping[str, tuple[float, float, float]]) -> None:
    gui, parameters = server.gui, runner.moved.parameters
    if ranges:
        with gui.add_folder("Gains"):
            for name, (low, high, first) in ranges.items():
                slider = gui.add_slider(name, low, high, round_number((high - low) / 200), first)
                slider.on_update(lambda event, name=name: runner.gains.__setitem__(name, float(event.target.value)))
    if not len(parameters):
        return
    with gui.add_folder("Parameters"):
        refused = gui.add_markdown("")
        for path in parameters:
            start = np.array(parameters[path], dtype=float)
            is_one = np.unique(start).size == 1
            # several numbers are scaled by one factor
            low, high, first = _around(float(start.flat[0])) if is_one else (0.0, 3.0, 1.0)
            slider = gui.add_slider(path if is_one else f"{path} x", low, high, round_number((high - low) / 300), first)

            def change(event: Any, path: str = path, start: np.ndarray = start, is_one: bool = is_one) -> None:
                value = float(event.target.value)
                try:
                    parameters[path] = np.full_like(start, value) if is_one else start * value
                    refused.content = ""
                except SimulationError as error:
                    refused.content = f"**{error}**"

            slider.on_update(change)


def _plot_panel(server: Any, runner: Runner, index: int) -> None:
    """Add a plot of the latest q, v or tau of the first robot shown."""
    sim, robot = runner.sim, runner.sim.robot
    names = {"q": robot.coordinate_names, "v": robot.velocity_names, "tau": tuple(robot.motors)}

    def now(channel: str) -> tuple[float, np.ndarray]:
        values = np.asarray(getattr(sim, channel), dtype=float)
        return sim.t, values if runner.moved.batch is None else values[index]

    add = rolling_plot(server, [g for c, columns in names.items() for g in column_groups(c, columns, robot)], now)
    runner.on_change(lambda: add() if runner.is_playing else None, every=0.1)
