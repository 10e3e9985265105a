"""``pliant run``."""

import errno
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import pliant
from pliant import report
from pliant.cli.ground_files import ground_file
from pliant.cli.run_setup import as_contact, as_ground, as_row
from pliant.cli.settings import Settings
from pliant.contact import AnchoredSpringDamper
from pliant.errors import PliantError
from pliant.render import video
from pliant.storage import load_log
from simulated_robots import started


def test_a_pendulum_swings(program) -> None:
    done = program("run", "pendulum", "--time", "1", "--json")
    about = done.json
    assert (about["robot"], done.err) == ("pendulum", ""), "the JSON is all there is"
    # of the shipped one: 1 kg with its centre 0.75 m from the hinge, let go at 30 degrees
    assert about["energy"]["start"] == pytest.approx(-9.81 * 0.75 * np.cos(np.pi / 6), abs=1e-12)
    # semi-implicit with steps of 1 ms keeps it to some thousandths
    assert about["energy"]["end"] == pytest.approx(about["energy"]["start"], rel=2e-3)
    assert (about["simulated"], about["steps"], about["entries"]) == (1.0, 1000, 1001)
    assert (about["base"], about["ground"], about["controller"]) == ("fixed", "none", "none")
    assert (about["is_finite"], about["divergences"], about["files"]) == (True, [], {})


def test_the_summary_fits_80_columns(program) -> None:
    done = program("run", "pendulum", "--time", "0.2")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    for word in ("robot", "simulated", "speed", "energy", "final state  finite"):
        assert word in done.out
    assert program("run", "pendulum", "--time", "0.1", "--quiet") == (0, "", "")


def test_the_start(program) -> None:
    program("run", "pendulum", "--time", "0.01", "--q", "hinge=0.3", "--v", "hinge=-1", "--log", "a.h5")
    program("run", "pendulum", "--time", "0.01", "--q", "0.3", "--v", "-1", "--log", "b.h5")
    # settings do the same, and the command line wins
    Path("run.toml").write_text('robot = "pendulum"\ntime = 9\nlog = "c.h5"\n[q]\nhinge = 0.3\n[v]\nhinge = -1\n')
    program("run", "--settings", "run.toml", "--time", "0.01")
    a, b, c = (load_log(f"{name}.h5") for name in "abc")
    assert (a.q[0, 0], a.v[0, 0]) == (0.3, -1)
    assert a.identical(b) and a.identical(c)


def test_the_hopper_hops_and_events_agree(program) -> None:
    """Time-stepping and event-driven simulation of the same hop: touch-downs, and the energy at the top."""
    stepped = program("run", "hopper", "--time", "0.6", "--json").json
    driven = program("run", "hopper", "--time", "0.6", "--event-driven", "--json").json
    for about in (stepped, driven):
        assert "raibert" in about["controller"]
        assert about["base"] == "free"
        assert about["is_finite"]
    assert driven["events"]["touch-down"] == stepped["contacts"]["touch_downs"] == 1
    # dropped from 0.1 m: the body is 17.05 kg, with its hip 0.73 m high
    assert stepped["energy"]["start"] == pytest.approx(driven["energy"]["start"], abs=1e-9)
    # impacts of rigid contact lose a different part within a step of 1 ms
    assert stepped["energy"]["end"] == pytest.approx(driven["energy"]["end"], rel=0.05)


def test_a_robot_that_stands(program, block: Path) -> None:
    about = program("run", block, "--base", "free", "--time", "0.3", "--json", "--log", "run.h5").json
    assert "hold" in about["controller"]
    assert about["ground"] == "flat"
    assert about["contacts"]["touching"] >= 3
    log = load_log("run.h5")
    # the box is 0.2 m high and stands on its lower side from the start on
    np.testing.assert_allclose(log.q[:, 2], 0.1, rtol=0, atol=1e-6)
    weight = log.forces.reshape(len(log), -1, 3).sum(axis=1)[-1]
    np.testing.assert_allclose(weight, [0, 0, 3 * 9.81], rtol=0, atol=1e-4)


