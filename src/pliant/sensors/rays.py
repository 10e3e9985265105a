"""Range finders and height scans: rays against ground and robot, one by one or as stages of a program.

Many rays are a loop of the program, so that its code is that of one ray, or of one row of a scan, however many there
are. Inside, another loop takes the rounds that a ray needs on its ground (`GroundRay`), until all robots are done.

    stages = Stages(place=12, found=2 * len(rays))
    range_stages(stages, "lidar", rays, ground, place="place", found="found", reach=10)
    program = stages.program(inputs=("place",), outputs=("found",))
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from pliant.compiler.tracing import Stages
from pliant.contact.ground import Ground
from pliant.contact.ground_faces import MapFaces, StairFaces
from pliant.errors import TraceError
from pliant.robot import Robot
from pliant.scalar import Expr, Scalar, Scalars, Table, equal, is_constant, maximum, minimum, select
from pliant.sensors.ground_rays import (
    RESOLUTION, GroundRay, PlaneRay, Ray, SearchedRay, StairRay, away_from_zero, met,
)  # fmt: skip
from pliant.sensors.map_rays import MapRay
from pliant.sensors.shape_rays import robot_distance
from pliant.spatial import Matrix3, MatrixRotation, Transform, Vector

# points of a scan that are computed in one go: enough to keep the processor busy, few enough to compile at once
_MOST_TOGETHER = 32


def ground_ray(ground: Ground, reach: Scalar, *, resolution: float = RESOLUTION) -> GroundRay:
    """How rays meet a ground, by its kind: in closed form, cell by cell, or by a search.

    Args:
        reach: how far they go [m].
        resolution: how long a ray must be below the ground to be seen there, on ground that is searched [m].
    """
    if not (ground.has_edges or ground.is_curved):
        return PlaneRay(ground)
    if isinstance(ground.faces, StairFaces):
        return StairRay(ground, ground.faces)
    if isinstance(ground.faces, MapFaces):
        return MapRay(ground, ground.faces, reach)
    return SearchedRay(ground, reach, resolution)


def ground_distance(
    ground: Ground, p: Vector, d: Vector, reach: Scalar, *, resolution: float = RESOLUTION
) -> tuple[Scalar, Scalar]:
    """How far along a ray the ground is, from either side of it; see `ground_rays` for methods and accuracy.

    Traced scalars work on planes and stairs, and along rays that are vertical by structure; on other ground a ray
    takes rounds, which are a loop of a program: use `range_stages`.

    Args:
        p, d: a point and a unit vector, in the world [m, 1]; numbers or arrays of them.
        reach: how far the ray goes [m].
        resolution: see `ground_ray`.

    Returns:
        Distance [m] and 1; for a ray that misses, its reach and 0.
    """
    if _is_zero(d.x) and _is_zero(d.y):
        distance = (ground.height(p.x, p.y) - p.z) / away_from_zero(d.z)
        return met(distance, distance >= 0, reach)
    ray, way = Ray(p, d, reach), ground_ray(ground, reach, resolution=resolution)
    state = way.begin(ray)
    if way.rounds and any(isinstance(x, Expr) for x in (*p, *d, reach)):
        problem = f"a ray on {ground.name!r} takes up to {way.rounds} rounds, which is too much for straight-line code"
        raise TraceError(problem, subject=ground.name, cure="use pliant.sensors.rays.range_stages, which makes a loop")
    for _ in range(way.rounds):
        if not np.any(state[0]):
            break
        is_over = equal(state[0], 0)
        state = [select(is_over, old, new) for old, new in zip(state, way.advance(ray, state), strict=True)]
    return way.end(ray, state)


def _is_zero(x: Scalar) -> bool:
    return is_constant(x) and x == 0


def heights(ground: Ground, xs: Sequence[Scalar], ys: Sequence[Scalar]) -> list[Scalar]:
    """Heights of the ground at points x and y [m]."""
    return [ground.height(x, y) for x, y in zip(xs, ys, strict=True)]


# ---- stages of a program


class Varying(NamedTuple):
    """A ground whose parameters differ between robots: the variable that has them, and the ground of these."""

    parameters: str
    ground: Callable[[Scalars], Ground]


def range_stages(
    stages: Stages, name: str, rays: Sequence[Sequence[float]] | str, ground: Ground | None, *, place: str, found: str,
    reach: Scalar, resolution: float = RESOLUTION, robot: Robot | None = None, poses: str | None = None,
    without: Collection[str] = (), varying: Varying | None = None,
) -> None:  # fmt: skip
    """Add the stages of a range finder to a program.

    Args:
        name: of the sensor: a prefix for what it adds to the program.
        rays: unit vectors in the frame of the sensor: numbers, or the name of a variable that has them.
        ground: None if its rays pass through it.
        place: the pose of the sensor in the world, a variable or record of twelve numbers: origin, and rotation row by
            row.
        found: a variable, distance [m] and hit (1 or 0) for each ray.
        reach: how far rays go [m].
        resolution: see `ground_ray`.
        robot, poses, without: see `robot_distance`; poses is a record of twelve numbers for each link, as for place.
            None for rays that pass through the robot.
        varying: see `Varying`; ``ground`` is then one of the same kind.
    """
    direction, one = stages.variable(f"{name}.ray", 3), stages.variable(f"{name}.found", 2)
    directions = rays if isinstance(rays, str) else Table([x for ray in rays for x in ray])
    way = None if ground is None else ground_ray(ground, reach, resolution=resolution)
    over, state = f"{name}.over", f"{name}.state"

    def ray_of(place: Scalars, direction: Scalars) -> Ray:
        X_WS = _pose(place)
        return Ray(X_WS.p, X_WS.R.rotate(Vector(*direction)), reach)

    def way_of(numbers: Sequence[Scalars]) -> GroundRay | None:
        return ground_ray(varying.ground(*numbers), reach, resolution=resolution) if varying else way

    def begin(place: Scalars, direction: Scalars, *numbers: Scalars) -> list[Scalar]:
        here = way_of(numbers)
        assert here is not None
        return here.begin(ray_of(place, direction))

    def advance(place: Scalars, direction: Scalars, state: Scalars, *numbers: Scalars) -> tuple[list[Scalar], ...]:
        here = way_of(numbers)
        assert here is not None
        new = here.advance(ray_of(place, direction), state)
        return new, [equal(new[0], 0)]

    def end(place: Scalars, direction: Scalars, state: Scalars, poses: Any, *numbers: Scalars) -> list[Scalar]:
        ray, here = ray_of(place, direction), way_of(numbers)
        distance, hit = (ray.reach, 0) if here is None else here.end(ray, state)
        if robot is None:
            return [distance, hit]
        other, is_hit = robot_distance(robot, [_pose(X) for X in poses], *ray, without=without)
        return [minimum(distance, other), maximum(hit, is_hit)]

    # nothing stands in place of what there is not
    if way is None or way.rounds == 0:
        stages.variable(state, 0)
    else:
        stages.variable(state, way.size)
        stages.variable(over, 1)
    if poses is None:
        poses = stages.variable(f"{name}.poses", 0)
    others = [varying.parameters] if varying else []
    with stages.loop(stages.variables[found] // 2, slices={direction: directions, one: found}):
        if way is not None and way.rounds:
            stages.add(begin, (place, direction, *others), (state,))
            with stages.loop(way.rounds, until=over):
                stages.add(advance, (place, direction, state, *others), (state, over))
        stages.add(end, (place, direction, state, poses, *others), (one,))


def _pose(numbers: Scalars) -> Transform:
    """Twelve numbers, origin and rotation row by row, as a pose."""
    return Transform(MatrixRotation(Matrix3(numbers[3:])), Vector(*numbers[:3]))


def scan_stages(
    stages: Stages, name: str, points: Sequence[Sequence[float]] | str, ground: Ground, *, place: str, found: str,
    varying: Varying | None = None,
) -> None:  # fmt: skip
    """Add the stages of a height scan to a program.

    Args:
        name: of the sensor: a prefix for what it adds to the program.
        points: x and y of each, along and across the heading of the sensor [m]: numbers, or the name of a variable that
            has them.
        place: a variable or record: x and y of the sensor in the world [m], cosine and sine of its heading.
        found: a variable, the height of the ground in the world at each point [m].
        varying: see `Varying`.
    """
    across: list[Scalar] = []
    if isinstance(points, str):
        size, places = _together(stages.variables[found]), points
    else:
        size, across = _rows(points)
        # of the rows of a grid only the place along the heading differs
        kept = [point[:1] for point in points[::size]] if across else [point[:2] for point in points]
        places = Table([c for point in kept for c in point])
    row = stages.variable(f"{name}.row", 1 if across else 2 * size)
    one = stages.variable(f"{name}.found", size)

    def row_heights(place: Scalars, row: Scalars, *numbers: Scalars) -> list[Scalar]:
        x, y, c, s = place
        here = varying.ground(*numbers) if varying else ground
        own = [(row[0], b) for b in across] if across else list(zip(row[::2], row[1::2], strict=True))
        return heights(here, [x + c * a - s * b for a, b in own], [y + s * a + c * b for a, b in own])

    with stages.loop(stages.variables[found] // size, slices={row: places, one: found}):
        stages.add(row_heights, (place, row, *([varying.parameters] if varying else [])), (one,))


def _rows(points: Sequence[Sequence[float]]) -> tuple[int, list[Scalar]]:
    """How many points are in a row, and where these are across the heading if they are so in all rows of a grid."""
    n = len(points)
    for size in range(min(n, _MOST_TOGETHER), 1, -1):
        rows = [points[i : i + size] for i in range(0, n, size)]
        across = [point[1] for point in rows[0]]
        is_grid = all(len({point[0] for point in row}) == 1 and [point[1] for point in row] == across for row in rows)
        if n % size == 0 and is_grid:
            return size, list(across)
    return _together(n), []


def _together(n: int) -> int:
    """The longest row that n points can be split into."""
    return next(size for size in range(min(n, _MOST_TOGETHER), 0, -1) if n % size == 0)
