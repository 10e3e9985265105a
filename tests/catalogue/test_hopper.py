"""The shipped robot that hops, and in flight: the formulas of its document, and what flight conserves."""

import math

import numpy as np
import pytest
import sympy

import pliant
from pliant.robot import Robot

COORDINATES = ("th1", "th2", "th3", "th4", "th6", "d7")
NAMES = ("Ixx", "Iyy", "Izz", "m2", "l2")
q = sympy.symbols(COORDINATES, real=True)
v = sympy.symbols("v1:7", real=True)
Ixx, Iyy, Izz, m2, l2 = numbers = [sympy.Symbol(name, positive=True) for name in NAMES]
_, (S2, S3, S4, S6), (C2, C3, C4, C6) = q, *([f(x) for x in q[1:5]] for f in (sympy.sin, sympy.cos))
L = (q[5] + l2) ** 2

# V. Hui (2018), Hopping Robot Document, 2.2.2: the entries of M that it prints
A = C4 * S2 * S6 - C2 * C6 * S3 + C2 * C3 * S4 * S6
B = S2 * S4 - C2 * C3 * C4
D = C3 * C6 + S3 * S4 * S6
PRINTED = {
    "M11": S2 * (Izz * S2 + m2 * S4 * L * B + m2 * C4 * S6 * L * A)
    + C2 * (
        S3 * (Iyy * C2 * S3 - m2 * C6 * L * A)
        + C3 * (Ixx * C2 * C3 - m2 * C4 * L * B + m2 * S4 * S6 * L * A)
    ),
    "M12": C2 * (C3 * (Ixx * S3 + m2 * C4**2 * S3 * L + m2 * S4 * S6 * L * D) - S3 * (Iyy * C3 + m2 * C6 * L * D))
    + m2 * C4 * C6 * S2 * L * (C3 * S6 - C6 * S3 * S4),
    "M13": S2 * (Izz + m2 * S4**2 * L + m2 * C4**2 * S6**2 * L) - m2 * C2 * C4 * C6 * L * (S3 * S6 + C3 * C6 * S4),
    "M14": m2 * C6 * L * A,
}  # fmt: skip


@pytest.fixture(scope="module")
def symbolic() -> sympy.Matrix:
    """M as formulas."""
    return sympy.Matrix(pliant.mass_matrix(pliant.catalogue.hopper_flight(symbols=True), list(q)))


@pytest.fixture(scope="module")
def robot() -> Robot:
    return pliant.load("hopper_flight")


@pytest.fixture(scope="module")
def hopper() -> Robot:
    return pliant.load("hopper")


