"""What travels to workers pickles: functions by reference, lambdas by their formula; results are equal to the bit."""

import pickle

import numpy as np
import pytest
import walking_robots
from small_tasks import balance

import pliant
from pliant.environment import Action, Event, Reward, Termination, rewards, terminations
from pliant.math import maximum, sin
from pliant.scalar.formulas import Formula


def again(x):
    return pickle.loads(pickle.dumps(x))


GROUNDS = {
    "flat": pliant.flat(0.1, friction=0.3),
    "slope": pliant.slope(0.2, direction=0.5),
    "stairs": pliant.stairs(0.1, 0.3, steps=4),
    "waves": pliant.waves(0.1, 2.0),
    "ridges": pliant.waves(0.1, 2.0, direction=0.3),
    "height_map": pliant.height_map(np.arange(12.0).reshape(3, 4) / 50, spacing=0.5),
    "lambda": pliant.Ground(lambda x, y: 0.1 * sin(3 * x) * y, "own"),
}


@pytest.mark.parametrize("name", GROUNDS)
def test_grounds_have_the_same_heights_and_normals(name: str) -> None:
    ground = GROUNDS[name]
    copy = again(ground)
    x, y = np.random.default_rng(0).uniform(-2, 2, (2, 50))
    assert np.array_equal(copy.height(x, y), ground.height(x, y))
    for own, other in zip(copy.surface(x, y)[1], ground.surface(x, y)[1], strict=True):
        assert np.array_equal(own, other)
    assert (copy.name, copy.friction, copy.has_edges) == (ground.name, ground.friction, ground.has_edges)
    assert (copy.faces is None) == (ground.faces is None)


def level(x, y):
    return 0 * x + 0.25


def test_functions_of_modules_go_by_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level, "__module__", walking_robots.__name__)
    monkeypatch.setattr(walking_robots, "level", level, raising=False)
    assert again(pliant.Ground(level)).function is level
    assert isinstance(again(pliant.Ground(lambda x, y: x)).function, Formula)


def test_laws_of_robots_become_formulas() -> None:
    robot = pliant.load("two_link_arm")
    motor, joint = next(iter(robot.motors)), next(iter(robot.motors.values())).joint
    robot = robot.with_motor(motor, law=lambda u, q, v, t: u - 0.1 * v * maximum(v, 0))
    robot = robot.with_flexibility(joint, stiffness=20.0, inertia=1e-4, law=lambda x: x * x * x)
    copy = again(robot)
    assert copy.motors[motor].law(1.0, 0.2, 3.0, 0.0) == robot.motors[motor].law(1.0, 0.2, 3.0, 0.0)
    laws = [(a.law, b.law) for a, b in zip(copy.joints.values(), robot.joints.values(), strict=True) if any(b.law)]
    assert len(laws) == 1 and laws[0][0][0](0.3) == laws[0][1][0](0.3)
    # formulas pickle themselves
    assert again(copy).motors[motor].law(1.0, 0.2, 3.0, 0.0) == robot.motors[motor].law(1.0, 0.2, 3.0, 0.0)


def test_contact_laws_and_forces() -> None:
    own = pliant.CompliantContact(lambda depth, rate, slip: (1e4 * depth, (-slip[0], -2 * slip[1])))
    assert again(own).law(0.01, 0.0, (1.0, 2.0)) == own.law(0.01, 0.0, (1.0, 2.0))
    assert again(pliant.CompliantContact(pliant.HuntCrossley(1e4, 0.5))).law == pliant.HuntCrossley(1e4, 0.5)
    force = pliant.ExternalForce("base", force=lambda t: (10 * sin(t), 0, t))
    assert list(again(force).force(0.5)) == list(force.force(0.5))


def test_a_simulation_moves_on_to_the_same_bits() -> None:
    robot = pliant.load("cart_pole")
    robot = robot.with_contact(list(robot.bodies)[-1], radius=0.05)
    gain = 3.0

    def held(t, q, v, command, memory):
        u = [0.1 * sin(gain * t) + command[0] - v[0]] * robot.nu
        return u, [memory[0] + q[0]]

    sim = pliant.Simulation(
        robot, dt=2e-3, ground=walking_robots.rough(), controller=pliant.Controller(held, commands=1, memory=(0.5,)),
        forces=[pliant.ExternalForce(list(robot.bodies)[-1], force=lambda t: (sin(t), 0, 0))], batch=3, seed=4,
        varying=["friction", "gravity"],
    )  # fmt: skip
    sim.parameters["friction"] = [0.2, 0.5, 0.9]
    for _ in range(3):
        sim.step([0.1])
    copy = again(sim)
    assert copy.state.identical(sim.state)
    for _ in range(3):
        sim.step([0.1])
        copy.step([0.1])
    assert copy.state.identical(sim.state)
    copy.reset(seed=9)
    sim.reset(seed=9)
    assert copy.state.identical(sim.state)


def test_an_environment_goes_on_to_the_same_bits() -> None:
    env = balance(4, critic=True)
    fresh = again(env)
    env.weights["effort"] = -0.5
    env.reset(seed=3)
    actions = np.full((4, 1), 0.3, np.float32)
    env.step(actions)
    copy = again(env)
    assert copy.digest == env.digest and dict(copy.weights) == dict(env.weights)
    for _ in range(5):
        own, other = env.step(actions), copy.step(actions)
        assert np.array_equal(own.rewards, other.rewards)
        assert np.array_equal(own.observations["critic"], other.observations["critic"])
    fresh.weights["effort"] = -0.5
    assert np.array_equal(fresh.reset(seed=3)["actor"], env.reset(seed=3)["actor"])


@pytest.mark.parametrize("make", [
    lambda: Reward(lambda now: 1.0),
    lambda: Termination(lambda now: now.t > 1),
    lambda: Event(lambda now, chance: {}),
    lambda: Action(lambda action, now: action),
    lambda: pliant.Controller(lambda t, q, v: [0.0]),
], ids=["reward", "termination", "event", "action", "controller"])  # fmt: skip
def test_functions_that_have_no_formula_say_what_to_do(make) -> None:
    thing = make()
    with pytest.raises(pliant.PliantError) as error:
        pickle.dumps(thing)
    assert "at the top level of a module" in error.value.cure


def test_terms_of_the_library_pickle() -> None:
    for term in (Reward(rewards.alive, 2.0), Termination(terminations.joint_beyond, joint="hinge", most=0.3)):
        copy = again(term)
        assert copy.function is term.function and copy.describe() == term.describe()
