"""The parts of a robot: bodies, joints, frames, motors. Frozen; numbers may be any scalar."""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from pliant.robot.joints import JointKind
from pliant.spatial import Inertia, Transform

__all__ = ["WORLD", "Body", "Frame", "Geometry", "Joint", "Limits", "Mimic", "Motor"]

Scalar = Any

WORLD = "world"
"""Name of the body that never moves."""


@dataclass(frozen=True)
class Geometry:
    """A shape on a body, kept as a reference for drawing and contact.

    Attributes:
        kind: of shape.
        size: box (x, y, z), sphere (radius,), cylinder and capsule (radius, length) [m]; mesh ().
        placement: X_BG, the shape's frame in the body's.
        file: of a mesh.
        scale: of a mesh, along each axis.
        color: red, green, blue, opacity in [0, 1], or None.
    """

    kind: Literal["box", "sphere", "cylinder", "capsule", "mesh"]
    size: tuple[Scalar, ...] = ()
    placement: Transform = field(default_factory=Transform.identity)
    file: str | None = None
    scale: tuple[float, ...] = (1, 1, 1)
    name: str = ""
    color: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Body:
    """A rigid body; its frame is that of the joint that carries it, as in URDF.

    Attributes:
        inertia: about the origin of that frame.
    """

    name: str
    inertia: Inertia
    visuals: tuple[Geometry, ...] = ()
    collisions: tuple[Geometry, ...] = ()


@dataclass(frozen=True)
class Limits:
    """Limits of a joint, infinite where there is none: a number for all, or one for each entry.

    Attributes:
        lower, upper: of q [rad or m]; nq each.
        velocity: of |v| [rad/s or m/s]; nv.
        effort: of |tau| [N m or N]; nv.
    """

    lower: Any = -math.inf
    upper: Any = math.inf
    velocity: Any = math.inf
    effort: Any = math.inf


@dataclass(frozen=True)
class Mimic:
    """A joint led by another: q = multiplier * q_leader + offset."""

    joint: str
    multiplier: Scalar = 1
    offset: Scalar = 0


@dataclass(frozen=True)
class Joint:
    """A joint between two bodies.

    Attributes:
        kind: its motion.
        parent, child: names of the bodies; the parent may be "world".
        placement: X_PJ, the joint's frame in the parent's.
        damping: [N m s/rad or N s/m], for each dof.
        friction: Coulomb's, [N m or N], for each dof.
        armature: inertia of the rotor as felt at the joint [kg m^2 or kg], for each dof, motors apart.
        mimic: its leader, if it has no coordinate of its own.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    placement: Transform
    limits: Limits
    damping: tuple[Scalar, ...]
    friction: tuple[Scalar, ...]
    armature: tuple[Scalar, ...]
    mimic: Mimic | None = None


@dataclass(frozen=True)
class Frame:
    """A frame fixed on a body; placement is X_BF."""

    name: str
    body: str
    placement: Transform


@dataclass(frozen=True)
class Motor:
    """A motor on a joint with one degree of freedom.

    Attributes:
        gear: turns of the rotor for one of the joint.
        rotor_inertia: before the gear [kg m^2]; the joint feels gear^2 times as much.
        effort_limit: at the joint [N m or N].
        velocity_limit: at the joint [rad/s or m/s].
    """

    name: str
    joint: str
    gear: Scalar = 1
    rotor_inertia: Scalar = 0
    effort_limit: float = math.inf
    velocity_limit: float = math.inf

    @property
    def armature(self) -> Scalar:
        """Its inertia as felt at the joint."""
        return self.gear * self.gear * self.rotor_inertia
