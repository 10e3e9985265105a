"""What is held still: contacts at frames, and loops, given by name.

Contacts are a tuple or list with an entry for each: the name of a frame, body or joint, whose origin then stays where
it is; or a pair of such a name and the directions in which it is held, of ``x y z`` (moving) and ``rx ry rz``
(turning), as in ``("lf_foot", ("hand", "xz ry"))`` or ``["lf_foot", ("hand", ["x", "z", "ry"])]``; or the name of one
of the robot's closures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.errors import ContactError, unknown_name
from pliant.robot import Closure, Robot
from pliant.spatial import Transform

__all__ = ["AXES", "Constraint", "Contacts", "check_axes", "constraints_of", "no_contacts", "row_count", "row_names"]

Contacts = str | Sequence[str | tuple[str, str | Sequence[str]]]

AXES = ("world", "local")
"""Whose axes directions are along: the world's, or those of the frame that is held."""

_DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
_HELD = {"point": (0, 1, 2), "weld": (0, 1, 2, 3, 4, 5), "distance": (0,)}


@dataclass(frozen=True, eq=False)
class Constraint:
    """A frame that is held in the world, or two that are held together.

    Attributes:
        name: of the frame or the closure.
        kind: "frame", or that of the closure.
        directions: held, 0 to 2 for moving along and 3 to 5 for turning about x, y, z; one for a distance.
        a, X_a: link and pose in it of the frame that forces push; b, X_b: of the one they push off, -1 the world.
        length: of a distance [m].
    """

    name: str
    kind: str
    directions: tuple[int, ...]
    a: int
    X_a: Transform
    b: int = -1
    X_b: Transform | None = None
    length: Any = 0

    @property
    def size(self) -> int:
        """How many rows it has."""
        return len(self.directions)

    @property
    def is_closure(self) -> bool:
        """Whether it holds two frames together."""
        return self.X_b is not None


def constraints_of(robot: Robot, contacts: Contacts) -> tuple[Constraint, ...]:
    """The constraints that contacts stand for; what cannot be held is an error."""
    entries = (contacts,) if isinstance(contacts, str) else contacts
    if not isinstance(entries, tuple | list):
        raise ContactError(f"contacts are {contacts!r}; give a tuple of frames, as in contacts=('lf_foot', 'rf_foot')")
    if not entries:
        raise no_contacts(robot, "forward_dynamics")
    found: list[Constraint] = []
    for name, directions in map(_entry, entries):
        made = _constraint(robot, name, directions)
        for other in found:
            both = set(other.directions) & set(made.directions)
            if other.name == made.name and (made.is_closure or both):
                what = f"along {_DIRECTIONS[min(both)]!r} " if not made.is_closure else ""
                raise ContactError(f"contact {name!r} is held {what}twice; name each contact once")
        found.append(made)
    return tuple(found)


def no_contacts(robot: Robot, instead: str) -> ContactError:
    """The error for an empty tuple; ``instead`` is the function for a robot without contacts."""
    return ContactError(f"no contacts are given for robot {robot.name!r}; without any, see {instead}")


def row_count(robot: Robot, contacts: Contacts) -> int:
    """How many rows the Jacobian of the contacts has, and entries their force."""
    return sum(c.size for c in constraints_of(robot, contacts))


def row_names(robot: Robot, contacts: Contacts) -> tuple[str, ...]:
    """What the rows of the Jacobian, and the entries of the force, belong to: "lf_foot.x" and so on."""
    return tuple(
        c.name if c.kind == "distance" else f"{c.name}.{_DIRECTIONS[k]}"
        for c in constraints_of(robot, contacts)
        for k in c.directions
    )


def check_axes(axes: Any) -> None:
    """An error unless the axes are among `AXES`."""
    if axes not in AXES:
        raise ContactError(f"no axes named {axes!r}; valid: " + ", ".join(repr(a) for a in AXES))


def _entry(entry: Any) -> tuple[str, str | None]:
    if isinstance(entry, str):
        return entry, None
    if isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], str):
        name, directions = entry
        parts = [directions] if isinstance(directions, str) else directions
        if isinstance(parts, tuple | list) and all(isinstance(part, str) for part in parts):
            return name, " ".join(parts)
    raise ContactError(f"contact {entry!r} is neither the name of a frame nor a pair as ('hand', 'xyz rx')")


def _constraint(robot: Robot, name: str, directions: str | None) -> Constraint:
    is_frame = name in robot.frames or name in robot.joints or name == "world"
    if name in robot.closures:
        if is_frame:
            raise ContactError(f"contact {name!r} is the name of a frame and of a closure; rename one of them")
        if directions is not None:
            raise ContactError(
                f"contact {name!r} is a closure, which says itself what it holds; leave out {directions!r}"
            )
        return _closure(robot, robot.closures[name])
    if not is_frame:
        valid = dict.fromkeys([*robot.frames, *robot.joints, *robot.closures])
        raise ContactError(unknown_name("contact frame or closure", name, valid, f"robot {robot.name!r}"))
    link, X_BF = robot.mechanism.frame(name)
    if link < 0:
        raise ContactError(f"contact {name!r} of robot {robot.name!r} does not move: nothing is to be held there")
    held = (0, 1, 2) if directions is None else tuple(_parsed(name, directions))
    return Constraint(name, "frame", held, link, X_BF)


def _closure(robot: Robot, closure: Closure) -> Constraint:
    (a, X_a), (b, X_b) = robot.mechanism.frame(closure.a), robot.mechanism.frame(closure.b)
    if a == b:
        raise ContactError(f"closure {closure.name!r} of robot {robot.name!r} holds what does not move apart")
    return Constraint(closure.name, closure.kind, _HELD[closure.kind], a, X_a, b, X_b, closure.length)


def _parsed(name: str, directions: str) -> Iterator[int]:
    """Numbers of directions: words of letters x, y, z, and rx, ry, rz."""
    words: Sequence[str] = directions.split()
    names = [part for word in words for part in ([word] if word in _DIRECTIONS else word)]
    if not names:
        raise ContactError(f"contact {name!r} has no directions; give some of 'xyz' and 'rx ry rz', as in 'xyz rx'")
    for k, part in enumerate(names):
        if part not in _DIRECTIONS:
            raise ContactError(
                f"contact {name!r}: no direction {part!r} in {directions!r}; valid: 'x', 'y', 'z' (also as 'xyz'), "
                "and 'rx', 'ry', 'rz'"
            )
        if part in names[:k]:
            raise ContactError(f"contact {name!r}: direction {part!r} is there twice in {directions!r}")
        yield _DIRECTIONS.index(part)
