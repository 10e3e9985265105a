"""The command `pliant equations`, run as a program is."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    out, err = capsys.readouterr()
    code = stop.value.code
    return (0 if code is None else int(code)), out, err


def test_text_fits_the_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (60, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        code, out, _ = run(capsys, "equations", "two_link_arm")
        assert code == 0
        assert "M22 = 0.2" in out
        assert max(map(len, out.splitlines())) <= columns


@pytest.mark.parametrize("form, sign", [
    ("--latex", r"\begin{aligned}"), ("--markdown", "$$"), ("--python", "def "), ("--c", "#include <math.h>"),
    ("--matlab", "function ["),
])  # fmt: skip
def test_forms(capsys: pytest.CaptureFixture[str], form: str, sign: str) -> None:
    code, out, _ = run(capsys, "equations", "pendulum", form)
    assert code == 0
    assert sign in out


def test_forms_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("latex", "markdown", "python", "c", "matlab"):
        by_name = run(capsys, "equations", "pendulum", "--format", form)
        assert by_name == run(capsys, "equations", "pendulum", f"--{form}")
        assert by_name == run(capsys, "equations", "pendulum", f"--{form}", "--format", form)
    assert run(capsys, "equations", "pendulum", "--format", "text") == run(capsys, "equations", "pendulum")


def test_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """M = m (l/2)^2 + I of the shipped pendulum, 0.75 kg m^2, from the printed source."""
    _, out, _ = run(capsys, "equations", "pendulum", "--python")
    namespace: dict = {}
    exec(out, namespace)
    function = next(f for name, f in namespace.items() if callable(f) and not name.startswith("_"))
    M, *_ = function([0.3], [0.0], [0.0])
    assert M[0][0] == pytest.approx(0.75)


def test_symbols_names_and_methods(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [
        run(capsys, "equations", "pendulum", "--symbols", "masses,gravity", "--names", "hinge=x", "--method", method)[1]
        for method in ("newton-euler", "projected", "lagrange")
    ]
    assert "x''" in texts[0]
    assert "m_rod" in texts[0]
    assert " g" in texts[0]
    assert len(set(texts)) == 1, "the methods agree"
    _, renamed, _ = run(capsys, "equations", "pendulum", "--symbols", "m_rod=m,gravity=gravity")
    assert "m_rod" not in renamed


@pytest.mark.parametrize("arguments, message", [
    (("pendulumm",), "did you mean 'pendulum'"),
    (("pendulum", "--latex", "--c"), "--latex and --c are two forms"),
    (("pendulum", "--latex", "--format", "c"), "--latex and --format c are two forms; choose one"),
    (("pendulum", "--format", "latx"), "--format: no form named 'latx'; did you mean 'latex'"),
    (("pendulum", "--format", "html"), "valid: 'text', 'latex', 'markdown', 'python', 'c', 'matlab'"),
    (("pendulum", "--method", "euler"), "no method named 'euler'"),
    (("pendulum", "--symbols", "m_rot"), "did you mean 'm_rod'"),
    (("pendulum", "--symbols", "a,,b"), "it takes names between the commas"),
    (("nowhere.urdf",), "nowhere.urdf"),
    (("pendulum", "--symbols", "m_rod="), "a name after 'm_rod='"),
    (("pendulum", "--symbols", "m_rod=2x"), "cannot be named '2x'"),
    (("pendulum", "--symbols", "m_rod=a=b"), "cannot be named 'a=b'"),
    (("pendulum", "--symbols", "m_rod=sin"), "cannot be named 'sin'"),
    (("pendulum", "--names", "hinge=sin"), "cannot be named 'sin'"),
    (("pendulum", "--names", "hinge="), "a name after 'hinge='"),
])  # fmt: skip
def test_errors_are_one_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    code, out, err = run(capsys, "equations", *arguments)
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err


def test_a_name_that_a_term_has(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "equations", "pendulum", "--symbols", "m_rod=M")
    assert "M(q) = 0.1875 + 0.5625 M" in out.splitlines()


def test_raw(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "equations", "arm7", "--raw", "--python")
    namespace: dict = {}
    exec(out, namespace)
    robot = pliant.load("arm7")
    q = [0.1 * k for k in range(7)]
    M, *_ = namespace["arm7"](q, [0] * 7, [0] * 7)
    assert code == 0
    # some thousand operations
    np.testing.assert_allclose(M, pliant.mass_matrix(robot, q), rtol=0, atol=1e-12)


def test_the_page_of_the_documentation(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows "$ pliant ..." on it is what is printed; "..." stands for the rest."""
    monkeypatch.setenv("COLUMNS", "100")
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\$ pliant (.*)\n((?:(?!\$ |```).*\n)*)", page, re.M)
    assert len(shown) == 3
    for command, expected in shown:
        _, out, err = run(capsys, *command.split())
        start = expected.partition("...\n")[0].rstrip()
        found = (out or err).rstrip()
        assert found.startswith(start) if "..." in expected else found == start
    for command in re.findall(r"^pliant (equations .*)$", page, re.M):
        options = [word for word in command.split() if word.startswith("--")]
        assert all(option in page.partition("Text fits")[0] for option in options)


def test_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "pliant", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "equations" in done.stdout
