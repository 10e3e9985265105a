"""A of the step and what solves with it: its factor A = L^T D L, or articulated bodies where that takes less."""

from collections.abc import Mapping
from typing import Any

from pliant.dynamics.articulated_factor import ArticulatedFactor, inertia_diagonal
from pliant.dynamics.joint_space_inertia import composite_inertia
from pliant.dynamics.pinned_factor import PinnedFactor, Rows, pinned_factor
from pliant.scalar import Scalar, Scalars
from pliant.simulation.model import StepModel

Matrix = Any
"""Rows of the lower triangle, by number: lists, or dicts of the entries that are there."""

StepFactor = PinnedFactor | ArticulatedFactor


def inertia_of_step(m: StepModel, q: Scalars) -> tuple[Matrix, Matrix]:
    """M, and A to begin with: M. Of a recursive model, M's diagonal, and for A what it has besides M: nothing yet."""
    if m.is_recursive:
        return inertia_diagonal(m.robot.mechanism, q), [{d: 0} for d in range(m.robot.nv)]
    M = composite_inertia(m.robot, q)
    return M, [list(row) for row in M]


def entries_of_step(m: StepModel, A: Matrix) -> dict[int, dict[int, Scalar]]:
    """The entries of A that are there, as a record of the program."""
    if m.is_recursive:
        return {d: dict(row) for d, row in enumerate(A)}
    return {d: {e: A[d][e] for e in support} for d, support in enumerate(m.robot.mechanism.support)}


def factor_of_step(m: StepModel, q: Scalars, A: Rows, pins: Mapping[int, Scalar] | None = None) -> StepFactor:
    """What solves with A, as `inertia_of_step` has begun it; ``pins`` as in `pinned_factor`."""
    if m.is_recursive:
        return ArticulatedFactor(m.robot.mechanism, q, [row[d] for d, row in A.items()])
    return pinned_factor(m.robot.mechanism, A, pins)


def factor_of(m: StepModel, ldl: Mapping[str, Any], q: Scalars = ()) -> StepFactor:
    """The factor from the record; one by articulated bodies takes q to solve, but not for `velocity`."""
    if m.is_recursive:
        return ArticulatedFactor.of_record(m.robot.mechanism, ldl, q)
    return PinnedFactor(ldl["U"], ldl["D"], ldl["D_inverse"])
