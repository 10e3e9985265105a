"""Terms of a task: rewards, terminations and observations, each a function of `Now`.

A term is physics code: it is traced, and compiled with the step. One that cannot be traced, since it branches on
numbers or calls other libraries, runs in NumPy with ``compiled=False``: the same function, with an array over the
robots in place of each scalar. docs/environments.md has what that costs.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.checks import check, function_name, is_real, is_whole, numbers, users_function
from pliant.environment.distributions import Distribution, Uniform
from pliant.environment.now import Now
from pliant.errors import SimulationError
from pliant.scalar import Expr, Scalar, either, is_constant
from pliant.scalar.ops import CONDITIONS
from pliant.scalar.pickling import kept
from pliant.signatures import explained


@explained
class Term:
    """A function of `Now` with its parameters.

    Attributes:
        function: ``function(now, **parameters)`` -> a number, or several; with a memory ``function(now, memory,
            **parameters)`` -> (numbers, memory).
        parameters: given by keyword.
        memory: what it remembers from period to period, at the start of an episode.
        is_compiled: False if it runs in NumPy, over all robots at once.
    """

    kind = "term"

    def __init__(self, function: Callable[..., Any], *, memory: Any = (), compiled: bool = True, **parameters: Any):
        self.function, self.parameters, self.is_compiled = function, parameters, bool(compiled)
        found = numbers(f"memory of a {self.kind}", memory)
        check(f"memory of a {self.kind}", memory, "finite numbers", found.ndim == 1 and bool(np.isfinite(found).all()))
        self.memory = tuple(found.tolist())
        if self.memory and not self.is_compiled:
            cure = "keep what it remembers yourself, or compile it"
            raise SimulationError(
                f"{self.kind} {self.name!r} has a memory, and runs in NumPy", field="memory", cure=cure
            )
        self._check_arguments()

    def _check_arguments(self) -> None:
        check(self.kind, self.function, "a function of now", callable(self.function))
        own = ["now", "memory"] if self.memory else ["now"]
        try:
            inspect.signature(self.function).bind(*own, **self.parameters)
        except TypeError as wrong:
            subject = f"{self.kind} {self.name!r}"
            problem = f"{subject} is called with ({', '.join([*own, *self.parameters])}): {wrong}"
            raise SimulationError(problem, subject=subject, field="parameters") from None
        except ValueError:  # some functions of C do not tell their arguments
            pass

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"function": kept(self.function, None, f"{self.kind} {self.name!r}", "function")}

    @property
    def name(self) -> str:
        """Of its function."""
        return function_name(self.function)

    def describe(self) -> dict[str, Any]:
        """What it is, for records of what was run."""
        found: dict[str, Any] = {"function": f"{getattr(self.function, '__module__', '')}.{self.name}"}
        return found | {key: plain(value) for key, value in self.parameters.items()}

    def __repr__(self) -> str:
        shown = [self.name, *(f"{key}={value!r}" for key, value in self.parameters.items())]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __call__(self, label: str, now: Now, memory: Any = ()) -> tuple[list[Scalar], list[Scalar]]:
        """Its numbers, and its memory; ``label`` is its name in the environment."""
        subject = f"{self.kind} {label!r}"
        cure = "write pliant.math.select(condition, a, b) in place of `if`, or give compiled=False to run it in NumPy"
        with users_function(subject, self.name, cure):
            found = self.function(now, *([memory] if self.memory else []), **self.parameters)
        kept: Any = ()
        if self.memory:
            if not isinstance(found, tuple) or len(found) != 2:
                problem = f"{subject} has a memory, but does not return one"
                raise SimulationError(problem, subject=subject, field=self.name, cure="return (value, memory)")
            found, kept = found
            if len(kept) != len(self.memory):
                problem = f"{subject} returned {len(kept)} memories of {len(self.memory)}"
                raise SimulationError(problem, subject=subject, field=self.name, cure="return as many as it has")
        return self._scalars(subject, found), list(kept)

    def _scalars(self, subject: str, value: Any) -> list[Scalar]:
        several = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == object)
        # in NumPy a row is a number of all robots
        several = several or (not self.is_compiled and isinstance(value, np.ndarray) and value.ndim == 2)
        found = list(np.asarray(value, dtype=object).ravel()) if several and self.is_compiled else value
        found = list(found) if several else [found]
        for x in found:
            if x is None or isinstance(x, str | bytes | Mapping):
                problem = f"{subject} returned {value!r}"
                raise SimulationError(problem, subject=subject, field=self.name, cure="return a number or several")
            if is_constant(x) and not np.isfinite(x):
                raise SimulationError(
                    f"{subject} is {x}", subject=subject, field=self.name, cure="return finite numbers"
                )
        return found


@explained
class Reward(Term):
    """A term of the reward, and its weight.

    Reward(rewards.track_linear_velocity, 1.0, width=0.5)
    """

    kind = "reward"

    def __init__(self, function: Callable[..., Any], weight: float = 1.0, **options: Any):
        super().__init__(function, **options)
        check("weight", weight, "a finite number", is_real(weight), subject=f"reward {self.name!r}")
        self.weight = float(weight)


@explained
class Termination(Term):
    """A condition that ends an episode.

    Attributes:
        is_timeout: whether the episode is cut off, and not over: learners then estimate what would have followed.
    """

    kind = "termination"

    def __init__(self, function: Callable[..., Any], *, timeout: bool = False, **options: Any):
        super().__init__(function, **options)
        self.is_timeout = bool(timeout)


@explained
class Observation(Term):
    """Numbers that a policy sees: value, then noise, clip, scale, delay and history.

    Attributes:
        scale: factor.
        clip: the largest size, or None.
        noise: added: a distribution, or the largest size of one that is uniform.
        delay: periods late: a whole number, or a range (least, most) of which each episode draws one.
        history: how many periods are shown, this one included, the oldest first.
    """

    kind = "observation"

    def __init__(
        self,
        function: Callable[..., Any] | str,
        *,
        scale: float = 1.0,
        clip: float | None = None,
        noise: Any = None,
        delay: int | tuple[int, int] = 0,
        history: int = 1,
        **options: Any,
    ):
        """See the attributes; a text in place of the function is a channel of the sensors, such as "imu.gyro"."""
        if isinstance(function, str):
            options, function = {**options, "channel": function}, sensed
        super().__init__(function, **options)
        subject = f"observation {self.name!r}"
        check("scale", scale, "a finite number", is_real(scale), subject=subject)
        check(
            "clip", clip, "None, or a number above zero", clip is None or (is_real(clip) and clip > 0), subject=subject
        )
        is_right = noise is None or hasattr(noise, "draw") or (is_real(noise) and noise >= 0)
        check("noise", noise, "a distribution such as Normal(0, 0.1), or 0 or more", is_right, subject=subject)
        late: Any = (delay, delay) if is_whole(delay) else delay
        is_range = isinstance(late, tuple | list) and len(late) == 2 and all(is_whole(x) and x >= 0 for x in late)
        is_range = is_range and late[0] <= late[1]
        check("delay", delay, "whole control periods, 0 or more, or a range of them", is_range, subject=subject)
        check("history", history, "1 or more", is_whole(history) and history > 0, subject=subject)
        self.scale, self.clip = float(scale), None if clip is None else float(clip)
        drawn: Any = noise
        if is_real(noise):
            drawn = Uniform(-drawn, drawn) if noise else None
        self.noise: Distribution | None = drawn
        self.delay, self.history = (int(late[0]), int(late[1])), int(history)

    def describe(self) -> dict[str, Any]:
        """What it is, for records of what was run."""
        own = {"scale": self.scale, "clip": self.clip, "noise": plain(self.noise), "delay": list(self.delay)}
        return super().describe() | own | {"history": self.history}


def sensed(now: Now, channel: str) -> Any:
    """What a sensor reads."""
    return now.reading(channel)


def as_terms(kind: type[Term], given: Any, name: str) -> dict[str, Any]:
    """Terms by name from a mapping of terms, functions, or (rewards) pairs of a function and its weight."""
    check(name, given, f"a dict of {kind.kind}s by name", given is None or isinstance(given, Mapping))
    found: dict[str, Any] = {}
    for label, value in (given or {}).items():
        check(f"name of a {kind.kind}", label, "a name", isinstance(label, str) and bool(label))
        is_pair = kind is Reward and isinstance(value, tuple) and len(value) == 2
        if not isinstance(value, Term):
            arguments: Any = value if is_pair else (value,)
            value = kind(*arguments)
        if not isinstance(value, kind):
            problem = f"{kind.kind} {label!r} is given as {type(value).__name__}"
            raise SimulationError(problem, subject=label, field=name, cure=f"write {kind.__name__}(function)")
        found[label] = value
    return found


def plain(value: Any) -> Any:
    """A value that JSON can have."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return function_name(value) if inspect.isfunction(value) else repr(value)


# ---- conditions


def is_condition(value: Any) -> bool:
    """Whether a value is true or false, and not a number."""
    return isinstance(value, bool | np.bool_) or (isinstance(value, Expr) and value.op in CONDITIONS)


def any_condition(conditions: Sequence[Scalar]) -> Scalar:
    """Whether one of them holds."""
    found = conditions[0]
    for condition in conditions[1:]:
        found = either(found, condition)
    return found
