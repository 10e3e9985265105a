"""The robot as the algorithms see it: one link a moving joint, in frames that suit the arithmetic.

- Fixed joints are lumped; bodies that cannot move are gone.
- A joint about any other axis than +x, +y or +z has its body's frame turned so that the axis is +z:
  its motion subspace is then a unit vector. Inertias, frames and children follow.
- Constants that are 0 or 1 but for rounding are the integers 0 and 1.
- The rotor of a gyroscopic motor is a link of its own, after all others, that follows the motor's joint.

Link i is in its own frame, B in formulas, and its parent's is P; -1 is the world.
"""

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pliant.checks import is_zero
from pliant.errors import RobotError
from pliant.robot.joints import ROUNDING, Fixed, Free, JointKind, Scalars, Spin, coordinate_axis, snapped, turn_of_axis
from pliant.robot.model import WORLD, Body, Frame, Geometry, Joint, Motor, Named
from pliant.scalar import Scalar, is_constant
from pliant.spatial import (
    AxisRotation, Inertia, Matrix3, MatrixRotation, Rotation, Steps, Symmetric3, Transform, Vector,
)  # fmt: skip

if TYPE_CHECKING:
    from pliant.robot.robot import Robot


# moments of inertia this small next to those about the joint are none
NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Link:
    """A moving joint with the body it carries and all that is fixed to it.

    Attributes:
        index: its place in `Mechanism.links`; parent: that of the link it hangs on, -1 for the world.
        name: of the joint; body: of the joint's child; both of a rotor "NAME.rotor".
        kind: of the joint, in the frames of the Mechanism.
        placement: X_PJ.
        inertia: of all its bodies.
        q, v: where its coordinates and velocities, or its leader's, are in the robot's.
        dofs: v as a tuple of indices.
        armature, damping: felt at each of its dofs (at the leader's, for a joint that mimics one).
        ratio, offset: position = ratio * q + offset; 1 and 0 unless it mimics.
        is_mimic, is_rotor: whether it follows another joint; whether it is the rotor of that joint's motor.
        frame_turn: X_BL, the pose of the body's frame of the Robot in that of the Mechanism.
    """

    index: int
    parent: int
    name: str
    body: str
    kind: JointKind
    placement: Transform
    inertia: Inertia
    q: slice
    v: slice
    dofs: tuple[int, ...]
    armature: tuple[Scalar, ...]
    damping: tuple[Scalar, ...]
    ratio: Scalar
    offset: Scalar
    is_mimic: bool
    frame_turn: Transform
    is_rotor: bool = False

    def position(self, q: Scalars) -> list[Scalar]:
        """The joint's own coordinates, from the robot's."""
        own = list(q[self.q])
        return [self.ratio * x + self.offset for x in own] if self.is_mimic else own

    def rate(self, v: Scalars) -> list[Scalar]:
        """The joint's own velocities, or accelerations, from the robot's."""
        own = list(v[self.v])
        return [self.ratio * x for x in own] if self.is_mimic else own

    def transform(self, q: Scalars) -> Steps:
        """X_PB, as the constant placement and then the joint's motion."""
        return Steps(self.placement, self.kind.transform(self.position(q)))


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism:
    """The moving links of a robot, parents before children.

    Attributes:
        poses: for each body of the Robot, the link it is part of (-1: it does not move) and the pose
            of its frame in that link's (in the world's).
    """

    robot: "Robot"
    links: tuple[Link, ...]
    poses: dict[str, tuple[int, Transform]]

    @classmethod
    def of(cls, robot: "Robot") -> "Mechanism":
        """The mechanism of a robot; also `Robot.mechanism`."""
        links: list[Link] = []
        inertias: list[Inertia] = []
        poses = {WORLD: (-1, Transform.identity())}
        for joint in robot.joints.values():
            p, X_PB = poses[joint.parent]
            X_PJ = snapped_transform(X_PB @ joint.placement)
            inertia = robot.bodies[joint.child].inertia
            if isinstance(joint.kind, Fixed):
                poses[joint.child] = p, X_PJ
                if p >= 0:
                    inertias[p] += inertia.transformed(X_PJ)
            else:
                kind, turn = _aligned(joint.kind)
                X_BL = snapped_transform(turn.inverse())
                poses[joint.child] = len(links), X_BL
                inertias.append(inertia.transformed(X_BL))
                links.append(_link(robot, joint, len(links), p, kind, snapped_transform(X_PJ @ turn), X_BL))
        for motor in robot.motors.values():
            rotor = _rotor(robot, motor, len(links), links, poses)
            if rotor is not None:
                carrier = links[rotor.parent].body
                _check_rotor(motor, carrier, inertias[rotor.parent], rotor.kind.axis)  # type: ignore[attr-defined]
                # at rest it is part of the link that carries it
                inertias[rotor.parent] += Inertia(0, Vector.zero(), Symmetric3(*(-x for x in rotor.inertia.J)))
                inertias.append(rotor.inertia)
                links.append(rotor)
        done = (replace(k, inertia=snapped_inertia(i)) for k, i in zip(links, inertias, strict=True))
        return cls(robot, tuple(done), poses)

    def __repr__(self) -> str:
        return f"Mechanism of {self.robot.name!r}: {len(self.links)} links, nq = {self.nq}, nv = {self.nv}"

    @property
    def nq(self) -> int:
        return self.robot.nq

    @property
    def nv(self) -> int:
        return self.robot.nv

    @property
    def gravity(self) -> Vector:
        return self.robot.gravity

    @cached_property
    def has_mimic(self) -> bool:
        """Whether links share dofs."""
        return any(link.is_mimic for link in self.links)

    @cached_property
    def has_shared_inertia(self) -> bool:
        """Whether dofs share inertia otherwise than by bodies: joints that mimic, rotors that several joints turn."""
        return self.has_mimic or bool(self.couplings)

    @cached_property
    def couplings(self) -> dict[tuple[int, int], Scalar]:
        """Inertia of rotors that several joints turn, as entries (d, e) of M with e <= d: G^T J G."""
        links = {link.name: link for link in self.joint_links}
        found: dict[tuple[int, int], Scalar] = {}
        for motor in self.robot.motors.values():
            if motor.coupling is None or is_zero(motor.armature):
                continue
            turns: dict[int, Scalar] = {}
            for joint, ratio in motor.coupling:
                d = links[joint].dofs[0]
                turns[d] = turns.get(d, 0) + ratio * links[joint].ratio
            for d, a in turns.items():
                for e, b in turns.items():
                    if e <= d:
                        found[d, e] = found.get((d, e), 0) + motor.armature * a * b
        return found

    @cached_property
    def joint_links(self) -> tuple[Link, ...]:
        """The links that have a joint of the robot: all but the rotors."""
        return tuple(link for link in self.links if not link.is_rotor)

    @cached_property
    def floating_links(self) -> tuple[Link, ...]:
        """The links whose joints float in space."""
        return tuple(link for link in self.links if isinstance(link.kind, Free) and not link.is_mimic)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The links that hang on each link."""
        hanging = [[link.index for link in self.links if link.parent == i] for i in range(len(self.links))]
        return tuple(map(tuple, hanging))

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """The links that hang on the world."""
        return tuple(link.index for link in self.links if link.parent < 0)

    def ancestors(self, i: int) -> tuple[int, ...]:
        """The links between link i and the world, the nearest first, i not among them."""
        found = []
        while (i := self.links[i].parent) >= 0:
            found.append(i)
        return tuple(found)

    @cached_property
    def support(self) -> tuple[tuple[int, ...], ...]:
        """For each dof d: d itself and the dofs between it and the world, downward.

        Entry (d, e) of M with e <= d is zero unless e is in support[d], and so in its factor L^T D L. Joints that
        mimic others spoil that, and motors that couple joints of two branches; rotors do not, since the links that
        carry them are on the path of their joint.
        """
        if any(link.is_mimic for link in self.joint_links):
            return self._dense
        found = self._paths
        for motor in self.robot.motors.values():
            dofs = sorted((self.robot.v_slice(joint).start for joint, _ in motor.coupling or ()), reverse=True)
            if any(e not in found[d] for k, d in enumerate(dofs) for e in dofs[k:]):
                return self._dense
        return found

    @property
    def _dense(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(range(d, -1, -1)) for d in range(self.nv))

    @cached_property
    def _paths(self) -> tuple[tuple[int, ...], ...]:
        found: dict[int, tuple[int, ...]] = {}
        for link in self.joint_links:
            above = found[self.links[link.parent].dofs[-1]] if link.parent >= 0 else ()
            for d in link.dofs:
                above = found[d] = (d, *above)
        return tuple(found[d] for d in range(self.nv))

    @cached_property
    def armature(self) -> tuple[Scalar, ...]:
        """Rotor inertia at each dof, to be added to the diagonal of M."""
        return self._per_dof("armature")

    @cached_property
    def damping(self) -> tuple[Scalar, ...]:
        """Damping at each dof."""
        return self._per_dof("damping")

    def _per_dof(self, what: str) -> tuple[Scalar, ...]:
        total: list[Scalar] = [0] * self.nv
        for link in self.links:
            for d, value in zip(link.dofs, getattr(link, what), strict=True):
                total[d] += value
        return tuple(total)

    def body(self, name: str) -> tuple[int, Transform]:
        """The link that a body is part of, -1 if it does not move, and X_BL of the body's frame in it."""
        if name not in self.poses:
            return self.poses[self.robot.bodies[name].name]
        return self.poses[name]

    def frame(self, name: str) -> tuple[int, Transform]:
        """The same for a frame, or for what `Robot.frame` takes for one: X_BF."""
        frame = self.robot.frame(name)
        i, X_BL = self.poses[frame.body]
        return i, snapped_transform(X_BL @ frame.placement)


