"""Diagnostics of a simulation, and robots that diverge."""

import math
import pickle
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pliant
from pliant import CompliantContact, RigidContact, Simulation, SimulationWarning, SpringDamper
from pliant.contact.touching import Touch
from pliant.simulation import Divergence
from pliant.simulation.state import divergence_code, divergence_text, steps_code
from pliant.spatial import Vector
from simulated_robots import BALL, CART_POLE, LEG, LEG_Q, LEG_V, PENDULUM, QUADRUPED, dropped, ran, started

STANDING = QUADRUPED.with_motors(control="position", kp=200, kd=5)


@pytest.fixture(scope="module")
def at_rest() -> Simulation:
    """Four feet on the ground, legs bent a little, held by the motors until nothing moves."""
    q = STANDING.neutral()
    q[2] = 0.4
    q[7:] = [0, 0.3, -0.6] * 4
    return ran(Simulation(STANDING, ground=pliant.flat(), dt=2e-3), 4.0, q, u=q[7:])[0]


def test_forces_at_rest_carry_the_weight(at_rest: Simulation) -> None:
    told = at_rest.diagnostics
    # settled for 4 s under damping
    np.testing.assert_allclose(told.forces.sum(axis=0), [0, 0, 9.81 * STANDING.mass], rtol=0, atol=1e-3)
    assert np.abs(at_rest.v).max() < 1e-5
    np.testing.assert_array_equal(told.forces, at_rest.contact_forces)
    feet = [name for name, on in zip(told.contacts, told.is_active, strict=True) if on]
    assert feet == ["lf_foot", "lh_foot", "rf_foot", "rh_foot"]
    assert told.contacts == at_rest.contact_names
    assert not told.forces[~told.is_active].any()


def test_the_solver_at_rest(at_rest: Simulation) -> None:
    told = at_rest.diagnostics
    assert told.residual <= 1e-9
    assert told.is_converged
    assert isinstance(told.sweeps, int)
    assert told.sweeps >= 1
    assert 0 <= told.penetration < 1e-4
    assert "contact lf_foot" in repr(told)
    assert "not converged" not in repr(told)


def test_penetration_is_that_at_the_start_of_the_step() -> None:
    sim = started(Simulation(BALL, ground=0), q=[0, 0, 0.097, 0, 0, 0, 1])
    sim.step()
    assert sim.diagnostics.penetration == pytest.approx(0.003, abs=1e-15)
    sim.step()
    # a share of 0.2 has been taken back, all but the micrometre that is left alone
    assert sim.diagnostics.penetration == pytest.approx(0.003 - 0.2 * (0.003 - 1e-6), abs=1e-9)


def test_a_solver_that_is_stopped_says_so() -> None:
    q = LEG_Q.copy()
    q[2] -= 0.003
    sim = started(Simulation(LEG, ground=0, contact=RigidContact(sweeps=1)), q, LEG_V)
    sim.step()
    told = sim.diagnostics
    assert (told.sweeps, told.is_converged) == (1, False)
    assert told.residual > 1e-9
    assert "(not converged)" in repr(told)


def test_in_the_air_nothing_is_active_and_each_robot_has_an_entry() -> None:
    q = LEG_Q.copy()
    q[2] += 1
    told = ran(Simulation(LEG, ground=0, batch=2), 0.02, [q, LEG_Q], LEG_V)[0].diagnostics
    assert told.is_active.tolist() == [[False], [True]]
    assert told.penetration[0] == 0
    assert told.forces.shape == (2, 1, 3)
    assert told.forces[1, 0, 2] > 0
    for array in (told.residual, told.sweeps, told.is_converged, told.penetration, *told.energy.values()):
        assert array.shape == (2,)
    assert repr(told).startswith("Diagnostics of 2 robots: residual up to")


