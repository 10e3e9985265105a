"""Input that does not fit is refused at once: the message names the thing and the cure."""

import re
from collections.abc import Callable

import numpy as np
import pytest

import pliant
from pliant import (
    CompliantContact, ContactError, ExternalForce, PliantError, RigidContact, RobotError, Simulation, SimulationError,
    TraceError,
)  # fmt: skip
from pliant.robot import Planar, RobotBuilder
from simulated_robots import BALL, CART_POLE, LEG, LEG_Q, PENDULUM, QUADRUPED, leg

Call = Callable[[], object]


def refused(call: Call, kind: type[PliantError], message: str) -> None:
    assert issubclass(kind, PliantError)
    with pytest.raises(kind, match=message) as caught:
        call()
    assert type(caught.value) is kind


# ---- the constructor


@pytest.mark.parametrize("options, message", [
    ({"dt": 0}, "dt is 0; it takes a time in seconds above zero"),
    ({"dt": -1e-3}, "dt is -0.001"),
    ({"dt": np.nan}, "dt is nan"),
    ({"dt": np.inf}, "dt is inf"),
    ({"dt": "1e-3"}, "dt is '1e-3'; it takes a time"),
    ({"dt": None}, "dt is None"),
    ({"batch": 0}, "batch is 0; it takes None, or 1 or more"),
    ({"batch": -3}, "batch is -3"),
    ({"batch": 2.0}, "batch is 2.0"),
    ({"substeps": 0}, "substeps is 0; it takes 1 or more"),
    ({"substeps": 1.5}, "substeps is 1.5"),
    ({"threads": 0}, "threads is 0; it takes 1 or more"),
    ({"precision": "double"}, "precision is 'double'; it takes 'float64' or 'float32'"),
    ({"integrator": "rk45"}, r"no integrator named 'rk45'; did you mean 'rk4'\?"),
    ({"integrator": "BDF"},
     "no integrator named 'BDF'; valid: 'semi-implicit', 'euler', 'rk4', 'dormand-prince', 'midpoint'"),
    ({"contact": "rigid"}, "contact is 'rigid'; it takes a RigidContact or a CompliantContact"),
])  # fmt: skip
def test_options(options: dict, message: str) -> None:
    refused(lambda: Simulation(PENDULUM, **options), SimulationError, message)


def test_what_is_no_robot() -> None:
    refused(lambda: Simulation("quadruped"), SimulationError, "takes a Robot first, not str; see pliant.load")  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"rtol": -1}, {"atol": 0}, {"rtol": np.nan}])
def test_tolerances(options: dict) -> None:
    message = f"{next(iter(options))} of adaptive steps is .*above 0"
    refused(lambda: Simulation(PENDULUM, integrator="dormand-prince", **options), PliantError, message)


@pytest.mark.parametrize("integrator", ["euler", "rk4", "midpoint", "dormand-prince", "rosenbrock"])
def test_what_smooth_integrators_cannot_do(integrator: str) -> None:
    """Each says what is in the way and how to go round it."""

    def smooth(robot, **options) -> Call:
        return lambda: Simulation(robot, integrator=integrator, **options)

    cases = {
        r"has rigid contact; name those that stick and stay, held=\('ball', ...\)": smooth(BALL, ground=0),
        "has limits of joints; give limits=False": smooth(CART_POLE),
        "has dry friction of joints; set it to zero": smooth(PENDULUM.with_joint("hinge", friction=0.1)),
    }
    for message, call in cases.items():
        refused(call, SimulationError, f"the integrator '{integrator}' is for smooth motion and this robot {message}")
        refused(call, SimulationError, "or use integrator='semi-implicit'")


# ---- contact and ground


