"""The look of figures, and how they become files: colors that color-blind people can tell apart, quiet axes.

Settings of the user stay as they are.
"""

import contextlib
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pliant.checks import check, numbers
from pliant.errors import PliantError, needs
from pliant.files.writing import whole_file

_LARGEST = 600
"""Of the sides of a figure [in], more than which takes gigabytes."""

# Okabe and Ito's, in an order whose neighbours differ in lightness, too
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c6d1f", "#5e4b9a")
INK, GREY = "#1f2328", "#8a919a"
# dashes for curves beyond the colors
LINES = ("-", "--", ":", "-.")

_FORMATS = (".svg", ".pdf", ".png")

_SETTINGS: dict[str, Any] = {
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), 9),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 8),
    **dict.fromkeys(("axes.labelcolor", "axes.titlecolor", "text.color", "xtick.color", "ytick.color"), INK),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.7),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 3),
    **dict.fromkeys(("figure.facecolor", "savefig.facecolor"), "white"),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "axes.formatter.useoffset", "legend.frameon"), False),
    **dict.fromkeys(("axes.grid", "axes.axisbelow", "path.simplify"), True),
    "legend.handlelength": 1.6,
    "legend.borderaxespad": 0.2,
    "axes.edgecolor": GREY,
    "axes.facecolor": "none",
    "axes.xmargin": 0.0,
    "axes.ymargin": 0.08,
    "axes.formatter.limits": (-4, 5),
    "grid.color": "#d8dce1",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.solid_capstyle": "round",
    "savefig.dpi": 200,
    "svg.fonttype": "path",
    "svg.hashsalt": "pliant",
    "pdf.fonttype": 42,
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


def size_of(given: Any, default: tuple[float, float]) -> tuple[float, float]:
    """Width and height of a figure [in]; the default if none is given."""
    if given is None:
        return default
    found = numbers("size", given, error=PliantError)
    is_size = found.shape == (2,) and bool(((found > 0) & (found <= _LARGEST)).all())
    check("size", given, f"width and height in inches, up to {_LARGEST}", is_size, error=PliantError)
    return float(found[0]), float(found[1])


@contextlib.contextmanager
def figure(
    what: str, size: tuple[float, float], *, path: str | os.PathLike[str] | None, title: str, show: bool
) -> Iterator[Any]:
    """A figure without a window, to draw on inside the ``with``; then it is written to a file and shown, if asked to.

    Args:
        what: the caller, for messages.
        size, path, title, show: as for `Log.plot`.
    """
    target = None if path is None else target_file(path, _FORMATS, "a plot")
    with styled(what):
        from pliant.plots.plot_figure import PlotFigure

        made = PlotFigure(figsize=size, layout="constrained")
        if title:
            made.suptitle(title, fontsize=10)
        yield made
        if target is not None:
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


def label_axis(axis: Any, label: str, *, is_last: bool = True) -> None:
    """Label an axis; only the last one has the label of the time."""
    # a long label takes two lines
    axis.set_ylabel(label.replace(" [", "\n[", 1) if len(label) > 20 else label)
    if is_last:
        axis.set_xlabel("time [s]")
    else:
        axis.tick_params(labelbottom=False)


def look(k: int, count: int) -> dict[str, Any]:
    """Color and dash of curve k of ``count``."""
    more, own = divmod(k, len(COLORS))
    return {"color": COLORS[own]} | ({"linestyle": LINES[more % len(LINES)]} if count > len(COLORS) else {})


def legend(axis: Any, names: Sequence[str]) -> None:
    """A legend beside the axis, where it hides nothing."""
    ncols, size = -(-len(names) // 8), 8 if len(names) <= 8 else 7
    spacing = {"labelspacing": 0.3, "columnspacing": 1.0}
    axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.05), ncols=ncols, fontsize=size, **spacing)


def pale(color: str, share: float) -> Any:
    """A color, "#rrggbb", mixed with white: ``share`` of it is left."""
    return tuple(1 - share * (1 - int(color[k : k + 2], 16) / 255) for k in (1, 3, 5))


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
