"""The scene in the browser, common to viewer, live mode and replay: robots, ground, forces, traces and camera.

A robot is meshes on nodes that follow its bodies, with marks, and arrows for its contact forces.
"""

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.checks import check, check_known, is_real
from pliant.errors import PliantError, unknown_name
from pliant.plots.figures import round_number
from pliant.recording.source import Source
from pliant.render.log_motion import LogMotion, side_by_side, spread
from pliant.render.robot_drawing import (
    DETAIL, Drawing, body_poses, contact_meshes, drawing, homogeneous, inertia_box, points_of_contacts,
)  # fmt: skip
from pliant.render.shapes import (
    Mesh, arrow, cone, directed, downhill_azimuth, ground_mesh, joined, moved, quaternions, sphere,
)  # fmt: skip
from pliant.robot import Robot
from pliant.robot.mechanism import keepers

LAYOUTS = ("grid", "overlay")
"""Several robots are side by side, or all in one place with all but the first faint."""

FARTHEST = 8.0
"""Distance from the start up to which a robot is in the picture, in sizes of the robot."""

GROUND_COLOR = (228, 232, 228)
FIELD_OF_VIEW = math.radians(40)
TOWARDS = np.array([1.0, -1.15, 0.5]) / math.hypot(1.0, 1.15, 0.5)
"""Direction from the robot to the camera: front, right and above, since robots face along x."""

SHOWN = ("frames", "inertias", "mass", "contacts", "names", "forces", "cones")
"""Marks: frames of bodies, inertia ellipsoids, centre of mass, contact points, names of bodies, contact forces, cones
of friction."""

TRACE_COLORS = [(38, 92, 150), (214, 96, 30), (60, 140, 80), (150, 60, 140), (120, 120, 40)]
ACCENT, FORCE_COLOR, CONE_COLOR = (235, 120, 30), (214, 40, 57), (60, 160, 110)
ALIKE = 0.06  # difference of colours that cannot be seen
LONGEST = 1.2  # of an arrow, in sizes of the robot


