"""Controls and plots beside the scene: joint sliders, switches for marks, speed, and curves over time."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.errors import PliantError, unknown_name
from pliant.plots.curves import Group, log_groups, matching
from pliant.plots.figures import COLORS, round_number
from pliant.recording.log import Log
from pliant.render.log_motion import spread
from pliant.robot import Robot
from pliant.scalar import is_constant
from pliant.viewer.browser_scene import TOWARDS, BrowserScene, camera_place

VIEWS = {
    "start": tuple(TOWARDS), "front": (1, 0, 0.12), "back": (-1, 0, 0.12), "left": (0, 1, 0.12), "right": (0, -1, 0.12),
    "top": (-1e-3, 0, 1),
}  # fmt: skip
"""Directions to the camera by name: robots face along x."""

POINTS = 400  # of a curve: more than the panel has pixels

LABELS = {
    "frames": "frames of bodies", "inertias": "inertia ellipsoids", "mass": "centre of mass",
    "contacts": "contact points", "names": "names of bodies", "forces": "contact forces", "cones": "friction cones",
}  # fmt: skip


def show_panel(server: Any, scene: BrowserScene, *, has_forces: bool = True) -> None:
    """Add switches for marks, and a slider for deflections if the robot has flexible joints."""
    gui = server.gui
    with gui.add_folder("Show"):
        for mark, label in LABELS.items():
            is_of_contacts = mark in ("contacts", "forces", "cones")
            if is_of_contacts and not (scene.robot.contact_points and (has_forces or mark == "contacts")):
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


def camera_panel(server: Any, scene: BrowserScene) -> None:
    """Add buttons that put the camera of the client that clicks them to the sides of the robots, or back."""
    with server.gui.add_folder("Camera"):
        buttons = server.gui.add_button_group("from", tuple(VIEWS))

    @buttons.on_click
    def _(event: Any) -> None:
        low, high = scene.box
        towards = np.array(VIEWS[event.target.value], dtype=float)
        with event.client.atomic():
            camera = event.client.camera
            camera.up_direction = (0.0, 0.0, 1.0)
            camera.position = camera_place(low, high, towards / np.linalg.norm(towards))
            camera.look_at = (low + high) / 2


def joint_sliders(server: Any, robot: Robot, q: np.ndarray, size: float, moved: Callable[[np.ndarray], None]) -> None:
    """Add a slider for each degree of freedom; ``moved`` is called with the new configuration.

    The slider of a joint with one coordinate goes from limit to limit. Those of other joints are velocities, which act
    for one second from ``q`` on.
    """
    gui = server.gui
    sliders: list[tuple[int, bool, Any]] = []  # index in q or v, whether in q, and the slider

    def configuration() -> np.ndarray:
        v, positions = np.zeros(robot.nv), {}
        for place, is_position, slider in sliders:
            (positions if is_position else v)[place] = slider.value
        found = np.asarray(robot.integrate(q, v))
        found[list(positions)] = list(positions.values())
        return found

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
            wanted = {"start": q, "zero": robot.neutral()}.get(event.target.value, robot.random())
            for place, is_position, slider in sliders:
                slider.value = float(np.clip(wanted[place], slider.min, slider.max)) if is_position else 0.0
            moved(configuration())


def _range(joint: Any, size: float) -> tuple[float, float]:
    widest = round(2 * size, 2) if joint.kind.name == "prismatic" else 3.14
    ends = []
    for limit, sign in ((joint.limits.lower, -1), (joint.limits.upper, 1)):
        x = np.ravel(np.array(limit, dtype=object))[0]
        ends.append(float(x) if is_constant(x) and abs(x) < 10 * max(widest, 1) else sign * widest)
    return (ends[0], ends[1]) if ends[1] - ends[0] > 1e-9 else (ends[0] - 1e-3, ends[0] + 1e-3)


def speed_choice(gui: Any, clock: Any, speeds: Sequence[float]) -> None:
    """Add a list of speeds for something with an attribute ``speed``, whose present value is listed and chosen."""
    options = tuple(f"{speed:g}x" for speed in sorted({*speeds, clock.speed}))
    choice = gui.add_dropdown("speed", options, initial_value=f"{clock.speed:g}x")

    @choice.on_update
    def _(event: Any) -> None:
        clock.speed = float(event.target.value.removesuffix("x"))


# ---- plots


def time_plot(server: Any, log: Log, channel: str | None = None) -> Callable[[float], None]:
    """Add a plot of a channel or a part of it, to be chosen from a list, with a line at the present time.

    Args:
        log: of one robot.
        channel: chosen at first, such as "q" or "q.knee".

    Returns:
        A function that moves the line to a time [s].
    """
    flat = {name: np.asarray(a, dtype=float) for name, a in log.to_dict().items() if name != "t"}
    every = log_groups(log)
    if channel is not None and not matching(every, channel):
        valid = [*dict.fromkeys(g.channel for g in every), *(g.label for g in every), *flat]
        raise PliantError(unknown_name("channel", channel, valid, "the log"))
    groups = {g.label: g for g in every if np.isfinite([flat[g.flat_name(c)] for c in g.columns]).any()}
    if not groups or len(log.t) < 2:
        return lambda t: None
    steps = spread(len(log), POINTS)
    t = np.asarray(log.t, dtype=float)[steps]
    wanted = matching(groups.values(), channel or "") or list(groups.values())
    # a contact that never touches is not shown first
    first = next((g for g in wanted if any(flat[g.flat_name(c)].any() for c in g.columns)), wanted[0])
    now = float(t[0])

    def curves(group: Group) -> tuple[np.ndarray, ...]:
        at = int(np.searchsorted(t, now, side="right"))
        ys = [flat[group.flat_name(c)][steps] for c in group.columns]
        # the line is a spike at the present, on a scale of its own from 0 to 1; its ends are outside
        x = np.insert(t, at, [now] * 3)
        line = np.full(len(x), -1.0)
        line[at + 1] = 1.0
        return x, *(np.insert(y, at, [np.interp(now, t, y)] * 3) for y in ys), line

    line = {"label": "now", "scale": "now", "stroke": "#202020", "width": 1, "points": {"show": False}}
    draw = _plot(server.gui, groups, first, curves, line)

    def move(t: float) -> None:
        nonlocal now
        now = float(t)
        draw()

    return move


def rolling_plot(
    server: Any, groups: Sequence[Group], now: Callable[[str], tuple[float, np.ndarray]]
) -> Callable[[], None]:
    """Add a plot of the latest values of a channel or a part of it, to be chosen from a list.

    Args:
        groups: of columns.
        now: returns the present time [s] and the present values of a channel.

    Returns:
        A function that adds the present values.
    """
    if not groups:
        return lambda: None
    kept: list[tuple[float, np.ndarray]] = []
    shown = groups[0]

    def curves(group: Group) -> tuple[np.ndarray, ...]:
        nonlocal shown
        t, values = now(group.channel)
        if kept and (t <= kept[-1][0] or group is not shown):
            kept.clear()
        shown = group
        kept.append((t, values[list(group.entries)]))
        del kept[:-POINTS]
        times, rows = zip(*kept, strict=True)
        return np.array(times), *np.array(rows, dtype=float).T

    return _plot(server.gui, {group.label: group for group in groups}, shown, curves)


def _plot(
    gui: Any, groups: Mapping[str, Group], shown: Group, curves: Callable[[Group], tuple[np.ndarray, ...]], *more: Any
) -> Callable[[], None]:
    """Add a plot of one of several groups, chosen from a list; the function that is returned draws its curves anew.

    Args:
        more: series beyond those of the group's columns.
    """

    def look() -> dict[str, Any]:
        small = {"labelSize": 16, "labelGap": 0, "labelFont": "11px sans-serif"}
        own = [
            {"label": name or shown.channel, "stroke": color, "width": 1.5, "points": {"show": False}}
            for name, color in zip(shown.columns, COLORS, strict=False)
        ]
        axes = {"label": "time [s]", **small}, {"label": shown.title, **small}
        return {"series": ({"label": "t [s]"}, *own, *more), "axes": axes}

    def draw() -> None:
        plot.data = curves(shown)

    with gui.add_folder("Plot"):
        choice = gui.add_dropdown("channel", tuple(groups), initial_value=shown.label)
        plot = gui.add_uplot(
            curves(shown), **look(), scales={"x": {"time": False}, "now": {"auto": False, "range": (0.0, 1.0)}},
            height=250, legend={"show": True, "live": False},
            cursor={"show": True, "drag": {"x": False, "y": False, "setScale": False}},
        )  # fmt: skip

    @choice.on_update
    def _(event: Any) -> None:
        nonlocal shown
        shown = groups[event.target.value]
        new = look()
        plot.axes, plot.series, plot.data = new["axes"], new["series"], curves(shown)

    return draw
