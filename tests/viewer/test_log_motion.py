"""Logs as something to play: which robots, which moments, and deflections that are exaggerated."""

import numpy as np
import pytest

import pliant
from pliant.render.log_motion import LogMotion
from pliant.viewer.browser_scene import exaggerated


def test_forces_are_those_of_the_contact_points(hop: pliant.Log) -> None:
    motion = LogMotion(hop, "test")
    assert motion.q.shape == (1, len(hop.t), 11)
    np.testing.assert_array_equal(motion.forces[0, :, 0], hop["forces"])
    assert motion.duration == pytest.approx(0.8)


def test_steps_are_the_last_before_a_time(hop: pliant.Log) -> None:
    motion = LogMotion(hop, "test")
    assert motion.step_at(-1) == 0
    assert motion.step_at(9) == len(hop.t) - 1
    for step in (1, 17, 200):
        assert motion.step_at(float(hop.t[step])) == step
        assert motion.step_at(float(hop.t[step]) + 1.9e-3) == step


def test_robots_of_a_batch_are_chosen(batch: pliant.Log) -> None:
    """A number is the number of a robot, never how many."""
    for robots, expected in (
        (None, [0, 1, 2, 3]), (2, [2]), (-1, [3]), ([-1, 1], [3, 1]), (range(2), [0, 1]), (slice(1, None), [1, 2, 3]),
    ):  # fmt: skip
        chosen = LogMotion(batch, "test", robots)
        assert list(chosen.indices) == expected
        np.testing.assert_array_equal(chosen.q, batch.q[expected])
    for wrong in (5, [4], [], ["a"]):
        with pytest.raises(pliant.PliantError) as error:
            LogMotion(batch, "test", wrong)
        assert error.value.field == "robots"


def test_logs_that_cannot_be_shown_say_why(hop: pliant.Log) -> None:
    with pytest.raises(pliant.PliantError, match="source"):
        LogMotion(pliant.Log(hop.t, {"q": hop.q}), "test")
    without = pliant.Log(hop.t, {"v": hop.v}, source=hop.source)
    with pytest.raises(pliant.PliantError, match="test needs channel 'q'"):
        LogMotion(without, "test")
    with pytest.raises(pliant.PliantError, match="the log has no steps"):
        LogMotion(hop[0:0], "test")


def test_paths_are_those_of_frames_and_of_the_mass(hop: pliant.Log) -> None:
    motion = LogMotion(hop, "test")
    foot = motion.path("foot", 0)
    np.testing.assert_allclose(foot[-1], pliant.frame_pose(motion.robot, hop.q[-1], "foot")[:3, 3], atol=1e-12)
    mass = motion.path(None, 0, most=11)
    assert mass.shape == (11, 3)
    np.testing.assert_allclose(mass[0], pliant.center_of_mass(motion.robot, hop.q[0]), atol=1e-12)


def test_only_deflections_are_exaggerated() -> None:
    robot = pliant.load("two_link_arm").with_motor("elbow", rotor_inertia=1e-3)
    robot = robot.with_flexibility("elbow", stiffness=(100, 200, 300), damping=1)
    small = np.array([0.01, -0.02, 0.03])
    v = np.zeros(robot.nv)
    v[robot.v_slice("elbow_flexibility")] = small
    v[robot.v_slice("shoulder")] = 0.7
    q = np.asarray(robot.integrate(robot.neutral(), v))
    v[robot.v_slice("elbow_flexibility")] = 10 * small
    # ten times the rotation about the same axis
    np.testing.assert_allclose(exaggerated(robot, q, 10), robot.integrate(robot.neutral(), v), atol=1e-12)
    np.testing.assert_array_equal(exaggerated(robot, np.stack([q, q]), 1), [q, q])
