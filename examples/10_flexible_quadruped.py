"""A quadruped with a spring in each hip and knee stands and trots, next to the same robot without.

python examples/10_flexible_quadruped.py
"""

import math
import time
from typing import Any

import numpy as np

import pliant

FEET = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")
LEG = 0.2  # of thigh and shank [m]
PERIOD, STRIDE, LIFT, HEIGHT = 0.36, 0.12, 0.05, 0.29  # of the gait [s, m, m, m]
STIFFNESS, DAMPING = 300, 1  # of the springs [N m/rad, N m s/rad]
BATCH = 256


def main() -> None:
    rigid = pliant.load("quadruped").with_contacts(*FEET, radius=0.02)
    rigid = rigid.with_motors(control="position", kp=150, kd=4, gear=9, rotor_inertia=1e-4)
    flexible = rigid
    for joint in rigid.joints:
        if joint.endswith(("hip_pitch", "knee")):
            flexible = flexible.with_flexibility(joint, stiffness=STIFFNESS, damping=DAMPING)
    print(f"rigid: nv = {rigid.nv}; with {len(flexible.flexibilities)} springs: nv = {flexible.nv}")
    robots = {"rigid": rigid, "flexible": flexible}
    times = {name: stand_and_trot(name, robot, rigid) for name, robot in robots.items()}
    print(
        f"\na step of the trot: rigid {times['rigid']:.2f} us a robot, flexible {times['flexible']:.2f} us; "
        f"the flexible one runs at {times['rigid'] / times['flexible']:.0%} of the speed"
    )


def foot(phase: Any) -> list[Any]:
    """Hip roll, hip pitch and knee that bring a foot to its place: on the ground for half of the period."""
    x = STRIDE / 2 * pliant.math.cos(phase)
    z = -HEIGHT + LIFT * pliant.math.maximum(0, -pliant.math.sin(phase))
    bend = pliant.math.acos(pliant.math.sqrt(x * x + z * z) / (2 * LEG))
    return [0, pliant.math.atan2(-x, -z) + bend, -2 * bend]


def gait(t: Any, q: Any, v: Any) -> list[Any]:
    """Diagonal legs together, the other pair half a period later; it stands for the first second."""
    phase = 2 * math.pi * (t - 1) / PERIOD
    trot = [*foot(phase), *foot(phase + math.pi), *foot(phase + math.pi), *foot(phase)]
    stance = foot(math.pi / 2) * 4
    return [pliant.math.select(t < 1, a, b) for a, b in zip(stance, trot, strict=True)]


def stand_and_trot(name: str, robot: pliant.Robot, rigid: pliant.Robot) -> float:
    """Simulate a batch that begins at different heights; the time of a step [us]."""
    ground, controller = pliant.flat(friction=0.8), pliant.Controller(gait)
    sim = pliant.Simulation(robot, dt=1e-3, ground=ground, controller=controller, batch=BATCH, threads=1)
    stance = [float(x) for x in foot(math.pi / 2)]
    q = np.tile([0, 0, HEIGHT + 0.02, 0, 0, 0, 1, *stance * 4], (BATCH, 1))
    q[:, 2] += np.linspace(0.001, 0.05, BATCH)
    sim.reset(q=robot.q_from(rigid, q))
    stood = sim.run(1.0, channels=("q", "forces"), every=0.02)
    start = time.process_time()
    trotted = sim.run(4.0, channels=("q",), every=0.02)
    elapsed = (time.process_time() - start) / (4000 * BATCH) * 1e6

    weight = robot.mass * 9.81
    carried = stood.forces.reshape(BATCH, -1, len(FEET), 3)[:, -1, :, 2].sum(axis=-1)
    x, z = trotted["q", "root_joint.x"], trotted["q", "root_joint.z"]
    speed = (x[:, -1] - x[:, 0]) / 4
    print(f"\n{name}: {sim}")
    height = stood["q", "root_joint.z"][:, -1].mean()
    print(f"  standing, the feet carry {carried.mean() / weight:.4f} of the weight, trunk at {height:.4f} m")
    print(
        f"  trotting at {speed.mean():.2f} m/s ({speed.min():.2f} to {speed.max():.2f}), trunk between "
        f"{z.min():.3f} and {z.max():.3f} m, {len(sim.divergences)} robots diverged"
    )
    if robot.flexibilities:
        deflection = abs(sim.flexibility.deflection).max(axis=1)
        print(f"  springs deflect by up to {np.degrees(deflection.max()):.1f} degrees at the end")
    if sim.divergences or not (abs(carried / weight - 1) < 0.05).all() or z.min() < 0.2 or speed.min() < 0.1:
        raise SystemExit(f"the {name} robot does not stand and trot")
    return elapsed


if __name__ == "__main__":
    main()
