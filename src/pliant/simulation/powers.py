"""Power by term: what motors and pushes bring in, and what takes it away.

With u the mean velocity of a step and f a force in it, f u dt is the work of f in the step, since M (v+ - v) = f dt
and the energy of motion changes by M (v+ - v) (v+ + v) / 2. That holds for a blow, too: an impulse p does the work
p (u+ + u-) / 2. Where the motion is smooth, u is the velocity itself and the power that of the moment.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pliant.actuation.forces import external_link_forces
from pliant.actuation.motors import drives, is_saturable
from pliant.dynamics.kinematics import link_poses, link_velocities
from pliant.robot import Robot
from pliant.robot.springs import has_play, has_spring, spring_force, spring_with_play
from pliant.scalar import maximum, minimum, sqrt
from pliant.simulation.free_motion import root_origin
from pliant.simulation.model import StepModel
from pliant.spatial import Motion, Transform, Vector

__all__ = ["POWER_TERMS", "motor_torques", "powers"]

Scalar = Any
Scalars = Sequence[Any]

POWER_TERMS = ("motors", "outside", "damping", "friction", "springs", "stops", "impacts", "sliding")
"""Motors; forces from outside; dampers of joints and viscous friction of motors; dry friction of joints; dampers of
springs and flexibilities; limits and locks of joints; contacts, along their normals and across them."""


def powers(
    model: StepModel,
    t: Scalar,
    q: Scalars,
    v: Scalars,
    mean: Scalars,
    torques: Scalars,
    forces: Scalars,
    rows: Scalars | None,
) -> list[Scalar]:
    """Power of each of `POWER_TERMS` [W]; positive where it goes into the robot.

    Args:
        t: when the step began [s].
        q, v: at its end.
        mean: velocity in the step; v itself where the motion is smooth.
        torques: of the motors, nu.
        forces: of the contacts on the first body, in the world's axes, 3 each.
        rows: forces along `StepModel.joint_rows`; None if the motion has none.
    """
    robot = model.robot
    mechanism = robot.mechanism
    found: dict[str, Scalar] = dict.fromkeys(POWER_TERMS, 0)
    links = {link.name: link for link in mechanism.joint_links}
    for motor, torque in zip(robot.motors.values(), torques, strict=True):
        link = links[motor.joint]
        rate = link.rate(mean)[0]
        found["motors"] = found["motors"] + torque * rate
        found["damping"] = found["damping"] - motor.viscous_friction * link.rate(v)[0] * rate
    _add_joints(model, q, v, mean, rows, found)

    poses, origin = link_poses(mechanism, q, about_root=True), root_origin(model, q)
    ends, means = (link_velocities(mechanism, q, x) for x in (v, mean))
    for i, f in external_link_forces(robot, model.forces, poses, t, model.dt).items():
        V: Motion = means[i]
        found["outside"] = found["outside"] + f.linear.dot(V.linear) + f.angular.dot(V.angular)
    found["springs"] = found["springs"] - _dampers(model, poses, origin, ends, means)

    at = 0
    for group in model.groups:
        for touch in group.touches(poses, origin, model.ground):
            f = Vector(*forces[at : at + 3])
            at += 3
            slip = _velocity(poses, means, group.a, touch.p) - _velocity(poses, means, group.b, touch.p)
            normal = f.dot(touch.normal) * touch.normal.dot(slip)
            found["impacts"] = found["impacts"] + normal
            found["sliding"] = found["sliding"] + f.dot(slip) - normal
    return [found[term] for term in POWER_TERMS]


def motor_torques(robot: Robot, q: Scalars, v: Scalars, u: Scalars, t: Scalar) -> list[Scalar]:
    """What the motors give at a moment of smooth motion, nu [N m or N]."""
    found = []
    for drive in drives(robot, q, v, u, t):
        torque = drive.torque - drive.damping * drive.ratio * v[drive.dof]
        saturable = is_saturable(drive.motor)
        found.append(minimum(maximum(torque, drive.lower), drive.upper) if saturable else torque)
    return found


def _add_joints(
    model: StepModel, q: Scalars, v: Scalars, mean: Scalars, rows: Scalars | None, found: dict[str, Scalar]
) -> None:
    robot = model.robot
    for link in robot.mechanism.joint_links:
        joint = robot.joints[link.name]
        term = "springs" if has_spring(joint) else "damping"
        if not has_play(joint):
            for d, value in zip(link.dofs, link.damping, strict=True):
                found[term] = found[term] - value * v[d] * mean[d]
        elif rows is None or link.is_mimic:
            force, _ = spring_with_play(joint, link.position(q)[0], link.rate(v)[0])
            spring = spring_force(joint, link.position(q)).f[0]
            found["springs"] = found["springs"] + (force - spring) * link.rate(mean)[0]
    terms: Mapping[str, str] = {"friction": "friction", "play": "springs", "lock": "stops", "stop": "stops"}
    for row, force in zip(model.joint_rows, rows or (), strict=rows is not None):
        if row.kind == "play":
            # the spring gives its part back
            force = force - spring_force(robot.joints[row.joint], [q[robot.q_slice(row.joint).start]]).f[0]
        found[terms[row.kind]] = found[terms[row.kind]] + force * mean[row.dof]


def _dampers(model: StepModel, poses: Sequence[Transform], origin: Vector, ends: Any, means: Any) -> Scalar:
    """What the dampers of springs between frames take: d s'+ s'."""
    total: Scalar = 0
    for spring in model.robot.springs.values():
        places, velocities = [], []
        for name in (spring.a, spring.b):
            i, X = model.robot.mechanism.frame(name)
            p = poses[i].transform_point(X.p) if i >= 0 else X.p - origin
            places.append(p)
            velocities.append([_velocity(poses, V, i, p) for V in (ends, means)])
        apart = places[1] - places[0]
        along = apart * (1 / sqrt(apart.dot(apart) + 1e-24))
        end, mean = (along.dot(b - a) for a, b in zip(*velocities, strict=True))
        total = total + spring.damping * end * mean
    return total


def _velocity(poses: Sequence[Transform], velocities: Any, i: int, p: Vector) -> Vector:
    """Of a point of link i, in the axes of the poses; zero for the world."""
    if i < 0:
        return Vector.zero()
    V: Motion = velocities[i]
    return poses[i].R.rotate(V.linear) + poses[i].R.rotate(V.angular).cross(p - poses[i].p)
