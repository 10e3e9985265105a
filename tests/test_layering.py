"""Imports go down only, also those inside functions."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "pliant"
LAYERS = [
    "errors", "scalar", "compiler", "spatial", "robot", "formats", "dynamics", "contact", "simulation", "hybrid",
    "symbolic", "control", "envs", "logs", "view", "cli",
]  # fmt: skip
# the package itself gathers the public names of every layer
TOP = {"__init__", "__main__"}

MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))


def layer_of(module: Path) -> str:
    return module.parts[0].removesuffix(".py")


def imported_layers(tree: ast.AST, package: list[str]) -> Iterator[tuple[int, str]]:
    """Line and layer of each import of Pliant, wherever in the module it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = [*base, *(node.module or "").split(".")] if node.module else base
            names = [".".join([*origin, alias.name]) for alias in node.names]
        else:
            continue
        for name in names:
            first, *rest = name.split(".")
            if first == "pliant":
                yield node.lineno, rest[0] if rest else "__init__"


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_go_down_only(module: Path) -> None:
    layer = layer_of(module)
    if layer in TOP:
        return
    assert layer in LAYERS, f"{module}: a new layer needs its place in LAYERS"
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
    upward = [
        f"src/pliant/{module}:{line} imports pliant.{other}"
        for line, other in imported_layers(tree, ["pliant", *module.parts[:-1]])
        if other not in allowed
    ]
    assert not upward, f"layer {layer!r} may import {', '.join(allowed)} only:\n" + "\n".join(upward)


def test_the_walk_sees_every_form_of_import() -> None:
    code = "import pliant.cli\nfrom pliant import view\ndef f():\n    from ..dynamics import a\n    from . import b\n"
    found = list(imported_layers(ast.parse(code), ["pliant", "robot"]))
    assert found == [(1, "cli"), (2, "view"), (4, "dynamics"), (5, "robot")]
