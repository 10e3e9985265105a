"""Impacts: what stops, what energy is lost, Pinocchio's impulses, and closed forms."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings

import pliant
from held_robots import CORNERS, Case, box, cases, pin_constraints
from random_robots import close, pinocchio_model, robot_of, state_of


def kinetic(case: Case, v: np.ndarray) -> float:
    return float(v @ case.M @ v / 2)


@given(case=cases(most=4))
@settings(max_examples=60)
def test_an_impact_stops_the_contacts(case: Case) -> None:
    v = case.state.v
    found = case.run(pliant.constrained.impact_dynamics, "q", "v")
    scale = max(1, abs(case.J @ v).max())
    np.testing.assert_allclose(case.J @ found.v, 0, atol=1e-8 * scale)
    close(case.M @ (found.v - v), case.J.T @ found.impulse, 1e-8)
    close(case.run(pliant.constrained.impact_map, "q") @ v, found.v, 1e-8)
    # the energy lost, as the loss of motion, and as the motion lost
    before = kinetic(case, v)
    assert found.loss == pytest.approx(before - kinetic(case, found.v), abs=1e-9 * max(1, before))
    assert found.loss == pytest.approx(kinetic(case, found.v - v), abs=1e-9 * max(1, before))
    assert found.rank == case.rank


@given(case=cases(full=True))
@settings(max_examples=40)
def test_impulse_and_loss_are_what_the_contact_inertia_says(case: Case) -> None:
    u = case.J @ case.state.v
    Lambda = case.run(pliant.constrained.contact_inertia, "q")
    close(case.run(pliant.constrained.impact_impulse, "q", "v"), -Lambda @ u, 1e-9)
    found = case.run(pliant.constrained.impact_dynamics, "q", "v", restitution=0.6)
    close(found.impulse, -1.6 * Lambda @ u, 1e-9)
    close(case.J @ found.v, -0.6 * u, 1e-9)
    close(found.loss, (1 - 0.36) / 2 * u @ Lambda @ u, 1e-9)
    close(kinetic(case, case.state.v) - kinetic(case, found.v), found.loss, 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_as_in_pinocchio(seed: int) -> None:
    kinds = ("revolute", "prismatic", "spherical", "revolute", "helical", "continuous")
    robot = robot_of(kinds, [-1, 0, 1, 1, 3, 4], np.random.default_rng(seed), floating=True)
    state = state_of(robot, seed)
    model = pinocchio_model(robot)
    data = model.createData()
    contacts = ("frame2", "frame5")
    models, datas = pin_constraints(model, contacts, pin.LOCAL_WORLD_ALIGNED)
    pin.initConstraintDynamics(model, data, models, datas)
    for restitution in (0, 0.4):
        expected = pin.impulseDynamics(model, data, state.q, state.v, models, datas, restitution).copy()
        found = pliant.constrained.impact_dynamics.algorithm(
            robot, *state.lists[:2], contacts=contacts, restitution=restitution
        )
        close(found.v, expected, 1e-8)


def test_a_rod_that_falls_on_its_end() -> None:
    """A uniform rod of mass m that falls flat with speed s onto one end: F = m s / 4, and it turns with 3 s / (2 l)."""
    builder = pliant.RobotBuilder("rod")
    mass, length, speed = 2.0, 0.6, 1.5
    across = mass * length**2 / 12
    builder.body("rod", mass, (0, 0, 0), (1e-3, 0, 0, across, 0, across))
    robot = builder.frame("end", "rod", (length / 2, 0, 0)).build(base="free")
    v = np.array([0, 0, -speed, 0, 0, 0])
    found = pliant.constrained.impact_dynamics(robot, robot.neutral(), v, contacts=(("end", "z"),))
    np.testing.assert_allclose(found.impulse, [mass * speed / 4], rtol=1e-12)
    # the end at +x is held back: turning about -y
    np.testing.assert_allclose(found.v, [0, 0, -0.75 * speed, 0, -1.5 * speed / length, 0], atol=1e-12)
    assert found.loss == pytest.approx(mass * speed**2 / 8, rel=1e-12)


@pytest.mark.parametrize("tolerance", [1e-10, None])
def test_derivatives(tolerance: float | None) -> None:
    """By v it is the map; by q, differences say the same."""
    robot = box()
    q, v = robot.random(2), np.random.default_rng(2).standard_normal(6)
    options = {"contacts": ("c0", ("c1", "z")), "tolerance": tolerance}
    by_q, by_v = pliant.jacobian(pliant.constrained.impact_velocity, robot, wrt=("q", "v"), **options)(q, v)
    np.testing.assert_allclose(by_v, pliant.constrained.impact_map(robot, q, **options), atol=1e-12)
    h = 1e-5
    sides = [
        pliant.constrained.impact_velocity(robot, robot.integrate(q, s * h * np.eye(6)), v, **options) for s in (1, -1)
    ]
    # rounding 1e-16 / h, and third derivatives times h^2
    np.testing.assert_allclose(by_q, (sides[0] - sides[1]).T / (2 * h), atol=1e-7)


def test_a_box_that_falls_flat_stops() -> None:
    robot = box()
    v = np.array([[0, 0, -1.0, 0, 0, 0], [0.5, 0, -2.0, 0, 0, 1.0]])
    found = pliant.constrained.impact_dynamics(robot, robot.neutral(), v, contacts=CORNERS)
    np.testing.assert_allclose(found.v, 0, atol=1e-12)
    np.testing.assert_array_equal(found.rank, 6)
    np.testing.assert_allclose(found.impulse[0].reshape(4, 3), [[0, 0, 0.5]] * 4, atol=1e-12)
    np.testing.assert_allclose(pliant.constrained.impact_velocity(robot, robot.neutral(), v, contacts=CORNERS), found.v)
    np.testing.assert_allclose(
        pliant.constrained.impact_impulse(robot, robot.neutral(), v, contacts=CORNERS), found.impulse
    )
