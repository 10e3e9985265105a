"""Traced scalars: the nodes of an expression graph, interned and folded at birth.

A `Graph` is an arena of nodes in order of creation, hence in topological order. Arithmetic on an
`Expr` adds a node to its graph, unless an equal one is there already or the result simplifies to
something that is. So common sub-expressions, zeros and ones never reach the compiler. NumPy's
functions and arrays take traced scalars element by element.

Folding takes scalars for real numbers: 0 x is 0 and x - x is 0 also where x will be infinite or NaN,
the sign of a zero is not kept, and x / 3 is x times the rounded inverse.
"""

import math
import operator
import os
import sys
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from numpy import empty, frompyfunc, ndarray

from pliant.errors import TraceError, bad_value
from pliant.scalar.ops import TABLE, Table


def _condition(op: str, *, is_swapped: bool = False) -> Callable[[Any, Any], Any]:
    """The method of an operator that gives a condition; an array is NumPy's, element by element."""

    def method(self: "Expr", other: Any) -> Any:
        if type(other) is ndarray:
            return NotImplemented
        return self.graph.apply(op, other, self) if is_swapped else self.graph.apply(op, self, other)

    return method


class Expr:
    """One node of a graph: an operation applied to nodes before it.

    Attributes:
        graph: the arena it lives in.
        op: name of the operation, a key of `pliant.scalar.TABLE`, or "input", "const" or "lookup".
        args: the nodes it acts on.
        value: the number of a "const", the name of an "input", the table of a "lookup", otherwise None.
        index: its place in the graph.
    """

    __slots__ = ("args", "graph", "index", "op", "value")

    def __init__(self, graph: "Graph", op: str, args: tuple, value: Any, index: int):
        self.graph = graph
        self.op = op
        self.args = args
        self.value = value
        self.index = index

    def __add__(self, other):
        return self.graph.add(self, other) if type(other) is not ndarray else NotImplemented

    def __radd__(self, other):
        return self.graph.add(other, self)

    def __sub__(self, other):
        return self.graph.sub(self, other) if type(other) is not ndarray else NotImplemented

    def __rsub__(self, other):
        return self.graph.sub(other, self)

    def __mul__(self, other):
        return self.graph.mul(self, other) if type(other) is not ndarray else NotImplemented

    def __rmul__(self, other):
        return self.graph.mul(other, self)

    def __truediv__(self, other):
        return self.graph.div(self, other) if type(other) is not ndarray else NotImplemented

    def __rtruediv__(self, other):
        return self.graph.div(other, self)

    def __neg__(self):
        return self.graph.neg(self)

    def __pos__(self):
        return self

    def __abs__(self):
        return self.graph.apply("abs", self)

    def __pow__(self, exponent):
        return self.graph.power(self, exponent)

    def __rpow__(self, base):
        return self.graph.power(base, self)

    def __mod__(self, other):
        return self.graph.apply("mod", self, other) if type(other) is not ndarray else NotImplemented

    def __rmod__(self, other):
        return self.graph.apply("mod", other, self)

    def __floordiv__(self, other):
        return self.graph.floor_quotient(self, other) if type(other) is not ndarray else NotImplemented

    def __rfloordiv__(self, other):
        return self.graph.floor_quotient(other, self)

    def __round__(self, digits: int | None = None):
        if not digits:
            return self.graph.apply("round", self)
        # a power of ten below one is not exact, so it divides
        power = 10.0 ** abs(digits)
        scaled = self * power if digits > 0 else self / power
        return round(scaled) / power if digits > 0 else round(scaled) * power

    __lt__ = _condition("less")
    __le__ = _condition("less_equal")
    __gt__ = _condition("less", is_swapped=True)
    __ge__ = _condition("less_equal", is_swapped=True)
    __eq__ = _condition("equal")  # type: ignore[assignment]
    __and__ = _condition("and")
    __or__ = _condition("or")

    def __ne__(self, other):  # type: ignore[override]
        return ~(self == other)

    def __invert__(self):
        return self.graph.apply("not", self)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """NumPy's functions of a traced scalar, and `array * expr`, element by element."""
        function = _UFUNCS.get(ufunc.__name__)
        if function is None or method != "__call__" or options:
            raise TraceError(
                f"numpy.{ufunc.__name__} does not work on a traced scalar ({self!r})",
                subject=repr(self), cure="use Pliant's functions: pliant.math.sin, pliant.math.select, ...",
            )  # fmt: skip
        # a traced scalar is wrapped, or NumPy would ask us again
        arrays = [x if isinstance(x, ndarray) else _wrapped(x) for x in inputs]
        return frompyfunc(function, len(arrays), 1)(*arrays)

    __hash__ = object.__hash__

    def __bool__(self):
        problem = f"the truth of a traced scalar ({self!r}) is not known while tracing, so it cannot "
        problem += "decide an `if`, `while`, `and` or `or`"
        cure = "use pliant.math.select(condition, then, otherwise), and & | ~ between conditions"
        raise TraceError(problem, subject=repr(self), cure=cure)

    def __float__(self):
        functions = "pliant.math.sin, pliant.math.sqrt, pliant.math.select, ..."
        cure = f"use Pliant's functions ({functions}) instead of those of math"
        raise TraceError(f"a traced scalar ({self!r}) has no number while tracing", subject=repr(self), cure=cure)

    __int__ = __float__
    __index__ = __float__

    def __repr__(self):
        if self.op == "const":
            return f"{self.value:g}"
        if self.op == "input":
            return str(self.value)
        shown = ", ".join(f"%{a.index}" if a.args else repr(a) for a in self.args)
        if self.op == "lookup":
            shown = f"{self.value!r}, {shown}"
        return f"%{self.index} = {self.op}({shown})"


