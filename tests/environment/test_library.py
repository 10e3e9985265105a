"""Every reward, observation and termination of the library: compiled and in NumPy it has the same numbers."""

import inspect
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.environment import (
    Clock,
    Curriculum,
    Environment,
    Event,
    Observation,
    Reward,
    Target,
    Velocity,
    events,
    observations,
    rewards,
    terminations,
)
from pliant.math import select

FEET = ("foot", "body")

# parameters of each term; one that is missing fails `test_every_term_is_here`
REWARDS: dict[str, dict[str, Any]] = {
    "alive": {},
    "track_linear_velocity": {"width": 0.7},
    "track_turning": {},
    "reach": {"frame": "foot", "width": 0.8},
    "distance": {"frame": "foot"},
    "upright_joint": {"joint": "hip_pitch", "upright": 0.2},
    "posture": {},
    "tilt": {},
    "base_height": {"target": 0.5},
    "joint_offsets": {"joints": ("hip_roll", "leg")},
    "joint_limits": {"share": 0.1},
    "vertical_velocity": {},
    "base_wobble": {},
    "action_rate": {},
    "action_size": {},
    "torques": {},
    "power": {},
    "joint_velocities": {},
    "gait": {"feet": FEET, "phases": (0.0, 0.4), "down": 0.4},
    "feet_air_time": {"feet": FEET},
    "track_mean_velocity": {},
    "track_mean_turning": {},
    "feet_slip": {"feet": FEET},
    "feet_clearance": {"feet": FEET},
    "contact_forces": {"feet": FEET, "most": 20.0},
    "undesired_contacts": {"bodies": FEET},
    "symmetry": {"left": ("hip_roll",), "right": ("hip_pitch",), "signs": (-1.0,)},
    "standing_still": {},
}
OBSERVATIONS: dict[str, dict[str, Any]] = {
    "base_velocity": {},
    "base_rates": {},
    "vertical": {},
    "height": {},
    "joint_offsets": {},
    "joint_velocities": {},
    "coordinates": {"joints": ("leg_flexibility", "leg")},
    "rates": {"joints": ("leg_flexibility", "hip_roll")},
    "angles": {"joints": ("hip_roll", "hip_pitch")},
    "last_action": {},
    "command": {},
    "clock": {},
    "swing": {"phase": 0.4, "down": 0.4},
    "contacts": {"feet": FEET},
    "contact_forces": {"feet": FEET},
    "torques": {},
    "position": {"frame": "foot"},
    "offset_to": {"frame": "foot"},
    "parameter": {"path": "friction"},
    "sensor": {"channel": "imu.gyro"},
}
TERMINATIONS: dict[str, dict[str, Any]] = {
    "fell": {"height": 0.4, "upright": 0.9},
    "touches": {"bodies": ("foot",)},
    "joint_beyond": {"joint": "hip_roll", "most": 0.1},
    "far_from_start": {"distance": 0.02},
}
# conditions that terms are made of, and terms that remember something, which NumPy cannot
HELPERS, REMEMBER = {"is_moving"}, {"feet_air_time", "track_mean_velocity", "track_mean_turning"}

LIBRARY = [
    *((rewards, name, REWARDS[name]) for name in REWARDS if name not in REMEMBER),
    *((observations, name, OBSERVATIONS[name]) for name in OBSERVATIONS),
    *((terminations, name, TERMINATIONS[name]) for name in TERMINATIONS),
]


class Steps(Curriculum):
    """A level more in each episode; with a curriculum terms know where an episode began."""

    def next(self, now: Any, chance: Any) -> Any:
        return now.level + 1


def shown(now: Any, *, condition: Any, given: dict[str, Any]) -> Any:
    """A condition as a number."""
    return select(condition(now, **given), 1, 0)


def as_observation(module: Any, name: str, given: dict[str, Any], compiled: bool) -> Observation:
    function = getattr(module, name)
    if module is terminations:
        return Observation(shown, condition=function, given=given, compiled=compiled)
    return Observation(function, compiled=compiled, **given)


def hopper(compiled: bool, batch: int, library: list = LIBRARY, **rewarded: Any) -> Environment:
    """A robot with a free base, feet, springs, a sensor and numbers that vary, which observes terms of the library."""
    robot = pliant.load("hopper").with_motors(control="position", kp=[150, 150, 3e4], kd=[10, 10, 350])
    robot = robot.with_sensor("imu", "body", name="imu", rate=500)
    sim = pliant.Simulation(robot, dt=2e-3, substeps=5, ground=pliant.flat(), batch=batch, varying=["friction"], seed=4)
    seen = {
        f"{module.__name__}.{name}": as_observation(module, name, given, compiled) for module, name, given in library
    }
    return Environment(
        sim,
        observations=seen,
        rewards=rewarded or {"alive": rewards.alive},
        commands={
            "velocity": Velocity(shares=(0.5, 0.3, 0.3), interval=(0.02, 0.2)),
            "gait": Clock(3.0),
            "target": Target(((-0.2, 0.2), (-0.2, 0.2), (0.0, 0.3))),
        },
        events={
            "start": Event(events.start_state, joints=(0.3, 0.3, 0.02), velocity=0.5, heading=3.0, place=(1.0, 1.0)),
            "friction": Event(events.randomise, path="friction", to=(0.3, 1.2)),
        },
        curriculum=Steps(),
        timeout=0.25,
    )


