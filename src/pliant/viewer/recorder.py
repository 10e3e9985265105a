"""A video of the page, as the user sees it: recorded in the browser, written by ffmpeg, and sent back to be saved."""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError, needs
from pliant.render.video import write_mp4

FPS = 25
LONGEST = 600.0
"""Of a video of a live simulation [s]."""
NAME = "pliant.mp4"


class Recorder:
    """Records the picture of one client.

    A log is played for it frame by frame, so that the video is smooth on any machine. A live simulation is recorded
    as it runs.

    Args:
        player: of a log; None for a live simulation.

    Attributes:
        frames: recorded so far.
        content: the last video, as bytes.
        error: why there is none.
    """

    def __init__(self, server: Any, player: Any = None):
        self.server, self.player = server, player
        self.frames, self.content = 0, b""
        self.error: Exception | None = None
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_recording(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def toggle(self, client: Any, tell: Callable[[], None] = lambda: None) -> None:
        """Begin to record a client, or end it; ``tell`` is called as it goes on."""
        if self.is_recording:
            self._end.set()
            return
        self._end.clear()
        self.frames, self.content, self.error = 0, b"", None
        self._thread = threading.Thread(target=self._record, args=(client, tell), name="pliant recorder", daemon=True)
        self._thread.start()

    def _record(self, client: Any, tell: Callable[[], None]) -> None:
        try:
            needs("imageio_ffmpeg", "video", "a video")
            width, height = (max(16, n - n % 2) for n in (client.camera.image_width, client.camera.image_height))

            def taken() -> np.ndarray:
                self.frames += 1
                tell()
                return np.asarray(client.get_render(height, width, timeout=60))[:height, :width, :3]

            pictures = self._live(taken) if self.player is None else self._played(taken)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / NAME
                write_mp4(path, pictures, FPS, (width, height))
                self.content = path.read_bytes()
            client.send_file_download(NAME, self.content, save_immediately=True)
        except Exception as error:  # the browser may be gone, the disk full, ffmpeg missing
            self.error = error
        finally:
            self._thread = None
            tell()

    def _played(self, taken: Callable[[], np.ndarray]) -> Iterator[np.ndarray]:
        """The log from its start to its end, or until the recording is ended."""
        player = self.player
        first, last = float(player.motion.t[0]), float(player.motion.t[-1])
        player.is_playing = False
        for k in range(int((last - first) * FPS / player.speed) + 1):
            if self._end.is_set():
                break
            player.go(first + k * player.speed / FPS)
            yield taken()

    def _live(self, taken: Callable[[], np.ndarray]) -> Iterator[np.ndarray]:
        """Pictures in real time; a slow browser's are repeated."""
        start, given = time.monotonic(), 0
        while not self._end.is_set() and given < LONGEST * FPS:
            picture = taken()
            due = int((time.monotonic() - start) * FPS) + 1
            for _ in range(max(1, due - given)):
                yield picture
                given += 1
            self._end.wait(max(0.0, start + given / FPS - time.monotonic()))


def record_panel(server: Any, recorder: Recorder) -> None:
    """Add a button that records the page of the client that clicks it."""
    gui = server.gui
    with gui.add_folder("Video"):
        button = gui.add_button("Record", icon="video")
        status = gui.add_markdown("")

    def tell() -> None:
        is_on = recorder.is_recording and recorder._thread is not None
        label = "Stop" if is_on else "Record"
        if button.label != label:
            button.label = label
        if recorder.error is not None:
            told = str(recorder.error) if isinstance(recorder.error, PliantError) else repr(recorder.error)
            status.content = f"**{told}**"
        elif is_on:
            status.content = f"{recorder.frames} frames"
        elif recorder.content:
            status.content = f"{NAME}: {len(recorder.content) / 1e6:.2g} MB"

    @button.on_click
    def _(event: Any) -> None:
        recorder.toggle(event.client, tell)
        tell()
