"""Controls beside the scene: playback, joint sliders, and switches for marks."""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.plots.figures import round_number
from pliant.robot import Robot
from pliant.scalar import is_constant
from pliant.viewer.browser_scene import BrowserScene
from pliant.viewer.playback import Player

__all__ = ["joint_sliders", "playback_panel", "show_panel", "speed_choice"]

SPEEDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4)

LABELS = {
    "frames": "frames of bodies", "inertias": "inertia ellipsoids", "mass": "centre of mass",
    "contacts": "contact points", "names": "names of bodies", "forces": "contact forces", "cones": "friction cones",
}  # fmt: skip


def show_panel(server: Any, scene: BrowserScene, *, has_forces: bool = True) -> None:
    """Add switches for marks, and a slider for deflections if the robot has flexible joints."""
    gui = server.gui
    with gui.add_folder("Show"):
        for mark, label in LABELS.items():
            if mark in ("contacts", "forces", "cones") and not scene.robot.contact_points:
                continue
            if mark in ("forces", "cones") and not has_forces:
                continue
            box = gui.add_checkbox(label, scene.shown[mark])
            box.on_update(lambda event, mark=mark: scene.show(mark, event.target.value))
        follow = gui.add_checkbox("follow", scene.follow, hint="the picture follows the robot")

        @follow.on_update
        def _(event: Any) -> None:
            scene.follow = event.target.value
            scene.redraw()

        if scene.robot.flexibilities:
            slider = gui.add_slider("deflection x", 1, 100, 1, scene.factor, hint="exaggerates flexible joints")

            @slider.on_update
            def _(event: Any) -> None:
                scene.factor = float(event.target.value)
                scene.redraw()


def joint_sliders(server: Any, robot: Robot, q: np.ndarray, size: float, moved: Callable[[np.ndarray], None]) -> None:
    """Add a slider for each degree of freedom; ``moved`` is called with the new configuration.

    The slider of a joint with one coordinate goes from limit to limit. Those of other joints are velocities, which act
    for one second from ``q`` on.
    """
    gui = server.gui
    sliders: list[tuple[int, bool, Any]] = []  # index in q or v, whether in q, and the slider

    def configuration() -> np.ndarray:
        v = np.zeros(robot.nv)
        for place, is_position, slider in sliders:
            if not is_position:
                v[place] = slider.value
        found = np.asarray(robot.integrate(q, v))
        for place, is_position, slider in sliders:
            if is_position:
                found[place] = slider.value
        return found

    def place_all(wanted: np.ndarray) -> None:
        for place, is_position, slider in sliders:
            slider.value = float(np.clip(wanted[place], slider.min, slider.max)) if is_position else 0.0

    with gui.add_folder("Pose"):
        buttons = gui.add_button_group("", ("start", "zero", "random"))
        for joint in robot.joints.values():
            if joint.mimic is not None or joint.kind.nv == 0:
                continue
            sq, sv = robot.q_slice(joint.name), robot.v_slice(joint.name)
            if joint.kind.nq == 1:
                low, high = _range(joint, size)
                value = float(np.clip(q[sq.start], low, high))
                slider = gui.add_slider(joint.name, low, high, round_number((high - low) / 400), value)
                sliders.append((sq.start, True, slider))
                continue
            for k, label in enumerate(joint.kind.v_labels):
                is_turn = joint.kind.name == "spherical" or k >= joint.kind.nv - (1 if joint.kind.nv == 3 else 3)
                span = round(math.pi if is_turn else 2 * size, 2)
                name = f"{joint.name} {label.replace('v', '').replace('w', 'turn ')}"
                slider = gui.add_slider(name, -span, span, span / 200, 0.0)
                sliders.append((sv.start + k, False, slider))
        for _, _, slider in sliders:
            slider.on_update(lambda event: moved(configuration()) if event.client is not None else None)

        @buttons.on_click
        def _(event: Any) -> None:
            chosen = event.target.value
            place_all({"start": q, "zero": robot.neutral()}.get(chosen, robot.random()))
            moved(configuration())


def _range(joint: Any, size: float) -> tuple[float, float]:
    widest = round(2 * size, 2) if joint.kind.name == "prismatic" else 3.14
    ends = []
    for limit, sign in ((joint.limits.lower, -1), (joint.limits.upper, 1)):
        x = np.ravel(np.array(limit, dtype=object))[0]
        ends.append(float(x) if is_constant(x) and abs(x) < 10 * max(widest, 1) else sign * widest)
    return (ends[0], ends[1]) if ends[1] - ends[0] > 1e-9 else (ends[0] - 1e-3, ends[0] + 1e-3)


def playback_panel(server: Any, player: Player) -> None:
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
    shown = {"at": 0.0, "playing": False}

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

    def follow() -> None:
        now = time.monotonic()
        if player.is_playing != shown["playing"]:
            shown["playing"] = player.is_playing
            play.label = "Pause" if player.is_playing else "Play"
            play.icon = "player-pause" if player.is_playing else "player-play"
        elif player.is_playing and now - shown["at"] < 0.06:
            return  # the slider does not follow every picture
        shown["at"] = now
        slider.value = player.t

    player.on_change(follow)


def speed_choice(gui: Any, clock: Any, speeds: Sequence[float]) -> None:
    """Add a list of speeds for something with an attribute ``speed``, whose present value is listed and chosen."""
    options = tuple(f"{speed:g}x" for speed in sorted({*speeds, clock.speed}))
    choice = gui.add_dropdown("speed", options, initial_value=f"{clock.speed:g}x")

    @choice.on_update
    def _(event: Any) -> None:
        clock.speed = float(event.target.value.removesuffix("x"))
