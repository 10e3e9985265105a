"""The equations of motion from the Jacobians of the bodies: a second route to M, b and g."""

from typing import Any, NamedTuple

from pliant.dynamics.functions import robot_function
from pliant.dynamics.kinematics import link_poses, path_to
from pliant.robot import Link, Robot
from pliant.scalar import Scalar, Scalars, is_constant
from pliant.spatial import MatrixRotation, Symmetric3, Transform, Vector


class ProjectedEquations(NamedTuple):
    """M vd + b + g = tau.

    Attributes:
        M: mass matrix, nv x nv, rotor inertia included.
        b: Coriolis and centrifugal forces, nv.
        g: gravity forces, nv.
    """

    M: Any
    b: Any
    g: Any


@robot_function
def projected_newton_euler(robot: Robot, q: Scalars, v: Scalars) -> ProjectedEquations:
    """M, b and g of the equations of motion M vd + b + g = tau, by projected Newton-Euler.

    With J_S the Jacobian of the centre of mass of body i, J_R that of its turning, Theta its tensor about
    that centre and Omega its angular velocity (all in world axes),

        M = sum_i J_S^T m J_S + J_R^T Theta J_R
        b = sum_i J_S^T m Jdot_S v + J_R^T (Theta Jdot_R v + Omega x Theta Omega)
        g = -sum_i J_S^T m gravity.

    It takes more operations than `mass_matrix` and `bias_forces`, and shares none with them.
    """
    mechanism, nv = robot.mechanism, robot.nv
    M: list[list[Scalar]] = [[0] * nv for _ in range(nv)]
    b: list[Scalar] = [0] * nv
    g: list[Scalar] = [0] * nv
    for d, arm in enumerate(mechanism.armature):
        M[d][d] = arm
    for (d, e), arm in mechanism.couplings.items():
        M[d][e] = M[d][e] + arm
        M[e][d] = M[d][e]
    axes = _joint_axes(robot, q, v)
    X_WB = link_poses(mechanism, q)
    for link in mechanism.links:
        body = _centered(link, X_WB[link.index])
        columns = [c for k in path_to(mechanism, link.index) for c in _columns(axes[k.index], body.center)]
        # the velocity and the accelerations left over for vd = 0
        Omega = sum((c.J_R * v[c.d] for c in columns), Vector.zero())
        sdot = sum((c.J_S * v[c.d] for c in columns), Vector.zero())
        rates = [c.rates(sdot) for c in columns]
        Jdot_S_v = sum((J_S * v[c.d] for c, (J_S, _) in zip(columns, rates, strict=True)), Vector.zero())
        Jdot_R_v = sum((J_R * v[c.d] for c, (_, J_R) in zip(columns, rates, strict=True)), Vector.zero())
        force = Jdot_S_v * body.mass
        moment = body.Theta @ Jdot_R_v + Omega.cross(body.Theta @ Omega)
        weight = robot.gravity * body.mass
        # onto the dofs
        for n, c in enumerate(columns):
            b[c.d] = b[c.d] + c.J_S.dot(force) + c.J_R.dot(moment)
            g[c.d] = g[c.d] - c.J_S.dot(weight)
            linear, angular = c.J_S * body.mass, body.Theta @ c.J_R
            M[c.d][c.d] = M[c.d][c.d] + c.J_S.dot(linear) + c.J_R.dot(angular)
            for k in columns[:n]:
                entry = k.J_S.dot(linear) + k.J_R.dot(angular)
                M[k.d][c.d] = M[k.d][c.d] + entry
                M[c.d][k.d] = M[c.d][k.d] + entry
    return ProjectedEquations(M, b, g)


class _Body(NamedTuple):
    """Mass, centre of mass and tensor about it of one link, in world axes."""

    mass: Scalar
    center: Vector
    Theta: Symmetric3


class _Axis(NamedTuple):
    """A dof's directions of sliding and turning, with the motion of the link that carries them; world axes."""

    d: int
    slide: Vector
    turn: Vector
    origin: Vector
    w: Vector
    origin_rate: Vector


class _Column(NamedTuple):
    """Column d of J_S and J_R of a body, and what its rate depends on."""

    d: int
    J_S: Vector
    J_R: Vector
    axis: _Axis
    arm: Vector

    def rates(self, sdot: Vector) -> tuple[Vector, Vector]:
        """The columns of Jdot_S and Jdot_R, for a centre of mass that moves with ``sdot``."""
        axis = self.axis
        slide, turn = axis.w.cross(axis.slide), axis.w.cross(axis.turn)
        return slide + turn.cross(self.arm) + axis.turn.cross(sdot - axis.origin_rate), turn


def _columns(axes: list[_Axis], center: Vector) -> list[_Column]:
    found = []
    for axis in axes:
        arm = center - axis.origin
        found.append(_Column(axis.d, axis.slide + axis.turn.cross(arm), axis.turn, axis, arm))
    return found


def _joint_axes(robot: Robot, q: Scalars, v: Scalars) -> list[list[_Axis]]:
    """The axes of every link's joint, and how the link moves: outward, in world axes."""
    axes: list[list[_Axis]] = []
    poses = link_poses(robot.mechanism, q)
    for link, X_WB in zip(robot.mechanism.links, poses, strict=True):
        w, origin_rate = Vector.zero(), Vector.zero()
        if link.parent >= 0:
            parent, p_WP = axes[link.parent][0], poses[link.parent].p
            w, origin_rate = parent.w, parent.origin_rate + parent.w.cross(X_WB.p - p_WP)
        turned = [(X_WB.R.rotate(S.linear), X_WB.R.rotate(S.angular)) for S in link.kind.columns]
        for (slide, turn), rate in zip(turned, link.rate(v), strict=True):
            w, origin_rate = w + turn * rate, origin_rate + slide * rate
        axes.append(
            [
                _Axis(d, slide * link.ratio, turn * link.ratio, X_WB.p, w, origin_rate)
                for d, (slide, turn) in zip(link.dofs, turned, strict=True)
            ]
        )
    return axes


def _centered(link: Link, X_WB: Transform) -> _Body:
    I = link.inertia
    massless = is_constant(I.mass) and I.mass == 0
    c = Vector.zero() if massless else Vector(*(e / I.mass for e in I.h))
    about_center = I.transformed(Transform(MatrixRotation.identity(), -c)).J
    return _Body(I.mass, X_WB.transform_point(c), X_WB.R.conjugate_symmetric(about_center))
