"""The model of a step: robot, ground, contact, forces, and the numbers that vary."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pliant.actuation.motors import is_saturable
from pliant.actuation.outside_forces import ExternalForce
from pliant.contact.closures import ClosureRows, closure_group
from pliant.contact.ground import Ground
from pliant.contact.joint_rows import JointRow, has_limits
from pliant.contact.models import RigidContact
from pliant.contact.solver import is_elastic
from pliant.contact.touching import Group, contact_groups
from pliant.robot import Robot
from pliant.scalar import is_constant

__all__ = ["StepModel"]

Scalar = Any


@dataclass(frozen=True, eq=False)
class StepModel:
    """What a step simulates; numbers may be any scalar.

    Attributes:
        dt: length of a step [s].
        ground: None where there is none.
        contact: settings of the contact model.
        has_limits: whether limits of joints hold.
    """

    robot: Robot
    dt: float
    ground: Ground | None
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
        """Rows of joints in the solver, those that act all the time first."""
        robot, found = self.robot, []
        dry = {m.joint for m in robot.motors.values() if not _is_zero(m.dry_friction)}
        for link in robot.mechanism.joint_links:
            joint = robot.joints[link.name]
            if link.is_mimic:
                continue
            if joint.has_backlash:
                found.append(JointRow(link.dofs[0], joint.name, "backlash"))
            for k, d in enumerate(link.dofs):
                if joint.is_locked:
                    found.append(JointRow(d, joint.name, "lock"))
                elif not _is_zero(joint.friction[k]) or joint.name in dry:
                    found.append(JointRow(d, joint.name, "friction"))
                if link.kind.nv == 1 and not joint.is_locked and self.has_limits and has_limits(joint):
                    found.append(JointRow(d, joint.name, "stop"))
        return sorted(found, key=lambda row: not row.is_steady)

    @property
    def steady_rows(self) -> list[JointRow]:
        """Those of the joint rows that act all the time: they come first."""
        return [row for row in self.joint_rows if row.is_steady]

    @property
    def stop_rows(self) -> list[JointRow]:
        """Those that act only at a limit."""
        return [row for row in self.joint_rows if not row.is_steady]

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
        return any(not _is_zero(joints[row.joint].restitution) for row in self.stop_rows)

    @property
    def has_rows(self) -> bool:
        """Whether there is anything for the solver."""
        return bool(self.groups or self.joint_rows or self.closures)

    @property
    def has_corrections(self) -> bool:
        """Whether positions may have to be corrected: penetrations, open loops, joints beyond limits."""
        return bool((self.is_rigid and self.groups) or self.closures or self.stop_rows) and self.correction > 0

    @cached_property
    def has_saturable_motors(self) -> bool:
        """Whether a motor's limit has to be watched through the step."""
        return any(is_saturable(m) for m in self.robot.motors.values())


def _is_zero(x: Scalar) -> bool:
    return is_constant(x) and x == 0
