"""The server of the page in the browser, and the handle that a user gets."""

import contextlib
import math
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from typing import Any

import rich

from pliant.checks import check, is_whole
from pliant.errors import PliantError, needs


class Viewer:
    """A viewer that runs until it is closed.

        with log.view(block=False) as viewer:
            print(viewer.url)

    Attributes:
        server: viser's, to add to the scene.
        player: the `pliant.viewer.viewer.Player` of a log, or the `pliant.viewer.live.Runner` of a live simulation.
        error: the exception that stopped a live simulation, or None.
    """

    def __init__(self, server: Any, host: str):
        self.server = server
        self.player: Any = None
        self._host = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::1") else host
        self._closed = threading.Event()

    @property
    def port(self) -> int:
        """The port of the server: the one asked for, or the next free one."""
        return self.server.get_port()

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{self._host}:{self.port}"

    @property
    def is_open(self) -> bool:
        return not self._closed.is_set()

    @property
    def error(self) -> BaseException | None:
        return getattr(self.player, "error", None)

    def close(self) -> None:
        """Stop the player and the server; a second call does nothing."""
        if self._closed.is_set():
            return
        self._closed.set()
        if self.player is not None:
            self.player.stop()
        with _quiet():
            self.server.stop()

    def wait(self) -> None:
        """Wait until the viewer is closed; Ctrl-C closes it."""
        try:
            while not self._closed.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.close()

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """What a notebook shows: a link."""
        return f'viewer at <a href="{self.url}" target="_blank">{self.url}</a>' if self.is_open else "viewer, closed"

    def __repr__(self) -> str:
        return f"Viewer at {self.url}" if self.is_open else "Viewer, closed"


class Clock:
    """A clock that moves the picture, in a thread of its own.

    Attributes:
        is_playing, speed: whether it runs, and at which factor of real time; may be set at any time.
    """

    def __init__(self, run: Callable[[], None]):
        self.is_playing, self.speed = False, 1.0
        self._lock = threading.RLock()
        self._end = threading.Event()
        self._listeners: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=run, name="pliant clock", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=5)

    def on_change(self, listener: Callable[[], None], every: float = 0.0) -> None:
        """Call a function after each picture and change; while the clock runs, no more often than ``every`` [s]."""
        last = -math.inf

        def called() -> None:
            nonlocal last
            now = time.monotonic()
            if not self.is_playing or now - last >= every:
                last = now
                listener()

        self._listeners.append(called)

    def notify(self) -> None:
        for listener in self._listeners:
            listener()


def served(what: str, *, port: int = 8080, host: str = "127.0.0.1", label: str = "Pliant") -> Viewer:
    """A viewer with an empty scene; on the next free port if this one is in use.

    Args:
        what: the caller, for messages.
        port, host: as in `Robot.view`.
        label: on top of the panel.
    """
    takes = "a whole number from 0 (any free one) to 65535"
    check("port", port, takes, is_whole(port) and 0 <= port < 65536, subject=what, error=PliantError)
    viser = needs("viser", "view", what)
    try:
        with _quiet():
            server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
    except Exception as error:
        problem = f"{what}: no server on {host}, port {port}: {error}"
        raise PliantError(problem, subject=what, field="port", cure="give another host or port") from error
    server.scene.set_up_direction("+z")
    server.scene.world_axes.visible = False
    # an environment map takes ten seconds without a graphics card; two lights look as good
    server.scene.configure_environment_map(None)
    server.scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(70, 72, 80), intensity=2.1)
    server.scene.add_light_directional("/light/front", intensity=1.1, position=(6.2, -7.2, 3.1), cast_shadow=False)
    # beside the scene: a panel that floats would cover the robot
    server.gui.main_panel.dock_right()
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(38, 92, 150))
    return Viewer(server, host)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the messages of viser, which writes with rich: to the terminal, or past it into a cell of a notebook.

    All threads share rich's console, so this is for a moment only.
    """
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


@contextlib.contextmanager
def opened(what: str, label: str, *, port: int, host: str, block: bool | None, browser: bool) -> Iterator[Viewer]:
    """A viewer to set up inside the ``with``, closed if that fails; then its address is printed.

    Args:
        what, label: as for `served`.
        port, host, block, browser: as in `Robot.view`.
    """
    viewer = served(what, port=port, host=host, label=label)
    try:
        yield viewer
    except BaseException:
        viewer.close()
        raise
    other = f" (port {port} is in use)" if port not in (0, viewer.port) else ""
    print(f"viewer at {viewer.url}{other}", flush=True)
    if browser:
        webbrowser.open(viewer.url)
    is_shell = hasattr(sys, "ps1") or bool(sys.flags.interactive) or "IPython" in sys.modules
    if block or (block is None and not is_shell):
        print("Ctrl-C closes it", flush=True)
        viewer.wait()
