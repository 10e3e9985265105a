"""A log that plays inside a page: in a notebook, or in any HTML, without a server, a network or a frame."""

import base64
import html
import itertools
import json
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from pliant.checks import check, check_at_least, is_real, is_whole
from pliant.errors import PliantError
from pliant.notebook.pictures import as_picture
from pliant.plots.figures import round_number
from pliant.recording.log import Log
from pliant.render.log_motion import LogMotion, side_by_side
from pliant.render.robot_drawing import body_poses, drawing, points_of_contacts
from pliant.render.shapes import Mesh, arrow, creased, downhill_azimuth, ground_mesh, normals, quaternions
from pliant.render.studio import LogFrames, RobotSurface, smooth_path

SPEEDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4)
MOST_FRAMES = 1500
"""Of a replay; a longer one has fewer frames a second, and the player moves smoothly between them."""

_MOST = 9  # robots of a batch that are shown by default
_HALF = 0.25  # of the field of view [rad], as in player.js
_POSTER = (960, 540)
_numbers = itertools.count()

_STYLE = """
.pliant-replay{max-width:960px;font:13px system-ui,sans-serif}
.pliant-stage{position:relative;border-radius:6px;overflow:hidden;background:#f4f5f8}
.pliant-stage canvas,.pliant-stage img{position:absolute;inset:0;width:100%;height:100%;margin:0;outline:none}
.pliant-stage img{object-fit:cover}.pliant-stage canvas{cursor:grab;touch-action:none}
.pliant-bar{display:flex;gap:10px;align-items:center;padding:6px 2px;color:inherit}
.pliant-bar button{width:34px;height:26px;cursor:pointer}.pliant-bar input[type=range]{flex:1;min-width:60px}
.pliant-bar output{min-width:4.5em;text-align:right;font-variant-numeric:tabular-nums}
.pliant-bar label{display:flex;gap:4px;align-items:center}
"""


class Replay:
    """A log that plays inside a notebook or a page: play, speed, a time slider, and a camera to turn.

    All of it is in the HTML: the robot, its motion, the contact forces and the player, which draws with WebGL. So it
    works in Jupyter, VS Code and Colab, without a frame and without network. Where scripts are not allowed, it is the
    picture of one moment. `Log.replay` makes one, and has the arguments.

    Attributes:
        fps: frames a second of the log's time.
        html: the element and its script, to be put into any page.
    """

    def __init__(
        self, log: Log, *, robots: Any, fps: float, speed: float, play: bool, forces: bool, follow: bool | None,
        height: int, detail: int, packages: Any,
    ):  # fmt: skip
        is_rate = is_real(fps) and 0 < fps <= 1000
        check("fps", fps, "frames a second, above 0 and up to 1000", is_rate, subject="replay", error=PliantError)
        check_at_least("speed", speed, 0, strict=True, subject="replay", error=PliantError)
        is_height = is_whole(height) and 100 <= height <= 4000
        check("height", height, "100 to 4000 pixels", is_height, subject="replay", error=PliantError)
        motion = LogMotion(log, "log.replay()", robots, _MOST)
        self.fps = min(float(fps), MOST_FRAMES / motion.duration) if motion.duration else float(fps)
        self.duration, self._robot = motion.duration, motion.robot
        about, packed = _content(motion, self.fps, forces=forces, follow=follow, detail=detail, packages=packages)
        speeds = sorted({*SPEEDS, float(speed)})
        about |= {"speed": float(speed), "speeds": speeds, "plays": bool(play)}
        poster = _poster(motion, forces, packages)
        # two replays of one log are two elements
        name = f"pliant-{zlib.crc32(packed.encode()):08x}-{next(_numbers)}"
        label = html.escape(f"replay of {motion.robot.name!r}, {motion.duration:.4g} s")
        picture = f'<img class="pliant-poster" alt="{label}" src="{poster}">' if poster else ""
        script = Path(__file__).with_name("player.js").read_text(encoding="utf-8")
        # no text can end the script early
        told = json.dumps(about).replace("<", "\\u003c")
        self.html = (
            f'<div class="pliant-replay" id="{name}" role="group" aria-label="{label}"><style>{_STYLE}</style>'
            f'<div class="pliant-stage" style="height:{height}px">{picture}</div></div>'
            f"<script>{script.rstrip()}({json.dumps(name)}, {told}, {json.dumps(packed)});</script>"
        )

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        size = len(self.html) / 1e6
        return f"Replay of {self._robot.name!r}: {self.duration:.4g} s, {self.fps:.4g} frames a second, {size:.2g} MB"


