"""The controls of an event-driven simulation: constant, sampled, or a function of time and state."""

import math
from typing import Any

import numpy as np

from pliant.checks import check, check_callable, is_real, row_numbers
from pliant.errors import SimulationError
from pliant.robot import Robot
from pliant.simulation.controllers import Controller, as_controller, given_controls


class Controls:
    """The controls as a function of time and state, sampled or not.

    Args:
        controller: a function (t, q, v) -> u or a `Controller`; None for constant controls.
        u: constant controls; None for zeros.
        commands: of a `Controller`.
        period: between calls of the controller [s]; None calls it whenever the motion is evaluated.
        memory: of a `Controller`, from the run before; None, or one of another size, begins anew.

    Attributes:
        memory: of the controller, now; empty without one.
    """

    def __init__(self, robot: Robot, controller: Any, u: Any, commands: Any, period: float | None, memory: Any = None):
        if controller is not None and u is not None:
            problem = "run has controller and u"
            raise SimulationError(problem, subject="run", field="u", cure="give one of them")
        if period is not None:
            check("period", period, "a positive time in seconds", is_real(period) and period > 0)
        if controller is not None and not isinstance(controller, Controller):
            check_callable("controller", controller, "t", "q", "v")
        takes = as_controller(controller) if isinstance(controller, Controller) else None
        if commands is not None and (takes is None or not takes.commands):
            problem = "run has commands, but no Controller that takes any"
            raise SimulationError(problem, subject="run", field="commands", cure="see pliant.Controller")
        if takes is not None and period is None and len(takes.memory):
            problem = "a Controller with a memory is called once a period"
            raise SimulationError(problem, subject="run", field="period", cure="give period=, such as 1e-3")
        self.robot, self.controller, self.period, self.commands = robot, controller, period, commands
        own = np.array(getattr(takes, "memory", ()), dtype=float)
        self.memory = own if memory is None or len(memory) != len(own) else np.array(memory, dtype=float)
        self.held = np.zeros(robot.nu) if u is None else self._checked(u, "u")
        self._start, self._count = 0.0, -1

    def _checked(self, u: Any, what: str) -> np.ndarray:
        if u is None:
            return np.zeros(self.robot.nu)
        found = row_numbers(u, (self.robot.nu,)) if np.ndim(u) == 1 else None
        if found is None:
            motors = ", ".join(self.robot.motors) or "no motors"
            cure = f"robot {self.robot.name!r} takes ({self.robot.nu},): {motors}"
            raise SimulationError(f"{what} has shape {np.shape(u)}", subject=what, field="shape", cure=cure)
        if not np.isfinite(found).all():
            motor = list(self.robot.motors)[int(np.argmin(np.isfinite(found)))]
            raise SimulationError(f"{what} is not finite at {motor!r}", subject=what, field=motor)
        return np.array(found, dtype=float)

    def update(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        """Call a sampled controller if it is due; the time until which its controls hold."""
        if self.controller is None or self.period is None:
            return math.inf
        if self._count < 0:
            self._start = t
        # times are products, so that rounding does not add up
        if self._count < 0 or t >= self._start + self._count * self.period - 1e-12:
            self.held = self._called(t, q, v)
            self._count = max(self._count, 0) + 1
        return self._start + self._count * self.period

    def _called(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if not isinstance(self.controller, Controller):
            assert self.controller is not None
            u = given_controls(self.controller(t, q.copy(), v.copy()), self.controller, self.robot.nu)
            return self._checked(u, f"the result of the controller at t = {t:g} s")
        u, memory = self.controller(self.robot, t, list(q), list(v), self._command(t), list(self.memory))
        self.memory = np.array([float(x) for x in memory])
        return self._checked([float(x) for x in u], f"the result of the controller at t = {t:g} s")

    def _command(self, t: float) -> list[float]:
        takes = self.controller.commands if isinstance(self.controller, Controller) else 0
        given: Any = self.commands(t) if callable(self.commands) else self.commands
        if given is None:
            return [0.0] * takes
        found = row_numbers(given, (takes,)) if np.ndim(given) == 1 else None
        if found is None or not np.isfinite(found).all():
            cure = f"the controller takes {takes} finite numbers"
            problem = f"commands are {given!r} at t = {t:g} s"
            raise SimulationError(problem, subject="run", field="commands", cure=cure)
        return found.tolist()

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if self.controller is None or self.period is not None:
            return self.held
        return self._called(t, q, v)
