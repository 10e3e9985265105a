"""Beyond one machine: sweeps, rollouts and trainings on many workers; processes, Ray, or jobs of SLURM."""

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
