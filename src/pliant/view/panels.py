"""Controls beside the scene: what is shown, joint sliders and plots."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.robot import Robot
from pliant.scalar import is_constant
from pliant.simulation import Log
from pliant.view.scene import Scene
from pliant.view.stage import nice

__all__ = ["PLOT_COLORS", "joint_sliders", "rolling_plot", "show_panel", "time_plot"]

LABELS = {
    "frames": "frames of bodies", "inertias": "inertia ellipsoids", "mass": "centre of mass",
    "contacts": "contact points", "names": "names of bodies", "forces": "contact forces", "cones": "friction cones",
}  # fmt: skip
PLOT_COLORS = ("#265c96", "#d6601e", "#3c8c50", "#963c8c", "#787828", "#288c96", "#c83246", "#646464")
POINTS = 400  # of a curve: more than the panel has pixels


def show_panel(server: Any, scene: Scene, *, has_forces: bool = True) -> None:
    """Switches for the marks, and a slider for deflections if the robot has flexible joints."""
    gui = server.gui
    with gui.add_folder("Show"):
        for mark, label in LABELS.items():
            if mark in ("contacts", "forces", "cones") and not scene.robot.contact_points:
                continue
            if mark in ("forces", "cones") and not has_forces:
                continue
            box = gui.add_checkbox(label, scene.shown[mark])
            box.on_update(lambda event, mark=mark: scene.show(mark, event.target.value))
        follow = gui.add_checkbox("follow", scene.follow, hint="the picture goes with the robot")

        @follow.on_update
        def _(event: Any) -> None:
            scene.follow = event.target.value
            scene.redraw()

        if scene.robot.flexibilities:
            slider = gui.add_slider("deflection x", 1, 100, 1, scene.factor, hint="how much flexible joints are bent")

            @slider.on_update
            def _(event: Any) -> None:
                scene.factor = float(event.target.value)
                scene.redraw()


def joint_sliders(server: Any, robot: Robot, q: np.ndarray, size: float, moved: Callable[[np.ndarray], None]) -> None:
    """A slider for each degree of freedom; ``moved`` takes the new configuration.

    A joint with one coordinate goes from limit to limit; others by a constant velocity, for a second, from ``q``.
    """
    gui = server.gui
    sliders: list[tuple[int, bool, Any]] = []  # place in q or v, whether in q, and the slider

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
                slider = gui.add_slider(joint.name, low, high, nice((high - low) / 400), value)
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


def time_plot(server: Any, log: Log, channel: str | None = None) -> Callable[[float], None]:
    """A plot of one channel, to be chosen, with a line at the present time.

    Args:
        log: of one robot.
        channel: at first.

    Returns:
        A function that moves the line to a time [s].
    """
    flat = {name: a for name, a in log.to_dict().items() if name != "t"}
    # a channel with many columns is shown by its first ones
    groups = {c: [n for n in flat if n == c or n.startswith(f"{c}.")][: len(PLOT_COLORS)] for c in log.channels}
    groups = {c: names for c, names in groups.items() if names and np.isfinite([flat[n] for n in names]).any()}
    if not groups or len(log.t) < 2:
        return lambda t: None
    steps = np.unique(np.linspace(0, len(log.t) - 1, min(POINTS, len(log.t))).round().astype(int))
    t = np.asarray(log.t, dtype=float)[steps]
    first = channel if channel in groups else next(iter(groups))
    state: dict[str, Any] = {"channel": first, "t": float(t[0])}
    gui = server.gui

    def curves() -> tuple[np.ndarray, ...]:
        now = state["t"]
        at = int(np.searchsorted(t, now, side="right"))
        ys = [np.asarray(flat[n], dtype=float)[steps] for n in groups[state["channel"]]]
        finite = np.concatenate([y[np.isfinite(y)] for y in ys])
        low, high = float(finite.min()), float(finite.max())
        # a line at the bottom with a spike at the present: not-a-number would spoil the scale
        x = np.insert(t, at, [now] * 3)
        line = np.full(len(x), low)
        line[at + 1] = high
        return x, *(np.insert(y, at, [np.interp(now, t, y)] * 3) for y in ys), line

    def series() -> tuple[dict[str, Any], ...]:
        names = [name.removeprefix(state["channel"] + ".") for name in groups[state["channel"]]]
        return *_series(names), {"label": "now", "stroke": "#202020", "width": 1, "points": {"show": False}}

    with gui.add_folder("Plot"):
        choice = gui.add_dropdown("channel", tuple(groups), initial_value=first)
        holder = {"plot": _plot(gui, curves(), series())}

        @choice.on_update
        def _(event: Any) -> None:
            state["channel"] = event.target.value
            plot = holder["plot"]
            plot.series, plot.data = series(), curves()

    def move(now: float) -> None:
        state["t"] = float(now)
        holder["plot"].data = curves()

    return move


def rolling_plot(
    server: Any, channels: Mapping[str, Sequence[str]], now: Callable[[str], tuple[float, np.ndarray]]
) -> Callable[[], None]:
    """A plot of the last moments of one channel, to be chosen.

    Args:
        channels: names of columns by channel; the first ones are shown.
        now: time [s] and values of a channel at this moment.

    Returns:
        A function that adds this moment.
    """
    if not channels:
        return lambda: None
    kept: list[tuple[float, np.ndarray]] = []
    state = {"channel": next(iter(channels))}

    def curves() -> tuple[np.ndarray, ...]:
        columns = len(channels[state["channel"]][: len(PLOT_COLORS)])
        rows = kept or [(0.0, np.zeros(columns))]
        values = np.array([row for _, row in rows], dtype=float)
        return np.array([t for t, _ in rows]), *(values[:, k] for k in range(columns))

    def add() -> None:
        t, values = now(state["channel"])
        if kept and t <= kept[-1][0]:
            kept.clear()
        kept.append((t, values[: len(PLOT_COLORS)]))
        del kept[:-POINTS]
        plot.data = curves()

    with server.gui.add_folder("Plot"):
        choice = server.gui.add_dropdown("channel", tuple(channels), initial_value=state["channel"])
        plot = _plot(server.gui, curves(), _series(channels[state["channel"]]))

        @choice.on_update
        def _(event: Any) -> None:
            kept.clear()
            state["channel"] = event.target.value
            plot.series, plot.data = _series(channels[state["channel"]]), curves()

    return add


def _series(names: Sequence[str]) -> tuple[dict[str, Any], ...]:
    found: list[dict[str, Any]] = [{"label": "t [s]"}]
    for name, color in zip(names, PLOT_COLORS, strict=False):
        found.append({"label": name, "stroke": color, "width": 1.5, "points": {"show": False}})
    return tuple(found)


def _plot(gui: Any, data: tuple[np.ndarray, ...], series: tuple[dict[str, Any], ...]) -> Any:
    return gui.add_uplot(
        data, series, scales={"x": {"time": False}}, height=230, legend={"show": True, "live": False},
        cursor={"show": True, "drag": {"x": False, "y": False, "setScale": False}},
    )  # fmt: skip
