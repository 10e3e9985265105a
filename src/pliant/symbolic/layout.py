"""The equations of motion on a page: text, LaTeX, Markdown."""

import re
from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from pliant.progress import working
from pliant.scalar import as_sympy
from pliant.symbolic.tidying import folded, is_longer, named_parts
from pliant.symbolic.writing import LatexWriter, TextWriter, Writer, broken, printed_width

if TYPE_CHECKING:
    from pliant.symbolic.equations import Equations

__all__ = ["latex_of", "markdown_of", "text_of", "written"]

# equations of more parts than this are shown by their entries, with names for what occurs in several
_LONG = 2000

_TEXT_LEGEND = {
    "play": "play(x, w) = x - min(max(x, -w/2), w/2): a stretch x less the play of width w in its middle",
    "push": "push(s, p) = p where it has the sign of s, else 0",
}
_LATEX_LEGEND = {
    "play": [(r"\operatorname{play}(x, w)", r"x - \min(\max(x, -\frac{w}{2}), \frac{w}{2})")],
    "push": [
        (r"\operatorname{push}(s, p)", r"p\;\mathrm{where\;it\;has\;the\;sign\;of}\;s,\;\mathrm{else}\;0"),
    ],
}


class Part(NamedTuple):
    """One line of the page: names, as (letter, indices), that are all equal to a formula."""

    names: list[tuple[str, str]]
    formula: Any


class Page(NamedTuple):
    """The content of a page.

    Attributes:
        rows: left and right sides of the equations one by one; none if they are long.
        shared: names for what occurs in several parts, with their formulas.
        parts: the entries of M, b, g and Q.
        zero: which of them are zero altogether.
    """

    rows: list[tuple[Any, Any]]
    shared: list[tuple[Any, Any]]
    parts: list[list[Part]]
    zero: list[str]


def _page(eq: "Equations") -> Page:
    groups = {"M": _matrix_parts(eq.M), "b": _column_parts("b", eq.b), "g": _column_parts("g", eq.g)}
    groups["Q"] = _column_parts("Q", eq.Q)
    flat = [part.formula for group in groups.values() for part in group]
    is_long = is_longer(flat, _LONG)
    shared: list[tuple[Any, Any]] = []
    if is_long:
        taken = {s.name for s in (*eq.coordinates.motion, *eq.parameters)}
        shared, replaced = folded(*named_parts(flat, taken), set(eq.coordinates.q))
        new = iter(replaced)
        groups = {name: [Part(p.names, next(new)) for p in group] for name, group in groups.items()}
    rows = [] if is_long else list(zip(eq.tau, eq.Q, strict=True))
    return Page(
        rows, shared, [group for group in groups.values() if group], [n for n, group in groups.items() if not group]
    )


def _matrix_parts(M: Any) -> list[Part]:
    """The entries on and above the diagonal that are not zero; equal ones in one line."""
    n = M.shape[0]
    comma = "," if n > 9 else ""
    found: dict[Any, list[tuple[str, str]]] = {}
    for i in range(n):
        for j in range(i, n):
            names = dict.fromkeys([f"{i + 1}{comma}{j + 1}", f"{j + 1}{comma}{i + 1}"])
            if M[i, j] != 0:
                found.setdefault(M[i, j], []).extend(("M", name) for name in names)
    return [Part(names, formula) for formula, names in found.items()]


def _column_parts(letter: str, column: Any) -> list[Part]:
    return [Part([(letter, str(k + 1))], e) for k, e in enumerate(column) if e != 0]


def _others(eq: "Equations", page: Page) -> list[Any]:
    return [*eq.parameters, *(name for name, _ in page.shared)]


def _headings(eq: "Equations", page: Page, writer: Writer) -> "_Headings":
    letters: dict[str, list[str]] = {}
    for letter, index in (name for group in page.parts for part in group for name in part.names):
        letters.setdefault(letter, []).append(index)
    return _Headings(eq, writer, letters, is_latex=isinstance(writer, LatexWriter))


def _sprung(eq: "Equations") -> set[str]:
    from pliant.symbolic.named_functions import turn_pull

    return {call.joint for call in eq.Q.atoms(turn_pull)}


# ---- text


def text_of(eq: "Equations", width: int) -> str:
    """The page as plain text."""
    with working(f"equations of {eq.robot.name}") as at:
        at("names for shared parts")
        page = _page(eq)
        at("the text")
        return _text(eq, page, width)


