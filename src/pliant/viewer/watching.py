"""Robots of a training in the browser, while they learn."""

from typing import Any

import numpy as np

from pliant.checks import chosen_robots
from pliant.simulation.running import source_of
from pliant.viewer.browser_scene import BrowserScene
from pliant.viewer.live import MOST
from pliant.viewer.server import opened


class Watcher:
    """Shows the first robots of an environment after each update of the learner, and what was measured.

        pliant.learn.ppo(env, callback=Watcher())

    Attributes:
        viewer: of the page; None before the first update.
    """

    def __init__(self, robots: Any = None, *, port: int = 8080, host: str = "127.0.0.1", browser: bool = False):
        self._robots, self._page = robots, {"port": port, "host": host, "browser": browser, "block": False}
        self.viewer: Any = None
        self._scene: Any = None

    def __call__(self, report: Any) -> None:
        """Draw."""
        sim = report.env.sim
        if self.viewer is None:
            self._open(sim)
        self._scene.draw(np.asarray(sim.q, dtype=float)[self._shown], None)
        self._text.content = _table(report.row)

    def _open(self, sim: Any) -> None:
        self._shown = chosen_robots(self._robots, sim.batch, first=MOST, least=1)
        with opened("training", f"Pliant: {sim.robot.name} learns", **self._page) as viewer:
            self.viewer = viewer
            start = np.asarray(sim.q, dtype=float)[self._shown][:, None]
            options = {"layout": "grid", "show": (), "follow": False, "detail": 80_000, "packages": ()}
            self._scene = BrowserScene(viewer.server, source_of(sim), start, **options)
            self._text = viewer.server.gui.add_markdown("")


def _table(row: Any) -> str:
    """What was measured, as a table of Markdown."""
    lines = ["| | |", "|---|---|"]
    for name, value in row.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            lines.append(f"| {name} | {value:.4g} |")
    return "\n".join(lines)
