"""The source of a log: the robot, the ground, the settings and the versions that made it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import numpy as np

from pliant.contact.ground import Ground, height_map, stairs
from pliant.contact.ground_faces import Faces, MapFaces, StairFaces
from pliant.errors import ContactError, PliantError
from pliant.files.versions import versions
from pliant.robot import MotorLaw, Robot
from pliant.scalar import Table, is_constant
from pliant.scalar.formulas import MOTOR_LAW, Formula, LawFormulas
from pliant.signatures import explained


@explained
@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """The origin of a log, so that it can be replayed and run again.

    Attributes:
        robot: with the contacts that it had in the simulation.
        ground: of the simulation; a `height_map` where a file keeps only its heights; None for none.
        contacts: names of the contact points in channel "forces", in its order.
        settings: of the simulation, plain values: dt, integrator, contact, seed, ...
        versions: of Pliant and the libraries that made it, by name.
        created: time in ISO 8601.
    """

    robot: Robot
    ground: Ground | None = None
    contacts: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=lambda: versions())
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))

    def __post_init__(self) -> None:
        object.__setattr__(self, "contacts", tuple(self.contacts))
        for name in ("settings", "versions"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __repr__(self) -> str:
        ground = "no ground" if self.ground is None else f"ground {self.ground.name!r}"
        made = f"pliant {self.versions.get('pliant', '?')}"
        return f"Source: robot {self.robot.name!r}, {ground}, {len(self.contacts)} contacts, {made}, {self.created}"

    def __getstate__(self) -> dict[str, Any]:
        # neither views of mappings nor functions made on the way pickle
        state = {f.name: getattr(self, f.name) for f in fields(self)}
        ground = self.ground and ground_parts(self.ground)
        plain_ones = {"settings": dict(self.settings), "versions": dict(self.versions)}
        return state | plain_ones | {"ground": ground}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in (state | {"ground": state["ground"] and ground_of(state["ground"])}).items():
            object.__setattr__(self, name, value)
        self.__post_init__()


def plain(value: Any) -> Any:
    """A value in the types of JSON: numbers, text, lists and mappings; functions by their names."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind in "biuf" else [plain(x) for x in value.tolist()]
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        numbers = {f.name: plain(getattr(value, f.name)) for f in fields(value) if not f.name.startswith("_")}
        return {"kind": type(value).__name__} | numbers
    if isinstance(value, Sequence | set | frozenset):
        return [plain(x) for x in value]
    if callable(value):
        return f"{getattr(value, '__module__', '?')}.{getattr(value, '__qualname__', type(value).__name__)}"
    return repr(value)


# ---- laws and grounds as formulas


def kept_law(law: Any) -> Any:
    """The law of a motor as formulas."""
    if isinstance(law, MotorLaw):
        return MotorLaw(LawFormulas.of(law.function, MOTOR_LAW, len(law.memory)), law.memory)
    return Formula.of(law, MOTOR_LAW)


def ground_parts(ground: Ground) -> dict[str, Any]:
    """A ground without Python code: its formula and its numbers.

    Numbers that differ from robot to robot are left out; a ground whose shape does so has no formula.
    """
    numbers: tuple[Any, Any] = ground.friction, ground.restitution
    friction, restitution = (float(x) if is_constant(x) else None for x in numbers)
    formula, faces = None, None
    if all(map(is_constant, ground.parameters)):
        formula = Formula.of(lambda x, y: ground.function(x, y, *ground.parameters), ("x", "y"))
        faces = _face_parts(ground.faces)
    return {"formula": formula, "name": ground.name, "friction": friction, "restitution": restitution, "faces": faces}


def ground_of(parts: dict[str, Any]) -> Ground:
    """The ground of its parts."""
    faces = _faces_of(parts["faces"], parts["formula"].tables) if parts.get("faces") else None
    return Ground(parts["formula"], parts["name"], parts["friction"], parts["restitution"], faces=faces)


def _face_parts(faces: Any) -> dict[str, Any] | None:
    """What faces are made of; the heights of a map are the only table of its formula."""
    if isinstance(faces, StairFaces):
        numbers = [faces.rise, faces.run, faces.start, faces.direction, faces.riser]
        return {"kind": "stairs", "numbers": [float(x) for x in numbers], "counts": [faces.steps or 0]}
    if isinstance(faces, MapFaces):
        return {"kind": "height_map", "numbers": [*faces.spacing, *faces.origin], "counts": list(faces.shape)}
    return None


def _faces_of(parts: dict[str, Any], tables: Sequence[Table]) -> Faces:
    """The faces of their parts, checked."""
    numbers, counts = parts["numbers"], parts["counts"]
    try:
        if parts["kind"] == "stairs":
            rise, run, start, direction, riser = numbers
            made = stairs(rise, run, steps=counts[0] or None, start=start, direction=direction, riser=riser)
        else:
            heights = np.reshape(tables[0].numbers, counts)
            made = height_map(heights, spacing=tuple(numbers[:2]), origin=tuple(numbers[2:]))
    except (ContactError, ValueError, IndexError) as error:
        raise PliantError(f"the faces of a stored ground are damaged: {error}", subject="ground") from None
    assert made.faces is not None
    return made.faces
