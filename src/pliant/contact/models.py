"""Models of contact: rigid, by impulses, and compliant, by a law of depth, rate and slip.

In the semi-implicit step, a compliant law holds at the end of the step: the impulse of a contact is

    p = dt law(depth - dt u_n, -u_n, u_t)

with u the velocity that p itself leads to. Stiff springs and steep friction are stable at any step.
`CompliantContact.answer` takes one step towards it at each visit: Newton's along the normal, with the derivative of the
law by its trace; across, friction is a damper of the strength that it has at the slip so far, which
converges also where friction is steep at rest and flat beyond [Kacanov's method]. The other
integrators take the law as a force at each of their stages.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pliant.checks import check, check_at_least, check_friction, check_restitution, is_whole
from pliant.contact.laws import ContactLaw, SpringDamper, check_law
from pliant.contact.rows import tangents_of
from pliant.contact.touching import Touch
from pliant.errors import ContactError, SimulationError
from pliant.scalar import Expr, maximum, select
from pliant.scalar.evaluation import tangents
from pliant.spatial import Symmetric3, Vector

__all__ = ["CompliantContact", "RigidContact", "check_contact"]

Scalar = Any

# changes of velocities with which the solver is content [m/s]
_TOLERANCES = {"float64": 1e-9, "float32": 2e-6}


def check_contact(contact: Any) -> None:
    """Raise unless it is a contact model, with settings; its class has none yet."""
    takes = "a RigidContact or a CompliantContact"
    if isinstance(contact, type):
        problem = f"contact is the class {contact.__name__}"
        raise SimulationError(problem, field="contact", cure=f"make one: {contact.__name__}()")
    check("contact", contact, takes, hasattr(contact, "tolerance_in"))


def _check_iterations(subject: str, tolerance: Any, sweeps: Any) -> None:
    if tolerance is not None:
        check_at_least("tolerance", tolerance, 0, strict=True, subject=subject)
    check("sweeps", sweeps, "1 or more", is_whole(sweeps) and sweeps > 0, subject=subject, error=ContactError)


@dataclass(frozen=True)
class RigidContact:
    """Rigid contact by impulses, solved in each step by iterations over the contacts.

    Attributes:
        friction: coefficient of friction, where neither the ground nor the contact has its own.
        restitution: share of the approach speed with which a contact separates, 0 to 1, likewise.
        tolerance: iterations end when none changes a contact's velocity by more than this [m/s] times one plus a
            tenth of the robot's largest velocity (default: 1e-9 in float64 and 2e-6 in float32).
        sweeps: most iterations in a step; `Simulation.diagnostics` reports whether they sufficed.
        correction: share of a penetration that is taken back in one step, without changing velocities.
    """

    friction: Scalar = 0.7
    restitution: Scalar = 0
    tolerance: float | None = None
    sweeps: int = 200
    correction: float = 0.2

    def __post_init__(self) -> None:
        subject = "RigidContact"
        for name in ("friction", "restitution"):
            takes = "a number; None is for grounds and contacts"
            value = getattr(self, name)
            check(name, value, takes, value is not None, subject=subject, error=ContactError)
        check_friction(subject, self.friction)
        check_restitution(subject, self.restitution)
        _check_iterations(subject, self.tolerance, self.sweeps)
        check_at_least("correction", self.correction, 0, subject=subject)
        check("correction", self.correction, "at most 1", self.correction <= 1, subject=subject, error=ContactError)

    def tolerance_in(self, precision: str) -> float:
        """The tolerance, by default that of the precision [m/s]."""
        return _TOLERANCES[precision] if self.tolerance is None else self.tolerance


@dataclass(frozen=True)
class CompliantContact:
    """Contact by a compliant law.

    Attributes:
        law: (depth, rate, slip) -> (normal force, friction), as `SpringDamper`, `HuntCrossley` or your own
            generic function; see `pliant.contact.laws`.
        tolerance: as for `RigidContact` [m/s].
        sweeps: most iterations in a step of the semi-implicit integrator.
    """

    law: ContactLaw = field(default_factory=lambda: SpringDamper(stiffness=5e4, damping=500))
    tolerance: float | None = None
    sweeps: int = 200

    def __post_init__(self) -> None:
        check_law(self.law)
        _check_iterations("CompliantContact", self.tolerance, self.sweeps)

    def tolerance_in(self, precision: str) -> float:
        """The tolerance, by default that of the precision [m/s]."""
        return _TOLERANCES[precision] if self.tolerance is None else self.tolerance

    def force(self, gap: Scalar, u: Vector) -> Vector:
        """The force on the robot along the axes of a contact, normal last, at a gap and a velocity along them."""
        normal, friction = self.law(-gap, -u.z, (u.x, u.y))
        return Vector(friction[0], friction[1], normal)

    def force_on(self, touch: Touch, velocity: Vector) -> Vector:
        """The force on the robot at a contact with a velocity, both in the axes of the poses [N]."""
        axes = (*tangents_of(touch.normal), touch.normal)
        local = self.force(touch.gap, Vector(*(axis.dot(velocity) for axis in axes)))
        f = Vector.zero()
        for axis, part in zip(axes, local, strict=True):
            f = f + axis * part
        return f

    def answer(self, dt: Scalar) -> Callable[..., Vector]:
        """The impulse of a contact that takes it nearer to its law, as `pliant.contact.solver.sweep` asks for it."""

        def impulse(contact: dict[str, Any], u: Vector, p: Vector, G: Symmetric3) -> Vector:
            # along the normal: p_n = dt f_n(u_n + ...), along the tangent of f_n; friction goes with it in proportion
            f, slope = self._normal(contact["gap"], dt, u)
            rx, ry = _shares(p, *_shares(f, 0, 0))
            change = (dt * f.z - p.z) / (1 - dt * slope * (G.zz + G.xz * rx + G.yz * ry))
            normal = p.z + change
            first = Vector(rx * change, ry * change, change)
            u, p = u + G @ first, p + first
            # across it: p_t = -c (u_t + G_tt (p_t' - p_t)), with the strength c that friction has now; its share of
            # the normal force is the law's, the normal force is that of the impulse, of which stiff laws are no measure
            rx, ry = _shares(self.force(contact["gap"] + dt * u.z, u), rx, ry)
            size2 = maximum(u.x * u.x + u.y * u.y, 1e-20)
            c = maximum(-normal * (rx * u.x + ry * u.y) / size2, 0)
            rest = Vector(rx * normal - p.x, ry * normal - p.y, 0)
            xx, xy, yy = 1 + c * G.xx, c * G.xy, 1 + c * G.yy
            scale = 1 / (xx * yy - xy * xy)
            across = ((yy * rest.x - xy * rest.y) * scale, (xx * rest.y - xy * rest.x) * scale)
            return p + Vector(*across, 0)

        return impulse

    def _normal(self, gap: Scalar, dt: Scalar, u: Vector) -> tuple[Vector, Scalar]:
        """The force at the end of the step, and the derivative of its normal part by u_n."""
        f = self.force(gap + dt * u.z, u)
        if isinstance(f.z, Expr) and isinstance(u.z, Expr):
            return f, tangents([f.z], {u.z: 1})[0]
        # on floats
        h = 1e-7
        ahead = self.force(gap + dt * (u.z + h), Vector(u.x, u.y, u.z + h)).z
        return f, (ahead - f.z) / h


def _shares(f: Vector, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """Friction as a share of the normal force, or of impulses; x and y where there is none."""
    pushes = f.z > 0
    scale = 1 / select(pushes, f.z, 1)
    return select(pushes, f.x * scale, x), select(pushes, f.y * scale, y)