def test_energy_by_term() -> None:
    """Motion and gravity as `pliant.energy`; springs at joints and between frames."""
    rng = np.random.default_rng(0)
    sim = Simulation(LEG, batch=4)
    q = np.array([LEG.random(rng) for _ in range(4)])
    v = rng.normal(size=(4, LEG.nv))
    sim.reset(q, v)
    told = sim.diagnostics.energy
    expected = pliant.energy(LEG, q, v)
    # sums of some products of size ten
    np.testing.assert_allclose(told["kinetic"], expected.kinetic, rtol=1e-12)
    np.testing.assert_allclose(told["potential"], expected.potential, rtol=0, atol=1e-12)
    knee = 0.5 * 25 * (q[:, LEG.q_slice("knee")][:, 0] - 0.7) ** 2
    length = np.linalg.norm(np.array(pliant.frame_pose(LEG, q, "shank"))[..., :3, 3], axis=-1)
    np.testing.assert_allclose(told["elastic"], knee + 0.5 * 30 * (length - 0.3) ** 2, rtol=1e-12)


def test_energy_knows_the_parameters() -> None:
    sim = Simulation(PENDULUM, batch=2, varying=["bodies.rod.mass"])
    sim.parameters["bodies.rod.mass"] = [1, 3]
    sim.reset(q=[1], v=[2])
    told = sim.diagnostics.energy
    one = pliant.energy(PENDULUM, np.array([1.0]), np.array([2.0]))
    np.testing.assert_allclose(told["kinetic"], np.array([1, 3]) * float(one.kinetic), rtol=1e-13)


def test_single_precision_has_its_own_tolerance() -> None:
    told = ran(Simulation(BALL, ground=0, precision="float32"), 0.1, [0, 0, 0.1, 0, 0, 0, 1])[0].diagnostics
    assert told.is_converged
    assert told.forces[0, 2] == pytest.approx(2 * 9.81, rel=1e-5)
    assert told.forces.dtype == float


def test_compliant_contact_at_rest() -> None:
    sim = Simulation(BALL, ground=0, contact=CompliantContact(SpringDamper(5e4, 500)))
    told = ran(sim, 1.0, [0, 0, 0.1, 0, 0, 0, 1])[0].diagnostics
    np.testing.assert_allclose(told.forces, [[0, 0, 2 * 9.81]], rtol=0, atol=1e-6)
    assert told.penetration == pytest.approx(2 * 9.81 / 5e4, rel=1e-6)


def test_before_the_first_step() -> None:
    told = Simulation(CART_POLE).diagnostics
    assert (told.residual, told.sweeps, told.penetration, told.is_converged) == (0, 0, 0, True)
    assert told.forces.shape == (0, 3)


@pytest.mark.parametrize("batch", [None, 3])
def test_they_are_of_their_moment(batch: int | None) -> None:
    """Computed when they are asked for, from the state and parameters that they were taken of; and pickled."""
    sim = Simulation(LEG, ground=0, batch=batch, varying=["gravity"])
    sim.reset(LEG_Q, LEG_V)
    for _ in range(300):
        sim.step()
    told, asked = sim.diagnostics, sim.diagnostics
    names = [name for name in dir(told) if not name.startswith("_")]
    assert "worst_residual" in names
    before = {name: getattr(asked, name) for name in names}
    sim.parameters["gravity"] = [0, 0, -1.6]
    for _ in range(100):
        sim.step()
    again = pickle.loads(pickle.dumps(told))
    for found in (told, again):
        for name, expected in before.items():
            assert type(getattr(found, name)) is type(expected)
            np.testing.assert_equal(getattr(found, name), expected)
        assert repr(found) == repr(asked)
    assert not np.allclose(sim.diagnostics.energy["potential"], before["energy"]["potential"])


# ---- other integrators, convergence, divergence


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dormand-prince"])
def test_forces_with_other_integrators(integrator: str) -> None:
    sim = Simulation(BALL, ground=0, contact=CompliantContact(), integrator=integrator)
    ran(sim, 1.0, [0, 0, 0.1, 0, 0, 0, 1])
    np.testing.assert_allclose(sim.diagnostics.forces, [[0, 0, 2 * 9.81]], rtol=0, atol=1e-3)


def test_penetration_with_adaptive_steps() -> None:
    """From 1 m high; the landing takes steps that are rejected."""
    sim = Simulation(BALL, ground=0, contact=CompliantContact(), integrator="dormand-prince", dt=0.1)
    sim.reset(q=[0, 0, 1.1, 0, 0, 0, 1])
    depths, tries = [], []
    for _ in range(10):
        sim.step()
        depths.append(sim.diagnostics.penetration)
        tries.append((sim.diagnostics.accepted, sim.diagnostics.rejected))
    assert max(depths) < 0.1
    assert max(depths) > 1e-4, "it landed"
    assert all(accepted > 0 for accepted, _ in tries)
    assert max(rejected for _, rejected in tries) > 1, "the landing takes steps that are rejected"


