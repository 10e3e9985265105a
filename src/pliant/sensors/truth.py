"""What ideal sensors would read: numbers of each channel, from the state and the solved forces of the last step.

Two moments matter. What depends on positions and velocities is that of the end of the step. Accelerations and the
forces that go with them, M vd + h = f + J^T p, are those that the step was solved for: at its start, with vd its change
of velocity over dt and p impulses over dt, so that forces balance to rounding and a blow reads as its impulse over dt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pliant.actuation.body_forces import ExternalForce, frame_spring_forces, outside_forces
from pliant.actuation.joint_springs import further_of, spring_torques
from pliant.contact.ground import Ground
from pliant.contact.touching import Group
from pliant.dynamics.kinematics import (
    LinkMotion,
    inertial_force,
    link_motions,
    link_poses,
    link_velocities,
    root_origin,
)
from pliant.dynamics.newton_euler import link_wrenches
from pliant.errors import SimulationError
from pliant.robot import Robot
from pliant.robot.sensors import Sensor
from pliant.scalar import Scalar, Scalars, maximum, minimum, select, sqrt
from pliant.spatial import Force, Inertia, Motion, Transform, Vector
from pliant.spatial.vectors import quaternion_from_matrix

# a frame that looks straight up or down has no heading; shorter projections of its x axis than this are none
_NO_HEADING = 1e-6


@dataclass(frozen=True)
class Moment:
    """A robot at a moment.

    Attributes:
        t: time [s].
        vd: acceleration; torques: of the motors.
        forces: of all that may touch, 3 each, in the world's axes [N]; of the contacts of ``groups``, in their order.
    """

    robot: Robot
    t: Scalar
    dt: Scalar
    q: Scalars
    v: Scalars
    vd: Scalars
    torques: Scalars
    forces: Scalars
    groups: Sequence[Group]
    ground: Ground | None
    pushes: Sequence[ExternalForce] = ()

    @cached_property
    def poses(self) -> list[Transform]:
        """Of the links, about ``origin``."""
        return link_poses(self.robot.mechanism, self.q, about_root=True)

    @cached_property
    def origin(self) -> Vector:
        """Of the frame of the poses, in the world."""
        return root_origin(self.robot.mechanism, self.q)

    @cached_property
    def velocities(self) -> list[Motion]:
        """Of the links, each in its own frame."""
        return link_velocities(self.robot.mechanism, self.q, self.v)

    @cached_property
    def motions(self) -> list[LinkMotion]:
        """Of the links in a world that accelerates upward: what an accelerometer feels."""
        mechanism = self.robot.mechanism
        return link_motions(mechanism, self.q, self.v, self.vd, -mechanism.gravity)

    def frame(self, name: str) -> tuple[int, Transform, Transform]:
        """The link of a frame, its pose there, and its pose in the world but for ``origin``; -1 for the world."""
        i, X_BF = self.robot.mechanism.frame(name)
        return i, X_BF, self.poses[i] @ X_BF if i >= 0 else Transform(X_BF.R, X_BF.p - self.origin)

    @cached_property
    def touching(self) -> list[tuple[Group, str, Vector, Vector]]:
        """All that may touch: its group, its name, its place about ``origin``, and its force."""
        found, left = [], iter(self.forces)
        for group in self.groups:
            touches = group.touches(self.poses, self.origin, self.ground)
            for name, touch in zip(group.names, touches, strict=True):
                found.append((group, name, touch.p, Vector(next(left), next(left), next(left))))
        return found

    @cached_property
    def wrenches(self) -> list[Force]:
        """What each link needs from its joint, itself and all that it carries, at its origin, in its frame."""
        robot, links = self.robot, self.robot.mechanism.links
        total = outside_forces(robot, self.pushes, self.poses, self.t, self.dt)
        total.add_all(frame_spring_forces(robot, self.poses, self.origin, self.velocities))
        for group, _, p, f in self.touching:
            for i, force in ((group.a, f), (group.b, -f)):
                if i >= 0:
                    total.add(i, self._on_link(i, p, force))
        return link_wrenches(links, self.motions, total.listed(len(links)))

    def _on_link(self, i: int, p: Vector, f: Vector) -> Force:
        X = self.poses[i]
        return Force(X.R.rotate_back(f), X.R.rotate_back((p - X.p).cross(f)))

    # ---- wrenches within links

    def wrench_at(self, frame: str) -> Force:
        """What lies beyond a frame does to what carries it: the body of the frame and all that this carries."""
        robot, mechanism = self.robot, self.robot.mechanism
        body = robot.frame(frame).body
        i, X_BF = mechanism.frame(frame)
        beyond = bodies_beyond(robot, body)
        if mechanism.links[i].body == body:
            return X_BF.act_back(-self.wrenches[i])
        # a body that is fixed to its link: its own share of the link, and the links that it carries
        inertia = Inertia.zero()
        for name in beyond:
            k, X = mechanism.body(name)
            inertia = inertia + robot.bodies[name].inertia.transformed(X) if k == i else inertia
        needed = inertial_force(inertia, self.motions[i])
        for link in mechanism.links:
            carrier = robot.carrier(link.name.removesuffix(".rotor")) if link.is_rotor else robot.joints[link.name]
            if link.parent == i and carrier.parent in beyond:
                needed = needed + self.motions[link.index].X_PB.act(self.wrenches[link.index])
        for group, name, p, f in self.touching:
            for part, k, force in zip(name.split("|"), (group.a, group.b), (f, -f), strict=False):
                if k == i and beyond & set(places_of(robot, part)):
                    needed = needed - self._on_link(i, p, force)
        return X_BF.act_back(-needed)


def bodies_beyond(robot: Robot, body: str) -> set[str]:
    """A body and all that it carries."""
    return {name for name in robot.bodies if name == body or any(j.child == body for j in robot.path(name))}


def check_wrench(robot: Robot, sensor: Sensor, pushes: Sequence[ExternalForce]) -> None:
    """Raise if forces act beyond the sensor that it cannot tell from others."""
    frame = sensor.at[0]
    body = robot.frame(frame).body
    i, _ = robot.mechanism.frame(frame)
    where = f"frame {frame!r}"
    if i < 0:
        problem = f"{sensor.subject}: {where} does not move, so no wrench goes through it that the dynamics know"
        raise SimulationError(problem, subject=sensor.subject, field="at", cure="put it on a body that moves")
    beyond = bodies_beyond(robot, body)
    ends = {"closure": robot.closures.values(), "contact pair": ()}
    for kind, parts in ends.items():
        for part in parts:
            if any(robot.frame(end).body in beyond for end in (part.a, part.b) if end != "world"):
                problem = f"{sensor.subject}: {kind} {part.name!r} acts beyond {where}, and its force is shared there"
                cure = "put the sensor where no loop closes beyond it"
                raise SimulationError(problem, subject=sensor.subject, field="at", cure=cure)
    if robot.mechanism.links[i].body == body:
        return
    ends = [*(e for s in robot.springs.values() for e in (s.a, s.b)), *(push.body for push in pushes)]
    for end in ends:
        if end != "world" and robot.frame(end).body in beyond:
            problem = f"{sensor.subject}: a spring or an outside force acts at {end!r}, beyond {where}, which is fixed"
            cure = "put the sensor at a joint that moves"
            raise SimulationError(problem, subject=sensor.subject, field="at", cure=cure)


# ---- channels


def truth_of(sensor: Sensor, now: Moment, solved: Moment, rays: Scalars = ()) -> dict[str, list[Scalar]]:
    """The numbers of each channel.

    Args:
        now: the end of the step.
        solved: the state that accelerations and forces belong to.
        rays: of a scan the heights of the ground, of a range finder distance and hit of each ray.
    """
    if sensor.kind == "scan":
        _, z = heading_of(sensor, now)
        return {"height": [within(h - z, sensor.reach) for h in rays]}
    if sensor.kind == "range":
        both = {"distance": list(rays[::2]), "hit": list(rays[1::2])}
        return {channel: both[channel] for channel in sensor.channels}
    found = _READERS[sensor.kind](sensor, now, solved)
    return {channel: found[channel] for channel in sensor.channels}


def _imu(sensor: Sensor, now: Moment, solved: Moment) -> Mapping[str, list[Scalar]]:
    i, X_BF, X = now.frame(sensor.at[0])
    if i < 0:
        g = X.R.rotate_back(-now.robot.mechanism.gravity)
        return {"gyro": [0, 0, 0], "accelerometer": list(g), "orientation": list(quaternion_from_matrix(X.R.matrix()))}
    motion = solved.motions[i]
    felt = X_BF.R.rotate_back(motion.a + motion.U @ X_BF.p)
    found = {"gyro": list(X_BF.R.rotate_back(now.velocities[i].angular)), "accelerometer": list(felt)}
    if "orientation" in sensor.channels:
        found["orientation"] = list(quaternion_from_matrix(X.R.matrix()))
    return found


def _encoder(sensor: Sensor, now: Moment, solved: Moment) -> Mapping[str, list[Scalar]]:
    links = {link.name: link for link in now.robot.mechanism.joint_links}
    positions = [links[name].position(now.q)[0] for name in sensor.at]
    rates = [links[name].rate(now.v)[0] for name in sensor.at]
    if sensor.side == "link" and now.robot.flexibilities:
        further = further_of(now.robot, now.q, now.v)
        positions = [x + further.get(name, (0, 0))[0] for name, x in zip(sensor.at, positions, strict=True)]
        rates = [x + further.get(name, (0, 0))[1] for name, x in zip(sensor.at, rates, strict=True)]
    return {"position": positions, "velocity": rates}


def _torque(sensor: Sensor, now: Moment, solved: Moment) -> Mapping[str, list[Scalar]]:
    if sensor.side == "spring":
        torques = spring_torques(now.robot, now.q, now.v)
        return {"torque": [torques[name] for name in sensor.at]}
    total: dict[str, Scalar] = {}
    for motor, torque in zip(now.robot.motors.values(), now.torques, strict=True):
        total[motor.joint] = total.get(motor.joint, 0) + torque
    return {"torque": [total[name] for name in sensor.at]}


def _wrench(sensor: Sensor, now: Moment, solved: Moment) -> Mapping[str, list[Scalar]]:
    wrench = solved.wrench_at(sensor.at[0])
    return {"force": list(wrench.linear), "torque": list(wrench.angular)}


def _contact(sensor: Sensor, now: Moment, solved: Moment) -> Mapping[str, list[Scalar]]:
    """Forces; flags and times are those of `pliant.sensors.readings`, which remembers them."""
    total = contact_totals(sensor, solved.robot, solved.groups, solved.forces)
    zero = [0] * len(total)
    forces = [x for f in total for x in f]
    return {"force": forces, "touch": zero, "air_time": zero, "contact_time": zero}


def contact_totals(sensor: Sensor, robot: Robot, groups: Sequence[Group], forces: Scalars) -> list[Vector]:
    """The force on the robot at each place of a contact sensor: on a contact, or on all of a body's."""
    total = {place: Vector.zero() for place in sensor.at}
    left = iter(forces)
    for name in (name for group in groups for name in group.names):
        f = Vector(next(left), next(left), next(left))
        for part, force in zip(name.split("|"), (f, -f), strict=False):
            for place in places_of(robot, part):
                if place in total:
                    total[place] = total[place] + force
    return list(total.values())


