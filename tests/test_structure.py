"""The structure of the package: imports go down, names exist, and ``import pliant`` costs nothing."""

import ast
import builtins
import importlib
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pliant

SOURCE = Path(__file__).parents[1] / "src" / "pliant"
LAYERS = [
    "errors", "signatures", "progress", "files", "scalar", "math", "compiler", "spatial", "checks", "chance",
    "networks", "meshes", "robot", "formats", "dynamics", "actuation", "contact", "terrain", "sensors", "catalogue",
    "constrained", "symbolic", "integrators", "recording", "storage", "simulation", "events", "control", "plots",
    "analysis", "render", "viewer", "report", "notebook", "environment", "learn", "tasks", "cluster", "cli",
]  # fmt: skip
"""Bottom to top."""

TOP = {"__init__", "__main__"}
"""The package itself, which gathers the public names."""

DOORS = {"robot/exports.py", "recording/exports.py", "simulation/exports.py", "events/exports.py"}
"""Files with methods that call a function of a layer above, imported in the body of the method."""

HEAVY = {
    "sympy", "llvmlite", "numba", "scipy", "matplotlib", "trimesh", "yourdfpy", "xacrodoc", "pinocchio", "mujoco",
    "h5py", "viser", "gymnasium", "coal", "lxml", "rich", "typer", "multiprocessing", "asyncio", "msgspec",
}  # fmt: skip

MODULES = {path.relative_to(SOURCE): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}


