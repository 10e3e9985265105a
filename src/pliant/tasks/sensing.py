"""What a walking robot knows of itself on a real machine: an inertial unit, encoders, and a scan of the ground.

No sensor tells the velocity of the base. Robots whose feet are points or balls estimate it from their legs
(`LegOdometry`); others go without. The critic, which is used in training alone, has it.
"""

from typing import Any

from pliant.control import BaseEstimator
from pliant.environment import Now, Observation, observations
from pliant.robot import Free, Robot
from pliant.scalar import Scalar, Scalars
from pliant.spatial import Vector, rotation_from_quaternion

SCAN = (0.9, 0.5, 0.15)
"""Length, width and spacing of the points where the ground is measured [m]."""

_ERRORS: dict[str, dict[str, Any]] = {
    "imu": {
        "misalignment": 0.01,
        "accelerometer": {"noise": 0.05, "bias": 0.05},
        "gyro": {"noise": 5e-3, "bias": 0.02},
        "orientation": {"noise": 1e-3, "bias": 0.01},
    },
    "encoders": {"position": {"noise": 3e-4, "bias": 0.01}, "velocity": {"noise": 0.02}},
    "scan": {"height": {"noise": 5e-4, "bias": 0.01}},
}
"""Of the sensors where there is noise: an inexpensive inertial unit, encoders that are some 0.01 rad off."""

DELAY = (0.0, 0.01)
"""From a sample to its reading [s], where there is noise."""


_LEGS = 60.0
"""How fast legs correct the velocity [1/s]: there is one sample of the accelerometer in a control period."""


def base_of(robot: Robot) -> str:
    """The body that carries the rest."""
    free = next((j for j in robot.joints.values() if isinstance(j.kind, Free) and j.parent == "world"), None)
    return next(iter(robot.bodies)) if free is None else free.child


def with_walking_sensors(robot: Robot, *, noise: bool = False, scan: bool = False) -> Robot:
    """The robot with an inertial unit at its base and encoders at its motors, and maybe a scan of the ground around it.

    Feet that are points or balls get switches that tell whether they touch the ground.

    Args:
        noise: whether they have errors and delays.
        scan: whether there is one.
    """
    base, late = base_of(robot), DELAY if noise else 0
    errors = _ERRORS if noise else {name: {} for name in _ERRORS}
    found = robot.without_sensors()
    channels = ["gyro", "accelerometer", "orientation"]
    found = found.with_sensor("imu", base, name="imu", channels=channels, delay=late, **errors["imu"])
    found = found.with_sensor("encoder", name="encoders", delay=late, **errors["encoders"])
    if found.is_free and found.contacts and all(len(foot.centers) == 1 for foot in found.contacts.values()):
        found = found.with_sensor("contact", list(found.contacts), name="feet", channels=["touch"], delay=late)
    if scan:
        found = found.with_sensor("scan", base, name="scan", grid=SCAN, rate=50, **errors["scan"])
    return found


def sensed_by(robot: Robot, *, history: int = 1) -> dict[str, Observation]:
    """Observations from the sensors of `with_walking_sensors`: those that stand for the base and the joints.

    Args:
        history: how many control periods of them are shown.
    """
    found = {
        "rates": Observation("imu.gyro", scale=0.25, history=history),
        "vertical": Observation(sensed_vertical, history=history),
        "joints": Observation(sensed_offsets, history=history),
        "joint rates": Observation("encoders.velocity", scale=0.05, history=history),
    }
    if "feet" in robot.sensors:
        found = {"odometry": Observation(sensed_velocity, memory=BaseEstimator.of(robot).memory)} | found
    if "scan" in robot.sensors:
        found["scan"] = Observation(sensed_ground, clip=0.5, scale=4.0)
    return found


def sensed_velocity(now: Now, memory: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """The velocity of the base in its own axes, as estimated from its legs and the inertial unit [m/s]."""
    estimator = BaseEstimator.of(now.robot, k=_LEGS)
    names = ("imu.gyro", "imu.accelerometer", "encoders.position", "encoders.velocity", "feet.touch")
    base, kept = estimator.update({name: now.reading(name) for name in names}, memory, now.period)
    return list(base.R.rotate_back(base.velocity)), kept


def sensed_vertical(now: Now) -> list[Scalar]:
    """The vertical in the axes of the base, by the orientation that the inertial unit reads."""
    x, y, z, w = now.reading("imu.orientation")
    return list(rotation_from_quaternion(x, y, z, w).rotate_back(Vector.unit(2)))


def sensed_offsets(now: Now) -> list[Scalar]:
    """Positions of joints with motors that encoders read, from those of the stance [rad or m]."""
    robot = now.robot
    held = [now.stance[robot.q_slice(name).start] for name in robot.sensors["encoders"].at]
    return [x - held_at for x, held_at in zip(now.reading("encoders.position"), held, strict=True)]


def sensed_ground(now: Now) -> list[Scalar]:
    """Heights of the ground around the base that the scan reads, from where it is on flat ground in the stance [m]."""
    return [x + now.stance[2] for x in now.reading("scan.height")]


def noisy(seen: dict[str, Observation]) -> dict[str, Observation]:
    """Observations of the state with uniform noise and delays of up to a period, sized as the errors of sensors are."""
    sizes = {
        observations.base_velocity: 0.1, observations.base_rates: 0.2, observations.vertical: 0.03,
        observations.coordinates: 0.02, observations.rates: 0.5,
    }  # fmt: skip
    return {
        name: term if term.function not in sizes
        else Observation(
            term.function, scale=term.scale, clip=term.clip, noise=sizes[term.function], delay=(0, 1),
            history=term.history, **term.parameters,
        )
        for name, term in seen.items()
    }  # fmt: skip
