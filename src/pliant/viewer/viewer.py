"""Robots and logs in the browser: `view_robot`, with sliders to pose it, and `view_log`, which plays."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import RobotError
from pliant.recording.log import Log
from pliant.recording.source import Source
from pliant.render.drawing import DETAIL
from pliant.robot import Robot
from pliant.viewer.page import Viewer, closing_on_error, opened, served
from pliant.viewer.panels import joint_sliders, show_panel
from pliant.viewer.playback import Player, playback_panel
from pliant.viewer.recording import Recording, checked_number
from pliant.viewer.scene import Scene, check_marks
from pliant.viewer.side_plots import time_plot

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
    from pliant.contact.ground import as_ground

    marks = check_marks(show)
    q = robot.neutral() if q is None else np.asarray(q, dtype=float)
    if q.shape != (robot.nq,):
        raise RobotError(f"q has shape {q.shape}; {robot.name!r} takes ({robot.nq},)")
    if not np.isfinite(q).all():
        raise RobotError("view: q has entries that are not finite; give a configuration of numbers")
    viewer = served("the viewer", port=port, host=host, label=f"Pliant: {robot.name}")
    with closing_on_error(viewer):
        source = Source(robot, None if ground is None else as_ground(ground))
        # an arm that stands somewhere is to be in the picture wherever its sliders take it
        poses = [q] if robot.is_free else [q, *robot.random(0, batch=30)]
        scene = Scene(
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
    recording = Recording(log, "the viewer", robots)
    deflection = checked_number("view", "deflection", deflection)
    speed = checked_number("view", "speed", speed, above=0)
    marks = check_marks(show)
    frames = [None if t == "mass" else recording.robot.frame(t).name for t in traces]
    viewer = served("the viewer", port=port, host=host, label=f"Pliant: {recording.robot.name}")
    with closing_on_error(viewer):
        scene = Scene(viewer.server, recording.source, recording.q, layout=layout, show=marks, follow=follow,
                      detail=detail, packages=packages)  # fmt: skip
        scene.factor = deflection
        for name, frame in zip(traces, frames, strict=True):
            scene.trace(name, [recording.path(frame, k) for k in range(len(recording.indices))])

        def draw(step: int) -> None:
            scene.draw(recording.q[:, step], None if recording.forces is None else recording.forces[:, step])

        player = viewer.player = Player(recording, draw)
        player.speed = speed
        playback_panel(viewer.server, player)
        one = log if log.batch is None else log.robot(recording.indices[0])
        move = time_plot(viewer.server, one, plot)
        plotted = {"at": 0.0}

        def move_plot() -> None:
            now = time.monotonic()
            if not player.is_playing or now - plotted["at"] > 0.1:
                plotted["at"] = now
                move(player.t)

        player.on_change(move_plot)
        show_panel(viewer.server, scene, has_forces=recording.forces is not None)
        notes = _notes(scene.drawing.notes)
        if notes:
            viewer.server.gui.add_markdown(notes)
        viewer.at_end(player.stop)
        player.start()
        if play and len(recording.t) > 1:
            player.toggle()
    return opened(viewer, port, block, browser)


def _about(robot: Robot, notes: Sequence[str]) -> str:
    text = f"{len(robot.bodies)} bodies, {robot.nv} degrees of freedom, {float(robot.mass):.4g} kg"
    return text + ("\n\n" + _notes(notes) if notes else "")


def _notes(notes: Sequence[str]) -> str:
    shown = [f"- {note}" for note in notes[:5]] + ([f"- and {len(notes) - 5} more"] if len(notes) > 5 else [])
    return "\n".join(shown)
