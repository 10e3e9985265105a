"""The tolerances of event-driven simulation, all in one table.

Numbers are found to about 1e-12 (times by bisection, gaps by projection), and forces to 1e-9 of the weight; a threshold
lies between the error of the number that it is compared with and the smallest value that means something.
"""

# ---- constraints: when one touches, approaches, slides or leaves

TOUCHING = 1e-8
"""Gap up to which an open constraint takes part in an impact [m or rad]; the event is found to 1e-12 s."""
DEEPEST = 1e-6
"""Depth beyond which the ground must have an edge where a contact touches [m or rad]."""
INSIDE = 1e-9
"""Depth beyond which a robot begins inside the ground [m or rad]."""
PROJECTED = 1e-13
"""Gap below which no drift is taken back [m or rad]."""
FARTHEST = 1e-4
"""Gap that a step may leave at a closed contact [m or rad]; more is an edge of the ground that it has passed."""
CLOSED = 1e-10
"""Gap of a loop up to which it is closed where a run begins [m or rad]."""
LOWEST_BOUNCE = 1e-12
"""Height below which a bounce is over before it can be seen [m or rad]."""
LEAST_GAP = 1e-10
"""Gap from which on a constraint counts as open, so that its next root is a touch-down [m or rad]."""

APPROACHING = 1e-9
"""Closing speed from which on a touching constraint goes through an impact [m/s or rad/s]."""
STILL = 1e-6
"""Slip below which a contact does not slide where modes change [m/s]."""
LEAST_SLIP = 1e-8
"""Slip from which on a sliding contact counts as moving, so that its next root is the end of the slide [m/s]."""
CREEPING = 1e-4
"""Slip below which the direction of a slide has settled, since it turns faster than steps can follow [m/s]."""
EDGE = 1e-3
"""Share of the velocities along the normal of a slide that is no drift of the integrator: the ground has turned."""

HOP = 2e-10
"""How far ahead an edge is looked for first, where no step is short enough; then four times as far, six times [s]."""
AFTER_EDGE = 1e-5
"""The step to try after an edge [s]."""
TURNED = 1e-4
"""Share by which rows and accelerations of a contact change at an edge, and within nanoseconds do not elsewhere."""

LEAST_FORCE = 1e-9
"""Force that counts as none, as a share of the weight at 1 g."""
ENERGY = 1e-12
"""Share of the energy that an impact may gain by rounding."""
AHEAD = 1e-6
"""How far to look ahead where nothing moves yet [s]."""
SAME_TIME = 1e-12
"""Times that differ by less are the same [s]."""

# ---- mode solver: multiples of Problem.scale, the rate that counts as zero

ACCELERATION = 1e-9
"""Scale of a problem in accelerations, as a share of one and the largest of them."""
IMPACT = 1e-11
"""Scale of a problem in velocities, likewise: they have no errors of forces in them."""
ALIGNED = 0.1
"""Rate across its direction up to which a contact slides along it."""
IDLE = 10.0
"""Slip acceleration up to which a contact that only begins to slide may be said to stick."""
LENIENT = 1e3
"""Multiple of the scale with which a problem that has no solution is tried again: gaps of 1e-8 tilt impacts as much."""
ITERATED = 0.01
"""Change in an iteration of Gauss-Seidel with which it has converged."""
DIVERGED = 1e6
"""Change in an iteration of Gauss-Seidel with which it diverges, as a multiple of the rates without forces."""
CONE_EDGE = 1e-7
"""Share of mu f_n up to which a tangential force lies on the edge of its cone."""

ANGLE = 1e-7
"""Angle for derivatives by direction, in the mode solver [rad]."""
SETTLED_ANGLE = 1e-6
"""Angle for derivatives by direction, of slides that settle [rad]."""

# ---- equations of contact forces

IMMOBILE = 1e-14
"""Share of the largest inverse inertia below which a constraint cannot move, as out of the plane of a planar robot."""
RANK = 1e-11
"""Singular value below which forces cancel, as a share of the largest."""
RANK_OF_SLIDES = 1e-9
"""The same where contacts slide with friction: then it is in proportion to drift, not to its square."""
RANK_OF_PLACES = 1e-7
"""The same for corrections of positions: rounding would become angles of its root in a straight chain."""
RANK_OF_LOOPS = 1e-10
"""Eigenvalue below which a row of a loop repeats others, as a share of the largest; drift within a step is 1e-8."""
SINGULAR_LOOPS = 1e-8
"""The same below which no step may be short enough, since a mechanism may branch."""
RANK_OF_CLOSING = 1e-9
"""The same for corrections of the places of loops."""
REGULAR = 1e7
"""Largest entry of an inverse that is taken for one."""
SINGULAR = -18.0
"""Logarithm of a determinant that is rounding."""
JAMMED = 0.05
"""Share of its own inverse inertia that friction must leave a sliding contact, where the motion cannot go on."""
