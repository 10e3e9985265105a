"""Models of contact: rigid, by impulses, and compliant, by a law of depth, rate and slip.

    law(depth, rate, (slip_x, slip_y)) -> (normal_force, (friction_x, friction_y))

``depth`` [m] is positive in the ground, ``rate`` [m/s] is its time derivative, and the slip [m/s] is the velocity of
the point along two directions tangential to the ground. Forces [N] act on the robot: the normal force pushes it out and
is never negative, friction opposes the slip. A law is generic over the scalar. Those here are classes whose parameters
may be scalars of any kind, so that each robot of a batch can have its own; a law of your own is any function of that
form. A law may have a memory (`pliant.contact.memory`), as `AnchoredSpringDamper` has.

In the semi-implicit step, a compliant law holds at the end of the step: the impulse of a contact is

    p = dt law(depth - dt u_n, -u_n, u_t)

with u the velocity that p itself leads to. Stiff springs and steep friction are stable at any step.
`CompliantContact.answer` takes one step towards it at each visit: Newton's along the normal, with the derivative of the
law by its trace; across, friction is a damper of the strength that it has at the slip so far, which converges also
where friction is steep at rest and flat beyond [Kacanov's method]. The other integrators take the law as a force at
each of their stages.

With a memory m, the law and its rate hold at the end of the step, m+ = m + dt rate(m+). Such a law may hold a load
without slip, which a damper cannot. So all three directions are solved together, by Newton's method, with a secant
where that goes too far; or by the law itself, if it has a method ``impulse``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pliant.checks import check, check_at_least, check_friction, check_restitution, is_whole
from pliant.contact.constraint_rows import tangents_of
from pliant.contact.law_checks import check_law, kept_contact_law
from pliant.contact.memory import Axes, Memory, ahead, partials, solved
from pliant.contact.touching import Touch
from pliant.errors import ContactError, SimulationError
from pliant.scalar import Expr, Scalar, Scalars, exp, is_constant, log, maximum, minimum, select, sqrt
from pliant.scalar.evaluation import tangents
from pliant.signatures import explained
from pliant.spatial import Symmetric3, Vector

ContactLaw = Callable[..., tuple[Any, ...]]
"""(depth, rate, slip) -> (normal, friction); with a memory, (depth, rate, slip, memory) -> (normal, friction, rate)."""


@explained
def sliding_friction(
    normal: Scalar, slip: tuple[Scalar, Scalar], friction: Scalar, slip_speed: Scalar
) -> tuple[Scalar, Scalar]:
    """Coulomb's friction, made smooth at rest: exactly mu N against the slip from ``slip_speed`` on.

    f = -mu N g(r) s / |s|, with r = |s| / slip_speed, g = (3 r - r^3) / 2 for r < 1 and g = 1 for all
    larger r. So it does not grow with speed, it is the same in all directions, its derivative is continuous
    (g' = 0 at r = 1), and near rest it is a damper of 3/2 mu N / slip_speed. Written without |s| in a
    denominator, it is

        f = -mu N s (3 - min(r^2, 1)) / (2 sqrt(max(|s|^2, slip_speed^2))).

    A damper holds nothing: under a constant load below mu N the point creeps, at less than ``slip_speed``.

    Args:
        normal: normal force N [N].
        slip: tangential velocity s of the point [m/s].
        friction: coefficient mu.
        slip_speed: from here on the point counts as sliding [m/s].

    Returns:
        The two components of the force on the point [N].
    """
    squared = slip[0] * slip[0] + slip[1] * slip[1]
    limit = slip_speed * slip_speed
    blend = 3 - minimum(squared / limit, 1)
    factor = -friction * normal * blend / (2 * sqrt(maximum(squared, limit)))
    return factor * slip[0], factor * slip[1]


@explained
@dataclass(frozen=True)
class SpringDamper:
    """A linear spring and damper in parallel that can push, not pull, with Coulomb's friction.

    N = max(0, stiffness depth + damping rate) for depth > 0, otherwise 0. With damping, the force jumps at
    touch-down, where the rate is not zero; `HuntCrossley` does not. Friction is `sliding_friction`.

    Attributes:
        stiffness: of the ground under one point [N/m].
        damping: of the same [N s/m].
        friction: coefficient of friction.
        slip_speed: from here on friction is Coulomb's [m/s].
    """

    stiffness: Scalar
    damping: Scalar
    friction: Scalar = 0.7
    slip_speed: Scalar = 1e-3

    def __post_init__(self):
        _check_parameters(self, "stiffness", "damping")

    def __call__(
        self, depth: Scalar, rate: Scalar, slip: tuple[Scalar, Scalar]
    ) -> tuple[Scalar, tuple[Scalar, Scalar]]:
        """Normal force and friction [N]."""
        push = maximum(self.stiffness * depth + self.damping * rate, 0)
        normal = select(depth > 0, push, 0)
        return normal, sliding_friction(normal, slip, self.friction, self.slip_speed)


@explained
@dataclass(frozen=True)
class HuntCrossley:
    """A non-linear spring whose damping grows with depth, so that the force starts and ends at zero.

    N = stiffness depth^exponent max(0, 1 + 3/2 dissipation rate) for depth > 0, otherwise 0 [Hunt and
    Crossley 1975]. The exponent 3/2 is that of Hertz for a sphere on a plane. A body that comes in at the
    speed v leaves with the restitution 1 - dissipation v, for small dissipation v, whatever its mass, the
    stiffness and the exponent. Friction is `sliding_friction`.

    Attributes:
        stiffness: of the ground under one point [N/m^exponent].
        dissipation: loss of restitution per speed of impact [s/m].
        exponent: 1 or more; multiples of 1/2 are the cheapest.
        friction: coefficient of friction.
        slip_speed: from here on friction is Coulomb's [m/s].
    """

    stiffness: Scalar
    dissipation: Scalar
    exponent: Scalar = 1.5
    friction: Scalar = 0.7
    slip_speed: Scalar = 1e-3

    def __post_init__(self):
        _check_parameters(self, "stiffness", "dissipation")
        check_at_least("exponent", self.exponent, 1, subject=type(self).__name__)

    def __call__(
        self, depth: Scalar, rate: Scalar, slip: tuple[Scalar, Scalar]
    ) -> tuple[Scalar, tuple[Scalar, Scalar]]:
        """Normal force and friction [N]."""
        is_inside = depth > 0
        # outside, any positive number will do: the derivative of the root stays finite
        spring = self.stiffness * _power(select(is_inside, depth, 1), self.exponent)
        push = spring * maximum(1 + 3 * self.dissipation * rate / 2, 0)
        normal = select(is_inside, push, 0)
        return normal, sliding_friction(normal, slip, self.friction, self.slip_speed)


def _power(base: Scalar, exponent: Scalar) -> Scalar:
    """``base`` > 0 to a power: by products and a root where these do."""
    if not is_constant(exponent) or 2 * exponent % 1 != 0:
        return exp(exponent * log(base))
    whole, half = divmod(exponent, 1)
    power = base ** int(whole)
    return power * sqrt(base) if half else power


def _check_parameters(law: Any, *names: str) -> None:
    owner = type(law).__name__
    for name in names:
        check_at_least(name, getattr(law, name), 0, subject=owner)
    check_at_least("friction", law.friction, 0, subject=owner)
    check_at_least("slip_speed", law.slip_speed, 0, strict=True, subject=owner)


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


@explained
@dataclass(frozen=True)
class RigidContact:
    """Rigid contact by impulses, solved in each step by iterations over the contacts.

    Attributes:
        friction: coefficient of friction, where neither the ground nor the contact has its own.
        restitution: share of the approach speed with which a contact separates, 0 to 1, likewise.
        tolerance: iterations end when none changes a contact's velocity by more than this [m/s] times one plus a
            tenth of the robot's largest velocity (default: 1e-9 in float64 and 2e-6 in float32).
        sweeps: most iterations in a step; `Simulation.diagnostics` reports whether they sufficed. With fewer than 24 a
            step that needs more is left at that, also where all laws could be solved at once.
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


@explained
@dataclass(frozen=True)
class CompliantContact:
    """Contact by a compliant law.

    Attributes:
        law: (depth, rate, slip) -> (normal force, friction), as `SpringDamper`, `HuntCrossley` or your own
            generic function, or one with a memory, as `AnchoredSpringDamper`; see `pliant.contact.models`.
        tolerance: as for `RigidContact` [m/s].
        sweeps: most iterations in a step of the semi-implicit integrator.
    """

    law: ContactLaw = field(default_factory=lambda: SpringDamper(stiffness=5e4, damping=500))
    tolerance: float | None = None
    sweeps: int = 200

    def __post_init__(self) -> None:
        check_law(self.law)
        _check_iterations("CompliantContact", self.tolerance, self.sweeps)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"law": kept_contact_law(self.law)}

    def tolerance_in(self, precision: str) -> float:
        """The tolerance, by default that of the precision [m/s]."""
        return _TOLERANCES[precision] if self.tolerance is None else self.tolerance

    @property
    def memory(self) -> Memory:
        """The form of what the law remembers."""
        return Memory.of(self.law)

    def force(self, gap: Scalar, u: Vector, memory: Scalars = ()) -> Vector:
        """The force on the robot along the axes of a contact, normal last, at a gap and a velocity along them."""
        normal, friction = self._called(gap, u, memory)[:2]
        return Vector(friction[0], friction[1], normal)

    def _called(self, gap: Scalar, u: Vector, memory: Scalars) -> tuple[Any, ...]:
        form = self.memory
        own = (form.shaped(memory),) if form else ()
        return self.law(-gap, -u.z, (u.x, u.y), *own)

    def force_on(self, touch: Touch, velocity: Vector, stored: Scalars = (), R: Any = None) -> Vector:
        """The force on the robot at a contact with a velocity, both in the axes of the poses [N].

        Args:
            stored: what the law remembers, numbers of the state.
            R: rotation of what is touched, None for the ground.
        """
        axes = (*tangents_of(touch.normal), touch.normal)
        memory = self.memory.read(stored, Axes(*axes, R))
        local = self.force(touch.gap, Vector(*(axis.dot(velocity) for axis in axes)), memory)
        return sum((axis * part for axis, part in zip(axes, local, strict=True)), Vector.zero())

    # ---- the memory along the axes of a contact, at a gap and a velocity along them

    def memory_rate(self, gap: Scalar, u: Vector, memory: Scalars) -> list[Scalar]:
        """How the memory changes; a contact that is open has nothing to remember."""
        return [select(gap < 0, x, 0) for x in self._law_rate(gap, u, memory)]

    def _law_rate(self, gap: Scalar, u: Vector, memory: Scalars) -> list[Scalar]:
        return self.memory.flat(self._called(gap, u, memory)[2])

    def memory_ahead(self, gap: Scalar, u: Vector, memory: Scalars, dt: Scalar) -> list[Scalar]:
        """The memory that its rate at the end of a time dt leads to, with the gap and the velocity there."""
        return ahead(lambda m: self._law_rate(gap, u, m), memory, dt)

    def memory_kept(self, gap: Scalar, u: Vector, memory: Scalars) -> list[Scalar]:
        """The memory after a step in contact, as the law settles it."""
        form = self.memory
        settled = getattr(self.law, "settled", None)
        return list(memory) if settled is None else form.flat(settled(-gap, -u.z, (u.x, u.y), form.shaped(memory)))

    def answer(self, dt: Scalar, relaxation: Scalar = 1, precision: str = "float64") -> Callable[..., Vector]:
        """The impulse of a contact that takes it nearer to its law, as `pliant.contact.solver.sweep` asks for it."""
        law: Any = self.law

        def exact(contact: dict[str, Any], u: Vector, p: Vector, G: Symmetric3) -> Vector:
            return law.impulse(contact["gap"], u, p, G, contact["memory"], dt, relaxation, precision)

        def newton(contact: dict[str, Any], u: Vector, p: Vector, G: Symmetric3) -> Vector:
            return self._newton(contact["gap"], contact["memory"], dt, u, p, G)

        if self.memory:
            return exact if hasattr(law, "impulse") else newton

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

    def _newton(self, gap: Scalar, memory: Scalars, dt: Scalar, u: Vector, p: Vector, G: Symmetric3) -> Vector:
        """One step of Newton's method for p = dt f(u), u changing by G, for a law with a memory."""

        def impulse(u: Scalars) -> Vector:
            end, velocity = gap + dt * u[2], Vector(*u)
            return self.force(end, velocity, self.memory_ahead(end, velocity, memory, dt)) * dt

        found, slopes = partials(lambda x: list(impulse(x)), list(u))
        columns = [G.xx, G.xy, G.xz], [G.xy, G.yy, G.yz], [G.xz, G.yz, G.zz]
        A = [
            [
                (1 if r == c else 0) - sum((a * b for a, b in zip(row, column, strict=True)), 0)
                for c, column in enumerate(columns)
            ]
            for r, row in enumerate(slopes)
        ]
        missing = Vector(*found) - p
        change = Vector(*solved(A, list(missing)))
        # friction may change its sign on the way, from where it saturates on one side to the other: then a secant
        moves = G @ change
        before, after = missing.dot(moves), (impulse(list(u + moves)) - p - change).dot(moves)
        share = select(before * after < 0, before / select(before * after < 0, before - after, 1), 1)
        new = p + change * share
        return Vector(*(select(new.z > 0, x, 0) for x in new))

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
