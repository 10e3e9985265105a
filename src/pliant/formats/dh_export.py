"""Denavit-Hartenberg tables of robots."""

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.errors import RobotError, unknown_name
from pliant.formats.dh import TOOL
from pliant.formats.dh_axes import Axis, FramePose, link_frames, parameters
from pliant.formats.dh_rows import COLUMNS, DHRow, DHTable
from pliant.robot import Continuous, Finding, Joint, Link, Motor, Prismatic, Report, Revolute, Robot
from pliant.robot.checks import per_entry
from pliant.scalar import is_constant
from pliant.spatial import AxisRotation, Inertia, Matrix3, MatrixRotation, Transform, Vector

__all__ = ["to_dh"]

Scalar = Any

PARALLEL = 1e-13
LARGEST = 0.1
"""Tolerances above this, an angle, would take robots for others [rad]."""

# of the moments about the joint, what a tensor about the centre of mass may miss zero by
ROUNDING = 1e-14


def to_dh(
    robot: Robot, *, convention: str = "modified", tool: str | None = None, tolerance: float = PARALLEL
) -> DHTable:
    """The Denavit-Hartenberg table of a chain: `Robot.to_dh`."""
    if not isinstance(robot, Robot):
        raise RobotError(f"to_dh takes a Robot first, not {robot!r}; see pliant.load")
    if not isinstance(convention, str) or convention not in COLUMNS:
        raise RobotError(unknown_name("convention", convention, COLUMNS, "to_dh"))
    (tolerance,) = per_entry("to_dh", "tolerance", tolerance, 1, least=0)
    if not is_constant(tolerance) or tolerance > LARGEST:
        raise RobotError(f"tolerance of to_dh is {tolerance} rad; give an angle up to {LARGEST}, as in tolerance=1e-5")
    links = _chain(robot)
    taken, others = _tool(robot, len(links) - 1, tool)
    poses = _zero_poses(links)
    axes = [
        Axis(X[:3, 3], X[:3, :3] @ np.array(link.kind.axis, dtype=float), link.name)  # type: ignore[attr-defined]
        for link, X in zip(links, poses, strict=True)
    ]
    X_WT = poses[-1] @ _matrix(robot.mechanism.frame(taken)[1], "the tool")
    frames, used = link_frames(axes, FramePose.of(np.eye(4)), FramePose.of(X_WT), tolerance)
    steps = [parameters(before, after, tolerance) for before, after in pairwise(frames)]
    base, ends = frames[0].matrix(), [frame.matrix() for frame in frames[1:]]
    X_tool = np.linalg.inv(ends[-1]) @ X_WT
    if convention == "standard":
        steps, base, ends = _standard(steps, base, ends)

    rows = []
    moving = {link.name: (link, X_WB) for link, X_WB in zip(links, poses, strict=True)}
    for (alpha, a, theta, d), axis, X_WF in zip(steps, used, ends, strict=True):
        row = DHRow(alpha=alpha, a=a, theta=theta, d=d, joint="fixed", name=f"tilt{len(rows) + 1}")
        if axis.joint is not None:
            link, X_WB = moving[axis.joint]
            inertia = link.inertia.transformed(_pose(np.linalg.inv(X_WF) @ X_WB))
            row = _with_joint(_with_body(row, inertia), robot, robot.joints[axis.joint])
        rows.append(row)
    report = _left_out(robot, links, taken)
    if others:
        message = f"{taken!r} is taken for the tool; for another, give tool={others[-1]!r} or the like"
        report.append(Finding("guessed", f"robot {robot.name!r}", message))
    return DHTable(
        tuple(rows), convention, robot.name, _pose(base), _pose(X_tool), tuple(robot.gravity), Report(report)
    )


def _standard(
    steps: Sequence[tuple[float, ...]], base: np.ndarray, ends: Sequence[np.ndarray]
) -> tuple[list[tuple[float, ...]], np.ndarray, list[np.ndarray]]:
    """The same chain in the standard convention: each row takes alpha and a of the next one.

    So frame i moves on along x_i, to where the normal meets axis i+1; the base takes the first step.
    """
    following = [*((alpha, a) for alpha, a, _, _ in steps[1:]), (0.0, 0.0)]
    moved = [X @ _about_x(*step) for X, step in zip(ends, following, strict=True)]
    rows = [(alpha, a, theta, d) for (_, _, theta, d), (alpha, a) in zip(steps, following, strict=True)]
    return rows, base @ _about_x(*steps[0][:2]), moved


def _chain(robot: Robot) -> list[Link]:
    """The links of the robot, if it is a chain of joints that have rows."""
    links = list(robot.mechanism.links)
    if not links:
        raise RobotError(f"no joint of robot {robot.name!r} moves; a table needs one")
    for link in links:
        if not isinstance(link.kind, Revolute | Continuous | Prismatic):
            raise RobotError(f"joint {link.name!r} is {link.kind.name}; a row is revolute, prismatic or fixed")
        if link.is_mimic:
            raise RobotError(
                f"joint {link.name!r} mimics {robot.leader(link.name).name!r}; a row has a coordinate of its own: "
                "load the robot without mimic"
            )
        if link.parent != link.index - 1:
            where = "the world" if link.parent < 0 else f"body {links[link.parent].body!r}"
            others = [k.name for k in links if k.parent == link.parent]
            raise RobotError(
                f"robot {robot.name!r} branches: joints {', '.join(map(repr, others))} are on {where}; a table is a "
                "chain"
            )
    return links


