"""What a simulation tells beside its motion: bodies below the ground, contacts that plunge, steps not converged."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from pliant import CompliantContact, RigidContact, Simulation, SimulationWarning, SpringDamper
from pliant.simulation.watch import body_depths
from simulated_robots import BALL, LEG, LEG_Q, LEG_V, QUADRUPED, dropped, ran, started

FEET = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")
STANDING = QUADRUPED.with_motors(control="position", kp=150, kd=4)
ON_FEET = STANDING.with_contacts(*FEET, radius=0.02)
STANCE = np.tile([0.0, 0.8, -1.6], 4)
UPRIGHT = np.array([0, 0, 0.5, 0, 0, 0, 1, *STANCE])
ON_ITS_BACK = np.array([0, 0, 0.5, 1, 0, 0, 0, *STANCE])


def warned(run: Any) -> list[str]:
    """The messages of all warnings of a call."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run()
    assert all(warning.category is SimulationWarning and warning.filename == __file__ for warning in told)
    return [str(warning.message) for warning in told]


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_robot_on_its_back_that_only_feet_hold(precision: str, tmp_path: Path) -> None:
    sim = started(Simulation(ON_FEET, ground=0, precision=precision), q=ON_ITS_BACK)
    logs = []
    told = warned(lambda: logs.append(sim.run(1.5, u=STANCE, save=tmp_path / "streamed.h5")))
    assert len(told) == 1
    assert told[0].startswith("body 'trunk' is below the ground, by up to 0.2")
    assert "robot.with_collision_contacts('trunk') or robot.with_contact('trunk', radius=...)" in told[0]
    # the feet hang on the ground, legs up: the trunk is as far below as it is above if it stands
    standing = ran(Simulation(ON_FEET, ground=0), 1.5, UPRIGHT, u=STANCE)[0]
    depth = float(standing.q[2]) - 2 * 0.02
    assert sim.q[2] == pytest.approx(-depth, abs=0.02)
    below = sim.diagnostics.below
    assert below > 1
    assert f"{below} looks with a body below the ground" in repr(sim.diagnostics)
    # legs that land swing the trunk a little deeper than it comes to rest
    logs[0].save(tmp_path / "saved.h5")
    for log in (logs[0], *(pliant.load_log(tmp_path / f"{name}.h5") for name in ("streamed", "saved"))):
        (trouble,) = log.troubles
        assert (trouble.kind, trouble.name, trouble.robot, trouble.robots) == ("below ground", "trunk", 0, 1)
        assert trouble.count == below
        # from 0.5 m it takes 0.32 s for the back to reach the ground
        assert 0.3 < trouble.time < 0.75
        assert depth - 0.02 < trouble.worst < depth + 0.1
    assert sim.troubles == list(logs[0].troubles)


def test_one_of_a_batch() -> None:
    """It is named, however the robots are stepped."""
    q = np.tile(UPRIGHT, (8, 1))
    q[3] = ON_ITS_BACK
    sim = Simulation(ON_FEET, ground=0, batch=8)

    def stepped() -> None:
        for _ in range(2001):
            sim.step(STANCE)

    runs = {
        "run": lambda: sim.run(1.0, u=STANCE),
        "called": lambda: sim.run(1.0, controller=lambda t, q, v: np.tile(STANCE, (8, 1)), channels=()),
        "stepped": stepped,
    }
    for run in runs.values():
        sim.reset(q=q)
        told = warned(run)
        assert len(told) == 1
        assert told[0].startswith("robot 3: body 'trunk' is below the ground")
        assert np.flatnonzero(sim.diagnostics.below).tolist() == [3]
    sim.reset(q=UPRIGHT, robots=[3])
    assert not sim.diagnostics.below.any()
    assert not sim.troubles
    # the user knows, until all begin anew
    sim.reset(q=q)
    assert not warned(lambda: sim.run(0.1, u=STANCE))
    assert len(warned(lambda: sim.run(1.0, u=STANCE))) == 1
    sim.reset(q=q[3], robots=[4])
    assert not warned(lambda: sim.run(1.0, u=STANCE))
    assert sim.diagnostics.below[4] > 0


