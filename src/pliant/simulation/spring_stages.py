"""Springs that swing: how well a step resolves them, and the time of their deflections.

A spring that swings with the frequency w is resolved by r = 1 / (1 + (w dt)^12), which is 1 for slow swings and 0 for
those that the step cannot follow (`pliant.simulation.step`).

The velocity with which a step ends is that of its middle, half a step older than q. Of a spring that swings, the state
has the deflection of that time, too: the step begins half a step ahead of it and ends by going back, so that the energy
of a state is that of the swing, not w dt / 2 more or less. Robots that may touch something, or have loops, do without:
their feet would be shown where they were half a step before, but for the motion of other joints.
"""

from collections.abc import Sequence

from pliant.actuation.joint_forces import SpringBlock
from pliant.actuation.joint_springs import spring_force
from pliant.contact.constraint_rows import has_limits
from pliant.dynamics.joint_space_inertia import composite_inertia
from pliant.scalar import Scalar, Scalars, maximum
from pliant.simulation.model import StepModel
from pliant.simulation.step_program import StepProgram, Swing

# inertia of a dof that has none, as a slender rod about itself: any spring there is too stiff for the step
_NONE = 1e-30


def resolved(
    M: list[list[Scalar]], spring: SpringBlock, axis: tuple[Scalar, list[Scalar]], dt: Scalar, eases: Sequence[float]
) -> Scalar:
    """r = 1 / (1 + (w dt)^12) of the swing about an axis of a spring, w^2 = g' b M^-1 b^T.

    The diagonal of M^-1 is that of M, with the ``eases`` of the robot (`StepModel.swing_eases`).
    """
    slope, b = axis
    ease: Scalar = 0
    for i, d in enumerate(spring.dofs):
        ease = ease + b[i] * b[i] * eases[d] / maximum(M[d][d], _NONE)
    square = dt * dt * slope * ease
    fourth = square * square
    return 1 / (1 + fourth * fourth * fourth)


def go_ahead(step: StepProgram) -> None:
    """Deflections of springs at the time of the rest of q, half a step ahead of the state's."""
    step.swings = _swings(step.parameters.model)
    if step.swings:
        step.stages.variable("q start", step.model.robot.nq)
        step.add(lambda m, q, v: {"q start": q, "q": swung(m, step.swings, q, v, m.dt / 2)})


def _swings(m: StepModel) -> list[Swing]:
    """Joints with springs that nothing stops, and which of them swing.

    The share of the motion that the state is behind must be the same at the end of a step and at the start of the next,
    so it is that of the robot at rest, with the numbers that it has where they do not vary.
    """
    robot, q = m.robot, m.robot.neutral().tolist()
    joints = [j for j in robot.independent_joints if j.has_spring and not (j.has_backlash or has_limits(j))]
    joints = [] if m.groups or m.closures else joints
    M, found = composite_inertia(robot, q) if joints else [], []
    for j in joints:
        dofs = range(*robot.v_slice(j.name).indices(robot.nv))
        spring = SpringBlock(tuple(dofs), spring_force(j, q[robot.q_slice(j.name)]).axes)
        found.append((j.name, [float(resolved(M, spring, axis, m.dt, m.swing_eases)) for axis in spring.axes]))
    return found


def swung(m: StepModel, swings: Sequence[Swing], q: Scalars, v: Scalars, time: Scalar) -> list[Scalar]:
    """q with the deflections of springs that swing moved by their own velocity."""
    moved = list(q)
    for name, shares in swings:
        own, rates = m.robot.q_slice(name), v[m.robot.v_slice(name)]
        shift = [share * time * x for share, x in zip(shares, rates, strict=True)]
        moved[own] = m.robot.joints[name].kind.integrate(moved[own], shift)
    return moved