def test_a_ball_that_lands_sliding_on_compliant_ground() -> None:
    """With the settings as they come: friction is opposed to the sliding, and the sweeps come to an end."""
    sim = Simulation(BALL, ground=0, contact=CompliantContact())
    sim.reset(q=[0, 0, 0.105, 0, 0, 0, 1], v=[0.5, 0.2, -0.5, 0, 0, 0])
    result = sim.rollout(periods=30, channels=("solver", "impulses"))
    first = np.flatnonzero(result["impulses"][:, 2])[0]
    assert (result["impulses"][first, :2] < 0).all()
    assert (result["solver"][:, 1] < 200).all()


def test_what_has_ended_in_time_has_converged() -> None:
    q, v, u = dropped(64, 150)
    sim = started(Simulation(QUADRUPED, ground=pliant.flat(), dt=2e-3, batch=64), q, v)
    for k in range(150):
        sim.step(u[:, k])
    told = sim.diagnostics
    # one whose joints do not agree with its contacts shows by how much, whatever the iterations
    assert (told.is_converged | (told.sweeps >= 200) | (told.residual > 1e-7)).all()
    assert (told.is_converged | (told.sweeps >= 200)).mean() > 0.98


# ---- robots that diverge stop, are reported, and leave the others alone


PERIODS, WHEN, WHO = 60, 25, 2


