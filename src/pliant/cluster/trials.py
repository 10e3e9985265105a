"""Trials: a function by reference and its arguments, what tells them apart, and what one leaves in its file."""

import hashlib
import inspect
import json
import math
import os
import platform
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from pliant.checks import function_name
from pliant.cluster.messages import ScriptFunction, script_path
from pliant.cluster.space import Values
from pliant.errors import PliantError
from pliant.files.arrays import read_arrays, write_arrays
from pliant.files.versions import versions
from pliant.scalar.pickling import kept

_KIND = "pliant trial 1"
STATUSES = ("done", "raised", "timeout", "killed")
"""What becomes of a trial: it returns, raises, takes longer than its limit, or its worker ends."""

OWN = ("status", "error", "seconds", "attempts", "key")
"""Columns of a table that are neither arguments nor results."""


@dataclass(frozen=True)
class Trial:
    """A function that workers call, with what tells it from others.

    Attributes:
        function: by reference.
        name: "module:function"; of a script the name of its file.
        source: digest of the file that defines it, "" if there is none.
    """

    function: Callable[..., Any]
    name: str
    source: str

    @classmethod
    def of(cls, function: Any, on: str = "processes") -> "Trial":
        """The trial of a function; raises if workers could not find it."""
        if not callable(function):
            raise PliantError(f"the trial is {function!r}", subject="sweep", field="trial", cure="give a function")
        if isinstance(function, ScriptFunction):
            module, own, path = Path(function.path).stem, function.name, function.path
        else:
            module = getattr(function, "__module__", type(function).__module__)
            own = getattr(function, "__qualname__", type(function).__qualname__)
            path = _file_of(function)
            if module == "__main__" and "<" not in own:
                script = script_path()
                if script is None or not os.path.isfile(script):
                    if on == "ray":
                        return cls(function, f"__main__:{own}", "")
                    problem = f"the trial {own!r} is defined in a console or a notebook, where workers do not find it"
                    raise PliantError(problem, subject="sweep", field="trial", cure="put it into a module (a file)")
                function, module, path = ScriptFunction(script, own), Path(script).stem, script
        kept(function, None, f"the trial {function_name(function)!r}", "function")
        digest = "" if path is None else hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
        return cls(function, f"{module}:{own}", digest)

    def key(self, values: Values) -> str:
        """The name of its result for these arguments: another one for other arguments, whatever else is swept."""
        text = json.dumps([self.name, values], sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def check(self, values: Values) -> None:
        """Raise unless it takes these arguments."""
        if isinstance(self.function, ScriptFunction):
            return
        try:
            inspect.signature(self.function).bind(**values)
        except TypeError as wrong:
            problem = f"the trial {self.name!r} is called with ({', '.join(values)}): {wrong}"
            raise PliantError(problem, subject="sweep", field="trial", cure="name what it takes") from None
        except ValueError:  # some functions of C do not tell their arguments
            pass


def _file_of(function: Any) -> str | None:
    try:
        return inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:
        return None


@dataclass(frozen=True)
class Result:
    """What came of a trial.

    Attributes:
        key: its name.
        values: arguments.
        status: one of `STATUSES`.
        results: what it returned, by name: numbers, texts, lists, arrays.
        error: one line, "" if it is done.
        traceback: of the error, or where it was when its time was over.
        seconds: that it took.
        attempts: how often a worker began it.
        about: who computed it, and with what: trial, source, versions, host, time, settings.
    """

    key: str
    values: Values
    status: str
    results: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    traceback: str = ""
    seconds: float = 0.0
    attempts: int = 1
    about: Mapping[str, Any] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write it, whole or not at all."""
        arrays: dict[str, np.ndarray] = {}
        plain_ones = {name: _split(f"results/{name}", x, arrays) for name, x in self.results.items()}
        own = {"key": self.key, "values": self.values, "status": self.status, "error": self.error,
               "traceback": self.traceback, "seconds": self.seconds, "attempts": self.attempts,
               "about": dict(self.about), "results": plain_ones}  # fmt: skip
        write_arrays(result_file(folder, self.key), _KIND, own, arrays)

    @classmethod
    def load(cls, path: Path) -> "Result":
        """A result from an untrusted file, which holds numbers and text alone; raises if it is damaged."""
        about, arrays = read_arrays(path, _KIND)
        try:
            results = {str(name): _joined(f"results/{name}", x, arrays) for name, x in about["results"].items()}
            status = about["status"]
            if status not in STATUSES or about["key"] != path.stem:
                raise ValueError(f"its status is {status!r}, its key {about['key']!r}")
            return cls(
                path.stem, dict(about["values"]), status, results, str(about["error"]), str(about["traceback"]),
                float(about["seconds"]), int(about["attempts"]), dict(about["about"]),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise PliantError(f"{path} is damaged: {error}", subject=str(path), field="path",
                              cure="remove it, and the trial is computed again") from None  # fmt: skip


def result_file(folder: Path, key: str) -> Path:
    """Where the result of a trial is."""
    return folder / "trials" / f"{key}.npz"


# numbers that JSON does not have, and arrays, are arrays of the file
def _split(name: str, value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "fiub":
            raise _unusable(name, value)
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        arrays[name] = np.array(value)
        return {"number": name}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_split(f"{name}/{k}", x, arrays) for k, x in enumerate(value)]
    if isinstance(value, Mapping):
        return {"dict": {str(key): _split(f"{name}/{key}", x, arrays) for key, x in value.items()}}
    raise _unusable(name, value)


def _joined(name: str, stored: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if isinstance(stored, list):
        return [_joined(name, x, arrays) for x in stored]
    if not isinstance(stored, dict):
        return stored
    ((kind, what),) = stored.items()
    if kind == "dict":
        return {str(key): _joined(name, x, arrays) for key, x in what.items()}
    array = arrays[what]
    return array if kind == "array" else float(array)


def _unusable(name: str, value: Any) -> PliantError:
    what = name.removeprefix("results/")
    problem = f"the trial returned {what!r} of type {type(value).__name__}, which no file can hold"
    return PliantError(problem, subject="trial", field=what, cure="return numbers, texts, lists and arrays of numbers")


# ---- in the worker


@dataclass(frozen=True)
class Setting:
    """What all trials of a sweep have in common.

    Attributes:
        trial: with its function.
        folder: of the results.
        settings: of the user, kept in each result.
    """

    trial: Trial
    folder: Path
    settings: Mapping[str, Any] = field(default_factory=dict)

    def about(self) -> dict[str, Any]:
        """Who computes, and with what."""
        return {
            "trial": self.trial.name, "source": self.trial.source, "versions": versions(), "host": platform.node(),
            "at": datetime.now(UTC).isoformat(timespec="seconds"), "settings": dict(self.settings),
        }  # fmt: skip

    def failed(self, key: str, values: Values, status: str, error: str, text: str, **numbers: Any) -> Result:
        """The result of a trial that came to nothing."""
        return Result(key, values, status, {}, error, text, about=self.about(), **numbers)


def prepare(held: dict[str, Any], setting: Setting) -> None:
    """First of all: what takes no time of a trial, such as imports."""
    held["setting"] = setting
    if isinstance(setting.trial.function, ScriptFunction):
        from pliant.cluster.messages import part_of_script

        part_of_script(setting.trial.function.path, setting.trial.function.name)


def compute(held: dict[str, Any], key: str, values: Values) -> str:
    """Do a trial and write its result; returns the status."""
    setting: Setting = held["setting"]
    began = time.perf_counter()
    try:
        returned = setting.trial.function(**values)
        results = _named(returned, values)
        for name, x in results.items():
            _split(name, x, {})
        made = Result(key, values, "done", results, about=setting.about())
    except BaseException as error:  # SystemExit and the like of a user's function are failures, too
        own = [line for line in traceback.format_exception(error) if "cluster/trials.py" not in line]
        made = setting.failed(key, values, "raised", f"{type(error).__name__}: {error}", "".join(own))
    made = Result(**(made.__dict__ | {"seconds": time.perf_counter() - began, "attempts": held["attempt"]}))
    made.save(setting.folder)
    return made.status


def _named(returned: Any, values: Values) -> dict[str, Any]:
    if returned is None:
        return {}
    found = dict(returned) if isinstance(returned, Mapping) else {"result": returned}
    for name in found:
        if not isinstance(name, str) or name in values or name in OWN:
            taken = "an argument" if name in values else "a column of the table"
            problem = f"the trial returned {name!r}, which is the name of {taken}"
            raise PliantError(problem, subject="trial", field=str(name), cure="give it another name")
    return found
