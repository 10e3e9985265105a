"""TOML files that users write: read with a limit on their size, and every key with its line."""

import re
import tomllib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from pliant.errors import Place, PliantError
from pliant.files.xml import read_file

Key = tuple[str, ...]
"""A key and the tables that it is in, from the outside inward."""

MAX_BYTES = 1_000_000
# a value may go over several lines, each of which is tried as the last
_LONGEST = 200
# side files have tables of tables of values
_DEEPEST = 3


class TomlFile:
    """A TOML file that has been read: its path, and a document of its keys and values."""

    def __init__(self, path: str | Path, error: type[PliantError] = PliantError):
        """Read it; raises ``error`` at the line of a mistake."""
        self.path = Path(path)
        self._error = error
        self._text = self._read()
        self.document = self._parsed()

    def place(self, *key: str) -> Place:
        """File and line of a key, or of the innermost of its tables that has a line."""
        line = next((self._lines[key[:n]] for n in range(len(key), 0, -1) if key[:n] in self._lines), None)
        return Place(str(self.path), line)

    def _read(self) -> str:
        data = read_file(self.path)
        if len(data) > MAX_BYTES:
            cure = "such a file has some kilobytes; is it another one?"
            raise self._error(f"the file is larger than {MAX_BYTES // 1_000_000} MB", cure=cure).at(self.path)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise self._error(f"not UTF-8 ({error.reason})", cure="save it as UTF-8").at(self.path, line) from None

    def _parsed(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self._text)
        except ValueError as error:
            # before Python 3.14, the reader says only in words where it stopped
            reason, _, where = str(error).partition(" (at ")
            found = re.search(r"line (\d+)", where)
            line = int(found[1]) if found else len(self._text.rstrip().splitlines()) if where else None
            shown = self._text.split("\n")[line - 1].strip() if line else ""
            raise self._error(f"not TOML ({reason})", cure=_syntax_cure(shown)).at(self.path, line) from None
        except RecursionError:
            cure = "values are at most lists of lists"
            raise self._error("lists in lists, too deep", cure=cure).at(self.path) from None

    @cached_property
    def _lines(self) -> dict[Key, int]:
        return key_lines(self._text)


def _syntax_cure(line: str) -> str:
    bare = re.search(r"(?<![\w.\"'])([+-]?)(\d*)\.(\d*)(?![\w.])", line)
    if bare and bool(bare[2]) != bool(bare[3]):
        return f"write {bare[1]}{bare[2] or 0}.{bare[3] or 0} for {bare[0]}"
    if line.startswith("["):
        return 'a pattern is in quotes, as in [motors."*_knee"], and no table comes twice'
    return "strings are in quotes, true and false in small letters"


def key_lines(text: str) -> dict[Key, int]:
    """The line on which each table and each key of a valid TOML text is first named.

    The standard library's reader does not say, so it is asked line by line. No statement of TOML is the start of
    another one on more lines: lines are gathered until they are TOML by themselves, which is one statement with its
    keys. Keys after a value that is too long are left out.
    """
    lines: dict[Key, int] = {}
    header: Key = ()
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


def _paths(table: dict[str, Any], above: Key) -> Iterator[Key]:
    for key, value in table.items():
        yield (*above, key)
        if isinstance(value, dict) and len(above) + 1 < _DEEPEST:
            yield from _paths(value, (*above, key))
