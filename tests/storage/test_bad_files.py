"""Files that are no logs, damaged, cut off, too new, or made to do harm: one line that says what, and no more."""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest

import pliant
from pliant.errors import needs
from pliant.storage import LogWriter
from pliant.storage.hdf5 import put_text
from simulated_robots import LEG, leg_started


@pytest.fixture(scope="module")
def log() -> pliant.Log:
    return leg_started(batch=2).run(0.1)


@pytest.fixture
def path(log: pliant.Log, tmp_path: Path) -> Path:
    return log.save(tmp_path / "run.h5")


def refused(path: Path, words: str, **options) -> None:
    with pytest.raises(pliant.PliantError, match=words) as told:
        pliant.load_log(path, **options)
    assert "\n" not in str(told.value) and str(path) in str(told.value)


@pytest.mark.parametrize(("content", "words"), [
    (b"", "it is empty"),
    (b"t,q\n0,1\n", "it is not an HDF5 file; give a file that log.save"),
    (b"PK\x03\x04zip", "it is a zip or npz file"),
    (b"\x89HDF cut", "its head is damaged"),
])  # fmt: skip
def test_no_log_at_all(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    path.write_bytes(content)
    refused(path, words)


def test_wrong_paths(tmp_path: Path) -> None:
    refused(tmp_path / "none.h5", "there is no file")
    refused(tmp_path, "is a folder; give the name of a log file")
    with pytest.raises(pliant.PliantError, match="path is 7; it takes the name of a log file"):
        pliant.load_log(7)  # type: ignore[arg-type]
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    refused(tmp_path / "other.h5", "is an HDF5 file, but not a log of Pliant")


def test_wrong_parts(log: pliant.Log, path: Path, tmp_path: Path) -> None:
    refused(path, r"no channel named 'qq' in the log; did you mean 'q'", channels=["qq"])
    refused(path, r"robots is 7; it takes indices", robots=7)
    refused(path, r"robots is \[\]; it takes", robots=[])
    refused(path, r"start is 'now'; it takes a time in seconds", start="now")
    refused(path, r"stride is 0; it takes 1 or more", stride=0)
    refused(path, r"start is nan; it takes a time in seconds", start=float("nan"))
    refused(path, r"there are no entries with start=5; its times are from 0 to 0.1 s", start=5)
    refused(path, r"there are no entries with start=0.05 and end=0.01", start=0.05, end=0.01)
    refused(log.robot(0).save(tmp_path / "one.h5"), "the log is of one robot; robots= is for a batch", robots=0)


@contextmanager
def other_channel(path: Path) -> Iterator[h5py.Group]:
    """The channels of a log, to put another one into the place of q."""
    with h5py.File(path, "r+") as file:
        del file["channels/q"]
        yield file["channels"]


def test_links_sizes_and_versions(log: pliant.Log, path: Path, tmp_path: Path) -> None:
    other, size = str(log.save(tmp_path / "other.h5")), (2, 101, 9)
    with other_channel(path) as channels:
        channels["q"] = h5py.ExternalLink(other, "/channels/q")
    refused(path, "'q' in '/channels' of the log is a link to elsewhere")
    with other_channel(path) as channels:
        channels["q"] = h5py.SoftLink("/channels/v")
    refused(path, "is a link to elsewhere")
    with other_channel(path) as channels:
        layout = h5py.VirtualLayout(size, float)
        layout[...] = h5py.VirtualSource(other, "channels/q", size)
        channels.create_virtual_dataset("q", layout)
    refused(path, "dataset '/channels/q' of the log refers to another file")
    with other_channel(path) as channels:
        channels.create_dataset("q", size, float, external=[(str(tmp_path / "secret"), 0, 2 * 101 * 9 * 8)])
    refused(path, "refers to another file")
    with other_channel(path) as channels:
        channels.create_dataset("q", (2, 10**12, 9), float, chunks=(1, 64, 9))
    refused(path, r"says that it has 1.44e\+14 bytes, which the file does not hold")
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 99
    refused(path, r"is a log of version 99, and this Pliant reads up to 1; pip install -U pliant")


@pytest.mark.parametrize(("change", "words"), [
    (lambda r: r["joints"][0].pop("name"), r"missing required field `name` - at `\$\.joints\[0\]`"),
    (lambda r: r["joints"][1].update(parent="elsewhere"), "stands on 'elsewhere', which is not before it"),
    (lambda r: r["joints"][1]["kind"].update(kind="os.system"), r"Invalid enum value 'os\.system'"),
    (lambda r: r["joints"][1].update(mimic=dict(joint=r["joints"][1]["name"], multiplier=1, offset=0)), "itself"),
    (lambda r: r["bodies"][0]["inertia"].update(mass="heavy"), r"got `str` - at `\$\.bodies\[0\]\.inertia\.mass`"),
    (lambda r: r["bodies"][0]["inertia"].update(mass=1e9), "is not the one that was saved"),
    (lambda r: r["joints"].reverse(), "do not carry its bodies one by one"),
    (lambda r: r["joints"][1].update(damping=[0, 0]), "damping of joint 'hip' has 2 entries"),
    (lambda r: r["joints"][1].update(armature=[1e308]), "it takes up to 1e"),
    (lambda r: r["joints"][1].update(is_locked=1), "Expected `bool`, got `int`"),
    (lambda r: r["motors"][0].update(module="os"), "unknown field `module`"),
    (lambda r: r["bodies"][0].update(name="x" * 200_000), "length <= 100000"),
    (lambda r: r.update(bodies=7), r"Expected `array`, got `int` - at `\$\.bodies`"),
    (lambda r: r.update(gravity=[0, 0]), r"length 3, got 2 - at `\$\.gravity`"),
    (lambda r: r["contacts"][0].update(body="nobody"), "no body named 'nobody'"),
    (lambda r: r["joints"][1].update(law=[{"inputs": ["x"], "nodes": [["exec", 0]], "output": 0}]), "no operation"),
])  # fmt: skip
def test_robots_that_cannot_be(change, words: str, path: Path) -> None:
    with h5py.File(path, "r+") as file:
        robot = json.loads(file["source/robot"][()].tobytes())
        change(robot)
        del file["source/robot"]
        put_text(file["source"], "robot", robot)
    refused(path, words)


def test_cut_and_damaged_files_give_what_is_left(log: pliant.Log, path: Path, tmp_path: Path) -> None:
    """Whatever byte is wrong, it is a log with a warning, a log, or one line; never zeros for numbers."""
    data = path.read_bytes()
    streamed = tmp_path / "streamed.h5"
    leg_started(batch=2).run(0.1, save=streamed)
    rng = np.random.default_rng(6)
    cut, kept = tmp_path / "cut.h5", 0
    for k in range(36):
        bad = bytearray(data if k % 3 else streamed.read_bytes())
        if k % 2:
            bad = bad[: int(rng.integers(len(bad)))]
        else:
            # numbers have checksums, packed or not, as all that is not numbers
            bad[int(rng.integers(len(bad)))] ^= 1 << int(rng.integers(8))
        cut.write_bytes(bad)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                found = pliant.load_log(cut)
            except pliant.PliantError as error:
                assert "\n" not in str(error) and "cut.h5" in str(error)
                continue
        assert found.is_complete == (not told)
        kept += len(found.channels)
        for name, array in found.channels.items():
            assert array.tobytes() == log.channels[name][:, : len(found.t)].tobytes()
    assert kept > 20, "much of it can be read"


@pytest.mark.parametrize("batch", [None, 2])
@pytest.mark.parametrize("is_finished", [True, False])
def test_a_wrong_bit_of_a_streamed_log(log: pliant.Log, tmp_path: Path, batch: int | None, is_finished: bool) -> None:
    """The channel is named; a block that was being written when the program was killed is read as it is."""
    whole = log if batch else log.robot(0)
    path = tmp_path / "run.h5"
    with LogWriter(path, whole[:50], until=0.1) as writer:
        writer.append(whole[50:])
        if is_finished:
            writer.finish()
    data = bytearray(path.read_bytes())
    with h5py.File(path) as file:
        wrong = ["channels/v"] if is_finished else ["channels/v", "t"]
        places = [file[name].id.get_chunk_info(0) for name in wrong]
    # checksums of first blocks
    for place in places:
        data[place.byte_offset + place.size - 1] ^= 1
    path.write_bytes(data)
    with pytest.warns(pliant.SimulationWarning) as told:
        found = pliant.load_log(path)
    words = str(told[0].message)
    if batch is None and not is_finished:  # of a batch, blocks are of 64 entries, and the last one is another
        assert "did not end" in words and found == whole
        return
    assert "is cut off or damaged: v could not be read whole" in words and not found.is_complete
    assert all(found[name].tobytes() == whole[: len(found)][name].tobytes() for name in found)


# ---- writing


def test_folders(tmp_path: Path, log: pliant.Log) -> None:
    for write in (log.save, log.to_csv, log.to_npz, log.to_parquet, log.to_mcap):
        with pytest.raises(pliant.PliantError, match=r"folder .*none does not exist; make it first"):
            write(tmp_path / "none" / "x")
        with pytest.raises(pliant.PliantError, match="is a folder; give the name of a file in it"):
            write(tmp_path)
    with pytest.raises(pliant.PliantError, match="does not exist; make it first"):
        pliant.Simulation(LEG).run(0.01, save=tmp_path / "none" / "x.h5")


def test_objects(tmp_path: Path) -> None:
    log = pliant.Log(np.zeros(1), {"x": np.array([object()])})
    for write in (log.save, log.to_npz):
        with pytest.raises(pliant.PliantError, match="'x' holds obj"):
            write(tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_libraries_that_are_not_there(log: pliant.Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, extra, act in (
        ("h5py", "logs", log.save), ("h5py", "logs", pliant.load_log),
        ("pyarrow", "export", log.to_parquet), ("foxglove", "export", log.to_mcap),
    ):  # fmt: skip
        with monkeypatch.context() as missing:
            missing.setitem(sys.modules, name, None)
            with pytest.raises(pliant.PliantError, match=rf"needs {name}: pip install 'pliant\[{extra}\]'"):
                act(tmp_path / "x")
    assert needs("json", "logs", "this") is json


SAMPLE = Path(__file__).parent.parent / "compatibility" / "samples" / "0.1.0" / "events.h5"


@pytest.mark.parametrize(("at", "size"), [
    (56, 0xF7E),  # the room that is left ends early, and nothing of size nothing follows
    (56, 0),
    (24, 2**64 - 16),  # the text ends where it begins
    (24, 2**63),
    (8, 0),
    (8, 2**62),
])  # fmt: skip
def test_heaps_of_texts_in_which_the_library_goes_around_in_circles(at: int, size: int, tmp_path: Path) -> None:
    """The second of these, and the first, were found by `bench.fuzz`: HDF5 did not come back."""
    data = bytearray(SAMPLE.read_bytes())
    heap = data.index(b"GCOL")
    data[heap + at : heap + at + 8] = size.to_bytes(8, "little")
    path = tmp_path / "run.h5"
    path.write_bytes(data)
    # in a process of its own, since what goes on in a library for ever cannot be ended
    script = "import sys, pliant\ntry: pliant.load_log(sys.argv[1])\nexcept pliant.PliantError as e: print(e)"
    found = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=120)
    assert "a heap of texts" in found.stdout and str(path) in found.stdout


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.h5")
    refused(tmp_path / "pipe.h5", "is not a file; give the name of a log file")
