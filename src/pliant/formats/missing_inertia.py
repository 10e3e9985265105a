"""Bodies that move and weigh nothing although they have collision shapes: reported, or estimated from these.

A solid of uniform density rho has the mass rho V, and moments by the usual formulas; a mesh counts with the volume that
its triangles enclose, and without that with its box. Shapes of one body are added as they are: where they overlap, the
overlap counts twice.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pliant.errors import PliantError
from pliant.robot import Finding, Fixed, Geometry, Named, Robot
from pliant.robot.mechanism import keepers
from pliant.scalar import is_constant
from pliant.spatial import Inertia, MatrixRotation, Symmetric3, Transform, Vector

DENSITY = 1000.0
"""That of water [kg/m^3], near that of most machines with their hollows."""


def with_estimates(robot: Robot, *, repair: bool, density: float = DENSITY) -> tuple[Robot, list[Finding]]:
    """The robot, and findings about rigid parts that move, have collision shapes, and weigh nothing.

    Args:
        repair: estimate their inertias from the shapes.
        density: for that [kg/m^3].
    """
    findings, bodies = [], dict(robot.bodies)
    for name in _weightless(robot):
        body, subject = robot.bodies[name], f"body {name!r}"
        found, unread = shapes_inertia(body.collisions, density)
        if not repair:
            message = "it moves and has collision shapes, but no inertia: it weighs nothing; repair=True estimates it"
            findings.append(Finding("odd", subject, message))
        elif found is None:
            message = f"it moves and has collision shapes, but no inertia, which these do not give ({unread})"
            findings.append(Finding("odd", subject, message))
        else:
            mass = f"{float(found.mass):.3g} kg"
            message = f"it had no inertia: {mass}, from its collision shapes at {density:g} kg/m^3"
            findings.append(Finding("repaired", subject, message + (f"; not counted: {unread}" if unread else "")))
            bodies[name] = replace(body, inertia=found)
    return replace(robot, bodies=Named("body", bodies.values(), robot.bodies.owner)), findings


def _weightless(robot: Robot) -> Iterator[str]:
    """Bodies with collision shapes in rigid parts that move and have no inertia at all."""
    keeper = {body: kept for body, (kept, _) in keepers(robot).items()}
    heavy = {keeper[body.name] for body in robot.bodies.values() if body.has_inertia}
    for joint in robot.joints.values():
        body = robot.bodies[joint.child]
        is_still = all(isinstance(j.kind, Fixed) for j in robot.path(body.name))
        if body.collisions and keeper[body.name] not in heavy and not is_still:
            yield body.name


def shapes_inertia(shapes: tuple[Geometry, ...], density: float) -> tuple[Inertia | None, str]:
    """The inertia of solid shapes in the frame of their body, None if there is none; and what could not be read."""
    total, unread = Inertia.zero(), []
    for shape in shapes:
        try:
            found = _solid(shape, density)
        except PliantError as error:
            unread.append(str(error))
            continue
        if not all(math.isfinite(x) for x in (found.mass, *found.h, *found.J)):
            unread.append(f"a {shape.kind} whose mass or inertia is beyond all numbers")
        else:
            total += found.transformed(shape.placement)
    is_some = is_constant(total.mass) and total.mass > 0
    return (total if is_some else None), "; ".join(unread)


def _solid(shape: Geometry, density: float) -> Inertia:
    """The inertia of a solid shape in its own frame."""
    size = [float(x) for x in shape.size]
    if shape.kind == "mesh":
        return _mesh(shape, density)
    if min(size) <= 0:
        return Inertia.zero()
    if shape.kind == "box":
        x, y, z = size
        mass = density * x * y * z
        moments = [mass / 12 * (a * a + b * b) for a, b in ((y, z), (x, z), (x, y))]
    elif shape.kind == "sphere":
        (r,) = size
        mass = density * 4 / 3 * math.pi * r * r * r
        moments = [0.4 * mass * r * r] * 3
    else:
        r, length = size
        rod, ball = density * math.pi * r * r * length, 0.0
        across = rod * (r * r / 4 + length * length / 12)
        along = rod * r * r / 2
        if shape.kind == "capsule":  # two half balls, whose centres are 3 r / 8 from their flat sides
            ball = density * 4 / 3 * math.pi * r * r * r
            along += 0.4 * ball * r * r
            across += ball * (0.4 * r * r + length * length / 4 + 3 * length * r / 8)
        mass, moments = rod + ball, [across, across, along]
    return Inertia.from_com(mass, Vector.zero(), Symmetric3(moments[0], 0, 0, moments[1], 0, moments[2]))


def _mesh(shape: Geometry, density: float) -> Inertia:
    """The inertia of the solid that a mesh encloses: the sum over the tetrahedra of its triangles with the origin.

    Of corners a, b, c: V = det(a b c) / 6, the first moment is V s / 4 with s = a + b + c, and the second moment
    V (s s^T + a a^T + b b^T + c c^T) / 20.
    """
    if shape.mesh is None:
        return Inertia.zero()
    scale = np.array(shape.scale, dtype=float)
    surfaces = getattr(shape.mesh, "surfaces", tuple)
    triangles = [s.points[s.faces] for s in surfaces()]
    corners = np.concatenate([np.zeros((0, 3, 3)), *triangles]) * scale
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    V, s = np.einsum("ni,ni->n", a, np.cross(b, c)) / 6, a + b + c
    volume, box = float(V.sum()), np.ptp(shape.mesh.points() * scale, axis=0)
    # a surface that does not enclose the volume, or is inside out, gives next to nothing or a negative one
    if not 1e-3 * box.prod() < abs(volume) <= box.prod() * 1.001:
        centre = Transform(MatrixRotation.identity(), Vector(*map(float, _middle(shape))))
        solid = Geometry("box", tuple(map(float, box)))
        return _solid(solid, density).transformed(centre)
    sign = math.copysign(density, volume)
    second = sum(np.einsum("n,ni,nj->ij", V, x, x) for x in (s, a, b, c)) / 20 * sign
    first = (V[:, None] * s).sum(axis=0) / 4 * sign
    J = np.trace(second) * np.eye(3) - second
    entries = [float(J[i, j]) for i in range(3) for j in range(i, 3)]
    return Inertia(abs(volume) * density, Vector(*map(float, first)), Symmetric3(*entries))


def _middle(shape: Geometry) -> np.ndarray:
    """The middle of the box around a mesh, scaled."""
    assert shape.mesh is not None
    points = shape.mesh.points() * np.array(shape.scale, dtype=float)
    return (points.min(axis=0) + points.max(axis=0)) / 2
