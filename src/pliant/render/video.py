"""Videos and stills without a screen: `Log.to_video`, `Log.to_image`, `Robot.to_image`.

MP4 files are written by ffmpeg, GIFs and stills by Pillow.
"""

import contextlib
import errno
import functools
import os
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from pliant.checks import check, check_at_least, check_known, is_whole
from pliant.contact.ground import as_ground
from pliant.errors import PliantError, needs
from pliant.files.writing import whole_file
from pliant.plots.figures import target_file
from pliant.progress import Progress
from pliant.recording.log import Log
from pliant.render.camera import as_camera
from pliant.render.log_motion import LogMotion
from pliant.render.robot_drawing import body_poses
from pliant.render.studio import LogFrames, RobotSurface, Studio
from pliant.robot import Robot

Size = tuple[int, int]

SIZES: dict[str, Size] = {"preview": (640, 360), "720p": (1280, 720), "1080p": (1920, 1080)}
"""Sizes by name: width and height [pixels]."""

_STILLS = (".png", ".jpg", ".jpeg", ".webp")
_VIDEOS = (".mp4", ".gif")
# most triangles of a robot, in a still and in each frame of a video
_DETAIL, _VIDEO_DETAIL = 250_000, 30_000
# robots of a batch that are shown by default
_MOST = 16
# an hour at 30 a second, which takes hours to draw
_MOST_FRAMES = 108_000


def to_video(log: Log, path, *, fps, speed, size, camera, robots, forces, clock, packages, progress) -> Path:
    """Write a log as a video: `Log.to_video`, which has the arguments."""
    target = target_file(path, _VIDEOS, "a video")
    for name, value in (("fps", fps), ("speed", speed)):
        check_at_least(name, value, 0, strict=True, subject="the video", error=PliantError)
    width, height = _checked_size(size)
    width, height = width - width % 2, height - height % 2  # H.264 has one color for two by two pixels
    if target.suffix.lower() == ".mp4":
        needs("imageio_ffmpeg", "video", "a video as MP4")
    needs("PIL", "video", "log.to_video()")
    motion = LogMotion(log, "log.to_video()", robots, _MOST)
    length = motion.duration
    if length * fps / speed > _MOST_FRAMES:
        count = f"{length * fps / speed:.3g} frames, more than {_MOST_FRAMES}"
        problem = f"to_video: {length:g} s with speed = {speed:g} and fps = {fps:g} are {count}"
        cure = "give a larger speed, a smaller fps, or a part of the log, log.between()"
        raise PliantError(problem, subject="the video", field="fps", cure=cure)
    times = log.t[0] + np.arange(max(1, int(np.floor(length * fps / speed + 1e-6)) + 1)) * (speed / fps)
    times = np.minimum(times, log.t[-1])
    frames = LogFrames(motion, times, camera=camera, forces=forces, packages=packages, fps=fps, detail=_VIDEO_DETAIL)

    def frame(k: int) -> np.ndarray:
        return _with_text(frames.picture(k, width, height), f"{times[k]:.2f} s" if clock else "")

    with whole_file(target) as beside, Progress(float(times[0]), float(times[-1]), progress, what=target.name) as bar:
        write = write_mp4 if target.suffix.lower() == ".mp4" else _write_gif
        write(beside, _in_order(frame, times, bar), fps, (width, height))
    return target


def to_image(log: Log, path, t, *, size, camera, robots, forces, clock, packages) -> Path:
    """Write a picture of one moment of a log: `Log.to_image`, which has the arguments."""
    target = target_file(path, _STILLS, "a picture")
    width, height = _checked_size(size)
    needs("PIL", "video", "log.to_image()")
    motion = LogMotion(log, "log.to_image()", robots, _MOST)
    first, last = log.t[0], log.t[-1]
    t = float(last if t is None else t)
    takes = f"a time of the log, {first:g} to {last:g} s"
    check("t", t, takes, bool(first - 1e-9 <= t <= last + 1e-9), subject="the picture", error=PliantError)
    frames = LogFrames(motion, np.array([t]), camera=camera, forces=forces, packages=packages, fps=1, detail=_DETAIL)
    _save(target, _with_text(frames.picture(0, width, height), f"{t:.2f} s" if clock else ""))
    return target


def robot_image(robot: Robot, path, q, *, size, camera, ground, packages) -> Path:
    """Write a picture of a robot: `Robot.to_image`, which has the arguments."""
    target = target_file(path, _STILLS, "a picture")
    needs("PIL", "video", "robot.to_image()")
    _save(target, robot_pixels(robot, q, size=size, camera=camera, ground=ground, packages=packages))
    return target


