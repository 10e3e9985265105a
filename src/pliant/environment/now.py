"""What terms see: a robot at the end of a control period.

The numbers are scalars of any kind. Where a term is compiled they are traced; where it runs in NumPy each is an array
with an entry for each robot, so that ``now.q`` is (nq, batch) and ``now.v[0]`` is (batch,). One function does for both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from pliant.checks import check_known
from pliant.errors import SimulationError
from pliant.scalar import Scalar, Scalars, maximum, sqrt
from pliant.sensors.truth import Moment, places_of
from pliant.signatures import explained
from pliant.spatial import Vector

_NONE: Mapping[str, Any] = MappingProxyType({})


@explained
@dataclass(frozen=True)
class Now(Moment):
    """A robot at the end of a control period; the attributes of `Moment`, and more.

    Attributes:
        t: time since the episode began [s].
        period: length of a control period [s].
        action, last_action: of this period and of the one before.
        commands: numbers of each command, by name.
        sensors: readings by channel, such as "imu.gyro".
        parameters, defaults: values of the numbers that vary, by path, and what they are without variation.
        stance: the configuration that episodes begin with, as numbers.
        level: of the curriculum; start: where the base was at the start of the episode, along x and y [m], if there is
            one.
    """

    period: float = 0.0
    action: Scalars = ()
    last_action: Scalars = ()
    commands: Mapping[str, Scalars] = field(default_factory=lambda: _NONE)
    sensors: Mapping[str, Scalars] = field(default_factory=lambda: _NONE)
    parameters: Mapping[str, Scalars] = field(default_factory=lambda: _NONE)
    defaults: Mapping[str, Scalars] = field(default_factory=lambda: _NONE)
    stance: Sequence[float] = ()
    level: Scalar = 0
    start: tuple[Scalar, Scalar] = (0, 0)

    # ---- the base

    @cached_property
    def base(self) -> int:
        """The number of the link that carries the rest: the floating one, or the first."""
        free = [link.index for link in self.robot.mechanism.floating_links]
        return free[0] if free else 0

    @property
    def base_velocity(self) -> list[Scalar]:
        """Of the base's origin, in its own axes [m/s]."""
        return list(self.velocities[self.base].linear)

    @property
    def base_rates(self) -> list[Scalar]:
        """Angular velocity of the base, in its own axes [rad/s]."""
        return list(self.velocities[self.base].angular)

    @cached_property
    def up(self) -> list[Scalar]:
        """The vertical in the axes of the base: (0, 0, 1) if it is upright."""
        return list(self.poses[self.base].R.rotate_back(Vector.unit(2)))

    @cached_property
    def place(self) -> Vector:
        """Of the base, in the world [m]."""
        return self.poses[self.base].p + self.origin

    @cached_property
    def height(self) -> Scalar:
        """Of the base above the ground below it [m]; above zero where there is no ground."""
        return self.place.z - self.ground_below(self.place)

    @cached_property
    def velocity(self) -> list[Scalar]:
        """Of the base along its heading, to its left, and up, as if it were upright [m/s]."""
        V, R = self.velocities[self.base], self.poses[self.base].R
        return self._along_heading(R.rotate(V.linear))

    @cached_property
    def heading(self) -> tuple[Scalar, Scalar]:
        """Cosine and sine of the angle between the base's x axis, seen from above, and that of the world."""
        ahead = self.poses[self.base].R.rotate(Vector.unit(0))
        length = maximum(sqrt(ahead.x * ahead.x + ahead.y * ahead.y), 1e-6)
        return ahead.x / length, ahead.y / length

    def _along_heading(self, x: Vector) -> list[Scalar]:
        c, s = self.heading
        return [c * x.x + s * x.y, c * x.y - s * x.x, x.z]

    # ---- joints

    @cached_property
    def _motor_joints(self) -> list[tuple[int, int]]:
        """Places in q and v of the joints that motors drive."""
        robot = self.robot
        names = dict.fromkeys(motor.joint for motor in robot.motors.values())
        return [(robot.q_slice(name).start, robot.v_slice(name).start) for name in names]

    @property
    def joint_offsets(self) -> list[Scalar]:
        """Positions of the joints with motors, from those of the stance [rad or m]."""
        return [self.q[i] - self.stance[i] for i, _ in self._motor_joints]

    @property
    def joint_velocities(self) -> list[Scalar]:
        """Of the joints with motors [rad/s or m/s]."""
        return [self.v[d] for _, d in self._motor_joints]

    # ---- other bodies

    def position(self, frame: str) -> Vector:
        """Of a frame or body, in the world [m]."""
        return self.frame(frame)[2].p + self.origin

    def velocity_of(self, frame: str) -> Vector:
        """Of the origin of a frame or body, in the axes of the world [m/s]."""
        i, X_BF, _ = self.frame(frame)
        if i < 0:
            return Vector.zero()
        V, R = self.velocities[i], self.poses[i].R
        return R.rotate(V.linear + V.angular.cross(X_BF.p))

    def ground_below(self, p: Vector) -> Scalar:
        """Height of the ground below a point [m]; zero where there is no ground."""
        return 0 if self.ground is None else self.ground.height(p.x, p.y)

    @cached_property
    def _forces(self) -> dict[str, Vector]:
        """Of the ground and of other bodies on each contact and body [N]."""
        found: dict[str, Vector] = {}
        left = iter(self.forces)
        for name in (name for group in self.groups for name in group.names):
            f = Vector(next(left), next(left), next(left))
            for part, force in zip(name.split("|"), (f, -f), strict=False):
                for place in places_of(self.robot, part):
                    found[place] = found[place] + force if place in found else force
        return found

    def force_on(self, place: str) -> Vector:
        """The contact force on a contact or body, in the axes of the world, over the last step [N]."""
        check_known("contact", place, self._forces, "the simulation", error=SimulationError)
        return self._forces[place]

    def is_down(self, place: str, threshold: float = 1.0) -> Scalar:
        """Whether a contact or body is pressed from below by more than a threshold [N]."""
        return self.force_on(place).z > threshold

    # ---- what the task says

    def command(self, name: str) -> Scalars:
        """The numbers of a command."""
        check_known("command", name, self.commands, "the environment", error=SimulationError)
        return self.commands[name]

    def reading(self, channel: str) -> Scalars:
        """What a sensor reads."""
        check_known("channel", channel, self.sensors, "the sensors", error=SimulationError)
        return self.sensors[channel]

    def parameter(self, path: str) -> Scalars:
        """Values of a number that varies."""
        check_known("varying parameter", path, self.parameters, "the simulation", error=SimulationError)
        return self.parameters[path]
