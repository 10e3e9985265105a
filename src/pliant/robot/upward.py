"""Methods of a robot that layers above this one bring: found when they are asked for, so that imports go down only."""

from collections.abc import Callable
from importlib import import_module
from types import MethodType
from typing import Any, TypeVar, cast

import numpy as np

__all__ = ["Upward", "found_above", "from_above"]

Method = TypeVar("Method", bound=Callable[..., Any])


def found_above(module: str, name: str) -> Any:
    """A function of a layer above."""
    return getattr(import_module(module), name)


def from_above(module: str, name: str) -> Callable[[Method], Method]:
    """Make a method one that is a function of a layer above, with the object for its first argument.

    Asked for, it is that function, so that ``help(robot.view)`` and the completion of a shell show its arguments.
    """
    return lambda method: cast("Method", _FromAbove(module, name, method))


class _FromAbove:
    def __init__(self, module: str, name: str, method: Callable[..., Any]):
        self.module, self.name, self.__doc__ = module, name, method.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        function = found_above(self.module, self.name)
        return function if instance is None else MethodType(function, instance)


class Upward:
    """The methods of `Robot` that other layers implement."""

    @from_above("pliant.formats.dh_export", "to_dh")
    def to_dh(self, **options: Any) -> Any:
        """Its Denavit-Hartenberg table, a `DHTable`, if it is a chain; options as in `pliant.formats.to_dh`."""

    @from_above("pliant.symbolic.robots", "symbolic_robot")
    def symbolic(self, *what: str, **options: Any) -> Any:
        """A copy with numbers replaced by symbols, and their values; see `pliant.symbolic.symbolic_robot`."""

    @from_above("pliant.render.video", "robot_image")
    def to_image(self, *args: Any, **options: Any) -> Any:
        """Write a picture of it: `pliant.render.video.robot_image`."""

    @from_above("pliant.viewer.viewer", "view_robot")
    def view(self, *args: Any, **options: Any) -> Any:
        """Show it in the viewer, with a slider for each joint: `pliant.viewer.viewer.view_robot`."""

    def stance(self, state: str | None = None) -> np.ndarray:
        """The configuration in which it stands, within its joint limits and with a free base at the origin.

            q = robot.on_ground(robot.stance())

        It is a state of the SRDF file beside the robot's file (or in the folder ``srdf`` beside that of the file), as
        the shipped robots and those of example-robot-data have one. Raises `RobotError` if there is none.

        Args:
            state: name of the state; by default the first of half_sitting, standing, reference and home.

        Returns:
            q, nq [rad or m].
        """
        from pliant.catalogue.stances import stance

        return stance(cast("Any", self), state)

    def on_ground(self, q: Any, ground: Any = None, *, height: float = 0.0) -> np.ndarray:
        """Configurations with the free base moved up or down, so that the lowest contact just touches the ground.

        A ball of radius r on ground with the normal n touches where its centre is r / n_z above the ground. A robot
        without contact shapes counts with those that a simulation gives it.

        Args:
            q: (nq,) or (batch, nq).
            ground: by default flat, at z = 0.
            height: of the lowest contact above the ground [m].

        Returns:
            Copies of q.
        """
        from pliant.catalogue.placement import on_ground

        return on_ground(cast("Any", self), q, ground, height=height)
