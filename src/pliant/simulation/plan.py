"""The programs of a simulation: a control period, and a rollout of many."""

from dataclasses import replace
from typing import Any

from pliant.actuation.joint_forces import joint_forces
from pliant.compiler.program import Program
from pliant.compiler.stages import Stages
from pliant.dynamics.kinematics import link_poses, link_velocities, root_origin
from pliant.errors import SimulationError, unknown_name
from pliant.integrators.adaptive import StepControl, adaptive_body
from pliant.integrators.midpoint import midpoint_body
from pliant.integrators.runge_kutta import RK4, explicit_body
from pliant.robot.springs import is_nonlinear
from pliant.scalar import equal, maximum, select
from pliant.simulation.controller import Controller
from pliant.simulation.divergence import STEPS_TROUBLE, trouble_of
from pliant.simulation.energy_and_power import motor_torques
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import Parameters
from pliant.simulation.smooth import contact_forces, smooth_acceleration, smooth_forces
from pliant.simulation.state import StateLayout, clock_size, ticked, time_of
from pliant.simulation.step import add_step

__all__ = ["INTEGRATORS", "Plan"]

INTEGRATORS = ("semi-implicit", "rk4", "dormand-prince", "midpoint")

# parts of the state that a robot in trouble keeps as they were when it stopped
_LASTING = ("q", "v", "clock", "trouble", "memory")


