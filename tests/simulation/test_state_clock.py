"""The clock counts steps exactly, in both precisions."""

import numpy as np
import pytest

from pliant import Simulation
from pliant.simulation.state import clock_size, set_clock, steps_of, ticked, time_of
from simulated_robots import PENDULUM

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
