"""Events: starts, numbers that differ from robot to robot, and pushes, with their distributions and their times."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from simple_bodies import box
from small_tasks import balance

import pliant
from pliant.environment import (
    Action,
    Environment,
    Event,
    Exponential,
    LogUniform,
    Normal,
    Observation,
    Uniform,
    events,
    observations,
    rewards,
)
from pliant.errors import PliantError, SimulationError
from pliant.math import cos

SEEN = {"place": observations.joint_offsets}
MASS = "bodies.pole.mass"


def cart(batch: int, varying: Any = (), timeout: float = 10.0, **events_: Event) -> Environment:
    """Carts without an end but the time limit."""
    robot = pliant.load("cart_pole")
    sim = pliant.Simulation(robot, dt=0.01, substeps=2, batch=batch, varying=list(varying), seed=0)
    return Environment(
        sim, observations=SEEN, rewards={"alive": rewards.alive}, events=events_, timeout=timeout,
        action=Action(lambda action, now: [10 * action[0]], size=1),
    )  # fmt: skip


def brick(batch: int, ground: Any = None, **events_: Event) -> Environment:
    """Bricks that fly, or lie on the ground."""
    sim = pliant.Simulation(box(), dt=0.01, ground=ground, batch=batch, seed=0)
    return Environment(
        sim, observations={"height": observations.height}, rewards={"alive": rewards.alive}, events=events_,
        action=Action(lambda action, now: [], size=1),
    )  # fmt: skip


def still(env: Environment, steps: int = 1) -> Any:
    for _ in range(steps):
        x = env.step(np.zeros((env.batch, env.action_size)))
    return x


# ---- starts


def test_starts_are_uniform_about_the_stance_and_within_limits() -> None:
    env = cart(3000, start=Event(events.start_state, joints=0.5, velocity=(0.2, 0.0)))
    env.reset(seed=1)
    q, v = env.sim.q, env.sim.v
    assert stats.kstest(q[:, 0], stats.uniform(-0.5, 1).cdf).pvalue > 1e-3
    assert stats.kstest(v[:, 0], stats.uniform(-0.2, 0.4).cdf).pvalue > 1e-3
    assert np.all(q[:, 1] == 0) and np.all(v[:, 1] == 0)  # the hinge has no motor
    far = cart(500, start=Event(events.start_state, joints=10.0))
    far.reset(seed=1)
    assert far.sim.q[:, 0].max() == 2.4 and far.sim.q[:, 0].min() == -2.4  # the limits of the rail


def test_starts_without_an_event_are_the_stance_at_rest() -> None:
    env = balance(3, events={}, stance=[0.3, 0.1], precision="float64")
    env.reset(seed=0)
    assert np.array_equal(env.sim.q, np.tile([0.3, 0.1], (3, 1))) and not env.sim.v.any()


def test_bases_are_turned_and_moved() -> None:
    start = Event(events.start_state, velocity=0.0, heading=1.0, place=(2.0, (5.0, 6.0)), height=0.25)
    env = brick(2000, start=start)
    env.reset(seed=1)
    q = env.sim.q
    assert stats.kstest(q[:, 0], stats.uniform(-2, 4).cdf).pvalue > 1e-3
    assert stats.kstest(q[:, 1], stats.uniform(5, 1).cdf).pvalue > 1e-3
    assert np.allclose(q[:, 2], 0.25, rtol=0, atol=1e-15)
    angle = 2 * np.arctan2(q[:, 5], q[:, 6])
    assert stats.kstest(angle, stats.uniform(-1, 2).cdf).pvalue > 1e-3
    assert np.allclose(np.linalg.norm(q[:, 3:], axis=1), 1, rtol=0, atol=1e-14) and not q[:, 3:5].any()


def test_starts_on_uneven_ground_are_above_it() -> None:
    waves = pliant.Ground(lambda x, y: 0.1 * cos(3 * x) * cos(2 * y), "waves", 0.8)
    env = brick(500, waves, start=Event(events.start_state, velocity=0.0, heading=3.0, place=(3.0, 3.0)))
    env.reset(seed=1)
    q, robot = env.sim.q, env.sim.robot
    lowest = np.full(500, np.inf)
    for point in robot.contact_points:
        p = np.array([float(x) for x in point.center])
        c, s = 1 - 2 * q[:, 5] ** 2, 2 * q[:, 5] * q[:, 6]
        x, y, z = q[:, 0] + c * p[0] - s * p[1], q[:, 1] + s * p[0] + c * p[1], q[:, 2] + p[2]
        lowest = np.minimum(lowest, z - float(point.radius) - waves.height(x, y))
    flat = brick(1, pliant.flat(), start=Event(events.start_state, velocity=0.0))
    flat.reset(seed=0)
    stance = float(flat.sim.q[0, 2]) - 0.05
    # none is in the ground, and none higher above the highest ground below it than the stance on flat ground
    assert lowest.min() > stance - 1e-9 and np.median(lowest) < stance + 0.1


# ---- numbers that differ


@pytest.mark.parametrize(("operation", "to", "expected"), [
    ("set", (0.2, 0.4), stats.uniform(0.2, 0.2)),
    ("set", LogUniform(0.05, 0.5), stats.loguniform(0.05, 0.5)),
    ("add", Uniform(-0.05, 0.05), stats.uniform(0.05, 0.1)),
    ("scale", Normal(1.0, 0.1), stats.norm(0.1, 0.01)),
    ("scale", (0.8, 1.2), stats.uniform(0.08, 0.04)),
], ids=["set", "set-log", "add", "scale", "scale-range"])  # fmt: skip
def test_randomised_numbers_have_their_distribution(operation: str, to: Any, expected: Any) -> None:
    """The pole's mass, which is 0.1 kg without variation."""
    env = cart(2000, [MASS], mass=Event(events.randomise, path=MASS, to=to, operation=operation))
    env.reset(seed=3)
    found = env.sim.parameters[MASS].ravel()
    assert stats.kstest(found, expected.cdf).pvalue > 1e-3
    assert found.mean() == pytest.approx(expected.mean(), abs=4 * expected.std() / np.sqrt(2000))
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 4 / np.sqrt(2000)


