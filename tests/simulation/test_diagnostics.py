"""What a simulation tells about itself: solver, contacts, energy."""

import numpy as np
import pytest

import pliant
from pliant import CompliantContact, RigidContact, Simulation, SpringDamper
from simulated_robots import BALL, CART_POLE, LEG, LEG_Q, LEG_V, PENDULUM, QUADRUPED, dropped

STANDING = QUADRUPED.with_motors(control="position", kp=200, kd=5)


def standing(batch: int | None = None) -> Simulation:
    """Four feet on the ground, legs bent a little, held by the motors until nothing moves."""
    sim = Simulation(STANDING, ground=pliant.flat(), batch=batch, dt=2e-3)
    q = STANDING.neutral()
    q[2] = 0.4
    q[7:] = [0, 0.3, -0.6] * 4
    sim.reset(q)
    sim.run(2.0, u=q[7:])
    return sim


@pytest.fixture(scope="module")
def at_rest() -> Simulation:
    return standing()


def test_forces_at_rest_carry_the_weight(at_rest: Simulation) -> None:
    told = at_rest.diagnostics
    mass = sum(float(b.inertia.mass) for b in STANDING.bodies.values())
    # what still moves after two seconds, times the mass of 12 kg
    np.testing.assert_allclose(told.forces.sum(axis=0), [0, 0, 9.81 * mass], rtol=0, atol=1e-3)
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
    sim = Simulation(BALL, ground=0)
    sim.reset(q=[0, 0, 0.097, 0, 0, 0, 1])
    sim.step()
    assert sim.diagnostics.penetration == pytest.approx(0.003, abs=1e-15)
    sim.step()
    # a share of 0.2 has been taken back, all but the micrometre that is left alone
    assert sim.diagnostics.penetration == pytest.approx(0.003 - 0.2 * (0.003 - 1e-6), abs=1e-9)


def test_a_solver_that_is_stopped_says_so() -> None:
    sim = Simulation(LEG, ground=0, contact=RigidContact(sweeps=1))
    q = LEG_Q.copy()
    q[2] -= 0.003
    sim.reset(q, LEG_V)
    sim.step()
    told = sim.diagnostics
    assert (told.sweeps, told.is_converged) == (1, False)
    assert told.residual > 1e-9
    assert "(not converged)" in repr(told)


def test_in_the_air_nothing_is_active() -> None:
    sim = Simulation(LEG, ground=0, batch=2)
    q = LEG_Q.copy()
    q[2] += 1
    sim.reset([q, LEG_Q], LEG_V)
    sim.run(0.02)
    told = sim.diagnostics
    assert told.is_active.tolist() == [[False], [True]]
    assert told.penetration[0] == 0
    assert told.forces.shape == (2, 1, 3)
    assert told.forces[1, 0, 2] > 0


def test_a_batch_has_an_entry_for_each_robot() -> None:
    sim = Simulation(LEG, ground=0, batch=3)
    sim.reset(LEG_Q, LEG_V)
    sim.run(0.02)
    told = sim.diagnostics
    for array in (told.residual, told.sweeps, told.is_converged, told.penetration, *told.energy.values()):
        assert array.shape == (3,)
    assert repr(told).startswith("Diagnostics of 3 robots: residual up to")


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
    sim = Simulation(BALL, ground=0, precision="float32")
    sim.reset(q=[0, 0, 0.1, 0, 0, 0, 1])
    sim.run(0.1)
    told = sim.diagnostics
    assert told.is_converged
    assert told.forces[0, 2] == pytest.approx(2 * 9.81, rel=1e-5)
    assert told.forces.dtype == float


def test_compliant_contact_at_rest() -> None:
    sim = Simulation(BALL, ground=0, contact=CompliantContact(SpringDamper(5e4, 500)))
    sim.reset(q=[0, 0, 0.1, 0, 0, 0, 1])
    sim.run(1.0)
    told = sim.diagnostics
    np.testing.assert_allclose(told.forces, [[0, 0, 2 * 9.81]], rtol=0, atol=1e-6)
    assert told.penetration == pytest.approx(2 * 9.81 / 5e4, rel=1e-6)


def test_a_stumbling_robot_converges_as_a_rule() -> None:
    """The solver is none with a proof: one step in two hundred may need more than its 200 sweeps."""
    q, v, u = dropped(64, 150)
    sim = Simulation(QUADRUPED, ground=pliant.flat(), dt=2e-3)
    result = sim.rollout((q, v), u, channels=("q", "v", "impulses", "stops", "solver"))
    assert (result["solver"][..., 1] >= 200).mean() < 0.005


def test_before_the_first_step() -> None:
    told = Simulation(CART_POLE).diagnostics
    assert (told.residual, told.sweeps, told.penetration, told.is_converged) == (0, 0, 0, True)
    assert told.forces.shape == (0, 3)


# ---- other integrators, convergence, divergence


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dormand-prince"])
def test_forces_with_other_integrators(integrator: str) -> None:
    sim = Simulation(BALL, ground=0, contact=CompliantContact(), integrator=integrator)
    sim.reset(q=[0, 0, 0.1, 0, 0, 0, 1])
    sim.run(1.0)
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
    sim = Simulation(QUADRUPED, ground=pliant.flat(), dt=2e-3, batch=64)
    sim.reset(q, v)
    for k in range(150):
        sim.step(u[:, k])
    told = sim.diagnostics
    assert (told.is_converged | (told.sweeps >= 200)).all()


def test_a_frozen_robot_has_finite_diagnostics() -> None:
    sim = Simulation(LEG, ground=0, batch=2)
    sim.reset(LEG_Q, LEG_V)
    sim.run(0.02)
    with pytest.warns(pliant.SimulationWarning):
        sim.step([[0, 0], [0, np.nan]])
    told = sim.diagnostics
    assert np.isfinite(told.forces).all()
    assert np.isfinite(told.residual).all()
    assert np.isfinite(sim.tau).all()
