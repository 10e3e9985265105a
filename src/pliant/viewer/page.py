"""The page in the browser: a server on this machine, light, ground and a camera that sees the robot."""

import contextlib
import io
import math
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pliant.errors import PliantError, needs
from pliant.render.grounds import downhill_view, ground_mesh

__all__ = ["GROUND_COLOR", "Viewer", "add_ground", "aim", "closing_on_error", "nice", "opened", "served"]

GROUND_COLOR = (228, 232, 228)
FOV = math.radians(40)
TOWARDS = np.array([1.0, -1.15, 0.5]) / math.hypot(1.0, 1.15, 0.5)
"""From the robot to the camera: from its front, its right and above, since robots look along x."""


class Viewer:
    """A viewer that runs until it is closed.

        with log.view(block=False) as viewer:
            print(viewer.url)

    Attributes:
        server: viser's, for those who want to add to the scene.
        player: of a log, a `pliant.viewer.playback.Player`; of a simulation that runs, its `pliant.viewer.live.Runner`.
        error: what stopped a simulation that is shown live; None if nothing did.
    """

    def __init__(self, server: Any, host: str):
        self.server = server
        self.player: Any = None
        self._host = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::1") else host
        self._closed = threading.Event()
        self._endings: list[Callable[[], None]] = []

    @property
    def port(self) -> int:
        """Where it listens: the one asked for, or the next that was free."""
        return self.server.get_port()

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{self._host}:{self.port}"

    @property
    def is_open(self) -> bool:
        return not self._closed.is_set()

    @property
    def error(self) -> BaseException | None:
        return getattr(self.player, "error", None)

    def at_end(self, ending: Callable[[], None]) -> None:
        """What to do on closing, before the server goes."""
        self._endings.append(ending)

    def close(self) -> None:
        """Stop the server; again, it does nothing."""
        if self._closed.is_set():
            return
        self._closed.set()
        for ending in reversed(self._endings):
            ending()
        with _quiet():
            self.server.stop()

    def wait(self) -> None:
        """Stay until it is closed, or until Ctrl-C, which closes it."""
        try:
            while not self._closed.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.close()

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Viewer at {self.url}" if self.is_open else "Viewer, closed"


def served(what: str, *, port: int = 8080, host: str = "127.0.0.1", label: str = "Pliant") -> Viewer:
    """A viewer with an empty scene; on the next free port, if another program has this one.

    Args:
        what: that needs it, for the message if viser is not installed.
        port: 0 for any that is free.
        host: "127.0.0.1" is seen from this machine only, "0.0.0.0" from all that can reach it.
        label: on top of the panel.
    """
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536:
        raise PliantError(f"{what}: port is {port!r}; it takes a whole number from 0 (any) to 65535")
    viser = needs("viser", "view", what)
    try:
        with _quiet():
            server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
    except Exception as error:
        raise PliantError(f"{what}: no server on {host}, port {port}: {error}; give another host or port") from error
    server.scene.set_up_direction("+z")
    server.scene.world_axes.visible = False
    # an environment map costs ten seconds where there is no graphics card; two lights look as good
    server.scene.configure_environment_map(None)
    server.scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(70, 72, 80), intensity=2.1)
    server.scene.add_light_directional("/light/front", intensity=1.1, position=tuple(10 * TOWARDS), cast_shadow=False)
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(38, 92, 150))
    return Viewer(server, host)


def opened(viewer: Viewer, port: int, block: bool | None, browser: bool, say: bool = True) -> Viewer:
    """The viewer, after saying where it is, and after it was closed if it blocks.

    Args:
        port: that was asked for.
        block: whether to wait here; None: in a script, and not in a shell or notebook.
        browser: whether to open a window of the browser.
    """
    if say:
        other = f" (port {port} is in use)" if port not in (0, viewer.port) else ""
        print(f"viewer at {viewer.url}{other}", flush=True)
    if browser:
        webbrowser.open(viewer.url)
    is_shell = hasattr(sys, "ps1") or bool(sys.flags.interactive) or "IPython" in sys.modules
    if block or (block is None and not is_shell):
        print("Ctrl-C closes it", flush=True)
        viewer.wait()
    return viewer


