"""Motors that drive several joints: against explicit bodies and loops, identities of the dynamics, and mistakes."""

import numpy as np
import pytest

import pliant
from pliant.actuation.shafts import shafts_of
from pliant.errors import RobotError, SimulationError
from pliant.robot import Mimic, Robot, RobotBuilder
from random_robots import robot_of

DIFFERENTIAL = [[1.0, 1.0], [1.0, -1.0]]
PARALLELOGRAM = [[1.0, 0.0], [1.0, 1.0]]


def arm(**motor) -> Robot:
    """Two links in a plane with a motor each."""
    builder = RobotBuilder("arm")
    for name in ("upper", "lower"):
        builder.body(name, 1.5, (0.2, 0, 0.01), (0.01, 0, 0, 0.03, 0, 0.02))
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0))
    builder.joint("elbow", "revolute", "upper", "lower", (0.4, 0, 0), axis=(0, 1, 0))
    robot = builder.build()
    for joint in ("shoulder", "elbow"):
        robot = robot.with_motor(joint, gear=5, rotor_inertia=1e-3, **motor)
    return robot


def coupled(matrix=DIFFERENTIAL, **motor) -> Robot:
    return arm(**motor).with_transmission(["shoulder", "elbow"], ["shoulder", "elbow"], matrix)


def with_explicit_rotor() -> Robot:
    """A parallelogram drive as bodies: the elbow's rotor sits on the base and turns with the forearm.

    The wheel beside the arm turns by q0 + q1, which a mimic joint cannot say; here the sum comes from a chain of two
    massless wheels, one that mimics the shoulder and on it one that mimics the elbow.
    """
    builder = RobotBuilder("explicit")
    for name in ("upper", "lower"):
        builder.body(name, 1.5, (0.2, 0, 0.01), (0.01, 0, 0, 0.03, 0, 0.02))
    builder.body("carrier")
    builder.body("rotor", 0, (0, 0, 0), (0, 0, 0, 25e-3, 0, 0))
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0), armature=25e-3)
    builder.joint("elbow", "revolute", "upper", "lower", (0.4, 0, 0), axis=(0, 1, 0))
    builder.joint("a", "revolute", "world", "carrier", axis=(0, 1, 0), mimic=Mimic("shoulder", 1.0))
    builder.joint("b", "revolute", "carrier", "rotor", axis=(0, 1, 0), mimic=Mimic("elbow", 1.0))
    return builder.build(strict=False)


def test_inertia_against_explicit_bodies() -> None:
    """The mass matrix and the motion are those of the robot whose rotor is a body on the base."""
    robot, bodies, q, v = coupled(PARALLELOGRAM), with_explicit_rotor(), [0.3, -0.7], [1.2, 0.4]
    np.testing.assert_allclose(pliant.mass_matrix(robot, q), pliant.mass_matrix(bodies, q), rtol=1e-14)
    np.testing.assert_allclose(pliant.bias_forces(robot, q, v), pliant.bias_forces(bodies, q, v), rtol=1e-13)
    logs = []
    for one, u in ((robot, [0, 0]), (bodies, None)):
        sim = pliant.Simulation(one)
        sim.reset(q=q, v=v)
        logs.append(sim.run(1.0, u=u, channels=("q",)).q)
    np.testing.assert_allclose(logs[0], logs[1], rtol=0, atol=1e-9)


def test_inertia_of_a_differential() -> None:
    """G^T J G by NumPy."""
    G, J = np.array(DIFFERENTIAL), 25e-3 * np.eye(2)
    plain = arm().with_motors(rotor_inertia=0)
    q = [0.3, -0.7]
    expected = pliant.mass_matrix(plain, q) + G.T @ J @ G
    np.testing.assert_allclose(pliant.mass_matrix(coupled(), q), expected, rtol=1e-14)


def random_coupled(seed: int) -> Robot:
    """A random tree whose motors drive joints of any branches."""
    rng = np.random.default_rng(seed)
    kinds, parents = ("revolute", "prismatic", "spherical", "revolute", "continuous", "revolute"), (-1, 0, 0, 1, -1, 4)
    robot = robot_of(kinds, parents, rng, mimic=seed % 3 == 2, floating=seed % 2 == 1)
    joints = [j.name for j in robot.joints.values() if j.kind.nv == 1]
    chosen = [str(name) for name in rng.choice(joints, size=3, replace=False)]
    for name in chosen:
        robot = robot.with_motor(name, gear=3, rotor_inertia=float(rng.uniform(0.01, 0.1)))
    return robot.with_transmission(chosen, chosen, rng.normal(size=(3, 3)))


