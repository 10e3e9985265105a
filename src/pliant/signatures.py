"""Errors of calls whose arguments are not what the signature says.

A public function is decorated with `explained`. As long as it succeeds, or raises a `PliantError`, nothing else
happens: the call is as fast as without, and what works by its nature, such as an object that behaves like a list, goes
on working. If it raises anything else, the arguments are compared with their annotations, and the first that does not
fit is named in a `PliantError`. If all fit, the error is a mistake of Pliant or of a function that the user gave, and
stays as it is.
"""

import functools
import inspect
import math
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from numbers import Complex, Integral, Real
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pliant.errors import ContactError, LearningError, PliantError, RobotError, SimulationError, bad_value

F = TypeVar("F", bound=Callable[..., Any])

_LARGEST = 2**53
"""Whole numbers beyond it are none that a count, an index or a float stands for."""

_ERRORS = {
    "robot": RobotError, "formats": RobotError, "catalogue": RobotError, "meshes": RobotError,
    "contact": ContactError, "terrain": ContactError, "simulation": SimulationError, "events": SimulationError,
    "learn": LearningError,
}  # fmt: skip
"""What each package raises; others `PliantError`."""

_OPTIONAL = (type(None), types.NoneType)
# strings of annotations that name classes which are imported for type checkers only
_PLAIN_NAMES = {"None": type(None), "str": str, "int": int, "float": float, "bool": bool, "Any": Any}


def explained(function: F) -> F:
    """A function, or a class that is called, whose errors from arguments that do not fit are `PliantError`."""
    if isinstance(function, type):
        function.__init__ = explained(function.__init__)
        return function  # type: ignore[return-value]

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except PliantError:
            raise
        except Exception as error:
            explain(function, args, kwargs, error)
            raise

    return called  # type: ignore[return-value]


