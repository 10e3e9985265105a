"""Output of the program: words and tables on the terminal, JSON for scripts."""

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

STOPPED = 130
"""Exit code after Ctrl-C."""
Json = Annotated[bool, typer.Option("--json", help="print JSON and nothing else")]
"""The option of commands that print JSON for scripts."""


def say(text: str = "") -> None:
    """Print a line on the standard output."""
    sys.stdout.write(text + "\n")


def complain(text: str) -> None:
    """Print a line on the error stream, where scripts do not look for results."""
    sys.stderr.write(f"pliant: {text}\n")


def print_json(value: Any) -> None:
    """Print a value as JSON; numbers that are not finite become null, since JSON has none for them."""
    say(json.dumps(_plain(value), indent=2, ensure_ascii=False))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if value is None or isinstance(value, bool | str | int):
        return value
    try:
        found = value.item() if hasattr(value, "item") else float(value)
    except (TypeError, ValueError):
        return str(value)
    return None if isinstance(found, float) and not math.isfinite(found) else found


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """Print a table as wide as the terminal, or 80 without one; long words are folded. ``right`` are numbers."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        made.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    print_rich(made)


def print_pairs(title: str, pairs: Iterable[tuple[str, str]]) -> None:
    """Print a title, and names with their values, one a line."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, show_header=False)
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        made.add_row(name, value)
    print_rich(Text(title, style="bold"))
    print_rich(made)


def print_rich(what: Any, *, least_width: int = 0) -> None:
    """Print a thing of rich, without the blanks that fill lines up; no narrower than so many columns."""
    from rich.console import Console

    # names of robots may look like markup or emoji
    console = Console(markup=False, emoji=False, highlight=False, soft_wrap=False)
    console.width = max(console.width, least_width)
    with console.capture() as captured:
        console.print(what)
    for line in captured.get().splitlines():
        say(line.rstrip())


def number(x: Any, digits: int = 4) -> str:
    """A number in few digits, or a formula as it is."""
    try:
        found = float(x)
    except (TypeError, ValueError):
        return str(x)
    # 1800, not 1.8e+03
    return f"{found:.0f}" if 10**digits <= abs(found) < 1e7 else f"{found:.{digits}g}"


def size(count: float) -> str:
    """A number of bytes, in words."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"
