"""Formulas written out as text or LaTeX (which Matplotlib understands), in an order that people use, in lines."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from pliant.symbolic.coordinates import Coordinates, identifier, sympy

_NUMBERED = re.compile(r"q([1-9])$")
_SHORT = re.compile(r"[cs]\d+$")
# parameters in the order in which they are said: masses, inertias, gravity, lengths and the rest
_ORDER = {"m": 0, "M": 0, "I": 1, "J": 1, "g": 2}
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

# how text and LaTeX write things; {} are the parts
_SYNTAX: dict[str, tuple[str, str]] = {
    "index": ("{}{}", "{}_{{{}}}"),
    "power": ("{}^{}", "{}^{{{}}}"),
    "root": ("sqrt({})", r"\sqrt{{{}}}"),
    "<=": ("<=", r"\leq"),
    ">=": (">=", r"\geq"),
    "!=": ("!=", r"\neq"),
    "==": ("==", "="),
    "word": (" {} ", r"\;\mathrm{{{}}}\;"),
    # a choice is in one line, since Matplotlib has no environments
    "choice": ("{{{}}}", r"\{{{}\}}"),
    "case": ("{} where {}", r"{}\;\mathrm{{where}}\;{}"),
    "otherwise": ("else {}", r"\mathrm{{else}}\;{}"),
    "undefined": ("else undefined", r"\mathrm{else\;undefined}"),
    "comma": (", ", r",\;"),
    # one entry of the force of a spring with several axes
    "J": ("Jlog", r"J_{\log}"),
    "log": ("log", r"\log"),
    "product": ("{}^T {} {}", r"{}^{{T}} {} \, {}"),
    "entry": ("({})_{}", "({})_{{{}}}"),
}
# meanings of functions, and of the letters of springs
_LEGEND: dict[str, tuple[str, str]] = {
    "play": (
        "play(x, w) = x - min(max(x, -w/2), w/2): a stretch x less the play of width w in its middle",
        r"\operatorname{{play}}(x, w) & = x - \min(\max(x, -\frac{{w}}{{2}}), \frac{{w}}{{2}})",
    ),
    "push": (
        "push(s, p) = p where it has the sign of s, else 0",
        r"\operatorname{{push}}(s, p) & = p\;\mathrm{{where\;it\;has\;the\;sign\;of}}\;s,\;\mathrm{{else}}\;0",
    ),
    "joint": ("{joint}: ", r"\mathrm{{{joint}}}:\;"),
    "place": ("{p} = ({place}), {R} the rotation of {turn}", r"{p} & = ({place})"),
    "rotation": ("", r"{R} & = \mathrm{{rotation\;of}}\;{turn}"),
    "turn": (
        "log = the rotation vector of {turn}, at most pi long",
        r"\log & = \mathrm{{rotation\;vector\;of}}\;{turn}",
    ),
    "rate": (
        "Jlog: log' = Jlog w, with w the angular velocity of {joint}",
        r"\frac{{d}}{{dt}} \log & = J_{{\log}} \omega_{{\mathrm{{{joint}}}}}",
    ),
    "law": ("{F} = ({pulls})", "{F} & = ({pulls})"),
    "linear": ("{K} = diag({numbers})", r"{K} & = \mathrm{{diag}}({numbers})"),
}


class Writer:
    """Writes formulas as text, or as LaTeX: terms and factors in order. A formula is a list of pieces.

    Between two pieces a line may be broken; within one, at `HINGE` only, if it is too long for a line. The first
    piece has no sign before it unless it is a minus; the others begin with " + " or " - ".

    Attributes:
        short: short names of cosines and sines that were used, and their meanings.
        called: functions that were used, by name; springs: those that deflect in all directions, by joint.
    """

    def __init__(
        self, is_latex: bool, coordinates: Coordinates, others: Iterable[Any] = (), sprung: Collection[str] = ()
    ):
        """A writer of formulas in these coordinates and ``others``, all other symbols that occur.

        Args:
            is_latex: whether it writes LaTeX; else plain text, ``1/2 m l^2 s2 q1'^2``, where ' is the rate with time.
            sprung: joints with springs in all directions; if it is one, its forces need no name of the joint.
        """
        self.is_latex = is_latex
        self.width = printed_width if is_latex else lambda text: len(text.replace(HINGE, ""))
        self._syntax = {name: forms[is_latex] for name, forms in _SYNTAX.items()}
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
        names = sorted((_ORDER.get(s.name[0], len(_ORDER)), s.name) for s in e.free_symbols)
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
            # Matplotlib leaves no space before the name of a function
            space = " \\, " if part[0].startswith("\\operatorname") else " "
            found[-1] += (space if k else "") + part[0]
            found += part[1:]
        return self._divided(found, below) if below else found

    def _enclosed(self, e: Any) -> list[str]:
        inner = self.pieces(e)
        first, last = "[]" if self.is_latex and "(" in "".join(inner) else "()"
        inner[0] = first + inner[0]
        inner[-1] += last
        whole = HINGE.join(inner)
        return [whole] if self.width(whole) <= _UNBROKEN else inner

    def _factor(self, e: Any) -> str:
        if e.is_Number:
            return self._number(e)
        if e.is_Symbol:
            return self._symbol(e)
        if isinstance(e, sympy.cos | sympy.sin):
            return self._wave("cos" if isinstance(e, sympy.cos) else "sin", e.args[0])
        if e.is_Pow:
            is_root = 2 * e.exp == 1
            return self._syntax["root"].format(self.line(e.base)) if is_root else self._power(e.base, self.line(e.exp))
        return self._other(e)

    def _other(self, e: Any) -> str:
        from pliant.symbolic.forces import turn_pull

        if isinstance(e, sympy.Abs):
            return f"|{self.line(e.args[0])}|"
        if isinstance(e, turn_pull):
            return self._spring(e)
        if isinstance(e, sympy.Piecewise):
            own, parts, last = self._syntax, [], self._syntax["undefined"]
            for value, condition in e.args:  # type: ignore[misc]
                if condition == sympy.true:
                    last = own["otherwise"].format(self.line(value))
                else:
                    parts.append(own["case"].format(self.line(value), self._condition(condition)))
            return own["choice"].format(own["comma"].join([*parts, last]))
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
        own, number = self._syntax, ("2" if is_turn else "1") if is_free else ""
        K, F, R, p = (self.letter(x) for x in "KFRp")
        K, F = (own["index"].format(x, number) if number else x for x in (K, F))
        left, x = (own["J"], own["log"]) if is_turn else (R, p)
        part = own["product"].format(left, K, x) if not any(e.hardening) else own["power"].format(left, "T") + f" {F}"
        entry = str(index) if len(self._sprung) == 1 else f"{identifier(e.joint)}_{index}"
        if self.is_latex:
            entry = "\\,".join(word if word.isdigit() else f"\\mathrm{{{word}}}" for word in entry.split("_") if word)
        return own["entry"].format(part, entry)

    def _condition(self, e: Any) -> str:
        if isinstance(e, sympy.And | sympy.Or):
            word = "and" if isinstance(e, sympy.And) else "or"
            return self._syntax["word"].format(word).join(sorted(self._condition(a) for a in e.args))
        if e.is_Relational:
            return f"{self.line(e.lhs)} {self._syntax.get(e.rel_op, e.rel_op)} {self.line(e.rhs)}"
        return self._unknown(e)

    def _wave(self, name: str, angle: Any) -> str:
        parts = angle.as_coefficients_dict()
        if all(s in self._digits and k == 1 for s, k in parts.items()):
            digits = "".join(sorted(self._digits[s] for s in parts))
            short = self._syntax["index"].format(name[0], digits)
            self.short[short] = f"{self._function(name)}({self.line(angle)})"
            return short
        return f"{self._function(name)}({self.line(angle)})"

    # ---- what text and LaTeX write differently

    def _function(self, name: str) -> str:
        if not self.is_latex:
            return name
        return f"\\{name}" if name in _KNOWN else f"\\operatorname{{{name}}}"

    def _number(self, number: Any) -> str:
        text = f"{float(number):.6g}" if number.is_Float else str(number)
        if not self.is_latex or number.is_Integer:
            return text
        if not number.is_Float:
            return f"\\frac{{{number.p}}}{{{number.q}}}"
        mantissa, e, exponent = text.partition("e")
        return f"{mantissa} \\times 10^{{{int(exponent)}}}" if e else text

    def _symbol(self, symbol: Any) -> str:
        base, dots = self._rates.get(symbol, (symbol, 0))
        if not self.is_latex:
            return base.name + "'" * dots
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
        shown = self._factor(base) if base.is_Symbol or base.is_Function else f"({self.line(base)})"
        needs_none = self.is_latex or exponent.isalnum()
        return self._syntax["power"].format(shown, exponent if needs_none else f"({exponent})")

    def _divided(self, above: list[str], below: Sequence[Any]) -> list[str]:
        if not self.is_latex:
            parts = [f"({self.line(e)})" if e.is_Add else self._factor(e) for e in below]
            return [*above[:-1], above[-1] + "".join(f" / {p}" for p in parts)]
        bottom = " ".join(f"({self.line(e)})" if e.is_Add and len(below) > 1 else self.line(e) for e in below)
        top = "".join(above).replace(HINGE, "")
        return [f"\\frac{{{top}}}{{{bottom}}}"]

    def _unknown(self, e: Any) -> str:
        if not self.is_latex:
            return str(e).replace("**", "^")
        return sympy.latex(e, symbol_names={s: self._symbol(s) for s in e.free_symbols})

    # ---- meanings of functions

    def legend(self) -> list[str]:
        """Lines for the functions that were used; in LaTeX with & before the equals sign."""
        lines = {name: forms[self.is_latex] for name, forms in _LEGEND.items()}
        found = [lines[name].format() for name in ("play", "push") if name in self.called]
        for joint, e in self.springs.items():
            words = joint.replace("_", "\\_") if self.is_latex else joint
            before = "" if len(self.springs) == 1 else lines["joint"].format(joint=words)
            K, F, R, p = (self.letter(x) for x in "KFRp")
            turn, place = (", ".join(self.line(x) for x in part) for part in (e.q[-4:], e.q[:-4]))
            used = ["place", "rotation", "turn", "rate"] if place else ["turn", "rate"]
            letters = {"p": p, "R": R, "place": place, "turn": f"({turn})", "joint": words}
            found += [before + lines[name].format(**letters) for name in used if lines[name]]
            # a free joint has springs of its place and of its turn
            for number, part in (("1", slice(0, 3)), ("2", slice(3, 6))) if place else (("", slice(0, 3)),):
                letters = {x: self._syntax["index"].format(y, number) if number else y for x, y in (("K", K), ("F", F))}
                letters["numbers"] = ", ".join(self.line(x) for x in e.stiffness[part])
                letters["pulls"] = ", ".join(self._pulls(e, part))
                found.append(before + lines["law" if any(e.hardening) else "linear"].format(**letters))
        return found

    def _pulls(self, e: Any, part: slice) -> list[str]:
        """k x + h x^3 for each entry x of a deflection."""
        is_turn = len(e.q) == 4 or part.start == 3
        places = sympy.symbols("log_1 log_2 log_3", real=True) if is_turn else e.q[:3]
        rows = zip(e.stiffness[part], e.hardening[part], places, strict=True)
        return [self.line(k * x + h * x**3) for k, h, x in rows]


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


def _angles(e: Any) -> set[Any]:
    """Symbols that occur inside cosines and sines only."""
    waves = e.atoms(sympy.cos, sympy.sin)
    outside = e.xreplace({wave: sympy.Integer(2) for wave in waves}).free_symbols
    return set().union(*(wave.free_symbols for wave in waves)) - outside
