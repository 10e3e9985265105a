"""Contact with dry friction at an instant: which constraints hold, and with what forces.

For the candidates, those that touch, let y = W f + c be their normal and tangential accelerations (or, at an impact,
velocities) under the forces f (or impulses), W = J M^-1 J^T. Each of them does one of three things:

| mode | what is given | what must come out |
|---|---|---|
| open | f = 0 | y_n >= 0 |
| stick | y = 0 | f_n >= 0, |f_t| <= mu f_n |
| slide along d | y_n = 0, f_t = -mu f_n d | f_n >= 0; y_t along d, if it only begins to slide |

Dry friction at a joint is a candidate without a normal: it sticks with y_1 = 0 and |f_1| <= F, or slides with
f_1 = -F d, and is never open.

Three strategies are tried, the first that finds a solution wins:

1. An active set: from the guess of the caller, the contact that violates its conditions most changes its mode, until
   none does. Directions in which contacts begin to slide are found by Newton's method.
2. If that goes in circles, Gauss-Seidel: the candidates are solved one after the other, each exactly
   (`pliant.contact.coulomb`), until nothing changes. An active set begins with the modes that it ends with.
3. Enumeration of the combinations of modes, those near the result of Gauss-Seidel first.

Forces that the conditions leave open, as of a table with four legs, are the least, or, if these leave a cone, such that
none does (`pliant.events.redundant_forces`). If nothing fits, or a sliding contact is pushed into the ground by its own
friction, there is no rigid motion at this instant [Painleve 1895], and an error says so. Why not a solver of linear
complementarity problems: docs/decisions/0018-mode-solver.md.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pliant.contact.coulomb import impulse_at, inverse_of
from pliant.errors import SimulationError
from pliant.events import tolerances as tol
from pliant.events.redundant_forces import cancelling, is_jammed, least_solution, spread
from pliant.events.state import OPEN, SLIDE, STICK
from pliant.spatial import Symmetric3, Vector

# changes of mode in an active set, iterations of Gauss-Seidel, and combinations of modes, at most
_CHANGES, _CHANGES_AFTER_ITERATIONS, _CHANGES_AT_REST = 60, 5, 2
_ITERATIONS = 2000
_COMBINATIONS = 250


class InconsistentContactError(SimulationError):
    """No rigid motion fits the laws of contact at this state.

    Attributes:
        t, q, v: the state [s], where it is known.
        mode: what touched then.
    """

    t: float = float("nan")
    q: np.ndarray | None = None
    v: np.ndarray | None = None
    mode: str = ""


@dataclass(frozen=True)
class Problem:
    """The candidates, k of them.

    Attributes:
        W: (3 k, 3 k), rows normal, first and second tangent of each.
        c: (k, 3), what they do without forces.
        friction: (k,).
        slides: direction of those that slide already, None for those that do not.
        creeps: which of these do so slowly that their direction settles at once, along y_t.
        scale: size of y below which it counts as zero.
        names: for errors.
        bounds: F of dry friction at joints, (k,); 0 for contacts and limits. None for none.
    """

    W: np.ndarray
    c: np.ndarray
    friction: np.ndarray
    slides: Sequence[np.ndarray | None]
    scale: float
    names: Sequence[str] = ()
    creeps: frozenset[int] = frozenset()
    bounds: np.ndarray | None = None

    def bound(self, i: int) -> float:
        """Of dry friction at a joint; 0 if the candidate is none."""
        return 0.0 if self.bounds is None else float(self.bounds[i])

    def choices(self, i: int) -> tuple[int, ...]:
        """The modes that a candidate may have."""
        if self.bound(i) > 0:
            return (STICK, SLIDE) if self.slides[i] is None else (SLIDE,)
        return (OPEN, SLIDE) if self.slides[i] is not None or self.friction[i] == 0 else (OPEN, STICK, SLIDE)


@dataclass(frozen=True)
class Solution:
    """What the candidates do: modes, directions of sliding (k, 2), forces f and rates y, (k, 3) each."""

    modes: tuple[int, ...]
    directions: np.ndarray
    f: np.ndarray
    y: np.ndarray


def solved(
    problem: Problem, guess: Sequence[int], directions: np.ndarray | None = None, leaving: Iterable[int] = ()
) -> Solution:
    """The modes that fit, beginning with a guess; if none does, those that do so within a thousand times the tolerance.

    Restitution and drift may ask of contacts that hold each other what does not go together, by a little.

    Args:
        guess: modes; of those that slide already, open or slide.
        directions: of those that begin to slide in the guess.
        leaving: those that are just about to slide, and do not move yet.

    Raises:
        InconsistentContactError: no rigid motion fits the laws of contact.
    """
    try:
        return _solved(problem, guess, directions, leaving)
    except InconsistentContactError:
        return _solved(replace(problem, scale=tol.LENIENT * problem.scale), guess, directions, leaving)


def _solved(problem: Problem, guess: Sequence[int], directions: np.ndarray | None, leaving: Iterable[int]) -> Solution:
    k = len(problem.c)
    d = np.zeros((k, 2)) if directions is None else directions.copy()
    for i, slide in enumerate(problem.slides):
        if slide is not None:
            d[i] = slide
    found = next((x for x in _attempts(problem, guess, d) if x is not None), None)
    if found is None:
        # at an impact nothing slides already: there the laws have a solution
        for i, slide in enumerate(problem.slides):
            if slide is not None and problem.friction[i] > 0 and _own(problem, i) <= 0:
                raise _painleve(problem, i)
        text = "no combination of open, sticking and sliding contacts fits the laws of contact"
        raise InconsistentContactError(text, subject="contacts", field=", ".join(problem.names))
    found = _at_rest(problem, found, set(leaving))
    sliding = [i for i, mode in enumerate(found.modes) if mode == SLIDE and problem.slides[i] is not None]
    rubbing = [i for i in sliding if problem.friction[i] > 0]
    if rubbing:
        S, rows = _unknowns(problem, found.modes, found.directions)
        if is_jammed(problem.W[rows] @ S):
            raise _painleve(problem, min(rubbing, key=lambda i: _own(problem, i)))
    return found


def _attempts(problem: Problem, guess: Sequence[int], d: np.ndarray) -> Iterator[Solution | None]:
    """The three strategies, one after the other; None from one that finds nothing."""
    yield _active_set(problem, list(guess), d, _CHANGES)
    iterated = _gauss_seidel(problem)
    yield _active_set(problem, list(iterated.modes), iterated.directions, _CHANGES_AFTER_ITERATIONS)
    yield _enumerated(problem, iterated)


def _enumerated(problem: Problem, iterated: Solution) -> Solution | None:
    """The first combination of modes that fits; those that differ least from the result of Gauss-Seidel come first."""
    choices = [problem.choices(i) for i in range(len(problem.c))]
    for modes in itertools.islice(_nearest(iterated.modes, choices), _COMBINATIONS):
        for ways in (iterated.y, problem.c):
            d = iterated.directions.copy()
            for i, slide in enumerate(problem.slides):
                if slide is None:
                    d[i] = ways[i, 1:] / max(float(np.hypot(*ways[i, 1:])), 1e-300)
            found = _aligned(problem, modes, d)
            if _worst_violation(problem, found) is not None:
                found = _bearable(problem, found)
            if _worst_violation(problem, found) is None:
                return found
            if SLIDE not in modes:
                break
    return None


def _nearest(modes: Sequence[int], choices: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """All combinations of modes, those first that differ in fewer places."""
    for changes in range(len(choices) + 1):
        for who in itertools.combinations(range(len(choices)), changes):
            for chosen in itertools.product(*([m for m in choices[i] if m != modes[i]] for i in who)):
                changed = dict(zip(who, chosen, strict=True))
                yield tuple(changed.get(i, mode) for i, mode in enumerate(modes))


def _at_rest(problem: Problem, found: Solution, leaving: set[int]) -> Solution:
    """The same with contacts that slide in name but do not move said to stick, if that fits as well."""
    begins = [i for i, mode in enumerate(found.modes) if mode == SLIDE and problem.slides[i] is None]
    rubs = [i for i in begins if i not in leaving and (problem.friction[i] > 0 or problem.bound(i) > 0)]
    idle = [i for i in rubs if np.hypot(*found.y[i, 1:]) <= tol.IDLE * problem.scale]
    if not idle:
        return found
    modes = [STICK if i in idle else mode for i, mode in enumerate(found.modes)]
    other = _active_set(problem, modes, found.directions.copy(), _CHANGES_AT_REST)
    return found if other is None else other


def _active_set(problem: Problem, modes: list[int], d: np.ndarray, changes: int) -> Solution | None:
    """Change the mode of the worst violation until there is none; None if that goes in circles."""
    seen = set()
    for _ in range(changes):
        found = _aligned(problem, modes, d)
        violation = _worst_violation(problem, found)
        if violation is not None and found.modes[violation[0]] != OPEN:
            found = _bearable(problem, found)
            violation = _worst_violation(problem, found)
        if violation is None:
            return found
        i, mode, direction = violation
        modes[i] = mode
        d = found.directions.copy()
        if direction is not None:
            d[i] = direction
        if tuple(modes) in seen:
            return None
        seen.add(tuple(modes))
    return None


def _aligned(problem: Problem, modes: Sequence[int], d: np.ndarray) -> Solution:
    """`_forced`, with directions turned until those that begin to slide do so along them."""
    found = _forced(problem, modes, d)
    rubs = [i for i, mode in enumerate(modes) if mode == SLIDE and problem.friction[i] > 0]
    begins = [i for i in rubs if problem.slides[i] is None or i in problem.creeps]
    if not begins:
        return found

    def across(found: Solution) -> np.ndarray:
        d, y = found.directions[begins], found.y[begins]
        return y[:, 2] * d[:, 0] - y[:, 1] * d[:, 1]

    def turned(angles: np.ndarray) -> Solution:
        new = d.copy()
        for i, a in zip(begins, angles, strict=True):
            new[i] = np.cos(a), np.sin(a)
        return _forced(problem, modes, new)

    angles = np.array([np.arctan2(d[i, 1], d[i, 0]) for i in begins])
    found = turned(angles)
    for _ in range(40):
        f = across(found)
        if abs(f).max() <= tol.ALIGNED * problem.scale:
            break
        h = tol.ANGLE
        slope = np.array([(across(turned(angles + h * unit)) - f) / h for unit in np.eye(len(begins))]).T
        step = np.linalg.lstsq(slope, -f, rcond=1e-12)[0]
        step *= min(1.0, 0.7 / max(abs(step).max(), 1e-300))
        better = turned(angles + step)
        for _ in range(8):  # never further off than before
            if abs(across(better)).max() < abs(f).max():
                break
            step /= 2
            better = turned(angles + step)
        angles, found = angles + step, better
    return found


def _forced(problem: Problem, modes: Sequence[int], d: np.ndarray) -> Solution:
    """Forces under which the candidates do as the modes say, whether that is allowed or not."""
    k = len(problem.c)
    if problem.bounds is not None:
        # a joint slides forward or backward, whatever was guessed
        d = np.where((problem.bounds > 0)[:, None], np.where(d[:, :1] < 0, (-1.0, 0.0), (1.0, 0.0)), d)
    S, rows = _unknowns(problem, modes, d)
    f = _given(problem, modes, d)
    if rows:
        without = problem.c.ravel() + problem.W @ f if f.any() else problem.c.ravel()
        f = f + S @ least_solution(problem.W[rows] @ S, -without[rows])
    y = problem.W @ f + problem.c.ravel()
    return Solution(tuple(modes), d.copy(), f.reshape(k, 3), y.reshape(k, 3))


def _unknowns(problem: Problem, modes: Sequence[int], d: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """S with f = S z, and which rows of y are given, one for each of z."""
    k = len(problem.c)
    columns, rows = [np.zeros((0, 3 * k))], []
    for i, mode in enumerate(modes):
        unit = np.zeros((3, 3 * k))
        unit[[0, 1, 2], [3 * i, 3 * i + 1, 3 * i + 2]] = 1
        if problem.bound(i) > 0:
            if mode == STICK:
                columns.append(unit[1:2])
                rows.append(3 * i + 1)
        elif mode == STICK:
            columns.append(unit)
            rows += [3 * i, 3 * i + 1, 3 * i + 2]
        elif mode == SLIDE:
            columns.append(unit[:1] - problem.friction[i] * (d[i] @ unit[1:]))
            rows.append(3 * i)
    return np.concatenate(columns).T, rows


def _given(problem: Problem, modes: Sequence[int], d: np.ndarray) -> np.ndarray:
    """Forces that are known: of joints that slide, (3 k)."""
    f = np.zeros((len(problem.c), 3))
    if problem.bounds is not None:
        slides = np.array([mode == SLIDE for mode in modes], dtype=bool)
        f[:, 1] = np.where(slides, -problem.bounds * d[:, 0], 0.0)
    return f.ravel()


def _bearable(problem: Problem, found: Solution) -> Solution:
    """The same motion, with forces that the contacts can bear if there are any."""
    closed = np.array([mode != OPEN for mode in found.modes], dtype=bool)
    sticks = np.array([mode == STICK for mode in found.modes], dtype=bool)
    S, _ = _unknowns(problem, found.modes, found.directions)
    null = cancelling(S.T @ problem.W @ S)
    if not len(null):
        return found
    f = found.f.copy()
    D = (null @ S.T).reshape(len(null), -1, 3)[:, closed]
    bounds = 0.0 if problem.bounds is None else np.where(sticks, problem.bounds, 0.0)[closed]
    # joints that slide have no margin to lose
    if problem.bounds is not None:
        closed_joints = (problem.bounds > 0)[closed] & ~sticks[closed]
        bounds = np.where(closed_joints, abs(f).max(initial=1.0), bounds)
    f[closed] = spread(f[closed], D, problem.friction[closed], sticks[closed], bounds)
    return Solution(found.modes, found.directions, f, found.y)


def _worst_violation(problem: Problem, found: Solution) -> tuple[int, int, np.ndarray | None] | None:
    """The candidate whose condition is violated most, what it should do instead, and the direction."""
    worst, answer = 1.0, None
    own = np.diag(problem.W).reshape(-1, 3)
    along = own[:, 0] if problem.bounds is None else np.where(problem.bounds > 0, own[:, 1], own[:, 0])
    inertia = np.maximum(along, 1e-300)
    for i, mode in enumerate(found.modes):
        f, y, mu, d = found.f[i], found.y[i], problem.friction[i], found.directions[i]
        is_sliding = problem.slides[i] is not None
        tolerance = problem.scale / inertia[i]  # of forces
        pull, slip = max(float(np.hypot(f[1], f[2])), 1e-300), max(float(np.hypot(y[1], y[2])), 1e-300)
        # by how much each condition is violated; if it is, the mode and the direction instead
        conditions: list[tuple[float, int, np.ndarray | None]] = [(-f[0] / tolerance, OPEN, None)]
        if mode == OPEN:
            conditions = [(-y[0] / problem.scale, SLIDE if is_sliding or mu == 0 else STICK, None)]
        elif mode == STICK:
            conditions.append(((pull - mu * f[0] - problem.bound(i)) / tolerance, SLIDE, -f[1:] / pull))
            # no force holds it, as at both ends of a straight chain that folds
            conditions.append((slip / problem.scale, SLIDE, y[1:] / slip))
        elif not is_sliding and (mu > 0 or problem.bound(i) > 0):
            # it slides backward, or no direction was found in which it slides
            conditions.append((-(y[1:] @ d) / problem.scale, STICK, None))
            conditions.append((abs(y[2] * d[0] - y[1] * d[1]) / problem.scale, STICK, None))
        for amount, instead, direction in conditions:
            if amount > worst:
                worst, answer = amount, (i, instead, direction)
                break
    return answer


def _gauss_seidel(problem: Problem) -> Solution:
    """Modes and forces, from candidates solved one by one until nothing changes."""
    k = len(problem.c)
    W, f = problem.W, np.zeros((k, 3))
    blocks = []
    for i in range(k):
        n, x, y = W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3].tolist()
        blocks.append(Symmetric3(x[1], x[2], n[1], y[2], n[2], n[0]))  # tangents first, as `impulse_at` has it
    diverged = tol.DIVERGED * (1 + abs(problem.c).max())
    for _ in range(_ITERATIONS):
        change = 0.0
        for i in range(k):
            y = W[3 * i : 3 * i + 3] @ f.ravel() + problem.c[i]
            G, mu, slide = blocks[i], problem.friction[i], problem.slides[i]
            if (most := problem.bound(i)) > 0:
                own = W[3 * i + 1, 3 * i + 1]
                wanted = f[i, 1] - y[1] / own if own > 0 else 0.0
                new = np.array([0.0, min(max(wanted, -most), most) if slide is None else -most * slide[0], 0.0])
            elif slide is not None:
                shares = np.array([1.0, *(-mu * slide)])
                own = W[3 * i, 3 * i : 3 * i + 3] @ shares
                free = y[0] - W[3 * i, 3 * i : 3 * i + 3] @ f[i]
                new = shares * max(0.0, -free / own) if own > 0 else f[i]
            else:
                p = impulse_at(Vector(y[1], y[2], y[0]), Vector(f[i, 1], f[i, 2], f[i, 0]), G, inverse_of(G), mu)
                new = np.array([p.z, p.x, p.y], dtype=float)
            along = 3 * i + (1 if most else 0)
            change = max(change, abs(W[along, along]) * abs(new - f[i]).max())
            f[i] = new
        if change < tol.ITERATED * problem.scale or change > diverged:
            break
    modes, d = [], np.zeros((k, 2))
    for i in range(k):
        pull, most = float(np.hypot(*f[i, 1:])), problem.friction[i] * f[i, 0] + problem.bound(i)
        slide = problem.slides[i]
        # one that is open now may have to slide after all
        d[i] = slide if slide is not None else -f[i, 1:] / max(pull, 1e-300)
        is_joint = problem.bound(i) > 0
        if not is_joint and f[i, 0] <= problem.scale / W[3 * i, 3 * i]:
            modes.append(OPEN)
        elif slide is not None or (problem.friction[i] == 0 and not is_joint) or pull >= most * (1 - tol.CONE_EDGE):
            modes.append(SLIDE)
        else:
            modes.append(STICK)
    y = (W @ f.ravel()).reshape(k, 3) + problem.c
    return Solution(tuple(modes), d, f, y)


def _own(problem: Problem, i: int) -> float:
    """What the force of a contact that slides does along its own normal."""
    own, slide = problem.W[3 * i, 3 * i : 3 * i + 3], problem.slides[i]
    return float(own[0] if slide is None else own[0] - problem.friction[i] * own[1:] @ slide)


def _painleve(problem: Problem, i: int) -> InconsistentContactError:
    name = problem.names[i] if problem.names else f"contact {i}"
    text = f"friction jams {name}, which slides, into the ground (Painleve's paradox)"
    return InconsistentContactError(text, subject="contacts", field=name)
