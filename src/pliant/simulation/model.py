"""The model of a step: robot, ground, contact, forces, the numbers that vary; and controllers compiled into it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.actuation.body_forces import ExternalForce
from pliant.actuation.disturbances import Disturbance, Gusts, Pushes
from pliant.actuation.joint_forces import is_saturable
from pliant.actuation.motor_friction import has_bristles
from pliant.actuation.motor_memory import MotorMemory
from pliant.actuation.windings import has_winding
from pliant.checks import check, check_known, is_zero
from pliant.contact.closures import ClosureRows, Island, closure_group, islands_of
from pliant.contact.constraint_rows import JointRow, has_limits
from pliant.contact.ground import Ground
from pliant.contact.landing import SHALLOW
from pliant.contact.memory import Memory
from pliant.contact.models import RigidContact
from pliant.contact.moments import no_moments
from pliant.contact.touching import Group, contact_groups
from pliant.dynamics.articulated_factor import is_recursion_cheaper
from pliant.dynamics.joint_space_inertia import mass_matrix
from pliant.errors import SimulationError
from pliant.robot import Free, Motor, Robot, Spherical
from pliant.scalar import Scalar, Scalars
from pliant.sensors.readings import Reader, readers_of
from pliant.simulation.holds import HeldTouch, Holds

MOST_AT_ONCE = 24
"""Constraints of contacts that are solved at once: the work grows with the third power of their number."""

# a solver that is to stop after fewer iterations is not to go on by other means
_FEW = 24

# inertia of a dof that has none, relative to that of all
_NO_INERTIA = 1e-12


@dataclass(frozen=True, eq=False)
class StepModel:
    """What a step simulates; numbers may be any scalar.

    Attributes:
        dt: length of a step [s].
        ground: None where there is none.
        contact: settings of the contact model.
        has_limits: whether limits of joints hold.
        held: names of the contacts that smooth motion holds.
        disturbances: forces on bodies by chance.
        coriolis: where in the step Coriolis forces of robots that turn fast are taken, "middle" or "start".
        base: the model that this one is, but for numbers that vary; None if none do.
    """

    robot: Robot
    dt: float
    ground: Ground | None
    contact: Any = field(default_factory=RigidContact)
    forces: tuple[ExternalForce, ...] = ()
    precision: str = "float64"
    has_limits: bool = True
    held: tuple[str, ...] = ()
    disturbances: tuple[Disturbance, ...] = ()
    coriolis: str = "middle"
    base: "StepModel | None" = None

    @property
    def is_rigid(self) -> bool:
        """Whether contacts are constraints of the solver."""
        return isinstance(self.contact, RigidContact)

    @cached_property
    def groups(self) -> list[Group]:
        """Contacts that the solver treats as constraints, in groups."""
        friction, restitution = (self.contact.friction, self.contact.restitution) if self.is_rigid else (0, 0)
        groups = contact_groups(self.robot, self.ground, friction, restitution)
        for group in groups if not self.is_rigid else ():
            for k in group.turning:
                raise no_moments(group.names[k], "compliant contact has", "RigidContact")
        if self.closures:
            groups = [replace(g, support=self.closed_support(g.support)) for g in groups]
        # a compliant law has friction and losses of its own
        return groups if self.is_rigid else [replace(g, restitution=(0,) * len(g.names)) for g in groups]

    @property
    def correction(self) -> float:
        """Share of a penetration, or of a joint beyond its limit, that is taken back in a step."""
        return self.contact.correction if self.is_rigid else 0.2

    @cached_property
    def touch_names(self) -> list[str]:
        """Names of all that may touch, in the order of their impulses: on ground with edges a contact has several."""
        return [name for group in self.groups for name in group.names]

    @property
    def memory(self) -> Memory:
        """The form of what the contact law remembers of each contact; a rigid one remembers nothing."""
        return Memory() if self.is_rigid else self.contact.memory

    def memories(self, values: Scalars) -> list[list[list[Scalar]]]:
        """What the law remembers, numbers of the state, by group and contact."""
        size, left = len(self.memory.stored), iter(values)
        return [[[next(left) for _ in range(size)] for _ in group.names] for group in self.groups]

    @cached_property
    def contact_names(self) -> list[str]:
        """Names of the contacts, each once."""
        return list(dict.fromkeys(self.touch_names))

    @property
    def touch_labels(self) -> list[str]:
        """Names of all that may touch, with the number of the face for all but the first of a contact."""
        seen: dict[str, int] = {}
        labels = []
        for name in self.touch_names:
            face = seen[name] = seen.get(name, -1) + 1
            labels.append(f"{name}.face{face}" if face else name)
        return labels

    def by_contact(self, forces: np.ndarray) -> np.ndarray:
        """Forces of all that may touch, (..., 3 touches), added up by contact: (..., contacts, 3)."""
        each = forces.reshape(*forces.shape[:-1], len(self.touch_names), 3)
        if len(self.contact_names) == len(self.touch_names):
            return each
        total = np.zeros((*forces.shape[:-1], len(self.contact_names), 3), forces.dtype)
        for k, name in enumerate(self.touch_names):
            total[..., self.contact_names.index(name), :] += each[..., k, :]
        return total

    @cached_property
    def joint_rows(self) -> list[JointRow]:
        """Rows of joints in the solver, those that act all the time first."""
        robot, found = self.robot, []
        rigid = [m for m in robot.motors.values() if not has_bristles(m)]
        dry = {m.joint for m in rigid if not is_zero(m.dry_friction, m.static_friction)}
        for link in robot.mechanism.joint_links:
            joint = robot.joints[link.name]
            if link.is_mimic:
                continue
            if joint.has_backlash:
                found.append(JointRow(link.dofs[0], joint.name, "backlash"))
            for k, d in enumerate(link.dofs):
                if joint.is_locked:
                    found.append(JointRow(d, joint.name, "lock"))
                elif not is_zero(joint.friction[k]) or joint.name in dry:
                    found.append(JointRow(d, joint.name, "friction"))
                if link.kind.nv == 1 and not joint.is_locked and self.has_limits and has_limits(joint):
                    found.append(JointRow(d, joint.name, "stop"))
        return sorted(found, key=lambda row: not row.is_steady)

    @property
    def steady_rows(self) -> list[JointRow]:
        """Those of the joint constraints that act all the time: they come first."""
        return [row for row in self.joint_rows if row.is_steady]

    @property
    def stop_rows(self) -> list[JointRow]:
        """Those that act only at a limit."""
        return [row for row in self.joint_rows if not row.is_steady]

    @cached_property
    def closures(self) -> list[ClosureRows]:
        """Loops that the solver keeps closed."""
        return [closure_group(self.robot, c) for c in self.robot.closures.values()]

    @cached_property
    def islands(self) -> list[Island]:
        """Closures that share dofs, with the locks among these."""
        return islands_of(self.closures, [row.dof for row in self.joint_rows if row.kind == "lock"])

    def closed_support(self, support: Sequence[int]) -> tuple[int, ...]:
        """The dofs that an impulse along these moves: those of the loops that they are part of, too."""
        found = set(support).union(*(i.support for i in self.islands if set(i.support) & set(support)))
        return tuple(sorted(found, reverse=True))

    @cached_property
    def pinned_dofs(self) -> list[int]:
        """Dofs that laws of joints may pin."""
        return sorted({row.dof for row in self.joint_rows if not self.is_in_loop(row)})

    def is_in_loop(self, row: JointRow) -> bool:
        """Whether it is a lock that loops hold with their closures."""
        return row.kind == "lock" and any(row.dof in island.locks for island in self.islands)

    @cached_property
    def holds(self) -> Holds:
        """What holds the robot in smooth motion: loops, locked joints, and the contacts that are held."""
        if self.base is not None:
            return self.base.holds  # no number that varies is part of it
        locks = [row for row in self.joint_rows if row.kind == "lock"]
        names = iter(range(len(self.touch_names)))
        found = [HeldTouch(group, k, next(names)) for group in self.groups for k in range(len(group.names))]
        by_name = {touch.name: touch for touch in reversed(found)}
        return Holds(self.robot, self.ground, self.closures, locks, [by_name[name] for name in self.held])

    @property
    def is_elastic(self) -> bool:
        """Whether some contact may have restitution."""
        return any(group.is_elastic for group in self.groups)

    @property
    def can_fail(self) -> bool:
        """Whether it has contacts with Coulomb's law, whose iterations may fail."""
        return bool(self.groups) and self.is_rigid

    @cached_property
    def turning_dofs(self) -> list[int]:
        """Dofs that turn bodies."""
        links = self.robot.mechanism.links
        found = {d for k in links for d, S in zip(k.dofs, k.kind.columns, strict=True) if not is_zero(*S.angular)}
        return sorted(found)

    @property
    def has_balls(self) -> bool:
        """Whether it has spherical joints."""
        return any(isinstance(link.kind, Spherical) for link in self.robot.mechanism.links)

    @cached_property
    def has_far_bodies(self) -> bool:
        """Whether a joint between bodies slides without limits, so that what it carries may be anywhere."""
        links = (link for link in self.robot.mechanism.links if link.parent >= 0 and not link.is_mimic)
        sliding = {k.name for k in links if any(not is_zero(*S.linear) and is_zero(*S.angular) for S in k.kind.columns)}
        return any(not (self.has_limits and has_limits(self.robot.joints[name])) for name in sliding)

    @property
    def has_ball_springs(self) -> bool:
        """Whether a spherical joint has a spring, and so swings about several axes."""
        return any(isinstance(j.kind, Spherical) and j.has_spring for j in self.robot.joints.values())

    @cached_property
    def swing_eases(self) -> list[float]:
        """By dof, how much faster a spring there swings than if all other dofs were held: M_dd (M^-1)_dd = (w / w')^2.

        That is for the robot before any number varies, at its neutral configuration. Where a light body carries a
        heavy one, it is the light one that swings.
        """
        if self.base is not None:
            return self.base.swing_eases
        robot = self.robot
        M = np.array(mass_matrix.algorithm(robot, robot.neutral().tolist()), float)
        # a dof without inertia swings at any rate
        M += np.diag(np.full(robot.nv, _NO_INERTIA * np.trace(M)))
        return np.maximum(np.diag(M) * np.diag(np.linalg.inv(M)), 1).tolist()

    @cached_property
    def is_recursive(self) -> bool:
        """Whether the step solves with A by articulated bodies: nothing needs the factor of A, which would take longer.

        That has no place for what couples dofs other than bodies do: springs about several axes, joints that mimic. And
        the gyroscopic forces of joints that float are taken from entries of A.
        """
        mechanism = self.robot.mechanism
        wide = any(j.has_spring and j.kind.nv > 1 for j in self.robot.joints.values())
        needs_factor = (
            self.has_rows or mechanism.has_shared_inertia or self.couples_motors or mechanism.floating_links or wide
        )
        return not needs_factor and is_recursion_cheaper(mechanism)

    @property
    def can_be_fast(self) -> bool:
        """Whether Coriolis forces may call for a middle of the step: of one body alone they are gyroscopic."""
        return self.coriolis == "middle" and len(self.robot.mechanism.links) > 1 and bool(self.turning_dofs)

    @cached_property
    def has_round_shapes(self) -> bool:
        """Whether an ellipsoid or a rim may touch the ground."""
        return self.ground is not None and any(p.support is not None for p in self.robot.contact_points)

    @cached_property
    def kept_places(self) -> list[int]:
        """Where in q the places of joints that float are, in float32, whose rounding is kept."""
        links = self.robot.mechanism.floating_links if self.precision == "float32" else ()
        return [i for link in links for i in range(link.q.start, link.q.start + 3)]

    @property
    def has_relief(self) -> bool:
        """Whether the height of the ground depends on the place, and may be none."""
        return self.ground is not None and not self.ground.is_flat

    @property
    def can_plunge(self) -> bool:
        """Whether a rigid contact may come to lie below a ground that it did not meet: one with edges or bends."""
        return self.is_rigid and self.has_relief and bool(self.groups)

    @property
    def can_land(self) -> bool:
        """Whether something may be met within a step: the ground, another shape, or the limit of a joint."""
        return bool((self.is_rigid and self.groups) or self.stop_rows)

    @property
    def has_sweeps(self) -> bool:
        """Whether there are contacts to iterate over."""
        return bool(self.groups)

    def shallow(self, k: int) -> float:
        """So deep may all contacts of group k go where one of them is [m]: of a body that floats, without round shapes.

        What hangs on joints is held by their laws, too, and contacts of round shapes wander.
        """
        group, links = self.groups[k], self.robot.mechanism.links
        floats = any(i >= 0 and isinstance(links[i].kind, Free) for i in (group.a, group.b))
        is_plain = self.is_rigid and floats and not group.turning and not self.has_round_shapes
        return SHALLOW[self.precision] if is_plain else 0

    @cached_property
    def has_endgame(self) -> bool:
        """Whether contacts of several groups may be solved at once: not too many, each without moments."""
        sizes = [6 if len(group.names) > 1 else 3 for group in self.groups]
        is_plain = self.is_rigid and not any(group.turning for group in self.groups)
        return is_plain and len(sizes) > 1 and sum(sizes) <= MOST_AT_ONCE

    @cached_property
    def has_path(self) -> bool:
        """Whether all laws may be solved at once: contacts with the ground, and joints without backlash or loops.

        Motors are lines between limits there: of one joint each, without supply, and with friction that does not bend.
        """
        if not (self.is_rigid and self.groups and self.has_bounds) or self.closures or self.contact.sweeps < _FEW:
            return False
        motors = self.robot.motors.values()
        if self.couples_motors or self.bristled_motors or self.slippery_joints or any(map(has_winding, motors)):
            return False
        mechanism, kinds = self.robot.mechanism, {row.kind for row in self.joint_rows}
        support = mechanism.support
        is_plain = not any(g.turning for g in self.groups) and "backlash" not in kinds and not mechanism.has_mimic
        return is_plain and all(e in support[d] for g in self.groups for d in g.support for e in g.support if e < d)

    @property
    def has_rows(self) -> bool:
        """Whether there is anything for the solver."""
        return bool(self.groups or self.joint_rows or self.closures)

    @property
    def has_bounds(self) -> bool:
        """Whether joints have constraints of their own, or motors limits or friction that bends."""
        return bool(self.joint_rows) or self.has_saturable_motors or bool(self.bristled_motors)

    @cached_property
    def readers(self) -> list[Reader]:
        """The sensors, with their times in steps."""
        return readers_of(self.robot if self.base is None else self.base.robot, self.dt)

    @property
    def is_random(self) -> bool:
        """Whether anything is drawn."""
        return bool(self.disturbances) or any(reader.sensor.is_random for reader in self.readers)

    def disturbed(self, memory: Scalars) -> "StepModel":
        """The model with the forces of its disturbances, which remember these numbers."""
        left = iter(memory)
        found = [d.force([next(left) for _ in range(d.size)]) for d in self.disturbances]
        return replace(self, forces=(*self.forces, *found), base=self.base or self) if found else self

    @property
    def feels_forces(self) -> bool:
        """Whether a sensor takes the accelerations that a step was solved for, and the forces that go with them."""
        sensors = (reader.sensor for reader in self.readers)
        return any(s.kind == "wrench" or "accelerometer" in s.channels for s in sensors)

    @property
    def expects_turning(self) -> bool:
        """Whether the solver may find another motion than Coriolis forces were taken for: a step may have rounds."""
        return self.can_be_fast and self.has_rows

    @property
    def has_impacts(self) -> bool:
        """Whether a step in which something lands may be made again, with the Coriolis forces of its way."""
        return self.expects_turning and self.can_land and not self.closures

    @property
    def has_corrections(self) -> bool:
        """Whether positions may have to be taken back: penetrations, and joints beyond limits."""
        return bool((self.is_rigid and self.groups) or self.stop_rows) and self.correction > 0

    @cached_property
    def motor_memory(self) -> MotorMemory:
        """The form of what the motors remember."""
        return MotorMemory.of(self.robot, (self.base or self).robot, self.dt)

    @property
    def couples_motors(self) -> bool:
        """Whether a motor drives several joints."""
        return any(m.coupling is not None for m in self.robot.motors.values())

    @cached_property
    def bristled_motors(self) -> list[Motor]:
        """Motors whose dry friction bends before it slides."""
        return [m for m in self.robot.motors.values() if has_bristles(m)]

    @property
    def slippery_joints(self) -> set[str]:
        """Joints with dry friction that depends on their speed."""
        motors = self.robot.motors.values()
        return {m.joint for m in motors if not is_zero(m.static_friction) and not has_bristles(m)}

    @property
    def inductive_motors(self) -> list[Motor]:
        """Motors whose current takes time."""
        return [m for m in self.robot.motors.values() if has_winding(m) and not is_zero(m.inductance)]

    @cached_property
    def has_saturable_motors(self) -> bool:
        """Whether a motor's limit has to be watched through the step."""
        return any(is_saturable(m) for m in self.robot.motors.values())


