"""Where a robot begins: a pose that shows something, on the ground and within its limits."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pliant.errors import PliantError, unknown_name

if TYPE_CHECKING:
    import numpy as np

    from pliant.contact import Ground
    from pliant.robot import Robot

__all__ = ["contact_centers", "placed", "reach", "row", "scattered", "swung", "within_limits"]

Scalar = Any


def contact_centers(robot: "Robot", q: Sequence[Scalar]) -> list[Scalar]:
    """The centres of all contact points in the world, x, y and z one after the other [m]."""
    from pliant.dynamics.kinematics import link_poses

    poses = link_poses(robot.mechanism, q)
    found: list[Scalar] = []
    for point in robot.contact_points:
        i, X_LB = robot.mechanism.body(point.body)
        p = X_LB.transform_point(point.center)
        found += list(poses[i].transform_point(p) if i >= 0 else p)
    return found


def reach(robot: "Robot", q: Any) -> tuple[list[float], list[float]]:
    """The box around the origins of the bodies and what can touch, in the world [m]."""
    import numpy as np

    from pliant.dynamics.kinematics import link_poses
    from pliant.errors import RobotError

    poses = link_poses(robot.mechanism, list(q))
    points, radii = [], []
    for name in robot.bodies:
        i, X_LB = robot.mechanism.body(name)
        points.append(list(poses[i].transform_point(X_LB.p) if i >= 0 else X_LB.p))
        radii.append(0.0)
    touching = robot
    if not robot.contacts:
        try:
            touching = robot.with_collision_contacts()
        except RobotError:  # a mesh that is not there; the origins do
            touching = robot
    centers = contact_centers(touching, list(q))
    points += [centers[k : k + 3] for k in range(0, len(centers), 3)]
    radii += [point.radius for point in touching.contact_points]
    where, around = np.array(points, dtype=float).reshape(-1, 3), np.array(radii, dtype=float)[:, None]
    return (where - around).min(axis=0).tolist(), (where + around).max(axis=0).tolist()


def within_limits(robot: "Robot", q: Any) -> Any:
    """Configurations with the joints of one degree of freedom brought between their limits, (..., nq)."""
    import numpy as np

    q = np.array(q, dtype=float)
    for joint in robot.joints.values():
        if joint.kind.nq == 1 and joint.mimic is None:
            at = robot.q_slice(joint.name)
            low, high = float(joint.limits.lower[0]), float(joint.limits.upper[0])
            if low <= high:
                q[..., at] = np.clip(q[..., at], low, high)
    return q


def row(option: str, given: Any, names: Sequence[str], start: Any) -> Any:
    """A row of numbers: all of them, or some by name and the rest as it was.

    Args:
        option: for messages.
        given: a sequence of numbers, or a mapping.
        names: of the entries.
        start: the row as it was.
    """
    import numpy as np

    made = np.array(start, dtype=float)
    if isinstance(given, Mapping):
        for name, value in given.items():
            if name not in names:
                place = getattr(given, "places", {}).get(name, f"--{option}")
                raise PliantError(unknown_name("coordinate", name, names)).within(place)
            made[list(names).index(name)] = value
        return made
    if len(given) != len(names):
        raise PliantError(
            f"--{option} has {len(given)} numbers, the robot takes {len(names)}: {', '.join(names)}; "
            f"or give some by name, --{option} {names[-1] if names else 'knee'}=0.5"
        )
    return np.array(given, dtype=float)


def placed(robot: "Robot", ground: "Ground | None", q: Any, height: float) -> Any:
    """Configurations with a free base moved up or down so that the lowest contact is ``height`` above the ground.

    A ball of radius r on ground with the normal n touches where its centre is r / n_z above the ground.

    Args:
        q: (nq,) or (batch, nq).
        height: [m].
    """
    import numpy as np

    free = next((j for j in robot.joints.values() if j.kind.name == "free" and j.parent == "world"), None)
    if ground is None or free is None or not robot.contact_points:
        return q
    centers = _centers(robot, q)
    radii = np.array([float(point.radius) for point in robot.contact_points])
    level, normal = ground.surface(centers[..., 0], centers[..., 1])
    gaps = centers[..., 2] - level - radii / np.maximum(np.asarray(normal.z, dtype=float), 1e-3)
    moved = np.array(q, dtype=float)
    moved[..., robot.q_slice(free.name).start + 2] += height - gaps.min(axis=-1)
    return moved


def _centers(robot: "Robot", q: Any) -> "np.ndarray":
    """`contact_centers` as an array (..., contacts, 3): compiled for many robots, on floats for one."""
    import numpy as np

    if np.ndim(q) == 1:
        found = np.array(contact_centers(robot, list(q)), dtype=float)
    else:
        from pliant.compiler import kernel_from_function

        kernel = kernel_from_function(lambda q: contact_centers(robot, q), {"q": (robot.nq,)}, name="contact_centers")
        found = kernel(np.ascontiguousarray(q, dtype=float))
    return found.reshape(*np.shape(q)[:-1], -1, 3)


def scattered(robot: "Robot", q: Any, batch: int, spread: float, seed: int) -> Any:
    """A batch of configurations about q; the first is q itself.

    Joints and the tilt of a free base are off by a normal distribution of the width ``spread`` [rad], those that slide
    by a tenth of that [m], since legs are shorter than turns are wide. Where the base is stays the same, and so do
    springs within the robot, which begin as they were.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    w = spread * rng.standard_normal((batch, robot.nv))
    w[0] = 0
    for joint in robot.joints.values():
        if joint.kind.name == "free" and joint.mimic is None:
            w[:, robot.v_slice(joint.name).start : robot.v_slice(joint.name).start + 3] = 0
        elif joint.kind.name == "prismatic" and joint.mimic is None:
            w[:, robot.v_slice(joint.name)] *= 0.1
    for name in robot.flexibilities:
        w[:, robot.v_slice(name)] = 0
    return within_limits(robot, robot.integrate(np.tile(np.asarray(q, dtype=float), (batch, 1)), w))


def swung(robot: "Robot", q: Any, angle: float = math.pi / 6) -> Any:
    """A configuration with the revolute joints turned, so that a robot which nothing drives does move."""
    turned = q.copy()
    for joint in robot.joints.values():
        if joint.kind.name in ("revolute", "continuous") and joint.mimic is None:
            turned[robot.q_slice(joint.name)] += angle
    return within_limits(robot, turned)
