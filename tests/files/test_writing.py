"""Files are written whole or not at all; full disks and other errors say what to do."""

import errno
import os
import resource
from pathlib import Path

import pytest

import pliant
from pliant.files.writing import CarefulFile, checked_folder, file_error, whole_file


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


def test_file_that_bears_errors(tmp_path: Path) -> None:
    with (tmp_path / "x").open("w+b") as raw:
        file = CarefulFile(raw.fileno())
        file.write(b"0123456789")
        file.seek(2)
        assert file.read(3) == b"234" and file.tell() == 5 and file.truncate(8) == 8
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8, before[1]))
        try:
            file.seek(0, os.SEEK_END)
            assert file.write(b"more") == 4 and file.error is not None, "the error is kept"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        file.seek(6)
        assert file.read() == b"67\0\0\0\0", "what was lost reads as zeros"
