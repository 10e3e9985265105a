"""Friction of motors by speed: what they lose as they turn, and how their friction bends before it slides.

The level of dry friction falls from the static one to Coulomb's as the joint begins to move [Stribeck 1902],

    F(v) = Fc + (Fs - Fc) exp(-(v / vs)^2)

A step takes the level at the speed with which it begins. Without bristles, a joint below that level sticks, exactly.

With bristles, friction is a spring that slides where it is bent too far, f = -(s0 z + s1 v) within F(v): below the
level all that it moves it gives back, so that no load, however it shakes, makes the joint creep. That is the
elasto-plastic model of [Dupont, Hayward, Armstrong and Altpeter 2002] with a sharp end of the elastic range; the model
of [Canudas de Wit, Olsson, Astrom and Lischinsky 1995] creeps there. Spring and damper are part of the matrix of the
step.
"""

from pliant.checks import is_zero
from pliant.robot import Motor
from pliant.scalar import Scalar, exp, select


def has_bristles(motor: Motor) -> bool:
    """Whether its dry friction bends before it slides."""
    return not is_zero(motor.bristle_stiffness)


def friction_level(motor: Motor, rate: Scalar) -> Scalar:
    """The level of dry friction at a speed of the joint [N m or N]."""
    if is_zero(motor.static_friction):
        return motor.dry_friction
    share = rate / motor.stribeck_speed
    return motor.dry_friction + (motor.static_friction - motor.dry_friction) * exp(-(share * share))


def bristle_after(motor: Motor, z: Scalar, rate: Scalar, dt: Scalar, torque: Scalar, slides: Scalar) -> Scalar:
    """How far bristles are bent after a step [rad or m].

    Args:
        z: before it.
        rate: velocity of the joint in it.
        torque: of friction, in it.
        slides: whether they slid: then they are bent as far as the torque bends them.
    """
    return select(slides, -torque / motor.bristle_stiffness, z + dt * rate)