class _Bytes:
    """Arrays one after another, each at a multiple of four bytes."""

    def __init__(self):
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, array: np.ndarray) -> list[int]:
        """Where an array begins [bytes], and how many entries it has."""
        content = np.ascontiguousarray(array).tobytes()
        start = self.size
        content += bytes(-len(content) % 4)
        self.parts.append(content)
        self.size += len(content)
        return [start, int(array.size)]

    def mesh(self, mesh: Mesh, turned: np.ndarray) -> dict[str, Any]:
        """A mesh with its normals: places in 65,536 steps of its box, normals in 127."""
        low = mesh.vertices.min(axis=0)
        size = np.maximum(mesh.vertices.max(axis=0) - low, 1e-9)
        rows = np.zeros(len(mesh.vertices), dtype=[("place", "<u2", 4), ("normal", "i1", 4)])
        rows["place"][:, :3] = np.rint((mesh.vertices - low) / size * 65535)
        rows["normal"][:, :3] = np.rint(127 * turned)
        vertices = self.add(rows.view(np.uint8))
        faces = self.add(mesh.faces.astype("<u4"))
        return {"vertices": vertices, "faces": faces, "low": low.tolist(), "size": size.tolist()}

    def packed(self) -> str:
        """All of it, deflated, in base64."""
        return base64.b64encode(zlib.compress(b"".join(self.parts), 7)).decode("ascii")


def _content(
    motion: LogMotion, fps: float, *, forces: bool, follow: bool | None, detail: int, packages: Any
) -> tuple[dict[str, Any], str]:
    """What the player reads: a description, and the bytes that it describes."""
    robot, ground = motion.robot, motion.source.ground
    count = int(motion.duration * fps * (1 + 1e-9)) + 1
    q, steps = motion.at(motion.t[0] + np.arange(count) / fps)
    poses = body_poses(robot, q)
    if not np.isfinite(poses).all():
        problem, cure = "the log has positions that are not finite", "log.between() cuts them off"
        raise PliantError(problem, subject="the log", field="q", cure=cure)
    surface = RobotSurface(robot, packages=packages, detail=detail)
    is_flat = ground is None or ground.is_flat
    points = points_of_contacts(robot, q, poses) if forces and motion.forces is not None else None
    if is_flat:
        offsets = side_by_side(len(q), 1.1 * surface.size, 1.1 * surface.size)
        poses[..., :3, 3] += offsets[:, None, None]
        points = None if points is None else points + offsets[:, None, None]
    low, high = (f(b, axis=0) for f, b in zip((np.min, np.max), surface.boxes(poses), strict=True))
    centers = (low + high) / 2
    radius = float(np.linalg.norm(high - low, axis=-1).max()) / 2
    whole = np.stack([low.min(axis=0), high.max(axis=0)])
    travels = float(np.linalg.norm(whole[1] - whole[0])) / 2
    follows = travels > 1.5 * radius if follow is None else bool(follow)
    data = _Bytes()
    drawn = drawing(robot, detail=detail, packages=packages)
    names = list(dict.fromkeys(part.body for part in drawn.parts))
    rows = list(robot.bodies)
    chosen = poses[:, :, [rows.index(name) for name in names]]
    places = np.concatenate([chosen[..., :3, 3], quaternions(chosen[..., :3, :3])], axis=-1).swapaxes(0, 1)
    arrows = np.zeros((count, len(q), 0, 6))
    if points is not None and motion.forces is not None:
        scale = surface.arrow_scale(motion.forces)
        arrows = np.concatenate(
            [_feet(motion, points), _limited(motion.forces[:, steps] * scale, surface.size)], axis=-1
        )
        arrows = arrows.swapaxes(0, 1)
    tip = creased(arrow(1.0, 0.04))
    under, floor = _ground(motion, whole, radius, is_flat)
    distance = 0.97 * (radius if follows else travels) / math.sin(_HALF)
    azimuth = downhill_azimuth(ground, whole[0, :2], whole[1, :2], math.radians(40))
    about = {
        "frames": count, "robots": len(q), "bodies": len(names), "contacts": arrows.shape[2],
        "poses": data.add(places.astype("<f4")),
        "centers": data.add(smooth_path(centers, round(0.8 * fps)).astype("<f4")),
        "forces": data.add(arrows.astype("<f4")), "arrow": data.mesh(tip, normals(tip)),
        "parts": [
            data.mesh(Mesh(p.vertices, p.faces), p.normals) | {"body": names.index(p.body), "color": list(p.color)}
            for p in drawn.parts
        ],
        "ground": data.mesh(under, normals(under)), "flat": is_flat, "floor": floor, "tile": round_number(radius / 2),
        "radius": radius, "middle": whole.mean(axis=0).tolist(), "distance": distance, "azimuth": azimuth,
        "follow": follows, "fps": fps, "start": float(motion.t[0]),
    }  # fmt: skip
    return about, data.packed()


