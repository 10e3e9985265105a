"""``pliant view``: a log or a robot in the browser."""

from typing import Annotated, Any

import typer

from pliant.cli.options import Base, Xacro
from pliant.cli.sources import is_log, load_robot, open_log
from pliant.errors import needs

__all__ = ["view"]


def view(
    what: Annotated[str, typer.Argument(metavar="LOG|ROBOT|FILE", help="a log, or a robot's name or file")],
    port: Annotated[int, typer.Option(help="of the page; the next free one if it is taken")] = 8080,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="print the address and open no window")] = False,
    base: Base = None,
    xacro: Xacro = False,
) -> None:
    """Show a log or a robot in the browser, until Ctrl-C."""
    needs("viser", "view", "pliant view")
    options: dict[str, Any] = {"port": port, "browser": not no_browser, "block": True}
    if is_log(what):
        open_log(what).view(**options)
        return
    from pliant.catalogue.stances import known_stance

    robot, ground = load_robot(what, base, xacro), None
    stance = known_stance(robot)
    q = robot.neutral() if stance is None else stance.q
    if robot.is_free:
        from pliant.contact import flat
        from pliant.robot.collisions import with_default_contacts

        ground = flat()
        touching = with_default_contacts(robot, has_ground=True)
        q = touching.on_ground(q, ground) if touching.contact_points else q
    robot.view(q, ground=ground, **options)
