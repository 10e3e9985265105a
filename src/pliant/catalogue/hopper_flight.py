"""Robots that come with Pliant as tables: the hopping robot in flight."""

from math import pi
from typing import Any

from pliant.errors import RobotError
from pliant.formats.dh import from_dh
from pliant.formats.dh_rows import DHRow
from pliant.robot import Robot

__all__ = ["hopper_flight"]

Scalar = Any

NUMBERS = {"Ixx": 0.16, "Iyy": 0.2, "Izz": 0.12, "m2": 0.8, "l2": 0.5}
"""Pliant's own, where the document has none: a body of some 10 kg and 40 cm, a foot on a leg of half a metre."""


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
        symbols: whether what is not given is a symbol of SymPy of its name; else it is a number of Pliant's.
    """
    given = {"Ixx": Ixx, "Iyy": Iyy, "Izz": Izz, "m2": m2, "l2": l2}
    numbers: dict[str, Any] = dict(NUMBERS)
    if symbols:
        import sympy  # an extra, and slow to import

        numbers = {name: sympy.Symbol(name, positive=True) for name in NUMBERS}
    numbers |= {name: value for name, value in given.items() if value is not None}
    for name, value in numbers.items():
        if isinstance(value, int | float) and not value > 0:
            raise RobotError(f"{name} of hopper_flight is {value}; it must be above zero")
    diagonal = (numbers["Ixx"], numbers["Iyy"], numbers["Izz"])
    right = pi / 2
    # the leg turns about z_4 and z_6; beyond a right angle of th6 it would be along z_4, which swings it then no more
    swing = {"limits": (-1.2, 1.2), "motor": {"effort_limit": 20}}
    rows = [
        DHRow(name="th1"),
        DHRow(name="th2", alpha=-right, theta=right),
        DHRow(name="th3", alpha=-right, body="body", inertia=diagonal),
        DHRow(name="th4", alpha=right, **swing),
        DHRow(name="fixed5", alpha=-right, theta=-right, joint="fixed"),
        DHRow(name="th6", alpha=right, **swing),
        DHRow(
            name="d7",
            alpha=-right,
            d=numbers["l2"],
            joint="prismatic",
            body="foot",
            mass=numbers["m2"],
            limits=(-0.2, 0.2),
            motor={"effort_limit": 200},
        ),
    ]
    return from_dh(rows, name="hopper_flight", gravity=(0, 0, 0))