@pytest.fixture(scope="module")
def played() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What both kinds of terms saw of the same robots, by term."""
    both = [hopper(compiled, 12) for compiled in (True, False)]
    seen = [env.reset(seed=3)["actor"] for env in both]
    found = [[x] for x in seen]
    rng = np.random.default_rng(0)
    for _ in range(40):
        actions = rng.normal(size=(12, 3))
        for env, rows in zip(both, found, strict=True):
            rows.append(env.step(actions).observations["actor"])
        both[1].state = both[0].state  # so that rounding does not grow
    names = both[0].observation_names["actor"]
    a, b = (np.concatenate(rows) for rows in found)
    columns: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        columns.setdefault(name.partition("[")[0], []).append(k)
    return {name: (a[:, own], b[:, own]) for name, own in columns.items()}


@pytest.mark.parametrize(("module", "cases"), [
    (rewards, REWARDS), (observations, OBSERVATIONS), (terminations, TERMINATIONS),
], ids=["rewards", "observations", "terminations"])  # fmt: skip
def test_every_term_is_here(module: Any, cases: dict[str, Any]) -> None:
    own = {n for n, f in inspect.getmembers(module, inspect.isfunction) if f.__module__ == module.__name__}
    assert {name for name in own if not name.startswith("_")} - HELPERS == set(cases)
    assert all(inspect.getdoc(getattr(module, name)) for name in cases)


@pytest.mark.parametrize(("module", "name"), [(m, n) for m, n, _ in LIBRARY], ids=lambda x: getattr(x, "__name__", x))
def test_compiled_and_in_numpy_terms_are_equal(played: dict, module: Any, name: str) -> None:
    compiled, in_numpy = played[f"{module.__name__}.{name}"]
    # sums of some tens of products in another order and with fused multiply-adds; forces are some hundred newtons
    assert np.allclose(compiled, in_numpy, rtol=1e-11, atol=1e-11)
    if name != "alive":
        assert np.ptp(compiled) > 0, "the robots do not move this term"


# ---- closed forms of those that are easy to get wrong


def test_feet_air_time_counts_from_lift_off_to_landing() -> None:
    """Against times in the air by hand, from the contacts that are observed."""
    library = [(observations, "contacts", OBSERVATIONS["contacts"])]
    air = Reward(rewards.feet_air_time, memory=[0, 0], feet=FEET, least=0.03, command=None)
    env = hopper(True, 6, library, air=air)
    env.reset(seed=5)
    names = env.observation_names["actor"]
    down_at = [names.index(f"pliant.environment.observations.contacts[{k}]") for k in range(2)]
    air, landings = np.zeros((6, 2)), 0
    rng = np.random.default_rng(1)
    for _ in range(80):
        x = env.step(rng.normal(size=(6, 3)))
        is_down = x.final["actor"][:, down_at] > 0
        lands = is_down & (air > 0)
        landings += lands.sum()
        expected = np.where(lands, air - 0.03, 0).sum(axis=1)
        assert np.allclose(env.terms["air"], expected, rtol=0, atol=1e-12)
        air = np.where(is_down, 0, air + env.period)
        air[x.terminated | x.truncated] = 0
    assert landings > 10


def test_mean_velocities_forget_what_is_long_ago() -> None:
    """Against means by hand: each period takes its share of what is left of the error."""
    library = [(observations, name, {}) for name in ("base_velocity", "base_rates")]
    time, width = 0.1, 0.5
    env = hopper(
        True, 6, library,
        velocity=Reward(rewards.track_mean_velocity, memory=[0, 0], time=time, width=width),
        turning=Reward(rewards.track_mean_turning, memory=[0], time=time, width=width),
    )  # fmt: skip
    env.reset(seed=5)
    mean, share = np.zeros((6, 3)), env.period / (time + env.period)
    rng = np.random.default_rng(1)
    for _ in range(60):
        asked = env.command("velocity").copy()
        x = env.step(rng.normal(size=(6, 3)))
        mean = mean + share * (x.final["actor"][:, [0, 1, 5]] - asked - mean)
        expected = np.exp(-np.stack([(mean[:, :2] ** 2).sum(axis=1), mean[:, 2] ** 2]) / width**2)
        assert np.allclose([env.terms["velocity"], env.terms["turning"]], expected, rtol=0, atol=1e-12)
        mean[x.terminated | x.truncated] = 0


def test_curricula_go_on_from_episode_to_episode() -> None:
    env = hopper(True, 3, [(observations, "height", {})])
    env.reset(seed=0)
    first = env.levels
    for _ in range(env.plan.limit):
        x = env.step(np.zeros((3, 3)))
    assert x.truncated.all() and np.array_equal(env.levels, first + 1)
    assert np.array_equal(env._part("start place"), env.sim.q[:, :2])
