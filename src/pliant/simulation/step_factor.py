"""A of the step and what solves with it: its factor A = L^T D L, or articulated bodies where that takes less."""

from collections.abc import Mapping
from typing import Any

from pliant.contact.solver import factor_record
from pliant.dynamics.articulated_factor import ArticulatedFactor, inertia_diagonal
from pliant.dynamics.joint_space_inertia import Factor, composite_inertia, factorized
from pliant.scalar import Scalars
from pliant.simulation.model import StepModel

Matrix = Any
"""Rows of the lower triangle, by number: lists, or dicts of the entries that are there."""


StepFactor = Factor | ArticulatedFactor


def inertia_of_step(m: StepModel, q: Scalars) -> tuple[Matrix, Matrix]:
    """M, and A to begin with: M. Of a recursive model, M's diagonal, and for A what it has besides M: nothing yet."""
    if m.is_recursive:
        return inertia_diagonal(m.robot.mechanism, q), [{d: 0} for d in range(m.robot.nv)]
    M = composite_inertia(m.robot, q)
    return M, [list(row) for row in M]


def factor_of_step(m: StepModel, q: Scalars, A: Matrix) -> StepFactor:
    """What solves with A, as `inertia_of_step` has begun it."""
    if m.is_recursive:
        return ArticulatedFactor(m.robot.mechanism, q, [row[d] for d, row in enumerate(A)])
    return factorized(m.robot.mechanism, A)


def recorded_factor(factor: StepFactor) -> Mapping[str, Any]:
    """A factor as a record of the program."""
    return factor.record() if isinstance(factor, ArticulatedFactor) else factor_record(factor)


def factor_of(m: StepModel, motion: Mapping[str, Any], q: Scalars = ()) -> StepFactor:
    """The factor from the record; one by articulated bodies takes q to solve, but not for `velocity`."""
    if m.is_recursive:
        return ArticulatedFactor.of_record(m.robot.mechanism, motion["factor"], q)
    above = [support[1:] for support in m.robot.mechanism.support]
    return Factor(motion["factor"]["L"], motion["factor"]["D_inverse"], above)
