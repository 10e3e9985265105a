"""Forces by chance: their statistics, what they do to a body, and what cannot be."""

import math

import numpy as np
import pytest

import pliant
from pliant.actuation import Gusts, Pushes
from pliant.errors import PliantError, SimulationError

DT = 1e-2


def puck() -> pliant.Robot:
    """A mass that slides along x and y, and has no weight."""
    builder = pliant.RobotBuilder("puck")
    builder.body("rail", mass=0)
    builder.body("puck", mass=2.0, inertia=(0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("x", "prismatic", "world", "rail", axis=(1, 0, 0))
    builder.joint("y", "prismatic", "rail", "puck", axis=(0, 1, 0))
    return builder.build().with_gravity(0, 0, 0)


def velocities(force, batch: int, periods: int, **options) -> np.ndarray:
    sim = pliant.Simulation(puck(), dt=DT, batch=batch, forces=[force], **options)
    return sim.rollout(None, None, periods=periods, channels=["v"]).channels["v"]


def test_gusts_have_mean_deviation_and_correlation() -> None:
    s, T = 4.0, 0.5
    v = velocities(Gusts("puck", deviation=(s, 0, 0), time=T, mean=(1, 3, 0)), 4000, 101)
    force = 2.0 * np.diff(v, axis=1) / DT  # M a = f, exactly
    x, n = force[..., 0], force.shape[0]
    assert x[:, 0].mean() == pytest.approx(1, abs=5 * s / math.sqrt(n))
    for k in (0, 50, 99):
        assert x[:, k].std() == pytest.approx(s, rel=5 / math.sqrt(2 * n))
    correlation = np.mean((x[:, 0] - 1) * (x[:, 50] - 1)) / s**2
    assert correlation == pytest.approx(math.exp(-50 * DT / T), abs=5 / math.sqrt(n))
    assert force[..., 1] == pytest.approx(3.0, abs=1e-9)


@pytest.mark.parametrize("duration", [0.0, 0.05])
def test_pushes_come_at_random_times_with_the_impulse_asked_for(duration: float) -> None:
    every, s = 0.5, 3.0
    v = velocities(Pushes("puck", impulse=(s, 0, 0), every=every, duration=duration), 400, 1000)[..., 0]
    steps = max(1, round(duration / DT))
    kicks = 2.0 * np.diff(v, axis=1)
    is_pushed = np.abs(kicks) > 1e-9
    starts = is_pushed & ~np.pad(is_pushed, ((0, 0), (1, 0)))[:, :-1]
    # of those that do not touch each other; pushes may follow at once
    count = is_pushed.sum() / steps
    time = 999 * DT * 400
    # while one is under way, none begins
    rate = 1 / (every + (steps - 1) * DT)
    assert count == pytest.approx(time * rate, rel=0.05)
    assert starts.sum() <= count + 400
    impulses = kicks[is_pushed] * steps
    assert impulses.std() == pytest.approx(s, rel=0.05)


def test_the_same_seed_gives_the_same_gusts_in_any_batch() -> None:
    force = Gusts("puck", deviation=2.0, time=0.3)
    large = velocities(force, 9, 30, seed=5)
    assert np.array_equal(velocities(force, 3, 30, seed=5), large[:3])
    assert not np.array_equal(velocities(force, 3, 30, seed=6), large[:3])
    assert velocities(force, 3, 30, seed=5, precision="float32") == pytest.approx(large[:3], rel=1e-4, abs=1e-5)


def test_work_of_gusts_is_that_of_outside_forces() -> None:
    sim = pliant.Simulation(puck(), dt=DT, forces=[Gusts("puck", deviation=5, time=0.2)])
    log = sim.run(1.0, channels=["v", "energy", "power"])
    gained = log["energy.kinetic"][-1] - log["energy.kinetic"][0]
    assert (log["power.outside"][1:] * DT).sum() == pytest.approx(gained, rel=1e-9)


@pytest.mark.parametrize(("make", "match"), [
    (lambda: Gusts("puck", deviation=-1), "deviation"),
    (lambda: Gusts("puck", deviation=1, time=0), "time of gusts on 'puck' is 0"),
    (lambda: Pushes("puck", impulse=1, every=-2), "every of pushes on 'puck' is -2"),
    (lambda: Pushes("puck", impulse=(1, 2)), "2 entries"),
    (lambda: Gusts("puck", frame="moon"), "frame"),
])  # fmt: skip
def test_bad_values_name_the_field(make, match: str) -> None:
    with pytest.raises(PliantError, match=match):
        make()


def test_where_they_cannot_be() -> None:
    with pytest.raises(PliantError, match="no frame named 'sail'"):
        pliant.Simulation(puck(), forces=[Gusts("sail", deviation=1)])
    with pytest.raises(SimulationError, match="forces by chance"):
        pliant.Simulation(puck(), integrator="rk4", forces=[Gusts("puck", deviation=1)])
    with pytest.raises(SimulationError, match="event-driven simulation has no steps"):
        pliant.EventSimulation(puck(), forces=[Pushes("puck", impulse=1)])
