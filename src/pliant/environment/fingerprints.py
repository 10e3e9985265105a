"""Fingerprints of the code of a task: what its terms, commands and events compute, however they are named.

What is compiled is traced once more, and its formula counts: a helper function or a constant that changes shows,
comments and names of variables do not. What runs in NumPy cannot be traced; there the source of the function counts,
and that of functions of the same file that it calls.
"""

import ast
import functools
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterable
from types import CodeType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from pliant.chance import KEY_SIZE, Chance, stream_of
from pliant.scalar import Expr, Graph, Scalar
from pliant.scalar.ops import Table

if TYPE_CHECKING:
    from pliant.environment.plan import EpisodePlan

_DIGITS = 10
"""Of constants in formulas: libraries of other processors round the last ones of a sine differently."""

_EITHER_WAY = ("add", "mul", "equal", "and", "or", "min", "max")
"""Operations whose arguments may be exchanged; which is first depends on what was traced before."""


_KNOWN: "WeakKeyDictionary[EpisodePlan, dict[str, str]]" = WeakKeyDictionary()


def fingerprints(plan: "EpisodePlan") -> dict[str, str]:
    """A short text for the code of each part of a task, by its kind and name, such as "reward velocity"."""
    if plan not in _KNOWN:
        _KNOWN[plan] = _traced(plan)
    return dict(_KNOWN[plan])


def _traced(plan: "EpisodePlan") -> dict[str, str]:
    graph = Graph()

    def unknown(what: str, n: int) -> list[Scalar]:
        return [graph.input(f"{what}[{k}]") for k in range(n)]

    values = {name: unknown(name, size) for name, size in plan.now_sizes.items()}
    now, key, hashes = plan.now(**values), unknown("key", KEY_SIZE), _Hashes()
    found: dict[str, str] = {}

    def chance() -> Chance:
        return Chance(key, values["age"], stream_of("fingerprint"))

    def add(label: str, results: Iterable[Any]) -> None:
        found[label] = hashes.of(results)

    controls = plan.action.controls(plan.action.bounded(values["action"]), now, plan.plan.inputs)
    add("action", controls)
    for label, term in plan.terms.items():
        if not term.is_compiled:
            found[label] = source_of(term.function)
            continue
        numbers, memory = term(label.partition(" ")[2], now, unknown(f"memory of {label}", len(term.memory)))
        add(label, [*numbers, *memory])
    for name, command in plan.commands.items():
        own = values[f"command {name}"][:-1]
        add(f"command {name}", [*command.draw(chance(), now.level), *command.advanced(own, plan.period)])
    for name, event in plan.events.items():
        changes = event(name, now, chance())
        add(f"event {name}", [x for path in sorted(changes) for x in (path, *changes[path])])
    if plan.curriculum is not None:
        add("curriculum", [plan.curriculum.next(now, chance())])
    return found


class _Hashes:
    """Formulas by what they compute: a hash of each node of a graph, made of those of its arguments."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def of(self, results: Iterable[Any]) -> str:
        """Of several formulas, numbers or names."""
        return _short("|".join(self._one(x) for x in results))

    def _one(self, x: Any) -> str:
        if not isinstance(x, Expr):
            return x if isinstance(x, str) else _number(x)
        waiting = [x]
        while waiting:
            node = waiting[-1]
            left = [a for a in node.args if a.index not in self._known]
            if left:
                waiting += left
                continue
            waiting.pop()
            self._known.setdefault(node.index, self._node(node))
        return self._known[x.index]

    def _node(self, node: Expr) -> str:
        own = [self._known[a.index] for a in node.args]
        own = sorted(own) if node.op in _EITHER_WAY else own
        value = node.value
        if isinstance(value, Table):
            value = value.digest
        return _short(f"{node.op} {value if isinstance(value, str) else _number(value)} {' '.join(own)}")


def _number(x: Any) -> str:
    return "" if x is None else f"{float(x):.{_DIGITS}g}"


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


# ---- functions that are not traced


def source_of(function: Callable[..., Any]) -> str:
    """A short text for what a function does: its source without comments, and what it refers to."""
    return _short("\n".join(_described(function, set())))


def _described(value: Any, seen: set[int]) -> list[str]:
    """Lines that tell a value, or a function with all that it refers to, from others."""
    if id(value) in seen:
        return []
    if inspect.ismethod(value):
        return [*_described(value.__func__, seen), *_described(value.__self__, seen)]
    if not inspect.isfunction(value):
        return _of_object(value, seen)
    seen.add(id(value))
    names, fixed = value.__code__.co_names, inspect.getclosurevars(value)
    lines = [_source(value), *_described(value.__defaults__, seen), *_described(value.__kwdefaults__, seen)]
    for name, held in sorted({**{n: x for n, x in fixed.globals.items() if n in names}, **fixed.nonlocals}.items()):
        is_other = inspect.ismodule(held) or getattr(held, "__module__", value.__module__) != value.__module__
        lines += [name, *([] if is_other else _described(held, seen))]
    return lines


def _of_object(value: Any, seen: set[int]) -> list[str]:
    """Numbers, texts and arrays by value, containers and objects by their parts."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return [repr(value)]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return [str(value.dtype), str(value.shape), hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()]
    seen.add(id(value))
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, dict):
        return [name, *(line for k, x in value.items() for part in (k, x) for line in _described(part, seen))]
    if isinstance(value, list | tuple | set | frozenset):
        parts = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return [name, *(line for x in parts for line in _described(x, seen))]
    own = getattr(value, "digest", None)  # of robots
    lines = [name, str(getattr(value, "__qualname__", "")), own if isinstance(own, str) else ""]
    if isinstance(value, functools.partial):
        return [*lines, *_described((value.func, value.args, value.keywords), seen)]
    call = inspect.getattr_static(type(value), "__call__", None)
    if not inspect.isfunction(call):
        return lines
    return [*lines, *_described(call, seen), *_described(vars(value) if hasattr(value, "__dict__") else None, seen)]


def _source(function: Any) -> str:
    """The syntax tree of a function without its text of documentation; its compiled code where there is no source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError, ValueError):  # made by exec, or a lambda in the middle of a statement
        return _compiled(function.__code__)
    if function.__name__ == "<lambda>":  # the statement around it may have several
        return _compiled(function.__code__)
    own = tree.body[0]
    if isinstance(own, ast.FunctionDef) and ast.get_docstring(own, clean=False) is not None:
        own.body = own.body[1:]
    return ast.dump(tree)


def _compiled(code: CodeType) -> str:
    constants = [_compiled(x) if isinstance(x, CodeType) else repr(x) for x in code.co_consts]
    return f"{code.co_code.hex()} {constants} {code.co_names}"
