"""A body drawn from the tree, where a file shows nothing: a tapered link, its joint and its mass."""

from typing import Any

import numpy as np

from pliant.render.triangles import Mesh, along, box, capsule, cylinder, moved, sphere
from pliant.robot import Body, Robot
from pliant.robot.model import WORLD, Joint
from pliant.scalar import is_constant
from pliant.spatial import Transform, Vector

__all__ = ["JOINT_COLOR", "LINK_COLOR", "MASS_COLOR", "homogeneous", "inertia_box", "reach", "tree_shapes"]

LINK_COLOR = (0.42, 0.53, 0.66, 1.0)
JOINT_COLOR = (0.20, 0.23, 0.28, 1.0)
MASS_COLOR = (0.93, 0.55, 0.20, 1.0)

Color = tuple[float, float, float, float]


def tree_shapes(robot: Robot, body: str, size: float) -> list[tuple[str, Mesh, Color]]:
    """Name, mesh in the body's frame and colour of what stands for a body.

    Args:
        size: of the robot, see `reach` [m].
    """
    made = robot.bodies[body]
    thick = 0.035 * size
    carrier = next(j for j in robot.joints.values() if j.child == body)
    ends = [_position(j.placement) for j in robot.joints.values() if j.parent == body]
    ends += [_point(p.center) for p in robot.contact_points if p.body == body]
    ends = [e for e in _apart(ends, 0.02 * size) if np.linalg.norm(e) > 0.02 * size]
    mass = _number(made.inertia.mass)
    center = _point(made.inertia.com()) if mass > 0 else np.zeros(3)
    if not ends and np.linalg.norm(center) > 0.02 * size:
        ends = [center]

    found = [(f"link {k}", _link(end, thick), LINK_COLOR) for k, end in enumerate(ends)]
    joint = _joint(carrier, thick)
    if joint is not None:
        found.append(("joint", joint, JOINT_COLOR))
    if mass > 0:
        found.append(("mass", _mass(made, center, mass, _number(robot.mass), size), MASS_COLOR))
    for point in robot.contact_points:
        if point.body == body and _number(point.radius) > 0:
            ball = sphere(_number(point.radius))
            found.append((point.name, Mesh(ball.vertices + _point(point.center), ball.faces), JOINT_COLOR))
    return found


def reach(robot: Robot) -> float:
    """How large a robot is, roughly: the longest way from its root along the tree [m]; 1 if it has no length."""
    far = {WORLD: 0.0}
    for joint in robot.joints.values():
        step = 0.0 if joint.parent == WORLD else float(np.linalg.norm(_position(joint.placement)))
        # a slide reaches as far as it may
        ends = [abs(x) for x in (joint.limits.lower, joint.limits.upper) for x in np.ravel(np.array(x, dtype=object))]
        slides = joint.kind.name == "prismatic"
        travel = max((float(e) for e in ends if is_constant(e) and e < 1e3), default=0.0) if slides else 0.0
        far[joint.child] = far[joint.parent] + step + travel
    tips = []
    for body in robot.bodies.values():
        own = [_point(body.inertia.com())] if _number(body.inertia.mass) > 0 else []
        own += [_point(p.center) for p in robot.contact_points if p.body == body.name]
        tips.append(far[body.name] + max((float(np.linalg.norm(p)) for p in own), default=0.0))
    longest = max(tips, default=0.0)
    if longest > 1e-6:
        return longest
    # one body about its origin
    sides = [inertia_box(body)[1].max() for body in robot.bodies.values() if _number(body.inertia.mass) > 0]
    return max([s for s in sides if s > 1e-6], default=1.0)


def inertia_box(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """The pose (4, 4) and the sides (3,) [m] of the uniform box with the body's mass and inertia.

    A box with sides a, b, c has the second moments m a^2 / 12, ... along its axes. Without mass, it has no sides.
    """
    m = _number(body.inertia.mass)
    if not m > 0:
        return np.eye(4), np.zeros(3)
    s = body.inertia.about_com()
    xx, xy, xz, yy, yz, zz = (_number(x) for x in s)
    J = np.array([(xx, xy, xz), (xy, yy, yz), (xz, yz, zz)])
    second, axes = np.linalg.eigh(np.trace(J) / 2 * np.eye(3) - J)
    X = np.eye(4)
    X[:3, :3] = axes * (1 if np.linalg.det(axes) > 0 else np.array([1, 1, -1]))
    X[:3, 3] = _point(body.inertia.com())
    return X, np.sqrt(12 * np.maximum(second, 0) / m)


def homogeneous(X: Transform) -> np.ndarray:
    """A transform of numbers as (4, 4)."""
    return np.array([[_number(x) for x in row] for row in X.homogeneous()])


def _link(end: np.ndarray, thick: float) -> Mesh:
    length = float(np.linalg.norm(end))
    wide = min(thick, 0.2 * length)
    return moved(capsule(wide, length, 0.7 * wide), along(np.zeros(3), end))


def _joint(joint: Joint, thick: float) -> Mesh | None:
    """A drum along the axis of a hinge, a sleeve along that of a slide, a ball for three turns."""
    axis = getattr(joint.kind, "axis", None)
    if joint.kind.name == "spherical":
        return sphere(1.3 * thick)
    if joint.kind.nv != 1 or axis is None or not all(is_constant(a) for a in axis):
        return None
    X = along(np.zeros(3), np.array(axis, dtype=float))
    X[:3, 3] = 0
    if joint.kind.name == "prismatic":
        return moved(box((1.8 * thick, 1.8 * thick, 3.2 * thick)), X)
    return moved(cylinder(1.25 * thick, 2.8 * thick), X)


def _mass(body: Body, center: np.ndarray, mass: float, total: float, size: float) -> Mesh:
    """The box of the body's inertia; a ball of its share of the mass where that box is a thread or a giant."""
    X, sides = inertia_box(body)
    if 0.04 * size < sides.min() and sides.max() < 0.8 * size:
        return moved(box(sides), X)
    ball = sphere(0.09 * size * (mass / total) ** (1 / 3))
    return Mesh(ball.vertices + center, ball.faces)


def _apart(points: list[np.ndarray], least: float) -> list[np.ndarray]:
    """Without those that are next to one before."""
    kept: list[np.ndarray] = []
    for p in points:
        if all(np.linalg.norm(p - k) > least for k in kept):
            kept.append(p)
    return kept


def _position(X: Transform) -> np.ndarray:
    return _point(X.p)


def _point(p: Vector) -> np.ndarray:
    return np.array([_number(x) for x in p])


def _number(x: Any) -> float:
    """A number of the robot; of a symbol nothing is known."""
    return float(x) if is_constant(x) else 0.0
