"""`pliant cache`."""

from pathlib import Path

import pytest

import pliant


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def test_what_is_compiled_is_counted_and_removed(program, folder: Path) -> None:
    assert program("cache", "--json").json == {"folder": str(folder), "kernels": 0, "bytes": 0}
    robot = pliant.load("pendulum")
    pliant.compile(pliant.mass_matrix, robot)(robot.neutral())
    about = program("cache", "--json").json
    files = list(folder.glob("*.o"))
    assert about["kernels"] == len(files) > 0
    assert about["bytes"] == sum(file.stat().st_size for file in files)
    shown = program("cache").out
    assert f"kernels  {len(files)}" in shown
    assert "folder" in shown
    # what another program left behind goes too, and nothing else
    (folder / ".writing-x").write_bytes(b"half")
    (folder / "notes.txt").write_text("mine")
    assert program("cache", "--clear").out.startswith(f"removed {len(files) + 1} kernels")
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]
    assert program("cache", "--json").json["kernels"] == 0


def test_no_cache(program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE_DIR", "off")
    assert program("cache").out == "there is no cache: PLIANT_CACHE_DIR turns it off\n"
    assert program("cache", "--clear", "--json").json == {"folder": None, "kernels": 0, "bytes": 0, "removed": 0}
