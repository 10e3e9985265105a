"""The tree of joints: its order, and fixed joints merged away."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pliant.errors import RobotError
from pliant.robot.joints import Fixed
from pliant.robot.model import WORLD, Body, Frame, Geometry, Joint, Named
from pliant.spatial import Transform

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = ["depth_first", "keepers", "lumped"]


def depth_first(joints: Sequence[Joint], bodies: Sequence[str]) -> list[Joint]:
    """The joints from the world outward, each subtree before the next sibling, siblings as given.

    Raises on a body carried by two joints and on a cycle.
    """
    if not bodies:
        raise RobotError("the robot has no bodies", field="bodies", cure="add one")
    carrier: dict[str, Joint] = {}
    children: dict[str, list[Joint]] = {}
    for joint in joints:
        if joint.child == WORLD:
            subject = f"joint {joint.name!r}"
            raise RobotError(f"{subject} has the world as its child", subject=subject, cure="make it the parent")
        if joint.child in carrier:
            both = f"{carrier[joint.child].name!r} and {joint.name!r}"
            problem, cure = f"body {joint.child!r} is the child of joints {both}", "a body has one parent: remove one"
            raise RobotError(problem, subject=f"body {joint.child!r}", field="parent", cure=cure)
        carrier[joint.child] = joint
        children.setdefault(joint.parent, []).append(joint)

    ordered: list[Joint] = []
    stack = list(reversed(children.get(WORLD, [])))
    while stack:
        joint = stack.pop()
        ordered.append(joint)
        stack += reversed(children.get(joint.child, []))

    if len(ordered) < len(bodies):
        reached = {joint.child for joint in ordered}
        lost = next(name for name in bodies if name not in reached)
        loop = _cycle(carrier, lost)
        problem = f"joints form a cycle: {' -> '.join(loop)}"
        raise RobotError(problem, subject=f"body {loop[0]!r}", field="parent", cure="remove one of them")
    return ordered


def _cycle(carrier: dict[str, Joint], body: str) -> list[str]:
    """The cycle of bodies that leads to a body, its first again at the end."""
    path = [body]
    while (body := carrier[body].parent) not in path:
        path.append(body)
    return [body, *reversed(path[path.index(body) :])]


# ---- fixed joints


def keepers(robot: "Robot") -> dict[str, tuple[str, Transform]]:
    """For each body, the one that it is fixed to in the end, and its pose X_KB there.

    A body fixed to the world keeps itself, since the world carries no shapes; others are fixed to it in turn.
    """
    keeper = {WORLD: (WORLD, Transform.identity())}
    for joint in robot.joints.values():
        kept, X_KP = keeper[joint.parent]
        is_taken_in = isinstance(joint.kind, Fixed) and kept != WORLD
        keeper[joint.child] = (kept, X_KP @ joint.placement) if is_taken_in else (joint.child, Transform.identity())
    return keeper


def lumped(robot: "Robot") -> "Robot":
    """A copy in which each body takes in those fixed to it; their names remain as frames.

    A body fixed to the world stays, since the world carries no shapes. Contact shapes move along.
    """
    bodies: dict[str, Body] = {}
    joints = []
    keeper = keepers(robot)
    joint_frames = []
    for joint in robot.joints.values():
        body = robot.bodies[joint.child]
        kept, X_KP = keeper[joint.parent]
        X_KJ = X_KP @ joint.placement
        if keeper[body.name][0] != body.name:
            bodies[kept] = _merged(bodies[kept], body, X_KJ)
            if joint.name not in robot.frames:
                joint_frames.append(Frame(joint.name, kept, X_KJ))
        else:
            bodies[body.name] = body
            joints.append(replace(joint, parent=kept, placement=X_KJ))

    frames = []
    for frame in robot.frames.values():
        kept, X_KB = keeper[frame.body]
        frames.append(replace(frame, body=kept, placement=X_KB @ frame.placement))
    contacts = []
    for shape in robot.contacts.values():
        kept, X_KB = keeper[shape.body]
        contacts.append(replace(shape, body=kept, centers=tuple(X_KB.transform_point(c) for c in shape.centers)))
    return replace(
        robot,
        bodies=Named("body", bodies.values(), robot.bodies.owner),
        joints=Named("joint", joints, robot.joints.owner),
        frames=Named("frame", [*frames, *joint_frames], robot.frames.owner),
        contacts=Named("contact", contacts, robot.contacts.owner),
    )


def _merged(body: Body, other: Body, X: Transform) -> Body:
    def moved(shapes: tuple[Geometry, ...]) -> tuple[Geometry, ...]:
        return tuple(replace(g, placement=X @ g.placement) for g in shapes)

    return Body(
        body.name,
        body.inertia + other.inertia.transformed(X),
        body.visuals + moved(other.visuals),
        body.collisions + moved(other.collisions),
    )
