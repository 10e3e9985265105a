"""Both simulations keep one protocol: the same tests for the one in time steps and the one from event to event."""

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.recording import Log, SimulationProtocol
from pliant.recording.protocol import CHANNELS
from pliant.simulation import record
from simulated_robots import CART_POLE, LEG_Q, LEG_V, PENDULUM
from simulated_robots import LEG as RUBBING_LEG

Make = Callable[..., Any]
LEG = RUBBING_LEG.with_joint("hip", friction=0).with_joint("knee", friction=0).with_motors(dry_friction=0)


def stepping(robot: pliant.Robot, **options: Any) -> pliant.Simulation:
    return pliant.Simulation(robot, **options)


def event_driven(robot: pliant.Robot, **options: Any) -> pliant.EventSimulation:
    return pliant.EventSimulation(robot, **options)


both = pytest.mark.parametrize("make", [stepping, event_driven])


@both
def test_it_has_what_the_protocol_names(make: Make) -> None:
    sim: SimulationProtocol = make(LEG, ground=0)
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
    sim = make(LEG, ground=0)
    sim.reset(LEG_Q, LEG_V, t=0.25)
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
    sim = make(LEG, ground=0)
    sim.reset(LEG_Q, LEG_V)
    log = sim.run(0.02, u=[-0.3, 1])
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
    sim = make(LEG, ground=0)
    sim.reset(LEG_Q)
    log = sim.run(0.5, u=[-0.3, 1])
    np.testing.assert_allclose(sim.contact_forces.ravel(), log.forces[-1], atol=1e-12)
    np.testing.assert_allclose(sim.tau, log.tau[-1], atol=1e-12)
    assert abs(log.forces).max() > 1, "it has touched the ground"


@both
@pytest.mark.parametrize("every", [0.01, 0.025])
def test_every_is_in_seconds(make: Make, every: float) -> None:
    sim = make(PENDULUM)
    sim.reset(q=[1])
    log = sim.run(0.1, every=every)
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

    options = {"period": 0.01} if make is event_driven else {}
    sim.reset(q=[0, 0.3], t=0.5)
    sim.run(0.1, controller=controller, **options)
    step = 0.01 if options else 1e-3
    np.testing.assert_allclose(called, 0.5 + step * np.arange(round(0.1 / step)), atol=1e-12)
    sim.run(0.01, controller=lambda t, q, v: None)  # None are zeros
    for wrong, field in (({"controller": controller, "u": [1.0]}, "u"), ({"commands": [1.0]}, "commands")):
        with pytest.raises(pliant.SimulationError) as error:
            sim.run(0.1, **wrong)
        assert (error.value.subject, error.value.field) == ("run", field)


@both
@pytest.mark.parametrize("is_function", [False, True])
def test_commands_of_a_controller(make: Make, is_function: bool) -> None:
    def ask(t: Any, q: Any, v: Any, command: Any) -> list[Any]:
        return [2 * command[0]]

    asks = pliant.Controller(ask, commands=1)
    commands = (lambda t: [0.25 if t < 0.05 else 0.5]) if is_function else [0.25]
    if make is stepping:
        sim, options = stepping(PENDULUM, controller=asks), {}
    else:
        sim, options = event_driven(PENDULUM), {"controller": asks, "period": 1e-3}
    log = sim.run(0.1, commands=commands, channels=("u", "tau"), every=0.01, **options)
    expected = np.where(log.t > 0.0505, 1.0, 0.5) if is_function else np.full(len(log), 0.5)
    inner = slice(1, 5), slice(7, -1)
    for part in inner:
        np.testing.assert_allclose(log["u"][part, 0], expected[part])
        np.testing.assert_allclose(log["tau"][part, 0], expected[part])


# ---- snapshots


@both
@pytest.mark.parametrize("times", [(0.1, 0.2), (0.3, 0.2)], ids=["in flight", "on the ground"])
def test_snapshots_go_on_bit_for_bit(make: Make, times: tuple[float, float]) -> None:
    sim = make(LEG, ground=0)
    sim.reset(LEG_Q, LEG_V)
    sim.run(times[0], u=[-0.3, 1])
    before = sim.state
    kept = pickle.dumps(before)
    first = sim.run(times[1], u=[-0.3, 1])
    after = sim.state
    assert not after.identical(before)
    sim.state = before
    assert sim.state.identical(before) and sim.t == before.t
    assert sim.run(times[1], u=[-0.3, 1]) == first
    assert sim.state.identical(after)
    other = make(LEG, ground=0)
    other.state = pickle.loads(kept)
    assert other.run(times[1], u=[-0.3, 1]) == first, "also in another process"
    assert other.state.identical(after)


@both
def test_snapshots_have_the_memory_of_the_controller(make: Make) -> None:
    def count(t: Any, q: Any, v: Any, memory: Any) -> tuple[list[Any], list[Any]]:
        return [memory[0] / 10], [memory[0] + 1]

    counts = pliant.Controller(count, memory=(1,))
    options = {} if make is stepping else {"controller": counts, "period": 1e-3}
    sim = stepping(PENDULUM, controller=counts) if make is stepping else event_driven(PENDULUM)
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
    sim = make(LEG, ground=0)
    with pytest.raises(pliant.SimulationError, match="state is of another simulation"):
        sim.state = make(PENDULUM).state
    with pytest.raises(pliant.SimulationError, match="state is a int"):
        sim.state = 3


# ---- blocks, errors, Ctrl-C


@both
def test_blocks_make_the_log(make: Make) -> None:
    logs = []
    for _ in range(2):
        sim = make(LEG, ground=0)
        sim.reset(LEG_Q, LEG_V)
        blocks = list(sim.blocks(0.2, u=[-0.3, 1], settings={"seed": 3}))
        logs.append(record(blocks))
        sim.reset(LEG_Q, LEG_V)
        assert sim.run(0.2, u=[-0.3, 1]) == logs[0] == Log.joined(blocks)
    assert logs[0].source.settings["seed"] == 3


@both
@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt, pliant.SimulationError])
@pytest.mark.parametrize("is_saved", [False, True])
def test_what_was_recorded_is_kept(make: Make, kind: type[BaseException], is_saved: bool, tmp_path) -> None:
    def faulty(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        if t > 0.0305:
            raise kind("no more")
        return [0.1]

    sim = make(PENDULUM)
    options = {"period": 1e-3} if make is event_driven else {}
    save = tmp_path / "run.h5" if is_saved else None
    with pytest.raises(kind, match="no more") as error:
        sim.run(0.1, controller=faulty, every=1e-3, save=save, **options)
    log = error.value.log  # type: ignore[attr-defined]
    assert isinstance(log, Log) and not log.is_complete
    assert log.t[-1] == pytest.approx(sim.t, abs=1.1e-3) == pytest.approx(0.031, abs=1.1e-3)
    if is_saved:
        with pytest.warns(pliant.SimulationWarning, match="did not end"):
            assert pliant.load_log(tmp_path / "run.h5") == log
