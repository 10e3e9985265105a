"""Robots that hop, made by functions: one leg on a spring, in space and in flight."""

from math import pi
from typing import Any

from pliant.checks import check_at_least
from pliant.errors import RobotError
from pliant.robot import Geometry, Robot, RobotBuilder
from pliant.scalar import Scalar
from pliant.signatures import explained
from pliant.spatial import Transform, Vector

LEG_LENGTH = 0.6
"""Of `hopper`: from the hip to the centre of the foot, at rest [m]."""
FOOT_RADIUS = 0.03
BODY_RADIUS = 0.12
"""Of the ball about the hip with which the body of `hopper` touches the ground if it falls [m]."""

FLIGHT_NUMBERS = {"Ixx": 0.16, "Iyy": 0.2, "Izz": 0.12, "m2": 0.8, "l2": 0.5}
"""Of `hopper_flight`, Pliant's own, where the document has none: a body of some 10 kg and 40 cm, a leg of 0.5 m."""


@explained
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
    If it falls, its body meets the ground as a ball of radius 0.12 m.

    Args:
        mass: of the body [kg].
        stiffness, damping: of the spring of the leg [N/m, N s/m].
    """
    for name, value in (("mass", mass), ("stiffness", stiffness)):
        check_at_least(name, value, 0, strict=True, subject="robot 'hopper'", error=RobotError)
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
    return robot.with_contact("foot", radius=FOOT_RADIUS).with_contact("body", radius=BODY_RADIUS)


@explained
def hopper_flight(
    *,
    Ixx: Scalar = None,
    Iyy: Scalar = None,
    Izz: Scalar = None,
    m2: Scalar = None,
    l2: Scalar = None,
    symbols: bool = False,
) -> Robot:
    """A hopping robot in flight, seen from the frame that falls with its hip: six degrees of freedom.

    Modified table [V. Hui 2018, Hopping Robot Document, Figure 2]:

    | i | alpha | a | theta | d | |
    |---|---|---|---|---|---|
    | 1 | 0 | 0 | th1 | 0 | |
    | 2 | -pi/2 | 0 | pi/2 + th2 | 0 | |
    | 3 | -pi/2 | 0 | th3 | 0 | the body, diag(Ixx, Iyy, Izz) |
    | 4 | pi/2 | 0 | th4 | 0 | |
    | 5 | -pi/2 | 0 | -pi/2 | 0 | fixed |
    | 6 | pi/2 | 0 | th6 | 0 | |
    | 7 | -pi/2 | 0 | 0 | d7 + l2 | the foot, a point mass m2 |

    th1, th2, th3 turn the body, th4 and th6 swing the leg, d7 extends it; the leg weighs nothing. There is
    no gravity in a falling frame. The hip, where all but the last frame have their origin, does not move
    here, and the mass of the body, whose centre it is, is nowhere in the equations.

    A hip that does not move is held by a force. So the angular momentum about the hip is kept, whatever the
    three motors do, but the linear momentum is not; only where they do nothing, the foot flies straight on and
    the body turns as a free one. A robot that floats is the same with m2 the reduced mass
    m m_foot / (m + m_foot) of body and foot, in place of m_foot: its motion relative to the hip, and its
    angular momentum about the centre of all mass, are then exactly this robot's.

    Args:
        Ixx, Iyy, Izz: of the body about the hip [kg m^2].
        m2: mass of the foot [kg]; l2: length of the leg at d7 = 0 [m].
        symbols: whether values that are not given become SymPy symbols of their names, instead of numbers.
    """
    from pliant.formats.dh import DHRow, from_dh  # no other shipped robot is a table

    given = {"Ixx": Ixx, "Iyy": Iyy, "Izz": Izz, "m2": m2, "l2": l2}
    numbers: dict[str, Any] = dict(FLIGHT_NUMBERS)
    if symbols:
        import sympy  # an extra, and slow to import

        numbers = {name: sympy.Symbol(name, positive=True) for name in FLIGHT_NUMBERS}
    numbers |= {name: value for name, value in given.items() if value is not None}
    for name, value in numbers.items():
        check_at_least(name, value, 0, strict=True, subject="robot 'hopper_flight'", error=RobotError)
    diagonal = (numbers["Ixx"], numbers["Iyy"], numbers["Izz"])
    right = pi / 2
    # the leg turns about z_4 and z_6; beyond a right angle of th6 it would be along z_4, which swings it then no more
    swing = {"limits": (-1.2, 1.2), "motor": {"effort_limit": 20}}
    stretch = {"limits": (-0.2, 0.2), "motor": {"effort_limit": 200}}
    rows = [
        DHRow(name="th1"),
        DHRow(name="th2", alpha=-right, theta=right),
        DHRow(name="th3", alpha=-right, body="body", inertia=diagonal),
        DHRow(name="th4", alpha=right, **swing),
        DHRow(name="fixed5", alpha=-right, theta=-right, joint="fixed"),
        DHRow(name="th6", alpha=right, **swing),
        DHRow(name="d7", alpha=-right, d=numbers["l2"], joint="prismatic", body="foot", mass=numbers["m2"], **stretch),
    ]
    return from_dh(rows, name="hopper_flight", gravity=(0, 0, 0))


def _shape(kind: Any, size: tuple[float, ...], color: tuple[float, ...], z: float = 0) -> Geometry:
    placement = Transform(Transform.identity().R, Vector(0, 0, z))
    return Geometry(kind, size, placement, color=color)
