"""Derivatives of any function of a robot, compiled."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pliant.compiler import Kernel, kernel_from_function
from pliant.compiler.tracing import flattened, shaped
from pliant.dynamics.functions import RobotFunction, array_shapes
from pliant.errors import PliantError, bad_value, unknown_name
from pliant.robot import Robot
from pliant.scalar import Expr, Graph
from pliant.scalar.evaluation import adjoints, interpret, tangents

__all__ = ["jacobian", "tangent_directions"]

CONFIGURATIONS = ("q", "q0", "q1")


def jacobian(
    function: Callable[..., Any],
    robot: Robot,
    wrt: str | Sequence[str],
    *,
    precision: str = "float64",
    threads: int = 1,
    shapes: Mapping[str, Any] | None = None,
    **options: Any,
) -> Kernel:
    """The kernel of a function's derivatives by some of its array arguments.

    Derivatives by a configuration are in the tangent space: by w in q (+) w, nv columns, as
    `Robot.integrate` has it (for q without rotations that is d/dq). `forward_dynamics` and
    `inverse_dynamics` bring derivatives of their own; any other function is differentiated operation by
    operation.

    Args:
        function: one of Pliant's or your own generic ``function(robot, q, ...)`` that returns one array.
        robot: the robot it is specialised to.
        wrt: name of an argument, or several names.
        precision, threads, shapes, options: as for `compile`.

    Returns:
        A kernel of the function's arguments that returns an array (*result, n), or a tuple of them, one
        for each name in ``wrt``.
    """
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    algorithm = function.algorithm if isinstance(function, RobotFunction) else function
    label = getattr(function, "__name__", "function")
    arrays, options = array_shapes(algorithm, robot, shapes or {}, options)
    if not names or len(set(names)) < len(names):
        raise PliantError(bad_value("wrt", wrt, "the name of one argument, or several different ones", "jacobian"))
    for name in names:
        if name not in arrays:
            raise PliantError(unknown_name("array argument", name, arrays, f"{label}"))
    rule = function.derivative_rule if isinstance(function, RobotFunction) else None
    package = NamedTuple("Jacobian", [(n, Any) for n in names])  # type: ignore[misc]

    def run(*values: Any) -> Any:
        given = dict(zip(arrays, values, strict=True))
        found = rule(robot, **given, **options, wrt=names) if rule else {}
        rest = [n for n in names if n not in found]
        if rest:
            found.update(_chain_rule(algorithm, robot, given, options, rest, arrays))
        return found[names[0]] if isinstance(wrt, str) else package(*(found[n] for n in names))

    title = f"d {label} / d {', '.join(names)}"
    return kernel_from_function(run, arrays, name=title, precision=precision, threads=threads)


def _chain_rule(algorithm, robot: Robot, given, options, names, arrays) -> dict[str, Any]:
    """Derivatives operation by operation, forward or backward, whichever takes fewer passes."""
    value = algorithm(robot, **given, **options)
    if isinstance(value, tuple):
        problem = "jacobian takes a function that returns one array, not a tuple of them"
        raise PliantError(problem, subject="jacobian", field="function")
    scalars, shape = flattened(value)
    graph = next((s.graph for v in given.values() for s in flattened(v)[0] if isinstance(s, Expr)), Graph())
    outputs = [graph.lift(s) for s in scalars]
    results = {}
    for name in names:
        inputs = flattened(given[name])[0]
        directions = tangent_directions(robot, inputs) if name in CONFIGURATIONS else _units(len(inputs))
        if len(directions) <= len(outputs):
            columns = [tangents(outputs, dict(zip(inputs, seed, strict=True))) for seed in directions]
            rows = [[column[r] for column in columns] for r in range(len(outputs))]
        else:
            rows = [_combined(adjoints([y], [1], inputs), directions) for y in outputs]
        size = () if name not in CONFIGURATIONS and not arrays[name] else (len(directions),)
        results[name] = shaped([x for row in rows for x in row], (*shape, *size))
    return results


def _units(n: int) -> list[list[int]]:
    return [[1 if r == c else 0 for r in range(n)] for c in range(n)]


def _combined(row: list, directions: list) -> list:
    out = []
    for seed in directions:
        total = 0
        for a, b in zip(row, seed, strict=True):
            total = total + a * b
        out.append(total)
    return out


def tangent_directions(robot: Robot, q: list) -> list[list]:
    """The rates of q along each direction of the tangent space: d (q (+) w) / d w at w = 0."""
    graph = Graph()
    names = [f"q{k}" for k in range(robot.nq)]
    symbols = [graph.input(name) for name in names]
    w = [graph.input(f"w{k}") for k in range(robot.nv)]
    moved = [graph.lift(x) for x in robot.integrate(symbols, w)]
    rates = [[graph.lift(r) for r in tangents(moved, {x: 1})] for x in w]
    values = {**dict(zip(names, q, strict=True)), **{f"w{k}": 0 for k in range(robot.nv)}}
    return [interpret(row, values) for row in rates]
