"""Functions of a robot that run compiled on numbers and as they are on any other scalar.

`robot_function` marks an algorithm written in generic Python. Called with NumPy arrays or floats it
is traced for that robot, compiled and cached; called with SymPy or traced scalars it simply runs.
`compile` gives the kernel itself, to hold and call without the look-up.
"""

import inspect
import weakref
from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any, TypeVar

import numpy as np

from pliant.checks import check_scalars
from pliant.compiler import Kernel, kernel_from_function
from pliant.errors import KernelError, PliantError, bad_value
from pliant.robot import Robot
from pliant.scalar import Expr
from pliant.signatures import explained

# Arguments that are arrays, by name, and their shape for one robot. Any other is an option, fixed
# when the function is compiled.
ARRAYS: dict[str, Callable[[Robot], tuple[int, ...]]] = {
    **dict.fromkeys(("q", "q0", "q1"), lambda robot: (robot.nq,)),
    **dict.fromkeys(("v", "vd", "tau", "force"), lambda robot: (robot.nv,)),
    "u": lambda robot: (robot.nu,),
    "t": lambda robot: (),
    "external": lambda robot: (len(robot.bodies), 6),
}

F = TypeVar("F", bound=Callable[..., Any])
Shape = Callable[[Robot, Mapping[str, Any]], tuple[int, ...]]


class RobotFunction:
    """A function of a robot and arrays; see the module.

    Attributes:
        algorithm: the Python function itself. On lists of floats it is the reference.
        own_arrays: arguments that are arrays beside those in `ARRAYS`, and their shape for one robot and the options.
    """

    def __init__(self, algorithm: Callable[..., Any], own_arrays: Mapping[str, Shape] | None = None):
        update_wrapper(self, algorithm)
        self.algorithm = algorithm
        self.name: str = algorithm.__name__
        self.signature = inspect.signature(algorithm)
        self.own_arrays = dict(own_arrays or {})
        # the array arguments after the robot that a call must give, if it must give nothing else
        needed = [p.name for p in list(self.signature.parameters.values())[1:] if p.default is p.empty]
        self._places = tuple(needed) if all(n in ARRAYS for n in needed) else ("?",)
        self.derivative_rule: Callable[..., Any] | None = None
        self._kernels: weakref.WeakKeyDictionary[Robot, dict[tuple, Kernel]] = weakref.WeakKeyDictionary()

    def __call__(self, robot: Robot, *args: Any, **kwargs: Any) -> Any:
        # numbers by place, nothing else: straight to the kernel
        if not kwargs and len(args) == len(self._places) and all(type(a) is np.ndarray for a in args):
            kernel = self._kernels.get(robot, {}).get((self._places, ()))
            if kernel is not None and not any(a.dtype == object for a in args):
                return kernel(*args)
        if not isinstance(robot, Robot):
            problem = f"{self.name} takes a Robot first, not {type(robot).__name__}"
            raise PliantError(problem, subject=self.name, field="robot", cure="see pliant.load")
        arrays, options = self._bound(robot, args, kwargs)
        if any(is_symbolic(a) for a in arrays.values()):
            plain = {name: _as_lists(a) for name, a in arrays.items()}
            for name, values in plain.items():
                shape = self._shape(robot, name, options)
                if shape and not isinstance(values, list | tuple):
                    raise KernelError(bad_value(name, values, f"{shape[0]} scalars, in a list", self.name))
                if shape and len(values) != shape[0]:
                    problem, cure = f"{self.name}: {name} has {len(values)} entries", f"{robot.name} needs {shape[0]}"
                    raise KernelError(problem, subject=self.name, field=name, cure=cure)
                check_scalars(name, values, subject=self.name, error=KernelError)
            return as_arrays(self.algorithm(robot, **plain, **options))
        key = (tuple(arrays), tuple(sorted(options.items())))
        kernels = self._kernels.setdefault(robot, {})
        try:
            kernel = kernels.get(key)
        except TypeError:
            problem = f"{self.name}: {options} are options, fixed when compiled"
            raise PliantError(problem, subject=self.name, cure="give plain values") from None
        if kernel is None:
            shapes = {name: self._shape(robot, name, options) for name in arrays}
            kernel = kernels[key] = _kernel(self, self.algorithm, robot, shapes, options)
        return kernel(*arrays.values())

    def _bound(self, robot: Robot, args: tuple, kwargs: dict) -> tuple[dict[str, Any], dict[str, Any]]:
        try:
            bound = self.signature.bind(robot, *args, **kwargs)
        except TypeError as error:
            names = ", ".join(self.signature.parameters)
            raise PliantError(f"{self.name}({names}): {error}", subject=self.name) from None
        arrays: dict[str, Any] = {}
        options: dict[str, Any] = {}
        missing: list[str] = []
        for name, value in list(bound.arguments.items())[1:]:
            if name not in ARRAYS and name not in self.own_arrays:
                options[name] = _fixed(value)
            elif value is not None:
                arrays[name] = value
            elif self.signature.parameters[name].default is inspect.Parameter.empty:
                missing.append(name)
        for name in missing:
            shape = self._shape(robot, name, options)
            cure = f"give an array of shape {shape}"
            raise PliantError(f"{self.name}: {name} is None", subject=self.name, field=name, cure=cure)
        return arrays, options

    def _shape(self, robot: Robot, name: str, options: Mapping[str, Any]) -> tuple[int, ...]:
        return self.own_arrays[name](robot, options) if name in self.own_arrays else ARRAYS[name](robot)

    def derivative(self, rule: F) -> F:
        """Marks ``rule(robot, *args, wrt=names)`` as the derivative by arrays, better than the chain rule's."""
        self.derivative_rule = rule
        return rule

    def __repr__(self) -> str:
        return f"<pliant function {self.name}{self.signature}>"


