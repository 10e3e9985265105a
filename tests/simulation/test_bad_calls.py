"""Calls of a simulation that do not fit: nothing moves, and the message says what it takes."""

from collections.abc import Callable

import numpy as np
import pytest

import pliant
from pliant import ExternalForce, RigidContact, Simulation, SimulationError
from pliant.robot import Planar, RobotBuilder
from simulated_robots import BALL, CART_POLE, LEG, PENDULUM, QUADRUPED

Call = Callable[[], object]

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
    (lambda: MANY.reset(q="up"), "q has shape"),
    (lambda: MANY.reset(q=[[0, np.nan]] * 3), "q has shape"),
    (lambda: ONE.reset(q=[0, np.nan]), "q is not finite at 'hinge'; it takes"),
    (lambda: ONE.reset(v=[np.inf, 0]), "v is not finite at 'slider'; it takes"),
    (lambda: Simulation(CART_POLE, batch=2).reset(q=[[0, 0], [0, np.nan]]), "q is not finite at 'hinge' of robot 1"),
    (lambda: ONE.reset(t=np.nan), "t is nan; it takes a finite time"),
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
])  # fmt: skip
def test_calls(call: Call, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        call()


def test_rollouts_of_batches_that_differ() -> None:
    with pytest.raises(
        SimulationError, match="the states are of 3 robots, the controls of 4; give both the same batch"
    ):
        ONE.rollout((np.zeros((3, 2)), [0, 0]), np.zeros((4, 5, 1)))


def test_nothing_moves_by_a_refused_call() -> None:
    sim = Simulation(LEG, ground=0, batch=2)
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


@pytest.mark.parametrize("call", [
    lambda: MANY.step([1.0]),
    lambda: MANY.step(np.zeros((3, 1))),
    lambda: MANY.reset(q=[0.5]),
    lambda: MANY.reset(v=np.zeros((3, 1))),
], ids=["u", "u of a batch", "q", "v of a batch"])  # fmt: skip
def test_rows_of_width_one(call: Call) -> None:
    """One number stands for no row of several."""
    with pytest.raises(SimulationError, match="has shape"):
        call()


def test_one_number_for_one_motor() -> None:
    sim = Simulation(PENDULUM, batch=2)
    sim.step(0.5)
    sim.run(0.001, u=0.5)
    np.testing.assert_array_equal(sim.tau, [[0.5], [0.5]])
    with pytest.raises(SimulationError, match=r"u is 0.5; it takes \(12,\) or \(3, 12\)"):
        MANY.step(0.5)


@pytest.mark.parametrize("call, message", [
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
def test_what_python_and_numpy_would_say_less_well(call: Call, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        call()


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
        with pytest.raises(
            SimulationError, match=f"quaternion of joint 'root_joint' of robot 0 has the length {length}"
        ):
            MANY.reset(q=q)
        with pytest.raises(SimulationError, match="quaternion of joint"):
            MANY.rollout((q, np.zeros(18)), periods=1)


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
