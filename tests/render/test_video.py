"""Videos and stills: read back with other libraries; bad calls."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

import pliant
from pliant.recording.source import Source
from pliant.render.log_motion import LogMotion
from view_logs import ball, batch_log, bounce_log, hopper_log

# ---- robots between the entries of a log


def turning() -> pliant.Log:
    """A body that turns about z, with a quaternion of the other sign at its second entry, and one on a plane."""
    builder = pliant.RobotBuilder("two")
    for name, kind in (("ball", "spherical"), ("disc", "planar")):
        builder.body(name, mass=1, inertia=(1, 0, 0, 1, 0, 1))
        builder.joint(f"{name}_joint", kind, "world", name)
    robot = builder.build()
    angles = np.array([0.0, 0.2, 0.4])
    sign = np.array([1, -1, 1])
    zero = np.zeros(3)
    ball = [zero, zero, sign * np.sin(angles / 2), sign * np.cos(angles / 2)]
    q = np.stack([*ball, angles, zero, np.cos(3 * angles), np.sin(3 * angles)], axis=1)
    return pliant.Log(np.array([0.0, 1.0, 2.0]), {"q": q}, source=Source(robot))


def test_orientations_stay_orientations_and_take_the_short_way() -> None:
    q, entries = LogMotion(turning(), "test").at(np.array([0.0, 0.5, 1.25, 2.0]))
    assert entries.tolist() == [0, 1, 1, 2]
    np.testing.assert_allclose(np.linalg.norm(q[0, :, :4], axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(q[0, :, 6:8], axis=1), 1, rtol=1e-14)
    # in the middle a chord has the angle of the arc; else it is off by its cube, (0.1)^3 / 12 here
    turned = 2 * np.arctan2(*(np.sign(q[0, :, 3]) * q[0, :, 2:4].T))
    np.testing.assert_allclose(turned, [0, 0.1, 0.25, 0.4], atol=1e-4)
    np.testing.assert_allclose(q[0, :, 4], [0, 0.1, 0.25, 0.4], atol=1e-14)


def test_entries_themselves_and_both_sides_of_an_event() -> None:
    log = hopper_log()
    q, entries = LogMotion(log, "test").at(log.t[::37])
    np.testing.assert_allclose(q[0], log.q[::37], atol=1e-15)
    np.testing.assert_array_equal(entries, np.arange(0, len(log), 37))
    bounce = bounce_log()
    first = bounce.events[0].t
    around = LogMotion(bounce, "test").at(np.array([first - 1e-9, first, first + 1e-9]))[0]
    assert np.ptp(around) < 1e-8


# ---- videos and stills

SMALL = (96, 64)


def pixels_of(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture).astype(int)


def decoded(path: Path) -> tuple[np.ndarray, float]:
    program = imageio_ffmpeg.get_ffmpeg_exe()
    command = [program, "-loglevel", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    _, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    return np.frombuffer(raw, np.uint8).reshape(-1, SMALL[1], SMALL[0], 3), seconds


def test_a_video_has_its_frames_and_they_move(tmp_path: Path) -> None:
    frames, seconds = decoded(hopper_log().to_video(tmp_path / "run.mp4", fps=10, size=SMALL))
    assert len(frames) == 5  # 0, 0.1, ... 0.4 s
    assert seconds == pytest.approx(0.5, abs=0.05)
    assert abs(frames[0].astype(int) - frames[3]).max() > 60
    assert [p.name for p in tmp_path.iterdir()] == ["run.mp4"]


def test_slow_motion_has_more_frames_and_gif_works(tmp_path: Path) -> None:
    path = hopper_log().to_video(tmp_path / "run.gif", fps=10, speed=0.5, size=(48, 33), camera="left", clock=False)
    with Image.open(path) as picture:
        assert picture.size == (48, 32)  # even
        assert picture.n_frames == 9
        assert picture.info["duration"] == 100


def test_a_picture_of_a_moment_shows_the_force(tmp_path: Path) -> None:
    log = hopper_log()
    force = np.linalg.norm(log["forces"], axis=1)
    t = float(log.t[force.argmax()])
    options = {"t": t, "size": (192, 128)}
    pixels = [pixels_of(log.to_image(tmp_path / "x.png", forces=forces, **options)) for forces in (True, False)]
    orange = [(p[..., 0] > 180) & (p[..., 2] < 90) for p in pixels]
    assert orange[0].sum() > 20 and orange[1].sum() == 0


def test_a_batch_stands_side_by_side(tmp_path: Path) -> None:
    log = batch_log()
    colored = []
    for robots in (None, [1]):
        pixels = pixels_of(log.to_image(tmp_path / "batch.png", size=(192, 128), robots=robots, forces=False))
        columns = (np.ptp(pixels, axis=2) > 60).any(axis=0)
        colored.append(np.count_nonzero(np.diff(columns.astype(int)) == 1))
    assert colored[0] > colored[1] == 1


def test_a_robot_of_any_kind(tmp_path: Path) -> None:
    """With shapes, without any, and on uneven ground; it stands on the floor."""
    robots = {"shapes": pliant.load("quadruped"), "tree": pliant.load("hopper_flight")}
    for name, robot in robots.items():
        pixels = pixels_of(robot.to_image(tmp_path / f"{name}.png", size=SMALL))
        # something is in the middle that is not floor or sky
        assert abs(pixels - np.median(pixels, axis=1, keepdims=True)).max() > 60, name
    quadruped = robots["shapes"]
    q = quadruped.neutral()
    q[2] = 0.5
    path = quadruped.to_image(tmp_path / "stairs.jpg", q=q, ground=pliant.stairs(0.1, 0.3), size=SMALL, camera="back")
    assert pixels_of(path).shape == (64, 96, 3)


def refuses(field: str, function: Callable[..., object], *arguments: object, **options: object) -> None:
    with pytest.raises(pliant.PliantError) as error:
        function(*arguments, **options)
    assert error.value.field == field
    assert error.value.cure


def test_bad_calls_say_what_is_wrong(tmp_path: Path) -> None:
    log, path = hopper_log(), tmp_path / "x.png"
    for function, place, options, message in (
        (log.to_video, tmp_path / "run.avi", {}, r"'run\.avi' has no known ending; a video ends with \.mp4 or \.gif"),
        (log.to_image, path, {"t": 9}, r"t of the picture is 9\.0; it takes a time of the log, 0 to 0\.4 s"),
        (log.to_image, tmp_path / "nowhere" / "x.png", {"size": SMALL}, "does not exist; make it first"),
        (pliant.Log(log.t, {"q": log.q}).to_image, path, {"size": SMALL}, "source"),
        (ball().to_image, path, {"q": np.zeros((2, 1))}, r"q has shape \(2, 1\); it takes one configuration"),
        (log.to_video, tmp_path / "x.mp4", {"speed": 1e-9}, r"with speed = 1e-09 and fps = 30 are 1\.2e\+10 frames"),
    ):
        with pytest.raises(pliant.PliantError, match=message):
            function(place, **options)
    refuses("path", log.to_image, tmp_path / "run.mp4")
    for fps in (0, np.nan, "30"):
        refuses("fps", log.to_video, tmp_path / "x.mp4", fps=fps)
    for size in ((3, 4), (100, 100.5), "ab", 3):
        refuses("size", log.to_image, path, size=size)
    refuses("robots", log.to_image, path, robots=[1])
    refuses("robots", batch_log().to_image, path, robots=[5])
    refuses("q", ball().to_image, path, q=np.full(ball().nq, np.nan))
    refuses("deflection", log.view, deflection=float("nan"))
    refuses("deflection", log.to_html, tmp_path / "run.html", deflection=float("nan"))
    refuses("speed", log.view, speed=0)
    assert not list(tmp_path.iterdir())


def test_a_video_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pliant.render.studio.LogFrames.picture", Mock(side_effect=RuntimeError("no light")))
    with pytest.raises(RuntimeError, match="no light"):
        hopper_log().to_video(tmp_path / "run.gif", size=SMALL)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("module", "call", "message"), [
    ("matplotlib", lambda log, p: log.plot("q"), r"log\.plot\(\) needs matplotlib: pip install 'pliant\[plots\]'"),
    ("matplotlib", lambda log, p: log.plot_energy(), r"needs matplotlib: pip install 'pliant\[plots\]'"),
    ("imageio_ffmpeg", lambda log, p: log.to_video(p / "x.mp4"),
     r"MP4 needs imageio_ffmpeg: pip install 'pliant\[video\]'"),
    ("PIL", lambda log, p: log.to_image(p / "x.png"), r"log\.to_image\(\) needs PIL: pip install 'pliant\[video\]'"),
])  # fmt: skip
def test_what_is_not_installed_is_named(module, call, message, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(pliant.PliantError, match=message):
        call(hopper_log(), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_bar_is_told_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []
    monkeypatch.setattr("pliant.progress.Progress.update", lambda self, t: told.append(t))
    hopper_log().to_video(tmp_path / "run.gif", size=(32, 32), fps=5)
    assert told == pytest.approx([0, 0.2, 0.4])


def test_a_video_that_ffmpeg_cannot_write_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "ffmpeg"
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(program))
    folder = tmp_path / "films"
    folder.mkdir()
    for says, reads, expected in (
        ("av_interleaved_write_frame(): No space left on device", "cat > /dev/null", "run.mp4: the disk is full"),
        ("av_interleaved_write_frame(): No space left on device", "true", "run.mp4: the disk is full"),
        ("Unknown encoder", "cat > /dev/null", "ffmpeg could not write the video: Unknown encoder"),
    ):
        program.write_text(f"#!/bin/sh\nfor last; do :; done\necho half > $last\n{reads}\necho '{says}' >&2\nexit 1\n")
        program.chmod(0o755)
        with pytest.raises(pliant.PliantError, match=expected):
            hopper_log().to_video(folder / "run.mp4", fps=10, size=SMALL)
        assert not list(folder.iterdir())
    assert capfd.readouterr().err == ""