def _link(
    robot: "Robot", joint: Joint, index: int, parent: int, kind: JointKind, placement: Transform, turn: Transform
) -> Link:
    v = robot.v_slice(joint.name)
    ratio, offset = lead(robot, joint)
    own = (m for m in robot.motors.values() if m.joint == joint.name and m.coupling is None)
    motors = sum(m.armature for m in own if not has_rotor(robot, m))
    is_mimic = joint.mimic is not None
    felt = ratio * ratio if is_mimic else 1
    return Link(
        index, parent, joint.name, joint.child, kind, placement, Inertia.zero(), robot.q_slice(joint.name), v,
        dofs=tuple(range(v.start, v.stop)), armature=tuple(felt * (a + motors) for a in joint.armature),
        damping=tuple(felt * d for d in joint.damping), ratio=ratio, offset=offset, is_mimic=is_mimic, frame_turn=turn,
    )  # fmt: skip


def has_rotor(robot: "Robot", motor: Motor) -> bool:
    """Whether the motor's rotor is a body of its own: not on a link that never turns."""
    if not motor.gyroscopic:
        return False
    carrier = robot.carrier(motor.joint).parent
    return carrier != WORLD and any(j.kind.nv for j in robot.path(carrier))


def _rotor(
    robot: "Robot", motor: Motor, index: int, links: list[Link], poses: dict[str, tuple[int, Transform]]
) -> Link | None:
    """The rotor as a link that follows the motor's joint, gear times as fast, on the link that carries the motor."""
    if not has_rotor(robot, motor):
        return None
    base = robot.carrier(motor.joint)
    i, X_BL = poses[base.parent]
    axis = Vector(*(motor.rotor_axis or robot.joints[motor.joint].kind.axis))  # type: ignore[attr-defined]
    unit = snapped_transform(X_BL @ base.placement).R.rotate(axis)
    leader = next(link for link in links if link.name == motor.joint)
    moments = [motor.rotor_inertia * a * b for a, b in itertools.combinations_with_replacement(unit, 2)]
    name, still = f"{motor.name}.rotor", Transform.identity()
    return replace(
        leader, index=index, parent=i, name=name, body=name, kind=Spin(tuple(unit)), placement=still, frame_turn=still,
        inertia=Inertia(0, Vector.zero(), Symmetric3(*moments)), armature=(0,), damping=(0,),
        ratio=motor.gear * leader.ratio, offset=0, is_mimic=True, is_rotor=True,
    )  # fmt: skip


