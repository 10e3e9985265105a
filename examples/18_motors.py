"""A quadruped with real motors: it squats under loads until its knees get hot, and with a slow bus it shakes.

python examples/18_motors.py

Its motors have windings, a supply, heat that leaves slowly, dry friction by speed, and commands that come late.
"""

import math
from typing import Any

import numpy as np

import pliant

FEET = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")
STANCE = np.array([0.0, 0.8, -1.6])  # hip roll, hip pitch, knee of each leg [rad]
DEPTH = np.array([0.0, 0.25, -0.5])  # of a squat [rad]

# a motor of some 400 W behind a gear of 6, as in legs of that size
MOTOR: dict[str, Any] = {
    "gear": 6.0, "rotor_inertia": 6e-5, "torque_constant": 0.095, "resistance": 0.15, "inductance": 1.2e-4,
    "supply_voltage": 24.0, "current_limit": 40.0, "thermal_resistance": 1.6, "thermal_capacity": 12.0,
    "derating_temperature": 80.0, "temperature_limit": 110.0, "dry_friction": 0.15, "static_friction": 0.25,
    "stribeck_speed": 0.05,
}  # fmt: skip


def quadruped(**more: Any) -> pliant.Robot:
    """The robot with these motors, under position control."""
    robot = pliant.load("quadruped").with_contacts(*FEET, radius=0.02).with_collision_contacts("trunk")
    return robot.with_motors(control="position", kp=150, kd=3, **MOTOR, **more)


def squat(t: float) -> np.ndarray:
    """Targets of all joints: down and up once a second."""
    return np.tile(STANCE + DEPTH * (1 - math.cos(2 * math.pi * t)) / 2, 4)


def main() -> None:
    print(f"no-load speed of a joint {24 / (6 * 0.095):.0f} rad/s, most torque {6 * 0.095 * 40:.1f} N m")
    heat()
    wait()


def heat() -> None:
    """Loads on the trunk, one for each robot of a batch; a minute of squats."""
    loads = np.array([0.0, 3.0, 6.0, 9.0, 12.0])
    robot = quadruped(command_delay=2e-3)
    sim = pliant.Simulation(
        robot, dt=2e-3, substeps=5, ground=pliant.flat(), batch=len(loads), varying=["bodies.trunk.mass"]
    )
    sim.parameters["bodies.trunk.mass"] = 6 + loads
    sim.reset(q=[0, 0, 0.29, 0, 0, 0, 1, *np.tile(STANCE, 4)])
    log = sim.run(60.0, controller=lambda t, q, v: np.tile(squat(t), (len(loads), 1)), every=0.1,
                  channels=("q", "tau", "motors"))  # fmt: skip
    knees = [k for k, name in enumerate(log.columns["motors.temperature"]) if "knee" in name]
    warmth = log["motors.temperature"][:, :, knees].max(axis=2)
    height = log["q", "root_joint.z"]
    print(
        "\na minute of squats, one a second\n  load [kg]  hottest knee [°C]  derated after [s]  height at the end [m]"
    )
    for k, load in enumerate(loads):
        hot = np.flatnonzero(warmth[k] > 80)
        when = f"{log.t[hot[0]]:.1f}" if len(hot) else "never"
        print(f"  {load:9.0f}  {warmth[k].max():17.1f}  {when:>17}  {height[k, -1]:21.3f}")
    if not (np.diff(warmth.max(axis=1)) > -0.1).all() or not 80 < warmth.max() < 110:
        raise SystemExit("more load makes a motor warmer, and derating keeps it below its limit")
    if not (height[:2, -1] > 0.27).all() or height[-1, -1] > 0.25:
        raise SystemExit("cool motors carry their load, hot ones do not")


def wait() -> None:
    """The same gains in a controller beside the robot: commands are torques that come late."""
    delays = np.array([0.0, 2e-3, 4e-3, 6e-3, 7e-3])
    robot = quadruped(command_delay=delays.max()).with_motors(control="torque")
    target = np.tile(STANCE, 4)
    gains = pliant.Controller(
        lambda t, q, v: [150 * (x - a) - 3 * b for x, a, b in zip(target, q[7:], v[6:], strict=True)]
    )
    sim = pliant.Simulation(robot, ground=pliant.flat(), batch=len(delays), controller=gains,
                            varying=["motors.*.command_delay"])  # fmt: skip
    sim.parameters["motors.*.command_delay"] = delays[:, None]
    sim.reset(q=[0, 0, 0.29, 0, 0, 0, 1, *target])
    log = sim.run(2.0, channels=("v", "q"))
    shaking = np.sqrt((log.v[:, -1000:, 6:] ** 2).mean(axis=(1, 2)))
    print(
        "\ngains of 150 N m/rad and 3 N m s/rad in a computer beside the robot\n  delay [ms]  joints shake with [rad/s]"
    )
    for delay, speed in zip(delays, shaking, strict=True):
        print(f"  {1e3 * delay:10.0f}  {speed:25.3f}")
    if shaking[0] > 1e-3 or shaking[-1] < 0.1:
        raise SystemExit("without a delay it stands still, with a long one it does not")


if __name__ == "__main__":
    main()
