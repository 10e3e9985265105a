"""The equations of motion on a page: text, LaTeX, Markdown."""

import re
from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from pliant.progress import working
from pliant.scalar import as_sympy
from pliant.symbolic.headings import Headings
from pliant.symbolic.latex_writing import LatexWriter
from pliant.symbolic.legends import latex_legend, text_legend
from pliant.symbolic.sharing import folded, is_longer, named_parts
from pliant.symbolic.text_writing import TextWriter
from pliant.symbolic.writing import Writer, broken, printed_width

if TYPE_CHECKING:
    from pliant.symbolic.equations import Equations

__all__ = ["latex_of", "markdown_of", "text_of", "written"]

# equations of more parts than this are shown by their entries, with names for what occurs in several
_LONG = 2000


class Part(NamedTuple):
    """One line of the page: names, as (letter, indices), that are all equal to a formula."""

    names: list[tuple[str, str]]
    formula: Any


class Page(NamedTuple):
    """What to show.

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


def _headings(eq: "Equations", page: Page, writer: Writer) -> Headings:
    letters: dict[str, list[str]] = {}
    for letter, index in (name for group in page.parts for part in group for name in part.names):
        letters.setdefault(letter, []).append(index)
    return Headings(eq, writer, letters, is_latex=isinstance(writer, LatexWriter))


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
    for line in text_legend(writer):
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
    lines += [f"{left} & = {right}" for left, right in latex_legend(writer)]
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
    meant = [f"${left} = {right}$" for left, right in latex_legend(writer)]
    meant += [f"${short} = {full}$" for short, full in sorted(writer.short.items(), key=_by_digits)]
    if meant:
        parts.append("with " + ", ".join(meant))
    rows = [(f"${writer.line(s)}$", what) for s, what in _symbols(eq)]
    rows += [(f"${writer.line(s)}$", f"{value:.6g}") for s, value in eq.parameters.items() if value is not s]
    if rows:
        parts.append("\n".join(["| symbol | |", "|---|---|", *(f"| {s} | {what} |" for s, what in rows)]))
    return "\n\n".join(parts) + "\n"
