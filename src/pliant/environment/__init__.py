"""Environments: tasks for learners, compiled with the physics."""

from pliant.environment import events, observations, rewards, terminations
from pliant.environment.actions import Action, Controls, JointTargets, StepTargets
from pliant.environment.commands import Clock, Command, Target, Velocity
from pliant.environment.curricula import Curriculum
from pliant.environment.distributions import Exponential, LogUniform, Normal, Uniform
from pliant.environment.environment import Environment, Transition
from pliant.environment.events import Event
from pliant.environment.now import Now
from pliant.environment.terms import Observation, Reward, Term, Termination

__all__ = [
    "Action", "Clock", "Command", "Controls", "Curriculum", "Environment", "Event", "Exponential", "JointTargets",
    "LogUniform", "Normal", "Now", "Observation", "Reward", "StepTargets", "Target", "Term", "Termination",
    "Transition", "Uniform", "Velocity", "events", "observations", "rewards", "terminations",
]  # fmt: skip
