"""Methods of simulations whose implementation is in a layer above.

Each has its signature and its documentation here, and imports the function that does it when it is called.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pliant.signatures import explained
from pliant.simulation.running import source_of

if TYPE_CHECKING:
    from pliant.simulation.simulation import Simulation
    from pliant.viewer.server import Viewer


class SimulationExports:
    """Shows a simulation; the base of `Simulation`."""

    @property
    def _sim(self) -> "Simulation":
        return cast("Simulation", self)

    @explained
    def view(
        self,
        controller: Callable[..., Any] | None = None,
        *,
        gains: Mapping[str, Any] | None = None,
        robots: int | slice | Sequence[int] | None = None,
        layout: str = "grid",
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
        """Run it in real time in the browser: push it, change gains and parameters, pause, reset.

            sim.view(controller, gains={"kp": (0, 200, 80)})        # controller(t, q, v, kp=...)

        It goes on from where it is; the parameters of ``varying`` get sliders.

        Args:
            controller: a function (t, q, v) -> u, as `run` takes it; an error that it raises is shown, and stops the
                simulation until it is reset.
            gains: numbers that the controller takes by name, with their range: (lowest, highest, first), or the
                first only.
            robots: the robots of a batch to show: an index, several, or a slice; None (default) for the first nine.
                Pushes and sliders act on all.
            layout, show, follow: as in `Log.view`.
            play: whether to run at once.
            speed: relative to real time.
            port, host, block, browser, detail, packages: as in `Robot.view`.

        Returns:
            The viewer; its ``player`` is the `Runner`, its ``error`` the one that stopped the simulation.
        """
        from pliant.viewer.live import view_simulation

        return view_simulation(
            self._sim, controller, gains=gains, robots=robots, layout=layout, show=show, follow=follow, play=play,
            speed=speed, port=port, host=host, block=block, browser=browser, detail=detail, packages=packages,
        )  # fmt: skip

    def _repr_html_(self) -> str:
        """What a notebook shows: the robots as they are now, and the settings."""
        from pliant.notebook.summaries import simulation_html

        return simulation_html(self._sim, source_of(self._sim))
