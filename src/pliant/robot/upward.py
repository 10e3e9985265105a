"""Methods of a robot that layers above this one bring: found when they are called, so that imports go down only."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = ["Upward"]


class Upward:
    """The methods of `Robot` that other layers implement."""

    def to_dh(self, **options: Any) -> Any:
        """Its Denavit-Hartenberg table, a `DHTable`, if it is a chain; options as in `pliant.to_dh`."""
        return _found("pliant.formats.dh_export", "to_dh")(cast("Robot", self), **options)

    def symbolic(self, *what: str, **options: Any) -> Any:
        """A copy with numbers replaced by symbols, and their values, a `SymbolicRobot`; see `pliant.symbolic_robot`."""
        return _found("pliant.symbolic.robots", "symbolic_robot")(cast("Robot", self), *what, **options)

    def to_image(self, *args: Any, **options: Any) -> Any:
        """Write a picture of it: `pliant.view.video.robot_image`."""
        return _found("pliant.view.video", "robot_image")(cast("Robot", self), *args, **options)

    def view(self, *args: Any, **options: Any) -> Any:
        """Show it in the viewer, with a slider for each joint: `pliant.view.viewer.view_robot`."""
        return _found("pliant.view.viewer", "view_robot")(cast("Robot", self), *args, **options)


def _found(module: str, name: str) -> Any:
    return getattr(import_module(module), name)
