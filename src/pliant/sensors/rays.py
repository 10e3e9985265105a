"""Range finders and height scans: rays against ground and robot, one by one or as stages of a program.

Many rays are a loop of the program, so that its code is that of one ray, or of one row of a scan, however many there
are. Inside, another loop takes the rounds that a ray needs on its ground (`GroundRay`), until all robots are done.

    stages = Stages(p=3, R=9, distances=2 * len(rays))
    range_stages(stages, "lidar", rays, ground, place=("p", "R"), found="distances", reach=10)
"""

from collections.abc import Callable, Collection, Sequence

import numpy as np

from pliant.compiler.tracing import Stages
from pliant.contact.ground import Ground
from pliant.contact.ground_faces import MapFaces, StairFaces
from pliant.errors import TraceError
from pliant.robot import Robot
from pliant.scalar import Expr, Scalar, Scalars, equal, is_constant, maximum, minimum, select
from pliant.sensors.ground_rays import RESOLUTION, GroundRay, PlaneRay, Ray, SearchedRay, StairRay
from pliant.sensors.map_rays import MapRay
from pliant.sensors.shape_rays import robot_distance
from pliant.spatial import Matrix3, Transform, Vector

# points of a scan that are computed in one go: enough to keep the processor busy, few enough to compile at once
_MOST_TOGETHER = 24


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
        return PlaneRay(_level(ground, p)).end(Ray(p, d, reach), [])
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


def _level(ground: Ground, p: Vector) -> Ground:
    """The ground as a vertical ray sees it: as high everywhere as below, or above, a point."""
    return Ground(lambda x, y, h: h, ground.name, parameters=(ground.height(p.x, p.y),))


def heights(ground: Ground, xs: Sequence[Scalar], ys: Sequence[Scalar]) -> list[Scalar]:
    """Heights of the ground at points x and y [m]."""
    return [ground.height(x, y) for x, y in zip(xs, ys, strict=True)]


# ---- stages of a program


