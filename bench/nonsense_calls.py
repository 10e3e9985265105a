"""Calls of public functions, classes and methods with arguments that make no sense.

A call takes right values where their names tell them, and one or two values that are wrong: of another kind, huge,
ragged, empty, of another shape. It must do what it says or raise a `PliantError`; a `TypeError` is right for the number
and the names of arguments alone. Functions of physics are called, results are not judged.
"""

import functools
import importlib
import inspect
import io
import os
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pliant
from pliant import PliantError

__all__ = ["NonsenseCalls"]

PACKAGES = (
    "", "actuation", "analysis", "catalogue", "constrained", "contact", "control", "dynamics", "environment", "events",
    "formats", "learn", "meshes", "recording", "render", "simulation", "storage", "symbolic", "tasks", "terrain",
)  # fmt: skip
"""Whose public names are called. `scalar`, `spatial`, `math` and `compiler` are below: they check nothing by design,
since algorithms call them for every number."""

LEFT_OUT = {
    # would go on for minutes or open a server, and what they take is tried elsewhere
    "train", "ppo", "evolve", "resume", "compare_contacts", "view", "video", "html", "report", "live", "launch",
    # make a process or thread of their own
    "plot", "image",
    # decorators of the user's own code, and bases of it
    "robot_function", "RobotFunction", "Command", "Curriculum", "JointKind", "register",
}  # fmt: skip


class Call(NamedTuple):
    """A call by number: which function, and names of values by the names of arguments; "" are those by place."""

    label: str
    given: tuple[tuple[str, str], ...]


class _Function(NamedTuple):
    function: Callable[[], Callable[..., Any]]
    parameters: tuple[inspect.Parameter, ...]


def _ragged() -> list[list[int]]:
    return [[1, 2], [3]]


NONSENSE: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "zero": lambda: 0,
    "minus one": lambda: -1,
    "a fraction": lambda: Fraction(1, 3),
    "half": lambda: 0.5,
    "10**400": lambda: 10**400,
    "2**63": lambda: 2**63,
    "1e308": lambda: 1e308,
    "1e-320": lambda: 1e-320,
    "nan": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "complex": lambda: 1 + 2j,
    "text": lambda: "nonsense",
    "empty text": lambda: "",
    "zero byte": lambda: "a\0b",
    "surrogate": lambda: "\udc80",
    "long text": lambda: "a" * 5000,
    "bytes": lambda: b"nonsense",
    "path": lambda: Path("nowhere"),
    "list": list,
    "ragged": _ragged,
    "list of text": lambda: ["a", "b"],
    "list of None": lambda: [None, None],
    "deep list": lambda: [[[[[1.0]]]]],
    "huge in list": lambda: [10**400],
    "tuple": lambda: (1, 2, 3),
    "dict": dict,
    "dict of dicts": lambda: {"a": {"b": 1}},
    "dict of numbers": lambda: {1: 2},
    "set": lambda: {1, 2},
    "array": lambda: np.zeros(2),
    "empty array": lambda: np.zeros(0),
    "array of 3 axes": lambda: np.zeros((2, 3, 4)),
    "array of nan": lambda: np.full(1, np.nan),
    "array of objects": lambda: np.array([None, "a"], dtype=object),
    "array of text": lambda: np.array(["a", "b"]),
    "array of complex": lambda: np.zeros(1, complex),
    "array of times": lambda: np.zeros(1, "datetime64[s]"),
    "structured array": lambda: np.zeros(1, [("a", float)]),
    "number of NumPy": lambda: np.float32(0.1),
    "object": object,
    "class": lambda: int,
    "function": lambda: lambda *_: None,
    "raiser": lambda: _raiser,
    "module": lambda: os,
    "generator": lambda: (k for k in range(3)),
    "range": lambda: range(3),
    "no robot": lambda: type("Robot", (), {"nq": 1, "nv": 1, "nu": 1, "name": "x"})(),
    "symbol": lambda: importlib.import_module("sympy").Symbol("x"),
}
_NAMES = tuple(NONSENSE)


def _raiser(*_: Any) -> Any:
    raise PliantError("on purpose")


# ---- right values, by the name of an argument