class BrowserScene:
    """The robots of a source in viser's scene.

    Args:
        server: viser's.
        source: robot, ground and contacts.
        q: configurations that fit into the picture, (robots, steps, nq).
        layout, show, follow, detail, packages: as in `Log.view`.

    Attributes:
        factor: by which deflections of flexible joints are exaggerated.
        follow: whether the picture follows the robots.
        size: of one robot [m].
    """

    def __init__(
        self, server: Any, source: Source, q: np.ndarray, *, layout: str = "grid",
        show: str | Iterable[str] | None = (), follow: bool | None = None, detail: int = DETAIL, packages: Any = (),
    ):  # fmt: skip
        check_known("layout", layout, LAYOUTS)
        self.server, self.source, self.robot = server, source, source.robot
        marks, count = [show] if isinstance(show, str) else list(show or ()), len(q)
        for mark in marks:
            if mark not in SHOWN:
                error = PliantError(unknown_name("mark", mark, SHOWN, "the viewer"))
                raise error.with_cure(f"{error.cure.partition(';')[0]} show= takes {', '.join(SHOWN)}")
        self.drawing = drawing(self.robot, detail=max(2000, detail // count), packages=packages)
        self.size, self.factor = self.drawing.size, 1.0
        self.world = server.scene.add_frame("/world", show_axes=False)
        poses = body_poses(self.robot, q[:, spread(q.shape[1], 60)])
        travel = center_of_mass(self.robot, poses).mean(axis=0)[:, :2]
        far = float(np.linalg.norm(travel - travel[:1], axis=-1).max())
        self._home, self.follow = travel[0], far > self.size if follow is None else bool(follow)
        low, high = self._box(q[0, 0], poses[..., :3, 3].reshape(-1, 3))
        self._heights = float(low[2]), float(high[2])
        # a little farther apart than the robots reach, unless they are all in one place
        extent = high - low
        step = 1.3 * np.maximum(extent[:2], 0.4 * extent.max()) * (layout == "grid")
        self.offsets = side_by_side(count, *step)
        low, high = low + self.offsets.min(axis=0), high + self.offsets.max(axis=0)
        _add_ground(server, source.ground, low, high, self.size)
        _aim(server, low, high, source.ground)
        self.box = low, high
        faint = 1.0 if layout == "grid" else 0.35
        self.robots = [
            RobotNode(server.scene, self.drawing, f"robot {k}", offset, 1.0 if k == 0 else faint)
            for k, offset in enumerate(self.offsets)
        ]
        touching = self.robots if self.robot.contact_points else []
        self.contacts = [ContactMarks(server.scene, node.name, source, self.size) for node in touching]
        self.shown = dict.fromkeys(SHOWN, False) | {"forces": True}
        for mark in marks:
            self.show(mark, True)
        self._last: tuple[np.ndarray, np.ndarray | None] | None = None
        self._lock = threading.RLock()  # the thread of the clock draws, and so do those of the page

    def _box(self, q: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A box [m] around the robots over time, from q at first and places of bodies, limited to `FARTHEST`."""
        low, high = self.drawing.bounds(q)
        if self.follow:
            places = np.clip(places, [*low[:2], -np.inf], [*high[:2], np.inf])
        margin = (high - low) / 20
        far = FARTHEST * self.size
        lowest = np.minimum(low, places.min(axis=0, initial=np.inf) - margin)
        highest = np.maximum(high, places.max(axis=0, initial=-np.inf) + margin)
        return np.maximum(lowest, low - far), np.minimum(highest, high + far)

    def draw(self, q: np.ndarray, forces: np.ndarray | None = None) -> None:
        """Put the robots into configurations (robots, nq), with forces (robots, contacts, 3) [N] at their contacts."""
        with self._lock, self.server.atomic():
            self._last = q, forces
            poses = body_poses(self.robot, exaggerated(self.robot, q, self.factor))
            centers = points_of_contacts(self.robot, q, poses)
            shift = np.zeros(3)
            if self.follow:
                # the world moves, since the camera belongs to the user
                center = center_of_mass(self.robot, poses).mean(axis=0)
                shift[:2] = self._home - center[:2]
                # hops are visible; a robot that leaves the picture up or down is followed
                shift[2] = np.clip(center[2], *self._heights) - center[2]
            self.world.position = shift
            for k, node in enumerate(self.robots):
                node.pose(poses[k])
                if self.contacts:
                    shown = np.zeros_like(centers[k]) if forces is None else forces[k]
                    self.contacts[k].update(centers[k], shown)

    def redraw(self) -> None:
        """Draw the same state again, after a change of ``factor`` or ``follow``."""
        if self._last is not None:
            self.draw(*self._last)

    def show(self, mark: str, is_shown: bool) -> None:
        """Switch marks of `SHOWN` on or off."""
        self.shown[mark] = is_shown
        if mark in ("forces", "cones"):
            for marks in self.contacts:
                (marks.arrows if mark == "forces" else marks.cones).visible = is_shown
            return
        for node in self.robots:
            node.show(mark, is_shown)

    def trace(self, name: str, paths: Sequence[np.ndarray]) -> None:
        """Add lines along paths (n, 3) [m], one for each robot."""
        color = TRACE_COLORS[sum(map(ord, name)) % len(TRACE_COLORS)]
        style = {"thickness": 2.5, "thickness_units": "screen"}
        for robot, path in zip(self.robots, paths, strict=True):
            lines = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
            if len(lines):
                self.server.scene.add_line_segments(f"/world/{robot.name}/trace {_plain(name)}", lines, color, **style)


def log_scene(
    server: Any, motion: LogMotion, traces: Sequence[str], deflection: float, **options: Any
) -> tuple[BrowserScene, Callable[[int], None]]:
    """The scene of a log, and a function that draws one of its steps.

    Args:
        traces, deflection: as in `Log.view`.
        options: of `BrowserScene`.
    """
    check("deflection", deflection, "a finite number", is_real(deflection), subject="the viewer", error=PliantError)
    scene = BrowserScene(server, motion.source, motion.q, **options)
    scene.factor = float(deflection)
    for name in traces:
        frame = None if name == "mass" else motion.robot.frame(name).name
        scene.trace(name, [motion.path(frame, k) for k in range(len(motion.q))])

    def draw(step: int) -> None:
        scene.draw(motion.q[:, step], None if motion.forces is None else motion.forces[:, step])

    return scene, draw


# ---- ground and camera


def _add_ground(server: Any, ground: Any, low: np.ndarray, high: np.ndarray, size: float) -> None:
    """Add the ground below a box [m]: a grid if flat, else a surface with lines; a faint grid if there is none."""
    cell = round_number(size / 4)
    center = (low + high) / 2
    if ground is None or ground.is_flat:
        z = float(low[2]) if ground is None else float(np.ravel(ground.height(np.zeros(1), np.zeros(1)))[0])
        colors = {"cell": (205, 208, 212), "section": (160, 166, 174), "plane": (236, 238, 240)}
        look: dict[str, Any] = {f"{part}_color": color for part, color in colors.items()}
        look |= {"shadow_opacity": 0.05} if ground is None else {"plane_opacity": 1.0, "shadow_opacity": 0.25}
        sizes = {"cell_size": cell, "section_size": 5 * cell, "fade_distance": 12 * size}
        server.scene.add_grid("/world/ground", infinite_grid=True, position=(0.0, 0.0, z), **sizes, **look)
        return
    reach = max(float((high - low)[:2].max()) / 2 + size, 2 * size)
    span = [math.floor(c / cell) * cell for c in center[:2] - reach]
    span += [math.ceil(c / cell) * cell for c in center[:2] + reach]
    mesh = ground_mesh(ground, span)
    # a ground that casts shadows would cast them on itself
    server.scene.add_mesh_simple("/world/ground", *mesh, color=GROUND_COLOR, side="double", cast_shadow=False)
    lines, style = _ground_lines(ground, span, cell, 0.004 * size), {"thickness": 1.0, "thickness_units": "screen"}
    server.scene.add_line_segments("/world/ground/lines", lines, (150, 158, 152), **style)


def _ground_lines(ground: Any, span: list[float], cell: float, lift: float) -> np.ndarray:
    """Lines on the ground along x and y, (n, 2, 3)."""
    x0, y0, x1, y1 = span
    segments = []
    for first, last, start, end, turn in ((x0, x1, y0, y1, False), (y0, y1, x0, x1, True)):
        along = np.linspace(start, end, 161)
        for c in np.arange(first, last + cell / 2, cell):
            x, y = (along, np.full_like(along, c)) if turn else (np.full_like(along, c), along)
            line = np.stack([x, y, np.asarray(ground.height(x, y)) + lift], axis=-1)
            segments.append(np.stack([line[:-1], line[1:]], axis=1))
    return np.concatenate(segments).astype(np.float32)


def _aim(server: Any, low: np.ndarray, high: np.ndarray, ground: Any = None) -> None:
    """Aim the camera at a box [m] from the front, or from downhill where the ground rises."""
    size = max(float(np.linalg.norm(high - low)), 1e-3)
    center = (low + high) / 2
    x, y, z = TOWARDS
    azimuth = downhill_azimuth(ground, center[:2] - size, center[:2] + size, math.atan2(y, x))
    level = math.hypot(x, y)
    towards = np.array([level * math.cos(azimuth), level * math.sin(azimuth), z])
    position = camera_place(low, high, towards)
    camera = server.initial_camera
    camera.position, camera.look_at, camera.fov = tuple(position), tuple(center), FIELD_OF_VIEW
    camera.near, camera.far = 0.01 * size, 1000 * size


def camera_place(low: np.ndarray, high: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """Where a camera sees a box [m] from a direction (3)."""
    size = max(float(np.linalg.norm(high - low)), 1e-3)
    return (low + high) / 2 + towards * (0.62 * size / math.tan(FIELD_OF_VIEW / 2))


# ---- robots


class RobotNode:
    """One robot in viser's scene, on a node of its own name.

    Args:
        offset: origin of its world [m].
        opacity: factor of the opacity of its parts.
    """

    def __init__(self, scene: Any, drawing: Drawing, name: str, offset: Any = (0, 0, 0), opacity: float = 1.0):
        self.scene, self.drawing, self.robot, self.name = scene, drawing, drawing.robot, name
        self.root = scene.add_frame(f"/world/{name}", show_axes=False, position=tuple(map(float, offset)))
        self.keeper = keepers(self.robot)
        self.index = {body: k for k, body in enumerate(self.robot.bodies)}
        kept = {k for k, _ in self.keeper.values() if k in self.index}
        s = drawing.size
        axes = {"axes_length": 0.16 * s, "axes_radius": 0.004 * s, "origin_radius": 0.006 * s, "show_axes": False}
        bodies = [body for body in self.robot.bodies if body in kept]
        self.nodes = {body: scene.add_frame(self.path(body), **axes) for body in bodies}
        # parts fixed together and of nearly one colour become one mesh: fewer meshes move more smoothly
        groups: dict[tuple[str, tuple[float, ...]], list[Mesh]] = {}
        for part in sorted(drawing.parts, key=lambda part: -len(part.faces)):
            body, X_KB = self.keeper[part.body]
            near = (key for key in groups if key[0] == body and np.allclose(key[1], part.color, rtol=0, atol=ALIKE))
            meshes = groups.setdefault(next(near, (body, part.color)), [])
            meshes.append(moved(Mesh(part.vertices, part.faces), homogeneous(X_KB)))
        self.meshes: list[tuple[Any, str]] = []
        for k, ((body, color), meshes) in enumerate(groups.items()):
            alpha = color[3] * opacity
            look = {"color": tuple(round(255 * c) for c in color[:3]), "opacity": None if alpha >= 1 else alpha}
            mesh = scene.add_mesh_simple(f"{self.path(body)}/mesh {k}", *joined(meshes), side="double", **look)
            self.meshes.append((mesh, body))
        self.marks: dict[str, list[Any]] = {}
        self._poses = np.zeros((0, 4, 4))

    def path(self, body: str) -> str:
        """The node of a body."""
        return f"/world/{self.name}/{_plain(body)}"

    def pose_of(self, body: str) -> np.ndarray:
        """X_WB (4, 4) of a body as it is shown, in the world of the robot."""
        return self._poses[self.index[body]]

    def pose(self, poses: np.ndarray) -> None:
        """Put the bodies at poses X_WB, (bodies, 4, 4)."""
        self._poses = poses
        chosen = poses[[self.index[body] for body in self.nodes]]
        for handle, p, turn in zip(self.nodes.values(), chosen[:, :3, 3], _turns(chosen[:, :3, :3]), strict=True):
            handle.position, handle.wxyz = p, turn
        if "mass" in self.marks:
            self.marks["mass"][0].position = center_of_mass(self.robot, poses)

    def show(self, mark: str, is_shown: bool) -> None:
        """Switch one of `MARKS`, which is made when it is first shown."""
        if mark == "frames":
            for handle in self.nodes.values():
                handle.show_axes = is_shown
            return
        if mark not in self.marks and is_shown:
            self.marks[mark] = getattr(self, f"_{mark}")()
            if len(self._poses):
                self.pose(self._poses)
        for handle in self.marks.get(mark, ()):
            handle.visible = is_shown

    def _inertias(self) -> list[Any]:
        """Ellipsoids of uniform density with the bodies' mass and inertia."""
        made, ball = [], sphere(1.0)
        for body in self.robot.bodies.values():
            X, sides = inertia_box(body)
            if not sides.max() > 1e-6:
                continue
            kept, X_KB = self.keeper[body.name]
            # semi-axes s of an ellipsoid have the second moments m s^2 / 5, sides a of a box m a^2 / 12
            stretch = np.diag([*np.maximum(np.sqrt(5 / 12) * sides, 0.002 * self.drawing.size), 1])
            mesh = moved(ball, homogeneous(X_KB) @ X @ stretch)
            path, look = f"{self.path(kept)}/inertia {_plain(body.name)}", {"color": (80, 140, 230), "opacity": 0.35}
            made.append(self.scene.add_mesh_simple(path, *mesh, cast_shadow=False, **look))
        return made

    def _mass(self) -> list[Any]:
        radius = 0.018 * self.drawing.size
        return [self.scene.add_icosphere(f"/world/{self.name}/center of mass", radius, color=ACCENT, subdivisions=3)]

    def _contacts(self) -> list[Any]:
        made = []
        look = {"color": (220, 50, 60), "opacity": 0.7}
        for k, point in enumerate(p for p in self.robot.contact_points if p.support is None):
            kept, X_KB = self.keeper[point.body]
            radius = max(float(point.radius), 0.008 * self.drawing.size)
            center = np.array([float(x) for x in X_KB.transform_point(point.center)])
            path = f"{self.path(kept)}/contact {k}"
            made.append(self.scene.add_icosphere(path, 1.03 * radius, position=center, **look))
        for shape in self.robot.contacts.values():
            kept, X_KB = self.keeper[shape.body]
            for name, mesh in contact_meshes(shape, 0.003 * self.drawing.size) if shape.sizes else ():
                path = f"{self.path(kept)}/contact {_plain(name)}"
                made.append(self.scene.add_mesh_simple(path, *moved(mesh, homogeneous(X_KB)), **look))
        return made

    def _names(self) -> list[Any]:
        kept = [b for b in self.nodes if self.robot.bodies[b].inertia.mass]
        return [self.scene.add_label(f"{self.path(b)}/name", b) for b in kept]


class ContactMarks:
    """Arrows and cones at the contact points of one robot, whose weight is an arrow a third as long as the robot."""

    def __init__(self, scene: Any, name: str, source: Source, size: float):
        robot = source.robot
        self.ground, self.size, self.mu = source.ground, size, friction_of(source)
        self.radii = np.array([float(p.radius) for p in robot.contact_points])
        weight = float(robot.mass) * max(float(np.linalg.norm([float(g) for g in robot.gravity])), 1e-6)
        self.per_newton = 0.35 * size / max(weight, 1e-9)
        n = len(self.radii)
        places = {
            "batched_wxyzs": np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)), "batched_positions": np.zeros((n, 3)),
            "batched_scales": np.full((n, 3), 1e-6), "lod": "off", "cast_shadow": False, "receive_shadow": False,
        }  # fmt: skip
        look = {"batched_colors": CONE_COLOR, "opacity": 0.3, "side": "double", "visible": False}
        add = scene.add_batched_meshes_simple
        self.arrows = add(f"/world/{name}/forces", *arrow(1.0, 0.035), **places, batched_colors=FORCE_COLOR)
        self.cones = add(f"/world/{name}/cones", *cone(1.0, 1.0), **places, **look)

    def update(self, centers: np.ndarray, forces: np.ndarray) -> None:
        """Show forces (contacts, 3) [N] at contact points with centres (contacts, 3) [m]."""
        normals = ground_normals(self.ground, centers)
        feet = centers - self.radii[:, None] * normals
        # the arrow of an impact would leave the picture
        lengths = np.minimum(np.linalg.norm(forces, axis=-1) * self.per_newton, LONGEST * self.size)
        is_on = lengths > 1e-3 * self.size
        place_arrows(self.arrows, feet, forces, lengths, self.size)
        height = 0.1 * self.size
        cones = np.stack([self.mu * height, self.mu * height, np.full_like(self.mu, height)], axis=-1)
        _place(self.cones, feet, normals, np.where((is_on & (self.mu > 0))[:, None], cones, 1e-6))


def place_arrows(handle: Any, places: np.ndarray, directions: np.ndarray, lengths: np.ndarray, size: float) -> None:
    """Put arrows (n) of these lengths [m] at places (n, 3); those that are too short for a robot of a size vanish."""
    wide = np.clip(lengths, 0.1 * size, 0.3 * size)
    scales = np.stack([wide, wide, lengths], axis=-1)
    _place(handle, places, directions, np.where((lengths > 1e-3 * size)[:, None], scales, 1e-6))


def _place(handle: Any, positions: np.ndarray, directions: np.ndarray, scales: np.ndarray) -> None:
    handle.batched_positions = positions.astype(np.float32)
    handle.batched_wxyzs = _turns(directed(directions)).astype(np.float32)
    handle.batched_scales = np.maximum(scales, 1e-6).astype(np.float32)


def ground_normals(ground: Any, points: np.ndarray) -> np.ndarray:
    """Unit normals (n, 3) of the ground below points (n, 3)."""
    if ground is None or not len(points):
        return np.tile([0.0, 0.0, 1.0], (len(points), 1))
    x, y, z = ground.surface(points[:, 0], points[:, 1])[1]
    return np.stack(np.broadcast_arrays(x, y, z), axis=-1)


def friction_of(source: Source) -> np.ndarray:
    """Coefficients of friction of the robot's contact points (contacts,); 0 where unknown."""
    contact = source.settings.get("contact")
    general = contact.get("friction") if isinstance(contact, Mapping) else None
    general = source.settings.get("friction", general)
    known = getattr(source.ground, "friction", None), general
    points = source.robot.contact_points
    return np.array([next((float(m) for m in (p.friction, *known) if isinstance(m, int | float)), 0.0) for p in points])


def exaggerated(robot: Robot, q: Any, factor: float) -> np.ndarray:
    """Configurations (..., nq) with the deflections of the flexible joints times a factor."""
    q = np.asarray(q, dtype=float)
    if factor == 1 or not robot.flexibilities:
        return q
    neutral = np.broadcast_to(robot.neutral(), q.shape)
    v = np.asarray(robot.difference(neutral, q))
    scaled = np.asarray(robot.integrate(neutral, factor * v))
    found = q.copy()
    for name in robot.flexibilities:
        span = robot.q_slice(name)
        found[..., span] = scaled[..., span]
    return found


def center_of_mass(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """The centre of mass (..., 3) [m] of a robot with its bodies at poses (..., bodies, 4, 4)."""
    inertias = [body.inertia for body in robot.bodies.values()]
    mass = np.array([float(i.mass) for i in inertias])
    first = np.array([[float(x) for x in i.h] for i in inertias])
    moments = np.einsum("...bij,bj->...i", poses[..., :3, :3], first)
    moments = moments + np.einsum("...bi,b->...i", poses[..., :3, 3], mass)
    return moments / max(mass.sum(), 1e-300)


def _turns(R: np.ndarray) -> np.ndarray:
    """Quaternions (..., 4) of rotations (..., 3, 3), real part first, as viser takes them."""
    return np.roll(quaternions(R), 1, axis=-1)


def _plain(name: str) -> str:
    """A name without the separator of nodes."""
    return name.replace("/", " ")