def states(robot: Robot, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return robot.random(seed, batch=count), np.random.default_rng(seed).standard_normal((count, robot.nv))


# ---- the document


@pytest.mark.parametrize("entry", PRINTED)
def test_printed_entries_of_the_mass_matrix(symbolic: sympy.Matrix, entry: str) -> None:
    found, printed = symbolic[0, int(entry[2]) - 1], PRINTED[entry]
    # polynomials in sines and cosines, equal modulo s^2 + c^2 = 1: the difference is zero, not just small
    s, c = sympy.symbols("s2 s3 s4 s6"), sympy.symbols("c2 c3 c4 c6")
    names = dict(zip([S2, S3, S4, S6, C2, C3, C4, C6], [*s, *c], strict=True))
    circles = [x**2 + y**2 - 1 for x, y in zip(s, c, strict=True)]
    difference = sympy.expand((found - printed).subs(names))
    assert sympy.reduced(difference, circles, *c, *s, q[5], *numbers)[1] == 0


def test_printed_entries_at_many_points(robot: Robot) -> None:
    values = [0.16, 0.2, 0.12, 0.8, 0.5]
    formulas = sympy.lambdify([*q, *numbers], list(PRINTED.values()))
    points, _ = states(robot, 200, 1)
    M = pliant.mass_matrix(robot, points)
    for row, found in zip(points, M, strict=True):
        # the entries are below one: some ten operations of 1e-16
        np.testing.assert_allclose(found[0, :4], formulas(*row, *values), rtol=0, atol=1e-14)


def test_all_entries_of_the_coriolis_matrix_are_christoffel_symbols(symbolic: sympy.Matrix) -> None:
    """C_ij = 1/2 sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_kj/dq_i) v_k, the document's (3)."""
    rates = [symbolic.diff(x) for x in q]  # rates[k][i, j] = dM_ij/dq_k
    C = sympy.Matrix(
        6, 6,
        lambda i, j: sum((rates[k][i, j] + rates[j][i, k] - rates[i][k, j]) * v[k] for k in range(6)) / 2,
    )  # fmt: skip
    Mdot_formula = sum((rates[k] * v[k] for k in range(6)), sympy.zeros(6))
    formula = sympy.lambdify([*q, *v, *numbers], [symbolic, C, Mdot_formula], cse=True)
    rng = np.random.default_rng(2)
    for seed in range(20):
        given = dict(zip(NAMES, rng.uniform(0.6, 1.1, 5).tolist(), strict=True))
        robot = pliant.catalogue.hopper_flight(**given)
        x, rate = rng.uniform(-3, 3, 6), rng.uniform(-3, 3, 6)
        M, expected, Mdot = formula(*x, *rate, *given.values())
        # rounding of some hundred operations on numbers up to a hundred
        tolerance = 1e-12 * max(1, abs(np.array(expected)).max())
        np.testing.assert_allclose(pliant.mass_matrix.algorithm(robot, x.tolist()), M, rtol=0, atol=tolerance)
        found = np.array(pliant.coriolis_matrix.algorithm(robot, x.tolist(), rate.tolist()), dtype=float)
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance, err_msg=str(seed))
        skew = Mdot - 2 * found
        np.testing.assert_allclose(skew + skew.T, 0, atol=tolerance)
        bias = pliant.bias_forces.algorithm(robot, x.tolist(), rate.tolist())
        np.testing.assert_allclose(found @ rate, bias, atol=10 * tolerance)


def test_joint_torques_are_linear_in_accelerations(symbolic: sympy.Matrix) -> None:
    """M_ij = d tau_i / d vd_j, of recursive Newton-Euler, as the document derives it."""
    robot = pliant.catalogue.hopper_flight(symbols=True)
    vd = sympy.symbols("vd1:7")
    tau = pliant.inverse_dynamics(robot, list(q), list(v), list(vd))
    formula = sympy.lambdify([*q, *v, *numbers], [sympy.Matrix(list(tau)).jacobian(vd), symbolic], cse=True)
    rng = np.random.default_rng(3)
    for _ in range(5):
        derivative, M = formula(*rng.uniform(-2, 2, 12), *rng.uniform(0.1, 2, 5))
        np.testing.assert_allclose(derivative, M, rtol=0, atol=1e-12)


def test_no_gravity_in_the_falling_frame(robot: Robot) -> None:
    points, _ = states(robot, 10, 4)
    assert not pliant.gravity_forces(robot, points).any()
    assert pliant.gravity_forces(pliant.catalogue.hopper_flight(symbols=True), list(q)).tolist() == [0] * 6


def test_mass_matrix_is_singular_where_angles_are_no_chart_only(robot: Robot) -> None:
    """det M = (Ixx Iyy Izz m2^3) (C2 C6 (d7 + l2)^2)^2: from the volume that each of the two triples spans."""
    points, _ = states(robot, 50, 5)
    det = np.linalg.det(pliant.mass_matrix(robot, points))
    c2, c6, length = np.cos(points[:, 1]), np.cos(points[:, 4]), points[:, 5] + 0.5
    expected = 0.16 * 0.2 * 0.12 * 0.8**3 * (c2 * c6 * length**2) ** 2
    np.testing.assert_allclose(det, expected, rtol=1e-9, atol=1e-18)


# ---- flight


