"""Controllers, and the small models that explain them."""

from pliant.control.pose_hold import Hold, hold, hold_gains
from pliant.control.raibert import HopperMachine, Measured, Raibert, RaibertGains, RaibertMemory, raibert
from pliant.control.slip import Apex, Slip, SlipCycle, SlipError, Stride

__all__ = [
    "Apex", "Hold", "HopperMachine", "Measured", "Raibert", "RaibertGains", "RaibertMemory", "Slip", "SlipCycle",
    "SlipError", "Stride", "hold", "hold_gains", "raibert",
]  # fmt: skip
