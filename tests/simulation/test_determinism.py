"""A robot's motion does not depend, bit for bit, on the company it is computed in."""

import functools

import numpy as np
import pytest

import pliant
from pliant import Simulation
from pliant.simulation import Rollout
from simulated_robots import BALL, LEG, LEG_Q, LEG_V, QUADRUPED, dropped

COUNT, PERIODS, DT = 64, 150, 2e-3
CHANNELS = ("q", "v", "impulses", "stops", "solver")
PRECISIONS = ("float64", "float32")


@functools.cache
def simulation(precision: str) -> Simulation:
    """No batch of its own: rollouts take any."""
    return Simulation(QUADRUPED, ground=pliant.flat(), dt=DT, precision=precision)


def rollout(precision: str, chosen: object = slice(None), **options) -> Rollout:
    q, v, u = (array[chosen] for array in dropped(COUNT, PERIODS))
    return simulation(precision).rollout((q, v), u, channels=CHANNELS, **options)


@functools.cache
def reference(precision: str) -> Rollout:
    return rollout(precision)


def assert_same(found: Rollout, expected: Rollout, chosen: object = slice(None)) -> None:
    for name in CHANNELS:
        assert found[name].tobytes() == np.ascontiguousarray(expected[name][chosen]).tobytes(), name
    assert found.state.data.tobytes() == np.ascontiguousarray(expected.state.data[chosen]).tobytes()


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_reference_is_worth_comparing_with(precision: str) -> None:
    """Feet make and break contact, joints hit their limits, and robots need different numbers of iterations."""
    found = reference(precision)
    touching = found["impulses"].reshape(COUNT, PERIODS, -1, 3)[..., 2] > 0
    changes = (touching[:, 1:] != touching[:, :-1]).sum(axis=(1, 2))
    assert np.median(changes) > 5
    assert found["stops"].any()
    assert len(np.unique(found["solver"][..., 1])) > 10
    assert not found.state.part("divergence").any()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 33])
def test_any_batch_size(precision: str, count: int) -> None:
    """Also batches that do not fill the lanes of the processor."""
    assert_same(rollout(precision, slice(count)), reference(precision), slice(count))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("k", [0, 6, 63])
def test_alone_without_a_batch_axis(precision: str, k: int) -> None:
    found = rollout(precision, k)
    assert found.q.shape == (PERIODS, 19)
    assert_same(found, reference(precision), k)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("seed", [1, 2])
def test_any_order(precision: str, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(COUNT)
    assert_same(rollout(precision, order), reference(precision), order)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("threads", [2, 3])
def test_any_number_of_threads(precision: str, threads: int) -> None:
    assert_same(rollout(precision, threads=threads), reference(precision))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_step_at_a_time(precision: str) -> None:
    """The kernel of one period is another one than that of rollouts, and agrees; with threads, too."""
    expected = reference(precision)
    q, v, u = dropped(COUNT, PERIODS)
    for batch, threads in ((5, 1), (COUNT, 2)):
        sim = Simulation(QUADRUPED, ground=pliant.flat(), dt=DT, precision=precision, batch=batch, threads=threads)
        sim.reset(q[:batch], v[:batch])
        for k in range(PERIODS):
            sim.step(u[:batch, k])
        assert sim.state.data.tobytes() == expected.state.data[:batch].tobytes()


@pytest.mark.parametrize("precision", PRECISIONS)
def test_twice_the_same(precision: str) -> None:
    assert_same(rollout(precision), reference(precision))


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dormand-prince"])
def test_smooth_integrators_too(integrator: str) -> None:
    """Balls that bounce at different times: with adaptive steps, each takes as many as it needs."""
    sim = Simulation(
        BALL, ground=0, contact=pliant.CompliantContact(pliant.HuntCrossley(2e4, 0.2)), integrator=integrator, dt=2e-3
    )
    rng = np.random.default_rng(3)
    q = np.tile([0, 0, 0.2, 0, 0, 0, 1.0], (9, 1))
    q[:, 2] = rng.uniform(0.11, 0.3, 9)
    v = rng.normal(size=(9, 6))
    channels = ("q", "v", "impulses", "trials")
    whole = sim.rollout((q, v), periods=150, channels=channels)
    if integrator == "dormand-prince":
        assert len(np.unique(whole["trials"].sum(axis=-1))) > 3
    order = rng.permutation(9)
    mixed = sim.rollout((q[order], v[order]), periods=150, channels=channels, threads=2)
    for k in range(9):
        alone = sim.rollout((q[k], v[k]), periods=150, channels=channels)
        for name in channels:
            assert alone[name].tobytes() == whole[name][k].tobytes()
            assert mixed[name][k].tobytes() == whole[name][order[k]].tobytes()


def test_compliant_contact_in_the_semi_implicit_step() -> None:
    sim = Simulation(LEG, ground=0, contact=pliant.CompliantContact())
    rng = np.random.default_rng(4)
    q = np.tile(LEG_Q, (6, 1))
    q[:, 2] += rng.uniform(0, 0.02, 6)
    v = LEG_V + 0.3 * rng.normal(size=(6, LEG.nv))
    u = rng.normal(size=(6, 100, 2))
    whole = sim.rollout((q, v), u, channels=("q", "v", "impulses", "solver"))
    assert whole["impulses"].any()
    for k in range(6):
        alone = sim.rollout((q[k], v[k]), u[k], channels=("q", "v", "impulses", "solver"))
        assert alone.state.data.tobytes() == whole.state.data[k].tobytes()


def test_parameters_go_with_their_robots() -> None:
    sim = Simulation(LEG, ground=0, batch=7, varying=["friction", "bodies.*.mass"])
    rng = np.random.default_rng(6)
    friction, factor = rng.uniform(0.1, 1, 7), rng.uniform(0.7, 1.4, (7, 3))
    masses = sim.parameters["bodies.*.mass"] * factor
    ends = []
    for order in (np.arange(7), rng.permutation(7)):
        sim.parameters["friction"], sim.parameters["bodies.*.mass"] = friction[order], masses[order]
        sim.reset(LEG_Q, LEG_V)
        sim.run(0.2)
        ends.append(sim.state.data[np.argsort(order)])
    assert ends[0].tobytes() == ends[1].tobytes()
    assert len(np.unique(ends[0][:, 2])) == 7


def test_single_precision_is_near_double_precision() -> None:
    """Over the first landing; after many, small differences grow as they do in any system that stumbles.

    A float32 position of about 0.5 m is rounded to 3e-8 m in each of 50 steps, and velocities are solved to 1e-5 m/s,
    of which 0.1 s makes 1e-6 m; feet that hit a step earlier or later make the largest differences.
    """
    q, v, _ = dropped(16, 1, seed=5)
    q[:, 7:] *= 0.2
    found = [simulation(precision).rollout((q, 0.2 * v), periods=50, channels=CHANNELS) for precision in PRECISIONS]
    assert found[0]["impulses"].any()
    assert found[1].q.dtype == np.float32
    np.testing.assert_allclose(found[1].q, found[0].q, rtol=0, atol=1e-4)
    # before anything touches, only rounding is left
    np.testing.assert_allclose(found[1].q[:, 1], found[0].q[:, 1], rtol=0, atol=1e-6)
