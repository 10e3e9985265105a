"""What sensors cost: steps of quadrupeds that stand on a height map, without sensors and with them.

    python -m bench.sensors [--json] [--short] [--robots go2 anymal] [--batch 1024]

The set of a quadruped: an inertial unit with noise, drift, scale, misalignment, range and resolution, and encoders with
ticks, both sampled at every step of 2 ms, force and flag at each foot, and an 11 x 17 scan of the ground at 50 Hz. One
thread. "share" is the time that sensors add, over that of the step without: to be below 8 % without the scan, and below
40 % with it. Checked: truth and readings differ by the errors asked for, and the motion is that without sensors.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import pliant
from bench.contact import PRECISIONS
from bench.contact_scene import ContactScene
from bench.report import Report, failed, options_of
from bench.scenes import scene
from bench.tables import Row
from bench.timing import best_times

ROBOTS = ("go2", "anymal")
RATE = 50
IMU: dict[str, Any] = {
    "gyro": {"noise": 1.2e-4, "bias": 0.01, "drift": 2e-4, "scale": 3e-3, "range": 17.5, "resolution": 5.3e-4},
    "accelerometer": {"noise": 1.2e-3, "bias": 0.08, "drift": 1e-3, "scale": 3e-3, "range": 78, "resolution": 2.4e-3},
    "misalignment": 0.005,
}


def main() -> None:
    """Run the benchmark and print a table or JSON."""
    parser = options_of(__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=50, help="of one call")
    parser.add_argument("--rounds", type=int, default=6, help="turns of each; the best counts")
    options = parser.parse_args()
    if options.short:
        options.robots, options.batch, options.steps, options.rounds = options.robots[:1], 64, 10, 1
    report = Report(options, batch=options.batch)
    title = f"standing; time per step and robot [us], batch of {options.batch}, one thread"
    report.table("sensors", title, {name: partial(rows, name, report) for name in options.robots})
    report.finish()


def rows(name: str, report: Report) -> Iterator[Row]:
    """Without sensors, with those at every step, and with the scan, in both precisions."""
    standing, options = scene(name), report.options
    for precision in PRECISIONS:
        robots = {"none": touching(standing), "sensors": measuring(standing), "with scan": scanning(standing)}
        sims = {which: simulation(standing, robot, precision, options.batch) for which, robot in robots.items()}
        controls = standing.controls(options.batch, options.steps)
        channels = {which: roll(sim, controls, precision) for which, sim in sims.items()}
        times = best_times(channels, rounds=options.rounds, least=0, clock=time.process_time)
        for which, t in times.items():
            per_step = t / options.batch / options.steps
            found: Row = {"robot": name, "sensors": which, "precision": precision, "us": per_step * 1e6}
            found["share"] = t / times["none"] - 1
            found["numbers"] = sum(len(sims[which].sensors[c][0]) for c in sims[which].sensors)
            yield found | failed(f"{name}, {which}, {precision}", fault(sims["none"], sims[which]))


def touching(standing: ContactScene) -> pliant.Robot:
    """The robot of a scene with its feet and gains."""
    robot = standing.robot.with_motors(control="position", kp=list(standing.kp), kd=list(standing.kd))
    for point in standing.points:
        robot = robot.with_contact(point.frame, radius=point.radius)
    return robot


def measuring(standing: ContactScene) -> pliant.Robot:
    """The robot with inertial unit, encoders and feet."""
    robot = touching(standing)
    robot = robot.with_sensor("imu", robot.bodies[0].name, name="imu", **IMU)
    robot = robot.with_sensor("encoder", name="encoders", ticks=4096)
    return robot.with_sensor("contact", name="feet", threshold=5)


def scanning(standing: ContactScene) -> pliant.Robot:
    """The robot with a scan, too."""
    robot = measuring(standing)
    return robot.with_sensor("scan", robot.bodies[0].name, name="scan", grid=(1.6, 1.0, 0.1), rate=RATE)


def ground() -> pliant.Ground:
    """Flat, as a height map, so that robots stand as they do on flat ground."""
    return pliant.height_map(np.zeros((400, 400)), spacing=0.05, origin=(-10, -10))


def simulation(standing: ContactScene, robot: pliant.Robot, precision: str, batch: int) -> pliant.Simulation:
    """Robots that have come to stand."""
    sim = pliant.Simulation(
        robot, dt=standing.dt, ground=ground(), contact=pliant.RigidContact(friction=standing.friction), batch=batch,
        precision=precision,
    )  # fmt: skip
    q, v = standing.states(batch)
    sim.reset(q=q, v=v)
    for _ in range(50):
        sim.step(standing.controls(1, 1)[0, 0])
    return sim


def roll(sim: pliant.Simulation, controls: np.ndarray, precision: str) -> Any:
    """A rollout from where the robots stand."""
    given, start = controls.astype(precision), sim.state
    return lambda: sim.rollout(start, given, channels=())


def fault(plain: pliant.Simulation, sim: pliant.Simulation) -> str:
    """What is wrong with the readings; empty if nothing is."""
    if not np.array_equal(plain.q, sim.q) or not np.array_equal(plain.v, sim.v):
        return "sensors change the motion"
    if "imu.gyro" not in sim.sensors:
        return ""
    off = sim.sensors["imu.gyro"] - sim.truth["imu.gyro"]
    # turn-on bias of 0.01 rad/s, and noise
    if not 0.008 < off.std() < 0.012 and len(off) >= 256:
        return f"gyros are off by {off.std():.3g} rad/s in place of 0.01"
    steps = np.abs(sim.sensors["encoders.position"] - sim.truth["encoders.position"]).max()
    return "" if steps <= np.pi / 4096 * 1.001 else "encoders are off by more than half a tick"


if __name__ == "__main__":
    main()
