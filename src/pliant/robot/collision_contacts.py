"""Contacts from the collision geometry of a robot: as few points as the outline of each rigid part needs.

The shapes of a rigid part, a body with those fixed to it, touch flat ground with their convex hull only. Each mesh
becomes a round shape where one is near, else a few of its vertices. Then the points that the others hide, or nearly,
are left out; and at last the least needed ones of a part that has too many. Bodies that carry a chosen one, as a shank
does a foot, count as part of the hull though they are no contacts: what they hide cannot touch before them.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.checks import check, check_at_least, is_whole
from pliant.errors import PliantError, RobotError
from pliant.files.packages import existing_folder
from pliant.meshes.outlines import NOTHING, Outline, distance
from pliant.meshes.support_points import few_points, needed
from pliant.robot.collision_shapes import CollisionReader, CollisionShape, shape_outline
from pliant.robot.contacts import RIMS, ROUND, ContactShape, with_shapes
from pliant.robot.joints import Fixed
from pliant.robot.mechanism import keepers
from pliant.robot.model import WORLD, Report
from pliant.scalar import Scalar, is_constant
from pliant.spatial import Transform, Vector

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

TOLERANCE = 0.25
"""How far a round shape in place of a mesh may be off, as a share of half its smallest width."""

_MERGE = 0.01  # how near to the outline of the others a point is left out, as a share of half the mean width


def with_collision_contacts(
    robot: "Robot", bodies: Any, points: int, merge: float | None, limit: int | None, tolerance: float, packages: Any
) -> "Robot":
    """`Robot.with_collision_contacts`."""
    chosen = list(robot.bodies) if bodies is None else [bodies] if isinstance(bodies, str) else list(bodies)
    folders = [packages] if isinstance(packages, (str, Path)) else list(packages)
    check("points", points, "a whole number, at least 4", is_whole(points) and points >= 4, error=RobotError)
    is_limit = limit is None or (is_whole(limit) and limit >= 4)
    check("limit", limit, "a whole number of points, at least 4, or None for all", is_limit, error=RobotError)
    if merge is not None:
        check_at_least("merge", merge, 0, error=RobotError)
    check_at_least("tolerance", tolerance, 0, error=RobotError)
    reader = CollisionReader(points, tolerance, [existing_folder(folder) for folder in folders])
    rigid = keepers(robot)

    # every collision shape of the chosen bodies, by the body that keeps its own
    parts: dict[str, list[CollisionShape]] = {}
    for name in dict.fromkeys(chosen):
        kept, X_KB = rigid[robot.bodies[name].name]
        shapes = robot.bodies[name].collisions
        carrier = robot.joints[robot.bodies.index(kept)]
        if shapes and isinstance(carrier.kind, Fixed) and carrier.parent == WORLD:
            reader.note("dropped", name, "it is fixed to the world and cannot meet the ground")
            continue
        found = [reader.found(name, kept, X_KB, geometry) for geometry in shapes]
        parts.setdefault(kept, []).extend(one for one in found if one is not None)

    made: list[CollisionShape] = []
    for keeper, own in parts.items():
        taken = [shape for shape in robot.contacts.values() if rigid[shape.body][0] == keeper]
        part = _Part(own, [(shape, rigid[shape.body][1]) for shape in taken], reader, merge, limit)
        carriers = Outline.joined(_carriers(robot, own, reader))
        settled = part.settled(carriers)
        if len(carriers) and not any(one.points for one in settled):
            # all is hidden by bodies that are no contacts themselves
            carriers = NOTHING
            settled = part.settled(carriers)
        made += settled
        _tell(own, settled, carriers, reader)
    order = {name: k for k, name in enumerate(dict.fromkeys(chosen))}
    touching = sorted((one for one in made if one.shape is not None), key=lambda one: order[one.body])
    made_robot = with_shapes(robot, list(_named(touching, robot)))
    return replace(made_robot, report=Report([*robot.report, *reader.findings]))


def _carriers(robot: "Robot", own: list[CollisionShape], reader: CollisionReader) -> Iterator[Outline]:
    """Outlines of the bodies of a rigid part that carry chosen ones and are not chosen themselves."""
    rigid, parents = keepers(robot), {joint.child: joint.parent for joint in robot.joints.values()}
    chosen = {one.body for one in own}
    above: dict[str, None] = {}
    for body in chosen:
        while body != rigid[body][0]:
            body = parents[body]
            above[body] = None
    for body in above:
        for geometry in robot.bodies[body].collisions if body not in chosen else ():
            try:
                outline = reader.read(body, *rigid[body], geometry).before
            except PliantError:  # it is not asked for, and so not missed
                continue
            if outline is not None:
                yield outline


class _Part:
    """The chosen shapes of one rigid part, and the contacts that it has already, with their poses in its frame."""

    def __init__(
        self, own: list[CollisionShape], taken: list[tuple[ContactShape, Transform]], reader: CollisionReader,
        merge: float | None, limit: int | None,
    ):  # fmt: skip
        self.own, self.taken, self.reader, self.limit = own, taken, reader, limit
        known = [one.before for one in own if one.before is not None]
        self.merge = _MERGE * Outline.joined(known).size if merge is None else merge

    def settled(self, carriers: Outline) -> list[CollisionShape]:
        """All shapes with those of their points that are needed."""
        made = self._trimmed(self._simplified(carriers))
        if self.limit is None or any(one.outline is None for one in made):
            return made
        there = [outline for shape, X in self.taken if (outline := shape_outline(shape, X)) is not None]
        rest = Outline.joined([carriers, *there])
        made = _kept(made, lambda outline: needed(outline, rest, self.merge))
        if sum(one.points for one in made) > self.limit:
            limit = self.limit
            made = _kept([one.by_points() for one in made], lambda outline: few_points(outline, limit, rest)[0])
        return made

    def _simplified(self, carriers: Outline) -> list[CollisionShape]:
        """The shapes with meshes as contacts, one after the other: each next to what the others are by then."""
        made = list(self.own)
        for k, one in enumerate(made):
            others = [o.outline if j < k else o.before for j, o in enumerate(made) if j != k]
            made[k] = self.reader.settled(one, Outline.joined([carriers, *(o for o in others if o is not None)]))
        return made

    def _trimmed(self, made: list[CollisionShape]) -> list[CollisionShape]:
        """The shapes without the points that are inside of another, or there already."""
        taken = [ball for shape, X in self.taken for ball in _balls(X, shape.centers, shape.radius)]
        return [self._trimmed_one(one, [o for o in made if o is not one], taken) for one in made]

    def _trimmed_one(
        self, one: CollisionShape, others: list[CollisionShape], taken: list[tuple[float, ...]]
    ) -> CollisionShape:
        shape = one.shape
        if shape is None:
            return one
        kept = []
        each = len(one.rims) // len(shape.centers)
        for k, center in enumerate(shape.centers):
            own = list(_balls(one.X_KB, [center], shape.radius))
            around = one.rims[k * each : (k + 1) * each] or (center,)
            inside = all(one.is_inside(others, p, shape.radius) for p in around)
            again = any(math.dist(p, o) <= self.merge and abs(r - s) <= self.merge for *p, r in own for *o, s in taken)
            if inside or again:
                continue
            kept.append(k)
            if shape.kind not in (*ROUND, *RIMS):  # coinciding points of one shape are one, too
                taken += own
        # a capsule with an end in the clear is whole, since another shape may meet its side
        if kept and shape.kind == "capsule":
            kept = list(range(len(shape.centers)))
        if shape.kind in (*ROUND, *RIMS):
            taken += [ball for k in kept for ball in _balls(one.X_KB, [shape.centers[k]], shape.radius)]
        return one.with_centers(kept)


def _kept(made: list[CollisionShape], choose: Callable[[Outline], list[int]]) -> list[CollisionShape]:
    """The shapes, without symbols, with those pieces of their outline that a function chooses."""
    outlines = [one.outline or NOTHING for one in made]
    chosen, start, fewer = set(choose(Outline.joined(outlines))), 0, []
    for one, outline in zip(made, outlines, strict=True):
        fewer.append(one.with_centers([k for k in range(len(outline)) if start + k in chosen]))
        start += len(outline)
    return fewer


def _tell(own: list[CollisionShape], settled: list[CollisionShape], rest: Outline, reader: CollisionReader) -> None:
    """Note for each shape how many points it has got, and how far from it the surface is now."""
    before = Outline.joined([one.before for one in own if one.before is not None])
    after = Outline.joined([outline for one in settled if (outline := one.outline) is not None])
    for one in settled:
        is_mesh, outline = one.geometry.kind == "mesh", one.outline
        if one.shape is not None and one.shape.kind == one.geometry.kind and one.points == one.count:
            continue
        what = one.geometry.kind
        if is_mesh and one.shape is not None and one.shape.kind != "points":
            what += f" as a {one.shape.kind}" if one.shape.kind != "ellipsoid" else " as an ellipsoid"
        count = f"{one.points} point{'s' if one.points != 1 else ''}"
        if one.points != one.count or not is_mesh:
            count = f"{one.count} points -> {one.points}"
        off = ""
        if one.before is not None and outline is not None:
            short = distance(Outline.joined([one.before, after]), after, rest)
            out = distance(before, Outline.joined([before, outline]), rest)
            off = f", off by {round(1e3 * max(short, out), 6):.2g} mm"
        reader.note("guessed", one.body, f"{what}: {count}{off}")


def _balls(X: Transform, centers: Iterable[Vector], radius: Scalar) -> Iterator[tuple[float, ...]]:
    """Centers in another frame, with the radius; only those in plain numbers, which can be compared."""
    for center in centers:
        values = (*X.transform_point(center), radius)
        if all(is_constant(x) for x in values):
            yield values


def _named(shapes: list[CollisionShape], robot: "Robot") -> Iterator[ContactShape]:
    """Contact shapes by the names of their bodies, with a number where a body has several or the name is taken."""
    taken = set(robot.contacts)
    for one in shapes:
        name, k = one.body, 0
        has_siblings = sum(other.body == one.body for other in shapes) > 1
        while name in taken or (has_siblings and name == one.body):
            name, k = f"{one.body}_{k}", k + 1
        taken.add(name)
        if one.shape is not None:
            yield replace(one.shape, name=name)
