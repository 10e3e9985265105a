"""Energy by term: motion, gravity, springs."""

from collections.abc import Sequence
from typing import Any

from pliant.dynamics.energy import kinetic_energy, potential_energy
from pliant.dynamics.kinematics import link_poses
from pliant.robot.springs import has_spring, spring_energy
from pliant.scalar import sqrt
from pliant.simulation.free_motion import root_origin
from pliant.simulation.model import StepModel
from pliant.spatial import Vector

__all__ = ["energies"]

Scalar = Any


def energies(model: StepModel, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """Kinetic, potential and elastic energy [J]; the gains of motors are not springs."""
    robot = model.robot
    kinetic = kinetic_energy.algorithm(robot, q, v)
    potential = potential_energy.algorithm(robot, q)
    elastic: Scalar = 0
    for link in robot.mechanism.joint_links:
        joint = robot.joints[link.name]
        if has_spring(joint):
            elastic = elastic + spring_energy(joint, link.position(q))
    if robot.springs:
        poses, origin = link_poses(robot.mechanism, q, about_root=True), root_origin(model, q)
        for spring in robot.springs.values():
            p_a, p_b = (_place(model, poses, origin, name) for name in (spring.a, spring.b))
            apart = p_b - p_a
            stretch = sqrt(apart.dot(apart) + 1e-24) - spring.length
            elastic = elastic + spring.stiffness * stretch * stretch / 2
    return kinetic, potential, elastic


def _place(model: StepModel, poses: Any, origin: Vector, name: str) -> Vector:
    i, X = model.robot.mechanism.frame(name)
    return poses[i].transform_point(X.p) if i >= 0 else X.p - origin
