"""Quadrupeds trot over rough ground from their sensors alone: without delay, and with more and more of it.

python examples/20_walking_from_sensors.py [walking_delay.svg]

With the name of a file, it draws what delay does.
"""

import sys
import time
import warnings
from typing import Any, NamedTuple

import numpy as np

import pliant
from pliant.control import trot
from pliant.errors import SimulationWarning

FEET = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")
BATCH, SPEED, SECONDS = 64, 0.3, 11.0  # robots, m/s, s: one to stand up, ten to walk
ROUGHNESS = 0.02  # standard deviation of the height of the ground [m]
DELAYS = (0.0, 0.005, 0.01, 0.015, 0.02)  # of all sensors [s]


class Walk(NamedTuple):
    """What robots did: times; by robot and time, place ahead, tilt [rad] and whether it has fallen by then."""

    t: np.ndarray
    x: np.ndarray
    tilt: np.ndarray
    fallen: np.ndarray

    @property
    def speeds(self) -> np.ndarray:
        """Of those that walk to the end, over the last 8 s."""
        k = np.searchsorted(self.t, self.t[-1] - 8)
        return ((self.x[:, -1] - self.x[:, k]) / (self.t[-1] - self.t[k]))[~self.fallen[:, -1]]


def main(figure: str | None = None) -> None:
    clock = time.perf_counter()
    grounds = {"flat": pliant.flat(friction=0.8), "rough": rough(ROUGHNESS)}
    print(f"{BATCH} quadrupeds, each with errors of its own, commanded {SPEED} m/s for 10 s")
    print("ground  delay [ms]  fallen  speed [m/s], least to most  tilt [deg], rms")
    walks = {("flat", 0.0): walk(grounds["flat"], 0.0)} | {("rough", d): walk(grounds["rough"], d) for d in DELAYS}
    for (ground, delay), found in walks.items():
        up = ~found.fallen[:, -1]
        speeds = f"{found.speeds.mean():.3f}, {found.speeds.min():.2f} to {found.speeds.max():.2f}" if up.any() else "-"
        late = np.degrees(np.sqrt((found.tilt[up][:, found.t > 2] ** 2).mean())) if up.any() else np.nan
        print(f"{ground:>6}  {1e3 * delay:10.0f}  {(~up).sum():6d}  {speeds:>27}  {late:15.1f}")
        if delay == 0 and not (up.all() and abs(found.speeds.mean() - SPEED) < 0.05):
            raise SystemExit("without delay, all should walk")
    print(f"{time.perf_counter() - clock:.0f} s for {len(walks)} runs, compiling included")
    if figure is not None:
        draw({1e3 * delay: found for (ground, delay), found in walks.items() if ground == "rough"}, figure)


def sensed(delay: float) -> pliant.Robot:
    """The shipped quadruped, with sensors of the middle class that all report late."""
    robot = pliant.load("quadruped", base="free").with_contacts(*FEET, radius=0.02)
    robot = robot.with_contact("trunk", points=[(0.14, 0, 0), (-0.14, 0, 0)], radius=0.06)
    robot = robot.with_motors(control="position", kp=100, kd=3, gear=9, rotor_inertia=1e-4)
    gyro = {"noise": 1.2e-4, "bias": 0.01, "drift": 2e-4, "scale": 0.003, "range": 17.5}
    accelerometer = {"noise": 1.2e-3, "bias": 0.08, "scale": 0.003, "range": 78}
    robot = robot.with_sensor(
        "imu", "trunk", name="imu", rate=500, delay=delay, misalignment=0.005, gyro=gyro, accelerometer=accelerometer
    )
    robot = robot.with_sensor(
        "encoder", name="encoders", side="motor", ticks=4096, is_differentiated=True, rate=500, delay=delay
    )
    return robot.with_sensor("contact", FEET, name="feet", threshold=5, rate=500, delay=delay)


