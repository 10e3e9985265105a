"""The order of a tree, and what keeps joints from being one."""

from collections.abc import Sequence

from pliant.errors import RobotError
from pliant.robot.model import WORLD, Joint

__all__ = ["depth_first"]


def depth_first(joints: Sequence[Joint], bodies: Sequence[str]) -> list[Joint]:
    """The joints from the world outward, each subtree before the next sibling, siblings as given.

    A body carried by two joints, or a cycle, is an error.
    """
    if not bodies:
        raise RobotError("the robot has no bodies; add one")
    carrier: dict[str, Joint] = {}
    children: dict[str, list[Joint]] = {}
    for joint in joints:
        if joint.child == WORLD:
            raise RobotError(f"joint {joint.name!r} has the world as its child; make it the parent")
        if joint.child in carrier:
            both = f"{carrier[joint.child].name!r} and {joint.name!r}"
            raise RobotError(f"body {joint.child!r} is the child of joints {both}; a body has one parent: remove one")
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
        raise RobotError(f"joints go round in a cycle: {_cycle(carrier, lost)}; remove one of them")
    return ordered


def _cycle(carrier: dict[str, Joint], body: str) -> str:
    """The cycle that leads to a body, as text."""
    path = [body]
    while (body := carrier[body].parent) not in path:
        path.append(body)
    loop = [body, *reversed(path[path.index(body) :])]
    return " -> ".join(loop)
