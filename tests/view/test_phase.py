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
    np.testing.assert_array_equal(second.lines[0].get_ydata(), log["v", "root_joint.vz"])
    assert (first.get_xlabel(), first.get_ylabel()) == ("hip_pitch [rad]", "velocity [rad/s]")
    assert (second.get_xlabel(), second.get_ylabel()) == ("root_joint.z [m]", "velocity [m/s]")


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
    with pytest.raises(pliant.PliantError, match=r"no velocity belongs to 'root_joint\.qw'"):
        hopper_log().plot_phase("root_joint.qw")
    with pytest.raises(pliant.PliantError, match="needs channels 'q' and 'v'"):
        pliant.Log(np.arange(3.0), {"q": np.zeros((3, 1))}).plot_phase()
