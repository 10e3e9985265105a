"""The same run gives the same bits: in any process, and however the wall clock cuts it into blocks."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant
from simple_bodies import chain
from simulated_robots import ran

START = [0, 0, 0.5, 0, np.sin(0.2), 0, np.cos(0.2), 0.5, -0.9, 0.4], [0.3, 0, 0, 0, 0.5, 0, 0, 0, 0]


def fallen() -> pliant.Log:
    """A chain of four rods that falls, rattles and slides: many events, some of them at one instant."""
    sim = pliant.EventSimulation(chain(4), ground=pliant.flat(friction=0.6), restitution=0.4, rest_speed=1e-3)
    return ran(sim, 0.8, *START)[1]


def digest(log: pliant.Log) -> str:
    return hashlib.sha256(log.t.tobytes() + log.q.tobytes() + log.v.tobytes()).hexdigest()


def test_processes_agree() -> None:
    here = Path(__file__).parent
    code = "import test_determinism as d; log = d.fallen(); print(len(log.events), d.digest(log))"
    path = os.pathsep.join([str(here), str(here.parent), str(Path(pliant.__file__).parents[1])])
    found = set()
    for seed in ("0", "1"):
        env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": path}
        command = [sys.executable, "-c", code]
        found.add(subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=300).stdout)
    log = fallen()
    found.add(f"{len(log.events)} {digest(log)}\n")
    assert len(found) == 1
    assert len(log.events) > 20


def test_blocks_may_be_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fallen()
    monkeypatch.setattr("pliant.simulation.running.BLOCK", 0.0)
    cut = fallen()
    assert digest(cut) == digest(whole)
    assert cut == whole
    assert [str(e) for e in cut.events] == [str(e) for e in whole.events]
