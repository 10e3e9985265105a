"""The state of a simulation at this moment: to read, to reset, to keep and to restore."""

import warnings
from typing import Any

import numpy as np

from pliant.errors import SimulationError, SimulationWarning
from pliant.robot import Robot
from pliant.simulation.checks import check, chosen_robots, configurations, is_real, velocities
from pliant.simulation.clock import set_clock
from pliant.simulation.divergence import Trouble, level_of_caller, trouble_text
from pliant.simulation.model import StepModel
from pliant.simulation.plan import Plan
from pliant.simulation.state import State, StateLayout

__all__ = ["CurrentState"]


class CurrentState:
    """What `Simulation` tells about the moment; its attributes are described there."""

    robot: Robot
    model: StepModel
    plan: Plan
    layout: StateLayout
    batch: int | None
    precision: str
    dtype: np.dtype
    data: np.ndarray
    troubles: list[Trouble]

    @property
    def dt(self) -> float:
        return self.model.dt

    def reset(self, q: Any = None, v: Any = None, *, t: float = 0, robots: Any = None) -> None:
        """Put robots into a new state, at rest and in the neutral configuration unless told otherwise.

        Args:
            q, v: (nq,), (nv,) for all robots, or one for each of those chosen. Quaternions whose length is
                within a thousandth of one are brought to unit length.
            t: time [s]; it is rounded to whole steps.
            robots: indices or a mask of those to reset; None for all of them.
        """
        check("t", t, "a finite time in seconds", is_real(t))
        if robots is not None and self.batch is None:
            raise SimulationError("reset(robots=...) is for a batch; this simulation has one robot")
        if robots is None or self.batch is None:
            self.data[...] = self.fresh(self.data.shape[:-1], q, v, t)
            self.troubles = []
        else:
            chosen = chosen_robots(robots, self.batch)
            self.data[chosen] = self.fresh(chosen.shape, q, v, t)
            again = set(chosen.tolist())
            self.troubles = [trouble for trouble in self.troubles if trouble.robot not in again]

    def fresh(self, lead: tuple[int, ...], q: Any = None, v: Any = None, t: float = 0) -> np.ndarray:
        """The numbers of states that begin here, (*lead, size)."""
        data = np.zeros((*lead, self.layout.size), self.dtype)
        state, robot = State(data, self.layout), self.robot
        q, v = robot.neutral() if q is None else q, np.zeros(robot.nv) if v is None else v
        state.q[...] = configurations(robot, q, state.q.shape, self.precision)
        state.v[...] = velocities(robot, v, state.v.shape)
        set_clock(state.part("clock"), round(t / self.dt))
        if self.plan.controller:
            state.part("memory")[...] = np.asarray(self.plan.controller.memory, dtype=float)
        return data

    @property
    def state(self) -> State:
        """A snapshot; setting it goes on from there."""
        return State(self.data.copy(), self.layout)

    @state.setter
    def state(self, state: State) -> None:
        if not isinstance(state, State):
            raise SimulationError(f"state is a {type(state).__name__}; it takes a State, as sim.state gives it")
        self.check_layout(state)
        if state.data.shape != self.data.shape:
            raise SimulationError(f"the state has shape {state.data.shape}, the simulation {self.data.shape}")
        self.data[...] = state.data
        self.troubles = []
        self.note_troubles(quiet=True)

    def check_layout(self, state: State) -> None:
        """Raise if a state is not one of this simulation."""
        if dict(state.layout.sizes) != dict(self.layout.sizes):
            raise SimulationError(
                f"the state is of another simulation: it has {dict(state.layout.sizes)}, this one "
                f"{dict(self.layout.sizes)}"
            )
        if state.layout.dt != self.layout.dt:
            raise SimulationError(
                f"the state is of a simulation with dt = {state.layout.dt:g} s, this one has {self.layout.dt:g} s; "
                "times are counted in steps, so reset(q=state.q, v=state.v, t=...) instead"
            )

    def _part(self, name: str) -> np.ndarray:
        return self.data[..., self.layout.span(name)]

    @property
    def q(self) -> np.ndarray:
        """Configurations, a copy."""
        return self._part("q").copy()

    @property
    def v(self) -> np.ndarray:
        """Velocities, a copy."""
        return self._part("v").copy()

    @property
    def t(self) -> float:
        """Time [s]: the latest of the robots that have not diverged. ``state.t`` has that of each robot."""
        times = np.atleast_1d(State(self.data, self.layout).t)
        moving = np.atleast_1d(self._part("trouble")[..., 0]) == 0
        return float(times[moving].max() if moving.any() else times.max())

    @property
    def tau(self) -> np.ndarray:
        """Torques of the motors in the last step [N m or N], a copy; zero for robots in trouble."""
        return self._part("torques").copy()

    @property
    def contact_names(self) -> list[str]:
        """Names of the contacts, in the order of `contact_forces`."""
        return self.model.contact_names

    @property
    def contact_forces(self) -> np.ndarray:
        """On the robot at each contact, in the world's axes, over the last step [N]; (..., contacts, 3)."""
        return self.forces_of(self.data)

    def forces_of(self, data: np.ndarray) -> np.ndarray:
        """Forces at the contacts, of the numbers of states: (..., size) -> (..., contacts, 3)."""
        impulses = data[..., self.layout.span("impulses")]
        return impulses.reshape(*impulses.shape[:-1], len(self.contact_names), 3) / self.dt

    def note_troubles(self, quiet: bool = False) -> None:
        """Look for robots in trouble that are not known yet, and warn of them."""
        flags = np.atleast_1d(self._part("trouble")[..., 0])
        if not flags.any():
            return
        times = np.atleast_1d(State(self.data, self.layout).t)
        known = {trouble.robot for trouble in self.troubles}
        found = [
            Trouble(int(k), float(times[k]), trouble_text(self.robot, int(flags[k])))
            for k in np.flatnonzero(flags)
            if k not in known
        ]
        self.troubles += found
        if found and not quiet:
            more = f" (and {len(found) - 1} more, see sim.troubles)" if len(found) > 1 else ""
            warnings.warn(f"{found[0]}; it is frozen{more}", SimulationWarning, stacklevel=level_of_caller())