@pytest.mark.parametrize("call, subject, field, cure", [
    (lambda: RigidContact(friction=-0.1), "RigidContact", "friction", "0 or more"),
    (lambda: RigidContact(friction=np.nan), "RigidContact", "friction", "a finite number"),
    (lambda: RigidContact(friction="high"), "RigidContact", "friction", "a number"),
    (lambda: RigidContact(friction=None), "RigidContact", "friction", "None is for grounds and contacts"),
    (lambda: RigidContact(restitution=1.1), "RigidContact", "restitution", "above 1, an impact would add energy"),
    (lambda: RigidContact(restitution=-0.1), "RigidContact", "restitution", "0 or more"),
    (lambda: RigidContact(sweeps=0), "RigidContact", "sweeps", "1 or more"),
    (lambda: RigidContact(tolerance=0), "RigidContact", "tolerance", "a number above 0"),
    (lambda: RigidContact(correction=1.5), "RigidContact", "correction", "at most 1"),
    (lambda: CompliantContact(sweeps=0), "CompliantContact", "sweeps", "1 or more"),
    (lambda: CompliantContact(law=5), "", "law", "a function"),
    (lambda: CompliantContact(tolerance=0), "CompliantContact", "tolerance", "a number above 0"),
    (lambda: CompliantContact(tolerance=np.nan), "CompliantContact", "tolerance", "a finite number"),
    (lambda: CompliantContact(law=lambda depth, rate, slip: depth), "contact law <lambda>", "law", "return"),
    (lambda: Simulation(BALL, ground="flat"), "", "ground", "flat() or slope()"),
    (lambda: Simulation(BALL, ground=lambda x: 0), "ground '<lambda>', function <lambda>", "function",
     "it is called with x, y"),
    (lambda: Simulation(BALL, ground=lambda x, y: None), "ground '<lambda>', function <lambda>", "height",
     "return one scalar"),
])  # fmt: skip
def test_contact(call: Call, subject: str, field: str, cure: str) -> None:
    with pytest.raises(ContactError) as error:
        call()
    assert (error.value.subject, error.value.field) == (subject, field)
    assert cure in error.value.cure


def test_functions_that_branch() -> None:
    def step(x, y):
        return 0.1 if x > 1 else 0

    def law(depth, rate, slip):
        return (1e4 * depth if depth > 0 else 0), (0, 0)

    def torque(u, q, v, t):
        return u if v > 0 else 0

    cure = r".*use pliant.math.select\(condition, then"
    refused(lambda: Simulation(BALL, ground=step), TraceError, f"function step: {cure}")
    refused(lambda: CompliantContact(law), TraceError, f"contact law law: {cure}")
    motor = PENDULUM.with_motors(law=torque)
    cure = r".*pliant.math.select\(condition, a, b\)"
    refused(lambda: Simulation(motor).step(), TraceError, f"law of motor 'hinge': {cure}")


@pytest.mark.parametrize("call, message", [
    (lambda: BALL.with_contact("bal"), "no frame named 'bal' in robot 'ball'; did you mean 'ball'"),
    (lambda: BALL.with_contact("ball", name="b", friction=-1), "friction"),
    (lambda: BALL.with_contact("ball", name="b", radius=-1), "radius"),
    (lambda: BALL.without_contacts("foot"), "no contact named 'foot' in robot 'ball'"),
    (lambda: Simulation(BALL, forces=[ExternalForce("bal", force=(1, 0, 0))]),
     "no frame named 'bal'.*did you mean 'ball'"),
    (lambda: Simulation(BALL, varying=["bodies.bal.mass"]), "no body named 'bal'.*did you mean 'ball'"),
])  # fmt: skip
def test_names_and_numbers(call: Call, message: str) -> None:
    with pytest.raises(PliantError, match=message):
        call()


def test_a_force_on_a_body_that_does_not_move() -> None:
    with pytest.raises(PliantError, match="does not move") as error:
        Simulation(leg("fixed"), forces=[ExternalForce("rail", force=(1, 0, 0))]).step()
    assert (error.value.subject, error.value.field) == ("force on 'rail'", "body")


def test_a_law_of_a_motor() -> None:
    for wrong in (lambda *x: None, lambda *x: [1, 2]):
        robot = PENDULUM.with_motors(law=wrong)
        refused(lambda r=robot: Simulation(r).step(), PliantError, "law of motor 'hinge' returned .* one torque")
    refused(lambda: PENDULUM.with_motors(law=3), RobotError, r"it takes a function \(u, q, v, t\) -> torque")


