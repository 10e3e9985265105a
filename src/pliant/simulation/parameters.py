"""Numbers that differ from robot to robot: inputs of the kernels in place of constants."""

from collections.abc import Sequence
from typing import Any

from pliant.simulation.model import StepModel

__all__ = ["Parameters"]

Scalar = Any


class Parameters:
    size = 0

    def applied(self, model: StepModel, values: Sequence[Scalar]) -> StepModel:
        return model
