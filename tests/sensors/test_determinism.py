"""The same bits in any batch, on any threads, by step or rollout, after restoring a state, and in another process."""

import subprocess
import sys

import numpy as np
import pytest

import pliant

SCRIPT = """
import hashlib, sys
sys.path[:0] = {path!r}
from sensors.test_determinism import simulation
sim = simulation({precision!r}, 5)
for _ in range(40):
    sim.step()
print(hashlib.sha256(sim.data.tobytes()).hexdigest())
"""


def robot() -> pliant.Robot:
    builder = pliant.RobotBuilder("box")
    builder.body("box", mass=2.0, inertia=(0.01, 0, 0, 0.02, 0, 0.03))
    builder.joint("base", "free", "world", "box")
    made = builder.build().with_contact("box", box=(0.2, 0.1, 0.1))
    errors = {"noise": 1e-3, "bias": 0.01, "drift": 0.01, "drift_time": 0.5, "scale": 0.02}
    made = made.with_sensor("imu", "box", name="imu", rate=500, gyro=errors, accelerometer=errors, misalignment=0.02)
    made = made.with_sensor("pose", "box", name="mocap", rate=100, delay=(0.004, 0.02), jitter=0.005, dropout=0.2,
                            position={"noise": 1e-4}, orientation={"noise": 1e-3})  # fmt: skip
    return made.with_sensor("contact", name="touch", rate=250, delay=0.006, force={"noise": 0.1})


def simulation(precision: str, batch: int | None, threads: int = 1, seed: int = 4) -> pliant.Simulation:
    sim = pliant.Simulation(
        robot(), ground=pliant.flat(), precision=precision, batch=batch, threads=threads, seed=seed, substeps=3
    )
    # the same seed and the same state, whatever came before
    sim.reset(q=[0, 0, 0.06, 0, 0, 0, 1], v=[0.3, 0, -0.5, 1, 2, 0.5], seed=seed)
    return sim


PRECISIONS = ["float64", "float32"]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_batches_threads_and_ways_of_going_on(precision: str) -> None:
    large = simulation(precision, 41)
    for _ in range(40):
        large.step()
    for batch, threads in ((1, 1), (7, 1), (41, 2), (None, 1)):
        sim = simulation(precision, batch, threads)
        for _ in range(40):
            sim.step()
        assert np.array_equal(sim.data.reshape(-1, sim.layout.size), large.data[: batch or 1])
    rolled = simulation(precision, 41)
    assert np.array_equal(rolled.rollout(None, None, periods=40).state.data, large.data)
    assert not np.array_equal(large.sensors["imu.gyro"][0], large.sensors["imu.gyro"][1])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_restored_state_draws_the_same_numbers(precision: str) -> None:
    sim = simulation(precision, 3)
    for _ in range(17):
        sim.step()
    kept = sim.state
    runs = []
    for _ in range(2):
        sim.state = kept
        for _ in range(23):
            sim.step()
        runs.append(sim.data.copy())
    assert np.array_equal(*runs)


def test_a_second_process_draws_the_same_numbers() -> None:
    import hashlib

    script = SCRIPT.format(path=[p for p in sys.path if p], precision="float64")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    sim = simulation("float64", 5)
    for _ in range(40):
        sim.step()
    assert done.stdout.strip() == hashlib.sha256(sim.data.tobytes()).hexdigest()


def test_resets_without_a_seed_draw_new_numbers_and_leave_others_alone() -> None:
    sim = simulation("float64", 4)
    bias = sim.sensors["imu.gyro"]
    before = sim.data.copy()
    sim.reset(q=[0, 0, 0.06, 0, 0, 0, 1], robots=[1])
    assert np.array_equal(sim.data[[0, 2, 3]], before[[0, 2, 3]])
    assert not np.array_equal(sim.sensors["imu.gyro"][1], bias[1])
    again = simulation("float64", 4)
    again.reset(q=[0, 0, 0.06, 0, 0, 0, 1], robots=[1])
    assert np.array_equal(again.data, sim.data)
    sim.reset(q=[0, 0, 0.06, 0, 0, 0, 1], v=[0.3, 0, -0.5, 1, 2, 0.5], seed=4)
    assert np.array_equal(sim.data, before)


def test_seeds_differ() -> None:
    a, b = (simulation("float64", 2, seed=seed).sensors["imu.gyro"] for seed in (1, 2))
    assert not np.array_equal(a, b)
    with pytest.raises(pliant.PliantError, match="seed is -1"):
        pliant.Simulation(robot(), seed=-1)
