"""Plots over time and phase portraits: what is on them, and that nothing else changes."""

from pathlib import Path

import matplotlib
import numpy as np
import pytest

import pliant
from pliant.plots.curves import MOST, column_groups, log_groups, matching, panels_of, unit_of
from pliant.plots.time_plots import contact_spans, mode_spans, spans_of
from view_logs import batch_log, bounce_log, hopper_log


def labels(figure) -> list[str]:
    return [axis.get_ylabel().replace("\n", " ") for axis in figure.axes]


def texts(axis) -> list[str]:
    legend = axis.get_legend()
    return [t.get_text() for t in axis.texts] + ([t.get_text() for t in legend.get_texts()] if legend else [])


def test_a_channel_has_an_axis_for_each_unit() -> None:
    before = dict(matplotlib.rcParams)
    figure = hopper_log().plot("q", "tau", "forces.foot", "energy")
    assert dict(matplotlib.rcParams) == before, "settings of the user stay"
    assert figure.canvas.manager is None, "no window opens"
    assert labels(figure) == ["q [m]", "q", "q [rad]", "tau [N m]", "tau leg [N]", "forces.foot [N]", "energy [J]"]
    assert figure.axes[-1].get_xlabel() == "time [s]" and figure.axes[0].get_xlabel() == ""
    assert figure.axes[0].get_xlim() == figure.axes[-1].get_xlim() == (0.0, 0.4)


def test_lines_have_the_numbers_of_the_log() -> None:
    log = hopper_log()
    axis = log.plot(("q", "hip_pitch")).axes[0]
    np.testing.assert_array_equal(axis.lines[0].get_ydata(), log["q", "hip_pitch"])
    np.testing.assert_array_equal(axis.lines[0].get_xdata(), log.t)
    assert axis.get_ylabel() == "hip_pitch [rad]"
    both = log.plot(("q", ["hip_roll", "hip_pitch"])).axes[0]
    assert {"hip_roll", "hip_pitch"} <= set(texts(both))
    part = log.plot("q.leg", start=0.1, end=0.2).axes[0].lines[0].get_xdata()
    assert part[0] == pytest.approx(0.1) and part[-1] == pytest.approx(0.2)


def test_units_by_what_the_column_is() -> None:
    robot = pliant.load("hopper")
    expected = {
        ("q", "root_joint.x"): "m", ("q", "root_joint.qw"): "", ("q", "hip_roll"): "rad", ("q", "leg"): "m",
        ("v", "root_joint.vz"): "m/s", ("v", "root_joint.wx"): "rad/s", ("v", "leg"): "m/s", ("tau", "leg"): "N",
        ("tau", "hip_roll"): "N m", ("forces", "foot.x"): "N", ("energy.kinetic", ""): "J", ("power.motors", ""): "W",
        ("deflection", "leg_flexibility"): "m", ("own", "x"): "",
    }  # fmt: skip
    assert {key: unit_of(*key, robot) for key in expected} == expected
    assert unit_of("q", "leg", None) == ""


def test_unknown_names_have_near_ones() -> None:
    for channels, options, message in (
        ("taus", {}, "no channel named 'taus' in the log; did you mean 'tau'"),
        ("q.hip_rol", {}, "no column named 'hip_rol' in channel 'q' of the log; did you mean"),
        ("forces.fot", {}, "did you mean 'foot"),
        (3, {}, "channels is 3; it takes names"),
        ("q", {"start": 7}, r"no entry between 7 and None s; it goes from 0 to 0\.4 s"),
        ("q.leg", {"path": "x.txt"}, r"a plot ends with \.svg, \.pdf or \.png"),
    ):
        with pytest.raises(pliant.PliantError, match=message):
            hopper_log().plot(channels, **options)


