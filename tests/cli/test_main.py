"""The program as a whole: help, versions, exit codes, one-line errors."""

import json
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

import pliant
from pliant.catalogue import library as catalogue

COMMANDS = ("run", "view", "plot", "info", "robots", "equations", "bench", "cache")


def test_help_lists_the_commands_and_each_has_its_own(program) -> None:
    done = program("--help")
    assert done.code == 0
    assert all(f"\n  {name} " in done.out for name in COMMANDS)
    assert max(map(len, done.out.splitlines())) <= 80
    assert "..." not in done.out.partition("Commands:")[2], "each is said in full"
    assert program("--version") == (0, f"pliant {pliant.__version__}\n", "")
    for command in COMMANDS:
        done = program(command, "--help")
        assert done.code == 0
        assert f"Usage: pliant {command}" in done.out


def test_help_imports_nothing_big() -> None:
    """What makes it quick, which is not asserted: machines differ."""
    code = "import json, sys\nfrom pliant.cli import main\ntry:\n    main(['run', '--help'])\nexcept SystemExit:\n"
    code += "    print(json.dumps(sorted(sys.modules)))"
    out = subprocess.check_output([sys.executable, "-c", code], text=True, timeout=60)
    imported = {name.split(".")[0] for name in json.loads(out.splitlines()[-1])}
    assert "typer" in imported
    assert not imported & {"numpy", "llvmlite", "rich", "sympy", "h5py", "matplotlib", "viser", "asyncio", "pydantic"}


def test_usage_errors_have_code_2(program) -> None:
    for arguments in (("run", "--grund", "flat"), ("nothing",), ("run", "pendulum", "--time", "soon"), ("info",)):
        done = program(*arguments)
        assert (done.code, done.out) == (2, "")
        assert "Usage: pliant" in done.err
        assert "Traceback" not in done.err
    assert "--ground" in program("run", "--grund", "flat").err, "near names"


