"""What a comparison of contact models found: a table, and a plot of accuracy against cost."""

from dataclasses import dataclass
from typing import Any

from pliant.errors import PliantError, unknown_name
from pliant.recording import Log

__all__ = ["ContactComparison", "ContactRow"]

_UNITS = {"event-driven": ("rtol", ""), "rigid": ("dt", " s")}
_STYLES = {"rigid": "C0o-", "compliant": "C1s-", "compliant, adaptive": "C2^-"}


@dataclass(frozen=True)
class ContactRow:
    """One way to compute the motion.

    Attributes:
        method: "event-driven", "rigid", "compliant" (in steps of one length) or "compliant, adaptive".
        setting: of the method: tolerance, length of a step [s] or stiffness [N/m].
        error: largest distance from the reference at any time [m]; NaN if the robot diverged.
        error_at_end: distance at the end [m].
        penetration: deepest at the end of a control period, or of a step if there is no period [m].
        energy_error: kinetic, potential and elastic energy at the end, less that of the reference [J].
        steps: that were taken.
        seconds: of computation, without compilation.
        divergence: why the robot was frozen, or "".
    """

    method: str
    setting: float
    error: float
    error_at_end: float
    penetration: float
    energy_error: float
    steps: int
    seconds: float
    divergence: str = ""

    @property
    def setting_text(self) -> str:
        """The setting with its name and unit, as "dt 0.001 s"."""
        name, unit = _UNITS.get(self.method, ("k", " N/m"))
        return f"{name} {self.setting:.3g}{unit}" if self.method == "rigid" else f"{name} {self.setting:.0e}{unit}"


@dataclass(frozen=True, repr=False)
class ContactComparison:
    """A motion in several ways; `print` shows it as a table.

    Attributes:
        robot: name of the robot.
        what: the place that is compared, in words.
        rows: the reference first.
        reference: the log of the event-driven simulation.
        notes: what was left out or differs, and why.
    """

    robot: str
    what: str
    rows: tuple[ContactRow, ...]
    reference: Log
    notes: tuple[str, ...] = ()

    def of(self, method: str) -> list[ContactRow]:
        """The rows of a method."""
        methods = list(dict.fromkeys(row.method for row in self.rows))
        if method not in methods:
            raise PliantError(unknown_name("method", method, methods, "the comparison"))
        return [row for row in self.rows if row.method == method]

    def table(self) -> str:
        """All of it as text."""
        count = len(self.reference.events)
        lines = [
            f"{self.robot}: {self.what}, {self.reference.t[-1]:g} s, {count} event{'' if count == 1 else 's'}",
            f"{'method':<20}{'setting':>14}{'error [m]':>12}{'at the end':>12}{'depth [m]':>11}{'energy [J]':>12}"
            f"{'steps':>9}{'time [s]':>10}",
        ]
        for row in self.rows:
            head, tail = f"{row.method:<20}{row.setting_text:>14}", f"{row.steps:>9}{row.seconds:>10.2g}"
            if row.method == "event-driven":
                numbers = f"{'reference':>12}{'':>12}{row.penetration:>11.1e}{'':>12}"
            else:
                numbers = (
                    f"{row.error:>12.1e}{row.error_at_end:>12.1e}{row.penetration:>11.1e}{row.energy_error:>12.1e}"
                )
            lines.append(head + numbers + tail + (f"  {row.divergence}" if row.divergence else ""))
        return "\n".join([*lines, *self.notes])

    __repr__ = table

    def plot(self, axes: Any = None) -> Any:
        """Error against time of computation, a line for each method; the axes of matplotlib that it is drawn on.

        Args:
            axes: to draw on, new ones if None.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise PliantError("plots need matplotlib: pip install 'pliant[plots]'") from None
        axes = plt.subplots(layout="constrained")[1] if axes is None else axes
        for method, style in _STYLES.items():
            rows = [row for row in self.rows if row.method == method and row.error > 0]
            if not rows:
                continue
            axes.loglog([row.seconds for row in rows], [row.error for row in rows], style, label=method)
            for row in (rows[0], rows[-1]):
                axes.annotate(
                    row.setting_text, (row.seconds, row.error), textcoords="offset points", xytext=(5, 4), fontsize=7
                )
        axes.axvline(self.rows[0].seconds, color="k", linestyle=":", label="event-driven, the reference")
        axes.set_xlabel("time of computation [s]")
        axes.set_ylabel(f"largest error of the {self.what} [m]")
        axes.set_title(self.robot)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
        return axes
