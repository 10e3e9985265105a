"""Inverse dynamics by recursive Newton-Euler, with bias and gravity forces as special cases."""

from collections.abc import Sequence
from typing import Any

from pliant.dynamics.functions import robot_function
from pliant.dynamics.kinematics import LinkMotion, force_of_motion, link_motions
from pliant.robot import Link, Robot
from pliant.scalar import Scalar, Scalars
from pliant.spatial import Force, Vector


@robot_function
def inverse_dynamics(robot: Robot, q: Scalars, v: Scalars, vd: Scalars, *, external: Any = None) -> list[Scalar]:
    """Joint forces that make the robot accelerate with ``vd``.

    tau = M(q) vd + h(q, v) - sum_i J_i^T f_i, by recursive Newton-Euler: motion outward, force inward
    [Luh, Walker and Paul 1980; Featherstone 2008, 5.3]. Rotor inertia is part of M; damping and
    friction of the joints are not part of h.

    Args:
        q, v: configuration, nq [rad or m], and velocity, nv [rad/s or m/s].
        vd: acceleration, nv.
        external: a force on each body of the robot, (bodies, 6): linear, then the moment about the
            body's origin, in the body's frame [N, N m]; or None.

    Returns:
        tau, nv [N m or N].
    """
    return newton_euler(robot, q, v, vd, external=external)


@robot_function
def bias_forces(robot: Robot, q: Scalars, v: Scalars, *, external: Any = None) -> list[Scalar]:
    """Joint forces that keep vd = 0: h(q, v) = C(q, v) v + g(q), nv [N m or N].

    Args:
        q, v: configuration, nq [rad or m], and velocity, nv [rad/s or m/s].
        external: forces on the bodies as for `inverse_dynamics`, taken off.
    """
    return newton_euler(robot, q, v, [0] * robot.nv, external=external)


@robot_function
def gravity_forces(robot: Robot, q: Scalars) -> list[Scalar]:
    """Joint forces that hold the robot at rest against gravity: g(q), nv [N m or N]."""
    zero = [0] * robot.nv
    return newton_euler(robot, q, zero, zero)


def newton_euler(
    robot: Robot, q: Scalars, v: Scalars, vd: Scalars, *, external: Any = None, on_links: Sequence[Force] | None = None,
    has_gravity: bool = True,
) -> list[Scalar]:  # fmt: skip
    """The algorithm of `inverse_dynamics`, for scalars of any kind.

    Args:
        on_links: forces in the links' frames.
        has_gravity: without, and at rest, it is M vd.
    """
    mechanism = robot.mechanism
    # outward: gravity is a world that accelerates upward
    motions = link_motions(mechanism, q, v, vd, -mechanism.gravity if has_gravity else Vector.zero())
    if external is not None:
        on_links = external_forces(robot, external)
    f = link_wrenches(mechanism.links, motions, on_links)
    # the joint's own force is what it transmits along its motion
    tau: list[Scalar] = [a * x for a, x in zip(mechanism.armature, vd, strict=True)]
    for (d, e), arm in mechanism.couplings.items():
        tau[d] = tau[d] + arm * vd[e]
        if d != e:
            tau[e] = tau[e] + arm * vd[d]
    for link in reversed(mechanism.links):
        for d, force in zip(link.dofs, link.kind.project(f[link.index]), strict=True):
            tau[d] = tau[d] + link.ratio * force
    return tau


def link_wrenches(
    links: Sequence[Link], motions: Sequence[LinkMotion], on_links: Sequence[Force] | None = None
) -> list[Force]:
    """What each joint transmits to its link, for that link and all that it carries: at its origin, in its frame.

    Args:
        on_links: other forces on the links, in their frames.
    """
    f = [force_of_motion(link, motion) for link, motion in zip(links, motions, strict=True)]
    if on_links is not None:
        f = [a - b for a, b in zip(f, on_links, strict=True)]
    # inward: what a link needs, its parent hands on
    for link in reversed(links):
        if link.parent >= 0:
            f[link.parent] = f[link.parent] + motions[link.index].X_PB.act(f[link.index])
    return f


def external_forces(robot: Robot, external: Sequence[Scalars]) -> list[Force]:
    """Forces given per body of the robot, gathered per link, in the link's frame."""
    mechanism = robot.mechanism
    total = [Force.zero() for _ in mechanism.links]
    for name, f in zip(robot.bodies, external, strict=True):
        i, X_BL = mechanism.body(name)
        if i >= 0:
            total[i] = total[i] + X_BL.act(Force(Vector(*f[:3]), Vector(*f[3:])))
    return total
