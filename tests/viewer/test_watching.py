"""Robots in the browser while they learn: those of the environment, where they are after each update."""

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError
from pliant.learn import ppo
from pliant.viewer.watching import Watcher
from small_tasks import balance

SHORT = {"minutes": None, "horizon": 4, "minibatches": 1, "hidden": (4,)}


def test_robots_are_shown_where_they_are_after_an_update() -> None:
    env, watcher, places = balance(8), Watcher([1, 3], port=0), []

    def look(report) -> None:
        watcher(report)
        for k, robot in enumerate((1, 3)):
            node = watcher.viewer.server.scene.get_handle_by_name(f"/world/robot {k}/pole")
            X = np.asarray(pliant.frame_pose(env.sim.robot, np.asarray(env.sim.q[robot], dtype=float), "pole"))
            # float32 positions, and a quaternion of them
            np.testing.assert_allclose(node.position, X[:3, 3], atol=1e-6)
            places.append(np.array(node.position))

    try:
        ppo(env, steps=96, callback=look, **SHORT)
        assert len(places) == 6 and not np.array_equal(places[0], places[4])  # three updates; they move
        text = watcher._text.content
        assert "| steps | 96 |" in text and "reward/upright" in text
    finally:
        watcher.viewer.close()


def test_watching_changes_no_bit() -> None:
    watcher = Watcher(port=0)
    try:
        seen = ppo(balance(8), steps=64, callback=watcher, **SHORT)
    finally:
        watcher.viewer.close()
    alone = ppo(balance(8), steps=64, **SHORT)
    for one, other in zip(seen.last.layers, alone.last.layers, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


def test_robots_that_are_not_there() -> None:
    with pytest.raises(PliantError, match="robots"):
        ppo(balance(8), steps=32, callback=Watcher([9], port=0), **SHORT)
