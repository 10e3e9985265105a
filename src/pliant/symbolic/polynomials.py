"""Formulas as sums of products: the normal form in which equal formulas of a robot are the same.

The algorithms compute polynomials in parameters, velocities and the cosines and sines of angles. Written out, with
s^2 = 1 - c^2 for every angle, such a polynomial has one form only, so that terms cancel. Numbers stay exact as long as
they are (fractions); floats cancel to within rounding.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import isfinite
from typing import Any

from pliant.errors import PliantError
from pliant.scalar import as_sympy
from pliant.symbolic.coordinates import sympy

Number = int | float | Fraction
Factors = tuple[tuple[int, int], ...]
"""A product: pairs of an atom's number and its power, sorted."""
Polynomial = dict[Factors, Number]

# floats that cancel leave this share of themselves, at most
_ROUNDING = 1e-13


class TooLongError(PliantError):
    """A formula that takes more products to write out than allowed."""


class Polynomials:
    """Reads SymPy expressions as polynomials in numbered atoms.

    An angle has two atoms next to each other, its cosine and its sine. Anything but a sum, product or power of
    atoms (a root, a quotient of sums, a condition) is an atom itself.

    Attributes:
        atoms: by number.
        angles: the angle of an atom that is a cosine or a sine, by number.
    """

    def __init__(self, allowed: float):
        """``allowed`` is how many products may be formed before `TooLongError`."""
        self.atoms: list[Any] = []
        self.angles: dict[int, Any] = {}
        self.allowed = allowed
        self._numbers: dict[Any, int] = {}
        self._sines: set[int] = set()
        self._read: dict[Any, Polynomial] = {}
        self._products: dict[tuple[Factors, Factors], list[tuple[Factors, int]]] = {}

    def is_sine(self, atom: int) -> bool:
        """Whether an atom is the sine of an angle; its cosine is the atom before."""
        return atom in self._sines

    def divides_by_sum(self, polynomial: Polynomial) -> bool:
        """Whether a term has the power of a sum below the line, which may cancel."""
        return any(power < 0 and not self.atoms[atom].is_Symbol for factors in polynomial for atom, power in factors)

    def read(self, expression: Any) -> Polynomial:
        """The polynomial of a SymPy expression."""
        found = self._read.get(expression)
        if found is None:
            found = self._read[expression] = self._polynomial(expression)
        return found

    def _polynomial(self, e: Any) -> Polynomial:
        if e.is_Number:
            number = _number(e)
            return {(): number} if number != 0 else {}
        if e.is_Add:
            return total(self.read(a) for a in e.args)
        if e.is_Mul:
            # short factors first: less to multiply out when one of them is zero
            product: Polynomial = {(): 1}
            for factor in sorted((self.read(a) for a in e.args), key=len):
                product = self.product(product, factor)
            return product
        if e.is_Pow and e.exp.is_Integer:
            return self._power(e.base, int(e.exp))
        if isinstance(e, sympy.cos | sympy.sin):
            return self._turned(e.args[0])[isinstance(e, sympy.sin)]
        return {((self._number_of(e), 1),): 1}

    def expression(self, polynomial: Polynomial) -> Any:
        """The polynomial as a SymPy expression; cosines and sines are functions that nothing is known about."""
        return sympy.Add(
            *(
                sympy.Mul(sympy.Rational(number) if isinstance(number, Fraction) else number,
                          *(self.atoms[atom] ** power for atom, power in factors))
                for factors, number in polynomial.items()
            )
        )  # fmt: skip

    def restored(self, expression: Any) -> Any:
        """The expression with real cosines and sines again."""
        pairs = {self.atoms[a]: (sympy.sin if self.is_sine(a) else sympy.cos)(x) for a, x in self.angles.items()}
        return expression.xreplace(pairs)

    def product(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """The product of two polynomials."""
        self.allowed -= len(a) * len(b)
        if self.allowed < 0:
            cure = "leave it as it is, with simplify=False"
            raise TooLongError("a formula is too long to write out", field="simplify", cure=cure)
        found: Polynomial = {}
        for p, x in a.items():
            for r, y in b.items():
                number = x * y
                for factors, sign in self._times(p, r):
                    add_term(found, factors, number * sign)
        return found

    def _times(self, a: Factors, b: Factors) -> list[tuple[Factors, int]]:
        """The product of two products: several, if the square of a sine is replaced."""
        if not a or not b:
            return [(a or b, 1)]
        known = self._products.get((a, b))
        if known is not None:
            return known
        powers = dict(a)
        for atom, power in b:
            powers[atom] = powers.get(atom, 0) + power
        results = [(powers, 1)]
        for s in [atom for atom, power in powers.items() if atom in self._sines and power == 2]:
            results = [
                changed
                for p, sign in results
                for changed in (({**p, s: 0}, sign), ({**p, s: 0, s - 1: p.get(s - 1, 0) + 2}, -sign))
            ]
        done = [(tuple(sorted((a, p) for a, p in powers.items() if p)), sign) for powers, sign in results]
        self._products[a, b] = done
        return done

    def _power(self, base: Any, exponent: int) -> Polynomial:
        if exponent < 0 and not base.is_Symbol and len(self.read(base)) == 1:
            ((factors, number),) = self.read(base).items()
            if not any(atom in self.angles for atom, _ in factors):
                inverse = Fraction(1) / number if not isinstance(number, float) else 1 / number
                return {tuple((a, p * exponent) for a, p in factors): inverse**-exponent}
        if exponent < 0 or base.is_Symbol:
            return {((self._number_of(base), exponent),): 1}
        power: Polynomial = {(): 1}
        factor = self.read(base)
        for _ in range(exponent):
            power = self.product(power, factor)
        return power

    def _turned(self, angle: Any) -> tuple[Polynomial, Polynomial]:
        """Cosine and sine of a sum of whole multiples of symbols, by the addition theorems; else atoms."""
        parts = as_sympy(angle).as_coefficients_dict()
        if not all(x.is_Symbol and k.is_Integer and abs(k) < 9 for x, k in parts.items()):
            return self._angle(angle)
        cosine: Polynomial = {(): 1}
        sine: Polynomial = {}
        for x, k in parts.items():
            c, s = self._angle(x)
            if k < 0:
                s = {factors: -number for factors, number in s.items()}
            for _ in range(abs(int(k))):
                minus = {factors: -number for factors, number in self.product(sine, s).items()}
                cosine, sine = (
                    total([self.product(cosine, c), minus]),
                    total([self.product(sine, c), self.product(cosine, s)]),
                )
        return cosine, sine

    def _angle(self, angle: Any) -> tuple[Polynomial, Polynomial]:
        c = self._number_of(sympy.Function("cosine")(angle))
        if c == len(self.atoms) - 1 and c not in self.angles:
            s = self._number_of(sympy.Function("sine")(angle))
            self.angles[c] = self.angles[s] = angle
            self._sines.add(s)
        return {((c, 1),): 1}, {((c + 1, 1),): 1}

    def _number_of(self, e: Any) -> int:
        if e not in self._numbers:
            self._numbers[e] = len(self.atoms)
            self.atoms.append(e)
        return self._numbers[e]


def total(polynomials: Iterable[Polynomial]) -> Polynomial:
    """The sum of polynomials."""
    found: Polynomial = {}
    for polynomial in polynomials:
        for factors, number in polynomial.items():
            add_term(found, factors, number)
    return found


def add_term(polynomial: dict[Any, Number], factors: Any, number: Number, rounding: float = _ROUNDING) -> None:
    """Add a term; it goes if what is left of it is nothing but rounding."""
    before = polynomial.get(factors, 0)
    after = before + number
    is_rest = isinstance(after, float) and before != 0 and abs(after) <= rounding * max(abs(before), abs(number))
    if after == 0 or is_rest:
        polynomial.pop(factors, None)
    else:
        polynomial[factors] = after


def _number(e: Any) -> Number:
    if e.is_Integer:
        return int(e)
    if e.is_Rational:
        return Fraction(int(e.p), int(e.q))
    number = float(e)
    if not isfinite(number):
        raise PliantError(f"a formula of the robot contains {e}", cure="give its parts finite numbers")
    return int(number) if number == int(number) else number