def _feet(motion: LogMotion, points: np.ndarray) -> np.ndarray:
    """Where contacts touch: below their centres (robots, frames, contacts, 3), by their radius along the normal."""
    ground, up = motion.source.ground, np.zeros_like(points)
    up[..., 2] = 1
    if ground is not None:
        up = np.stack(np.broadcast_arrays(*ground.surface(points[..., 0], points[..., 1])[1]), axis=-1)
    return points - np.array([float(p.radius) for p in motion.robot.contact_points])[:, None] * up


def _limited(arrows: np.ndarray, longest: float) -> np.ndarray:
    """Arrows (..., 3), none longer than that: the force of an impact would leave the picture."""
    arrows = np.nan_to_num(arrows, posinf=0.0, neginf=0.0)
    length = np.linalg.norm(arrows, axis=-1, keepdims=True)
    return arrows * np.minimum(1.0, longest / np.maximum(length, 1e-12))


def _ground(motion: LogMotion, whole: np.ndarray, radius: float, is_flat: bool) -> tuple[Mesh, float]:
    """The ground as a mesh, and the height of a flat one [m]; a flat one goes along with the camera."""
    ground, low = motion.source.ground, float(whole[0, 2])
    if is_flat:
        floor = min(low, 0.0) if ground is None else float(np.ravel(ground.height(np.zeros(1), np.zeros(1)))[0])
        r = 60 * max(radius, 0.5 * float(np.linalg.norm(whole[1] - whole[0])))
        corners = np.array([[-r, -r, 0], [r, -r, 0], [r, r, 0], [-r, r, 0.0]])
        return Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]])), floor
    assert ground is not None
    span = [*(whole[0, :2] - 4 * radius), *(whole[1, :2] + 4 * radius)]
    return creased(ground_mesh(ground, span, cells=120)), low


def _poster(motion: LogMotion, forces: bool, packages: Any) -> str:
    """A picture of the middle of the log as the address of an image; empty without Pillow."""
    middle = np.array([motion.t[0] + motion.duration / 2])
    options = {"camera": None, "forces": forces, "packages": packages, "fps": 1, "detail": 40_000}
    return as_picture(LogFrames(motion, middle, **options).picture(0, *_POSTER))
