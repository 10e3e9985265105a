"""Contact: the ground, compliant laws, the rigid solver, and the projected dynamics of contacts that are held."""

from pliant.contact.compliant import CompliantContact
from pliant.contact.consistent import (
    ConsistentDynamics, TorqueSplit, consistent_inverse, contact_consistent_dynamics, force_projector, torque_split,
)  # fmt: skip
from pliant.contact.constrained_dynamics import (
    ConstrainedDynamics, constrained_dynamics, contact_inertia, contact_rank,
)  # fmt: skip
from pliant.contact.constraint_rows import contact_bias, contact_jacobian
from pliant.contact.constraints import row_names
from pliant.contact.gauss import GaussAcceleration, UnilateralImpact, gauss_acceleration, unilateral_impact
from pliant.contact.ground import Ground, as_ground, flat, height_map, slope, stairs, waves
from pliant.contact.impacts import Impact, impact_dynamics, impact_impulse, impact_map, impact_velocity
from pliant.contact.laws import ContactLaw, HuntCrossley, SpringDamper, check_law, sliding_friction
from pliant.contact.orthogonal import aghili_acceleration, constraint_inertia, orthogonal_projector
from pliant.contact.rigid import RigidContact
from pliant.contact.support_torques import SupportTorques, contact_inverse_dynamics, static_torques
from pliant.contact.supports import center_of_pressure, contact_wrench, friction_margins

__all__ = [
    "CompliantContact", "ConsistentDynamics", "ConstrainedDynamics", "ContactLaw", "GaussAcceleration", "Ground",
    "HuntCrossley", "Impact", "RigidContact", "SpringDamper", "SupportTorques", "TorqueSplit", "UnilateralImpact",
    "aghili_acceleration", "as_ground", "center_of_pressure", "check_law", "consistent_inverse", "constrained_dynamics",
    "constraint_inertia", "contact_bias", "contact_consistent_dynamics", "contact_inertia", "contact_inverse_dynamics",
    "contact_jacobian", "contact_rank", "contact_wrench", "flat", "force_projector", "friction_margins",
    "gauss_acceleration", "height_map", "impact_dynamics", "impact_impulse", "impact_map", "impact_velocity",
    "orthogonal_projector", "row_names", "sliding_friction", "slope", "stairs", "static_torques", "torque_split",
    "unilateral_impact", "waves",
]  # fmt: skip