def places_of(robot: Robot, touching: str) -> tuple[str, ...]:
    """What sensors may call that which touches, by the name of a contact or of one of its points: contact and body."""
    if touching not in robot.contacts:
        touching = next(point.shape for point in robot.contact_points if point.name == touching)
    shape = robot.contacts[touching]
    return tuple(dict.fromkeys((shape.name, shape.body)))


def _pose(sensor: Sensor, now: Moment, solved: Moment) -> Mapping[str, list[Scalar]]:
    i, X_BF, X = now.frame(sensor.at[0])
    found = {"position": list(X.p + now.origin), "linear": [0] * 3, "angular": [0] * 3}
    if "orientation" in sensor.channels:
        found["orientation"] = list(quaternion_from_matrix(X.R.matrix()))
    if i >= 0:
        V, R = now.velocities[i], now.poses[i].R
        found["linear"] = list(R.rotate(V.linear + V.angular.cross(X_BF.p)))
        found["angular"] = list(R.rotate(V.angular))
    return found


def heading_of(sensor: Sensor, now: Moment) -> tuple[list[Scalar], Scalar]:
    """Where a scan is, x and y in the world, cosine and sine of its heading; and the height of its frame."""
    _, _, X = now.frame(sensor.at[0])
    p, ahead = X.p + now.origin, X.R.rotate(Vector.unit(0))
    length = sqrt(ahead.x * ahead.x + ahead.y * ahead.y)
    has_heading = length > _NO_HEADING
    scale = 1 / select(has_heading, length, 1)
    c, s = select(has_heading, ahead.x * scale, 1), select(has_heading, ahead.y * scale, 0)
    return [p.x, p.y, c, s], p.z


def within(x: Scalar, reach: Scalar) -> Scalar:
    """A number, or plus or minus ``reach`` beyond it."""
    return maximum(minimum(x, reach), -reach)


_READERS = {
    "imu": _imu, "encoder": _encoder, "torque": _torque, "wrench": _wrench, "contact": _contact, "pose": _pose,
}  # fmt: skip