def test_a_guess_about_the_base_says_how_to_get_the_other(program, block: Path) -> None:
    """A URDF cannot say whether its base is free: legs make it so, and either way the output names the option."""

    def about_base(*words: object) -> list[str]:
        notes = program("run", *words, "--time", "0.01", "--json").json["notes"]
        return [note for what, note in notes if what == "base"]

    legged = Path("own.urdf")
    shipped = resources.files("pliant").joinpath("catalogue", "urdf", "quadruped.urdf")
    legged.write_text(shipped.read_text(encoding="utf-8"), encoding="utf-8")
    assert about_base(legged) == ["free, since it has legs; --base fixed bolts it to the world"]
    assert about_base(block) == ["bolted to the world, which the file leaves open; --base free lets it move"]
    for base in ("fixed", "free"):
        assert about_base(block, "--base", base) == []
    assert about_base("pendulum") == []


def test_height_slope_push_and_friction(program, block: Path) -> None:
    """On a slope of 10 degrees without friction, and pushed: s'' = F cos / m - g sin along it."""
    half = np.radians(10) / 2
    pose = f"root_joint.qy={-np.sin(half)},root_joint.qw={np.cos(half)}"
    options = ("--base", "free", "--ground", "slope=10", "--friction", "0", "--q", pose, "--height", "0")
    push = ("--push", "block=3,0,0", "--controller", "none", "--time", "0.2", "--log", "run.h5", "--quiet")
    program("run", block, *options, *push)
    log = load_log("run.h5")
    up = np.array([np.cos(2 * half), 0, np.sin(2 * half)])
    along = (log.q[-1, :3] - log.q[0, :3]) @ up
    # 200 steps of a semi-implicit integrator: dt^2 (1 + 2 + ... + 200)
    wanted = (3 * up[0] / 3 - 9.81 * up[2]) * 1e-6 * 200 * 201 / 2
    # contacts are solved to 1e-9 m/s in each of the steps
    assert along == pytest.approx(wanted, abs=1e-6)
    program("run", block, "--base", "free", "--height", "0.5", "--time", "0.1", "--log", "run.h5", "--quiet")
    log = load_log("run.h5")
    assert log.q[0, 2] == pytest.approx(0.6, abs=1e-12)
    # free fall; semi-implicit is late by a step
    assert log.q[-1, 2] == pytest.approx(0.6 - 9.81 * 0.1 * 0.101 / 2, abs=1e-9)


def test_troubles_are_in_the_summary_the_log_and_the_report(program, tmp_path: Path) -> None:
    """Without its motors, a quadruped that only feet hold sinks into the ground."""
    side = tmp_path / "feet.toml"
    side.write_text('robot = "quadruped"\n\n[contacts."*_foot"]\nradius = 0.02\n')
    done = program(
        "run", side, "--time", "1", "--controller", "none", "--json", "--log", "run.h5", "--report", "run.html"
    )
    trouble = next(x for x in done.json["troubles"] if x["kind"] == "below ground")
    assert (trouble["name"], trouble["robot"]) == ("trunk", 0)
    assert done.err.count("is below the ground") == 1
    # the warning names the body that the first look finds; how often a run looks depends on its speed
    assert any(f"warning: body '{name}' is below the ground" in done.err for name in pliant.load("quadruped").bodies)
    log = load_log("run.h5")
    assert [x.what for x in log.troubles] == [x["what"] for x in done.json["troubles"]]
    assert "trouble: below ground" in Path("run.html").read_text()
    shown = program("run", side, "--time", "1", "--controller", "none").out
    assert re.search(r"trouble +body 'trunk' is below the ground", shown)


