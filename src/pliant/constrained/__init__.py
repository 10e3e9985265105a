"""Constrained dynamics: robots whose contacts and loops are held; forces, projections, impacts and supports."""

from pliant.constrained.constrained_dynamics import (
    ConsistentDynamics, ConstrainedDynamics, Impact, TorqueSplit, consistent_inverse, constrained_dynamics,
    contact_consistent_dynamics, contact_inertia, contact_rank, force_projector, impact_dynamics, impact_impulse,
    impact_map, impact_velocity, torque_split,
)  # fmt: skip
from pliant.constrained.constraints import contact_bias, contact_jacobian, row_names
from pliant.constrained.contact_wrenches import center_of_pressure, contact_wrench, friction_margins
from pliant.constrained.gauss import GaussAcceleration, UnilateralImpact, gauss_acceleration, unilateral_impact
from pliant.constrained.orthogonal import (
    SupportTorques, aghili_acceleration, constraint_inertia, contact_inverse_dynamics, orthogonal_projector,
    static_torques,
)  # fmt: skip

__all__ = [
    "ConsistentDynamics", "ConstrainedDynamics", "GaussAcceleration", "Impact", "SupportTorques", "TorqueSplit",
    "UnilateralImpact", "aghili_acceleration", "center_of_pressure", "consistent_inverse", "constrained_dynamics",
    "constraint_inertia", "contact_bias", "contact_consistent_dynamics", "contact_inertia", "contact_inverse_dynamics",
    "contact_jacobian", "contact_rank", "contact_wrench", "force_projector", "friction_margins", "gauss_acceleration",
    "impact_dynamics", "impact_impulse", "impact_map", "impact_velocity", "orthogonal_projector", "row_names",
    "static_torques", "torque_split", "unilateral_impact",
]  # fmt: skip
