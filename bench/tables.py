"""Tables of results as text, a row as soon as it is there, with the reasons of marks below."""

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["Row", "columns", "table"]

Row = dict[str, Any]
"""Cells by column. "failed" is why a check failed, "note" a remark that is none: they are marks, not columns."""

_MARKS = ("failed", "note")


def table(say: Callable[[str], None], title: str, rows: Iterable[Row]) -> list[Row]:
    """Say rows as they come, under their keys; and return them."""
    done: list[Row] = []
    reasons: list[str] = []
    shown: list[str] = []
    say(f"\n{title}")
    for row in rows:
        if not set(columns(row)) <= set(shown):
            shown = columns(row)
            say("  ".join(key.ljust(_width(key)) for key in shown).rstrip())
        cells = "  ".join(_cell(row.get(key)).ljust(_width(key)) for key in shown)
        say(f"{cells}  {' '.join(_marked(row, reasons))}".rstrip())
        done.append(row)
    for number, reason in enumerate(reasons, start=1):
        say(f"*{number} {reason}")
    return done


def columns(row: Row) -> list[str]:
    """Names of the columns: the keys that are no marks."""
    return [key for key in row if key not in _MARKS]


def _marked(row: Row, reasons: list[str]) -> list[str]:
    """The marks of a row, whose reasons are added unless they are there already."""
    found = []
    for kind in _MARKS:
        if row.get(kind):
            reason = f"{kind.upper() if kind == 'failed' else kind}: {row[kind]}"
            if reason not in reasons:
                reasons.append(reason)
            found.append(f"*{reasons.index(reason) + 1}")
    return found


def _width(key: str) -> int:
    return {"simulator": 16, "scene": 13, "way": 12, "contacts": 9, "settings": 40, "function": 20}.get(
        key, max(8, len(key))
    )


def _cell(c: Any) -> str:
    if c is None:
        return ""
    if not isinstance(c, float):
        return str(c)
    return f"{c:.1e}" if 0 < abs(c) < 1e-3 else f"{c:.1f}" if c >= 10 else f"{c:.3f}"
