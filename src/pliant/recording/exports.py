"""Methods of logs whose implementation is in a layer above: files, plots, pictures, the viewer, reports.

Each has its signature and its documentation here, and imports the function that does it when it is called.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pliant.signatures import explained

if TYPE_CHECKING:
    from pliant.notebook.replay import Replay
    from pliant.recording.log import Log
    from pliant.render.camera import Camera
    from pliant.viewer.server import Viewer

PathLike = str | os.PathLike[str]
Folders = str | Path | Iterable[str | Path]
Robots = int | slice | Sequence[int] | None
Spec = str | tuple[str, str | Sequence[str]]


class LogExports:
    """Writes, draws and shows a log; the base of `Log`.

    Methods that write a file write it whole or not at all, and return its path.
    """

    @property
    def _log(self) -> "Log":
        return cast("Log", self)

    # ---- files

    @explained
    def save(self, path: PathLike, *, packed: bool = True) -> Path:
        """Write an HDF5 file with everything needed to replay the run; `pliant.load_log` reads it.

        Args:
            path: of the file, such as "run.h5"; an existing file is replaced.
            packed: whether to compress the numbers, which takes longer and makes the file smaller.
        """
        from pliant.storage.writing import save

        return save(self._log, path, packed=packed)

    @explained
    def to_csv(self, path: PathLike) -> Path:
        """Write a table as text with names in its first line; the numbers have all digits that matter.

        Args:
            path: of the file, such as "run.csv".
        """
        from pliant.storage.tables import to_csv

        return to_csv(self._log, path)

    @explained
    def to_parquet(self, path: PathLike) -> Path:
        """Write an Apache Parquet table with the types and bits of the log; its metadata hold the settings.

        Args:
            path: of the file, such as "run.parquet".
        """
        from pliant.storage.tables import to_parquet

        return to_parquet(self._log, path)

    @explained
    def to_npz(self, path: PathLike) -> Path:
        """Write the arrays for ``numpy.load``: "t" and each channel as the log has them, and "about.json".

        Args:
            path: of the file, such as "run.npz".
        """
        from pliant.storage.tables import to_npz

        return to_npz(self._log, path)

    @explained
    def to_mcap(self, path: PathLike, *, newtons_per_metre: float = 200.0, look: bool = True) -> Path:
        """Write an MCAP recording with Foxglove's schemas.

        | topic | schema | content |
        |---|---|---|
        | /tf | FrameTransforms | X_WB of each body |
        | /joint_states | JointStates | position, velocity and effort of joints with one degree of freedom |
        | /contacts | SceneUpdate | contact forces as arrows |
        | /forces | JSON | contact forces by name, (x, y, z) in the world's axes [N] |
        | /channels | JSON | every number of the log, by channel and column |
        | /robot | SceneUpdate | the robot's shapes, once |

        In a batch, topics and frames of robot k begin with "/robot_k" and "robot_k/". Times are those of the log,
        counted from 1970.

        Args:
            path: of the file, such as "run.mcap".
            newtons_per_metre: scale of the arrows.
            look: whether to include the robot's shapes.
        """
        from pliant.viewer.foxglove import to_mcap

        return to_mcap(self._log, path, newtons_per_metre=newtons_per_metre, look=look)

    # ---- plots

    @explained
    def plot(
        self,
        *channels: Spec,
        path: PathLike | None = None,
        start: float | None = None,
        end: float | None = None,
        robots: Robots = None,
        most: int = 12,
        bands: bool = True,
        events: bool = True,
        title: str = "",
        size: tuple[float, float] | None = None,
        show: bool = False,
    ) -> Any:
        """Draw channels over time, each on an axis of its own.

            log.plot("q", "tau", "forces.foot", path="run.svg")
            log.plot(("q", ["hip", "knee"]), "energy", start=1, end=2)

        Columns of different units get axes of their own. Behind the curves there are bands: the modes of an
        event-driven simulation, or when a contact has a force; with several contacts, these are bars on top. For a
        batch, a curve is the mean and its band holds 90 % of the robots, unless ``robots`` selects some.

        Args:
            channels: "q", "q.knee", ("q", "knee"), ("q", ["hip", "knee"]), "forces.foot", "energy", ...; by default
                those that usually matter.
            path: of a file to write, .svg, .pdf or .png.
            start, end: of the plot [s].
            robots: the robots of a batch to draw one by one: an index, several, or a slice; None (default) draws all
                of them as mean and band.
            most: lines on an axis; the others are left out, and a note says so.
            bands, events: whether to draw them.
            title: above the plot.
            size: width and height [inches].
            show: whether to open a window.

        Returns:
            The Matplotlib figure.
        """
        from pliant.plots.time_plots import plot

        return plot(
            self._log, *channels, path=path, start=start, end=end, robots=robots, most=most, bands=bands,
            events=events, title=title, size=size, show=show,
        )  # fmt: skip

    @explained
    def plot_phase(
        self,
        *names: str,
        path: PathLike | None = None,
        start: float | None = None,
        end: float | None = None,
        robots: Robots = None,
        events: bool = True,
        title: str = "",
        size: tuple[float, float] | None = None,
        show: bool = False,
    ) -> Any:
        """Draw phase portraits: the velocity of joints over their positions, each on an axis of its own.

            log.plot_phase("knee", path="knee.svg")
            log.plot_phase("root_joint.z")        # entries of joints that have several

        A dot is the start, arrows point in the direction of motion. Events have marks, and impacts, where the velocity
        jumps, are dotted. A position of a free or planar joint goes with its own rate, along the same axis of the
        world: R v, where channel "v" has v in the frame of the body. Entries of orientations have no velocity of
        their own.

        Args:
            names: columns of channel "q"; by default the first joint that moves along one coordinate.
            robots: the robots of a batch to draw: an index, several, or a slice; None (default) for the first eight.
            events: whether to mark them.
            path, start, end, title, size, show: as for `plot`, which returns the same.
        """
        from pliant.plots.phase_portraits import plot_phase

        return plot_phase(
            self._log, *names, path=path, start=start, end=end, robots=robots, events=events, title=title, size=size,
            show=show,
        )  # fmt: skip

    @explained
    def plot_energy(
        self,
        *,
        path: PathLike | None = None,
        start: float | None = None,
        end: float | None = None,
        robot: int | None = None,
        title: str = "",
        size: tuple[float, float] | None = None,
        show: bool = False,
    ) -> Any:
        """Draw the energy ledger (`pliant.analysis.energy_ledger`): energy stored, supplied and dissipated.

        Args:
            robot: index of the robot of a batch (default 0).
            path, start, end, title, size, show: as for `plot`, which returns the same.
        """
        from pliant.analysis.energy_ledger import plot_energy

        return plot_energy(self._log, path=path, start=start, end=end, robot=robot, title=title, size=size, show=show)

    # ---- pictures

    @explained
    def to_video(
        self,
        path: PathLike,
        *,
        fps: float = 30,
        speed: float = 1.0,
        size: tuple[int, int] | str = "720p",
        camera: "Camera | str | dict[str, Any] | None" = None,
        robots: Robots = None,
        forces: bool = True,
        clock: bool = True,
        packages: Any = (),
        progress: bool | None = None,
    ) -> Path:
        """Write a video, MP4 or GIF by the name of the file.

        Args:
            path: ends with .mp4 or .gif.
            fps: pictures per second.
            speed: relative to real time; 0.1 is ten times slower.
            size: width and height [pixels], or "preview" (640 x 360), "720p" or "1080p".
            camera: a `Camera`, its fields as a mapping, or "perspective", "front", "back", "left", "right" or "top".
            robots: the robots of a batch to show: an index, several, or a slice; None (default) for the first 16. On
                flat ground they stand side by side.
            forces: whether to draw contact forces as arrows.
            clock: whether to write the time into a corner.
            packages: more folders to search for meshes.
            progress: whether to show a bar if it takes long; None: on a terminal.
        """
        from pliant.render.video import to_video

        return to_video(
            self._log, path, fps=fps, speed=speed, size=size, camera=camera, robots=robots, forces=forces, clock=clock,
            packages=packages, progress=progress,
        )  # fmt: skip

    @explained
    def to_image(
        self,
        path: PathLike,
        t: float | None = None,
        *,
        size: tuple[int, int] | str = "720p",
        camera: "Camera | str | dict[str, Any] | None" = None,
        robots: Robots = None,
        forces: bool = True,
        clock: bool = False,
        packages: Any = (),
    ) -> Path:
        """Write a picture of one moment.

        Args:
            path: ends with .png, .jpg or .webp.
            t: time [s]; None is the end.
            size, camera, robots, forces, clock, packages: as for `to_video`.
        """
        from pliant.render.video import to_image

        return to_image(
            self._log, path, t, size=size, camera=camera, robots=robots, forces=forces, clock=clock, packages=packages
        )  # fmt: skip

    # ---- pages

    @explained
    def view(
        self,
        *,
        robots: Robots = None,
        layout: str = "grid",
        traces: Sequence[str] = (),
        plot: str | None = None,
        show: str | Iterable[str] | None = (),
        follow: bool | None = None,
        deflection: float = 1.0,
        play: bool = True,
        speed: float = 1.0,
        port: int = 8080,
        host: str = "127.0.0.1",
        block: bool | None = None,
        browser: bool = False,
        detail: int = 80_000,
        packages: Folders = (),
    ) -> "Viewer":
        """Play it in the browser: play, pause, step, speed, a time slider, and a plot beside.

        It needs channel "q"; forces are shown if it has channel "forces".

        Args:
            robots: the robots of a batch to show: an index, several, or a slice; None (default) for the first nine.
            layout: "grid" puts several side by side, "overlay" in one place.
            traces: frames whose path is drawn; "mass" for the centre of mass.
            plot: channel to plot at first.
            show: marks to switch on: "frames", "inertias", "mass", "contacts", "names", "forces", "cones".
            follow: whether the camera follows the robots; None: if they go farther than they are large.
            deflection: factor by which deflections of flexible joints are exaggerated.
            play: whether to play at once.
            speed: relative to real time.
            port, host, block, browser, detail, packages: as in `Robot.view`.

        Returns:
            The viewer: its ``url``, ``close()`` and ``wait()``; a context manager.
        """
        from pliant.viewer.viewer import view_log

        return view_log(
            self._log, robots=robots, layout=layout, traces=traces, plot=plot, show=show, follow=follow,
            deflection=deflection, play=play, speed=speed, port=port, host=host, block=block, browser=browser,
            detail=detail, packages=packages,
        )  # fmt: skip

    @explained
    def replay(
        self,
        *,
        robots: Robots = None,
        fps: float = 30,
        speed: float = 1.0,
        play: bool = True,
        forces: bool = True,
        follow: bool | None = None,
        height: int = 400,
        detail: int = 20_000,
        packages: Folders = (),
    ) -> "Replay":
        """The replay as a part of a page: the last line of a cell of a notebook, ``log.replay()``, plays it there.

        Nothing is loaded from elsewhere and no server is needed. Drag to turn the picture; shift and drag to move it;
        the wheel zooms after a click.

        Args:
            robots: the robots of a batch to show, as in `view`.
            fps: frames per second of the log's time; at most 1500 in all, between which the player interpolates.
            speed: relative to real time, at first.
            play: whether to play at once.
            forces: whether to draw contact forces as arrows.
            follow: whether the camera follows the robots; None: if they go farther than they are large.
            height: of the picture [pixels].
            detail: the most triangles of a robot.
            packages: as for `to_video`.

        Returns:
            The replay; its ``html`` goes into any page.
        """
        from pliant.notebook.replay import Replay

        return Replay(
            self._log, robots=robots, fps=fps, speed=speed, play=play, forces=forces, follow=follow, height=height,
            detail=detail, packages=packages,
        )  # fmt: skip

    def _repr_html_(self) -> str:
        """What a notebook shows: the replay, and a table of the channels."""
        from pliant.notebook.summaries import log_html

        return log_html(self._log)

    @explained
    def to_html(
        self,
        path: PathLike,
        *,
        plots: Sequence[str] = ("q",),
        fps: float = 30,
        robots: Robots = None,
        layout: str = "grid",
        traces: Sequence[str] = (),
        show: str | Iterable[str] | None = (),
        follow: bool | None = None,
        deflection: float = 1.0,
        detail: int = 40_000,
        title: str | None = None,
        packages: Folders = (),
    ) -> Path:
        """Write one page that replays it, without network and without a server: a file that opens from disk.

        Args:
            path: of the file, .html.
            plots: channels, or columns of them, as "q", "q.knee", "energy", "forces.foot"; of the first robot shown.
                One with many columns has several charts: base position, joints 1-8, ...; forces have one for each
                contact.
            fps: pictures per second; fewer make a smaller file.
            robots, layout, traces, show, follow, deflection: as in `view`.
            detail: the most triangles of all robots together; 40,000 are half a megabyte.
            title: of the page.
            packages: as for `to_video`.
        """
        from pliant.viewer.replay import to_html

        return to_html(
            self._log, path, plots=plots, fps=fps, robots=robots, layout=layout, traces=traces, show=show,
            follow=follow, deflection=deflection, detail=detail, title=title, packages=packages,
        )  # fmt: skip

    @explained
    def to_report(
        self,
        path: PathLike,
        *channels: Spec,
        title: str | None = None,
        facts: Mapping[str, str] | None = None,
        replay: bool = True,
        packages: Any = (),
    ) -> Path:
        """Write a page with summary, plots and replay that opens from disk, without network.

        Args:
            path: of the file, .html.
            channels: to plot, as `plot` takes them; by default those that usually matter.
            title: of the page (default: the robot's name).
            facts: more entries for the summary, by name.
            replay: whether to include the replay of `to_html`, with the same channels; without viser, the report says
                that it is missing.
            packages: as for `to_video`.
        """
        from pliant.report import to_report

        return to_report(self._log, path, *channels, title=title, facts=facts, replay=replay, packages=packages)
