"""The equations of motion on a page: text, LaTeX, Markdown."""

import re
from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from pliant.progress import working
from pliant.scalar import as_sympy
from pliant.symbolic.tidying import folded, is_longer, named_parts
from pliant.symbolic.writing import Writer, broken, printed_width

if TYPE_CHECKING:
    from pliant.symbolic.equations import Equations

# equations of more parts than this are shown by their entries, with names for what occurs in several
_LONG = 2000


class Page:
    """The content of a page.

    Attributes:
        rows: left and right sides of the equations one by one; none if they are long.
        shared: names for what occurs in several parts, with their formulas.
        parts: of M, b, g and Q: names, as (letter, indices), that are all equal to a formula, and this.
        zero: which of M, b, g and Q are zero altogether.
        writer, headings: of the formulas and of the names.
    """

    def __init__(self, eq: "Equations", *, is_latex: bool):
        groups = {"M": _matrix_parts(eq.M)}
        for letter, column in (("b", eq.b), ("g", eq.g), ("Q", eq.Q)):
            groups[letter] = [([(letter, str(k + 1))], e) for k, e in enumerate(column) if e != 0]
        flat = [formula for group in groups.values() for _, formula in group]
        self.shared: list[tuple[Any, Any]] = []
        is_long = is_longer(flat, _LONG)
        if is_long:
            taken = {s.name for s in (*eq.coordinates.motion, *eq.parameters)}
            self.shared, flat = folded(*named_parts(flat, taken), set(eq.coordinates.q))
        self.rows = [] if is_long else list(zip(eq.tau, eq.Q, strict=True))
        new = iter(flat)
        self.parts = [[(names, next(new)) for names, _ in group] for group in groups.values() if group]
        self.zero = [letter for letter, group in groups.items() if not group]
        self.writer = Writer(
            is_latex, eq.coordinates, [*eq.parameters, *(name for name, _ in self.shared)], _sprung(eq)
        )
        letters: dict[str, list[str]] = {}
        for letter, index in (name for group in self.parts for names, _ in group for name in names):
            letters.setdefault(letter, []).append(index)
        self.headings = _Headings(eq, self.writer, letters)

    def names(self, names: list[tuple[str, str]]) -> str:
        """Entries that are the same."""
        return " = ".join(self.headings.entry(*name) for name in names)

    def short(self) -> list[str]:
        """Meanings of the short names of cosines and sines."""

        def by_digits(item: tuple[str, str]) -> tuple:
            digits = re.sub(r"\D", "", item[0])
            return len(digits), digits, item[0]

        return [f"{short} = {full}" for short, full in sorted(self.writer.short.items(), key=by_digits)]


def _matrix_parts(M: Any) -> list[tuple[list[tuple[str, str]], Any]]:
    """The entries on and above the diagonal that are not zero; equal ones in one line."""
    n = M.shape[0]
    comma = "," if n > 9 else ""
    found: dict[Any, list[tuple[str, str]]] = {}
    for i in range(n):
        for j in range(i, n):
            names = dict.fromkeys([f"{i + 1}{comma}{j + 1}", f"{j + 1}{comma}{i + 1}"])
            if M[i, j] != 0:
                found.setdefault(M[i, j], []).extend(("M", name) for name in names)
    return [(names, formula) for formula, names in found.items()]


def _sprung(eq: "Equations") -> set[str]:
    from pliant.symbolic.forces import turn_pull

    return {call.joint for call in eq.Q.atoms(turn_pull)}


# ---- text


def text_of(eq: "Equations", width: int) -> str:
    """The page as plain text."""
    with working(f"equations of {eq.robot.name}") as at:
        at("names for shared parts")
        page = Page(eq, is_latex=False)
        at("the text")
        return _text(eq, page, width)


def _text(eq: "Equations", page: Page, width: int) -> str:
    writer = page.writer
    lines = [f"{eq.robot.name}: {page.headings.title()}{_left_out(eq)}", ""]
    for left, right in page.rows:
        first, *rest = writer.pieces(right)
        lines += _text_line("", [*writer.pieces(left), f" = {first}", *rest], width)
    lines += [""] if page.rows else []
    for name, formula in page.shared:
        lines += _text_line(f"{name} = ", writer.pieces(formula), width)
    lines += [""] if page.shared else []
    for group in page.parts:
        for names, formula in group:
            lines += _text_line(page.names(names) + " = ", writer.pieces(formula), width)
        lines.append("")
    if page.zero:
        lines += [page.headings.equal(page.zero) + " = 0", ""]
    for line in writer.legend():
        lines += wrap(line, max(width, 20), subsequent_indent="    ", break_long_words=False)
    lines += _listed(page.short(), width)
    lines += _listed([f"{s.name}: {what}" for s, what in _symbols(eq)], width)
    lines += _listed([f"{s.name} = {value:.6g}" for s, value in eq.parameters.items() if value is not s], width)
    return "\n".join(lines).rstrip()


