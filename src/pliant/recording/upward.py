"""Methods of logs and simulations that layers above bring: found when asked for, so that imports go down only."""

from typing import Any

from pliant.robot.upward import from_above

__all__ = ["Upward", "UpwardSimulation"]


class Upward:
    """The methods of `Log` that other layers implement."""

    # ---- files

    @from_above("pliant.storage.saving", "save")
    def save(self, *args: Any, **options: Any) -> Any:
        """Write it to a file of HDF5, with the robot: `pliant.storage.saving.save`."""

    @from_above("pliant.storage.tables", "to_csv")
    def to_csv(self, *args: Any, **options: Any) -> Any:
        """Write a table of text: `pliant.storage.tables.to_csv`."""

    @from_above("pliant.storage.tables", "to_parquet")
    def to_parquet(self, *args: Any, **options: Any) -> Any:
        """Write a table of Apache Parquet: `pliant.storage.tables.to_parquet`."""

    @from_above("pliant.storage.tables", "to_npz")
    def to_npz(self, *args: Any, **options: Any) -> Any:
        """Write arrays of NumPy: `pliant.storage.tables.to_npz`."""

    @from_above("pliant.storage.mcap", "to_mcap")
    def to_mcap(self, *args: Any, **options: Any) -> Any:
        """Write a recording for Foxglove: `pliant.storage.mcap.to_mcap`."""

    # ---- pictures

    @from_above("pliant.plots.time_plots", "plot")
    def plot(self, *args: Any, **options: Any) -> Any:
        """Draw channels over time: `pliant.plots.time_plots.plot`."""

    @from_above("pliant.plots.phase_portraits", "plot_phase")
    def plot_phase(self, *args: Any, **options: Any) -> Any:
        """Draw one column over another: `pliant.plots.phase_portraits.plot_phase`."""

    @from_above("pliant.analysis.energy_ledger", "plot_energy")
    def plot_energy(self, *args: Any, **options: Any) -> Any:
        """Draw where the energy is and goes: `pliant.analysis.energy_ledger.plot_energy`."""

    @from_above("pliant.viewer.replay", "to_html")
    def to_html(self, *args: Any, **options: Any) -> Any:
        """Write one page that replays it: `pliant.viewer.replay.to_html`."""

    @from_above("pliant.render.video", "to_video")
    def to_video(self, *args: Any, **options: Any) -> Any:
        """Write a video: `pliant.render.video.to_video`."""

    @from_above("pliant.render.video", "to_image")
    def to_image(self, *args: Any, **options: Any) -> Any:
        """Write a picture of one moment: `pliant.render.video.to_image`."""

    @from_above("pliant.viewer.viewer", "view_log")
    def view(self, *args: Any, **options: Any) -> Any:
        """Show it in the viewer: `pliant.viewer.viewer.view_log`."""

    @from_above("pliant.report.report", "to_report")
    def to_report(self, *args: Any, **options: Any) -> Any:
        """Write a page with summary, plots and replay: `pliant.report.report.to_report`."""


class UpwardSimulation:
    """The methods of `Simulation` that other layers implement."""

    @from_above("pliant.viewer.live", "live")
    def view(self, *args: Any, **options: Any) -> Any:
        """Run it in the browser, to push it and to change gains meanwhile: `pliant.live`."""