def _wrapped(x: Any) -> ndarray:
    array = empty((), dtype=object)
    array[()] = x
    return array


def _applied(op: str) -> Callable[..., Expr]:
    def apply(*args: Any) -> Expr:
        graph = next(a.graph for a in args if type(a) is Expr)
        return graph.apply(op, *args)

    return apply


# NumPy's functions by name: what they do to elements of which one at least is traced
_UFUNCS: dict[str, Callable[..., Any]] = {
    row.numpy: _applied(name) for name, row in TABLE.items() if row.numpy is not None
}
_UFUNCS |= {"equal": operator.eq, "less": operator.lt, "less_equal": operator.le}
_UFUNCS |= {"greater": operator.gt, "greater_equal": operator.ge, "not_equal": operator.ne, "power": operator.pow}
_UFUNCS |= {"bitwise_and": operator.and_, "bitwise_or": operator.or_, "invert": operator.invert}
_UFUNCS |= {
    "remainder": operator.mod,
    "floor_divide": operator.floordiv,
    "positive": operator.pos,
    "absolute": operator.abs,
}

# what they ask of the elements of an array of objects
for _name in ("sin", "cos", "tan", "arcsin", "arccos", "arctan2", "sqrt", "exp", "log", "floor", "rint"):
    setattr(Expr, _name, _UFUNCS[_name])


MOST_OPERATIONS = 1_500_000
"""Operations of a program at most, by default: two minutes and 1.5 GB to compile."""


def most_operations() -> float:
    """How many operations a program may have: `MOST_OPERATIONS`, or ``PLIANT_MOST_OPERATIONS`` of the environment."""
    chosen = os.environ.get("PLIANT_MOST_OPERATIONS", "").strip()
    if not chosen:
        return MOST_OPERATIONS
    if not (chosen.isascii() and chosen.isdecimal() and len(chosen) < 16):
        raise TraceError(bad_value("PLIANT_MOST_OPERATIONS", chosen, "a whole number", "the environment"))
    return int(chosen)


