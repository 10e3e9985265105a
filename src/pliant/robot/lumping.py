"""Fixed joints merged away."""

from dataclasses import replace
from typing import TYPE_CHECKING

from pliant.robot.joints import Fixed
from pliant.robot.model import WORLD, Body, Frame, Geometry
from pliant.robot.named import Named
from pliant.spatial import Transform

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = ["lumped"]


def lumped(robot: "Robot") -> "Robot":
    """A copy in which each body takes in those fixed to it, and what they were called remains a frame.

    A body fixed to the world stays, since the world carries no shapes.
    """
    bodies: dict[str, Body] = {}
    joints = []
    # the body that has taken in each body, and the pose X_KB of the latter in the former
    keeper = {WORLD: (WORLD, Transform.identity())}
    joint_frames = []
    for joint in robot.joints.values():
        body = robot.bodies[joint.child]
        kept, X_KP = keeper[joint.parent]
        X_KJ = X_KP @ joint.placement
        if isinstance(joint.kind, Fixed) and kept != WORLD:
            keeper[body.name] = kept, X_KJ
            bodies[kept] = _merged(bodies[kept], body, X_KJ)
            if joint.name not in robot.frames:
                joint_frames.append(Frame(joint.name, kept, X_KJ))
        else:
            keeper[body.name] = body.name, Transform.identity()
            bodies[body.name] = body
            joints.append(replace(joint, parent=kept, placement=X_KJ))

    frames = []
    for frame in robot.frames.values():
        kept, X_KB = keeper[frame.body]
        frames.append(replace(frame, body=kept, placement=X_KB @ frame.placement))
    return replace(
        robot,
        bodies=Named("body", bodies.values(), robot.bodies.owner),
        joints=Named("joint", joints, robot.joints.owner),
        frames=Named("frame", [*frames, *joint_frames], robot.frames.owner),
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
