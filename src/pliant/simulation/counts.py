"""What went wrong in the steps of a robot since its reset, as numbers of its state: counts, the worst and the first.

Part "unconverged" of the state is about steps whose iterations did not suffice, part "plunges" about steps in which a
contact got deeper into the ground than its speed explains, as on the far side of an edge that the step did not see.
Of robots that smooth motion holds, part "openings" is about steps after which a loop or contact was not closed, and
part "releases" about steps in which a contact would have had to pull, or its friction was beyond the cone.
"""

from typing import Any, NamedTuple

import numpy as np

from pliant.scalar import Scalar, Scalars, both, equal, maximum, select
from pliant.simulation.model import StepModel

# deeper within one step, on top of half of its way, is a plunge [m]
_PLUNGE = 5e-3


def count_sizes(model: StepModel, integrator: str) -> dict[str, int]:
    """Sizes of these parts of the state; nothing where it cannot happen."""
    is_stepped = integrator == "semi-implicit"
    has_iterations = (is_stepped and model.has_rows) or integrator == "midpoint"
    is_held = not is_stepped and bool(model.holds)
    return {
        "unconverged": 4
        if has_iterations or is_held
        else 0,  # steps in all; those, their largest residual [m/s], the first
        "plunges": 3 if is_stepped and model.can_plunge else 0,  # such steps, the deepest [m], the first
        "openings": 3 if is_held else 0,  # such steps, the largest gap [m or rad], the first
        "releases": 4 if is_held and model.held else 0,  # the worst contact; steps, the largest excess [N], the first
    }


def counted_steps(before: Scalars, is_unsolved: Scalar, residual: Scalar, moves: Scalar) -> list[Scalar]:
    """Part "unconverged" after a step."""
    steps, count, worst, first = before
    steps = steps + select(moves, 1, 0)
    found = both(moves, is_unsolved)
    is_first = both(found, equal(count, 0))
    return [
        steps, count + select(found, 1, 0), select(found, maximum(worst, residual), worst),
        select(is_first, steps, first),
    ]  # fmt: skip


def counted_plunges(
    before: Scalars, steps: Scalar, depth: Scalar, depth_before: Scalar, way: Scalar, moves: Scalar
) -> list[Scalar]:
    """Part "plunges" after a step.

    Args:
        steps: since the reset, with this one; the first may begin inside of the ground.
        depth, depth_before: the deepest penetration at the start of this step, and of the one before [m].
        way: how far a contact moves in a step, about [m].
    """
    found = both(both(moves, steps > 1), depth > depth_before + (_PLUNGE + way / 2))
    return counted(before, steps, found, depth)


def counted(before: Scalars, steps: Scalar, found: Scalar, size: Scalar) -> list[Scalar]:
    """Count, worst and first after a step, the ``steps``-th since the reset, in which something is found or not."""
    count, worst, first = before
    is_first = both(found, equal(count, 0))
    return [count + select(found, 1, 0), select(found, maximum(worst, size), worst), select(is_first, steps, first)]


class Counts(NamedTuple):
    """One of these parts, read: numbers of one robot, or arrays of a batch.

    Attributes:
        count: steps in which it happened.
        worst: largest residual [m/s] or depth [m] of these.
        first: time of the first of them [s]; 0 where there is none.
        steps: since the reset.
    """

    count: Any
    worst: Any
    first: Any
    steps: Any


def counts_of(state: Any, part: str) -> Counts:
    """Those of a `State`."""
    values, lead = state.part(part).astype(float), state.data.shape[:-1]
    own = state.part("unconverged").astype(float)
    steps = own[..., 0] if own.shape[-1] else np.zeros(lead)
    if not values.shape[-1]:
        return Counts(np.zeros(lead, int), np.zeros(lead), np.zeros(lead), steps.astype(int))
    count, worst, first = (values[..., k - 3] for k in range(3))
    # clocks count from wherever the user has put them
    begun = np.asarray(state.t) - steps * state.layout.dt
    times = np.where(count > 0, begun + first * state.layout.dt, 0)
    return Counts(count.astype(int), worst, times, steps.astype(int))
