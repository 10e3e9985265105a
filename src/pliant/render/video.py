"""Videos and stills, without a screen: `Log.to_video`, `Log.to_image`, `Robot.to_image`."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from pliant.contact.ground import as_ground
from pliant.errors import PliantError, needs
from pliant.files.whole import whole_file
from pliant.progress import Progress
from pliant.recording.log import Log
from pliant.render.camera import Camera, as_camera
from pliant.render.drawing import body_poses
from pliant.render.encoders import write_gif, write_mp4
from pliant.render.film import Film
from pliant.render.images import Scene, Stage
from pliant.robot import Robot

__all__ = ["robot_image", "to_image", "to_video"]

Size = tuple[int, int]

_STILLS = (".png", ".jpg", ".jpeg", ".webp")
_FILMS = (".mp4", ".gif")
# most triangles of a robot: a film has many pictures, and nobody looks at one for long
_DETAIL, _FILM_DETAIL = 250_000, 100_000
# an hour at 30 a second, which takes hours to draw
_MOST_FRAMES = 108_000


def to_video(
    log: Log,
    path: str | os.PathLike[str],
    *,
    fps: float = 30,
    speed: float = 1.0,
    size: Size = (1280, 720),
    camera: Camera | str | dict[str, Any] | None = None,
    robots: int | slice | Sequence[int] | None = None,
    forces: bool = True,
    clock: bool = True,
    packages: Any = (),
    progress: bool | None = None,
) -> Path:
    """Write a log as a video: `Log.to_video`."""
    target = _checked_path(path, _FILMS, "a video")
    for name, value in (("fps", fps), ("speed", speed)):
        if not isinstance(value, int | float | np.integer | np.floating) or not 0 < value < np.inf:
            raise PliantError(f"to_video: {name} is {value!r}; it takes a number above zero")
    width, height = _checked_size(size)
    width, height = width - width % 2, height - height % 2  # the format has colors for pairs of pixels
    if target.suffix.lower() == ".mp4":
        needs("imageio_ffmpeg", "video", "a video as MP4")
    needs("PIL", "video", "log.to_video()")
    if not len(log):
        raise PliantError("to_video: the log has no steps")
    length = float(log.t[-1] - log.t[0])
    if length * fps / speed > _MOST_FRAMES:
        raise PliantError(
            f"to_video: {length:g} s with speed = {speed:g} and fps = {fps:g} are {length * fps / speed:.3g} pictures; "
            f"it takes up to {_MOST_FRAMES}: a larger speed, a smaller fps, or a part of the log, log.between()"
        )
    times = log.t[0] + np.arange(max(1, int(np.floor(length * fps / speed + 1e-6)) + 1)) * (speed / fps)
    shown = {"camera": camera, "robots": robots, "forces": forces, "packages": packages}
    film = Film(log, np.minimum(times, log.t[-1]), **shown, fps=fps, detail=_FILM_DETAIL, what="log.to_video()")

    def frame(k: int) -> np.ndarray:
        return _with_text(film.picture(k, width, height), f"{film.times[k]:.2f} s" if clock else "")

    with whole_file(target) as beside:
        write = write_mp4 if target.suffix.lower() == ".mp4" else write_gif
        write(beside, _with_bar(_in_order(frame, len(times)), film.times, target.name, progress), fps, (width, height))
    return target


def to_image(
    log: Log,
    path: str | os.PathLike[str],
    t: float | None = None,
    *,
    size: Size = (1280, 720),
    camera: Camera | str | dict[str, Any] | None = None,
    robots: int | slice | Sequence[int] | None = None,
    forces: bool = True,
    clock: bool = False,
    packages: Any = (),
) -> Path:
    """Write a picture of one moment of a log: `Log.to_image`."""
    target = _checked_path(path, _STILLS, "a picture")
    width, height = _checked_size(size)
    needs("PIL", "video", "log.to_image()")
    if not len(log):
        raise PliantError("to_image: the log has no steps")
    t = float(log.t[-1] if t is None else t)
    if not log.t[0] - 1e-9 <= t <= log.t[-1] + 1e-9:
        raise PliantError(f"to_image: t = {t:g} s is not in the log, which goes from {log.t[0]:g} to {log.t[-1]:g} s")
    shown = {"camera": camera, "robots": robots, "forces": forces, "packages": packages}
    film = Film(log, np.array([t]), **shown, fps=1, detail=_DETAIL, what="log.to_image()")
    _save(target, _with_text(film.picture(0, width, height), f"{t:.2f} s" if clock else ""))
    return target


def robot_image(
    robot: Robot,
    path: str | os.PathLike[str],
    q: Any = None,
    *,
    size: Size = (1280, 720),
    camera: Camera | str | dict[str, Any] | None = None,
    ground: Any = None,
    packages: Any = (),
) -> Path:
    """Write a picture of a robot: `Robot.to_image`."""
    target = _checked_path(path, _STILLS, "a picture")
    width, height = _checked_size(size)
    needs("PIL", "video", "robot.to_image()")
    if q is not None and not np.isfinite(np.asarray(q, dtype=float)).all():
        raise PliantError("robot.to_image(): q has entries that are not finite; give a configuration of numbers")
    scene = Scene(robot, packages=packages, detail=_DETAIL)
    poses = body_poses(robot, robot.neutral() if q is None else q)
    if poses.ndim != 3:
        raise PliantError(
            f"robot.to_image(): q has shape {np.asarray(q).shape}; it takes one configuration, ({robot.nq},)"
        )
    surface = _ground(ground)
    if q is None and robot.is_free and (surface is None or surface.is_flat):
        poses = poses.copy()
        poses[:, 2, 3] += (0.0 if surface is None else surface.height(0.0, 0.0)) - scene.lowest(poses)
    low, high = scene.boxes(poses)
    stage = Stage.around(as_camera(camera), low[None], high[None], surface, scene.lowest(poses))
    _save(target, stage.picture([scene.surface(poses)], (low + high) / 2, width, height))
    return target


# ---- files


def _save(target: Path, pixels: np.ndarray) -> None:
    image = needs("PIL.Image", "video", "a picture")
    with whole_file(target) as beside:
        image.fromarray(pixels).save(beside)


def _with_text(pixels: np.ndarray, text: str) -> np.ndarray:
    if not text:
        return pixels
    image, draw, font = (needs(f"PIL.{name}", "video", "text") for name in ("Image", "ImageDraw", "ImageFont"))
    picture = image.fromarray(pixels)
    height = max(10, pixels.shape[0] // 28)
    place = 0.8 * height, pixels.shape[0] - 1.8 * height
    draw.Draw(picture).text(place, text, fill=(60, 66, 74), font=font.load_default(height))
    return np.asarray(picture)


def _in_order(frame: Callable[[int], np.ndarray], count: int) -> Iterator[np.ndarray]:
    """Frames one after the other, while some more are being made."""
    workers = min(4, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[np.ndarray]] = deque()
        for k in range(count):
            waiting.append(pool.submit(frame, k))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _with_bar(
    frames: Iterator[np.ndarray], times: np.ndarray, name: str, progress: bool | None
) -> Iterator[np.ndarray]:
    """Frames, while a bar shows how far they are."""
    with Progress(float(times[0]), float(times[-1]), progress, what=name) as shown:
        for frame, t in zip(frames, times, strict=True):
            yield frame
            shown.update(float(t))


def _checked_path(path: str | os.PathLike[str], endings: Sequence[str], what: str) -> Path:
    target = Path(os.fspath(path)).expanduser()
    if target.suffix.lower() not in endings:
        raise PliantError(f"{target}: {what} ends with {', '.join(endings[:-1])} or {endings[-1]}")
    return target


def _checked_size(size: Any) -> Size:
    numbers = list(size) if isinstance(size, Sequence | np.ndarray) and not isinstance(size, str) else []
    is_whole = all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in numbers)
    if len(numbers) != 2 or not is_whole or not all(16 <= n <= 8192 for n in numbers):
        raise PliantError(f"size is {size!r}; it takes width and height in pixels, 16 to 8192")
    return int(numbers[0]), int(numbers[1])


def _ground(ground: Any) -> Any:
    return ground if ground is None or hasattr(ground, "height") else as_ground(ground)
