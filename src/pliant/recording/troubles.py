"""What went wrong in a run without ending it: bodies below the ground, steps not converged, robots that diverged.

A log keeps these in its metadata, as plain values, so that a log file tells them, too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from pliant.signatures import explained


@explained
@dataclass(frozen=True)
class Trouble:
    """One kind of trouble, of one robot or of many.

    Attributes:
        kind: "below ground", "sinking" (a contact gets deeper and deeper), "plunge" (a contact is suddenly deep),
            "unconverged", "open" (a loop or a held contact is not closed), "release" (a held contact would let go) or
            "divergence".
        name: of the body or contact that it is about, "" if there is none.
        robot: index of the robot that has it worst; 0 without a batch.
        robots: how many robots have it.
        time: when it was first seen, of all robots [s].
        count: how often, of all robots: steps, or looks at bodies, which are some hundred steps apart.
        worst: depth [m] or residual [m/s].
        what: the whole of it in words, with the cure.
    """

    kind: str
    name: str
    robot: int
    robots: int
    time: float
    count: int
    worst: float
    what: str

    def __str__(self) -> str:
        return self.what


def plain_troubles(troubles: Iterable[Trouble]) -> list[dict[str, Any]]:
    """Troubles in plain values, for metadata."""
    return [asdict(trouble) for trouble in troubles]


def read_troubles(values: Any) -> tuple[Trouble, ...]:
    """Troubles from plain values; what has another form is left out."""
    names, found = {f.name for f in fields(Trouble)}, []
    for value in values if isinstance(values, list | tuple) else ():
        if isinstance(value, Mapping) and set(value) == names:
            found.append(Trouble(**value))
    return tuple(found)
