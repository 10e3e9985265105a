"""Reset and step: what goes in, what comes out; ground or none."""

import numpy as np
import pytest

import pliant
from pliant import Simulation
from pliant.robot import Prismatic, RobotBuilder
from simulated_robots import BALL, CART_POLE, LEG, LEG_Q, LEG_V, PENDULUM, QUADRUPED, leg


def same(a: Simulation, b: Simulation) -> bool:
    return a.state.identical(b.state)


# ---- reset


def test_a_new_simulation_is_at_rest_in_the_neutral_configuration() -> None:
    sim = Simulation(QUADRUPED, batch=3)
    np.testing.assert_array_equal(sim.q, np.tile(QUADRUPED.neutral(), (3, 1)))
    assert not sim.v.any()
    assert sim.state.t.tolist() == [0, 0, 0]
    one = Simulation(PENDULUM)
    assert (one.q.shape, one.v.shape, one.t) == ((1,), (1,), 0.0)
    assert isinstance(one.t, float)


@pytest.mark.parametrize("q", [[0.5, -1], [[0.5, -1]], [[0.5, -1], [0.1, 2], [0, 0]]])
def test_reset_takes_one_configuration_or_one_for_each(q: list) -> None:
    sim = Simulation(CART_POLE, batch=3)
    sim.step([2])
    sim.reset(q=q, v=[1, 2], t=0.25)
    np.testing.assert_array_equal(sim.q, np.broadcast_to(np.array(q, float), (3, 2)))
    np.testing.assert_array_equal(sim.v, [[1, 2]] * 3)
    assert sim.state.t == pytest.approx([0.25] * 3, abs=1e-15)
    assert not sim.tau.any()


@pytest.mark.parametrize(
    "robots, chosen",
    [
        ([1, 3], [1, 3]),
        (np.array([3, 1]), [3, 1]),
        ([False, True, False, True], [1, 3]),
        (np.array([False, True, False, True]), [1, 3]),
        (slice(1, None, 2), [1, 3]),
        ([-1], [3]),
        ([], []),
    ],
)
def test_reset_of_some_robots_leaves_the_others(robots, chosen: list[int]) -> None:
    sim = Simulation(CART_POLE, batch=4)
    sim.reset(q=[[0, 0.1 * k] for k in range(4)])
    sim.run(0.01, u=[1])
    before = sim.state
    q = np.array([[0.3, 0.1 * k] for k in range(len(chosen))]).reshape(-1, 2)
    sim.reset(q=q, t=0.5, robots=robots)
    others = [k for k in range(4) if k not in chosen]
    np.testing.assert_array_equal(sim.state.data[others], before.data[others])
    np.testing.assert_array_equal(sim.q[chosen], q)
    assert not sim.v[chosen].any()
    assert sim.state.t[chosen] == pytest.approx([0.5] * len(chosen))


def test_reset_of_one_robot_by_its_index() -> None:
    sim = Simulation(CART_POLE, batch=3)
    sim.run(0.01, u=[1])
    sim.reset(q=[0.2, 0.1], robots=1)
    assert sim.q[1].tolist() == [0.2, 0.1]
    assert sim.state.t.tolist() == [0.01, 0, 0.01]


def test_what_is_given_out_is_a_copy() -> None:
    sim = Simulation(LEG, ground=0, batch=2)
    sim.reset(LEG_Q, LEG_V)
    sim.run(0.02)
    before = sim.state
    for array in (sim.q, sim.v, sim.tau, sim.contact_forces, sim.state.t, sim.state.data):
        array[...] = 7
    assert sim.state.identical(before)


# ---- step


def test_controls_of_every_form() -> None:
    """None is zero, one row is for all, lists, integers and views of larger arrays are as good as arrays."""
    large = np.random.default_rng(0).normal(size=(5, 6))
    forms = {
        "none": (None, np.zeros((5, 2))),
        "list": ([1, 2], np.tile([1.0, 2.0], (5, 1))),
        "one row": (np.array([0.5, -1]), np.tile([0.5, -1], (5, 1))),
        "row of a batch": (np.array([[0.5, -1]]), np.tile([0.5, -1], (5, 1))),
        "columns": (large[:, 1:5:3], large[:, 1:5:3].copy()),
        "turned": (np.asfortranarray(large[:, :2]), large[:, :2].copy()),
        "float32": (large[:, :2].astype(np.float32), large[:, :2].astype(np.float32).astype(float)),
    }
    a, b = Simulation(LEG, batch=5), Simulation(LEG, batch=5)
    for name, (form, full) in forms.items():
        for sim, u in ((a, form), (b, full)):
            sim.reset(LEG_Q, LEG_V)
            for _ in range(3):
                sim.step(u)
        assert same(a, b), name


