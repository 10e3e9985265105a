"""The same robot in Pinocchio and MuJoCo, if they are installed, to compare speeds."""

import math
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.errors import PliantError

if TYPE_CHECKING:
    from pliant.robot import Link, Robot

__all__ = ["OtherRobotError", "mujoco_model", "pinocchio_model"]

_HINGES = ("revolute", "continuous")
_SAME = 1e-6


class OtherRobotError(PliantError):
    """The peer has another robot, or none; a comparison would mean nothing."""


def pinocchio_model(robot: "Robot", path: Path | None) -> Any:
    """Pinocchio's model of the robot's file, checked to have the same mass matrix.

    Raises:
        OtherRobotError: if it has not.
        ImportError: without Pinocchio.
    """
    import numpy as np

    from pliant.dynamics import mass_matrix

    pinocchio: Any = import_module("pinocchio")

    if path is None or path.suffix != ".urdf":
        raise OtherRobotError("it is not read from a URDF file")
    root = [pinocchio.JointModelFreeFlyer()] if robot.is_free else []
    model = pinocchio.buildModelFromUrdf(str(path), *root)
    if model.nq != robot.nq or model.nv != robot.nv:
        raise OtherRobotError("its coordinates are others there")
    q = robot.neutral()
    upper = np.triu(pinocchio.crba(model, model.createData(), q))
    _check_same(np.array(mass_matrix(robot, q)), upper + np.triu(upper, 1).T)
    return model


def mujoco_model(robot: "Robot", dt: float, friction: float) -> Any:
    """MuJoCo's model of the robot, with its contact points as balls on a plane and motors that hold a position.

    Raises:
        OtherRobotError: if it cannot be made, or has another mass matrix.
        ImportError: without MuJoCo.
    """
    import numpy as np

    from pliant.dynamics import mass_matrix

    mujoco: Any = import_module("mujoco")

    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep, spec.option.gravity = dt, list(robot.gravity)
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    grip: dict[str, Any] = {"friction": [friction, 0, 0], "condim": 3}
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(type=plane, size=[0, 0, 1], contype=0, conaffinity=1, **grip)
    bodies: list[Any] = []
    for link in robot.mechanism.links:
        parent = bodies[link.parent] if link.parent >= 0 else spec.worldbody
        bodies.append(_body(mujoco, parent, robot, link))
    for point in robot.contact_points:
        i, X_LB = robot.mechanism.body(point.body)
        if i >= 0:
            ball = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [max(float(point.radius), 1e-4), 0, 0], "mass": 0}
            center = [float(x) for x in X_LB.transform_point(point.center)]
            bodies[i].add_geom(pos=center, contype=1, conaffinity=0, **ball, **grip)
    for motor in robot.motors.values():
        actuator = spec.add_actuator(name=motor.name, target=motor.joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=float(motor.kp), kv=0)
        spec.joint(motor.joint).damping[0] += float(motor.kd)
        if math.isfinite(motor.effort_limit):
            actuator.forcelimited, actuator.forcerange = True, [-motor.effort_limit, motor.effort_limit]
    try:
        model = spec.compile()
    except ValueError as error:
        raise OtherRobotError(str(error)) from None
    if model.nv != robot.nv:
        raise OtherRobotError("its coordinates are others there")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    columns = np.zeros((model.nv, model.nv))
    for k, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, columns[k], unit)
    _check_same(np.array(mass_matrix(robot, robot.neutral())), columns)
    return model


def _body(mujoco: Any, parent: Any, robot: "Robot", link: "Link") -> Any:
    """A link with all that is fixed to it, and its joint."""
    import numpy as np

    from pliant.spatial.vectors import quaternion_from_matrix

    kind, inertia = link.kind.name, link.inertia
    if kind not in (*_HINGES, "prismatic", "free") or link.is_mimic or link.is_rotor:
        raise OtherRobotError(f"it has no joint like {link.name!r}, {kind}")
    x, y, z, w = (float(c) for c in quaternion_from_matrix(link.placement.R.matrix()))
    body = parent.add_body(name=link.body, pos=[float(c) for c in link.placement.p], quat=[w, x, y, z])
    mass = float(inertia.mass)
    if mass > 0:
        com = np.array([float(h) for h in inertia.h]) / mass
        J = np.array([[float(inertia.J.entry(r, c)) for c in range(3)] for r in range(3)])
        J -= mass * (com @ com * np.eye(3) - np.outer(com, com))
        # MuJoCo takes no body without width, such as a rod; a billionth more is within the tolerance of the check
        J += np.eye(3) * (1e-9 * np.trace(J) or 1e-12)
        body.mass, body.ipos, body.explicitinertial = mass, com, True
        body.fullinertia = [J[k] for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    if kind == "free":
        body.add_freejoint(name=link.name, align=mujoco.mjtAlignFree.mjALIGNFREE_FALSE)
        return body
    made = body.add_joint(
        name=link.name,
        type=mujoco.mjtJoint.mjJNT_HINGE if kind in _HINGES else mujoco.mjtJoint.mjJNT_SLIDE,
        axis=[float(a) for a in getattr(link.kind, "axis", ())],
        armature=float(link.armature[0]),
        frictionloss=float(robot.joints[link.name].friction[0]),
    )
    made.damping[0] = float(link.damping[0])
    limits = robot.joints[link.name].limits
    lower, upper = float(limits.lower[0]), float(limits.upper[0])
    if math.isfinite(lower) and math.isfinite(upper) and lower < upper:
        made.limited, made.range = mujoco.mjtLimited.mjLIMITED_TRUE, [lower, upper]
    return body


def _check_same(ours: Any, theirs: Any) -> None:
    import numpy as np

    off = float(np.abs(ours - theirs).max() / np.abs(ours).max())
    if not off < _SAME:
        raise OtherRobotError(f"its mass matrix is off by {off:.1g}")
