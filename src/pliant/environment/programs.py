"""The programs of an environment, each compiled when it is first needed.

A control period is one program. Where terms run in NumPy it is several, with NumPy between them: "motion", then rewards
and terminations, "scores", observations, "look", and observations once more for "first look of those that ended". Two
of these also come without restarts, for learners that begin new episodes themselves, by "restart".
"""

from collections.abc import Callable

from pliant.compiler import Kernel, lanes_for
from pliant.compiler.tracing import Stages, no_collection
from pliant.environment.plan import EpisodePlan
from pliant.progress import compiling
from pliant.simulation import Simulation


def _begin(plan: EpisodePlan, stages: Stages) -> None:
    plan.add_restart(stages, modes=("startup", "reset"))


def _motion(plan: EpisodePlan, stages: Stages) -> None:
    plan.add_action(stages)
    plan.add_motion(stages)


def _scores(plan: EpisodePlan, stages: Stages) -> None:
    plan.add_scores(stages)
    plan.add_changes(stages)


def _ended(plan: EpisodePlan, stages: Stages) -> None:
    """Whether an episode has ended, from the outcome."""
    stages.add(lambda a, b: [a[0] + b[0]], ("terminated", "truncated"), ("episode ended",))


def _look(plan: EpisodePlan, stages: Stages) -> None:
    plan.add_observations(stages)
    _ended(plan, stages)
    plan.add_new_episodes(stages, observes=False)


def _first_look(plan: EpisodePlan, stages: Stages) -> None:
    _ended(plan, stages)
    with stages.loop(1, when="episode ended"):
        plan.add_observations(stages, is_first=True, is_again=True)


_PROGRAMS: dict[str, Callable[[EpisodePlan, Stages], None]] = {
    "period": EpisodePlan.add_period,
    "period without restarts": lambda plan, stages: plan.add_period(stages, restarts=False),
    "begin": _begin,
    "restart": EpisodePlan.add_restart,
    "first look": lambda plan, stages: plan.add_observations(stages, is_first=True),
    "motion": _motion,
    "scores": _scores,
    "look": _look,
    "look without restarts": lambda plan, stages: plan.add_observations(stages),
    "first look of those that ended": _first_look,
}

# what a program takes beside the state, the episode and the parameters
_INPUTS = {
    "period": ("given action", "weights"),
    "period without restarts": ("given action", "weights"),
    "begin": ("outcome",),
    "restart": ("outcome",),
    "first look": ("outcome", "given terms"),
    "motion": ("given action",),
    "scores": ("outcome", "weights", "given terms"),
    "look": ("outcome", "given terms"),
    "look without restarts": ("outcome", "given terms"),
    "first look of those that ended": ("outcome", "given terms"),
}

# what it writes, as far as there is any of it
_OUTPUTS = ("state", "episode", "outcome", "parameters")


class EpisodeKernels:
    """Kernels of a plan, for the robots of a simulation."""

    def __init__(self, plan: EpisodePlan, sim: Simulation):
        self.plan, self.sim = plan, sim
        self._kernels: dict[str, Kernel] = {}

    def kernel(self, name: str) -> Kernel:
        """The kernel of a program; its outputs are named as its inputs, with " after" behind."""
        if name not in self._kernels:
            robot = self.sim.robot.name
            with compiling(f"the environment of {robot!r}", self.sim.progress), no_collection():
                self._kernels[name] = self._compiled(name)
        return self._kernels[name]

    def _compiled(self, name: str) -> Kernel:
        plan, sim = self.plan, self.sim
        stages = plan.stages()
        _PROGRAMS[name](plan, stages)
        parts = {"state": sim.layout.sizes, "episode": plan.episode, "outcome": plan.outcome}
        sizes = {array: sum(own.values()) for array, own in parts.items()}
        sizes |= {array: stages.variables[array] for array in ("parameters", "given action", "weights", "given terms")}
        inputs = [array for array in ("state", "episode", "parameters", *_INPUTS[name]) if sizes[array]]
        outputs = {f"{array} after": array for array in _OUTPUTS if sizes[array]}
        spans = {array: tuple(parts[array]) for array in inputs if array in parts}
        spans |= {after: tuple(parts.get(array, (array,))) for after, array in outputs.items()}
        return Kernel(
            stages.program(inputs, list(outputs), spans=spans),
            {array: (sizes[array],) for array in inputs},
            {after: (sizes[array],) for after, array in outputs.items()},
            name=f"{name} of {sim.robot.name}", precision=sim.precision, threads=sim.threads,
            lanes=lanes_for(sim.batch or 1, sim.precision),
        )  # fmt: skip