def written(eq: "Equations", formula: Any, width: int) -> str:
    """One formula as text."""
    writer = Writer(False, eq.coordinates, eq.parameters, _sprung(eq))
    return "\n".join(broken(writer.pieces(as_sympy(formula, "formula")), width))


def _left_out(eq: "Equations") -> str:
    left_out = [f"closure {name!r}" for name in eq.robot.closures]
    left_out += [f"that joint {j.name!r} is locked" for j in eq.robot.joints.values() if j.is_locked]
    return f" (without {', '.join(left_out)})" if left_out else ""


def _text_line(start: str, pieces: list[str], width: int) -> list[str]:
    indent = max(len(start), 4)
    first, *rest = broken(pieces, max(width - indent, 20))
    return [start + first, *(" " * indent + line for line in rest)]


def _listed(items: list[str], width: int) -> list[str]:
    pieces = [item if k == 0 else f", {item}" for k, item in enumerate(items)]
    return [line.removeprefix(", ") for line in broken(pieces, width)] if items else []


def _symbols(eq: "Equations") -> Iterator[tuple[Any, str]]:
    """The symbols of motion that need a word: coordinates, velocities that are not their rates, controls."""
    own = eq.coordinates
    for s in (*own.q, *(v for v in own.v if v not in own.rates), *own.u):
        if own.meaning[s] not in (s.name, s.name.partition("_")[2]):
            yield s, own.meaning[s]


# ---- LaTeX, and Markdown


def latex_of(eq: "Equations", width: int) -> str:
    """The page as one aligned environment of LaTeX."""
    page = Page(eq, is_latex=True)
    lines = [*_latex_rows(page, width), *_latex_parts(page, width), *page.writer.legend()]
    short = page.short()
    pieces = [item if k == 0 else f",\\; {item}" for k, item in enumerate(short)]
    return _aligned([*lines, *(f"& {line}" for line in broken(pieces, width, printed_width))])


def _aligned(lines: list[str]) -> str:
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _latex_line(start: str, page: Page, formula: Any, width: int, indent: str = "& \\quad") -> list[str]:
    first, *rest = broken(page.writer.pieces(formula), width, printed_width)
    return [f"{start} {first}", *(f"{indent} {line}" for line in rest)]


def _latex_rows(page: Page, width: int) -> list[str]:
    found: list[str] = []
    for left, right in page.rows:
        found += _latex_line("&", page, left, width)
        ends = page.writer.line(right)
        if printed_width(found[-1]) + printed_width(ends) <= width:
            found[-1] += f" = {ends}"
        else:
            found += _latex_line("& \\quad =", page, right, width, "& \\quad\\quad")
    return found


def _latex_parts(page: Page, width: int) -> list[str]:
    rows = [(page.writer.line(name), formula) for name, formula in page.shared]
    rows += [(page.names(names), formula) for group in page.parts for names, formula in group]
    found = [line for names, formula in rows for line in _latex_line(f"{names} & =", page, formula, width)]
    return [*found, *([f"{page.headings.equal(page.zero)} & = 0"] if page.zero else [])]


def markdown_of(eq: "Equations", width: int) -> str:
    """The page as Markdown with formulas in $$, and tables of symbols."""
    page = Page(eq, is_latex=True)
    write = page.writer.line
    parts = [f"**{eq.robot.name}**, equations of motion by {eq.method}{_left_out(eq)}"]
    blocks = [_latex_rows(page, width), _latex_parts(page, width)]
    parts += [f"$$\n{_aligned(lines)}\n$$" for lines in blocks if lines]
    meant = [f"${line.replace('& = ', '= ')}$" for line in (*page.writer.legend(), *page.short())]
    if meant:
        parts.append("with " + ", ".join(meant))
    rows = [(f"${write(s)}$", what) for s, what in _symbols(eq)]
    rows += [(f"${write(s)}$", f"{value:.6g}") for s, value in eq.parameters.items() if value is not s]
    if rows:
        parts.append("\n".join(["| symbol | |", "|---|---|", *(f"| {s} | {what} |" for s, what in rows)]))
    return "\n\n".join(parts) + "\n"


# ---- names of terms


class _Headings:
    """Names of M, b, g, Q and their entries on a page, so that no name stands for two things.

    A name that is also a parameter's or coordinate's is written as a function: g(q) = m g l sin(q).
    """

    def __init__(self, eq: "Equations", writer: Writer, letters: dict[str, list[str]]):
        """``letters`` has the indices with which each letter is used; an empty one is the letter alone."""
        own = eq.coordinates
        self._is_latex = writer.is_latex
        self._taken = {writer.line(s) for s in (*own.motion, *eq.parameters)}
        self._has_rates = len(own.rates) == len(own.v)
        self._count = len(eq.b)
        dotted = "\\dot{q}" if writer.is_latex else "q'"
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
