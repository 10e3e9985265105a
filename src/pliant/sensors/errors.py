"""Errors of sensors: what is drawn when one is turned on, what wanders, what each sample has, and what is cut off.

In the terms of Allan's variance: white noise of density N gives samples at the rate r the deviation N sqrt(r), and an
Allan deviation of N / sqrt(tau). A drift of standard deviation s and correlation time T is the stationary Gauss-Markov
process, which from sample to sample goes as

    b+ = a b + s sqrt(1 - a^2) n,        a = exp(-h / T),        n normal,

exactly, whatever the time h between them; its bias instability is 0.437 s sqrt(2) at tau = 1.89 T, and it stays bounded
where a random walk does not.
"""

import math
from collections.abc import Mapping

from pliant.chance import Chance
from pliant.checks import is_zero
from pliant.robot.exponential import turn_exponential
from pliant.robot.sensors import Sensor, SensorError
from pliant.scalar import Scalar, Scalars, exp, floor, is_constant, maximum, minimum, sqrt
from pliant.spatial import Vector
from pliant.spatial.vectors import quaternion_product, rotation_from_quaternion

Memory = dict[str, list[Scalar]]
"""What a sensor remembers, by name."""

# a drift goes on after this share of its correlation time, or after each sample if these are farther apart
_DRIFT_STEP = 0.01


def error_sizes(sensor: Sensor) -> dict[str, int]:
    """What the errors of a sensor remember, by name, with the number of numbers."""
    sizes = {} if is_zero(sensor.misalignment) else {"turn": 4}
    for e in sensor.errors:
        n = sensor.error_size(e.channel)
        sizes |= {f"{e.channel}.{what}": n for what in ("bias", "scale", "drift") if not is_zero(*getattr(e, what))}
    return sizes


def turn_on(sensor: Sensor, chance: Chance) -> Memory:
    """What is drawn when a sensor is turned on."""
    found: Memory = {}
    for name, n in error_sizes(sensor).items():
        if name == "turn":
            found[name] = list(turn_exponential(Vector(*(sensor.misalignment * x for x in chance.normals(3)))))
        else:
            channel, what = name.rsplit(".", 1)
            deviations = getattr(sensor.error(channel), what)
            found[name] = [s * x for s, x in zip(deviations, chance.normals(n), strict=True)]
    return found


def has_drift(sensor: Sensor) -> bool:
    """Whether a channel has a bias that wanders."""
    return any(not is_zero(*e.drift) for e in sensor.errors)


def drift_samples(sensor: Sensor, period: float) -> int:
    """After how many samples, ``period`` seconds apart, the drifts of a sensor go on."""
    times = [e.drift_time for e in sensor.errors if not is_zero(*e.drift)]
    if not all(map(is_constant, times)):
        return 1
    return max(1, math.floor(_DRIFT_STEP * min(times, default=0) / period))


def drifted(sensor: Sensor, memory: Mapping[str, Scalars], chance: Chance, time: float) -> Memory:
    """Drifts after a time [s]."""
    found: Memory = {}
    for e in sensor.errors:
        if is_zero(*e.drift):
            continue
        before = memory[f"{e.channel}.drift"]
        a = exp(-time / e.drift_time)
        spread = sqrt(1 - a * a)
        normals = chance.normals(len(before))
        found[f"{e.channel}.drift"] = [a * b + s * spread * n for b, s, n in zip(before, e.drift, normals, strict=True)]
    return found


def measured(
    sensor: Sensor, truth: Mapping[str, Scalars], memory: Mapping[str, Scalars], chance: Chance | None, rate: float
) -> dict[str, list[Scalar]]:
    """The numbers of each channel with their errors; ``rate`` is that of the samples [Hz]."""
    turned = _turned(sensor, truth, memory)
    found: dict[str, list[Scalar]] = {}
    for channel, values in turned.items():
        e = sensor.error(channel)
        noise = _noise(e, chance, rate)
        if sensor.form(channel).errors == "turn":
            found[channel] = _turned_quaternion(values, _summed(memory, e, noise))
            continue
        x = [_with_gain(e, memory, k, value) for k, value in enumerate(values)]
        added = _summed(memory, e, noise)
        if added:
            x = [a + b for a, b in zip(x, added, strict=True)]
        found[channel] = [cut(e, k, value) for k, value in enumerate(x)]
    return found


def _turned(sensor: Sensor, truth: Mapping[str, Scalars], memory: Mapping[str, Scalars]) -> dict[str, list[Scalar]]:
    """The truth in the axes of a sensor that is not mounted quite as it should be: one turn for all channels."""
    if "turn" not in memory:
        return {channel: list(values) for channel, values in truth.items()}
    turn = memory["turn"]
    R = rotation_from_quaternion(*turn)
    found = {}
    for channel, values in truth.items():
        is_turn = sensor.form(channel).errors == "turn"
        found[channel] = (
            list(quaternion_product(tuple(values), tuple(turn))) if is_turn else list(R.rotate_back(Vector(*values)))
        )
    return found


def _noise(e: SensorError, chance: Chance | None, rate: float) -> list[Scalar]:
    if chance is None or is_zero(*e.noise):
        return []
    return [density * math.sqrt(rate) * n for density, n in zip(e.noise, chance.normals(len(e.noise)), strict=True)]


def _summed(memory: Mapping[str, Scalars], e: SensorError, noise: Scalars) -> list[Scalar]:
    """All that is added."""
    parts = [list(memory[name]) for what in ("bias", "drift") if (name := f"{e.channel}.{what}") in memory]
    parts += [list(e.offset)] if e.offset else []
    parts += [list(noise)] if len(noise) else []
    return [sum(column[1:], column[0]) for column in zip(*parts, strict=True)] if parts else []


def _with_gain(e: SensorError, memory: Mapping[str, Scalars], k: int, x: Scalar) -> Scalar:
    if e.gain:
        x = e.gain[k] * x
    if f"{e.channel}.scale" in memory:
        x = x + memory[f"{e.channel}.scale"][k] * x
    return x if e.law is None else e.law(x)


def cut(e: SensorError, k: int, x: Scalar) -> Scalar:
    """A number within its range, and a multiple of its resolution."""
    if e.resolution and not is_zero(e.resolution[k]):
        step = e.resolution[k]
        x = step * floor(x / step + 0.5)
    if e.range and not (is_constant(e.range[k]) and math.isinf(e.range[k])):
        x = maximum(minimum(x, e.range[k]), -e.range[k])
    return x


def _turned_quaternion(values: Scalars, turn: Scalars) -> list[Scalar]:
    if not len(turn):
        return list(values)
    return list(quaternion_product(tuple(values), tuple(turn_exponential(Vector(*turn)))))