@pytest.mark.parametrize("seed", range(6))
def test_identities_on_random_trees(seed: int) -> None:
    """Forward after inverse dynamics, M as the derivative of forces, energy, the second route, with such rotors."""
    robot = random_coupled(seed)
    rng = np.random.default_rng(seed)
    q, v, vd = robot.random(seed), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    M = pliant.mass_matrix(robot, q)
    tau = pliant.inverse_dynamics(robot, q, v, vd)
    np.testing.assert_allclose(tau, M @ vd + pliant.bias_forces(robot, q, v), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pliant.forward_dynamics(robot, q, v, tau), vd, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(pliant.dynamics.kinetic_energy(robot, q, v), v @ M @ v / 2, rtol=1e-10)
    np.testing.assert_allclose(pliant.dynamics.mass_matrix_inverse(robot, q) @ M, np.eye(robot.nv), atol=1e-6)
    np.testing.assert_allclose(pliant.dynamics.projected_newton_euler(robot, q, v)[0], M, rtol=1e-9, atol=1e-11)
    by_vd = pliant.dynamics.inverse_dynamics_derivatives(robot, q, v, vd)[2]
    np.testing.assert_allclose(by_vd, M, rtol=1e-9, atol=1e-11)


# ---- torques, gains, limits and friction at the shafts


def test_torques_at_the_joints_are_those_of_the_shafts_through_the_matrix() -> None:
    """One step from rest: M (v+ - v) = dt (G^T u - g)."""
    robot, q, u = coupled(), [0.3, -0.7], np.array([2.0, -1.0])
    sim = pliant.Simulation(robot, dt=1e-4)
    sim.reset(q=q)
    sim.step(u)
    force = np.array(DIFFERENTIAL).T @ u - pliant.gravity_forces(robot, q)
    np.testing.assert_allclose(sim.v, 1e-4 * np.linalg.solve(pliant.mass_matrix(robot, q), force), rtol=1e-9)
    np.testing.assert_array_equal(sim.tau, u)


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4", "dormand-prince", "rosenbrock"])
def test_position_control_of_shafts_settles(integrator: str) -> None:
    """kp (u - G q) balances gravity, G^-T g: in all integrators, with viscous friction at the shafts."""
    robot = coupled(control="position", kp=400, kd=20, viscous_friction=2)
    sim = pliant.Simulation(robot, integrator=integrator)
    sim.run(5.0, u=[0.5, -0.2])
    G = np.array(DIFFERENTIAL)
    held = np.linalg.solve(G.T, pliant.gravity_forces(robot, sim.q))
    np.testing.assert_allclose(400 * ([0.5, -0.2] - G @ sim.q), held, rtol=1e-6)
    np.testing.assert_allclose(sim.tau, held, rtol=1e-6)


def test_stiff_gains_of_shafts_are_stable() -> None:
    log = pliant.Simulation(coupled(control="position", kp=1e7, kd=1e3)).run(1.0, u=[0.3, 0.1], channels=("q",))
    np.testing.assert_allclose(log.q[-1], np.linalg.solve(DIFFERENTIAL, [0.3, 0.1]), atol=1e-5)


def test_limits_windings_and_bent_friction_are_at_the_shafts() -> None:
    """Torques within their limits, each step as the impulses say, with all that a motor may have."""
    own = {"control": "position", "kp": 300, "kd": 5, "effort_limit": 6, "torque_constant": 0.1, "resistance": 1.0,
           "inductance": 1e-3, "supply_voltage": 12, "dry_friction": 0.4, "bristle_stiffness": 200,
           "bristle_damping": 1, "viscous_friction": 0.1, "command_delay": 2e-3}  # fmt: skip
    robot = coupled(**own).with_gravity(0, 0, 0)
    sim = pliant.Simulation(robot, dt=1e-3)
    G, (one, other) = np.array(DIFFERENTIAL), shafts_of(robot)
    rng = np.random.default_rng(0)
    saw, given = 0, rng.normal(size=(10, 2))
    for k in range(200):
        u = given[k // 20]
        q, v = sim.q, sim.v
        sim.step(u)
        assert (abs(sim.tau) <= 6 + 1e-9).all()
        saw += (abs(sim.tau) > 6 - 1e-9).any()
        rate = G @ sim.v
        np.testing.assert_allclose([one.rate(sim.v), other.rate(sim.v)], rate, rtol=1e-12)
        torque = sim.tau + sim.motor_state["friction"] - 0.1 * rate
        # Coriolis forces are those of some velocity between both ends
        rest = pliant.mass_matrix(robot, q) @ (sim.v - v) - 1e-3 * G.T @ torque
        most = 1e-3 * (np.abs(pliant.bias_forces(robot, q, v)) + np.abs(pliant.bias_forces(robot, q, sim.v)))
        assert (abs(rest) <= most + 1e-5).all()
    assert saw


def test_energy_is_that_of_the_torques() -> None:
    """Without gravity and friction, the kinetic energy is the motors' work."""
    sim = pliant.Simulation(coupled().with_gravity(0, 0, 0), integrator="rk4")
    log = sim.run(0.5, u=[1.0, 0.3], channels=("energy", "power"))
    work = np.trapezoid(log["power.motors"], log.t)
    # the power jumps from zero at the start, where no control has acted
    assert log["energy.kinetic"][-1] == pytest.approx(work, rel=1e-3)


def test_branches_that_a_motor_couples() -> None:
    """Two arms on one base with a stiff belt between them go on together."""
    builder = RobotBuilder("pair").gravity(0, 0, 0)
    for name in ("left", "right"):
        builder.body(name, 1, (0.1, 0, 0), (0.01, 0, 0, 0.01, 0, 0.02))
        builder.joint(name, "revolute", "world", name, axis=(0, 0, 1))
    robot = builder.build().with_motor("left", name="belt", rotor_inertia=0.5, control="position", kp=1e8, kd=1e6)
    robot = robot.with_transmission(["belt"], ["left", "right"], [[1.0, -1.0]])
    assert robot.mechanism.support == ((0,), (1, 0))
    np.testing.assert_allclose(pliant.mass_matrix(robot, [0, 0]), [[0.53, -0.5], [-0.5, 0.53]])
    sim = pliant.Simulation(robot)
    sim.reset(v=[1.0, 0.0])
    sim.run(0.1, u=[0.0])
    # an impulse between them: the momentum stays, and both go on together
    np.testing.assert_allclose(sim.v, 0.5, rtol=1e-3)


def test_batches_logs_and_side_files(tmp_path) -> None:
    robot = coupled(control="position", kp=100, kd=2)
    sim = pliant.Simulation(robot, batch=3, varying=["motors.*.rotor_inertia", "motors.shoulder.kp"])
    sim.parameters["motors.*.rotor_inertia"] = [[1e-3, 1e-3], [2e-3, 1e-3], [1e-3, 3e-3]]
    sim.run(0.1, u=[[0.2, 0.1]] * 3, save=tmp_path / "log.h5")
    alone = pliant.Simulation(robot.with_motors(rotor_inertia=[1e-3, 3e-3]))
    alone.run(0.1, u=[0.2, 0.1])
    np.testing.assert_allclose(sim.q[2], alone.q, rtol=1e-12)
    kept = pliant.load_log(tmp_path / "log.h5").source.robot
    assert kept.motors == robot.motors and kept.digest == robot.digest != arm(control="position", kp=100, kd=2).digest
    file = tmp_path / "arm.toml"
    file.write_text('[motors.shoulder]\ncoupling = [["shoulder", 1], ["elbow", 1]]\n'
                    '[motors.elbow]\ncoupling = [["shoulder", 1], ["elbow", -1]]\n')  # fmt: skip
    read = pliant.catalogue.read_side_file(arm(control="position", kp=100, kd=2), file)
    assert read.digest == robot.digest


def test_equations_have_the_coupled_inertia() -> None:
    eq = pliant.equations(coupled())
    M = pliant.mass_matrix(coupled(), [0.3, -0.7])
    numbers = dict(zip(eq.q, [0.3, -0.7], strict=True))
    np.testing.assert_allclose(np.array(eq.M.subs(numbers), dtype=float), M, rtol=1e-12)


def test_event_driven_simulation_agrees() -> None:
    robot = coupled(control="position", kp=400, kd=20, viscous_friction=2)
    events, steps = pliant.EventSimulation(robot), pliant.Simulation(robot, integrator="rk4")
    for sim in (events, steps):
        sim.run(0.5, u=[0.5, -0.2])
    # both are of order four and more, with errors far below
    np.testing.assert_allclose(events.q, steps.q, rtol=1e-6)


# ---- mistakes


@pytest.mark.parametrize(
    ("motors", "joints", "matrix", "field"),
    [
        (["shoulder", "elbow"], ["shoulder", "elbow"], [[1, 1]], "matrix"),
        (["shoulder"], ["shoulder", "elbow"], [[1]], "matrix"),
        (["shoulder"], ["shoulder", "elbow"], [[0, 0]], "coupling"),
        (["shoulder"], ["shoulder", "elbow"], [[0, 1]], "coupling"),
        (["shoulder"], ["shoulder", "shoulder"], [[1, 1]], "coupling"),
        (["shoulder"], ["shoulder", "elbow"], [[1, float("nan")]], "coupling"),
        ("shoulder", ["shoulder"], [[1]], "motors"),
    ],
)
def test_matrices_that_do_not_fit(motors, joints, matrix, field: str) -> None:
    with pytest.raises(RobotError) as caught:
        arm().with_transmission(motors, joints, matrix)
    assert caught.value.field == field


def test_other_mistakes() -> None:
    with pytest.raises(RobotError, match="no joint named 'wrist'"):
        arm().with_transmission(["shoulder"], ["shoulder", "wrist"], [[1, 1]])
    with pytest.raises(RobotError) as caught:
        coupled(dry_friction=0.1)
    assert caught.value.field == "bristle_stiffness"
    with pytest.raises(RobotError) as caught:
        coupled(gyroscopic=True)
    assert caught.value.field == "gyroscopic"
    with pytest.raises(SimulationError, match="several joints"):
        pliant.Simulation(coupled(), integrator="midpoint")
