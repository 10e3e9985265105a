"""The line that tells what is being worked on."""

import io
import sys
import time

import pytest

import pliant
from pliant.symbolic import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_tells_its_part_and_the_line_is_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_EVERY", 0.001)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.working("leg", can_be_quicker=True) as at:
        at("tidying M")
        while "tidying M" not in terminal.getvalue():
            time.sleep(0.001)
    shown = terminal.getvalue()
    assert "\requations of leg: tidying M, 0 s; simplify=False (--raw) is quicker" in shown
    assert shown.endswith(" \r")
    assert "\n" not in shown


def test_short_work_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert "0.75" in str(pliant.equations(pliant.load("pendulum")))
    assert terminal.getvalue() == ""


def test_no_line_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.working("leg") as at:
        at("tidying M")
        time.sleep(0.01)
    assert stream.getvalue() == ""


def test_an_error_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(pliant.PliantError), progress.working("leg"):
        raise pliant.PliantError("no")
