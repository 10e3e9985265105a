"""Robots and logs in the browser: `view_robot`, with sliders to pose it, and `view_log`, which plays."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.checks import check, is_real
from pliant.contact.ground import as_ground
from pliant.errors import PliantError, RobotError, bad_value
from pliant.recording.log import Log
from pliant.recording.source import Source
from pliant.render.robot_drawing import DETAIL
from pliant.robot import Robot
from pliant.viewer.browser_scene import BrowserScene, check_marks
from pliant.viewer.charts import time_plot
from pliant.viewer.controls import joint_sliders, playback_panel, show_panel
from pliant.viewer.playback import LogMotion, Player
from pliant.viewer.server import Viewer, closing_on_error, opened, served

__all__ = ["Viewer", "view_log", "view_robot"]


def view_robot(
    robot: Robot,
    q: Any = None,
    *,
    ground: Any = None,
    show: str | Iterable[str] = (),
    port: int = 8080,
    host: str = "127.0.0.1",
    block: bool | None = None,
    browser: bool = False,
    detail: int = DETAIL,
    packages: str | Path | Iterable[str | Path] = (),
) -> Viewer:
    """Show a robot in the browser: `Robot.view`."""
    marks = check_marks(show)
    q = robot.neutral() if q is None else np.asarray(q, dtype=float)
    if q.shape != (robot.nq,):
        problem, cure = f"q has shape {q.shape}", f"{robot.name!r} takes ({robot.nq},)"
        raise RobotError(problem, subject=f"robot {robot.name!r}", field="q", cure=cure)
    if not np.isfinite(q).all():
        raise RobotError(bad_value("q", q, "finite numbers", f"robot {robot.name!r}"))
    viewer = served("the viewer", port=port, host=host, label=f"Pliant: {robot.name}")
    with closing_on_error(viewer):
        source = Source(robot, None if ground is None else as_ground(ground))
        # an arm fits into the picture wherever its sliders take it
        poses = [q] if robot.is_free else [q, *robot.random(0, batch=30)]
        scene = BrowserScene(
            viewer.server, source, np.array(poses)[None], follow=False, show=marks, detail=detail, packages=packages
        )
        scene.draw(q[None])
        viewer.server.gui.add_markdown(_about(robot, scene.drawing.notes))
        joint_sliders(viewer.server, robot, q, scene.size, lambda new: scene.draw(new[None]))
        show_panel(viewer.server, scene, has_forces=False)
    return opened(viewer, port, block, browser)


def view_log(
    log: Log,
    *,
    robots: int | slice | Sequence[int] | None = None,
    layout: str = "grid",
    traces: Sequence[str] = (),
    plot: str | None = None,
    show: str | Iterable[str] = (),
    follow: bool | None = None,
    deflection: float = 1.0,
    play: bool = True,
    speed: float = 1.0,
    port: int = 8080,
    host: str = "127.0.0.1",
    block: bool | None = None,
    browser: bool = False,
    detail: int = DETAIL,
    packages: str | Path | Iterable[str | Path] = (),
) -> Viewer:
    """Play a log in the browser: `Log.view`."""
    motion = LogMotion(log, "the viewer", robots)
    check("deflection", deflection, "a finite number", is_real(deflection), subject="the viewer", error=PliantError)
    is_speed = is_real(speed) and speed > 0
    check("speed", speed, "a finite number above 0", is_speed, subject="the viewer", error=PliantError)
    marks = check_marks(show)
    frames = [None if t == "mass" else motion.robot.frame(t).name for t in traces]
    viewer = served("the viewer", port=port, host=host, label=f"Pliant: {motion.robot.name}")
    with closing_on_error(viewer):
        scene = BrowserScene(
            viewer.server, motion.source, motion.q, layout=layout, show=marks, follow=follow, detail=detail,
            packages=packages,
        )  # fmt: skip
        scene.factor = float(deflection)
        for name, frame in zip(traces, frames, strict=True):
            scene.trace(name, [motion.path(frame, k) for k in range(len(motion.indices))])

        def draw(step: int) -> None:
            scene.draw(motion.q[:, step], None if motion.forces is None else motion.forces[:, step])

        player = viewer.player = Player(motion, draw)
        player.speed = float(speed)
        playback_panel(viewer.server, player)
        one = log if log.batch is None else log.robot(int(motion.indices[0]))
        move = time_plot(viewer.server, one, plot)
        plotted = {"at": 0.0}

        def move_plot() -> None:
            now = time.monotonic()
            if not player.is_playing or now - plotted["at"] > 0.1:
                plotted["at"] = now
                move(player.t)

        player.on_change(move_plot)
        show_panel(viewer.server, scene, has_forces=motion.forces is not None)
        notes = _notes(scene.drawing.notes)
        if notes:
            viewer.server.gui.add_markdown(notes)
        viewer.at_end(player.stop)
        player.start()
        if play and len(motion.t) > 1:
            player.toggle()
    return opened(viewer, port, block, browser)


def _about(robot: Robot, notes: Sequence[str]) -> str:
    text = f"{len(robot.bodies)} bodies, {robot.nv} degrees of freedom, {float(robot.mass):.4g} kg"
    return text + ("\n\n" + _notes(notes) if notes else "")


def _notes(notes: Sequence[str]) -> str:
    shown = [f"- {note}" for note in notes[:5]] + ([f"- and {len(notes) - 5} more"] if len(notes) > 5 else [])
    return "\n".join(shown)
