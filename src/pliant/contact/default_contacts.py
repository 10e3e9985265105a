"""The contacts that a robot without any of its own has in a simulation with ground."""

from dataclasses import replace

from pliant.robot import Finding, Report, Robot

__all__ = ["with_contacts"]

# most points on one rigid part
_LIMIT = 8


def with_contacts(robot: Robot, *, has_ground: bool) -> Robot:
    """The robot with contacts: its own, or some of its collision geometry; without a ground, those of pairs only.

    From the collision geometry come the ends of the tree (feet, hands, heads) and the root, with at most 8
    points each: all shapes of a robot would make the step several times as long, and those in between
    seldom touch.
    """
    if not has_ground:
        return robot if robot.contact_pairs or not robot.contacts else robot.without_contacts()
    if robot.contacts or not any(body.collisions for body in robot.bodies.values()):
        return robot
    chosen = _ends_and_root(robot)
    touching = robot.with_collision_contacts(chosen, limit=_LIMIT)
    if not touching.contacts:
        return touching
    told = Finding(
        "guessed",
        "contacts",
        f"the robot has none of its own, so it touches the ground with the collision geometry of {', '.join(chosen)}; "
        "choose others with robot.with_collision_contacts(bodies) or robot.with_contact(frame)",
    )
    return replace(touching, report=Report([*touching.report, told]))


def _ends_and_root(robot: Robot) -> list[str]:
    """Bodies with collision geometry at the ends of the tree and at its root, if that moves."""
    mechanism = robot.mechanism
    parts: dict[int, list[str]] = {}
    for name, body in robot.bodies.items():
        i, _ = mechanism.body(name)
        if i >= 0 and body.collisions:
            parts.setdefault(i, []).append(name)
    carriers = {joint.parent for joint in robot.joints.values()}
    moving = {link.parent for link in mechanism.joint_links}
    chosen: list[str] = []
    for i, names in parts.items():
        if mechanism.links[i].parent < 0 and mechanism.links[i].kind.nv == 6:
            # the bodies that are fixed to a root are covers and sensors, unless it has no shape itself
            chosen += [n for n in names if n == mechanism.links[i].body] or names
        elif i not in moving:
            chosen += [n for n in names if n not in carriers] or names
    return chosen or [name for names in parts.values() for name in names]
