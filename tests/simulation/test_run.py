"""Run: how long, how often, with which controls, and what the log has in it."""

import numpy as np
import pytest

import pliant
from pliant import Simulation
from pliant.robot import RobotBuilder
from simulated_robots import CART_POLE, LEG, LEG_Q, LEG_V, PENDULUM


def test_run_equals_steps() -> None:
    a, b = Simulation(LEG, ground=0), Simulation(LEG, ground=0)
    for sim in (a, b):
        sim.reset(LEG_Q, LEG_V, t=0.1)
    log = a.run(0.05, u=[-0.3, 1])
    rows = [b.state]
    for _ in range(50):
        b.step([-0.3, 1])
        rows.append(b.state)
    assert a.state.identical(b.state)
    assert len(log) == 51
    np.testing.assert_array_equal(log.q, [r.q for r in rows])
    np.testing.assert_array_equal(log.v, [r.v for r in rows])
    np.testing.assert_array_equal(log.tau, [r.part("torques") for r in rows])
    np.testing.assert_array_equal(log.forces, np.array([r.part("impulses") for r in rows]) / 1e-3)
    np.testing.assert_allclose(log.t, [r.t for r in rows], rtol=0, atol=1e-15)


def test_the_log_names_its_columns() -> None:
    sim = Simulation(LEG, ground=0, batch=2, substeps=2)
    log = sim.run(0.01)
    assert log.batch == 2
    assert list(log) == ["q", "v", "tau", "forces", "energy.kinetic", "energy.potential", "energy.elastic"]
    assert log.columns["q"] == LEG.coordinate_names
    assert log.columns["v"] == LEG.velocity_names
    assert log.columns["tau"] == ("hip", "knee")
    assert log.columns["forces"] == ("toe.x", "toe.y", "toe.z")
    assert log.forces.shape == (2, 6, 3)
    assert log["energy.kinetic"].shape == (2, 6)
    assert dict(log.metadata) == {
        "robot": "leg", "dt": 1e-3, "substeps": 2, "integrator": "semi-implicit", "precision": "float64",
    }  # fmt: skip
    assert list(sim.run(0.01, channels=("v", "divergence"))) == ["v", "divergence"]


