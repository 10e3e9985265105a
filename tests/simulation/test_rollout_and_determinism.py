"""Batches: robots alone and in company give the same bits, and rollouts are steps."""

import functools

import numpy as np
import pytest

import pliant
from pliant import Controller, Simulation, SimulationError, SimulationWarning
from pliant.compiler import lanes_for
from pliant.simulation import Rollout, programs
from simulated_robots import BALL, CART_POLE, LEG, LEG_Q, LEG_V, QUADRUPED, dropped

# ---- rollouts: the same as steps, for any number of robots, without moving the simulation


SIM = Simulation(LEG, ground=0)
MANY = Simulation(LEG, ground=0, batch=6)
PERIODS = 80


def starts(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q = np.tile(LEG_Q, (count, 1))
    q[:, 2] += rng.uniform(0, 0.01, count)
    v = LEG_V + 0.2 * rng.normal(size=(count, LEG.nv))
    return q, v, rng.normal(size=(count, PERIODS, 2)) * [0.5, 3]


Q, V, U = starts(6)


def stepped(q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Whole states after each period, (batch, periods, size)."""
    MANY.reset(q, v)
    rows = []
    for k in range(u.shape[-2]):
        MANY.step(u[..., k, :])
        rows.append(MANY.state.data)
    return np.stack(rows, axis=1)


def test_equals_steps_bit_for_bit() -> None:
    rows = stepped(Q, V, U)
    result = SIM.rollout((Q, V), U, channels=tuple(SIM.layout.sizes))
    assert result["impulses"].any()
    for name in SIM.layout.sizes:
        assert result[name].tobytes() == np.ascontiguousarray(rows[..., SIM.layout.span(name)]).tobytes(), name
    assert result.state.data.tobytes() == rows[:, -1].tobytes()


def test_equals_steps_also_for_a_robot_that_diverges() -> None:
    """In every row its forces are zero from then on, since they may be NaN, and the others go on as without it."""
    u = U.copy()
    u[2, 30] = np.nan
    with pytest.warns(SimulationWarning, match="robot 2 at"):
        rows = stepped(Q, V, u)
    found = SIM.rollout((Q, V), u, channels=tuple(SIM.layout.sizes))
    whole = np.concatenate([found[name] for name in SIM.layout.sizes], axis=-1)
    assert whole.tobytes() == rows.tobytes()
    assert not found["impulses"][2, 30:].any()
    assert not found["torques"][2, 30:].any()
    others = np.arange(6) != 2
    assert whole[others, -1].tobytes() == SIM.rollout((Q, V), U).state.data[others].tobytes()


@pytest.mark.parametrize("batch", [None, 3])
def test_steps_runs_and_rollouts_share_a_kernel(batch: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever channels they keep: nothing is traced or compiled after the first step."""
    sim = Simulation(LEG, ground=0, batch=batch)
    sim.reset(LEG_Q, LEG_V)
    sim.step()
    kernel = sim.kernels.stepping(batch or 1)
    monkeypatch.setattr(programs, "Kernel", None)
    monkeypatch.setattr(programs.Plan, "program", None)
    sim.run(0.05, u=[0.5, 1], channels=("q", "v", "tau", "forces", "solver"))
    sim.run(0.05, controller=lambda t, q, v: [0.5, 1], channels=("q",))
    for channels in ((), ("q",), ("v", "impulses"), tuple(sim.layout.sizes)):
        sim.rollout(periods=5, channels=channels)
    sim.rollout(controls=np.zeros((5, 2)))
    assert sim.kernels.stepping(batch or 1) is kernel


def test_the_simulation_does_not_move() -> None:
    MANY.reset(Q, V)
    MANY.step(U[:, 0])
    before = MANY.state
    MANY.rollout(controls=U)
    MANY.rollout((Q, V), U)
    assert MANY.state.identical(before)


def test_from_the_state_of_the_simulation() -> None:
    rows = stepped(Q, V, U)
    MANY.reset(Q, V)
    for k in range(30):
        MANY.step(U[:, k])
    result = MANY.rollout(None, U[:, 30:])
    assert result.state.data.tobytes() == rows[:, -1].tobytes()
    assert MANY.rollout(MANY.state, U[:, 30:]).state.identical(result.state)


@pytest.mark.parametrize("batch_of", ["nothing", "states", "controls", "both", "q only"])
def test_the_batch_is_inferred(batch_of: str) -> None:
    one = (Q[0], V[0]), U[0]
    states, controls = {
        "nothing": one,
        "states": ((Q, V), U[0]),
        "controls": ((Q[0], V[0]), U),
        "both": ((Q, V), U),
        "q only": ((Q, V[0]), U[0]),
    }[batch_of]
    result = SIM.rollout(states, controls)
    lead = () if batch_of == "nothing" else (6,)
    assert result.q.shape == (*lead, PERIODS, LEG.nq)
    assert result.v.shape == (*lead, PERIODS, LEG.nv)
    assert result.state.data.shape == (*lead, SIM.layout.size)
    # each is what it is alone
    for k in range(6) if lead else (0,):
        a, b, c = (x[k] if x.ndim > n else x for x, n in ((states[0], 1), (states[1], 1), (controls, 2)))
        alone = SIM.rollout((a, b), c)
        assert alone.q.tobytes() == (result.q[k] if lead else result.q).tobytes()


def test_any_simulation_takes_any_batch() -> None:
    q, v, u = starts(9)
    expected = SIM.rollout((q, v), u)
    assert MANY.rollout((q, v), u).q.tobytes() == expected.q.tobytes()
    assert MANY.rollout((q[2], v[2]), u[2]).q.tobytes() == expected.q[2].tobytes()
    assert SIM.rollout((q[:1], v[:1]), u[:1]).q.shape == (1, PERIODS, LEG.nq), "one is a batch"


def test_going_on_from_the_end() -> None:
    whole = SIM.rollout((Q, V), U)
    first = SIM.rollout((Q, V), U[:, :33])
    second = SIM.rollout(first.state, U[:, 33:])
    assert second.state.identical(whole.state)
    assert second.q.tobytes() == whole.q[:, 33:].tobytes()


def test_periods_without_controls() -> None:
    q, v, _ = starts(3)
    still = SIM.rollout((q, v), np.zeros((20, 2)))
    assert SIM.rollout((q, v), periods=20).q.tobytes() == still.q.tobytes()
    assert SIM.rollout((q, v), np.zeros((20, 2)), periods=20).q.tobytes() == still.q.tobytes()
    none = SIM.rollout((q, v), periods=0)
    assert none.q.shape == (3, 0, LEG.nq)
    np.testing.assert_array_equal(none.state.q, q)


def test_a_robot_without_motors() -> None:
    sim = Simulation(BALL, ground=0)
    sim.reset(q=[0, 0, 0.12, 0, 0, 0, 1], v=[1, 0, 0, 0, 0, 0])
    result = sim.rollout(periods=100)
    also = sim.rollout(controls=np.zeros((100, 0)), periods=100)
    for _ in range(100):
        sim.step()
    assert result.state.identical(sim.state)
    assert also.state.identical(sim.state)


def test_channels() -> None:
    q, v, u = starts(2)
    result = SIM.rollout((q, v), u, channels=("torques", "impulses", "clock", "q"))
    assert list(result.channels) == ["torques", "impulses", "clock", "q"]
    assert result["impulses"].shape == (2, PERIODS, 3)
    np.testing.assert_array_equal(result["clock"][..., 0], np.tile(np.arange(1, PERIODS + 1), (2, 1)))
    with pytest.raises(SimulationError, match="no channel named 'v' in the rollout"):
        _ = result.v
    only_end = SIM.rollout((q, v), u, channels=())
    assert only_end.state.identical(result.state)
    assert repr(result) == "Rollout of 'leg': torques (2, 80, 2), impulses (2, 80, 3), clock (2, 80, 1), q (2, 80, 9)"


def test_out_is_written_in_place() -> None:
    expected = SIM.rollout((Q, V), U)
    out = {"q": np.full((6, PERIODS, LEG.nq), np.nan)}
    result = SIM.rollout((Q, V), U, out=out)
    assert result.q is out["q"]
    assert out["q"].tobytes() == expected.q.tobytes()
    assert result.v.tobytes() == expected.v.tobytes(), "what is not given is made"
    assert result.state.identical(expected.state)
    one = {"q": np.empty((PERIODS, LEG.nq)), "v": np.empty((PERIODS, LEG.nv))}
    SIM.rollout((Q[1], V[1]), U[1], out=one)
    assert one["q"].tobytes() == expected.q[1].tobytes()
    assert one["v"].tobytes() == expected.v[1].tobytes()
    # every other row of a larger array
    wide = np.empty((2 * len(Q), PERIODS, LEG.nq))
    SIM.rollout((Q, V), U, out={"q": wide[::2]})
    assert wide[::2].tobytes() == expected.q.tobytes()


def test_controls_may_be_views() -> None:
    wide = np.zeros((6, PERIODS, 5))
    wide[..., 1:3] = U
    assert SIM.rollout((Q, V), wide[..., 1:3]).q.tobytes() == SIM.rollout((Q, V), U).q.tobytes()
    backwards = SIM.rollout((Q[::-1], V[::-1]), U[::-1])
    assert np.array_equal(backwards.q[::-1], SIM.rollout((Q, V), U).q)


def test_commands_and_memory_of_a_compiled_controller() -> None:
    """Controls are its commands, and it starts with the memory that it was given."""

    def integral(t, q, v, command, memory):
        total = memory[0] + command[0] - q[1]
        return [5 * (command[0] - q[1]) + 0.1 * total], [total]

    sim = Simulation(CART_POLE, controller=Controller(integral, commands=1, memory=(0.5,)))
    commands = np.random.default_rng(1).normal(size=(3, 40, 1)) * 0.1
    result = sim.rollout(([0, 0.1], [0, 0]), commands, channels=("q", "memory"))
    for k in range(3):
        sim.reset(q=[0, 0.1])
        for j in range(40):
            sim.step(commands[k, j])
            assert sim.state.part("memory").tobytes() == result["memory"][k, j].tobytes()
        assert sim.q.tobytes() == result.q[k, -1].tobytes()


def test_substeps_are_within_a_period() -> None:
    sim = Simulation(LEG, ground=0, substeps=3)
    q, v, u = starts(2)
    result = sim.rollout((q, v), u[:, :10])
    fine = SIM.rollout((q, v), np.repeat(u[:, :10], 3, axis=1))
    assert result.q.tobytes() == np.ascontiguousarray(fine.q[:, 2::3]).tobytes()
    assert result.state.t == pytest.approx([0.03, 0.03])


# ---- A robot's motion does not depend, bit for bit, on the company it is computed in


COUNT, LONG, DT = 64, 150, 2e-3
CHANNELS = ("q", "v", "impulses", "stops", "solver")
PRECISIONS = ("float64", "float32")


@functools.cache
def simulation(precision: str) -> Simulation:
    """No batch of its own: rollouts take any."""
    return Simulation(QUADRUPED, ground=pliant.flat(), dt=DT, precision=precision)


def rollout(precision: str, chosen: object = slice(None), **options) -> Rollout:
    q, v, u = (array[chosen] for array in dropped(COUNT, LONG))
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
    touching = found["impulses"].reshape(COUNT, LONG, -1, 3)[..., 2] > 0
    changes = (touching[:, 1:] != touching[:, :-1]).sum(axis=(1, 2))
    assert np.median(changes) > 5
    assert found["stops"].any()
    assert len(np.unique(found["solver"][..., 1])) > 8
    # the solver is none with a proof: one step in a thousand may end without a solution
    assert found["solver"][..., 3].mean() < 0.001
    assert not found.state.part("divergence").any()


COMPANY = {
    **{f"the first {count}": slice(count) for count in (1, 2, 3, 4, 5, 7, 8, 9, 33)},
    **{f"only {k}, without a batch axis": k for k in (0, 6, 63)},
    **{f"in the order {seed}": np.random.default_rng(seed).permutation(COUNT) for seed in (1, 2)},
    "all again": slice(None),
}
"""Also batches that do not fill the lanes of the processor."""


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("chosen", COMPANY.values(), ids=COMPANY)
def test_any_company(precision: str, chosen: object) -> None:
    found = rollout(precision, chosen)
    assert isinstance(chosen, slice | np.ndarray) or found.q.shape == (LONG, 19)
    assert_same(found, reference(precision), chosen)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("threads", [2, 3])
def test_any_number_of_threads(precision: str, threads: int) -> None:
    assert_same(rollout(precision, threads=threads), reference(precision))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_step_at_a_time(precision: str) -> None:
    """As in rollouts; with threads, too."""
    expected = reference(precision)
    q, v, u = dropped(COUNT, LONG)
    for batch, threads in ((5, 1), (COUNT, 2)):
        sim = Simulation(QUADRUPED, ground=pliant.flat(), dt=DT, precision=precision, batch=batch, threads=threads)
        sim.reset(q[:batch], v[:batch])
        for k in range(LONG):
            sim.step(u[:batch, k])
        assert sim.state.data.tobytes() == expected.state.data[:batch].tobytes()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_any_number_of_lanes(precision: str, lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if lanes > lanes_for(1000, precision):
        pytest.skip("this processor has fewer")
    monkeypatch.setattr(programs, "lanes_for", lambda robots, precision: lanes)
    sim = Simulation(QUADRUPED, ground=pliant.flat(), dt=DT, precision=precision)
    q, v, u = (array[:6] for array in dropped(COUNT, LONG))
    found = sim.rollout((q, v), u, channels=CHANNELS)
    assert sim.kernels.stepping(6).lanes == lanes
    assert_same(found, reference(precision), slice(6))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("batch", [None, 1, 2, 3, 4, 5, 8, 9])
def test_a_step_of_few_robots(precision: str, batch: int | None) -> None:
    """Few robots have narrower vectors; also those across the numbers at which the width changes."""
    chosen = 0 if batch is None else slice(batch)
    q, v, u = (array[chosen] for array in dropped(COUNT, LONG))
    sim = Simulation(QUADRUPED, ground=pliant.flat(), dt=DT, precision=precision, batch=batch)
    sim.reset(q, v)
    for k in range(40):
        sim.step(u[..., k, :])
    assert sim.kernels.stepping(batch or 1).lanes == lanes_for(batch or 1, precision)
    clock = sim.layout.span("clock")
    assert sim.q.tobytes() == np.ascontiguousarray(reference(precision).q[chosen, 39]).tobytes()
    assert (sim.data[..., clock.start] == 40).all()


def test_kernels_that_are_there_serve_fewer_robots() -> None:
    """Narrow vectors are faster, but not by what another compilation takes."""
    sim = Simulation(LEG, ground=0, batch=64)
    wide = sim.kernels.stepping(64)
    assert sim.kernels.stepping(1) is wide
    few = Simulation(LEG, ground=0)
    narrow = few.kernels.stepping(1)
    assert (narrow.lanes, few.kernels.stepping(64).lanes) == (lanes_for(1), lanes_for(64))
    assert few.kernels.stepping(1) is narrow


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