# ---- calls of a simulation that do not fit: nothing moves, and the message says what it takes


ONE = Simulation(CART_POLE)
MANY = Simulation(QUADRUPED, ground=pliant.flat(), batch=3)


@pytest.mark.parametrize("call, message", [
    (lambda: MANY.step(np.zeros(11)),
     r"u has shape \(11,\); it takes \(12,\) or \(3, 12\).*12 motors: lf_hip_roll, lf_hip_pitch"),
    (lambda: MANY.step(np.zeros((2, 12))), r"u has shape \(2, 12\)"),
    (lambda: MANY.step(np.zeros((1, 3, 12))), r"u has shape \(1, 3, 12\)"),
    (lambda: MANY.step("fast"), "one number for each of the 12 motors"),
    (lambda: MANY.reset(q=np.zeros(18)), r"q has shape \(18,\); it takes \(19,\) or \(3, 19\)"),
    (lambda: MANY.reset(q=np.zeros((2, 19))), r"q has shape \(2, 19\); it takes \(19,\) or \(3, 19\)"),
    (lambda: MANY.reset(v=np.zeros(19)), r"v has shape \(19,\); it takes \(18,\)"),
    (lambda: MANY.reset(v=np.zeros((3, 18)), robots=[0, 1]), r"v has shape \(3, 18\); it takes \(18,\) or \(2, 18\)"),
    (lambda: MANY.reset(q="up"), "q is 'up'; it takes real numbers"),
    (lambda: MANY.reset(q=[[0, np.nan]] * 3), "q has shape"),
    (lambda: ONE.reset(q=[0, np.nan]), "q is not finite at 'hinge'; it takes"),
    (lambda: ONE.reset(v=[np.inf, 0]), "v is not finite at 'slider'; it takes"),
    (lambda: Simulation(CART_POLE, batch=2).reset(q=[[0, 0], [0, np.nan]]), "q is not finite at 'hinge' of robot 1"),
    (lambda: ONE.reset(t=np.nan), "t is nan; it takes a time in seconds"),
    (lambda: ONE.reset(t="now"), "t is 'now'"),
    (lambda: ONE.reset(robots=[0]), "is for a batch; this simulation has one robot"),
    (lambda: ONE.run(-1), "duration is -1; it takes a time in seconds"),
    (lambda: ONE.run("1"), "duration is '1'"),
    (lambda: ONE.run(np.nan), "duration is nan"),
    (lambda: ONE.run(1, every=0), "every is 0; it takes a time .*not shorter than the control period of 0.001 s"),
    (lambda: ONE.run(1, every=0.9e-3), "every is 0.0009; it takes a time .*not shorter than"),
    (lambda: ONE.run(1, channels=["q", "energi"]), r"no channel named 'energi'; did you mean 'energy'\?"),
    (lambda: ONE.run(1, controller=lambda t, q, v: [0], u=[1]), "run has controller and u; give one of them"),
    (lambda: ONE.run(0.01, u=[1, 2]), r"u has shape \(2,\); it takes \(1,\)"),
    (lambda: ONE.run(0.01, controller=lambda t, q, v: [1, 2]),
     r"u has shape \(2,\); it takes \(1,\).* 1 motors: slider"),
    (lambda: ONE.rollout(), "rollout has no controls; give them, or the number of periods"),
    (lambda: ONE.rollout(controls=np.zeros(5)),
     r"controls have shape \(5,\); they take \(periods, 1\) or \(batch, periods, 1\)"),
    (lambda: ONE.rollout(controls=np.zeros((5, 2))), r"controls have shape \(5, 2\)"),
    (lambda: ONE.rollout(controls=np.zeros((5, 1)), periods=4), "controls have 5 periods, but periods is 4"),
    (lambda: ONE.rollout(periods=3, channels=["qq"]), r"no channel named 'qq' in the state; did you mean 'q'\?"),
    (lambda: ONE.rollout(5, periods=3), r"states is a int; give a State, arrays \(q, v\), or None"),
    (lambda: ONE.rollout(([0, 0], [0, 0, 0]), periods=3), "v has shape"),
    (lambda: ONE.rollout(([0, np.nan], [0, 0]), periods=3), "q is not finite at 'hinge'"),
    (lambda: ONE.rollout((np.zeros((3, 2)), [0, 0]), np.zeros((4, 5, 1))),
     "the states are of 3 robots, the controls of 4; give both the same batch"),
    # one number stands for no row of several
    *((call, "has shape") for call in (
        lambda: MANY.step([1.0]), lambda: MANY.step(np.zeros((3, 1))), lambda: MANY.reset(q=[0.5]),
        lambda: MANY.reset(v=np.zeros((3, 1))),
    )),
    # what Python and NumPy would say less well
    (lambda: MANY.reset(robots=[9]), r"robots is \[9\]; it takes indices from 0 to 2 or a mask of 3"),
    (lambda: MANY.reset(robots=-4), "robots is -4; it takes"),
    (lambda: MANY.reset(robots=[True, False]), r"robots is \[True, False\]; it takes indices .* or a mask of 3"),
    (lambda: MANY.reset(robots="all"), "robots is 'all'"),
    (lambda: MANY.reset(robots=[[0, 1], [2]]), "robots is .*it takes"),
    (lambda: MANY.reset(robots=[0.5]), "robots is .*it takes"),
    (lambda: ONE.rollout(periods=-1), "periods is -1; it takes None, or 0 or more"),
    (lambda: ONE.rollout(periods="many"), "periods is 'many'"),
    (lambda: ONE.rollout(periods=1.5), "periods is 1.5"),
    (lambda: ONE.rollout(periods=True), "periods is True"),
    (lambda: ONE.rollout(periods=1, threads=0), "threads is 0; it takes 1 or more"),
    (lambda: ONE.rollout(controls="many"), "controls is 'many'; it takes an array of numbers"),
    (lambda: ONE.rollout(controls=[[1], [1, 2]]), "controls is .*; it takes an array of numbers"),
    (lambda: ONE.rollout(("up", [0, 0]), periods=1), "q is 'up'; it takes an array of numbers"),
    (lambda: ONE.rollout((np.zeros((3, 2)), np.zeros((2, 2))), periods=2),
     r"q has shape \(3, 2\) and v \(2, 2\); give both for the same robots, or one for all"),
    (lambda: ONE.rollout(periods=1, channels="q"), r"channels is the text 'q'; give a list of names, as in \['q'\]"),
    (lambda: ONE.rollout(periods=1, out=[np.zeros((1, 2))]), "out is .*it takes arrays by the names of channels"),
    (lambda: ONE.rollout(periods=1, out={"u": np.zeros((1, 1))}), "no channel named 'u' in the rollout's out"),
    (lambda: ONE.rollout(periods=1, out={"q": [0, 0]}), "out for channel 'q' is a list; it takes a NumPy array"),
    (lambda: ONE.rollout(periods=1, out={"q": np.zeros((2, 2))}),
     r"out for channel 'q' has shape \(2, 2\) .*makes \(1, 2\) of float64"),
    (lambda: ONE.rollout(periods=1, out={"q": np.zeros((1, 2), "f")}), "out for channel 'q' .* type float32.*float64"),
    (lambda: ONE.rollout(periods=2, out={"q": np.zeros((2, 2), order="F")}), "out for channel 'q' is read-only or not"),
    (lambda: ONE.rollout(periods=1, out={"q": ONE.data[None, :2]}), "out for channel 'q' shares its memory with"),
    (lambda: ONE.run(0.01, controller=5), r"controller is 5; it takes a function \(t, q, v\) -> u"),
    (lambda: ONE.run(0.01, controller=lambda t, q: [0]),
     r"controller '<lambda>' is called with \(t, q, v\): too many positional"),
    (lambda: ONE.run(0.01, channels="q"), "channels is the text 'q'"),
    (lambda: Simulation(BALL, forces=ExternalForce("ball", force=(0, 0, 1))),
     "forces is ExternalForce.*; it takes a list of pliant.ExternalForce"),
    (lambda: Simulation(BALL, forces=["ball"]), r"forces is \['ball'\]; it takes a list of pliant.ExternalForce"),
    (lambda: Simulation(BALL, forces="ball"), "forces is 'ball'"),
    (lambda: Simulation(BALL, varying=[5]), "varying has 5; it takes a list of paths"),
    (lambda: Simulation(BALL, varying=5), "varying has 5; it takes a list of paths"),
    (lambda: Simulation(BALL, batch=True), "batch is True; it takes None, or 1 or more"),
    (lambda: Simulation(BALL, contact=RigidContact), r"contact is the class RigidContact; make one: RigidContact\(\)"),
])  # fmt: skip
def test_calls(call: Call, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        call()


def test_nothing_moves_by_a_refused_call() -> None:
    sim = Simulation(LEG, ground=0, batch=2)
    sim.reset(q=LEG_Q)
    sim.run(0.01)
    before = sim.state
    for call in (
        lambda: sim.step(np.zeros(3)),
        lambda: sim.reset(q=np.zeros(3)),
        lambda: sim.reset(v=np.full(LEG.nv, np.nan)),
        lambda: sim.run(0.1, u=np.zeros(5)),
    ):
        with pytest.raises(SimulationError):
            call()
    assert sim.state.identical(before)


def test_one_number_for_one_motor() -> None:
    sim = Simulation(PENDULUM, batch=2)
    sim.step(0.5)
    sim.run(0.001, u=0.5)
    np.testing.assert_array_equal(sim.tau, [[0.5], [0.5]])
    with pytest.raises(SimulationError, match=r"u is 0.5; it takes \(12,\) or \(3, 12\)"):
        MANY.step(0.5)


@pytest.mark.parametrize("options", [
    {"batch": np.int64(3)}, {"substeps": np.int64(2)}, {"threads": np.int32(1)}, {"dt": np.float32(0.001)},
    {"dt": np.float64(0.001)},
])  # fmt: skip
def test_numbers_of_numpy(options: dict) -> None:
    sim = Simulation(PENDULUM, **options)
    sim.step()
    sim.reset(t=np.float64(0.5))
    sim.run(np.float64(0.01), every=np.float32(0.002))
    assert sim.rollout(periods=np.int64(3), threads=np.int64(1)).q.shape[-2] == 3
    assert sim.t == pytest.approx(0.51)


# ---- quaternions


def test_quaternions_of_other_lengths() -> None:
    for length in (0, 0.5, 1.002, 2):
        q = QUADRUPED.neutral()
        q[6] = length
        message = f"quaternion of joint 'root_joint' of robot 0 has the length {length}"
        refused(lambda q=q: MANY.reset(q=q), SimulationError, message)
        refused(lambda q=q: MANY.rollout((q, np.zeros(18)), periods=1), SimulationError, "quaternion of joint")


def test_which_robot_has_a_quaternion_of_another_length() -> None:
    q = np.tile(BALL.neutral(), (3, 1))
    q[2, 3:] = 0
    with pytest.raises(SimulationError, match="of robot 2 has the length 0; it takes unit length"):
        Simulation(BALL, batch=3).reset(q=q)
    with pytest.raises(SimulationError, match=r"quaternion of joint '[^']*' has the length 0"):
        Simulation(BALL).reset(q=np.zeros(7))


def test_quaternions_that_were_rounded_are_brought_to_unit_length() -> None:
    sim = Simulation(BALL, batch=2)
    q = np.array([[0, 0, 0, 0.1, 0.2, 0.3, 0.927], [0, 0, 0, 0.6, 0, 0, 0.8]])
    sim.reset(q=q)
    np.testing.assert_allclose(np.linalg.norm(sim.q[:, 3:], axis=1), 1, rtol=0, atol=1e-15)
    np.testing.assert_allclose(sim.q, q, rtol=0, atol=1e-3)
    assert sim.q[1].tolist() == q[1].tolist()
    before = sim.q
    sim.reset(q=before)
    assert sim.q.tobytes() == before.tobytes()


def test_directions_of_planar_joints() -> None:
    builder = RobotBuilder("puck")
    builder.body("puck", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1))
    builder.joint("plane", Planar((0, 0, 1)), "world", "puck", (0, 0, 0), (0, 0, 0))
    sim = Simulation(builder.build())
    with pytest.raises(SimulationError, match="cosine and sine of joint 'plane' has the length 0"):
        sim.reset(q=np.zeros(4))
    sim.reset(q=[3, 4, 0.8, 0.6004])
    assert np.linalg.norm(sim.q[2:]) == pytest.approx(1, abs=1e-15)
    assert sim.q[:2].tolist() == [3, 4]


