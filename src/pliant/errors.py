"""Errors: every one that Pliant raises on purpose derives from `PliantError` and says what, where and how to fix it.

An error has fields; its sentence is composed here and nowhere else, and no code reads it:

    file:line: what is wrong; how to fix it
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, NamedTuple, Self


class Place(NamedTuple):
    """Where in a file: its name, and a line of it if there is one."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Call:
    """A cure that is a call: of a method of `Robot`, or of a function. A side file says the same in TOML.

    Attributes:
        method: its name, such as "with_motor".
        name: of the thing to change, its first argument.
        options: keywords and values; "..." stands for one that the user has to choose.
    """

    method: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = [repr(self.name), *(f"{k}={'...' if v == '...' else repr(v)}" for k, v in self.options.items())]
        return f"robot.{self.method}({', '.join(shown)})"


@dataclass(frozen=True)
class Fault:
    """What is wrong with something, in fields.

    Attributes:
        problem: a clause, such as "kp of motor 'knee' is -1".
        subject: the thing that it is about, such as "motor 'knee'".
        field: which value of it, such as "kp".
        cure: what to do, such as "give 0 or more".
        call: the cure as a call, if it is one.
    """

    problem: str
    subject: str = ""
    field: str = ""
    cure: str = ""
    call: Call | None = None

    def __str__(self) -> str:
        cure = self.cure.replace("{call}", str(self.call)) if self.call else self.cure
        return f"{self.problem}; {cure}" if cure else self.problem


class PliantError(Exception):
    """Root of Pliant's errors: the message names the thing, the place and the cure.

        raise RobotError(f"{subject} has no joint", subject=subject, cure="name the joint that it drives")
        raise RobotError(bad_value("kp", kp, "0 or more", subject))

    Attributes:
        fault: what is wrong, with ``subject``, ``field`` and ``cure``, which the error has, too.
        place: file and line, if it is about a file.
        log: of a run that ended with it: what was recorded until then.
    """

    log: Any = None

    def __init__(self, problem: "str | Fault" = "", *, place: Place | None = None, **fields: Any):
        """Args: a clause and the fields of `Fault`, or a fault; ``place`` where there is one."""
        self.fault = problem if isinstance(problem, Fault) else Fault(problem, **fields)
        self.subject, self.field, self.cure = self.fault.subject, self.fault.field, self.fault.cure
        self.place = place
        super().__init__(str(self))

    def __str__(self) -> str:
        return f"{self.place}: {self.fault}" if self.place else str(self.fault)

    def __reduce__(self) -> Any:
        return _unpickled, (type(self), self.fault, self.place, self.log)

    def at(self, file: object, line: int | None = None) -> Self:
        """The same error at a place; one that has a place keeps it."""
        return self._like(self.fault, self.place or Place(str(file), line))

    def with_cure(self, cure: str) -> Self:
        """The same error with another cure."""
        return self._like(replace(self.fault, cure=cure, call=None), self.place)

    def within(self, subject: str) -> Self:
        """The same error as one about a part of something: "subject: problem; cure"."""
        return self._like(replace(self.fault, problem=f"{subject}: {self.fault.problem}"), self.place)

    def _like(self, fault: Fault, place: Place | None) -> Self:
        return _unpickled(type(self), fault, place, self.log)


def _unpickled(kind: Any, fault: Fault, place: Place | None, log: Any) -> Any:
    # subclasses may take other arguments: theirs are not needed again
    error = kind.__new__(kind)
    PliantError.__init__(error, fault, place=place)
    error.log = log
    return error


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


class LearningError(PliantError):
    """A learner, a policy or a checkpoint was asked for what it cannot do, or its numbers ceased to be finite.

    Attributes:
        snapshot: of a training that ended with it: what is needed to see it again.
    """

    snapshot: Any = None


class SimulationWarning(UserWarning):
    """A robot of a simulation has diverged and does not move any more, or a result needs a second look."""


def own_place(error: BaseException) -> Place | None:
    """Where a function of the user raised an error: the innermost line that is not of Pliant or NumPy.

    Args:
        error: caught by Pliant, which had called the function.
    """
    found, frames = None, error.__traceback__
    while frames is not None:
        package = frames.tb_frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in ("pliant", "numpy"):
            found = Place(frames.tb_frame.f_code.co_filename, frames.tb_lineno)
        frames = frames.tb_next
    return found


# ---- sentences

# characters of a value in a message
_LONGEST = 300


def bad_value(name: str, value: object, takes: str, subject: str = "") -> Fault:
    """The fault of a value that a field cannot have.

    Args:
        name: of the field, e.g. "kp".
        value: that was given.
        takes: what it takes instead, e.g. "0 or more".
        subject: whose field it is, e.g. "motor 'knee'".
    """
    owner = f" of {subject}" if subject else ""
    return Fault(f"{name}{owner} is {in_message(value)}", subject, name, f"it takes {takes}")


def in_message(value: object) -> str:
    """A value as it is shown in a message: its `repr`, shortened if it is long; its class if it has none."""
    try:
        found = repr(value)
    except Exception:  # numbers of more than 4300 digits, objects half made
        return f"a {type(value).__name__} that cannot be shown"
    return found if len(found) <= _LONGEST else f"{found[: _LONGEST - 60]} ... {found[-40:]}"


def unknown_name(kind: str, name: object, valid: Iterable[str], owner: str = "") -> Fault:
    """The fault of a name that does not exist; its cure lists near names, or all.

    Args:
        kind: what was looked up, e.g. "frame".
        name: what the user asked for.
        valid: the names that exist.
        owner: where it was looked up, e.g. "robot 'anymal'".
    """
    names = list(valid)
    where = f" in {owner}" if owner else ""
    # near names of a text of thousands of letters would take seconds
    wanted = name[:_LONGEST] if isinstance(name, str) else in_message(name)
    near = difflib.get_close_matches(wanted, names, n=5, cutoff=0.5)
    if near:
        cure = "did you mean " + ", ".join(repr(n) for n in near) + "?"
    elif not names:
        cure = "there are none"
    else:
        shown = ", ".join(repr(n) for n in names[:30])
        cure = f"valid: {shown}" + (f", and {len(names) - 30} more" if len(names) > 30 else "")
    return Fault(f"no {kind} named {in_message(name)}{where}", f"{kind} {in_message(name)}", kind, cure)


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
            problem = f"{what} needs {module}, which cannot be imported: {error}"
            raise PliantError(problem, subject=what, field=module) from error
        cure = f"pip install 'pliant[{extra}]'"
        raise PliantError(f"{what} needs {missing}: {cure}", subject=what, field=missing) from None