def range_stages(
    stages: Stages, name: str, rays: Sequence[Scalars], ground: Ground | None, *, place: str, found: str,
    reach: Scalar, resolution: float = RESOLUTION, robot: Robot | None = None, poses: str | None = None,
    without: Collection[str] = (),
) -> None:  # fmt: skip
    """Add the stages of a range finder to a program.

    Args:
        name: of the sensor: a prefix for what it adds to the program.
        rays: unit vectors in the frame of the sensor.
        ground: None if its rays pass through it.
        place: the pose of the sensor in the world, a variable or record of twelve numbers: origin, and rotation row by
            row.
        found: a variable, distance [m] and hit (1 or 0) for each ray.
        reach: how far rays go [m].
        resolution: see `ground_ray`.
        robot, poses, without: see `robot_distance`; poses is a record of twelve numbers for each link, as for place.
            None for rays that pass through the robot.
    """
    directions, direction, one = (f"{name}.{part}" for part in ("rays", "ray", "found"))
    stages.variable(directions, 3 * len(rays), is_scratch=True)
    stages.variable(direction, 3)
    stages.variable(one, 2)
    stages.add(lambda: [x for ray in rays for x in ray], (), (directions,))
    way = None if ground is None else ground_ray(ground, reach, resolution=resolution)
    going, state = f"{name}.over", f"{name}.state"

    def ray_of(place: Scalars, direction: Scalars) -> Ray:
        X_WS = _pose(place)
        return Ray(X_WS.p, X_WS.R.rotate(Vector(*direction)), reach)

    def begin(place: Scalars, direction: Scalars) -> list[Scalar]:
        assert way is not None
        return way.begin(ray_of(place, direction))

    def advance(place: Scalars, direction: Scalars, state: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        assert way is not None
        new = way.advance(ray_of(place, direction), state)
        return new, [equal(new[0], 0)]

    def end(place: Scalars, direction: Scalars, state: Scalars, poses: Sequence[Scalars]) -> list[Scalar]:
        ray = ray_of(place, direction)
        distance, hit = (ray.reach, 0) if way is None else way.end(ray, state)
        if robot is None:
            return [distance, hit]
        other, is_hit = robot_distance(robot, [_pose(X) for X in poses], *ray, without=without)
        return [minimum(distance, other), maximum(hit, is_hit)]

    with stages.loop(len(rays), slices={direction: directions, one: found}):
        has_rounds = way is not None and way.rounds > 0
        reads: tuple[str, ...] = (place, direction)
        if way is not None and has_rounds:
            stages.variable(going, 1)
            stages.variable(state, way.size)
            stages.add(begin, reads, (state,))
            with stages.loop(way.rounds, until=going):
                stages.add(advance, (*reads, state), (state, going))
            reads = (*reads, state)
        stages.add(_with(end, has_rounds, poses is not None), (*reads, *([poses] if poses else [])), (one,))


def _with(end: Callable[..., list[Scalar]], has_state: bool, has_poses: bool) -> Callable[..., list[Scalar]]:
    """The last stage, with nothing in place of what it does not read."""

    def stage(*read: Scalars) -> list[Scalar]:
        given = list(read)
        if not has_state:
            given.insert(2, [])
        return end(*given, *([] if has_poses else [[]]))

    return stage


def _pose(numbers: Scalars) -> Transform:
    """Twelve numbers, origin and rotation row by row, as a pose."""
    from pliant.spatial import MatrixRotation

    return Transform(MatrixRotation(Matrix3(numbers[3:])), Vector(*numbers[:3]))


def scan_stages(
    stages: Stages, name: str, points: Sequence[Scalars], ground: Ground, *, place: str, found: str
) -> None:
    """Add the stages of a height scan to a program.

    Args:
        name: of the sensor: a prefix for what it adds to the program.
        points: x and y of each, along and across the heading of the sensor [m].
        place: a variable or record: x and y of the sensor in the world [m], cosine and sine of its heading.
        found: a variable, the height of the ground in the world at each point [m].
    """
    rows = _rows(points)
    moving, row, one = (f"{name}.{part}" for part in ("points", "row", "found"))
    size = len(rows[0])
    is_grid = _is_grid(rows)
    # of a grid only the place along the heading differs from row to row
    kept = [[r[0][0]] if is_grid else [c for point in r for c in point[:2]] for r in rows]
    stages.variable(moving, len(rows) * len(kept[0]), is_scratch=True)
    stages.variable(row, len(kept[0]))
    stages.variable(one, size)
    stages.add(lambda: [x for r in kept for x in r], (), (moving,))

    def row_heights(place: Scalars, row: Scalars) -> list[Scalar]:
        x, y, c, s = place
        own = [(row[0], point[1]) for point in rows[0]] if is_grid else list(zip(row[::2], row[1::2], strict=True))
        return heights(ground, [x + c * a - s * b for a, b in own], [y + s * a + c * b for a, b in own])

    with stages.loop(len(rows), slices={row: moving, one: found}):
        stages.add(row_heights, (place, row), (one,))


def _rows(points: Sequence[Scalars]) -> list[list[Scalars]]:
    """The points in rows of equal length: those of a grid, or else as long as can be."""
    n = len(points)
    lengths = [k for k in range(1, min(n, _MOST_TOGETHER) + 1) if n % k == 0]
    split = {k: [list(points[i : i + k]) for i in range(0, n, k)] for k in lengths}
    grids = [k for k in lengths if k > 1 and _is_grid(split[k])]
    return split[max(grids or lengths)]


def _is_grid(rows: Sequence[Sequence[Scalars]]) -> bool:
    """Whether each row has one place along the heading, and all have the same places across, known beforehand."""
    if not all(is_constant(c) for row in rows for point in row for c in point[:2]):
        return False
    across = [point[1] for point in rows[0]]
    return all(len({point[0] for point in row}) == 1 and [point[1] for point in row] == across for row in rows)
