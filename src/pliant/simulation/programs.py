"""The programs of a simulation, each compiled when it is first needed: control periods, energy and power.

One program serves `step`, `run` and `rollout`: any number of control periods, whose states are kept as far as a call
wants them.

With u the mean velocity of a step and f a force in it, f u dt is the work of f in the step, since M (v+ - v) = f dt
and the energy of motion changes by M (v+ - v) (v+ + v) / 2. That holds for a blow, too: an impulse p does the work
p (u+ + u-) / 2. Where the motion is smooth, u is the velocity itself and the power that of the moment.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from pliant.actuation.body_forces import outside_forces, stretches
from pliant.actuation.joint_forces import States, damping_powers, joint_spring_energy
from pliant.actuation.joint_springs import FlexibilityState, flexibility_names, flexibility_state, spring_force
from pliant.actuation.shafts import shafts_of
from pliant.checks import check_known
from pliant.compiler import Kernel, kernel_from_function, lanes_for
from pliant.compiler.program import Program
from pliant.compiler.tracing import Stages, no_collection
from pliant.dynamics.energy_and_momentum import kinetic_energy, potential_energy
from pliant.dynamics.kinematics import link_poses, link_velocities, root_origin
from pliant.errors import SimulationError
from pliant.integrators.adaptive import StepControl
from pliant.progress import compiling
from pliant.scalar import Scalar, Scalars
from pliant.simulation.controllers import Controller, no_sensors
from pliant.simulation.counts import count_sizes
from pliant.simulation.model import StepModel, check_held
from pliant.simulation.motor_stages import controls_name, remember_motion, take_controls
from pliant.simulation.parameters import Parameters
from pliant.simulation.sensor_stages import (
    add_disturbances, add_sensors, add_turning_on, by_channel, check_sensors, reading_parts, sensor_sizes,
)  # fmt: skip
from pliant.simulation.smooth_step import add_smooth_step
from pliant.simulation.state import StateLayout, clock_size, steps_of, time_of
from pliant.simulation.step import add_step
from pliant.simulation.watch import Body, body_depths
from pliant.spatial import Vector

_NO_NUMBERS = np.zeros(0)

INTEGRATORS = ("semi-implicit", "euler", "rk4", "dormand-prince", "midpoint", "rosenbrock")
ADAPTIVE = ("dormand-prince", "rosenbrock")
"""Those that choose their own steps."""

# parts of the state that a diverged robot keeps as they were when it stopped
_LASTING = (
    "q", "v", "clock", "rest", "divergence", "unconverged", "plunges", "openings", "releases", "memory",
    "contact memory", "motor memory", "anchors",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Plan:
    """What the programs of a simulation are made of.

    Attributes:
        parameters: the model, and its numbers that vary.
        integrator: one of `INTEGRATORS`.
        substeps: steps in a control period.
        control: tolerances of the adaptive integrator.
    """

    parameters: Parameters
    integrator: str = "semi-implicit"
    substeps: int = 1
    controller: Controller | None = None
    control: StepControl = field(default_factory=StepControl)

    def __post_init__(self) -> None:
        check_known("integrator", self.integrator, INTEGRATORS, error=SimulationError)
        check_held(self.model)
        check_sensors(self.model)
        if self.model.readers and self.integrator in ADAPTIVE and self.substeps > 1:
            problem = f"sensors sample at whole steps, and the integrator {self.integrator!r} makes its own in a period"
            raise SimulationError(problem, field="substeps", cure="give substeps=1, and dt as long as a control period")
        if self.controller and self.controller.takes_sensors and not self.model.readers:
            raise no_sensors(self.controller.function, *self.controller.extra)
        if self.integrator != "semi-implicit":
            self._check_smooth()
        elif self.model.held:
            problem = (
                "held contacts are for the accurate integrators; the default step finds by itself which ones stick"
            )
            raise SimulationError(problem, field="held", cure="leave held out, or give integrator='rk4' or another")

    @property
    def model(self) -> StepModel:
        """Robot, ground, contact and forces, with unknowns in place of what varies."""
        return self.parameters.structure

    def _check_smooth(self) -> None:
        """Raise if the motion is not smooth: these integrators hold what stays, and nothing that comes and goes."""
        model = self.model
        loose = [name for name in model.contact_names if name not in model.held] if model.is_rigid else []
        hold = f"name those that stick and stay, held=({loose[0]!r}, ...), or use" if loose else ""
        stepped = "or use integrator='semi-implicit'"
        either = f"{stepped} or pliant.EventSimulation"
        rows = {
            "rigid contact": (loose, f"{hold} contact=pliant.CompliantContact(...), {either}"),
            "dry friction of joints": (
                any(r.kind == "friction" for r in model.joint_rows),
                f"set it to zero, {stepped}",
            ),
            "limits of joints": (model.stop_rows, f"give limits=False, {either}"),
            "forces by chance": (model.disturbances, f"leave them out, {stepped}"),
            "friction of motors that bends": (model.bristled_motors, f"leave bristle_stiffness out, {stepped}"),
            "motors that drive several joints": (
                self.integrator == "midpoint" and model.couples_motors,
                f"use integrator='rk4' or another, {stepped}",
            ),
            "motors with inductance": (model.inductive_motors, f"set inductance=0, {stepped}"),
        }
        for what, (is_there, cure) in rows.items():
            if is_there:
                problem = f"the integrator {self.integrator!r} is for smooth motion and this robot has {what}"
                raise SimulationError(problem, subject=what, field="integrator", cure=cure)

    @property
    def inputs(self) -> int:
        """How many controls a period takes: those of the motors, or the commands of the controller."""
        return self.controller.commands if self.controller else self.model.robot.nu

    @cached_property
    def layout(self) -> StateLayout:
        """The parts of the state."""
        model, robot = self.model, self.model.robot
        touches = len(model.touch_names)
        is_adaptive = self.integrator in ADAPTIVE
        sizes = {
            "q": robot.nq,
            "v": robot.nv,
            "clock": clock_size(model.precision),  # steps done
            "rest": len(model.kept_places),  # what rounding took off the places of joints that float [m]
            "divergence": 1,  # 0, or the code of a cause, see `divergence`
            "torques": robot.nu,  # of the motors [N m or N]
            "impulses": 3 * touches,  # of the contacts, in the world's axes [N s]
            "moments": sum(3 * len(g.turning) for g in model.groups),  # of those with torsion or rolling [N m s]
            "steady": len(model.steady_rows),  # impulses of dry friction and locks [N m s or N s]
            "stops": len(model.stop_rows),  # impulses at the limits of joints [N m s or N s]
            "closings": sum(c.size for c in model.closures),  # impulses of the loops
            "solver": 4,  # residual [m/s], iterations, deepest penetration [m], whether they did not suffice
            **count_sizes(model, self.integrator),
            "trials": 2 if is_adaptive else 0,  # steps of the adaptive integrator in the last period: taken, rejected
            "h": 1 if is_adaptive else 0,  # step to go on with [s]
            "memory": len(self.controller.memory) if self.controller else 0,
            "contact memory": touches * len(model.memory.stored),  # of the law of the contacts
            "motor memory": model.motor_memory.size,  # see `pliant.actuation.motor_memory`
            "anchors": model.holds.anchors,  # where contacts are held [m], see `Holds`
            **sensor_sizes(model),
        }
        return StateLayout(sizes, model.dt)

    @cached_property
    def arrays(self) -> dict[str, int]:
        """What the programs take for each robot, and how many numbers; the controls a row for each period."""
        sizes = {"state": self.layout.size, "input": self.inputs, "parameters": self.parameters.size}
        return {name: size for name, size in sizes.items() if size}

    # ---- the program

    @cached_property
    def rows(self) -> dict[str, str]:
        """What a call may keep after each period, parts of the state or all of it as "state": names of the arrays."""
        names = ["state", *(name for name, size in self.layout.sizes.items() if size)]
        return {name: f"rows of {name}" for name in names}

    def program(self) -> Program:
        """(state, inputs of each period, parameters) -> the state after the last period, and `rows`."""
        sizes, arrays = self.layout.sizes, self.arrays
        stages = self.stages()
        with stages.loop("periods", reads=("input",) if self.inputs else (), writes=tuple(self.rows.values())):
            self.add_period(stages)
        spans = {row: (name,) for name, row in self.rows.items()}
        spans |= dict.fromkeys(("state", "next", self.rows["state"]), tuple(sizes))
        return stages.program(tuple(arrays), ("next", *self.rows.values()), spans=spans)

    def stages(self, **others: int) -> Stages:
        """A program under construction that has the variables of the state, and of `add_period`."""
        robot = self.model.robot
        own = {"input": self.inputs, "parameters": self.parameters.size, "u": robot.nu}
        own[controls_name(self.parameters)] = robot.nu
        stages = Stages(**self.layout.sizes, **own, **others)
        if self.model.feels_forces and self.integrator == "semi-implicit":
            for name, size in {"q solved": robot.nq, "v solved": robot.nv, "vd solved": robot.nv}.items():
                stages.variable(name, size, is_scratch=True)  # most of it is not needed, and so not kept
        return stages

    def add_period(self, stages: Stages) -> None:
        """Add a control period, with the controls in "input", to a program that `stages` began."""
        self._add_motion(stages)
        # forces and the like of a diverged robot may be NaN: users find zero
        with stages.loop(1, when="divergence"):
            sizes, lasting = self.layout.sizes, {*_LASTING, *sensor_sizes(self.model)}
            passing = {name: [0] * size for name, size in sizes.items() if size and name not in lasting}
            stages.add(lambda: passing, ())

    def _add_motion(self, stages: Stages) -> None:
        robot, dt = self.model.robot, self.model.dt
        controller, controls = self.controller, controls_name(self.parameters)
        if controller:

            def controlled(clock, q, v, command, memory, *readings):
                sensors = by_channel(self.model.readers, readings)
                return controller(robot, time_of(clock, dt), q, v, command, memory, sensors)

            parts = reading_parts(self.model, controller)
            stages.add(controlled, ("clock", "q", "v", "input", "memory", *parts), (controls, "memory"))
        else:
            stages.add(lambda given: given, ("input",), (controls,))
        if self.integrator in ADAPTIVE:
            # it chooses its own steps, of the whole period
            take_controls(stages, self.parameters)
            add_smooth_step(stages, self.parameters, self.integrator, self.control, self.substeps)
            remember_motion(stages, self.parameters, self.substeps)
            add_sensors(stages, self.parameters, self.integrator)
            return
        with stages.loop(self.substeps) if self.substeps > 1 else nullcontext():
            take_controls(stages, self.parameters)
            if self.integrator == "semi-implicit":
                add_disturbances(stages, self.parameters)
                add_step(stages, self.model, self.parameters)
            else:
                add_smooth_step(stages, self.parameters, self.integrator, self.control, 1)
            remember_motion(stages, self.parameters, 1)
            add_sensors(stages, self.parameters, self.integrator)

    def turning_on(self) -> Program:
        """(state, parameters) -> the state with sensors that have just been turned on."""
        sizes, size = self.layout.sizes, self.parameters.size
        stages = Stages(**sizes, parameters=size)
        add_turning_on(stages, self.parameters)
        inputs = ("state", "parameters") if size else ("state",)
        return stages.program(inputs, ("next",), spans=dict.fromkeys(("state", "next"), tuple(sizes)))


class Kernels:
    """Kernels of a plan; options as in `Simulation`."""

    def __init__(self, plan: Plan, *, precision: str, threads: int, progress: bool | None):
        self.plan, self.precision, self.threads, self.progress = plan, precision, threads, progress
        self._kernels: dict[str, Kernel] = {}
        self._stepping: dict[int, Kernel] = {}  # by lanes
        self._q = plan.layout.span("q")

    def stepping(self, robots: int) -> Kernel:
        """`Plan.program` with as many lanes as suit the robots, or with more if there is such a kernel already."""
        lanes, plan, robot = lanes_for(robots, self.precision), self.plan, self.plan.model.robot.name
        wide = [width for width in self._stepping if width >= lanes]
        if wide:
            return self._stepping[min(wide)]
        sizes = {"state": plan.layout.size, **plan.layout.sizes}
        outputs = {"next": (plan.layout.size,)} | {row: (sizes[name],) for name, row in plan.rows.items()}
        inputs = {array: (size,) for array, size in plan.arrays.items()}
        how: dict[str, Any] = {"precision": self.precision, "threads": self.threads, "lanes": lanes}
        with compiling(f"the simulation of {robot!r}", self.progress), no_collection():
            made = next(iter(self._stepping.values())).program if self._stepping else plan.program()
            self._stepping[lanes] = Kernel(made, inputs, outputs, name=f"simulation of {robot}", **how)
        return self._stepping[lanes]

    def short_way(self, robots: int, none: np.ndarray, parameters: np.ndarray) -> Callable[..., bool] | None:
        """The short way into a period, ``enter(start, inputs, end)``, which also looks whether the inputs fit.

        Args:
            none: the inputs of those who give none, which are all that a robot without inputs takes.
            parameters: of the robots, whose values may change.
        """
        enter, names = self.stepping(robots).once, list(self.plan.arrays)
        if enter is None or names == ["state", "input"]:
            return enter
        if names == ["state", "input", "parameters"]:
            return lambda start, u, end: enter(start, u, parameters, end)
        if "parameters" in names:
            return lambda start, u, end: u is none and enter(start, parameters, end)
        return lambda start, u, end: u is none and enter(start, end)

    def advance(
        self, start: np.ndarray, inputs: np.ndarray, parameters: np.ndarray, end: np.ndarray,
        rows: Mapping[str, np.ndarray] = MappingProxyType({}), *, periods: int = 1, threads: int | None = None,
    ) -> None:  # fmt: skip
        """Control periods of robots, with any numbers of which the arrays agree on.

        Args:
            start: states (size,), or (robots, size).
            inputs: (periods, n), or (robots, periods, n).
            end: where the last states go; it may be ``start``.
            rows: where parts of the state, or all of it as "state", go after each period: (periods, size), or
                (robots, periods, size).
        """
        kernel = self.stepping(1 if end.ndim == 1 else len(end))
        given = {"state": start, "input": inputs, "parameters": parameters}
        arguments = [given[name] for name in self.plan.arrays]
        counts = {} if self.plan.inputs else {"periods": periods}
        kept = {row: rows[name] for name, row in self.plan.rows.items() if name in rows}
        kernel(*arguments, out=(end, *map(kept.get, list(kernel.outputs)[1:])), threads=threads, **counts)

    def turn_on(self, data: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """States, (size,) or (robots, size), with sensors that have just been turned on."""
        plan, name = self.plan, "turning on sensors"
        if name not in self._kernels:
            inputs = {"state": (plan.layout.size,)} | (
                {"parameters": (plan.parameters.size,)} if plan.parameters.size else {}
            )
            outputs = {"next": (plan.layout.size,)}
            with compiling(f"the sensors of {plan.model.robot.name!r}", self.progress), no_collection():
                made = Kernel(plan.turning_on(), inputs, outputs, name=name, precision=self.precision)
                self._kernels[name] = made
        given = (data, parameters) if plan.parameters.size else (data,)
        return self._kernels[name](*given)

    # ---- of states (..., size), with the batch first, if there is one, then maybe times; parameters are (size,) or
    # (batch, size)

    def energy(self, data: np.ndarray, parameters: np.ndarray) -> dict[str, Any]:
        """Kinetic, potential and elastic energy [J], by name."""
        terms = self._of_parts(energies, parameters, **self._parts(data, "q", "v"))
        return {name: float(terms[k]) if terms.ndim == 1 else terms[..., k] for k, name in enumerate(ENERGY_TERMS)}

    def power(self, data: np.ndarray, parameters: np.ndarray) -> dict[str, np.ndarray]:
        """Power by term [W] of states (..., times, size), see `powers`.

        Where one state follows another by a step, it is the mean of that step; else that of the moment.
        """
        is_stepped = self.plan.integrator == "semi-implicit"
        names = ("q", "v", "torques", "impulses", "moments", "steady", "stops", "disturbances", "motor memory")
        parts = self._parts(data, *names)
        parts["motors"] = parts.pop("motor memory")
        v, clock = parts["v"], steps_of(data[..., self.plan.layout.span("clock")])
        mean = np.array(v)
        if is_stepped:
            is_next = (np.diff(clock, axis=-1) == 1)[..., None]
            mean[..., 1:, :] = np.where(is_next, (v[..., 1:, :] + v[..., :-1, :]) / 2, v[..., 1:, :])
        t = (clock - is_stepped)[..., None] * self.plan.layout.dt

        def power(
            model: StepModel, q, v, torques, impulses, moments, steady, stops, disturbances, motors, t, mean
        ) -> list[Scalar]:
            model, impulses = model.disturbed(disturbances), [*impulses, *moments]
            forces, joints = ([x / model.dt for x in part] for part in (impulses, [*steady, *stops]))
            states = model.motor_memory.states(motors)
            return powers(model, t[0], q, v, mean, torques, forces, joints if is_stepped else None, states)

        found = self._of_parts(power, parameters, **parts, t=t, mean=mean)
        return {name: found[..., k] for k, name in enumerate(POWER_TERMS)}

    def depths(self, data: np.ndarray, parameters: np.ndarray, bodies: Sequence[Body]) -> np.ndarray:
        """How far bodies are below the ground [m] in states (..., size), (..., bodies)."""

        def depths(model: StepModel, q) -> list[Scalar]:
            return body_depths(model, bodies, q)

        if "depths" in self._kernels and not self.plan.parameters.size:
            # often asked for, so without what other numbers need
            q = np.ascontiguousarray(data[..., self._q], float).reshape(-1, self._q.stop)
            return self._kernels["depths"](q, _NO_NUMBERS).reshape(*data.shape[:-1], -1)
        own = parameters if self.plan.parameters.size else _NO_NUMBERS
        return self._of_parts(depths, own, **self._parts(data, "q"))

    def flexibility(self, data: np.ndarray, parameters: np.ndarray) -> FlexibilityState:
        """Both sides of the flexible joints."""

        def flexibility(model: StepModel, q, v) -> list[Scalar]:
            return [x for part in flexibility_state.algorithm(model.robot, q, v) for x in part]

        robot = self.plan.model.robot
        whole = self._of_parts(flexibility, parameters, **self._parts(data, "q", "v"))
        sizes = [robot.nu] * 4 + [len(flexibility_names(robot))] * 3
        return FlexibilityState(*np.split(whole, np.cumsum(sizes)[:-1], axis=-1))

    def _parts(self, data: np.ndarray, *names: str) -> dict[str, np.ndarray]:
        return {name: data[..., self.plan.layout.span(name)] for name in names}

    def _of_parts(self, function: Callable[..., list[Scalar]], parameters: np.ndarray, **parts: np.ndarray) -> Any:
        """``function(model, **parts)`` of parts of states, (..., n) each, compiled when it is first asked for."""
        name, varied, lead = function.__name__, self.plan.parameters, parts["q"].shape[:-1]
        if name not in self._kernels:
            shapes = {part: values.shape[-1:] for part, values in parts.items()} | {"p": (varied.size,)}
            order = tuple(parts)

            def run(*values: Any) -> list[Scalar]:
                return function(varied.applied(values[-1]), **dict(zip(order, values[:-1], strict=True)))

            self._kernels[name] = kernel_from_function(run, shapes, name=name)
        rows = [np.ascontiguousarray(x, float).reshape(math.prod(lead), x.shape[-1]) for x in parts.values()]
        p = parameters.astype(float)
        if p.ndim == 2:
            p = np.repeat(p, math.prod(lead) // len(p), axis=0)
        return self._kernels[name](*rows, p).reshape(*lead, -1)


# ---- energy and power


ENERGY_TERMS = ("kinetic", "potential", "elastic")
"""Of motion, of gravity, of springs."""

POWER_TERMS = ("motors", "outside", "damping", "friction", "springs", "stops", "impacts", "sliding")
"""Motors; forces from outside; dampers of joints and viscous friction of motors; dry friction of joints; dampers of
springs and flexibilities; limits and locks of joints; contacts, along their normals and across them."""

# the term of each kind of constraint at a joint
_TERM = {"friction": "friction", "backlash": "springs", "lock": "stops", "stop": "stops"}


def energies(model: StepModel, q: Scalars, v: Scalars) -> list[Scalar]:
    """Energy of each of `ENERGY_TERMS` [J]; the gains of motors are not springs."""
    robot = model.robot
    elastic = joint_spring_energy(robot, q)
    if robot.springs:
        poses, origin = link_poses(robot.mechanism, q, about_root=True), root_origin(robot.mechanism, q)
        for stretch in stretches(robot, poses, origin):
            elastic = elastic + stretch.energy
    return [kinetic_energy.algorithm(robot, q, v), potential_energy.algorithm(robot, q), elastic]


def powers(
    model: StepModel, t: Scalar, q: Scalars, v: Scalars, mean: Scalars, torques: Scalars, forces: Scalars,
    rows: Scalars | None, states: States = (),
) -> list[Scalar]:  # fmt: skip
    """Power of each of `POWER_TERMS` [W]; positive where it goes into the robot.

    Args:
        t: when the step began [s].
        q, v: at its end.
        mean: velocity in the step; v itself where the motion is smooth.
        torques: of the motors, nu.
        forces: of the contacts on the first body, in the world's axes, 3 each; then moments, 3 each.
        rows: forces along `StepModel.joint_rows`; None if the motion has none.
        states: what the motors remember.
    """
    robot = model.robot
    mechanism = robot.mechanism
    found: dict[str, Scalar] = dict.fromkeys(POWER_TERMS, 0)

    # motors, dampers, and constraints at joints
    shafts = shafts_of(robot)
    for shaft, torque in zip(shafts, torques, strict=True):
        found["motors"] = found["motors"] + torque * shaft.rate(mean)
    for shaft, state in zip(shafts, states, strict=False):
        if "friction" in state:  # with what its bristles take up and give back
            found["friction"] = found["friction"] + state["friction"][0] * shaft.rate(mean)
    found["damping"], found["springs"] = damping_powers(robot, q, v, mean, has_rows=rows is not None)
    for row, force in zip(model.joint_rows, rows or (), strict=rows is not None):
        if row.kind == "backlash":
            # the spring gives its part back
            force = force - spring_force(robot.joints[row.joint], [q[robot.q_slice(row.joint).start]]).f[0]
        found[_TERM[row.kind]] = found[_TERM[row.kind]] + force * mean[row.dof]

    # forces on bodies
    poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
    ends, means = (link_velocities(mechanism, q, x) for x in (v, mean))
    found["outside"] = outside_forces(robot, model.forces, poses, t, model.dt).power(means)
    for stretch in stretches(robot, poses, origin):
        found["springs"] = found["springs"] - stretch.damper_pull(stretch.rate(ends)) * stretch.rate(means)

    # contacts
    at = 0
    for group in model.groups:
        for touch in group.touches(poses, origin, model.ground):
            f = Vector(*forces[at : at + 3])
            at += 3
            slip = group.velocity(touch, poses, means)
            normal = f.dot(touch.normal) * touch.normal.dot(slip)
            found["impacts"] = found["impacts"] + normal
            found["sliding"] = found["sliding"] + f.dot(slip) - normal
    for group in model.groups:
        for _ in group.turning:
            moment = Vector(*forces[at : at + 3])
            at += 3
            for i, sign in ((group.a, 1), (group.b, -1)):
                if i >= 0:
                    found["sliding"] = found["sliding"] + sign * moment.dot(poses[i].R.rotate(means[i].angular))
    return [found[term] for term in POWER_TERMS]
