"""Traced scalars: nodes of an expression graph, with the operators of numbers.

An operator adds a node to the graph (`pliant.scalar.graph`), or finds the one that is there already.
NumPy's functions and arrays take traced scalars element by element.
"""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import empty, frompyfunc, ndarray

from pliant.errors import TraceError
from pliant.scalar import ops

if TYPE_CHECKING:
    from pliant.scalar.graph import Graph

__all__ = ["Expr"]


class Expr:
    """One node of a graph: an operation applied to nodes before it.

    Attributes:
        graph: the arena it lives in.
        op: name of the operation, a key of `pliant.scalar.ops.TABLE`, or "input", "const" or "lookup".
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
        return self.graph.add(self, other) if type(other) is not ndarray else _each(self.__add__, other)

    def __radd__(self, other):
        return self.graph.add(other, self) if type(other) is not ndarray else _each(self.__radd__, other)

    def __sub__(self, other):
        return self.graph.sub(self, other) if type(other) is not ndarray else _each(self.__sub__, other)

    def __rsub__(self, other):
        return self.graph.sub(other, self) if type(other) is not ndarray else _each(self.__rsub__, other)

    def __mul__(self, other):
        return self.graph.mul(self, other) if type(other) is not ndarray else _each(self.__mul__, other)

    def __rmul__(self, other):
        return self.graph.mul(other, self) if type(other) is not ndarray else _each(self.__rmul__, other)

    def __truediv__(self, other):
        return self.graph.div(self, other) if type(other) is not ndarray else _each(self.__truediv__, other)

    def __rtruediv__(self, other):
        return self.graph.div(other, self) if type(other) is not ndarray else _each(self.__rtruediv__, other)

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

    def __lt__(self, other):
        return self.graph.apply("less", self, other) if type(other) is not ndarray else _each(self.__lt__, other)

    def __le__(self, other):
        return self.graph.apply("less_equal", self, other) if type(other) is not ndarray else _each(self.__le__, other)

    def __gt__(self, other):
        return self.graph.apply("less", other, self) if type(other) is not ndarray else _each(self.__gt__, other)

    def __ge__(self, other):
        return self.graph.apply("less_equal", other, self) if type(other) is not ndarray else _each(self.__ge__, other)

    def __eq__(self, other):  # type: ignore[override]
        return self.graph.apply("equal", self, other) if type(other) is not ndarray else _each(self.__eq__, other)

    def __ne__(self, other):  # type: ignore[override]
        return ~(self == other)

    def __and__(self, other):
        return self.graph.apply("and", self, other) if type(other) is not ndarray else _each(self.__and__, other)

    def __or__(self, other):
        return self.graph.apply("or", self, other) if type(other) is not ndarray else _each(self.__or__, other)

    def __invert__(self):
        return self.graph.apply("not", self)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """NumPy's functions of a traced scalar, and `array * expr`, element by element."""
        function = _UFUNCS.get(ufunc.__name__)
        if function is None or method != "__call__" or options:
            problem = f"numpy.{ufunc.__name__} does not work on a traced scalar ({self!r})"
            cure = "use Pliant's functions: pliant.math.sin, pliant.math.select, ..."
            raise TraceError(problem, subject=repr(self), cure=cure)
        # a traced scalar is wrapped, or NumPy would ask us again
        arrays = [x if isinstance(x, ndarray) else _wrapped(x) for x in inputs]
        return frompyfunc(function, len(arrays), 1)(*arrays)

    __hash__ = object.__hash__

    def __bool__(self):
        raise TraceError(
            f"the truth of a traced scalar ({self!r}) is not known while tracing, so it cannot "
            "decide an `if`, `while`, `and` or `or`",
            subject=repr(self),
            cure="use pliant.math.select(condition, then, otherwise), and & | ~ between conditions",
        )

    def __float__(self):
        functions = "pliant.math.sin, pliant.math.sqrt, pliant.math.select, ..."
        raise TraceError(
            f"a traced scalar ({self!r}) has no number while tracing",
            subject=repr(self),
            cure=f"use Pliant's functions ({functions}) instead of those of math",
        )

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
    row.numpy: _applied(name) for name, row in ops.TABLE.items() if row.numpy is not None
}
_UFUNCS |= {"equal": operator.eq, "less": operator.lt, "less_equal": operator.le}
_UFUNCS |= {"greater": operator.gt, "greater_equal": operator.ge, "not_equal": operator.ne, "power": operator.pow}
_UFUNCS |= {"bitwise_and": operator.and_, "bitwise_or": operator.or_, "invert": operator.invert}
_UFUNCS |= {"positive": operator.pos, "absolute": operator.abs}

# what they ask of the elements of an array of objects
for _name in ("sin", "cos", "tan", "arcsin", "arccos", "arctan2", "sqrt", "exp", "log", "floor"):
    setattr(Expr, _name, _UFUNCS[_name])


def _each(function: Callable[[Any], Expr], array: ndarray) -> Any:
    """An array of what ``function`` makes of the elements."""
    return frompyfunc(function, 1, 1)(array)
