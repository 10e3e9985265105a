"""The program, run in this process, and a small robot of its own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import pliant
from pliant.cli import main
from pliant.viewer import viewer
from simulated_robots import started


class Done(NamedTuple):
    """Exit code, and what was written to both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Program = Callable[..., Done]


@pytest.fixture
def program(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Program:
    """``program("run", "pendulum")``, in an empty folder, on a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object) -> Done:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Done(0 if stop.value.code is None else int(stop.value.code), out, err)

    return run


# a block of 2 kg with a wheel of 1 kg on top, which a motor turns; it stands on the four corners of a box 0.2 m high
BLOCK = """<robot name="block">
  <link name="block">
    <inertial><mass value="2"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
    <collision><geometry><box size="0.4 0.4 0.2"/></geometry></collision>
  </link>
  <link name="wheel">
    <inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
  </link>
  <joint name="spin" type="revolute">
    <parent link="block"/><child link="wheel"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="2" effort="5" velocity="10"/>
  </joint>
</robot>
"""


@pytest.fixture
def block(tmp_path: Path) -> Path:
    """The file of a small robot that can stand."""
    path = tmp_path / "block.urdf"
    path.write_text(BLOCK)
    return path


@pytest.fixture(scope="module")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs") / "run.h5"
    sim = started(pliant.Simulation(pliant.load("pendulum"), batch=3), q=[[0.1], [0.2], [0.3]])
    sim.run(0.05).save(path)
    return path


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list:
    """What the viewer would show; it has tests of its own."""
    calls: list = []
    for name in ("view_log", "view_robot"):
        monkeypatch.setattr(viewer, name, lambda *args, _name=name, **options: calls.append((_name, args, options)))
    return calls