def _text(eq: "Equations", page: Page, width: int) -> str:
    writer = TextWriter(eq.coordinates, _others(eq, page), _sprung(eq))
    headings = _headings(eq, page, writer)
    lines = [f"{eq.robot.name}: {headings.title()}{_left_out(eq)}", ""]
    if page.rows:
        for left, right in page.rows:
            lines += _text_row(writer, left, right, width)
        lines.append("")
    for name, formula in page.shared:
        lines += _text_line(f"{name} = ", writer.pieces(formula), width)
    lines += [""] if page.shared else []
    for group in page.parts:
        for part in group:
            names = [headings.entry(*name) for name in part.names]
            lines += _text_line(" = ".join(names) + " = ", writer.pieces(part.formula), width)
        lines.append("")
    if page.zero:
        lines += [headings.equal(page.zero) + " = 0", ""]
    for line in _text_legend(writer):
        lines += wrap(line, max(width, 20), subsequent_indent="    ", break_long_words=False)
    if writer.short:
        lines += _listed([f"{short} = {full}" for short, full in sorted(writer.short.items(), key=_by_digits)], width)
    lines += _listed([f"{s.name}: {what}" for s, what in _symbols(eq)], width)
    lines += _listed([f"{s.name} = {value:.6g}" for s, value in eq.parameters.items() if value is not s], width)
    return "\n".join(lines).rstrip()


def written(eq: "Equations", formula: Any, width: int) -> str:
    """One formula as text."""
    writer = TextWriter(eq.coordinates, eq.parameters, _sprung(eq))
    return "\n".join(broken(writer.pieces(as_sympy(formula, "formula")), width))


def _left_out(eq: "Equations") -> str:
    left_out = [f"closure {name!r}" for name in eq.robot.closures]
    left_out += [f"that joint {j.name!r} is locked" for j in eq.robot.joints.values() if j.is_locked]
    return f" (without {', '.join(left_out)})" if left_out else ""


def _text_row(writer: Writer, left: Any, right: Any, width: int) -> list[str]:
    pieces = writer.pieces(left)
    ends = writer.pieces(right)
    return _text_line("", [*pieces, f" = {ends[0]}", *ends[1:]], width)


def _text_line(start: str, pieces: list[str], width: int) -> list[str]:
    indent = max(len(start), 4)
    first, *rest = broken(pieces, max(width - indent, 20))
    return [start + first, *(" " * indent + line for line in rest)]


def _listed(items: list[str], width: int) -> list[str]:
    pieces = [item if k == 0 else f", {item}" for k, item in enumerate(items)]
    return [line.removeprefix(", ") for line in broken(pieces, width)] if items else []


def _by_digits(item: tuple[str, str]) -> tuple:
    digits = re.sub(r"\D", "", item[0])
    return len(digits), digits, item[0]


def _symbols(eq: "Equations") -> Iterator[tuple[Any, str]]:
    """The symbols of motion that need a word: coordinates, velocities that are not their rates, controls."""
    own = eq.coordinates
    for s in (*own.q, *(v for v in own.v if v not in own.rates), *own.u):
        if own.meaning[s] not in (s.name, s.name.partition("_")[2]):
            yield s, own.meaning[s]


# ---- LaTeX


def latex_of(eq: "Equations", width: int) -> str:
    """The page as one aligned environment of LaTeX."""
    page = _page(eq)
    writer = LatexWriter(eq.coordinates, _others(eq, page), _sprung(eq))
    lines = [*_latex_rows(writer, page, width), *_latex_parts(writer, eq, page, width)]
    lines += [f"{left} & = {right}" for left, right in _latex_legend(writer)]
    short = [f"{short} = {full}" for short, full in sorted(writer.short.items(), key=_by_digits)]
    pieces = [item if k == 0 else f",\\; {item}" for k, item in enumerate(short)]
    lines += [f"& {line}" for line in broken(pieces, width, printed_width)] if short else []
    return _aligned(lines)


def _aligned(lines: list[str]) -> str:
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _latex_rows(writer: LatexWriter, page: Page, width: int) -> list[str]:
    found = []
    for left, right in page.rows:
        first, *rest = broken(writer.pieces(left), width, printed_width)
        found += [f"& {first}", *(f"& \\quad {line}" for line in rest)]
        ends = writer.line(right)
        if printed_width(found[-1]) + printed_width(ends) <= width:
            found[-1] += f" = {ends}"
        else:
            first, *rest = broken(writer.pieces(right), width, printed_width)
            found += [f"& \\quad = {first}", *(f"& \\quad\\quad {line}" for line in rest)]
    return found


def _latex_parts(writer: LatexWriter, eq: "Equations", page: Page, width: int) -> list[str]:
    headings = _headings(eq, page, writer)
    rows = [(writer.line(name), formula) for name, formula in page.shared]
    rows += [
        (" = ".join(headings.entry(*name) for name in part.names), part.formula)
        for group in page.parts for part in group
    ]  # fmt: skip
    found = []
    for names, formula in rows:
        first, *rest = broken(writer.pieces(formula), width, printed_width)
        found += [f"{names} & = {first}", *(f"& \\quad {line}" for line in rest)]
    found += [f"{headings.equal(page.zero)} & = 0"] if page.zero else []
    return found


