"""Denavit-Hartenberg tables of robots: frames on the axes of the joints, where the common normals are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.checks import check, check_known, per_entry
from pliant.errors import RobotError
from pliant.formats.dh import COLUMNS, TOOL, DHRow, DHTable
from pliant.robot import Continuous, Finding, Joint, Link, Motor, Prismatic, Report, Revolute, Robot
from pliant.scalar import is_constant
from pliant.signatures import explained
from pliant.spatial import AxisRotation, Inertia, Matrix3, MatrixRotation, Transform, Vector

PARALLEL = 1e-13
LARGEST = 0.1
"""Tolerances above this, an angle, would take robots for others [rad]."""

ROUNDING = 1e-14

NEARLY = 1e-3
"""Axes closer to parallel than this, but not parallel [rad], have no normal that is any good."""


@explained
def to_dh(
    robot: Robot, *, convention: str = "modified", tool: str | None = None, tolerance: float = PARALLEL
) -> DHTable:
    """The Denavit-Hartenberg table of a chain: `Robot.to_dh`."""
    check("robot", robot, "a Robot, see pliant.load", isinstance(robot, Robot), subject="to_dh", error=RobotError)
    check_known("convention", convention, COLUMNS, "to_dh", error=RobotError)
    (tolerance,) = per_entry("tolerance", tolerance, 1, subject="to_dh", least=0)
    takes, is_right = f"an angle up to {LARGEST} rad, as in tolerance=1e-5", is_constant(tolerance)
    check("tolerance", tolerance, takes, is_right and tolerance <= LARGEST, subject="to_dh", error=RobotError)
    links = _chain(robot)
    taken, others = _tool(robot, len(links) - 1, tool)
    X, poses = np.eye(4), []
    for link in links:  # with all joints at zero
        X = X @ _matrix(link.placement, f"joint {link.name!r}")
        poses.append(X)
    axes = [
        Axis(X[:3, 3], X[:3, :3] @ np.array(link.kind.axis, dtype=float), link.name)  # type: ignore[attr-defined]
        for link, X in zip(links, poses, strict=True)
    ]
    X_WT = poses[-1] @ _matrix(robot.mechanism.frame(taken)[1], "the tool")
    frames, used = link_frames(axes, np.eye(4), X_WT, tolerance)
    steps = [parameters(before, after, tolerance) for before, after in pairwise(frames)]
    base, *ends = frames
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
        owner = f"robot {robot.name!r}"
        raise RobotError(f"no joint of {owner} moves", subject=owner, field="joints", cure="a table needs one")
    for link in links:
        subject = f"joint {link.name!r}"
        if not isinstance(link.kind, Revolute | Continuous | Prismatic):
            cure = "a row is revolute, prismatic or fixed"
            raise RobotError(f"{subject} is {link.kind.name}", subject=subject, field="kind", cure=cure)
        if link.is_mimic:
            problem = f"{subject} mimics {robot.leader(link.name).name!r}"
            cure = "a row has a coordinate of its own: load the robot without mimic"
            raise RobotError(problem, subject=subject, field="mimic", cure=cure)
        if link.parent != link.index - 1:
            where = "the world" if link.parent < 0 else f"body {links[link.parent].body!r}"
            others = [k.name for k in links if k.parent == link.parent]
            problem = f"robot {robot.name!r} branches: joints {', '.join(map(repr, others))} are on {where}"
            raise RobotError(problem, subject=f"robot {robot.name!r}", field="joints", cure="a table is a chain")
    return links


def _tool(robot: Robot, last: int, tool: str | None) -> tuple[str, list[str]]:
    """The frame that is the tool, and others that could be it as well, if that was for us to say."""
    if tool is None and TOOL in robot.frames and robot.mechanism.frame(TOOL)[0] == last:
        return TOOL, []
    if tool is None:
        # the first is the body that the joint carries, which is not the end if anything is fixed to it
        bodies = [name for name, (link, _) in robot.mechanism.poses.items() if link == last]
        own = [frame.name for frame in robot.frames.values() if frame.body in bodies and frame.name not in bodies]
        return bodies[-1], [*bodies[1:-1], *own]
    if robot.mechanism.frame(tool)[0] != last:
        problem = f"tool {tool!r} does not move with the last joint"
        raise RobotError(problem, subject="to_dh", field="tool", cure="give a frame that does")
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
    """Findings for all that a table cannot hold."""
    found = []
    for link in links:
        joint = robot.joints[link.name]
        what = [name for name in _JOINT_EXTRAS if _is_set(getattr(joint, name))]
        motors = [m.name for m in robot.motors.values() if m.joint == joint.name][1:]
        what += [f"motor {name!r}" for name in motors]
        if what:
            found.append(Finding("dropped", f"joint {joint.name!r}", f"a row has no {', '.join(what)}"))
    made = {TOOL, tool, *(link.body for link in links), *(f"frame{k}" for k in range(len(robot.joints) + 1))}
    parts = {what: list(getattr(robot, what)) for what in ("closures", "springs", "contacts", "flexibilities")}
    parts["shapes"] = [body.name for body in robot.bodies.values() if body.visuals or body.collisions]
    parts["frames of other names"] = [name for name in robot.frames if name not in made]
    for what, names in parts.items():
        if names:
            found.append(Finding("dropped", f"robot {robot.name!r}", f"a table has no {what}: {', '.join(names)}"))
    order = [robot.joints.index(m.joint) for m in robot.motors.values()]
    if order != sorted(order):
        message = "motors are in the order of joints here and were not: u is arranged otherwise"
        found.append(Finding("repaired", f"robot {robot.name!r}", message))
    return found


# values of a joint that a row cannot hold: springs and the like
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
        cure = "axes have normals for numbers only: give it some"
        raise RobotError(f"{what} is placed by symbols", subject=what, field="placement", cure=cure) from None


def _pose(X: np.ndarray) -> Transform:
    return Transform(MatrixRotation(Matrix3(float(e) for e in X[:3, :3].ravel())), Vector(*map(float, X[:3, 3])))


def _about_x(alpha: float, a: float) -> np.ndarray:
    return np.array(Transform(AxisRotation.by(0, alpha), Vector(a, 0, 0)).homogeneous(), dtype=float)


# ---- frames on axes


@dataclass(frozen=True)
class Axis:
    """The axis of a joint in the world: a point ``p`` [m] and a unit direction ``z``; joint None: put between."""

    p: np.ndarray
    z: np.ndarray
    joint: str | None = None


def _frame(p: np.ndarray, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """A frame (4, 4) by its origin [m], its x and its z."""
    X = np.eye(4)
    X[:3] = np.stack([x, np.cross(z, x), z, p], axis=1)
    return X


def link_frames(
    axes: Sequence[Axis], first: np.ndarray, last: np.ndarray, tolerance: float
) -> tuple[list[np.ndarray], list[Axis]]:
    """Frame 0 and one for each axis, as the modified convention has them, and the axes with those put between.

    Frame i has z along axis i, and x along the common normal to axis i+1 [Craig 2005, 3.4]. Where that leaves
    a choice, distances d and angles theta are zero. Frame 0 is ``first`` if x of that meets the first axis at
    a right angle, else frame 1; frame n is ``last`` if that stands on the last axis.

    Axes within `NEARLY` of each other, but not within ``tolerance``, mostly have their normal far away, where
    rounding ruins it: an axis at a right angle to both is put between, for a joint that is fixed.

    Args:
        axes: with all joints at zero.
        first, last: the world, and the tool with all joints at zero, (4, 4).
        tolerance: axes this close to parallel are parallel [rad].
    """
    scale = max([1.0, *(float(np.linalg.norm(axis.p)) for axis in axes)])
    x, foot = first[:3, 0], _foot(axes[0], first[:3, 3])
    off_x = foot - _foot(Axis(first[:3, 3], x), foot)
    meets = abs(x @ axes[0].z) <= ROUNDING and np.linalg.norm(off_x) <= ROUNDING * scale
    # x and the place on its axis that the frame has unless a normal says otherwise
    x, origin = (x, foot) if meets else (_across(axes[0].z), axes[0].p)
    frames: list[np.ndarray] = []
    used: list[Axis] = []
    waiting = list(reversed(axes))
    while len(waiting) > 1:
        axis, following = waiting.pop(), waiting[-1]
        if tolerance < _sine(axis, following) < NEARLY and not _has_near_normal(axis, following, scale):
            waiting.append(Axis(origin, _sideways(axis, following, origin, scale)))
            following = waiting[-1]
        x, origin, foot = _normal(axis, following, x, origin, scale, tolerance)
        used.append(axis)
        frames.append(_frame(origin, x, axis.z))
        origin = foot
    end = waiting.pop()
    p, z = last[:3, 3], last[:3, 2]
    is_along = np.linalg.norm(z - end.z) <= ROUNDING
    stands = is_along and np.linalg.norm(p - _foot(end, p)) <= ROUNDING * scale
    frames.append(_frame(p, last[:3, 0], z) if stands else _frame(origin, _unit(x - (x @ end.z) * end.z), end.z))
    return [first if meets else frames[0], *frames], [*used, end]


def parameters(before: np.ndarray, after: np.ndarray, tolerance: float) -> tuple[float, float, float, float]:
    """alpha, a, theta and d of the step between two frames of `link_frames`.

    Lengths that are zero but for rounding are zero; angles within ``tolerance`` of right ones are right.
    """
    x, z = before[:3, 0], after[:3, 2]
    alpha = math.atan2(np.cross(before[:3, 2], z) @ x, before[:3, 2] @ z)
    theta = math.atan2(np.cross(x, after[:3, 0]) @ z, x @ after[:3, 0])
    along = after[:3, 3] - before[:3, 3]
    lengths = along @ x, along @ z
    # alpha's turn leaves x where it is, so that a and d are at right angles
    scale = max(1.0, float(np.linalg.norm(along)))
    a, d = (0.0 if abs(length) <= ROUNDING * scale else float(length) for length in lengths)
    return _rounded(alpha, tolerance), a, _rounded(theta, tolerance), d


def _normal(
    axis: Axis, following: Axis, x: np.ndarray, origin: np.ndarray, scale: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The direction of the common normal, and its ends on the two axes; x and origin are preferred."""
    between = following.p - axis.p
    sine = _sine(axis, following)
    if tolerance < sine < NEARLY:  # `link_frames` lets only those through that have a normal here
        start = _foot(axis, following.p)
        return _unit(following.p - start), start, following.p
    if sine <= tolerance:  # parallel: any place will do
        across = following.p - origin
        across = across - (across @ axis.z) * axis.z
        if np.linalg.norm(across) > ROUNDING * scale:
            x = across
        return _unit(x - (x @ axis.z) * axis.z), origin, origin + across
    normal = np.cross(axis.z, following.z)
    square = normal @ normal
    start = axis.p + axis.z * (np.cross(between, following.z) @ normal / square)
    end = following.p + following.z * (np.cross(between, axis.z) @ normal / square)
    normal = normal / math.sqrt(square)
    length = between @ normal
    # from axis to axis; if they meet, to the side where x has been
    backward = length < 0 if abs(length) > ROUNDING * scale else normal @ x < -ROUNDING
    return -normal if backward else normal, start, end