def add_ground(server: Any, ground: Any, low: np.ndarray, high: np.ndarray, size: float) -> None:
    """The ground under a box [m]: a grid where it is flat, else a surface with lines; a faint grid if there is none."""
    cell = nice(size / 4)
    center = (low + high) / 2
    if ground is None or ground.is_flat:
        z = float(low[2]) if ground is None else float(np.ravel(ground.height(np.zeros(1), np.zeros(1)))[0])
        server.scene.add_grid(
            "/world/ground",
            infinite_grid=True,
            cell_size=cell,
            section_size=5 * cell,
            cell_color=(205, 208, 212),
            section_color=(160, 166, 174),
            plane_color=(236, 238, 240),
            plane_opacity=0.0 if ground is None else 1.0,
            shadow_opacity=0.05 if ground is None else 0.25,
            fade_distance=12 * size,
            position=(0.0, 0.0, z),
        )
        return
    reach = max(float((high - low)[:2].max()) / 2 + size, 2 * size)
    span = [math.floor(c / cell) * cell for c in center[:2] - reach]
    span += [math.ceil(c / cell) * cell for c in center[:2] + reach]
    mesh = ground_mesh(ground, span)
    # a ground that casts shadows casts them on itself
    server.scene.add_mesh_simple(
        "/world/ground", mesh.vertices, mesh.faces, color=GROUND_COLOR, side="double", cast_shadow=False
    )
    lines = _lines(ground, span, cell, 0.004 * size)
    server.scene.add_line_segments(
        "/world/ground/lines", lines, (150, 158, 152), thickness=1.0, thickness_units="screen"
    )


def _lines(ground: Any, span: list[float], cell: float, lift: float) -> np.ndarray:
    """Lines on the ground along x and y, (n, 2, 3)."""
    x0, y0, x1, y1 = span
    segments = []
    for first, last, start, end, turn in ((x0, x1, y0, y1, False), (y0, y1, x0, x1, True)):
        along = np.linspace(start, end, 161)
        for c in np.arange(first, last + cell / 2, cell):
            x, y = (along, np.full_like(along, c)) if turn else (np.full_like(along, c), along)
            line = np.stack([x, y, np.asarray(ground.height(x, y)) + lift], axis=-1)
            segments.append(np.stack([line[:-1], line[1:]], axis=1))
    return np.concatenate(segments).astype(np.float32)


def aim(server: Any, low: np.ndarray, high: np.ndarray, ground: Any = None) -> None:
    """Put the camera where it sees a box [m] from in front, or from below where the ground rises."""
    center, size = (low + high) / 2, max(float(np.linalg.norm(high - low)), 1e-3)
    x, y, z = TOWARDS
    azimuth = downhill_view(ground, center[:2] - size, center[:2] + size, math.atan2(y, x))
    level = math.hypot(x, y)
    towards = np.array([level * math.cos(azimuth), level * math.sin(azimuth), z])
    position = center + towards * (0.62 * size / math.tan(FOV / 2))
    camera = server.initial_camera
    camera.position, camera.look_at, camera.fov = tuple(position), tuple(center), FOV
    camera.near, camera.far = 0.01 * size, 1000 * size


def nice(x: float) -> float:
    """The nearest of 1, 2, 5, 10, ... below."""
    power = 10.0 ** math.floor(math.log10(max(x, 1e-9)))
    return power * max(s for s in (1, 2, 5) if s * power <= x * (1 + 1e-9))


@contextlib.contextmanager
def closing_on_error(viewer: Viewer) -> Iterator[None]:
    """Closes the viewer if setting it up fails."""
    try:
        yield
    except BaseException:
        viewer.close()
        raise


@contextlib.contextmanager
def _quiet() -> Any:
    """viser tells on the terminal what `opened` tells; threads share the terminal, so it is for a moment only."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
