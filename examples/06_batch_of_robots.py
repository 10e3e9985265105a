"""Many robots at a time, each with its own friction and load: a push, rolled out, and the speed of it.

python examples/06_batch_of_robots.py
"""

import time

import numpy as np

import pliant

FEET = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")
STANCE = np.tile([0.0, 0.8, -1.6], 4)
BATCH = 1024
CHANNELS = ("q", "impulses")  # what rollouts keep
PUSH = pliant.ExternalForce("trunk", force=(30, 0, 0), start=0.6, end=0.8)


def main() -> None:
    robot = pliant.load("quadruped").with_contacts(*FEET, radius=0.02)
    robot = robot.with_motors(control="position", kp=150, kd=4)
    sim = pliant.Simulation(
        robot, ground=pliant.flat(), batch=BATCH, forces=[PUSH], varying=["friction", "bodies.trunk.mass"]
    )
    rng = np.random.default_rng(0)
    sim.parameters["friction"] = rng.uniform(0.1, 0.9, BATCH)
    sim.parameters["bodies.trunk.mass"] = rng.uniform(5, 9, BATCH)
    sim.reset(q=[0, 0, 0.30, 0, 0, 0, 1, *STANCE])
    print(f"{sim}\n{sim.parameters}")
    sim.state = sim.rollout(controls=held(500), channels=CHANNELS).state  # lands and stands
    check_weights(sim)
    push(sim)
    measure(sim)


def held(periods: int) -> np.ndarray:
    """Controls of all robots alike; (batch, periods, 12) would be for each its own."""
    return np.tile(STANCE, (periods, 1))


def check_weights(sim: pliant.Simulation) -> None:
    carried = sim.contact_forces[:, :, 2].sum(axis=1)
    mass = sim.robot.mass - 6 + sim.parameters["bodies.trunk.mass"]  # the file's trunk has 6 kg
    print(f"\nstanding, the feet carry {carried.min():.1f} to {carried.max():.1f} N")
    print(f"that is each robot's own weight to {abs(carried / (9.81 * mass) - 1).max():.1e}")
    if not np.allclose(carried, 9.81 * mass, rtol=0.02):
        raise SystemExit("a robot does not carry its weight")


def push(sim: pliant.Simulation) -> None:
    """From where the simulation is, which itself does not move: one call for all robots and periods."""
    periods = 600
    result = sim.rollout(controls=held(periods), channels=CHANNELS)
    slid = result.q[:, -1, 0] - result.q[:, 0, 0]
    print(f"\n{result}\npushed with 30 N for 0.2 s, the trunks move on by, on average:")
    friction = sim.parameters["friction"]
    for low, high in ((0.1, 0.15), (0.15, 0.2), (0.2, 0.4), (0.4, 0.9)):
        chosen = (friction >= low) & (friction < high)
        print(f"  friction {low:.2f} to {high:.2f}: {1e3 * slid[chosen].mean():6.1f} mm ({chosen.sum()} robots)")
    impulses = result["impulses"].reshape(BATCH, periods, -1, 3)
    sideways = np.linalg.norm(impulses[..., :2], axis=-1)
    excess = (sideways - friction[:, None, None] * impulses[..., 2]).max() / sim.dt
    print(f"no foot at any time has more friction than mu N, to {max(excess, 0):.0e} N")
    if not (excess < 1e-6 and slid[friction < 0.15].mean() > 5 * abs(slid[friction > 0.4].mean())):
        raise SystemExit("friction is not what it should be")


def measure(sim: pliant.Simulation) -> None:
    controls = held(100)
    start = time.perf_counter()
    sim.rollout(controls=controls, channels=CHANNELS)
    elapsed = time.perf_counter() - start
    rate = BATCH * 100 / elapsed
    print(f"\n{rate:,.0f} steps a second on one thread: {rate * sim.dt:,.0f} times real time")


if __name__ == "__main__":
    main()
