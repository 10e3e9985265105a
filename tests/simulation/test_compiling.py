"""The line that tells about long compilations: only on a terminal, only if it takes a while."""

import io
import re
import sys
import threading

import pytest

from pliant import Simulation
from pliant.simulation import compiling as module
from pliant.simulation.compiling import compiling
from simulated_robots import PENDULUM


class Terminal(io.StringIO):
    """A stream that says when something has been written."""

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


def stream(monkeypatch: pytest.MonkeyPatch, patience: float, is_terminal: bool = True) -> Terminal:
    made = Terminal(is_terminal)
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setattr(module, "_PATIENCE", patience)
    monkeypatch.setattr(module, "_EVERY", 0.001)
    return made


def test_what_takes_a_while_is_told_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """The body waits until there is a line, however slow the machine."""
    terminal = stream(monkeypatch, patience=0.001)
    with compiling("the simulation of 'hopper'"):
        assert terminal.written.wait(30)
    text = terminal.getvalue()
    assert re.match(r"\rcompiling the simulation of 'hopper' \.\.\. \d+ s", text)
    end = r"\rcompiled the simulation of 'hopper' in \d+\.\d s; it is cached for the next time\n$"
    assert re.search(end, text)


def test_what_is_quick_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = stream(monkeypatch, patience=60)
    with compiling("a kernel"):
        pass
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("is_terminal, show, shown", [
    (False, None, False), (False, True, True), (True, False, False), (True, None, True), (True, True, True),
])  # fmt: skip
def test_only_where_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, show: bool | None, shown: bool
) -> None:
    terminal = stream(monkeypatch, patience=0.001, is_terminal=is_terminal)
    before = threading.active_count()
    with compiling("a kernel", show):
        if shown:
            assert terminal.written.wait(30)
        else:
            assert threading.active_count() == before, "nobody watches"
    assert bool(terminal.getvalue()) == shown


def test_a_stream_that_knows_nothing_of_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some programs have no error stream at all."""
    monkeypatch.setattr(sys, "stderr", None)
    with compiling("a kernel"):
        pass


def test_errors_come_through_and_the_watcher_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = stream(monkeypatch, patience=0.001)
    before = threading.active_count()
    with pytest.raises(ValueError, match="no"), compiling("a kernel"):
        assert terminal.written.wait(30)
        raise ValueError("no")
    assert threading.active_count() == before
    text = terminal.getvalue()
    assert "compiled" not in text
    assert re.search(r"\rcompiling a kernel failed after \d+\.\d s\n$", text)


def test_the_simulation_hands_on_its_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    from pliant.simulation import kernels

    asked = []

    def told(what: str, show: bool | None = None):
        asked.append((what, show))
        return compiling(what, False)

    monkeypatch.setattr(kernels, "compiling", told)
    for progress in (None, True, False):
        sim = Simulation(PENDULUM, progress=progress)
        sim.step()
        sim.step()
        sim.rollout(periods=1)
    names = ("the simulation of 'pendulum'", "rollouts of 'pendulum'")
    assert asked == [(name, progress) for progress in (None, True, False) for name in names]
