"""Random robots that once gained energy: each stands for a cause, found by `python -m bench.soak --random`."""

import math
from dataclasses import replace

import numpy as np
import pytest

import pliant
from bench.random_robots import random_case
from bench.random_soak import MOST, energy_balance, simulate, simulations
from pliant.robot import Robot, RobotBuilder
from pliant.simulation.model import StepModel


@pytest.mark.filterwarnings("ignore::pliant.SimulationWarning")
@pytest.mark.parametrize(
    ("seed", "number", "dt"),
    [
        (3, 17, 5e-3),  # in flight, a spring turns a light base by 0.2 rad a step: 90 %
        (3, 3, 5e-3),  # Coriolis forces of the motion without contact, at a robot that the ground holds: 80 %
        (5, 41, 5e-3),  # a rebound while a joint meets its limit, whose holding inertia counted as energy: 13 %
        (40, 76, 5e-3),  # lands, and goes on with Coriolis forces of the velocity after the impact on another way: 7 %
        (400, 12, 5e-3),  # positions corrected with the same joint velocities, a body 7 m out on a planar joint: 55 %
        (400, 19, 2e-3),  # Coriolis forces at the start with a body 4 m out, and of the middle of an impact: 6, 23 %
        (20, 147, 5e-3),  # rolls on waves, mass off the centre: Coriolis forces of the motion without contact, 1.05 %
        (7300, 235, 5e-3),  # light links in a chain, set whirling within a step by their neighbours: 1.1 %
        (7300, 448, 5e-3),  # penetrations taken back by joints that hardly move them, by radians a step: 13 %
        (23, 25, 2e-3),  # rolls with a spherical joint: Coriolis forces of the end without the push of the ground, 7 %
    ],
)
def test_robots_in_contact_gain_no_energy(seed: int, number: int, dt: float) -> None:
    case = random_case(seed, number, 24)
    found = simulate(case, next(simulations(case, [dt], "float64")))
    assert not found.frozen
    assert found.gain < MOST


_HITS_A_LIMIT = (
    [
        0.1521,
        0.042,
        0.3704,
        0.2698,
        -0.8498,
        0.3953,
        0.2209,
        -1.3112,
        -0.0041,
        -0.9513,
        -0.8488,
        2.8652,
        0.6675,
        0.7446,
    ],
    [1.2445, -0.294, 2.1949, -3.4864, -6.6928, 26.8462, -27.7944, -0.4169, -27.7563, 0.3508, 0.577, -0.4372],
)
_LANDS = (
    [0.0548, 0.2906, 0.1379, 0.7787, 0.1773, 0.1035, 0.5928, 1.2903, 0.0254, 0.281, -0.7897, 2.7078, 0.6999, 0.7143],
    [-0.4225, -1.2167, -0.8712, 2.4711, 8.267, -24.3343, 24.4703, 4.0838, 30.8483, 0.6332, 1.3321, -0.8402],
)


# with a body 2.8 m out on a planar joint, M is another where the impact is, within the step: gains of 1.5 and 0.9 J,
# where 2.7 J move; short steps lose 0.65 and 0.4 J
@pytest.mark.parametrize(("state", "period"), [(_HITS_A_LIMIT, 857), (_LANDS, 774)])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_impacts_of_fast_light_bodies_gain_no_energy(
    state: tuple[list[float], list[float]], period: int, precision: str
) -> None:
    case, dt = random_case(400, 19, 24), 2e-3
    q, v = (np.array(x) for x in state)
    start = case.robot.integrate(q, np.zeros_like(v)), v
    controls = case.controls(dt, 2.0)[19:20, period : period + 1]
    sim = pliant.Simulation(case.robot, dt=dt, ground=case.ground, precision=precision, batch=1)
    seen = sim.rollout(tuple(x[None] for x in start), controls=controls, channels=("q", "v", "torques"))
    one = replace(case, q=start[0][None], v=start[1][None])
    change = np.diff(energy_balance(one, dt, seen.q, seen.v, seen["torques"])[0][0])
    moving = float(case.energies(*(x[None] for x in start), dt)[0, 0])
    assert change.max() < 0.05 * moving


def two_bodies(light: float, heavy: float, stiffness: float) -> Robot:
    """A light base, on which a heavy body slides by a spring, without gravity."""
    builder = RobotBuilder("two bodies").gravity(0, 0, 0)
    for name, mass in (("base", light), ("body", heavy)):
        builder.body(name, mass, (0, 0, 0), (mass * 1e-2, 0, 0, mass * 1e-2, 0, mass * 1e-2))
    builder.joint("slide", "prismatic", "base", "body", (0, 0, 0), axis=(1, 0, 0), stiffness=stiffness)
    return builder.build(base="free")


# k (1 / m + 1 / M) is the square of the frequency at which two free bodies swing
def test_the_light_body_decides_how_fast_a_spring_swings() -> None:
    model = StepModel(two_bodies(0.1, 4.0, 100.0), 1e-3, None)
    assert model.swing_eases[6] == pytest.approx(4.0 * (1 / 0.1 + 1 / 4.0), rel=1e-9)


@pytest.mark.parametrize(("rate", "is_kept"), [(0.2, True), (3.0, False)])
def test_a_swing_that_the_step_resolves_stays_and_others_die(rate: float, is_kept: bool) -> None:
    dt = 1e-3
    robot = two_bodies(0.1, 4.0, (rate / dt) ** 2 / (1 / 0.1 + 1 / 4.0))
    sim = pliant.Simulation(robot, dt=dt)
    q = robot.neutral()
    q[7] = 0.01
    swing = 2 * math.pi / rate  # steps
    seen = sim.rollout((q[None], np.zeros((1, robot.nv))), periods=round(30 * swing), channels=("q",))
    late = np.abs(seen.q[0, -round(4 * swing) :, 7]).max()
    # 30 swings at w dt = 0.2 lose 2 pi 30 (w dt)^13 / 4 of the amplitude, which is nothing
    assert late == pytest.approx(0.01, rel=0.02) if is_kept else late < 1e-4
