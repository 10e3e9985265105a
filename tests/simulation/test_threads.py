"""One thread at a time moves a simulation; simulations of several threads do not disturb each other."""

import threading

import numpy as np
import pytest

import pliant
from pliant.errors import SimulationError


@pytest.fixture(scope="module")
def robot() -> pliant.Robot:
    return pliant.load("pendulum")


def test_a_second_thread_is_refused_and_no_step_is_lost(robot: pliant.Robot) -> None:
    sim = pliant.Simulation(robot, dt=1e-3)
    done, refused = [0, 0], [0, 0]

    def steps(k: int) -> None:
        for _ in range(2000):
            try:
                sim.step()
                done[k] += 1
            except SimulationError as error:
                assert error.field == "threads"
                refused[k] += 1

    threads = [threading.Thread(target=steps, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # every step that was not refused counts
    assert sum(done) + sum(refused) == 4000
    assert sim.t == pytest.approx(1e-3 * sum(done), rel=1e-12)


def test_steps_and_parts_of_runs_are_refused_while_another_thread_moves_it(robot: pliant.Robot) -> None:
    sim = pliant.Simulation(robot, dt=1e-3)
    sim.step()
    before = sim.state
    with sim.moving:  # as in another thread
        for move in (sim.step, lambda: sim.run(0.01)):
            with pytest.raises(SimulationError) as error:
                move()
            assert error.value.field == "threads"
    assert sim.state.identical(before)
    # and it is free again, also after a step that raised
    with pytest.raises(SimulationError):
        sim.step("no controls")
    sim.step()


def test_a_reset_waits(robot: pliant.Robot) -> None:
    sim = pliant.Simulation(robot, dt=1e-3)
    sim.step()
    resetter = threading.Thread(target=sim.reset)
    with sim.moving:
        resetter.start()
        resetter.join(0.05)
        assert resetter.is_alive() and sim.t > 0
    resetter.join(10)
    assert sim.t == 0


def test_simulations_of_several_threads_give_the_same_bits(robot: pliant.Robot) -> None:
    def final() -> np.ndarray:
        sim = pliant.Simulation(robot, dt=1e-3)
        sim.reset(q=[0.5])
        for _ in range(500):
            sim.step()
        return sim.run(0.2).q

    alone, found = final(), []
    threads = [threading.Thread(target=lambda: found.append(final())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3 and all(np.array_equal(q, alone) for q in found)
