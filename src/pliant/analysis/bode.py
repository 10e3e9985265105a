"""Frequency responses: from the equations of motion at an equilibrium, or measured in a simulation of a batch."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.actuation.joint_forces import motor_torque
from pliant.actuation.joint_springs import FlexibilityState, flexibility_names, flexibility_state
from pliant.actuation.motor_memory import memory_fields
from pliant.checks import check, check_at_least, check_known, numbers
from pliant.errors import PliantError
from pliant.plots.curves import unit_of
from pliant.plots.figures import COLORS, figure, size_of
from pliant.robot import Motor, Robot
from pliant.scalar import Expr, Graph, sin
from pliant.scalar.evaluation import interpret, tangents
from pliant.signatures import explained
from pliant.simulation import Simulation
from pliant.simulation.contact_memory import memory_kept, memory_rates
from pliant.simulation.model import StepModel
from pliant.simulation.smooth_step import smooth_acceleration

METHODS = ("linearization", "simulation")

# samples in a period of the highest frequency, and measured periods of the lowest
_SAMPLES, _PERIODS = 8, 1
# share of the transient that is left when measuring begins
_LEFT = 1e-7
_LONGEST = 300.0
# an acceleration below this, relative to gravity or to one, is none
_REST = 1e-6


@explained
@dataclass(frozen=True, eq=False)
class Bode:
    """A frequency response: outputs over the control of one motor.

    Attributes:
        frequencies: [rad/s].
        response: by output, complex: amplitude and phase of the output for a sine of amplitude 1.
        input: the motor.
        method: "linearization" or "simulation".
        units: of the amplitudes, by output, such as "rad/s per N m", where known.
    """

    frequencies: np.ndarray
    response: Mapping[str, np.ndarray]
    input: str
    method: str
    units: Mapping[str, str] = field(default_factory=dict)

    def magnitude(self, output: str) -> np.ndarray:
        """Amplitude of an output per unit of control."""
        return abs(self._of(output))

    def phase(self, output: str) -> np.ndarray:
        """Phase of an output [degrees], without jumps of a full turn."""
        return np.degrees(np.unwrap(np.angle(self._of(output))))

    def _of(self, output: str) -> np.ndarray:
        check_known("output", output, self.response, "the response")
        return self.response[output]

    def __repr__(self) -> str:
        w, outputs = self.frequencies, ", ".join(self.response)
        span = f"{w.min():g} to {w.max():g} rad/s" if len(w) else "none"
        return f"Bode: {outputs} over {self.input}, {len(w)} frequencies ({span}), by {self.method}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """What a notebook shows: its plot."""
        return self.plot()._repr_mimebundle_(include, exclude)

    def plot(
        self,
        *others: "Bode",
        path: str | os.PathLike[str] | None = None,
        title: str = "",
        size: tuple[float, float] | None = None,
        show: bool = False,
    ) -> Any:
        """Draw amplitude and phase, as lines, or as dots if they were measured in a simulation.

        Args:
            others: responses to draw as well, such as measured ones.
            path, title, size, show: as for `Log.plot`.

        Returns:
            The Matplotlib figure.
        """
        with figure("bode(...).plot()", size_of(size, (6.4, 4.8)), path=path, title=title, show=show) as made:
            from matplotlib.ticker import MultipleLocator

            top, bottom = made.subplots(2, 1, sharex=True)
            names = list(dict.fromkeys(name for one in (self, *others) for name in one.response))
            units = {name: one.units[name] for one in (self, *others) for name in one.units}
            # a common unit is in the label of the axis, else each name has its own
            common = units.get(names[0], "") if len({units.get(name, "") for name in names}) == 1 else ""
            shown = {name: f"{name} [{units[name]}]" if name in units and not common else name for name in names}
            for one in (self, *others):
                is_measured = one.method == "simulation"
                for name in one.response:
                    look: dict[str, Any] = {"color": COLORS[names.index(name) % len(COLORS)]}
                    look |= {"marker": "o", "linestyle": "none", "markersize": 3} if is_measured else {"linewidth": 1.3}
                    label = f"{shown[name]}, {'simulated' if is_measured else 'linear'}" if others else shown[name]
                    top.plot(one.frequencies, one.magnitude(name), label=label, **look)
                    bottom.plot(one.frequencies, one.phase(name), **look)
            amplitude = f"amplitude [{common}]" if common else f"amplitude per unit of {self.input}"
            top.set(xscale="log", yscale="log", ylabel=amplitude)
            bottom.set(xlabel="frequency [rad/s]", ylabel="phase [degrees]")
            bottom.yaxis.set_major_locator(MultipleLocator(90))
            if len(names) > 1 or others:
                # above the axes, where the legend hides nothing: a column for each response
                made.legend(*top.get_legend_handles_labels(), loc="outside upper left", ncols=1 + len(others))
            else:
                top.set_title(f"{names[0]} over {self.input}", loc="left")
            top.set_xlim(float(self.frequencies.min()), float(self.frequencies.max()))
            made.align_ylabels()
        return made


@explained
def bode(
    robot: Robot | Simulation,
    frequencies: Any = None,
    *,
    input: str | None = None,
    outputs: str | Sequence[str] | None = None,
    q: Any = None,
    u: Any = None,
    method: str = "linearization",
    amplitude: float = 1.0,
    settle: float | None = None,
) -> Bode:
    """The frequency response of a robot at an equilibrium: outputs for a sine of a motor's control.

        linear = pliant.analysis.bode(robot, input="knee", outputs=("motor_velocity.knee", "link_velocity.knee"))
        shaken = pliant.analysis.bode(robot, input="knee", outputs=..., method="simulation", amplitude=0.1)
        linear.plot(shaken, path="bode.svg")

    "linearization" takes the derivatives of the equations of motion, x' = A x + B u, y = C x + D u, and from them
    H(w) = C (i w - A)^-1 B + D. "simulation" shakes a batch of robots, each at its own frequency, waits until only the
    steady motion is left, and fits a sine to it: slower, but also valid for large amplitudes.

    Args:
        robot: or a `Simulation`, with its ground, compliant contact and forces.
        frequencies: [rad/s] (default: 200 from 0.1 to 1000 for a linearization, 48 from 1 to 100 for a simulation).
        input: the motor (default: the only one).
        outputs: columns of "q" and "v", or of `FlexibilityState`: "v.knee", "link_velocity.knee", ... (default: the
            velocity of the motor's joint).
        q: the equilibrium (default: neutral).
        u: controls at the equilibrium (default: zero, and q for motors that control a position).
        method: "linearization" or "simulation".
        amplitude: of the control, for a simulation.
        settle: time to wait before measuring [s] (default: from the slowest mode that decays).
    """
    check_known("method", method, METHODS, "bode")
    takes = "a Robot or a Simulation"
    check("robot", robot, takes, isinstance(robot, Robot | Simulation), subject="bode", error=PliantError)
    model = robot.model if isinstance(robot, Simulation) else StepModel(robot, 1e-3, None)
    robot = model.robot
    motor = _motor(robot, input)
    _check_memory(robot)
    names = _outputs(robot, outputs, motor)
    w = _frequencies(frequencies, method)
    q0 = numbers("q", robot.neutral() if q is None else q, error=PliantError).copy()
    u0 = _controls(robot, q0, u)
    linear = _linear_model(model, q0, u0, names)
    k = list(robot.motors).index(motor.name)
    if method == "linearization":
        found = linear.response(w, k)
    else:
        check_at_least("amplitude", amplitude, 0, strict=True, subject="bode", error=PliantError)
        wait = _settling(linear) if settle is None else float(settle)
        found = _shaken(model, motor, names, w, q0, u0, float(amplitude), wait)
    return Bode(w, dict(zip(names, found, strict=True)), motor.name, method, _units(robot, names, motor))


# ---- linearized


@dataclass(frozen=True, eq=False)
class _LinearModel:
    """x' = A x + B u, y = C x, with x the displacement (nv), the velocity (nv) and what contacts remember."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray

    def response(self, w: np.ndarray, k: int) -> np.ndarray:
        """H(w) = C (i w - A)^-1 B of control k, (outputs, frequencies)."""
        n = len(self.A)
        matrices = 1j * w[:, None, None] * np.eye(n) - self.A
        states = np.linalg.solve(matrices, np.broadcast_to(self.B[:, k], (len(w), n))[..., None])[..., 0]
        return (states @ self.C.T).T


def _output_names(robot: Robot) -> list[str]:
    """All that can be an output."""
    names = [f"q.{name}" for name in robot.coordinate_names] + [f"v.{name}" for name in robot.velocity_names]
    parts = FlexibilityState._fields if robot.flexibilities else ()
    return names + [f"{part}.{c}" for part in parts if part != "spring_force" for c in _columns(robot, part)]


def _columns(robot: Robot, part: str) -> tuple[str, ...]:
    """The columns of a field of `FlexibilityState`."""
    return tuple(robot.motors) if "position" in part or "velocity" in part else flexibility_names(robot)


def _linear_model(model: StepModel, q0: np.ndarray, u0: np.ndarray, outputs: Sequence[str]) -> _LinearModel:
    """The model about rest at q0 under the controls u0; an error if the robot does not stay there."""
    robot = model.robot
    if model.is_rigid and model.groups:
        problem = "bode: contacts are rigid, so the motion near rest is not smooth"
        cure = "give a Simulation with contact=pliant.CompliantContact(...), or a robot without ground"
        raise PliantError(problem, subject="bode", field="contact", cure=cure)
    if q0.shape != (robot.nq,):
        problem, cure = f"bode: q has shape {q0.shape}", f"it takes one configuration, ({robot.nq},)"
        raise PliantError(problem, subject="bode", field="q", cure=cure)
    graph = Graph()
    start = model.memory.stored * len(model.touch_names)
    sizes = {"x": robot.nv, "v": robot.nv, "u": robot.nu, "m": len(start)}
    x, v, u, m = ([graph.input(f"{name}{i}") for i in range(n)] for name, n in sizes.items())
    q = list(robot.integrate([float(c) for c in q0], x))
    vd = [graph.lift(e) for e in smooth_acceleration(model, 0, q, v, u, m)]
    rates = [graph.lift(e) for e in memory_rates(model, q, v, m)] if start else []
    y = [graph.lift(e) for e in _output_values(robot, q, v, outputs)]
    here = {node.value: 0.0 for node in (*x, *v)} | {node.value: float(c) for node, c in zip(u, u0, strict=True)}
    if start:
        # at rest, contacts remember what they do at touch-down, and the normal there
        at = {node.value: c for node, c in zip(m, start, strict=True)}
        kept = [graph.lift(e) for e in memory_kept(model, q, v, m)]
        here |= dict(zip(at, interpret(kept, here | at), strict=True))
    rest = np.array(interpret(vd, here), dtype=float)
    scale = max(1.0, float(np.linalg.norm([float(g) for g in robot.gravity])))
    if not abs(rest).max(initial=0) < _REST * scale:
        worst = robot.velocity_names[int(np.argmax(abs(rest)))]
        how = f"{worst!r} accelerates by {abs(rest).max():.3g}"
        problem = f"bode: the robot does not rest at q with these controls: {how}"
        raise PliantError(problem, subject="bode", field="q", cure="give q= and u= of an equilibrium")
    moving = [*vd, *rates]
    both = [*moving, *y]
    J = np.array([_rates(both, node, here) for node in (*x, *v, *m, *u)]).T
    n, states, moved = robot.nv, 2 * robot.nv + len(m), len(moving)
    A = np.block([[np.zeros((n, n)), np.eye(n), np.zeros((n, len(m)))], [J[:moved, :states]]])
    B = np.concatenate([np.zeros((n, robot.nu)), J[:moved, states:]])
    return _LinearModel(A, B, J[moved:, :states])


def _rates(outputs: list[Expr], node: Expr, values: dict[str, float]) -> list[float]:
    """d outputs / d node."""
    found = [node.graph.lift(rate) for rate in tangents(outputs, {node: 1})]
    return [float(x) for x in interpret(found, values)]


def _output_values(robot: Robot, q: Sequence[Any], v: Sequence[Any], names: Sequence[str]) -> list[Any]:
    known = {f"q.{name}": e for name, e in zip(robot.coordinate_names, q, strict=True)}
    known |= {f"v.{name}": e for name, e in zip(robot.velocity_names, v, strict=True)}
    if any(name not in known for name in names):
        for part, entries in flexibility_state.algorithm(robot, q, v)._asdict().items():
            known |= {f"{part}.{c}": e for c, e in zip(_columns(robot, part), entries, strict=True)}
    return [known[name] for name in names]


# ---- measured


def _shaken(
    model: StepModel, motor: Motor, names: Sequence[str], w: np.ndarray, q0: Any, u0: Any, amplitude: float, wait: float
) -> list[np.ndarray]:
    """Responses (frequencies,) of each output, from a batch with a frequency each."""
    robot = model.robot
    k = list(robot.motors).index(motor.name)
    rest = float(u0[k])

    def law(w: Any, q: Any, v: Any, t: Any) -> Any:
        """The motor under a sine, whose frequency is the control."""
        return motor_torque(motor, rest + amplitude * sin(w * t), q, v, t)

    shaking = replace(robot, motors=robot.motors.replaced(replace(motor, law=law)))
    dt = 2 * math.pi / w.max() / _SAMPLES
    sim = Simulation(
        shaking, dt=dt, ground=model.ground, contact=model.contact, forces=model.forces, limits=False,
        integrator="dormand-prince", rtol=1e-9, atol=1e-12, batch=len(w), progress=False,
    )  # fmt: skip
    controls = np.tile(u0, (len(w), 1))
    controls[:, k] = w
    sim.reset(q=np.tile(q0, (len(w), 1)))
    if wait > 0:
        sim.run(wait, u=controls, channels=(), every=max(wait, dt))
    channels = {name.partition(".")[0] for name in names}
    kept = [c for c in ("q", "v") if c in channels] + ["flexibility"] * bool(channels - {"q", "v"})
    log = sim.run(_PERIODS * 2 * math.pi / w.min() + 4 * dt, u=controls, channels=tuple(kept))
    if sim.divergences:
        problem = f"bode: a robot diverged under the sine: {sim.divergences[0]}"
        raise PliantError(problem, subject="bode", field="amplitude", cure="lower the amplitude")
    columns = [log.column(*name.split(".", 1)) for name in names]
    return [_fitted(log.t, column, w) / amplitude for column in columns]


def _fitted(t: np.ndarray, values: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Complex amplitude relative to sin(w t), by least squares, without mean and drift."""
    drift = (t - t[0]) / (t[-1] - t[0])
    found = []
    for k, frequency in enumerate(w):
        basis = np.stack([np.sin(frequency * t), np.cos(frequency * t), np.ones_like(t), drift], axis=1)
        a, b, *_ = np.linalg.lstsq(basis, values[k], rcond=None)[0]
        found.append(a + 1j * b)
    return np.array(found)


def _settling(linear: _LinearModel) -> float:
    """Time until the slowest mode that decays has done so [s]."""
    values: Any = np.linalg.eigvals(linear.A)
    rates, little = values.real, 1e-6 * max(1.0, float(abs(values).max(initial=0)))
    if (rates > little).any():
        problem = "bode: the equilibrium is not stable, so that the motion never settles"
        raise PliantError(problem, subject="bode", field="q", cure="use the linearization")
    dying = -rates[rates < -little]
    swings = abs(values.imag[rates >= -little])
    if (swings > 1e-3).any():
        problem = "bode: a mode has no damping, so that the motion never settles"
        cure = "add damping, give settle=, or use the linearization"
        raise PliantError(problem, subject="bode", field="settle", cure=cure)
    return min(_LONGEST, -math.log(_LEFT) / float(dying.min())) if len(dying) else 0.0


# ---- arguments


def _units(robot: Robot, names: Sequence[str], motor: Motor) -> dict[str, str]:
    per = unit_of("u", motor.name, robot)
    own = {name: unit_of(name.partition(".")[0], name.partition(".")[2], robot) for name in names}
    return {name: "1" if unit == per else f"{unit} per {per}" for name, unit in own.items() if unit and per}


def _check_memory(robot: Robot) -> None:
    """Raise if a motor remembers: it has states that q and v are not."""
    for motor in robot.motors.values():
        for name in memory_fields(motor):
            subject = f"motor {motor.name!r}"
            problem = f"bode: {name} of {subject} is a state beside q and v"
            raise PliantError(problem, subject=subject, field=name, cure=f"leave {name} out for a Bode plot")


def _motor(robot: Robot, name: str | None) -> Motor:
    motors = robot.motors
    if name is None and len(motors) != 1:
        problem = f"bode: robot {robot.name!r} has {len(motors)} motors ({', '.join(motors) or 'none'})"
        raise PliantError(problem, subject="bode", field="input", cure="name one with input=")
    return motors[next(iter(motors)) if name is None else name]


def _outputs(robot: Robot, given: str | Sequence[str] | None, motor: Motor) -> list[str]:
    names = [f"v.{motor.joint}"] if given is None else [given] if isinstance(given, str) else list(given)
    valid = _output_names(robot)
    for name in names:
        check_known("output", name, valid, f"robot {robot.name!r}")
    return names


def _frequencies(given: Any, method: str) -> np.ndarray:
    if given is None:
        return np.geomspace(0.1, 1000, 200) if method == "linearization" else np.geomspace(1, 100, 48)
    w = np.atleast_1d(numbers("frequencies", given, error=PliantError))
    is_right = w.ndim == 1 and len(w) > 0 and bool((np.isfinite(w) & (w > 0)).all())
    check("frequencies", given, "numbers above 0 [rad/s]", is_right, subject="bode", error=PliantError)
    return w


def _controls(robot: Robot, q0: np.ndarray, u: Any) -> np.ndarray:
    if u is None:
        motors = robot.motors.values()
        holds = [m.law is None and m.control == "position" for m in motors]
        return np.array([q0[robot.q_slice(m.joint).start] if h else 0.0 for m, h in zip(motors, holds, strict=True)])
    given = numbers("u", u, error=PliantError).copy()
    if given.shape != (robot.nu,):
        problem, cure = f"bode: u has shape {given.shape}", f"it takes ({robot.nu},), one for each motor"
        raise PliantError(problem, subject="bode", field="u", cure=cure)
    return given
