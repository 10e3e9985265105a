"""Compliant contact: a law of depth, rate and slip in place of impulses that stop.

In the semi-implicit step, the law holds at the end of the step: the impulse of a contact is

    p = dt law(depth - dt u_n, -u_n, u_t)

with u the velocity that p itself leads to. Stiff springs and steep friction are stable at any step.
`answer` takes one Newton step towards it at each visit, with the derivatives of the law by its trace.
The other integrators take the law as a force at each of their stages.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pliant.contact.checks import check_at_least
from pliant.contact.laws import ContactLaw, SpringDamper, check_law
from pliant.errors import ContactError
from pliant.scalar import Expr
from pliant.scalar.grad import tangents
from pliant.spatial import Symmetric3, Vector

__all__ = ["CompliantContact"]

Scalar = Any

_TOLERANCES = {"float64": 1e-9, "float32": 2e-6}


@dataclass(frozen=True)
class CompliantContact:
    """Contact by a compliant law.

    Attributes:
        law: (depth, rate, slip) -> (normal force, friction), as `SpringDamper`, `HuntCrossley` or your own
            generic function; see `pliant.contact.laws`.
        tolerance: as for `RigidContact` [m/s].
        sweeps: at most so many in a step of the semi-implicit integrator.
    """

    law: ContactLaw = field(default_factory=lambda: SpringDamper(stiffness=5e4, damping=500))
    tolerance: float | None = None
    sweeps: int = 200

    def __post_init__(self) -> None:
        check_law(self.law)
        if self.tolerance is not None:
            check_at_least("CompliantContact", "tolerance", self.tolerance, 0, strict=True)
        if not isinstance(self.sweeps, int) or self.sweeps < 1:
            raise ContactError(f"CompliantContact: sweeps is {self.sweeps!r}; it takes 1 or more")

    def tolerance_in(self, precision: str) -> float:
        """The tolerance, by default that of the precision."""
        return _TOLERANCES[precision] if self.tolerance is None else self.tolerance

    def force(self, gap: Scalar, u: Vector) -> Vector:
        """The force on the robot along the rows, normal last, at a gap and a velocity."""
        normal, friction = self.law(-gap, -u.z, (u.x, u.y))
        return Vector(friction[0], friction[1], normal)

    def answer(self, dt: Scalar) -> Callable[..., Vector]:
        """The impulse of a contact that takes it nearer to its law, as `pliant.contact.solver.sweep` asks for it."""

        def impulse(contact: dict[str, Any], u: Vector, p: Vector, G: Symmetric3) -> Vector:
            # f(u) and its derivative; p = dt f(u + G (p' - p)) is solved for p' along the tangent
            f, F = self._linearised(contact["gap"], dt, u)
            rest = Vector(*(dt * a - b for a, b in zip(f, p, strict=True)))
            # (1 - dt F G) change = dt f(u) - p
            columns = [Vector(G.entry(0, c), G.entry(1, c), G.entry(2, c)) for c in range(3)]
            M = [[(1 if r == c else 0) - dt * F[r].dot(columns[c]) for c in range(3)] for r in range(3)]
            change = _solved(M, rest)
            return p + change

        return impulse

    def _linearised(self, gap: Scalar, dt: Scalar, u: Vector) -> tuple[Vector, list[Vector]]:
        """Force at the end of the step, and its rows of derivatives by u."""
        if not any(isinstance(x, Expr) for x in u):
            return self._differences(gap, dt, u)
        f = self.force(gap + dt * u.z, u)
        moving = [e for e in f if isinstance(e, Expr)]
        columns = []
        for x in u:
            rates = iter(tangents(moving, {x: 1}) if isinstance(x, Expr) else [0] * len(moving))
            columns.append([next(rates) if isinstance(e, Expr) else 0 for e in f])
        rows = [[columns[c][r] for c in range(3)] for r in range(3)]
        return f, [Vector(*row) for row in rows]

    def _differences(self, gap: Scalar, dt: Scalar, u: Vector) -> tuple[Vector, list[Vector]]:
        """The same on floats."""
        f = self.force(gap + dt * u.z, u)
        h = 1e-7
        columns = []
        for k in range(3):
            v = [*u]
            v[k] += h
            g = self.force(gap + dt * v[2], Vector(*v))
            columns.append([(b - a) / h for a, b in zip(f, g, strict=True)])
        return f, [Vector(*(columns[c][r] for c in range(3))) for r in range(3)]


def _solved(M: list[list[Scalar]], b: Vector) -> Vector:
    """M^-1 b by cofactors."""
    c = [Vector(*row) for row in M]
    first = c[1].cross(c[2])
    second, third = c[2].cross(c[0]), c[0].cross(c[1])
    scale = 1 / c[0].dot(first)
    return (first * b.x + second * b.y + third * b.z) * scale