def test_controls_are_read_and_not_kept() -> None:
    sim, other = Simulation(PENDULUM), Simulation(PENDULUM)
    u = np.array([1.0])
    sim.step(u)
    u[0] = 99
    sim.step()
    other.step([1])
    other.step([0])
    assert same(sim, other)


def test_time_counts_control_periods() -> None:
    sim = Simulation(PENDULUM, dt=1e-3, substeps=4)
    for _ in range(250):
        sim.step()
    assert sim.t == 1.0, "steps are counted, so no error adds up"


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4", "midpoint"])
def test_substeps_hold_the_control(integrator: str) -> None:
    """One period of four steps is four periods of one, bit for bit."""
    contact = {} if integrator == "semi-implicit" else {"contact": pliant.CompliantContact()}
    robot = LEG if integrator == "semi-implicit" else BALL.with_gravity(0.5, 0, -9.81)
    fast = Simulation(robot, ground=0, integrator=integrator, **contact)
    slow = Simulation(robot, ground=0, integrator=integrator, substeps=4, **contact)
    start = (LEG_Q, LEG_V) if robot is LEG else ([0, 0, 0.11, 0, 0, 0, 1], [0.3, 0, -1, 0, 2, 1])
    u = np.random.default_rng(1).normal(size=(20, robot.nu))
    for sim in (fast, slow):
        sim.reset(*start)
    for row in u:
        slow.step(row)
        for _ in range(4):
            fast.step(row)
    assert same(fast, slow)
    assert slow.t == pytest.approx(0.08)


# ---- ground and contacts


def test_contacts_come_from_the_collision_geometry() -> None:
    assert not QUADRUPED.contacts
    assert {"lf_foot", "trunk.0"} <= set(Simulation(QUADRUPED, ground=pliant.flat()).contact_names)
    assert Simulation(QUADRUPED).contact_names == []
    own = Simulation(QUADRUPED.with_contact("lf_foot", name="toe"), ground=0)
    assert own.contact_names == ["toe"]


def test_without_ground_things_fall() -> None:
    sim = Simulation(BALL)
    sim.reset(q=[0, 0, 0, 0, 0, 0, 1])
    sim.run(0.5)
    # semi-implicit: g dt^2 n (n + 1) / 2 with n = 500
    assert sim.q[2] == pytest.approx(-9.81 * 1e-6 * 500 * 501 / 2, rel=1e-12)


def test_without_ground_robots_with_contact_pairs_fall_too() -> None:
    builder = RobotBuilder("two balls")
    for name in ("left", "right"):
        builder.body(name, 1, (0, 0, 0), (0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("between", Prismatic((1, 0, 0)), "left", "right", (1, 0, 0), (0, 0, 0))
    robot = builder.build(base="free").with_contacts("left", "right", radius=0.1).with_contact_pair("left", "right")
    sim = Simulation(robot)
    assert sim.contact_names == ["left|right"]
    sim.reset(q=[0, 0, 0.5, 0, 0, 0, 1, 0])
    sim.run(0.5)
    assert sim.q[2] < -0.7


@pytest.mark.parametrize("v", [[-0.5, 0, 0], [-1, 0.5, -1], [-0.5, 3, 3]])
@pytest.mark.parametrize("friction", [0.1, 0.7])
def test_a_robot_that_moves_in_a_plane_lands(v: list[float], friction: float) -> None:
    """Its contact cannot move to the side."""
    sim = Simulation(leg("fixed"), ground=0, contact=pliant.RigidContact(friction=friction))
    sim.reset(q=[0.383, -0.4, 0.9], v=v)
    log = sim.run(0.5, u=[0.2, 1])
    assert not sim.divergences
    assert log["forces", "toe.z"].max() > 0
    assert not log["forces", "toe.y"].any()
    assert sim.diagnostics.penetration < 1e-4


def test_a_robot_that_moves_along_a_line_lands() -> None:
    builder = RobotBuilder("piston")
    builder.body("base", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1))
    builder.body("piston", 2, (0, 0, 0), (0.1, 0, 0, 0.1, 0, 0.1))
    builder.joint("slide", Prismatic((0, 0, 1)), "base", "piston", (0, 0, 0), (0, 0, 0))
    sim = Simulation(builder.build(base="fixed").with_contact("piston", radius=0.1), ground=0)
    sim.reset(q=[0.15])
    sim.run(0.3)
    # it lands on the ground itself, or within the micrometre that is left alone
    assert sim.q[0] == pytest.approx(0.1, abs=2e-6)
    np.testing.assert_allclose(sim.contact_forces, [[0, 0, 2 * 9.81]], rtol=0, atol=1e-9)


def test_shown() -> None:
    assert repr(Simulation(PENDULUM, batch=3)) == (
        "Simulation of 3 robots 'pendulum': dt = 0.001 s, 1 steps a period, semi-implicit, 0 contacts, float64, t = 0 s"
    )
    assert repr(Simulation(BALL, ground=0)).startswith("Simulation of one robot 'ball'")
