"""Quadratic programs: Gauss's principle, contacts that open, friction within a pyramid, impacts that push only."""

import sys

import numpy as np
import pytest

import pliant
from held_robots import CORNERS, box
from pliant.errors import ContactError
from random_robots import robot_of, state_of


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_constrained_motion(seed: int) -> None:
    kinds = ("revolute", "prismatic", "spherical", "revolute")
    robot = robot_of(kinds, [-1, 0, 1, 1], np.random.default_rng(seed), floating=True)
    states = [state_of(robot, 10 * seed + k) for k in range(3)]
    q, v, tau = (np.stack([getattr(s, n) for s in states]) for n in ("q", "v", "tau"))
    contacts = ("frame2", ("frame3", "xz ry"))
    found = pliant.constrained.gauss_acceleration(robot, q, v, tau, contacts=contacts)
    expected = pliant.constrained.constrained_dynamics(robot, q, v, tau, contacts=contacts)
    scale = max(1, abs(expected.vd).max(), abs(expected.f).max())
    np.testing.assert_allclose(found.vd, expected.vd, atol=1e-9 * scale)
    np.testing.assert_allclose(found.f, expected.f, atol=1e-9 * scale)
    away = found.vd - pliant.forward_dynamics(robot, q, v, tau)
    cost = np.einsum("kd,kde,ke->k", away, pliant.mass_matrix(robot, q), away) / 2
    np.testing.assert_allclose(found.constraint, cost, rtol=1e-9)


def test_redundant_contacts() -> None:
    robot = box()
    zero = np.zeros(6)
    found = pliant.constrained.gauss_acceleration(robot, robot.neutral(), zero, zero, contacts=CORNERS)
    np.testing.assert_allclose(found.vd, 0, atol=1e-10)
    np.testing.assert_allclose(found.f.reshape(4, 3), [[0, 0, 2 * 9.81 / 4]] * 4, atol=1e-10)


def test_contacts_that_pull_open() -> None:
    """A box that is pulled up leaves, one that is pushed stays; f_n >= 0, a_n >= 0, and one of them is zero."""
    robot = box()
    q, v = robot.neutral(), np.zeros(6)
    lift, press = np.array([[0, 0, 30.0, 0, 0, 0], [0, 0, -5.0, 0, 0, 0]])
    up = pliant.constrained.gauss_acceleration(robot, q, v, lift, contacts=CORNERS, unilateral=True)
    np.testing.assert_allclose(up.f, 0, atol=1e-10)
    np.testing.assert_allclose(up.vd, pliant.forward_dynamics(robot, q, v, lift), atol=1e-10)
    down = pliant.constrained.gauss_acceleration(robot, q, v, press, contacts=CORNERS, unilateral=True)
    np.testing.assert_allclose(down.vd, 0, atol=1e-10)
    assert down.f.reshape(4, 3)[:, 2].sum() == pytest.approx(2 * 9.81 + 5) and down.f.min() >= -1e-10
    # tipped over two corners
    tip = pliant.constrained.gauss_acceleration(
        robot, q, v, np.array([0, 0, 0, 0, 8.0, 0]), contacts=CORNERS, unilateral=True
    )
    a = (pliant.constrained.contact_jacobian(robot, q, contacts=CORNERS) @ tip.vd).reshape(4, 3)[:, 2]
    f = tip.f.reshape(4, 3)[:, 2]
    assert a.min() > -1e-9 and f.min() > -1e-9
    np.testing.assert_allclose(a * f, 0, atol=1e-9)
    assert a[2:].min() > 0.1 and f[:2].sum() > 10


