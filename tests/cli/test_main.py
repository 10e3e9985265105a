"""The program as a whole: help, versions, exit codes, one-line errors."""

import json
import subprocess
import sys

import pytest

import pliant
from pliant.catalogue import library as catalogue

COMMANDS = ("run", "view", "plot", "info", "robots", "equations", "bench", "cache")


def test_help_lists_the_commands(program) -> None:
    done = program("--help")
    assert done.code == 0
    assert all(f"\n  {name} " in done.out for name in COMMANDS)
    assert max(map(len, done.out.splitlines())) <= 80
    assert "..." not in done.out.partition("Commands:")[2], "each is said in full"


@pytest.mark.parametrize("command", COMMANDS)
def test_each_has_help(program, command: str) -> None:
    done = program(command, "--help")
    assert done.code == 0
    assert f"Usage: pliant {command}" in done.out


def test_help_imports_nothing_big() -> None:
    """What makes it quick, which is not asserted: machines differ."""
    code = "import json, sys\nfrom pliant.cli import main\ntry:\n    main(['run', '--help'])\nexcept SystemExit:\n"
    code += "    print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    imported = {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
    assert "typer" in imported
    assert not imported & {"numpy", "llvmlite", "rich", "sympy", "h5py", "matplotlib", "viser", "asyncio", "pydantic"}


def test_version(program) -> None:
    assert program("--version") == (0, f"pliant {pliant.__version__}\n", "")


def test_usage_errors_have_code_2(program) -> None:
    for arguments in (("run", "--grund", "flat"), ("nothing",), ("run", "pendulum", "--time", "soon"), ("info",)):
        done = program(*arguments)
        assert (done.code, done.out) == (2, "")
        assert "Usage: pliant" in done.err
        assert "Traceback" not in done.err
    assert "--ground" in program("run", "--grund", "flat").err, "near names"


def test_ctrl_c_is_one_line_and_130(program, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(catalogue, "robots", interrupted)
    assert program("robots") == (130, "", "pliant: stopped\n")


def test_too_little_memory_is_one_line(program, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(*_: object) -> int:
        raise MemoryError("Unable to allocate 1 TiB")

    monkeypatch.setattr("pliant.cli.run.run_robot", fill)
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
