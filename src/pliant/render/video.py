"""Videos and stills without a screen: `Log.to_video`, `Log.to_image`, `Robot.to_image`.

MP4 files are written by ffmpeg, GIFs and stills by Pillow.
"""

import contextlib
import errno
import os
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import numpy as np

from pliant.checks import check_at_least, is_whole
from pliant.contact.ground import as_ground
from pliant.errors import PliantError, bad_value, needs
from pliant.files.writing import whole_file
from pliant.plots.figures import target_file
from pliant.progress import Progress
from pliant.recording.log import Log
from pliant.render.camera import Camera, as_camera
from pliant.render.robot_drawing import body_poses
from pliant.render.studio import LogFrames, RobotSurface, Studio
from pliant.robot import Robot

__all__ = ["robot_image", "to_image", "to_video"]

Size = tuple[int, int]

_STILLS = (".png", ".jpg", ".jpeg", ".webp")
_VIDEOS = (".mp4", ".gif")
# most triangles of a robot, in a still and in each frame of a video
_DETAIL, _VIDEO_DETAIL = 250_000, 100_000
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
    target = target_file(path, _VIDEOS, "a video")
    for name, value in (("fps", fps), ("speed", speed)):
        check_at_least(name, value, 0, strict=True, subject="the video", error=PliantError)
    width, height = _checked_size(size)
    width, height = width - width % 2, height - height % 2  # H.264 has one color for two by two pixels
    if target.suffix.lower() == ".mp4":
        needs("imageio_ffmpeg", "video", "a video as MP4")
    needs("PIL", "video", "log.to_video()")
    if not len(log):
        raise PliantError("to_video: the log has no steps", subject="the log", field="t")
    length = float(log.t[-1] - log.t[0])
    if length * fps / speed > _MOST_FRAMES:
        count = f"{length * fps / speed:.3g} frames, more than {_MOST_FRAMES}"
        problem = f"to_video: {length:g} s with speed = {speed:g} and fps = {fps:g} are {count}"
        cure = "give a larger speed, a smaller fps, or a part of the log, log.between()"
        raise PliantError(problem, subject="the video", field="fps", cure=cure)
    times = log.t[0] + np.arange(max(1, int(np.floor(length * fps / speed + 1e-6)) + 1)) * (speed / fps)
    shown = {"camera": camera, "robots": robots, "forces": forces, "packages": packages}
    times = np.minimum(times, log.t[-1])
    frames = LogFrames(log, times, **shown, fps=fps, detail=_VIDEO_DETAIL, what="log.to_video()")

    def frame(k: int) -> np.ndarray:
        return _with_text(frames.picture(k, width, height), f"{times[k]:.2f} s" if clock else "")

    with whole_file(target) as beside:
        write = _write_mp4 if target.suffix.lower() == ".mp4" else _write_gif
        write(beside, _with_bar(_in_order(frame, len(times)), times, target.name, progress), fps, (width, height))
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
    target = target_file(path, _STILLS, "a picture")
    width, height = _checked_size(size)
    needs("PIL", "video", "log.to_image()")
    if not len(log):
        raise PliantError("to_image: the log has no steps", subject="the log", field="t")
    t = float(log.t[-1] if t is None else t)
    if not log.t[0] - 1e-9 <= t <= log.t[-1] + 1e-9:
        raise PliantError(bad_value("t", t, f"a time of the log, {log.t[0]:g} to {log.t[-1]:g} s", "the picture"))
    shown = {"camera": camera, "robots": robots, "forces": forces, "packages": packages}
    frames = LogFrames(log, np.array([t]), **shown, fps=1, detail=_DETAIL, what="log.to_image()")
    _save(target, _with_text(frames.picture(0, width, height), f"{t:.2f} s" if clock else ""))
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
    target = target_file(path, _STILLS, "a picture")
    width, height = _checked_size(size)
    needs("PIL", "video", "robot.to_image()")
    if q is not None and not np.isfinite(np.asarray(q, dtype=float)).all():
        raise PliantError(bad_value("q", q, "finite numbers", "the picture"))
    drawn = RobotSurface(robot, packages=packages, detail=_DETAIL)
    poses = body_poses(robot, robot.neutral() if q is None else q)
    if poses.ndim != 3:
        problem, cure = f"q has shape {np.asarray(q).shape}", f"it takes one configuration, ({robot.nq},)"
        raise PliantError(problem, subject="the picture", field="q", cure=cure)
    under = ground if ground is None or hasattr(ground, "height") else as_ground(ground)
    if q is None and robot.is_free and (under is None or under.is_flat):
        poses = poses.copy()
        poses[:, 2, 3] += (0.0 if under is None else under.height(0.0, 0.0)) - drawn.lowest(poses)
    low, high = drawn.boxes(poses)
    studio = Studio.around(as_camera(camera), low[None], high[None], under, drawn.lowest(poses))
    _save(target, studio.picture([drawn.surface(poses)], (low + high) / 2, width, height))
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
    """Frames in order, while threads draw the next ones."""
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
    """The frames, with a progress bar."""
    with Progress(float(times[0]), float(times[-1]), progress, what=name) as shown:
        for frame, t in zip(frames, times, strict=True):
            yield frame
            shown.update(float(t))


