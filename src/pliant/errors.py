"""Every error that Pliant raises on purpose derives from `PliantError`."""

import difflib
from collections.abc import Iterable
from importlib import import_module
from typing import Any

__all__ = [
    "ContactError", "KernelError", "PliantError", "RobotError", "SimulationError", "SimulationWarning", "TraceError",
    "needs", "unknown_name",
]  # fmt: skip


class PliantError(Exception):
    """Root of Pliant's errors: the message names the thing, the place and the cure."""


class TraceError(PliantError):
    """A function did something that cannot be turned into an expression graph."""


class KernelError(PliantError):
    """A kernel was called with arrays that do not fit it."""


class RobotError(PliantError):
    """A robot, or the file that describes it, is not one that can exist."""


class ContactError(PliantError):
    """A ground or a contact law is not one that can exist."""


class SimulationError(PliantError):
    """A simulation was asked for something that it cannot do."""


class SimulationWarning(UserWarning):
    """A robot of a simulation is in trouble and does not move any more."""


def needs(module: str, extra: str, what: str) -> Any:
    """A library that is installed only on demand, or an error that says how to install it.

    Args:
        module: its name in an import, e.g. "h5py".
        extra: of Pliant that brings it, e.g. "logs".
        what: for which it is needed, e.g. "log.save()".
    """
    try:
        return import_module(module)
    except ImportError as error:
        missing = (error.name or module).split(".")[0]
        if missing != module.split(".")[0] and not module.startswith(missing):
            # the library is there, but not what it needs itself
            raise PliantError(f"{what} needs {module}, which cannot be imported: {error}") from error
        raise PliantError(f"{what} needs {missing}: pip install 'pliant[{extra}]'") from None


def unknown_name(kind: str, name: object, valid: Iterable[str], owner: str = "") -> str:
    """Message for a name that is not there: says which ones are near, or lists them all.

    Args:
        kind: what was looked up, e.g. "frame".
        name: what the user asked for.
        valid: the names that exist.
        owner: where it was looked up, e.g. "robot 'anymal'".
    """
    names = list(valid)
    where = f" in {owner}" if owner else ""
    near = difflib.get_close_matches(str(name), names, n=5, cutoff=0.5)
    if near:
        hint = "did you mean " + ", ".join(repr(n) for n in near) + "?"
    elif not names:
        hint = "there are none"
    else:
        shown = ", ".join(repr(n) for n in names[:30])
        hint = f"valid: {shown}" + (f", and {len(names) - 30} more" if len(names) > 30 else "")
    return f"no {kind} named {name!r}{where}; {hint}"
