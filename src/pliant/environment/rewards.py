"""Rewards and penalties that people use; each a function of `Now`, for `Reward`.

Penalties are positive numbers: give them negative weights.
"""

from collections.abc import Sequence

from pliant.environment.now import Now
from pliant.environment.observations import is_moving, swing
from pliant.scalar import Scalar, Scalars, abs, both, cos, exp, maximum, minimum, negation, select, sqrt

# ---- tasks


def alive(now: Now) -> Scalar:
    """1 in every period."""
    return 1


def track_linear_velocity(now: Now, command: str = "velocity", width: float = 0.5) -> Scalar:
    """1 if the base has the velocity that is asked for, ahead and to the left; exp(-error^2 / width^2) [m/s]."""
    vx, vy, _ = now.base_velocity
    x, y = now.command(command)[:2]
    return exp(-(_square(vx - x) + _square(vy - y)) / width**2)


def track_turning(now: Now, command: str = "velocity", width: float = 0.5) -> Scalar:
    """1 if the base turns as fast as it is asked to; exp(-error^2 / width^2) [rad/s]."""
    return exp(-_square(now.base_rates[2] - now.command(command)[2]) / width**2)


def track_mean_velocity(
    now: Now, memory: Scalars, command: str = "velocity", width: float = 0.2, time: float = 0.35
) -> tuple[Scalar, list[Scalar]]:  # fmt: skip
    """1 if the base has had the velocity ahead and to the left that was asked for; exp(-error^2 / width^2) [m/s].

    The error is a mean over the past, whose weights fall to 1 / e within ``time`` [s]. Legged bases sway with each
    step; the mean over half a step or more does not, so that the width may be a narrow one. It remembers the errors:
    give ``memory=[0, 0]``.
    """
    vx, vy, _ = now.base_velocity
    x, y = now.command(command)[:2]
    errors = _averaged(now, memory, (vx - x, vy - y), time)
    return exp(-_squares(errors) / width**2), errors


def track_mean_turning(
    now: Now, memory: Scalars, command: str = "velocity", width: float = 0.2, time: float = 0.35
) -> tuple[Scalar, list[Scalar]]:  # fmt: skip
    """1 if the base has turned as fast as it was asked to; as `track_mean_velocity`, with ``memory=[0]`` [rad/s]."""
    errors = _averaged(now, memory, (now.base_rates[2] - now.command(command)[2],), time)
    return exp(-_squares(errors) / width**2), errors


def reach(now: Now, frame: str, command: str = "target", width: float = 0.2) -> Scalar:
    """1 if a frame is where a command asks for it; exp(-distance^2 / width^2) [m]."""
    return exp(-_squares([a - b for a, b in zip(now.command(command), now.position(frame), strict=True)]) / width**2)


def distance(now: Now, frame: str, command: str = "target") -> Scalar:
    """From a frame to the place that a command asks for [m]."""
    return sqrt(_squares([a - b for a, b in zip(now.command(command), now.position(frame), strict=True)]) + 1e-12)


def upright_joint(now: Now, joint: str, upright: float = 0.0) -> Scalar:
    """From 0 to 1, how near the angle of a joint is to that where it is upright: (1 + cos) / 2."""
    return (1 + cos(now.q[now.robot.q_slice(joint).start] - upright)) / 2


# ---- posture


def posture(now: Now, width: float = 1.0) -> Scalar:
    """1 if the joints are those of the stance; exp(-offsets^2 / width^2) [rad or m]."""
    return exp(-_squares(now.joint_offsets) / width**2)


def tilt(now: Now) -> Scalar:
    """Square of the sine of the angle between the base's z axis and the vertical."""
    return _squares(now.up[:2])


def base_height(now: Now, target: float) -> Scalar:
    """How far the base is from a height above the ground [m]."""
    return abs(now.height - target)


def joint_offsets(now: Now, joints: Sequence[str] | None = None) -> Scalar:
    """Sum of the sizes of the joints' offsets from the stance [rad or m]; of all with motors, or of those named."""
    if joints is None:
        return sum((abs(x) for x in now.joint_offsets), start=0)
    places = [now.robot.q_slice(name).start for name in joints]
    return sum((abs(now.q[i] - now.stance[i]) for i in places), start=0)


def joint_limits(now: Now, share: float = 0.9) -> Scalar:
    """How far joints with motors are beyond a share of their range, from its middle [rad or m], summed."""
    total: Scalar = 0
    for motor in now.robot.motors.values():
        limits, at = now.robot.joints[motor.joint].limits, now.robot.q_slice(motor.joint).start
        low, high = float(limits.lower[0]), float(limits.upper[0])
        if low < high < float("inf") and low > -float("inf"):
            total = total + maximum(abs(now.q[at] - (low + high) / 2) - share * (high - low) / 2, 0)
    return total


# ---- smoothness and effort


def vertical_velocity(now: Now) -> Scalar:
    """Square of the base's velocity along its z axis."""
    return _square(now.base_velocity[2])


def base_wobble(now: Now) -> Scalar:
    """Squares of the base's rates of roll and pitch."""
    return _squares(now.base_rates[:2])


def action_rate(now: Now) -> Scalar:
    """Squares of the change of the action since the last period."""
    return _squares([a - b for a, b in zip(now.action, now.last_action, strict=True)])