def test_the_motion_is_that_of_the_numbers_drawn() -> None:
    """Carts of other masses, next to a simulation that was given them."""
    path = "bodies.cart.mass"
    env = cart(16, [path], mass=Event(events.randomise, path=path, to=(0.5, 2.0)))
    env.reset(seed=3)
    sim = pliant.Simulation(pliant.load("cart_pole"), dt=0.01, substeps=2, batch=16, varying=[path])
    sim.parameters[path] = env.sim.parameters[path]
    sim.reset(q=env.sim.q, v=env.sim.v)
    for _ in range(10):
        env.step(np.ones((16, 1)))
        sim.step(np.full((16, 1), 10.0))
    assert np.array_equal(env.sim.q, sim.q) and np.ptp(sim.q[:, 0]) > 0.1


def test_several_numbers_of_a_path_and_shared_draws() -> None:
    path = "bodies.pole.com"
    one = cart(50, [path], com=Event(events.randomise, path=path, to=(-0.1, 0.1), operation="add"))
    all_ = cart(50, [path], com=Event(events.randomise, path=path, to=(-0.1, 0.1), operation="add", shared=True))
    for env in (one, all_):
        env.reset(seed=0)
    default = np.asarray(one.plan.parameters.defaults).ravel()
    assert len(default) == 3
    apart, same = (np.asarray(env.sim.parameters[path]).reshape(50, 3) - default for env in (one, all_))
    assert np.all(np.ptp(apart, axis=1) > 0) and np.allclose(np.ptp(same, axis=1), 0, rtol=0, atol=1e-15)


def test_modes_startup_reset_and_interval() -> None:
    paths = ["bodies.cart.mass", "bodies.pole.mass"]
    env = cart(
        40, paths, 0.2,
        first=Event(events.randomise, "startup", path=paths[0], to=(0.5, 2.0)),
        each=Event(events.randomise, path=paths[1], to=(0.05, 0.2)),
    )  # fmt: skip
    env.reset(seed=1)
    start = {path: env.sim.parameters[path].copy() for path in paths}
    still(env, 9)
    assert all(np.array_equal(env.sim.parameters[path], start[path]) for path in paths)
    assert still(env).truncated.all()
    assert np.array_equal(env.sim.parameters[paths[0]], start[paths[0]])
    assert not np.any(env.sim.parameters[paths[1]] == start[paths[1]])
    # of those that restart only; and all of it with a seed
    again = env.sim.parameters[paths[1]].copy()
    env.restart([7])
    assert np.array_equal(np.flatnonzero(env.sim.parameters[paths[1]].ravel() != again.ravel()), [7])
    env.restart([7], seed=1)
    assert all(env.sim.parameters[path].ravel()[7] == start[path].ravel()[7] for path in paths)


