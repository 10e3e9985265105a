"""What walking costs a robot: torques, power and impacts at its feet, under a policy and one command."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pliant.environment import Environment

GRAVITY = 9.81
_BEGIN = 0.2
"""Share of the time that is not measured, in which robots get going."""


class Effort(NamedTuple):
    """Of all robots and motors, sampled at the end of each control period.

    What happens early in a period, when targets have just changed, is not seen. A force at a foot is an impulse over a
    step: that of a rigid impact is the larger, the shorter the step. Compare at the same step and period.

    Attributes:
        torque: root mean square [N m or N].
        largest_torque: exceeded by one sample of a motor in a thousand.
        power: that the motors put in, braking not given back [W].
        transport: cost of transport, power / (weight times speed); infinite where it stands.
        impact: vertical force of a foot, in weights of the robot, exceeded by one sample of a foot in a thousand.
        speed: mean, along the ground [m/s].
        falls: robots that fell, of all; they start again, and their samples count.
    """

    torque: float
    largest_torque: float
    power: float
    transport: float
    impact: float
    speed: float
    falls: int


def effort(
    env: Environment,
    policy: Callable[[np.ndarray], np.ndarray],
    command: Sequence[float],
    *,
    seconds: float = 10.0,
    seed: int = 1000,
) -> Effort:
    """Let all robots of an environment follow one command of velocity, and measure.

    Args:
        env: of a walker.
        policy: from observations to actions.
        command: ahead, left and turn [m/s, m/s, rad/s].
        seed: of the starts.
    """
    sim, robot = env.sim, env.sim.robot
    env.reset(seed=seed)
    env.set_command("velocity", np.asarray(command, dtype=float))
    seen = env.look()
    dofs = [robot.v_slice(motor.joint).start for motor in robot.motors.values()]
    torques, powers, forces, speeds = [], [], [], []
    periods, falls = round(seconds / env.period), np.zeros(env.batch, dtype=bool)
    for k in range(periods):
        found = env.step(policy(seen["actor"]))
        seen = found.observations
        falls |= found.terminated
        if k < _BEGIN * periods:
            continue
        tau, v = sim.data[:, sim.layout.span("torques")], sim.v
        torques.append(np.abs(tau))
        powers.append(np.maximum(tau * v[:, dofs], 0).sum(axis=1))
        forces.append(sim.contact_forces[..., 2])
        speeds.append(np.hypot(v[:, 0], v[:, 1]))
    weight, power, speed = GRAVITY * float(robot.mass), float(np.mean(powers)), float(np.mean(speeds))
    is_going = any(command[:2])
    return Effort(
        float(np.sqrt(np.mean(np.square(torques)))),
        float(np.quantile(torques, 0.999)),
        power,
        power / (weight * speed) if is_going else float("inf"),
        float(np.quantile(forces, 0.999)) / weight,
        speed,
        int(falls.sum()),
    )