def _checked_size(size: Any) -> Size:
    numbers = list(size) if isinstance(size, Sequence | np.ndarray) and not isinstance(size, str) else []
    if len(numbers) != 2 or not all(is_whole(n) and 16 <= n <= 8192 for n in numbers):
        raise PliantError(bad_value("size", size, "width and height in pixels, 16 to 8192", "the picture"))
    return int(numbers[0]), int(numbers[1])


# ---- encoders


def _write_mp4(path: Path, frames: Iterator[np.ndarray], fps: float, size: Size) -> None:
    """Write frames (height, width, 3), bytes, as H.264.

    Args:
        path: of the file.
        fps: frames a second.
        size: width and height [pixels], even.

    Raises:
        OSError: where the disk is full.
        PliantError: where ffmpeg fails for another reason.
    """
    ffmpeg = needs("imageio_ffmpeg", "video", "a video as MP4")
    command = [
        ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:.9g}", "-i", "-",
        "-an", "-c:v", "libx264", "-crf", "10", "-pix_fmt", "yuv420p", str(path),
    ]  # fmt: skip
    # messages of ffmpeg go to a file, since a full pipe would stop it
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)
        is_whole = False
        try:
            is_whole = _fed(process, frames)
            process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode or not is_whole:
            raise _failure(said, process.returncode)


def _fed(process: subprocess.Popen[bytes], frames: Iterator[np.ndarray]) -> bool:
    """Whether ffmpeg took all frames; it takes none after it has failed."""
    pipe = process.stdin
    assert pipe is not None
    is_whole = True
    try:
        for frame in frames:
            try:
                pipe.write(np.ascontiguousarray(frame))
            except OSError:
                is_whole = False
                break
    finally:
        # closing flushes, which fails again if writing has
        with contextlib.suppress(OSError):
            pipe.close()
    return is_whole


def _failure(said: IO[bytes], status: int) -> Exception:
    said.seek(0)
    lines = said.read().decode(errors="replace").strip().splitlines()
    # ffmpeg is not translated
    if any("No space left on device" in line for line in lines):
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    why = lines[0] if lines else f"it ended with status {status}"
    cure = "a name that ends with .gif does not need ffmpeg"
    return PliantError(f"to_video: ffmpeg could not write the video: {why}", subject="the video", cure=cure)


def _write_gif(path: Path, frames: Iterator[np.ndarray], fps: float, size: Size) -> None:
    """Write frames (height, width, 3), bytes, with 128 colors each; arguments as for `_write_mp4`."""
    image = needs("PIL.Image", "video", "a video as GIF")
    pictures = [image.fromarray(frame).quantize(128, dither=image.Dither.NONE) for frame in frames]
    # GIF counts in hundredths of a second
    pause = max(20, 10 * round(100 / fps))
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=pause, loop=0, optimize=False)