def robot_function(algorithm: Callable[..., Any]) -> RobotFunction:
    """Makes an algorithm a `RobotFunction`."""
    return RobotFunction(algorithm)


def robot_function_of(**own_arrays: Shape) -> Callable[[Callable[..., Any]], RobotFunction]:
    """The same for an algorithm with other arrays: functions by name give their shape from robot and options."""
    return lambda algorithm: RobotFunction(algorithm, own_arrays)


@explained
def compile(
    function: Callable[..., Any], robot: Robot, *, precision: str = "float64", threads: int = 1,
    shapes: Mapping[str, Any] | None = None, **options: Any,
) -> Kernel:  # fmt: skip
    """The kernel of a function of this robot, to be called on arrays.

    Args:
        function: one of Pliant's, or your own generic ``function(robot, q, v, ...)``. Arguments named q,
            v, vd, tau, u, t and external have the shapes that the robot gives them.
        robot: the robot it is specialised to.
        precision: "float64" or "float32".
        threads: how many threads share a batch.
        shapes: shapes of your function's other array arguments, by name: ``{"target": 3}``.
        options: values for the arguments that are not arrays, e.g. ``frame="foot"``.
    """
    algorithm = function.algorithm if isinstance(function, RobotFunction) else function
    own = function.own_arrays if isinstance(function, RobotFunction) else {}
    options = {name: _fixed(value) for name, value in options.items()}
    shapes = {name: shape(robot, options) for name, shape in own.items()} | dict(shapes or {})
    arrays, options = array_shapes(algorithm, robot, shapes, options)
    return _kernel(function, algorithm, robot, arrays, options, precision=precision, threads=threads)


def _kernel(function, algorithm, robot: Robot, arrays: Mapping[str, tuple[int, ...]], options, **how: Any) -> Kernel:
    def run(*values: Any) -> Any:
        return algorithm(robot, **dict(zip(arrays, values, strict=True)), **options)

    return kernel_from_function(run, arrays, name=getattr(function, "__name__", "kernel"), **how)


def array_shapes(
    algorithm: Callable[..., Any], robot: Robot, shapes: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[dict[str, tuple[int, ...]], dict[str, Any]]:
    """Shapes of the array arguments of ``algorithm(robot, ...)`` in order, and its options.

    An array with a default (``external=None``) is one of the kernel's only if ``shapes`` names it or an
    option of that name is True.
    """
    parameters = list(inspect.signature(algorithm).parameters.values())[1:]
    name_of = getattr(algorithm, "__name__", "function")
    arrays: dict[str, tuple[int, ...]] = {}
    rest = dict(options)
    for p in parameters:
        if p.name in shapes:
            shape = shapes[p.name]
            arrays[p.name] = tuple(shape) if isinstance(shape, list | tuple) else (int(shape),)
        elif p.name in ARRAYS and (p.default is p.empty or rest.get(p.name) is True):
            rest.pop(p.name, None)
            arrays[p.name] = ARRAYS[p.name](robot)
        elif p.default is p.empty and p.name not in rest and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            problem = f"{name_of} has an argument {p.name!r}, which is not an array that Pliant knows "
            problem += f"({', '.join(ARRAYS)})"
            cure = f"give its shape, shapes={{{p.name!r}: 3}}, or its value, {p.name}=..."
            raise PliantError(problem, subject=name_of, field=p.name, cure=cure)
    known = {p.name for p in parameters}
    unknown = [n for n in (*rest, *shapes) if n not in known]
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters):
        cure = f"it has {', '.join(sorted(known))}"
        raise PliantError(f"{name_of} has no argument {unknown[0]!r}", subject=name_of, field=unknown[0], cure=cure)
    return arrays, rest


def is_symbolic(value: Any) -> bool:
    """Whether an argument holds SymPy or traced scalars."""
    if isinstance(value, np.ndarray):
        return value.dtype == object
    if isinstance(value, list | tuple):
        return any(is_symbolic(v) for v in value)
    return isinstance(value, Expr) or hasattr(value, "free_symbols")


def _fixed(option: Any) -> Any:
    """An option with tuples for its lists: kernels are looked up by options, so that these must not change."""
    if isinstance(option, list) or type(option) is tuple:
        return tuple(_fixed(part) for part in option)
    return option


def _as_lists(value: Any) -> Any:
    """Nested lists of scalars; a SymPy column matrix is a list too."""
    if hasattr(value, "tolist"):
        value = value.tolist()
        if value and isinstance(value[0], list) and all(len(row) == 1 for row in value):
            return [row[0] for row in value]
    return value


def as_arrays(value: Any) -> Any:
    """Lists as arrays of objects, which index, slice and multiply as arrays do; tuples part by part."""
    if isinstance(value, tuple):
        parts = [as_arrays(v) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return np.array(value, dtype=object) if isinstance(value, list) else value
