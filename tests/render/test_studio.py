"""Where robots are between the entries of a log."""

import numpy as np
import pytest

import pliant
from pliant.render.log_motion import LogMotion
from pliant.recording.source import Source
from view_logs import bounce_log, hopper_log


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


def test_a_log_without_what_it_takes_says_so() -> None:
    log = hopper_log()
    with pytest.raises(pliant.PliantError, match="test needs channel 'q' of the log, which has v"):
        LogMotion(pliant.Log(log.t, {"v": log.v}, source=log.source), "test")
