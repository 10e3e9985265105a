"""The path to a solution of all laws at once: at its end each of them holds, whatever pushes what away."""

import numpy as np
import pytest

from pliant.contact.coulomb import natural_residual
from pliant.contact.path import GroundGroup, GroundLaw, JointLaw, Laws, Walk, impulses, pieces, rounded, walked
from pliant.spatial import Symmetric3, Vector

DOFS = 8
LEGS = ((2, 3, 4), (5, 6, 7))
"""Joints of two legs; the dofs before them are the base's."""


def support_of(d: int) -> list[int]:
    own = next((leg for leg in LEGS if d in leg), ())
    return [0, 1][: d + 1] if d < 2 else [0, 1, *(e for e in own if e <= d)]


def problem(seed: int) -> Laws:
    """A base with two legs whose joints have motors, limits and dry friction, and which touch the ground."""
    rng = np.random.default_rng(seed)
    L = np.diag(np.exp(rng.uniform(-1, 1, DOFS)))
    for d in range(DOFS):
        for e in support_of(d):
            L[d, e] += rng.normal()
    A = L.T @ L + 0.1 * np.eye(DOFS)
    ease = 1 / np.diag(A)
    joints = []
    for d in range(2, DOFS):
        most = rng.uniform(0, 1)
        joints.append(JointLaw(d, ease[d], "motor", (rng.normal() * 3, rng.uniform(0, 2), -most, most)))
        joints.append(JointLaw(d, ease[d], "limit", (-rng.uniform(0, 1), rng.uniform(0, 1))))
        joints.append(JointLaw(d, ease[d], "friction", (rng.uniform(0, 0.3),)))
    groups = []
    for leg in LEGS:
        J = rng.normal(size=(3, 5))
        g = float(max((J**2) @ ease[[0, 1, *leg]]))
        rows = [dict(zip((0, 1, *leg), map(float, row), strict=True)) for row in J]
        law = GroundLaw(np.eye(3).tolist(), Vector(0, 0, -rng.uniform(0, 0.5)), rng.uniform(0.2, 1.2), g)
        groups.append(GroundGroup(True, rows, [law]))
    support = [support_of(d) for d in range(DOFS)]
    entries = {d: {e: float(A[d, e]) for e in support[d]} for d in range(DOFS)}
    return Laws(entries, (rng.normal(size=DOFS) * 5).tolist(), support, joints, groups)


def solution(laws: Laws) -> Walk:
    walk = Walk.start([0.0] * DOFS, laws.size, 10.0)
    for _ in range(400):
        walk, is_on, worst = walked(laws, walk, "float64")
        if is_on and worst < 1e-10:
            return walk
    raise AssertionError("the path has no end")


@pytest.mark.parametrize("seed", range(20))
def test_all_laws_hold_at_the_end_of_the_path(seed: int) -> None:
    laws = problem(seed)
    walk = solution(laws)
    v, p, _ = laws.parts(walk.base)
    left = np.array(laws.b)
    for d, row in laws.A.items():
        for e, entry in row.items():
            left[d] -= entry * v[e]
            left[e] -= entry * v[d] if e != d else 0
    for law, own in zip(laws.joints, p, strict=True):
        left[law.dof] += own
    for group, own in zip(laws.groups, impulses(laws, walk.base), strict=True):
        for row, x in zip(group.J, own, strict=True):
            for d, entry in row.items():
                left[d] += entry * x
    # momentum, within what cutting back to cones takes off
    np.testing.assert_allclose(left, 0, atol=1e-8)
    for law, own in zip(laws.joints, p, strict=True):
        u = v[law.dof]
        if law.kind == "limit":
            low, high = law.numbers
            assert low - 1e-9 < u < high + 1e-9
            assert own < 1e-8 or abs(u - low) < 1e-9
            assert own > -1e-8 or abs(u - high) < 1e-9
        elif law.kind == "friction":
            assert abs(own) < law.numbers[0] + 1e-8
            assert abs(u) < 1e-8 or abs(own + np.sign(u) * law.numbers[0]) < 1e-8
        else:
            push, gain, lower, upper = law.numbers
            assert own == pytest.approx(min(max(push - gain * u, lower), upper), abs=1e-8)
    for group, own in zip(laws.groups, impulses(laws, walk.base), strict=True):
        (contact,), (u,) = group.contacts, group.velocities(v)
        G = Symmetric3(contact.g, 0, 0, contact.g, 0, contact.g)
        assert natural_residual(u - contact.wanted, Vector(*own), G, contact.mu) < 1e-9


def test_pieces_are_those_of_the_solution() -> None:
    laws = problem(3)
    walk = solution(laws)
    v, p, _ = laws.parts(walk.base)
    for law, own, piece in zip(laws.joints, p, pieces(laws, walk.base), strict=True):
        if law.kind == "limit":
            assert piece == np.sign(round(own, 7))
        elif law.kind == "friction":
            assert piece == np.sign(round(v[law.dof], 7))


@pytest.mark.parametrize("x", [-300.0, -1e-3, 0.0, 0.2, 40.0])
def test_rounded_corner(x: float) -> None:
    """Value against the formula in long double; slope and rate against differences."""
    s, h = 0.05, 1e-4
    exact = (np.longdouble(x) + np.sqrt(np.longdouble(x) ** 2 + 4 * np.longdouble(s) ** 2)) / 2
    found = rounded(x, s)
    assert found.value == pytest.approx(float(exact), rel=1e-9)
    assert found.slope == pytest.approx((rounded(x + h, s).value - rounded(x - h, s).value) / (2 * h), abs=1e-6)
    rate = (rounded(x, s * np.exp(h)).value - rounded(x, s * np.exp(-h)).value) / (2 * h)
    assert found.rate == pytest.approx(rate, rel=1e-5)
