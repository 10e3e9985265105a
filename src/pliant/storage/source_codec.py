"""The source of a log in its file: the robot with its meshes, the ground, the settings."""

from typing import Any

import msgspec
import numpy as np

from pliant.contact.ground import Ground
from pliant.recording.formulas import MAX_NODES, Formula
from pliant.recording.log import Log
from pliant.recording.source import ground_of, ground_parts
from pliant.recording.source import Relief, Source, plain, versions
from pliant.storage.forms import AboutGround, AboutSource, checked
from pliant.storage.hdf5 import damaged, dataset, group, has, put_text, read_all, read_text
from pliant.storage.meshes import StoredMesh, checked_surface
from pliant.storage.robot_codec import robot_from_plain, robot_to_plain

__all__ = ["put_source", "relief_of", "source_of"]

MAX_PARTS = 10_000
MAX_TABLES = 4_000_000
_TIGHT = {"compression": "gzip", "compression_opts": 4, "shuffle": True}
# heights of a relief along each axis, and how far it goes beyond the robots [m]
_POINTS = 129
_MARGIN = 2.0


# ---- writing


def put_source(file: Any, log: Log) -> None:
    """Put the source of a log into the group "source" of its file; nothing for a log without."""
    source = log.source
    if source is None:
        return
    folder = file.create_group("source")
    about = {
        "contacts": list(source.contacts), "settings": plain(dict(source.settings)),
        "versions": plain(dict(source.versions)), "created": source.created,
    }  # fmt: skip
    robot, meshes = robot_to_plain(source.robot)
    put_text(folder, "about", about)
    put_text(folder, "robot", robot)
    for k, surfaces in enumerate(meshes):
        for j, surface in enumerate(surfaces):
            part = folder.create_group(f"meshes/{k}/{j}")
            for what in ("points", "faces"):
                part.create_dataset(what, data=getattr(surface, what), fletcher32=True, **_TIGHT)
            part.attrs["color"] = np.array(surface.color or [], dtype=float)
    if source.ground is not None:
        _put_ground(folder, source.ground)
    relief = relief_of(log)
    if relief is not None:
        heights = folder.create_dataset("heights", data=relief.heights, fletcher32=True, **_TIGHT)
        heights.attrs["origin"], heights.attrs["spacing"] = np.array(relief.origin), np.array(relief.spacing)


def _put_ground(file: Any, ground: Ground | Relief) -> None:
    """The formula of the ground; one that has none, or one too large, is known by its heights."""
    if isinstance(ground, Relief):
        numbers = {"friction": ground.friction, "restitution": ground.restitution}
        put_text(file, "ground", {"name": ground.name, "formula": None} | numbers)
        return
    parts = ground_parts(ground)
    formula = parts["formula"]
    about = parts | {"formula": None}
    if formula is not None and len(formula.nodes) <= MAX_NODES and sum(map(len, formula.tables)) <= MAX_TABLES:
        about["formula"] = formula.to_plain() | {"tables": len(formula.tables)}
        for k, table in enumerate(formula.tables):
            packing = _TIGHT if len(table) > 500 else {}
            file.require_group("tables").create_dataset(str(k), data=table.numbers, fletcher32=True, **packing)
    put_text(file, "ground", about)


def relief_of(log: Log) -> Relief | None:
    """Heights of the ground of a log, over the region that the robots travelled and two metres around it.

    Robots that are fixed to the world are at the origin.
    """
    ground: Any = None if log.source is None else log.source.ground
    if ground is None or log.source is None:
        return None
    if isinstance(ground, Relief):
        return ground
    robot = log.source.robot
    low = high = np.zeros(2)
    first = next(iter(robot.joints.values()), None)
    if first is not None and first.kind.name == "free" and "q" in log and len(log.t):
        places = log["q"][..., robot.q_slice(first.name)][..., :2].reshape(-1, 2)
        places = places[np.isfinite(places).all(axis=-1)]
        if len(places):
            low, high = places.min(axis=0), places.max(axis=0)
    low, high = low - _MARGIN, high + _MARGIN
    x, y = (np.linspace(a, b, _POINTS) for a, b in zip(low, high, strict=True))
    heights = np.asarray(ground.height(*np.meshgrid(x, y, indexing="ij")), dtype=float)
    if not np.isfinite(heights).all():
        return None
    numbers = {
        what: float(value) if isinstance(value := getattr(ground, what), int | float) else None
        for what in ("friction", "restitution")
    }
    spacing = tuple(float(s) for s in (high - low) / (_POINTS - 1))
    return Relief(heights, (float(low[0]), float(low[1])), (spacing[0], spacing[1]), ground.name, **numbers)


# ---- reading


def source_of(file: Any) -> Source | None:
    """The source of a log; None for a log made by hand."""
    if not has(file, "source"):
        return None
    folder = group(file, "source")
    about = checked(read_text(folder, "about"), AboutSource, "the source")
    stored = read_text(folder, "robot")
    meshes: dict[int, StoredMesh] = {}

    def mesh(k: int) -> StoredMesh:
        if k not in meshes:
            meshes[k] = _mesh(folder, k)
        return meshes[k]

    robot = robot_from_plain(stored, mesh)
    # other versions may hash in other ways
    is_same_version = about.versions.get("pliant") == versions()["pliant"]
    if stored["digest"] is not None and is_same_version and stored["digest"] != robot.digest:
        raise damaged(f"the robot {robot.name!r} in it is not the one that was saved", "robot")
    return Source(robot, _ground(folder), about.contacts, about.settings, about.versions, about.created)


def _mesh(file: Any, k: int) -> StoredMesh:
    folder = group(group(file, "meshes"), str(k))
    if not 0 < len(folder) <= MAX_PARTS:
        raise damaged(f"mesh {k} has {len(folder)} parts", "meshes")
    parts = []
    for j in range(len(folder)):
        part = group(folder, str(j))
        color = np.asarray(part.attrs.get("color", ()), dtype=float).reshape(-1)
        points, faces = (read_all(dataset(part, what)) for what in ("points", "faces"))
        rgba = color.tolist() if color.shape == (4,) and np.isfinite(color).all() else None
        parts.append(checked_surface(points, faces, rgba, f"mesh {k} in it"))
    return StoredMesh(parts)


def _ground(file: Any) -> Ground | Relief | None:
    if not has(file, "ground"):
        return None
    about = checked(read_text(file, "ground"), AboutGround, "the ground")
    numbers = {"name": about.name, "friction": about.friction, "restitution": about.restitution}
    if about.formula is None:
        return _relief(file, numbers) if has(file, "heights") else None
    tables = [read_all(dataset(group(file, "tables"), str(k))) for k in range(about.formula.tables)]
    return ground_of({"formula": Formula.from_plain(msgspec.structs.asdict(about.formula), tables), **numbers})


def _relief(file: Any, numbers: dict[str, Any]) -> Relief:
    heights = dataset(file, "heights")
    pairs = [np.asarray(heights.attrs.get(what, ()), dtype=float).reshape(-1) for what in ("origin", "spacing")]
    if any(pair.shape != (2,) for pair in pairs):
        raise damaged("the heights of the ground cannot be read", "heights")
    (x, y), (dx, dy) = (pair.tolist() for pair in pairs)
    return Relief(read_all(heights), (x, y), (dx, dy), **numbers)
