"""Pliant simulates robots; its physics is plain Python, generic over the scalar.

`__init__.pyi` beside this file lists the public names. Each is imported when it is first asked for, so that
``import pliant`` costs nothing: not even NumPy, which the help of the command line does not use.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.2.0"


@cache
def _homes() -> dict[str, str]:
    """Each public name and the module it comes from, in the order of the list."""
    import ast

    listed = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    found = [node for node in listed if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in found for alias in node.names}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        # `from pliant import *` shadows no builtin: pliant.compile keeps its prefix
        import builtins

        return ["__version__", *(public for public in _homes() if not hasattr(builtins, public))]
    if name.startswith("_"):
        raise AttributeError(f"module 'pliant' has no attribute {name!r}")
    if name in _homes():
        module = import_module(_homes()[name])
        value = import_module(f"pliant.{name}") if module.__name__ == "pliant" else getattr(module, name)
        globals()[name] = value
        return value
    if (Path(__file__).parent / name / "__init__.py").is_file():
        return import_module(f"pliant.{name}")  # a package with names of its own, such as pliant.formats
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    packages = (folder.parent.name for folder in Path(__file__).parent.glob("*/__init__.py"))
    return sorted({*globals(), *_homes(), *packages})