def test_friction_holds_as_much_as_the_pyramid_allows() -> None:
    """A block pushed sideways sticks below mu m g, along a direction of the pyramid's edges; above it slides."""
    robot = box()
    q, v = robot.neutral(), np.zeros(6)
    weight = 2 * 9.81
    # the push is at the height of the ground, so that it does not tip the box
    for share, sticks in ((0.9, True), (1.1, False)):
        push = 0.5 * share * weight
        tau = np.array([push, 0, 0, 0, -0.1 * push, 0])
        found = pliant.constrained.gauss_acceleration(
            robot, q, v, tau, contacts=CORNERS, unilateral=True, friction=0.5, facets=8
        )
        f = found.f.reshape(4, 3)
        assert bool(abs(found.vd).max() < 1e-9) is sticks
        # within the pyramid
        assert (np.hypot(f[:, 0], f[:, 1]) <= 0.5 * f[:, 2] + 1e-9).all()
        residual = pliant.mass_matrix(robot, q) @ found.vd + pliant.bias_forces(robot, q, v) - tau
        np.testing.assert_allclose(
            pliant.constrained.contact_jacobian(robot, q, contacts=CORNERS).T @ found.f, residual, atol=1e-9
        )


def test_an_impact_that_pushes_only() -> None:
    """A box that falls on an edge: with impulses of any sign it would stick; pushed only, corners that leave, leave."""
    robot = box()
    q = robot.neutral()
    v = np.array([[0, 0, -1.0, 0, 0, 0], [0, 0, -1.0, 0, 9.0, 0], [0, 0, 1.0, 0, 0, 0]])
    found = pliant.constrained.unilateral_impact(robot, q, v, contacts=CORNERS)
    u = np.einsum("rd,kd->kr", pliant.constrained.contact_jacobian(robot, q, contacts=CORNERS), found.v).reshape(
        3, 4, 3
    )[..., 2]
    F = found.impulse.reshape(3, 4, 3)
    assert u.min() > -1e-10 and F[..., 2].min() > -1e-10
    np.testing.assert_allclose(u * F[..., 2], 0, atol=1e-10)
    np.testing.assert_allclose(F[..., :2], 0, atol=1e-12)
    assert found.loss[0] == pytest.approx(1.0) and found.loss[1] > 0 and found.loss[2] == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(found.v[0], 0, atol=1e-12)
    np.testing.assert_array_equal(found.v[2], v[2])
    rough = pliant.constrained.unilateral_impact(robot, q, [1.0, 0, -1.0, 0, 0, 0], contacts=CORNERS, friction=0.3)
    assert 0 < rough.v[0] < 1 and rough.loss > 0


def test_what_cannot_be_solved() -> None:
    robot = box()
    q, zero = robot.neutral(), np.zeros(6)
    spin = np.array([0, 0, 0, 0, 0, 3.0])
    with pytest.raises(ContactError, match="robot 'box': no motion holds all contacts"):
        pliant.constrained.gauss_acceleration(robot, q, spin, zero, contacts=CORNERS)
    with pytest.raises(ContactError, match="contact 'c0' cannot be unilateral with the directions it holds"):
        pliant.constrained.gauss_acceleration(robot, q, zero, zero, contacts=(("c0", "xz"),), unilateral=True)
    with pytest.raises(ContactError, match="friction needs 'xyz'"):
        pliant.constrained.unilateral_impact(robot, q, zero, contacts=(("c0", "z"),), friction=0.5)
    with pytest.raises(ContactError, match="facets of contacts is 2; it takes 3 or more"):
        pliant.constrained.unilateral_impact(robot, q, zero, contacts=CORNERS, friction=0.5, facets=2)


def test_without_the_solver_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "daqp", None)
    robot = box()
    with pytest.raises(pliant.PliantError, match=r"needs daqp: pip install 'pliant\[qp\]'"):
        pliant.constrained.unilateral_impact(robot, robot.neutral(), np.zeros(6), contacts=CORNERS)


@pytest.mark.parametrize("contacts", [("c9",), (), 5, {"c0": "xyz"}])
def test_errors_name_the_function_that_was_called(contacts) -> None:
    robot = box()
    q, zero = robot.neutral(), np.zeros(6)
    with pytest.raises(ContactError, match=r"^gauss_acceleration: .*contact"):
        pliant.constrained.gauss_acceleration(robot, q, zero, zero, contacts=contacts)
    with pytest.raises(ContactError, match=r"^unilateral_impact: .*contact"):
        pliant.constrained.unilateral_impact(robot, q, zero, contacts=contacts)
    with pytest.raises(ContactError, match=r"^unilateral_impact: axes is 'body'"):
        pliant.constrained.unilateral_impact(robot, q, zero, contacts="c0", axes="body")
