"""THE step, semi-implicit, with rigid contact: one line a stage.

Each stage is a generic function of `RigidStep`; `Stages` hands results on and makes a program of it,
which is compiled for one robot and run for many. Loops are the program's: a robot leaves one when it
is done, or never enters.
"""

from pliant.compiler.stages import Stages
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import Parameters
from pliant.simulation.rigid_step import RigidStep

__all__ = ["add_step"]


def add_step(stages: Stages, model: StepModel, parameters: Parameters) -> None:
    """Add one step of length dt to a program that has q, v, u and the variables of the state."""
    step = RigidStep(stages, model, parameters)

    with step.until_limits_agree():  # again, if a motor or a joint turns out to be beyond its limit
        step.move_freely()  # forces, A = L^T D L, and w = L v as if nothing touched; which contacts are near
        step.find_contacts()  # rows of the near ones, and their impulses of the last step
        step.find_joint_rows()
        with step.sweeps():  # until no contact changes any more
            step.sweep_contacts()
            step.sweep_closures()
            step.sweep_joints()
            step.check_convergence()
            step.accelerate()
        step.do_without_friction()  # only where sweeps ran out
        step.check_limits()
    step.correct_positions()  # penetrations and open loops, without changing velocities
    step.finish()  # v = L^-1 w, q from the new velocity; a robot in trouble stays where it was
