"""Beyond one machine: sweeps, rollouts and trainings on many workers; processes, Ray, or jobs of SLURM.

Names are imported when they are first asked for: a worker that needs no simulation starts without one.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pliant.cluster.distributed import DistributedEnvironment
    from pliant.cluster.evolving import evolve
    from pliant.cluster.rollouts import Episodes, Rollouts, episodes_of
    from pliant.cluster.space import points_of
    from pliant.cluster.sweeping import load_sweep, status_of, sweep
    from pliant.cluster.table import Table
    from pliant.cluster.trials import Result

__all__ = [
    "DistributedEnvironment", "Episodes", "Result", "Rollouts", "Table", "episodes_of", "evolve", "load_sweep",
    "points_of", "status_of", "sweep",
]  # fmt: skip

_HOMES = {
    "DistributedEnvironment": "distributed", "Episodes": "rollouts", "Result": "trials", "Rollouts": "rollouts",
    "Table": "table", "episodes_of": "rollouts", "evolve": "evolving", "load_sweep": "sweeping", "points_of": "space",
    "status_of": "sweeping", "sweep": "sweeping",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pliant.cluster' has no attribute {name!r}")
    value = getattr(import_module(f"pliant.cluster.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