def momentum_about_the_hip(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Angular momentum about the origin of the world: that about the centre of mass, and c x p."""
    h = pliant.centroidal_momentum(robot, q, v)
    return h[..., 3:] + np.cross(pliant.center_of_mass(robot, q), h[..., :3])


START = np.array([0.2, -0.3, 0.4, 0.3, -0.2, 0.05]), np.array([0.5, 0.8, -0.6, 0.4, 0.7, -0.1])


def test_flight_keeps_angular_momentum_and_energy(robot: Robot) -> None:
    sim = pliant.Simulation(robot, dt=0.01, integrator="dormand-prince", rtol=1e-11, atol=1e-13, limits=False)
    sim.reset(*START)
    before, energy = momentum_about_the_hip(robot, *START), pliant.dynamics.kinetic_energy(robot, *START)
    log = sim.run(1.0)
    assert np.ptp(log.q[:, 0]) > 0.2, "it has turned"
    # a hundred periods or so of 1e-11 each
    np.testing.assert_allclose(momentum_about_the_hip(robot, sim.q, sim.v), before, atol=1e-9)
    assert pliant.dynamics.kinetic_energy(robot, sim.q, sim.v) == pytest.approx(energy, abs=1e-9)
    # a leg that weighs nothing and is not driven does nothing: the foot flies straight on
    foot = pliant.frame_pose(robot, log.q, "foot")[:, :3, 3]
    first = pliant.frame_pose(robot, START[0], "foot")[:3, 3]
    rate = pliant.frame_velocity(robot, *START, "foot", reference="local_world_aligned")[:3]
    np.testing.assert_allclose(foot, first + np.outer(log.t, rate), atol=1e-9)


def test_motors_of_the_leg_cannot_change_the_angular_momentum(robot: Robot) -> None:
    """A robot at rest swings its leg: the body turns the other way, and angular momentum about the hip stays zero."""
    sim = pliant.Simulation(robot, dt=0.01, integrator="dormand-prince", rtol=1e-11, atol=1e-13, limits=False)
    sim.reset(START[0], np.zeros(6))
    for k in range(50):
        sim.step(np.array([2, -1.5, 5]) * math.cos(0.2 * k))
    assert abs(sim.v).max() > 0.1
    assert abs(sim.q - START[0])[:3].max() > 0.05, "the body has turned"
    np.testing.assert_allclose(momentum_about_the_hip(robot, sim.q, sim.v), 0, atol=1e-9)
    # not so the linear momentum: a force holds the hip
    assert abs(pliant.centroidal_momentum(robot, sim.q, sim.v)[:3]).max() > 0.01


def test_midpoint_keeps_it_too(robot: Robot) -> None:
    """To the order of the method: a step of a third of the size leaves a ninth of the error."""
    before, errors = momentum_about_the_hip(robot, *START), []
    for dt in (3e-3, 1e-3):
        sim = pliant.Simulation(robot, dt=dt, integrator="midpoint", limits=False)
        sim.reset(*START)
        sim.run(0.3)
        errors.append(abs(momentum_about_the_hip(robot, sim.q, sim.v) - before).max())
    assert errors[0] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(9, rel=0.2)


def floating(body: float, foot: float, **values: float) -> Robot:
    """The same robot with a body of some mass on three slides: nothing holds its hip."""
    right = math.pi / 2
    slides = [{"joint": "prismatic"}, *[{"alpha": -right, "theta": -right, "joint": "prismatic"}] * 2]
    inertia = (values["Ixx"], values["Iyy"], values["Izz"])
    rows = [
        {}, {"alpha": -right, "theta": right}, {"alpha": -right, "mass": body, "inertia": inertia}, {"alpha": right},
        {"alpha": -right, "theta": -right, "joint": "fixed"}, {"alpha": right},
        {"alpha": -right, "d": values["l2"], "joint": "prismatic", "mass": foot},
    ]  # fmt: skip
    return pliant.from_dh([*slides, *rows], gravity=(0, 0, -9.81))


def test_a_floating_robot_is_this_one_with_the_reduced_mass() -> None:
    """What is left of M when the hip moves freely, M_rr - M_rt M_tt^-1 M_tr, is M with m2 = m m_foot / (m + m_foot)."""
    values = {"Ixx": 0.3, "Iyy": 0.4, "Izz": 0.25, "l2": 0.6}
    body, foot = 4.0, 1.5
    free = floating(body, foot, **values)
    held = pliant.catalogue.hopper_flight(m2=body * foot / (body + foot), **values)
    points, rates = states(held, 30, 6)
    where = np.random.default_rng(7).uniform(-1, 1, (30, 3))
    M = pliant.mass_matrix(free, np.hstack([where, points]))
    left = M[:, 3:, 3:] - M[:, 3:, :3] @ np.linalg.solve(M[:, :3, :3], M[:, :3, 3:])
    np.testing.assert_allclose(left, pliant.mass_matrix(held, points), rtol=0, atol=1e-14)
    # so internal accelerations are the same, too, whatever the fall, the gravity and the torques of the leg
    tau = np.hstack([np.zeros((30, 3)), np.random.default_rng(8).standard_normal((30, 3))])
    state = np.hstack([where, points]), np.hstack([where, rates]), np.hstack([np.zeros((30, 3)), tau])
    falling = pliant.forward_dynamics(free, *state)
    expected = pliant.forward_dynamics(held, points, rates, tau)
    # away from C2 = 0, where angles are no chart
    fine = abs(np.cos(points[:, 1])) > 0.2
    np.testing.assert_allclose(falling[fine, 3:], expected[fine], rtol=1e-10, atol=1e-10)


# ---- as shipped robots


def test_it_is_shipped(robot: Robot) -> None:
    assert "hopper_flight" in pliant.robots()
    assert (robot.name, robot.nq, robot.nv, robot.nu) == ("hopper_flight", 6, 6, 3)
    assert robot.coordinate_names == COORDINATES
    assert list(robot.motors) == ["th4", "th6", "d7"]
    assert list(robot.report) == []
    assert robot.mass == 0.8
    assert pliant.load("hopper_flight", m2=2, l2=1).mass == 2
    assert pliant.load("hopper_flight").digest == robot.digest


def test_numbers_and_symbols_may_be_mixed() -> None:
    robot = pliant.catalogue.hopper_flight(symbols=True, m2=3)
    assert robot.mass == 3
    assert pliant.mass_matrix(robot, list(q))[5, 5] == 3
    own = sympy.Symbol("m_foot", positive=True)
    assert pliant.catalogue.hopper_flight(m2=own).mass == own


# ---- the robot that hops: its tables, its spring in series, and the robot in flight behind it


def test_it_is_as_its_tables_say(hopper: Robot) -> None:
    assert "hopper" in pliant.robots()
    assert (hopper.name, hopper.nq, hopper.nv, hopper.nu) == ("hopper", 11, 10, 3)
    assert list(hopper.report) == []
    assert list(hopper.motors) == ["hip_roll", "hip_pitch", "leg"]
    assert hopper.coordinate_names[7:] == ("hip_roll", "hip_pitch", "leg_flexibility", "leg")
    assert [hopper.bodies[name].inertia.mass for name in ("body", "cross", "tube", "foot")] == [15, 0.6, 1.2, 0.25]
    assert hopper.mass == pytest.approx(17.05)
    assert [m.effort_limit for m in hopper.motors.values()] == [90, 90, 1800]
    assert [m.armature for m in hopper.motors.values()] == pytest.approx([0.04, 0.04, 1.8])
    assert hopper.contacts["foot"].radius == 0.03
    spring = hopper.joints["leg_flexibility"]
    assert (spring.stiffness, spring.damping) == ((7000,), (35,))


def test_the_foot_is_at_the_end_of_the_leg(hopper: Robot) -> None:
    q = hopper.neutral()
    np.testing.assert_allclose(pliant.frame_pose(hopper, q, "foot")[:3, 3], [0, 0, -0.6], atol=1e-15)
    q[9:] = -0.05, 0.02  # compressed, and longer by the motor
    np.testing.assert_allclose(pliant.frame_pose(hopper, q, "foot")[:3, 3], [0, 0, -0.57], atol=1e-15)


def test_spring_and_motor_are_in_series(hopper: Robot) -> None:
    """M = [[I, I], [I, I + J]] of the two, with I the foot's mass and J what is felt of the rotor."""
    M = pliant.mass_matrix(hopper, hopper.neutral())[8:, 8:]
    np.testing.assert_allclose(M, [[0.25, 0.25], [0.25, 2.05]], atol=1e-14)


def test_a_stance_takes_what_it_should(hopper: Robot) -> None:
    """Some 0.15 to 0.2 s, by the closed form of a mass on a spring, for hops of 0.1 to 0.3 m."""
    w = math.sqrt(7000 / hopper.mass)
    for height in (0.1, 0.2, 0.3):
        time = (math.pi + 2 * np.arctan(9.81 / (w * math.sqrt(2 * 9.81 * height)))) / w
        assert 0.15 < time < 0.2


def test_in_flight_it_is_the_robot_from_the_table(hopper: Robot) -> None:
    """With a foot that is a point and a leg that weighs nothing else: M, with the free motion of the hip taken out.

    Coordinates of body and leg differ, so that entries are compared for a leg that hangs straight down.
    """
    builder = pliant.RobotBuilder("light")
    builder.body("body", 15, inertia=(0.6, 0, 0, 0.7, 0, 0.8)).body("cross").body("tube").body("foot", 0.25)
    for name in ("hip_roll", "hip_pitch", "leg"):
        j = hopper.joints[name]
        parent = "tube" if name == "leg" else j.parent
        position = (0, 0, -0.6) if name == "leg" else (0, 0, 0)
        builder.joint(name, j.kind, parent, j.child, position)
    light = builder.build(base="free")
    table = pliant.catalogue.hopper_flight(Ixx=0.6, Iyy=0.7, Izz=0.8, m2=15 * 0.25 / 15.25, l2=0.6)
    rng = np.random.default_rng(1)
    for _ in range(5):
        d = rng.uniform(-0.1, 0.1)
        q = light.neutral()
        q[9] = d
        M = pliant.mass_matrix(light, q)
        left = M[3:, 3:] - M[3:, :3] @ np.linalg.solve(M[:3, :3], M[:3, 3:])
        other = pliant.mass_matrix(table, np.array([0, 0, 0, 0, 0, d]))
        # straight down, the two swings are alike and independent, and so is the extension
        swings = sorted(left[3:5, 3:5].diagonal()), sorted(other[3:5, 3:5].diagonal())
        np.testing.assert_allclose(*swings, atol=1e-14)
        np.testing.assert_allclose(left[5, 5], other[5, 5], atol=1e-14)
        # and the volume that all motions span does not depend on the coordinates, where both turn at unit rates
        assert np.linalg.det(left) == pytest.approx(np.linalg.det(other), rel=1e-12)


def test_numbers_may_be_given() -> None:
    robot = pliant.load("hopper", mass=30, stiffness=1e4, damping=10)
    assert robot.bodies["body"].inertia.J.entry(0, 0) == pytest.approx(1.2)
    assert robot.joints["leg_flexibility"].stiffness == (1e4,)


def test_bad_numbers_are_named() -> None:
    for name, options, message in (
        ("hopper", {"mass": 0}, "mass of robot 'hopper' is 0"),
        ("hopper", {"mas": 1}, r"no option named 'mas' in pliant.load; did you mean 'mass'"),
        ("hopper_flight", {"m2": -1}, "m2 of robot 'hopper_flight' is -1"),
        ("hopper_flight", {"m3": 1}, r"no option named 'm3' in pliant.load; did you mean 'm2'"),
    ):
        with pytest.raises(pliant.RobotError, match=message):
            pliant.load(name, **options)
