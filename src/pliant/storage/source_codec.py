"""The source of a log in its file: the robot with its meshes, the ground, the settings."""

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from pliant.contact.ground import Ground, flat, height_map
from pliant.errors import ContactError
from pliant.recording.formulas import MAX_NODES, Formula
from pliant.recording.log import Log
from pliant.recording.source import Source, ground_of, ground_parts, plain, versions
from pliant.storage.forms import AboutGround, AboutSource, checked
from pliant.storage.hdf5 import damaged, dataset, group, has, put_text, read_all, read_text
from pliant.storage.robot_codec import StoredMesh, checked_surface, robot_from_plain, robot_to_plain

MAX_PARTS = 10_000
MAX_TABLES = 4_000_000
_TIGHT = {"compression": "gzip", "compression_opts": 4, "shuffle": True}
# heights of a ground along each axis, and how far it goes beyond the robots [m]
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
        _put_heights(folder, source.ground, log)


def _put_ground(file: Any, ground: Ground) -> None:
    """The formula of the ground; one that has none, or one too large, is known by its heights."""
    about = ground_parts(ground)
    formula: Formula | None = about.pop("formula")
    kept = None
    if formula is not None and len(formula.nodes) <= MAX_NODES and sum(map(len, formula.tables)) <= MAX_TABLES:
        kept = formula.to_plain() | {"tables": len(formula.tables)}
        for k, table in enumerate(formula.tables):
            packing = _TIGHT if len(table) > 500 else {}
            file.require_group("tables").create_dataset(str(k), data=table.numbers, fletcher32=True, **packing)
    put_text(file, "ground", about | {"formula": kept})


def _put_heights(file: Any, ground: Ground, log: Log) -> None:
    """Heights of the ground, over the region that the robots travelled and two metres around it.

    Robots that are fixed to the world are at the origin.
    """
    robot = log.needs_source("log.save()").robot
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
    if np.isfinite(heights).all():
        stored = file.create_dataset("heights", data=heights, fletcher32=True, **_TIGHT)
        stored.attrs["origin"], stored.attrs["spacing"] = low, (high - low) / (_POINTS - 1)


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


def _ground(file: Any) -> Ground | None:
    if not has(file, "ground"):
        return None
    about = checked(read_text(file, "ground"), AboutGround, "the ground")
    numbers = {"friction": about.friction, "restitution": about.restitution}
    if about.formula is not None:
        tables = [read_all(dataset(group(file, "tables"), str(k))) for k in range(about.formula.tables)]
        formula = Formula.from_plain(msgspec.structs.asdict(about.formula), tables)
        return ground_of({"formula": formula, "name": about.name, **numbers})
    if not has(file, "heights"):
        return None
    stored = dataset(file, "heights")
    heights = read_all(stored)
    if heights.size and (heights == heights.flat[0]).all():
        return replace(flat(float(heights.flat[0]), **numbers), name=about.name)
    try:
        origin, spacing = (tuple(np.asarray(stored.attrs.get(what, ()), dtype=float)) for what in ("origin", "spacing"))
        return replace(height_map(heights, spacing=spacing, origin=origin, **numbers), name=about.name)
    except ContactError as error:
        raise damaged(f"the heights of the ground cannot be read: {error.fault.problem}", "heights") from None
