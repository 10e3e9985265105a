"""The results of a sweep as a table."""

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.checks import check_known
from pliant.cluster.trials import OWN, STATUSES, Result
from pliant.errors import PliantError, needs
from pliant.files.writing import whole_file


class Table(Sequence[Result]):
    """What came of all trials, in the order of the sweep.

        table["score"]                    # a column: NaN (or None) where a trial failed
        table[3].results["path"]          # arrays are in the results
        table.failures                    # those that raised, took too long, or whose worker ended
        table.best("score").values
        table.to_parquet("sweep.parquet");  table.to_csv("sweep.csv")

    Attributes:
        results: one for each trial.
        folder: where they are.
    """

    def __init__(self, results: Sequence[Result], folder: str | os.PathLike[str] = ""):
        self.results, self.folder = tuple(results), os.fspath(folder)

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __getitem__(self, what: Any) -> Any:
        """A result by its number, or a column by its name."""
        if not isinstance(what, str):
            return self.results[what]
        check_known("column", what, self.columns, "the table")
        return self.column(what)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arguments."""
        return tuple(dict.fromkeys(name for result in self.results for name in result.values))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns: arguments, results that are no arrays, status, error, seconds, attempts and key."""
        found = {name for result in self.results for name, x in result.results.items() if not _is_array(x)}
        ordered = [n for result in self.results for n in result.results if n in found]
        return tuple(dict.fromkeys((*self.names, *ordered, *OWN)))

    def column(self, name: str) -> np.ndarray:
        """A column: numbers as float64 with NaN where there is none, all else as objects with None."""
        found = [self._cell(result, name) for result in self.results]
        is_number = [x is None or (isinstance(x, int | float) and not isinstance(x, bool)) for x in found]
        if all(is_number) and any(x is not None for x in found):
            return np.array([np.nan if x is None else x for x in found], dtype=float)
        made = np.empty(len(found), dtype=object)
        made[:] = found
        return made

    def _cell(self, result: Result, name: str) -> Any:
        if name in OWN:
            return getattr(result, name)
        found = result.values.get(name, result.results.get(name))
        return None if _is_array(found) else found

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All rows, each a dict of its columns."""
        columns = self.columns
        return [{name: self._cell(result, name) for name in columns} for result in self.results]

    @property
    def counts(self) -> dict[str, int]:
        """How many trials ended how."""
        return {status: sum(result.status == status for result in self.results) for status in STATUSES}

    @property
    def failures(self) -> tuple[Result, ...]:
        """Trials that are not done."""
        return tuple(result for result in self.results if result.status != "done")

    def best(self, column: str, *, largest: bool = True) -> Result:
        """The result with the largest (or smallest) number in a column."""
        numbers = self[column]
        if numbers.dtype != float or not np.isfinite(numbers).any():
            raise PliantError(f"column {column!r} has no finite number", subject=column, field="column",
                              cure="name a result that is a number")  # fmt: skip
        worst = -np.inf if largest else np.inf
        numbers = np.where(np.isfinite(numbers), numbers, worst)
        return self.results[int(np.argmax(numbers) if largest else np.argmin(numbers))]

    def same_as(self, other: "Table") -> bool:
        """Whether all trials ended alike, with results that are equal to the bit; times and attempts apart."""
        pairs = list(zip(self.results, other.results, strict=False))
        return len(self) == len(other) and all(
            (a.key, a.values, a.status, a.error) == (b.key, b.values, b.status, b.error) and _same(a.results, b.results)
            for a, b in pairs
        )

    # ---- files

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write it as text."""
        with whole_file(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.columns)
            writer.writerows([_text(x) for x in row.values()] for row in self.rows)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write it as Parquet, which takes pyarrow; lists and dicts are JSON there."""
        arrow = needs("pyarrow", "export", "table.to_parquet()")
        parquet = needs("pyarrow.parquet", "export", "table.to_parquet()")
        made = {}
        for name in self.columns:
            column = self.column(name)
            found = column.tolist()
            kinds = {type(x) for x in found if x is not None}
            if column.dtype != float and (len(kinds) > 1 or kinds & {list, dict}):
                found = [None if x is None else _text(x) for x in found]
            made[name] = found
        with whole_file(path) as beside:
            parquet.write_table(arrow.table(made), str(beside))

    def __repr__(self) -> str:
        shown = ", ".join(f"{count} {status}" for status, count in self.counts.items() if count)
        place = f" in {Path(self.folder)}" if self.folder else ""
        return f"Table of {len(self)} trials{place}: {shown or 'empty'}; columns {', '.join(self.columns)}"


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        alike = isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype == b.dtype
        return alike and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return type(a) is type(b) and (a == b or (a != a and b != b))


def _text(x: Any) -> Any:
    if isinstance(x, list | dict):
        import json

        return json.dumps(x)
    return "" if x is None else x