@functools.cache
def _robot() -> Any:
    return pliant.load("pendulum")


@functools.cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="pliant-nonsense-"))


@functools.cache
def _log() -> Any:
    return pliant.Simulation(_robot(), dt=0.01).run(0.05)


@functools.cache
def _log_file() -> str:
    path = _folder() / "log.h5"
    _log().save(path)
    return str(path)


@functools.cache
def _height_field() -> Any:
    return pliant.terrain.flat(size=1, spacing=0.25)


def _simulation(**options: Any) -> Any:
    return pliant.Simulation(_robot(), dt=0.01, **options)


def _builder() -> Any:
    return pliant.RobotBuilder("made")


RIGHT: dict[str, Callable[[], Any]] = {
    "robot": _robot,
    "q": lambda: np.zeros(1), "q0": lambda: np.zeros(1), "q1": lambda: np.zeros(1), "v": lambda: np.zeros(1),
    "vd": lambda: np.zeros(1), "tau": lambda: np.zeros(1), "force": lambda: np.zeros(1), "u": lambda: np.zeros(0),
    "f": lambda: np.zeros(0), "t": lambda: 0.0,
    "sim": _simulation, "log": _log, "name": lambda: "pendulum", "body": lambda: "rod", "frame": lambda: "tip",
    "joint": lambda: "hinge", "source": lambda: "pendulum", "ground": pliant.flat,
    "duration": lambda: 0.02, "dt": lambda: 0.01, "stiffness": lambda: 1e3, "damping": lambda: 1.0,
    "dissipation": lambda: 1.0, "angle": lambda: 0.1, "rise": lambda: 0.1, "run": lambda: 0.3,
    "amplitude": lambda: 0.1, "length": lambda: 1.0, "size": lambda: 1.0, "spacing": lambda: 0.25,
    "heights": lambda: np.zeros((3, 3)), "width": lambda: 0.5, "rms": lambda: 0.02, "stone": lambda: 0.3,
    "gap": lambda: 0.1, "side": lambda: 0.3, "height": lambda: 0.1, "count": lambda: 3.0, "low": lambda: 0.1,
    "high": lambda: 0.2, "mean": lambda: 0.1, "deviation": lambda: 0.1, "kind": lambda: "touch-down",
    "function": lambda: pliant.mass_matrix, "wrt": lambda: "q", "contacts": lambda: [], "path": _log_file,
    "rows": lambda: [{"d": 0.1, "a": 0.2, "mass": 1.0}], "a": _height_field, "b": _height_field, "share": lambda: 0.5,
    "fields": _height_field, "robots": lambda: 1, "mass": lambda: 1.0, "parent": lambda: "world",
    "child": lambda: "rod", "channel": lambda: "q", "start": lambda: 0.0, "end": lambda: 0.02, "law": lambda: None,
    "steps": lambda: 2, "density": lambda: 1e-3, "spectrum": lambda: pliant.terrain.Spectrum(1e-3),
    "kinds": lambda: {"flat": pliant.terrain.Kind("flat")}, "generator": lambda: "flat", "motor": lambda: "hinge",
    "layers": lambda: [(np.ones((2, 1)), np.zeros(1))], "readings": lambda: np.arange(64.0), "period": lambda: 0.01,
    "name_or_path": lambda: "nothing", "batch": lambda: 2, "k": lambda: 0, "seed": lambda: 1,
    "channels": lambda: ("q", "v"), "value": pliant.flat, "friction": lambda: 0.5, "times": lambda: 1,
    "ranges": lambda: ((-1.0, 1.0),), "frequencies": lambda: [1.0, 2.0], "parts": lambda: [_log()],
    "span": lambda: (-1.0, 1.0), "gains": lambda: (1.0, 0.1), "states": lambda: None, "controls": lambda: None,
}  # fmt: skip

