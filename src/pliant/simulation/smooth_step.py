"""The step of the integrators of smooth motion, as stages of a program, with the bookkeeping around it.

An integrator brings a body of statements over the variables t, q, v and dt, and what it reports at the end: `_REPORTS`.
"""

from typing import Any

from pliant.actuation.joint_forces import joint_forces
from pliant.compiler.tracing import Stages
from pliant.dynamics.kinematics import link_poses, link_velocities, root_origin
from pliant.integrators.adaptive import StepControl, adaptive_body
from pliant.integrators.midpoint import midpoint_body
from pliant.integrators.runge_kutta import RK4, explicit_body
from pliant.robot.springs import is_nonlinear
from pliant.scalar import equal, is_constant, maximum, select
from pliant.simulation.divergence import divergence_code, steps_code
from pliant.simulation.energy_and_power import motor_torques
from pliant.simulation.parameters import Parameters
from pliant.simulation.smooth import contact_forces, smooth_acceleration, smooth_forces
from pliant.simulation.state import ticked, time_of

__all__ = ["add_smooth_step"]


def add_smooth_step(stages: Stages, parameters: Parameters, integrator: str, control: StepControl, steps: int) -> None:
    """Add a step of an integrator to a program that has q, v, u and the variables of the state.

    Args:
        integrator: "rk4", "midpoint" or "dormand-prince".
        control: tolerances of the adaptive integrator.
        steps: how many steps of the clock it makes in one.
    """
    model = parameters.structure
    robot = model.robot
    extra, statements = _body(parameters, integrator, control)
    own = {"t": 1, "t_end": 1, "dt": 1, "q start": robot.nq, "v start": robot.nv}
    for name, size in (own | extra).items():
        if name not in stages:
            stages.variable(name, size)

    def begin(clock, q, v):
        t = time_of(clock, model.dt)
        return {"t": [t], "t_end": [t + steps * model.dt], "dt": [model.dt], "q start": q, "v start": v}

    stages.add(begin, ("clock", "q", "v"))
    if integrator == "dormand-prince":
        stages.add(lambda: {"trouble": [0], "accepted": [0], "rejected": [0]}, ())
    stages.extend(statements)
    report, reads = _REPORTS[integrator]
    stages.add(report, reads)

    def finish(q, v, q_start, v_start, u, clock, divergence, report, p):
        m = parameters.applied(p)
        mechanism = m.robot.mechanism
        cause = divergence_code(m, u, v, divergence[0])
        if not is_constant(report["stuck"]):
            cause = select(equal(cause, 0), select(report["stuck"] > 0, steps_code(m.robot), 0), cause)
        moves = equal(cause, 0)
        poses, origin = link_poses(mechanism, q, about_root=True), root_origin(mechanism, q)
        touching, deepest = contact_forces(m, poses, origin, link_velocities(mechanism, q, v)), 0
        for *_, touch, _ in touching:
            deepest = maximum(deepest, -touch.gap)
        return {
            "q": [select(moves, a, b) for a, b in zip(q, q_start, strict=True)],
            "v": [select(moves, a, b) for a, b in zip(v, v_start, strict=True)],
            "clock": ticked(clock, steps, moves),
            "divergence": [cause],
            "torques": motor_torques(m.robot, q, v, u, time_of(clock, m.dt)),
            "impulses": [x * m.dt for *_, f in touching for x in f],
            "solver": [report["change"], 0, deepest, report["unsolved"]],
        }

    state = ("q", "v", "q start", "v start", "u", "clock", "divergence", "report", "parameters")
    stages.add(finish, state)


def _body(parameters: Parameters, integrator: str, control: StepControl) -> tuple[dict[str, int], list[Any]]:
    """The variables of an integrator beside t, q, v and dt, and its statements."""
    model = parameters.structure
    robot = model.robot

    def acceleration(t, q, v, u, p):
        return smooth_acceleration(parameters.applied(p), t, q, v, u)

    def forces(t, q, v, u, p):
        return smooth_forces(parameters.applied(p), t, q, v, u)

    def linear(q, v, u, p):
        return joint_forces(parameters.applied(p).robot, q, v, u, 0).linear()

    reads = ("u", "parameters")
    if integrator == "dormand-prince":
        return adaptive_body(robot, acceleration, control, reads=reads)
    if integrator == "midpoint":
        return midpoint_body(
            robot, forces, linear, reads=reads, robot_at=lambda u, p: parameters.applied(p).robot,
            precision=model.precision, is_linear=not any(is_nonlinear(j) for j in robot.joints.values()),
        )  # fmt: skip
    return explicit_body(robot, RK4, acceleration, reads=reads)


# ---- reports: whether the integrator is stuck, the last change of its iterations, and whether they did not suffice


def _adaptive_report(trouble, accepted, rejected):
    trials = [accepted[0], rejected[0]]
    return {"report": {"stuck": trouble[0], "change": 0, "unsolved": 0}, "trials": trials}


def _midpoint_report(midpoint_change, midpoint_solved):
    return {"report": {"stuck": 0, "change": midpoint_change[0], "unsolved": 1 - midpoint_solved[0]}}


def _explicit_report():
    return {"report": {"stuck": 0, "change": 0, "unsolved": 0}}


_REPORTS = {
    "dormand-prince": (_adaptive_report, ("trouble", "accepted", "rejected")),
    "midpoint": (_midpoint_report, ("midpoint_change", "midpoint_solved")),
    "rk4": (_explicit_report, ()),
}
