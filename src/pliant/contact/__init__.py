"""Contact: the ground as a function of x and y, and laws for the force of what sinks into it."""

from pliant.contact.ground import Ground, as_ground, flat, height_map, slope, stairs, waves
from pliant.contact.laws import ContactLaw, HuntCrossley, SpringDamper, check_law, sliding_friction

__all__ = [
    "ContactLaw", "Ground", "HuntCrossley", "SpringDamper", "as_ground", "check_law", "flat", "height_map",
    "sliding_friction", "slope", "stairs", "waves",
]  # fmt: skip
