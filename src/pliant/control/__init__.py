"""Controllers, the estimators that they need behind sensors, and the small models that explain them."""

from pliant.control.attitude import Attitude, AttitudeFilter
from pliant.control.deflection import Deflection, DeflectionFilter
from pliant.control.leg_odometry import BaseEstimator, BaseMotion, LegOdometry
from pliant.control.pose_hold import Hold, hold, hold_gains
from pliant.control.raibert import HopperMachine, Measured, Raibert, RaibertGains, RaibertMemory, raibert
from pliant.control.slip import Apex, Slip, SlipCycle, SlipError, Stride
from pliant.control.trot import Leg, Trot, TrotGains, trot

__all__ = [
    "Apex", "Attitude", "AttitudeFilter", "BaseEstimator", "BaseMotion", "Deflection", "DeflectionFilter", "Hold",
    "HopperMachine", "Leg", "LegOdometry", "Measured", "Raibert", "RaibertGains", "RaibertMemory", "Slip", "SlipCycle",
    "SlipError", "Stride", "Trot", "TrotGains", "hold", "hold_gains", "raibert", "trot",
]  # fmt: skip
