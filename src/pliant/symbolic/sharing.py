"""Names for parts of formulas that occur several times."""

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["folded", "is_longer", "named_parts", "symbols_of"]

Shared = list[tuple[Any, Any]]


def is_longer(formulas: Iterable[Any], limit: int) -> bool:
    """Whether formulas have more than ``limit`` parts: numbers, symbols, sums, products and functions."""
    # counted one by one, since what is shared makes some formulas huge
    waiting, count = list(formulas), 0
    while waiting and count <= limit:
        waiting += waiting.pop().args
        count += 1
    return bool(waiting)


def symbols_of(formulas: Iterable[Any]) -> set[Any]:
    """The symbols that occur, with each part looked at once, however often it occurs."""
    waiting, seen = list(formulas), set()
    while waiting:
        e = waiting.pop()
        if e not in seen:
            seen.add(e)
            waiting += e.args
    return {e for e in seen if e.is_Symbol}


def named_parts(formulas: list[Any], taken: set[str]) -> tuple[Shared, list[Any]]:
    """Names for what occurs more than once, with their formulas, and the formulas in these names."""
    import sympy

    letter = next(x for x in ("x", "y", "z", "x_", "y_") if not any(re.fullmatch(f"{x}\\d+", t) for t in taken))
    symbols = sympy.numbered_symbols(letter, real=True)
    shared, replaced = sympy.cse(formulas, symbols=symbols, order="none")
    return list(shared), list(replaced)  # type: ignore[arg-type]


def folded(shared: Shared, formulas: list[Any], q: set[Any]) -> tuple[Shared, list[Any]]:
    """The same without names for what is as short as a name; those that are left count on.

    These are angles in q, cosines and sines, another name, and multiples and powers of one of these.
    """
    names = iter([name for name, _ in shared])
    known: dict[Any, Any] = {}
    kept: Shared = []
    for name, formula in shared:
        written = formula.xreplace(known)
        if _is_short(written, q):
            known[name] = written
        else:
            known[name] = next(names)
            kept.append((known[name], written))
    return kept, [e.xreplace(known) for e in formulas]


def _is_short(e: Any, q: set[Any]) -> bool:
    import sympy

    if not isinstance(e, sympy.Expr):
        return False
    if q.issuperset(e.as_coefficients_dict()):
        return True
    factor: Any = e.as_coeff_Mul()[1]
    base = factor.base if factor.is_Pow and factor.exp.is_Integer else factor
    return base.is_Atom or isinstance(base, sympy.cos | sympy.sin)
