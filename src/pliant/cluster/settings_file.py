"""Sweeps in TOML files: the trial, its space and how it is run."""

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pliant.checks import check_known
from pliant.cluster.messages import ScriptFunction
from pliant.errors import PliantError
from pliant.files.toml import TomlFile

_OPTIONS = {
    "on": str, "workers": int, "threads": int, "samples": int, "method": str, "seed": int, "limit": (int, float),
    "retries": int, "redo": list, "changed": str, "settings": dict, "slurm": dict,
}  # fmt: skip


def read_sweep(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arguments of `pliant.sweep` from a file; paths in it are relative to it.

    The trial is "module:function", or "file.py:function". A value of the space is a list, one value, or a table:
    ``{range = [0, 8]}``, ``{uniform = [low, high]}``, ``{log_uniform = [low, high]}``, ``{normal = [mean,
    deviation]}`` or ``{exponential = mean}``.
    """
    file = TomlFile(Path(path).expanduser())
    given = dict(file.document)

    def wrong(name: str, problem: str, cure: str) -> PliantError:
        return PliantError(problem, subject=str(path), field=name, cure=cure, place=file.place(name))

    for name in given:
        if name not in ("trial", "out", "space", *_OPTIONS):
            try:
                check_known("key", name, ("trial", "out", "space", *_OPTIONS), "a sweep")
            except PliantError as error:
                raise error.at(*file.place(name)) from None
    for name, kind in {"trial": str, "out": str, "space": dict}.items():
        if not isinstance(given.get(name), kind):
            raise wrong(name, f"{name} is {given.get(name)!r}", "give trial, out and [space]")
    for name, kind in _OPTIONS.items():
        if name in given and (not isinstance(given[name], kind) or isinstance(given[name], bool)):
            raise wrong(name, f"{name} is {given[name]!r}", "see pliant.sweep for what it takes")
    folder = file.path.resolve().parent
    try:
        given["trial"] = _trial(given["trial"], folder)
    except PliantError as error:
        raise error.at(*file.place("trial")) from None
    space = {}
    for name, value in given["space"].items():
        try:
            space[name] = _values(name, value)
        except PliantError as error:
            raise error.at(*file.place("space", name)) from None
    return given | {"space": space, "out": folder / given["out"]}


def _trial(text: str, folder: Path) -> Callable[..., Any]:
    where, _, name = text.rpartition(":")
    about: dict[str, Any] = {"subject": "sweep", "field": "trial"}
    if not where or not name:
        raise PliantError(f"trial is {text!r}", **about, cure="write 'module:function' or 'file.py:function'")
    if where.endswith(".py"):
        path = (folder / where).resolve()
        if not path.is_file():
            raise PliantError(f"the file {path} does not exist", **about, cure="give its path from the sweep's file")
        return ScriptFunction(str(path), name)
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        found: Any = importlib.import_module(where)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise PliantError(f"the trial {text!r} cannot be imported: {error}", **about, cure="check its name") from None
    return found


def _values(name: str, value: Any) -> Any:
    """What a value of the file stands for."""
    if not isinstance(value, Mapping):
        return value
    from pliant.environment.distributions import Exponential, LogUniform, Normal, Uniform

    forms: dict[str, Callable[..., Any]] = {
        "range": range, "uniform": Uniform, "log_uniform": LogUniform, "normal": Normal, "exponential": Exponential,
    }  # fmt: skip
    subject = f"the space's {name!r}"
    if len(value) != 1:
        cure = "write one of " + ", ".join(f"{{{form} = [...]}}" for form in forms)
        raise PliantError(f"{subject} is {dict(value)}", subject=subject, field=name, cure=cure)
    ((form, numbers),) = value.items()
    check_known("form", form, forms, subject)
    try:
        return forms[form](*(numbers if isinstance(numbers, list) else [numbers]))
    except TypeError as error:
        raise PliantError(f"{subject}: {error}", subject=subject, field=form, cure="see docs/sweeps.md") from None
