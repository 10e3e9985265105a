"""Accelerations and forces of a robot without rows: what integrators of smooth motion ask for."""

from collections.abc import Sequence
from typing import Any

from pliant.actuation.forces import external_link_forces, spring_link_forces
from pliant.actuation.motors import is_saturable
from pliant.contact.rows import tangents_of
from pliant.contact.touching import Touch
from pliant.dynamics.articulated_body import accelerations
from pliant.dynamics.kinematics import link_poses, link_velocities
from pliant.dynamics.newton_euler import newton_euler
from pliant.scalar import maximum, minimum
from pliant.simulation.free_motion import joint_forces, root_origin
from pliant.simulation.model import StepModel
from pliant.spatial import Force, Motion, Transform, Vector

__all__ = ["contact_forces", "smooth_acceleration", "smooth_forces"]

Scalar = Any


def smooth_acceleration(
    model: StepModel, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], u: Sequence[Scalar]
) -> list[Scalar]:
    """vd of M vd + h = f, with all forces at the time t."""
    f, on_links = _forces(model, t, q, v, u)
    h = newton_euler(model.robot, q, v, [0] * model.robot.nv, on_links=on_links)
    return accelerations(model.robot, q, [a - b for a, b in zip(f, h, strict=True)])


def smooth_forces(
    model: StepModel, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], u: Sequence[Scalar]
) -> list[Scalar]:
    """Joint forces, with those on bodies taken to the joints: f of M vd + C v + g = f."""
    f, on_links = _forces(model, t, q, v, u)
    if on_links is None:
        return f
    zero = [0] * model.robot.nv
    weightless = model.robot.with_gravity(0, 0, 0)
    taken = newton_euler(weightless, q, zero, zero, on_links=on_links)
    return [a - b for a, b in zip(f, taken, strict=True)]


def _forces(model: StepModel, t: Scalar, q, v, u) -> tuple[list[Scalar], list[Force] | None]:
    robot = model.robot
    poses, origin = link_poses(robot.mechanism, q, about_root=True), root_origin(model, q)
    joints = joint_forces(model, q, v, u, t)
    f = [a - d * x for a, d, x in zip(joints.f, joints.damping, v, strict=True)]
    for drive in joints.drives:
        if is_saturable(drive.motor):
            torque = drive.torque - drive.damping * drive.ratio * v[drive.dof]
            cut = minimum(maximum(torque, drive.lower), drive.upper)
            f[drive.dof] = f[drive.dof] + drive.ratio * (cut - torque)
    total = external_link_forces(robot, model.forces, poses, t, model.dt)
    for more in (spring_link_forces(robot, poses, origin, q, v), _on_links(model, poses, origin, q, v)):
        for i, force in more.items():
            total[i] = total[i] + force if i in total else force
    return f, [total.get(i, Force.zero()) for i in range(len(robot.mechanism.links))] if total else None


def contact_forces(
    model: StepModel, poses: Sequence[Transform], origin: Vector, q: Sequence[Scalar], v: Sequence[Scalar]
) -> list[tuple[int, int, Touch, Vector]]:
    """The forces of compliant contacts: links, place, and force on the first link, in the world's axes."""
    if model.is_rigid or not model.groups:
        return []
    velocities = link_velocities(model.robot.mechanism, q, v)

    def velocity(i: int, p: Vector) -> Vector:
        if i < 0:
            return Vector.zero()
        V: Motion = velocities[i]
        return poses[i].R.rotate(V.linear) + poses[i].R.rotate(V.angular).cross(p - poses[i].p)

    found = []
    for group in model.groups:
        for touch in group.touches(poses, origin, model.ground):
            axes = (*tangents_of(touch.normal), touch.normal)
            slip = velocity(group.a, touch.p) - velocity(group.b, touch.p)
            local = model.contact.force(touch.gap, Vector(*(axis.dot(slip) for axis in axes)))
            f = Vector.zero()
            for axis, part in zip(axes, local, strict=True):
                f = f + axis * part
            found.append((group.a, group.b, touch, f))
    return found


def _on_links(model: StepModel, poses, origin: Vector, q, v) -> dict[int, Force]:
    total: dict[int, Force] = {}
    for a, b, touch, f in contact_forces(model, poses, origin, q, v):
        for i, force in ((a, f), (b, -f)):
            if i >= 0:
                local = poses[i].R.rotate_back(force)
                moment = poses[i].R.rotate_back((touch.p - poses[i].p).cross(force))
                more = Force(local, moment)
                total[i] = total[i] + more if i in total else more
    return total
