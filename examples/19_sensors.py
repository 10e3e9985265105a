"""Sensors: what a quadruped reads while it falls onto its feet, and the Allan deviation of its gyroscope.

python examples/19_sensors.py

It leaves out/allan.svg and out/landing.svg.
"""

from pathlib import Path

import numpy as np

import pliant
from pliant.analysis.allan import allan, gauss_markov, white_noise

OUT = Path("out")
NOISE, DRIFT, TIME = 1.2e-4, 2e-3, 20.0  # rad/s/sqrt(Hz), rad/s, s
STANCE = np.tile([0.0, 0.8, -1.6], 4)  # hip roll, hip pitch, knee of each leg [rad]


def landing() -> None:
    """A quadruped falls 5 cm and stands; its inertial unit feels the blow."""
    robot = pliant.load("quadruped", sensors=True).with_motors(control="position", kp=150, kd=4)
    sim = pliant.Simulation(robot, ground=pliant.flat(), seed=1)
    sim.reset(q=robot.on_ground([0, 0, 0.4, 0, 0, 0, 1, *STANCE], height=0.05))
    log = sim.run(3.0, u=STANCE, channels=["q", "sensors", "truth"])
    blow = log["truth.imu.accelerometer"][:, 2].max()
    rest = np.linalg.norm(log["truth.imu.accelerometer"][-1])
    print(f"accelerometer: 0 in the fall, {blow / 9.81:.1f} g in the landing, {rest:.4f} m/s^2 at rest")
    assert abs(rest - 9.81) < 0.01
    first = log["feet.touch"].argmax(axis=0) * sim.dt
    print(f"feet on the ground after {first.min() * 1e3:.0f} to {first.max() * 1e3:.0f} ms")
    off = np.abs(log["encoders.position"] - log["truth.encoders.position"]).max()
    print(f"encoders off by at most {off * 1e3:.3f} mrad, half a tick")
    log.plot("imu.accelerometer", path=OUT / "landing.svg")


def deviation() -> None:
    """Ten minutes of 32 gyroscopes that do not move."""
    builder = pliant.RobotBuilder("bench")
    builder.body("plate", mass=1.0, com=(0, 0, -0.1), inertia=(0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("hinge", "revolute", "world", "plate", axis=(0, 1, 0))
    errors = {"noise": NOISE, "drift": DRIFT, "drift_time": TIME, "bias": 0.01}
    robot = builder.build().with_sensor("imu", "plate", name="imu", channels=["gyro"], gyro=errors)
    sim = pliant.Simulation(robot, dt=0.01, batch=32)
    read = sim.rollout(None, None, periods=60_000, channels=["imu: reading"]).channels["imu: reading"]
    found = allan(read, period=sim.dt)
    closed = {
        "noise / sqrt(tau)": white_noise(found.times, NOISE),
        "drift": gauss_markov(found.times, DRIFT, TIME),
        "both": np.hypot(white_noise(found.times, NOISE), gauss_markov(found.times, DRIFT, TIME)),
    }
    # shorter than a hundredth of its time the drift stands still; long averages are of few stretches
    known = (found.times > 0.3) & (found.times < 20)
    error = np.abs(found.deviation / closed["both"][:, None] - 1)[known].max()
    print(f"Allan deviation of noise and drift: within {error:.1%} of the closed form")
    assert error < 0.08
    found.plot(OUT / "allan.svg", closed_forms=closed, title="Gyroscopes at rest [rad/s]")


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    landing()
    deviation()
