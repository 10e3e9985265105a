"""Why an event-driven run ends early: no rigid motion, or no step that is short enough."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import SimulationError
from pliant.events import tolerances as tol
from pliant.events.mode_solver import InconsistentContactError
from pliant.events.state import check_ground

if TYPE_CHECKING:
    from pliant.events.simulation import EventSimulation


def inconsistent(sim: "EventSimulation", why: str) -> InconsistentContactError:
    """The error where no rigid motion fits the laws of contact, with the state."""
    q, v, mode = sim.q, sim.v, sim.mode_name
    problem = f"t = {sim.t:.9g} s, {mode}: {why}, at q = {q.tolist()}, v = {v.tolist()}"
    error = InconsistentContactError(problem, subject="contacts", field=mode)
    error.t, error.q, error.v, error.mode = sim.t, q, v, mode
    return error


# numbers of a robot that explodes may overflow here, which is what the error says
@np.errstate(over="ignore", invalid="ignore")
def no_step(sim: "EventSimulation") -> SimulationError:
    """The error where no step is short enough: ground without a height, a slide that friction jams, or stiff forces."""
    t, q, v, u = sim.t, sim.q, sim.v, np.zeros(sim.robot.nu)
    for place in (q, sim.robot.integrate(q, v * sim.step_control.largest)):
        check_ground(sim, sim.terms(t, place, v, u), t)
    jammed = sim.motion.jammed(sim.terms(t, q, v, u), v)
    if jammed:
        names = ", ".join(jammed)
        return inconsistent(sim, f"friction jams what slides ({names}): forces grow without bound (Painleve)")
    strength = sim.terms(t, q, v, u).strength
    if len(strength) < (sim.terms.rank or 0) or strength.min(initial=1) < tol.SINGULAR_LOOPS:
        names = ", ".join(group.closure.name for group in sim.model.closures)
        problem = f"t = {t:.9g} s: loops ({names}) are singular and may go on in several ways, at q = {q.tolist()}"
        return SimulationError(problem, subject="run", field="closures", cure="begin with another velocity")
    problem = f"t = {t:.9g} s, {sim.mode_name}: no step is short enough, at q = {q.tolist()}, v = {v.tolist()}"
    cure = "check that forces and controls are finite and gains are not too stiff; Simulation takes stiff ones"
    return SimulationError(problem, subject="run", cure=cure)
