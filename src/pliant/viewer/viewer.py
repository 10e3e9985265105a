"""Robots and logs in the browser: `view_robot`, with sliders to pose it, and `view_log`, which plays."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.checks import check, check_at_least
from pliant.contact.ground import as_ground
from pliant.errors import PliantError, RobotError
from pliant.recording.log import Log
from pliant.recording.source import Source
from pliant.render.log_motion import LogMotion
from pliant.robot import Robot
from pliant.viewer.browser_scene import BrowserScene, log_scene
from pliant.viewer.controls import camera_panel, joint_sliders, show_panel, speed_choice, time_plot
from pliant.viewer.reading import Reading, read_panel
from pliant.viewer.recorder import Recorder, record_panel
from pliant.viewer.server import Clock, Viewer, opened

RATE = 60.0  # most pictures a second
SPEEDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4)


def view_robot(robot: Robot, q, *, ground, show, port, host, block, browser, detail, packages) -> Viewer:
    """Show a robot in the browser: `Robot.view`, which has the arguments."""
    name = f"robot {robot.name!r}"
    q = robot.neutral() if q is None else np.asarray(q, dtype=float)
    if q.shape != (robot.nq,):
        problem, cure = f"q has shape {q.shape}", f"{robot.name!r} takes ({robot.nq},)"
        raise RobotError(problem, subject=name, field="q", cure=cure)
    check("q", q, "finite numbers", bool(np.isfinite(q).all()), subject=name, error=RobotError)
    page = {"port": port, "host": host, "block": block, "browser": browser}
    with opened("the viewer", f"Pliant: {robot.name}", **page) as viewer:
        source = Source(robot, None if ground is None else as_ground(ground))
        # an arm fits into the picture wherever its sliders take it
        poses = np.array([q] if robot.is_free else [q, *robot.random(0, batch=30)])
        options = {"follow": False, "show": show, "detail": detail, "packages": packages}
        scene = BrowserScene(viewer.server, source, poses[None], **options)
        scene.draw(q[None])
        about = f"{len(robot.bodies)} bodies, {robot.nv} degrees of freedom, {float(robot.mass):.4g} kg"
        viewer.server.gui.add_markdown("\n\n".join([about, *_notes(scene)]))
        state = {"q": q}
        reading = Reading(robot, (), lambda: (state["q"][None], None, None, None))
        update = read_panel(viewer.server, scene, reading, [None])

        def moved(new: np.ndarray) -> None:
            state["q"] = new
            scene.draw(new[None])
            update()

        joint_sliders(viewer.server, robot, q, scene.size, moved)
        show_panel(viewer.server, scene, has_forces=False)
        camera_panel(viewer.server, scene)
    return viewer


def view_log(
    log: Log, *, robots, layout, traces, plot, show, follow, deflection, play, speed, port, host, block, browser,
    detail, packages,
) -> Viewer:  # fmt: skip
    """Play a log in the browser: `Log.view`, which has the arguments."""
    motion = LogMotion(log, "the viewer", robots)
    check_at_least("speed", speed, 0, strict=True, subject="the viewer", error=PliantError)
    page = {"port": port, "host": host, "block": block, "browser": browser}
    with opened("the viewer", f"Pliant: {motion.robot.name}", **page) as viewer:
        options = {"layout": layout, "show": show, "follow": follow, "detail": detail, "packages": packages}
        scene, draw = log_scene(viewer.server, motion, traces, deflection, **options)
        player = viewer.player = Player(motion, draw)
        player.speed = float(speed)
        _playback_panel(viewer.server, player)
        one = log if log.batch is None else log.robot(int(motion.indices[0]))
        move = time_plot(viewer.server, one, plot)
        player.on_change(lambda: move(player.t), every=0.1)
        numbers = [None] if log.batch is None else motion.indices.tolist()
        update = read_panel(viewer.server, scene, _reading(log, motion, player), numbers)
        player.on_change(update, every=0.1)
        show_panel(viewer.server, scene, has_forces=motion.forces is not None)
        camera_panel(viewer.server, scene)
        record_panel(viewer.server, Recorder(viewer.server, player))
        for notes in _notes(scene):
            viewer.server.gui.add_markdown(notes)
        player.start()
        if play and len(motion.t) > 1:
            player.toggle()
    return viewer


def _reading(log: Log, motion: LogMotion, player: "Player") -> Reading:
    """The read-outs of a log at the time of its player."""
    source = motion.source

    def now() -> tuple[Any, ...]:
        step = max(player.step, 0)
        rows = [log.channels.get(name) for name in ("v", "tau", "forces")]
        rows = [None if x is None else x[None, step] if log.batch is None else x[motion.indices, step] for x in rows]
        forces = rows[2]
        if forces is not None:
            forces = forces.reshape(len(forces), -1, 3)
        return motion.q[:, step], rows[0], rows[1], forces

    return Reading(motion.robot, source.contacts if "forces" in log else (), now)


def _notes(scene: BrowserScene) -> list[str]:
    """The first few notes of a drawing as a list in Markdown; nothing if there are none."""
    notes = scene.drawing.notes
    more = [f"and {len(notes) - 5} more"] if len(notes) > 5 else []
    return ["\n".join(f"- {note}" for note in (*notes[:5], *more))] if notes else []


# ---- playback


class Player(Clock):
    """A clock that plays the motion of a log.

    Attributes:
        loops: whether it starts again at the end.
        t: its time [s].
    """

    def __init__(self, motion: LogMotion, draw: Callable[[int], None]):
        super().__init__(self._run)
        self.motion, self.draw, self.loops = motion, draw, True
        self.t = float(motion.t[0])
        self.step = -1

    def start(self) -> None:
        self.go(self.t)
        super().start()

    def go(self, t: float) -> None:
        """Show the time t [s]."""
        with self._lock:
            self.t = float(np.clip(t, self.motion.t[0], self.motion.t[-1]))
            step = self.motion.step_at(self.t)
            if step != self.step:
                self.step = step
                self.draw(step)
        self.notify()

    def go_by(self, steps: int) -> None:
        """Pause, and go forward by steps of the log; back if negative."""
        self.is_playing = False
        step = min(max(self.step + steps, 0), len(self.motion.t) - 1)
        self.go(float(self.motion.t[step]))

    def toggle(self) -> None:
        """Play or pause; at the end, play from the start."""
        if not self.is_playing and self.t >= self.motion.t[-1]:
            self.go(float(self.motion.t[0]))
        self.is_playing = not self.is_playing
        self.notify()

    def _run(self) -> None:
        before = time.monotonic()
        while not self._end.wait(1 / RATE):
            now = time.monotonic()
            passed, before = now - before, now
            if not self.is_playing:
                continue
            t = self.t + passed * self.speed
            if t >= self.motion.t[-1]:
                if self.loops:
                    t = float(self.motion.t[0])
                else:
                    self.is_playing = False
            self.go(t)


def _playback_panel(server: Any, player: Player) -> None:
    """Add controls of a player: play, pause, step, speed and a time slider."""
    gui, motion = server.gui, player.motion
    first, last = float(motion.t[0]), float(motion.t[-1])
    with gui.add_folder("Playback"):
        play = gui.add_button("Play", icon="player-play")
        steps = gui.add_button_group("step", ("|<", "<", ">", ">|"))
        span = max(last - first, 1e-6)
        slider = gui.add_slider("t [s]", first, first + span, min(span, max(span / 2000, 1e-6)), first)
        speed_choice(gui, player, SPEEDS)
        loop = gui.add_checkbox("loop", player.loops)

    @play.on_click
    def _(_: Any) -> None:
        player.toggle()

    @steps.on_click
    def _(event: Any) -> None:
        many = len(motion.t)
        player.go_by({"|<": -many, "<": -1, ">": 1, ">|": many}[event.target.value])

    @slider.on_update
    def _(event: Any) -> None:
        # without a client, the player itself has moved the slider
        if event.client is not None:
            player.is_playing = False
            player.go(event.target.value)

    @loop.on_update
    def _(event: Any) -> None:
        player.loops = event.target.value

    def show_state() -> None:
        label = "Pause" if player.is_playing else "Play"
        if play.label != label:
            play.label, play.icon = label, f"player-{label.lower()}"

    def follow() -> None:
        slider.value = player.t

    player.on_change(show_state)
    player.on_change(follow, every=0.06)
