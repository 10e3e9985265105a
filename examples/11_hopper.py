"""A robot on one springy leg hops in place, travels, and is pushed; then 4096 of them at once.

python examples/11_hopper.py
"""

import time

import numpy as np

import pliant

STANDING = 0.63  # height of the body with the leg at rest, upright on its foot [m]
HEIGHT = 0.2  # of hops [m]
PUSH = 0.5  # speed that the push gives, to the side [m/s]
BATCH = 4096


def main() -> None:
    robot = pliant.load("hopper")
    print(f"{robot.name}: {robot.mass} kg, nv = {robot.nv}, motors {', '.join(robot.motors)}")
    one(robot)
    many(robot)


def one(robot: pliant.Robot) -> None:
    """In place until 5 s, at 0.5 m/s along x from then on, pushed along y at 12 s."""
    push = pliant.ExternalForce("body", impulse=(0, PUSH * robot.mass, 0), start=12)
    controller = pliant.control.raibert(robot)
    sim = pliant.Simulation(robot, ground=pliant.flat(friction=0.8), controller=controller, forces=[push])
    tilted = robot.integrate(robot.neutral(), [0, 0, STANDING + 0.1, 0.1, 0, 0, 0, 0, 0, 0])
    sim.reset(q=tilted)
    channels = ("q", "v", "tau", "energy")
    sim.run(0.01, commands=[0, 0, HEIGHT], channels=channels)  # compiles, before the clock starts
    sim.reset(q=tilted)
    print("\n       t [s]         command  hops   apexes [m]      vx, vy [m/s]  lean [deg]  energy [J]  work a hop [J]")
    clock = time.perf_counter()
    for seconds, what, vx in ((5, "hop in place", 0), (7, "go at 0.5 m/s", 0.5), (8, "go, and pushed", 0.5)):
        log = sim.run(seconds, commands=[vx, 0, HEIGHT], channels=channels)
        apex = apexes(log)
        speed = (log.q[-1, :2] - log.q[-3001, :2]) / 3
        lean = np.degrees(2 * np.arcsin(np.hypot(log.q[:, 3], log.q[:, 4])).max())
        energy = log["energy.kinetic"] + log["energy.potential"] + log["energy.elastic"]
        work = (log["tau"] * log.v[:, [6, 7, 9]]).sum() * sim.dt / len(apex)
        print(
            f"{log.t[0]:4.1f} to {log.t[-1]:4.1f}  {what:>14}  {len(apex):4d}  {apex[-2]:.3f} {apex[-1]:.3f}  "
            f"{speed[0]:9.3f} {speed[1]:8.3f}  {lean:10.1f}  {energy[-1000:].mean():10.1f}  {work:14.1f}"
        )
        if abs(speed[0] - vx) > 0.05 or abs(speed[1]) > 0.05 or abs(apex[-1] - HEIGHT) > 0.02:
            raise SystemExit("the hopper does not follow its commands")
    elapsed = time.perf_counter() - clock
    memory = pliant.control.RaibertMemory(*sim.state.part("memory"))
    print(f"stance takes {1e3 * memory.stance:.0f} ms, the leg thrusts by {1e3 * memory.thrust:.0f} mm in each")
    print(f"{sim.t:.0f} s simulated and logged in {elapsed:.2f} s, {sim.t / elapsed:.0f} times real time")


def apexes(log: pliant.Log) -> np.ndarray:
    """Heights of the hops: how far the foot is above the ground at the top, with the leg at rest."""
    z, vz = log["q", "root_joint.z"], log["v", "root_joint.vz"]
    top = np.flatnonzero((vz[:-1] > 0) & (vz[1:] <= 0)) + 1
    return z[top] - STANDING


def many(robot: pliant.Robot) -> None:
    """Each from its own start and with its own command; controller and step are one native function."""
    rng = np.random.default_rng(0)
    controller = pliant.control.raibert(robot)
    sim = pliant.Simulation(
        robot, ground=pliant.flat(friction=0.8), controller=controller, batch=BATCH, precision="float32"
    )
    q = np.tile(robot.neutral(), (BATCH, 1))
    q[:, 2] = STANDING + rng.uniform(0.05, 0.4, BATCH)
    tilt, v = np.zeros((BATCH, robot.nv)), np.zeros((BATCH, robot.nv))
    tilt[:, 3:5] = rng.uniform(-0.1, 0.1, (BATCH, 2)) / np.sqrt(2)
    v[:, :2] = rng.uniform(-1, 1, (BATCH, 2)) / np.sqrt(2)
    command = np.column_stack([rng.uniform(-0.5, 0.5, (BATCH, 2)), rng.uniform(0.05, 0.3, BATCH)])
    sim.reset(robot.integrate(q, tilt), v)
    sim.run(0.05, commands=command, channels=("q",), every=0.05)
    print(f"\n{sim}")
    clock = time.perf_counter()
    sim.run(3.95, commands=command, channels=("q",), every=0.05)
    elapsed = time.perf_counter() - clock
    before = sim.q[:, :2]
    sim.run(2.0, commands=command, channels=("q",), every=0.05)
    speed = (sim.q[:, :2] - before) / 2
    up = 1 - 2 * (sim.q[:, 3] ** 2 + sim.q[:, 4] ** 2)
    standing = int((up > 0.9).sum())
    error = np.linalg.norm(speed - command[:, :2], axis=1)
    print(
        f"after 6 s {standing} of {BATCH} hop, {len(sim.divergences)} diverged, error of speed {error.mean():.3f} m/s"
    )
    print(
        f"{BATCH * 3950 / elapsed:,.0f} steps a second on one thread, {BATCH * 3.95 / elapsed:,.0f} times real time, "
        f"controllers included"
    )
    if standing < 0.995 * BATCH or sim.divergences or error.mean() > 0.1:
        raise SystemExit("some fell")


if __name__ == "__main__":
    main()
