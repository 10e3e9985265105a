"""Formulas tidied as far as that is quick."""

from collections.abc import Iterable
from typing import Any

from pliant.scalar import as_sympy
from pliant.symbolic.gathering import gathered
from pliant.symbolic.polynomials import Polynomials, TooLongError

__all__ = ["Tidy"]

# products that one formula, and all of a robot together, may take: about 50 ms and 1 s
_ONE = 20_000
_ALL = 400_000
# a formula of more terms than this is longer when written out than as it was
_TERMS = 120


class Tidy:
    """Puts formulas into a readable normal form; those that would take long stay as they are.

    Effort is counted in products, not in time, so that the same robot always gives the same formulas.
    """

    def __init__(self, motion: Iterable[Any], simplify: bool | None = None, *, positions: Iterable[Any] = ()):
        """Tidy formulas in which the symbols ``motion`` change with time.

        Args:
            positions: those of them that are coordinates.
            simplify: True for all formulas, however long; None for those that are quick; False for none.
        """
        self.motion = frozenset(motion)
        self.positions = frozenset(positions)
        self.simplify = simplify
        self._left = float("inf") if simplify else _ALL
        self._polynomials = Polynomials(0)

    def __call__(self, expression: Any, *, is_shared: bool = True) -> Any:
        """The expression, tidied; ``is_shared`` as for `gathered`."""
        expression = as_sympy(expression, "formula")
        if self.simplify is False or self._left <= 0 or expression.is_Atom:
            return expression
        polynomials = self._polynomials
        allowed = polynomials.allowed = min(self._left, float("inf") if self.simplify else _ONE)
        try:
            polynomial = polynomials.read(expression)
            if not self.simplify and len(polynomial) > _TERMS:
                return expression
            if polynomials.divides_by_sum(polynomial):
                expression = _cancelled(expression, polynomials)
            is_position = self.positions.__contains__
            return gathered(expression, polynomials, self._is_motion, is_position=is_position, is_shared=is_shared)
        except TooLongError:
            return expression
        finally:
            self._left -= allowed - max(polynomials.allowed, 0)

    def matrix(self, rows: Any) -> Any:
        """An immutable matrix of tidied entries, from rows or from the entries of one column."""
        import sympy

        return sympy.ImmutableMatrix(rows).applyfunc(self)

    def _is_motion(self, atom: Any) -> bool:
        return not self.motion.isdisjoint(atom.free_symbols)


def _cancelled(expression: Any, polynomials: Polynomials) -> Any:
    """A quotient of polynomials in lowest terms; one with floats is left alone, since they never divide evenly."""
    import sympy

    if expression.has(sympy.Float):
        return expression
    flat = polynomials.expression(polynomials.read(expression))
    return polynomials.restored(sympy.cancel(flat))
