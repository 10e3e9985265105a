"""Logs that are written as a run goes on: the same as those in memory, and there whatever becomes of the program."""

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError, SimulationWarning
from pliant.simulation import running
from pliant.storage import LogWriter, writing
from pliant.storage.readable_file import trim
from simulated_robots import LEG, leg_started
from view_logs import event_hopper

SOURCE = Path(__file__).parents[2] / "src"


def hang(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return -5 * q[..., 7:] - 0.5 * v[..., 6:]


@pytest.mark.parametrize(("batch", "controller"), [(None, None), (3, hang)])
def test_same_as_in_memory(batch: int | None, controller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BLOCK", 1e-4)  # many parts
    channels = ["q", "v", "tau", "forces", "energy", "power", "solver"]
    options = {"controller": controller, "every": 0.007, "channels": channels}
    whole = leg_started(batch=batch).run(0.3, **options)
    path = tmp_path / "run.h5"
    saved = leg_started(batch=batch).run(0.3, **options, save=path, settings={"seed": 5})
    assert saved == whole and saved.is_complete and saved.source.settings["seed"] == 5
    assert pliant.load_log(path) == whole
    assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]


def test_event_driven_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BLOCK", 1e-4)
    whole, saved = (event_hopper().run(0.2, save=path) for path in (None, tmp_path / "run.h5"))
    loaded = pliant.load_log(tmp_path / "run.h5")
    assert whole == saved == loaded and loaded.is_event_driven and dict(saved.metadata) == whole.metadata
    assert saved.modes == loaded.modes == whole.modes and len(loaded.dense) == len(whole.dense)
    assert [e.t for e in loaded.events] == [e.t for e in saved.events] == [e.t for e in whole.events]


def test_run_that_fails_leaves_what_there_was(tmp_path: Path) -> None:
    def faulty(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > 0.1:
            raise ZeroDivisionError
        return hang(t, q, v)

    path = tmp_path / "run.h5"
    pliant.Log(np.zeros(1), {}).save(path)
    with pytest.raises(ZeroDivisionError):
        leg_started().run(0.3, controller=faulty, save=path)
    with pytest.warns(pliant.SimulationWarning, match=r"did not end: saved until t = 0.101 s of 0.3 s, 102 entries"):
        found = pliant.load_log(path)
    assert found == leg_started().run(0.3, controller=hang)[:102] and not found.is_complete
    assert not found[:3].is_complete and found.source.robot.digest == LEG.digest


def test_large_logs_come_back_thinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = leg_started().run(0.1)
    monkeypatch.setattr(running, "_MOST", sum(a.size for a in whole.channels.values()) / 2.5)
    with pytest.warns(pliant.SimulationWarning, match=r"has 101 entries, of which one in 3 is returned"):
        found = leg_started().run(0.1, save=tmp_path / "run.h5")
    assert found == whole[::3] and pliant.load_log(tmp_path / "run.h5") == whole


def test_it_opens_while_it_is_written(tmp_path: Path) -> None:
    whole = leg_started().run(0.1)
    with LogWriter(tmp_path / "run.h5", whole[:1], until=0.1) as writer:
        for k in range(1, 101, 10):
            writer.append(whole[k : k + 10])
            with pytest.warns(pliant.SimulationWarning):
                assert pliant.load_log(tmp_path / "run.h5") == whole[: k + 10]
        with pytest.raises(pliant.PliantError, match=r"has channels .* of 1 robots; a part with .* of 2 cannot follow"):
            writer.append(leg_started(batch=2).run(0.01))
        writer.finish()
    assert pliant.load_log(tmp_path / "run.h5") == whole


CHILD = """
import sys
from simulated_robots import LEG_Q, leg_started
from pliant.errors import PliantError, SimulationWarning
from pliant.simulation import running
running.BLOCK = 1e-3
sim = leg_started()
sim.run(0.002, channels=["q", "v"])
sim.reset(q=LEG_Q)
print("ready", flush=True)
sim.run(1e5, channels=["q", "v"], save=sys.argv[1])
"""


# of the programs, which find Pliant and the robots of the tests
ENVIRONMENT = os.environ | {"PYTHONPATH": f"{SOURCE}{os.pathsep}{Path(__file__).parents[1]}"}


@pytest.mark.filterwarnings("ignore:body 'trunk' is below the ground:pliant.SimulationWarning")  # the leg falls over
@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.2])
def test_killed_program_leaves_a_log(seconds: float, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    before = pliant.Log(np.zeros(1), {"x": np.ones(1)})
    before.save(path)
    child = subprocess.Popen([sys.executable, "-c", CHILD, path], stdout=subprocess.PIPE, env=ENVIRONMENT)
    assert child.stdout is not None and child.stdout.readline().strip() == b"ready"
    time.sleep(seconds)
    child.kill()
    child.wait()
    child.stdout.close()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = pliant.load_log(path)
    if "x" in found:  # it was killed before the head was there
        assert found == before and not told
        return
    assert len(told) == 1 and "of 100000 s" in str(told[0].message) and not found.is_complete
    count = min(len(found), 2000)
    assert found[:count] == leg_started().run(2, channels=["q", "v"])[:count] and len(found) > 0


FULL = """
import os, resource, sys, warnings, pliant
from simulated_robots import leg_started
from pliant.storage import writing
from pliant.errors import PliantError, SimulationWarning
from pliant.simulation import running
running.BLOCK, writing._CHUNK, writing._INDEX = 0.01, 2000, 5_000
warnings.simplefilter("ignore", pliant.SimulationWarning)  # the leg falls over
sim = leg_started()
log = sim.run(2.0)
os.unlink(log[:3].to_mcap("first"))  # compiles what it needs, and keeps it in files
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 400_000))
for write in ("save", "to_csv", "to_npz", "to_parquet", "to_mcap"):
    try:
        getattr(log, write)(sys.argv[1], **({"packed": False} if write == "save" else {}))
    except pliant.PliantError as error:
        print(write, error)
assert os.listdir() == [], "nothing is left"
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
try:
    sim.run(100.0, save="run.h5")
except pliant.PliantError as error:
    print(error)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    found = pliant.load_log("run.h5")
print(len(found), found.is_complete)
"""


def test_full_disk(tmp_path: Path) -> None:
    # a limit on the size of files stands for a disk that is full: the same calls fail, with another number
    command = [sys.executable, "-c", FULL, "out.x"]
    run = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0 and not run.stderr, run.stderr
    *writers, streamed, last = run.stdout.splitlines()
    too_large = "cannot write out.x: the disk takes no file that large"
    assert [line.split()[0] for line in writers] == ["save", "to_csv", "to_npz", "to_parquet", "to_mcap"]
    assert all(too_large in line for line in writers)
    rows = int(last.split()[0])
    assert last == f"{rows} False" and rows > 100
    assert "the file opens and has the log until t =" in streamed and f"{rows} entries" in streamed


def test_a_full_disk_keeps_what_it_has_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # blocks of a fast run have many entries: of the one that does not fit, the entries that do are kept
    whole = leg_started().run(0.5, channels=["q", "v"])
    room = 300
    wanted, given = [0], []

    def needed_bytes(part, rows) -> float:
        wanted.append(len(part.t))
        return 1e12

    def append(file, part, modes, own=writing._append) -> None:
        given.append(len(part.t))
        own(file, part, modes)

    def reserve(path, size, more=0) -> None:
        if wanted[-1] > room - sum(given):
            raise OSError(28, "No space left on device")

    with writing.LogWriter(tmp_path / "run.h5", whole[:1], until=1.0) as writer:
        for function in (needed_bytes, reserve):
            monkeypatch.setattr(writing, function.__name__, function)
        monkeypatch.setattr(writing, "_append", append)
        with pytest.raises(PliantError) as error:
            writer.append(whole[1:])
    assert "the disk is full" in str(error.value) and f"{room + 1} entries" in error.value.cure
    with pytest.warns(SimulationWarning):
        found = pliant.load_log(tmp_path / "run.h5")
    assert len(found) == room + 1 and np.array_equal(found.q, whole.q[: room + 1])


@pytest.mark.parametrize("name", ["q", "t"])
def test_complex_numbers_are_no_state(tmp_path: Path, name: str) -> None:
    import h5py

    path = leg_started().run(0.01).save(tmp_path / "run.h5")
    with h5py.File(path, "r+") as file:
        parent, key = (file, "t") if name == "t" else (file["channels"], "q")
        numbers = parent[key][()].astype(complex)
        del parent[key]
        parent.create_dataset(key, data=numbers, chunks=True)
    with pytest.raises(PliantError) as error:
        pliant.load_log(path)
    assert error.value.field == name


def test_only_hdf5_is_trimmed(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"01234567")
    trim(tmp_path / "x")
    assert (tmp_path / "x").stat().st_size == 8
    log = leg_started().run(0.01)
    path = log.save(tmp_path / "run.h5")
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(bytes(1000))
    trim(path)
    assert path.stat().st_size == size and pliant.load_log(path) == log


def test_room_that_a_part_takes() -> None:
    for batch in (None, 3):
        part = leg_started(batch=batch).run(0.01)
        assert writing.needed_bytes(part) > part.t.nbytes + sum(a.nbytes for a in part.channels.values())
