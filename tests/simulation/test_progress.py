"""What a terminal shows of a run."""

import io
import sys

import pytest

import pliant
from pliant import progress
from simulated_robots import PENDULUM


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """In place of the error stream; not as a fixture, since pytest changes streams between fixtures and tests."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    return made


def test_time_and_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress.Progress, "_rich_bar", lambda self: None)
    clock = iter([0.0, 1.0, 2.0, 4.0])
    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(clock))
    with progress.Progress(10.0, 15.0) as shown:
        for t in (10.0, 11.0, 14.5):
            shown.update(t)
    lines = terminal.getvalue().split("\r")
    # 1 s in 1 s, then 4.5 s in 3 s
    assert lines[2].strip() == "simulating: 1.00 of 5 s  1 x real time"
    assert lines[3].strip() == "simulating: 4.50 of 5 s  1.5 x real time"
    assert lines[-1] == "" and not lines[-2].strip(), "it is wiped"


def test_a_run_shows_it_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    sim = pliant.Simulation(PENDULUM)
    sim.run(0.05)
    assert "simulating" in terminal.getvalue() and "x real time" in terminal.getvalue()
    before = terminal.getvalue()
    sim.run(0.05, progress=False)
    assert terminal.getvalue() == before


def test_short_runs_and_files_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    pliant.Simulation(PENDULUM).run(0.01)
    assert terminal.getvalue() == ""
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    pliant.Simulation(PENDULUM).run(0.01)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]