def rough(deviation: float) -> pliant.Ground:
    """A sum of waves in all directions, of lengths from 0.35 to 1.2 m."""
    rng = np.random.default_rng(5)
    lengths, directions, phases = rng.uniform(0.35, 1.2, 6), rng.uniform(0, 2 * np.pi, 6), rng.uniform(0, 2 * np.pi, 6)
    waves = 2 * np.pi / lengths * np.array([np.cos(directions), np.sin(directions)])
    terms = [(float(a), float(b), float(p)) for a, b, p in zip(*waves, phases, strict=True)]
    scale = deviation / np.sqrt(len(terms) / 2)
    return pliant.Ground(
        lambda x, y: sum(scale * pliant.math.sin(a * x + b * y + p) for a, b, p in terms), "rough", friction=0.8
    )


def walk(ground: pliant.Ground, delay: float) -> Walk:
    """Robots from places of their own: they stand up, and trot ahead."""
    robot = sensed(delay)
    controller = trot(robot, dt=2e-3)
    law: Any = controller.function
    sim = pliant.Simulation(
        robot, substeps=2, ground=ground, controller=controller, batch=BATCH, seed=1, precision="float32", threads=2
    )
    q = np.tile(law.crouched(robot), (BATCH, 1))
    q[:, :2] = np.random.default_rng(1).uniform(-3, 3, (BATCH, 2))
    q[:, 2] = 0.24
    sim.reset(q=q, seed=1)
    with warnings.catch_warnings():
        # feet and trunk touch the ground; the thighs of a robot that has fallen sink into it
        warnings.filterwarnings("ignore", message=".* is below the ground", category=SimulationWarning)
        made = sim.rollout(None, np.tile([SPEED, 0, 0], (round(SECONDS / 2e-3), 1)))
    q = made.q[:, ::10].astype(float)
    tilt = np.arccos(np.clip(1 - 2 * (q[..., 3] ** 2 + q[..., 4] ** 2), -1, 1))
    # a trunk that leans by a radian, or touches the ground, has fallen
    above = q[..., 2] - ground.height(q[..., 0], q[..., 1])
    return Walk(
        2e-2 * np.arange(q.shape[1]), q[..., 0], tilt, np.logical_or.accumulate((tilt > 1) | (above < 0.08), axis=1)
    )


def draw(walks: dict[float, Walk], path: str) -> None:
    """What delay does: tilt over time, and falls and speeds by delay."""
    from pliant.plots.figures import COLORS, figure

    with figure("walking", (7.5, 2.8), path=path, title="", show=False) as made:
        left, right = made.subplots(1, 2)
        for color, (delay, found) in zip(COLORS, walks.items(), strict=False):
            tilt = np.degrees(np.where(found.fallen, np.nan, found.tilt))
            ok = (~found.fallen).sum(axis=0) > 0
            rms = np.sqrt(np.nanmean(tilt[:, ok] ** 2, axis=0))
            smooth = np.convolve(np.pad(rms, 10, mode="edge"), np.ones(21) / 21, mode="valid")
            left.plot(found.t[ok], smooth, color=color, label=f"{delay:.0f} ms")
        left.set(xlabel="time [s]", ylabel="tilt, rms of those that walk [deg]", xlim=(1, SECONDS), ylim=(0, None))
        left.legend(loc="lower right", ncols=len(walks), columnspacing=1, handlelength=1, title="delay of all sensors")
        delays = list(walks)
        for delay, found in walks.items():
            right.plot(np.full(len(found.speeds), delay), found.speeds, "o", color=COLORS[0], alpha=0.25, markersize=3)
        right.axhline(SPEED, color="black", linewidth=0.8)
        right.set(xlabel="delay of all sensors [ms]", ylabel="speed [m/s]", xlim=(-1, max(delays) + 1))
        falls = right.twinx()
        falls.plot(delays, [f.fallen[:, -1].sum() for f in walks.values()], "s--", color=COLORS[4])
        falls.set_ylabel(f"fallen, of {BATCH}", color=COLORS[4])
        falls.set(ylim=(-2, BATCH))
        falls.grid(visible=False)


if __name__ == "__main__":
    main(*sys.argv[1:2])
