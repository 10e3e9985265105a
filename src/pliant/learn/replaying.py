"""Policies outside of the environment that they were trained in: other steps, other contact, from event to event.

What a policy does must not hang on the simulator that it learned in. So it runs once more with the motion found in
three ways: by time steps, from event to event to the tolerance of an integrator, and on compliant ground.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.checks import check, check_known, is_real
from pliant.contact import CompliantContact, SpringDamper
from pliant.environment import Environment
from pliant.errors import LearningError, PliantError
from pliant.events import EventSimulation
from pliant.recording.log import Log
from pliant.simulation import Simulation

# of the compliant ground: the weight presses it in by this much [m], and it is damped critically
_DEEP = 2e-3


@dataclass(frozen=True)
class Replay:
    """A policy in several simulations.

    Attributes:
        logs: by name: "steps", "events", "compliant".
        failures: why one of them ended early, by name.
    """

    logs: Mapping[str, Log]
    failures: Mapping[str, str]

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for each: of a free base its mean velocity, height and distance from "steps" at the end.

        Of other robots the largest difference of a coordinate from "steps" at the end.
        """
        reference, rows = self.logs["steps"], []
        is_free = reference.source is not None and reference.source.robot.is_free
        for name, log in self.logs.items():
            seconds = float(log.t[-1] - log.t[0])
            row: dict[str, Any] = {"simulation": name, "time [s]": seconds}
            if is_free:
                vx, vy = ((log.q[-1, :2] - log.q[0, :2]) / max(seconds, 1e-9)).tolist()
                away = float(np.linalg.norm(log.q[-1, :2] - reference.q[-1, :2]))
                row |= {"vx [m/s]": vx, "vy [m/s]": vy, "height [m]": float(log.q[-1, 2]), "away [m]": away}
            else:
                row["difference"] = float(np.abs(log.q[-1] - reference.q[-1]).max())
            rows.append(row | {"events": len(log.events), "ended": self.failures.get(name, "")})
        return rows

    def __str__(self) -> str:
        lines = []
        for row in self.table:
            numbers = [
                f"{k.partition(' ')[0]} {x:+.3f}" for k, x in row.items() if isinstance(x, float) and k != "time [s]"
            ]
            ended = f"; ended: {row['ended']}" if row["ended"] else ""
            shown = ", ".join([f"{row['time [s]']:.2f} s", *numbers, f"{row['events']} events"])
            lines.append(f"{row['simulation']:>9}: {shown}{ended}")
        return "\n".join(lines)


def simulation(policy: Any, env: Environment, *, dt: float | None = None, **options: Any) -> Simulation:
    """A simulation of the environment's robot that the policy controls; its inputs are the commands.

    Args:
        dt: length of a step [s]; by default that of the environment. A control period has as many as it takes.
        options: of `Simulation`; by default one robot in float64, with the default contact, on the same ground.
    """
    sim = env.sim
    step = sim.dt if dt is None else dt
    check("dt", dt, "a time above zero", is_real(step) and step > 0, error=LearningError)
    substeps = round(env.period / step)
    is_whole = substeps > 0 and abs(substeps * step - env.period) < 1e-9 * env.period
    check("dt", dt, f"a whole part of the control period, {env.period:g} s", is_whole, error=LearningError)
    usual = {"ground": sim.model.ground, "controller": env.controller(policy)}
    made = Simulation(sim.robot, dt=step, substeps=substeps, **(usual | options))
    made.reset(q=np.array(env.plan.stance))
    return made


def commands_of(env: Environment, given: Any) -> list[float]:
    """Numbers for the commands of a policy's controller: a list of all, or values by the names of commands."""
    names = {name: list(c.names) for name, c in env.plan.commands.items() if c.is_given}
    size = sum(map(len, names.values()))
    if given is None:
        return [0.0] * size
    if isinstance(given, Mapping):
        for name in given:
            check_known("command", name, names, "the environment", error=LearningError)
        parts = [list(given.get(name, [0.0] * len(own))) for name, own in names.items()]
        given = [x for part in parts for x in part]
    shown = ", ".join(f"{name}.{own}" for name, all in names.items() for own in all)
    is_right = isinstance(given, Sequence | np.ndarray) and len(given) == size and all(is_real(float(x)) for x in given)
    check("commands", given, f"{size} numbers: {shown}", is_right, error=LearningError)
    return [float(x) for x in given]


def replay(policy: Any, env: Environment, *, commands: Any = None, seconds: float = 5.0, **options: Any) -> Log:
    """A log of one robot under a policy; options of `simulation`."""
    return simulation(policy, env, **options).run(seconds, commands=commands_of(env, commands) or None)


def replay_event_driven(policy: Any, env: Environment, *, commands: Any = None, seconds: float = 5.0) -> Replay:
    """The same policy by time steps, from event to event, and on compliant ground, from the stance on."""
    asked = commands_of(env, commands)
    robot, ground, friction = env.sim.robot, env.sim.model.ground, env.sim.model.contact.friction
    stiffness = float(robot.mass) * 9.81 / (_DEEP * max(1, len(env.sim.contact_names)))
    damping = 2 * np.sqrt(stiffness * float(robot.mass) / max(1, len(env.sim.contact_names)))

    def by_events() -> Log:
        made = EventSimulation(robot, ground=ground, friction=friction, rtol=1e-6, atol=1e-8)
        made.reset(q=np.array(env.plan.stance))
        return made.run(seconds, controller=env.controller(policy), commands=asked or None, period=env.period)

    soft = CompliantContact(SpringDamper(stiffness, float(damping), friction=friction))
    ways: dict[str, Callable[[], Log]] = {
        "steps": lambda: replay(policy, env, commands=asked, seconds=seconds),
        "events": by_events,
        "compliant": lambda: replay(policy, env, commands=asked, seconds=seconds, contact=soft, dt=env.period / 20),
    }
    logs, failures = {}, {}
    for name, run in ways.items():
        try:
            logs[name] = run()
        except PliantError as error:
            failures[name] = str(error)
            if error.log is not None and len(error.log.t) > 1:
                logs[name] = error.log
    if "steps" not in logs:
        raise LearningError(f"the policy cannot be run: {failures['steps']}", subject="policy", field="replay")
    return Replay(logs, failures)


def view(policy: Any, env: Environment, *, robots: int = 1, **options: Any) -> Any:
    """Run a policy in the browser, with a slider for each number of its commands; options of `Simulation.view`."""
    made = simulation(policy, env, batch=robots if robots > 1 else None)
    sliders = {}
    for name, command in env.plan.commands.items():
        if command.is_given:
            for own, (low, high) in zip(command.names, command.bounds, strict=True):
                sliders[f"{name}_{own}".replace(" ", "_")] = (low, high, min(max(0.0, low), high))
    order = list(sliders)

    def given(t: float, q: Any, v: Any, **values: float) -> Any:
        return np.array([values[name] for name in order])

    return made.view(given if order else None, gains=sliders or None, **options)
