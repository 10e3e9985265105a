"""The robot: frozen, named, and edited by making copies."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import numpy as np

from pliant.checks import check, check_finite, check_name, check_scalars, is_sequence, numbers
from pliant.errors import RobotError
from pliant.robot import collision_contacts, configurations, contacts, describe, flexibilities, mechanism
from pliant.robot.contact_shapes import shape_at
from pliant.robot.contacts import ContactPoint, ContactShape
from pliant.robot.exports import RobotExports
from pliant.robot.joints import Scalars
from pliant.robot.kinematic_tree import KinematicTree
from pliant.robot.mechanism import Mechanism
from pliant.robot.model import WORLD, Closure, Flexibility, Frame, FrameSpring, Joint, Motor, Named, Report
from pliant.robot.part_checks import (
    check_motor, check_spring, checked_closure, edited_joint, motor_values, placement, transmission_couplings,
    with_motors,
)  # fmt: skip
from pliant.robot.sensor_options import with_sensor, with_sensors
from pliant.robot.sensors import Sensor
from pliant.scalar import Scalar
from pliant.signatures import explained
from pliant.spatial import Vector


@explained
@dataclass(frozen=True, eq=False, repr=False)
class Robot(KinematicTree, RobotExports):
    """A tree of bodies and joints, with frames and motors; made by `RobotBuilder` or a reader.

    It never changes: methods ``with_...`` make copies. Two robots are equal only if they are the same object; `digest`
    compares content.

    Attributes:
        bodies: in the order of their joints, without the world.
        joints: each before those of its child, as a rule depth first; ``joints[i]`` carries ``bodies[i]``.
        frames: one for each body, of its name, then the others.
        motors: in the order of the controls u.
        gravity: its acceleration in the world frame [m/s^2].
        closures: loop closures, frames held together in addition to the tree.
        springs: between frames.
        contacts: shapes that can touch the ground.
        contact_pairs: names of two of them that can touch each other, too.
        flexibilities: compliance at motors' joints or within links, by the name of the flexible joint.
        sensors: in the order of their readings.
        report: findings on the way here: odd, dropped, guessed or repaired.
        file: that it was read from, if any; not part of `digest`.
        stances: poses that its file names, each by the coordinates that it sets; see `stance`. Not part of `digest`.
    """

    motors: Named[Motor]
    gravity: Vector = field(default_factory=lambda: Vector(0, 0, -9.81))
    report: Report = field(default_factory=Report)
    closures: Named[Closure] = field(default_factory=lambda: Named("closure", ()))
    springs: Named[FrameSpring] = field(default_factory=lambda: Named("spring", ()))
    contacts: Named[ContactShape] = field(default_factory=lambda: Named("contact", ()))
    contact_pairs: tuple[tuple[str, str], ...] = ()
    flexibilities: Named[Flexibility] = field(default_factory=lambda: Named("flexibility", ()))
    sensors: Named[Sensor] = field(default_factory=lambda: Named("sensor", ()))
    file: Path | None = None
    stances: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)

    # ---- sizes and parts

    @property
    def nu(self) -> int:
        """Length of the controls u: motors."""
        return len(self.motors)

    @property
    def mass(self) -> Scalar:
        """Of all bodies [kg]."""
        return sum(b.inertia.mass for b in self.bodies.values())

    @property
    def is_free(self) -> bool:
        """Whether its base floats; not if springs hold it in all directions."""
        free = [j.name for j in self.joints.values() if j.kind.name == "free" and j.parent == WORLD]
        return any(name not in self.flexibilities for name in free)

    @explained
    def carrier(self, joint: str) -> Joint:
        """The joint whose parent carries the motor of a joint: itself, or the first of the flexible ones before it."""
        found = self.joints[joint]
        springs = {f.name for f in self.flexibilities.values() if f.joint == joint}
        for above in self.path(found.parent):
            if above.name not in springs:
                break
            found = above
        return found

    @cached_property
    def contact_points(self) -> tuple[ContactPoint, ...]:
        """Every point that can touch the ground, in the order of the contacts."""
        return contacts.points_of(self.contacts.values())

    # ---- configurations

    def neutral(self) -> np.ndarray:
        """The configuration with every joint at its zero, (nq,)."""
        return np.array([x for j in self.independent_joints for x in j.kind.neutral()], dtype=float)

    @explained
    def random(self, rng: np.random.Generator | int | None = None, batch: int | None = None) -> np.ndarray:
        """Configurations drawn uniformly: within the limits, else up to pi [rad] or 1 [m].

        Args:
            rng: a generator, a seed, or None for a new seed each time.
            batch: how many, or None for one without a batch axis.

        Returns:
            (nq,) or (batch, nq).
        """
        return configurations.random(self, np.random.default_rng(rng), batch)

    @explained
    def integrate(self, q: Any, v: Any, dt: Any = 1) -> Any:
        """Where the constant velocity v takes q in the time dt [s], on the configuration manifold.

        Args:
            q, v: arrays (nq,), (nv,) or with a batch in front, or sequences of any scalars.
            dt: a number, or one for each robot of the batch.
        """
        if is_sequence(dt):
            dt = numbers("dt", dt, error=RobotError)
            check("dt", dt, "one number, or one for each robot", dt.ndim == 1, error=RobotError)
        else:
            check_scalars("dt", dt)

        def moved(kind: Any, q: Any, v: Any) -> list:
            return kind.integrate(q, [x * dt for x in v])

        return configurations.joint_by_joint(self, moved, q=q, v=v)

    @explained
    def difference(self, q0: Any, q1: Any) -> Any:
        """The constant velocity that takes q0 to q1 in one second, the shorter way round; arguments as `integrate`."""
        return configurations.joint_by_joint(self, lambda kind, a, b: kind.difference(a, b), q0=q0, q1=q1)

    @explained
    def chart_rate(self, w: Any, v: Any) -> Any:
        """dw/dt for which integrate(q, w) moves with the velocity v: v itself for joints of one dof, and at w = 0.

        Args:
            w, v: arrays (nv,) or with a batch in front, or sequences of any scalars.
        """
        return configurations.joint_by_joint(self, lambda kind, a, b: kind.chart_rate(a, b), w=w, v=v)

    @explained
    def q_from(self, other: "Robot", q: Any) -> np.ndarray:
        """Configurations of another robot for this one: joints of one name are alike, others at their zero.

        Args:
            other: e.g. the robot before it was made flexible.
            q: (nq,) or (batch, nq) of the other one.
        """
        return configurations.carried_over(self, other, q, "q")

    @explained
    def v_from(self, other: "Robot", v: Any) -> np.ndarray:
        """Velocities of another robot for this one, as `q_from`; joints that the other does not have are at rest."""
        return configurations.carried_over(self, other, v, "v")

    # ---- copies: motors, joints and frames

    @explained
    def with_motor(self, joint: str, *, name: str | None = None, **values: Any) -> "Robot":
        """A copy with one more motor on a joint, by default of the joint's name.

        If the joint has a motor of that name already, it is changed instead.

        Args:
            joint: one with one degree of freedom.
            values: gear, rotor_inertia, effort_limit, control, kp, kd and the other attributes of `Motor`.
        """
        check_name("joint", joint, subject="a motor")
        name = joint if name is None else name
        check_name("name", name, subject="a motor")
        if name in self.motors and self.motors[name].joint == joint:
            return self.with_motors([name], **{key: [value] for key, value in values.items()})
        motor = Motor(name, joint, **motor_values(name, values))
        check_motor(motor, self.joints)
        return replace(self, motors=self.motors.extended(motor))

    @explained
    def with_motors(self, names: str | Iterable[str] | None = None, **values: Any) -> "Robot":
        """A copy in which motors have other values.

        Args:
            names: which ones, all if None.
            values: attributes of `Motor`: one for all of them, or a sequence with one for each (a rotor_axis for all
                is a sequence of sequences).
        """
        return replace(self, motors=with_motors(self.motors, self.joints, names, values))

    @explained
    def with_transmission(self, motors: Sequence[str], joints: Sequence[str], matrix: Any) -> "Robot":
        """A copy in which motors drive joints together: a differential, a parallelogram, a belt.

        With G the matrix, shafts turn by x = G q and give the joints G^T times their torques; rotors have their part in
        the mass matrix. Gains, limits, friction and ``gear`` of these motors are those of the shafts.

        Args:
            motors: names of motors that the robot has.
            joints: of one degree of freedom each.
            matrix: G, a row for each motor and a column for each joint.
        """
        names, couplings = transmission_couplings(self, motors, joints, matrix)
        return self.with_motors(names, coupling=couplings)

    @explained
    def with_joint(
        self,
        name: str,
        *,
        damping: Any = None,
        friction: Any = None,
        armature: Any = None,
        limits: Any = None,
        stiffness: Any = None,
        hardening: Any = None,
        law: Any = None,
        backlash: Scalar = None,
        rest: Scalar = None,
        restitution: Scalar = None,
        locked: bool | None = None,
    ) -> "Robot":
        """A copy in which a joint has other values; None leaves them, see `Joint` and `Limits`."""
        check_name("name", name, subject="a joint")
        values = {"damping": damping, "friction": friction, "armature": armature, "stiffness": stiffness,
                  "hardening": hardening, "law": law, "backlash": backlash, "rest": rest, "restitution": restitution,
                  "is_locked": locked, "limits": limits}  # fmt: skip
        return replace(self, joints=self.joints.replaced(edited_joint(self.joints[name], values)))

    @explained
    def with_frame(self, name: str, body: str, position: Scalars = (0, 0, 0), rpy: Scalars = (0, 0, 0)) -> "Robot":
        """A copy with one more frame, placed on a body or another frame [m, rad]."""
        subject = f"frame {name!r}"
        check_name("name", name, subject="a frame")
        if name == WORLD or name in self.joints:
            meant = "the world" if name == WORLD else f"the child of joint {name!r}"
            problem = f"a frame cannot be named {name!r}: as a frame, that means {meant}"
            raise RobotError(problem, subject=subject, field="name", cure="take another name")
        on = self.frame(body)
        frame = Frame(name, on.body, on.placement @ placement(position, rpy, subject=subject))
        return replace(self, frames=self.frames.extended(frame))

    @explained
    def with_gravity(self, x: Scalar, y: Scalar, z: Scalar) -> "Robot":
        """A copy under another gravity [m/s^2]."""
        check_finite("gravity", x, y, z)
        return replace(self, gravity=Vector(x, y, z))

    @explained
    def with_closure(
        self, kind: str, a: str, b: str, *, length: Scalar = 0, axis: Scalars = (0, 0, 1), name: str | None = None
    ) -> "Robot":
        """A copy in which two frames are held together; see `Closure`.

        Args:
            a, b: names of frames, bodies or joints, or "world".
            length: of a distance [m].
            axis: of a hinge, a direction that is the same in both frames.
            name: by default "a-b".
        """
        made = Closure(name or f"{a}-{b}", kind, a, b, length, tuple(axis))  # type: ignore[arg-type]
        closure = checked_closure(made, self)
        return replace(self, closures=self.closures.extended(closure))

    @explained
    def with_spring(
        self, a: str, b: str, *, stiffness: Scalar, damping: Scalar = 0, length: Scalar = 0, name: str | None = None
    ) -> "Robot":
        """A copy with a spring and damper between two frames; see `FrameSpring`, and `with_closure` for names."""
        spring = FrameSpring(name or f"{a}-{b}", a, b, stiffness, damping, length)
        check_spring(spring, self)
        return replace(self, springs=self.springs.extended(spring))

    def lumped(self) -> "Robot":
        """A copy without fixed joints: bodies merged, frames kept; only the one that holds the base stays."""
        return mechanism.lumped(self)

    # ---- copies: contact shapes

    @explained
    def with_contact(
        self,
        frame: str,
        *,
        radius: Scalar = 0,
        points: Sequence[Sequence[Scalar]] | None = None,
        box: Sequence[Scalar] | None = None,
        length: Scalar | None = None,
        rim: Scalar | None = None,
        ellipsoid: Sequence[Scalar] | None = None,
        name: str | None = None,
        friction: Scalar | None = None,
        restitution: Scalar | None = None,
        torsion: Scalar | None = None,
        rolling: Scalar | None = None,
    ) -> "Robot":
        """A copy with one more contact shape, at a frame.

        Without options it is a point; with ``radius`` a sphere; with ``radius`` and ``length`` a capsule along the
        frame's z; with ``box`` the corners of a box; with ``rim`` a disc about the frame's z, which is a wheel with a
        round tread if it has a ``radius``, and a cylinder if it has a ``length``; with ``ellipsoid`` that.

        Args:
            frame: name of a frame, body or joint.
            radius: [m], 0 for points; of a rim that of its tube, which makes it a torus.
            points: [(x, y, z), ...] in the frame [m], in place of its origin.
            box: full sizes (x, y, z) [m].
            length: of a capsule's segment, between the centers of its ends; of a cylinder [m].
            rim: radius of a circle around z [m]; of a torus to the middle of its tube.
            ellipsoid: half axes (x, y, z) [m].
            name: of the shape, by default the frame's.
            friction, restitution: its own; None for those of the ground and the contact model.
            torsion: friction against turning about the normal: the largest moment over the normal force [m].
            rolling: the same against rolling, that is turning across the normal [m].
        """
        shape = shape_at(self, frame, name or frame, radius, points, box, length, rim, ellipsoid)
        own = {"friction": friction, "restitution": restitution, "torsion": torsion, "rolling": rolling}
        return contacts.with_shapes(self, [replace(shape, **own)])

    @explained
    def with_contacts(self, *frames: str, **options: Any) -> "Robot":
        """A copy with the same contact shape at several frames; options as in `with_contact`, except ``name``.

        Args:
            frames: their names; if none is given, every body that carries no other: feet, hands, heads.
        """
        if not frames:
            carrying = {joint.parent for joint in self.joints.values()}
            frames = tuple(body for body in self.bodies if body not in carrying)
        return reduce(lambda robot, frame: robot.with_contact(frame, **options), frames, self)

    @explained
    def without_contacts(self, *names: str) -> "Robot":
        """A copy without these contact shapes and their pairs; without all of them if no name is given."""
        leaving = {self.contacts[name].name for name in names or self.contacts}
        kept = [shape for shape in self.contacts.values() if shape.name not in leaving]
        pairs = tuple(pair for pair in self.contact_pairs if not leaving & set(pair))
        return replace(self, contacts=Named("contact", kept, self.bodies.owner), contact_pairs=pairs)

    @explained
    def with_contact_pair(self, a: str, b: str) -> "Robot":
        """A copy in which two spheres or capsules, on bodies that move relative to each other, make contact, too."""
        contacts.check_pair(self, a, b)
        return replace(self, contact_pairs=(*self.contact_pairs, (a, b)))

    @explained
    def with_collision_contacts(
        self,
        bodies: str | Iterable[str] | None = None,
        *,
        points: int = 8,
        merge: float | None = None,
        limit: int | None = 12,
        tolerance: float = collision_contacts.TOLERANCE,
        packages: str | Path | Iterable[str | Path] = (),
    ) -> "Robot":
        """A copy with the collision shapes of its bodies as contact shapes, with as few points as their outline needs.

        Spheres, capsules, cylinders and boxes are exact on flat ground. A mesh becomes a round shape that is near, else
        those few of its vertices that keep its outline best. Left out are points that cannot touch flat ground before
        others of the same rigid part, a body with those fixed to it, and bodies fixed to the world. ``report`` lists
        each shape with fewer points and their distance, and those that cannot be used. ``tolerance=0, limit=None``
        leaves out what coincides or is inside another shape only.

        Args:
            bodies: which ones, all if None.
            points: most points for a mesh, or a cylinder where there are too many, at least 4; it gets at least 6.
            merge: points that reach farther than the others of their part by at most this are left out [m]; None for a
                hundredth of half the mean width of the part.
            limit: most points on one rigid part, those that keep its outline best; None for all.
            tolerance: how far a round shape may be from a mesh, as a share of half its smallest width; 0 for points.
            packages: more folders to find mesh files in, in addition to those given on loading.
        """
        return collision_contacts.with_collision_contacts(self, bodies, points, merge, limit, tolerance, packages)

    # ---- copies: flexible joints

    @explained
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
            hardening: factor of the cube of the deflection [N m/rad^3 or N/m^3].
            law: a generic function of the deflection that adds to the force [N m or N]; one or one for each.
            backlash: the whole width of the dead zone in the middle of the spring [rad or m]; for one stiffness.
            kind: "revolute" or "prismatic", if one stiffness is not for the joint's own motion.
            axis: of one stiffness, in the frame of the joint or frame; by default the joint's.
            name: of the spring joint and the new body.
            share: where a link is cut, the share of its mass and inertia that is beyond; by default the link is
                taken for the uniform box with its inertia and cut by a plane.
            normal: of that plane, in the link's frame; by default it points from the link's origin to the cut.
            beyond: joints and frames of the link that are beyond the cut; by default those behind the plane.
        """
        spring = flexibilities.Spring(stiffness, damping, inertia, hardening, law, backlash, kind, axis, where)
        return flexibilities.with_flexibility(self, where, spring, name, share, normal, beyond)

    @explained
    def with_backlash(
        self, joint: str, width: Scalar, *, restitution: Scalar = 0, inertia: Scalar = 0, name: str | None = None
    ) -> "Robot":
        """A copy with backlash between a motor and its link, or in the spring that is there.

        Without a spring the backlash is a joint of its own, "JOINT_backlash", free to move between two limits.

        Args:
            joint: of a motor.
            width: from limit to limit, at the joint [rad or m].
            restitution: share of the speed that the limits return, 0 to 1; not for a spring.
            inertia: of the body between the backlash and the rotor [kg m^2 or kg]; zero is exact if there is a rotor.
            name: of the joint with the backlash.
        """
        return flexibilities.with_backlash(self, joint, width, restitution, inertia, name)

    # ---- copies: sensors

    @explained
    def with_sensor(self, kind: str, at: Any = None, *, name: str | None = None, **options: Any) -> "Robot":
        """A copy with one more sensor.

            robot.with_sensor("imu", "trunk", name="imu", rate=500, gyro={"noise": 2e-4, "bias": 0.01})
            robot.with_sensor("encoder", ticks=4096, side="motor")          # of all motors' joints
            robot.with_sensor("contact", threshold=5, delay=0.004)          # of all contacts
            robot.with_sensor("scan", "trunk", grid=(1.6, 1.0, 0.1), rate=50)

        Args:
            kind: "imu", "encoder", "torque", "wrench", "contact", "pose", "scan" or "range", see
                `pliant.robot.sensors`.
            at: name of a frame; or names of joints (default: of all motors) or contacts (default: all).
            name: by default the kind, for sensors at a frame with that of the frame before it.
            options: ``channels``, by default all of the kind; ``rate, phase, delay, jitter, interpolate, dropout``;
                ``misalignment, side, is_differentiated, threshold, reach`` as in `Sensor`; ``ticks`` of an encoder in
                a turn; ``points`` or ``grid`` (length, width, spacing) of a scan, ``rays`` of a range finder; and for
                each channel a table of its errors, as in `SensorError`, each one number or one for each entry.
        """
        return with_sensor(self, kind, at, name, options)

    @explained
    def with_sensors(self, names: str | Iterable[str] | None = None, **options: Any) -> "Robot":
        """A copy in which sensors have other options; those that are not given stay.

            robot.with_sensors(delay=0.004)                                 # all of them
            robot.with_sensors("imu", rate=200, gyro={"noise": 1e-3})       # its bias stays

        Args:
            names: which ones, all if None.
            options: as in `with_sensor`, the same for all of these sensors. A table of errors changes those that it
                names, None removes all of its channel. Errors of channels that are left out go with them.
        """
        return with_sensors(self, names, options)

    @explained
    def without_sensors(self, *names: str) -> "Robot":
        """A copy without these sensors; without all of them if no name is given."""
        leaving = {self.sensors[name].name for name in names or self.sensors}
        kept = [sensor for sensor in self.sensors.values() if sensor.name not in leaving]
        return replace(self, sensors=Named("sensor", kept, self.bodies.owner))

    # ---- views

    @cached_property
    def mechanism(self) -> Mechanism:
        """The robot as the algorithms see it."""
        return Mechanism.of(self)

    @cached_property
    def digest(self) -> str:
        """A hash of all that dynamics sees: equal for robots that move alike, names included."""
        return describe.digest(self)

    def tree(self) -> str:
        """The tree of bodies and joints as text."""
        return describe.tree(self)

    def __repr__(self) -> str:
        return describe.table(self)

    def __getstate__(self) -> dict[str, Any]:
        # cached values are made again
        return {f.name: getattr(self, f.name) for f in fields(self)}
