"""The equations of motion as source code."""

import itertools
import keyword
from typing import TYPE_CHECKING, Any, NamedTuple

from pliant.progress import working
from pliant.symbolic.coordinates import identifier, sympy
from pliant.symbolic.tidying import named_parts, symbols_of

if TYPE_CHECKING:
    from pliant.symbolic.equations import Equations

# of the languages and of the functions themselves
_RESERVED = {
    "q", "v", "u", "p", "t", "auto", "break", "case", "char", "const", "continue", "default", "do",
    "double", "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict",
    "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while", "sin", "cos", "tan", "sqrt", "exp", "log", "fabs", "end", "function", "otherwise", "zeros",
    "math", *keyword.kwlist,
}  # fmt: skip


class Program(NamedTuple):
    """The content of the source, in names that every language takes.

    Attributes:
        name: of the function.
        inputs: for each of the arguments q, v, u and p (the parameters): names of its entries, "" where one does not
            occur.
        values: of the parameters, or None.
        has_time: whether there is an argument t.
        steps: names of shared parts, with their formulas.
        outputs: M, b, g and Q, with a _ where a parameter has their name, and their formulas; M row by row.
        head: lines about the arguments.
    """

    name: str
    inputs: dict[str, list[str]]
    values: list[float | None]
    has_time: bool
    steps: list[tuple[str, Any]]
    outputs: dict[str, list[Any]]
    head: list[str]

    def taken(self, line: str, arguments: str = "qvup") -> list[str]:
        """A line for each entry of an argument that occurs, with {name}, {source} and {k}, or {k1} from 1 on."""
        return [
            line.format(name=name, source=source, k=k, k1=k + 1)
            for source in arguments for k, name in enumerate(self.inputs[source]) if name
        ]  # fmt: skip


def _program(eq: "Equations", name: str | None, entry: str = "", first: int = 0) -> Program:
    """The content; ``entry`` and ``first`` are how the parameters are written, as "p[{}]", and numbered."""
    from pliant.symbolic.forces import written_out

    own, n = eq.coordinates, len(eq.b)
    formulas = [*eq.M, *eq.b, *eq.g, *written_out(eq.Q)]
    used = symbols_of(formulas)
    names = _names([*own.q, *own.v, *own.u, *eq.parameters])
    with working(f"equations of {eq.robot.name}") as at:
        at("names for shared parts")
        shared, flat = named_parts(formulas, set(names.values()) | {"t"})
    known = {s: sympy.Symbol(text, real=True) for s, text in names.items()}
    inputs = {
        source: [names[s] if s in used else "" for s in symbols]
        for source, symbols in (("q", own.q), ("v", own.v), ("u", own.u))
    }
    inputs["p"] = [names[s] for s in eq.parameters]
    rest = iter(e.xreplace(known) for e in flat)
    outputs = {
        letter + "_" * (letter in names.values()): list(itertools.islice(rest, size))
        for letter, size in (("M", n * n), ("b", n), ("g", n), ("Q", n))
    }
    values = [None if x is s else x for s, x in eq.parameters.items()]
    steps = [(str(s), e.xreplace(known)) for s, e in shared]
    function = identifier(name or eq.robot.name)
    function = f"robot_{function}" if function[0].isdigit() or function in _RESERVED else function
    made = Program(function, inputs, values, own.t in used, steps, outputs, [])
    return made._replace(head=_head(eq, made, entry, first))


def _names(symbols: list[Any]) -> dict[Any, str]:
    """A name for each symbol that is one in every language, and no other's."""
    found: dict[Any, str] = {}
    for s in symbols:
        name = identifier(s.name)
        name = f"x{name}" if name[0].isdigit() or name[0] == "_" else name
        while name in _RESERVED or name in found.values():
            name += "_"
        found[s] = name
    return found


def _head(eq: "Equations", p: Program, entry: str, first: int) -> list[str]:
    """Comment lines about the arguments; without ``entry``, parameters have names, as in Python."""
    own = eq.coordinates
    lines = [f"Equations of motion of {eq.robot.name}: M vd + b + g = Q."]
    for letter, symbols in (("q", own.q), ("v", own.v), ("u", own.u)):
        if symbols:
            lines.append(f"{letter}: {', '.join(own.meaning[s] for s in symbols)}")
    if p.has_time:
        lines.append("t: time")
    if p.values:
        values = ["" if x is None else f" ({x!r})" for x in p.values]
        names = [f"{entry.format(k)} = {x}" if entry else x for k, x in enumerate(p.inputs["p"], first)]
        shown = ", ".join(n + value for n, value in zip(names, values, strict=True))
        if entry:
            start = "p: parameters in this order" + "; the robot's values are in brackets" * any(values)
        else:
            start = "Parameters, given by name" + ", else as the robot has them" * any(values)
        lines.append(f"{start}: {shown}")
    n = len(eq.b)
    lines.append(f"M: mass matrix, {n} x {n}; b: Coriolis and centrifugal forces; g: gravity; Q: motors and springs")
    renamed = [f"{x} is {new}" for x, new in zip("MbgQ", p.outputs, strict=True) if x != new]
    if renamed:
        lines.append(f"Here {', '.join(renamed)}: a parameter has that name.")
    return lines


