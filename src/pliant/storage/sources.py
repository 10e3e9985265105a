"""The source of a log from its file: the robot with its meshes, the ground, the settings."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.contact.ground import Ground
from pliant.errors import PliantError
from pliant.recording.formulas import Formula
from pliant.recording.portable import ground_of
from pliant.recording.source import Relief, Source, versions
from pliant.storage.coding import number, optional, text, whole
from pliant.storage.hdf5 import dataset, group, has, read_all, read_text
from pliant.storage.meshes import StoredMesh, checked_surface
from pliant.storage.robots import robot_from_plain

__all__ = ["source_of"]

MAX_PARTS = 10_000


def source_of(file: Any) -> Source | None:
    """What a log comes from; None for one made by hand."""
    if not has(file, "source"):
        return None
    folder = group(file, "source")
    about = read_text(folder, "about")
    plain = read_text(folder, "robot")
    if not isinstance(about, Mapping) or not isinstance(plain, Mapping):
        raise PliantError("its source cannot be read; it is damaged")
    meshes: dict[int, StoredMesh] = {}

    def mesh(k: int) -> StoredMesh:
        if k not in meshes:
            meshes[k] = _mesh(folder, k)
        return meshes[k]

    robot = robot_from_plain(plain, mesh)
    made = dict(about.get("versions") or {})
    digest = plain.get("digest")
    # other versions may hash in other ways
    if digest is not None and made.get("pliant") == versions()["pliant"] and digest != robot.digest:
        raise PliantError(f"the robot {robot.name!r} in it is not the one that was saved; it is damaged")
    contacts = tuple(text.read(c, "contacts") for c in about.get("contacts") or ())
    settings = about.get("settings")
    if not isinstance(settings, Mapping):
        raise PliantError("its settings cannot be read; it is damaged")
    created = text.read(about.get("created", ""), "created")
    return Source(robot, _ground(folder), contacts, settings, {str(k): str(v) for k, v in made.items()}, created)


def _mesh(file: Any, k: int) -> StoredMesh:
    folder = group(group(file, "meshes"), str(k))
    count = len(folder)
    if not 0 < count <= MAX_PARTS:
        raise PliantError(f"mesh {k} in it has {count} parts; it is damaged")
    parts = []
    for j in range(count):
        part = group(folder, str(j))
        color = np.asarray(part.attrs.get("color", ()), dtype=float).reshape(-1)
        points, faces = (read_all(dataset(part, what)) for what in ("points", "faces"))
        rgba = color.tolist() if color.shape == (4,) and np.isfinite(color).all() else None
        parts.append(checked_surface(points, faces, rgba, f"mesh {k} in it"))
    return StoredMesh(parts)


def _ground(file: Any) -> Ground | Relief | None:
    if not has(file, "ground"):
        return None
    about = read_text(file, "ground")
    if not isinstance(about, Mapping):
        raise PliantError("its ground cannot be read; it is damaged")
    numbers = {what: optional(number).read(about.get(what), what) for what in ("friction", "restitution")}
    name = text.read(about.get("name"), "name of the ground")
    found = about.get("formula")
    if found is None:
        return _relief(file, name, numbers) if has(file, "heights") else None
    count = whole.read(found.get("tables", 0), "tables of the ground")
    if not 0 <= count <= MAX_PARTS:
        raise PliantError(f"its ground has {count} tables; it is damaged")
    tables = [read_all(dataset(group(file, "tables"), str(k))) for k in range(count)]
    return ground_of({"formula": Formula.from_plain(found, tables), "name": name, **numbers})


def _relief(file: Any, name: str, numbers: Mapping[str, Any]) -> Relief:
    heights = dataset(file, "heights")
    pairs = [np.asarray(heights.attrs.get(what, ()), dtype=float).reshape(-1) for what in ("origin", "spacing")]
    if any(pair.shape != (2,) for pair in pairs):
        raise PliantError("the heights of its ground cannot be read; it is damaged")
    (x, y), (dx, dy) = (pair.tolist() for pair in pairs)
    return Relief(read_all(heights), (x, y), (dx, dy), name, **numbers)
