"""The simulation of one robot or many copies of it."""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pliant.actuation.body_forces import ExternalForce
from pliant.actuation.disturbances import Disturbance
from pliant.actuation.joint_springs import FlexibilityState, check_flexible
from pliant.chance import check_seed
from pliant.checks import check, chosen_robots, is_array, is_real, is_whole, numbers, row_numbers
from pliant.contact.ground import as_ground
from pliant.contact.models import RigidContact, check_contact
from pliant.errors import SimulationError, SimulationWarning, in_message
from pliant.integrators.adaptive import StepControl
from pliant.recording.log import Log
from pliant.recording.protocol import CHANNELS
from pliant.recording.troubles import Trouble
from pliant.robot import Robot
from pliant.robot.contacts import with_default_contacts
from pliant.signatures import explained
from pliant.simulation.controllers import as_controller
from pliant.simulation.diagnostics import Diagnostics
from pliant.simulation.exports import SimulationExports
from pliant.simulation.model import StepModel, as_forces, as_held
from pliant.simulation.moving import Moving, in_use
from pliant.simulation.noticing import Places, look, new_divergences, periods_apart, tell, troubles_of
from pliant.simulation.parameters import ParameterArrays, Parameters
from pliant.simulation.pickling import parts_of, remade
from pliant.simulation.programs import Kernels, Plan
from pliant.simulation.rollout import Rollout, rollout
from pliant.simulation.running import blocks_of, record
from pliant.simulation.sensing import Readings, begun, keys_after, tell_rounding
from pliant.simulation.state import Divergence, State, level_of_caller
from pliant.simulation.watch import Watch


