"""Observations that people use; each a function of `Now`, for `Observation`."""

from collections.abc import Sequence
from math import cos as cosine
from math import pi
from typing import Any

from pliant.environment.now import Now
from pliant.scalar import Scalar, abs, cos, select, sin


def base_velocity(now: Now) -> list[Scalar]:
    """Velocity of the base in its own axes [m/s]."""
    return now.base_velocity


def base_rates(now: Now) -> list[Scalar]:
    """Angular velocity of the base in its own axes [rad/s]."""
    return now.base_rates


def vertical(now: Now) -> list[Scalar]:
    """The vertical in the axes of the base, (0, 0, 1) if it is upright: gravity, with the other sign."""
    return now.up


def height(now: Now) -> Scalar:
    """Of the base above the ground [m]."""
    return now.height


def joint_offsets(now: Now) -> list[Scalar]:
    """Positions of joints with motors, from those of the stance [rad or m]."""
    return now.joint_offsets


def joint_velocities(now: Now) -> list[Scalar]:
    """Velocities of joints with motors [rad/s or m/s]."""
    return now.joint_velocities


def coordinates(now: Now, joints: Sequence[str]) -> list[Scalar]:
    """Coordinates of joints, from those of the stance [rad or m]; springs of flexible joints too, by their names."""
    places = [now.robot.q_slice(name) for name in joints]
    return [now.q[i] - now.stance[i] for place in places for i in range(place.start, place.stop)]


def rates(now: Now, joints: Sequence[str]) -> list[Scalar]:
    """Velocities of joints [rad/s or m/s]."""
    places = [now.robot.v_slice(name) for name in joints]
    return [now.v[d] for place in places for d in range(place.start, place.stop)]


def angles(now: Now, joints: Sequence[str]) -> list[Scalar]:
    """Sine and cosine of the angles of joints that turn."""
    found = []
    for name in joints:
        q = now.q[now.robot.q_slice(name).start]
        found += [sin(q), cos(q)]
    return found


def last_action(now: Now) -> list[Scalar]:
    """The action of the period that has just ended."""
    return list(now.action)


def command(now: Now, name: str = "velocity") -> list[Scalar]:
    """The numbers of a command."""
    return list(now.command(name))


def clock(now: Now, name: str = "gait", stops_with: str | None = "velocity", least: float = 0.05) -> list[Scalar]:
    """Sine and cosine of a phase; zero where a command of velocity asks for standing.

    Args:
        name: of the `Clock`.
        stops_with: of the command that stops it; None for never.
        least: sum of the sizes of the command below which it stands still.
    """
    angle = 2 * pi * now.command(name)[0]
    found = [sin(angle), cos(angle)]
    if stops_with is None:
        return found
    moves = is_moving(now, stops_with, least)
    return [select(moves, x, 0) for x in found]


def is_moving(now: Now, name: str = "velocity", least: float = 0.05) -> Scalar:
    """Whether a command asks for motion: the sum of the sizes of its numbers is above the least."""
    return sum((abs(x) for x in now.command(name)), start=0) > least


def swing(now: Now, phase: float, down: float = 0.5, clock: str = "gait") -> Scalar:
    """Above zero while a foot is to be in the air, the most in the middle; below zero while it is to be down.

    Args:
        phase: of the foot in the gait, from 0 to 1.
        down: share of the time that it is to be down.
        clock: name of the `Clock`.
    """
    return sin(2 * pi * (now.command(clock)[0] + phase)) + cosine(pi * down)


def contacts(now: Now, feet: Sequence[str], threshold: float = 1.0) -> list[Scalar]:
    """1 for each foot that is down, else 0."""
    return [select(now.is_down(foot, threshold), 1, 0) for foot in feet]


def contact_forces(now: Now, feet: Sequence[str]) -> list[Scalar]:
    """Forces on feet, in the axes of the world, three numbers each [N]."""
    return [x for foot in feet for x in now.force_on(foot)]


def torques(now: Now) -> list[Scalar]:
    """Of the motors [N m or N]."""
    return list(now.torques)


def position(now: Now, frame: str) -> list[Scalar]:
    """Of a frame in the world [m]."""
    return list(now.position(frame))


def offset_to(now: Now, frame: str, command: str = "target") -> list[Scalar]:
    """From a frame to the place that a command asks for, in the world's axes [m]."""
    return [a - b for a, b in zip(now.command(command), now.position(frame), strict=True)]


def parameter(now: Now, path: str) -> list[Scalar]:
    """A number that varies from robot to robot, as a critic may see it."""
    return list(now.parameter(path))


def sensor(now: Now, channel: str) -> Any:
    """What a sensor reads, such as "imu.gyro"."""
    return now.reading(channel)
