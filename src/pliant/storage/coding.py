"""Python objects to plain data and back, by tables that say what each field is.

Nothing in a file names a class or is executed: the tables decide what is made, and every value is checked on the way.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pliant.errors import PliantError
from pliant.scalar import is_constant

__all__ = [
    "Coder", "choice", "flag", "many", "number", "number_or_numbers", "optional", "record", "text", "triple", "whole",
]  # fmt: skip

MAX_TEXT = 100_000
MAX_MANY = 1_000_000


class Coder(NamedTuple):
    """How a value is written as what JSON has, and read again; both take the place of the value, for messages."""

    write: Callable[[Any, str], Any]
    read: Callable[[Any, str], Any]


def _wrong(where: str, value: Any, takes: str) -> PliantError:
    shown = repr(value)
    shown = shown if len(shown) < 60 else shown[:57] + "..."
    return PliantError(f"{where} is {shown}; it takes {takes}")


def _write_number(x: Any, where: str) -> Any:
    x = x.item() if hasattr(x, "item") else x
    if isinstance(x, bool) or not is_constant(x):
        raise PliantError(f"{where} is {x!r}, which is no plain number: give symbols their values before saving")
    x = x if isinstance(x, int) else float(x)
    # integers that are exact by structure stay integers; JSON has neither infinities nor NaN
    return x if math.isfinite(x) else str(x)


def _read_number(x: Any, where: str) -> Any:
    if isinstance(x, str) and x in ("inf", "-inf", "nan"):
        return float(x)
    if isinstance(x, bool) or not isinstance(x, int | float) or abs(x) > 1e300:
        raise _wrong(where, x, "a number")
    return x


def _read_text(x: Any, where: str) -> str:
    if not isinstance(x, str) or len(x) > MAX_TEXT:
        raise _wrong(where, x, "text")
    return x


def _read_flag(x: Any, where: str) -> bool:
    if not isinstance(x, bool):
        raise _wrong(where, x, "true or false")
    return x


def _read_whole(x: Any, where: str) -> int:
    if type(x) is not int or abs(x) > 2**53:
        raise _wrong(where, x, "a whole number")
    return x


number = Coder(_write_number, _read_number)
text = Coder(lambda x, where: str(x), _read_text)
flag = Coder(lambda x, where: bool(x), _read_flag)
whole = Coder(lambda x, where: int(x), _read_whole)


def choice(*options: str) -> Coder:
    """One of some words."""

    def read(x: Any, where: str) -> str:
        if x not in options:
            raise _wrong(where, x, "one of " + ", ".join(options))
        return x

    return Coder(lambda x, where: str(x), read)


def optional(coder: Coder) -> Coder:
    """None, or a value."""
    return Coder(
        lambda x, where: None if x is None else coder.write(x, where),
        lambda x, where: None if x is None else coder.read(x, where),
    )


def many(coder: Coder, *, count: int | None = None) -> Coder:
    """A tuple of values of one kind."""

    def read(values: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(values, list) or len(values) > MAX_MANY or count not in (None, len(values)):
            raise _wrong(where, values, "a list" if count is None else f"a list of {count}")
        return tuple(coder.read(x, f"{where}[{k}]") for k, x in enumerate(values))

    return Coder(lambda values, where: [coder.write(x, f"{where}[{k}]") for k, x in enumerate(values)], read)


triple = many(number, count=3)

_numbers = many(number)

number_or_numbers = Coder(
    lambda x, where: number.write(x, where) if is_constant(x) else _numbers.write(x, where),
    lambda x, where: _numbers.read(x, where) if isinstance(x, list) else number.read(x, where),
)


def record(make: Callable[..., Any], **fields: Coder) -> Coder:
    """An object by its fields.

    Args:
        make: called with the fields by name.
        fields: what each of them is.
    """

    def write(x: Any, where: str) -> dict[str, Any]:
        return {name: coder.write(getattr(x, name), f"{where}.{name}") for name, coder in fields.items()}

    def read(values: Any, where: str) -> Any:
        if not isinstance(values, Mapping):
            raise _wrong(where, values, "fields by name")
        missing = [name for name in fields if name not in values]
        if missing:
            raise PliantError(f"{where} has no {missing[0]!r}")
        return make(**{name: coder.read(values[name], f"{where}.{name}") for name, coder in fields.items()})

    return Coder(write, read)
