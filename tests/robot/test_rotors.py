"""Rotors that spin on the link that carries their motor, against the same rotors as bodies with a joint."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import pliant
from pliant.errors import RobotError
from pliant.robot import Body, Joint, Limits, Mimic, Revolute, Robot, RobotBuilder
from pliant.robot.flexibilities import with_parts
from pliant.robot.model import Frame
from pliant.spatial import Inertia, Symmetric3, Transform, Vector
from random_robots import ONE_DOF, close, rate, robot_of, state_of
from simulated_robots import CART_POLE, QUADRUPED, started

KINDS = ("revolute", "continuous", "prismatic", "helical", "spherical", "fixed")


def explicit(robot: Robot) -> Robot:
    """The robot with each rotor as a body on a joint that mimics the motor's: M of a tree, no rotors in it."""
    made = robot
    for motor in robot.motors.values():
        base = robot.carrier(motor.joint)
        if base.parent == "world":
            continue
        axis = Vector(*(motor.rotor_axis or robot.joints[motor.joint].kind.axis))
        J = motor.rotor_inertia
        moments = [J * axis[i] * axis[j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
        own = Inertia(0, Vector.zero(), Symmetric3(*moments))
        turned = own.transformed(Transform(base.placement.R, Vector.zero()))
        carrier = made.bodies[base.parent]
        less = Symmetric3(*(a - b for a, b in zip(carrier.inertia.J, turned.J, strict=True)))
        name = f"{motor.name}_rotor"
        bodies = [b for b in made.bodies.values() if b is not carrier]
        bodies += [Body(carrier.name, Inertia(carrier.inertia.mass, carrier.inertia.h, less)), Body(name, own)]
        free = Limits((-np.inf,), (np.inf,), (np.inf,), (np.inf,))
        joint = Joint(
            name, Revolute(tuple(axis)), base.parent, name, base.placement, free, (0,), (0,), (0,),
            Mimic(motor.joint, motor.gear, 0),
        )  # fmt: skip
        frames = [*made.frames.values(), Frame(name, name, Transform.identity())]
        made = with_parts(made, bodies, [*made.joints.values(), joint], frames)
    return made.with_motors(rotor_inertia=0, gyroscopic=False)


@st.composite
def geared(draw: st.DrawFn) -> Robot:
    """A random robot with rotors on some of its joints, some of them flexible or on other axes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(2, 5))
    kinds = [str(rng.choice(KINDS)) for _ in range(count)]
    kinds[-1] = str(rng.choice(ONE_DOF))
    parents = [int(rng.integers(max(-1, k - 2), k)) for k in range(count)]
    robot = robot_of(kinds, parents, rng, mimic=bool(rng.random() < 0.4), floating=bool(rng.random() < 0.7))
    for name, joint in list(robot.joints.items()):
        if joint.kind.name not in ONE_DOF:
            continue
        axis = rng.standard_normal(3)
        axis = tuple((axis / np.linalg.norm(axis)).tolist())
        other = joint.kind.name == "prismatic" or rng.random() < 0.3
        robot = robot.with_motor(
            name, gear=float(rng.uniform(-20, 20)), rotor_inertia=float(rng.uniform(1e-4, 1e-3)), gyroscopic=True,
            rotor_axis=axis if other else None,
        )  # fmt: skip
        if joint.mimic is None and rng.random() < 0.4:
            stiffness = 10 if joint.kind.name == "prismatic" or rng.random() < 0.5 else (10, 20, 30)
            robot = robot.with_flexibility(name, stiffness=stiffness, inertia=0.02)
    return robot


@given(geared(), st.integers(0, 1000))
@settings(max_examples=50)
def test_the_same_as_rotors_with_joints_of_their_own(robot: Robot, seed: int):
    other = explicit(robot)
    assert other.nv == robot.nv and other.coordinate_names == robot.coordinate_names
    q, v, vd, tau = state_of(robot, seed).lists

    def both(function, *state, tolerance: float = 1e-12) -> None:
        mine, theirs = (function.algorithm(r, *state) for r in (robot, other))
        for a, b in zip(mine, theirs, strict=True) if isinstance(mine, tuple) else [(mine, theirs)]:
            close(a, b, tolerance)

    for function in (
        pliant.mass_matrix, pliant.dynamics.potential_energy, pliant.gravity_forces, pliant.center_of_mass,
    ):  # fmt: skip
        both(function, q)
    for function in (pliant.bias_forces, pliant.coriolis_matrix, pliant.dynamics.kinetic_energy):
        both(function, q, v, tolerance=1e-11)
    # a rotor on a link that never moves is not a body: its momentum is not counted
    if sum(link.is_rotor for link in robot.mechanism.links) == robot.nu:
        both(pliant.dynamics.centroidal_matrix, q)
        both(pliant.centroidal_momentum, q, v, tolerance=1e-11)
    both(pliant.inverse_dynamics, q, v, vd, tolerance=1e-11)
    both(pliant.dynamics.inverse_dynamics_derivatives, q, v, vd, tolerance=1e-11)
    # light bodies of random robots: M has condition numbers of 1e4 and more
    both(pliant.forward_dynamics, q, v, tau, tolerance=1e-8)


@given(geared(), st.integers(0, 1000))
@settings(max_examples=25)
def test_identities(robot: Robot, seed: int):
    """Power is the rate of energy, Mdot - 2 C is skew, momentum is A v, and dynamics undo each other."""
    state = state_of(robot, seed)
    q, v, vd, _ = state.lists
    tau = pliant.inverse_dynamics.algorithm(robot, q, v, vd)
    close(rate(lambda q, v: sum(pliant.energy.algorithm(robot, q, v)), robot, state), np.dot(tau, v), 1e-7)
    C = np.array(pliant.coriolis_matrix.algorithm(robot, q, v), float)
    g = np.array(pliant.gravity_forces.algorithm(robot, q), float)
    close(C @ v + g, pliant.bias_forces.algorithm(robot, q, v), 1e-11)
    skew = rate(lambda q, _: pliant.mass_matrix.algorithm(robot, q), robot, state) - 2 * C
    close(skew + skew.T, 0 * skew, 1e-7)
    close(pliant.forward_dynamics.algorithm(robot, q, v, tau), vd, 1e-8)


@given(geared(), st.integers(0, 1000))
@settings(max_examples=6)
def test_compiled_as_on_floats(robot: Robot, seed: int):
    q, v, _, tau = state_of(robot, seed)
    close(pliant.mass_matrix(robot, q), pliant.mass_matrix.algorithm(robot, q.tolist()), 1e-12)
    floats = pliant.forward_dynamics.algorithm(robot, q.tolist(), v.tolist(), tau.tolist())
    close(pliant.forward_dynamics(robot, q, v, tau), floats, 1e-8)


def test_without_gyroscopic_it_is_the_rotor_at_the_joint_only():
    robot, armature = QUADRUPED.with_motors(rotor_inertia=0.001, gear=7), QUADRUPED
    for name in QUADRUPED.motors:
        armature = armature.with_joint(name, armature=0.049)
    q, v, _, tau = state_of(robot, 3)
    close(pliant.mass_matrix(robot, q), pliant.mass_matrix(armature, q), 1e-13)
    close(pliant.forward_dynamics(robot, q, v, tau), pliant.forward_dynamics(armature, q, v, tau), 1e-11)


def test_on_a_link_that_never_turns_both_are_one():
    one = pliant.load("pendulum").with_motor("hinge", rotor_inertia=0.01, gear=5)
    both = one.with_motor("hinge", gyroscopic=True)
    assert all(not link.is_rotor for link in both.mechanism.links)
    close(pliant.mass_matrix(both, [0.3]), pliant.mass_matrix(one, [0.3]), 1e-15)
    close(pliant.bias_forces(both, [0.3], [2.0]), pliant.bias_forces(one, [0.3], [2.0]), 1e-14)


def test_two_parallel_hinges_by_hand():
    """Planar arm: the rotor of the elbow turns by q1 + n q2, so M = M0 + J [[0, n], [n, n^2]]."""
    arm = pliant.load("double_pendulum")
    J, n, q = 0.02, 6.0, [0.3, -0.7]
    robot = arm.with_motor("elbow", rotor_inertia=J, gear=n, gyroscopic=True)
    # J q1 of the spin is in the link's own inertia
    close(pliant.mass_matrix(robot, q) - pliant.mass_matrix(arm, q), J * np.array([[0, n], [n, n * n]]), 1e-13)


# ---- motion


SPINNING = [0.1, 0, -0.2, 0.3, 0.5, -0.4, 2]


def satellite(J: float = 0.05) -> Robot:
    builder = RobotBuilder("satellite").gravity(0, 0, 0)
    builder.body("hull", 3, (0.05, 0, 0.02), (0.4, 0.02, 0, 0.5, 0, 0.6))
    builder.body("wheel", 0.2, (0, 0, 0), (0.002, 0, 0, 0.002, 0, 0.004))
    builder.joint("spin", "revolute", "hull", "wheel", (0.1, 0, 0.1), (0.3, -0.2, 0), axis=(0, 0, 1))
    return builder.build(base="free").with_motor("spin", rotor_inertia=J, gear=3, gyroscopic=True)


def test_a_body_that_floats_reacts_to_its_rotor():
    """The torque of the motor is internal: momentum in the world is kept, and the hull turns the other way."""
    robot = satellite()
    sim = pliant.Simulation(robot, dt=1e-2, integrator="dormand-prince", rtol=1e-11, atol=1e-13)
    log = started(sim, v=SPINNING).run(2, u=[0.8])
    momentum = pliant.centroidal_momentum(robot, log.q, log.v)
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(log.t), 1)), atol=1e-10)
    assert abs(log.v[-1, 6] - SPINNING[6]) > 1
    # from rest, the hull starts against the rotor
    vd = pliant.forward_dynamics(robot, robot.neutral(), np.zeros(7), [0] * 6 + [1.0])
    assert vd[6] > 0 > vd[5]


def test_precession_of_a_gyrostat():
    """I w' = (I w + h) x w with the rotor's own h, whose joint is driven so as to keep it turning: Euler by hand."""
    I = np.diag([0.4, 0.5, 0.6])
    J, n, spin = 0.01, 10.0, 30.0
    builder = RobotBuilder("gyrostat").gravity(0, 0, 0)
    builder.body("hull", 3, (0, 0, 0), (0.4, 0, 0, 0.5, 0, 0.6))
    builder.body("shaft").joint("spin", "revolute", "hull", "shaft", axis=(0, 0.6, 0.8))
    robot = builder.build(base="free", strict=False)
    robot = robot.with_motor("spin", rotor_inertia=J, gear=n, gyroscopic=True)
    a = np.array([0, 0.6, 0.8])

    def rate(t, y):
        """No torque at the joint: J (n s' + a . w') = 0 with s the joint's speed."""
        w, s = y[:3], y[3]
        H = I @ w + J * n * s * a  # the rotor at rest on the hull is part of I
        M = np.block([[I, (J * n * a)[:, None]], [(J * n * a)[None], np.array([[J * n * n]])]])
        return np.linalg.solve(M, [*np.cross(H, w), 0])

    y0 = [0.5, 0.2, 1.0, spin / n]
    sim = pliant.Simulation(robot, dt=2e-2, integrator="dormand-prince", rtol=1e-10, atol=1e-12)
    log = started(sim, v=[0, 0, 0, *y0]).run(4)
    found = solve_ivp(rate, (0, 4), y0, method="DOP853", rtol=1e-12, atol=1e-13, t_eval=log.t).y.T
    np.testing.assert_allclose(log.v[:, 3:], found, atol=1e-8)
    assert np.ptp(found[:, 0]) > 0.1


@pytest.mark.parametrize("integrator", ["semi-implicit", "midpoint"])
def test_other_integrators_keep_momentum_too(integrator):
    robot = satellite()
    sim = started(pliant.Simulation(robot, dt=1e-3, integrator=integrator), v=SPINNING)
    log = sim.run(1, u=[0.8], channels=("q", "v"))
    momentum = pliant.centroidal_momentum(robot, log.q, log.v)
    # the default step has first order; the rule of the midpoint, second
    bound = {"semi-implicit": 2e-3, "midpoint": 1e-6}[integrator]
    np.testing.assert_allclose(momentum[-1], momentum[0], atol=bound)


# ---- bad input


@pytest.mark.parametrize(("values", "message"), [
    ({"rotor_axis": (0, 0, 2)}, "rotor_axis of motor 'spin' has length 2; give a unit vector"),
    ({"rotor_axis": (0, 1)}, "rotor_axis of motor 'spin' has 2 entries; it takes three"),
    ({"rotor_axis": 3}, "rotor_axis of motor 'spin' is 3; it takes three numbers"),
    ({"rotor_axis": (0, 0, float("nan"))}, "rotor_axis of motor 'spin' is nan; it takes a finite number"),
])  # fmt: skip
def test_bad_rotors(values, message):
    with pytest.raises(RobotError, match=message):
        satellite().with_motor("spin", **values)


def gyrostat(moments, rotor_inertia, axis=(0, 0, 1), **body) -> Robot:
    builder = RobotBuilder("gyrostat").body("hull", **({"mass": 1, "inertia": moments} | body))
    builder.body("arm", 1, (0.1, 0, 0), (0.1, 0, 0, 0.1, 0, 0.1)).joint("spin", "revolute", "hull", "arm", axis=axis)
    motor = {"rotor_inertia": rotor_inertia, "gyroscopic": True, "gear": 10}
    return builder.build(base="free").with_motor("spin", **motor)


def test_a_rotor_with_more_inertia_than_its_link():
    """Of a link that floats, what is left has no negative moment as long as J a^T I^-1 a <= 1; M is its witness."""
    slanted = (np.array([0.6, 0, 0.8]), (0.3, 0, 0, 0.25, 0, 0.2))
    for axis, moments in (slanted, (np.array([0.0, 0, 1]), (0.3, 0, 0, 0.25, 0, 0.2))):
        most = 1 / (axis**2 / np.array(moments)[[0, 3, 5]]).sum()
        robot = gyrostat(moments, 0.999 * most, axis)
        assert np.linalg.eigvalsh(pliant.mass_matrix(robot, robot.neutral())).min() > 0
        with pytest.raises(RobotError, match=rf"motor 'spin' has .*body 'hull' .* has {most:.4g} kg m\^2 about"):
            _ = gyrostat(moments, 1.001 * most, axis).mechanism
    # a second rotor takes from what the first one has left
    robot = gyrostat((0.3, 0, 0, 0.25, 0, 0.2), 0.15)
    with pytest.raises(RobotError, match=r"motor 'second' has 0.1 .*has 0.05 kg m\^2"):
        _ = robot.with_motor("spin", name="second", rotor_inertia=0.1, gyroscopic=True).mechanism


def test_rotors_of_links_without_extent_are_tolerated():
    """Points, rods and links without mass: with no inertia about the axis, none of it can be the rotor's."""
    for values in ({}, {"mass": 0}, {"com": (0.3, 0.1, 0.2)}, {"com": (0.3, 0, 0), "inertia": (0.1, 0, 0, 0.1, 0, 0)}):
        _ = gyrostat((0,) * 6, 0.01, **values).mechanism


def test_a_slide_needs_the_axis_of_its_rotor():
    with pytest.raises(RobotError, match=r"is gyroscopic on a prismatic joint; .*rotor_axis="):
        CART_POLE.with_motor("slider", gyroscopic=True)
    CART_POLE.with_motor("slider", gyroscopic=True, rotor_axis=(0, 1, 0))
