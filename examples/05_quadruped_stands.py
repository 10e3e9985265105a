"""A quadruped falls onto its feet, stands by gains of its motors, is pushed, and stands again.

python examples/05_quadruped_stands.py
"""

import time

import numpy as np

import pliant

FEET = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")
STANCE = np.tile([0.0, 0.8, -1.6], 4)  # hip roll, hip pitch, knee of each leg [rad]
PUSH = pliant.ExternalForce("trunk", force=(0, 40, 0), start=1, end=1.2)


def main() -> None:
    robot = pliant.load("quadruped").with_contacts(*FEET, radius=0.02)
    robot = robot.with_motors(control="position", kp=150, kd=4)
    sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(friction=0.8), forces=[PUSH])
    sim.reset(q=[0, 0, 0.4, 0, 0, 0, 1, *STANCE])
    print(sim)
    start = time.perf_counter()
    sim.step(STANCE)
    print(f"first step, with compilation or from the cache: {time.perf_counter() - start:.2f} s\n")
    log = sim.run(3.0, u=STANCE)
    tell(robot, log)
    print(f"\n{log}\n\nthe last step:\n{sim.diagnostics}")
    check(robot, sim)
    measure(sim)


def tell(robot: pliant.Robot, log: pliant.Log) -> None:
    weight = robot.mass * 9.81
    y, z = log["q", "root_joint.y"], log["q", "root_joint.z"]
    vertical = log["forces"].reshape(len(log), -1, 3)[:, :, 2].sum(axis=1)
    torque = abs(log["tau"]).max(axis=1)
    print("  t [s]  height [m]  side [mm]  feet / weight  largest torque [N m]  what happens")
    events = {0.1: "falls", 0.2: "has landed", 0.9: "stands", 1.2: "was pushed", 1.4: "sways back", 2.9: "stands"}
    for t, what in events.items():
        k = np.searchsorted(log.t, t - 1e-6)
        print(f"  {t:5.1f}  {z[k]:10.4f}  {1e3 * y[k]:9.2f}  {vertical[k] / weight:13.4f}  {torque[k]:20.2f}  {what}")


def check(robot: pliant.Robot, sim: pliant.Simulation) -> None:
    found = sim.diagnostics
    weight = robot.mass * 9.81
    # at rest the feet carry the weight, and nothing else pushes
    if not np.allclose(found.forces.sum(axis=0), [0, 0, weight], atol=1e-2 * weight):
        raise SystemExit(f"the feet carry {found.forces.sum(axis=0)} N, the weight is {weight:.2f} N")
    inside = np.linalg.norm(found.forces[:, :2], axis=1) <= 0.8 * found.forces[:, 2] + 1e-9
    if not (inside.all() and found.is_converged and found.energy["kinetic"] < 1e-3):
        raise SystemExit("the robot does not stand")


def measure(sim: pliant.Simulation) -> None:
    steps = 2000
    start = time.perf_counter()
    for _ in range(steps):
        sim.step(STANCE)
    elapsed = (time.perf_counter() - start) / steps
    print(f"\none robot, step by step from Python: {1e6 * elapsed:.1f} us a step, {sim.dt / elapsed:.0f} x real time")


if __name__ == "__main__":
    main()
