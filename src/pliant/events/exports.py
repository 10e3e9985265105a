"""Methods of event-driven simulations whose implementation is in a layer above.

Each has its signature and its documentation here, and imports the function that does it when it is called.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pliant.simulation.running import source_with

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation
    from pliant.viewer.server import Viewer


class EventExports:
    """Shows an event-driven simulation; the base of `EventSimulation`."""

    @property
    def _sim(self) -> "EventSimulation":
        return cast("EventSimulation", self)

    def view(
        self,
        controller: Callable[..., Any] | None = None,
        *,
        gains: Mapping[str, Any] | None = None,
        show: str | Iterable[str] | None = (),
        follow: bool | None = True,
        play: bool = True,
        speed: float = 1.0,
        port: int = 8080,
        host: str = "127.0.0.1",
        block: bool | None = None,
        browser: bool = False,
        detail: int = 80_000,
        packages: str | Path | Iterable[str | Path] = (),
    ) -> "Viewer":
        """Run it in real time in the browser, as `Simulation.view` does, which has the arguments.

        The controller is called every 5 ms, and a push changes the velocities as often.
        """
        from pliant.viewer.live import view_simulation

        return view_simulation(
            self._sim, controller, gains=gains, robots=None, layout="grid", show=show, follow=follow, play=play,
            speed=speed, port=port, host=host, block=block, browser=browser, detail=detail, packages=packages,
        )  # fmt: skip

    def _repr_html_(self) -> str:
        """What a notebook shows: the robot as it is now, and the settings."""
        from pliant.notebook.summaries import simulation_html

        sim = self._sim
        return simulation_html(sim, source_with(sim, sim.model, {}))

    def __repr__(self) -> str:
        sim = self._sim
        about = f"{len(sim.contact_names)} contacts, t = {sim.t:g} s, {sim.mode_name}"
        return f"EventSimulation of {sim.robot.name!r}: {about}"
