"""THE step, semi-implicit, with rigid or compliant contact: one line a stage.

Each stage is a generic function that reads what its parameters name and writes the names that it returns; `StepProgram`
hands values on and makes a program of it, which is compiled for one robot and run for many. Loops are the program's: a
robot leaves one when it is done, or never enters.
"""

from pliant.compiler.tracing import Stages
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import Parameters
from pliant.simulation.solver_stages import (
    accelerate,
    check_convergence,
    correct_positions,
    do_without_friction,
    find_contacts,
    find_joint_rows,
    sweep_closures,
    sweep_contacts,
    sweep_joints,
    sweeps,
)  # fmt: skip
from pliant.simulation.step_stages import StepProgram, check_limits, finish, move_freely, until_limits_agree

__all__ = ["add_step"]


def add_step(stages: Stages, model: StepModel, parameters: Parameters) -> None:
    """Add one step of length dt to a program that has q, v, u and the variables of the state."""
    step = StepProgram(stages, model, parameters)

    with until_limits_agree(step):  # again, if a motor or a joint turns out to be beyond its limit
        move_freely(step)  # forces, A = L^T D L, and w = L v as if nothing touched; which contacts are near
        find_contacts(step)  # constraints of the near ones, and their impulses of the last step
        find_joint_rows(step)
        with sweeps(step):  # until no contact changes any more
            sweep_contacts(step)
            sweep_closures(step)
            sweep_joints(step)
            check_convergence(step)
            accelerate(step)
        do_without_friction(step)  # only where iterations ran out
        check_limits(step)
    correct_positions(step)  # penetrations and open loops, without changing velocities
    finish(step)  # v = L^-1 w, q from the new velocity; a robot that diverges stays where it was
