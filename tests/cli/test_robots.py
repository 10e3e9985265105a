"""`pliant robots`, and robots by what the user types."""

from pathlib import Path

import pytest

import pliant
from pliant.catalogue import library
from pliant.cli.sources import load_robot, origin
from pliant.errors import PliantError


def test_all_names_are_listed(program) -> None:
    done = program("robots")
    assert done.code == 0
    words = set(done.out.replace(",", " ").split())
    assert set(pliant.robots()) <= words
    assert max(map(len, done.out.splitlines()[:-1])) <= 80


def test_json(program) -> None:
    about = program("robots", "--json").json
    assert [*about["shipped"], *about["example-robot-data"]] == list(pliant.robots())
    assert all(Path(robot["path"]).is_file() for robot in about["example-robot-data"].values())


def test_names_and_where_they_are_from() -> None:
    assert (load_robot("anymal").nv, origin("anymal")) == (18, "example-robot-data: anymal.urdf")
    assert origin("hopper") == origin("quadruped") == "shipped with Pliant"
    # a folder stands for the plainest of its files, and --base wins
    assert load_robot("hyq", "fixed").nv == 12


def test_without_example_robot_data(program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "ELSEWHERE", "no-such-package")
    library.robots.cache_clear()
    try:
        assert "pip install" in program("robots").out
        assert program("robots", "--json").json["no-such-package"] == {}
    finally:
        library.robots.cache_clear()


def test_a_file(block: Path) -> None:
    assert load_robot(str(block), "free").is_free
    assert not load_robot(str(block)).is_free
    assert (load_robot(str(block)).file, origin(str(block))) == (block, str(block))


def test_an_option_that_a_robot_does_not_take() -> None:
    with pytest.raises(PliantError) as error:
        load_robot("hopper", "fixed")
    assert (error.value.field, error.value.cure) == ("base", "leave out --base")


@pytest.mark.parametrize("source, base, message", [
    ("pendulumm", None, "did you mean 'pendulum'"),
    ("anymall", None, "did you mean 'anymal'"),
    ("pendulum", "loose", "it takes 'free' or 'fixed'"),
    ("zzzqq", None, "no robot named 'zzzqq'; `pliant robots` lists all"),
    (".", None, "is a folder; give the file of a robot"),
    ("nowhere.urdf", None, "nowhere.urdf"),
])  # fmt: skip
def test_errors(source: str, base: str | None, message: str) -> None:
    with pytest.raises(PliantError, match=message):
        load_robot(source, base)


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(PliantError, match=r"no reader for \.txt"):
        load_robot(str(tmp_path / "notes.txt"))
    (tmp_path / "run.h5").write_bytes(b"")
    with pytest.raises(PliantError, match=r"run\.h5 is a log, not a robot; `pliant view"):
        load_robot(str(tmp_path / "run.h5"))


def test_xacro_is_run_on_demand_only(program, tmp_path: Path) -> None:
    text = '<robot name="rod" xmlns:xacro="http://wiki.ros.org/xacro"><xacro:property name="m" value="${1 + 2}"/>'
    text += '<link name="rod"><inertial><mass value="${m}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    (tmp_path / "rod.xacro").write_text(text + "</inertial></link></robot>")
    done = program("info", "rod.xacro")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "add --xacro" in done.err
    assert program("info", "rod.xacro", "--xacro", "--base", "free", "--json").json["mass"] == 3
