"""Films as files: MP4 by ffmpeg, GIF by Pillow."""

import contextlib
import errno
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from pliant.errors import PliantError, needs

__all__ = ["write_gif", "write_mp4"]

Size = tuple[int, int]


def write_mp4(path: Path, frames: Iterator[np.ndarray], fps: float, size: Size) -> None:
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
    # what it says goes to a file, since a pipe that nobody reads would stop it
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
            raise _trouble(said, process.returncode)


def _fed(process: subprocess.Popen[bytes], frames: Iterator[np.ndarray]) -> bool:
    """Whether ffmpeg took all frames; it takes no more where it has ended."""
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
        # closing flushes, which fails again where writing has
        with contextlib.suppress(OSError):
            pipe.close()
    return is_whole


def _trouble(said: IO[bytes], status: int) -> Exception:
    said.seek(0)
    lines = said.read().decode(errors="replace").strip().splitlines()
    # which it says in these words, whatever the language
    if any("No space left on device" in line for line in lines):
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    why = lines[0] if lines else f"it ended with status {status}"
    return PliantError(f"to_video: ffmpeg could not write the video: {why}; a name that ends with .gif goes without it")


def write_gif(path: Path, frames: Iterator[np.ndarray], fps: float, size: Size) -> None:
    """Write frames (height, width, 3), bytes, with 128 colors each; arguments as for `write_mp4`."""
    image = needs("PIL.Image", "video", "a video as GIF")
    pictures = [image.fromarray(frame).quantize(128, dither=image.Dither.NONE) for frame in frames]
    # the format counts in hundredths of a second
    pause = max(20, 10 * round(100 / fps))
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=pause, loop=0, optimize=False)
