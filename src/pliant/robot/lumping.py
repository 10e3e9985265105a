"""Fixed joints merged away."""

from dataclasses import replace
from typing import TYPE_CHECKING

from pliant.robot.joints import Fixed
from pliant.robot.model import WORLD, Body, Frame, Geometry
from pliant.robot.named import Named
from pliant.spatial import Transform

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = ["keepers", "lumped"]


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
    """A copy in which each body takes in those fixed to it, and what they were called remains a frame.

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