def test_numbers_at_intervals() -> None:
    env = cart(30, [MASS], mass=Event(events.randomise, "interval", every=(0.1, 0.1), path=MASS, to=(0.05, 0.2)))
    env.reset(seed=1)
    found = [env.sim.parameters[MASS].copy()]
    for _ in range(20):
        still(env)
        found.append(env.sim.parameters[MASS].copy())
    changed = np.any(np.diff(np.stack(found), axis=0) != 0, axis=-1).reshape(20, -1)
    assert np.all(changed == changed[:, :1]) and changed[:, 0].sum() in (3, 4)  # every five periods, up to rounding


# ---- pushes


def test_pushes_change_the_velocity_of_the_base_at_once() -> None:
    """Bricks that fall and do not turn, with pushes between."""
    env = brick(200, push=Event(events.push, "interval", every=Exponential(0.1), linear=0.3, angular=0.0))
    env.reset(seed=2)
    jumps, before = [], env.sim.v.copy()
    for _ in range(30):
        still(env)
        after = env.sim.v.copy()
        fell = np.zeros(6)
        fell[2] = -9.81 * env.period
        jump = after - before - fell
        is_pushed = np.any(np.abs(jump) > 1e-9, axis=1)
        jumps.append(jump[is_pushed])
        before = after
    found = np.concatenate(jumps)
    # a Poisson process of 0.3 s at 10 a second, with intervals rounded up to whole periods
    expected = 200 * 0.3 / (0.1 + env.period / 2)
    assert abs(len(found) - expected) < 4 * np.sqrt(expected)
    for k in range(3):
        assert stats.kstest(found[:, k], stats.uniform(-0.3, 0.6).cdf).pvalue > 1e-3
    assert np.allclose(found[:, 3:], 0, rtol=0, atol=1e-12)


# ---- your own, and bad input


def test_an_event_of_your_own() -> None:
    def kicked(now: Any, chance: Any, most: float) -> dict[str, Any]:
        return {"v": [chance.uniform(0, most), 0]}

    env = cart(300, kick=Event(kicked, most=2.0), start=Event(lambda now, chance: {"q": [now.v[0], 0]}))
    env.reset(seed=0)
    # events of a mode happen in their order, and see what those before them did
    assert stats.kstest(env.sim.v[:, 0], stats.uniform(0, 2).cdf).pvalue > 1e-3
    assert np.array_equal(env.sim.q[:, 0], env.sim.v[:, 0])


@pytest.mark.parametrize(("make", "text"), [
    (lambda: Event(events.push, "sometimes"), "mode.*startup.*reset.*interval"),
    (lambda: Event(events.push, "interval"), "every of event 'push'.*'interval'"),
    (lambda: Event(events.push, every=1.0), "every of event 'push'.*'interval'"),
    (lambda: Event(events.push, "interval", every=-1.0), "mean.*above zero"),
    (lambda: Event(events.push, force=3.0), r"event 'push' is called with \(now, chance, force\).*force"),
    (lambda: Event("push"), r"event.*a function \(now, chance\)"),
    (lambda: balance(1, events={"push": events.push}), "events.*a dict of Event by name"),
])  # fmt: skip
def test_bad_events(make: Any, text: str) -> None:
    with pytest.raises(PliantError, match=text):
        make()


@pytest.mark.parametrize(("event", "text"), [
    (Event(lambda now, chance: 3), "event 'mine' returned 3.*return a dict"),
    (Event(lambda now, chance: {"v": [0]}), "v of event 'mine'.*2 numbers"),
    (Event(lambda now, chance: {"speed": [0]}), "no change named 'speed'.*'q'.*'v'"),
    (Event(events.randomise, path="friction", to=(0, 1)), "no varying parameter named 'friction'"),
    (Event(events.randomise, path=MASS, to=(0, 1), operation="times"), "operation.*set.*add.*scale"),
    (Event(events.randomise, path=MASS, to="much"), "to.*a number, a range"),
    (Event(events.start_state, joints=(0.1, 0.2)), "joints.*a number, or 1"),
])  # fmt: skip
def test_events_that_fail_are_named(event: Event, text: str) -> None:
    with pytest.raises(SimulationError, match=text):
        cart(1, [MASS], mine=event).reset(seed=0)


def test_observations_of_parameters() -> None:
    sim = pliant.Simulation(pliant.load("cart_pole"), dt=0.01, batch=8, varying=[MASS])
    env = Environment(
        sim, observations={"mass": Observation(observations.parameter, path=MASS)}, rewards={"alive": rewards.alive},
        events={"mass": Event(events.randomise, path=MASS, to=(0.05, 0.2))},
    )  # fmt: skip
    assert np.array_equal(env.reset(seed=0)["actor"].ravel(), sim.parameters[MASS].ravel())
