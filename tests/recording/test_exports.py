"""Methods that layers above implement, and functions that are kept as formulas."""

import ast
import importlib
import inspect
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import sympy

import pliant
from pliant.recording.exports import LogExports
from pliant.scalar.formulas import Formula
from pliant.recording.source import ground_of, ground_parts
from pliant.simulation.exports import SimulationExports
from pliant.spatial import Vector
from pliant.robot.exports import RobotExports
from pliant.robot.part_checks import law_text
from pliant.viewer.replay import replay_page


def doors() -> Iterator[tuple[str, type]]:
    for owner in (LogExports, RobotExports, SimulationExports):
        yield from (
            (name, owner) for name, value in vars(owner).items() if inspect.isfunction(value) and name[0] != "_"
        )


def test_there_are_all_of_them() -> None:
    for owner, names in {
        LogExports: "save to_csv to_parquet to_npz to_mcap plot plot_phase plot_energy to_html to_video to_image view "
        "to_report",
        RobotExports: "to_dh symbolic to_image view",
        SimulationExports: "view",
    }.items():
        assert set(names.split()) <= {name for name, own in doors() if own is owner}
    assert issubclass(pliant.Log, LogExports) and issubclass(pliant.Robot, RobotExports)
    assert issubclass(pliant.Simulation, SimulationExports)


@pytest.mark.parametrize(("name", "owner"), list(doors()), ids=lambda x: getattr(x, "__name__", x))
def test_it_is_the_function_behind(name: str, owner: type) -> None:
    method = getattr(owner, name)
    if len(inspect.signature(method).parameters) > 1:
        assert "Args:" in (inspect.getdoc(method) or "")
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(method))).body
    assert isinstance(definition, ast.FunctionDef)
    brought, answer = definition.body[-2:]
    assert isinstance(brought, ast.ImportFrom) and isinstance(answer, ast.Return)
    behind = getattr(importlib.import_module(brought.module or ""), brought.names[0].name)

    # the same arguments; the function behind has no defaults, or the same ones
    own = list(inspect.signature(method).parameters.values())[1:]
    theirs = list(inspect.signature(behind).parameters.values())[1:]
    if theirs and theirs[-1].kind is inspect.Parameter.VAR_KEYWORD:
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


# ---- formulas


def law(x):
    unused = x * 2  # a node that the result does not need comes first in the trace
    del unused
    return pliant.math.select(x > 0.1, 3 * x * x, pliant.math.sin(x) / (2 + x)) + 2 * pliant.math.minimum(x, 1)


def again(formula: Formula) -> Formula:
    return Formula.from_plain(formula.to_plain(), [table.numbers for table in formula.tables])


def test_same_on_every_scalar() -> None:
    made = again(Formula.of(law, ("x",)))
    x = np.linspace(-1, 2, 31)
    assert made(x).tobytes() == Formula.of(law, ("x",))(x).tobytes()
    # folding divides by a constant as it multiplies by the inverse, so the last bit may differ from plain Python
    assert np.allclose(made(x), [law(float(a)) for a in x], rtol=1e-15, atol=0)
    symbol = sympy.Symbol("x", real=True)
    assert float(made(symbol).subs(symbol, 0.5)) == pytest.approx(law(0.5), rel=1e-15)
    assert law_text(made) == law_text(law), "traced, it is the very graph of the function"
    assert pickle.loads(pickle.dumps(made))(0.3) == made(0.3)


def test_results_that_are_arguments_or_numbers() -> None:
    assert again(Formula.of(lambda u, q, v, t: u, "uqvt"))(1.5, 2, 3, 4) == 1.5
    assert again(Formula.of(lambda x, y: 0.25, ("x", "y")))(1, 2) == 0.25
    assert again(Formula.of(lambda x: x + float("inf"), ("x",)))(1.0) == float("inf")
    with pytest.raises(TypeError, match="takes 1 arguments, x"):
        Formula.of(law, ("x",))(1, 2)


GROUNDS = [
    pliant.flat(0.3), pliant.slope(0.2, direction=0.4), pliant.stairs(0.1, 0.3, steps=4), pliant.waves(0.1, 2),
    pliant.height_map(np.random.default_rng(0).random((5, 6)), spacing=0.5), pliant.Ground(lambda x, y: x),
]  # fmt: skip


@pytest.mark.parametrize("ground", GROUNDS, ids=lambda g: g.name)
def test_grounds(ground: pliant.Ground) -> None:
    parts = ground_parts(ground)
    found = ground_of(parts | {"formula": again(parts["formula"])})
    x, y = np.random.default_rng(1).uniform(-3, 3, (2, 200))
    assert np.asarray(found.height(x, y)).tobytes() == np.asarray(ground.height(x, y)).tobytes()
    assert found.is_flat == ground.is_flat and found.name == ground.name
    # a ball touches the same faces, too
    touches, same = (g.touches(Vector(x, y, x + y), 0.03) for g in (ground, found))
    assert len(touches) == len(same) == {"stairs": 2, "height_map": 4}.get(ground.name, 1)
    for a, b in zip(touches, same, strict=True):
        assert (np.asarray(a.gap) == np.asarray(b.gap)).all()


def test_damaged_faces_are_told() -> None:
    parts = ground_parts(pliant.height_map(np.zeros((3, 4)), spacing=0.5))
    with pytest.raises(pliant.PliantError, match="faces of a stored ground are damaged"):
        ground_of(parts | {"faces": parts["faces"] | {"counts": [5, 6]}})


@pytest.mark.parametrize("change", [
    {"nodes": [["input", 0], ["exec", 0]]}, {"nodes": [["input", 0], ["add", 0, 1]]}, {"nodes": [["input", 5]]},
    {"nodes": [["input", 0], ["add", 0]]}, {"nodes": [["lookup", 0, 0]]}, {"nodes": []}, {"output": 99},
    {"nodes": [["const", "rm -rf"]]}, {"nodes": 7}, {"inputs": ["x", "x"]}, {"output": -1},
])  # fmt: skip
def test_data_that_is_no_formula(change: dict) -> None:
    with pytest.raises(pliant.PliantError, match="a stored formula is damaged"):
        Formula.from_plain(Formula.of(law, ("x",)).to_plain() | change)
