"""The look of figures, and how they become files: colors that color-blind people can tell apart, quiet axes.

Settings of the user stay as they are.
"""

import contextlib
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pliant.errors import PliantError, needs
from pliant.files.writing import whole_file

__all__ = [
    "COLORS", "GREY", "INK", "LINES", "figure", "finished", "label_axis", "legend", "look", "round_number", "styled",
    "target_file",
]  # fmt: skip

# Okabe and Ito's, in an order whose neighbours differ in lightness, too
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c6d1f", "#5e4b9a")
INK, GREY = "#1f2328", "#8a919a"
# dashes for curves beyond the colors
LINES = ("-", "--", ":", "-.")

_FORMATS = (".svg", ".pdf", ".png")

_SETTINGS: dict[str, Any] = {
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.borderaxespad": 0.2,
    "axes.linewidth": 0.7,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.xmargin": 0.0,
    "axes.ymargin": 0.08,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 5),
    "axes.unicode_minus": True,
    "grid.color": "#d8dce1",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.solid_capstyle": "round",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "figure.facecolor": "white",
    "axes.facecolor": "none",
    "savefig.facecolor": "white",
    "savefig.dpi": 200,
    "svg.fonttype": "path",
    "svg.hashsalt": "pliant",
    "pdf.fonttype": 42,
    "path.simplify": True,
    "path.simplify_threshold": 0.1,
    "agg.path.chunksize": 20000,
}


@contextlib.contextmanager
def styled(what: str) -> Iterator[Any]:
    """Matplotlib with our settings, inside the ``with``."""
    mpl = needs("matplotlib", "plots", what)
    from cycler import cycler

    with mpl.rc_context({**_SETTINGS, "axes.prop_cycle": cycler(color=COLORS)}):
        yield mpl


def figure(width: float, height: float) -> Any:
    """A figure of this size [inches] without a window; inside `styled`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made


def finished(made: Any, path: str | os.PathLike[str] | None, show: bool) -> Any:
    """The figure, after writing it to a file and showing it in a window if asked to; inside `styled`."""
    if path is not None:
        target = target_file(path, _FORMATS, "a plot")
        with whole_file(target) as beside:
            # without a date, the same plot is the same file
            about = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(target.suffix.lower())
            made.savefig(beside, metadata=about)
    if show:
        import matplotlib.pyplot as plt

        # a window needs a figure that pyplot knows
        manager = plt.figure().canvas.manager
        if manager is not None:
            manager.canvas.figure = made
            made.set_canvas(manager.canvas)
        plt.show()
    return made


def label_axis(axis: Any, label: str, *, is_last: bool = True, x: str = "time [s]") -> None:
    """Label an axis; only the last one has the label of the time."""
    # a long label takes two lines
    axis.set_ylabel(label.replace(" [", "\n[", 1) if len(label) > 20 else label)
    if is_last:
        axis.set_xlabel(x)
    else:
        axis.tick_params(labelbottom=False)


def look(k: int, count: int) -> dict[str, Any]:
    """Color and dash of curve k of ``count``."""
    if count <= len(COLORS):
        return {"color": COLORS[k]}
    return {"color": COLORS[k % len(COLORS)], "linestyle": LINES[k // len(COLORS) % len(LINES)]}


def legend(axis: Any, names: Sequence[str]) -> None:
    """A legend beside the axis, where it hides nothing."""
    if not names:
        return
    ncols = -(-len(names) // 8)
    size = 8 if len(names) <= 8 else 7
    axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.05), ncols=ncols, fontsize=size, labelspacing=0.3,
                columnspacing=1.0)  # fmt: skip


def round_number(x: float) -> float:
    """The largest of 1, 2, 5, 10, ... up to x: for ticks, tiles and the steps of sliders."""
    power = 10.0 ** math.floor(math.log10(max(x, 1e-9)))
    return power * max(k for k in (1, 2, 5) if k * power <= x * (1 + 1e-9))


def target_file(path: str | os.PathLike[str], endings: Sequence[str], what: str) -> Path:
    """The path of a file to write; raises unless its name has one of the endings of ``what``."""
    target = Path(os.fspath(path)).expanduser()
    if target.suffix.lower() not in endings:
        *others, last = endings
        cure = f"{what} ends with {', '.join(others)} or {last}" if others else f"{what} ends with {last}"
        raise PliantError(f"the name {target.name!r} has no known ending", subject=what, field="path", cure=cure)
    return target
