"""Methods of a log that layers above this one bring: found when they are called, so that imports go down only."""

from importlib import import_module
from typing import Any

__all__ = ["Upward"]


class Upward:
    """The methods of `Log` that other layers implement; arguments go on as they are."""

    # ---- files

    def save(self, *args: Any, **options: Any) -> Any:
        """Write it to a file of HDF5, with the robot: `pliant.logs.saving.save`."""
        return _found("pliant.logs.saving", "save")(self, *args, **options)

    def to_csv(self, *args: Any, **options: Any) -> Any:
        """Write a table of text: `pliant.logs.tables.to_csv`."""
        return _found("pliant.logs.tables", "to_csv")(self, *args, **options)

    def to_parquet(self, *args: Any, **options: Any) -> Any:
        """Write a table of Apache Parquet: `pliant.logs.tables.to_parquet`."""
        return _found("pliant.logs.tables", "to_parquet")(self, *args, **options)

    def to_npz(self, *args: Any, **options: Any) -> Any:
        """Write arrays of NumPy: `pliant.logs.tables.to_npz`."""
        return _found("pliant.logs.tables", "to_npz")(self, *args, **options)

    def to_mcap(self, *args: Any, **options: Any) -> Any:
        """Write a recording for Foxglove: `pliant.logs.mcap.to_mcap`."""
        return _found("pliant.logs.mcap", "to_mcap")(self, *args, **options)

    # ---- pictures

    def plot(self, *args: Any, **options: Any) -> Any:
        """Draw channels over time: `pliant.view.plots.plot`."""
        return _found("pliant.view.plots", "plot")(self, *args, **options)

    def plot_phase(self, *args: Any, **options: Any) -> Any:
        """Draw one column over another: `pliant.view.phase.plot_phase`."""
        return _found("pliant.view.phase", "plot_phase")(self, *args, **options)

    def plot_energy(self, *args: Any, **options: Any) -> Any:
        """Draw where the energy is and goes: `pliant.view.ledger.plot_energy`."""
        return _found("pliant.view.ledger", "plot_energy")(self, *args, **options)

    def to_html(self, *args: Any, **options: Any) -> Any:
        """Write one page that replays it: `pliant.view.replay.to_html`."""
        return _found("pliant.view.replay", "to_html")(self, *args, **options)

    def to_video(self, *args: Any, **options: Any) -> Any:
        """Write a video: `pliant.view.video.to_video`."""
        return _found("pliant.view.video", "to_video")(self, *args, **options)

    def to_image(self, *args: Any, **options: Any) -> Any:
        """Write a picture of one moment: `pliant.view.video.to_image`."""
        return _found("pliant.view.video", "to_image")(self, *args, **options)

    def view(self, *args: Any, **options: Any) -> Any:
        """Show it in the viewer: `pliant.view.viewer.view_log`."""
        return _found("pliant.view.viewer", "view_log")(self, *args, **options)

    def to_report(self, *args: Any, **options: Any) -> Any:
        """Write a page with summary, plots and replay: `pliant.view.report.to_report`."""
        return _found("pliant.view.report", "to_report")(self, *args, **options)


def _found(module: str, name: str) -> Any:
    return getattr(import_module(module), name)
