"""Newton's restitution where surfaces curve or bodies spin: the contact leaves with e times its approach."""

import numpy as np
import pytest

import pliant
from simple_bodies import ball, block, turned

E, DT = 0.8, 1e-3
LOST = "a landing that ends more than a micrometre above the ground forgets its restitution"


def rebound(ground: pliant.Ground, place: np.ndarray, velocity: np.ndarray) -> float:
    """Of a frictionless ball without weight: the normal speed after the first impact over that before."""
    sim = pliant.Simulation(ball(gravity=0, friction=0, restitution=E), dt=DT, ground=ground)
    sim.reset(q=[*place, *turned(0)], v=[*velocity, 0, 0, 0])
    for _ in range(2000):
        q = sim.q
        sim.step()
        if np.abs(sim.contact_forces).max() > 0:
            break
    n = np.array([float(x) for x in ground.surface(*q[:2].tolist())[1]])
    for _ in range(3):  # one step to land in, one to be thrown back in
        sim.step()
    return float(sim.v[:3] @ n / -(velocity @ n))


@pytest.mark.parametrize("ground", [pliant.flat(), pliant.slope(0.3), pliant.slope(-0.5, direction=1)])
def test_a_ball_on_a_plane(ground: pliant.Ground) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        velocity = np.array([*rng.uniform(-1, 1, 2), -4])
        # planes are where they are predicted: nothing but rounding
        assert rebound(ground, np.array([0, 0, 1]), velocity) == pytest.approx(E, rel=1e-9)


def test_a_ball_on_waves() -> None:
    """The normal turns by h'' v dt = 0.5 % of a radian within the step."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        place, velocity = np.array([*rng.uniform(-1, 1, 2), 1]), np.array([*rng.uniform(-2, 2, 2), -4])
        assert rebound(pliant.waves(0.1, 2.0), place, velocity) == pytest.approx(E, abs=0.02), seed


def test_the_corner_of_a_spinning_box() -> None:
    """At 5 rad/s a corner leaves its tangent by (w dt)^2 r / 2, some micrometres: nothing to a bounce."""
    robot = block(size=(0.4, 0.3, 0.2), friction=0, restitution=E).with_gravity(0, 0, 0)
    corners = np.array([[float(x) for x in p.center] for p in robot.contact_points])
    sim = pliant.Simulation(robot, dt=DT, ground=pliant.flat())
    for seed in range(8):
        rng = np.random.default_rng(seed)
        q = np.array([0, 0, 0.6, *turned(rng.uniform(0.3, 1), (1, 1, 0.2))])
        R = pliant.frame_pose(robot, q, "block")[:3, :3]
        sim.reset(q=q, v=[*(R.T @ [0, 0, -2]), *rng.uniform(-5, 5, 3)])
        while np.abs(sim.contact_forces).max() == 0:
            before = sim.q, sim.v
            sim.step()
        hit = int(np.argmax(sim.contact_forces[:, 2]))

        def rate(q: np.ndarray, v: np.ndarray, hit: int = hit) -> float:
            R = pliant.frame_pose(robot, q, "block")[:3, :3]
            return float((R @ (v[:3] + np.cross(v[3:], corners[hit])))[2])

        sim.step()
        # the corner turns on for two steps: w^2 r dt of some 3 m/s
        assert rate(sim.q, sim.v) == pytest.approx(-E * rate(*before), rel=0.05), seed