def lead(robot: "Robot", joint: Joint) -> tuple[Scalar, Scalar]:
    """Ratio and offset to the leader's coordinate, through leaders that mimic in turn."""
    ratio, offset = 1, 0
    while joint.mimic is not None:
        offset = ratio * joint.mimic.offset + offset
        ratio = ratio * joint.mimic.multiplier
        joint = robot.joints[joint.mimic.joint]
    return ratio, offset


def _aligned(kind: JointKind) -> tuple[JointKind, Transform]:
    """The kind about +x, +y or +z, and the turn X_JA to the frame in which it is."""
    axis = getattr(kind, "axis", None)
    if axis is None or not all(map(is_constant, axis)) or coordinate_axis(axis) in ((0, 1), (1, 1), (2, 1)):
        return kind, Transform.identity()
    turn = Transform(MatrixRotation(turn_of_axis(axis)), Vector.zero())
    return replace(kind, axis=(0, 0, 1)), snapped_transform(turn)  # type: ignore[type-var]


def _check_rotor(motor: Motor, body: str, inertia: Inertia, axis: Scalars) -> None:
    """Raise if a rotor has more inertia than the link that it is part of: the rest would be negative.

    With I the inertia of the link less other rotors, and a the axis of the spin in the link's frame, I - J a a^T has no
    negative eigenvalue if J a^T I^-1 a <= 1. Directions in which the link has no inertia, as rods and points have none,
    are left out: there it has been idealised.
    """
    numbers = (inertia.mass, *inertia.h, *inertia.J, motor.rotor_inertia, *axis)
    if not all(map(is_constant, numbers)) or inertia.mass == 0:
        return
    moments, axes = np.linalg.eigh(np.array([*inertia.about_com().full()], dtype=float).reshape(3, 3))
    along = axes.T @ np.array(axis, dtype=float)
    has_some = moments > NOTHING * float(inertia.J.xx + inertia.J.yy + inertia.J.zz)
    inverse = float((along[has_some] ** 2 / moments[has_some]).sum())
    if motor.rotor_inertia * inverse > 1 + NOTHING:
        problem = (
            f"the rotor of gyroscopic motor {motor.name!r} has {motor.rotor_inertia:.4g} kg m^2, more than the link it "
            f"is part of, body {body!r} and bodies fixed to it: that has {1 / inverse:.4g} kg m^2 about the rotor's "
            "axis, less other rotors"
        )
        cure = "give the rotor_inertia before the gear, or the body more inertia"
        raise RobotError(problem, subject=f"motor {motor.name!r}", field="rotor_inertia", cure=cure)


