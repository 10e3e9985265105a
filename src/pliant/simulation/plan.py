"""The programs of a simulation: a control period, and a rollout of many."""

from pliant.compiler.program import Program
from pliant.compiler.tracing import Stages
from pliant.errors import SimulationError, unknown_name
from pliant.integrators.adaptive import StepControl
from pliant.scalar import equal, select
from pliant.simulation.state import clock_size, time_of
from pliant.simulation.controller import Controller
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import Parameters
from pliant.simulation.smooth_step import add_smooth_step
from pliant.simulation.state import StateLayout
from pliant.simulation.step import add_step

__all__ = ["INTEGRATORS", "Plan"]

INTEGRATORS = ("semi-implicit", "rk4", "dormand-prince", "midpoint")

# parts of the state that a diverged robot keeps as they were when it stopped
_LASTING = ("q", "v", "clock", "divergence", "memory")


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
        """Raise if the motion is not smooth: these integrators take no constraints."""
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
                problem = f"the integrator {self.integrator!r} is for smooth motion and this robot has {what}"
                cure = f"{cure}, or use integrator='semi-implicit'"
                raise SimulationError(problem, subject=what, field="integrator", cure=cure)

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
            "divergence": 1,  # 0, or the code of a cause, see `divergence`
            "torques": robot.nu,  # of the motors [N m or N]
            "impulses": 3 * contacts,  # of the contacts, in the world's axes [N s]
            "landings": contacts if model.is_elastic else 0,  # speeds on impact within the last step [m/s]
            "steady": len(model.steady_rows),  # impulses of dry friction and locks [N m s or N s]
            "stops": len(model.stop_rows),  # impulses at the limits of joints [N m s or N s]
            "stop landings": len(model.joint_rows) if model.has_elastic_stops else 0,
            "closings": sum(c.size for c in model.closures),  # impulses of the loops
            "solver": 4,  # residual [m/s], iterations, deepest penetration [m], whether they did not suffice
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
        """Parts of the state for the user: of a diverged robot, forces and the like are zero, since they may be NaN."""

        def stage(divergence, *parts):
            moves = equal(divergence[0], 0)
            shown = [
                part if name in _LASTING else [select(moves, x, 0) for x in part]
                for name, part in zip(names, parts, strict=True)
            ]
            if len(writes) < len(names):
                return [x for part in shown for x in part]
            return shown[0] if len(shown) == 1 else shown

        stages.add(stage, ("divergence", *names), writes)

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
            # it chooses its own steps, of the whole period
            add_smooth_step(stages, self.parameters, self.integrator, self.control, self.substeps)
        elif self.substeps == 1:
            self._add_step(stages)
        else:
            with stages.loop(self.substeps):
                self._add_step(stages)

    def _add_step(self, stages: Stages) -> None:
        if self.integrator == "semi-implicit":
            add_step(stages, self.model, self.parameters)
        else:
            add_smooth_step(stages, self.parameters, self.integrator, self.control, 1)
