"""Kinetic and potential energy."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pliant.dynamics.centroidal import mass_moments
from pliant.dynamics.functions import robot_function
from pliant.dynamics.kinematics import link_velocities
from pliant.robot import Robot

__all__ = ["Energy", "energy", "kinetic_energy", "potential_energy"]

Scalar = Any


class Energy(NamedTuple):
    """Energy of a robot [J]."""

    kinetic: Any
    potential: Any


@robot_function
def energy(robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar]) -> Energy:
    """Kinetic and potential energy [J], as by `kinetic_energy` and `potential_energy`.

    Args:
        q: configuration, nq [rad or m].
        v: velocity, nv [rad/s or m/s].
    """
    return Energy(kinetic_energy.algorithm(robot, q, v), potential_energy.algorithm(robot, q))


@robot_function
def kinetic_energy(robot: Robot, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """T = 1/2 v^T M v = 1/2 sum_i V_i^T I_i V_i + 1/2 sum_d armature_d v_d^2 [J].

    V_i is the velocity of link i in its own frame, where V^T I V = v . (m v + 2 w x h) + w . J w.

    Args:
        q: configuration, nq [rad or m].
        v: velocity, nv [rad/s or m/s].
    """
    mechanism = robot.mechanism
    twice = sum(arm * rate * rate for arm, rate in zip(mechanism.armature, v, strict=True))
    for link, V in zip(mechanism.links, link_velocities(mechanism, q, v), strict=True):
        I, w = link.inertia, V.angular
        twice = twice + V.linear.dot(V.linear * I.mass + 2 * w.cross(I.h)) + w.dot(I.J @ w)
    return twice / 2


@robot_function
def potential_energy(robot: Robot, q: Sequence[Scalar]) -> Scalar:
    """U = -m gravity . c, with c the centre of mass in the world [J].

    It is zero where the centre of mass is level with the world's origin. Bodies that cannot move do
    not count.

    Args:
        q: configuration, nq [rad or m].
    """
    return -robot.gravity.dot(mass_moments(robot.mechanism, q).total)
