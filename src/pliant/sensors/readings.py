"""From samples to readings: when a sensor samples, and when its readings are what it has sampled.

Times are whole steps. A sensor samples where the tick is its phase plus a multiple of its period, or later by its
jitter. A sample becomes the reading after the delay; of samples that overtake each other the newest one counts. Until
then, and where samples are lost, the reading stays as it is. A sensor that interpolates reads what the straight lines
between its samples had a delay ago.

What a sensor remembers for this is a register of samples, the newest first, as many as can be under way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from pliant.chance import Chance, stream_of
from pliant.checks import is_zero
from pliant.errors import SimulationError
from pliant.robot import Robot
from pliant.robot.sensors import Sensor
from pliant.scalar import Scalar, Scalars, equal, floor, is_constant, maximum, minimum, select
from pliant.sensors.errors import Memory, error_sizes
from pliant.spatial import Vector

# rates that are off by more than this share are reported
_NEAR = 1e-6

MOST_SAMPLES = 1000
"""That can be under way at once."""


@dataclass(frozen=True)
class Timing:
    """The times of a sensor in whole steps.

    Attributes:
        period: from sample to sample; phase: of the first; shortest, longest: delays; jitter: at most.
    """

    period: int
    phase: int
    shortest: int
    longest: int
    jitter: int

    @classmethod
    def of(cls, sensor: Sensor, dt: float) -> "Timing":
        """Those of a sensor, rounded."""
        times = [sensor.rate or 0, sensor.phase, *sensor.delay, sensor.jitter]
        if not all(map(is_constant, times)):
            problem = f"{sensor.subject}: rate, phase, delay and jitter cannot vary from robot to robot"
            cure = "give a range of delays, delay=(shortest, longest), which is drawn for each sample"
            raise SimulationError(problem, subject=sensor.subject, field="varying", cure=cure)
        period = max(1, round(1 / (sensor.rate * dt))) if sensor.rate else 1
        low, high = (round(x / dt) for x in sensor.delay)
        jitter = min(round(sensor.jitter / dt), period - 1)
        found = cls(period, round(sensor.phase / dt) % period, low, high, jitter)
        if found.register > MOST_SAMPLES:
            problem = f"{sensor.subject} has {found.register} samples under way at once"
            cure = f"at most {MOST_SAMPLES} fit: give a shorter delay or a lower rate"
            raise SimulationError(problem, subject=sensor.subject, field="delay", cure=cure)
        return found

    @property
    def is_even(self) -> bool:
        """Whether all samples take the same time."""
        return self.shortest == self.longest and not self.jitter

    @property
    def register(self) -> int:
        """How many samples can be under way, the newest included; none if a sample is a reading at once."""
        if self.is_even:
            return 1 + self.longest // self.period if self.longest else 0
        return 2 + (self.longest + self.jitter) // self.period


def rounding_notes(sensor: Sensor, dt: float) -> list[str]:
    """How the rate of a sensor is rounded to whole steps, if it is."""
    timing = Timing.of(sensor, dt)
    notes = []
    if sensor.rate and abs(1 / (timing.period * dt) / sensor.rate - 1) > _NEAR:
        real = 1 / (timing.period * dt)
        notes.append(f"{sensor.subject} samples at {real:.6g} Hz in place of {sensor.rate:g} Hz: every {timing.period} "
                     f"steps of {dt:g} s")  # fmt: skip
    steps = {"phase": timing.phase, "shortest delay": timing.shortest, "delay": timing.longest, "jitter": timing.jitter}
    wanted = {"phase": sensor.phase, "shortest delay": sensor.delay[0], "delay": sensor.delay[1],
              "jitter": sensor.jitter}  # fmt: skip
    for what, time in wanted.items():
        real = steps[what] * dt
        same = what == "shortest delay" and sensor.delay[0] == sensor.delay[1]
        is_off = abs(real - time) > _NEAR * dt + 1e-9 * abs(time)
        if what == "phase":
            is_off = abs((real - time) / (timing.period * dt) - round((real - time) / (timing.period * dt))) > _NEAR
        if is_off and not same:
            notes.append(f"{what} of {sensor.subject} is {real:g} s in place of {time:g} s: whole steps of {dt:g} s")
    return notes


@dataclass(frozen=True)
class Reader:
    """A sensor in a simulation: its times, its streams of chance, and the form of what it remembers.

    Attributes:
        streams: by purpose.
    """

    sensor: Sensor
    timing: Timing
    dt: float
    streams: Mapping[str, int]

    @property
    def name(self) -> str:
        return self.sensor.name

    @property
    def period(self) -> float:
        """From sample to sample [s]."""
        return self.timing.period * self.dt

    @cached_property
    def spans(self) -> dict[str, slice]:
        """Where each channel is among its numbers."""
        found, at = {}, 0
        for channel in self.sensor.channels:
            found[channel] = slice(at, at + self.sensor.size(channel))
            at = found[channel].stop
        return found

    @property
    def size(self) -> int:
        """How many numbers it reads."""
        return sum(self.sensor.size(channel) for channel in self.sensor.channels)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """What it remembers, by name."""
        sizes, timing, places = error_sizes(self.sensor), self.timing, len(self.sensor.at)
        if self.sensor.is_differentiated:
            sizes["last"] = places
        if self.sensor.kind == "contact":
            sizes |= {"touch": places, "air_time": places, "contact_time": places}
        count = timing.register
        if count:
            sizes["register"] = (count + self.sensor.interpolate) * self.size
        if not timing.is_even:
            sizes["arrivals"] = count
        return sizes

    @property
    def memory_size(self) -> int:
        """How many numbers it remembers."""
        return sum(self.sizes.values())

    def unpacked(self, memory: Scalars) -> Memory:
        """What it remembers, by name."""
        found, at = {}, 0
        for name, n in self.sizes.items():
            found[name] = list(memory[at : at + n])
            at += n
        return found

    def packed(self, memory: Mapping[str, Scalars]) -> list[Scalar]:
        """The numbers of what it remembers."""
        return [x for name in self.sizes for x in memory[name]]

    def flat(self, channels: Mapping[str, Scalars]) -> list[Scalar]:
        """Its numbers, from those of each channel."""
        return [x for channel in self.sensor.channels for x in channels[channel]]

    def chance(self, key: Scalars, tick: Scalars, purpose: str) -> Chance | None:
        """Its random numbers for a purpose; None if none are drawn."""
        return Chance(key, tick, self.streams[purpose]) if self.sensor.is_random else None


_PURPOSES = ("on", "drift", "noise", "delay", "jitter")


def readers_of(robot: Robot, dt: float) -> list[Reader]:
    """The sensors of a robot in a simulation, in order."""
    found: list[Reader] = []
    taken: dict[int, str] = {}
    for sensor in robot.sensors.values():
        streams = {}
        for purpose in _PURPOSES:
            stream = stream_of(f"{sensor.name}.{purpose}")
            while stream in taken:  # two names of one number
                stream += 1
            taken[stream] = sensor.name
            streams[purpose] = stream
        found.append(Reader(sensor, Timing.of(sensor, dt), dt, streams))
    return found


# ---- when

_TURN = 2**20


def remainder(clock: Scalars, n: int) -> Scalar:
    """Ticks since the last multiple of n; the clock is one number or two, see `pliant.simulation.state`."""
    if n == 1:
        return 0
    low = _modulo(clock[0], n)
    return low if len(clock) == 1 else _modulo(low + _modulo(clock[1], n) * (_TURN % n), n)


def _modulo(x: Scalar, n: int) -> Scalar:
    # half a tick off the borders, rounding does no harm
    return x - n * floor((x + 0.5) / n)


def since_sample(reader: Reader, clock: Scalars) -> Scalar:
    """Ticks since the last planned sample."""
    timing = reader.timing
    return remainder([clock[0] + (timing.period - timing.phase), *clock[1:]], timing.period)


def is_due(reader: Reader, clock: Scalars, key: Scalars) -> Scalar:
    """The condition that a sensor samples at this tick."""
    timing = reader.timing
    late = since_sample(reader, clock)
    if not timing.jitter:
        return equal(late, 0)
    # drawn once for each planned sample, by its own tick
    planned = _earlier(clock, late)
    chance = Chance(key, planned, reader.streams["jitter"])
    return equal(late, chance.whole(timing.jitter + 1))


def _earlier(clock: Scalars, ticks: Scalar) -> list[Scalar]:
    """The clock so many ticks before, or at zero."""
    low = clock[0] - ticks
    if len(clock) == 1:
        return [maximum(low, 0)]
    is_below = low < 0
    return [select(is_below, low + _TURN, low), select(is_below, maximum(clock[1] - 1, 0), clock[1])]


# ---- from samples to readings


def first_readings(reader: Reader, sample: Scalars, memory: Memory) -> Memory:
    """What a sensor remembers that has read this sample for a long time."""
    found = dict(memory)
    if "register" in reader.sizes:
        found["register"] = list(sample) * (reader.sizes["register"] // reader.size)
    if "arrivals" in reader.sizes:
        found["arrivals"] = [-1] * reader.sizes["arrivals"]
    return found


def after_sample(
    reader: Reader, sensor: Sensor, sample: Scalars, reading: Scalars, memory: Memory, clock: Scalars, key: Scalars
) -> tuple[list[Scalar], Memory]:
    """The reading and what is remembered when a sample has been taken.

    Args:
        sensor: with the numbers of the robot at hand.
    """
    timing, n = reader.timing, reader.size
    chance = reader.chance(key, clock, "delay")
    is_lost: Scalar = False
    if chance is not None and not is_zero(sensor.dropout):
        is_lost = chance.uniform() < sensor.dropout
    if "register" not in reader.sizes:
        return [_chosen(is_lost, a, b) for a, b in zip(reading, sample, strict=True)], memory
    before = memory["register"]
    # a sample that is lost is the one before it once more
    newest = [_chosen(is_lost, a, b) for a, b in zip(before[:n], sample, strict=True)]
    found = {**memory, "register": [*newest, *before[:-n]]}
    if "arrivals" in reader.sizes:
        delay: Scalar = timing.shortest
        if timing.longest > timing.shortest and chance is not None:
            delay = timing.shortest + chance.whole(timing.longest - timing.shortest + 1)
        # counted down at each step; below zero it has arrived
        found["arrivals"] = [delay, *memory["arrivals"][:-1]]
    return list(reading), found


def _chosen(condition: Scalar, then: Scalar, otherwise: Scalar) -> Scalar:
    return otherwise if condition is False else select(condition, then, otherwise)


def is_delivering(reader: Reader) -> bool:
    """Whether readings change other than with samples, and `delivered` is for each step."""
    return "register" in reader.sizes


def delivered(reader: Reader, reading: Scalars, memory: Memory, clock: Scalars) -> tuple[list[Scalar], Memory]:
    """The reading at a tick, after samples of this tick."""
    timing, n = reader.timing, reader.size
    register = [memory["register"][k : k + n] for k in range(0, len(memory["register"]), n)]
    if reader.sensor.interpolate:
        return _interpolated(reader, register, clock), memory
    if "arrivals" in memory:
        found = list(reading)
        for k in reversed(range(len(memory["arrivals"]))):
            is_there = memory["arrivals"][k] <= 0
            found = [select(is_there, a, b) for a, b in zip(register[k], found, strict=True)]
        return found, {**memory, "arrivals": [maximum(x - 1, -1) for x in memory["arrivals"]]}
    # after a number of whole periods, and some steps
    periods, steps = divmod(timing.longest, timing.period)
    is_now = equal(since_sample(reader, clock), steps)
    return [select(is_now, a, b) for a, b in zip(register[periods], reading, strict=True)], memory


def _interpolated(reader: Reader, register: Sequence[Scalars], clock: Scalars) -> list[Scalar]:
    """Between the samples on both sides of a delay ago; the newest one where there is none after that."""
    timing = reader.timing
    # samples back from the newest, in periods
    back = minimum(maximum((timing.longest - since_sample(reader, clock)) / timing.period, 0), len(register) - 1)
    found = list(register[0])
    for k, (newer, older) in enumerate(pairwise(register)):
        share = maximum(0, minimum(1, back - k))
        found = [x + share * (b - a) for x, a, b in zip(found, newer, older, strict=True)]
    return found


# ---- contacts, which are watched at each step


def watched(sensor: Sensor, forces: Sequence[Vector], memory: Memory, dt: Scalar) -> Memory:
    """Flags and times of contacts after a step with these forces."""
    touch, air, ground = [], [], []
    for f, a, b in zip(forces, memory["air_time"], memory["contact_time"], strict=True):
        is_on = f.dot(f) > sensor.threshold * sensor.threshold
        touch.append(select(is_on, 1, 0))
        air.append(select(is_on, 0, a + dt))
        ground.append(select(is_on, b + dt, 0))
    return {**memory, "touch": touch, "air_time": air, "contact_time": ground}


def with_contact_times(sensor: Sensor, truth: Mapping[str, list[Scalar]], memory: Memory) -> dict[str, list[Scalar]]:
    """The truth of a contact sensor with the flags and times that it remembers."""
    own = {channel: memory[channel] for channel in ("touch", "air_time", "contact_time") if channel in sensor.channels}
    return {**truth, **own}
