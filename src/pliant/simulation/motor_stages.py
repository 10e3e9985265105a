"""Stages around a step, for motors that remember: which controls reach them, and what they remember after it.

Controls are ``given`` for a control period; ``u`` are those that act in a step of it. Without memory they are the same.
"""

from pliant.actuation.joint_forces import States
from pliant.actuation.motor_memory import arrived, kept_if, remembered
from pliant.compiler.tracing import Stages
from pliant.scalar import equal
from pliant.simulation.parameters import Parameters
from pliant.simulation.state import time_of

# parts of the memory that concern controls, and those that change with the motion
_OF_CONTROLS = ("held", "wait", "line", "command", "law")
_OF_MOTION = ("current", "temperature", "bristle", "friction")


def controls_name(parameters: Parameters) -> str:
    """The variable that the controls of a period go to."""
    return "given" if parameters.structure.motor_memory.has(*_OF_CONTROLS) else "u"


def take_controls(stages: Stages, parameters: Parameters) -> None:
    """The controls that act in the next step."""
    layout = parameters.structure.motor_memory
    if not layout.has(*_OF_CONTROLS):
        return

    def taken(given, q, v, clock, divergence, memory, p):
        m = parameters.applied(p)
        u, states = arrived(layout, m.robot, given, q, v, time_of(clock, m.dt), layout.states(memory))
        return {"u": u, "motor memory": kept_if(equal(divergence[0], 0), layout.row(states), memory)}

    stages.add(taken, ("given", "q", "v", "clock", "divergence", "motor memory", "parameters"))


def remember_motion(stages: Stages, parameters: Parameters, steps: int) -> None:
    """What the motors remember of a step that has been made, of so many of the clock."""
    model = parameters.structure
    layout, count = model.motor_memory, model.robot.nu
    if not layout.has(*_OF_MOTION):
        return

    def kept(q, v, torques, divergence, memory, p, frictions=(), saturated=()):
        m = parameters.applied(p)
        bent = list(zip(frictions, saturated[count:], strict=True))
        before: States = layout.states(memory)
        after = remembered(layout, m.robot, q, v, torques, before, bent, steps)
        return {"motor memory": kept_if(equal(divergence[0], 0), layout.row(after), memory)}

    bending = ("frictions", "saturated") if model.bristled_motors else ()
    stages.add(kept, ("q", "v", "torques", "divergence", "motor memory", "parameters", *bending))
