"""Playing a recording: a clock that runs, stops, steps and jumps, and its controls."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from pliant.viewer.recording import Recording

__all__ = ["Player", "playback_panel", "speed_choice"]

RATE = 60.0  # pictures a second, at most
SPEEDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4)


class Player:
    """A clock over a recording, in a thread of its own.

    Attributes:
        is_playing: whether it runs.
        speed: of its clock against the real one.
        loops: whether it starts again at the end.
        t: its time [s].
    """

    def __init__(self, recording: Recording, draw: Callable[[int], None]):
        self.recording, self.draw = recording, draw
        self.is_playing, self.speed, self.loops = False, 1.0, True
        self.t = float(recording.t[0])
        self.step = -1
        self._listeners: list[Callable[[], None]] = []
        self._lock = threading.RLock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pliant player", daemon=True)

    def start(self) -> None:
        self.go(self.t)
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=2)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Called after each picture, and when it starts or stops."""
        self._listeners.append(listener)

    def go(self, t: float) -> None:
        """Show the moment t [s]."""
        with self._lock:
            first, last = float(self.recording.t[0]), float(self.recording.t[-1])
            self.t = min(max(float(t), first), last)
            step = self.recording.step_at(self.t)
            if step != self.step:
                self.step = step
                self.draw(step)
        self._tell()

    def go_by(self, steps: int) -> None:
        """Stop, and go on by so many steps of the log; back if negative."""
        self.is_playing = False
        step = min(max(self.step + steps, 0), len(self.recording.t) - 1)
        self.go(float(self.recording.t[step]))

    def toggle(self) -> None:
        """Play or pause; at the end, play from the start."""
        if not self.is_playing and self.t >= self.recording.t[-1]:
            self.go(float(self.recording.t[0]))
        self.is_playing = not self.is_playing
        self._tell()

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()

    def _run(self) -> None:
        before = time.monotonic()
        while not self._end.wait(1 / RATE):
            now = time.monotonic()
            passed, before = now - before, now
            if not self.is_playing:
                continue
            t = self.t + passed * self.speed
            if t >= self.recording.t[-1]:
                if self.loops:
                    t = float(self.recording.t[0])
                else:
                    self.is_playing = False
            self.go(t)


def playback_panel(server: Any, player: Player) -> None:
    """Play, pause, step, speed and a slider of time."""
    gui, recording = server.gui, player.recording
    first, last = float(recording.t[0]), float(recording.t[-1])
    with gui.add_folder("Playback"):
        play = gui.add_button("Play", icon="player-play")
        steps = gui.add_button_group("step", ("|<", "<", ">", ">|"))
        span = max(last - first, 1e-6)
        slider = gui.add_slider("t [s]", first, first + span, min(span, max(span / 2000, 1e-6)), first)
        speed_choice(gui, player, SPEEDS)
        loop = gui.add_checkbox("loop", player.loops)
    shown = {"at": 0.0, "playing": False}

    @play.on_click
    def _(_: Any) -> None:
        player.toggle()

    @steps.on_click
    def _(event: Any) -> None:
        many = len(recording.t)
        player.go_by({"|<": -many, "<": -1, ">": 1, ">|": many}[event.target.value])

    @slider.on_update
    def _(event: Any) -> None:
        # what the player sets itself comes without a client
        if event.client is not None:
            player.is_playing = False
            player.go(event.target.value)

    @loop.on_update
    def _(event: Any) -> None:
        player.loops = event.target.value

    def follow() -> None:
        now = time.monotonic()
        if player.is_playing != shown["playing"]:
            shown["playing"] = player.is_playing
            play.label = "Pause" if player.is_playing else "Play"
            play.icon = "player-pause" if player.is_playing else "player-play"
        elif player.is_playing and now - shown["at"] < 0.06:
            return  # the slider need not follow every picture
        shown["at"] = now
        slider.value = player.t

    player.on_change(follow)


def speed_choice(gui: Any, clock: Any, speeds: Sequence[float]) -> None:
    """A list of speeds for something with an attribute ``speed``, which is in the list, too, and chosen at first."""
    options = tuple(f"{speed:g}x" for speed in sorted({*speeds, clock.speed}))
    choice = gui.add_dropdown("speed", options, initial_value=f"{clock.speed:g}x")

    @choice.on_update
    def _(event: Any) -> None:
        clock.speed = float(event.target.value.removesuffix("x"))
