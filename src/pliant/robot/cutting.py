"""A link cut in two at a frame, with a spring between the parts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import RobotError, unknown_name
from pliant.robot import checks
from pliant.robot.flexibilities import Spring, spring_kind, with_parts
from pliant.robot.flexibility_checks import check_sides
from pliant.robot.model import WORLD, Body, Flexibility, Frame
from pliant.robot.named import Named
from pliant.robot.splitting import share_inertia, split_inertia
from pliant.scalar import is_constant
from pliant.spatial import Transform, Vector

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = ["cut_link"]

Scalar = Any


def cut_link(
    robot: "Robot",
    where: str,
    spring: Spring,
    name: str,
    share: float | None,
    normal: Sequence[Scalar] | None,
    beyond: Iterable[str] | None,
) -> "Robot":
    """The robot with a link cut at a frame; arguments as in `Robot.with_flexibility`.

    What hangs on the link, frames, shapes and points of contact go to the side of the plane on which they are.
    """
    subject = f"the flexibility at frame {where!r}"
    at = robot.frames[where]
    if at.body == WORLD:
        raise RobotError(f"{subject} is in the world, which does not give way")
    body, X_BF = robot.bodies[at.body], at.placement
    if name in robot.joints or name in robot.bodies or name in robot.frames:
        raise RobotError(f"there is a joint, body or frame named {name!r} already; give another name=")
    if not spring.has_no_inertia:
        raise RobotError(f"{subject} has an inertia; the parts of the link have their own; leave it out")
    chosen = None if beyond is None else _chosen(robot, subject, body.name, beyond)
    direction = _normal(subject, X_BF.p, normal)
    if share is None:
        near, far = split_inertia(body.inertia, X_BF.p, direction, subject)
    else:
        checks.check_finite(f"share of {subject}", share)
        (part,) = checks.per_entry(subject, "share", share, 1)
        if is_constant(part) and not 0 < part < 1:
            raise RobotError(f"share of {subject} is {part}; it must be between 0 and 1")
        near, far = share_inertia(body.inertia, part)

    def is_beyond(item: str, p: Vector) -> bool:
        return item in chosen if chosen is not None else float(direction.dot(p - X_BF.p)) > 0

    X_FB = X_BF.inverse()
    joint = spring.joint(subject, name, spring_kind(subject, spring, None), body.name, X_BF)
    joints = [joint]
    for j in robot.joints.values():
        moves = j.parent == body.name and is_beyond(j.name, j.placement.p)
        joints.append(replace(j, parent=name, placement=X_FB @ j.placement) if moves else j)
    frames = [Frame(name, name, Transform.identity())]
    for f in robot.frames.values():
        moves = f.name == where or (f.body == body.name != f.name and is_beyond(f.name, f.placement.p))
        frames.append(replace(f, body=name, placement=X_FB @ f.placement) if moves else f)
    shapes = {
        what: [(g, float(direction.dot(g.placement.p - X_BF.p)) > 0) for g in getattr(body, what)]
        for what in ("visuals", "collisions")
    }
    kept = {what: tuple(g for g, far in found if not far) for what, found in shapes.items()}
    moved = {
        what: tuple(replace(g, placement=X_FB @ g.placement) for g, far in found if far)
        for what, found in shapes.items()
    }
    bodies = [b for b in robot.bodies.values() if b is not body]
    bodies += [Body(body.name, near, **kept), Body(name, far.transformed(X_FB), **moved)]
    made = with_parts(robot, bodies, joints, frames)
    check_sides(made, subject, joint, f"the part of body {body.name!r} beyond it")
    contacts = []
    for shape in robot.contacts.values():
        middle = sum(shape.centers, Vector.zero()) * (1 / len(shape.centers))
        if shape.body == body.name and is_beyond(shape.name, middle):
            shape = replace(shape, body=name, centers=tuple(X_FB.transform_point(c) for c in shape.centers))
        contacts.append(shape)
    return replace(
        made,
        contacts=Named("contact", contacts, robot.contacts.owner),
        flexibilities=robot.flexibilities.extended(Flexibility(name)),
    )


def _normal(subject: str, p: Vector, normal: Sequence[Scalar] | None) -> Vector:
    direction = p if normal is None else checks.vector(subject, "normal", normal)
    if not all(is_constant(x) for x in (*p, *direction)):
        raise RobotError(f"{subject}: a link is cut only where its numbers are known; put them in first")
    length = float(np.linalg.norm([float(x) for x in direction]))
    if length == 0 and normal is not None:
        raise RobotError(f"normal of {subject} is (0, 0, 0); give it a direction, pointing to the side that is beyond")
    if length < 1e-9 and normal is None:
        raise RobotError(
            f"{subject}: the frame is at the origin of its link, so the side that is beyond is not known; "
            "give normal=(x, y, z), pointing there"
        )
    return direction * (1 / length)


def _chosen(robot: "Robot", subject: str, body: str, beyond: Iterable[str]) -> set[str]:
    names = [j.name for j in robot.joints.values() if j.parent == body]
    names += [f.name for f in robot.frames.values() if f.body == body]
    names += [c.name for c in robot.contacts.values() if c.body == body]
    if isinstance(beyond, str) or not isinstance(beyond, Iterable):
        shown = [beyond] if isinstance(beyond, str) else names[:1]
        raise RobotError(f"beyond of {subject} is {beyond!r}; give a list of names, as in beyond={shown!r}")
    found = list(beyond)
    for name in found:
        if name not in names:
            raise RobotError(unknown_name("joint or frame", name, names, f"beyond, of {subject}"))
    return set(found)
