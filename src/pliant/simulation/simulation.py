"""The simulation of one robot or many copies of it."""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pliant.compiler import Kernel, kernel_from_function
from pliant.contact.ground import as_ground
from pliant.contact.rigid import RigidContact
from pliant.errors import SimulationError, SimulationWarning, unknown_name
from pliant.robot import Robot
from pliant.simulation.adaptive import StepControl
from pliant.simulation.compiling import compiling
from pliant.simulation.controller import as_controller
from pliant.simulation.diagnostics import Diagnostics
from pliant.simulation.energies import energies
from pliant.simulation.forces import ExternalForce
from pliant.simulation.log import Log
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import ParameterArrays, Parameters
from pliant.simulation.programs import Plan
from pliant.simulation.rollout import Rollout
from pliant.simulation.state import State
from pliant.simulation.trouble import Trouble, trouble_text

__all__ = ["Simulation"]


class Simulation:
    """A robot, or a batch of them, moving in time.

        sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(), batch=4096)
        sim.reset(q=q0)
        sim.step(u)                                # one control period
        log = sim.run(2.0, controller=policy)      # policy(t, q, v) -> u, arrays in and out
        before = sim.state                         # snapshot; sim.state = before restores it
        result = sim.rollout(states, controls)     # many periods in one native call

    Arrays are (n,) for one robot, (batch, n) for many. What is compiled is kept on disk.

    Attributes:
        robot: with the contacts that it has in this simulation.
        dt: length of a step [s]; a control period has ``substeps`` of them.
        batch: how many robots, None for one without a batch axis.
        parameters: values of the numbers declared as varying, to read and to set.
        troubles: robots that have been frozen, and why.
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
        forces: Iterable[ExternalForce] = (),
        varying: Sequence[str] = (),
        limits: bool = True,
        rtol: float = 1e-6,
        atol: float = 1e-9,
        progress: bool | None = None,
    ):
        """Set up a simulation; it is compiled at the first step.

        Args:
            robot: if it has no contacts of its own, they are taken from its collision geometry.
            dt: length of a step [s].
            ground: `pliant.flat()` and others, or a function of x and y; None for no ground at all.
            contact: `RigidContact` (the default) or `CompliantContact`.
            integrator: "semi-implicit", "rk4", "dormand-prince" (adaptive) or "midpoint" (implicit).
            batch: how many robots.
            precision: "float64" or "float32".
            threads: that share a batch.
            substeps: steps in a control period.
            controller: a generic function (t, q, v) -> u or a `Controller`, compiled into the step.
            forces: on bodies.
            varying: paths of numbers that differ from robot to robot, see `pliant.simulation.parameters`.
            limits: whether limits of joints hold.
            rtol, atol: tolerances of the adaptive integrator.
            progress: whether to tell about compilations longer than a second; None: on a terminal.
        """
        _check("dt", dt, "a time in seconds above zero", isinstance(dt, int | float) and 0 < dt < math.inf)
        _check("batch", batch, "None, or 1 or more", batch is None or (isinstance(batch, int) and batch > 0))
        _check("substeps", substeps, "1 or more", isinstance(substeps, int) and substeps > 0)
        _check("threads", threads, "1 or more", isinstance(threads, int) and threads > 0)
        _check("precision", precision, "'float64' or 'float32'", precision in ("float64", "float32"))
        if not isinstance(robot, Robot):
            raise SimulationError(f"a simulation takes a Robot first, not {type(robot).__name__}; see pliant.load")
        contact = RigidContact() if contact is None else contact
        _check("contact", contact, "a RigidContact or a CompliantContact", hasattr(contact, "tolerance_in"))
        robot = _with_contacts(robot, has_ground=ground is not None)
        self.robot = robot
        self.batch = batch
        self.precision = precision
        self.threads = threads
        self.progress = progress
        self.troubles: list[Trouble] = []
        model = StepModel(robot, float(dt), as_ground(ground), contact, tuple(forces), precision, limits)
        for force in model.forces:
            robot.frame(force.body)
        self._parameters = Parameters(model, varying)
        self.plan = Plan(
            model,
            self._parameters,
            integrator=integrator,
            substeps=substeps,
            controller=as_controller(controller),
            control=StepControl(rtol=rtol, atol=atol),
        )
        self.layout = self.plan.layout
        self._dtype = np.dtype(precision)
        self.parameters = ParameterArrays(self._parameters, batch, self._dtype)
        lead = () if batch is None else (batch,)
        self._data = np.zeros((*lead, self.layout.size), self._dtype)
        self._spare = np.zeros_like(self._data)
        self._no_input = np.zeros((*lead, self.plan.inputs), self._dtype)
        self._has_input = self.plan.inputs > 0
        self._has_parameters = self._parameters.size > 0
        self._flag = self.layout.span("trouble").start
        self._rollouts: dict[tuple[str, ...], Kernel] = {}
        self.reset()

    # ---- state

    @property
    def dt(self) -> float:
        return self.plan.model.dt

    @property
    def model(self) -> StepModel:
        """Robot, ground, contact and forces."""
        return self.plan.model

    def reset(self, q: Any = None, v: Any = None, *, t: float = 0, robots: Any = None) -> None:
        """Put robots into a new state, at rest and in the neutral configuration unless told otherwise.

        Args:
            q, v: (nq,), (nv,) for all robots, or one for each of those chosen.
            t: time [s]; it is rounded to whole steps.
            robots: indices or a mask of those to reset; None for all of them.
        """
        _check("t", t, "a finite time in seconds", isinstance(t, int | float) and math.isfinite(t))
        if robots is not None and self.batch is None:
            raise SimulationError("reset(robots=...) is for a batch; this simulation has one robot")
        part = self._data if robots is None else self._data[robots]
        fresh = np.zeros_like(part)
        state = State(fresh, self.layout)
        for name, value, default in (("q", q, self.robot.neutral()), ("v", v, np.zeros(self.robot.nv))):
            state.part(name)[...] = self._fitting(name, default if value is None else value, state.part(name).shape)
        state.part("clock")[...] = round(t / self.dt)
        if self.plan.controller:
            state.part("memory")[...] = np.asarray(self.plan.controller.memory, dtype=float)
        if robots is None:
            self._data[...] = fresh
            self.troubles = []
        else:
            self._data[robots] = fresh
            chosen = set(np.atleast_1d(np.arange(self.batch or 0)[robots]).tolist())
            self.troubles = [trouble for trouble in self.troubles if trouble.robot not in chosen]

    def _fitting(self, name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
        try:
            array = np.asarray(value, dtype=float)
            array = np.broadcast_to(array, shape)
        except (TypeError, ValueError):
            given = np.shape(value)
            raise SimulationError(f"{name} has shape {given}; it takes {shape[-1:]} or {shape}") from None
        if not np.isfinite(array).all():
            where = np.argwhere(~np.isfinite(array))[0]
            names = self.robot.coordinate_names if name == "q" else self.robot.velocity_names
            robot = f" of robot {where[0]}" if array.ndim > 1 else ""
            raise SimulationError(f"{name} is not finite at {names[where[-1]]!r}{robot}")
        return array

    @property
    def state(self) -> State:
        """A snapshot; setting it goes on from there."""
        return State(self._data.copy(), self.layout)

    @state.setter
    def state(self, state: State) -> None:
        if not isinstance(state, State):
            raise SimulationError(f"state is a {type(state).__name__}; it takes a State, as sim.state gives it")
        self._check_layout(state)
        if state.data.shape != self._data.shape:
            raise SimulationError(f"the state has shape {state.data.shape}, the simulation {self._data.shape}")
        self._data[...] = state.data
        self.troubles = []
        self._note_troubles(quiet=True)

    def _check_layout(self, state: State) -> None:
        if dict(state.layout.sizes) != dict(self.layout.sizes):
            raise SimulationError(
                f"the state is of another simulation: it has {dict(state.layout.sizes)}, this one "
                f"{dict(self.layout.sizes)}"
            )

    def _part(self, name: str) -> np.ndarray:
        return self._data[..., self.layout.span(name)]

    @property
    def q(self) -> np.ndarray:
        """Configurations, a copy."""
        return self._part("q").copy()

    @property
    def v(self) -> np.ndarray:
        """Velocities, a copy."""
        return self._part("v").copy()

    @property
    def t(self) -> Any:
        """Time [s]; of each robot in a batch, since those in trouble have stopped."""
        return State(self._data, self.layout).t

    @property
    def tau(self) -> np.ndarray:
        """Torques of the motors in the last step [N m or N], a copy."""
        return self._part("torques").copy()

    @property
    def contact_names(self) -> list[str]:
        """Names of the contacts, in the order of `contact_forces`."""
        return self.model.contact_names

    @property
    def contact_forces(self) -> np.ndarray:
        """On the robot at each contact, in the world's axes, over the last step [N]; (..., contacts, 3)."""
        return self._forces_of(self._data)

    def _forces_of(self, data: np.ndarray) -> np.ndarray:
        impulses = data[..., self.layout.span("impulses")]
        return impulses.reshape(*impulses.shape[:-1], -1, 3) / self.dt

    # ---- moving on

    def step(self, u: Any = None) -> None:
        """Go on by one control period.

        Args:
            u: controls of the motors (or commands of the compiled controller), (n,) or (batch, n); zero if None.
        """
        if u is None:
            u = self._no_input
        elif type(u) is not np.ndarray or u.shape != self._no_input.shape or u.dtype != self._dtype:
            u = self._inputs(u)
        self._period(*self._arguments(self._data, u, self.parameters.data), out=self._spare)
        self._data, self._spare = self._spare, self._data
        if self.batch is None:
            if self._data[self._flag] != 0:
                self._note_troubles()
        elif self._data[:, self._flag].any():
            self._note_troubles()

    def _arguments(self, state: np.ndarray, u: np.ndarray, parameters: np.ndarray) -> list[np.ndarray]:
        """Those that the kernels take: none without numbers."""
        given = [state]
        if self._has_input:
            given.append(u)
        if self._has_parameters:
            given.append(parameters)
        return given

    def _inputs(self, u: Any) -> np.ndarray:
        shape = self._no_input.shape
        try:
            return np.ascontiguousarray(np.broadcast_to(np.asarray(u, self._dtype), shape))
        except (TypeError, ValueError):
            raise SimulationError(self._wrong_input(np.shape(u), shape)) from None

    def _wrong_input(self, given: tuple[int, ...], shape: tuple[int, ...]) -> str:
        n = self.plan.inputs
        what = (
            f"{n} commands of the controller"
            if self.plan.controller
            else f"{n} motors: " + ", ".join(self.robot.motors)
        )
        return f"u has shape {given}; it takes ({n},) or {shape}, one number for each of the {what}"

    def run(
        self,
        duration: float,
        controller: Callable[..., Any] | None = None,
        *,
        u: Any = None,
        channels: Sequence[str] = ("q", "v", "tau", "forces", "energy"),
        every: int = 1,
    ) -> Log:
        """Go on for a while and keep a log.

        Args:
            duration: [s]; rounded to whole control periods.
            controller: a function (t, q, v) -> u called once a period, with arrays as `q` and `v` have them;
                t is the time of the first robot. For one that is compiled, see the constructor.
            u: constant controls, if there is no controller.
            channels: what to keep.
            every: keep one of so many periods; the start and the end are kept in any case.

        Returns:
            The log, which begins with the state at the start.
        """
        ok = isinstance(duration, int | float) and math.isfinite(duration) and duration >= 0
        _check("duration", duration, "a time in seconds", ok)
        _check("every", every, "1 or more", isinstance(every, int) and every > 0)
        if controller is not None and u is not None:
            raise SimulationError("run takes a controller or constant controls u, not both")
        for name in channels:
            if name not in _CHANNELS:
                raise SimulationError(unknown_name("channel", name, _CHANNELS))
        periods = round(duration / (self.dt * self.plan.substeps))
        rows = [self._data.copy()]
        first = self._time()
        times = [first]
        if controller is None:
            self._run_compiled(periods, u, every, rows, times)
        else:
            for k in range(1, periods + 1):
                self.step(controller(first + (k - 1) * self.dt * self.plan.substeps, self.q, self.v))
                if k % every == 0 or k == periods:
                    rows.append(self._data.copy())
                    times.append(first + k * self.dt * self.plan.substeps)
        data = np.stack(rows, axis=0 if self.batch is None else 1)
        return self._log(np.array(times), data, channels)

    def _run_compiled(self, periods: int, u: Any, every: int, rows: list, times: list) -> None:
        """Without a call of Python in between, in parts that fit in memory."""
        given = None if u is None else self._inputs(u)
        period = self.dt * self.plan.substeps
        names = tuple(self.layout.sizes)
        robots = self.batch or 1
        chunk = max(every, int(2e7 / (self.layout.size * robots)) // every * every)
        done = 0
        first = times[0]
        while done < periods:
            count = min(chunk, periods - done)
            held = None if given is None else np.repeat(given[..., None, :], count, axis=-2)
            result = self._roll(self._data, held, count, names, self.threads)
            self._data[...] = result.pop("next")
            whole = np.concatenate([result[name] for name in names], axis=-1)
            for k in range(1, count + 1):
                if (done + k) % every == 0 or done + k == periods:
                    rows.append(whole[..., k - 1, :].copy())
                    times.append(first + (done + k) * period)
            done += count
        if self._part("trouble").any():
            self._note_troubles()

    def rollout(
        self,
        states: Any = None,
        controls: Any = None,
        *,
        periods: int | None = None,
        channels: Sequence[str] = ("q", "v"),
        out: dict[str, np.ndarray] | None = None,
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
        start = self._start(states)
        given = None if controls is None else np.asarray(controls, self._dtype)
        n = self.plan.inputs
        if given is not None and (given.ndim not in (2, 3) or given.shape[-1] != n):
            raise SimulationError(
                f"controls have shape {given.shape}; they take (periods, {n}) or (batch, periods, {n})"
            )
        if given is None and periods is None:
            raise SimulationError("rollout takes controls, or the number of periods")
        if given is not None and periods not in (None, given.shape[-2]):
            raise SimulationError(f"controls have {given.shape[-2]} periods, but periods is {periods}")
        count = given.shape[-2] if given is not None else periods
        names = tuple(channels)
        for name in names:
            if name not in self.layout.sizes:
                raise SimulationError(unknown_name("channel", name, self.layout.sizes, "the state"))
        batch = start.shape[0] if start.ndim == 2 else given.shape[0] if given is not None and given.ndim == 3 else None
        found = self._roll(start, given, int(count or 0), names, threads or self.threads, batch, out)
        return Rollout(State(found.pop("next"), self.layout), found, self.robot)

    def _start(self, states: Any) -> np.ndarray:
        if states is None:
            return self._data
        if isinstance(states, State):
            self._check_layout(states)
            return np.ascontiguousarray(states.data, self._dtype)
        if isinstance(states, tuple | list) and len(states) == 2:
            q, v = (np.asarray(x, float) for x in states)
            lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
            data = np.zeros((*lead, self.layout.size), self._dtype)
            state = State(data, self.layout)
            state.part("q")[...] = self._fitting("q", q, state.part("q").shape)
            state.part("v")[...] = self._fitting("v", v, state.part("v").shape)
            if self.plan.controller:
                state.part("memory")[...] = np.asarray(self.plan.controller.memory, dtype=float)
            return data
        raise SimulationError(f"states is a {type(states).__name__}; give a State, arrays (q, v), or None")

    def _roll(
        self,
        start: np.ndarray,
        controls: np.ndarray | None,
        periods: int,
        names: tuple[str, ...],
        threads: int,
        batch: int | None = None,
        out: dict[str, np.ndarray] | None = None,
    ) -> dict[str, np.ndarray]:
        kernel = self._rollout_kernel(names)
        robots = batch if batch is not None else start.shape[0] if start.ndim == 2 else None
        parameters = self.parameters.data
        if parameters.ndim == 2 and parameters.shape[0] != robots:
            if self._parameters.size:
                raise SimulationError(f"the parameters are of {parameters.shape[0]} robots, the rollout has {robots}")
            parameters = parameters[0]
        n = self.plan.inputs
        if controls is None:
            controls = np.zeros((periods, n), self._dtype)
        elif controls.ndim < 3 and controls.shape[:-1] != (periods,):
            # constant controls, one row a robot
            lead = () if controls.ndim == 1 else (len(controls),)
            controls = np.broadcast_to(controls[..., None, :], (*lead, periods, n))
        controls = np.ascontiguousarray(controls, self._dtype)
        counts = {} if n else {"periods": periods}
        given = None
        if out is not None:
            given = self._outputs(kernel, names, out, robots, periods)
        arguments = self._arguments(start, controls, parameters)
        results = kernel(*arguments, out=given, threads=threads, **counts)
        return dict(zip((*names, "next"), results if isinstance(results, tuple | list) else (results,), strict=True))

    def _outputs(self, kernel: Kernel, names, out, robots: int | None, periods: int) -> tuple[np.ndarray, ...]:
        unknown = [name for name in out if name not in names]
        if unknown:
            raise SimulationError(unknown_name("channel", unknown[0], names, "the rollout's out"))
        lead = () if robots is None else (robots,)
        made = [
            out[name] if name in out else np.empty((*lead, periods, self.layout.sizes[name]), self._dtype)
            for name in names
        ]
        return (*made, np.empty((*lead, self.layout.size), self._dtype))

    # ---- what it found

    @property
    def diagnostics(self) -> Diagnostics:
        """The solver, contacts and energy after the last step."""
        data = self._data.astype(float)
        residual, sweeps, depth = (data[..., self.layout.span("solver")][..., k] for k in range(3))
        forces = self._forces_of(data)
        tolerance = self.model.contact.tolerance_in(self.precision)
        if self.batch is None:
            residual, sweeps, depth = float(residual), int(sweeps), float(depth)
        return Diagnostics(
            residual,
            sweeps,
            residual <= tolerance,
            depth,
            self.contact_names,
            forces,
            np.abs(forces).sum(axis=-1) > 0,
            self._energy(data),
        )

    def _energy(self, data: np.ndarray) -> dict[str, Any]:
        q, v = (np.ascontiguousarray(data[..., self.layout.span(n)], float) for n in ("q", "v"))
        flat_q, flat_v = q.reshape(-1, q.shape[-1]), v.reshape(-1, v.shape[-1])
        p = self.parameters.data.astype(float)
        if p.ndim == 2:
            p = np.repeat(p, flat_q.shape[0] // p.shape[0], axis=0)
        terms = self._energy_kernel(flat_q, flat_v, p).reshape(*q.shape[:-1], 3)
        names = ("kinetic", "potential", "elastic")
        return {name: float(terms[k]) if terms.ndim == 1 else terms[..., k] for k, name in enumerate(names)}

    def _note_troubles(self, quiet: bool = False) -> None:
        flags = np.atleast_1d(self._part("trouble")[..., 0])
        times = np.atleast_1d(self.t)
        known = {trouble.robot for trouble in self.troubles}
        fresh = [
            Trouble(int(k), float(times[k]), trouble_text(self.robot, int(flags[k])))
            for k in np.flatnonzero(flags)
            if k not in known
        ]
        self.troubles += fresh
        if fresh and not quiet:
            more = f" (and {len(fresh) - 1} more, see sim.troubles)" if len(fresh) > 1 else ""
            warnings.warn(f"{fresh[0]}; it is frozen{more}", SimulationWarning, stacklevel=3)

    def _time(self) -> float:
        t = self.t
        return t if self.batch is None else float(np.max(t))

    def _log(self, t: np.ndarray, data: np.ndarray, channels: Sequence[str]) -> Log:
        found: dict[str, np.ndarray] = {}
        columns: dict[str, tuple[str, ...]] = {}
        for name in channels:
            if name == "energy":
                for term, values in self._energy(data).items():
                    found[f"energy.{term}"] = values
            elif name == "forces":
                forces = self._forces_of(data)
                found["forces"] = forces.reshape(*forces.shape[:-2], -1)
                columns["forces"] = tuple(f"{c}.{axis}" for c in self.contact_names for axis in "xyz")
            else:
                found[name] = data[..., self.layout.span({"tau": "torques"}.get(name, name))]
        names = {"q": self.robot.coordinate_names, "v": self.robot.velocity_names, "tau": tuple(self.robot.motors)}
        columns |= {name: names[name] for name in names if name in found}
        about = {"robot": self.robot.name, "dt": self.dt, "substeps": self.plan.substeps,
                 "integrator": self.plan.integrator, "precision": self.precision}  # fmt: skip
        return Log(t, found, columns, self.batch, about)

    # ---- kernels

    @cached_property
    def _period(self) -> Kernel:
        with compiling(f"the simulation of {self.robot.name!r}", self.progress):
            return Kernel(
                self.plan.period(),
                {name: (size,) for name, size in self.plan.arrays.items()},
                {"next": (self.layout.size,)},
                name=f"simulation of {self.robot.name}",
                precision=self.precision,
                threads=self.threads,
            )

    def _rollout_kernel(self, names: tuple[str, ...]) -> Kernel:
        if names not in self._rollouts:
            outputs = {f"record {name}": (self.layout.sizes[name],) for name in names}
            with compiling(f"rollouts of {self.robot.name!r}", self.progress):
                self._rollouts[names] = Kernel(
                    self.plan.rollout(names),
                    {name: (size,) for name, size in self.plan.arrays.items()},
                    {**outputs, "next": (self.layout.size,)},
                    name=f"rollouts of {self.robot.name}",
                    precision=self.precision,
                )
        return self._rollouts[names]

    @cached_property
    def _energy_kernel(self) -> Kernel:
        shapes = {"q": (self.robot.nq,), "v": (self.robot.nv,), "p": (self._parameters.size,)}
        return kernel_from_function(
            lambda q, v, p: list(energies(self._parameters.applied(p), q, v)), shapes, name="energy"
        )

    def __repr__(self) -> str:
        robots = "one robot" if self.batch is None else f"{self.batch} robots"
        return (
            f"Simulation of {robots} {self.robot.name!r}: dt = {self.dt:g} s, {self.plan.substeps} steps a period, "
            f"{self.plan.integrator}, {len(self.contact_names)} contacts, {self.precision}, t = {self._time():g} s"
        )


_CHANNELS = ("q", "v", "tau", "forces", "energy", "impulses", "solver", "trouble")


def _check(name: str, value: Any, what: str, is_right: bool) -> None:
    if not is_right:
        raise SimulationError(f"{name} is {value!r}; it takes {what}")


def _with_contacts(robot: Robot, *, has_ground: bool) -> Robot:
    """The robot with contacts: its own, or those of its collision geometry; none without a ground."""
    if not has_ground:
        return robot.without_contacts() if robot.contacts and not robot.contact_pairs else robot
    if robot.contacts or not any(body.collisions for body in robot.bodies.values()):
        return robot
    return robot.with_collision_contacts()
