"""When sensors sample, and when a sample becomes the reading."""

import numpy as np
import pytest

import pliant
from pliant.errors import RobotError, SimulationError, SimulationWarning

DT = 1e-3


def falling(**options) -> pliant.Simulation:
    """A ball in free fall whose position is measured; each tick has a height of its own."""
    builder = pliant.RobotBuilder("ball")
    builder.body("ball", mass=2.0, inertia=(0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("base", "free", "world", "ball")
    robot = builder.build().with_sensor("pose", "ball", name="p", channels=["position"], **options)
    return pliant.Simulation(robot, dt=DT, batch=3)


def heights(sim: pliant.Simulation, ticks: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Height at each tick, and what is read, from tick 0 on; (robots, ticks)."""
    true, read = [sim.q[:, 2]], [sim.sensors["p.position"][:, 2]]
    for _ in range(ticks):
        sim.step()
        true.append(sim.q[:, 2])
        read.append(sim.sensors["p.position"][:, 2])
    return np.stack(true, axis=1), np.stack(read, axis=1)


@pytest.mark.parametrize(("rate", "phase", "delay"), [
    (None, 0, 0), (None, 0, 0.007), (250, 0, 0), (250, 0.002, 0), (200, 0, 0.003), (200, 0.001, 0.005),
    (100, 0.003, 0.027), (100, 0, 0.030),
])  # fmt: skip
def test_constant_rate_phase_and_delay(rate, phase, delay) -> None:
    true, read = heights(falling(rate=rate, phase=phase, delay=delay))
    n, p, d = round(1 / (rate * DT)) if rate else 1, round(phase / DT), round(delay / DT)
    for tick in range(true.shape[1]):
        arrived = tick - d
        sampled = p + n * ((arrived - p) // n) if arrived >= p else 0
        assert (read[:, tick] == true[:, sampled]).all(), tick


def test_delays_that_are_drawn_stay_in_their_range_and_differ() -> None:
    true, read = heights(falling(rate=200, delay=(0.004, 0.022)), 600)
    ages = []
    for robot in range(3):
        index = {height: tick for tick, height in enumerate(true[robot])}
        ages.append([tick - index[x] for tick, x in enumerate(read[robot])][100:])
        # a reading never goes back to an older sample
        assert (np.diff([index[x] for x in read[robot]]) >= 0).all()
    ages = np.array(ages)
    # fresh ones are at least the shortest delay old; at most the longest, and a period until the next has come
    assert ages.min() >= 4
    assert ages.max() <= 22 + 5
    assert ages.min() <= 6
    assert (ages[0] != ages[1]).any()


def test_jitter_samples_later_and_not_at_even_times() -> None:
    true, read = heights(falling(rate=100, jitter=0.004), 1000)
    late = []
    for robot in range(3):
        index = {height: tick for tick, height in enumerate(true[robot])}
        sampled = sorted({index[x] for x in read[robot]} - {0})
        assert len(sampled) >= 95
        late.append([tick % 10 for tick in sampled])
        assert set(late[-1]) == {0, 1, 2, 3, 4}
    assert late[0] != late[1]


def test_lost_samples_leave_the_reading_as_it_is() -> None:
    true, read = heights(falling(rate=500, dropout=0.3), 2000)
    for robot in range(3):
        fresh = read[robot, ::2] == true[robot, ::2]
        # 1000 samples, of which 30 % are lost: five deviations
        assert abs(fresh.mean() - 0.7) < 5 * np.sqrt(0.21 / 1000)


def test_interpolation_is_on_the_lines_between_samples() -> None:
    true, read = heights(falling(rate=100, delay=0.017, interpolate=True))
    for tick in range(60, 200):
        at = tick - 17
        low = 10 * (at // 10)
        share = (at - low) / 10
        expected = (1 - share) * true[:, low] + share * true[:, low + 10]
        assert read[:, tick] == pytest.approx(expected, abs=1e-12)


def test_substeps_sample_between_control_periods() -> None:
    fine = falling(rate=250, delay=0.003)
    _, read = heights(fine, 40)
    coarse = pliant.Simulation(fine.robot, dt=DT, batch=3, substeps=5)
    for k in range(1, 9):
        coarse.step()
        assert (coarse.sensors["p.position"][:, 2] == read[:, 5 * k]).all()


def test_encoder_velocity_by_differences() -> None:
    builder = pliant.RobotBuilder("wheel")
    builder.body("wheel", mass=1.0, inertia=(0.1, 0, 0, 0.1, 0, 0.1))
    builder.joint("axle", "continuous", "world", "wheel", axis=(0, 0, 1))
    robot = builder.build().with_gravity(0, 0, 0).with_motor("axle", gear=5)
    robot = robot.with_sensor("encoder", ticks=100, side="motor", is_differentiated=True, rate=100)
    sim = pliant.Simulation(robot, dt=DT)
    sim.reset(v=[1.3])
    step, last = 2 * np.pi / 500, 0.0
    for k in range(1, 101):
        sim.step()
        if k % 10 == 0:
            position = step * np.floor(1.3 * k * DT / step + 0.5)
            assert sim.sensors["encoder.position"][0] == pytest.approx(position, abs=1e-12)
            assert sim.sensors["encoder.velocity"][0] == pytest.approx((position - last) / 0.01, abs=1e-9)
            last = position


def test_times_that_are_not_whole_steps_are_reported() -> None:
    with pytest.warns(SimulationWarning, match=r"333\.333 Hz in place of 300 Hz: every 3 steps"):
        falling(rate=300)
    with pytest.warns(SimulationWarning, match=r"delay of sensor 'p' is 0\.002 s in place of 0\.0024 s"):
        falling(delay=0.0024)


@pytest.mark.parametrize(("options", "match"), [
    ({"rate": 0}, "rate of sensor 'p' is 0"),
    ({"delay": -0.001}, "delay of sensor 'p' is -0.001"),
    ({"delay": (0.02, 0.01)}, "the shorter time first"),
    ({"dropout": 1}, "dropout of sensor 'p' is 1"),
    ({"rate": 100, "jitter": 0.01}, "shorter than the period"),
    ({"position": {"range": 0.1, "resolution": 0.2}}, "not be below its resolution"),
    ({"position": {"noize": 0.1}}, "no error named 'noize'"),
    ({"position": {"noise": [0.1, 0.2]}}, "has 2 entries"),
    ({"position": {"noise": float("nan")}}, "noise"),
    ({"interpolate": True, "delay": (0.01, 0.02)}, "even times"),
    ({"velocity": {"noise": 1}}, "no option named 'velocity'"),
])  # fmt: skip
def test_bad_sensors_name_the_field_and_the_cure(options, match) -> None:
    with pytest.raises(RobotError, match=match):
        falling(**options)


def test_a_register_has_an_end() -> None:
    with pytest.raises(SimulationError, match="samples under way"):
        falling(delay=5.0)


def test_frozen_robots_keep_their_readings() -> None:
    sim = falling(rate=500, position={"noise": 0.1})
    for _ in range(10):
        sim.step()
    data = sim.state
    data.v[1, 2] = np.nan
    sim.state = data
    kept = sim.sensors["p.position"][1]
    with pytest.warns(SimulationWarning):
        for _ in range(10):
            sim.step()
    assert (sim.sensors["p.position"][1] == kept).all()
    assert np.isfinite(sim.sensors["p.position"]).all()
