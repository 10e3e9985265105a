"""Newton's method on the contacts of a body at once: Coulomb's law holds at each of them, from any start."""

from typing import Any

import numpy as np
import pytest

from pliant.contact.coulomb import natural_residual
from pliant.contact.newton import basis_of, newton_step, solved
from pliant.spatial import Symmetric3, Vector

Problem = tuple[np.ndarray, list[dict[str, Any]], np.ndarray]

SOLE = ((0.12, 0.03), (0.12, -0.03), (-0.05, -0.03), (-0.05, 0.03))


def cross(r: np.ndarray) -> np.ndarray:
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def basis(contact: dict[str, Any]) -> np.ndarray:
    return np.hstack([np.eye(3), -cross(np.array(contact["r"]))])


def problem(K: np.ndarray, places: Any, mu: float, V: np.ndarray, targets: np.ndarray) -> Problem:
    contacts = []
    for (x, y), target in zip(places, targets, strict=True):
        contact: dict[str, Any] = {"r": [x, y, 0.0], "axes": np.eye(3).tolist(), "slip": [0, 0], "mu": mu}
        G = basis(contact) @ K @ basis(contact).T
        contacts.append({**contact, "target": target, "G": G[np.triu_indices(3)].tolist()})
    return K, contacts, V


def body(rng: np.random.Generator) -> Problem:
    """A free body with two to eight points of a face on the ground, thrown."""
    m, c = np.exp(rng.uniform(-1, 2)), rng.normal(size=3) * [0.05, 0.05, 0] + [0, 0, 0.1]
    inverse = np.diag([1 / m] * 3 + (1 / (rng.uniform(0.005, 0.05, 3) * m)).tolist())
    J = np.block([[np.eye(3), cross(c)], [np.zeros((3, 3)), np.eye(3)]])
    V = np.concatenate([rng.normal(size=3) * [1, 1, 0.3] - [0, 0, 0.5], rng.normal(size=3) * 2])
    places = rng.uniform(-0.1, 0.1, (rng.integers(2, 9), 2))
    return problem(J @ inverse @ J.T, places, rng.uniform(0.1, 1.2), V, np.zeros(len(places)))


def sole(rng: np.random.Generator) -> Problem:
    """A sole on a leg that moves easily in some directions and hardly in others, corners at some height."""
    Q, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    S = np.diag([1, 1, 1, 8, 8, 8])
    K = 0.3 * S @ (Q * 10 ** rng.uniform(-2, 1.5, 6)) @ Q.T @ S
    V = np.concatenate([rng.normal(size=3) * 0.5 - [0, 0, 0.3], rng.normal(size=3) * 3])
    return problem(K, SOLE, 0.7, V, -np.maximum(rng.normal(size=4) * 0.2, 0))


def run(given: Problem, tolerance: float, most: int = 100) -> tuple[int, np.ndarray, list[Vector]]:
    """Steps that it takes from no impulse at all, the velocities and the impulses."""
    K, contacts, V = given
    p, rounding, V = [Vector(0.0, 0.0, 0.0) for _ in contacts], 0.0, V.copy()
    for k in range(most):
        step = newton_step(
            contacts, [basis_of(c) for c in contacts], K.tolist(), V.tolist(), p, rounding, tolerance, "float64"
        )
        if step.residual <= tolerance:
            return k, V, p
        rounding = step.rounding
        for contact, old, new in zip(contacts, p, step.impulses, strict=True):
            V = V + K @ basis(contact).T @ np.array(list(new - old), dtype=float)
        p = step.impulses
    return most, V, p


@pytest.mark.parametrize("make", [body, sole])
def test_coulombs_law_at_every_contact(make: Any) -> None:
    """By the residual of `pliant.contact.coulomb`; the worst of them takes some twenty steps."""
    rng, counts = np.random.default_rng(11), []
    for _ in range(200):
        given = make(rng)
        steps, V, impulses = run(given, 1e-10)
        counts.append(steps)
        for contact, p in zip(given[1], impulses, strict=True):
            u = basis(contact) @ V - [0, 0, contact["target"]]
            residual = natural_residual(Vector(*u.tolist()), p, Symmetric3(*contact["G"]), contact["mu"])
            # largest entries of the residual of all contacts, and of one; they are scaled alike
            assert residual <= 2e-10
            assert p.z >= 0
            assert np.hypot(p.x, p.y) <= contact["mu"] * p.z * (1 + 1e-12)
    assert max(counts) < 60
    assert np.mean(counts) < 15


def test_redundant_contacts_keep_their_shares() -> None:
    """A box at rest on four corners: any shares with the right sum are a solution, and stay as they are."""
    K, contacts, V = problem(np.eye(6), SOLE, 0.5, np.zeros(6), np.zeros(4))
    p = [Vector(0.0, 0.0, z) for z in (0.5, 0.1, 0.3, 0.4)]
    step = newton_step(contacts, [basis_of(c) for c in contacts], K.tolist(), V.tolist(), p, 0.0, 1e-9, "float64")
    assert step.residual == 0
    for old, new in zip(p, step.impulses, strict=True):
        np.testing.assert_allclose([float(x) for x in new], [float(x) for x in old], atol=1e-12)


def test_what_cannot_move_is_left_alone() -> None:
    """A body on a hinge, whose contacts do not move along some directions: K has rank one."""
    direction = np.array([0.3, 0.0, -1.0, 0.0, 2.0, 0.0])
    given = problem(np.outer(direction, direction), SOLE, 0.6, direction * 0.5, np.zeros(4))
    steps, V, impulses = run(given, 1e-10)
    assert steps < 60
    assert all(np.isfinite(float(x)) for p in impulses for x in p)
    for contact in given[1]:
        assert (basis(contact) @ V)[2] > -1e-9


@pytest.mark.parametrize("rounding", [0.0, 1e-9, 1e-3, 1.0])
def test_contacts_that_are_far_off_get_no_impulse_at_all(rounding: float) -> None:
    """Not the smallest, or they would land: what a rounded law leaves at them goes with the last step."""
    for seed in range(20):
        K, near, V = sole(np.random.default_rng(seed))
        _, far, _ = problem(K, SOLE, 0.7, V, np.full(4, -1e4))
        for contact in near:
            contact["target"] = 0.0
        given = (K, [*near, *far], V)
        p, bases = [Vector(0.0, 0.0, 0.1)] * 8, [basis_of(c) for c in given[1]]
        V = V + K @ sum(basis(c).T @ [0, 0, 0.1] for c in given[1])
        radius, residual = rounding, 1.0
        for _ in range(60):
            step = newton_step(given[1], bases, K.tolist(), V.tolist(), p, radius, 1e-9, "float64")
            V = V + K @ sum(
                basis(c).T @ np.array(list(new - old), float)
                for c, old, new in zip(given[1], p, step.impulses, strict=True)
            )
            p, radius, residual = step.impulses, step.rounding, step.residual
            if residual <= 1e-9:
                break
        assert residual <= 1e-9
        assert all(float(x) == 0 for one in p[4:] for x in one)


def test_linear_systems() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        A, b = rng.normal(size=(6, 6)) * 10 ** rng.uniform(-3, 3, (1, 6)), rng.normal(size=6)
        x = np.array(solved(A.tolist(), b.tolist()))
        np.testing.assert_allclose(A @ x, b, atol=1e-11 * np.linalg.cond(A))