# ---- parameters that do not exist, and values that do not fit: the message names the path


def setting(path: str, value: object) -> Callable[[], None]:
    sim = Simulation(BALL, ground=0, varying=["friction", "gravity"], batch=3)
    return lambda: sim.parameters.__setitem__(path, value)


@pytest.mark.parametrize("call, message", [
    (setting("friction", np.nan), "'friction' has values that are not finite"),
    (setting("gravity", [0, 0, np.inf]), "'gravity' has values that are not finite"),
    (setting("friction", [1, 2]), r"'friction' has values of shape \(2,\); it takes \(3,\)"),
    (setting("friction", np.ones((3, 1))), r"'friction' has values of shape \(3, 1\); it takes \(3,\)"),
    (setting("gravity", np.ones((2, 3))), r"'gravity' has values of shape \(2, 3\); it takes \(3, 3\)"),
    (setting("friction", "rough"), "'friction' is 'rough'; it takes numbers"),
    (setting("fricton", 1), r"no varying parameter named 'fricton'.*did you mean 'friction'\?.*declare it with"),
    (lambda: Simulation(BALL, varying="gravity"), r"give a list of paths, as in \['gravity'\]"),
    (lambda: Simulation(BALL, varying=["frction"]), "no parameter has the path 'frction'; valid: gravity, friction"),
    (lambda: Simulation(BALL, varying=["bodies.mass"]), "valid: .*bodies.NAME.WHAT"),
    (lambda: Simulation(LEG, varying=["bodies.shank.mas"]), "'mas' in body 'shank'; did you mean 'mass'"),
    (lambda: Simulation(LEG, varying=["joints.hip.dampin"]), "in joint 'hip'; did you mean 'damping'"),
    (lambda: Simulation(LEG, varying=["motors.hip.control"]), "'control' in motor 'hip'; valid: 'gear'"),
    (lambda: Simulation(LEG, varying=["springs.band.stif"]), "in spring 'band'; did you mean 'stiffness'"),
    (lambda: Simulation(PENDULUM, varying=["motors.hinge.no_load_speed"]), "is inf; give the robot a finite value"),
    (lambda: Simulation(LEG, varying=["motors.*.kp", "motors.hip.kp"]), "'motors.hip.kp' is named twice"),
    (lambda: Simulation(BALL, contact=pliant.CompliantContact(), varying=["law.stifness"]),
     "no attribute named 'stifness' in the contact law SpringDamper.*did you mean 'stiffness'"),
    (lambda: Simulation(BALL, varying=["law.stiffness"]), "no parameter has the path 'law.stiffness'"),
    (lambda: Simulation(BALL, varying=["friction"]).parameters.pop("friction"), "cannot be removed"),
    (lambda: Simulation(BALL, varying=["sweeps"]), r"'sweeps' cannot vary: .*give it to RigidContact\(sweeps=...\)"),
    (lambda: Simulation(BALL, varying=["correction"]), "'correction' cannot vary"),
    (lambda: Simulation(BALL, varying=["tolerance"]), "'tolerance' cannot vary"),
    (lambda: Simulation(BALL, contact=pliant.CompliantContact(), varying=["law"]), r"CompliantContact\(law=...\)"),
    (lambda: Simulation(BALL, varying=["gravity", "gravity"]), "'gravity' is named twice"),
    (lambda: Simulation(CART_POLE, varying=["bodies.rail.mass"]), "body 'rail' has no mass"),
])  # fmt: skip
def test_wrong_parameters(call: Callable[[], object], message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        call()


@pytest.mark.parametrize("path, value, message", [
    ("friction", -0.1, "has the value -0.1; it must be 0 or more"),
    ("restitution", 1.5, "has the value 1.5; it must be 0 or more and at most 1"),
    ("restitution", -0.5, "has the value -0.5"),
    ("bodies.trunk.mass", -1, "has the value -1; it must be above 0"),
    ("bodies.*.mass", [1, 0, 1], "has the value 0; it must be above 0"),
    ("bodies.shank.inertia", [1, 0, 0, 1, 0, 3], r"principal moments \(1, 1, 3\) kg m\^2; .*none above the sum"),
    ("bodies.shank.inertia", [-1, 0, 0, 1, 0, 1], "principal moments"),
    ("joints.knee.damping", -1, "0 or more"),
    ("joints.knee.armature", -1, "0 or more"),
    ("joints.knee.friction", -1, "0 or more"),
    ("joints.knee.stiffness", -1, "0 or more"),
    ("joints.knee.restitution", 2, "at most 1"),
    ("motors.*.kp", [-1, 1], "0 or more"),
    ("motors.hip.kd", -1, "0 or more"),
    ("motors.hip.effort_limit", -1, "0 or more"),
    ("motors.knee.no_load_speed", 0, "above 0"),
    ("motors.hip.rotor_inertia", -1e-9, "0 or more"),
    ("motors.knee.dry_friction", -1, "0 or more"),
    ("springs.band.stiffness", -1, "0 or more"),
    ("springs.band.length", -1, "0 or more"),
])  # fmt: skip
def test_impossible_values(path: str, value: object, message: str) -> None:
    """What edits of the robot and contact models refuse; nothing changes."""
    for batch in (None, 2):
        sim = Simulation(LEG, ground=0, varying=[path], batch=batch)
        before = sim.parameters[path].copy()
        with pytest.raises(SimulationError, match=f"parameter '{re.escape(path)}' .*{message}"):
            sim.parameters[path] = value
        np.testing.assert_array_equal(sim.parameters[path], before)


@pytest.mark.parametrize("path, value", [
    ("friction", 0), ("restitution", 1), ("gravity", [0, 1, -2]), ("bodies.shank.com", [-1, 0, -1]),
    ("bodies.shank.inertia", [1, 0, 0, 1, 0, 2]), ("joints.knee.rest", -1), ("motors.hip.gear", -8),
    ("motors.hip.kp", 0),
])  # fmt: skip
def test_values_on_the_border(path: str, value: object) -> None:
    sim = Simulation(LEG, ground=0, varying=[path])
    sim.parameters[path] = value
    assert np.array_equal(sim.parameters[path], value)


@pytest.mark.parametrize("path, value", [("law.stiffness", -1), ("law.friction", -1), ("law.slip_speed", 0)])
def test_impossible_values_of_a_law(path: str, value: float) -> None:
    sim = Simulation(BALL, ground=0, contact=pliant.CompliantContact(), varying=[path])
    message = f"parameter '{path}' does not fit: {path[4:]} of SpringDamper is {value}"
    with pytest.raises(SimulationError, match=message):
        sim.parameters[path] = value


def test_a_floating_body_without_mass_is_reported() -> None:
    ghost = RobotBuilder("ghost").body("ghost", 0, (0, 0, 0), (0, 0, 0, 0, 0, 0)).build(base="free")
    with pytest.raises(RobotError, match=r"joint 'root_joint'.* moves no inertia.*armature="):
        Simulation(ghost).step()
    Simulation(ghost.with_joint("root_joint", armature=0.001)).step()