def _has_near_normal(axis: Axis, following: Axis, scale: float) -> bool:
    """Whether axes that are nearly parallel are so by a turn about the line from one to the other."""
    across = following.p - _foot(axis, following.p)
    length = np.linalg.norm(across)
    return bool(length > NEARLY * scale and abs(across @ following.z) <= ROUNDING * length)


def _sideways(axis: Axis, following: Axis, origin: np.ndarray, scale: float) -> np.ndarray:
    """A direction at a right angle to an axis, toward the following one if that is apart from it."""
    across = following.p - origin
    across = across - (across @ axis.z) * axis.z
    return _unit(across) if np.linalg.norm(across) > NEARLY * scale else _across(axis.z)


def _sine(a: Axis, b: Axis) -> float:
    return float(np.linalg.norm(np.cross(a.z, b.z)))


def _foot(axis: Axis, p: np.ndarray) -> np.ndarray:
    """The point of an axis nearest to p."""
    return axis.p + axis.z * (axis.z @ (p - axis.p))


def _across(z: np.ndarray) -> np.ndarray:
    """A unit vector at a right angle to z: x of the world, if that is one, or the nearest."""
    x = np.eye(3)[int(np.argmin(abs(z)))]
    return _unit(x - (x @ z) * z)


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v)


def _rounded(angle: float, tolerance: float) -> float:
    """The multiple of a right angle that an angle is within the tolerance, or itself."""
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * (math.pi / 2)) > tolerance:
        return angle
    return (0.0, math.pi / 2, math.pi, -math.pi, -math.pi / 2)[quarters]
