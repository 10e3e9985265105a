"""What the terms of the equations are called on a page, so that no name stands for two things."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pliant.symbolic.writing import Writer

if TYPE_CHECKING:
    from pliant.symbolic.equations import Equations

__all__ = ["Headings"]


class Headings:
    """Names of M, b, g, Q and their entries.

    A name that is also a parameter's or coordinate's is written as a function: g(q) = m g l sin(q).
    """

    def __init__(self, eq: "Equations", writer: Writer, letters: dict[str, list[str]], *, is_latex: bool):
        """Headings for these equations.

        Args:
            letters: the indices with which each letter is used; an empty one is the letter alone.
            is_latex: whether indices are below the letter.
        """
        own = eq.coordinates
        self._is_latex = is_latex
        self._taken = {writer.line(s) for s in (*own.motion, *eq.parameters)}
        self._has_rates = len(own.rates) == len(own.v)
        self._count = len(eq.b)
        dotted = "\\dot{q}" if is_latex else "q'"
        self.q = self._vector("q", [writer.line(s) for s in own.q])
        rates = [writer.line(s) for s in own.v]
        self.v = self._vector("v", rates) if not self._has_rates else dotted if self.q == "q" else ", ".join(rates)
        u = ", ".join(writer.line(s) for s in own.u) if len(own.u) < 4 else "u"
        self._arguments = {"M": self.q, "b": f"{self.q}, {self.v}", "g": self.q}
        self._arguments["Q"] = ", ".join(x for x in (self.q, self.v, u) if x)
        self._full = {
            letter for letter, indices in letters.items() if any(self._plain(letter, k) in self._taken for k in indices)
        }

    def _vector(self, letter: str, entries: list[str]) -> str:
        return letter if len(entries) > 1 and letter not in self._taken else ", ".join(entries)

    def _plain(self, letter: str, index: str) -> str:
        if not index or self._count == 1:
            return letter
        return f"{letter}_{{{index}}}" if self._is_latex else letter + index

    def entry(self, letter: str, index: str = "") -> str:
        """The name of an entry, or of the whole term for an empty index."""
        plain = self._plain(letter, index)
        return f"{plain}({self._arguments[letter]})" if letter in self._full or plain in self._taken else plain

    def equal(self, letters: Iterable[str]) -> str:
        """Names of whole terms that are the same."""
        return " = ".join(self.entry(letter) for letter in letters)

    def title(self) -> str:
        """The form of the equations in one line; in words, if the letters q and v stand for something else."""
        x, rate = ("q", "q'") if self._has_rates else ("q", "v")
        if self._count == 1 and self._has_rates:
            x, rate = self.q, self.v
        elif self.q != "q" or self.v != rate:
            return "equations of motion"
        M = self.entry("M") if self._has_rates else f"M({x})"
        return f"{M} {rate}' + b({x}, {rate}) + g({x}) = {self.entry('Q')}"
