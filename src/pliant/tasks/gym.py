"""Ids of all tasks for Gymnasium, which learns of them by the import of this module.

    gymnasium.make_vec("pliant.tasks.gym:Pliant/quadruped-v0", num_envs=256)

or ``import pliant.tasks.gym`` first, and "Pliant/quadruped-v0" from there on.
"""

from functools import partial

from pliant.environment.gym import register
from pliant.tasks.task import make, tasks

IDS = {name: register(name, partial(make, name)) for name in tasks()}
"""The id of each task."""
