"""Numbers that differ from robot to robot: as if each had been built with its own."""

from dataclasses import replace

import numpy as np
import pytest

import pliant
from pliant import RigidContact, Simulation, SimulationError
from pliant.robot import Robot
from pliant.simulation import programs as module
from pliant.spatial import Inertia, Symmetric3, Vector
from simulated_robots import BALL, CART_POLE, LEG, LEG_Q, LEG_V, PENDULUM, ran

PERIODS = 120
CONTACT = RigidContact(friction=0.6, restitution=0.2)


def with_body(name: str, mass: float | None = None, com: tuple | None = None, inertia: tuple | None = None) -> Robot:
    """The leg with another body; the tensor is about the centre of mass, and scales with the mass."""
    old = LEG.bodies[name].inertia
    tensor = [x * (mass or old.mass) / old.mass for x in old.about_com()] if inertia is None else inertia
    made = Inertia.from_com(mass or old.mass, Vector(*(com or old.com())), Symmetric3(*tensor))
    return replace(LEG, bodies=LEG.bodies.replaced(replace(LEG.bodies[name], inertia=made)))


def with_spring(**values: float) -> Robot:
    return replace(LEG, springs=LEG.springs.replaced(replace(LEG.springs["band"], **values)))


DAMPING = (1, 2, 3, 0.1, 0.2, 0.3)
TENSOR = (0.0015, 1e-4, -2e-4, 0.0018, 1e-4, 0.0008)

# path: a value, and the same by edits of the robot or the contact
CASES: dict[str, tuple[object, Robot, RigidContact]] = {
    "gravity": ([0.5, -0.2, -8], LEG.with_gravity(0.5, -0.2, -8), CONTACT),
    "friction": (0.2, LEG, replace(CONTACT, friction=0.2)),
    "restitution": (0.7, LEG, replace(CONTACT, restitution=0.7)),
    "bodies.trunk.mass": (4.5, with_body("trunk", mass=4.5), CONTACT),
    "bodies.thigh.com": ([0.02, 0.01, -0.12], with_body("thigh", com=(0.02, 0.01, -0.12)), CONTACT),
    "bodies.shank.inertia": (TENSOR, with_body("shank", inertia=TENSOR), CONTACT),
    "joints.hip.damping": (0.4, LEG.with_joint("hip", damping=0.4), CONTACT),
    "joints.hip.armature": (0.02, LEG.with_joint("hip", armature=0.02), CONTACT),
    "joints.hip.friction": (0.3, LEG.with_joint("hip", friction=0.3), CONTACT),
    "joints.root_joint.damping": (DAMPING, LEG.with_joint("root_joint", damping=DAMPING), CONTACT),
    "joints.knee.stiffness": (60, LEG.with_joint("knee", stiffness=60), CONTACT),
    "joints.knee.rest": (1.1, LEG.with_joint("knee", rest=1.1), CONTACT),
    "motors.hip.kp": (110, LEG.with_motors("hip", kp=110), CONTACT),
    "motors.hip.kd": (3, LEG.with_motors("hip", kd=3), CONTACT),
    "motors.hip.gear": (15, LEG.with_motors("hip", gear=15), CONTACT),
    "motors.hip.rotor_inertia": (3e-4, LEG.with_motors("hip", rotor_inertia=3e-4), CONTACT),
    "motors.hip.effort_limit": (2, LEG.with_motors("hip", effort_limit=2), CONTACT),
    "motors.knee.viscous_friction": (0.2, LEG.with_motors("knee", viscous_friction=0.2), CONTACT),
    "motors.knee.dry_friction": (0.6, LEG.with_motors("knee", dry_friction=0.6), CONTACT),
    "motors.knee.no_load_speed": (8, LEG.with_motors("knee", no_load_speed=8), CONTACT),
    "springs.band.stiffness": (90, with_spring(stiffness=90), CONTACT),
    "springs.band.damping": (9, with_spring(damping=9), CONTACT),
    "springs.band.length": (0.1, with_spring(length=0.1), CONTACT),
}  # fmt: skip


def motion(sim: Simulation) -> np.ndarray:
    """q, v and torques after each period; the leg lands, slides and bounces."""
    u = np.stack([-0.2 + 0.3 * np.sin(0.1 * np.arange(PERIODS)), 3 * np.cos(0.05 * np.arange(PERIODS))], axis=1)
    sim.reset(LEG_Q, LEG_V)
    result = sim.rollout(controls=u, channels=("q", "v", "torques", "impulses"))
    return np.concatenate([result[name] for name in ("q", "v", "torques", "impulses")], axis=-1)


@pytest.fixture(scope="module")
def together() -> np.ndarray:
    """One simulation in which everything varies; robot k has another value in case k, the last one has none."""
    sim = Simulation(LEG, ground=0, contact=CONTACT, varying=list(CASES), batch=len(CASES) + 1)
    for k, (path, (value, _, _)) in enumerate(CASES.items()):
        sim.parameters[path][k] = value
    return motion(sim)