class Graph:
    """An arena of interned nodes; makes inputs and constants, and folds what is applied to them."""

    def __init__(self):
        self.nodes: list[Expr] = []
        self._interned: dict[tuple, Expr] = {}
        self._most = most_operations()

    def input(self, name: str) -> Expr:
        """A new variable; a second one of the same name is an error."""
        if ("input", name) in self._interned:
            raise TraceError(f"the graph has an input named {name!r} already")
        return self._intern(("input", name), "input", (), name)

    def constant(self, value: float) -> Expr:
        """The node of a number."""
        value = float(value) + 0.0  # no negative zero
        return self._intern(("const", value if value == value else "nan"), "const", (), value)

    def lift(self, x: Any) -> Expr:
        """``x`` as a node of this graph."""
        if type(x) is Expr:
            if x.graph is not self:
                problem, cure = f"{x!r} belongs to another trace", "scalars of two traces cannot meet"
                raise TraceError(problem, subject=repr(x), cure=cure)
            return x
        try:
            if not isinstance(x, str | bytes):  # which float() would read as a number
                return self.constant(x)
        except (TypeError, ValueError, OverflowError):
            pass
        if hasattr(x, "free_symbols"):
            problem = f"the symbol {x!r} meets a traced scalar: functions of symbols, such as those of a robot with a "
            problem += "symbolic mass, give formulas and cannot be compiled"
            cure = "call the function with symbols for its arguments, too"
        else:
            problem = f"cannot use {x!r} of type {type(x).__name__} with a traced scalar"
            cure = "numbers and scalars of the same trace only"
        raise TraceError(problem, subject=repr(x), cure=cure)

    def keys(self) -> list[tuple]:
        """Each node as plain values, in order: its operation, and the indices of its arguments or its number or name.

        A table is the digest of its numbers. Graphs with equal keys are equal.
        """
        return list(self._interned)

    def _intern(self, key: tuple, op: str, args: tuple, value: Any = None) -> Expr:
        """The node of that key; a new one if there is none."""
        node = self._interned.get(key)
        if node is None:
            node = self._interned[key] = Expr(self, op, args, value, len(self.nodes))
            self.nodes.append(node)
        return node

    def _refuse(self) -> NoReturn:
        """A graph that is too large to be compiled is not traced to its end, which may never fit into memory."""
        problem = f"a program has more than {self._most:,} operations, which take minutes and gigabytes to compile"
        cure = "take a smaller robot: fewer joints with limits, contacts or closed loops; or set PLIANT_MOST_OPERATIONS"
        raise TraceError(problem, subject="program", field="operations", cure=cure)

    def copied(self, op: str, args: tuple[Expr, ...]) -> Expr:
        """The node of an operation that has been folded already, in another graph with arguments of the same kind."""
        if (op == "add" or (op == "mul" and args[0].op != "const")) and args[0].index > args[1].index:
            args = args[1], args[0]
        return self._intern((op, *[a.index for a in args]), op, args)

    def _binary(self, op: str, a: Expr, b: Expr) -> Expr:
        key = op, a.index, b.index  # as `_intern`, without the call
        node = self._interned.get(key)
        if node is None:
            index = len(self.nodes)
            if index >= self._most:
                self._refuse()
            node = self._interned[key] = Expr(self, op, (a, b), None, index)
            self.nodes.append(node)
        return node

    # The four operations and their folding. They are hot: a robot's step makes 1e5 calls.

    def add(self, a, b) -> Expr:
        if type(a) is not Expr or a.graph is not self:
            a = self.lift(a)
        if type(b) is not Expr or b.graph is not self:
            b = self.lift(b)
        if a.op == "const":
            if b.op == "const":
                return self.constant(a.value + b.value)
            if a.value == 0:
                return b
        elif b.op == "const" and b.value == 0:
            return a
        if b.op == "neg":
            return self.sub(a, b.args[0])
        if a.op == "neg":
            return self.sub(b, a.args[0])
        if a.index > b.index:
            a, b = b, a
        return self._binary("add", a, b)

    def sub(self, a, b) -> Expr:
        if type(a) is not Expr or a.graph is not self:
            a = self.lift(a)
        if type(b) is not Expr or b.graph is not self:
            b = self.lift(b)
        if b.op == "const":
            if a.op == "const":
                return self.constant(a.value - b.value)
            if b.value == 0:
                return a
            return self.add(a, -b.value)
        if a.op == "const" and a.value == 0:
            return self.neg(b)
        if b.op == "neg":
            return self.add(a, b.args[0])
        if a is b:
            return self.constant(0)
        if a.op == "neg":
            return self.neg(self.add(a.args[0], b))
        return self._binary("sub", a, b)

    def mul(self, a, b) -> Expr:
        if type(a) is not Expr or a.graph is not self:
            a = self.lift(a)
        if type(b) is not Expr or b.graph is not self:
            b = self.lift(b)
        if b.op == "const":
            a, b = b, a
        if a.op == "const":
            value = a.value
            if b.op == "const":
                return self.constant(value * b.value)
            if value == 0:
                return a
            if value == 1:
                return b
            if value == -1:
                return self.neg(b)
            if b.op == "neg":
                return self.mul(-value, b.args[0])
            if b.op == "mul" and b.args[0].op == "const" and _is_normal(value * b.args[0].value):
                return self.mul(value * b.args[0].value, b.args[1])
            return self._binary("mul", a, b)
        if a.op == "neg":
            return self.neg(self.mul(a.args[0], b))
        if b.op == "neg":
            return self.neg(self.mul(a, b.args[0]))
        if a.index > b.index:
            a, b = b, a
        return self._binary("mul", a, b)

    def div(self, a, b) -> Expr:
        a, b = self.lift(a), self.lift(b)
        if b.op == "const":
            if b.value == 0:
                raise TraceError(f"division of {a!r} by a constant zero")
            if a.op == "const":
                return self.constant(a.value / b.value)
            if _is_normal(1 / b.value):
                return self.mul(1 / b.value, a)
        if a.op == "const" and a.value == 0:
            return a
        if a.op == "neg":
            return self.neg(self.div(a.args[0], b))
        if b.op == "neg":
            return self.neg(self.div(a, b.args[0]))
        return self._binary("div", a, b)

    def neg(self, a) -> Expr:
        a = self.lift(a)
        if a.op == "const":
            return self.constant(-a.value)
        if a.op == "neg":
            return a.args[0]
        if a.op == "sub":
            return self._binary("sub", a.args[1], a.args[0])
        if a.op == "mul" and a.args[0].op == "const":
            return self.mul(-a.args[0].value, a.args[1])
        return self._intern(("neg", a.index), "neg", (a,))

    def power(self, a, exponent) -> Expr:
        """``a`` to an integer or half-integer power, by squaring; any other by exp and log."""
        exponent = self.lift(exponent)
        if exponent.op != "const" or 2 * exponent.value % 1 != 0:
            return self.apply("exp", self.mul(exponent, self.apply("log", a)))
        whole, half = divmod(abs(exponent.value), 1)
        result, square, n = self.constant(1), self.lift(a), int(whole)
        while n:
            if n & 1:
                result = self.mul(result, square)
            square = self.mul(square, square) if n > 1 else square
            n >>= 1
        if half:
            result = self.mul(result, self.apply("sqrt", a))
        return result if exponent.value >= 0 else self.div(1, result)

    def lookup(self, table: Table, index, offset=0, last=None) -> Expr:
        """The entry of a constant table at a node, or beside it; tables of equal numbers are one."""
        index = self.lift(index)
        beside = () if last is None else (self.lift(offset), self.lift(last))
        window = [int(x.value) for x in beside if x.op == "const" and x.value == x.value // 1]
        if len(window) < len(beside):
            raise TraceError(f"a lookup beside an index takes whole numbers for it, not {offset!r} and {last!r}")
        if window:
            table.check_window(*window)
        if index.op == "const":
            return self.constant(table.at(index.value, *window))
        nodes = (index, *beside)
        return self._intern(("lookup", table.digest, *[n.index for n in nodes]), "lookup", nodes, table)

    def floor_quotient(self, a, b) -> Expr:
        """The largest integer not above a / b; the remainder decides where the quotient rounds to the next one."""
        return self.apply("round", (self.lift(a) - self.apply("mod", a, b)) / self.lift(b))

    def apply(self, op: str, *args) -> Expr:
        """The node of any operation of the table, folded."""
        fold = self._arithmetic.get(op)
        if fold is not None:
            return fold(self, *args)
        nodes = tuple(self.lift(a) for a in args)
        if all(n.op == "const" for n in nodes):
            return self.constant(_meaning(op, [n.value for n in nodes]))
        if op == "select":
            condition, then, otherwise = nodes
            if condition.op == "const":
                return then if condition.value else otherwise
            if then is otherwise:
                return then
            if condition.op == "not":
                return self.apply("select", condition.args[0], otherwise, then)
        elif op == "equal":
            nodes = tuple(sorted(nodes, key=lambda node: node.index))
        elif op in ("min", "max", "and", "or"):
            if nodes[0] is nodes[1]:
                return nodes[0]
            if op in ("and", "or"):
                for one, other in (nodes, nodes[::-1]):
                    if one.op == "const":
                        return other if bool(one.value) == (op == "and") else one
            # a constant last: it is never NaN, so that code need not check the second one
            if nodes[0].op == "const" or (nodes[1].op != "const" and nodes[0].index > nodes[1].index):
                nodes = nodes[1], nodes[0]
        elif (op == "not" and nodes[0].op == "not") or (op == "abs" and nodes[0].op == "neg"):
            return nodes[0].args[0] if op == "not" else self.apply("abs", nodes[0].args[0])
        return self._intern((op, *[n.index for n in nodes]), op, nodes)

    _arithmetic: ClassVar[dict[str, Callable[..., Expr]]] = {"add": add, "sub": sub, "mul": mul, "div": div, "neg": neg}


def _is_normal(value: float) -> bool:
    """Whether a constant made by folding has all its digits: neither overflown nor below the normal numbers."""
    return sys.float_info.min <= abs(value) <= sys.float_info.max


def _meaning(op: str, values: list[float]) -> float:
    try:
        return float(TABLE[op].python(*values))
    except (ValueError, OverflowError, ZeroDivisionError):
        return math.nan
