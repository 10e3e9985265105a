"""Every public module says what it exports, and exports what it says."""

import importlib
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
PUBLIC = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if path.name == "__init__.py" or not path.name.startswith("_")
)


@pytest.mark.parametrize("name", PUBLIC)
def test_all_names_exist(name: str) -> None:
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", None)
    assert exported is not None, f"{name} has no __all__"
    missing = [entry for entry in exported if not hasattr(module, entry)]
    assert not missing, f"{name}.__all__ lists names that do not exist: {missing}"
    assert len(set(exported)) == len(exported), f"{name}.__all__ lists a name twice"
