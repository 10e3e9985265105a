"""What the contact law remembers of each contact, in the time step and in smooth motion.

It is a part of the state: for each contact in turn the numbers of `pliant.contact.memory.Memory`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pliant.contact.constraint_rows import tangents_of
from pliant.contact.memory import Axes
from pliant.contact.solver import Visit
from pliant.contact.touching import Group
from pliant.dynamics.kinematics import link_poses, link_velocities, root_origin
from pliant.scalar import Scalar, Scalars, both, equal, negation, select
from pliant.simulation.model import StepModel
from pliant.spatial import Vector

Record = dict[str, Any]


def rotation_of(group: Group, poses: Any) -> Any:
    """The rotation of the link that is touched; None for the ground."""
    return poses[group.b].R if group.b >= 0 else None


# ---- in the time step, with the rows of the solver


def memories_on_rows(m: StepModel, k: int, rows: Record, memory: Scalars, poses: Any) -> list[list[Scalar]]:
    """What is remembered of the contacts of group k at the start of a step, along their axes."""
    stored, group = m.memories(memory)[k], m.groups[k]
    return [
        m.memory.read(own, _axes(contact, group, poses)) for contact, own in zip(rows["contacts"], stored, strict=True)
    ]


def memories_after(m: StepModel, poses: Any, near: Sequence[Scalars], rows: Sequence[Record], w: Scalars) -> Scalars:
    """What is remembered of all contacts at the end of a step; of those that are far, what the law begins with."""
    found: list[Scalar] = []
    for group, is_near, own in zip(m.groups, near, rows, strict=True):
        visit, on = Visit(group, own, w), negation(equal(is_near[0], 0))
        for k, contact in enumerate(own["contacts"]):
            u = visit.velocity(k)
            gap = contact["gap"] + m.dt * u.z
            ahead = m.contact.memory_ahead(gap, u, contact["memory"], m.dt)
            stored = m.memory.write(m.contact.memory_kept(gap, u, ahead), _axes(contact, group, poses))
            touches = both(on, gap < 0)
            found += [select(touches, x, start) for x, start in zip(stored, m.memory.stored, strict=True)]
    return found


def _axes(contact: Record, group: Group, poses: Any) -> Axes:
    x, y, normal = (Vector(*axis) for axis in contact["axes"])
    return Axes(x, y, normal, rotation_of(group, poses))


# ---- in smooth motion


def memory_rates(m: StepModel, q: Scalars, v: Scalars, memory: Scalars) -> list[Scalar]:
    """How it changes at q and v."""

    def rate(gap: Scalar, u: Vector, axes: Axes, stored: Scalars) -> list[Scalar]:
        return m.memory.write_rate(m.contact.memory_rate(gap, u, m.memory.read(stored, axes)), axes, stored)

    return _of_all(m, q, v, memory, rate)


def memory_ahead(m: StepModel, q: Scalars, v: Scalars, memory: Scalars, dt: Scalar) -> list[Scalar]:
    """What it becomes in a time dt with the rate that it has then, at q and v; a contact that is open keeps it."""

    def later(gap: Scalar, u: Vector, axes: Axes, stored: Scalars) -> list[Scalar]:
        ahead = m.contact.memory_ahead(gap, u, m.memory.read(stored, axes), dt)
        found = m.memory.write_back(ahead, axes, stored)
        return [select(gap < 0, x, y) for x, y in zip(found, stored, strict=True)]

    return _of_all(m, q, v, memory, later)


def memory_kept(m: StepModel, q: Scalars, v: Scalars, memory: Scalars) -> list[Scalar]:
    """What is left of it after a step to q and v: as the law settles it, and of open contacts what it begins with."""

    def kept(gap: Scalar, u: Vector, axes: Axes, stored: Scalars) -> list[Scalar]:
        found = m.memory.write(m.contact.memory_kept(gap, u, m.memory.read(stored, axes)), axes)
        return [select(gap < 0, x, y) for x, y in zip(found, m.memory.stored, strict=True)]

    return _of_all(m, q, v, memory, kept)


def _of_all(m: StepModel, q: Scalars, v: Scalars, memory: Scalars, function: Callable[..., Scalars]) -> list[Scalar]:
    """``function(gap, u, axes, stored)`` of each contact, with u along its axes."""
    mechanism, found = m.robot.mechanism, []
    poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
    velocities = link_velocities(mechanism, q, v)
    for group, memories in zip(m.groups, m.memories(memory), strict=True):
        for touch, stored in zip(group.touches(poses, origin, m.ground), memories, strict=True):
            axes = Axes(*tangents_of(touch.normal), touch.normal, rotation_of(group, poses))
            found += function(touch.gap, axes.along(group.velocity(touch, poses, velocities)), axes, stored)
    return found
