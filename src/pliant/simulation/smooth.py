"""Accelerations and forces of a robot whose motion is smooth: what its integrators ask for."""

from collections.abc import Sequence
from typing import Any

from pliant.actuation.frame_springs import frame_spring_forces
from pliant.actuation.joint_forces import joint_forces
from pliant.actuation.outside_forces import LinkForces, outside_forces
from pliant.contact.touching import Touch
from pliant.dynamics.articulated_body import accelerations
from pliant.dynamics.kinematics import link_poses, link_velocities, root_origin
from pliant.dynamics.newton_euler import newton_euler
from pliant.simulation.model import StepModel
from pliant.spatial import Force, Motion, Transform, Vector

__all__ = ["contact_forces", "smooth_acceleration", "smooth_forces"]

Scalar = Any
Scalars = Sequence[Scalar]


def smooth_acceleration(model: StepModel, t: Scalar, q: Scalars, v: Scalars, u: Scalars) -> list[Scalar]:
    """vd of M vd + h = f, with all forces at the time t."""
    f, on_links = _forces(model, t, q, v, u)
    h = newton_euler(model.robot, q, v, [0] * model.robot.nv, on_links=on_links)
    return accelerations(model.robot, q, [a - b for a, b in zip(f, h, strict=True)])


def smooth_forces(model: StepModel, t: Scalar, q: Scalars, v: Scalars, u: Scalars) -> list[Scalar]:
    """Joint forces, with those on bodies taken to the joints: f of M vd + C v + g = f."""
    f, on_links = _forces(model, t, q, v, u)
    if on_links is None:
        return f
    zero = [0] * model.robot.nv
    weightless = model.robot.with_gravity(0, 0, 0)
    taken = newton_euler(weightless, q, zero, zero, on_links=on_links)
    return [a - b for a, b in zip(f, taken, strict=True)]


def _forces(model: StepModel, t: Scalar, q: Scalars, v: Scalars, u: Scalars) -> tuple[list[Scalar], list[Force] | None]:
    """Forces at the dofs, and on each link, if there are any."""
    robot, mechanism = model.robot, model.robot.mechanism
    poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
    velocities = link_velocities(mechanism, q, v)
    total = outside_forces(robot, model.forces, poses, t, model.dt)
    total.add_all(frame_spring_forces(robot, poses, origin, velocities))
    total.add_all(_contacts_on_links(model, poses, origin, velocities))
    return joint_forces(robot, q, v, u, t).at(v), total.listed(len(mechanism.links))


def contact_forces(
    model: StepModel, poses: Sequence[Transform], origin: Vector, velocities: Sequence[Motion]
) -> list[tuple[int, int, Touch, Vector]]:
    """The forces of compliant contacts: links, place, and force on the first link, in the world's axes."""
    if model.is_rigid:
        return []
    return [
        (group.a, group.b, touch, model.contact.force_on(touch, group.velocity(touch, poses, velocities)))
        for group in model.groups
        for touch in group.touches(poses, origin, model.ground)
    ]


def _contacts_on_links(
    model: StepModel, poses: Sequence[Transform], origin: Vector, velocities: Sequence[Motion]
) -> LinkForces:
    total = LinkForces()
    for a, b, touch, f in contact_forces(model, poses, origin, velocities):
        for i, force in ((a, f), (b, -f)):
            if i >= 0:
                R = poses[i].R
                total.add(i, Force(R.rotate_back(force), R.rotate_back((touch.p - poses[i].p).cross(force))))
    return total
