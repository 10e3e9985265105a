"""Methods of a robot that layers above this one bring: found when they are asked for, so that imports go down only."""

from collections.abc import Callable
from importlib import import_module
from types import MethodType
from typing import Any, TypeVar, cast

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
