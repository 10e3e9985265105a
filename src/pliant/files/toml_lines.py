"""The line of each key of a TOML text, which the standard library's reader does not report."""

import tomllib
from collections.abc import Iterator
from typing import Any

__all__ = ["Path", "key_lines"]

Path = tuple[str, ...]

# a value may go over several lines, each of which is tried as the last
_LONGEST = 200
# robot.toml has tables of tables of values
_DEEPEST = 3


def key_lines(text: str) -> dict[Path, int]:
    """The line on which each table and each key of a valid TOML text is first named.

    No statement of TOML is the start of another one on more lines. So lines are gathered until they are TOML by
    themselves: that is one statement, and it tells its keys. Keys after one that is too long are left out.
    """
    lines: dict[Path, int] = {}
    header: Path = ()
    statement, start = "", 0
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not statement:
            if line.lstrip().startswith("#") or not line.strip():
                continue
            start = number
        statement += line + "\n"
        try:
            found = tomllib.loads(statement)
        except (ValueError, RecursionError):
            if number - start < _LONGEST:
                continue
            break
        is_header = statement.lstrip().startswith("[")
        paths = list(_paths(found, () if is_header else header))
        for path in paths:
            lines.setdefault(path, start)
        header = paths[-1] if is_header else header
        statement = ""
    return lines


def _paths(table: dict[str, Any], above: Path) -> Iterator[Path]:
    for key, value in table.items():
        yield (*above, key)
        if isinstance(value, dict) and len(above) + 1 < _DEEPEST:
            yield from _paths(value, (*above, key))
