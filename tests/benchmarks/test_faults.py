"""`bench.faults`: a few of each fault lose nothing, and what is lost is told."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pliant
from bench import fault_kills, faults


@pytest.mark.parametrize("name", ["logs", "sweeps", "trainings", "disks", "caches"])
def test_nothing_is_lost(name: str, tmp_path: Path) -> None:
    assert faults.FAULTS[name](3, np.random.default_rng(4), tmp_path) == []


def test_what_is_lost_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = pliant.load_log

    def other(path):
        found = load(path)
        return replace(found, channels=found.channels | {"q": found.q + 1e-15})

    monkeypatch.setattr(fault_kills.pliant, "load_log", other)
    lost = fault_kills.killed_logs(2, np.random.default_rng(4), tmp_path)
    assert lost == ["log 0: other numbers", "log 1: other numbers"]

    def none(path):
        raise pliant.PliantError("nothing of it can be read")

    monkeypatch.setattr(fault_kills.pliant, "load_log", none)
    assert len(fault_kills.full_disks(1, np.random.default_rng(4), tmp_path)) == 1
