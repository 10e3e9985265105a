"""Bodies, joints and frames as a tree, and where the coordinates of each joint are in q and v."""

from dataclasses import dataclass
from functools import cached_property

from pliant.errors import RobotError, unknown_name
from pliant.robot import describe
from pliant.robot.model import WORLD, Body, Frame, Joint, Named
from pliant.signatures import explained
from pliant.spatial import Transform


@dataclass(frozen=True, eq=False, repr=False)
class KinematicTree:
    """The part of a `Robot` that its kinematics needs; made as a part of one.

    Attributes:
        bodies: in the order of their joints, without the world.
        joints: each before those of its child, as a rule depth first; ``joints[i]`` carries ``bodies[i]``.
        frames: one for each body, of its name, then the others.
    """

    name: str
    bodies: Named[Body]
    joints: Named[Joint]
    frames: Named[Frame]

    @cached_property
    def nq(self) -> int:
        """Length of the configuration q."""
        return sum(j.kind.nq for j in self.independent_joints)

    @cached_property
    def nv(self) -> int:
        """Length of the velocity v: degrees of freedom."""
        return sum(j.kind.nv for j in self.independent_joints)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """A name for each entry of q: the joint's, with a suffix if it has several."""
        return tuple(describe.entry_name(j.name, label) for j in self.independent_joints for label in j.kind.q_labels)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """A name for each entry of v."""
        return tuple(describe.entry_name(j.name, label) for j in self.independent_joints for label in j.kind.v_labels)

    @cached_property
    def independent_joints(self) -> tuple[Joint, ...]:
        """The joints that have coordinates of their own: all but those that mimic another."""
        return tuple(j for j in self.joints.values() if j.mimic is None)

    @cached_property
    def _slices(self) -> dict[str, tuple[slice, slice]]:
        slices, iq, iv = {}, 0, 0
        for joint in self.independent_joints:
            nq, nv = joint.kind.nq, joint.kind.nv
            slices[joint.name] = slice(iq, iq + nq), slice(iv, iv + nv)
            iq, iv = iq + nq, iv + nv
        return slices

    @explained
    def leader(self, joint: str) -> Joint:
        """The joint whose coordinates move this one: itself, unless it mimics another."""
        found = self.joints[joint]
        while found.mimic is not None:
            found = self.joints[found.mimic.joint]
        return found

    @explained
    def path(self, body: str) -> tuple[Joint, ...]:
        """The joints between a body and the world, the nearest first."""
        if body != WORLD:
            body = self.bodies[body].name  # raises for an unknown one
        found: list[Joint] = []
        carries = {joint.child: joint for joint in self.joints.values()}
        while body != WORLD:
            found.append(carries[body])
            body = found[-1].parent
        return tuple(found)

    @explained
    def q_slice(self, joint: str) -> slice:
        """Where the joint's coordinates (or its leader's) are in q."""
        return self._slices[self.leader(joint).name][0]

    @explained
    def v_slice(self, joint: str) -> slice:
        """Where the joint's velocities (or its leader's) are in v."""
        return self._slices[self.leader(joint).name][1]

    @explained
    def frame(self, name: str) -> Frame:
        """The frame of that name; the name of a body or joint means the body's, the joint's child's frame."""
        if name in self.frames:
            return self.frames[name]
        if name in self.joints:
            return self.frames[self.joints[name].child]
        if name == WORLD:
            return Frame(WORLD, WORLD, Transform.identity())
        valid = dict.fromkeys([*self.frames, *self.joints, WORLD])
        raise RobotError(unknown_name("frame", name, valid, self.frames.owner))
