"""How a solver did over many steps of many robots: iterations, those of the slowest lane, residuals, and failures."""

import numpy as np

__all__ = ["COLUMNS", "convergence"]

_BOUNDS = (1e-9, 1e-6)
COLUMNS = ("iterations", "slowest", "residual", *(f"> {bound:g}" for bound in _BOUNDS), "unconverged", "settling")
"""What is told of a solver; "settling" is the share of unconverged steps from the start on, of robots that stand."""


def convergence(solver: np.ndarray, lanes: int) -> dict[str, float | None]:
    """Figures of the channel "solver" of a rollout, (robots, steps, 4).

    Robots are computed side by side, so many lanes at a time, and the slowest of them decides how long a step takes.
    The last group may have fewer.

    Returns:
        Mean iterations; mean of those of the slowest lane; the largest residual [m/s]; shares of steps whose residual
        is above each bound [m/s]; the share of steps that ran out of iterations; None for "settling".
    """
    residual, iterations, unconverged = (solver[..., k].astype(float) for k in (0, 1, 3))
    groups = range(0, len(iterations), lanes)
    slowest = np.stack([iterations[k : k + lanes].max(axis=0) for k in groups])
    found = (
        float(iterations.mean()),
        float(slowest.mean()),
        float(residual.max()),
        *(float((residual > bound).mean()) for bound in _BOUNDS),
        float((unconverged != 0).mean()),
        None,
    )
    return dict(zip(COLUMNS, found, strict=True))