class Plan:
    """What the programs of a simulation are made of.

    Attributes:
        model: robot, ground, contact and forces.
        integrator: one of `INTEGRATORS`.
        substeps: steps in a control period.
        control: tolerances of the adaptive integrator.
    """

    def __init__(
        self,
        model: StepModel,
        parameters: Parameters,
        *,
        integrator: str = "semi-implicit",
        substeps: int = 1,
        controller: Controller | None = None,
        control: StepControl | None = None,
    ):
        if integrator not in INTEGRATORS:
            raise SimulationError(unknown_name("integrator", integrator, INTEGRATORS))
        self.model = parameters.structure
        self.parameters = parameters
        self.integrator = integrator
        self.substeps = substeps
        self.controller = controller
        self.control = control or StepControl()
        if integrator != "semi-implicit":
            self._check_smooth()

    def _check_smooth(self) -> None:
        """Integrators of smooth motion know no rows."""
        model = self.model
        rows = {
            "rigid contact": (model.is_rigid and model.groups, "use contact=pliant.CompliantContact(...)"),
            "dry friction of joints": (any(r.kind == "friction" for r in model.joint_rows), "set it to zero"),
            "locked joints": (any(j.is_locked for j in model.robot.joints.values()), "unlock them"),
            "limits of joints": (model.stop_rows, "give limits=False"),
            "loop closures": (model.closures, "replace them by springs between frames"),
        }
        for what, (is_there, cure) in rows.items():
            if is_there:
                raise SimulationError(
                    f"the integrator {self.integrator!r} is for smooth motion and this robot has {what}: {cure}, or "
                    "use integrator='semi-implicit'"
                )

    @property
    def inputs(self) -> int:
        """How many controls a period takes: those of the motors, or the commands of the controller."""
        return self.controller.commands if self.controller else self.model.robot.nu

    @property
    def layout(self) -> StateLayout:
        """The parts of the state."""
        model, robot = self.model, self.model.robot
        contacts = len(model.contact_names)
        is_adaptive = self.integrator == "dormand-prince"
        sizes = {
            "q": robot.nq,
            "v": robot.nv,
            "clock": clock_size(model.precision),  # steps done
            "trouble": 1,  # 0, or a kind and an index
            "torques": robot.nu,  # of the motors [N m or N]
            "impulses": 3 * contacts,  # of the contacts, in the world's axes [N s]
            "landings": contacts if model.is_elastic else 0,  # speeds on impact within the last step [m/s]
            "steady": len(model.steady_rows),  # impulses of dry friction and locks [N m s or N s]
            "stops": len(model.stop_rows),  # impulses at the limits of joints [N m s or N s]
            "stop landings": len(model.joint_rows) if model.has_elastic_stops else 0,
            "closings": sum(c.size for c in model.closures),  # impulses of the loops
            "solver": 4,  # residual [m/s], sweeps, deepest penetration [m], whether the sweeps did not suffice
            "trials": 2 if is_adaptive else 0,  # steps of the adaptive integrator in the last period: taken, rejected
            "h": 1 if is_adaptive else 0,  # step to go on with [s]
            "memory": len(self.controller.memory) if self.controller else 0,
        }
        return StateLayout(sizes, model.dt)

    @property
    def arrays(self) -> dict[str, int]:
        """What the programs take for each robot, and how many numbers; the controls a row for each period."""
        sizes = {"state": self.layout.size, "input": self.inputs, "parameters": self.parameters.size}
        return {name: size for name, size in sizes.items() if size}

    # ---- programs

    def period(self) -> Program:
        """(state, u, parameters) -> the state one control period later."""
        stages = self._opened()
        self._add_period(stages)
        self._close(stages)
        return stages.program(tuple(self.arrays), ("next",))

    def rollout(self, channels: tuple[str, ...]) -> Program:
        """Many periods, with a row of inputs and a row of each channel for each, and the last state."""
        stages = self._opened()
        rows = {f"record {name}": name for name in channels}
        for row, name in rows.items():
            stages.variable(row, stages.variables[name])
        with stages.loop("periods", reads=("input",) if self.inputs else (), writes=tuple(rows)):
            self._add_period(stages)
            if rows:
                self._hand_out(stages, tuple(rows.values()), tuple(rows))
        self._close(stages)
        return stages.program(tuple(self.arrays), (*rows, "next"))

    def _opened(self) -> Stages:
        layout = self.layout
        stages = Stages(
            state=layout.size, input=self.inputs, parameters=self.parameters.size, next=layout.size, **layout.sizes
        )
        if self.controller:
            stages.variable("u", self.model.robot.nu)
        spans = [layout.span(name) for name in layout.sizes]
        stages.add(lambda state: tuple(state[s] for s in spans), ("state",), tuple(layout.sizes))
        return stages

    def _close(self, stages: Stages) -> None:
        self._hand_out(stages, tuple(self.layout.sizes), ("next",))

    def _hand_out(self, stages: Stages, names: tuple[str, ...], writes: tuple[str, ...]) -> None:
        """Parts of the state as they are told: what a frozen robot was about to do is zero, since it may be NaN."""

        def stage(trouble, *parts):
            moves = equal(trouble[0], 0)
            told = [
                part if name in _LASTING else [select(moves, x, 0) for x in part]
                for name, part in zip(names, parts, strict=True)
            ]
            if len(writes) < len(names):
                return [x for part in told for x in part]
            return told[0] if len(told) == 1 else told

        stages.add(stage, ("trouble", *names), writes)

    def _add_period(self, stages: Stages) -> None:
        robot, dt = self.model.robot, self.model.dt
        controller = self.controller
        if controller:

            def controlled(clock, q, v, command, memory):
                return controller(robot, time_of(clock, dt), q, v, command, memory)

            stages.add(controlled, ("clock", "q", "v", "input", "memory"), ("u", "memory"))
        elif "u" not in stages:
            stages.variable("u", robot.nu)
        if not controller:
            stages.add(lambda given: given, ("input",), ("u",))
        if self.integrator == "dormand-prince":
            self._add_smooth_step(stages, self.substeps)
        elif self.substeps == 1:
            self._add_step(stages)
        else:
            with stages.loop(self.substeps):
                self._add_step(stages)

    def _add_step(self, stages: Stages) -> None:
        if self.integrator == "semi-implicit":
            add_step(stages, self.model, self.parameters)
        else:
            self._add_smooth_step(stages, 1)

    def _add_smooth_step(self, stages: Stages, steps: int) -> None:
        """A step of an integrator of smooth motion, with the bookkeeping around it."""
        model, robot, parameters = self.model, self.model.robot, self.parameters

        def acceleration(t, q, v, u, p):
            return smooth_acceleration(parameters.applied(p), t, q, v, u)

        def forces(t, q, v, u, p):
            return smooth_forces(parameters.applied(p), t, q, v, u)

        def linear(q, v, u, p):
            return joint_forces(parameters.applied(p).robot, q, v, u, 0).linear()

        reads = ("u", "parameters")
        if self.integrator == "dormand-prince":
            extra, statements = adaptive_body(robot, acceleration, self.control, reads=reads)
        elif self.integrator == "midpoint":
            extra, statements = midpoint_body(
                robot, forces, linear, reads=reads, robot_at=lambda u, p: parameters.applied(p).robot,
                precision=model.precision, is_linear=not any(is_nonlinear(j) for j in robot.joints.values()),
            )  # fmt: skip
        else:
            extra, statements = explicit_body(robot, RK4, acceleration, reads=reads)
        own = {"t": 1, "t_end": 1, "dt": 1, "q start": robot.nq, "v start": robot.nv, "u sound": 1, **extra}
        for name, size in own.items():
            if name not in stages:
                stages.variable(name, size)

        def begin(clock, q, v):
            t = time_of(clock, model.dt)
            return [t], [t + steps * model.dt], [model.dt], q, v

        stages.add(begin, ("clock", "q", "v"), ("t", "t_end", "dt", "q start", "v start"))
        if self.integrator == "dormand-prince":
            # its own flag of trouble is not ours
            renamed = {"trouble": "stuck", "accepted": "accepted", "rejected": "rejected"}
            stages.variable("stuck", 1)
            stages.add(lambda clock: ([0], [0], [0]), ("clock",), ("stuck", "accepted", "rejected"))
            statements = [_renamed(s, renamed) for s in statements]
        stages.extend(statements)

        def finish(q, v, q_start, v_start, u, clock, trouble, p, *found):
            m = parameters.applied(p)
            cause = trouble_of(m, u, v, trouble[0])
            if len(found) == 3:
                cause = select(equal(cause, 0), select(found[0][0] > 0, STEPS_TROUBLE, 0), cause)
            moves = equal(cause, 0)
            t = time_of(clock, m.dt)
            torques = motor_torques(m.robot, q, v, u, t)
            mechanism = m.robot.mechanism
            poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
            touching, deepest = contact_forces(m, poses, origin, link_velocities(mechanism, q, v)), 0
            pushes = [x * m.dt for *_, f in touching for x in f]
            for *_, touch, _ in touching:
                deepest = maximum(deepest, -touch.gap)
            # of implicit midpoint the last correction of the velocity, and whether it was small
            left = [found[0][0], 0, deepest, 1 - found[1][0]] if len(found) == 2 else [0, 0, deepest, 0]
            return (
                [select(moves, a, b) for a, b in zip(q, q_start, strict=True)],
                [select(moves, a, b) for a, b in zip(v, v_start, strict=True)],
                ticked(clock, steps, moves),
                [cause],
                torques,
                pushes,
                left,
                [found[1][0], found[2][0]] if len(found) == 3 else [],
            )

        told = {"dormand-prince": ("stuck", "accepted", "rejected"), "midpoint": ("midpoint_change", "midpoint_solved")}
        found = told.get(self.integrator, ())
        stages.add(
            finish,
            ("q", "v", "q start", "v start", "u", "clock", "trouble", "parameters", *found),
            ("q", "v", "clock", "trouble", "torques", "impulses", "solver", "trials"),
        )


def _renamed(statement: Any, names: dict[str, str]) -> Any:
    """A block or loop with other names of variables."""

    def new(name: str | None) -> str | None:
        return names.get(name, name) if name is not None else None

    changed = replace(statement, reads=tuple(map(new, statement.reads)), writes=tuple(map(new, statement.writes)))
    if hasattr(statement, "body"):
        body = tuple(_renamed(s, names) for s in statement.body)
        changed = replace(changed, body=body, until=new(statement.until), when=new(statement.when))
    return changed