def explain(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception) -> None:
    """Raise a `PliantError` that names the argument that led to an error, if one does not fit the signature."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return  # the number or the names of arguments, which Python explains
    *owner, name = function.__qualname__.split(".")
    subject = owner[-1] if name == "__init__" and owner else name
    kind = _ERRORS.get(
        (function.__module__ or "").split(".")[1:2][0] if "." in function.__module__ else "", PliantError
    )
    pairs = list(_pairs(function, signature, bound.arguments))
    is_arithmetic = isinstance(error, TypeError) and "operand" in str(error)
    for judge in (_misfit, _excess, *([_uncountable] if is_arithmetic else [])):
        for argument, value, hint in pairs:
            takes = judge(value, hint)
            if takes:
                raise kind(bad_value(argument, value, takes, subject)) from error


def _pairs(function: Any, signature: inspect.Signature, arguments: Mapping[str, Any]) -> Iterable[tuple[str, Any, Any]]:
    """Arguments that were given, with their annotations."""
    names = getattr(function, "__globals__", {})
    for name, value in arguments.items():
        parameter = signature.parameters[name]
        if name == "self" or parameter.annotation is parameter.empty:
            continue
        hint = _resolved(parameter.annotation, names)
        if parameter.kind is parameter.VAR_POSITIONAL:
            yield from ((f"{name}[{k}]", entry, hint) for k, entry in enumerate(value))
        elif parameter.kind is parameter.VAR_KEYWORD:
            yield from ((key, entry, hint) for key, entry in value.items())
        else:
            yield name, value, hint


def _resolved(hint: Any, names: Mapping[str, Any]) -> Any:
    """An annotation that is written as a string, as a type; `_Named` for a class that only type checkers import."""
    if not isinstance(hint, str):
        return hint
    try:
        return eval(hint, dict(names))  # an annotation of ours
    except Exception:
        parts = [part.strip() for part in hint.split("|")]
        if not all(part.replace(".", "").isidentifier() for part in parts):
            return Any
        return tuple(_PLAIN_NAMES.get(part, part.rpartition(".")[2]) for part in parts)


# ---- whether a value fits


def _misfit(value: Any, hint: Any) -> str:
    """What an annotation takes, if a value is not that; "" if it is."""
    return "" if _fits(value, hint) else _in_words(hint)


def _excess(value: Any, hint: Any) -> str:
    """What an annotation takes, if a value is of its type, but no number to reckon with; "" otherwise."""
    if isinstance(value, Integral) and not isinstance(value, bool) and abs(int(value)) > _LARGEST:
        return "a smaller number"
    if isinstance(value, Real) and not isinstance(value, Integral):
        size = abs(float(value))
        if not size < 1e300 or 0 < size < 1e-300:
            return "a finite number" if not math.isfinite(size) else "a number that can be computed with"
    if isinstance(value, list | tuple):
        return next((f"entries that are {takes}" for takes in (_excess(entry, Any) for entry in value) if takes), "")
    if getattr(value, "free_symbols", None):
        return "a number without symbols"
    if type(value).__module__ == "numpy" and getattr(value, "dtype", None) is not None:
        return "" if _is_finite(value) else "finite numbers"
    if isinstance(value, str) and (len(value) > 1000 or "\0" in value or not _is_unicode(value)):
        return "a shorter text, without zero bytes and halves of characters"
    return ""


def _uncountable(value: Any, hint: Any) -> str:
    """What is taken, if a value cannot be multiplied, where anything was expected with which one can reckon."""
    return "a number" if hint is Any and not hasattr(type(value), "__mul__") else ""


def _is_finite(array: Any) -> bool:
    import numpy as np

    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fits(value: Any, hint: Any) -> bool:
    if hint is Any or isinstance(hint, TypeVar):
        return _is_thinkable(value)
    if isinstance(hint, tuple):  # of classes that only type checkers import, by name
        own = {kind.__name__ for kind in type(value).__mro__}
        return any(part in own if isinstance(part, str) else _fits(value, part) for part in hint)
    if isinstance(hint, str):
        return True
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in inside)
    if origin is Literal:
        return isinstance(value, str | int | bool | None) and value in inside
    if origin is typing.Annotated:
        return _fits(value, inside[0])
    return _fits_class(value, origin or hint, inside)


def _fits_class(value: Any, kind: Any, inside: tuple[Any, ...]) -> bool:
    if not isinstance(kind, type):
        return kind is not Callable or callable(value)
    if kind in _OPTIONAL:
        return value is None
    if kind is bool:
        return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")
    if kind in (int, float):
        return _is_number(value, kind)
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
        return _is_arraylike(value) and bool(getattr(value, "shape", isinstance(value, Sequence)))
    if kind is Callable or kind.__name__ == "Callable":
        return callable(value)
    if kind in (os.PathLike,):
        return isinstance(value, os.PathLike)
    if getattr(kind, "_is_protocol", False):
        return True
    if kind.__module__.startswith("pliant"):
        return isinstance(value, kind)
    if issubclass(kind, Mapping):
        fits = isinstance(value, Mapping)
        return fits and (len(inside) < 2 or all(_fits(k, inside[0]) and _fits(x, inside[1]) for k, x in value.items()))
    if issubclass(kind, Sequence | Set | Iterable) and kind is not str and kind is not bytes:
        return _fits_several(value, kind, inside)
    return isinstance(value, kind)


def _fits_several(value: Any, kind: type, inside: tuple[Any, ...]) -> bool:
    if type(value).__name__ == "ndarray":
        return _is_arraylike(value) and value.ndim > 0 and (not inside or all(_fits(x, inside[0]) for x in value[:1]))
    if issubclass(kind, Sequence) and isinstance(value, Set | Mapping):
        return False
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return False
    if not isinstance(value, Sequence | Set | Mapping):
        # iterators cannot be looked at without using them up
        return isinstance(value, kind)
    entries = list(value)
    if kind is tuple and inside and Ellipsis not in inside:
        return len(entries) == len(inside) and all(map(_fits, entries, inside))
    return not inside or all(_fits(entry, inside[0]) for entry in entries)


def _is_number(value: Any, kind: type) -> bool:
    if type(value).__name__ == "ndarray" and value.ndim == 0:
        value = value.item()
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    is_symbol = hasattr(value, "free_symbols") or type(value).__name__ == "Expr"
    return is_symbol or (isinstance(value, Real) and type(value).__name__ not in ("timedelta64",))


def _is_arraylike(value: Any) -> bool:
    """Whether it is an array of numbers or symbols, or lists that make one."""
    import numpy as np

    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        return False
    is_mixed = array.dtype.kind == "O" and (array.ndim > 0 or isinstance(value, Real))
    return array.dtype.kind in "fiub" or (is_mixed and all(_is_number(x, float) for x in array.flat))


def _is_thinkable(value: Any) -> bool:
    """Whether a value that has no type in the signature, such as a scalar of any kind, can be something at all."""
    if isinstance(value, list | tuple):
        return _is_even(value) and all(_is_thinkable(entry) for entry in value)
    if isinstance(value, Complex) and not isinstance(value, Real):
        return False
    array: Any = value
    if type(value).__name__ == "ndarray":
        return array.dtype.kind in "fiubO"
    is_named = isinstance(value, type | types.ModuleType | types.GeneratorType | bytes | Set)
    return not is_named and type(value) is not object


def _is_even(entries: Sequence[Any]) -> bool:
    """Whether lists in a list are equally long, or none of them has numbers."""
    inner = [entry for entry in entries if isinstance(entry, list | tuple)]
    numbers = all(isinstance(x, Real) for entry in inner for x in entry)
    return not inner or not numbers or (len(inner) == len(entries) and len({len(entry) for entry in inner}) == 1)


# ---- in words

_WORDS = {bool: "True or False", int: "a whole number", float: "a number", str: "text", bytes: "bytes"}


def _in_words(hint: Any) -> str:
    """What an annotation takes."""
    if isinstance(hint, tuple):
        return " or ".join(dict.fromkeys(_in_words(part) for part in hint))
    if isinstance(hint, str):
        return f"a {hint}"
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        parts = dict.fromkeys(_in_words(part) for part in inside)
        return " or ".join([*(part for part in parts if part != "None"), *(part for part in parts if part == "None")])
    if origin is Literal:
        return " or ".join(map(repr, inside))
    kind = origin or hint
    if hint is Any or not isinstance(kind, type):
        return "a function" if kind is Callable else "something else"
    if kind in _OPTIONAL:
        return "None"
    if kind in _WORDS:
        return _WORDS[kind]
    if kind.__name__ == "ndarray":
        return "an array of numbers"
    if kind.__name__ == "Callable":
        return "a function"
    if kind.__name__ in ("Path", "PathLike"):
        return "a path"
    if issubclass(kind, Mapping) and not kind.__module__.startswith("pliant"):
        return "a dict" + (f" of {_several(inside[1])} by {_several(inside[0])}" if len(inside) == 2 else "")
    if issubclass(kind, Iterable) and not kind.__module__.startswith("pliant"):
        if kind is tuple and inside and Ellipsis not in inside:
            return f"{len(inside)} values: {', '.join(_in_words(part) for part in inside)}"
        return f"several, in a list: each {_in_words(inside[0])}" if inside else "several, in a list"
    return f"a {kind.__name__}"


def _several(hint: Any) -> str:
    return {str: "name", float: "number", int: "whole number"}.get(hint, _in_words(hint))
