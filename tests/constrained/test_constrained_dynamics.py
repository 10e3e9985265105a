"""Five roads to one acceleration; Pinocchio; contacts that share what they hold; symbols."""

import numpy as np
import pinocchio as pin
import pytest
import sympy
from hypothesis import given, settings

import pliant
from held_robots import CORNERS, Case, box, case_of, cases, pin_constraints
from pliant.constrained import (
    aghili_acceleration, constrained_dynamics, constraint_inertia, contact_bias, contact_inertia, contact_jacobian,
    contact_rank, force_projector, impact_dynamics, impact_velocity, orthogonal_projector,
)  # fmt: skip
from pliant.constrained.gauss import least_motion
from pliant.robot import Planar
from random_robots import State, close, pinocchio_model, robot_of, state_of
from real_robots import PATHS, Pair, pinocchio_robot, real_robot
from symbolic_robots import g, l, m, pendulum, two_link_arm

BOX = box()
HOME, REST = BOX.neutral(), np.zeros(6)
FEET = ("LF_FOOT", "LH_FOOT", "RF_FOOT", "RH_FOOT")


def projected(case: Case) -> np.ndarray:
    """M^-1 (N (tau - h) - J^T Lambda Jdot v), with the N of the library."""
    N = case.run(force_projector, "q")
    Lambda = case.run(contact_inertia, "q")
    force = N @ (case.state.tau - case.h) - case.J.T @ Lambda @ case.bias
    return np.linalg.solve(case.M, force)


def by_aghili(case: Case) -> np.ndarray:
    M_c, P = (case.run(function, "q") for function in (constraint_inertia, orthogonal_projector))
    return np.linalg.solve(M_c, P @ (case.state.tau - case.h) - np.linalg.pinv(case.J) @ case.bias)