@pytest.mark.parametrize("arguments, message", [
    ("run pendulumm", "did you mean 'pendulum'"),
    ("run", "no robot is given"),
    ("run pendulum --q hnge=1", "did you mean 'hinge'"),
    ("run pendulum --ground flta", "did you mean 'flat'"),
    ("run pendulum --flexible hinj=1,2", "did you mean 'hinge'"),
    ("run pendulum --push rood=1,0,0", "did you mean 'rod'"),
    ("run pendulum --height 1", "it takes a robot with a free base"),
    ("run pendulum --time 0", "takes a number above 0"),
    ("run pendulum --batch 2 --event-driven", "leave out --batch"),
    ("run pendulum --log nowhere/run.h5", "folder nowhere does not exist"),
    ("run pendulum --video nowhere/run.mp4", "folder nowhere does not exist"),
    ("run pendulum --log run.xyz", "--log is 'run.xyz'; it takes a file that ends in .h5"),
    ("run pendulum --log .", "is a folder"),
    ("run pendulum --settings none.toml", "the settings none.toml are not a file"),
    ("run pendulum --dt 10 --time 1", "--time is 1.0; it takes at least one step, --dt 10"),
    ("run pendulum --dt 1 --time 3", "it falls by its own length, 0.75 m, in 0.39 s; give 0.004 or less"),
    ("run pendulum --time 0.1 --q hinge=0.1,0.2", "it takes one number for hinge"),
    ("run hopper --time 0.1 --q root_joint=0,0,1", "it takes 7 numbers for root_joint (root_joint.x"),
    ("run pendulum --video-size 4k", "it takes 'preview', '720p' or '1080p'"),
    ("run pendulum --html x.txt", "--html is 'x.txt'; it takes a file that ends in .html or .htm"),
    ("run pendulum --plot x.xyz", "--plot is 'x.xyz'; it takes a file that ends in .png, .pdf or .svg"),
    ("run pendulum --html x.html --report ./x.html", "--html and --report are both ./x.html"),
    ("run hopper --base fixed", "--base fixed: robot 'hopper' takes no base; leave out --base"),
    ("run pendulum --base free", "--base: joint 'root_joint' (wy) of robot 'pendulum' moves no inertia"),
    ("run pendulum --batch 1000000000000", "--batch is 1000000000000; it takes fewer robots"),
    ("run hopper --height -1", "--height is -1.0; it takes a number, 0 or more"),
    ("run pendulum --flexible hinge=1,2 --flexible hinge=3", "has 'hinge' twice"),
    ("info pendulumm", "did you mean 'pendulum'"),
    ("info nowhere.urdf", "no such file"),
    ("info nothing.h5", "there is no file"),
    ("info bad.urdf", "bad.urdf"),
    ("view pendulumm", "did you mean 'pendulum'"),
    ("view nothing.h5", "there is no file nothing.h5"),
    ("view nowhere.urdf", "no such file"),
    ("bench pendulumm", "did you mean 'pendulum'"),
    ("plot LOG qq", "no channel named 'qq'"),
    ("plot LOG q.hinj", "did you mean 'hinge'"),
    ("plot LOG q --robot 7", "--robot is 7; it takes 0 to 2"),
    ("plot LOG q --out plot.xyz", "plot.xyz"),
    ("plot LOG q --out nowhere/plot.png", "folder nowhere does not exist"),
    ("plot nothing.h5", "there is no file nothing.h5"),
    ("plot notes.txt", "notes.txt is not a log"),
    ("equations pendulumm", "did you mean 'pendulum'"),
    ("equations pendulum --latex --c", "--latex and --c are two forms"),
    ("equations pendulum --latex --format c", "--latex and --format c are two forms; choose one"),
    ("equations pendulum --format latx", "--format: no form named 'latx'; did you mean 'latex'"),
    ("equations pendulum --format html", "valid: 'text', 'latex', 'markdown', 'python', 'c', 'matlab'"),
    ("equations pendulum --method euler", "no method named 'euler'"),
    ("equations pendulum --symbols m_rot", "did you mean 'm_rod'"),
    ("equations pendulum --symbols a,,b", "it takes names between the commas"),
    ("equations nowhere.urdf", "nowhere.urdf"),
    ("equations pendulum --symbols m_rod=", "a name after 'm_rod='"),
    ("equations pendulum --symbols m_rod=2x", "cannot be named '2x'"),
    ("equations pendulum --symbols m_rod=a=b", "cannot be named 'a=b'"),
    ("equations pendulum --symbols m_rod=sin", "cannot be named 'sin'"),
    ("equations pendulum --names hinge=sin", "cannot be named 'sin'"),
    ("equations pendulum --names hinge=", "a name after 'hinge='"),
])  # fmt: skip
def test_errors_are_one_line(program, shown: list, log_file: Path, arguments: str, message: str) -> None:
    Path("notes.txt").write_text("hello")
    Path("bad.urdf").write_text("<robot")
    done = program(*(log_file if word == "LOG" else word for word in arguments.split()))
    assert (done.code, done.out, done.err.count("\n"), shown) == (1, "", 1, [])
    assert message in done.err


def test_ctrl_c_and_too_little_memory_are_one_line(program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "robots", Mock(side_effect=KeyboardInterrupt))
    assert program("robots") == (130, "", "pliant: stopped\n")
    monkeypatch.setattr("pliant.cli.run.run_robot", Mock(side_effect=MemoryError("Unable to allocate 1 TiB")))
    done = program("run", "pendulum")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("pliant: there is not enough memory: Unable to allocate 1 TiB; ask for fewer robots")


def test_a_missing_library_says_what_to_install(program, monkeypatch: pytest.MonkeyPatch) -> None:
    for library, command, extra in (
        ("h5py", ("run", "pendulum", "--log", "run.h5"), "logs"),
        ("matplotlib", ("run", "pendulum", "--plot", "run.png"), "plots"),
        ("matplotlib", ("plot", "run.h5"), "plots"),
        ("imageio_ffmpeg", ("run", "pendulum", "--video", "run.mp4"), "video"),
        ("viser", ("view", "pendulum"), "view"),
        ("viser", ("run", "pendulum", "--view"), "view"),
        ("pyarrow", ("run", "pendulum", "--log", "run.parquet"), "export"),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, library, None)
            done = program(*command)
        assert (done.code, done.out) == (1, "")
        assert f"needs {library}: pip install 'pliant[{extra}]'" in done.err
        assert done.err.count("\n") == 1


def test_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "pliant", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "equations" in done.stdout
