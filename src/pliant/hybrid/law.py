"""Contact with dry friction at an instant: which constraints hold, and with what forces.

For the candidates, those that touch, let y = W f + c be their normal and tangential accelerations (or, at an impact,
velocities) under the forces f (or impulses), W = J M^-1 J^T. Each of them does one of three things:

| mode | what is given | what must come out |
|---|---|---|
| open | f = 0 | y_n >= 0 |
| stick | y = 0 | f_n >= 0, |f_t| <= mu f_n |
| slide along d | y_n = 0, f_t = -mu f_n d | f_n >= 0; y_t along d, if it only begins to slide |

Beginning with what the caller knows, the worst violation is mended, one at a time, until none is left; if that goes
in circles, all combinations are tried. Forces that the conditions leave open, as of a table with four legs, are the
least. If nothing fits, or a sliding contact is pushed into the ground by its own friction, there is no rigid motion
at this instant [Painleve 1895], and that is told.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.errors import SimulationError

__all__ = ["OPEN", "SLIDE", "STICK", "InconsistentContactError", "Problem", "Solution", "solved"]

OPEN, STICK, SLIDE = 0, 1, 2

_ROUNDS = 60
_MOST = 5  # candidates of which all combinations are tried


class InconsistentContactError(SimulationError):
    """No rigid motion fits the laws of contact at this state."""


@dataclass(frozen=True)
class Problem:
    """The candidates, k of them.

    Attributes:
        W: (3 k, 3 k), rows normal, first and second tangent of each.
        c: (k, 3), what they do without forces.
        friction: (k,).
        slides: direction of those that slide already, None for those that do not.
        scale: size of y below which it counts as zero.
    """

    W: np.ndarray
    c: np.ndarray
    friction: np.ndarray
    slides: Sequence[np.ndarray | None]
    scale: float


@dataclass(frozen=True)
class Solution:
    """What the candidates do: modes, directions of sliding (k, 2), forces f and rates y, (k, 3) each."""

    modes: tuple[int, ...]
    directions: np.ndarray
    f: np.ndarray
    y: np.ndarray


def solved(problem: Problem, start: Sequence[int], directions: np.ndarray | None = None) -> Solution:
    """The modes that fit, beginning with a guess.

    Args:
        start: modes; of those that slide already, open or slide.
        directions: of those that begin to slide in the guess.
    """
    k = len(problem.c)
    d = np.zeros((k, 2)) if directions is None else directions.copy()
    for i, slide in enumerate(problem.slides):
        if slide is not None:
            d[i] = slide
    modes, seen = list(start), set()
    for _ in range(_ROUNDS):
        found = _with_modes(problem, modes, d)
        violation = _worst(problem, found)
        if violation is None:
            return _checked(problem, found)
        i, mode, direction = violation
        modes[i] = mode
        if direction is not None:
            d[i] = direction
        key = (*modes, *d.round(9).ravel())
        if key in seen:
            break
        seen.add(key)
    for found in _combinations(problem, d):
        if _worst(problem, found) is None:
            return _checked(problem, found)
    raise InconsistentContactError("no combination of open, sticking and sliding contacts fits the laws of contact")


def _with_modes(problem: Problem, modes: Sequence[int], d: np.ndarray) -> Solution:
    """Forces under which the candidates do as the modes say, whether that is allowed or not."""
    k = len(problem.c)
    columns, rows = [], []
    for i, mode in enumerate(modes):
        unit = np.zeros((3, 3 * k))
        unit[[0, 1, 2], [3 * i, 3 * i + 1, 3 * i + 2]] = 1
        if mode == STICK:
            columns += list(unit)
            rows += [3 * i, 3 * i + 1, 3 * i + 2]
        elif mode == SLIDE:
            columns.append(unit[0] - problem.friction[i] * (d[i] @ unit[1:]))
            rows.append(3 * i)
    f = np.zeros(3 * k)
    if columns:
        S = np.array(columns).T
        A, b = problem.W[rows] @ S, -problem.c.ravel()[rows]
        f = S @ _least(A, b)
    y = problem.W @ f + problem.c.ravel()
    return Solution(tuple(modes), d.copy(), f.reshape(k, 3), y.reshape(k, 3))


def _least(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution of A z = b, the least one if there are many."""
    size = np.sqrt(np.maximum(abs(np.diag(A)), 1e-300))
    scaled = A / np.outer(size, size)
    return np.linalg.lstsq(scaled, b / size, rcond=1e-11)[0] / size


def _worst(problem: Problem, found: Solution) -> tuple[int, int, np.ndarray | None] | None:
    """The candidate whose condition is violated most, what it should do instead, and the direction."""
    worst, answer = 1.0, None
    inertia = np.maximum(np.diag(problem.W).reshape(-1, 3)[:, 0], 1e-300)
    tolerance = problem.scale / inertia  # of forces
    for i, mode in enumerate(found.modes):
        f, y, mu, d = found.f[i], found.y[i], problem.friction[i], found.directions[i]
        is_sliding = problem.slides[i] is not None
        if mode == OPEN:
            if -y[0] / problem.scale > worst:
                worst, answer = -y[0] / problem.scale, (i, SLIDE if is_sliding or mu == 0 else STICK, None)
            continue
        if -f[0] / tolerance[i] > worst:
            worst, answer = -f[0] / tolerance[i], (i, OPEN, None)
            continue
        if mode == STICK:
            pull = float(np.hypot(f[1], f[2]))
            excess = (pull - mu * f[0]) / tolerance[i]
            if excess > worst:
                worst, answer = excess, (i, SLIDE, -f[1:] / pull)
        elif not is_sliding and mu > 0:
            along = y[1:] @ d
            speed = float(np.hypot(y[1], y[2]))
            if -along / problem.scale > worst:
                worst, answer = -along / problem.scale, (i, STICK, None)
            elif speed > problem.scale and np.linalg.norm(y[1:] / speed - d) > 1e-7 and worst <= 1:
                worst, answer = 1.0, (i, SLIDE, y[1:] / speed)
    return answer


def _combinations(problem: Problem, d: np.ndarray) -> Iterator[Solution]:
    k = len(problem.c)
    if k > _MOST:
        return
    choices = [
        (SLIDE, OPEN) if problem.slides[i] is not None or problem.friction[i] == 0 else (STICK, SLIDE, OPEN)
        for i in range(k)
    ]
    for modes in itertools.product(*choices):
        directions = d.copy()
        found = _with_modes(problem, modes, directions)
        for _ in range(30):  # directions of those that begin to slide, by iteration
            new = directions.copy()
            for i, mode in enumerate(modes):
                speed = np.hypot(*found.y[i, 1:])
                if mode == SLIDE and problem.slides[i] is None and speed > problem.scale:
                    new[i] = found.y[i, 1:] / speed
            if abs(new - directions).max(initial=0) < 1e-9:
                break
            directions = new
            found = _with_modes(problem, modes, directions)
        yield found


def _checked(problem: Problem, found: Solution) -> Solution:
    for i, mode in enumerate(found.modes):
        if mode != SLIDE or problem.friction[i] == 0:
            continue
        own = problem.W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
        if own[0, 0] - problem.friction[i] * own[0, 1:] @ found.directions[i] <= 0:
            raise InconsistentContactError(f"friction pushes sliding contact {i} into the ground (Painleve's paradox)")
    return found
