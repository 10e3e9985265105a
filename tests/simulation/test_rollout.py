"""Rollouts: the same as steps, for any number of robots, without moving the simulation."""

import numpy as np
import pytest

from pliant import Controller, Simulation, SimulationError
from simulated_robots import BALL, CART_POLE, LEG, LEG_Q, LEG_V

SIM = Simulation(LEG, ground=0)
MANY = Simulation(LEG, ground=0, batch=6)
PERIODS = 80


def starts(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q = np.tile(LEG_Q, (count, 1))
    q[:, 2] += rng.uniform(0, 0.01, count)
    v = LEG_V + 0.2 * rng.normal(size=(count, LEG.nv))
    return q, v, rng.normal(size=(count, PERIODS, 2)) * [0.5, 3]


def stepped(q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Whole states after each period, (batch, periods, size)."""
    MANY.reset(q, v)
    rows = []
    for k in range(u.shape[-2]):
        MANY.step(u[..., k, :])
        rows.append(MANY.state.data)
    return np.stack(rows, axis=1)


def test_equals_steps_bit_for_bit() -> None:
    q, v, u = starts(6)
    rows = stepped(q, v, u)
    result = SIM.rollout((q, v), u, channels=tuple(SIM.layout.sizes))
    assert result["impulses"].any()
    for name in SIM.layout.sizes:
        assert result[name].tobytes() == np.ascontiguousarray(rows[..., SIM.layout.span(name)]).tobytes(), name
    assert result.state.data.tobytes() == rows[:, -1].tobytes()


def test_the_simulation_does_not_move() -> None:
    q, v, u = starts(6)
    MANY.reset(q, v)
    MANY.step(u[:, 0])
    before = MANY.state
    MANY.rollout(controls=u)
    MANY.rollout((q, v), u)
    assert MANY.state.identical(before)


def test_from_the_state_of_the_simulation() -> None:
    q, v, u = starts(6)
    rows = stepped(q, v, u)
    MANY.reset(q, v)
    for k in range(30):
        MANY.step(u[:, k])
    result = MANY.rollout(None, u[:, 30:])
    assert result.state.data.tobytes() == rows[:, -1].tobytes()
    assert MANY.rollout(MANY.state, u[:, 30:]).state.identical(result.state)


@pytest.mark.parametrize("batch_of", ["nothing", "states", "controls", "both", "q only"])
def test_the_batch_is_inferred(batch_of: str) -> None:
    q, v, u = starts(6)
    one = (q[0], v[0]), u[0]
    states, controls = {
        "nothing": one,
        "states": ((q, v), u[0]),
        "controls": ((q[0], v[0]), u),
        "both": ((q, v), u),
        "q only": ((q, v[0]), u[0]),
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


def test_a_batch_of_one_is_a_batch() -> None:
    q, v, u = starts(1)
    assert SIM.rollout((q, v), u).q.shape == (1, PERIODS, LEG.nq)


def test_a_simulation_with_a_batch_takes_other_batches() -> None:
    q, v, u = starts(9)
    expected = SIM.rollout((q, v), u)
    assert MANY.rollout((q, v), u).q.tobytes() == expected.q.tobytes()
    assert MANY.rollout((q[2], v[2]), u[2]).q.tobytes() == expected.q[2].tobytes()


def test_going_on_from_the_end() -> None:
    q, v, u = starts(4)
    whole = SIM.rollout((q, v), u)
    first = SIM.rollout((q, v), u[:, :33])
    second = SIM.rollout(first.state, u[:, 33:])
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
    q, v, u = starts(4)
    expected = SIM.rollout((q, v), u)
    out = {"q": np.full((4, PERIODS, LEG.nq), np.nan)}
    result = SIM.rollout((q, v), u, out=out)
    assert result.q is out["q"]
    assert out["q"].tobytes() == expected.q.tobytes()
    assert result.v.tobytes() == expected.v.tobytes(), "what is not given is made"
    assert result.state.identical(expected.state)
    one = {"q": np.empty((PERIODS, LEG.nq)), "v": np.empty((PERIODS, LEG.nv))}
    SIM.rollout((q[1], v[1]), u[1], out=one)
    assert one["q"].tobytes() == expected.q[1].tobytes()
    assert one["v"].tobytes() == expected.v[1].tobytes()
    # every other row of a larger array
    wide = np.empty((2 * len(q), PERIODS, LEG.nq))
    SIM.rollout((q, v), u, out={"q": wide[::2]})
    assert wide[::2].tobytes() == expected.q.tobytes()


@pytest.mark.parametrize("out, message", [
    ({"w": np.empty(3)}, "no channel named 'w' in the rollout's out"),
    ({"q": np.empty((4, 3, 9))}, r"channel 'q' has shape \(4, 3, 9\) .*; this rollout makes \(4, 80, 9\)"),
    ({"q": np.empty((4, 80, 9), np.float32)}, r"type float32; this rollout makes .* of float64"),
])  # fmt: skip
def test_wrong_out(out: dict, message: str) -> None:
    q, v, u = starts(4)
    with pytest.raises(SimulationError, match=message):
        SIM.rollout((q, v), u, out=out)


def test_controls_may_be_views() -> None:
    q, v, u = starts(4)
    wide = np.zeros((4, PERIODS, 5))
    wide[..., 1:3] = u
    assert SIM.rollout((q, v), wide[..., 1:3]).q.tobytes() == SIM.rollout((q, v), u).q.tobytes()
    backwards = SIM.rollout((q[::-1], v[::-1]), u[::-1])
    assert np.array_equal(backwards.q[::-1], SIM.rollout((q, v), u).q)


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