def assert_near(found: np.ndarray, expected: np.ndarray) -> None:
    """Constants in one are variables in the other, so roundings differ: each step by 2^-53 of lengths below a metre.

    The impact makes the most of them: a foot that is higher by h when it lands changes the torques of that step by up
    to 1e4 h (as starts that differ by 1e-9 m show).
    """
    np.testing.assert_allclose(found, expected, rtol=0, atol=PERIODS * 2**-53 * 1e4)


@pytest.mark.parametrize("path", CASES)
def test_varying_is_as_good_as_edited(path: str, together: np.ndarray) -> None:
    _, robot, contact = CASES[path]
    assert_near(together[list(CASES).index(path)], motion(Simulation(robot, ground=0, contact=contact)))
    assert abs(together[list(CASES).index(path)] - together[-1]).max() > 1e-5, "it makes a difference"


def test_defaults_are_those_of_the_robot(together: np.ndarray) -> None:
    assert_near(together[-1], motion(Simulation(LEG, ground=0, contact=CONTACT)))


@pytest.mark.parametrize("attribute, value", [("stiffness", 8e3), ("dissipation", 0.6), ("friction", 0.1),
                                              ("slip_speed", 0.05), ("exponent", 1.25)])  # fmt: skip
def test_numbers_of_the_compliant_law(attribute: str, value: float) -> None:
    law = pliant.HuntCrossley(stiffness=3e4, dissipation=0.2, exponent=1.5, friction=0.5, slip_speed=0.1)

    def bouncing(law, **options) -> Simulation:
        contact = pliant.CompliantContact(law)
        return Simulation(BALL, ground=0, contact=contact, integrator="rk4", dt=5e-4, **options)

    start = [0, 0, 0.105, 0, 0, 0, 1], [0.5, 0.2, -0.5, 0, 0, 0]
    sim = bouncing(law, varying=[f"law.{attribute}"], batch=2)
    sim.parameters[f"law.{attribute}"][1] = value
    _, log = ran(sim, 0.1, *start)
    for k, expected in enumerate((law, replace(law, **{attribute: value}))):
        _, alone = ran(bouncing(expected), 0.1, *start)
        # the stiff ground makes roundings a few times larger
        np.testing.assert_allclose(log.q[k], alone.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(log.v[k], alone.v, rtol=0, atol=1e-11)
    assert abs(log.q[0] - log.q[1]).max() > 1e-6


@pytest.mark.parametrize("integrator", ["rk4", "dormand-prince", "midpoint"])
def test_other_integrators_take_parameters(integrator: str) -> None:
    varying = ["bodies.rod.mass", "joints.hinge.damping"]
    sim = Simulation(PENDULUM, integrator=integrator, varying=varying, batch=2, dt=0.01)
    sim.parameters["joints.hinge.damping"] = [0, 0.5]
    damped = Simulation(PENDULUM.with_joint("hinge", damping=0.5), integrator=integrator, dt=0.01)
    for s in (sim, damped):
        ran(s, 0.5, [1])
    np.testing.assert_allclose(sim.q[1], damped.q, rtol=0, atol=1e-12)
    assert abs(sim.q[0] - sim.q[1]) > 0.01


def test_single_precision() -> None:
    sim = Simulation(PENDULUM, varying=["joints.hinge.damping"], precision="float32", batch=2)
    sim.parameters["joints.hinge.damping"] = [0.1, 0.2]
    assert sim.parameters["joints.hinge.damping"].dtype == np.float32
    exact = Simulation(PENDULUM.with_joint("hinge", damping=0.2))
    for s in (sim, exact):
        ran(s, 0.1, [1])
    np.testing.assert_allclose(sim.q[1], exact.q, atol=1e-5)


@pytest.mark.parametrize("path, limits", [
    ("joints.hinge.friction", None), ("motors.hinge.dry_friction", None), ("joints.hinge.friction", (-0.5, 1.2)),
    ("joints.hinge.restitution", (-0.5, 1.2)),
])  # fmt: skip
def test_numbers_that_are_zero_in_the_robot(path: str, limits: tuple[float, float] | None) -> None:
    """A pendulum that hits a limit, or none; what varies need not be there in the robot itself."""
    tree, name, what = path.split(".")
    robot = PENDULUM.with_joint("hinge", limits=limits, damping=0.1)
    edited = (robot.with_joint if tree == "joints" else robot.with_motors)(name, **{what: 0.5})
    sim, expected = Simulation(robot, varying=[path]), Simulation(edited)
    sim.parameters[path] = 0.5
    for s in (sim, expected):
        ran(s, 0.3, [1], [4])
    np.testing.assert_allclose(sim.q, expected.q, rtol=0, atol=1e-12)


def test_a_restitution_that_is_zero_in_the_model() -> None:
    sim = Simulation(BALL, ground=0, varying=["restitution"])
    sim.parameters["restitution"] = 0.8
    expected = Simulation(BALL, ground=0, contact=RigidContact(restitution=0.8))
    for s in (sim, expected):
        ran(s, 0.07, [0, 0, 0.11, 0, 0, 0, 1])
    np.testing.assert_allclose(sim.q, expected.q, rtol=0, atol=1e-12)


# ---- stars, shapes, compilations


def test_stars_are_all_of_a_kind_in_order() -> None:
    sim = Simulation(LEG, varying=["motors.*.gear", "bodies.*.mass", "joints.*.damping", "bodies.*.com"], batch=2)
    values = sim.parameters
    assert values["motors.*.gear"].tolist() == [[8, 1]] * 2
    np.testing.assert_allclose(values["bodies.*.mass"], [[3, 0.8, 0.4]] * 2, rtol=1e-15)
    assert values["joints.*.damping"].tolist() == [[0] * 6 + [0.05, 0.03]] * 2
    assert values["bodies.*.com"].shape == (2, 9)
    values["bodies.*.mass"] = [[3, 0.8, 0.4], [5, 0.8, 0.6]]
    one = Simulation(LEG, varying=["bodies.trunk.mass", "bodies.shank.mass"])
    one.parameters["bodies.trunk.mass"], one.parameters["bodies.shank.mass"] = 5, 0.6
    for s in (sim, one):
        ran(s, 0.05, LEG_Q, LEG_V)
    np.testing.assert_allclose(sim.q[1], one.q, rtol=0, atol=1e-12)


def test_a_star_over_bodies_without_mass() -> None:
    sim = Simulation(CART_POLE, varying=["bodies.*.mass"])
    assert sim.parameters["bodies.*.mass"].tolist() == [1, 0.1]  # of cart and pole, not of the rail
    sim.parameters["bodies.*.mass"] *= 2
    # all masses twice as large: gravity moves it as before
    same = Simulation(CART_POLE)
    for s in (sim, same):
        ran(s, 0.1, [0, 1])
    np.testing.assert_allclose(sim.q, same.q, rtol=0, atol=1e-12)


def test_shapes_of_values() -> None:
    sim = Simulation(BALL, ground=0, varying=["friction", "gravity"], batch=4)
    assert list(sim.parameters) == ["friction", "gravity"]
    assert len(sim.parameters) == 2
    assert sim.parameters["friction"].shape == (4,)
    assert sim.parameters["gravity"].shape == (4, 3)
    sim.parameters["friction"] = 0.3
    sim.parameters["friction"][2] = 0.5
    assert sim.parameters["friction"].tolist() == [0.3, 0.3, 0.5, 0.3]
    sim.parameters["gravity"] = [0, 0, -1.6]
    assert sim.parameters["gravity"].tolist() == [[0, 0, -1.6]] * 4
    assert repr(sim.parameters) == "parameters: friction (4,), gravity (4, 3)"
    one = Simulation(BALL, ground=0, varying=["friction", "gravity"])
    one.parameters["friction"] = 0.25
    assert (one.parameters["friction"], one.parameters["gravity"].shape) == (0.25, (3,))
    assert repr(Simulation(BALL).parameters) == "parameters: none varies"


def test_nothing_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Counted(module.Kernel):
        def __init__(self, *args, **options):
            made.append(options["name"])
            super().__init__(*args, **options)

    monkeypatch.setattr(module, "Kernel", Counted)
    sim = Simulation(CART_POLE, varying=["bodies.pole.mass", "gravity"], batch=3)
    ends = []
    for value in (0.1, 0.2, [0.1, 0.2, 0.3]):
        sim.parameters["bodies.pole.mass"] = value
        sim.reset(q=[0, 1])
        sim.step([1])
        sim.run(0.05)
        ends.append(sim.q)
        sim.rollout(periods=3, channels=("q", "torques"))
    assert made == ["simulation of cart_pole"]
    assert not np.array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[2][:2], [ends[0][0], ends[1][0]])


def test_rollouts_take_the_parameters_of_their_robots() -> None:
    sim = Simulation(PENDULUM, varying=["joints.hinge.damping"], batch=2)
    sim.parameters["joints.hinge.damping"] = [0, 1]
    found = sim.rollout(([[1], [1]], [0]), periods=50).q
    assert abs(found[0, -1] - found[1, -1]) > 1e-4
    with pytest.raises(SimulationError, match="the parameters are of 2 robots, the rollout has 5"):
        sim.rollout((np.ones((5, 1)), [0]), periods=3)
    shared = Simulation(PENDULUM, varying=["joints.hinge.damping"])
    shared.parameters["joints.hinge.damping"] = 1
    np.testing.assert_array_equal(shared.rollout((np.ones((5, 1)), [0]), periods=50).q, [found[1]] * 5)
