"""Learning: policies trained on batches of robots, in NumPy and compiled kernels; nothing else to install."""

from pliant.learn.guard import Snapshot
from pliant.learn.history import History
from pliant.learn.interface import Environment, Mirror, Outcome, Verdict
from pliant.learn.policy import Policy
from pliant.learn.settings import EvolveSettings, PpoSettings
from pliant.learn.start import evolve, ppo, resume
from pliant.learn.training import Limits, Report, Training

__all__ = [
    "Environment", "EvolveSettings", "History", "Limits", "Mirror", "Outcome", "Policy", "PpoSettings", "Report",
    "Snapshot", "Training", "Verdict", "evolve", "ppo", "resume",
]  # fmt: skip
