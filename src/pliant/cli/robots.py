"""``pliant robots``: the robots that have a name."""

from pliant.cli.options import Json
from pliant.cli.terminal import print_json, print_pairs, say

__all__ = ["list_robots", "robots"]


def robots(json: Json = False) -> None:
    """List the robots that have a name."""
    list_robots(json)


def list_robots(as_json: bool) -> None:
    """Print the robots that have a name."""
    from pliant.catalogue.library import ELSEWHERE, OURS, robots

    known = robots()
    shipped = [name for name, robot in known.items() if robot.origin == OURS]
    elsewhere = {name: robot for name, robot in known.items() if robot.origin == ELSEWHERE}
    if as_json:
        found = {name: {"path": str(robot.path), "base": robot.base} for name, robot in elsewhere.items()}
        print_json({"shipped": shipped, ELSEWHERE: found})
        return
    lists = {"shipped": shipped}
    for base in ("free", "fixed") if elsewhere else ():
        lists[f"{ELSEWHERE}, {base} base"] = [name for name, robot in elsewhere.items() if robot.base == base]
    for title, names in lists.items():
        print_pairs(title, [("  ", ", ".join(names))])
    if not elsewhere:
        say(f"\nmore with: pip install {ELSEWHERE}")
    say("\nEach is a ROBOT for the other commands, as is the path of a .urdf, .xacro or .toml file.")
