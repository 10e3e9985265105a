"""The laws of contact at an instant: whatever modes are found, forces and rates must obey them."""

import numpy as np
import pytest

from pliant.events.redundant_forces import least_solution
from pliant.events.mode_solver import InconsistentContactError, Problem, solved
from pliant.events.state import OPEN, SLIDE, STICK

SCALE = 1e-9


def problem(rng: np.random.Generator, contacts: int, *, dofs: int, friction: float, sliding: bool = False) -> Problem:
    """Random rows of a random mechanism; with fewer dofs than rows, forces are not unique."""
    J = rng.standard_normal((3 * contacts, dofs))
    c = J @ rng.standard_normal(dofs) + (0 if dofs < 3 * contacts else rng.standard_normal(3 * contacts))
    slides: list[np.ndarray | None] = [None] * contacts
    if sliding:
        angle = rng.uniform(0, 2 * np.pi)
        slides[0] = np.array([np.cos(angle), np.sin(angle)])
    return Problem(J @ J.T, c.reshape(-1, 3), np.full(contacts, friction), slides, SCALE)


def check(given: Problem, found) -> None:
    assert np.allclose((given.W @ found.f.ravel()).reshape(-1, 3) + given.c, found.y, atol=1e-9)
    for mode, d, f, y, mu, slide in zip(
        found.modes, found.directions, found.f, found.y, given.friction, given.slides, strict=True
    ):
        small = 1e-7  # the scale, over the least inertia that comes up
        assert f[0] >= -small
        assert y[0] >= -small
        assert abs(f[0] * y[0]) < small
        assert np.hypot(*f[1:]) <= mu * f[0] + small
        if mode == OPEN:
            assert not f.any()
        if mode == STICK:
            assert abs(y).max() < small
        if mode == SLIDE and mu > 0:
            assert f[1:] == pytest.approx(-mu * f[0] * d, abs=small)
            assert (d if slide is None else slide) == pytest.approx(d)
            if slide is None:
                assert y[1:] == pytest.approx(np.hypot(*y[1:]) * d, abs=small)


@pytest.mark.parametrize("friction", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("contacts", [1, 2, 4])
def test_solutions_obey_the_laws(contacts: int, friction: float) -> None:
    rng = np.random.default_rng(contacts)
    modes = set()
    for _ in range(60):
        given = problem(rng, contacts, dofs=3 * contacts + 2, friction=friction)
        found = solved(given, [STICK if friction else SLIDE] * contacts)
        check(given, found)
        modes |= set(found.modes)
    assert modes == ({OPEN, SLIDE, STICK} if friction else {OPEN, SLIDE})


def test_redundant_contacts_obey_them_too() -> None:
    rng = np.random.default_rng(0)
    told = 0
    for _ in range(60):
        given = problem(rng, 4, dofs=6, friction=0.5)
        try:
            check(given, solved(given, [STICK] * 4))
        except InconsistentContactError:
            told += 1
    # twelve random rows of six dofs are harder than any robot's; sweeps do not end for one in a hundred
    assert told <= 2


def test_what_slides_already_keeps_its_direction_or_is_told_to_jam() -> None:
    rng = np.random.default_rng(1)
    jams = 0
    for _ in range(60):
        given = problem(rng, 2, dofs=8, friction=0.3, sliding=True)
        try:
            check(given, solved(given, [SLIDE, STICK]))
        except InconsistentContactError:
            jams += 1
    assert jams < 10


def test_a_contact_that_no_force_can_hold_slides() -> None:
    """Two ends of a straight chain that folds: rows along the chain are the same, but their rates are not."""
    J = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    c = np.array([[-10.0, 1, 0], [-10, -1, 0]])
    found = solved(Problem(J @ J.T, c, np.full(2, 0.5), [None, None], SCALE), [STICK, STICK])
    assert SLIDE in found.modes
    assert found.f[:, 0] == pytest.approx([10, 10])


def test_least_solution() -> None:
    rng = np.random.default_rng(2)
    A = rng.standard_normal((4, 4))
    x = rng.standard_normal(4)
    assert least_solution(A @ A.T, A @ A.T @ x) == pytest.approx(x, rel=1e-6)
    # the table with four legs: each carries a quarter
    J = np.array([[1, s, t] for s in (-1, 1) for t in (-1, 1)], dtype=float)
    assert least_solution(J @ J.T, J @ [4, 0, 0]) == pytest.approx([1] * 4)
    # what cannot move gets nothing, however small rounding makes the rest
    assert least_solution(np.diag([2.0, 0.0]), np.array([1.0, 0.0])).tolist() == [0.5, 0]
    assert np.isnan(least_solution(np.array([[np.nan]]), np.ones(1))).all()


def test_an_impact_in_which_one_contact_hardly_slips_has_a_solution() -> None:
    # neither mending nor sweeping ends here; SLIDE, SLIDE fits
    lower = [
        [1.3238919772257676],
        [-0.07754268394468823, 1.779937260427723],
        [-0.9695353434585614, -0.5383004436057759, 1.6972342342476598],
        [-0.1879800398462522, 0.6958562944111301, 0.24739194782489554, 1.5231176120541445],
        [-0.18408264966155632, 0.7892349977597317, 0.07448828960925022, 0.9218306810130384, 1.411068590562938],
        [-0.5210162982472606, 0.5245845744517472, 0.7786093246893119, -0.01524402294471288, -0.6232125497036574,
         1.8668772692840685],
    ]  # fmt: skip
    W = np.array([[lower[max(i, j)][min(i, j)] for j in range(6)] for i in range(6)])
    c = np.array([[-4.196745394083714e-05, 2.272867903104457e-04, -1.2244719820798597e-04],
                  [0, -1.645643938419429e-02, 1.779876018555889e-02]])  # fmt: skip
    given = Problem(W, c, np.full(2, 1.5), [None, None], 1e-11)
    found = solved(given, [STICK, STICK])
    assert found.modes == (SLIDE, SLIDE)
    check(given, found)