def as_held(held: Any) -> tuple[str, ...]:
    """Names of contacts to hold, from any iterable."""
    is_several = isinstance(held, Iterable) and not isinstance(held, str)
    found: tuple[Any, ...] = tuple(held) if is_several else (held,)
    is_right = is_several and all(isinstance(name, str) for name in found)
    check("held", held, "names of contacts, as in ('lf_foot', 'rh_foot')", is_right)
    return found


def check_held(model: StepModel) -> None:
    """Raise if something to be held is not a contact, or cannot be held."""
    for k, name in enumerate(model.held):
        check_known("contact", name, model.contact_names, "the simulation", error=SimulationError)
        subject = f"contact {name!r}"
        if name in model.held[:k]:
            raise SimulationError(f"{subject} is held twice", subject=subject, field="held", cure="name it once")
        if model.touch_names.count(name) > 1:
            problem = f"{subject} may touch several faces of the ground at once, so there is no one place to hold it at"
            cure = "use a ground without edges, or integrator='semi-implicit'"
            raise SimulationError(problem, subject=subject, field="held", cure=cure)


def as_forces(forces: Any, robot: Robot) -> tuple[tuple[ExternalForce, ...], tuple[Disturbance, ...]]:
    """The forces on bodies of a robot, from any iterable, and those by chance; raises if one cannot be."""
    is_several = isinstance(forces, Iterable) and not isinstance(forces, str)
    found: tuple[Any, ...] = tuple(forces) if is_several else (forces,)
    is_right = is_several and all(isinstance(f, ExternalForce | Gusts | Pushes) for f in found)
    check("forces", forces, "a list of pliant.ExternalForce, Gusts or Pushes of pliant.actuation", is_right)
    for force in found:
        robot.frame(force.body)
    known = tuple(f for f in found if isinstance(f, ExternalForce))
    return known, tuple(f for f in found if not isinstance(f, ExternalForce))
