"""Methods of event-driven simulations whose implementation is in a layer above.

Each has its signature and its documentation here, and imports the function that does it when it is called.
"""

from typing import TYPE_CHECKING, cast

from pliant.simulation.running import source_with

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation


class EventExports:
    """Shows an event-driven simulation; the base of `EventSimulation`."""

    @property
    def _sim(self) -> "EventSimulation":
        return cast("EventSimulation", self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the robot as it is now, and the settings."""
        from pliant.notebook.summaries import simulation_html

        sim = self._sim
        return simulation_html(sim, source_with(sim, sim.model, {}))

    def __repr__(self) -> str:
        sim = self._sim
        about = f"{len(sim.contact_names)} contacts, t = {sim.t:g} s, {sim.mode_name}"
        return f"EventSimulation of {sim.robot.name!r}: {about}"
