"""Files are written whole or not at all, and errors say what to do."""

import errno
from pathlib import Path

import pytest

import pliant
from pliant.files.writing import checked_folder, file_error, whole_file


def test_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), whole_file(path) as beside:
        beside.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "before" and [p.name for p in tmp_path.iterdir()] == ["x.txt"]
    with whole_file(path) as beside:
        assert beside.parent == tmp_path and beside.suffix == ".txt"
        beside.write_text("after")
        assert path.read_text() == "before"
    assert path.read_text() == "after" and [p.name for p in tmp_path.iterdir()] == ["x.txt"]
    with pytest.raises(pliant.PliantError, match="nothing was written"), whole_file(path):
        pass
    with pytest.raises(pliant.PliantError, match="the name is too long"), whole_file(tmp_path / ("x" * 300)) as beside:
        beside.write_text("")


def test_errors_have_fields(tmp_path: Path) -> None:
    full = file_error("run.h5", OSError(errno.ENOSPC, "No space left on device"))
    assert (full.subject, full.field) == ("run.h5", "path") and "another disk" in full.cure
    assert str(full).startswith("cannot write run.h5: the disk is full; free some space")
    assert str(file_error("x", OSError(0, "odd"))) == "cannot write x: odd"
    (tmp_path / "file").touch()
    for path, problem in ((tmp_path, "is a folder"), (tmp_path / "file" / "x", "is not a folder"), (7, "path is 7")):
        with pytest.raises(pliant.PliantError, match=problem) as error:
            checked_folder(path)  # type: ignore[arg-type]
        assert error.value.field == "path" and error.value.cure
