"""Energy by term, and power by term: what motors and pushes bring in, and what takes it away.

With u the mean velocity of a step and f a force in it, f u dt is the work of f in the step, since M (v+ - v) = f dt
and the energy of motion changes by M (v+ - v) (v+ + v) / 2. That holds for a blow, too: an impulse p does the work
p (u+ + u-) / 2. Where the motion is smooth, u is the velocity itself and the power that of the moment.
"""

from pliant.actuation.body_forces import outside_forces, stretches
from pliant.actuation.joint_forces import damping_powers, drives, joint_spring_energy
from pliant.actuation.joint_springs import spring_force
from pliant.dynamics.energy_and_momentum import kinetic_energy, potential_energy
from pliant.dynamics.kinematics import link_poses, link_velocities, root_origin
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars
from pliant.simulation.model import StepModel
from pliant.spatial import Vector

__all__ = ["ENERGY_TERMS", "POWER_TERMS", "energies", "motor_torques", "powers"]

ENERGY_TERMS = ("kinetic", "potential", "elastic")
"""Of motion, of gravity, of springs."""

POWER_TERMS = ("motors", "outside", "damping", "friction", "springs", "stops", "impacts", "sliding")
"""Motors; forces from outside; dampers of joints and viscous friction of motors; dry friction of joints; dampers of
springs and flexibilities; limits and locks of joints; contacts, along their normals and across them."""

# the term of each kind of constraint at a joint
_TERM = {"friction": "friction", "backlash": "springs", "lock": "stops", "stop": "stops"}


def energies(model: StepModel, q: Scalars, v: Scalars) -> list[Scalar]:
    """Energy of each of `ENERGY_TERMS` [J]; the gains of motors are not springs."""
    robot = model.robot
    elastic = joint_spring_energy(robot, q)
    if robot.springs:
        poses, origin = link_poses(robot.mechanism, q, about_root=True), root_origin(robot.mechanism, q)
        for stretch in stretches(robot, poses, origin):
            elastic = elastic + stretch.energy
    return [kinetic_energy.algorithm(robot, q, v), potential_energy.algorithm(robot, q), elastic]


def motor_torques(robot: Robot, q: Scalars, v: Scalars, u: Scalars, t: Scalar) -> list[Scalar]:
    """The torques of the motors at a moment of smooth motion, nu [N m or N]."""
    return [drive.torque_at(drive.ratio * v[drive.dof]) for drive in drives(robot, q, v, u, t)]


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

    # motors, dampers, and constraints at joints
    links = {link.name: link for link in mechanism.joint_links}
    for motor, torque in zip(robot.motors.values(), torques, strict=True):
        found["motors"] = found["motors"] + torque * links[motor.joint].rate(mean)[0]
    found["damping"], found["springs"] = damping_powers(robot, q, v, mean, has_rows=rows is not None)
    for row, force in zip(model.joint_rows, rows or (), strict=rows is not None):
        if row.kind == "backlash":
            # the spring gives its part back
            force = force - spring_force(robot.joints[row.joint], [q[robot.q_slice(row.joint).start]]).f[0]
        found[_TERM[row.kind]] = found[_TERM[row.kind]] + force * mean[row.dof]

    # forces on bodies
    poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
    ends, means = (link_velocities(mechanism, q, x) for x in (v, mean))
    found["outside"] = outside_forces(robot, model.forces, poses, t, model.dt).power(means)
    for stretch in stretches(robot, poses, origin):
        found["springs"] = found["springs"] - stretch.damper_pull(stretch.rate(ends)) * stretch.rate(means)

    # contacts
    at = 0
    for group in model.groups:
        for touch in group.touches(poses, origin, model.ground):
            f = Vector(*forces[at : at + 3])
            at += 3
            slip = group.velocity(touch, poses, means)
            normal = f.dot(touch.normal) * touch.normal.dot(slip)
            found["impacts"] = found["impacts"] + normal
            found["sliding"] = found["sliding"] + f.dot(slip) - normal
    return [found[term] for term in POWER_TERMS]