OBJECTS: dict[str, Callable[[], Any]] = {
    "Robot": _robot,
    "Simulation": _simulation,
    "batch of Simulation": lambda: _simulation(batch=2, ground=pliant.flat()),
    "EventSimulation": lambda: pliant.EventSimulation(_robot()),
    "RobotBuilder": _builder,
    "Log": _log,
    "State": lambda: _simulation(batch=2).state,
    "HeightField": _height_field,
    "Terrain": lambda: pliant.terrain.grid({"flat": pliant.terrain.Kind("flat")}, levels=1, size=2, spacing=0.5),
    "Ground": pliant.flat,
}
"""What methods are called on."""


@functools.cache
def functions() -> dict[str, _Function]:
    """All that is called, by label."""
    found: dict[str, _Function] = {}
    seen: set[int] = set()
    for package in PACKAGES:
        module = importlib.import_module("pliant" + (f".{package}" if package else ""))
        for name in module.__all__:
            thing = getattr(module, name)
            is_error = inspect.isclass(thing) and issubclass(thing, Exception | Warning)
            # plain records of results, which users do not make
            is_record = inspect.isclass(thing) and (issubclass(thing, tuple) or getattr(thing, "_is_protocol", False))
            if id(thing) in seen or name in LEFT_OUT or is_error or is_record or not callable(thing):
                continue
            seen.add(id(thing))
            _add(found, f"{package or 'pliant'}.{name}", thing)
    for label, make in OBJECTS.items():
        for name, member in inspect.getmembers(type(make())):
            if not name.startswith("_") and inspect.isfunction(member) and name not in LEFT_OUT:
                _add(found, f"{label}.{name}", member, lambda make=make, name=name: getattr(make(), name), bound=True)
    return dict(sorted(found.items()))


def _add(
    found: dict[str, _Function], label: str, function: Any, get: Callable[[], Any] | None = None, bound: bool = False
) -> None:
    try:
        parameters = tuple(inspect.signature(function).parameters.values())[int(bound) :]
    except (TypeError, ValueError):  # a type alias, or one of C
        return
    found[label] = _Function(get or (lambda: function), parameters)


class NonsenseCalls:
    """The target `api`: a call by number."""

    def made(self, seed: int, number: int) -> Call:
        """The call of a number: functions in turn, values by chance."""
        rng = np.random.default_rng([seed, number])
        known = functions()
        label = list(known)[number % len(known)]
        parameters = known[label].parameters
        named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        wrong = set(rng.choice(len(named), min(len(named), int(rng.integers(1, 3))), replace=False)) if named else set()
        given: list[tuple[str, str]] = []
        for k, p in enumerate(named):
            is_needed = p.default is p.empty
            if k in wrong:
                given.append((p.name, _NAMES[rng.integers(len(_NAMES))]))
            elif is_needed or (p.name in RIGHT and rng.random() < 0.1):
                given.append((p.name, "right" if p.name in RIGHT else _NAMES[rng.integers(len(_NAMES))]))
        if parameters and rng.random() < 0.05:
            given.append(("nothing_of_this_name", "zero"))
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            given = [("", value) for _, value in given if value != "right"] or [("", _NAMES[rng.integers(len(_NAMES))])]
        return Call(label, tuple(given))

    def run(self, given: Call, folder: Path) -> None:
        """Make the call, in the folder."""
        function, parameters = functions()[given.label]
        only = {p.name for p in parameters if p.kind is p.POSITIONAL_ONLY}
        values = [(name, RIGHT[name]() if value == "right" else NONSENSE[value]()) for name, value in given.given]
        args = [value for name, value in values if not name or name in only]
        kwargs = {name: value for name, value in values if name and name not in only}
        called = function()
        before = Path.cwd()
        os.chdir(folder)
        try:
            with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                called(*args, **kwargs)
        except TypeError as error:
            # options that are handed on have their names there
            is_name = "unexpected keyword argument 'nothing_of_this_name'" in str(error)
            if _fits(called, args, kwargs) and not is_name:
                raise
        except MemoryError:
            # asked for more than there is, which Python has an error for
            pass
        finally:
            os.chdir(before)

    def shown(self, given: Call) -> str:
        """As a line of code."""
        inside = ", ".join(f"{name}=<{value}>" if name else f"<{value}>" for name, value in given.given)
        return f"{given.label}({inside})"


def _fits(function: Callable[..., Any], args: list[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether the number and the names of arguments are right."""
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    return True