def nearest(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """vd - vd_free and forces by the quadratic program of `gauss_acceleration`, without its kernels."""
    L = np.linalg.cholesky(case.M)
    A = np.linalg.solve(L, case.J.T).T
    u = case.J @ np.linalg.solve(case.M, case.state.tau - case.h) + case.bias
    y, f = least_motion(A, u, np.zeros((0, len(u))), np.ones(len(u), bool))
    return np.linalg.solve(L.T, y), f


@given(case=cases(full=True))
@settings(max_examples=60)
def test_five_roads_to_one_acceleration(case: Case) -> None:
    """KKT, elimination, projector, Aghili's projector and Gauss's principle agree."""
    found = case.run(constrained_dynamics, "q", "v", "tau")
    rows, n = case.J.shape
    kkt = np.block([[case.M, -case.J.T], [case.J, np.zeros((rows, rows))]])
    solution = np.linalg.solve(kkt, np.concatenate([case.state.tau - case.h, -case.bias]))
    vd, f = solution[:n], solution[n:]
    assert found.rank == rows
    # M has conditions up to 1e4, G at most 1e4 (has_full_rank): 1e-9 is what is left of 1e-16
    close(found.vd, vd, 1e-9)
    close(found.f, f, 1e-9)
    close(projected(case), vd, 1e-9)
    close(case.run(aghili_acceleration, "q", "v", "tau"), vd, 1e-9)
    close(by_aghili(case), vd, 1e-9)
    y, forces = nearest(case)
    close(np.linalg.solve(case.M, case.state.tau - case.h) + y, vd, 1e-9)
    close(forces, f, 1e-9)


@given(case=cases(most=4))
@settings(max_examples=60)
def test_any_rank_holds_what_can_be_held(case: Case) -> None:
    """M vd + h = tau + J^T f, and J vd + Jdot v as small as can be; forces of least norm."""
    found = case.run(constrained_dynamics, "q", "v", "tau")
    close(case.M @ found.vd + case.h, case.state.tau + case.J.T @ found.f, 1e-8)
    assert found.rank == case.rank
    # what is left is across all that forces can do: G r = 0
    left = case.J @ found.vd + case.bias
    scale = max(1, abs(case.G).max()) * max(1, abs(case.bias).max(), abs(case.J @ found.vd).max())
    np.testing.assert_allclose(case.G @ left, 0, atol=1e-7 * scale)
    # and forces have no part that does nothing
    least = np.linalg.lstsq(case.J.T, case.J.T @ found.f, rcond=1e-9)[0]
    np.testing.assert_allclose(found.f, least, atol=1e-6 * max(1, abs(least).max()))


@pytest.mark.parametrize("reference", ["world", "local"])
def test_random_trees_as_in_pinocchio(reference: str) -> None:
    kinds = ("revolute", "prismatic", "spherical", "revolute", "helical", "continuous")
    for seed in range(4):
        robot = robot_of(kinds, [-1, 0, 1, 1, 3, 4], np.random.default_rng(seed), floating=True)
        state = state_of(robot, seed)
        contacts = ("frame2", "frame5")
        model = pinocchio_model(robot)
        data = model.createData()
        # with contacts at rest, axes that turn make no difference to what Pinocchio calls local
        v = impact_velocity.algorithm(robot, state.q.tolist(), state.v.tolist(), contacts=contacts)
        v = np.array(v, float)
        frame = {"world": pin.LOCAL_WORLD_ALIGNED, "local": pin.LOCAL}[reference]
        models, datas = pin_constraints(model, contacts, frame)
        pin.initConstraintDynamics(model, data, models, datas)
        vd = pin.constraintDynamics(model, data, state.q, v, state.tau, models, datas)
        case = case_of(robot, State(state.q, v, state.vd, state.tau), contacts, reference)
        found = case.run(constrained_dynamics, "q", "v", "tau")
        assert found.rank == 6
        close(found.vd, vd, 1e-8)
        close(found.f, data.lambda_c, 1e-8)
        options = {"contacts": contacts, "axes": reference}
        for restitution in (0, 0.4):
            after = pin.impulseDynamics(model, data, state.q, state.v, models, datas, restitution).copy()
            impact = impact_dynamics.algorithm(robot, *state.lists[:2], **options, restitution=restitution)
            close(impact.v, after, 1e-8)


def test_anymal_on_four_feet_as_in_pinocchio() -> None:
    name = next(name for name in PATHS if "anymal_b_simple" in name)
    robot, model = real_robot(name, "free"), pinocchio_robot(name, "free")
    data = model.createData()
    rng = np.random.default_rng(0)
    q = robot.random(rng, batch=64)
    v, tau = rng.standard_normal((2, 64, robot.nv))
    models, datas = pin_constraints(model, FEET, pin.LOCAL_WORLD_ALIGNED)
    pin.initConstraintDynamics(model, data, models, datas)
    found = constrained_dynamics(robot, q, v, tau, contacts=FEET)
    for k in range(64):
        vd = pin.constraintDynamics(model, data, q[k], v[k], tau[k], models, datas)
        close(found.vd[k], vd, 1e-8)
        close(found.f[k], data.lambda_c, 1e-8)
    np.testing.assert_array_equal(found.rank, 12)


@pytest.mark.parametrize("name, frames", [
    ("talos_data/talos_reduced.urdf", ("left_sole_link", "right_sole_link", "gripper_left_base_link")),
    ("go2_description/go2.urdf", ("FL_foot", "FR_foot", "RL_foot", "RR_foot")),
    ("panda_description/panda.urdf", ("panda_hand_tcp",)),
])  # fmt: skip
def test_other_robots_as_in_pinocchio(name: str, frames: tuple[str, ...]) -> None:
    base = "fixed" if "panda" in name else "free"
    model = pinocchio_robot(name, base)
    pair = Pair(real_robot(name, base), model, seed=1)
    models, datas = pin_constraints(model, frames, pin.LOCAL_WORLD_ALIGNED)
    pin.initConstraintDynamics(model, pair.data, models, datas)
    vd = pin.constraintDynamics(model, pair.data, pair.q, pair.v, pair.tau, models, datas).copy()
    force = pair.data.lambda_c.copy()
    q, v, _, tau = pair.ours
    found = constrained_dynamics.algorithm(pair.robot, q, v, tau, contacts=frames)
    close(found.vd, vd, 1e-8)
    close(found.f, force, 1e-8)
    after = pin.impulseDynamics(model, pair.data, pair.q, pair.v, models, datas)
    close(impact_velocity.algorithm(pair.robot, q, v, contacts=frames), after, 1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_loops_and_contacts_together(seed: int) -> None:
    """Closures of every kind next to a foot: the solution of the dense equations, with forces on both sides."""
    kinds = ("spherical", "free", "revolute", "spherical", "revolute", "planar", "prismatic")
    robot = robot_of(kinds, [-1, 0, 1, 1, 3, 4, -1], np.random.default_rng(seed), floating=True)
    robot = robot.with_closure("point", "frame2", "frame6", name="pin")
    robot = robot.with_closure("distance", "world", "frame5", length=1, name="rod")
    robot = robot.with_closure("weld", "frame4", "frame1", name="weld")
    case = case_of(robot, state_of(robot, seed), ("pin", "rod", ("frame3", "xz"), "weld"))
    found = case.run(constrained_dynamics, "q", "v", "tau")
    f = np.linalg.solve(case.G, -case.J @ np.linalg.solve(case.M, case.state.tau - case.h) - case.bias)
    assert found.rank == len(case.J) == 12
    # G has conditions up to 1e5 here
    close(found.f, f, 1e-8)
    close(case.M @ found.vd + case.h, case.state.tau + case.J.T @ f, 1e-8)


def test_a_batch_is_robots_one_by_one() -> None:
    rng = np.random.default_rng(1)
    q = BOX.random(rng, batch=6)
    v, tau = rng.standard_normal((2, 6, 6))
    for contacts in (("c0", ("c1", "z")), CORNERS):
        many = constrained_dynamics(BOX, q, v, tau, contacts=contacts)
        for k in range(6):
            one = constrained_dynamics(BOX, q[k], v[k], tau[k], contacts=contacts)
            for a, b in zip(one, many, strict=True):
                np.testing.assert_array_equal(a, b[k])
            lists = (x[k].tolist() for x in (q, v, tau))
            reference = constrained_dynamics.algorithm(BOX, *lists, contacts=contacts)
            close(one.vd, reference.vd, 1e-9)
            close(one.f, reference.f, 1e-9)


def test_a_box_on_four_corners_shares_its_weight() -> None:
    """Twelve rows of rank six: each corner bears a quarter, and none pushes sideways, which is the least norm."""
    found = constrained_dynamics(BOX, HOME, REST, REST, contacts=CORNERS)
    assert found.rank == 6
    np.testing.assert_allclose(found.vd, 0, atol=1e-12)
    np.testing.assert_allclose(found.f.reshape(4, 3), [[0, 0, 2 * 9.81 / 4]] * 4, atol=1e-11)


def test_no_orientation_of_the_box_fools_the_rank() -> None:
    """Rows along the world's axes may be next to dependent, in any order; of 20,000 boxes, none goes wrong."""
    rng = np.random.default_rng(4)
    q, tau = BOX.random(rng, batch=20_000), rng.standard_normal((20_000, 6))
    found = constrained_dynamics(BOX, q, np.zeros_like(tau), tau, contacts=CORNERS)
    np.testing.assert_array_equal(found.rank, 6)
    np.testing.assert_allclose(found.vd, 0, atol=1e-11)
    # the forces carry the load, and none of them works against the others
    J = contact_jacobian(BOX, q, contacts=CORNERS)
    load = tau - pliant.bias_forces(BOX, q, np.zeros_like(tau))
    np.testing.assert_allclose(np.einsum("krd,kr->kd", J, found.f), -load, atol=1e-11)
    least = np.linalg.solve(np.einsum("krd,kre->kde", J, J), -load[..., None])
    np.testing.assert_allclose(found.f, np.einsum("krd,kd->kr", J, least[..., 0]), atol=1e-10)


def test_ranks_differ_from_robot_to_robot() -> None:
    """A double pendulum that is stretched cannot be pulled along; bent, it can."""
    robot, held = pliant.load("two_link_arm"), {"contacts": (("hand", "xz"),)}
    q = np.array([[0.3, 0.0], [0.3, 0.8], [-1.0, 0.0], [0.1, -2.0]])
    rank = contact_rank(robot, q, **held)
    np.testing.assert_array_equal(rank, [1, 2, 1, 2])
    found = constrained_dynamics(robot, q, np.zeros((4, 2)), np.zeros((4, 2)), **held)
    np.testing.assert_array_equal(found.rank, rank)
    J = contact_jacobian(robot, q, **held)
    np.testing.assert_allclose(np.einsum("krd,kd->kr", J, found.vd), 0, atol=1e-9)


def test_directions_that_cannot_move_at_all_get_no_force() -> None:
    """A planar arm does not move along y: that row is zero, and so is its force."""
    state = pliant.load("two_link_arm"), np.array([0.3, 0.8]), np.zeros(2), np.ones(2)
    found, plain = (constrained_dynamics(*state, contacts=held) for held in (("hand",), (("hand", "xz"),)))
    assert found.rank == 2 and found.f[1] == 0
    np.testing.assert_allclose(found.f[[0, 2]], plain.f, rtol=1e-9)


def test_rounding_is_no_direction() -> None:
    """A body on a plane that is turned: across the plane it moves by rounding only, and that cannot be held."""
    axis = np.array([1.0, -2.0, 0.5]) / np.linalg.norm([1.0, -2.0, 0.5])
    x = np.cross(axis, [0, 0, 1.0])
    x /= np.linalg.norm(x)
    across = pin.rpy.matrixToRpy(np.stack([x, np.cross(axis, x), axis], axis=1))
    builder = pliant.RobotBuilder("tray")
    builder.body("tray", 1.0, (0.1, 0, 0), (1, 0, 0, 1, 0, 1))
    builder.joint("plane", Planar(tuple(axis.tolist())), "world", "tray", (0, 0, 0), (0.3, 0.5, 0.7))
    robot = builder.frame("across", "tray", (0.2, 0.3, 0), tuple(across.tolist())).build()
    state = state_of(robot, 3)
    held = {"contacts": (("across", "z"),), "axes": "local"}
    J = contact_jacobian(robot, state.q, **held)
    assert 0 < abs(J).max() < 1e-15
    found = constrained_dynamics(robot, state.q, state.v, state.tau, **held)
    assert found.rank == 0 and found.f == 0
    np.testing.assert_allclose(found.vd, pliant.forward_dynamics(robot, state.q, state.v, state.tau), rtol=1e-12)


def test_external_forces_count() -> None:
    external = np.array([[0, 0, -10.0, 0, 0, 0]])
    found = constrained_dynamics(BOX, HOME, REST, REST, contacts=CORNERS, external=external)
    np.testing.assert_allclose(found.f.reshape(4, 3)[:, 2], (2 * 9.81 + 10) / 4, rtol=1e-11)


def test_a_held_pendulum_in_symbols() -> None:
    """Along x it feels the inertia m / cos(q)^2; the hinge and the hand share the weight and the swing."""
    robot = pendulum().with_frame("hand", "bob", (0, 0, -l))
    q, v, tau = sympy.symbols("q v tau")
    held = {"contacts": (("hand", "x"),), "tolerance": None}
    Lambda = contact_inertia(robot, [q], **held)[0][0]
    assert sympy.simplify(Lambda - m / sympy.cos(q) ** 2) == 0
    found = constrained_dynamics(robot, [q], [v], [tau], **held)
    # x = -l sin(q): cos(q) vd = sin(q) v^2, and m l^2 vd + m g l sin(q) = tau - l cos(q) f
    assert sympy.simplify(found.vd[0] - sympy.tan(q) * v**2) == 0
    force = (tau - m * g * l * sympy.sin(q) - m * l**2 * sympy.tan(q) * v**2) / (l * sympy.cos(q))
    assert sympy.simplify(found.f[0] - force) == 0
    assert found.rank == 1
    # with the test of the rank in the formula
    rank = contact_rank(robot, [q], contacts=(("hand", "x"),))
    at = {m: 2, l: 1}
    assert rank.subs({**at, q: 0.3}) == 1 and rank.subs({**at, q: sympy.pi / 2}) == 0


def test_a_held_two_link_arm_in_symbols() -> None:
    """KKT holds to 40 digits, in exact numbers put into the formulas."""
    robot = two_link_arm()
    q, v, tau = (list(sympy.symbols(f"{x}1 {x}2")) for x in ("q", "v", "tau"))
    values = [sympy.Rational(k, 7) for k in (3, -8, 5, 2, 9, -4, 1, 2, 5)]
    at = dict(zip([*q, *v, *tau, m, l, g], values, strict=True))

    def digits(x):
        return sympy.Matrix(x).subs(at).evalf(50)

    held = {"contacts": (("hand", "xz"),)}
    found = constrained_dynamics(robot, q, v, tau, **held, tolerance=None)
    J = digits(contact_jacobian(robot, q, **held))
    bias = digits(contact_bias(robot, q, v, **held))
    M, h = digits(pliant.mass_matrix(robot, q)), digits(pliant.bias_forces(robot, q, v))
    vd, f = digits(found.vd), digits(found.f)
    assert max(abs(x) for x in J * vd + bias) < 1e-40
    assert max(abs(x) for x in M * vd + h - digits(tau) - J.T * f) < 1e-40


def test_kernels_in_float32_know_how_coarse_they_are() -> None:
    kernel = pliant.compile(constrained_dynamics, BOX, precision="float32", contacts=CORNERS)
    q = BOX.random(np.random.default_rng(3), batch=1000)
    found = kernel(q.astype(np.float32), REST.astype(np.float32), REST.astype(np.float32))
    np.testing.assert_array_equal(found.rank, 6)
    expected = constrained_dynamics(BOX, q, REST, REST, contacts=CORNERS)
    # forces of 5 N, conditions up to 1e2 of 6e-8
    np.testing.assert_allclose(found.f, expected.f, atol=1e-3)


def test_what_is_not_a_number_has_no_rank_and_shows() -> None:
    """In a batch, the others keep theirs."""
    q = np.stack([HOME, HOME])
    q[1, 4] = np.nan
    for contacts in (("c0",), CORNERS):
        found = constrained_dynamics(BOX, q, REST, REST, contacts=contacts)
        np.testing.assert_array_equal(found.rank, [min(6, 3 * len(contacts)), 0])
        assert np.isfinite(found.vd[0]).all() and np.isnan(found.vd[1]).all() and np.isnan(found.f[1]).all()
        np.testing.assert_array_equal(contact_rank(BOX, q, contacts=contacts), found.rank)
