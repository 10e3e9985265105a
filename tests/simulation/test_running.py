"""Runs: duration, controls and log, and one protocol for both simulations."""

import inspect
import pickle
import signal
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant import EventSimulation, Simulation
from pliant.recording import Log, SimulationProtocol
from pliant.recording.protocol import CHANNELS
from pliant.robot import RobotBuilder
from pliant.simulation import record
from simulated_robots import CART_POLE, LEG, LEG_Q, LEG_V, PENDULUM, ran, started

# ---- run: how long, how often, with which controls, and what the log has in it


def test_run_equals_steps() -> None:
    a, b = (started(Simulation(LEG, ground=0), LEG_Q, LEG_V, t=0.1) for _ in range(2))
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
    sim = started(Simulation(LEG, ground=0, batch=2, substeps=2), q=LEG_Q)
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
    _, log = ran(sim, 0.02, [[0, 0.5], [0.1, 2]], channels=["energy", "q", "v"])
    found = pliant.energy(CART_POLE, log.q[0], log.v[0])
    # sums of a few products near one
    np.testing.assert_allclose(log["energy.kinetic"][0], found.kinetic, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(log["energy.potential"][0], found.potential, rtol=1e-12, atol=1e-14)
    change = pliant.dynamics.potential_energy(CART_POLE, log.q[1]) * heavy / 0.1
    np.testing.assert_allclose(np.diff(log["energy.potential"][1]), np.diff(change), rtol=0, atol=1e-12)


@pytest.mark.parametrize("every", [1, 3, 10, 20, 21, 100])
def test_every_keeps_the_start_the_end_and_some_between(every: int) -> None:
    sim, whole = ran(Simulation(PENDULUM), 0.02, [1])
    kept = sorted({0, 20, *range(0, 21, every)})
    for controller in (None, lambda t, q, v: [0.0]):
        _, log = ran(sim, 0.02, [1], controller=controller, every=1e-3 * every)
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
    a, whole = ran(Simulation(LEG, ground=0), 0.06, LEG_Q, LEG_V)
    b = started(Simulation(LEG, ground=0), LEG_Q, LEG_V)
    first, second = b.run(0.02), b.run(0.04)
    assert a.state.identical(b.state)
    np.testing.assert_array_equal(whole.q, np.concatenate([first.q, second.q[1:]]))


def test_the_time_a_controller_gets_is_that_of_robots_that_move() -> None:
    """The latest of them: robots that were reset lag behind, and one diverged has no say."""
    sim = Simulation(PENDULUM, batch=3)
    sim.run(0.1)
    sim.reset(robots=[0])
    asked = []
    sim.run(0.002, controller=lambda t, q, v: asked.append(t) or [0.0])
    assert asked == pytest.approx([0.1, 0.101])
    sim.run(0.1)
    with pytest.warns(pliant.SimulationWarning):
        sim.step([[0], [np.nan], [0]])
    sim.reset(t=0.05, robots=[0, 2])
    assert sim.t == pytest.approx(0.05)
    assert sim.state.t == pytest.approx([0.05, 0.202, 0.05])
    asked.clear()
    log = sim.run(0.002, controller=lambda t, q, v: asked.append(t) or [0.0])
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
    sim = started(Simulation(PENDULUM, precision="float32", dt=1e-4), t=1677.7210)
    for _ in range(200):
        sim.step()
    assert sim.t == pytest.approx(1677.741, abs=1e-4)


# ---- both simulations keep one protocol: the same tests for the one in time steps and the one from event to event


Make = Callable[..., Any]
SMOOTH_LEG = LEG.with_joint("hip", friction=0).with_joint("knee", friction=0).with_motors(dry_friction=0)


both = pytest.mark.parametrize("make", [Simulation, EventSimulation])


def controlled(make: Make, robot: pliant.Robot, controller: pliant.Controller) -> tuple[Any, dict[str, Any]]:
    """A simulation with a controller of 1 ms, and what its runs have to be given."""
    if make is Simulation:
        return make(robot, controller=controller), {}
    return make(robot), {"controller": controller, "period": 1e-3}


@both
def test_it_has_what_the_protocol_names(make: Make) -> None:
    sim: SimulationProtocol = make(SMOOTH_LEG, ground=0)
    for name, member in vars(SimulationProtocol).items():
        if name.startswith("_"):
            continue
        assert hasattr(sim, name), name
        if inspect.isfunction(member):
            own = inspect.signature(getattr(type(sim), name)).parameters
            asked = inspect.signature(member).parameters
            asked = {k: p for k, p in asked.items() if p.kind != inspect.Parameter.VAR_KEYWORD}
            assert set(asked) <= set(own), name
            for keyword, parameter in asked.items():
                assert own[keyword].kind == parameter.kind
                assert own[keyword].default == parameter.default or name == "reset"


@both
def test_reset_and_the_state_of_now(make: Make) -> None:
    sim = started(make(SMOOTH_LEG, ground=0), LEG_Q, LEG_V, t=0.25)
    assert (sim.t, isinstance(sim.t, float)) == (0.25, True)
    np.testing.assert_array_equal(sim.q, LEG_Q)
    np.testing.assert_array_equal(sim.v, LEG_V)
    assert sim.tau.shape == (2,)
    assert sim.contact_names == ["toe"]
    assert sim.contact_forces.shape == (1, 3) and not sim.contact_forces.any()
    sim.q[:] = 0
    sim.v[:] = 0
    np.testing.assert_array_equal(sim.q, LEG_Q, "copies are handed out")
    np.testing.assert_array_equal(sim.v, LEG_V)


@both
def test_channels_have_the_same_names(make: Make) -> None:
    sim, log = ran(make(SMOOTH_LEG, ground=0), 0.02, LEG_Q, LEG_V, u=[-0.3, 1])
    energies = [f"energy.{term}" for term in ("kinetic", "potential", "elastic")]
    assert [name for name in log if name != "mode"] == ["q", "v", "tau", "forces", *energies]
    chosen = sim.run(0.02, u=[-0.3, 1], channels=("u", "tau", "power"))
    powers = [name for name in chosen if name.startswith("power.")]
    assert [name for name in chosen if name != "mode"] == ["u", "tau", *powers] and len(powers) > 5
    assert chosen.columns["u"] == chosen.columns["tau"] == ("hip", "knee")
    np.testing.assert_allclose(chosen["u"][1:], np.tile([-0.3, 1], (len(chosen) - 1, 1)))
    with pytest.raises(pliant.SimulationError, match="no channel named 'torque'"):
        sim.run(0.1, channels=["torque"])
    assert CHANNELS == ("q", "v", "tau", "forces", "energy")


@both
def test_forces_of_now_are_those_at_the_end_of_the_log(make: Make) -> None:
    sim, log = ran(make(SMOOTH_LEG, ground=0), 0.5, LEG_Q, u=[-0.3, 1])
    np.testing.assert_allclose(sim.contact_forces.ravel(), log.forces[-1], atol=1e-12)
    np.testing.assert_allclose(sim.tau, log.tau[-1], atol=1e-12)
    assert abs(log.forces).max() > 1, "it has touched the ground"


@both
@pytest.mark.parametrize("every", [0.01, 0.025])
def test_every_is_in_seconds(make: Make, every: float) -> None:
    sim, log = ran(make(PENDULUM), 0.1, [1], every=every)
    np.testing.assert_allclose(log.t, np.arange(round(0.1 / every) + 1) * every, atol=1e-12)
    for wrong in (0, -1, np.nan, "1"):
        with pytest.raises(pliant.SimulationError) as error:
            sim.run(0.1, every=wrong)
        assert error.value.field == "every"


@both
def test_a_controller_in_python(make: Make) -> None:
    sim = make(CART_POLE)
    called = []

    def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        called.append(t)
        return -3 * q[1:]

    options = {"period": 0.01} if make is EventSimulation else {}
    sim.reset(q=[0, 0.3], t=0.5)
    sim.run(0.1, controller=controller, **options)
    step = 0.01 if options else 1e-3
    np.testing.assert_allclose(called, 0.5 + step * np.arange(round(0.1 / step)), atol=1e-12)
    with pytest.raises(pliant.SimulationError, match="returned nothing"):
        sim.run(0.01, controller=lambda t, q, v: None)
    for wrong, field in (({"controller": controller, "u": [1.0]}, "u"), ({"commands": [1.0]}, "commands")):
        with pytest.raises(pliant.SimulationError) as error:
            sim.run(0.1, **wrong)
        assert (error.value.subject, error.value.field) == ("run", field)


@both
@pytest.mark.parametrize("is_function", [False, True])
def test_commands_of_a_controller(make: Make, is_function: bool) -> None:
    def ask(t: Any, q: Any, v: Any, command: Any) -> list[Any]:
        return [2 * command[0]]

    commands = (lambda t: [0.25 if t < 0.05 else 0.5]) if is_function else [0.25]
    sim, options = controlled(make, PENDULUM, pliant.Controller(ask, commands=1))
    log = sim.run(0.1, commands=commands, channels=("u", "tau"), every=0.01, **options)
    expected = np.where(log.t > 0.0505, 1.0, 0.5) if is_function else np.full(len(log), 0.5)
    for part in (slice(1, 5), slice(7, -1)):
        np.testing.assert_allclose(log["u"][part, 0], expected[part])
        np.testing.assert_allclose(log["tau"][part, 0], expected[part])


# ---- snapshots


@both
@pytest.mark.parametrize("times", [(0.1, 0.2), (0.3, 0.2)], ids=["in flight", "on the ground"])
def test_snapshots_go_on_bit_for_bit(make: Make, times: tuple[float, float]) -> None:
    sim, _ = ran(make(SMOOTH_LEG, ground=0), times[0], LEG_Q, LEG_V, u=[-0.3, 1])
    before = sim.state
    kept = pickle.dumps(before)
    first = sim.run(times[1], u=[-0.3, 1])
    after = sim.state
    assert not after.identical(before)
    sim.state = before
    assert sim.state.identical(before) and sim.t == before.t
    assert sim.run(times[1], u=[-0.3, 1]) == first
    assert sim.state.identical(after)
    other = make(SMOOTH_LEG, ground=0)
    other.state = pickle.loads(kept)
    assert other.run(times[1], u=[-0.3, 1]) == first, "also in another process"
    assert other.state.identical(after)


@both
def test_snapshots_have_the_memory_of_the_controller(make: Make) -> None:
    def count(t: Any, q: Any, v: Any, memory: Any) -> tuple[list[Any], list[Any]]:
        return [memory[0] / 10], [memory[0] + 1]

    sim, options = controlled(make, PENDULUM, pliant.Controller(count, memory=(1,)))
    sim.run(0.01, **options)
    before = pickle.loads(pickle.dumps(sim.state))
    first = sim.run(0.01, channels=("q", "u"), **options)
    # it is called ten times a run, and counts tenths
    assert first["u"][-1, 0] == pytest.approx(2.0)
    sim.reset()
    sim.state = before
    assert sim.run(0.01, channels=("q", "u"), **options) == first


@both
def test_a_snapshot_of_another_simulation_is_refused(make: Make) -> None:
    sim = make(SMOOTH_LEG, ground=0)
    with pytest.raises(pliant.SimulationError, match="state is of another simulation"):
        sim.state = make(PENDULUM).state
    with pytest.raises(pliant.SimulationError, match="state is a int"):
        sim.state = 3


# ---- blocks, errors, Ctrl-C


@both
def test_blocks_make_the_log(make: Make) -> None:
    logs = []
    for _ in range(2):
        sim = started(make(SMOOTH_LEG, ground=0), LEG_Q, LEG_V)
        blocks = list(sim.blocks(0.2, u=[-0.3, 1], settings={"seed": 3}))
        logs.append(record(blocks))
        assert ran(sim, 0.2, LEG_Q, LEG_V, u=[-0.3, 1])[1] == logs[0] == Log.joined(blocks)
    assert logs[0].source.settings["seed"] == 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_is_heard_where_python_drops_it() -> None:
    """In the callback of a weak reference, from which nothing can be raised."""

    class Gone:
        pass

    def controller(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        if t == 0:
            gone = Gone()
            kept = weakref.ref(gone, lambda _: signal.raise_signal(signal.SIGINT))
            del gone
            assert kept() is None
        return [0.1]

    # a shell ignores Ctrl-C in programs that it starts in the background
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as stop:
            Simulation(PENDULUM).run(1e4, controller=controller)
        assert not stop.value.log.is_complete  # type: ignore[attr-defined]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@both
@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt, pliant.SimulationError])
@pytest.mark.parametrize("is_saved", [False, True])
def test_what_was_recorded_is_kept(make: Make, kind: type[BaseException], is_saved: bool, tmp_path) -> None:
    def faulty(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        if t > 0.0305:
            raise kind("no more")
        return [0.1]

    sim = make(PENDULUM)
    options = {"period": 1e-3} if make is EventSimulation else {}
    save = tmp_path / "run.h5" if is_saved else None
    with pytest.raises(kind, match="no more") as error:
        sim.run(0.1, controller=faulty, every=1e-3, save=save, **options)
    log = error.value.log  # type: ignore[attr-defined]
    assert isinstance(log, Log) and not log.is_complete
    assert log.t[-1] == pytest.approx(sim.t, abs=1.1e-3) == pytest.approx(0.031, abs=1.1e-3)
    if is_saved:
        with pytest.warns(pliant.SimulationWarning, match="did not end"):
            assert pliant.load_log(tmp_path / "run.h5") == log
