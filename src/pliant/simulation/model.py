"""All that one step of a simulation is about: robot, ground, contact, forces, and the numbers that vary."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pliant.contact.closures import ClosureRows, closure_group
from pliant.contact.ground import Ground
from pliant.contact.joint_rows import JointRow
from pliant.contact.rigid import RigidContact
from pliant.contact.solver import is_elastic
from pliant.contact.touching import Group, contact_groups
from pliant.robot import Robot
from pliant.scalar import is_constant
from pliant.simulation.forces import ExternalForce
from pliant.simulation.motors import is_saturable

__all__ = ["StepModel"]

Scalar = Any


@dataclass(frozen=True, eq=False)
class StepModel:
    """What a step simulates; numbers may be any scalar.

    Attributes:
        dt: length of a step [s].
        contact: settings of the contact model.
        has_limits: whether limits of joints hold.
    """

    robot: Robot
    dt: float
    ground: Ground
    contact: Any = field(default_factory=RigidContact)
    forces: tuple[ExternalForce, ...] = ()
    precision: str = "float64"
    has_limits: bool = True

    def with_values(self, **changes: Any) -> "StepModel":
        """A copy with other values."""
        return replace(self, **changes)

    @property
    def is_rigid(self) -> bool:
        """Whether contacts are rows of the solver."""
        return isinstance(self.contact, RigidContact)

    @cached_property
    def groups(self) -> list[Group]:
        """Contacts that the solver treats as rows, in groups."""
        friction, restitution = (self.contact.friction, self.contact.restitution) if self.is_rigid else (0, 0)
        groups = contact_groups(self.robot, self.ground, friction, restitution)
        # a compliant law has friction and losses of its own
        return groups if self.is_rigid else [replace(g, restitution=(0,) * len(g.names)) for g in groups]

    @property
    def correction(self) -> float:
        """Share of a penetration, or of a joint beyond its limit, that is taken back in a step."""
        return self.contact.correction if self.is_rigid else 0.2

    @cached_property
    def contact_names(self) -> list[str]:
        """Names of the contacts, in the order of their impulses."""
        return [name for group in self.groups for name in group.names]

    @cached_property
    def joint_rows(self) -> list[JointRow]:
        """Joints that have a row in the solver, and what acts along it."""
        robot, found = self.robot, []
        dry = {m.joint for m in robot.motors.values() if not _is_zero(m.dry_friction)}
        for link in robot.mechanism.links:
            joint = robot.joints[link.name]
            if link.is_mimic:
                continue
            for k, d in enumerate(link.dofs):
                kinds = []
                if link.kind.nv == 1 and (joint.is_locked or (self.has_limits and has_stops(joint))):
                    kinds.append("stop")
                if not _is_zero(joint.friction[k]) or joint.name in dry:
                    kinds.append("friction")
                if kinds:
                    found.append(JointRow(d, joint.name, tuple(kinds)))
        return found

    @cached_property
    def always_has_joint_rows(self) -> bool:
        """Whether some joint's row acts all the time, not only at a limit."""
        robot = self.robot
        return any("friction" in row.kinds or robot.joints[row.joint].is_locked for row in self.joint_rows)

    @cached_property
    def closures(self) -> list[ClosureRows]:
        """Loops that the solver keeps closed."""
        return [closure_group(self.robot, c) for c in self.robot.closures.values()]

    @property
    def is_elastic(self) -> bool:
        """Whether some contact may have restitution."""
        return any(is_elastic(group) for group in self.groups)

    @property
    def has_elastic_stops(self) -> bool:
        """Whether some joint leaves its limit with restitution."""
        joints = self.robot.joints
        return any("stop" in row.kinds and not _is_zero(joints[row.joint].restitution) for row in self.joint_rows)

    @property
    def has_rows(self) -> bool:
        """Whether there is anything for the solver."""
        return bool(self.groups or self.joint_rows or self.closures)

    @cached_property
    def has_saturable_motors(self) -> bool:
        """Whether a motor's limit has to be watched through the step."""
        return any(is_saturable(m) for m in self.robot.motors.values())

    @property
    def joint_impulses(self) -> int:
        """How many impulses joints have."""
        return sum(len(row.kinds) for row in self.joint_rows)


def has_stops(joint: Any) -> bool:
    """Whether a joint has a limit on some side; some files write 1e16 for none."""
    bounds: Sequence[Scalar] = (*joint.limits.lower, *joint.limits.upper)
    return any(not is_constant(b) or abs(b) < 1e9 for b in bounds) and not any(
        is_constant(b) and math.isnan(b) for b in bounds
    )


def _is_zero(x: Scalar) -> bool:
    return is_constant(x) and x == 0
