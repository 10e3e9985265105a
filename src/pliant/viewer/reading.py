"""Read-outs beside the scene: the state of a body that was clicked, and tables of joints and contacts."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.dynamics import frame_jacobian
from pliant.plots.curves import unit_of
from pliant.robot import Robot
from pliant.viewer.browser_scene import BrowserScene

HINT = "Click a body to see its name and state."

State = tuple[np.ndarray, np.ndarray | None, np.ndarray | None, np.ndarray | None]
"""q, v, torques of the motors and contact forces (contacts, 3) of the robots that are shown; None if unknown."""


class Reading:
    """What there is to read of robots now.

    Args:
        contacts: names of the contacts, in the order of their forces.
        now: the state of the robots that are shown.
    """

    def __init__(self, robot: Robot, contacts: Sequence[str], now: Callable[[], State]):
        self.robot, self.contacts, self.now = robot, list(contacts), now

    def body(self, k: int, name: str, X: np.ndarray) -> str:
        """A body of robot k, which is at a pose X_WB, as a list in Markdown."""
        robot = self.robot
        q, v, _, forces = (None if x is None else x[k] for x in self.now())
        lines = [f"- mass {float(robot.bodies[name].inertia.mass):.4g} kg", f"- position {_row(X[:3, 3])} m"]
        if v is not None:
            J = np.asarray(frame_jacobian(robot, np.ascontiguousarray(q), name, reference="local_world_aligned"))
            speed = J @ v
            lines += [f"- velocity {_row(speed[:3])} m/s", f"- turning {_row(speed[3:])} rad/s"]
        joint = next((j for j in robot.joints.values() if j.child == name), None)
        if joint is not None and q is not None and joint.kind.nq:
            lines.append(f"- joint {joint.name}: {_row(q[robot.q_slice(joint.name)])}")
        if forces is not None:
            own = [c for c in self.contacts if c.partition(".")[0] in self._contacts_of(name)]
            total = sum((forces[self.contacts.index(c)] for c in own), np.zeros(3))
            if own:
                lines.append(f"- contact force {_row(total)} N")
        return f"**{name}**\n\n" + "\n".join(lines)

    def _contacts_of(self, body: str) -> set[str]:
        return {shape.name.partition(".")[0] for shape in self.robot.contacts.values() if shape.body == body}

    def tables(self, k: int) -> str:
        """Joints and contacts of robot k as tables in Markdown."""
        robot = self.robot
        q, v, tau, forces = (None if x is None else x[k] for x in self.now())
        torque = {} if tau is None else {m.joint: t for m, t in zip(robot.motors.values(), tau, strict=True)}
        rows = ["| joint | q | v | motor |", "|---|---|---|---|"]
        for joint in robot.joints.values():
            if joint.kind.nv != 1 or joint.mimic is not None:
                continue
            own = f"{q[robot.q_slice(joint.name).start]:.3f}" if q is not None else ""
            speed = "" if v is None else f"{v[robot.v_slice(joint.name).start]:.3f}"
            effort = f"{torque[joint.name]:.3g}" if joint.name in torque else ""
            rows.append(f"| {joint.name} | {own} | {speed} | {effort} |")
        unit = {unit_of("q", name, robot) for name in robot.coordinate_names} - {None, ""}
        found = "\n".join(rows) if len(rows) > 2 else ""
        if found and unit:
            found += "\n\nin rad and N m, or m and N where a joint slides"
        if forces is not None and self.contacts:
            rows = ["| contact | force [N] |", "|---|---|"]
            sizes = np.linalg.norm(forces, axis=-1)
            rows += [f"| {name} | {size:.4g} |" for name, size in zip(self.contacts, sizes, strict=True) if size > 0]
            found += "\n\n" + ("\n".join(rows) if len(rows) > 2 else "no contact carries load")
        return found


def read_panel(server: Any, scene: BrowserScene, reading: Reading, numbers: Sequence[int | None]) -> Callable[[], None]:
    """Add the read-outs; a click on a body selects it. The function that is returned brings them up to date.

    Args:
        numbers: of the robots in the batch; None if there is one robot.
    """
    gui = server.gui
    selected: list[tuple[int, str]] = []
    label: list[Any] = []
    with gui.add_folder("Read-outs"):
        text = gui.add_markdown(HINT)
        shows = gui.add_checkbox("joints and contacts", False)
        table = gui.add_markdown("", visible=False)

    def choose(k: int, body: str) -> None:
        selected[:] = [(k, body)]
        for old in label:
            old.remove()
        name = body if numbers[k] is None else f"{body}, robot {numbers[k]}"
        label[:] = [server.scene.add_label(f"{scene.robots[k].path(body)}/selected", name)]
        update()

    def update() -> None:
        for k, body in selected:
            content = reading.body(k, body, scene.robots[k].pose_of(body))
            if numbers[k] is not None:
                content = f"robot {numbers[k]}\n\n{content}"
            if text.content != content:
                text.content = content
        if shows.value:
            table.content = reading.tables(selected[0][0] if selected else 0)

    for k, node in enumerate(scene.robots):
        for handle, body in node.meshes:
            handle.on_click(lambda event, k=k, body=body: choose(k, body))

    @shows.on_update
    def _(_: Any) -> None:
        table.visible = shows.value
        update()

    return update


def _row(x: np.ndarray) -> str:
    return ", ".join(f"{float(e):.3f}" for e in np.ravel(x))
