"""Formulas tidied as far as that is quick: a normal form, put back together so that it can be read.

A term is a number times parameters, times waves (cosines and sines), times motion (velocities, accelerations,
positions that slide). Terms are laid out as a table, by parameters and by the rest. Rows that are multiples of
each other are one product of sums:

    M x'' + m x'' + 1/2 m l cos(q) q'' - 1/2 m l sin(q) q'^2 = (M + m) x'' + 1/2 m l (cos(q) q'' - sin(q) q'^2)

and so on within each sum, waves against motion. Parts that occur several times can get names.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from fractions import Fraction
from functools import reduce
from math import gcd, isclose
from operator import and_
from typing import Any, TypeVar

from pliant.scalar import as_sympy
from pliant.symbolic.coordinates import sympy
from pliant.symbolic.polynomials import Factors, Number, Polynomials, TooLongError
from pliant.symbolic.trigonometry import Wave, shortest

Key = TypeVar("Key", bound=Hashable)
Row = dict[Any, Number]
Parts = tuple[Factors, tuple[Wave, ...], Factors]
Shared = list[tuple[Any, Any]]

_ALIKE = 1e-12
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
        """The expression, tidied; if ``is_shared``, a parameter that is in every term is written before all of them."""
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
            return self._gathered(expression, is_shared)
        except TooLongError:
            return expression
        finally:
            self._left -= allowed - max(polynomials.allowed, 0)

    def matrix(self, rows: Any) -> Any:
        """An immutable matrix of tidied entries, from rows or from the entries of one column."""
        return sympy.ImmutableMatrix(rows).applyfunc(self)

    def _gathered(self, expression: Any, is_shared: bool) -> Any:
        """The normal form in a readable one.

        Positions that slide are lengths, too, and are written among the parameters if that is shorter:
        m (l + q)^2 cos(q1).
        """
        polynomials = self._polynomials
        found = _Gatherer(polynomials, self.motion).gathered(expression, is_shared)
        used = {atom for factors in polynomials.read(expression) for atom, _ in factors}
        if not any(polynomials.atoms[a] in self.positions for a in used if a not in polynomials.angles):
            return found
        by_length = _Gatherer(polynomials, self.motion, self.positions).gathered(expression, is_shared)
        return min(found, by_length, key=sympy.count_ops)


def _cancelled(expression: Any, polynomials: Polynomials) -> Any:
    """A quotient of polynomials in lowest terms; one with floats is left alone, since they never divide evenly."""
    if expression.has(sympy.Float):
        return expression
    flat = polynomials.expression(polynomials.read(expression))
    return polynomials.restored(sympy.cancel(flat))


# ---- sums of products put back together


class _Gatherer:
    def __init__(self, polynomials: Polynomials, motion: frozenset[Any], lengths: frozenset[Any] = frozenset()):
        """Symbols of ``motion`` are no parameters, but for ``lengths``, which are factored with them."""
        self.polynomials = polynomials
        self.motion = motion
        self.lengths = lengths

    def gathered(self, expression: Any, is_shared: bool) -> Any:
        terms = self._terms(expression)
        if not terms:
            return sympy.Integer(0)
        common = _common([parameters for parameters, _, _ in terms]) if is_shared else ()
        table = {(_divided(p, common), (waves, motion)): number for (p, waves, motion), number in terms.items()}
        parts = [
            (number, self._parameters(rows), self._rest(columns)) for number, rows, columns in _products(table)
        ]  # fmt: skip
        if len(parts) == 1:
            # all at once: SymPy multiplies a number into a sum that stands alone with it
            return sympy.Mul(*parts[0], self._atoms(common))
        sign = -1 if all(number.is_negative for number, *_ in parts) else 1
        return sympy.Mul(
            sign, self._atoms(common), sympy.Add(*(sympy.Mul(sign * number, *rest) for number, *rest in parts))
        )

    def _is_motion(self, atom: Any) -> bool:
        return atom not in self.lengths and not self.motion.isdisjoint(atom.free_symbols)

    def _terms(self, expression: Any) -> dict[Parts, Number]:
        """Parameters, waves and motion of every term, with its number; the waves in their shortest form."""
        atoms, angles = self.polynomials.atoms, self.polynomials.angles
        by_rest: dict[tuple[Factors, Factors], dict[tuple[Wave, ...], Number]] = {}
        for factors, number in self.polynomials.read(expression).items():
            waves: list[Wave] = []
            parameters, motion = [], []
            for atom, power in factors:
                if atom in angles:
                    is_sine = self.polynomials.is_sine(atom)
                    waves += [Wave(is_sine, ((atom - is_sine, 1),))] * power
                else:
                    (motion if self._is_motion(atoms[atom]) else parameters).append((atom, power))
            row = by_rest.setdefault((tuple(parameters), tuple(motion)), {})
            row[tuple(sorted(waves))] = number
        found: dict[Parts, Number] = {}
        for (fixed, moving), row in by_rest.items():
            for product, number in shortest(row).items():
                found[fixed, product, moving] = number
        return found

    def _rest(self, row: Row) -> Any:
        """A sum of waves times motion, gathered by whichever of the two is shorter."""
        by_motion = {(motion, waves): number for (waves, motion), number in row.items()}
        one, two = self._sides(by_motion, self._motion, self._waves), self._sides(row, self._waves, self._motion)
        # equations are read by their accelerations: only much shorter ones are written otherwise
        return one if sympy.count_ops(one) <= sympy.count_ops(two) + 2 else two

    def _sides(self, table: dict[tuple[Any, Any], Number], rows: Callable[[Any], Any], columns: Callable[[Any], Any]):
        return sympy.Add(
            *(sympy.Mul(number, rows(left), columns(right)) for number, left, right in _products(table))
        )  # fmt: skip

    def _sum(self, row: Row, write: Callable[[Any], Any]) -> Any:
        return sympy.Add(*(_number(number) * write(key) for key, number in row.items()))

    def _motion(self, row: Row) -> Any:
        """A sum of products of motion; common factors are written before it."""
        common = _common(list(row))
        rest = {_divided(key, common): number for key, number in row.items()}
        return self._atoms(common) * self._sum(rest, self._atoms)

    def _waves(self, row: Row) -> Any:
        """A sum of products of waves; common factors are written before it."""
        shared = reduce(and_, map(Counter, row))
        if len(row) < 2 or not shared:
            return self._sum(row, self._product_of_waves)
        rest = {tuple((Counter(waves) - shared).elements()): number for waves, number in row.items()}
        return self._product_of_waves(shared.elements()) * self._sum(rest, self._product_of_waves)

    def _product_of_waves(self, waves: Iterable[Wave]) -> Any:
        made = []
        for wave in waves:
            turn = sympy.Add(*(k * self.polynomials.angles[angle] for angle, k in wave.turn))
            made.append(sympy.sin(turn) if wave.is_sine else sympy.cos(turn))
        return sympy.Mul(*made)

    def _atoms(self, factors: Factors) -> Any:
        return sympy.Mul(*(self.polynomials.atoms[atom] ** power for atom, power in factors))

    def _parameters(self, row: Row) -> Any:
        """A sum of products of parameters; factors that several share are written once."""
        if self.lengths and len(row) > 1:
            plain = self._sum(row, self._atoms)
            factored = sympy.factor(plain) if not plain.has(sympy.Float) else plain
            if factored.is_Mul or factored.is_Pow:
                return factored
        common = _common(list(row))
        if common:
            rest = {_divided(key, common): number for key, number in row.items()}
            return self._atoms(common) * self._parameters(rest)
        counts = Counter(atom for key in row for atom, power in key if power > 0)
        most = max(counts, key=lambda atom: counts[atom], default=None)
        if most is None or counts[most] < 2:
            return self._sum(row, self._atoms)
        having = {key: n for key, n in row.items() if dict(key).get(most, 0) > 0}
        others = {key: n for key, n in row.items() if key not in having}
        return sympy.Add(self._parameters(having), self._parameters(others))


def _products(table: dict[tuple[Key, Any], Number]) -> Iterator[tuple[Any, dict[Key, Number], Row]]:
    """A table as a sum of numbers times (sum over rows) times (sum over columns): rows that are multiples are one."""
    rows: dict[Key, Row] = {}
    for (key, column), number in table.items():
        rows.setdefault(key, {})[column] = number
    found: list[tuple[dict[Key, Number], Row]] = []
    for key, row in rows.items():
        for keys, known in found:
            ratio = _multiple(row, known)
            if ratio is not None:
                keys[key] = ratio
                break
        else:
            content = _content(row)
            found.append(({key: content}, _scaled(row, content)))
    for left, right in found:
        first, second = _content(left), _content(right)
        yield _number(first * second), _scaled(left, first), _scaled(right, second)


def _multiple(row: Row, known: Row) -> Number | None:
    """The number that times ``known`` is ``row``, or None."""
    if row.keys() != known.keys():
        return None
    column = next(iter(known))
    ratio = _over(row[column], known[column])
    for c, number in row.items():
        expected = ratio * known[c]
        if not (number == expected or (_is_float(number, expected) and isclose(number, expected, rel_tol=_ALIKE))):
            return None
    return ratio


def _content(row: Row) -> Number:
    """The factor before the sum: a minus that all share, and the number if all have the same or multiples of it."""
    numbers = list(row.values())
    sign = -1 if all(n < 0 for n in numbers) else 1
    if len(numbers) == 1:
        return numbers[0]
    if all(abs(n) == abs(numbers[0]) for n in numbers):
        return sign * abs(numbers[0])
    if any(isinstance(n, float) or Fraction(n).denominator > 1 for n in numbers):
        return sign
    return sign * gcd(*(int(n) for n in numbers))


def _scaled(row: dict[Key, Number], content: Number) -> dict[Key, Number]:
    return {key: _over(number, content) for key, number in row.items()}


def _over(a: Number, b: Number) -> Number:
    return a / b if _is_float(a, b) else Fraction(a) / b


def _is_float(*numbers: Number) -> bool:
    return any(isinstance(n, float) for n in numbers)


def _number(number: Number) -> Any:
    if isinstance(number, float):
        return sympy.Integer(int(number)) if number == int(number) else sympy.Float(number)
    return sympy.Rational(number.numerator, number.denominator)


def _common(products: list[Factors]) -> Factors:
    """The common factor of all products, of atoms with powers above zero."""
    shared = reduce(and_, (Counter(dict(product)) for product in products))
    return tuple((atom, power) for atom, power in shared.items() if power > 0)


def _divided(product: Factors, by: Factors) -> Factors:
    powers = dict(product)
    for atom, power in by:
        powers[atom] -= power
    return tuple((atom, power) for atom, power in powers.items() if power)


# ---- parts that occur several times


def is_longer(formulas: Iterable[Any], limit: int) -> bool:
    """Whether formulas have more than ``limit`` parts: numbers, symbols, sums, products and functions."""
    # counted one by one, since shared parts make some formulas huge
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
    """Names for parts that occur more than once, with their formulas, and the formulas in these names."""
    letter = next(x for x in ("x", "y", "z", "x_", "y_") if not any(re.fullmatch(f"{x}\\d+", t) for t in taken))
    symbols = sympy.numbered_symbols(letter, real=True)
    shared, replaced = sympy.cse(formulas, symbols=symbols, order="none")
    return list(shared), list(replaced)  # type: ignore[arg-type]


def folded(shared: Shared, formulas: list[Any], q: set[Any]) -> tuple[Shared, list[Any]]:
    """The same without names for parts that are as short as a name; the others are numbered anew.

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
    if not isinstance(e, sympy.Expr):
        return False
    if q.issuperset(e.as_coefficients_dict()):
        return True
    factor: Any = e.as_coeff_Mul()[1]
    base = factor.base if factor.is_Pow and factor.exp.is_Integer else factor
    return base.is_Atom or isinstance(base, sympy.cos | sympy.sin)