def imported_layers(tree: ast.AST, package: list[str]) -> Iterator[tuple[int, str]]:
    """Line and layer of each import of Pliant, wherever in the module it stands, also as a string."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body
        and isinstance(node.body[0], ast.Expr)
    }  # fmt: skip
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = [*base, *(node.module or "").split(".")] if node.module else base
            names = [".".join([*origin, alias.name]) for alias in node.names]
        elif isinstance(node, ast.Constant) and id(node) not in docstrings and _is_module(node.value):
            names = [node.value]
        for name in names:
            first, *rest = name.split(".")
            if first == "pliant":
                yield getattr(node, "lineno", 0), rest[0] if rest else "__init__"


def _opened_lines(tree: ast.AST) -> set[int]:
    """Lines of a door where an import may go up: in the body of a method, or seen by type checkers only."""
    opened: set[int] = set()
    for node in ast.walk(tree):
        is_for_types = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        methods = [m for m in node.body if isinstance(m, ast.FunctionDef)] if isinstance(node, ast.ClassDef) else []
        for part in [node] if is_for_types else methods:
            opened.update(line for stmt in part.body for line in range(stmt.lineno, (stmt.end_lineno or 0) + 1))
    return opened


def _is_module(name: object) -> bool:
    """Whether it is a string, and all of it the name of a module of ours."""
    if not isinstance(name, str) or not re.fullmatch(r"pliant(\.[a-z_]+)+", name):
        return False
    path = SOURCE.joinpath(*name.split(".")[1:])
    return path.is_dir() or path.with_suffix(".py").is_file()


def test_imports_go_down_only() -> None:
    upward = []
    for module, tree in MODULES.items():
        layer = module.parts[0].removesuffix(".py")
        if layer in TOP:
            continue
        assert layer in LAYERS, f"{module}: a new layer needs its place in LAYERS"
        allowed = LAYERS[: LAYERS.index(layer) + 1]
        opened = _opened_lines(tree) if module.as_posix() in DOORS else set()
        for line, other in imported_layers(tree, ["pliant", *module.parts[:-1]]):
            if other not in allowed and line not in opened and other != "__init__":
                upward.append(f"src/pliant/{module}:{line}: layer {layer!r} imports pliant.{other}")
    assert not upward, "\n".join(upward)


def test_the_walk_sees_every_form_of_import() -> None:
    code = "import pliant.cli\nfrom pliant import viewer\ndef f():\n    from ..dynamics import a\n    from . import b\n"
    code += "    import_module('pliant.plots.figures')\n"
    found = sorted(imported_layers(ast.parse(code), ["pliant", "robot"]))
    assert found == [(1, "cli"), (2, "viewer"), (4, "dynamics"), (5, "robot"), (6, "plots")]


def test_a_door_opens_in_methods_only() -> None:
    code = "if TYPE_CHECKING:\n    import a\nclass C:\n    import b\n    def f(self):\n        import c\n"
    code += "def g():\n    import d\n"
    assert _opened_lines(ast.parse(code)) == {2, 6}
    assert all((SOURCE / door).is_file() for door in DOORS)


def test_packages_list_what_they_export_and_modules_do_not() -> None:
    for path, tree in MODULES.items():
        name = ".".join(["pliant", *path.with_suffix("").parts]).removesuffix(".__init__")
        if path.name == "__main__.py":
            continue
        module = importlib.import_module(name)
        if path.name == "__init__.py" or name == "pliant.math":
            missing = [entry for entry in module.__all__ if not hasattr(module, entry)]
            assert not missing, f"{name}.__all__ lists names that do not exist: {missing}"
            assert len(set(module.__all__)) == len(module.__all__), f"{name}.__all__ lists a name twice"
        else:
            listed = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "__all__"]
            assert not listed, f"{name} is a module: its package lists what is public"


# ---- public names


def test_at_most_sixty_names_and_each_is_that_of_its_layer() -> None:
    homes = pliant._homes()
    assert len(homes) <= 60
    for name, home in homes.items():
        module = importlib.import_module(home)
        expected = importlib.import_module(f"pliant.{name}") if home == "pliant" else getattr(module, name)
        assert getattr(pliant, name) is expected
        assert name in getattr(module, "__all__", dir(module)), f"{name} is public, but not in {home}.__all__"


def test_star_shadows_no_builtin() -> None:
    namespace: dict = {}
    exec("from pliant import *", namespace)
    assert set(pliant.__all__) <= set(namespace)
    assert not {name for name in pliant.__all__ if hasattr(builtins, name)}
    assert callable(pliant.compile)


def printed(code: str) -> str:
    """What a new Python prints."""
    return subprocess.check_output([sys.executable, "-c", code], text=True, timeout=60)


def test_packages_are_there_without_an_import_and_robots_is_one_thing() -> None:
    code = "import pliant; print(set(pliant.__all__) <= set(dir(pliant)), 'dynamics' in dir(pliant), "
    code += "pliant.dynamics.__name__, pliant.formats.__name__, pliant.spatial.transforms.__name__)"
    assert printed(code) == "True True pliant.dynamics pliant.formats pliant.spatial.transforms\n"
    code = "import pliant, importlib.util as u; print(u.find_spec('pliant.robots'), 'hopper' in pliant.robots())"
    assert printed(code) == "None True\n"


def test_pickles_and_names_that_are_not_there() -> None:
    for public in (pliant.Robot, pliant.load):
        assert pickle.loads(pickle.dumps(public)) is public
    with pytest.raises(AttributeError, match="module 'pliant' has no attribute 'sinus'"):
        pliant.sinus  # noqa: B018
    assert not hasattr(pliant, "numpy")


# ---- cost


@pytest.mark.parametrize(("code", "absent"), [
    ("import pliant", {"pliant", "numpy", "ast"}), ("import numpy, pliant, pliant.catalogue", HEAVY),
], ids=["pliant", "pliant.catalogue"])  # fmt: skip
def test_import_leaves_big_libraries_alone(code: str, absent: set[str]) -> None:
    # no time is asserted (machines differ); `make bench` measures it
    code = f"import json, sys; before = set(sys.modules); {code}; print(json.dumps(sorted(set(sys.modules) - before)))"
    imported = json.loads(printed(code))
    assert "pliant" in imported
    assert not {name.split(".")[0] for name in imported if name != "pliant"} & absent
