"""The mode solver by itself: cases with known answers, and random problems against brute force."""

import itertools

import numpy as np
import pytest

from pliant.events.mode_solver import InconsistentContactError, Problem, solved
from pliant.events.redundant_forces import least_solution
from pliant.events.state import OPEN, SLIDE, STICK

SCALE = 1e-9


# ---- known answers


def bodies(rows: list[list[float]], push: list[float], friction: float = 0.5, **options) -> Problem:
    """Contacts with these rows (normal and tangents of each) on dofs of mass 1 that are pushed."""
    J = np.array(rows, dtype=float)
    slides = options.pop("slides", [None] * (len(J) // 3))
    return Problem(J @ J.T, (J @ push).reshape(-1, 3), np.full(len(J) // 3, friction), slides, SCALE, **options)


POINT = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
"""A point mass on a plane: z, x and y."""


@pytest.mark.parametrize("guess", [OPEN, STICK, SLIDE])
@pytest.mark.parametrize("push, mode, force", [
    ([0, 0, -10], STICK, [10, 0, 0]),
    ([3, 0, -10], STICK, [10, -3, 0]),
    ([0, -4.99, -10], STICK, [10, 0, 4.99]),
    ([6, 0, -10], SLIDE, [10, -5, 0]),
    ([3, 4.5, -10], SLIDE, [10, -5 * 3 / 29.25**0.5, -5 * 4.5 / 29.25**0.5]),
    ([0, 0, 0.1], OPEN, [0, 0, 0]),
    ([100, 0, 0.1], OPEN, [0, 0, 0]),
])  # fmt: skip
def test_a_point_pressed_on_a_plane(push: list[float], mode: int, force: list[float], guess: int) -> None:
    given = bodies(POINT, push)
    found = solved(given, [guess])
    assert found.modes == (mode,)
    assert found.f[0] == pytest.approx(force, abs=1e-8)
    assert found.y[0] == pytest.approx(np.array(force) + given.c[0], abs=1e-8)


def test_a_point_that_slides_already_is_braked_along_its_slide() -> None:
    d = np.array([0.6, 0.8])
    found = solved(bodies(POINT, [9, 0, -10], slides=[d]), [SLIDE])
    assert (found.modes, found.f[0].tolist()) == ((SLIDE,), pytest.approx([10, -3, -4]))
    assert solved(bodies(POINT, [9, 0, 1], slides=[d]), [SLIDE]).modes == (OPEN,)


def feet(n: int) -> list[list[float]]:
    """Feet on a circle below a level body of unit inertia: rows on its six velocities."""
    axes = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], dtype=float)
    points = [(np.cos(a), np.sin(a), 0) for a in 2 * np.pi * np.arange(n) / n]
    return [np.r_[e, np.cross(p, e)].tolist() for p in points for e in axes]


@pytest.mark.parametrize("n", [3, 4, 8])
def test_feet_of_a_table_share_its_weight(n: int) -> None:
    standing = solved(bodies(feet(n), [0, 0, -10, 0, 0, 0]), [STICK] * n)
    assert standing.modes == (STICK,) * n
    assert standing.f == pytest.approx(np.tile([10 / n, 0, 0], (n, 1)), abs=1e-9)
    # pushed beyond friction all of them slide, with mu of the weight in all; some may carry nothing
    pushed = solved(bodies(feet(n), [6, 0, -10, 0, 0, 0]), [STICK] * n)
    assert SLIDE in pushed.modes and STICK not in pushed.modes
    assert pushed.y == pytest.approx(np.tile([0, 1, 0], (n, 1)), abs=1e-8)
    assert pushed.f.sum(axis=0) == pytest.approx([10, -5, 0], abs=1e-6)
    # lifted, none holds
    assert set(solved(bodies(feet(n), [0, 0, 1, 0, 0, 0]), [STICK] * n).modes) == {OPEN}


def test_of_two_contacts_one_must_open() -> None:
    """A bar on two ends that is pushed down at one of them: it turns about that, and the other end rises."""
    # z and the angle with unit inertias, ends at -1 and 1; tangents do not move
    rows = [[1, -1], [0, 0], [0, 0], [1, 1], [0, 0], [0, 0]]
    found = solved(bodies(rows, [-1, 3], friction=0.0), [SLIDE, SLIDE])
    assert found.modes == (SLIDE, OPEN)
    assert found.f[:, 0] == pytest.approx([2, 0])
    assert found.y[:, 0] == pytest.approx([0, 2 - 3 + 3])


def rod(angle: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Painleve's rod [1895]: W and c of the lower end of a thin rod of unit mass and half length, which slides.

    With the moment of inertia 1/3: y_n = f_n (1 + 3 cos^2 - 3 mu sin cos) - g where it slides along -x, under itself.
    """
    # the centre is at (cos, sin) from the end; velocities x, z, turn
    s, c = np.sin(angle), np.cos(angle)
    J = np.array([[0, 1, -c], [1, 0, s], [0, 0, 0]])
    return J @ np.diag([1, 1, 3]) @ J.T, np.array([-9.81, 0, 0])


def test_painleves_rod_has_no_motion_where_friction_jams_it() -> None:
    way = np.array([-1.0, 0.0])
    for friction in (0.5, 1.3):
        W, c = rod()
        found = solved(Problem(W, c[None], np.array([friction]), [way], SCALE, ["tip"]), [SLIDE])
        own = W[0, 0] - friction * W[0, 1] * way[0]
        assert (own > 0, found.f[0, 0]) == (True, pytest.approx(9.81 / own))
    W, c = rod()
    assert W[0, 0] - 2.0 * W[0, 1] * way[0] < 0
    with pytest.raises(InconsistentContactError, match="friction jams tip") as error:
        solved(Problem(W, c[None], np.array([2.0]), [way], SCALE, ["tip"]), [SLIDE])
    assert error.value.field == "tip"
    # the other way friction lifts it, and it slides on
    assert solved(Problem(W, c[None], np.array([2.0]), [-way], SCALE), [SLIDE]).modes == (SLIDE,)


# ---- brute force, in a plane: all combinations of open, stick, and slide forward or backward


def planar(rng: np.random.Generator, contacts: int, *, dofs: int, friction: float, sliding: int) -> Problem:
    """Random contacts without a second tangent; the first ``sliding`` of them slide already."""
    J = rng.standard_normal((contacts, 3, dofs))
    J[:, 2] = 0
    J = J.reshape(3 * contacts, dofs)
    c = (J @ rng.standard_normal(dofs) + rng.standard_normal(3 * contacts)).reshape(-1, 3)
    c[:, 2] = 0
    signs = rng.choice([-1.0, 1.0], contacts)
    slides = [np.array([signs[i], 0.0]) if i < sliding else None for i in range(contacts)]
    return Problem(J @ J.T, c, np.full(contacts, friction), slides, SCALE)


def brute_force(given: Problem) -> list[np.ndarray]:
    """Rates y of all solutions, by trying every combination; written on its own, with plain linear equations."""
    k = len(given.c)
    W = given.W.reshape(k, 3, k, 3)[:, :2][:, :, :, :2].reshape(2 * k, 2 * k)
    c = given.c[:, :2].ravel()
    answers = []
    for modes in itertools.product((OPEN, STICK, SLIDE, -SLIDE), repeat=k):
        A, b = np.eye(2 * k), np.zeros(2 * k)
        is_known = True
        for i, mode in enumerate(modes):
            mu, slide = given.friction[i], given.slides[i]
            sign = 1.0 if mode == SLIDE else -1.0
            if slide is not None and (mode == STICK or (abs(mode) == SLIDE and slide[0] != sign)):
                is_known = False
            if mode != OPEN:
                A[2 * i], b[2 * i] = W[2 * i], -c[2 * i]
            if mode == STICK:
                A[2 * i + 1], b[2 * i + 1] = W[2 * i + 1], -c[2 * i + 1]
            elif mode != OPEN:
                A[2 * i + 1, 2 * i] = mu * sign
        if not is_known or np.linalg.cond(A) > 1e12:
            continue
        f = np.linalg.solve(A, b)
        y = (W @ f + c).reshape(k, 2)
        f = f.reshape(k, 2)
        small = 1e-9
        is_right = (f[:, 0] >= -small).all() and (y[:, 0] >= -small).all()
        for i, mode in enumerate(modes):
            if mode == STICK:
                is_right &= abs(f[i, 1]) <= given.friction[i] * f[i, 0] + small
            elif mode != OPEN and given.slides[i] is None:
                is_right &= y[i, 1] * (1 if mode == SLIDE else -1) >= -small
        if is_right:
            answers.append(y)
    return answers


@pytest.mark.parametrize("sliding", [0, 1])
@pytest.mark.parametrize("friction", [0.2, 0.9])
@pytest.mark.parametrize("contacts", [1, 2, 3])
def test_brute_force_agrees(contacts: int, friction: float, sliding: int) -> None:
    rng = np.random.default_rng(100 * contacts + sliding)
    found_one, none_fits = 0, 0
    for _ in range(80):
        given = planar(rng, contacts, dofs=2 * contacts + 1, friction=friction, sliding=sliding)
        answers = brute_force(given)
        try:
            found = solved(given, [SLIDE if s is not None else STICK for s in given.slides])
        except InconsistentContactError as error:
            # friction that pushes a slide into the ground: nothing fits, or only forces of a motion that is jammed
            none_fits += 1
            assert not answers or "jams" in str(error)
            continue
        found_one += 1
        check(given, found)
        nearest = min(abs(found.y[:, :2] - y).max() for y in answers)
        assert nearest < 1e-6
    assert found_one >= 60 and (sliding or not none_fits)


@pytest.mark.filterwarnings("error")
def test_where_iterations_diverge_no_answer_is_made_up() -> None:
    """Gauss-Seidel may diverge where friction of a slide acts on other contacts; its numbers must not pass."""
    rng = np.random.default_rng(0)
    diverged = 0
    for _ in range(200):
        J = rng.standard_normal((4, 3, 9))
        J[:, 2] = 0
        J = J.reshape(12, 9)
        c = (J @ rng.standard_normal(9)).reshape(-1, 3)
        given = Problem(J @ J.T, c, np.full(4, 0.5), [np.array([1.0, 0.0]), None, None, None], SCALE)
        try:
            found = solved(given, [SLIDE, STICK, STICK, STICK])
        except InconsistentContactError:
            diverged += 1
            assert not brute_force(given)
            continue
        assert np.isfinite(found.f).all()
        check(given, found)
    assert 0 < diverged < 5


# ---- random problems in space: whatever is found obeys the laws


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


# twelve random rows of six dofs are harder than any robot's: sweeps do not end for one in a hundred
@pytest.mark.parametrize("seed, guess, options, most", [
    (0, [STICK] * 4, {"dofs": 6, "friction": 0.5}, 2),
    (1, [SLIDE, STICK], {"dofs": 8, "friction": 0.3, "sliding": True}, 9),
], ids=["redundant contacts", "one slides already"])  # fmt: skip
def test_they_do_so_too_or_it_is_told(seed: int, guess: list[int], options: dict, most: int) -> None:
    """What slides already keeps its direction, or is told to jam."""
    rng = np.random.default_rng(seed)
    told = 0
    for _ in range(60):
        given = problem(rng, len(guess), **options)
        try:
            check(given, solved(given, guess))
        except InconsistentContactError:
            told += 1
    assert told <= most


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


def test_a_slide_that_spirals_to_its_end_has_no_direction_until_it_rests() -> None:
    """Two tips of a chain: whatever the direction of the second, it is braked askew, so that none settles."""
    W = np.array([
        [12.13362, -0.09156, 0.39720, 0.75031, -0.26309, 0.74468],
        [-0.09156, 9.80102, 4.49041, 0.17579, 0.75658, -0.16014],
        [0.39720, 4.49041, 4.89760, -0.28244, -0.63459, 1.52585],
        [0.75031, 0.17579, -0.28244, 11.9942, 1.76664, -0.13571],
        [-0.26309, 0.75658, -0.63459, 1.76664, 4.43310, 2.96083],
        [0.74468, -0.16014, 1.52585, -0.13571, 2.96083, 7.14223],
    ])  # fmt: skip
    c = np.array([[-7.23673606, 1.73730064, -1.86595376], [-8.85420697, -1.82541327, 2.71561976]])
    mu, way = np.full(2, 1.13880911), np.array([0.98094008, -0.19431047])
    creeping = Problem(W, c, mu, [None, way], 1e-8, ("a", "b"), frozenset({1}))
    with pytest.raises(InconsistentContactError):
        solved(creeping, [STICK, SLIDE])
    rest = solved(Problem(W, c, mu, [None, None], 1e-8), [STICK, STICK])
    assert rest.modes == (SLIDE, SLIDE)
    np.testing.assert_allclose(rest.f[:, 1:], -mu[:, None] * rest.f[:, :1] * rest.directions, atol=1e-12)
    np.testing.assert_allclose(rest.y[:, 1:], np.hypot(*rest.y[:, 1:].T)[:, None] * rest.directions, atol=1e-8)


# ---- dry friction at joints


@pytest.mark.parametrize("seed", range(20))
def test_joints_with_dry_friction_among_contacts(seed: int) -> None:
    """Random problems of two contacts and two joints: the laws hold, and another start finds the same motion."""
    rng = np.random.default_rng(seed)
    k, n = 4, 7
    J = rng.normal(size=(3 * k, n))
    J[[6, 8, 9, 11]] = 0
    c = (J @ rng.normal(0, 5, n)).reshape(k, 3)
    mu, bounds = np.array([0.5, 0.5, 0, 0]), np.array([0, 0, *rng.uniform(0.1, 3, 2)])
    problem = Problem(J @ J.T, c, mu, [None] * k, 1e-9, bounds=bounds)
    found = solved(problem, [STICK] * k)
    others = [solved(problem, [OPEN, OPEN, STICK, STICK]), solved(problem, [STICK, OPEN, SLIDE, STICK], np.eye(k, 2))]
    for other in others:
        np.testing.assert_allclose(other.y, found.y, atol=1e-6)
    for i in (2, 3):
        f, y = found.f[i, 1], found.y[i, 1]
        assert abs(f) <= bounds[i] + 1e-8
        if found.modes[i] == STICK:
            assert abs(y) < 1e-8
        else:
            assert (found.modes[i], f * y <= 0) == (SLIDE, True)
            assert abs(f) == pytest.approx(bounds[i])
        assert found.f[i, [0, 2]].tolist() == [0, 0]
    normal, slip = found.f[:2, 0], found.y[:2]
    assert normal.min() >= -1e-8
    assert slip[:, 0].min() >= -1e-8
    assert abs(normal * slip[:, 0]).max() < 1e-6
    assert (np.hypot(found.f[:2, 1], found.f[:2, 2]) <= 0.5 * normal + 1e-8).all()