def test_a_log_keeps_all_steps_and_others_say_what_they_leave_out(program, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the run: an HDF5 file is written as it goes on, the other formats have to fit into memory."""
    monkeypatch.setattr("pliant.cli.run._MOST", 2000)
    options = ("run", "pendulum", "--time", "0.5")
    about = program(*options, "--log", "run.h5", "--json").json
    assert about["entries"] == len(load_log("run.h5")) == 501
    shown = program(*options, "--log", "run.csv").out
    kept = len(Path("run.csv").read_text().splitlines()) - 1
    stride = round(500 / (kept - 1))
    assert stride > 1
    assert f"one of {stride} periods, {kept} in all; --every 0.001 keeps each" in " ".join(shown.split())
    program(*options, "--log", "run.csv", "--every", "0.001")
    assert len(Path("run.csv").read_text().splitlines()) == 502


def test_a_joint_with_several_coordinates_takes_all_of_them(program) -> None:
    pose = "root_joint=0.1,0.2,1,0,0,0,1"
    program("run", "hopper", "--time", "0.01", "--q", pose, "--log", "run.h5", "--quiet")
    np.testing.assert_array_equal(load_log("run.h5").q[0, :7], [0.1, 0.2, 1, 0, 0, 0, 1])


def test_steps_that_are_long_for_the_robot_are_warned_of(program) -> None:
    done = program("run", "pendulum", "--dt", "0.1", "--time", "0.2")
    assert done.code == 0
    assert "the motion of 'pendulum' is not resolved" in done.err
    done = program("run", "pendulum", "--time", "0.01", "--v", "hinge=200")
    assert "joint 'hinge' turns by a radian in 0.005 s" in done.err
    assert program("run", "pendulum", "--dt", "0.01", "--time", "0.2").err == ""


def test_a_flexible_joint(program) -> None:
    done = program("run", "two_link_arm", "--flexible", "elbow=500,2", "--time", "0.05", "--json", "--log", "run.h5")
    assert done.code == 0
    assert done.json["notes"][0][0] == "flexible", "a rotor was guessed, which is told"
    assert "elbow_flexibility" in load_log("run.h5").source.robot.joints
    own = program("run", "two_link_arm", "--flexible", "elbow=500,2,0.1", "--time", "0.05", "--json").json
    assert all(what != "flexible" for what, _ in own["notes"])


def test_a_batch(program) -> None:
    options = ("run", "pendulum", "--time", "0.1", "--batch", "8", "--log")
    about = program(*options, "a.h5", "--seed", "1", "--json").json
    program(*options, "b.h5", "--seed", "1", "--threads", "2")
    program(*options, "c.h5", "--seed", "2")
    a, b, c = (load_log(f"{name}.h5") for name in "abc")
    assert (about["robots"], a.batch, len(a.t)) == (8, 8, 101)
    assert a.identical(b)
    assert not a.identical(c)
    assert len(set(a.q[:, 0, 0])) == 8
    assert a.source.settings["seed"] == 1
    assert "8 robots x steps" in program("run", "pendulum", "--time", "0.1", "--batch", "8").out


def test_a_controller_of_the_users_own(program, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def policy(t, q, v):\n    return [9.81 * 0.75 * 0.5]\n")
    program("run", "pendulum", "--q", "hinge=0.5235987755982988", "--time", "0.1", "--controller", "mine.py:policy",
            "--log", "run.h5", "--quiet")  # fmt: skip
    log = load_log("run.h5")
    # the torque of its weight holds it at 30 degrees
    np.testing.assert_allclose(log.q, np.pi / 6, rtol=0, atol=1e-9)
    (tmp_path / "mine.py").write_text("def policy(t, q, v):\n    return [1, 2]\n")
    done = program("run", "pendulum", "--time", "0.1", "--controller", "mine.py:policy")
    assert done.code == 1
    assert "motors: hinge" in done.err
    assert done.err.count("\n") == 1


def test_what_is_left(program, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that was asked for; pictures and pages have tests of their own, so that slow ones are stand-ins here."""

    def stand_in(log: pliant.Log, path: str, facts: Mapping[str, str] | None = None, **_options: Any) -> None:
        told.update(facts or {})
        Path(path).write_text(f"{len(log.t)} entries")

    told: dict[str, str] = {}
    for module, name in ((video, "to_video"), (report, "to_report")):
        monkeypatch.setattr(module, name, stand_in)
    files = {"log": "run.csv", "plot": "run.svg", "video": "run.mp4", "html": "run.html", "report": "report.html"}
    options = [word for name, file in files.items() for word in (f"--{name}", file)]
    done = program("run", "pendulum", "--time", "0.1", *options, "--json")
    assert (done.code, done.json["files"]) == (0, files)
    assert Path("run.csv").read_text().count("\n") >= 101
    assert "<svg" in Path("run.svg").read_text()
    assert "<html" in Path("run.html").read_text()
    assert Path("run.mp4").read_text() == Path("report.html").read_text() == "101 entries"
    # what no log knows
    assert told["controller"] == "none"
    assert told["simulated"].startswith("0.1 s in ")
    assert re.match(r"[\d.e+]+ x real time, ", told["speed"])


def test_one_that_fails_or_is_stopped_does_not_take_the_others_along(program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video, "to_video", Mock(side_effect=pliant.PliantError("the disk is full")))
    done = program("run", "pendulum", "--time", "0.1", "--video", "run.mp4", "--log", "run.npz")
    assert (done.code, done.out) == (1, "")
    assert done.err == "pliant: --video run.mp4: the disk is full (written: run.npz)\n"
    assert Path("run.npz").is_file()
    monkeypatch.setattr(video, "to_video", Mock(side_effect=KeyboardInterrupt))
    done = program("run", "pendulum", "--time", "0.01", "--log", "a.h5", "--video", "a.mp4")
    assert done == (130, "", "pliant: stopped while --video a.mp4 was written; written: a.h5\n")
    assert len(load_log("a.h5")) == 11


def test_parts_make_one_log() -> None:
    """In parts or at once, the motion is the same, bit for bit."""
    logs = []
    for parts in ([0.1], [0.02, 0.05, 0.03]):
        sim = started(pliant.Simulation(pliant.load("double_pendulum")), q=[1, 2])
        logs.append(pliant.Log.joined([sim.run(part, every=0.005) for part in parts]))
    assert (logs[0].q == logs[1].q).all()
    # times are sums; the program puts them right
    np.testing.assert_allclose(logs[0].t, logs[1].t, rtol=0, atol=1e-15)


def test_divergence_has_code_1(program) -> None:
    with np.errstate(all="ignore"):
        done = program("run", "pendulum", "--time", "0.1", "--v", "hinge=1e13")
    assert done.code == 1
    assert "warning: robot 0" in done.err
    assert "1 diverged" in done.out


def test_times_that_do_not_fit(program) -> None:
    done = program("run", "pendulum", "--time", "0.0105", "--dt", "0.01")
    assert done.code == 0 and "0.01 s in place of 0.0105" in done.out
    done = program("run", "pendulum", "--time", "0.1", "--push", "rod=1,0,0@3", "--quiet")
    assert done.err == "pliant: warning: the push on 'rod' begins at t = 3 s, and the run ends at 0.1 s\n"


@pytest.mark.parametrize("file, options", [("a.h5", ()), ("a.csv", ()), ("a.h5", ("--event-driven",))])
def test_what_there_was_until_an_error_is_kept(program, tmp_path: Path, file: str, options: tuple[str, ...]) -> None:
    """As a run from Python with ``save=`` keeps it; without an error the same run goes on."""
    text = "def f(t, q, v):\n    if t > 0.6: raise ValueError('no more')\n    return [0.1]\n"
    (tmp_path / "mine.py").write_text(text)
    done = program("run", "pendulum", "--time", "0.9", "--controller", "mine.py:f", "--log", file, *options)
    # the step from 0.6 s on is the last that was asked for; the event-driven run asks before it
    end = "0.6" if options else "0.601"
    assert done.code == 1
    assert done.err == f"pliant: {tmp_path / 'mine.py'}:2: ValueError: no more; {file} has the run until t = {end} s\n"
    if file == "a.csv":
        assert len(Path(file).read_text().splitlines()) == 603
        return
    with pytest.warns(pliant.SimulationWarning, match=rf"did not end: saved until t = {end} s of 0.9 s"):
        log = load_log(file)
    (tmp_path / "mine.py").write_text(text.replace("0.6", "6"))
    program("run", "pendulum", "--time", "0.9", "--controller", "mine.py:f", "--log", "whole.h5", *options)
    whole = load_log("whole.h5")
    assert all((log[name] == whole[: len(log)][name]).all() for name in log)
    assert "power.damping" in log


def test_an_unwritable_folder(program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the run; for root, who may write everywhere, access is what the folder's mode gives its owner."""
    (tmp_path / "locked").mkdir(mode=0o500)
    monkeypatch.setattr("pliant.files.writing.os.access", lambda path, mode: mode & ~(path.stat().st_mode >> 6) == 0)
    done = program("run", "pendulum", "--log", "locked/run.h5")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "folder locked may not be written to" in done.err
    assert program("run", "pendulum", "--time", "0.01", "--log", "run.h5").code == 0


def test_a_folder_that_refuses_on_writing(program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Access may be told wrong, on disks of a network for one: the system's refusal is one line, too."""

    replace = os.replace

    def refused(source: Path, target: Path) -> None:
        # the cache of kernels goes on
        if Path(target).name == "run.csv":
            raise PermissionError(errno.EACCES, "Permission denied")
        replace(source, target)

    monkeypatch.setattr("pliant.files.writing.os.replace", refused)
    done = program("run", "pendulum", "--time", "0.01", "--log", "run.csv")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "cannot write run.csv: it may not be written to" in done.err
    assert not list(Path().iterdir())


@pytest.mark.parametrize("end", ["SIGINT", "SIGKILL"])
def test_a_run_that_is_stopped_leaves_its_log(tmp_path: Path, end: str) -> None:
    """Ctrl-C is one line and 130; a program that is killed says nothing, and its log opens all the same."""
    command = [sys.executable, "-m", "pliant", "run", "pendulum", "--time", "1e6", "--every", "0.1", "--log", "run.h5"]
    # a shell ignores Ctrl-C in programs that it starts in the background, tests among them
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    pipes["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as running:
        try:
            wait_for(tmp_path / "run.h5")
            running.send_signal(getattr(signal, end))
            out, err = running.communicate(timeout=30)
        finally:
            running.kill()
    if end == "SIGINT":
        assert running.returncode == 130
        assert "stopped by you" in out
        assert err.startswith("pliant: stopped at t = ")
        assert err.endswith("kept in run.h5\n")
        assert err.count("\n") == 1
    with pytest.warns(pliant.SimulationWarning, match="did not end"):
        log = load_log(tmp_path / "run.h5")
    assert not log.is_complete
    assert len(log.t) > 3
    np.testing.assert_allclose(np.diff(log.t), 0.1, rtol=0, atol=1e-6)


def wait_for(path: Path) -> None:
    """Until the file is there, and some parts of a run, of 0.15 s each, have gone into it."""
    for _ in range(600):
        if path.exists():
            time.sleep(1)
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} is not there after 30 s")


# ---- setup


def test_grounds_have_the_heights_they_say() -> None:
    assert as_ground("none", Settings()) is None
    x = np.array([0.35, 1.0])
    for word, height in (
        ("flat", [0, 0]),
        ("flat=0.2", [0.2, 0.2]),
        ("slope=45", x),
        ("slope=45,90", [0, 0]),
        ("stairs=0.1,0.3", [0.2, 0.4]),
        ("stairs=0.1,0.3,2", [0.2, 0.2]),
        ("waves=0.1,4", 0.1 * np.sin(np.pi / 2 * x) * 0),
    ):
        # rounding of a tangent
        np.testing.assert_allclose(as_ground(word, Settings()).height(x, 0 * x), height, rtol=0, atol=1e-12)


def test_grounds_from_files(tmp_path: Path) -> None:
    np.save(tmp_path / "map.npy", np.arange(6.0).reshape(2, 3))
    found = ground_file(f"{tmp_path}/map.npy=0.5,0.1", Settings())
    assert found is not None and found.starts.tolist() == [[0, 0]]
    assert found.ground.height(0.25, 0.5) == pytest.approx(0.5, abs=1e-6)  # rounded to a micrometre
    path = tmp_path / "terrain.toml"
    path.write_text("levels = 2\nsize = 3\n[tiles]\nside = 0.5\nheight = [0, 0.1]\ncolumns = 3\n")
    for words, starts in (("", 6), ("=1", 3), ("=1,2", 1)):
        found = ground_file(f"{path}{words}", Settings())
        assert found is not None and len(found.starts) == starts
        np.testing.assert_allclose(found.starts[-1], [1.5, 3], rtol=0, atol=1e-12)
    assert ground_file("flat", Settings()) is None
    for words in ("=2", "=0,3", "=0.5", "=0,0,0", "=a"):
        with pytest.raises(PliantError, match="--ground: "):
            ground_file(f"{path}{words}", Settings())
    for words in ("", "=0", "=1,2,3", "=-1"):
        with pytest.raises(PliantError, match=r"--ground: |map.npy"):
            ground_file(f"{tmp_path}/map.npy{words}", Settings())
    with pytest.raises(PliantError, match="no such file"):
        ground_file("absent.png=0.1", Settings())


def test_robots_start_in_patches(program, block: Path) -> None:
    Path("terrain.toml").write_text("levels = 2\nsize = 4\nplatform = 2\n[pyramid]\nangle = [0.1, 0.3]\ncolumns = 2\n")
    options = ("--base", "free", "--ground", "terrain.toml", "--time", 0.05, "--spread", 0, "--log", "run.h5", "--json")
    about = program("run", block, *options, "--batch", 5).json
    assert about["ground"] == "terrain.toml" and not about["troubles"]
    log = pliant.load_log("run.h5")
    places = [[-2, -2], [-2, 2], [2, -2], [2, 2], [-2, -2]]
    np.testing.assert_allclose(log.q[:, 0, :2], places, rtol=0, atol=1e-9)
    np.testing.assert_allclose(log.q[:, -1, 2] - log.q[:, 0, 2], 0, rtol=0, atol=1e-6)
    assert log.source is not None and log.source.ground is not None
    tops = [float(log.source.ground.height(*place)) for place in places]
    np.testing.assert_allclose(np.diff(log.q[:, 0, 2]), np.diff(tops), rtol=0, atol=1e-9)
    program("run", block, *options[:2], "--ground", "terrain.toml=1,0", *options[4:])
    np.testing.assert_allclose(pliant.load_log("run.h5").q[0, :2], [2, -2], rtol=0, atol=1e-9)


def test_contacts_and_rows() -> None:
    rigid = as_contact(Settings(friction=0.3, restitution=0.5))
    assert (rigid.friction, rigid.restitution) == (0.3, 0.5)
    law = as_contact(Settings(contact="compliant=1e4,50", friction=0.3)).law
    assert (law.stiffness, law.damping, law.friction) == (1e4, 50, 0.3)
    assert as_contact(Settings(contact="compliant")).law.friction == 0.7
    law = as_contact(Settings(contact="anchored=1e4,50", friction=0.3)).law
    assert law == AnchoredSpringDamper(1e4, 50, 0.3)
    law = as_contact(Settings(contact="hunt-crossley=1e5,0.2")).law
    assert (law.stiffness, law.dissipation, law.exponent) == (1e5, 0.2, 1.5)
    names = ("a", "b")
    assert as_row(Settings(q={"b": 2.0}), "q", names, [0, 0]).tolist() == [0, 2]
    assert as_row(Settings(q=(1, 2)), "q", names, [0, 0]).tolist() == [1, 2]
    assert as_row(Settings(), "q", names, [3, 4]).tolist() == [3, 4]
    with pytest.raises(PliantError, match=r"--q is \(1,\); it takes 2 numbers \(a, b\), or some by name, b=0.5"):
        as_row(Settings(q=(1,)), "q", names, [0, 0])
    with pytest.raises(PliantError, match="--v: no coordinate named 'c'"):
        as_row(Settings(v={"c": 1}), "v", names, [0, 0])


@pytest.mark.parametrize("settings, words", [
    (Settings(ground="flat=nan"), "--ground: flat is 'nan', where 'nan' is not a number"),
    (Settings(ground="flatt"), "did you mean 'flat'"),
    (Settings(ground="slope"), "slope has 0 numbers; it takes 1 to 2"),
    (Settings(ground="stairs=0.1,0.3,1.5"), "it takes a whole number"),
    (Settings(ground="slope=95"), "--ground: "),
    (Settings(contact="rigd"), "did you mean 'rigid'"),
    (Settings(contact="compliant", restitution=0.5), "--restitution is 0.5; it takes --contact rigid"),
    (Settings(contact="hunt-crossley"), "it takes 2 to 3"),
])  # fmt: skip
def test_errors_name_the_option(settings: Settings, words: str) -> None:
    with pytest.raises(PliantError, match=re.escape(words)):
        as_ground(settings.ground, settings) if settings.ground else as_contact(settings)