# ---- Markdown


def markdown_of(eq: "Equations", width: int) -> str:
    """The page as Markdown with formulas in $$, and tables of symbols."""
    page = _page(eq)
    writer = LatexWriter(eq.coordinates, _others(eq, page), _sprung(eq))
    parts = [f"**{eq.robot.name}**, equations of motion by {eq.method}{_left_out(eq)}"]
    if page.rows:
        parts.append(f"$$\n{_aligned(_latex_rows(writer, page, width))}\n$$")
    parts.append(f"$$\n{_aligned(_latex_parts(writer, eq, page, width))}\n$$")
    meant = [f"${left} = {right}$" for left, right in _latex_legend(writer)]
    meant += [f"${short} = {full}$" for short, full in sorted(writer.short.items(), key=_by_digits)]
    if meant:
        parts.append("with " + ", ".join(meant))
    rows = [(f"${writer.line(s)}$", what) for s, what in _symbols(eq)]
    rows += [(f"${writer.line(s)}$", f"{value:.6g}") for s, value in eq.parameters.items() if value is not s]
    if rows:
        parts.append("\n".join(["| symbol | |", "|---|---|", *(f"| {s} | {what} |" for s, what in rows)]))
    return "\n\n".join(parts) + "\n"


# ---- names of terms


class _Headings:
    """Names of M, b, g, Q and their entries on a page, so that no name stands for two things.

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


# ---- meanings of functions


def _text_legend(writer: Writer) -> list[str]:
    """Lines for the functions that a writer of text has met."""
    found = [_TEXT_LEGEND[name] for name in _TEXT_LEGEND if name in writer.called]
    for joint, e in writer.springs.items():
        before = "" if len(writer.springs) == 1 else f"{joint}: "
        K, F, R, p = (writer.letter(x) for x in "KFRp")
        turn, is_free = f"({', '.join(writer.line(x) for x in e.q[-4:])})", len(e.q) == 7
        if is_free:
            place = ", ".join(writer.line(x) for x in e.q[:3])
            found.append(f"{before}{p} = ({place}), {R} the rotation of {turn}")
        found.append(f"{before}log = the rotation vector of {turn}, at most pi long")
        found.append(f"{before}Jlog: log' = Jlog w, with w the angular velocity of {joint}")
        for number, part in _halves(e):
            if any(e.hardening):
                found.append(f"{before}{F}{number} = ({', '.join(_pulls(writer, e, part))})")
            else:
                found.append(f"{before}{K}{number} = diag({', '.join(writer.line(k) for k in e.stiffness[part])})")
    return found


def _latex_legend(writer: Writer) -> list[tuple[str, str]]:
    """Left and right sides for the functions that a writer of LaTeX has met."""
    found = [row for name, rows in _LATEX_LEGEND.items() if name in writer.called for row in rows]
    for joint, e in writer.springs.items():
        words = joint.replace("_", "\\_")
        before = "" if len(writer.springs) == 1 else f"\\mathrm{{{words}}}:\\;"
        K, F, R, p = (writer.letter(x) for x in "KFRp")
        turn, is_free = f"({', '.join(writer.line(x) for x in e.q[-4:])})", len(e.q) == 7
        if is_free:
            place = ", ".join(writer.line(x) for x in e.q[:3])
            found += [(before + p, f"({place})"), (before + R, f"\\mathrm{{rotation\\;of}}\\;{turn}")]
        found.append((f"{before}\\log", f"\\mathrm{{rotation\\;vector\\;of}}\\;{turn}"))
        found.append((f"{before}\\frac{{d}}{{dt}} \\log", f"J_{{\\log}} \\omega_{{\\mathrm{{{words}}}}}"))
        for number, part in _halves(e):
            below = f"_{{{number}}}" if number else ""
            if any(e.hardening):
                found.append((f"{before}{F}{below}", f"({', '.join(_pulls(writer, e, part))})"))
            else:
                numbers = ", ".join(writer.line(k) for k in e.stiffness[part])
                found.append((f"{before}{K}{below}", f"\\mathrm{{diag}}({numbers})"))
    return found


def _halves(e: Any) -> list[tuple[str, slice]]:
    """The springs of a spherical joint; of a free one those of its place and of its turn."""
    return [("", slice(0, 3))] if len(e.q) == 4 else [("1", slice(0, 3)), ("2", slice(3, 6))]


def _pulls(writer: Writer, e: Any, part: slice) -> list[str]:
    """k x + h x^3 for each entry x of a deflection."""
    import sympy

    is_turn = len(e.q) == 4 or part.start == 3
    places = sympy.symbols("log_1 log_2 log_3", real=True) if is_turn else e.q[:3]
    return [writer.line(k * x + h * x**3) for k, h, x in zip(e.stiffness[part], e.hardening[part], places, strict=True)]
