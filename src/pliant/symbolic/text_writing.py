"""Formulas as plain text."""

from collections.abc import Sequence
from typing import Any

from pliant.symbolic.writing import HINGE, Writer

__all__ = ["TextWriter"]


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
