"""Files of every version so far are read as they were written."""

import json
from pathlib import Path

import pytest

import pliant
from compatibility import samples

FOLDERS = sorted((Path(__file__).parent / "samples").iterdir())


def test_there_are_files_of_this_version() -> None:
    assert pliant.__version__ in [folder.name for folder in FOLDERS]


@pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])
def test_files_are_read_as_they_were_written(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text())
    found = json.loads(json.dumps(samples.read(folder)))
    # what a later version adds is no matter
    assert {name: found[name] for name in expected} == expected


def test_what_is_made_now_is_read_alike(tmp_path: Path) -> None:
    # so that the files stand for those that this code writes
    made = samples.make(tmp_path / "made")
    [folder] = [folder for folder in FOLDERS if folder.name == pliant.__version__]
    expected = json.loads((folder / "expected.json").read_text())
    for name in ("policy", "side", "terrain", "settings"):
        assert json.loads(json.dumps(made[name])) == expected[name]
    for name, log in expected["logs"].items():
        # numbers may differ by the rounding of another processor
        assert list(made["logs"][name]["channels"]) == list(log["channels"])
        assert made["logs"][name]["events"] == log["events"]