def test_in_a_rollout() -> None:
    sim = started(Simulation(ON_FEET, ground=0), q=UPRIGHT)
    states = np.stack([UPRIGHT, UPRIGHT, ON_ITS_BACK]), np.zeros((3, 18))
    told = warned(lambda: sim.rollout(states, np.tile(STANCE, (2000, 1))))
    assert len(told) == 1
    assert told[0].startswith("robot 2: body 'trunk' is below the ground")
    assert told[0].endswith("(in a rollout)")
    assert not sim.troubles, "the simulation itself has not moved"


def test_one_that_stands_or_lies_on_its_trunk_is_not_told_of() -> None:
    for robot, q in ((ON_FEET, UPRIGHT), (STANDING, UPRIGHT), (STANDING, ON_ITS_BACK)):
        sim, log = ran(Simulation(robot, ground=0), 1.5, q, u=STANCE)
        assert not log.troubles
        assert "troubles" not in log.metadata
        assert "since the reset" not in repr(sim.diagnostics)


def test_what_hangs_below_a_table_is_not_told_of() -> None:
    """A robot bolted to the world whose neutral configuration is below the ground is meant to be there."""
    arm = pliant.load("double_pendulum").with_contact("lower", radius=0.01)
    assert Simulation(arm, ground=-5).watch.bodies
    assert not Simulation(arm, ground=5).watch.bodies
    assert not Simulation(pliant.load("double_pendulum"), ground=0).watch.bodies, "it has no contacts"


@pytest.mark.parametrize("name", ["biped", "hopper", "quadruped"])
def test_robots_of_the_catalogue_on_their_backs_lie_on_the_ground(name: str) -> None:
    robot = pliant.load(name)
    q = robot.neutral()
    q[2], q[3:7] = 1.0, [1, 0, 0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim, _ = ran(Simulation(robot, ground=0), 3.0, q)
    assert sim.q[2] > 0.02, "the root is above the ground"
    assert sim.diagnostics.penetration < 1e-4
    bodies = sim.watch.bodies
    for body, depth in zip(bodies, body_depths(sim.model, bodies, sim.q.tolist()), strict=True):
        assert depth < 0, body.name


def test_event_driven_runs_tell_too() -> None:
    sim = pliant.EventSimulation(ON_FEET.with_motors(control="torque"), ground=0, limits=False)
    sim.reset(q=ON_ITS_BACK)
    logs = []
    told = warned(lambda: logs.append(sim.run(0.45)))
    assert len(told) == 1
    assert told[0].startswith("body 'trunk' is below the ground")
    assert [trouble.name for trouble in logs[0].troubles] == ["trunk"]
    assert not warned(lambda: sim.run(0.01))
    sim.reset(q=UPRIGHT)
    assert not sim.troubles


@pytest.mark.parametrize("is_called", [False, True])
def test_a_warning_that_is_an_error_leaves_nothing_half_done(is_called: bool, tmp_path: Path) -> None:
    options: Any = {"controller": lambda t, q, v: STANCE} if is_called else {"u": STANCE}
    whole = started(Simulation(ON_FEET, ground=0), q=ON_ITS_BACK)
    warned(lambda: whole.run(3.0, **options))
    sim = started(Simulation(ON_FEET, ground=0), q=ON_ITS_BACK)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimulationWarning)
        with pytest.raises(SimulationWarning, match="body 'trunk'") as error:
            sim.run(3.0, **options, save=tmp_path / "run.h5")
        kept = error.value.log  # type: ignore[attr-defined]
        # what was recorded is all of the motion so far, and the rest can follow
        assert kept.t[-1] == pytest.approx(sim.t)
        np.testing.assert_array_equal(kept.q[-1], sim.q)
        assert [trouble.kind for trouble in kept.troubles] == ["below ground"] * len(kept.troubles)
        sim.run(3.0 - sim.t, **options)
    np.testing.assert_array_equal(sim.state.data, whole.state.data)


# ---- contacts


def test_a_contact_that_passes_an_edge_within_a_step() -> None:
    """A point at 5 m/s goes 25 mm in a step of 5 ms, and is 10 cm below the next tread."""
    robot = BALL.without_contacts().with_contact("ball")
    ground = pliant.Ground(lambda x, y: pliant.math.select(x > 0.2, 0.1, 0))  # whose wall it does not know
    sim = Simulation(robot, ground=ground, dt=5e-3, batch=2)
    sim.reset(q=[[0, 0, 0.01, 0, 0, 0, 1], [-9, 0, 0.01, 0, 0, 0, 1]], v=[5, 0, 0, 0, 0, 0])
    told = warned(lambda: sim.run(0.1))
    assert len(told) == 1
    assert told[0].startswith("robot 0: in 1 steps a contact was suddenly up to")
    assert sim.diagnostics.plunges.tolist() == [1, 0]
    (trouble,) = sim.troubles
    # the gap is the distance from the tread
    assert trouble.worst == pytest.approx(0.1, abs=0.01)
    assert trouble.time == pytest.approx(0.2 / 5, abs=3 * 5e-3)


