"""The command `pliant equations`, run as a program is."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant
from symbolic_robots import python_function


def test_text_fits_the_terminal(program, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (60, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        done = program("equations", "two_link_arm")
        assert done.code == 0
        assert "M22 = 0.2" in done.out
        assert max(map(len, done.out.splitlines())) <= columns


@pytest.mark.parametrize("form, sign", [
    ("latex", r"\begin{aligned}"), ("markdown", "$$"), ("python", "def "), ("c", "#include <math.h>"),
    ("matlab", "function ["), ("text", "0.75 q''"),
])  # fmt: skip
def test_forms(program, form: str, sign: str) -> None:
    own = () if form == "text" else (f"--{form}",)
    done = program("equations", "pendulum", *own)
    assert done.code == 0
    assert sign in done.out
    assert done == program("equations", "pendulum", "--format", form)
    assert done == program("equations", "pendulum", *own, "--format", form)


def test_symbols_names_and_methods(program) -> None:
    options = ("--symbols", "masses,gravity", "--names", "hinge=x", "--method")
    texts = [program("equations", "pendulum", *options, m).out for m in ("newton-euler", "projected", "lagrange")]
    assert "x''" in texts[0]
    assert "m_rod" in texts[0]
    assert " g" in texts[0]
    assert len(set(texts)) == 1, "the methods agree"
    assert "m_rod" not in program("equations", "pendulum", "--symbols", "m_rod=m,gravity=gravity").out
    # a name that a term has
    assert "M(q) = 0.1875 + 0.5625 M" in program("equations", "pendulum", "--symbols", "m_rod=M").out.splitlines()


@pytest.mark.parametrize("name, options", [("pendulum", ()), ("arm7", ("--raw",))])
def test_python_runs(program, name: str, options: tuple[str, ...]) -> None:
    done = program("equations", name, *options, "--python")
    assert done.code == 0
    robot = pliant.load(name)
    q = [0.1 * (k + 3) for k in range(robot.nq)]
    M, *_ = python_function(done.out, name)(q, [0] * robot.nv, [0] * robot.nu)
    # some thousand operations
    np.testing.assert_allclose(M, pliant.mass_matrix(robot, q), rtol=0, atol=1e-12)


def test_the_page_of_the_documentation(program, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows "$ pliant ..." on it is what is printed; "..." stands for the rest."""
    monkeypatch.setenv("COLUMNS", "100")
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\$ pliant (.*)\n((?:(?!\$ |```).*\n)*)", page, re.M)
    assert len(shown) == 3
    for command, expected in shown:
        done = program(*command.split())
        start = expected.partition("...\n")[0].rstrip()
        found = (done.out or done.err).rstrip()
        assert found.startswith(start) if "..." in expected else found == start
    for command in re.findall(r"^pliant (equations .*)$", page, re.M):
        options = [word for word in command.split() if word.startswith("--")]
        assert all(option in page.partition("Text fits")[0] for option in options)


def test_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "pliant", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "equations" in done.stdout
