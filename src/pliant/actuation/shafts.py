"""Shafts of motors: how their position and velocity follow from the dofs.

A motor drives its joint, or, through a differential, a parallelogram or a belt, several: with G a constant matrix
between the joints and the motors,

    x = G q        torques at the joints = G^T torques of the motors        M = M of the bodies + G^T J G

with J the inertias of the rotors, behind their gears (`pliant.robot.Mechanism.couplings`).
"""

from dataclasses import dataclass
from functools import cached_property

from pliant.robot import Link, Motor, Robot
from pliant.scalar import Scalar, Scalars


@dataclass(frozen=True)
class Shaft:
    """The shaft of a motor.

    Attributes:
        links: that move it, each with its ratio: turns of the shaft for one of the joint.
    """

    links: tuple[tuple[Link, Scalar], ...]

    @property
    def is_coupled(self) -> bool:
        """Whether it is not that of one joint alone."""
        return len(self.links) > 1

    def position(self, q: Scalars) -> Scalar:
        """Of the shaft [rad or m]."""
        if not self.is_coupled:
            return self.links[0][0].position(q)[0]
        return sum((ratio * link.position(q)[0] for link, ratio in self.links), 0)

    def rate(self, v: Scalars) -> Scalar:
        """Its velocity [rad/s or m/s]."""
        if not self.is_coupled:
            return self.links[0][0].rate(v)[0]
        return sum((ratio * link.rate(v)[0] for link, ratio in self.links), 0)

    @cached_property
    def columns(self) -> dict[int, Scalar]:
        """By dof, the velocity of the shaft for a unit of the dof's: with torque t, the dof feels so many times t."""
        if not self.is_coupled:
            link = self.links[0][0]
            return {link.dofs[0]: link.ratio}
        found: dict[int, Scalar] = {}
        for link, ratio in self.links:
            found[link.dofs[0]] = found.get(link.dofs[0], 0) + ratio * link.ratio
        return found


def shaft_of(robot: Robot, motor: Motor) -> Shaft:
    """The shaft of a motor of a robot."""
    links = {link.name: link for link in robot.mechanism.joint_links}
    if motor.coupling is None:
        return Shaft(((links[motor.joint], 1),))
    return Shaft(tuple((links[joint], ratio) for joint, ratio in motor.coupling))


def shafts_of(robot: Robot) -> list[Shaft]:
    """The shafts of all motors of a robot."""
    return [shaft_of(robot, motor) for motor in robot.motors.values()]
