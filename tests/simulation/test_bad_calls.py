"""Calls of a simulation that do not fit: nothing moves, and the message says what it takes."""

from collections.abc import Callable

import numpy as np
import pytest
from simulated_robots import BALL, CART_POLE, LEG, PENDULUM, QUADRUPED

import pliant
from pliant import ExternalForce, KernelError, PliantError, RigidContact, Simulation, SimulationError

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
    (lambda: ONE.reset(q=[0, np.nan]), "q is not finite at 'hinge'$"),
    (lambda: ONE.reset(v=[np.inf, 0]), "v is not finite at 'slider'$"),
    (lambda: Simulation(CART_POLE, batch=2).reset(q=[[0, 0], [0, np.nan]]), "q is not finite at 'hinge' of robot 1"),
    (lambda: ONE.reset(t=np.nan), "t is nan; it takes a finite time"),
    (lambda: ONE.reset(t="now"), "t is 'now'"),
    (lambda: ONE.reset(robots=[0]), "is for a batch; this simulation has one robot"),
    (lambda: ONE.run(-1), "duration is -1; it takes a time in seconds"),
    (lambda: ONE.run("1"), "duration is '1'"),
    (lambda: ONE.run(np.nan), "duration is nan"),
    (lambda: ONE.run(1, every=0), "every is 0; it takes 1 or more"),
    (lambda: ONE.run(1, channels=["q", "energi"]), r"no channel named 'energi'; did you mean 'energy'\?"),
    (lambda: ONE.run(1, lambda t, q, v: [0], u=[1]), "a controller or constant controls u, not both"),
    (lambda: ONE.run(0.01, u=[1, 2]), r"u has shape \(2,\); it takes \(1,\)"),
    (lambda: ONE.run(0.01, lambda t, q, v: [1, 2]), r"u has shape \(2,\); it takes \(1,\).* 1 motors: slider"),
    (lambda: ONE.rollout(), "takes controls, or the number of periods"),
    (lambda: ONE.rollout(controls=np.zeros(5)),
     r"controls have shape \(5,\); they take \(periods, 1\) or \(batch, periods, 1\)"),
    (lambda: ONE.rollout(controls=np.zeros((5, 2))), r"controls have shape \(5, 2\)"),
    (lambda: ONE.rollout(controls=np.zeros((5, 1)), periods=4), "controls have 5 periods, but periods is 4"),
    (lambda: ONE.rollout(periods=3, channels=["qq"]), r"no channel named 'qq' in the state; did you mean 'q'\?"),
    (lambda: ONE.rollout(5, periods=3), r"states is a int; give a State, arrays \(q, v\), or None"),
    (lambda: ONE.rollout(([0], [0, 0, 0]), periods=3), "v has shape"),
    (lambda: ONE.rollout(([0, np.nan], [0, 0]), periods=3), "q is not finite at 'hinge'"),
])  # fmt: skip
def test_calls(call: Call, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        call()


def test_rollouts_of_batches_that_differ() -> None:
    with pytest.raises(
        KernelError, match="state has 3 robots but input has 4; give each array the same batch, or none"
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


# ---- known to fall short


@pytest.mark.xfail(reason="one number stands for a whole row of motors or coordinates, which hides mistakes")
@pytest.mark.parametrize("call", [
    lambda: MANY.step([1.0]),
    lambda: MANY.step(np.zeros((3, 1))),
    lambda: MANY.reset(q=[0.5]),
    lambda: MANY.reset(v=np.zeros((3, 1))),
], ids=["u", "u of a batch", "q", "v of a batch"])  # fmt: skip
def test_rows_of_width_one(call: Call) -> None:
    with pytest.raises(SimulationError, match="has shape"):
        call()


@pytest.mark.xfail(reason="NumPy's and Python's own errors come through")
@pytest.mark.parametrize("call", [
    lambda: MANY.reset(robots=[9]),
    lambda: MANY.reset(robots=[True, False]),
    lambda: MANY.reset(robots="all"),
    lambda: ONE.rollout(periods=-1),
    lambda: ONE.rollout(periods="many"),
    lambda: ONE.rollout(controls="many"),
    lambda: ONE.rollout((np.zeros((3, 2)), np.zeros((2, 2))), periods=2),
    lambda: ONE.run(0.01, controller=5),
    lambda: Simulation(BALL, forces=ExternalForce("ball", force=(0, 0, 1))),
    lambda: Simulation(BALL, forces=["ball"]),
    lambda: Simulation(BALL, varying=[5]),
    lambda: MANY.state.robot(9),
    lambda: Simulation(BALL, batch=True),
    lambda: Simulation(BALL, ground=0, contact=RigidContact).step(),
], ids=lambda _: None)  # fmt: skip
def test_errors_that_are_not_ours(call: Call) -> None:
    with pytest.raises(PliantError):
        call()


@pytest.mark.xfail(reason="it is taken as it is, and the robot has no orientation")
def test_a_quaternion_of_no_length() -> None:
    with pytest.raises(SimulationError, match="quaternion"):
        MANY.reset(q=np.zeros(19))


@pytest.mark.xfail(reason="silently the same as None")
def test_no_threads_in_a_rollout() -> None:
    with pytest.raises(PliantError, match="threads is 0"):
        ONE.rollout(periods=1, threads=0)


@pytest.mark.xfail(reason="silently cut off to 1")
def test_a_part_of_a_period_in_a_rollout() -> None:
    with pytest.raises(PliantError, match=r"periods is 1.5"):
        ONE.rollout(periods=1.5)  # type: ignore[arg-type]


@pytest.mark.xfail(reason="numbers of NumPy are refused where those of Python are taken")
@pytest.mark.parametrize("options", [{"batch": np.int64(3)}, {"substeps": np.int64(2)}, {"dt": np.float32(0.001)}])
def test_numbers_of_numpy(options: dict) -> None:
    Simulation(PENDULUM, **options)
