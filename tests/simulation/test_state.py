"""Snapshots: all that the next step depends on, and a clock that counts steps exactly."""

import pickle

import numpy as np
import pytest

import pliant
from pliant import Controller, Simulation, SimulationError
from pliant.simulation import State
from pliant.simulation.state import clock_size, set_clock, steps_of, ticked, time_of
from simulated_robots import BALL, CART_POLE, LEG, LEG_Q, PENDULUM


def wound(t, q, v, memory):
    """A controller that remembers."""
    return [3 * pliant.math.sin(memory[0])], [memory[0] + 0.1 + q[1]]


SIMULATIONS = {
    "contacts": lambda: Simulation(LEG, ground=0, batch=3),
    "alone": lambda: Simulation(LEG, ground=0),
    "restitution": lambda: Simulation(BALL, ground=0, contact=pliant.RigidContact(restitution=0.6), batch=2),
    "memory": lambda: Simulation(CART_POLE, controller=Controller(wound, memory=(0.2,)), batch=2),
    "adaptive": lambda: Simulation(PENDULUM, integrator="dormand-prince", dt=0.02, batch=3),
    "stops": lambda: Simulation(CART_POLE.with_joint("slider", limits=(-0.01, 0.01), restitution=0.5, friction=0.1)),
    "loop": lambda: Simulation(LEG.with_closure("distance", "world", "trunk", length=0.4), ground=0),
    "float32": lambda: Simulation(LEG, ground=0, batch=5, precision="float32"),
}


def started(name: str) -> Simulation:
    sim = SIMULATIONS[name]()
    robot = sim.robot
    q = {"leg": LEG_Q, "ball": [0, 0, 0.11, 0, 0, 0, 1], "cart_pole": [0, 0.2], "pendulum": [1]}[robot.name]
    v = 0.3 * np.random.default_rng(0).normal(size=sim.v.shape)
    sim.reset(q, v)
    return sim


def moved(sim: Simulation, periods: int, seed: int) -> State:
    for u in np.random.default_rng(seed).normal(size=(periods, sim.plan.inputs)):
        sim.step(u)
    return sim.state


@pytest.mark.parametrize("name", SIMULATIONS)
def test_a_snapshot_goes_on_bit_for_bit(name: str) -> None:
    """In its simulation, and pickled, in one that has seen nothing."""
    sim = started(name)
    before = moved(sim, 60, 1)
    after = moved(sim, 60, 2)
    moved(sim, 10, 3)
    again = pickle.loads(pickle.dumps(before))
    assert again.data.dtype == before.data.dtype
    assert again.layout.dt == sim.dt
    for other, state in ((sim, before), (SIMULATIONS[name](), again)):
        other.state = state
        assert other.state.identical(before)
        assert moved(other, 60, 2).identical(after)


def test_a_snapshot_is_a_copy_which_may_be_changed_and_set() -> None:
    sim = started("contacts")
    before = sim.state
    kept = before.copy()
    moved(sim, 5, 0)
    assert before.identical(kept)
    before.q[...] = 3
    assert not before.identical(kept)
    assert not (sim.q == 3).any()
    sim.state = before
    assert (sim.q == 3).all()
    sim.state = kept
    moved(sim, 5, 0)
    assert kept.identical(started("contacts").state)


def test_branches() -> None:
    """One state goes on in many ways, in one batch; those with the same controls stay the same."""
    one = started("alone")
    moved(one, 50, 1)
    many = Simulation(LEG, ground=0, batch=4)
    many.state = one.state.repeated(4)
    u = np.random.default_rng(2).normal(size=(30, 4, 2))
    u[:, 3] = u[:, 1]
    for row in u:
        many.step(row)
    for k in range(4):
        alone = Simulation(LEG, ground=0)
        alone.state = one.state
        for row in u:
            alone.step(row[k])
        assert alone.state.identical(many.state.robot(k))
    assert many.state.robot(3).identical(many.state.robot(1))
    assert not many.state.robot(3).identical(many.state.robot(0))


def test_parts_are_views() -> None:
    state = started("contacts").state
    assert state.batch == 3
    assert state.part("clock").shape == (3, 1)
    assert np.shares_memory(state.q, state.data)
    assert np.shares_memory(state.v, state.data)
    assert state.t.tolist() == [0, 0, 0]
    assert started("alone").state.batch is None
    assert started("alone").state.t == 0.0
    assert sum(state.layout.sizes.values()) == state.layout.size == state.data.shape[1]
    with pytest.raises(SimulationError, match="no part named 'clok' in the state; did you mean 'clock'"):
        state.part("clok")


