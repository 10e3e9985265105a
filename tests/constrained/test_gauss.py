"""Quadratic programs and impacts."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings

import pliant
from held_robots import CORNERS, Case, box, cases
from pliant.constrained import (
    constrained_dynamics, contact_inertia, contact_jacobian, gauss_acceleration, impact_dynamics, impact_impulse,
    impact_map, impact_velocity, unilateral_impact,
)  # fmt: skip
from pliant.errors import ContactError
from random_robots import close, robot_of, state_of

BOX = box()
HOME, REST = BOX.neutral(), np.zeros(6)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_constrained_motion(seed: int) -> None:
    kinds = ("revolute", "prismatic", "spherical", "revolute")
    robot = robot_of(kinds, [-1, 0, 1, 1], np.random.default_rng(seed), floating=True)
    states = [state_of(robot, 10 * seed + k) for k in range(3)]
    q, v, tau = (np.stack([getattr(s, n) for s in states]) for n in ("q", "v", "tau"))
    contacts = ("frame2", ("frame3", "xz ry"))
    found = gauss_acceleration(robot, q, v, tau, contacts=contacts)
    expected = constrained_dynamics(robot, q, v, tau, contacts=contacts)
    scale = max(1, abs(expected.vd).max(), abs(expected.f).max())
    np.testing.assert_allclose(found.vd, expected.vd, atol=1e-9 * scale)
    np.testing.assert_allclose(found.f, expected.f, atol=1e-9 * scale)
    away = found.vd - pliant.forward_dynamics(robot, q, v, tau)
    cost = np.einsum("kd,kde,ke->k", away, pliant.mass_matrix(robot, q), away) / 2
    np.testing.assert_allclose(found.constraint, cost, rtol=1e-9)


def test_redundant_contacts() -> None:
    found = gauss_acceleration(BOX, HOME, REST, REST, contacts=CORNERS)
    np.testing.assert_allclose(found.vd, 0, atol=1e-10)
    np.testing.assert_allclose(found.f.reshape(4, 3), [[0, 0, 2 * 9.81 / 4]] * 4, atol=1e-10)


def test_contacts_that_pull_open() -> None:
    """A box that is pulled up leaves, one that is pushed stays; f_n >= 0, a_n >= 0, and one of them is zero."""
    lift, press = np.array([[0, 0, 30.0, 0, 0, 0], [0, 0, -5.0, 0, 0, 0]])
    up = gauss_acceleration(BOX, HOME, REST, lift, contacts=CORNERS, unilateral=True)
    np.testing.assert_allclose(up.f, 0, atol=1e-10)
    np.testing.assert_allclose(up.vd, pliant.forward_dynamics(BOX, HOME, REST, lift), atol=1e-10)
    down = gauss_acceleration(BOX, HOME, REST, press, contacts=CORNERS, unilateral=True)
    np.testing.assert_allclose(down.vd, 0, atol=1e-10)
    assert down.f.reshape(4, 3)[:, 2].sum() == pytest.approx(2 * 9.81 + 5) and down.f.min() >= -1e-10
    # tipped over two corners
    tip = gauss_acceleration(BOX, HOME, REST, np.array([0, 0, 0, 0, 8.0, 0]), contacts=CORNERS, unilateral=True)
    a = (contact_jacobian(BOX, HOME, contacts=CORNERS) @ tip.vd).reshape(4, 3)[:, 2]
    f = tip.f.reshape(4, 3)[:, 2]
    assert a.min() > -1e-9 and f.min() > -1e-9
    np.testing.assert_allclose(a * f, 0, atol=1e-9)
    assert a[2:].min() > 0.1 and f[:2].sum() > 10


def test_friction_holds_as_much_as_the_pyramid_allows() -> None:
    """A block pushed sideways sticks below mu m g, along a direction of the pyramid's edges; above it slides."""
    weight = 2 * 9.81
    # the push is at the height of the ground, so that it does not tip the box
    for share, sticks in ((0.9, True), (1.1, False)):
        push = 0.5 * share * weight
        tau = np.array([push, 0, 0, 0, -0.1 * push, 0])
        found = gauss_acceleration(BOX, HOME, REST, tau, contacts=CORNERS, unilateral=True, friction=0.5, facets=8)
        f = found.f.reshape(4, 3)
        assert bool(abs(found.vd).max() < 1e-9) is sticks
        # within the pyramid
        assert (np.hypot(f[:, 0], f[:, 1]) <= 0.5 * f[:, 2] + 1e-9).all()
        residual = pliant.mass_matrix(BOX, HOME) @ found.vd + pliant.bias_forces(BOX, HOME, REST) - tau
        np.testing.assert_allclose(contact_jacobian(BOX, HOME, contacts=CORNERS).T @ found.f, residual, atol=1e-9)


