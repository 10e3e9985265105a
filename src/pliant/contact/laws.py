"""Compliant contact: the force on a point that sinks into the ground, as a law of depth, rate and slip.

    law(depth, rate, (slip_x, slip_y)) -> (normal_force, (friction_x, friction_y))

``depth`` [m] is positive in the ground, ``rate`` [m/s] is its time derivative, and the slip [m/s] is the
velocity of the point along two directions tangential to the ground. Forces [N] act on the robot: the
normal force pushes it out and is never negative, friction opposes the slip. A law is generic over the
scalar. Those here are classes whose parameters may be scalars of any kind, so that each robot of a batch
can have its own; a law of your own is any function of that form.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.checks import check_at_least, function_name
from pliant.errors import ContactError, TraceError, bad_value
from pliant.scalar import Expr, Graph, exp, is_constant, log, maximum, minimum, select, sqrt
from pliant.scalar.ops import CONDITIONS

__all__ = ["ContactLaw", "HuntCrossley", "SpringDamper", "check_law", "sliding_friction"]

Scalar = Any
ContactLaw = Callable[[Scalar, Scalar, tuple[Scalar, Scalar]], tuple[Scalar, tuple[Scalar, Scalar]]]


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


def check_law(law: Any) -> Any:
    """The law itself, if it can be traced and returns a normal force and two components of friction.

    Only the form is checked, not the physics: whether it pulls or adds energy depends on its arguments. A
    law that keeps symbols or scalars of a trace as its attributes cannot be tried, and passes.
    """
    if not callable(law):
        form = "a function (depth, rate, (slip_x, slip_y)) -> (normal, (friction_x, friction_y))"
        raise ContactError(bad_value("law", law, form))
    label = f"contact law {function_name(law)}"
    graph = Graph()
    depth, rate, slip_x, slip_y = (graph.input(name) for name in ("depth", "rate", "slip_x", "slip_y"))
    foreign = [v for v in vars(law).values() if _is_special(v)] if hasattr(law, "__dict__") else []
    if foreign:
        return law  # its parameters belong to another trace, or are symbols: it is seen when it is called
    try:
        result = law(depth, rate, (slip_x, slip_y))
    except TraceError as error:
        raise error.within(label) from error
    except (AttributeError, TypeError) as error:
        cure = "it is called with traced scalars, law(depth, rate, (slip_x, slip_y)): use their operators and the "
        cure += "functions of pliant.math (exp, select, ...), not those of math and numpy"
        raise TraceError(f"{label}: {error}", subject=label, field="law", cure=cure) from error
    except Exception as error:
        error.add_note(f"while tracing {label}, called with depth, rate, (slip_x, slip_y)")
        raise
    forces = _forces(result)
    if forces is None or any(_is_no_number(f) for f in forces):
        cure = "it must return (normal, (friction_x, friction_y)), three scalars [N]"
        raise ContactError(f"{label}: it returned {result!r}", subject=label, field="law", cure=cure)
    return law


def _forces(result: Any) -> list[Scalar] | None:
    if not isinstance(result, tuple | list) or len(result) != 2:
        return None
    normal, friction = result
    try:
        pair = list(friction)
    except TypeError:
        return None
    return [normal, *pair] if len(pair) == 2 else None


def _is_no_number(force: Any) -> bool:
    if isinstance(force, Expr):
        return force.op in CONDITIONS
    return not is_constant(force) or isinstance(force, bool)


def _is_special(value: Any) -> bool:
    return isinstance(value, Expr) or hasattr(value, "free_symbols")