def robot_pixels(
    robot: Robot, q: Any, *, size: Size, camera: Any = None, ground: Any = None, packages: Any = (),
    detail: int = _DETAIL,
) -> np.ndarray:  # fmt: skip
    """The pixels (height, width, 3) of the picture of `Robot.to_image`, which has the arguments."""
    width, height = _checked_size(size)
    is_finite = q is None or bool(np.isfinite(np.asarray(q, dtype=float)).all())
    check("q", q, "finite numbers", is_finite, subject="the picture", error=PliantError)
    drawn = RobotSurface(robot, packages=packages, detail=detail)
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
    return studio.picture([drawn.surface(poses)], (low + high) / 2, width, height)


# ---- files


def _save(target: Path, pixels: np.ndarray) -> None:
    image = needs("PIL.Image", "video", "a picture")
    with whole_file(target) as beside:
        image.fromarray(pixels).save(beside)


def _with_text(pixels: np.ndarray, text: str) -> np.ndarray:
    """The picture, into whose lower left corner a text is written."""
    if text:
        image, draw = (needs(f"PIL.{name}", "video", "text") for name in ("Image", "ImageDraw"))
        height = max(10, pixels.shape[0] // 28)
        corner = pixels[-2 * height :, : 20 * height]
        under = image.fromarray(corner)
        draw.Draw(under).text(
            (0.8 * height, corner.shape[0] - 1.8 * height), text, fill=(60, 66, 74), font=_font(height)
        )
        corner[...] = np.asarray(under)
    return pixels


@functools.cache
def _font(height: int) -> Any:
    return needs("PIL.ImageFont", "video", "text").load_default(height)


def _in_order(frame: Callable[[int], np.ndarray], times: np.ndarray, bar: Progress) -> Iterator[np.ndarray]:
    """Frames in order, while threads draw the next ones."""
    workers = min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[np.ndarray]] = deque()
        for k in range(len(times) + 2 * workers):
            if k < len(times):
                waiting.append(pool.submit(frame, k))
            if k >= 2 * workers:
                yield waiting.popleft().result()
                bar.update(float(times[k - 2 * workers]))


def _checked_size(size: Any) -> Size:
    if isinstance(size, str):
        check_known("size", size, SIZES, error=PliantError)
        return SIZES[size]
    numbers = list(size) if isinstance(size, Sequence | np.ndarray) and not isinstance(size, str) else []
    is_right = len(numbers) == 2 and all(is_whole(n) and 16 <= n <= 8192 for n in numbers)
    takes = f"width and height in pixels, 16 to 8192, or one of {', '.join(SIZES)}"
    check("size", size, takes, is_right, subject="the picture", error=PliantError)
    return int(numbers[0]), int(numbers[1])


# ---- encoders


def write_mp4(path: Path, frames: Iterator[np.ndarray], fps: float, size: Size) -> None:
    """Write frames (height, width, 3), bytes, as H.264; width and height are even.

    Raises:
        OSError: where the disk is full.
        PliantError: where ffmpeg fails for another reason.
    """
    ffmpeg = needs("imageio_ffmpeg", "video", "a video as MP4")
    command = [
        ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:.9g}", "-i", "-",
        "-an", "-c:v", "libx264", "-preset", "veryfast", "-crf", "12", "-pix_fmt", "yuv420p", str(path),
    ]  # fmt: skip
    # messages of ffmpeg go to a file, since a full pipe would stop it
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)
        assert process.stdin is not None
        is_fed = True
        try:
            try:
                for frame in frames:
                    try:
                        process.stdin.write(np.ascontiguousarray(frame))
                    except OSError:  # it takes none after it has failed
                        is_fed = False
                        break
            finally:
                # closing flushes, which fails again if writing has
                with contextlib.suppress(OSError):
                    process.stdin.close()
            process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if is_fed and not process.returncode:
            return
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines()
    # ffmpeg is not translated
    if any("No space left on device" in line for line in lines):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    why = lines[0] if lines else f"it ended with status {process.returncode}"
    cure = "a name that ends with .gif does not need ffmpeg"
    raise PliantError(f"to_video: ffmpeg could not write the video: {why}", subject="the video", cure=cure)


def _write_gif(path: Path, frames: Iterator[np.ndarray], fps: float, size: Size) -> None:
    """Write frames (height, width, 3), bytes, with 128 colors each; arguments as for `write_mp4`."""
    image = needs("PIL.Image", "video", "a video as GIF")
    pictures = [image.fromarray(frame).quantize(128, dither=image.Dither.NONE) for frame in frames]
    # GIF counts in hundredths of a second
    pause = max(20, 10 * round(100 / fps))
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=pause, loop=0, optimize=False)
