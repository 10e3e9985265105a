"""A robot that hops on one leg as its controller sees it: its parameters and its measurements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pliant.dynamics import frame_pose
from pliant.errors import Call, RobotError, unknown_name
from pliant.robot import Prismatic, Revolute, Robot
from pliant.scalar import atan2, cos, maximum, sin, sqrt
from pliant.spatial import MatrixRotation, Vector, rotation_from_quaternion

__all__ = ["HopperMachine", "Measured"]

Scalar = Any
Pair = tuple[Scalar, Scalar]


class Measured(NamedTuple):
    """A state, as sensors and an estimator on board would measure it; pairs are roll and pitch.

    Attributes:
        R: of the body, R_WB.
        velocity: of the body, in the world's axes [m/s].
        tilt: of the body, as sines; zero is upright, whatever the heading.
        tilt_rate: angular velocity about the body's x and y [rad/s].
        hip, hip_rate: of the leg against the body [rad, rad/s].
        extension, extension_rate: of the leg by its motor [m, m/s].
        compression, compression_rate: of the leg's spring [m, m/s].
        push: force of spring and damper along the leg [N].
        spin: angular velocity about the body's z [rad/s].
    """

    R: MatrixRotation
    velocity: Vector
    tilt: Pair
    tilt_rate: Pair
    hip: Pair
    hip_rate: Pair
    extension: Scalar
    extension_rate: Scalar
    compression: Scalar
    compression_rate: Scalar
    push: Scalar
    spin: Scalar


@dataclass(frozen=True)
class HopperMachine:
    """A body on one leg: a hip with two axes, roll then pitch, and a motor in series with a spring.

    Attributes:
        q_places, v_places: of hip roll, hip pitch, spring and leg in q and v, behind those of the free joint.
        u_places: of hip roll, hip pitch and leg in u.
        mass: of all bodies [kg]; unsprung: of those below the spring [kg].
        stiffness, damping: of the spring [N/m, N s/m].
        length: from the hip to the foot, with spring and motor at zero [m].
        gravity: [m/s^2].
    """

    q_places: tuple[int, ...]
    v_places: tuple[int, ...]
    u_places: tuple[int, ...]
    mass: float
    unsprung: float
    stiffness: float
    damping: float
    length: float
    gravity: float

    @classmethod
    def of(cls, robot: Robot, hip: Sequence[str], leg: str) -> "HopperMachine":
        """Read it from a robot; raises if the robot is not such a machine.

        Args:
            hip: joints about x and y of the body, in this order.
            leg: the joint along -z, with a motor and a spring; the body that it carries has its origin at the foot.
        """
        springs = _springs(robot, hip, leg)
        joints = [*hip, springs[0], leg]
        motors = {motor.joint: i for i, motor in enumerate(robot.motors.values())}
        q = robot.neutral().tolist()
        tip, top = (frame_pose.algorithm(robot, q, robot.joints[name].child) for name in (leg, hip[1]))
        reach = [float(tip[i][3] - top[i][3]) for i in range(3)]
        if max(abs(reach[0]), abs(reach[1])) > 1e-9 or reach[2] >= 0:
            subject = f"robot {robot.name!r}"
            problem = f"{subject}: the foot, the origin of {robot.joints[leg].child!r}, is at {reach} m from the hip"
            raise RobotError(problem, subject=subject, field=leg, cure="it must be straight below")
        carried = [body for body in robot.bodies if leg in [joint.name for joint in robot.path(body)]]
        return cls(
            q_places=tuple(robot.q_slice(name).start for name in joints),
            v_places=tuple(robot.v_slice(name).start for name in joints),
            u_places=tuple(motors[name] for name in (*hip, leg)),
            mass=robot.mass,
            unsprung=sum(robot.bodies[body].inertia.mass for body in carried),
            stiffness=robot.joints[springs[0]].stiffness[0],
            damping=robot.joints[springs[0]].damping[0],
            length=-reach[2],
            gravity=float(sqrt(robot.gravity.dot(robot.gravity))),
        )

    def measured(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> Measured:
        """The measurements of a state."""
        R = rotation_from_quaternion(*q[3:7])
        up = R.rotate_back(Vector(0, 0, 1))
        roll, pitch, deflection, extension = (q[i] for i in self.q_places)
        roll_rate, pitch_rate, deflection_rate, extension_rate = (v[i] for i in self.v_places)
        return Measured(
            R,
            R.rotate(Vector(*v[0:3])),
            (up.y, -up.x),
            (v[3], v[4]),
            (roll, pitch),
            (roll_rate, pitch_rate),
            extension,
            extension_rate,
            -deflection,
            -deflection_rate,
            -self.stiffness * deflection - self.damping * deflection_rate,
            v[5],
        )

    def foot(self, seen: Measured) -> Vector:
        """From the hip to the foot, in the body's axes: Rx(roll) Ry(pitch) (0, 0, -l) [m]."""
        l = self.length + seen.extension - seen.compression
        roll, pitch = seen.hip
        return Vector(-sin(pitch), sin(roll) * cos(pitch), -cos(roll) * cos(pitch)) * l

    def height(self, seen: Measured) -> Scalar:
        """Of the hip above the foot [m]."""
        return -seen.R.rotate(self.foot(seen)).z

    def hip_towards(self, seen: Measured, x: Scalar, y: Scalar) -> Pair:
        """Angles of the hip that put the foot at (x, y) from the hip in the world's axes, as low as the leg is long."""
        l = self.length + seen.extension - seen.compression
        low = sqrt(maximum(l * l - x * x - y * y, l * l / 4))
        foot = seen.R.rotate_back(Vector(x, y, -low))
        return atan2(foot.y, -foot.z), atan2(-foot.x, sqrt(foot.y * foot.y + foot.z * foot.z))


def _springs(robot: Robot, hip: Sequence[str], leg: str) -> list[str]:
    """The spring of the leg; raises unless the robot can hop."""
    owner = f"robot {robot.name!r}"
    if not robot.is_free:
        raise RobotError(f"{owner} has a fixed base", subject=owner, field="base", cure="load it with base='free'")
    kinds = ((hip[0], Revolute((1, 0, 0))), (hip[1], Revolute((0, 1, 0))), (leg, Prismatic((0, 0, -1))))
    for name, kind in kinds:
        if name not in robot.joints:
            raise RobotError(unknown_name("joint", name, robot.joints, owner))
        if robot.joints[name].kind != kind:
            problem = f"joint {name!r} of {owner} is {robot.joints[name].kind}"
            raise RobotError(problem, subject=f"joint {name!r}", field="kind", cure=f"it must be {kind}")
        motor = [m for m in robot.motors.values() if m.joint == name]
        if not motor or motor[0].control != "torque" or motor[0].law is not None:
            raise RobotError(
                f"joint {name!r} of {owner} has no motor under torque control",
                subject=f"joint {name!r}",
                field="motor",
                cure="give it one with {call}",
                call=Call("with_motor", name, {"control": "torque"}),
            )
    springs = [f.name for f in robot.flexibilities.values() if f.joint == leg]
    if len(springs) != 1 or robot.joints[springs[0]].kind != robot.joints[leg].kind:
        raise RobotError(
            f"joint {leg!r} of {owner} needs one spring along it",
            subject=f"joint {leg!r}",
            field="flexibility",
            cure="give it one with {call}",
            call=Call("with_flexibility", leg, {"stiffness": "..."}),
        )
    return springs