def test_in_a_crowd_the_busiest_are_drawn_and_a_note_says_so() -> None:
    t = np.linspace(0, 1, 5)
    x = np.outer(np.ones(5), np.arange(20.0))
    log = pliant.Log(t, {"x": x}, {"x": tuple(f"c{k}" for k in range(20))})
    panel = panels_of(log, ["x"], 3)[0]
    assert [line.name for line in panel.curves] == ["c17", "c18", "c19"] and panel.left_out == 17
    assert "17 more" in "".join(texts(log.plot("x", most=3).axes[0]))
    assert len(panels_of(log, ["x"], 50)[0].curves) == 19  # one is zero


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_files_are_whole_and_the_same_each_time(suffix: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for path in files:
        hopper_log().plot("energy", path=path, size=(3, 2))
    assert files[0].read_bytes() == files[1].read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == [p.name for p in files]
    with pytest.raises(pliant.PliantError, match="does not exist; make it first"):
        hopper_log().plot("energy", path=tmp_path / "no" / f"x.{suffix}")


def test_a_batch_is_mean_and_band_or_chosen_robots() -> None:
    log = batch_log()
    axis = log.plot("q.root_joint.z").axes[0]
    np.testing.assert_allclose(axis.lines[0].get_ydata(), log["q", "root_joint.z"].mean(axis=0), rtol=1e-12)
    band = axis.collections[0].get_paths()[0].vertices
    low, high = np.quantile(log["q", "root_joint.z"], [0.05, 0.95], axis=0)
    assert band[:, 1].min() == pytest.approx(low.min()) and band[:, 1].max() == pytest.approx(high.max())
    chosen = log.plot("q.root_joint.z", robots=[0, 2]).axes[0]
    assert texts(chosen) == ["robot 0", "robot 2"]
    np.testing.assert_array_equal(chosen.lines[1].get_ydata(), log["q", "root_joint.z"][2])


def test_contacts_and_modes_are_bands_and_events_are_lines() -> None:
    log = hopper_log()
    touching = contact_spans(log)["foot"]
    holds = (log["forces"] != 0).any(axis=1)
    inside = np.zeros(len(log), dtype=bool)
    for start, end in touching:
        inside |= (log.t > start) & (log.t < end)
    np.testing.assert_array_equal(inside, holds)
    bounce = bounce_log()
    figure = bounce.plot("q")
    drawn = sorted(line.get_xdata()[0] for line in figure.axes[0].lines if len(line.get_xdata()) == 2)
    assert drawn == [event.t for event in bounce.events]
    assert "touch-down" in texts(figure.axes[0])
    assert mode_spans(bounce) == {}  # it flies all the time
    assert len(bounce.plot("q", events=False).axes[0].lines) == 1


def test_several_contacts_are_bars_on_top() -> None:
    t = np.linspace(0, 1, 11)
    forces = np.zeros((11, 9))
    forces[3:6, 2], forces[5:, 5], forces[:2, 8] = 1, 1, 1
    names = tuple(f"{foot}.{axis}" for foot in ("left", "right.0", "right.1") for axis in "xyz")
    log = pliant.Log(t, {"forces": forces}, {"forces": names})
    left, right = [pytest.approx((0.25, 0.55))], [pytest.approx((0, 0.15)), pytest.approx((0.45, 1))]
    assert contact_spans(log) == {"left": left, "right": right}
    strip = log.plot("forces.left").axes[0]
    assert [label.get_text() for label in strip.get_yticklabels()] == ["left", "right"]
    t = np.arange(6.0)
    assert spans_of(t, np.array([1, 1, 0, 0, 1, 1], dtype=bool)) == [(0, 1.5), (3.5, 5)]
    assert spans_of(t, np.zeros(6, dtype=bool)) == []
    assert spans_of(t, np.ones(6, dtype=bool)) == [(0, 5)]


def test_long_lines_keep_their_extremes() -> None:
    t = np.linspace(0, 1, 50_001)
    y = np.sin(40 * t)
    y[12_345] = 7.0
    line = pliant.Log(t, {"y": y}).plot("y").axes[0].lines[0]
    assert len(line.get_xdata()) < 7000
    assert line.get_ydata().max() == 7.0 and line.get_xdata()[0] == 0 and line.get_xdata()[-1] == 1


# ---- groups of columns


def test_a_robot_with_many_joints_shows_all_of_them() -> None:
    names = [f"base.{e}" for e in ("x", "y", "z", "qx", "qy", "qz", "qw")] + [f"j{k}" for k in range(12)]
    groups = column_groups("q", names, None)
    assert [g.label for g in groups] == [
        "q: base position", "q: base orientation", "q: joints 1-8", "q: joints 9-12",
    ]  # fmt: skip
    assert [k for g in groups for k in g.entries] == list(range(19))
    assert all(len(g.columns) <= MOST for g in groups)
    feet = [f"{foot}.{axis}" for foot in ("left", "right") for axis in "xyz"]
    assert [g.title for g in column_groups("forces", feet, None)] == ["forces: left [N]", "forces: right [N]"]
    assert [g.label for g in column_groups("forces", feet[:3], None)] == ["forces"]
    assert [g.label for g in column_groups("u", names[:9], None)][:1] == ["u: base position"]


def test_a_log_has_each_column_once() -> None:
    log = hopper_log()
    groups = log_groups(log)
    names = [g.flat_name(c) for g in groups for c in g.columns]
    assert sorted(names) == sorted(n for n in log.to_dict() if n != "t")
    assert len({g.label for g in groups}) == len(groups)
    (energy,) = matching(groups, "energy")
    assert energy.title == "energy [J]" and "kinetic" in energy.columns
    (leg,) = matching(groups, "q.leg")
    assert "leg" in leg.columns
    # turning and sliding joints have no unit in common
    assert {g.unit for g in matching(groups, "q")} == {"m", "", "rad"}


# ---- phase portraits


def test_velocity_over_position() -> None:
    log = hopper_log()
    figure = log.plot_phase("hip_pitch", "root_joint.z")
    first, second = figure.axes
    np.testing.assert_array_equal(first.lines[0].get_xdata(), log["q", "hip_pitch"])
    np.testing.assert_array_equal(first.lines[0].get_ydata(), log["v", "hip_pitch"])
    # what is plotted is the slope of the position: differences over two steps are off by dt^2 / 6 of the third
    # derivative, which landing makes large at a few entries
    slope = np.gradient(log["q", "root_joint.z"], log.t)
    assert np.median(abs(second.lines[0].get_ydata() - slope)) < 1e-2
    assert (first.get_xlabel(), first.get_ylabel()) == ("hip_pitch [rad]", "velocity [rad/s]")
    assert (second.get_xlabel(), second.get_ylabel()) == ("root_joint.z [m]", "velocity [m/s]")


def test_the_velocity_of_a_position_is_along_the_same_axis_of_the_world() -> None:
    turned = np.array([0.0, np.sin(0.6), 0.0, np.cos(0.6)])  # by 1.2 rad about y
    q, v = np.array([[1.0, 2.0, 3.0, *turned]] * 3), np.array([[0.5, 0.25, -2.0, 1.0, 2.0, 3.0]] * 3)
    ends = ("x", "y", "z", "qx", "qy", "qz", "qw"), ("vx", "vy", "vz", "wx", "wy", "wz")
    columns = {name: tuple(f"base.{e}" for e in own) for name, own in zip("qv", ends, strict=True)}
    figure = pliant.Log(np.arange(3.0), {"q": q, "v": v}, columns).plot_phase("base.x", "base.y", "base.z")
    found = [axis.lines[0].get_ydata()[0] for axis in figure.axes]
    c, s = np.cos(1.2), np.sin(1.2)
    np.testing.assert_allclose(found, [c * 0.5 - s * 2.0, 0.25, -s * 0.5 - c * 2.0], rtol=1e-12)
    planar = {"q": ("base.x", "base.y", "base.cos", "base.sin"), "v": ("base.vx", "base.vy", "base.wz")}
    moves = {"q": np.array([[0.0, 0.0, c, s]] * 3), "v": np.array([[0.5, 0.25, 1.0]] * 3)}
    figure = pliant.Log(np.arange(3.0), moves, planar).plot_phase("base.x", "base.y")
    found = [axis.lines[0].get_ydata()[0] for axis in figure.axes]
    np.testing.assert_allclose(found, [c * 0.5 - s * 0.25, s * 0.5 + c * 0.25], rtol=1e-12)


def test_impacts_are_dotted_and_marked() -> None:
    log = bounce_log()
    axis = log.plot_phase().axes[0]
    dotted = [line for line in axis.lines if line.get_linestyle() == ":"]
    assert len(dotted) == len(log.events)
    before, after = dotted[0].get_ydata()
    assert after == pytest.approx(-0.5 * before, rel=1e-9)  # the restitution
    marks = [line for line in axis.lines if line.get_marker() == "v"]
    assert [line.get_xdata()[0] for line in marks] == pytest.approx([0.1] * len(log.events), abs=1e-9)


def test_a_batch_and_bad_names() -> None:
    axis = batch_log().plot_phase("hip_roll", robots=[0, 2]).axes[0]
    assert [t.get_text() for t in axis.get_legend().get_texts()] == ["robot 0", "robot 2"]
    for log, names, message in (
        (hopper_log(), ["hip_pich"], "no column named 'hip_pich' in channel 'q' of the log; did you mean"),
        (hopper_log(), ["root_joint.qw"], r"'root_joint\.qw' is a coordinate of an orientation"),
        (pliant.Log(np.arange(3.0), {"q": np.zeros((3, 1))}), [], "needs channels 'q' and 'v'"),
    ):
        with pytest.raises(pliant.PliantError, match=message):
            log.plot_phase(*names)
