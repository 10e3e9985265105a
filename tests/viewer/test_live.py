"""Live mode: pushes with the right impulse, errors that are kept, gains and parameters that act."""

import time
from importlib import import_module

import numpy as np
import pytest

import pliant
from pliant.viewer.live import Push, Runner, pushed


def simulation(**options: object) -> pliant.Simulation:
    return pliant.Simulation(pliant.load("hopper"), dt=1e-3, progress=False, **options)  # type: ignore[arg-type]


def test_a_push_is_an_impulse_on_the_whole_robot() -> None:
    sim = simulation()
    robot = sim.robot
    sim.reset(q=robot.random(0), v=np.random.default_rng(0).normal(size=robot.nv))
    force, dt = np.array([3.0, -2.0, 5.0]), 0.01
    after = pushed(sim, Push("tube", force, 1.0), dt)
    h0, h1 = (np.asarray(pliant.centroidal_momentum(robot, sim.q, v)) for v in (sim.v, after))
    # M^-1 J^T f dt changes the momentum by the impulse and its moment about the centre of mass
    np.testing.assert_allclose((h1 - h0)[:3], force * dt, atol=1e-10)
    arm = np.asarray(pliant.frame_pose(robot, sim.q, "tube"))[:3, 3] - np.asarray(pliant.center_of_mass(robot, sim.q))
    np.testing.assert_allclose((h1 - h0)[3:], np.cross(arm, force * dt), atol=1e-10)


def test_a_push_lasts_as_long_as_it_says() -> None:
    sim = simulation()
    sim.reset()
    runner = Runner(sim, None, {}, lambda sim: None)
    runner.push("body", (10.0, 0, 0), 0.05)
    runner.advance(100)
    assert runner.error is None
    assert runner.pushes == []
    p = np.asarray(pliant.centroidal_momentum(sim.robot, sim.q, sim.v))[:3]
    # 10 N for 0.05 s along x, and gravity for 0.1 s; explicit pushes are exact in momentum but for the step's order
    assert p[0] == pytest.approx(0.5, rel=1e-3)
    assert p[2] == pytest.approx(-9.81 * float(sim.robot.mass) * 0.1, rel=1e-3)
    with pytest.raises(pliant.PliantError, match="no frame named 'knee'"):
        runner.push("knee", (1, 0, 0))
    with pytest.raises(pliant.PliantError, match="three numbers"):
        runner.push("body", (1, 0))


def test_errors_of_the_controller_are_kept_and_reset_goes_on() -> None:
    sim = simulation()
    sim.reset()

    def controller(t: float, q: np.ndarray, v: np.ndarray, kp: float) -> np.ndarray:
        if t > 0.0105:
            raise ValueError(f"broken at kp = {kp}")
        return np.zeros(3)

    runner = Runner(sim, controller, {"kp": 7.0}, lambda sim: None)
    runner.advance(50)
    assert isinstance(runner.error, ValueError)
    assert "broken at kp = 7.0" in runner.text
    assert "in controller" in runner.text
    assert "runner.py" not in runner.text
    assert not runner.is_playing
    assert sim.t == pytest.approx(0.011)
    runner.reset()
    assert runner.error is None
    assert sim.t == 0
    runner.advance(5)
    assert sim.t == pytest.approx(0.005)


def test_gains_reach_the_controller() -> None:
    sim = simulation()
    sim.reset()
    seen = []
    runner = Runner(sim, lambda t, q, v, kp: seen.append(kp), {"kp": 1.0}, lambda sim: None)
    runner.advance()
    runner.gains["kp"] = 2.0
    runner.advance()
    assert seen == [1.0, 2.0]


def test_live_runs_until_its_controller_fails() -> None:
    sim = simulation(ground=pliant.flat(), varying=["gravity", "friction"])
    q = sim.robot.neutral()
    q[2] = 1.0
    sim.reset(q=q)

    def controller(t: float, q: np.ndarray, v: np.ndarray, kp: float) -> np.ndarray:
        if t > 0.05:
            raise RuntimeError("no more")
        return np.zeros(3)

    with pliant.live(sim, controller, gains={"kp": (0, 10, 5)}, port=0, block=False) as viewer:
        end = time.monotonic() + 30
        while viewer.error is None and time.monotonic() < end:
            time.sleep(0.02)
        assert isinstance(viewer.error, RuntimeError)
        assert 0.05 < sim.t < 0.06
        assert not viewer.player.is_playing


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"controller": 3}, "takes a function"),
        ({"gains": {"kp": 1.0}}, "gains need a controller"),
        ({"controller": lambda t, q, v, kp: None, "gains": {"kp": (2, 1, 3)}}, "gain 'kp' of live is"),
        ({"show": "x"}, "no mark named 'x'"),
    ],
)
def test_bad_calls_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(pliant.PliantError, match=message):
        pliant.live(simulation(), block=False, **arguments)


def test_live_takes_a_simulation() -> None:
    with pytest.raises(pliant.PliantError, match="live takes a Simulation first, not Robot"):
        pliant.live(pliant.load("hopper"))  # type: ignore[arg-type]
    hybrid = pliant.EventSimulation(pliant.load("hopper"), ground=pliant.flat())
    with pytest.raises(pliant.PliantError, match=r"goes from event to event .* sim.run\(2.0\).view\(\)"):
        pliant.live(hybrid)  # type: ignore[arg-type]


def test_a_simulation_shows_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(
        import_module("pliant.viewer.live"), "live", lambda *args, **options: seen.extend([args, options])
    )
    sim = simulation()
    sim.view(abs, speed=2.0)
    arguments, options = seen
    assert arguments == (sim, abs) and options["speed"] == 2.0