def action_size(now: Now) -> Scalar:
    """Squares of the action."""
    return _squares(now.action)


def torques(now: Now) -> Scalar:
    """Squares of the torques of the motors."""
    return _squares(now.torques)


def power(now: Now) -> Scalar:
    """Sizes of the mechanical power of the motors [W], summed."""
    return sum((abs(a * b) for a, b in zip(now.torques, now.joint_velocities, strict=True)), start=0)


def joint_velocities(now: Now) -> Scalar:
    """Squares of the velocities of joints with motors."""
    return _squares(now.joint_velocities)


# ---- feet


def gait(
    now: Now, feet: Sequence[str], phases: Sequence[float], down: float = 0.5, clock: str = "gait",
    stops_with: str | None = "velocity", threshold: float = 1.0,
) -> Scalar:  # fmt: skip
    """From -1 to 1, how well feet are down when a clock asks for it; all of them when the robot is to stand.

    Args:
        feet: names of contacts or bodies.
        phases: of each foot, from 0 to 1.
        down: share of the time that a foot is to be down.
        clock: name of the `Clock`.
        stops_with: name of the command that stops it; None for never.
        threshold: force that counts as contact [N].
    """
    moves, total = None if stops_with is None else is_moving(now, stops_with), 0
    for foot, phase in zip(feet, phases, strict=True):
        wave = swing(now, phase, down, clock)
        weight, wanted = minimum(abs(wave), 1), select(wave < 0, 1, 0)
        if moves is not None:
            weight, wanted = select(moves, weight, 1), select(moves, wanted, 1)
        is_down = select(now.is_down(foot, threshold), 1, 0)
        total = total + weight * (1 - 2 * abs(is_down - wanted))
    return total / len(feet)


def feet_air_time(
    now: Now, memory: Scalars, feet: Sequence[str], least: float = 0.2, command: str | None = "velocity",
    threshold: float = 1.0,
) -> tuple[Scalar, list[Scalar]]:  # fmt: skip
    """At each landing, the time that the foot was in the air beyond the least [s]; none while standing is asked for.

    It remembers times in the air: give ``memory=[0] * len(feet)``.
    """
    total, times = 0, []
    for foot, time in zip(feet, memory, strict=True):
        is_down = now.is_down(foot, threshold)
        total = total + select(both(is_down, time > 0), time - least, 0)
        times.append(select(is_down, 0, time + now.period))
    if command is not None:
        total = select(is_moving(now, command), total, 0)
    return total, times


def feet_slip(now: Now, feet: Sequence[str], threshold: float = 1.0) -> Scalar:
    """Squares of the velocities along the ground of feet that are down [m^2/s^2], summed."""
    total: Scalar = 0
    for foot in feet:
        v = now.velocity_of(foot)
        total = total + select(now.is_down(foot, threshold), _square(v.x) + _square(v.y), 0)
    return total


def feet_clearance(now: Now, feet: Sequence[str], height: float = 0.08, threshold: float = 1.0) -> Scalar:
    """How far feet in the air are from a height above the ground, times their speed along it, summed [m^2/s]."""
    total: Scalar = 0
    for foot in feet:
        p, v = now.position(foot), now.velocity_of(foot)
        miss = abs(p.z - now.ground_below(p) - height) * sqrt(_square(v.x) + _square(v.y) + 1e-12)
        total = total + select(now.is_down(foot, threshold), 0, miss)
    return total


def contact_forces(now: Now, feet: Sequence[str], most: float) -> Scalar:
    """How far forces on feet are above a bound [N], summed."""
    total: Scalar = 0
    for foot in feet:
        f = now.force_on(foot)
        total = total + maximum(sqrt(_squares(list(f)) + 1e-12) - most, 0)
    return total


def undesired_contacts(now: Now, bodies: Sequence[str], threshold: float = 1.0) -> Scalar:
    """How many of these contacts or bodies touch something."""
    total: Scalar = 0
    for body in bodies:
        total = total + select(_squares(list(now.force_on(body))) > threshold**2, 1, 0)
    return total


def symmetry(now: Now, left: Sequence[str], right: Sequence[str], signs: Sequence[float]) -> Scalar:
    """Squares of the differences between joints on the left and on the right [rad^2], where signs mirror the right."""
    total: Scalar = 0
    for a, b, sign in zip(left, right, signs, strict=True):
        i, k = now.robot.q_slice(a).start, now.robot.q_slice(b).start
        total = total + _square(now.q[i] - now.stance[i] - sign * (now.q[k] - now.stance[k]))
    return total


def standing_still(now: Now, command: str = "velocity") -> Scalar:
    """Sum of the sizes of joint offsets while standing is asked for [rad or m]."""
    return select(negation(is_moving(now, command)), joint_offsets(now), 0)


def _averaged(now: Now, memory: Scalars, errors: Sequence[Scalar], time: float) -> list[Scalar]:
    """Means over the past, a period later."""
    share = now.period / (time + now.period)
    return [mean + share * (x - mean) for mean, x in zip(memory, errors, strict=True)]


def _square(x: Scalar) -> Scalar:
    return x * x


def _squares(values: Scalars) -> Scalar:
    return sum((x * x for x in values), start=0)
