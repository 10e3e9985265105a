"""A walking robot in the mirror: left and right exchanged, for learners that use symmetry.

The mirror is the plane of x and z. Velocities and places change sign along y; rates of turning, which go round the
other way, along x and z. Which joint is the mirror image of which, and with which sign, follows from the screws of the
joints in the stance.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pliant.dynamics.kinematics import link_poses
from pliant.environment import Observation, observations
from pliant.robot import Robot
from pliant.tasks import sensing

POLAR, AXIAL = (1, -1, 1), (-1, 1, -1)
"""Signs of a vector in the mirror, and of a rate of turning."""

_CLOSE = 2e-3
"""How far mirrored joints may be from each other [m or 1]: files of real robots are not quite symmetric."""

Rule = tuple[Sequence[int], Sequence[float]]
"""Permutation and signs: entry k becomes ``signs[k] * x[permutation[k]]``."""


class WalkerMirror(NamedTuple):
    """Permutation and signs of each group of observations, and of the actions."""

    observations: Mapping[str, Rule]
    actions: Rule


def mirror_of(
    robot: Robot, stance: Sequence[float], feet: Sequence[str], phases: Sequence[float],
    groups: Mapping[str, Mapping[str, Observation]],
) -> WalkerMirror | None:  # fmt: skip
    """The mirror of a walker; None if the robot, its stance, its gait or an observation has no mirror image.

    Args:
        feet, phases: of the gait.
        groups: of observations.
    """
    joints = mirrored_joints(robot, stance)
    if joints is None:
        return None
    motors = list(dict.fromkeys(motor.joint for motor in robot.motors.values()))
    shift = gait_shift(robot, stance, feet, phases)
    found: dict[str, Rule] = {}
    for group, terms in groups.items():
        places: list[int] = []
        signs: list[float] = []
        for term in terms.values():
            rule = _rule(robot, term, joints, motors, shift)
            if rule is None:
                return None
            for _ in range(term.history):
                begin = len(places)
                places += [begin + k for k in rule[0]]
                signs += rule[1]
        found[group] = places, signs
    return WalkerMirror(found, _among(joints, motors))


def mirrored_joints(robot: Robot, stance: Sequence[float]) -> dict[str, tuple[str, int]] | None:
    """The mirror image of each joint with one coordinate, and its sign; None if one has none.

    A joint moves what it carries along a screw (l, a): the velocity of a point at the origin, and the angular velocity.
    In the mirror it is (lx, -ly, lz), (-ax, ay, -az), and so is the screw of its image, or the opposite of it.
    """
    poses = link_poses(robot.mechanism, [float(x) for x in stance])
    screws: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for link in robot.mechanism.links:
        if len(link.dofs) != 1:
            continue
        (column,) = link.kind.columns
        pose = poses[link.index]
        linear, angular = pose.R.rotate(column.linear), pose.R.rotate(column.angular)
        at = np.array([float(x) for x in pose.p])
        turn = np.array([float(x) for x in angular])
        screws[link.name] = at, np.concatenate([np.array([float(x) for x in linear]) - np.cross(turn, at), turn])
    signs, found = np.array([*POLAR, *AXIAL]), {}
    taken: set[str] = set()
    for name, (at, screw) in screws.items():
        image = signs * screw
        for other, (place, own) in screws.items():
            sign = 1 if np.dot(image, own) > 0 else -1
            is_near = np.allclose(at * POLAR, place, rtol=0, atol=_CLOSE)
            if other not in taken and is_near and np.allclose(image, sign * own, rtol=0, atol=_CLOSE):
                held, others = (float(stance[robot.q_slice(n).start]) for n in (name, other))
                if abs(held - sign * others) > _CLOSE:
                    return None
                found[name] = other, sign
                taken.add(other)
                break
        else:
            return None
    return found


def gait_shift(
    robot: Robot, stance: Sequence[float], feet: Sequence[str], phases: Sequence[float]
) -> float | None:  # fmt: skip
    """How far the clock of a gait is off in the mirror, 0 or 0.5; None if no clock makes it the same gait."""
    poses = link_poses(robot.mechanism, [float(x) for x in stance])
    at = []
    for foot in feet:
        i, X_LB = robot.mechanism.body(foot if foot in robot.bodies else robot.contacts[foot].body)
        at.append(np.array([float(x) for x in poses[i].transform_point(X_LB.p)]))
    shifts = set()
    for place, phase in zip(at, phases, strict=True):
        images = [k for k, other in enumerate(at) if np.allclose(place * POLAR, other, rtol=0, atol=_CLOSE)]
        if not images:
            return None
        shifts.add(round((phases[images[0]] - phase) % 1, 6))
    shift = shifts.pop()
    return shift if not shifts and shift in (0.0, 0.5) else None


def _rule(
    robot: Robot, term: Observation, joints: Mapping[str, tuple[str, int]], motors: Sequence[str],
    shift: float | None,
) -> tuple[list[int], list[float]] | None:  # fmt: skip
    """How the numbers of an observation are mirrored; None if it is not known."""
    function, channel = term.function, term.parameters.get("channel")
    if function in _VECTORS or channel == "imu.gyro":
        return [0, 1, 2], list(AXIAL if channel else _VECTORS[function])
    if function is observations.command and term.parameters.get("name", "velocity") == "velocity":
        return [0, 1, 2], [1, -1, -1]
    if function is observations.clock and shift is not None:
        return [0, 1], [-1, -1] if shift else [1, 1]
    if function in (observations.coordinates, observations.rates):
        return _among(joints, term.parameters["joints"])
    if function in _OF_MOTORS or channel == "encoders.velocity":
        return _among(joints, motors)
    if function is sensing.sensed_ground:
        rays = robot.sensors["scan"].rays
        points = {(round(float(x), 6), round(float(y), 6)): k for k, (x, y, _) in enumerate(rays)}
        images = [points.get((x, round(-y, 6))) for x, y in points]
        return None if None in images else ([k for k in images if k is not None], [1] * len(images))
    return None


def _among(joints: Mapping[str, tuple[str, int]], names: Sequence[str]) -> tuple[list[int], list[float]]:
    names = list(names)
    return [names.index(joints[name][0]) for name in names], [joints[name][1] for name in names]


_VECTORS: Mapping[Callable[..., Any], tuple[int, int, int]] = {
    observations.base_velocity: POLAR, observations.base_rates: AXIAL, observations.vertical: POLAR,
    sensing.sensed_vertical: POLAR, sensing.sensed_velocity: POLAR,
}  # fmt: skip
_OF_MOTORS = (
    observations.joint_offsets, observations.joint_velocities, observations.last_action, sensing.sensed_offsets,
)  # fmt: skip
