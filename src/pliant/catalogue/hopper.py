"""Robots that hop, made by functions: one leg on a spring, in space."""

from typing import Any

from pliant.errors import RobotError
from pliant.robot import Geometry, Robot, RobotBuilder
from pliant.spatial import Transform, Vector

__all__ = ["hopper"]

Scalar = Any

LEG_LENGTH = 0.6
"""From the hip to the centre of the foot, at rest [m]."""
FOOT_RADIUS = 0.03


def hopper(*, mass: Scalar = 15, stiffness: Scalar = 7000, damping: Scalar = 35) -> Robot:
    """A hopping robot: a body on one springy leg, which a hip swings about two axes; ten degrees of freedom.

    The leg of `hopper_flight` with all that it leaves out: the masses of the parts, the spring, the foot.
    Its numbers are Pliant's own, of the size of the machines that hopped [Raibert 1986, Legged Robots That
    Balance, chapter 3]: 17 kg, a leg of 0.6 m that is loaded for some 0.18 s, and hops of 0.05 to 0.4 m.

    | body | mass [kg] | centre [m] | moments of inertia (x, y, z) [kg m^2] | |
    |---|---|---|---|---|
    | body | 15 | at the hip | 0.60, 0.70, 0.80 | free; scales with ``mass`` |
    | cross | 0.6 | at the hip | 0.001 each | between the two axes of the hip |
    | tube | 1.2 | 0.15 below the hip | 0.016, 0.016, 0.001 | upper leg, with the motor of the leg |
    | foot | 0.25 | 0.1 above its ball | 0.002, 0.002, 0.0001 | lower leg; a ball of radius 0.03 m touches |

    | joint | kind | limits | motor: most | gear, rotor inertia | felt at the joint |
    |---|---|---|---|---|---|
    | hip_roll | about x | 1 rad either way | 90 N m, 20 rad/s | 20, 1e-4 kg m^2 | 0.04 kg m^2 |
    | hip_pitch | about y | 1 rad either way | 90 N m, 20 rad/s | 20, 1e-4 kg m^2 | 0.04 kg m^2 |
    | leg_flexibility | along the leg | none | none: a spring, 7000 N/m and 35 N s/m | | |
    | leg | along the leg | 0.12 m either way | 1800 N, 1.5 m/s | 600 rad/m (a lead of 10.5 mm), 5e-6 kg m^2 | 1.8 kg |

    The leg's motor is in series with the spring: a ball screw that lengthens the leg, above a spring that it
    compresses. Both count positive where the leg gets longer. A motor's control is its torque or force.

    Args:
        mass: of the body [kg].
        stiffness, damping: of the spring of the leg [N/m, N s/m].
    """
    for name, value in (("mass", mass), ("stiffness", stiffness)):
        if isinstance(value, int | float) and not value > 0:
            raise RobotError(f"{name} of hopper is {value}; it must be above zero")
    share = mass / 15
    grey, blue, black = (0.6, 0.6, 0.65, 1), (0.2, 0.4, 0.8, 1), (0.1, 0.1, 0.1, 1)

    builder = RobotBuilder("hopper")
    frame = [_shape("box", (0.5, 0.4, 0.12), blue), _shape("cylinder", (0.05, 0.25), blue, 0.12)]
    builder.body("body", mass, inertia=(share * 0.6, 0, 0, share * 0.7, 0, share * 0.8), visuals=frame)
    builder.body("cross", 0.6, inertia=(0.001, 0, 0, 0.001, 0, 0.001))
    tube = [_shape("cylinder", (0.03, 0.4), grey, -0.2)]
    builder.body("tube", 1.2, (0, 0, -0.15), (0.016, 0, 0, 0.016, 0, 0.001), visuals=tube)
    foot = [_shape("cylinder", (0.015, 0.3), grey, 0.15), _shape("sphere", (FOOT_RADIUS,), black)]
    builder.body("foot", 0.25, (0, 0, 0.1), (0.002, 0, 0, 0.002, 0, 0.0001), visuals=foot)

    builder.joint("hip_roll", "revolute", "body", "cross", axis=(1, 0, 0), limits=(-1, 1))
    builder.joint("hip_pitch", "revolute", "cross", "tube", axis=(0, 1, 0), limits=(-1, 1))
    # the frame of the lower leg is the centre of the foot's ball
    down = {"axis": (0, 0, -1), "limits": (-0.12, 0.12)}
    builder.joint("leg", "prismatic", "tube", "foot", (0, 0, -LEG_LENGTH), **down)
    for hip in ("hip_roll", "hip_pitch"):
        builder.motor(hip, gear=20, rotor_inertia=1e-4, effort_limit=90, no_load_speed=20)
    builder.motor("leg", gear=600, rotor_inertia=5e-6, effort_limit=1800, no_load_speed=1.5)
    robot = builder.build(base="free").with_flexibility("leg", stiffness=stiffness, damping=damping)
    return robot.with_contact("foot", radius=FOOT_RADIUS)


def _shape(kind: Any, size: tuple[float, ...], color: tuple[float, ...], z: float = 0) -> Geometry:
    placement = Transform(Transform.identity().R, Vector(0, 0, z))
    return Geometry(kind, size, placement, color=color)
