"""Cures that errors of `Robot` name in Python, as lines of a side file."""

import re

from pliant.catalogue.side_tables import TABLES, Table

__all__ = ["toml_cures"]

_BY_METHOD = {table.method: table for table in TABLES}
# robot.with_motor('knee', rotor_inertia=...): of another thing than the one that is changed, perhaps
_CALL = re.compile(r"robot\.(with_\w+)\('([^']*)', ((?:[^()]|\([^()]*\))*)\)")
_KEYWORD = re.compile(r"\b(\w+)=(\([^()]*\)|\[[^\[\]]*\]|[\w.+-]*)")


def toml_cures(table: Table, name: str, message: str) -> str:
    """What a message says to write in Python, as a side file has it; nothing if it says nothing of the kind.

    Args:
        table: the kind of table that the error is about.
        name: its key.
        message: of the error.
    """
    found: list[str] = []

    def of_call(match: re.Match) -> str:
        other = _BY_METHOD.get(match[1])
        found.extend(_lines(other, match[2], match[3]) if other is not None else ())
        return ""

    rest = _CALL.sub(of_call, message)
    # what is quoted is what was given, not a cure
    return " or ".join(dict.fromkeys([*found, *_lines(table, name, re.sub(r"'[^']*'", "", rest))]))


def _lines(table: Table, name: str, text: str) -> list[str]:
    key = name if re.fullmatch(r"[\w-]+", name, re.ASCII) else f'"{name}"'
    values = [
        f"{what} = {_value(value) or table.keys[what].example}"
        for what, value in _KEYWORD.findall(text)
        if what in table.keys
    ]
    return [f"[{table.name}.{key}] {', '.join(values)}"] if values else []


def _value(python: str) -> str:
    """A value as TOML has it: lists in brackets, strings in double quotes."""
    return python.rstrip(".").translate(str.maketrans("()'", '[]"'))
