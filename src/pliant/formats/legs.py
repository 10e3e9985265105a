"""Whether a robot walks, from the names of its links: for files that do not say how the base moves."""

import re
from collections.abc import Iterable, Sequence

from pliant.robot import Finding

# words in the names of links; a footprint is that of wheels, and legs of tables do not move
_LEG = re.compile(r"foot(?!_?print)|feet|sole|ankle|calf|shank|shin|thigh|knee|(?<![a-z])legs?(?![a-z])", re.IGNORECASE)
# joints that move, from the root to the last link of a leg
_LEAST_JOINTS = 2
_LEAST_LEGS = 2

BASE = "base"
"""The subject of findings about a base that was guessed."""

Edge = tuple[str, str, bool]


def legs(edges: Sequence[Edge]) -> list[str]:
    """The last links of a robot's legs: named like a part of one, each with two or more moving joints above it.

    Args:
        edges: of each joint its parent, its child, and whether it moves.
    """
    above = {child: (parent, moves) for parent, child, moves in edges}
    found: dict[str, set[str]] = {}
    for _, child, _ in edges:
        if _LEG.search(child) is None:
            continue
        link, ancestors, moving = child, set(), 0
        while link in above and link not in ancestors:
            ancestors.add(link)
            link, moves = above[link]
            moving += moves
        if moving >= _LEAST_JOINTS:
            found[child] = ancestors - {child}
    inner = set[str]().union(*found.values())
    return [link for link in found if link not in inner]


def guessed_base(edges: Iterable[Edge], is_held: bool) -> tuple[str, list[str]]:
    """The base of a robot whose file does not say: free if it has legs; with these legs.

    Args:
        is_held: whether the file attaches it to the world.
    """
    found = [] if is_held else legs(list(edges))
    return ("free", found) if len(found) >= _LEAST_LEGS else ("fixed", [])


def base_finding(robot: str, feet: Sequence[str]) -> Finding:
    """A remark that legs made the base free, and how to get the other."""
    shown = ", ".join(map(repr, feet[:4])) + (", ..." if len(feet) > 4 else "")
    message = f"that of robot {robot!r} is free, since it has legs ({shown}); base='fixed' bolts it to the world"
    return Finding("guessed", BASE, message)
