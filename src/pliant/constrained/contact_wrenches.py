"""Sums of contact forces: the wrench of a foot, its centre of pressure, and how far friction reaches.

Forces f are along the rows of `contact_jacobian`, as `constrained_dynamics` and `static_torques` give them. All that
is returned is in world axes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pliant.checks import check, check_friction
from pliant.constrained.constraints import Constraint, Contacts, held_constraints, row_count
from pliant.dynamics.functions import robot_function_of
from pliant.dynamics.kinematics import link_poses
from pliant.errors import ContactError
from pliant.robot import Robot
from pliant.scalar import Scalar, Scalars, is_constant, sqrt
from pliant.spatial import Vector

_UP = (0, 0, 1)


class _Push(NamedTuple):
    """Force and moment of the world on the robot at a contact, in world axes."""

    contact: Constraint
    p: Vector
    force: Vector
    moment: Vector


def _rows(robot: Robot, options: Mapping[str, Any]) -> tuple[int, ...]:
    return (row_count(robot, options.get("contacts", ())),)


@robot_function_of(f=_rows)
def contact_wrench(
    robot: Robot, q: Scalars, f: Scalars, *, contacts: Contacts, axes: str = "world", body: str | None = None,
    about: str | None = None,
) -> list[Scalar]:  # fmt: skip
    """The sum of contact forces: force, then moment about a point, 6 [N, N m], in world axes.

    Args:
        q: configuration, nq [rad or m].
        f: forces at the contacts, m [N or N m].
        contacts, axes: as for `contact_jacobian`; closures do not count, since they push both sides.
        body: whose contacts count, with those of bodies fixed to it; None for all.
        about: frame at whose origin moments are taken; None for the body, or the world's origin without one.
    """
    i, X = robot.mechanism.frame(about or body or "world")
    origin = link_poses(robot.mechanism, q)[i].transform_point(X.p) if i >= 0 else X.p
    force, moment = Vector.zero(), Vector.zero()
    for push in _pushes(robot, q, f, contacts, axes, body):
        force = force + push.force
        moment = moment + push.moment + (push.p - origin).cross(push.force)
    return [*force, *moment]


@robot_function_of(f=_rows)
def center_of_pressure(
    robot: Robot, q: Scalars, f: Scalars, *, contacts: Contacts, axes: str = "world", body: str | None = None,
    normal: tuple[float, float, float] = _UP,
) -> list[Scalar]:  # fmt: skip
    """Where one normal force would replace those of all contacts, 3 [m], in the world.

    p = sum_i (f_n,i p_i + n x m_i) / sum_i f_n,i, with p_i the places of the contacts, f_n,i = n . f_i and m_i their
    moments. If contacts are in one plane across n, the moment of all of them about p has no part in the plane, and p is
    between them unless one pulls. Where nothing pushes, as with f = 0, it is not a number (NaN).

    Args:
        q: configuration, nq [rad or m].
        f: forces at the contacts, m [N or N m].
        contacts, axes, body: as for `contact_wrench`; one of them at least holds a direction along the normal.
        normal: of the plane, a unit vector.
    """
    n = _unit(normal)
    pushes = _pushes(robot, q, f, contacts, axes, body)
    if not any(_can_press(push.contact, axes, n) for push in pushes):
        raise _no_normal("center_of_pressure", pushes[0].contact, axes, n)
    total: Scalar = 0
    weighted = Vector.zero()
    for push in pushes:
        pressing = n.dot(push.force)
        total = total + pressing
        weighted = weighted + push.p * pressing + n.cross(push.moment)
    return list(weighted * (1 / total))


@robot_function_of(f=_rows)
def friction_margins(
    robot: Robot, q: Scalars, f: Scalars, *, contacts: Contacts, friction: float | Sequence[float],
    axes: str = "world", normal: tuple[float, float, float] = _UP,
) -> list[Scalar]:  # fmt: skip
    """How much more force along the ground each contact could bear: mu f_n - |f_t|, one for each contact [N].

    Negative where a contact would slide, or would have to pull.

    Args:
        q: configuration, nq [rad or m].
        f: forces at the contacts, m [N or N m].
        contacts, axes: as for `contact_jacobian`; each holds a direction along the normal. Closures have no margin
            and are left out.
        friction: coefficient mu, one for all or one for each.
        normal: of the ground, a unit vector.
    """
    n = _unit(normal)
    pushes = _pushes(robot, q, f, contacts, axes, None)
    for push in pushes:
        if not _can_press(push.contact, axes, n):
            raise _no_normal("friction_margins", push.contact, axes, n)
    mu = friction if isinstance(friction, tuple | list) else (friction,) * len(pushes)
    if len(mu) != len(pushes):
        problem = f"friction_margins: {len(mu)} coefficients for {len(pushes)} contacts"
        raise ContactError(problem, subject="friction_margins", field="friction", cure="give one for each")
    for value in mu:
        check_friction("friction_margins", value)
    margins = []
    for push, most in zip(pushes, mu, strict=True):
        pressing = n.dot(push.force)
        along = push.force - n * pressing
        margins.append(most * pressing - sqrt(along.dot(along)))
    return margins


def _can_press(c: Constraint, axes: str, n: Vector) -> bool:
    """Whether a contact may push along n; in its own axes that depends on q, and any direction of moving may."""
    parts = list(n)
    return any(k < 3 and (axes == "local" or not is_constant(parts[k]) or parts[k] != 0) for k in c.directions)


def _no_normal(owner: str, c: Constraint, axes: str, n: Vector) -> ContactError:
    parts = [abs(x) if is_constant(x) else 0 for x in n]
    missing = "xyz" if axes == "local" else "xyz"[parts.index(max(parts))]
    problem = f"{owner}: contact {c.name!r} is not held along the normal {tuple(n)}, so that nothing presses"
    return ContactError(problem, subject=f"contact {c.name!r}", field="contacts", cure=f"hold {missing!r}, too")


def _pushes(robot: Robot, q: Scalars, f: Scalars, contacts: Contacts, axes: str, body: str | None) -> list[_Push]:
    """The contacts of a body as forces in the world; directions that are not held have none."""
    wanted = None if body is None else robot.mechanism.body(body)[0]
    poses = link_poses(robot.mechanism, q)
    pushes: list[_Push] = []
    left = iter(f)
    for held in held_constraints(robot, q, contacts, axes):
        c, parts = held.constraint, [Vector.zero(), Vector.zero()]
        own = [next(left) for _ in c.directions]
        if c.is_closure or wanted not in (None, c.a):
            continue
        for k, entry in zip(c.directions, own, strict=True):
            parts[k // 3] = parts[k // 3] + held.axes[k % 3] * entry
        pushes.append(_Push(c, poses[c.a].transform_point(c.X_a.p), *parts))
    if not pushes:
        where = f"body {body!r}" if body else "a frame"
        raise ContactError(f"none of the contacts {contacts!r} is on {where}", subject=where, field="contacts")
    return pushes


def _unit(normal: Scalars) -> Vector:
    check("normal", normal, "three entries, as (0, 0, 1)", len(normal) == 3, error=ContactError)
    n = Vector(*normal)
    size = n.dot(n)
    if is_constant(size) and abs(size - 1) > 1e-9:
        problem = f"normal {tuple(normal)} has the length {size**0.5:.4g}"
        raise ContactError(problem, field="normal", cure="it must be 1")
    return n