def test_a_robot_that_begins_inside_the_ground_does_not_plunge() -> None:
    sim = started(Simulation(BALL, ground=pliant.waves(0.1, 2)), q=[0, 0, -0.05, 0, 0, 0, 1])
    sim.run(0.5)
    assert sim.diagnostics.plunges == 0


def test_a_contact_that_sinks() -> None:
    """A law so soft that the ball falls through the ground, hardly held."""
    sim = Simulation(BALL, ground=0, contact=CompliantContact(SpringDamper(1, 1)))
    sim.reset(q=[0, 0, 0.1, 0, 0, 0, 1])
    told = warned(lambda: sim.run(2.0))
    assert len(told) == 1
    assert told[0].startswith("contact 'ball' sinks into the ground")
    assert "use a stiffer contact law" in told[0]


# ---- steps that do not converge

HARD = RigidContact(sweeps=1)


def test_unconverged_steps_are_counted_and_told_once() -> None:
    """One sweep does not do for a quadruped that stumbles; the count is that of the steps themselves."""
    q, v, u = dropped(4, 200)
    sim = started(Simulation(QUADRUPED, ground=0, dt=2e-3, batch=4, contact=HARD), q, v)
    told: list[str] = []
    failed, residuals = np.zeros(4, int), np.zeros(4)
    for k in range(200):
        told += warned(lambda k=k: sim.step(u[:, k]))
        found = sim.diagnostics
        failed += ~found.is_converged
        residuals = np.maximum(residuals, np.where(found.is_converged, 0, found.residual))
    told += warned(sim.notice)
    told += warned(sim.notice)
    mine = [text for text in told if "did not converge" in text]
    assert len(mine) == 1
    assert "of 200 steps did not converge, the first at t = " in mine[0]
    assert "more sweeps=" in mine[0]
    assert failed.min() > 10
    assert sim.diagnostics.unconverged.tolist() == failed.tolist()
    # a step with two solutions keeps the larger of their residuals
    assert (sim.diagnostics.worst_residual >= residuals * (1 - 1e-12)).all()
    trouble = next(t for t in sim.troubles if t.kind == "unconverged")
    assert (trouble.count, trouble.robots) == (failed.sum(), 4)
    before = sim.state
    sim.reset(q=q[0], robots=[0])
    assert sim.diagnostics.unconverged.tolist() == [0, *failed[1:]]
    sim.reset(q=q)
    assert not sim.troubles
    sim.state = before
    assert sim.diagnostics.unconverged.tolist() == failed.tolist(), "they are part of the state"


def test_counts_begin_where_the_clock_is_put() -> None:
    sim = Simulation(LEG, ground=0, contact=HARD)
    sim.reset(LEG_Q, LEG_V, t=5.0)
    for _ in range(30):
        sim.step()
    (trouble,) = sim.troubles
    assert trouble.kind == "unconverged"
    assert 5 < trouble.time <= 5.03


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_few_small_residuals_are_counted_and_not_told(precision: str) -> None:
    sim = started(Simulation(LEG, ground=0, contact=HARD, precision=precision), LEG_Q, LEG_V)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log = sim.run(0.009)
    assert 0 < sim.diagnostics.unconverged < 10
    assert [trouble.kind for trouble in log.troubles] == ["unconverged"]
    assert "steps not converged" in repr(sim.diagnostics)


def test_a_diverged_robot_is_in_the_log() -> None:
    sim = Simulation(BALL, ground=lambda x, y: pliant.math.sqrt(1 - x) - 1)
    sim.reset(q=[0.9, 0, 0.3, 0, 0, 0, 1], v=[3, 0, 0, 0, 0, 0])
    logs = []
    assert len(warned(lambda: logs.append(sim.run(0.1)))) == 1
    (trouble,) = logs[0].troubles
    assert trouble.kind == "divergence"
    assert "at contact 'ball'" in trouble.what
