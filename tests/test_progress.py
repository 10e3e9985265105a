"""Progress on the terminal: a bar for runs, a spinner for compiling and formulas, nothing elsewhere."""

import io
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pliant
from pliant import progress
from pliant.compiler import lanes_for
from pliant.progress import Progress, compiling, working
from simulated_robots import PENDULUM


class Terminal(io.StringIO):
    """A stream that signals when something has been written."""

    def __init__(self, is_terminal: bool = True):
        super().__init__()
        self.is_terminal = is_terminal
        self.written = threading.Event()

    def isatty(self) -> bool:
        return self.is_terminal

    def write(self, text: str) -> int:
        count = super().write(text)
        self.written.set()
        return count

    @property
    def text(self) -> str:
        """What was written, without the codes of the terminal."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.getvalue())


def terminal(monkeypatch: pytest.MonkeyPatch, patience: float = 0.0, is_terminal: bool = True) -> Terminal:
    """In place of the error stream; not as a fixture, since pytest changes streams between fixtures and tests."""
    made = Terminal(is_terminal)
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    monkeypatch.setattr(progress, "_EVERY", 0.001 if patience else 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    for name in ("TTY_COMPATIBLE", "TTY_INTERACTIVE", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return made


# ---- a bar


def test_time_and_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    clock = iter([0.0, 1.0, 2.0, 4.0])
    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(clock))
    with Progress(10.0, 15.0) as shown:
        for t in (10.0, 11.0, 14.5):
            shown.update(t)
    # 1 s in 1 s, then 4.5 s in 3 s
    assert re.search(r"simulating \S+ 1\.00 of 5 s  1 x real time", stream.text)
    assert re.search(r"simulating \S+ 4\.50 of 5 s  1\.5 x real time", stream.text)
    assert stream.getvalue().endswith("\x1b[1A\x1b[2K"), "the line is erased"


def test_a_run_shows_it_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    sim = pliant.Simulation(PENDULUM)
    sim.run(0.05)
    assert "simulating" in stream.text and "x real time" in stream.text
    before = stream.getvalue()
    sim.run(0.05, progress=False)
    assert stream.getvalue() == before
    # short runs, and files in place of a terminal
    for options in ({"patience": 60}, {"is_terminal": False}):
        stream = terminal(monkeypatch, **options)
        pliant.Simulation(PENDULUM).run(0.01)
        assert stream.getvalue() == ""


def test_without_a_terminal_rich_is_not_imported() -> None:
    code = "import sys, pliant; pliant.Simulation(pliant.load('pendulum')).run(0.01); print('rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False\n"


# ---- a spinner


def test_long_work_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The body waits until there is a line, however slow the machine."""
    stream = terminal(monkeypatch, patience=0.001)
    with compiling("the simulation of 'hopper'"):
        assert stream.written.wait(30)
    assert re.search(r"compiling the simulation of 'hopper', \d+ s", stream.text)
    assert re.search(r"compiled the simulation of 'hopper' in \d+\.\d s; the result is cached\n$", stream.text)
    # other work names its part, and leaves nothing
    stream = terminal(monkeypatch, patience=0.001)
    with working("equations of leg [1]", hint="simplify=False (--raw) is quicker") as begin:
        begin("tidying M")
        end = time.monotonic() + 30
        while "tidying M" not in stream.text and time.monotonic() < end:
            time.sleep(0.01)  # the first lines may have come before
    assert "equations of leg [1]: tidying M, 0 s; simplify=False (--raw) is quicker" in stream.text
    assert stream.getvalue().endswith("\x1b[1A\x1b[2K"), "the line is erased"


def test_short_work_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch, patience=60)
    with compiling("a kernel"):
        pass
    assert "0.75" in str(pliant.equations(pliant.load("pendulum")))
    assert stream.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", None)  # some programs have no error stream
    with compiling("a kernel"):
        pass


@pytest.mark.parametrize("is_terminal, show, shown", [
    (False, None, False), (False, True, True), (True, False, False), (True, None, True), (True, True, True),
])  # fmt: skip
def test_only_where_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, show: bool | None, shown: bool
) -> None:
    stream = terminal(monkeypatch, patience=0.001, is_terminal=is_terminal)
    before = threading.active_count()
    with compiling("a kernel", show):
        if shown:
            assert stream.written.wait(30)
        else:
            assert threading.active_count() == before, "no thread watches"
    assert bool(stream.getvalue()) == shown


def test_errors_come_through_and_the_watcher_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch, patience=0.001)
    before = threading.active_count()
    with pytest.raises(ValueError, match="no"), compiling("a kernel"):
        assert stream.written.wait(30)
        raise ValueError("no")
    assert threading.active_count() == before
    assert "compiled" not in stream.text
    assert re.search(r"compiling a kernel failed after \d+\.\d s\n$", stream.text)


def test_the_simulation_hands_on_its_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    from pliant.simulation import programs

    asked = []

    def recorded(what: str, show: bool | None = None):
        asked.append((what, show))
        return compiling(what, False)

    monkeypatch.setattr(programs, "compiling", recorded)
    for wish in (None, True, False):
        sim = pliant.Simulation(PENDULUM, progress=wish)
        sim.step()
        sim.step()
        sim.rollout(periods=1)
        sim.rollout((np.zeros((9, 1)), [0]), periods=1)  # wider vectors, where the processor has them
    names = ["the simulation of 'pendulum'"] * (1 if lanes_for(9) == lanes_for(1) else 2)
    assert asked == [(name, wish) for wish in (None, True, False) for name in names]
