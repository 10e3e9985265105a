"""Methods that layers above implement: their signatures are those of the functions behind, and they pass all on."""

import ast
import importlib
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.recording.exports import LogExports
from pliant.robot.exports import RobotExports
from pliant.viewer.replay import replay_page

LOG = pliant.Log(np.arange(3.0), {"q": np.zeros((3, 1))})


def doors() -> Iterator[tuple[str, type]]:
    for owner in (LogExports, RobotExports):
        yield from ((name, owner) for name, value in vars(owner).items() if inspect.isfunction(value))
    yield "view", pliant.Simulation


def test_there_are_all_of_them() -> None:
    for owner, names in {
        LogExports: "save to_csv to_parquet to_npz to_mcap plot plot_phase plot_energy to_html to_video to_image view "
        "to_report",
        RobotExports: "to_dh symbolic to_image view",
    }.items():
        assert set(names.split()) <= {name for name, own in doors() if own is owner}
    assert issubclass(pliant.Log, LogExports) and issubclass(pliant.Robot, RobotExports)


@pytest.mark.parametrize(("name", "owner"), list(doors()), ids=lambda x: getattr(x, "__name__", x))
def test_it_is_the_function_behind(name: str, owner: type) -> None:
    method = getattr(owner, name)
    assert "Args:" in (inspect.getdoc(method) or "")
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(method))).body
    assert isinstance(definition, ast.FunctionDef)
    brought, answer = definition.body[-2:]
    assert isinstance(brought, ast.ImportFrom) and isinstance(answer, ast.Return)
    behind = getattr(importlib.import_module(brought.module or ""), brought.names[0].name)

    # the same arguments; the function behind has no defaults, or the same ones
    own = list(inspect.signature(method).parameters.values())[1:]
    theirs = list(inspect.signature(behind).parameters.values())[1:]
    if theirs[-1].kind is inspect.Parameter.VAR_KEYWORD:
        theirs = theirs[:-1] + list(inspect.signature(replay_page).parameters.values())[1:]
    assert [(p.name, p.kind) for p in own] == [(p.name, p.kind) for p in theirs]
    assert all(b.default in (b.empty, a.default) for a, b in zip(own, theirs, strict=True))

    # and each is passed on under its own name
    call = answer.value
    assert isinstance(call, ast.Call)
    given = [ast.unparse(argument).removeprefix("*") for argument in call.args[1:]]
    given += [str(keyword.arg) for keyword in call.keywords if ast.unparse(keyword.value) == keyword.arg]
    assert given == [p.name for p in own]


def test_they_are_imported_when_they_are_called(tmp_path: Path) -> None:
    code = (
        "import sys, numpy, pliant; log = pliant.Log(numpy.arange(3.0), {'q': numpy.zeros((3, 1))}); log.plot; "
        "assert 'pliant.plots.time_plots' not in sys.modules; log.to_csv('run.csv'); "
        "assert 'pliant.storage.tables' in sys.modules and 'pliant.plots.time_plots' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
