"""Contact: the ground, where robots touch, compliant laws and the rigid solver."""

from pliant.contact.anchored import AnchoredSpringDamper
from pliant.contact.ground import Ground, as_ground, flat, height_map, slope, stairs, waves
from pliant.contact.ground_faces import GroundTouch
from pliant.contact.law_checks import check_law
from pliant.contact.models import (
    CompliantContact, ContactLaw, HuntCrossley, RigidContact, SpringDamper, sliding_friction,
)  # fmt: skip

__all__ = [
    "AnchoredSpringDamper", "CompliantContact", "ContactLaw", "Ground", "GroundTouch", "HuntCrossley", "RigidContact",
    "SpringDamper", "as_ground", "check_law", "flat", "height_map", "sliding_friction", "slope", "stairs", "waves",
]  # fmt: skip
