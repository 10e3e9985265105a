"""The Allan deviation of readings: which errors a sensor has, by the times over which it is averaged.

Of readings y at the period T, with averages over m of them, tau = m T,

    sigma^2(tau) = <(mean of the next m - mean of these m)^2> / 2

over all overlapping stretches [Allan 1966; IEEE Std 952-1997, annex C]. White noise of density N falls as
N / sqrt(tau); a Gauss-Markov drift of standard deviation s and correlation time T rises as s sqrt(2 tau / (3 T)) up to
0.618 s at tau = 1.89 T, and falls again; a constant bias has none.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.checks import check, check_at_least, is_real
from pliant.errors import PliantError
from pliant.plots.figures import COLORS, INK, figure, size_of
from pliant.recording.log import Log
from pliant.signatures import explained

# averages over fewer stretches than this say little
_STRETCHES = 9


@explained
@dataclass(frozen=True, eq=False)
class Allan:
    """Allan deviations.

    Attributes:
        times: over which is averaged [s].
        deviation: (times, n), in the unit of the readings.
        columns: their names.
    """

    times: np.ndarray
    deviation: np.ndarray
    columns: tuple[str, ...]

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, closed_forms: Mapping[str, np.ndarray] | None = None,
        title: str = "", size: tuple[float, float] | None = None, show: bool = False,
    ) -> Any:  # fmt: skip
        """A plot of deviations over times, both logarithmic.

        Args:
            path: of an .svg, .pdf or .png file to write; None for none.
            closed_forms: by name, deviations at `times` to draw as dashed lines.
            title, size, show: as for `Log.plot`.

        Returns:
            The figure of matplotlib.
        """
        with figure("allan(...).plot()", size_of(size, (5.6, 3.6)), path=path, title=title, show=show) as made:
            axes = made.subplots()
            for k, name in enumerate(self.columns):
                axes.loglog(self.times, self.deviation[:, k], color=COLORS[k % len(COLORS)], label=name)
            for name, values in (closed_forms or {}).items():
                axes.loglog(self.times, values, "--", color=INK, linewidth=0.8, label=name)
            axes.set_xlabel("averaging time [s]")
            axes.set_ylabel("Allan deviation")
            axes.legend()
        return made

    def __repr__(self) -> str:
        rows = [
            f"{t:10.4g} s  " + "  ".join(f"{x:.4g}" for x in row)
            for t, row in zip(self.times, self.deviation, strict=True)
        ]
        return "\n".join(["Allan deviation of " + ", ".join(self.columns), *rows])


@explained
def allan(readings: Any, channel: str | None = None, *, period: float | None = None) -> Allan:
    """The Allan deviation of a channel of a log, or of an array of readings.

        pliant.analysis.allan(log, "imu.gyro")
        pliant.analysis.allan(log["imu.gyro"], period=0.002)

    Args:
        readings: a log; or an array (times,), (times, n) or (batch, times, n), in which all robots count alike.
        channel: of the log.
        period: between readings [s]; that of the log by default.
    """
    columns: tuple[str, ...] = ()
    if isinstance(readings, Log):
        if channel is None:
            raise PliantError("allan has a log, but no channel of it", field="channel", cure="allan(log, 'imu.gyro')")
        log, readings = readings, readings[channel]
        columns = log.columns.get(channel, ())
        apart = np.diff(log.t)
        if period is None and len(apart):
            period = float(apart.mean())
            is_even = np.abs(apart - period).max() < 1e-6 * period
            check("times of the log", "uneven", "readings at even times", bool(is_even), error=PliantError)
    check("period", period, "the time between readings in seconds", is_real(period), error=PliantError)
    check_at_least("period", period, 0, strict=True, error=PliantError)
    y = np.asarray(readings, dtype=float)
    y = y[:, None] if y.ndim == 1 else y
    takes = "(times,), (times, n) or (batch, times, n), with 3 times at least, all finite"
    is_right = y.ndim in (2, 3) and y.shape[-2] >= 3 and bool(np.isfinite(y).all())
    check("readings", f"of shape {y.shape}", takes, is_right, error=PliantError)
    return _deviations(y, float(period or 0), columns or tuple(f"{k}" for k in range(y.shape[-1])))


def _deviations(y: np.ndarray, period: float, columns: tuple[str, ...]) -> Allan:
    n = y.shape[-2]
    # the integral begins with zero; a mean that all have is taken off, so that sums stay exact
    x = np.zeros((*y.shape[:-2], n + 1, y.shape[-1]))
    np.cumsum(y - y.mean(axis=-2, keepdims=True), axis=-2, out=x[..., 1:, :])
    most = max(1, n // _STRETCHES)
    counts = np.unique(np.geomspace(1, most, num=max(2, round(12 * np.log10(most + 1)))).astype(int))
    found = []
    for m in counts:
        steps = x[..., 2 * m :, :] - 2 * x[..., m:-m, :] + x[..., : -2 * m, :]
        mean = (steps**2).mean(axis=tuple(range(steps.ndim - 1)))
        found.append(np.sqrt(mean / 2) / m)
    return Allan(counts * period, np.array(found), columns)


def white_noise(times: np.ndarray, density: float) -> np.ndarray:
    """The Allan deviation of white noise: N / sqrt(tau)."""
    return density / np.sqrt(times)


def gauss_markov(times: np.ndarray, deviation: float, correlation_time: float) -> np.ndarray:
    """That of a Gauss-Markov process of this standard deviation and correlation time [s]."""
    x = np.asarray(times) / correlation_time
    # where averages are short, the bracket is the difference of numbers that are nearly equal: its series
    bracket = np.where(
        x < 1e-3, x * x / 3 - x**3 / 4, 1 - (3 - 4 * np.exp(-x) + np.exp(-2 * x)) / (2 * np.maximum(x, 1e-3))
    )
    return deviation * np.sqrt(2 * bracket / x)