def _zero_poses(links: Sequence[Link]) -> list[np.ndarray]:
    """Poses of the links in the world with all joints at zero."""
    X, poses = np.eye(4), []
    for link in links:
        X = X @ _matrix(link.placement, f"joint {link.name!r}")
        poses.append(X)
    return poses


def _tool(robot: Robot, last: int, tool: str | None) -> tuple[str, list[str]]:
    """The frame that is the tool, and others that could be it as well, if that was for us to say."""
    if tool is None and TOOL in robot.frames and robot.mechanism.frame(TOOL)[0] == last:
        return TOOL, []
    if tool is None:
        # the first is the body that the joint carries, which is no end if anything is fixed to it
        bodies = [name for name, (link, _) in robot.mechanism.poses.items() if link == last]
        own = [frame.name for frame in robot.frames.values() if frame.body in bodies and frame.name not in bodies]
        return bodies[-1], [*bodies[1:-1], *own]
    if robot.mechanism.frame(tool)[0] != last:
        raise RobotError(f"tool {tool!r} does not move with the last joint; give a frame that does")
    return tool, []


def _with_joint(row: DHRow, robot: Robot, joint: Joint) -> DHRow:
    motors = [m for m in robot.motors.values() if m.joint == joint.name]
    return replace(
        row,
        joint=joint.kind.name,
        name=joint.name,
        body=joint.child,
        limits=joint.limits,
        motor=_values(motors[0]) if motors else False,
        damping=joint.damping[0],
        friction=joint.friction[0],
        armature=joint.armature[0],
    )


def _values(motor: Motor) -> dict[str, Any]:
    """The attributes in which a motor is not like any other."""
    defaults = {f.name: f.default for f in fields(motor)} | {"name": motor.joint, "joint": motor.joint}
    return {name: value for name, default in defaults.items() if (value := getattr(motor, name)) != default}


def _with_body(row: DHRow, inertia: Inertia) -> DHRow:
    largest = max((abs(e) for e in inertia.J if is_constant(e)), default=0)
    # about the centre of a point mass there is nothing left but rounding, which would be no tensor
    tensor = [0 if is_constant(e) and abs(e) <= ROUNDING * largest else e for e in inertia.about_com()]
    return replace(row, mass=inertia.mass, com=tuple(inertia.com()), inertia=tuple(tensor))


def _left_out(robot: Robot, links: Sequence[Link], tool: str) -> list[Finding]:
    """What has no place in a table."""
    found = []
    for link in links:
        joint = robot.joints[link.name]
        what = [name for name in _JOINT_EXTRAS if _is_set(getattr(joint, name))]
        motors = [m.name for m in robot.motors.values() if m.joint == joint.name][1:]
        what += [f"motor {name!r}" for name in motors]
        if what:
            found.append(Finding("dropped", f"joint {joint.name!r}", f"a row has no {', '.join(what)}"))
    for what in ("closures", "springs", "contacts", "flexibilities"):
        if names := list(getattr(robot, what)):
            found.append(Finding("dropped", f"robot {robot.name!r}", f"a table has no {what}: {', '.join(names)}"))
    shaped = [body.name for body in robot.bodies.values() if body.visuals or body.collisions]
    if shaped:
        found.append(Finding("dropped", f"robot {robot.name!r}", f"a table has no shapes: {', '.join(shaped)}"))
    made = {TOOL, tool, *(link.body for link in links), *(f"frame{k}" for k in range(len(robot.joints) + 1))}
    if frames := [name for name in robot.frames if name not in made]:
        message = f"a table has no frames of other names: {', '.join(frames)}"
        found.append(Finding("dropped", f"robot {robot.name!r}", message))
    order = [robot.joints.index(m.joint) for m in robot.motors.values()]
    if order != sorted(order):
        message = "motors are in the order of joints here and were not: u is arranged otherwise"
        found.append(Finding("mended", f"robot {robot.name!r}", message))
    return found


# what a joint has beside its row: springs and the like
_ROW_HAS = (
    "name", "kind", "parent", "child", "placement", "limits", "damping", "friction", "armature", "mimic",
)  # fmt: skip
_JOINT_EXTRAS = [f.name for f in fields(Joint) if f.name not in _ROW_HAS]


def _is_set(value: Any) -> bool:
    entries = value if isinstance(value, tuple) else (value,)
    return any(entry is not None and not (is_constant(entry) and entry == 0) for entry in entries)


def _matrix(X: Transform, what: str) -> np.ndarray:
    try:
        return np.array(X.homogeneous(), dtype=float)
    except TypeError:
        raise RobotError(f"{what} is placed by symbols; axes have normals for numbers only: give it some") from None


def _pose(X: np.ndarray) -> Transform:
    return Transform(MatrixRotation(Matrix3(float(e) for e in X[:3, :3].ravel())), Vector(*map(float, X[:3, 3])))


def _about_x(alpha: float, a: float) -> np.ndarray:
    return np.array(Transform(AxisRotation.by(0, alpha), Vector(a, 0, 0)).homogeneous(), dtype=float)
