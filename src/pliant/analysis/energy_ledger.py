"""The energy of a run: stored, supplied and lost; `energy_ledger`, `Log.plot_energy`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.checks import chosen_robots
from pliant.errors import PliantError
from pliant.plots.figures import COLORS, GREY, INK, figure, label_axis, legend, pale, size_of
from pliant.plots.time_plots import cut
from pliant.recording.log import Log
from pliant.signatures import explained

# entries of a curve in a plot
_DENSE = 400

STORED = ("kinetic", "potential", "elastic")
_WORK = {"motors": "motors", "outside": "forces from outside"}
_LOST = {
    "damping": "joint damping",
    "friction": "joint dry friction",
    "springs": "dampers of springs",
    "stops": "joint limits",
    "impacts": "contact, normal",
    "sliding": "contact friction",
}


@explained
@dataclass(frozen=True, eq=False)
class EnergyLedger:
    """The energy of one robot over time [J]; all arrays are (steps,).

    total - total[0] = sum of work - sum of lost + error

    Attributes:
        t: times [s].
        stored: kinetic, potential and elastic energy.
        work: done on the robot since the start, by motors and by forces from outside.
        lost: since the start, by term.
        is_balanced: whether the log has channel "power"; if not, work and lost are empty and error is None.
    """

    t: np.ndarray
    stored: Mapping[str, np.ndarray]
    work: Mapping[str, np.ndarray] = field(default_factory=dict)
    lost: Mapping[str, np.ndarray] = field(default_factory=dict)
    is_balanced: bool = True

    @property
    def total(self) -> np.ndarray:
        """The stored energy."""
        return sum(self.stored.values(), np.zeros(len(self.t)))

    @property
    def error(self) -> np.ndarray | None:
        """The rest, "left over": errors of the integrator, and of the sum of power over the entries of the log."""
        if not self.is_balanced:
            return None
        gained = sum(self.work.values(), np.zeros(len(self.t))) - sum(self.lost.values(), np.zeros(len(self.t)))
        return self.total - self.total[0] - gained

    def __str__(self) -> str:
        rows: list[tuple[str, *tuple[float, ...]]] = [("stored",)]
        for name, x in (*self.stored.items(), ("total", self.total)):
            rows.append((f"  {name}", float(x[0]), float(x[-1]), float(x[-1] - x[0])))
        if self.error is not None:
            rows += [("work",), *((f"  {name}", float(x[-1])) for name, x in self.work.items() if x.any())]
            rows += [("lost",), *((f"  {name}", -float(x[-1])) for name, x in self.lost.items() if x.any())]
            rows += [("left over", float(self.error[-1]))]
        top = f"energy [J], from {self.t[0]:g} to {self.t[-1]:g} s"
        width = max(len(top), *(len(name) for name, *_ in rows)) + 2
        # rounding errors are shown as zero
        least = 1e-10 * max((abs(x) for _, *numbers in rows for x in numbers), default=0.0)
        lines = [f"{top:<{width}}{'start':>12}{'end':>12}{'change':>12}"]
        for name, *numbers in rows:
            shown = "".join(f"{x if abs(x) > least else 0:12.5g}" for x in numbers)
            lines.append(f"{name:<{width}}{shown:>36}".rstrip())
        biggest = max((float(abs(x).max()) for x in (*self.stored.values(), *self.work.values())), default=0.0)
        for name, x in self.lost.items():
            if len(x) and x.min() < -1e-6 * max(biggest, 1e-12):
                why = "the entries of the log are too far apart"
                if name in (_LOST["impacts"], _LOST["sliding"]):
                    why += ", or springs of compliant ground give back what they had at the start"
                lines.append(f"{name} is below zero at times, which no loss is: {why}")
        if self.error is None:
            lines.append("where it went is not in the log; sim.run(..., channels=(..., 'power')) keeps that")
        return "\n".join(lines)


@explained
def energy_ledger(log: Log, robot: int | None = None) -> EnergyLedger:
    """The energy of a run by term: stored energy, work, losses, and the rest that is left over.

    The log takes channel "energy", which it has by default, and for work and losses also "power":
    ``sim.run(2, channels=("q", "v", "energy", "power"))``, of either simulation. With the
    semi-implicit integrator each entry of that is the mean of a step, so that a log of every step (``every=1``,
    ``substeps=1``) misses nothing, impacts included; all others are integrated by the trapezoidal rule, whose error, of
    the second order in the time between entries, is left over. Torques that are held from entry to entry, as those of a
    controller that is asked once a step or once a period, count as held. Impacts of an event-driven log are its events.

    Args:
        robot: index of the robot of a batch (default 0).
    """
    chosen = chosen_robots(robot, log.batch, first=1, least=1, most=1, name="robot", error=PliantError)
    if log.batch is not None:
        log = log.robot(int(chosen[0]))
    missing = [name for name in STORED if f"energy.{name}" not in log]
    if missing or not len(log):
        problem = f"energy_ledger needs channel 'energy' of the log, which has {', '.join(log) or 'none'}"
        cure = "record it: sim.run(..., channels=(..., 'energy', 'power'))"
        raise PliantError(problem, subject="the log", field="energy", cure=cure)
    stored = {name: np.asarray(log[f"energy.{name}"], dtype=float) for name in STORED}
    if any(f"power.{name}" not in log for name in (*_WORK, *_LOST)):
        return EnergyLedger(log.t, stored, is_balanced=False)
    work = {label: _integral(log, name) for name, label in _WORK.items()}
    held = _held_work(log)
    if held is not None:
        work[_WORK["motors"]] = held
    lost = {label: -_integral(log, name) for name, label in _LOST.items()}
    blows = np.zeros(len(log))
    for event in log.events:
        # of the two entries at an event, the second is after it
        at = np.flatnonzero(log.t == event.t)
        blows[at[-1] if len(at) else int(np.searchsorted(log.t, event.t)) :] += event.energy_lost
    lost["contact, normal"] = lost["contact, normal"] + blows
    return EnergyLedger(log.t, stored, work, lost)


def _integral(log: Log, name: str) -> np.ndarray:
    """Work since the start."""
    power, dt = np.asarray(log[f"power.{name}"], dtype=float), np.diff(log.t)
    about = log.metadata
    is_whole = about.get("integrator") == "semi-implicit" and about.get("substeps") == 1
    # each entry of every step is the mean of its step
    is_mean = is_whole and (dt < 1.5 * about.get("dt", 0)).all()
    mean = power[1:] if is_mean else (power[1:] + power[:-1]) / 2
    return np.concatenate([[0], np.cumsum(mean * dt)])


def _held_work(log: Log) -> np.ndarray | None:
    """Work of motors whose torques jump at entries and are held in between, None if they are not known to be.

    An entry has one torque, that before the jump (or after it, in an event-driven log), and with it the power at one
    end of an interval would be that of another: W = sum of tau (v0 + v1) / 2 dt with the interval's own tau.
    """
    source = log.source
    if source is None or "v" not in log or not source.robot.motors or len(log) < 2:
        return None
    motors, settings = source.robot.motors.values(), source.settings
    if any(m.control != "torque" or m.law is not None for m in motors):
        return None
    dt = np.diff(log.t)
    step, every, period = log.metadata.get("dt", 0), settings.get("every"), settings.get("period")
    is_event_driven = settings.get("simulation") == "EventSimulation"
    if is_event_driven:
        parts = period / every if period and every else 0.0
        is_held = parts >= 1 - 1e-9 and abs(parts - round(parts)) <= 1e-6
    else:
        is_smooth = log.metadata.get("integrator") != "semi-implicit" and settings.get("controller") is None
        is_held = is_smooth and (dt < 1.5 * step).all()
    if not is_held or "tau" not in log:
        return None
    torques = np.asarray(log["tau"], dtype=float)
    held = torques[:-1] if is_event_driven else torques[1:]
    speeds = np.asarray(log["v"], dtype=float)[:, [source.robot.v_slice(m.joint).start for m in motors]]
    power = np.asarray(log["power.motors"], dtype=float)
    # not if torques are cut off at a limit, or else than they seem
    if torques.shape != speeds.shape or not np.allclose((torques * speeds).sum(axis=1), power, rtol=1e-5, atol=1e-9):
        return None
    means = (speeds[1:] + speeds[:-1]) / 2
    return np.concatenate([[0], np.cumsum((held * means).sum(axis=1) * dt)])


def plot_energy(log: Log, *, path, start, end, robot, title, size, show) -> Any:
    """Draw the energy ledger of a log: `Log.plot_energy`, which has the arguments."""
    ledger = _thinned(energy_ledger(cut(log, start, end), robot))
    error = ledger.error
    heights = [1.9] if error is None else [1.9, 2.2, 0.7]
    size = size_of(size, (7.0, sum(heights) + 0.7))
    with figure("log.plot_energy()", size, path=path, title=title, show=show) as made:
        axes = made.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        _stack(axes[0], ledger.t, {name: x for name, x in ledger.stored.items() if x.any()})
        axes[0].plot(ledger.t, ledger.total, color=INK, linewidth=1.2, label="total")
        legend(axes[0], ["total"])
        label_axis(axes[0], "stored [J]", is_last=error is None)
        if error is not None:
            gains = {f"work: {name}": x for name, x in ledger.work.items() if x.any()}
            losses = {f"lost: {name}": x for name, x in ledger.lost.items() if x.any()}
            _flows(axes[1], ledger, gains, losses)
            label_axis(axes[1], "since the start [J]", is_last=False)
            axes[2].plot(ledger.t, error, color=COLORS[4], linewidth=1.0)
            axes[2].axhline(0, color=GREY, linewidth=0.6)
            # rounding errors do not fill the axis
            least = 1e-6 * float(max(abs(ledger.total).max(), np.ptp(ledger.total)))
            low, high = axes[2].get_ylim()
            axes[2].set_ylim(min(low, -least), max(high, least))
            label_axis(axes[2], "left over [J]")
        axes[-1].set_xlim(float(ledger.t[0]), max(float(ledger.t[-1]), float(ledger.t[0]) + 1e-9))
        made.align_ylabels(axes)
    return made


def _thinned(ledger: EnergyLedger) -> EnergyLedger:
    """With as many entries as a plot can show, and all at jumps."""
    n = len(ledger.t)
    if n <= _DENSE:
        return ledger
    jumps = np.flatnonzero(np.diff(ledger.t) <= 0)
    kept = np.unique(np.concatenate([np.linspace(0, n - 1, _DENSE).astype(int), jumps, jumps + 1]))
    parts = ({name: x[kept] for name, x in part.items()} for part in (ledger.stored, ledger.work, ledger.lost))
    return EnergyLedger(ledger.t[kept], *parts, is_balanced=ledger.is_balanced)


def _stack(axis: Any, t: np.ndarray, parts: Mapping[str, np.ndarray]) -> None:
    """Draw stacked areas, or lines if a term is negative, as the potential energy can be."""
    if all((x >= -1e-9 * (1 + abs(x).max())).all() for x in parts.values()):
        colors = [pale(color, 0.5) for color in COLORS[: len(parts)]]
        axis.stackplot(t, *parts.values(), labels=list(parts), colors=colors, linewidth=0)
        return
    for k, (name, x) in enumerate(parts.items()):
        axis.plot(t, x, label=name, color=COLORS[k])


def _flows(axis: Any, ledger: EnergyLedger, gains: Mapping[str, np.ndarray], losses: Mapping[str, np.ndarray]) -> None:
    """Draw work above zero, losses below it, and the change of the total."""
    for k, (name, x) in enumerate(gains.items()):
        axis.plot(ledger.t, x, label=name, color=COLORS[k], linewidth=1.3)
    below = np.zeros(len(ledger.t))
    for k, (name, x) in enumerate(losses.items()):
        color = COLORS[(k + 2) % len(COLORS)]
        axis.fill_between(ledger.t, below, below - x, label=name, color=color, alpha=0.35, linewidth=0)
        axis.plot(ledger.t, below - x, color=color, linewidth=0.6)
        below = below - x
    axis.plot(ledger.t, ledger.total - ledger.total[0], color=INK, linewidth=1.2, label="change of total")
    axis.axhline(0, color=GREY, linewidth=0.6)
    legend(axis, [*gains, *losses, "change"])