# ---- fixed joints


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
    """A copy in which each body takes in those fixed to it; their names remain as frames.

    A body fixed to the world stays, since the world carries no shapes. Contact shapes move along.
    """
    bodies: dict[str, Body] = {}
    joints, joint_frames = [], []
    keeper = keepers(robot)
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
    return replace(
        robot,
        bodies=Named("body", bodies.values(), robot.bodies.owner),
        joints=Named("joint", joints, robot.joints.owner),
        frames=Named("frame", [*frames, *joint_frames], robot.frames.owner),
        contacts=Named("contact", [s.moved(*keeper[s.body]) for s in robot.contacts.values()], robot.contacts.owner),
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


# ---- structural zeros and ones


def snapped_transform(X: Transform) -> Transform:
    """The same pose with structural zeros and ones."""
    m = Matrix3(snapped(e) for e in X.R.matrix())
    return Transform(_about_coordinate_axis(m) or MatrixRotation(m), Vector(*(snapped(e) for e in X.p)))


def snapped_inertia(inertia: Inertia) -> Inertia:
    """The same inertia with integers for exact zeros: small inertias are meant."""
    m, h, J = inertia.mass, inertia.h, inertia.J
    return Inertia(snapped(m, 0), Vector(*(snapped(e, 0) for e in h)), Symmetric3(*(snapped(e, 0) for e in J)))


def _about_coordinate_axis(m: Matrix3) -> Rotation | None:
    """The turn about a coordinate axis that ``m`` is, unless it just swaps axes or is none."""
    e = m.entry
    if not all(is_constant(x) for x in m):
        return None
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        # a cosine of 1 is not enough: an axis tilted by 1e-8 has it too
        beside = (e(k, i), e(k, j), e(i, k), e(j, k))
        alone = type(e(k, k)) is int and e(k, k) == 1 and all(type(x) is int for x in beside)
        is_turn = abs(e(i, i) - e(j, j)) <= ROUNDING and abs(e(i, j) + e(j, i)) <= ROUNDING
        if alone and is_turn and type(e(i, i)) is not int:
            return AxisRotation(k, e(i, i), e(j, i))
    return None
