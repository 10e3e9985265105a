"""Copies of a robot that give way: series-elastic joints, flexible links, backlash."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pliant.errors import RobotError, unknown_name
from pliant.robot import checks
from pliant.robot.cutting import cut_link
from pliant.robot.flexibilities import Spring, at_fixed_joint, at_joint, inserted, is_fixed, motor_joint, play_joint
from pliant.robot.springs import has_spring
from pliant.scalar import is_constant

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = ["FlexibilityEdits"]

Scalar = Any


class FlexibilityEdits:
    """The methods of `Robot` that let it give way."""

    @property
    def _giving(self) -> "Robot":
        return cast("Robot", self)

    def with_flexibility(
        self,
        where: str,
        *,
        stiffness: Any,
        damping: Any = 0,
        inertia: Any = 0,
        hardening: Any = 0,
        law: Any = None,
        backlash: Scalar = 0,
        kind: str | None = None,
        axis: Sequence[Scalar] | None = None,
        name: str | None = None,
        share: float | None = None,
        normal: Sequence[Scalar] | None = None,
        beyond: Iterable[str] | None = None,
    ) -> "Robot":
        """A copy with a spring between a motor and its link, or within a link.

            robot.with_flexibility("knee", stiffness=1e4, damping=10)                   # series-elastic, about the axis
            robot.with_flexibility("hip", stiffness=(2e4, 2e4, 5e3))                    # turns about x, y and z
            robot.with_flexibility("shin_middle", stiffness=(1e3, 1e3, 1e4))            # a link, cut at a frame

        The spring is a joint of its own, named after ``where`` with "_flexibility": its coordinates are the
        deflection, those of the motor's joint the motor's side. With one stiffness it turns about the axis of the
        joint (or slides along a prismatic one's), with three it is spherical, with six free, linear first.

        Args:
            where: the joint of a motor; or a fixed joint, or a frame at which a link is cut in two.
            stiffness: one, three or six [N m/rad or N/m].
            damping: one for all, or one for each [N m s/rad or N s/m].
            inertia: of the body between spring and rotor [kg m^2]: one for all axes or three; of a slide a mass [kg];
                of six axes a mass and three. Zero is exact if the motor has rotor inertia.
            hardening: what the cube of the deflection adds [N m/rad^3 or N/m^3].
            law: a generic function of the deflection that gives more of the pull [N m or N]; one or one for each.
            backlash: play in the middle of the spring, its whole width [rad or m]; for one stiffness.
            kind: "revolute" or "prismatic", if one stiffness is not for the joint's own motion.
            axis: of one stiffness, in the frame of the joint or frame; by default the joint's.
            name: of the spring joint and the new body.
            share: where a link is cut, the share of its mass and inertia that is beyond; by default the link is
                taken for the uniform box with its inertia and cut by a plane.
            normal: of that plane, in the link's frame; by default it points from the link's origin to the cut.
            beyond: joints and frames of the link that are beyond the cut; by default those behind the plane.
        """
        robot = self._giving
        checks.check_name("the place of a flexibility", where)
        if name is not None:
            checks.check_name(f"name of the flexibility at {where!r}", name)
        spring = Spring(stiffness, damping, inertia, hardening, law, backlash, kind, axis)
        own_name = name or f"{where}_flexibility"
        if where in robot.joints:
            unused = [n for n, x in (("share", share), ("normal", normal), ("beyond", beyond)) if x is not None]
            if unused:
                raise RobotError(
                    f"the flexibility at joint {where!r}: {unused[0]} is for a link that is cut at a frame"
                )
            if not is_fixed(robot.joints[where]):
                return at_joint(robot, where, spring, own_name)
            if name is not None and name != where:
                raise RobotError(f"the flexibility at the fixed joint {where!r} keeps its name; leave name= out")
            return at_fixed_joint(robot, where, spring)
        if where not in robot.frames:
            valid = [*robot.joints, *(n for n in robot.frames if n not in robot.bodies)]
            raise RobotError(unknown_name("joint or frame", where, valid, robot.joints.owner))
        return cut_link(robot, where, spring, own_name, share, normal, beyond)

    def with_backlash(
        self,
        joint: str,
        width: Scalar,
        *,
        restitution: Scalar = 0,
        inertia: Scalar = 0,
        name: str | None = None,
    ) -> "Robot":
        """A copy with play between a motor and its link, or in the spring that is there.

        Without a spring the play is a joint of its own, "JOINT_backlash", free to move between two stops.

        Args:
            joint: of a motor.
            width: from stop to stop, at the joint [rad or m].
            restitution: share of the speed with which the stops throw back, 0 to 1; not for a spring.
            inertia: of the body between the play and the rotor [kg m^2 or kg]; zero is exact if there is a rotor.
            name: of the joint with the play.
        """
        robot = self._giving
        checks.check_name("the joint of a backlash", joint)
        subject = f"the backlash at joint {joint!r}"
        if name is not None:
            checks.check_name(f"name of {subject}", name)
        motor_joint(robot, joint, "backlash", "limit its play: robot.with_joint({!r}, limits=(-0.01, 0.01))")
        checks.check_finite(f"width of {subject}", width)
        (width,) = checks.per_entry(subject, "width", width, 1, least=0)
        restitution, inertia = checks.as_scalar(restitution), checks.as_scalar(inertia)
        springs = [robot.joints[f.name] for f in robot.flexibilities.values() if f.joint == joint]
        elastic = [j for j in springs if has_spring(j)]
        if elastic:
            given = {"restitution": restitution, "inertia": inertia, "name": name or 0}
            unused = [n for n, x in given.items() if not (is_constant(x) and x == 0)]
            if unused:
                raise RobotError(
                    f"{subject} is play in the spring {elastic[-1].name!r}, which takes no {unused[0]}; leave it out"
                )
            return self._giving.with_joint(elastic[-1].name, backlash=width)
        if springs:
            return self._giving.with_joint(springs[-1].name, limits=(-width / 2, width / 2), restitution=restitution)
        before = play_joint(robot, joint, width, restitution, name or f"{joint}_backlash")
        checks.check_joint(before)
        values = Spring(0, inertia=inertia).body_inertia(subject, before.kind)
        return inserted(robot, before, values, joint)

    def q_from(self, other: "Robot", q: Any) -> np.ndarray:
        """Configurations of another robot for this one: joints of one name are alike, others at their zero.

        Args:
            other: e.g. the robot before it was made flexible.
            q: (nq,) or (batch, nq) of the other one.
        """
        robot = self._giving
        _check_robot("q_from", other)
        return _carried_over(robot.neutral(), q, _pairs(robot, other, "q_slice"), other.coordinate_names, "q")

    def v_from(self, other: "Robot", v: Any) -> np.ndarray:
        """Velocities of another robot for this one, as `q_from`; joints that the other does not have are at rest."""
        robot = self._giving
        _check_robot("v_from", other)
        return _carried_over(np.zeros(robot.nv), v, _pairs(robot, other, "v_slice"), other.velocity_names, "v")


def _check_robot(method: str, other: Any) -> None:
    if not isinstance(other, FlexibilityEdits):
        raise RobotError(f"{method} takes a Robot first, not {other!r}, a {type(other).__name__}; see pliant.load")


def _pairs(robot: "Robot", other: "Robot", slices: str) -> list[tuple[slice, slice]]:
    own = [j.name for j in robot.joints.values() if j.mimic is None and j.kind.nv]
    # what was fixed before it gave way has no coordinates to hand over
    shared = [n for n in own if n in other.joints and other.joints[n].kind.nv]
    unlike = [n for n in shared if robot.joints[n].kind.name != other.joints[n].kind.name]
    if unlike:
        kinds = f"{robot.joints[unlike[0]].kind.name} here and {other.joints[unlike[0]].kind.name} there"
        raise RobotError(f"joint {unlike[0]!r} is {kinds}; rename one of them")
    return [(getattr(robot, slices)(n), getattr(other, slices)(n)) for n in shared]


def _carried_over(
    start: np.ndarray, given: Any, pairs: list[tuple[slice, slice]], names: Sequence[str], what: str
) -> np.ndarray:
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        shown = f"{given!r}"[:80]
        raise RobotError(
            f"{what} is {shown}, which is not {len(names)} numbers, or rows of as many; give those"
        ) from None
    if array.shape[-1:] != (len(names),):
        raise RobotError(f"{what} has shape {array.shape}; the other robot's has {len(names)} entries, give those")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row = f" of row {bad[0][0]}" if array.ndim == 2 else ""
        value, name = array[tuple(bad[0])], names[bad[0][-1]]
        raise RobotError(f"{what} of {name!r}{row} is {value}; give it a finite number")
    found = np.array(np.broadcast_to(start, (*array.shape[:-1], len(start))))
    for own, theirs in pairs:
        found[..., own] = array[..., theirs]
    return found
