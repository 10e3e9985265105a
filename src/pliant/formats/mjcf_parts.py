"""What connects and measures bodies of a compiled MJCF model: equality constraints, tendons, sensors."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.formats.mjcf_shapes import pose, position_rpy
from pliant.formats.mjcf_tree import HINGE, NO_CONSTRAINT, NO_DAMPER, NO_EQUALITY, NO_SPRING, SLIDE, Tree
from pliant.robot import Robot

CONNECT, WELD, JOINT, TENDON = range(4)
_EQUALITIES = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")
BODY_OBJECT, XBODY_OBJECT, SITE_OBJECT, CAMERA_OBJECT, JOINT_OBJECT, ACTUATOR_OBJECT = 1, 2, 6, 7, 3, 19
WRAP_JOINT, WRAP_SITE = 1, 3
# sensors, by MuJoCo's number
_IMU = {1: "accelerometer", 3: "gyro"}
_WRENCH = {4: "force", 5: "torque"}
_ENCODER = {9: "position", 10: "velocity"}
_POSE = {26: "position", 27: "orientation", 31: "linear", 32: "angular"}
TOUCH, RANGE_FINDER = 0, 7
_SENSORS = (
    "touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer", "rangefinder", "camprojection",
    "jointpos", "jointvel", "tendonpos", "tendonvel", "actuatorpos", "actuatorvel", "actuatorfrc", "jointactuatorfrc",
    "tendonactuatorfrc", "ballquat", "ballangvel", "jointlimitpos", "jointlimitvel", "jointlimitfrc", "tendonlimitpos",
    "tendonlimitvel", "tendonlimitfrc", "framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis",
    "framelinvel", "frameangvel", "framelinacc", "frameangacc", "subtreecom", "subtreelinvel", "subtreeangmom",
    "insidesite", "distance", "normal", "fromto", "contact", "e_potential", "e_kinetic", "clock", "tactile", "plugin",
    "user",
)  # fmt: skip
JOINT_TORQUES = 16  # jointactuatorfrc


# ---- equality constraints


def couple_joints(tree: Tree, couple: bool) -> None:
    """Joints that follow another or keep their place, from the equality constraints between joints."""
    m = tree.model
    for k in _equalities(tree, JOINT):
        name = m.name("eq", k) or f"joint equality {k}"
        subject, follower, leader = f"equality {name!r}", int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
        a0, a1, *higher = (float(x) for x in m.eq_data[k][:5])
        own = tree.joints.get(follower)
        if own is None or (leader >= 0 and leader not in tree.joints):
            tree.journal.note("dropped", subject, "one of its joints is left out")
        elif not couple:
            tree.journal.note("dropped", subject, "not kept, both are joints of their own (mimic=True couples them)")
        elif leader < 0:
            tree.locked.add(follower)
            message = f"joint {own!r} is locked where it is at first, and not where the file puts it"
            tree.journal.note("repaired", subject, message)
        elif any(higher):
            tree.journal.note("dropped", subject, "not proportional: its joints move on their own")
        elif follower in tree.leaders or follower in _above(tree, leader):
            tree.journal.note("dropped", subject, f"joint {own!r} follows another already, or itself")
        else:
            q1, q2 = (float(m.qpos0[m.jnt_qposadr[j]]) for j in (follower, leader))
            tree.leaders[follower] = leader, a1, q1 + a0 - a1 * q2
            message = f"joint {own!r} follows {tree.joints[leader]!r} exactly, and has no coordinate of its own"
            tree.journal.note("repaired", subject, message)


def _above(tree: Tree, joint: int) -> list[int]:
    found = [joint]
    while found[-1] in tree.leaders:
        found.append(tree.leaders[found[-1]][0])
    return found


def _equalities(tree: Tree, kind: int) -> Iterator[int]:
    """Constraints of a kind; those that are switched off are reported."""
    m = tree.model
    off = int(m.options["disableflags"]) & (NO_EQUALITY | NO_CONSTRAINT)
    for k in range(m.sizes["neq"]):
        if int(m.eq_type[k]) != kind:
            continue
        if off or not m.eq_active0[k]:
            name = m.name("eq", k) or f"{_EQUALITIES[kind]} equality {k}"
            tree.journal.note("dropped", f"equality {name!r}", "it is not active")
        else:
            yield k


def with_closures(robot: Robot, tree: Tree) -> Robot:
    """A copy with the constraints between bodies as closures; others are reported."""
    m = tree.model
    for kind in (CONNECT, WELD):
        for k in _equalities(tree, kind):
            robot = _closed(robot, tree, k, kind)
    for kind in range(TENDON, len(_EQUALITIES)):
        for k in _equalities(tree, kind):
            if kind == TENDON and (found := _at_length(robot, tree, k)) is not None:
                robot = found
                continue
            name = m.name("eq", k) or f"{_EQUALITIES[kind]} equality {k}"
            tree.journal.note("dropped", f"equality {name!r}", f"no closure is one of {_EQUALITIES[kind]}s: not kept")
    return robot


def _closed(robot: Robot, tree: Tree, k: int, kind: int) -> Robot:
    m = tree.model
    name = m.name("eq", k) or f"{_EQUALITIES[kind]}{k}"
    subject, ends = f"equality {name!r}", [int(m.eq_obj1id[k]), int(m.eq_obj2id[k])]
    data = [float(x) for x in m.eq_data[k]]
    if int(m.eq_objtype[k]) == SITE_OBJECT:
        if any(site not in tree.sites for site in ends):
            tree.journal.note("dropped", subject, "one of its sites is left out: not kept")
            return robot
        a, b = (tree.sites[site] for site in ends)
    else:
        if any(body not in tree.bodies for body in ends):
            tree.journal.note("dropped", subject, "one of its bodies is left out: not kept")
            return robot
        level = (1.0, 0.0, 0.0, 0.0)
        if kind == CONNECT:
            poses = (pose(np.array(data[:3]), np.array(level)), pose(np.array(data[3:6]), np.array(level)))
        else:
            poses = (pose(np.array(data[3:6]), np.array(data[6:10])), pose(np.array(data[:3]), np.array(level)))
        frames = []
        for body, X, end in zip(ends, poses, "ab", strict=True):
            frame = tree.frame_name(f"{name}_{end}", "frame")
            robot = robot.with_frame(frame, tree.bodies[body], *position_rpy(X))
            frames.append(frame)
        a, b = frames
    if kind == WELD and data[10] == 0:
        kind = CONNECT
    try:
        return robot.with_closure("point" if kind == CONNECT else "weld", a, b, name=name)
    except PliantError as error:
        tree.journal.note("dropped", subject, f"{error}: not kept")
        return robot


def _at_length(robot: Robot, tree: Tree, k: int) -> Robot | None:
    """A copy that holds two sites at the length of a tendon between them, if that is what the constraint does."""
    m, tendon = tree.model, int(tree.model.eq_obj1id[k])
    sites = _ends(tree, tendon)
    length = float(m.tendon_length0[tendon] + m.eq_data[k][0])
    if int(m.eq_obj2id[k]) >= 0 or sites is None or length <= 0:
        return None
    name = m.name("eq", k) or m.name("tendon", tendon) or f"tendon{tendon}"
    return robot.with_closure("distance", *sites, length=length, name=name)


# ---- tendons


def _ends(tree: Tree, tendon: int) -> tuple[str, str] | None:
    """The two sites that a straight tendon joins, if both are here."""
    m = tree.model
    wraps = range(int(m.tendon_adr[tendon]), int(m.tendon_adr[tendon] + m.tendon_num[tendon]))
    sites = [int(m.wrap_objid[w]) for w in wraps if m.wrap_type[w] == WRAP_SITE]
    if len(wraps) == len(sites) == 2 and all(site in tree.sites for site in sites):
        return tree.sites[sites[0]], tree.sites[sites[1]]
    return None


def fixed_tendons(tree: Tree) -> dict[int, tuple[tuple[str, float], ...]]:
    """Of each tendon that is a sum of joints, all of them here, the joints and their coefficients."""
    m, found = tree.model, {}
    for k in range(m.sizes["ntendon"]):
        wraps = range(int(m.tendon_adr[k]), int(m.tendon_adr[k] + m.tendon_num[k]))
        if wraps and all(m.wrap_type[w] == WRAP_JOINT for w in wraps):
            joints = [int(m.wrap_objid[w]) for w in wraps]
            if all(j in tree.joints and m.jnt_type[j] in (HINGE, SLIDE) for j in joints) and len({*joints}) == len(
                joints
            ):
                found[k] = tuple((tree.joints[j], float(m.wrap_prm[w])) for j, w in zip(joints, wraps, strict=True))
    return found


def with_tendons(robot: Robot, tree: Tree) -> Robot:
    """A copy with the springs and dampers of tendons between two sites; what else tendons do is reported."""
    m = tree.model
    off = int(m.options["disableflags"])
    for k in range(m.sizes["ntendon"]):
        name = m.name("tendon", k) or f"tendon{k}"
        ends = _ends(tree, k)
        stiffness = 0.0 if off & NO_SPRING else float(m.tendon_stiffness[k])
        damping = 0.0 if off & NO_DAMPER else float(m.tendon_damping[k])
        low, high = (float(x) for x in m.tendon_lengthspring[k])
        lost = [
            word for word, is_there in (
                ("limits", m.tendon_limited[k]), ("friction", m.tendon_frictionloss[k]),
                ("inertia", m.tendon_armature[k]), ("force limit", m.tendon_actfrclimited[k]),
                ("nonlinear spring", m.tendon_stiffnesspoly[k].any()),
                ("nonlinear damping", m.tendon_dampingpoly[k].any()),
            ) if is_there
        ]  # fmt: skip
        if (stiffness or damping) and ends is not None and (low == high or not stiffness):
            robot = robot.with_spring(*ends, stiffness=stiffness, damping=damping, length=low, name=name)
        elif stiffness or damping:
            lost.append("spring and damping")
        if lost:
            tree.journal.note("dropped", f"tendon {name!r}", f"its {', '.join(lost)}: no force of it acts")
    return robot


# ---- sensors


def with_sensors(robot: Robot, tree: Tree) -> Robot:
    """A copy with the sensors that Pliant has; the others are reported."""
    m = tree.model
    frames: dict[tuple[str, str], dict[str, str]] = {}  # kind and frame to channels, with the sensor's name
    joints: dict[str, dict[str, str]] = {}
    for k in range(m.sizes["nsensor"]):
        kind, number = int(m.sensor_type[k]), int(m.sensor_objid[k])
        name = m.name("sensor", k) or f"sensor{k}"
        frame = _frame(tree, int(m.sensor_objtype[k]), number)
        joint = tree.joints.get(number)
        is_simple = joint is not None and joint in robot.joints and robot.joints[joint].kind.nv == 1
        groups = (("imu", _IMU), ("wrench", _WRENCH), ("pose", _POSE))
        what = next(((of, table[kind]) for of, table in groups if kind in table), None)
        if what is not None and frame is not None and m.sensor_reftype[k] == 0:
            channels = frames.setdefault((what[0], frame), {})
            if what[1] in channels:
                tree.journal.note("dropped", f"sensor {name!r}", f"{channels[what[1]]!r} measures the same")
            channels.setdefault(what[1], name)
        elif kind in _ENCODER and is_simple and joint is not None:
            joints.setdefault(joint, {}).setdefault(_ENCODER[kind], name)
        elif kind == JOINT_TORQUES and is_simple and any(motor.joint == joint for motor in robot.motors.values()):
            robot = _with(robot, tree, "torque", joint, name, {})
        elif kind == TOUCH and number in tree.sites and tree.bodies[int(m.site_bodyid[number])] in robot.bodies:
            body = tree.bodies[int(m.site_bodyid[number])]
            robot = _with(robot, tree, "contact", body, name, {"channels": ["force", "touch"]})
            tree.journal.note("repaired", f"sensor {name!r}", "the force on the whole body, not that within a site")
        elif kind == RANGE_FINDER and frame is not None:
            reach = float(m.sensor_cutoff[k]) or 10.0
            robot = _with(robot, tree, "range", frame, name, {"rays": [(0, 0, 1)], "reach": reach})
        else:
            word = _SENSORS[kind] if 0 <= kind < len(_SENSORS) else "sensor"
            tree.journal.note("dropped", f"sensor {name!r}", f"no sensor of ours is a {word} there")
    for (kind, frame), channels in frames.items():
        name = next(iter(channels.values())) if len(channels) == 1 else f"{frame}_{kind}"
        robot = _with(robot, tree, kind, frame, name, {"channels": list(channels)})
    by_channels: dict[tuple[str, ...], list[str]] = {}
    for joint, channels in joints.items():
        by_channels.setdefault(tuple(sorted(channels)), []).append(joint)
    for channels, at in by_channels.items():
        name = "encoder" if len(by_channels) == 1 else f"encoder_{'_'.join(channels)}"
        robot = _with(robot, tree, "encoder", at, name, {"channels": list(channels)})
    return robot


def _frame(tree: Tree, kind: int, index: int) -> str | None:
    """The frame of an object that a sensor is on."""
    if kind == SITE_OBJECT:
        return tree.sites.get(index)
    if kind == XBODY_OBJECT and index > 0:
        return tree.bodies.get(index)
    return None


def _with(robot: Robot, tree: Tree, kind: str, at: Any, name: str, options: dict[str, Any]) -> Robot:
    """A copy with a sensor, or a finding of why it cannot be."""
    name = name.replace(".", "_")
    while name in robot.sensors:
        name += "_"
    try:
        return robot.with_sensor(kind, at, name=name, **options)
    except PliantError as error:
        tree.journal.note("dropped", f"sensor {name!r}", str(error))
        return robot
