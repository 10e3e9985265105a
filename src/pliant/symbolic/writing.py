"""Formulas written out as text or LaTeX (which Matplotlib understands), in an order that people use, in lines."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from pliant.symbolic.coordinates import Coordinates, identifier

__all__ = ["LatexWriter", "TextWriter", "Writer", "broken", "printed_width"]

_NUMBERED = re.compile(r"q([1-9])$")
_SHORT = re.compile(r"[cs]\d+$")
# parameters in the order in which they are said: masses, inertias, gravity, lengths and the rest
_ORDER = ("mM", "IJ", "g")
# functions whose names in SymPy are others than in formulas
_FUNCTIONS = {"Max": "max", "Min": "min", "ceiling": "ceil"}
# sums in brackets of up to this many characters stay on one line
_UNBROKEN = 48
# where a piece may be broken after all
HINGE = "\0"
_GREEK = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi", "rho",
    "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega",
)  # fmt: skip
# functions that LaTeX knows by themselves
_KNOWN = ("cos", "sin", "tan", "exp", "log", "min", "max")
_SIGNS = {">=": "\\geq", "<=": "\\leq", "!=": "\\neq", "==": "="}


class Writer(ABC):
    """The common part of text and LaTeX: the order of terms and factors. A formula is a list of pieces.

    Between two pieces a line may be broken; within one, at `HINGE` only, if it is too long for a line. The first
    piece has no sign before it unless it is a minus; the others begin with " + " or " - ".

    Attributes:
        short: short names of cosines and sines that were used, and their meanings.
        called: functions that were used, by name; springs: those that deflect in all directions, by joint.
    """

    def __init__(self, coordinates: Coordinates, others: Iterable[Any] = (), sprung: Collection[str] = ()):
        """A writer of formulas in these coordinates and ``others``, all other symbols that occur.

        Args:
            sprung: joints with springs in all directions; if it is one, its forces need no name of the joint.
        """
        self.coordinates = coordinates
        self.short: dict[str, str] = {}
        self.called: dict[str, Any] = {}
        self.springs: dict[str, Any] = {}
        self._sprung = sprung
        self._others = {s.name for s in (*coordinates.motion, *others)}
        q, v, vd, u = coordinates.q, coordinates.v, coordinates.vd, coordinates.u
        self._places = {s: (kind, k) for kind, part in enumerate((vd, u, q, v)) for k, s in enumerate(part)}
        self._rates = {v[k]: (x, 1) for k in range(len(v)) if (x := coordinates.rates.get(v[k])) is not None}
        self._rates |= {
            vd[k]: (coordinates.rates.get(v[k], v[k]), 1 + (v[k] in coordinates.rates)) for k in range(len(v))
        }
        self._digits = {s: m[1] for s in q if (m := _NUMBERED.match(s.name))}
        if len(q) > 9 or any(_SHORT.match(s.name) for s in (*q, *others)):
            self._digits = {}

    def pieces(self, e: Any) -> list[str]:
        """The formula in pieces."""
        if not e.is_Add:
            return self._term(e)
        found: list[str] = []
        for term in sorted(e.args, key=self._term_order):
            is_minus, size = _sign(term)
            first, *rest = self._term(size)
            sign = ("-" if is_minus else "") if not found else (" - " if is_minus else " + ")
            found += [sign + first, *rest]
        return found

    def line(self, e: Any) -> str:
        """The formula in one line."""
        return "".join(self.pieces(e)).replace(HINGE, "")

    def letter(self, x: str) -> str:
        """A letter of a legend; twice, if a symbol has its name, with or without a number."""
        return 2 * x if not self._others.isdisjoint([x, f"{x}1", f"{x}2"]) else x

    # ---- order

    def _term_order(self, e: Any) -> tuple:
        """Accelerations first, then controls, positions, velocities; last terms with cosines and sines only."""
        import sympy

        used = sorted(self._places[s] for s in e.free_symbols if s in self._places)
        names = self._parameter_order(e)
        if not used:
            return -1, (), 0 if e.is_Number else 1, names, ()
        polynomial = {s for s in e.free_symbols if s in self._places and s not in _angles(e)}
        kind = min((self._places[s][0] for s in polynomial), default=4)
        waves = 0 if not e.has(sympy.cos, sympy.sin) else 1 if e.has(sympy.cos) else 2
        if any(not isinstance(f, sympy.cos | sympy.sin) for f in e.atoms(sympy.Function)):
            waves = 3
        elif not all(p.exp.is_Integer for p in e.atoms(sympy.Pow)):
            waves = 4
        return kind, used[0], waves, names, tuple(used)

    def _factor_order(self, e: Any) -> tuple:
        import sympy

        base = e.base if e.is_Pow else e
        used = [self._places[s] for s in base.free_symbols if s in self._places]
        if not used or (base.is_Add and not base.has(sympy.cos, sympy.sin) and base.free_symbols - self._places.keys()):
            # also lengths that change, l + q
            return 0, base.is_Add, self._parameter_order(base), ()
        if isinstance(base, sympy.cos | sympy.sin):
            return 1, isinstance(base, sympy.sin), str(base), ()
        motion = base.free_symbols - _angles(base)
        return (2 if motion.isdisjoint(self._places) else 3), base.is_Add, "", (min(used), str(base))

    def _parameter_order(self, e: Any) -> str:
        names = sorted((_rank(s.name), s.name) for s in e.free_symbols)
        return " ".join(f"{rank}{name}" for rank, name in names)

    # ---- parts

    def _term(self, e: Any) -> list[str]:
        """A product: a number, then factors; at most one of them is broken, the last sum."""
        if e.is_Mul:
            number, factors = e.as_coeff_mul()
            below = [f for f in factors if f.is_Pow and f.exp.is_negative]
            above = sorted((f for f in factors if f not in below), key=self._factor_order)
            return self._product(number, above, [f.base**-f.exp for f in below])
        if e.is_Pow and e.exp.is_negative:
            return self._product(e.func(1, 1), [], [e.base**-e.exp])
        return [self._factor(e)] if not e.is_Add else self._enclosed(e)

    def _product(self, number: Any, above: Sequence[Any], below: Sequence[Any]) -> list[str]:
        is_minus, size = _sign(number)
        found = ["-" if is_minus else ""]
        parts: list[list[str]] = []
        text = self._number(size)
        if text != "1" or not above:
            parts.append([text])
        for factor in above:
            parts.append(self._enclosed(factor) if factor.is_Add else [self._factor(factor)])
        for k, part in enumerate(parts):
            found[-1] += (self._space(part[0]) if k else "") + part[0]
            found += part[1:]
        return self._divided(found, below) if below else found

    def _enclosed(self, e: Any) -> list[str]:
        inner = self.pieces(e)
        first, last = self._brackets("".join(inner))
        inner[0] = first + inner[0]
        inner[-1] += last
        whole = HINGE.join(inner)
        return [whole] if self._width(whole) <= _UNBROKEN else inner

    def _factor(self, e: Any) -> str:
        import sympy

        if e.is_Number:
            return self._number(e)
        if e.is_Symbol:
            return self._symbol(e)
        if isinstance(e, sympy.cos | sympy.sin):
            return self._wave("cos" if isinstance(e, sympy.cos) else "sin", e.args[0])
        if e.is_Pow:
            return self._root(e.base) if 2 * e.exp == 1 else self._power(e.base, self.line(e.exp))
        return self._other(e)

    def _other(self, e: Any) -> str:
        import sympy

        from pliant.symbolic.named_functions import turn_pull

        if isinstance(e, sympy.Abs):
            return self._size(e.args[0])
        if isinstance(e, turn_pull):
            return self._spring(e)
        if isinstance(e, sympy.Piecewise):
            parts: Any = e.args
            cases = [(self.line(value), self._condition(c)) for value, c in parts if c != sympy.true]
            return self._cases(cases, next((self.line(value) for value, c in parts if c == sympy.true), ""))
        if e.is_Function and all(isinstance(a, sympy.Expr) for a in e.args):
            name = str(e.func.__name__)
            name = _FUNCTIONS.get(name, name)
            # Max and Min have no order of their own: numbers last
            args = sorted(e.args, key=lambda a: a.is_Number) if isinstance(e, sympy.Max | sympy.Min) else e.args
            self.called.setdefault(name, type(e))
            return f"{self._function(name)}({f',{HINGE} '.join(self.line(a) for a in args)})"
        return self._unknown(e)

    def _spring(self, e: Any) -> str:
        self.springs.setdefault(e.joint, e)
        is_free, index = len(e.q) == 7, e.axis % 3 + 1
        is_turn = not is_free or e.axis >= 3
        entry = str(index) if len(self._sprung) == 1 else f"{identifier(e.joint)}_{index}"
        return self._pull(is_turn, not any(e.hardening), ("2" if is_turn else "1") if is_free else "", entry)

    def _condition(self, e: Any) -> str:
        import sympy

        if isinstance(e, sympy.And | sympy.Or):
            word = "and" if isinstance(e, sympy.And) else "or"
            return self._joined(word, sorted(self._condition(a) for a in e.args))
        if e.is_Relational:
            return self._compared(e.rel_op, self.line(e.lhs), self.line(e.rhs))
        return self._unknown(e)

    def _wave(self, name: str, angle: Any) -> str:
        parts = angle.as_coefficients_dict()
        if all(s in self._digits and k == 1 for s, k in parts.items()):
            digits = "".join(sorted(self._digits[s] for s in parts))
            short = self._short_wave(name[0], digits)
            self.short[short] = f"{self._function(name)}({self.line(angle)})"
            return short
        return f"{self._function(name)}({self.line(angle)})"

    @abstractmethod
    def _width(self, text: str) -> int:
        """How wide a text is printed, in characters."""

    @abstractmethod
    def _space(self, following: str) -> str:
        """The space between factors, before ``following``."""

    @abstractmethod
    def _brackets(self, inner: str) -> str:
        """A text in brackets."""

    @abstractmethod
    def _number(self, number: Any) -> str:
        """A number."""

    @abstractmethod
    def _symbol(self, symbol: Any) -> str:
        """A symbol."""

    @abstractmethod
    def _power(self, base: Any, exponent: str) -> str:
        """A power."""

    @abstractmethod
    def _root(self, e: Any) -> str:
        """A root."""

    @abstractmethod
    def _divided(self, above: list[str], below: Sequence[Any]) -> list[str]:
        """Factors above and below a line."""

    @abstractmethod
    def _short_wave(self, letter: str, digits: str) -> str:
        """The short name of a sine or cosine."""

    @abstractmethod
    def _function(self, name: str) -> str:
        """The name of a function."""

    @abstractmethod
    def _size(self, e: Any) -> str:
        """An absolute value."""

    @abstractmethod
    def _cases(self, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
        """Cases, and what holds otherwise."""

    @abstractmethod
    def _joined(self, word: str, conditions: Sequence[str]) -> str:
        """Conditions joined by a word."""

    @abstractmethod
    def _compared(self, sign: str, left: str, right: str) -> str:
        """A comparison."""

    @abstractmethod
    def _pull(self, is_turn: bool, has_matrix: bool, numbers: str, entry: str) -> str:
        """The pull of a spring with several axes."""

    @abstractmethod
    def _unknown(self, e: Any) -> str:
        """What no rule above covers."""


def broken(pieces: Sequence[str], width: int, measure: Callable[[str], int] = len) -> list[str]:
    """Pieces as lines of at most ``width``; what has no place to break may be longer."""
    lines: list[str] = []
    for piece in pieces:
        whole = piece.replace(HINGE, "")
        for part in [whole] if measure(whole.lstrip(" ")) <= width else piece.split(HINGE):
            if lines and measure(lines[-1] + part) <= width:
                lines[-1] += part
            else:
                lines.append(part.lstrip(" "))
    return lines


def printed_width(latex: str) -> int:
    """About how many characters wide LaTeX is in print."""
    text = re.sub(r"\\frac\{(\w+)\}\{(\w+)\}", lambda m: max(m[1], m[2], key=len), latex)
    text = re.sub(r"\\(?:d?dot|mathrm|operatorname)|\0", "", text)
    return len(re.sub(r"[{}^_&]|\\,", "", re.sub(r"\\[a-z]+", "x", text)))


def _sign(e: Any) -> tuple[bool, Any]:
    number = e if e.is_Number else e.as_coeff_mul()[0]
    return (True, -e) if number.is_negative else (False, e)


def _rank(name: str) -> int:
    return next((k for k, letters in enumerate(_ORDER) if name[0] in letters), len(_ORDER))


def _angles(e: Any) -> set[Any]:
    """Symbols that occur inside cosines and sines only."""
    import sympy

    waves = e.atoms(sympy.cos, sympy.sin)
    outside = e.xreplace({wave: sympy.Integer(2) for wave in waves}).free_symbols
    return set().union(*(wave.free_symbols for wave in waves)) - outside


# ---- text


class TextWriter(Writer):
    """Plain text: ``1/2 m l^2 s2 q1'^2``, where ' is the rate with time."""

    def _width(self, text: str) -> int:
        return len(text.replace(HINGE, ""))

    def _space(self, following: str) -> str:
        return " "

    def _brackets(self, inner: str) -> str:
        return "()"

    def _number(self, number: Any) -> str:
        return f"{float(number):.6g}" if number.is_Float else str(number)

    def _symbol(self, symbol: Any) -> str:
        base, dots = self._rates.get(symbol, (symbol, 0))
        return base.name + "'" * dots

    def _power(self, base: Any, exponent: str) -> str:
        shown = exponent if exponent.isalnum() else f"({exponent})"
        if base.is_Symbol:
            return f"{self._symbol(base)}^{shown}"
        return f"{self._factor(base)}^{shown}" if base.is_Function else f"({self.line(base)})^{shown}"

    def _root(self, e: Any) -> str:
        return f"sqrt({self.line(e)})"

    def _divided(self, above: list[str], below: Sequence[Any]) -> list[str]:
        parts = [f"({self.line(e)})" if e.is_Add else self._factor(e) for e in below]
        return [*above[:-1], above[-1] + "".join(f" / {p}" for p in parts)]

    def _short_wave(self, letter: str, digits: str) -> str:
        return letter + digits

    def _function(self, name: str) -> str:
        return name

    def _size(self, e: Any) -> str:
        return f"|{self.line(e)}|"

    def _cases(self, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
        parts = [f"{value} where {condition}" for value, condition in cases]
        return "{" + ", ".join([*parts, f"else {otherwise}" if otherwise else "else undefined"]) + "}"

    def _joined(self, word: str, conditions: Sequence[str]) -> str:
        return f" {word} ".join(conditions)

    def _compared(self, sign: str, left: str, right: str) -> str:
        return f"{left} {sign} {right}"

    def _pull(self, is_turn: bool, has_matrix: bool, numbers: str, entry: str) -> str:
        K, F, R, p = (self.letter(x) for x in "KFRp")
        left, x = ("Jlog", "log") if is_turn else (R, p)
        part = f"{left}^T {K}{numbers} {x}" if has_matrix else f"{left}^T {F}{numbers}"
        return f"({part})_{entry}"

    def _unknown(self, e: Any) -> str:
        return str(e).replace("**", "^")


# ---- LaTeX


class LatexWriter(Writer):
    r"""LaTeX: ``\frac{1}{2} m l^{2} s_{2} \dot{q}_{1}^{2}``."""

    def _width(self, text: str) -> int:
        return printed_width(text)

    def _space(self, following: str) -> str:
        # Matplotlib leaves no space before the name of a function
        return " \\, " if following.startswith("\\operatorname") else " "

    def _brackets(self, inner: str) -> str:
        return "[]" if "(" in inner else "()"

    def _number(self, number: Any) -> str:
        if number.is_Float:
            text = f"{float(number):.6g}"
            mantissa, e, exponent = text.partition("e")
            return f"{mantissa} \\times 10^{{{int(exponent)}}}" if e else text
        return str(number) if number.is_Integer else f"\\frac{{{number.p}}}{{{number.q}}}"

    def _symbol(self, symbol: Any) -> str:
        base, dots = self._rates.get(symbol, (symbol, 0))
        letter, *below = base.name.split("_")
        match = re.fullmatch(r"([A-Za-z]+)(\d+)", letter)
        if match:
            letter, below = match[1], [match[2], *below]
        letter = f"\\{letter}" if letter in _GREEK else letter if len(letter) == 1 else f"\\mathrm{{{letter}}}"
        if dots:
            letter = f"\\{'d' * dots}ot{{{letter}}}"
        parts = [b if len(b) == 1 or b.isdigit() or set(b) <= set("xyz") else f"\\mathrm{{{b}}}" for b in below if b]
        return letter + ("_{" + "\\,".join(parts) + "}" if parts else "")

    def _power(self, base: Any, exponent: str) -> str:
        if base.is_Symbol or base.is_Function:
            return f"{self._factor(base)}^{{{exponent}}}"
        return f"({self.line(base)})^{{{exponent}}}"

    def _root(self, e: Any) -> str:
        return f"\\sqrt{{{self.line(e)}}}"

    def _divided(self, above: list[str], below: Sequence[Any]) -> list[str]:
        bottom = " ".join(f"({self.line(e)})" if e.is_Add and len(below) > 1 else self.line(e) for e in below)
        top = "".join(above).replace(HINGE, "")
        return [f"\\frac{{{top}}}{{{bottom}}}"]

    def _short_wave(self, letter: str, digits: str) -> str:
        return f"{letter}_{{{digits}}}"

    def _function(self, name: str) -> str:
        return f"\\{name}" if name in _KNOWN else f"\\operatorname{{{name}}}"

    def _size(self, e: Any) -> str:
        return f"|{self.line(e)}|"

    def _cases(self, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
        # in one line, since Matplotlib has no environments
        parts = [f"{value}\\;\\mathrm{{where}}\\;{condition}" for value, condition in cases]
        last = f"\\mathrm{{else}}\\;{otherwise}" if otherwise else "\\mathrm{else\\;undefined}"
        return "\\{" + ",\\;".join([*parts, last]) + "\\}"

    def _joined(self, word: str, conditions: Sequence[str]) -> str:
        return f"\\;\\mathrm{{{word}}}\\;".join(conditions)

    def _compared(self, sign: str, left: str, right: str) -> str:
        return f"{left} {_SIGNS.get(sign, sign)} {right}"

    def _pull(self, is_turn: bool, has_matrix: bool, numbers: str, entry: str) -> str:
        below = f"_{{{numbers}}}" if numbers else ""
        K, F, R, p = (self.letter(x) for x in "KFRp")
        left, x = ("J_{\\log}", "\\log") if is_turn else (R, p)
        part = f"{left}^{{T}} {K}{below} \\, {x}" if has_matrix else f"{left}^{{T}} {F}{below}"
        index = "\\,".join(p if p.isdigit() else f"\\mathrm{{{p}}}" for p in entry.split("_") if p)
        return f"({part})_{{{index}}}"

    def _unknown(self, e: Any) -> str:
        import sympy

        return sympy.latex(e, symbol_names={s: self._symbol(s) for s in e.free_symbols})
