"""Mesh files: found where they may be, and never outside."""

from pathlib import Path

import pytest

from pliant.formats import load_urdf
from urdf_text import INERTIAL, link, refused


def mesh(file: str) -> str:
    return link("a", f'{INERTIAL}<visual><geometry><mesh filename="{file}" scale="2 2 2"/></geometry></visual>')


@pytest.mark.parametrize(
    "file", ["m/a.stl", "../meshes/a.stl", "package://pack/meshes/a.stl", "package:///pack/m/../meshes/a.stl"]
)
def test_meshes_in_folder_and_package(write, tmp_path: Path, file: str) -> None:
    for place in ("pack/meshes/a.stl", "pack/urdf/m/a.stl", "pack/m/a.stl", "pack/package.xml"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("solid")
    robot = load_urdf(write(mesh(file), name="pack/urdf/robot.urdf"))
    (shape,) = robot.bodies["a"].visuals
    assert shape.file is not None
    assert Path(shape.file).read_text() == "solid"
    assert shape.scale == (2, 2, 2)
    assert len(robot.report) == 0


def test_meshes_in_given_folders(write, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "pack").mkdir(parents=True)
    (tmp_path / "elsewhere" / "pack" / "a.stl").write_text("solid")
    path = write(mesh("package://pack/a.stl"), name="here/robot.urdf")
    assert load_urdf(path, packages=[tmp_path / "elsewhere"]).bodies["a"].visuals[0].file
    # not given: the shape stays, without a file, and the report says what to give
    robot = load_urdf(path)
    assert robot.bodies["a"].visuals[0].file is None
    assert "packages=" in str(robot.report)
    refused(path, "nowhere", "packages", packages=[tmp_path / "nowhere"])


@pytest.mark.parametrize(
    "file",
    [
        "package://../../secret.stl", "package://pack/../../secret.stl", "package:///../secret.stl", "../../secret.stl",
        "package://pack/link.stl", "http://example.org/a.stl", "package://",
    ],
)  # fmt: skip
def test_paths_that_escape_are_dropped(write, tmp_path: Path, file: str) -> None:
    (tmp_path / "secret.stl").write_text("secret")
    (tmp_path / "ws" / "pack").mkdir(parents=True)
    (tmp_path / "ws" / "pack" / "link.stl").symlink_to(tmp_path / "secret.stl")
    path = write(mesh(file), name="ws/urdf/robot.urdf")
    robot = load_urdf(path, packages=[tmp_path / "ws"])
    assert robot.bodies["a"].visuals == ()
    assert [f.kind for f in robot.report] == ["dropped"]
    refused(path, "robot.urdf:5", file, packages=[tmp_path / "ws"], strict=True)


@pytest.mark.parametrize("scheme", ["file://", ""])
def test_absolute_path_outside_is_dropped(write, tmp_path: Path, scheme: str) -> None:
    (tmp_path / "secret.stl").write_text("secret")
    path = write(mesh(f"{scheme}{tmp_path}/secret.stl"), name="ws/robot.urdf")
    assert load_urdf(path).bodies["a"].visuals == ()
    assert load_urdf(path, packages=[tmp_path]).bodies["a"].visuals[0].file == str((tmp_path / "secret.stl").resolve())


def test_a_folder_that_only_has_the_name_is_no_package(write, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "passwd").write_text("secret")
    assert load_urdf(write(mesh("package://etc/passwd"), name="ws/r.urdf")).bodies["a"].visuals[0].file is None
