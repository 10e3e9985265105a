"""Tables of results as text, a row as soon as it is there."""

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["table"]


def table(say: Callable[[str], None], title: str, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Say rows as they come, under the keys of the first; and return them."""
    done: list[dict[str, Any]] = []
    say(f"\n{title}")
    for row in rows:
        if not done:
            say("  ".join(key.ljust(_width(key)) for key in row))
        say("  ".join(_cell(value).ljust(_width(key)) for key, value in row.items()))
        done.append(row)
    return done


def _width(key: str) -> int:
    return {"simulator": 16, "settings": 40, "function": 20}.get(key, max(8, len(key)))


def _cell(c: Any) -> str:
    if c is None:
        return ""
    if not isinstance(c, float):
        return str(c)
    return f"{c:.1e}" if 0 < abs(c) < 1e-3 else f"{c:.1f}" if c >= 10 else f"{c:.3f}"