@explained
class Simulation(SimulationExports):
    """A robot, or a batch of them, moving in time.

        sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(), batch=4096)
        sim.reset(q=q0)
        sim.step(u)                                # one control period
        log = sim.run(2.0, controller=policy)      # policy(t, q, v) -> u, arrays in and out
        before = sim.state                         # snapshot; sim.state = before restores it
        result = sim.rollout(states, controls)     # many periods in one native call

    Arrays are (n,) for one robot, (batch, n) for many. What is compiled is kept on disk.

    One thread at a time moves it: a step, or a part of a run, while another thread is in one is an error; a reset
    waits. Simulations share nothing, so that each thread may have its own. Rollouts do not move it.

    On a ground, a robot without contacts of its own touches with the collision geometry of the bodies at
    the ends of its tree and of its root, with at most 8 points each; `robot.report` of the simulation lists
    them. For others, give it contacts: `Robot.with_collision_contacts` (of any bodies), `Robot.with_contact`.

    Attributes:
        robot: with the contacts that it has in this simulation.
        dt: length of a step [s]; a control period has ``substeps`` of them.
        batch: how many robots, None for one without a batch axis.
        data: the numbers of the state at this moment, (size,) or (batch, size); `state` is a copy to keep.
        layout: what these numbers are.
        parameters: values of the numbers declared as varying, to read and to set.
        divergences: robots that have been frozen, and why; `troubles` has more.
        first: number of the first robot, where others have those before it: random numbers go by numbers.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        dt: float = 1e-3,
        ground: Any = None,
        contact: Any = None,
        integrator: str = "semi-implicit",
        batch: int | None = None,
        precision: str = "float64",
        threads: int = 1,
        substeps: int = 1,
        controller: Any = None,
        forces: Iterable[ExternalForce | Disturbance] = (),
        varying: Sequence[str] = (),
        limits: bool = True,
        coriolis: str = "middle",
        held: Iterable[str] = (),
        seed: int = 0,
        rtol: float = 1e-6,
        atol: float = 1e-9,
        progress: bool | None = None,
    ):
        """Set up a simulation; it is compiled at the first step.

        Args:
            robot: if it has no contacts of its own, they come from its collision geometry, see above.
            dt: length of a step [s].
            ground: `pliant.flat()` and others, or a function of x and y; None for no ground at all,
                only contact pairs.
            contact: `RigidContact()` (the default) or `CompliantContact()`.
            integrator: "semi-implicit", "euler", "rk4", "midpoint", "dormand-prince" or "rosenbrock".
            batch: how many robots.
            precision: "float64" or "float32".
            threads: that share a batch.
            substeps: steps in a control period.
            controller: a generic function (t, q, v) -> u or (t, sensors) -> u, or a `Controller`, compiled into the
                step.
            forces: on bodies: `ExternalForce`, and by chance `Gusts` and `Pushes` of `pliant.actuation`.
            varying: paths of numbers that differ from robot to robot, see `pliant.simulation.parameters`.
            limits: whether limits of joints hold.
            coriolis: where in a step Coriolis forces of robots that turn by more than 0.04 rad in it are taken: in the
                "middle", which bounds their energy, or at its "start", as most simulators do, in up to a third less
                time; for learning.
            held: contacts that stick and stay where they are at the reset; for all integrators but the default one.
            seed: of all random numbers: the same seed gives the same ones, for each robot in any batch.
            rtol, atol: tolerances of the adaptive integrators.
            progress: whether to report compilations longer than a second (default: on a terminal).
        """
        check("dt", dt, "a time in seconds above zero", is_real(dt) and dt > 0)
        check("batch", batch, "None, or 1 or more", batch is None or (is_whole(batch) and batch > 0))
        check("substeps", substeps, "1 or more", is_whole(substeps) and substeps > 0)
        check("threads", threads, "1 or more", is_whole(threads) and threads > 0)
        check("precision", precision, "'float64' or 'float32'", precision in ("float64", "float32"))
        check("coriolis", coriolis, "'middle' or 'start'", coriolis in ("middle", "start"))
        if not isinstance(robot, Robot):
            problem = f"a simulation takes a Robot first, not {type(robot).__name__}"
            raise SimulationError(problem, field="robot", cure="see pliant.load")
        contact = RigidContact() if contact is None else contact
        check_contact(contact)
        self.robot = with_default_contacts(robot, has_ground=ground is not None)
        if ground is not None and self.robot.is_free and not self.robot.contacts:
            message = f"there is a ground, but nothing of robot {robot.name!r} can touch it: it has no collision "
            message += "geometry; declare what touches with robot.with_contact(frame, radius=...)"
            warnings.warn(message, SimulationWarning, stacklevel=level_of_caller())
        self._has_own_contacts = self.robot.contacts is robot.contacts
        self.batch = None if batch is None else int(batch)
        self.precision, self.threads, self.progress = precision, int(threads), progress
        self.divergences: list[Divergence] = []
        self.seed, self.first = check_seed(seed), 0
        surface, (on_bodies, by_chance) = None if ground is None else as_ground(ground), as_forces(forces, self.robot)
        self.model = StepModel(
            self.robot, float(dt), surface, contact, on_bodies, precision, limits, as_held(held), by_chance, coriolis
        )
        varied = Parameters(self.model, varying)
        self.plan = Plan(varied, integrator, int(substeps), as_controller(controller), StepControl(rtol, atol))
        self.layout, self.dtype = self.plan.layout, np.dtype(precision)
        self.parameters = ParameterArrays(varied, self.batch, self.dtype)
        self.kernels = Kernels(self.plan, precision=precision, threads=self.threads, progress=progress)
        lead = () if self.batch is None else (self.batch,)
        self.data = np.zeros((*lead, self.layout.size), self.dtype)
        self._no_input = np.zeros((*lead, self.plan.inputs), self.dtype)
        self._flag = self.layout.span("divergence").start
        self._apart = self._left = periods_apart(self)
        self.places = Places.of(self.layout)
        self.moving = Moving()
        self._rolled = 0  # periods of rollouts since the last look at one
        tell_rounding(self)
        self.reset(seed=self.seed)

    def __reduce__(self) -> Any:
        return remade, (type(self), parts_of(self))

    # ---- the state at this moment

    @property
    def dt(self) -> float:
        return self.model.dt

    @explained
    def reset(self, q: Any = None, v: Any = None, *, t: float = 0, robots: Any = None, seed: int | None = None) -> None:
        """Put robots into a new state, by default at rest and in the neutral configuration.

        Args:
            q, v: (nq,), (nv,) for all robots, or one for each of those chosen. Quaternions whose length is
                within a thousandth of one are brought to unit length.
            t: time [s]; it is rounded to whole steps.
            robots: indices or a mask of those to reset; None for all of them.
            seed: of the random numbers from here on; None for new ones, which follow from those before.
        """
        takes = f"a time in seconds, less than 2^53 steps of {self.dt:g} s from zero"
        check("t", t, takes, is_real(t) and abs(float(t)) / self.dt < 2**53)
        seed = None if seed is None else check_seed(seed)
        if robots is not None and self.batch is None:
            problem = "reset(robots=...) is for a batch"
            raise SimulationError(problem, field="robots", cure="this simulation has one robot: leave it out")
        with self.moving.waited:
            self._reset(q, v, t, robots, seed)

    def _reset(self, q: Any, v: Any, t: float, robots: Any, seed: int | None) -> None:
        if robots is None or self.batch is None:
            self.data[...] = begun(self, self.data.shape[:-1], q, v, t, keys_after(self, None, seed))
            self._forget()
        else:
            chosen = chosen_robots(robots, self.batch)
            self.data[chosen] = begun(self, chosen.shape, q, v, t, keys_after(self, chosen, seed), chosen)
            if self._has_watched:
                self.watch.forget(chosen)
            again = set(chosen.tolist())
            self.divergences = [divergence for divergence in self.divergences if divergence.robot not in again]

    def _forget(self) -> None:
        """Nothing has been noticed so far."""
        self.divergences = []
        if self._has_watched:
            self.watch.forget()

    @cached_property
    def watch(self) -> Watch:
        """What looks at the robots, beside the steps, have found."""
        return Watch(self.model, self.batch or 1)

    @property
    def _has_watched(self) -> bool:
        return "watch" in self.__dict__

    @property
    def troubles(self) -> list[Trouble]:
        """All that has gone wrong since the reset: one entry for each kind, also if it is not worth a warning."""
        look(self)
        return troubles_of(self)

    def notice(self) -> None:
        """Look for bodies below the ground and the like, and warn of what is new."""
        self._left = self._apart
        look(self)
        tell(self)

    @explained
    def is_look_due(self, periods: int) -> bool:
        """Whether a look at rollouts is due, after so many more periods of them."""
        self._rolled += periods
        if self._rolled < self._apart:
            return False
        self._rolled = 0
        return True

    @property
    def state(self) -> State:
        """A snapshot; setting it goes on from there."""
        return State(self.data.copy(), self.layout)

    @state.setter
    def state(self, state: State) -> None:
        if not isinstance(state, State):
            cure = "it takes a State, as sim.state gives it"
            raise SimulationError(f"state is a {type(state).__name__}", field="state", cure=cure)
        state.check_layout(self.layout)
        if state.data.shape != self.data.shape:
            problem = f"the state has shape {state.data.shape}, the simulation {self.data.shape}"
            raise SimulationError(problem, field="state", cure="take one of as many robots")
        with self.moving.waited:
            self.data[...] = state.data
        self._forget()
        self.note_divergences(quiet=True)

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
        times = State(self.data, self.layout).t
        if self.batch is None:
            return times
        moving = self._part("divergence")[..., 0] == 0
        return float(times[moving].max() if moving.any() else times.max())

    @property
    def tau(self) -> np.ndarray:
        """Torques of the motors in the last step [N m or N], a copy; zero for robots that diverged."""
        return self._part("torques").copy()

    @property
    def sensors(self) -> Readings:
        """What the sensors read, by channel, such as ``sim.sensors["imu.gyro"]``."""
        return Readings(self.model.readers, self.layout, self.data)

    @property
    def truth(self) -> Readings:
        """What the sensors would have read at their last samples, had they no errors and no delays."""
        return Readings(self.model.readers, self.layout, self.data, "truth")

    @property
    def motor_state(self) -> dict[str, np.ndarray]:
        """Commands, currents [A], temperatures [°C] and bent friction [N m or N], of motors that have them; views."""
        return self.plan.model.motor_memory.shown(self._part("motor memory"))

    @property
    def contact_names(self) -> list[str]:
        """Names of the contacts, in the order of `contact_forces`."""
        return self.model.contact_names

    @property
    def contact_forces(self) -> np.ndarray:
        """On the robot at each contact, in the world's axes, over the last step [N]; (..., contacts, 3)."""
        return self.forces_of(self.data)

    @explained
    def forces_of(self, data: np.ndarray) -> np.ndarray:
        """Forces at the contacts, of the numbers of states: (..., size) -> (..., contacts, 3)."""
        dtype = getattr(data, "dtype", None)
        data = numbers("data", data, dtype if dtype in (np.float32, np.float64) else self.dtype)
        if data.shape[-1:] != self.data.shape[-1:]:
            cure = f"its last axis has the {self.data.shape[-1]} numbers of a state"
            raise SimulationError(f"data has shape {data.shape}", subject="forces_of", field="data", cure=cure)
        return self.model.by_contact(data[..., self.layout.span("impulses")]) / self.dt

    def note_divergences(self, quiet: bool = False) -> None:
        """Look for robots that have diverged since, and warn of them."""
        found = new_divergences(self)
        self.divergences += found
        if found and not quiet:
            more = f" (and {len(found) - 1} more, see sim.divergences)" if len(found) > 1 else ""
            warnings.warn(f"{found[0]}; it is frozen{more}", SimulationWarning, stacklevel=level_of_caller())

    # ---- moving on

    def step(self, u: Any = None) -> None:
        """Go on by one control period.

        Args:
            u: controls of the motors (or commands of the compiled controller), (n,) or (batch, n); zero if None.
        """
        self.advance(u)
        self._left -= 1
        if not self._left:
            self.notice()

    def advance(self, u: Any = None) -> None:
        """`step`, without a look at what is beside the steps."""
        if not self.moving.acquire(False):
            raise in_use()
        try:
            data, enter = self.data, self._enter
            if enter is None or not enter(data, self._no_input if u is None else u, data):
                self._advance(u)
        finally:
            self.moving.release()
        if self.batch is None:
            if data.item(self._flag):
                self.note_divergences()
        elif data[:, self._flag].any():
            self.note_divergences()

    @cached_property
    def _enter(self) -> Callable[..., bool] | None:
        # held here, one look-up away
        return self.kernels.short_way(self.batch or 1, self._no_input, self.parameters.data)

    def _advance(self, u: Any) -> None:
        """A period the long way: converts the controls, or explains what is wrong with them."""
        inputs, data = self._no_input if u is None else self.inputs(u), self.data
        if self._enter is None or not self._enter(data, inputs, data):
            self.kernels.advance(data, inputs[..., None, :], self.parameters.data, data)

    @explained
    def inputs(self, u: Any) -> np.ndarray:
        """Controls as the kernels take them."""
        shape = self._no_input.shape
        found = row_numbers(u, shape, self.dtype)
        if found is None:
            n, owner = self.plan.inputs, self.plan.controller
            what = f"{n} commands of the controller" if owner else f"{n} motors: " + ", ".join(self.robot.motors)
            is_several = isinstance(u, np.ndarray | list | tuple) and is_array(u)
            given = f"has shape {np.shape(u)}" if is_several else f"is {in_message(u)}"
            takes = f"({n},) or {shape}" if len(shape) > 1 else f"({n},)"
            raise SimulationError(f"u {given}", field="u", cure=f"it takes {takes}, one number for each of the {what}")
        return np.ascontiguousarray(found)

    @explained
    def run(
        self,
        duration: float,
        *,
        controller: Callable[..., Any] | None = None,
        u: Any = None,
        commands: Any = None,
        every: float | None = None,
        channels: Sequence[str] = CHANNELS,
        save: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Log:
        """Go on for a while and keep a log.

        If an error or Ctrl-C ends the run, its attribute ``log`` has what was recorded until then.

        Args:
            duration: [s]; rounded to whole control periods.
            controller: a function (t, q, v) -> u called once a period, with arrays as `q` and `v` have them and
                t as `t` has it; or (t, sensors) -> u, with `sensors`. For one that is compiled, see the constructor.
            u: constant controls, if there is no controller; zero by default.
            commands: of the compiled controller: constant numbers, (n,) or (batch, n), or a function of time.
            every: time between entries of the log [s], rounded to whole control periods; each period by default.
                The start and the end are kept in any case.
            channels: of "q", "v", "tau" (torques of the motors in the last step), "u" (controls in the last period),
                "forces", "energy", "power" (by term, for `pliant.analysis.energy_ledger`), "impulses", "solver",
                "divergence", "flexibility" (the fields of `pliant.actuation.FlexibilityState`, each a channel),
                "sensors" and "truth" (each channel, such as "imu.gyro" and "truth.imu.gyro"; or one by its name).
            save: path of a log file, such as "run.h5", that is written as the run goes on, in blocks of less than a
                second; it opens with `pliant.load_log` at any time, even if the program is killed. Memory stays
                bounded; of a log of more than 5e7 numbers, the one returned has one in so many entries only.
            progress: whether to show the simulated time and the real-time factor of runs longer than a second; None:
                as in the constructor, else on a terminal.
            settings: more to keep in ``log.source.settings``, such as a seed.

        Returns:
            The log, which begins with the state at the start.
        """
        shown = self.progress if progress is None else progress
        until = self.t + duration if is_real(duration) else self.t
        blocks = self.blocks(
            duration, controller=controller, u=u, commands=commands, every=every, channels=channels, settings=settings
        )
        return record(blocks, (self.t, until), save=save, progress=shown)

    @explained
    def blocks(self, duration: float, **options: Any) -> Iterator[Log]:
        """A run as blocks that follow one another, for `pliant.simulation.record`; options as in `run`."""
        return blocks_of(self, duration, **options)

    @explained
    def rollout(
        self,
        states: Any = None,
        controls: Any = None,
        *,
        periods: int | None = None,
        channels: Sequence[str] = ("q", "v"),
        out: Mapping[str, np.ndarray] | None = None,
        threads: int | None = None,
    ) -> Rollout:
        """Open-loop rollouts of any number of robots, in one native call; the simulation itself does not move.

        Args:
            states: a `State`, or arrays (q, v); None for the simulation's own. One for all rollouts, or (batch, ...).
            controls: (periods, n) for all rollouts or (batch, periods, n).
            periods: how many, if there are no controls.
            channels: parts of the state to keep after each period, see `Rollout`.
            out: arrays to write the channels into, by name.
            threads: as in the constructor.

        Returns:
            The channels, (batch, periods, ...), and the states at the end.
        """
        return rollout(self, states, controls, periods, channels, out, threads)

    # ---- results

    @property
    def diagnostics(self) -> Diagnostics:
        """The solver, contacts and energy after the last step."""
        return Diagnostics(self)

    @property
    def flexibility(self) -> FlexibilityState:
        """Motor side, link side, deflections and spring forces of the flexible joints now."""
        check_flexible(self.robot)
        return self.kernels.flexibility(self.data.astype(float), self.parameters.data)

    def __repr__(self) -> str:
        robots = "one robot" if self.batch is None else f"{self.batch} robots"
        source = "" if self._has_own_contacts or not self.contact_names else " (from collision geometry)"
        return (
            f"Simulation of {robots} {self.robot.name!r}: dt = {self.dt:g} s, {self.plan.substeps} steps a period, "
            f"{self.plan.integrator}, {len(self.contact_names)} contacts{source}, {self.precision}, t = {self.t:g} s"
        )
