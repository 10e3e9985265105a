"""Phase portraits."""

import numpy as np
import pytest

import pliant
from view_logs import batch_log, bounce_log, hopper_log


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
    with pytest.raises(pliant.PliantError, match="no column named 'hip_pich' in channel 'q' of the log; did you mean"):
        hopper_log().plot_phase("hip_pich")
    with pytest.raises(pliant.PliantError, match=r"'root_joint\.qw' is a coordinate of an orientation"):
        hopper_log().plot_phase("root_joint.qw")
    with pytest.raises(pliant.PliantError, match="needs channels 'q' and 'v'"):
        pliant.Log(np.arange(3.0), {"q": np.zeros((3, 1))}).plot_phase()
