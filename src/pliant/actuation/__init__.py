"""Forces that act on a robot: motors, springs, dampers and outside forces, each written once.

Every law is generic over the scalar and gives force, energy and power. The step, the smooth integrators, event-driven
simulation, the equations of motion, Bode plots and the energy ledger all call it.
"""

from pliant.actuation.body_forces import ExternalForce
from pliant.actuation.disturbances import Gusts, Pushes
from pliant.actuation.joint_springs import FlexibilityState, flexibility_names, flexibility_state
from pliant.actuation.networks import network_law

__all__ = [
    "ExternalForce", "FlexibilityState", "Gusts", "Pushes", "flexibility_names", "flexibility_state", "network_law",
]  # fmt: skip
