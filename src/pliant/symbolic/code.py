"""The equations of motion as source code."""

import keyword
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from pliant.progress import working
from pliant.symbolic.coordinates import identifier
from pliant.symbolic.tidying import named_parts, symbols_of

if TYPE_CHECKING:
    from pliant.symbolic.equations import Equations

__all__ = ["c_source", "matlab_source", "python_source"]

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
        q, v, u, parameters: names of the entries taken from the arguments; "" where it does not occur.
        values: of the parameters, or None.
        has_time: whether there is an argument t.
        steps: names of shared parts, with their formulas.
        outputs: names of M, b, g and Q, with a _ where a parameter has theirs.
        M, b, g, Q: formulas.
    """

    name: str
    q: list[str]
    v: list[str]
    u: list[str]
    parameters: list[str]
    values: list[float | None]
    has_time: bool
    steps: list[tuple[str, Any]]
    outputs: tuple[str, ...]
    M: list[list[Any]]
    b: list[Any]
    g: list[Any]
    Q: list[Any]


def _program(eq: "Equations", name: str | None) -> Program:
    import sympy

    from pliant.symbolic.named_functions import written_out

    own, n = eq.coordinates, len(eq.b)
    formulas = [*eq.M, *eq.b, *eq.g, *written_out(eq.Q)]
    used = symbols_of(formulas)
    names = _names([*own.q, *own.v, *own.u, *eq.parameters])
    with working(f"equations of {eq.robot.name}") as at:
        at("names for shared parts")
        shared, flat = named_parts(formulas, set(names.values()) | {"t"})
    known = {s: sympy.Symbol(text, real=True) for s, text in names.items()}
    flat = [e.xreplace(known) for e in flat]

    def shown(symbols: Iterable[Any]) -> list[str]:
        return [names[s] if s in used else "" for s in symbols]

    outputs = tuple(x + "_" * (x in names.values()) for x in ("M", "b", "g", "Q"))
    M = [flat[n * i : n * (i + 1)] for i in range(n)]
    rest = flat[n * n :]
    return Program(
        _function_name(name or eq.robot.name),
        shown(own.q), shown(own.v), shown(own.u), [names[s] for s in eq.parameters],
        [None if x is s else x for s, x in eq.parameters.items()],
        own.t in used, [(str(s), e.xreplace(known)) for s, e in shared], outputs, M,
        rest[:n], rest[n : 2 * n], rest[2 * n :],
    )  # fmt: skip


def _function_name(name: str) -> str:
    name = identifier(name)
    return f"robot_{name}" if name[0].isdigit() or name in _RESERVED else name


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


def _head(eq: "Equations", p: Program, entry: str = "") -> list[str]:
    """Comment lines about the arguments.

    Args:
        entry: how the k-th parameter is written, as "p[{}]"; in Python they have names, and are left out here.
    """
    own = eq.coordinates
    lines = [f"Equations of motion of {eq.robot.name}: M vd + b + g = Q."]
    for letter, symbols in (("q", own.q), ("v", own.v), ("u", own.u)):
        if symbols:
            lines.append(f"{letter}: {', '.join(own.meaning[s] for s in symbols)}")
    if p.has_time:
        lines.append("t: time")
    if p.parameters:
        values = ["" if x is None else f" ({x!r})" for x in p.values]
        first = 0 if "[" in entry else 1
        names = [f"{entry.format(k + first)} = {n}" if entry else n for k, n in enumerate(p.parameters)]
        shown = ", ".join(n + value for n, value in zip(names, values, strict=True))
        has_values = any(values)
        in_brackets = "; the robot's values are in brackets" if has_values else ""
        if entry:
            lines.append(f"p: parameters in this order{in_brackets}: {shown}")
        else:
            lines.append(f"Parameters, given by name{', else as the robot has them' if has_values else ''}: {shown}")
    n = len(p.b)
    lines.append(f"M: mass matrix, {n} x {n}; b: Coriolis and centrifugal forces; g: gravity; Q: motors and springs")
    if p.outputs != ("M", "b", "g", "Q"):
        renamed = [f"{x} is {new}" for x, new in zip("MbgQ", p.outputs, strict=True) if x != new]
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

    p = _program(eq, name)
    # math has no sign, and copysign has none for zero
    sign = {"sign": lambda x: f"(({x} > 0) - ({x} < 0))"}
    write = _printer(PythonCodePrinter, {"fully_qualified_modules": True, "user_functions": sign})
    defaults = [n if x is None else f"{n}={x!r}" for n, x in zip(p.parameters, p.values, strict=True)]
    arguments = ["q", "v", "u", *(["t"] if p.has_time else []), *(["*", *defaults] if defaults else [])]
    doc, *more = _head(eq, p)
    lines = ["import math", "", "", f"def {p.name}({', '.join(arguments)}):"]
    lines += [f'    """{doc}', "", *(f"    {line}" for line in more), '    """']
    for source, names in (("q", p.q), ("v", p.v), ("u", p.u)):
        lines += [f"    {n} = {source}[{k}]" for k, n in enumerate(names) if n]
    lines += [f"    {n} = {write(e)}" for n, e in p.steps]
    M, b, g, Q = p.outputs
    lines.append(f"    {M} = [")
    lines += [f"        [{', '.join(write(e) for e in row)}]," for row in p.M]
    lines.append("    ]")
    lines += [f"    {n} = [{', '.join(write(e) for e in part)}]" for n, part in ((b, p.b), (g, p.g), (Q, p.Q))]
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

    p = _program(eq, name)
    write = _printer(C99CodePrinter, {"user_functions": {"Pow": _C_POWERS}})
    n = len(p.b)
    sizes = [("q", len(p.q)), ("v", len(p.v)), ("u", len(p.u)), ("p", len(p.parameters))]
    inputs = [f"const double {x}[{size}]" for x, size in sizes if size or x != "p"]
    inputs = [text.replace("[0]", "[]") for text in inputs]
    inputs += ["double t"] if p.has_time else []
    M, *columns = p.outputs
    outputs = [f"double {M}[{n}][{n}]", *(f"double {x}[{n}]" for x in columns)]
    lines = ["#include <math.h>", "", "/*", *(f" * {line.replace('*/', '')}" for line in _head(eq, p, "p[{}]")), " */"]
    lines += [f"void {p.name}({', '.join([*inputs, *outputs])})", "{"]
    unused = [x for x, names in (("q", p.q), ("v", p.v), ("u", p.u)) if not any(names)]
    lines += [f"    (void){x};" for x in unused]
    for source, names in (("q", p.q), ("v", p.v), ("u", p.u), ("p", p.parameters)):
        lines += [f"    const double {x} = {source}[{k}];" for k, x in enumerate(names) if x]
    lines += [f"    const double {x} = {write(e)};" for x, e in p.steps]
    lines += [f"    {M}[{i}][{j}] = {write(e)};" for i, row in enumerate(p.M) for j, e in enumerate(row)]
    for x, part in zip(columns, (p.b, p.g, p.Q), strict=True):
        lines += [f"    {x}[{k}] = {write(e)};" for k, e in enumerate(part)]
    return "\n".join([*lines, "}", ""])


def matlab_source(eq: "Equations", name: str | None = None) -> str:
    """A function [M, b, g, Q] = name(q, v, u, [p,] [t]) for Matlab and Octave."""
    from sympy.printing.octave import OctaveCodePrinter

    p = _program(eq, name)
    write = _printer(OctaveCodePrinter, {"inline": True})
    arguments = ["q", "v", "u", *(["p"] if p.parameters else []), *(["t"] if p.has_time else [])]
    M, *columns = p.outputs
    lines = [
        f"function [{', '.join(p.outputs)}] = {p.name}({', '.join(arguments)})",
        *(f"  % {line}" for line in _head(eq, p, "p({})")),
    ]
    for source, names in (("q", p.q), ("v", p.v), ("u", p.u), ("p", p.parameters)):
        lines += [f"  {x} = {source}({k + 1});" for k, x in enumerate(names) if x]
    lines += [f"  {x} = {write(e)};" for x, e in p.steps]
    n = len(p.b)
    lines.append(f"  {M} = zeros({n}, {n});")
    lines += [
        f"  {M}({i + 1}, {j + 1}) = {write(e)};" for i, row in enumerate(p.M) for j, e in enumerate(row) if e != 0
    ]
    for x, part in zip(columns, (p.b, p.g, p.Q), strict=True):
        lines += [f"  {x} = zeros({n}, 1);", *(f"  {x}({k + 1}) = {write(e)};" for k, e in enumerate(part) if e != 0)]
    return "\n".join([*lines, "end", ""])
