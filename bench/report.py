"""The results of a benchmark: tables that go on after a failed check, JSON, and the exit code at the end.

    report = Report(options)
    report.table("held", "time per robot [us]", {"anymal": rows_of_anymal, "talos": rows_of_talos})
    report.finish()

A row whose check failed says why under its key "failed". A part of a table that raises has a row with the reason, and
the next one follows.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.tables import Row, columns, table

__all__ = ["CheckError", "Report", "failed", "options_of"]

Part = Callable[[], Iterable[Row]]


class CheckError(Exception):
    """What is measured is wrong, or cannot be measured at all."""


def options_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser with the options of all benchmarks."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the JSON document there, too")
    parser.add_argument("--short", action="store_true", help="less of everything: to see that it works")
    return parser


def failed(who: str, fault: str) -> Row:
    """What a row says of a failed check; nothing if there is no fault."""
    return {"failed": f"{who}: {fault}"} if fault else {}


class Report:
    """What a benchmark has found so far.

    Attributes:
        results: by key, for the JSON document.
        failures: reasons of failed checks.
    """

    def __init__(self, options: argparse.Namespace, **about: Any):
        self.options = options
        self.results: dict[str, Any] = {"short": options.short, **about}
        self.failures: list[str] = []

    def say(self, text: str) -> None:
        """Print a line, unless JSON is to be printed."""
        if not self.options.json:
            print(text, flush=True)

    def table(self, key: str, title: str, parts: Mapping[str, Part]) -> list[Row]:
        """Say and keep the rows of all parts; one that raises is a row that failed.

        Args:
            key: of the rows in the results.
            parts: functions that give rows, by what they are of.
        """
        rows = table(self.say, title, self._rows(parts))
        self.results[key] = rows
        self.failures += [f"{key}: {row['failed']}" for row in rows if row.get("failed")]
        return rows

    def _rows(self, parts: Mapping[str, Part]) -> Iterator[Row]:
        shape: list[str] = []
        for name, part in parts.items():
            try:
                for row in part():
                    shape = shape or columns(row)
                    yield row
            except Exception as error:  # whatever it is, the other parts are to be measured
                first, *others = shape or ["of"]
                reason = f"{name}: {type(error).__name__}: {error}"
                yield {first: name, **dict.fromkeys(others), "failed": reason}

    def finish(self) -> None:
        """Write and print what was asked for; end the program with 1 if a check failed."""
        document = json.dumps({**self.results, "failures": self.failures}, indent=1)
        if self.options.output is not None:
            self.options.output.parent.mkdir(parents=True, exist_ok=True)
            self.options.output.write_text(document, encoding="utf-8")
        if self.options.json:
            print(document)
        if self.failures:
            sys.exit(1)
