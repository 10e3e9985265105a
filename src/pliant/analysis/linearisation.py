"""The motion of a robot near an equilibrium, linear, from the derivatives of its equations of motion."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.actuation.flexibility import FlexibilityState, flexibility_names, flexibility_state
from pliant.errors import PliantError
from pliant.robot import Robot
from pliant.scalar import Expr, Graph
from pliant.scalar.evaluation import interpret, tangents
from pliant.simulation.model import StepModel
from pliant.simulation.smooth import smooth_acceleration

__all__ = ["LinearModel", "linear_model", "output_names"]

# an acceleration below this, relative to gravity or to one, is none
_REST = 1e-6


@dataclass(frozen=True, eq=False)
class LinearModel:
    """x' = A x + B u, y = C x, with x the displacement (nv) and the velocity (nv), u and y counted from rest."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Of A [1/s]."""
        return np.linalg.eigvals(self.A)

    def response(self, w: np.ndarray, k: int) -> np.ndarray:
        """H(w) = C (i w - A)^-1 B of control k, (outputs, frequencies)."""
        n = len(self.A)
        matrices = 1j * w[:, None, None] * np.eye(n) - self.A
        states = np.linalg.solve(matrices, np.broadcast_to(self.B[:, k], (len(w), n))[..., None])[..., 0]
        return (states @ self.C.T).T


def output_names(robot: Robot) -> list[str]:
    """What can be an output."""
    names = [f"q.{name}" for name in robot.coordinate_names] + [f"v.{name}" for name in robot.velocity_names]
    if robot.flexibilities:
        own = flexibility_names(robot)
        for part in FlexibilityState._fields:
            if part != "spring_force":
                columns = tuple(robot.motors) if "position" in part or "velocity" in part else own
                names += [f"{part}.{column}" for column in columns]
    return names


def linear_model(model: StepModel, q0: np.ndarray, u0: np.ndarray, outputs: Sequence[str]) -> LinearModel:
    """The model about rest at q0 under the controls u0; an error if the robot does not stay there."""
    robot = model.robot
    if model.is_rigid and model.groups:
        raise PliantError(
            "bode: contacts are rigid, so the motion near rest is not smooth; give a Simulation with "
            "contact=pliant.CompliantContact(...), or a robot without ground"
        )
    if q0.shape != (robot.nq,):
        raise PliantError(f"bode: q has shape {q0.shape}; it takes one configuration, ({robot.nq},)")
    graph = Graph()
    x, v, u = (
        [graph.input(f"{name}{i}") for i in range(n)] for name, n in (("x", robot.nv), ("v", robot.nv), ("u", robot.nu))
    )
    q = list(robot.integrate([float(c) for c in q0], x))
    vd = [graph.lift(e) for e in smooth_acceleration(model, 0, q, v, u)]
    y = [graph.lift(e) for e in _outputs(robot, q, v, outputs)]
    here = {node.value: 0.0 for node in (*x, *v)} | {node.value: float(c) for node, c in zip(u, u0, strict=True)}
    rest = np.array(interpret(vd, here), dtype=float)
    scale = max(1.0, float(np.linalg.norm([float(g) for g in robot.gravity])))
    if not abs(rest).max(initial=0) < _REST * scale:
        worst = robot.velocity_names[int(np.argmax(abs(rest)))]
        raise PliantError(
            f"bode: the robot does not rest at q with these controls: {worst!r} accelerates by {abs(rest).max():.3g}; "
            "give q= and u= of an equilibrium"
        )
    both = [*vd, *y]
    J = np.array([_rates(both, node, here) for node in (*x, *v, *u)]).T
    n = robot.nv
    A = np.block([[np.zeros((n, n)), np.eye(n)], [J[:n, : 2 * n]]])
    B = np.concatenate([np.zeros((n, robot.nu)), J[:n, 2 * n :]])
    return LinearModel(A, B, J[n:, : 2 * n])


def _rates(outputs: list[Expr], node: Expr, values: dict[str, float]) -> list[float]:
    """d outputs / d node."""
    found = [node.graph.lift(rate) for rate in tangents(outputs, {node: 1})]
    return [float(x) for x in interpret(found, values)]


def _outputs(robot: Robot, q: Sequence[Any], v: Sequence[Any], names: Sequence[str]) -> list[Any]:
    known = {f"q.{name}": e for name, e in zip(robot.coordinate_names, q, strict=True)}
    known |= {f"v.{name}": e for name, e in zip(robot.velocity_names, v, strict=True)}
    if any(name not in known for name in names):
        own = flexibility_names(robot)
        for part, entries in flexibility_state.algorithm(robot, q, v)._asdict().items():
            columns = tuple(robot.motors) if "position" in part or "velocity" in part else own
            known |= {f"{part}.{column}": e for column, e in zip(columns, entries, strict=True)}
    return [known[name] for name in names]