def test_energy_in_the_log_is_that_of_the_functions() -> None:
    sim = Simulation(CART_POLE, batch=2, varying=["bodies.pole.mass"])
    heavy = 0.4
    sim.parameters["bodies.pole.mass"] = [0.1, heavy]
    sim.reset(q=[[0, 0.5], [0.1, 2]])
    log = sim.run(0.02, channels=["energy", "q", "v"])
    found = pliant.energy(CART_POLE, log.q[0], log.v[0])
    # sums of a few products near one
    np.testing.assert_allclose(log["energy.kinetic"][0], found.kinetic, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(log["energy.potential"][0], found.potential, rtol=1e-12, atol=1e-14)
    change = pliant.dynamics.potential_energy(CART_POLE, log.q[1]) * heavy / 0.1
    np.testing.assert_allclose(np.diff(log["energy.potential"][1]), np.diff(change), rtol=0, atol=1e-12)


@pytest.mark.parametrize("every", [1, 3, 10, 20, 21, 100])
def test_every_keeps_the_start_the_end_and_some_between(every: int) -> None:
    sim = Simulation(PENDULUM)
    sim.reset(q=[1])
    whole = sim.run(0.02)
    kept = sorted({0, 20, *range(0, 21, every)})
    for controller in (None, lambda t, q, v: None):
        sim.reset(q=[1])
        log = sim.run(0.02, controller=controller, every=1e-3 * every)
        np.testing.assert_array_equal(log.q, whole.q[kept])
        np.testing.assert_allclose(log.t, whole.t[kept], rtol=0, atol=1e-15)


@pytest.mark.parametrize("duration, periods", [(0, 0), (0.0014, 1), (0.0016, 2), (0.1, 100), (1, 1000)])
def test_durations_are_rounded_to_periods(duration: float, periods: int) -> None:
    sim = Simulation(PENDULUM, dt=1e-3)
    assert len(sim.run(duration, channels=("q",))) == periods + 1
    assert sim.t == pytest.approx(periods * 1e-3, abs=1e-15)


@pytest.mark.parametrize("batch", [None, 3])
def test_a_python_controller_is_asked_once_a_period(batch: int | None) -> None:
    sim = Simulation(CART_POLE, batch=batch, substeps=5)
    asked = []

    def controller(t, q, v):
        asked.append((t, q.copy(), v.copy()))
        return -3 * q[..., 1:]

    sim.reset(q=[0, 0.3], t=0.5)
    log = sim.run(0.1, controller=controller)
    assert [t for t, _, _ in asked] == pytest.approx((0.5 + 0.005 * np.arange(20)).tolist(), abs=1e-12)
    shown = np.moveaxis(log.q, -2, 0)
    np.testing.assert_array_equal([q for _, q, _ in asked], shown[:-1])
    np.testing.assert_array_equal([v for _, _, v in asked], np.moveaxis(log.v, -2, 0)[:-1])
    # a motor without gains gives what it is told
    np.testing.assert_array_equal(np.moveaxis(log.tau, -2, 0)[1:], [-3 * q[..., 1:] for _, q, _ in asked])


@pytest.mark.parametrize("batch", [5, 10, 20])
def test_constant_controls_of_each_robot(batch: int) -> None:
    """Also where there are as many robots as periods."""
    a, b = Simulation(PENDULUM, batch=batch), Simulation(PENDULUM, batch=batch)
    u = np.linspace(-1, 1, batch)[:, None]
    a.run(0.01, u=u)
    for _ in range(10):
        b.step(u)
    assert a.state.identical(b.state)


def test_running_in_parts_is_running_on() -> None:
    a, b = Simulation(LEG, ground=0), Simulation(LEG, ground=0)
    for sim in (a, b):
        sim.reset(LEG_Q, LEG_V)
    whole = a.run(0.06)
    first, second = b.run(0.02), b.run(0.04)
    assert a.state.identical(b.state)
    np.testing.assert_array_equal(whole.q, np.concatenate([first.q, second.q[1:]]))


def test_the_time_a_controller_gets_is_that_of_robots_that_move() -> None:
    """The latest of them: robots that were reset lag behind, and one diverged has no say."""
    sim = Simulation(PENDULUM, batch=3)
    sim.run(0.1)
    sim.reset(robots=[0])
    asked = []
    sim.run(0.002, controller=lambda t, q, v: asked.append(t))
    assert asked == pytest.approx([0.1, 0.101])
    sim.run(0.1)
    with pytest.warns(pliant.SimulationWarning):
        sim.step([[0], [np.nan], [0]])
    sim.reset(t=0.05, robots=[0, 2])
    assert sim.t == pytest.approx(0.05)
    assert sim.state.t == pytest.approx([0.05, 0.202, 0.05])
    asked.clear()
    log = sim.run(0.002, controller=lambda t, q, v: asked.append(t))
    assert asked == pytest.approx([0.05, 0.051])
    assert log.t == pytest.approx([0.05, 0.051, 0.052])


def test_a_warning_points_to_the_line_of_the_user() -> None:
    sim = Simulation(PENDULUM)
    for move in (
        lambda: sim.step([np.nan]),
        lambda: sim.run(0.002, u=[np.nan]),
        lambda: sim.run(0.002, controller=lambda *_: [np.inf]),
    ):
        sim.reset()
        with pytest.warns(pliant.SimulationWarning) as told:
            move()
        assert told[0].filename == __file__


def test_a_robot_without_freedom() -> None:
    builder = RobotBuilder("rock")
    builder.body("rock", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1))
    for batch in (None, 2):
        sim = Simulation(builder.build(base="fixed"), batch=batch)
        log = sim.run(0.01)
        assert sim.t == pytest.approx(0.01)
        assert not np.any(log["energy.kinetic"])
        assert sim.diagnostics.is_converged is True if batch is None else sim.diagnostics.is_converged.all()


def test_long_times_in_single_precision() -> None:
    sim = Simulation(PENDULUM, precision="float32", dt=1e-4)
    sim.reset(t=1677.7210)
    for _ in range(200):
        sim.step()
    assert sim.t == pytest.approx(1677.741, abs=1e-4)
