"""Robots for the tests of event-driven simulation, most of them in the plane of x and z."""

import numpy as np

from pliant.robot import Robot, RobotBuilder

G = 9.81
NOTHING = (0, 0, 0, 0, 0, 0)


def point(mass: float = 1, *, stiffness: float = 0, rest: float = 0) -> Robot:
    """A point mass that moves along x and z; a spring may pull it to a height."""
    builder = RobotBuilder("point").body("sled", 0, (0, 0, 0), NOTHING).body("mass", mass, (0, 0, 0), NOTHING)
    builder.joint("x", "prismatic", "world", "sled", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "sled", "mass", axis=(0, 0, 1), stiffness=stiffness, rest=rest)
    return builder.build().with_contact("mass")


def planar(name: str, mass: float, moment: float, points: list[tuple[float, float]]) -> Robot:
    """A body that moves in the plane, with points (x, z) that touch."""
    builder = RobotBuilder(name).body("sled", 0, (0, 0, 0), NOTHING).body("lift", 0, (0, 0, 0), NOTHING)
    builder.body(name, mass, (0, 0, 0), (moment, 0, 0, moment, 0, moment))
    builder.joint("x", "prismatic", "world", "sled", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "sled", "lift", axis=(0, 0, 1))
    builder.joint("turn", "revolute", "lift", name, axis=(0, 1, 0))
    return builder.build().with_contact(name, points=[(x, 0, z) for x, z in points])


def block(width: float, height: float, mass: float = 2) -> Robot:
    """A block that stands on two edges."""
    moment = mass * (width**2 + height**2) / 12
    return planar("block", mass, moment, [(-width / 2, -height / 2), (width / 2, -height / 2)])


def box(mass: float = 2) -> Robot:
    """A box in space, 0.2 x 0.2 x 0.1 m, that touches with the corners of its bottom."""
    builder = RobotBuilder("box").body("box", mass, (0, 0, 0), (0.01, 0, 0, 0.01, 0, 0.012))
    corners = [(x, y, -0.05) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    return builder.build(base="free").with_contact("box", points=corners)


def chain(links: int = 4) -> Robot:
    """Rods of 0.2 m, with a point that touches at every joint and end."""
    builder = RobotBuilder("chain")
    for k in range(links):
        builder.body(f"rod{k}", 0.3, (0.1, 0, 0), (1e-4, 0, 0, 1e-3, 0, 1e-3))
        builder.frame(f"tip{k}", f"rod{k}", (0.2, 0, 0))
        if k:
            builder.joint(f"hinge{k}", "revolute", f"rod{k - 1}", f"rod{k}", (0.2, 0, 0), axis=(0, 1, 0))
    return builder.build(base="free").with_contacts("rod0", *(f"tip{k}" for k in range(links)))


def compass(hip: float = 10, leg: float = 5, length: float = 1) -> Robot:
    """Two legs with their masses halfway down, and a mass at the hip [Goswami, Thuilot, Espiau 1998]."""
    builder = RobotBuilder("compass").body("sled", 0, (0, 0, 0), NOTHING).body("hip", hip, (0, 0, 0), NOTHING)
    builder.joint("x", "prismatic", "world", "sled", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "sled", "hip", axis=(0, 0, 1))
    for side in ("left", "right"):
        builder.body(side, leg, (0, 0, -length / 2), NOTHING)
        builder.joint(f"{side}_hip", "revolute", "hip", side, axis=(0, 1, 0))
        builder.frame(f"{side}_foot", side, (0, 0, -length))
    return builder.build().with_contacts("left_foot", "right_foot")


def jumps(log, event) -> tuple[int, int]:
    """The entries of a log before and after an event."""
    at = np.flatnonzero(log.t == event.t)
    return at[0], at[-1]
