"""What was measured during a training: a row for each update, as JSON lines and as a plot."""

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import LearningError, unknown_name
from pliant.files.writing import whole_file
from pliant.signatures import explained

Row = Mapping[str, Any]


@explained
class History(Sequence[Row]):
    """Rows of numbers by name: "steps", "seconds", "reward/TERM", "episode/length", "kl", "judge/score", ...

        history.column("kl");   history.save("history.jsonl");   history.plot("reward", path="curves.svg")

    A number that was not measured, or is not finite, is not in its row.
    """

    def __init__(self, rows: Sequence[Row] = ()):
        self._rows: list[dict[str, Any]] = [dict(row) for row in rows]

    def append(self, row: Row) -> None:
        """Add a row; numbers that are not finite are left out."""
        self._rows.append({name: value for name, value in plain(row).items() if value is not None})

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, k: Any) -> Any:
        return self._rows[k]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    @property
    def names(self) -> list[str]:
        """Names of all that was measured, in the order of their first row."""
        return list(dict.fromkeys(name for row in self._rows for name in row))

    def column(self, name: str, by: str = "steps") -> tuple[list[float], list[float]]:
        """All values of one name, and those of ``by`` in the same rows before them."""
        for wanted in (name, by):
            if wanted not in self.names:
                raise LearningError(unknown_name("column", wanted, self.names, "the history"))
        rows = [row for row in self._rows if name in row and by in row]
        return [row[by] for row in rows], [row[name] for row in rows]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON lines."""
        with whole_file(path) as beside:
            beside.write_text("".join(json.dumps(row) + "\n" for row in self._rows), encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "History":
        """A history from JSON lines."""
        found = []
        for k, line in enumerate(Path(path).expanduser().read_text(encoding="utf-8").splitlines(), start=1):
            try:
                row = json.loads(line)
            except ValueError as error:
                raise LearningError(f"this line is no JSON: {error}", subject="history").at(path, k) from None
            if not isinstance(row, dict):
                raise LearningError("this line is no row of names and values", subject="history").at(path, k)
            found.append(row)
        return cls(found)

    def plot(
        self,
        *names: str,
        by: str = "seconds",
        path: str | os.PathLike[str] | None = None,
        title: str = "",
        size: tuple[float, float] | None = None,
        show: bool = False,
    ) -> Any:
        """Draw curves of the training; returns matplotlib's figure.

        Args:
            names: columns, or their first part: "reward" draws all of "reward/...", in one panel. By default rewards,
                episodes, ends, the judge's score and what the learner did.
            by: the horizontal axis, "seconds" of training, "steps" or "iteration".
            path: of a file to write: .svg, .pdf or .png.
            show: whether to open a window.
        """
        from pliant.plots.figures import figure, legend, look, size_of

        panels = [(name, self._matching(name, by)) for name in names or self._default_panels()]
        size = size_of(size, (7.0, 1.5 * len(panels) + 0.75))
        with figure("history.plot()", size, path=path, title=title, show=show) as made:
            axes = made.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
            for axis, (name, columns) in zip(axes, panels, strict=True):
                for k, column in enumerate(columns):
                    x, y = self.column(column, by)
                    label = column.removeprefix(f"{name}/")
                    dots = {"marker": ".", "markersize": 4} if len(x) < 30 else {}
                    axis.plot(x, y, label=label, **look(k, len(columns)), **dots)
                axis.set_ylabel(name)
                if len(columns) > 1:
                    legend(axis, columns)
            axes[-1].set_xlabel({"seconds": "training time [s]", "steps": "control periods"}.get(by, by))
        return made

    def _matching(self, name: str, by: str) -> list[str]:
        numeric = [n for n in self.names if n != by and all(_is_number(row[n]) for row in self._rows if n in row)]
        found = [n for n in numeric if n == name or n.startswith(f"{name}/")]
        if not found:
            groups = dict.fromkeys(n.partition("/")[0] for n in numeric)
            raise LearningError(unknown_name("column", name, [*groups, *numeric], "the history"))
        return found

    def _default_panels(self) -> list[str]:
        groups = dict.fromkeys(name.partition("/")[0] for name in self.names if "/" in name)
        known = [name for name in ("reward", "end") if name in groups]
        single = ("episode/return", "episode/length", "judge/score", "kl", "rate", "std", "value_loss")
        return [*known, *(name for name in single if name in self.names)] or self.names[:1]


def plain(x: Any) -> Any:
    """Plain data for JSON: arrays as lists, and None for numbers that are not finite and for all else."""
    if isinstance(x, Mapping):
        return {str(name): plain(entry) for name, entry in x.items()}
    if isinstance(x, np.ndarray | np.generic):
        x = x.tolist()
    if isinstance(x, list | tuple):
        return [plain(entry) for entry in x]
    if isinstance(x, float):
        return x if math.isfinite(x) else None
    return x if isinstance(x, bool | int | str) else None


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, str)
