"""What the stages of a step share: how they are added, and how values travel between them."""

from collections.abc import Sequence
from typing import Any

from pliant.compiler.stages import Stages
from pliant.contact.touching import Touch
from pliant.dynamics.factor import Factor
from pliant.scalar import either
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import Parameters
from pliant.spatial import Matrix3, MatrixRotation, Transform, Vector

__all__ = ["Record", "StepStages", "any_of", "parts_of", "pose_entries", "touches_of"]

Scalar = Any
Scalars = Sequence[Scalar]
Record = dict[str, Any]


class StepStages:
    """Adds stages of a step to a program.

    Attributes:
        stages: the program under construction.
        model: what is simulated; parameters: its numbers that vary.
    """

    def __init__(self, stages: Stages, model: StepModel, parameters: Parameters):
        self.stages = stages
        self.model = model
        self.parameters = parameters

    def add(self, function: Any, reads: Sequence[str], writes: Sequence[str]) -> None:
        """A stage that gets the model, with the parameters of the robot at hand, before what it reads."""

        def stage(p: Scalars, *values: Any) -> Any:
            return function(self.parameters.applied(p), *values)

        self.stages.add(stage, ("parameters", *reads), writes)

    def each(self, what: str) -> list[str]:
        """Names of a variable of every group of contacts."""
        return [f"{what} {k}" for k in range(len(self.model.groups))]

    @property
    def closure_names(self) -> list[str]:
        """Names of the impulses of every loop."""
        return [f"closure {k}" for k in range(len(self.model.closures))]

    def poses(self, motion: Record) -> Any:
        """Poses of the links that rows are made of."""
        return {i: _transform(entries) for i, entries in motion["poses"].items()}

    def factor(self, motion: Record) -> Factor:
        """The factor of A."""
        above = [support[1:] for support in self.model.robot.mechanism.support]
        return Factor(motion["factor"]["L"], motion["factor"]["D_inverse"], above)


def touches_of(motion: Record, k: int) -> list[Touch]:
    """Where the contacts of group k are."""
    return [Touch(t[0], Vector(*t[1:4]), Vector(*t[4:])) for t in motion["touches"][k]]


def parts_of(values: Scalars, sizes: Sequence[int]) -> list[list[Scalar]]:
    """Values cut into parts of these sizes."""
    parts, at = [], 0
    for size in sizes:
        parts.append(list(values[at : at + size]))
        at += size
    return parts


def any_of(conditions: Sequence[Scalar]) -> Scalar:
    """Whether one of the conditions holds."""
    result: Scalar = False
    for c in conditions:
        if c is not False:
            result = c if result is False else either(result, c)
    return 0 if result is False else result


def pose_entries(X: Transform) -> list[Scalar]:
    """A pose as twelve numbers."""
    return [*X.R.matrix(), *X.p]


def _transform(entries: Scalars) -> Transform:
    return Transform(MatrixRotation(Matrix3(tuple(entries[:9]))), Vector(*entries[9:]))