def moved(u: np.ndarray, chosen: list[int]) -> Simulation:
    v = LEG_V + 0.1 * np.random.default_rng(1).normal(size=(6, LEG.nv))
    sim = started(Simulation(LEG, ground=0, batch=len(chosen)), LEG_Q, v[chosen])
    for row in u:
        sim.step(row[chosen])
    return sim


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e13])
def test_a_control_that_is_no_number_or_too_large_freezes_one_robot(bad: float) -> None:
    u = np.random.default_rng(0).normal(size=(PERIODS, 6, 2))
    sound = moved(u, [0, 1, 2, 3, 4, 5])
    u[WHEN:, WHO, 1] = bad
    cause = "control of motor 'knee' is not finite or too large"
    with pytest.warns(SimulationWarning, match=f"robot 2 at t = 0.025 s: {cause}"):
        sim = moved(u, [0, 1, 2, 3, 4, 5])
    assert sim.divergences == [Divergence(WHO, pytest.approx(0.025), cause)]
    others = [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(sim.state.data[others], sound.state.data[others])
    # it stays where it was before that period, in time and space
    before = moved(u[:WHEN], [WHO])
    np.testing.assert_array_equal(sim.q[WHO], before.q[0])
    np.testing.assert_array_equal(sim.v[WHO], before.v[0])
    assert sim.state.t.tolist() == pytest.approx([0.06, 0.06, 0.025, 0.06, 0.06, 0.06])
    for told in (sim.diagnostics.forces, sim.diagnostics.residual, sim.tau):
        assert np.isfinite(told).all()


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4", "midpoint", "dormand-prince"])
def test_what_a_frozen_robot_tells_is_finite(integrator: str) -> None:
    """Its place in time and space stays, what it was about to do is zero: in steps, runs and rollouts."""
    u = np.zeros((2, 5, 1))
    u[1, 2:] = np.nan
    sim = Simulation(PENDULUM, integrator=integrator, batch=2)
    channels = ("q", "v", "torques", "solver", "impulses", "divergence")
    result = sim.rollout(controls=u, channels=channels)
    assert all(np.isfinite(result[name]).all() for name in channels)
    assert np.isfinite(result.state.data).all()
    with pytest.warns(SimulationWarning):
        for k in range(5):
            sim.step(u[:, k])
    np.testing.assert_array_equal(sim.state.data, result.state.data)
    assert np.isfinite(sim.tau).all()
    assert sim.diagnostics.is_converged.all()


def test_it_is_told_about_once() -> None:
    sim = Simulation(PENDULUM, batch=3)
    with pytest.warns(SimulationWarning) as told:
        for _ in range(5):
            sim.step([[0], [np.nan], [0]])
    assert len(told) == 1
    assert "it is frozen" in str(told[0].message)
    with pytest.warns(SimulationWarning, match=r"robot 0 .*\(and 1 more, see sim.divergences\)"):
        sim.step(np.full((3, 1), np.nan))
    assert [t.robot for t in sim.divergences] == [1, 0, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step(np.full((3, 1), np.nan))


@pytest.mark.parametrize("substeps", [1, 10])
def test_one_good_control_does_not_help(substeps: int) -> None:
    """Frozen is frozen, also when the controls are numbers again, and in substeps after the one that fails."""
    sim = started(Simulation(PENDULUM, substeps=substeps), q=[1])
    with pytest.warns(SimulationWarning, match="robot 0 at t = 0 s: control of motor 'hinge'"):
        sim.step([np.nan])
    for _ in range(3):
        sim.step([1])
    assert (sim.q.tolist(), sim.v.tolist(), sim.t) == ([1], [0], 0)


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4", "midpoint", "dormand-prince"])
def test_an_exploding_robot_is_frozen(integrator: str) -> None:
    """The law of its motor pushes harder the faster it is; its neighbours move as if it was not there."""
    robot = PENDULUM.with_motors(effort_limit=np.inf, law=lambda u, q, v, t: u * v * v * v)
    u = np.array([[0.0], [0.01], [1e3], [0.02], [-0.1]])
    sim = Simulation(robot, integrator=integrator, batch=5)
    with pytest.warns(SimulationWarning, match="robot 2"):
        ran(sim, 0.1, [0.1], [1.0], u=u)
    divergence = sim.divergences[0]
    if integrator == "dormand-prince":
        assert "cannot reach its tolerance" in divergence.what
    else:
        assert divergence.what.startswith("the velocity of 'hinge' is not finite or too large; use a shorter dt")
    others = [0, 1, 3, 4]
    alone, _ = ran(Simulation(robot, integrator=integrator, batch=4), 0.1, [0.1], [1.0], u=u[others])
    np.testing.assert_array_equal(sim.state.data[others], alone.state.data)
    assert np.isfinite(sim.q).all()
    assert np.isfinite(sim.v).all()


def test_a_rollout_freezes_them_too() -> None:
    """Without a warning: the flags are in the result."""
    u = np.zeros((3, 20, 1))
    u[1, 8:] = np.nan
    result = Simulation(PENDULUM).rollout(([1], [0]), u, channels=("q", "divergence", "clock"))
    assert (result["divergence"][..., 0] > 0).sum(axis=1).tolist() == [0, 12, 0]
    assert result["clock"][:, -1, 0].tolist() == [20, 8, 20]
    np.testing.assert_array_equal(result.q[1, 8:], np.tile(result.q[1, 7], (12, 1)))
    np.testing.assert_array_equal(result.q[0], result.q[2])


def test_a_run_tells_too_and_logs_to_the_end() -> None:
    sim = started(Simulation(PENDULUM, batch=2), q=[1])
    with pytest.warns(SimulationWarning, match="robot 1"):
        log = sim.run(0.02, u=[[0], [np.nan]])
    assert len(log) == 21
    np.testing.assert_array_equal(log.q[1], np.ones((21, 1)))
    assert np.isfinite(log["energy.kinetic"]).all()


@pytest.mark.parametrize("again", ["all", "some", "state"])
def test_reset_clears_divergence(again: str) -> None:
    sim = started(Simulation(PENDULUM, batch=3), q=[1])
    good = sim.state
    with pytest.warns(SimulationWarning):
        sim.step([[np.nan], [0], [np.nan]])
    assert [t.robot for t in sim.divergences] == [0, 2]
    if again == "all":
        sim.reset(q=[1])
    elif again == "some":
        sim.reset(q=[1], robots=[0])
        assert [t.robot for t in sim.divergences] == [2]
        sim.reset(q=[1], robots=[False, True, True])
    else:
        sim.state = good
    assert sim.divergences == []
    sim.step()
    assert not (sim.q == 1).any()


def test_a_state_brings_its_divergences() -> None:
    sim = Simulation(PENDULUM, batch=2)
    with pytest.warns(SimulationWarning):
        sim.step([[0], [np.nan]])
    bad = sim.state
    sim.reset()
    sim.state = bad  # the user knows: no warning
    assert [t.robot for t in sim.divergences] == [1]


def test_shown() -> None:
    assert str(Divergence(3, 0.25, "it fell")) == "robot 3 at t = 0.25 s: it fell"
    assert issubclass(pliant.SimulationWarning, UserWarning)


def test_controls_of_a_compiled_controller_are_watched() -> None:
    sim = Simulation(CART_POLE, controller=lambda t, q, v: [1 / q[1]], batch=2)
    with pytest.warns(SimulationWarning, match="control of motor 'slider' is not finite or too large"):
        sim.step()
    assert len(sim.divergences) == 2


def test_every_velocity_and_control_has_a_code_of_its_own() -> None:
    """Also of robots with more than a thousand of them."""
    nv, nu = 2500, 1200
    names, motors = [f"v{k}" for k in range(nv)], {f"m{k}": None for k in range(nu)}
    robot: Any = SimpleNamespace(nv=nv, nu=nu, velocity_names=names, motors=motors)
    model: Any = SimpleNamespace(robot=robot, precision="float64", touch_names=["toe", "heel"])
    for k in (0, 999, 1000, 1999, 2000, nv - 1):
        v = [math.inf if i == k else 0.0 for i in range(nv)]
        assert f"velocity of 'v{k}'" in divergence_text(model, int(divergence_code(model, [0.0] * nu, v, 0)))
    for k in (0, 999, nu - 1):
        u = [math.nan if i == k else 0.0 for i in range(nu)]
        assert f"motor 'm{k}'" in divergence_text(model, int(divergence_code(model, u, [0.0] * nv, 0)))
    assert "adaptive" in divergence_text(model, steps_code(robot))
    sound, lost, steep = (
        Touch(gap, Vector(0, x, 1), Vector.zero()) for gap, x in ((0.1, 0), (math.nan, 0), (0.1, math.inf))
    )
    for bad in (lost, steep):
        for v in ([0.0] * nv, [math.nan] * nv):  # which follows from it
            code = divergence_code(model, [0.0] * nu, v, 0, [sound, bad])
            assert "contact 'heel'" in divergence_text(model, int(code))


def _ends_at_one(x, y):
    return pliant.math.sqrt(1 - x) - 1


SMOOTH = [("semi-implicit", CompliantContact()), ("rk4", CompliantContact()), ("midpoint", CompliantContact()),
          ("dormand-prince", CompliantContact())]  # fmt: skip


@pytest.mark.parametrize(("integrator", "contact"), [("semi-implicit", RigidContact()), *SMOOTH])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_ground_without_a_height_is_told_by_its_contact(integrator: str, contact: Any, precision: str) -> None:
    """The ball at 3 m/s gets there after a third of a second, one that stays behind goes on."""
    sim = Simulation(BALL, ground=_ends_at_one, contact=contact, integrator=integrator, precision=precision, batch=2)
    sim.reset(q=[[0, 0, 0.2, 0, 0, 0, 1], [0, 0, 3, 0, 0, 0, 1]], v=[[3, 0, 0, 0, 0, 0], [0] * 6])
    cause = "robot 0 at t = 0.33.* the ground has no finite height or slope at contact 'ball'; its function must"
    with pytest.warns(SimulationWarning, match=cause):
        sim.run(0.5, channels=())
    assert [divergence.robot for divergence in sim.divergences] == [0]
    assert np.isfinite(sim.q).all()
    # it stops where the ground ends, give or take a step
    assert sim.q[0, 0] == pytest.approx(1, abs=2 * 3e-3)


def test_a_ground_without_a_height_ends_an_event_driven_run() -> None:
    sim = pliant.EventSimulation(BALL, ground=_ends_at_one)
    sim.reset(q=[0, 0, 0.2, 0, 0, 0, 1], v=[3, 0, 0, 0, 0, 0])
    told = "t = 0.3.* the ground has no finite height or slope at contact 'ball'"
    with pytest.raises(pliant.SimulationError, match=told):
        sim.run(0.5)
    with pytest.raises(pliant.SimulationError, match="t = 0 s: the ground has no finite height"):
        sim.reset(q=[2, 0, 0.2, 0, 0, 0, 1])
