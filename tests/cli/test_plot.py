"""`pliant plot`."""

import shutil
from pathlib import Path

import pytest


def test_a_plot_of_channels(program, log_file: Path) -> None:
    done = program("plot", log_file, "q.hinge", "tau", "--out", "some.svg")
    assert (done.code, done.out, done.err) == (0, "some.svg\n", "")
    assert "<svg" in Path("some.svg").read_text()
    assert program("plot", log_file, "--robot", "1", "--out", "one.png").code == 0
    assert Path("one.png").read_bytes().startswith(b"\x89PNG")


def test_it_lies_beside_the_log(program, log_file: Path, tmp_path: Path) -> None:
    shutil.copy(log_file, tmp_path / "mine.h5")
    assert program("plot", "mine.h5", "q").out == "mine.png\n"
    assert (tmp_path / "mine.png").is_file()


@pytest.mark.parametrize("arguments, message", [
    (("LOG", "qq"), "no channel named 'qq'"),
    (("LOG", "q.hinj"), "did you mean 'hinge'"),
    (("LOG", "q", "--robot", "7"), "--robot is 7; it takes 0 to 2"),
    (("LOG", "q", "--out", "plot.xyz"), "plot.xyz"),
    (("LOG", "q", "--out", "nowhere/plot.png"), "folder nowhere does not exist"),
    (("nothing.h5",), "there is no file nothing.h5"),
    (("notes.txt",), "notes.txt is not a log"),
])  # fmt: skip
def test_errors_are_one_line(program, log_file: Path, arguments: tuple[str, ...], message: str) -> None:
    Path("notes.txt").write_text("hello")
    done = program("plot", *(log_file if word == "LOG" else word for word in arguments))
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert message in done.err


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.95])
def test_a_log_that_was_cut_off(program, log_file: Path, share: float) -> None:
    """Whatever is left of it, there is an answer: what was saved, or that it cannot be read."""
    data = log_file.read_bytes()
    Path("cut.h5").write_bytes(data[: int(share * len(data))])
    done = program("plot", "cut.h5", "q")
    assert done.code in (0, 1)
    assert "cut.h5" in done.err
    # a warning of what is lost, and an error if that is all
    assert done.err.count("\n") <= 1 + done.code
    assert "Traceback" not in done.err
