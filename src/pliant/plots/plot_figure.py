"""Figures that notebooks show, whether or not pyplot is in use; imported where Matplotlib is needed."""

import base64
import io
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

DPI = 160
"""Of pictures in notebooks: sharp on screens with two pixels for a point, shown at half their size."""


class PlotFigure(Figure):
    """A Matplotlib figure that is no window of pyplot, and that a notebook shows as the value of a cell."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        FigureCanvasAgg(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        content = io.BytesIO()
        self.savefig(content, format="png", dpi=DPI, bbox_inches="tight")
        width = round(self.get_size_inches()[0] * DPI / 2)
        picture = {"image/png": base64.b64encode(content.getvalue()).decode("ascii"), "text/plain": repr(self)}
        return picture, {"image/png": {"width": width}}