def test_identical() -> None:
    state, other = started("alone").state, started("alone").state
    assert state.identical(other)
    other.v[0] = np.nextafter(other.v[0], 1)
    assert not state.identical(other)
    state.v[0] = other.v[0] = np.nan
    assert state.identical(other), "NaN equals NaN"
    assert not state.identical(started("contacts").state)
    assert not Simulation(PENDULUM).state.identical(Simulation(PENDULUM, dt=1e-2).state)


def test_shown() -> None:
    assert (
        repr(Simulation(PENDULUM).state) == "State of one robot: q 1, v 1, clock 1, divergence 1, torques 1, solver 4"
    )
    assert repr(Simulation(PENDULUM, batch=2).state).startswith("State of 2 robots: q 1")


def test_a_rollout_ends_with_a_state() -> None:
    sim = started("contacts")
    end = sim.rollout(periods=5).state
    sim.state = end
    assert sim.state.t == pytest.approx([0.005] * 3)
    assert end.robot(1).q.tobytes() == sim.q[1].tobytes()


# ---- what does not fit


@pytest.mark.parametrize("state, message", [
    (np.zeros(8), "it takes a State, as sim.state gives it"),
    (Simulation(CART_POLE, batch=2).state, "of another simulation: it has .*'q': 2.* this one .*'q': 1"),
    (Simulation(PENDULUM).state, r"the state has shape \(9,\), the simulation \(2, 9\)"),
    (Simulation(PENDULUM, batch=2, dt=1e-2).state, r"dt = 0.01 s, this one has 0.001 s.*reset\(q=state.q"),
])  # fmt: skip
def test_states_of_others(state, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        Simulation(PENDULUM, batch=2).state = state


@pytest.mark.parametrize("call, message", [
    (lambda: Simulation(PENDULUM).rollout(Simulation(CART_POLE).state, periods=1), "of another simulation"),
    (lambda: Simulation(PENDULUM).rollout(Simulation(PENDULUM, dt=1e-2).state, periods=1), "dt = 0.01 s"),
    (lambda: Simulation(PENDULUM, batch=2).state.robot(9), "robot of the state is 9; it takes 0 to 1"),
    (lambda: Simulation(PENDULUM).state.repeated(0), "batch is 0; it takes 1 or more"),
    (lambda: Simulation(PENDULUM, batch=2).state.repeated(3), r"take one with state.robot\(k\)"),
    (lambda: Simulation(PENDULUM).state.robot(0), "the state is of one robot"),
])  # fmt: skip
def test_wrong_rollouts_and_branches(call, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        call()


# ---- the clock counts steps exactly, in both precisions


TURN = 2**20


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("start", [0, 5, TURN - 1, TURN, 2**24 - 2, 2**24, 3 * 10**9, -1, -TURN, -TURN - 1])
def test_ticks(precision: str, start: int) -> None:
    clock = np.zeros(clock_size(precision), precision)
    set_clock(clock, start)
    assert steps_of(clock) == start
    for steps in (1, 1, 100, TURN + 3):
        before = steps_of(clock)
        assert steps_of(np.array(ticked(clock, steps, False), precision)) == before, "frozen"
        clock = np.array(ticked(clock, steps, True), precision)
        assert steps_of(clock) == before + steps
    assert time_of(clock.astype(float), 1e-3) == pytest.approx(1e-3 * steps_of(clock), rel=1e-15)


def test_clocks_of_a_batch() -> None:
    clocks = np.zeros((3, 2), "f")
    set_clock(clocks[1:2], 2**24 + 1)
    assert steps_of(clocks).tolist() == [0, 2**24 + 1, 0]


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4", "dormand-prince"])
def test_time_goes_on_after_2_to_the_24_steps_in_single_precision(integrator: str) -> None:
    sim = Simulation(PENDULUM, precision="float32", substeps=4, integrator=integrator, batch=2)
    start = 2**24 * 1e-3
    sim.reset(t=start)
    for _ in range(5):
        sim.step()
    sim.run(0.02)
    assert sim.state.t == pytest.approx([start + 0.04] * 2, abs=1e-9)