def _printer(base: Any, settings: dict[str, Any]) -> Any:
    """A function that writes formulas by one of SymPy's printers, with floats as short as they can be exactly."""

    class Printer(base):
        def _print_Float(self, e: Any) -> str:  # noqa: N802 - SymPy's name
            return repr(float(e))

    return Printer(settings).doprint


def python_source(eq: "Equations", name: str | None = None) -> str:
    """A Python function (q, v, u, *, parameters) -> M, b, g, Q."""
    from sympy.printing.pycode import PythonCodePrinter

    p, n = _program(eq, name), len(eq.b)
    # math has no sign, and copysign has none for zero
    sign = {"sign": lambda x: f"(({x} > 0) - ({x} < 0))"}
    write = _printer(PythonCodePrinter, {"fully_qualified_modules": True, "user_functions": sign})
    defaults = [x if value is None else f"{x}={value!r}" for x, value in zip(p.inputs["p"], p.values, strict=True)]
    arguments = ["q", "v", "u", *(["t"] if p.has_time else []), *(["*", *defaults] if defaults else [])]
    doc, *more = p.head
    (M, entries), *columns = ((x, [write(e) for e in part]) for x, part in p.outputs.items())
    rows = [f"        [{', '.join(entries[n * i : n * (i + 1)])}]," for i in range(n)]
    lines = ["import math", "", "", f"def {p.name}({', '.join(arguments)}):"]
    lines += [f'    """{doc}', "", *(f"    {line}" for line in more), '    """']
    lines += [*p.taken("    {name} = {source}[{k}]", "qvu"), *(f"    {x} = {write(e)}" for x, e in p.steps)]
    lines += [f"    {M} = [", *rows, "    ]", *(f"    {x} = [{', '.join(part)}]" for x, part in columns)]
    return "\n".join([*lines, f"    return {', '.join(p.outputs)}", ""])


# products, not calls, where that is the same
_C_POWERS = [
    (lambda base, exponent: exponent == 2, lambda base, exponent: f"(({base})*({base}))"),
    (lambda base, exponent: exponent == -1, lambda base, exponent: f"(1.0/({base}))"),
    (lambda base, exponent: True, "pow"),
]


def c_source(eq: "Equations", name: str | None = None) -> str:
    """A C99 function void name(q, v, u, [t,] [p,] M, b, g, Q); M row by row."""
    from sympy.printing.c import C99CodePrinter

    p, n = _program(eq, name, "p[{}]"), len(eq.b)
    write = _printer(C99CodePrinter, {"user_functions": {"Pow": _C_POWERS}})
    arguments = [f"const double {x}[{len(names) or ''}]" for x, names in p.inputs.items() if names or x != "p"]
    arguments += ["double t"] if p.has_time else []
    M, *columns = p.outputs
    arguments += [f"double {M}[{n}][{n}]", *(f"double {x}[{n}]" for x in columns)]
    lines = ["#include <math.h>", "", "/*", *(f" * {line.replace('*/', '')}" for line in p.head), " */"]
    lines += [f"void {p.name}({', '.join(arguments)})", "{"]
    lines += [f"    (void){x};" for x in "qvu" if not any(p.inputs[x])]
    lines += p.taken("    const double {name} = {source}[{k}];")
    lines += [f"    const double {x} = {write(e)};" for x, e in p.steps]
    for x, part in p.outputs.items():
        places = [f"[{k // n}][{k % n}]" if x == M else f"[{k}]" for k in range(len(part))]
        lines += [f"    {x}{place} = {write(e)};" for place, e in zip(places, part, strict=True)]
    return "\n".join([*lines, "}", ""])


def matlab_source(eq: "Equations", name: str | None = None) -> str:
    """A function [M, b, g, Q] = name(q, v, u, [p,] [t]) for Matlab and Octave."""
    from sympy.printing.octave import OctaveCodePrinter

    p, n = _program(eq, name, "p({})", 1), len(eq.b)
    write = _printer(OctaveCodePrinter, {"inline": True})
    arguments = ["q", "v", "u", *(["p"] if p.values else []), *(["t"] if p.has_time else [])]
    lines = [f"function [{', '.join(p.outputs)}] = {p.name}({', '.join(arguments)})", *(f"  % {x}" for x in p.head)]
    lines += [*p.taken("  {name} = {source}({k1});"), *(f"  {x} = {write(e)};" for x, e in p.steps)]
    M = next(iter(p.outputs))
    for x, part in p.outputs.items():
        places = [f"{k // n + 1}, {k % n + 1}" if x == M else f"{k + 1}" for k in range(len(part))]
        lines.append(f"  {x} = zeros({n}, {len(part) // n});")
        lines += [f"  {x}({place}) = {write(e)};" for place, e in zip(places, part, strict=True) if e != 0]
    return "\n".join([*lines, "end", ""])