def test_an_impact_that_pushes_only() -> None:
    """A box that falls on an edge: with impulses of any sign it would stick; pushed only, corners that leave, leave."""
    v = np.array([[0, 0, -1.0, 0, 0, 0], [0, 0, -1.0, 0, 9.0, 0], [0, 0, 1.0, 0, 0, 0]])
    found = unilateral_impact(BOX, HOME, v, contacts=CORNERS)
    u = np.einsum("rd,kd->kr", contact_jacobian(BOX, HOME, contacts=CORNERS), found.v).reshape(3, 4, 3)[..., 2]
    F = found.impulse.reshape(3, 4, 3)
    assert u.min() > -1e-10 and F[..., 2].min() > -1e-10
    np.testing.assert_allclose(u * F[..., 2], 0, atol=1e-10)
    np.testing.assert_allclose(F[..., :2], 0, atol=1e-12)
    assert found.loss[0] == pytest.approx(1.0) and found.loss[1] > 0 and found.loss[2] == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(found.v[0], 0, atol=1e-12)
    np.testing.assert_array_equal(found.v[2], v[2])
    rough = unilateral_impact(BOX, HOME, [1.0, 0, -1.0, 0, 0, 0], contacts=CORNERS, friction=0.3)
    assert 0 < rough.v[0] < 1 and rough.loss > 0


@pytest.mark.parametrize("call, message", [
    (lambda: gauss_acceleration(BOX, HOME, np.array([0, 0, 0, 0, 0, 3.0]), REST, contacts=CORNERS),
     "robot 'box': no motion holds all contacts"),
    (lambda: gauss_acceleration(BOX, HOME, REST, REST, contacts=(("c0", "xz"),), unilateral=True),
     "contact 'c0' cannot be unilateral with the directions it holds"),
    (lambda: unilateral_impact(BOX, HOME, REST, contacts=(("c0", "z"),), friction=0.5), "friction needs 'xyz'"),
    (lambda: unilateral_impact(BOX, HOME, REST, contacts=CORNERS, friction=0.5, facets=2),
     "facets of contacts is 2; it takes 3 or more"),
    (lambda: unilateral_impact(BOX, HOME, REST, contacts="c0", axes="body"), r"^unilateral_impact: axes is 'body'"),
])  # fmt: skip
def test_what_cannot_be_solved(call, message: str) -> None:
    with pytest.raises(ContactError, match=message):
        call()


def test_without_the_solver_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "daqp", None)
    with pytest.raises(pliant.PliantError, match=r"needs daqp: pip install 'pliant\[qp\]'"):
        unilateral_impact(BOX, HOME, REST, contacts=CORNERS)


@pytest.mark.parametrize("contacts", [("c9",), (), 5, {"c0": "xyz"}])
def test_errors_name_the_function_that_was_called(contacts) -> None:
    with pytest.raises(ContactError, match=r"^gauss_acceleration: .*contact"):
        gauss_acceleration(BOX, HOME, REST, REST, contacts=contacts)
    with pytest.raises(ContactError, match=r"^unilateral_impact: .*contact"):
        unilateral_impact(BOX, HOME, REST, contacts=contacts)


# ---- impacts: what stops, what energy is lost, and closed forms; Pinocchio's are in test_constrained_dynamics


def kinetic(case: Case, v: np.ndarray) -> float:
    return float(v @ case.M @ v / 2)


