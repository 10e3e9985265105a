"""Formulas as LaTeX that Matplotlib understands, too."""

import re
from collections.abc import Sequence
from typing import Any

from pliant.symbolic.writing import HINGE, Writer, printed_width

__all__ = ["LatexWriter"]

_GREEK = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi", "rho",
    "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega",
)  # fmt: skip
# functions that LaTeX knows by themselves
_KNOWN = ("cos", "sin", "tan", "exp", "log", "min", "max")
_SIGNS = {">=": "\\geq", "<=": "\\leq", "!=": "\\neq", "==": "="}


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
