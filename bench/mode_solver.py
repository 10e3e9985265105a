"""The mode solver of event-driven simulation next to Lemke's algorithm, on the same random problems.

    python -m bench.mode_solver [--problems 300]

Lemke's algorithm solves a linear complementarity problem, so it takes a pyramid for the cone of friction [Stewart and
Trinkle 1996]; in a plane, the pyramid is the cone. Every solution of either is checked against the laws of contact
with the round cone: contacts that open do not approach, forces lie within the cone, and a contact that slides has the
friction mu f_n against its slip.
"""

import argparse
import math
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from bench.tables import table
from pliant.errors import SimulationError
from pliant.events.mode_solver import Problem, solved
from pliant.events.state import SLIDE, STICK

SCALE = 1e-9


def main() -> None:
    """Solve random problems in both ways, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=300)
    count = parser.parse_args().problems
    table(print, f"{count} random problems each, friction 0.5", rows(count))


def rows(count: int) -> Iterator[dict[str, Any]]:
    """A row for each kind of problem and way."""
    for name, contacts, dofs, is_planar, sliding in (
        ("plane, 2 contacts", 2, 5, True, 0),
        ("plane, 4 contacts", 4, 9, True, 0),
        ("plane, 4 contacts, 1 slides", 4, 9, True, 1),
        ("space, 2 contacts", 2, 8, False, 0),
        ("space, 4 contacts", 4, 14, False, 0),
        ("space, 4 contacts on 6 dofs", 4, 6, False, 0),
    ):
        rng = np.random.default_rng(0)
        given = [random_problem(rng, contacts, dofs, is_planar=is_planar, sliding=sliding) for _ in range(count)]
        for way, solve in (("active set", by_active_set), ("Lemke", by_lemke)):
            times, errors = [], []
            for problem in given:
                begin = perf_counter()
                f = solve(problem)
                times.append(perf_counter() - begin)
                if f is not None:
                    errors.append(violation(problem, f))
            share, worst = 100 * len(errors) / count, max(errors)
            yield {
                "problems".ljust(27): name.ljust(27), "way".ljust(10): way, "solved [%]": share,
                "median time [ms]": 1e3 * float(np.median(times)), "median violation": float(np.median(errors)),
                "largest violation": worst,
            }  # fmt: skip


def random_problem(rng: np.random.Generator, contacts: int, dofs: int, *, is_planar: bool, sliding: int) -> Problem:
    """Rows of a random mechanism that is pushed; friction 0.5."""
    J = rng.standard_normal((contacts, 3, dofs))
    J[:, 2] *= not is_planar
    J = J.reshape(-1, dofs)
    c = (J @ rng.standard_normal(dofs)).reshape(-1, 3)
    slides = [np.array([1.0, 0.0]) if i < sliding else None for i in range(contacts)]
    return Problem(J @ J.T, c, np.full(contacts, 0.5), slides, SCALE)


def by_active_set(problem: Problem) -> np.ndarray | None:
    """Forces (k, 3), None if the solver finds none."""
    try:
        return solved(problem, [STICK if slide is None else SLIDE for slide in problem.slides]).f
    except SimulationError:
        return None


def by_lemke(problem: Problem, sides: int = 8) -> np.ndarray | None:
    """Forces (k, 3) with a pyramid for the cone; of contacts that slide already along their direction."""
    columns, kinds = [], []  # forces along normals and sides; of which contact, and what
    k = len(problem.c)
    for i, slide in enumerate(problem.slides):
        unit = np.eye(3 * k)[3 * i : 3 * i + 3]
        if slide is not None:
            columns.append(unit[0] - problem.friction[i] * slide @ unit[1:])
            kinds.append((i, "normal"))
            continue
        columns.append(unit[0])
        kinds.append((i, "normal"))
        for angle in 2 * math.pi * np.arange(sides) / sides:
            columns.append(math.cos(angle) * unit[1] + math.sin(angle) * unit[2])
            kinds.append((i, "side"))
    S = np.array(columns).T
    # rates are asked along normals and sides
    A = np.array([np.eye(3 * k)[3 * i] if kind == "normal" else s for (i, kind), s in zip(kinds, S.T, strict=True)])
    free = [i for i, slide in enumerate(problem.slides) if slide is None]
    n, m = len(kinds), len(free)
    M, q = np.zeros((n + m, n + m)), np.zeros(n + m)
    M[:n, :n], q[:n] = A @ problem.W @ S, A @ problem.c.ravel()
    for g, i in enumerate(free):
        for j, (owner, kind) in enumerate(kinds):
            if owner == i and kind == "side":
                M[j, n + g], M[n + g, j] = 1, -1
            elif owner == i:
                M[n + g, j] = problem.friction[i]
    z = lemke(M, q)
    return None if z is None else (S @ z[:n]).reshape(k, 3)


def lemke(M: np.ndarray, q: np.ndarray, pivots: int = 1000) -> np.ndarray | None:
    """z with z >= 0, M z + q >= 0 and z (M z + q) = 0, by complementary pivoting [Cottle, Pang, Stone 1992, 4.4]."""
    n = len(q)
    if (q >= 0).all():
        return np.zeros(n)
    # w - M z - z0 = q; columns w, z, z0 and the right side
    T = np.hstack([np.eye(n), -M, -np.ones((n, 1)), q[:, None]])
    basis = list(range(n))
    row, entering = int(np.argmin(q)), 2 * n
    for _ in range(pivots):
        T[row] /= T[row, entering]
        others = np.arange(n) != row
        T[others] -= np.outer(T[others, entering], T[row])
        leaving, basis[row] = basis[row], entering
        if leaving == 2 * n:
            z = np.zeros(2 * n + 1)
            z[basis] = T[:, -1]
            return z[n : 2 * n]
        entering = leaving + n if leaving < n else leaving - n
        column = T[:, entering]
        ratios = np.where(column > 1e-11, T[:, -1] / np.where(column > 1e-11, column, 1), np.inf)
        row = int(np.argmin(ratios))
        if not np.isfinite(ratios[row]):
            return None  # it ends on a ray
        # of equal rows, the one that ends it
        if 2 * n in basis and ratios[basis.index(2 * n)] <= ratios[row] + 1e-12:
            row = basis.index(2 * n)
    return None


def violation(problem: Problem, f: np.ndarray) -> float:
    """How much forces violate the laws of contact with the round cone, as a share of the largest rate or force."""
    y = (problem.W @ f.ravel()).reshape(-1, 3) + problem.c
    largest = 1 + max(abs(f).max(), abs(problem.c).max())
    worst = 0.0
    for fi, yi, mu, slide in zip(f, y, problem.friction, problem.slides, strict=True):
        worst = max(worst, -fi[0], -yi[0], min(fi[0], yi[0]))
        pull, slip = math.hypot(*fi[1:]), math.hypot(*yi[1:])
        worst = max(worst, pull - mu * fi[0])
        if slide is None and slip > 1e-6 * largest and fi[0] > 1e-6 * largest:
            worst = max(worst, float(np.hypot(*(fi[1:] + mu * fi[0] * yi[1:] / slip))))
    return worst / largest


if __name__ == "__main__":
    main()