@given(case=cases(most=4))
@settings(max_examples=60)
def test_an_impact_stops_the_contacts(case: Case) -> None:
    v = case.state.v
    found = case.run(impact_dynamics, "q", "v")
    scale = max(1, abs(case.J @ v).max())
    np.testing.assert_allclose(case.J @ found.v, 0, atol=1e-8 * scale)
    close(case.M @ (found.v - v), case.J.T @ found.impulse, 1e-8)
    close(case.run(impact_map, "q") @ v, found.v, 1e-8)
    # the energy lost, as the loss of motion, and as the motion lost
    before = kinetic(case, v)
    assert found.loss == pytest.approx(before - kinetic(case, found.v), abs=1e-9 * max(1, before))
    assert found.loss == pytest.approx(kinetic(case, found.v - v), abs=1e-9 * max(1, before))
    assert found.rank == case.rank


@given(case=cases(full=True))
@settings(max_examples=40)
def test_impulse_and_loss_are_what_the_contact_inertia_says(case: Case) -> None:
    u = case.J @ case.state.v
    Lambda = case.run(contact_inertia, "q")
    close(case.run(impact_impulse, "q", "v"), -Lambda @ u, 1e-9)
    found = case.run(impact_dynamics, "q", "v", restitution=0.6)
    close(found.impulse, -1.6 * Lambda @ u, 1e-9)
    close(case.J @ found.v, -0.6 * u, 1e-9)
    close(found.loss, (1 - 0.36) / 2 * u @ Lambda @ u, 1e-9)
    close(kinetic(case, case.state.v) - kinetic(case, found.v), found.loss, 1e-9)


def test_a_rod_that_falls_on_its_end() -> None:
    """A uniform rod of mass m that falls flat with speed s onto one end: F = m s / 4, and it turns with 3 s / (2 l)."""
    builder = pliant.RobotBuilder("rod")
    mass, length, speed = 2.0, 0.6, 1.5
    across = mass * length**2 / 12
    builder.body("rod", mass, (0, 0, 0), (1e-3, 0, 0, across, 0, across))
    robot = builder.frame("end", "rod", (length / 2, 0, 0)).build(base="free")
    v = np.array([0, 0, -speed, 0, 0, 0])
    found = impact_dynamics(robot, robot.neutral(), v, contacts=(("end", "z"),))
    np.testing.assert_allclose(found.impulse, [mass * speed / 4], rtol=1e-12)
    # the end at +x is held back: turning about -y
    np.testing.assert_allclose(found.v, [0, 0, -0.75 * speed, 0, -1.5 * speed / length, 0], atol=1e-12)
    assert found.loss == pytest.approx(mass * speed**2 / 8, rel=1e-12)


@pytest.mark.parametrize("tolerance", [1e-10, None])
def test_derivatives(tolerance: float | None) -> None:
    """By v it is the map; by q, differences say the same."""
    q, v = BOX.random(2), np.random.default_rng(2).standard_normal(6)
    options = {"contacts": ("c0", ("c1", "z")), "tolerance": tolerance}
    by_q, by_v = pliant.jacobian(impact_velocity, BOX, wrt=("q", "v"), **options)(q, v)
    np.testing.assert_allclose(by_v, impact_map(BOX, q, **options), atol=1e-12)
    h = 1e-5
    sides = [impact_velocity(BOX, BOX.integrate(q, s * h * np.eye(6)), v, **options) for s in (1, -1)]
    # rounding 1e-16 / h, and third derivatives times h^2
    np.testing.assert_allclose(by_q, (sides[0] - sides[1]).T / (2 * h), atol=1e-7)


def test_a_box_that_falls_flat_stops() -> None:
    v = np.array([[0, 0, -1.0, 0, 0, 0], [0.5, 0, -2.0, 0, 0, 1.0]])
    found = impact_dynamics(BOX, HOME, v, contacts=CORNERS)
    np.testing.assert_allclose(found.v, 0, atol=1e-12)
    np.testing.assert_array_equal(found.rank, 6)
    np.testing.assert_allclose(found.impulse[0].reshape(4, 3), [[0, 0, 0.5]] * 4, atol=1e-12)
    np.testing.assert_allclose(impact_velocity(BOX, HOME, v, contacts=CORNERS), found.v)
    np.testing.assert_allclose(impact_impulse(BOX, HOME, v, contacts=CORNERS), found.impulse)
