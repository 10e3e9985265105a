"""Checks of contact laws: whether they can be traced, what they return, and what they remember."""

from collections.abc import Callable
from typing import Any

from pliant.checks import function_name, is_real
from pliant.contact.memory import Memory, is_pair
from pliant.errors import ContactError, TraceError, bad_value
from pliant.scalar import Expr, Graph, is_constant
from pliant.scalar.formulas import FormulaRow
from pliant.scalar.ops import CONDITIONS
from pliant.scalar.pickling import kept
from pliant.signatures import explained

_ARGUMENTS = "depth, rate, (slip_x, slip_y)"


@explained
def check_law(law: Any) -> Any:
    """The law itself, if it can be traced and returns a normal force, two components of friction, and rates.

    Only the form is checked, not the physics: whether it pulls or adds energy depends on its arguments. A
    law that keeps symbols or scalars of a trace as its attributes cannot be tried, and passes.
    """
    if not callable(law):
        form = "a function (depth, rate, (slip_x, slip_y)) -> (normal, (friction_x, friction_y))"
        raise ContactError(bad_value("law", law, form))
    label = f"contact law {function_name(law)}"
    _check_memory(label, law)
    memory = Memory.of(law)
    graph = Graph()
    depth, rate, slip_x, slip_y = (graph.input(name) for name in ("depth", "rate", "slip_x", "slip_y"))
    if any(isinstance(x, Expr) or hasattr(x, "free_symbols") for x in getattr(law, "__dict__", {}).values()):
        return law  # its parameters belong to another trace, or are symbols: it is seen when it is called
    given: list[Any] = [depth, rate, (slip_x, slip_y)]
    if memory:
        given.append(memory.shaped([graph.input(f"memory_{k}") for k in range(memory.size)]))
    form = f"{_ARGUMENTS}, memory" if memory else _ARGUMENTS
    result = _traced(label, f"law({form})", law, given)
    try:
        rates = []
        if memory:
            normal, (friction_x, friction_y), rates = result
            rates = memory.flat(rates)
        else:
            normal, (friction_x, friction_y) = result
    except (TypeError, ValueError):
        rates, normal, friction_x, friction_y = [], None, None, None
    if not all(map(_is_number, (normal, friction_x, friction_y, *rates))):
        cure = "it must return (normal, (friction_x, friction_y)), three scalars [N]"
        if memory:
            cure = "it has a memory, so it must return (normal, (friction_x, friction_y), memory_rate), the rates in "
            cure += f"the form of its memory {memory.start!r}"
        raise ContactError(f"{label}: it returned {result!r}", subject=label, field="law", cure=cure)
    if memory and hasattr(law, "settled"):
        _check_settled(label, law, memory, given)
    return law


class LawFormula:
    """A law without a memory as formulas: called as the function that it was made of."""

    def __init__(self, law: Callable[..., Any]):
        def numbers(depth: Any, rate: Any, slip_x: Any, slip_y: Any) -> list[Any]:
            normal, (friction_x, friction_y) = law(depth, rate, (slip_x, slip_y))
            return [normal, friction_x, friction_y]

        self.row = FormulaRow.of(numbers, ("depth", "rate", "slip_x", "slip_y"))

    def __call__(self, depth: Any, rate: Any, slip: Any) -> Any:
        """Normal force and friction [N]."""
        normal, *friction = self.row(depth, rate, *slip)
        return normal, tuple(friction)


def kept_contact_law(law: Any) -> Any:
    """A contact law that pickles: itself, or its formulas if it has no memory."""
    formula = None if Memory.of(law) else lambda: LawFormula(law)
    return kept(law, formula, f"contact law {function_name(law)!r}", "law")


def _traced(label: str, call: str, function: Callable[..., Any], given: list[Any]) -> Any:
    """What a function of a law returns; errors name the law."""
    try:
        return function(*given)
    except TraceError as error:
        raise error.within(label) from error
    except (AttributeError, TypeError) as error:
        cure = f"it is called with traced scalars, {call}: use their operators and the "
        cure += "functions of pliant.math (exp, select, ...), not those of math and numpy"
        raise TraceError(f"{label}: {error}", subject=label, field="law", cure=cure) from error
    except Exception as error:
        error.add_note(f"while tracing {label}, called as {call}")
        raise


def _check_settled(label: str, law: Any, memory: Memory, given: list[Any]) -> None:
    result = _traced(label, f"settled({_ARGUMENTS}, memory)", law.settled, given)
    try:
        kept = memory.flat(result)
    except (TypeError, ValueError):
        kept = [None]
    if not all(map(_is_number, kept)):
        cure = f"it must return the memory, in the form {memory.start!r}"
        problem = f"{label}: its method settled returned {result!r}"
        raise ContactError(problem, subject=label, field="settled", cure=cure)


def _is_number(x: Any) -> bool:
    return x.op not in CONDITIONS if isinstance(x, Expr) else is_constant(x) and not isinstance(x, bool)


def _check_memory(label: str, law: Any) -> None:
    """Raise unless the memory of a law is of numbers and of vectors that begin at zero."""
    memory = getattr(law, "memory", ())

    def wrong(problem: str, cure: str) -> ContactError:
        return ContactError(f"{label}: its memory {problem}", subject=label, field="memory", cure=cure)

    cure = "give a tuple of numbers, and of pairs for vectors along the tangents, as in (0, (0, 0))"
    if not is_pair(memory):
        raise wrong(f"is {memory!r}", cure)
    for x in memory:
        parts = x if is_pair(x) else (x,)
        if (is_pair(x) and len(x) != 2) or not all(is_constant(y) and not isinstance(y, bool) for y in parts):
            raise wrong(f"has {x!r}", cure)
        if not all(is_real(y) for y in parts):
            raise wrong(f"begins with {x!r}", "give finite numbers")
        if is_pair(x) and any(parts):
            raise wrong(f"has the vector {x!r}", "begin with (0, 0): the tangents are any two directions")
    if hasattr(law, "settled") and not callable(law.settled):
        cure = "it takes a method (depth, rate, slip, memory) -> memory"
        raise ContactError(f"{label}: settled is {law.settled!r}", subject=label, field="settled", cure=cure)
