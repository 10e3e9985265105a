"""Sensors: what a robot measures, where, how often, and with which errors.

A sensor has channels, each a few numbers; "imu.gyro" is the channel "gyro" of the sensor "imu". `pliant.sensors` has
their physics; here is their description.

| kind | at | channels |
|---|---|---|
| "imu" | a frame | gyro 3 [rad/s], accelerometer 3 [m/s^2]; orientation 4 if asked for; in the frame's axes |
| "encoder" | joints | position and velocity, one each [rad, rad/s, or m, m/s] |
| "torque" | joints | torque, one each [N m or N] |
| "wrench" | a frame | force 3, torque 3 [N, N m]: what lies beyond the frame does to what carries it, in its axes |
| "contact" | contacts or bodies | force 3 each [N], in the world's axes; touch, air_time, contact_time [1, s, s] |
| "pose" | a frame | position 3 [m], orientation 4, linear and angular velocity 3 each, in the world's axes |
| "scan" | a frame | height, one for each point [m]: of the ground, from the frame's origin, its heading followed |
| "range" | a frame | distance and hit, one for each ray [m, 1] |
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pliant.checks import is_zero
from pliant.scalar import Scalar, is_constant
from pliant.scalar.pickling import kept_law

SensorKind = Literal["imu", "encoder", "torque", "wrench", "contact", "pose", "scan", "range"]


class Channel(NamedTuple):
    """A form of channel: its name, how many numbers it has for each place, their labels, and what errors it takes."""

    name: str
    size: int
    labels: tuple[str, ...]
    errors: Literal["all", "turn", "none"] = "all"
    is_default: bool = True


_XYZ, _QUATERNION = ("x", "y", "z"), ("x", "y", "z", "w")
FORMS: dict[str, tuple[Channel, ...]] = {
    "imu": (
        Channel("gyro", 3, _XYZ), Channel("accelerometer", 3, _XYZ),
        Channel("orientation", 4, _QUATERNION, "turn", is_default=False),
    ),
    "encoder": (Channel("position", 1, ("",)), Channel("velocity", 1, ("",))),
    "torque": (Channel("torque", 1, ("",)),),
    "wrench": (Channel("force", 3, _XYZ), Channel("torque", 3, _XYZ)),
    "contact": (
        Channel("force", 3, _XYZ), Channel("touch", 1, ("",), "none"), Channel("air_time", 1, ("",), "none"),
        Channel("contact_time", 1, ("",), "none"),
    ),
    "pose": (
        Channel("position", 3, _XYZ), Channel("orientation", 4, _QUATERNION, "turn"), Channel("linear", 3, _XYZ),
        Channel("angular", 3, _XYZ),
    ),
    "scan": (Channel("height", 1, ("",)),),
    "range": (Channel("distance", 1, ("",)), Channel("hit", 1, ("",), "none")),
}  # fmt: skip
"""The channels of each kind of sensor."""


@dataclass(frozen=True)
class SensorError:
    """Errors of a channel, in its units, one number for each entry; of an orientation a turn, in rad, about x, y, z.

    reading = range and resolution of (law(gain (1 + scale) truth) + offset + bias + drift + noise)

    Attributes:
        channel: its name.
        noise: density of white noise [unit/sqrt(Hz)]: at the rate r, a sample has the deviation noise sqrt(r).
        bias: standard deviation of what is drawn when the sensor is turned on, at a reset, and stays.
        drift: standard deviation of a bias that wanders, a Gauss-Markov process.
        drift_time: its correlation time [s].
        scale: standard deviation of the error of the scale, drawn when the sensor is turned on.
        offset, gain: added, and multiplied with, in every robot.
        range: readings beyond plus or minus this are cut off.
        resolution: readings are multiples of it; 0 for none.
        law: a generic function of one number, for each entry.
    """

    channel: str
    noise: tuple[Scalar, ...] = ()
    bias: tuple[Scalar, ...] = ()
    drift: tuple[Scalar, ...] = ()
    drift_time: Scalar = 100.0
    scale: tuple[Scalar, ...] = ()
    offset: tuple[Scalar, ...] = ()
    gain: tuple[Scalar, ...] = ()
    range: tuple[Scalar, ...] = ()
    resolution: tuple[Scalar, ...] = ()
    law: Callable[[Scalar], Scalar] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"law": kept_law(self.law, f"channel {self.channel!r}")}


PER_ENTRY = ("noise", "bias", "drift", "scale", "offset", "gain", "range", "resolution")
"""Of which an error has one for each entry."""


@dataclass(frozen=True)
class Sensor:
    """A sensor of a robot; see the module for kinds and channels, and `Robot.with_sensor`.

    Attributes:
        at: names of a frame, or of joints or contacts.
        channels: names of those that it has.
        errors: one for each channel that has any.
        rate: samples in a second [Hz]; None for one after each step.
        phase: how much later than at whole periods it samples [s].
        delay: from sample to reading, between these two, drawn for each sample [s].
        jitter: how much later than planned a sample is taken, at most [s].
        interpolate: whether readings go over from sample to sample, where others hold the last one.
        dropout: share of samples that are lost.
        misalignment: of the whole sensor, deviation of a turn about each axis, drawn when it is turned on [rad].
        side: of a flexible joint: "motor" or "link" for encoders, "motor" or "spring" for torques.
        is_differentiated: whether an encoder takes its velocity from its positions.
        threshold: force above which a contact counts as one [N].
        rays: of a scan points (x, y, 0) beside the frame, of a range finder unit vectors in the frame [m, 1].
        reach: how far rays go [m].
    """

    name: str
    kind: SensorKind
    at: tuple[str, ...]
    channels: tuple[str, ...]
    errors: tuple[SensorError, ...] = ()
    rate: Scalar | None = None
    phase: Scalar = 0
    delay: tuple[Scalar, Scalar] = (0, 0)
    jitter: Scalar = 0
    interpolate: bool = False
    dropout: Scalar = 0
    misalignment: Scalar = 0
    side: str = "link"
    is_differentiated: bool = False
    threshold: Scalar = 0
    rays: tuple[tuple[Scalar, Scalar, Scalar], ...] = field(default=(), repr=False)
    reach: Scalar = 10.0

    @property
    def subject(self) -> str:
        """It in messages."""
        return f"sensor {self.name!r}"

    @property
    def places(self) -> tuple[str, ...]:
        """A name for each place that its channels have numbers for; one without a name if there is just one."""
        if self.kind in ("encoder", "torque", "contact"):
            return self.at
        return tuple(f"ray{k}" for k in range(len(self.rays))) if self.rays else ("",)

    def form(self, channel: str) -> Channel:
        """The form of one of its channels."""
        return next(form for form in FORMS[self.kind] if form.name == channel)

    def size(self, channel: str) -> int:
        """How many numbers a channel has."""
        return self.form(channel).size * len(self.places)

    def error_size(self, channel: str) -> int:
        """How many numbers the errors of a channel have."""
        return 3 if self.form(channel).errors == "turn" else self.size(channel)

    def columns(self, channel: str) -> tuple[str, ...]:
        """A name for each number of a channel."""
        labels = self.form(channel).labels
        return tuple(".".join(filter(None, (place, label))) or channel for place in self.places for label in labels)

    def error(self, channel: str) -> SensorError:
        """The errors of a channel; none if it has none."""
        return next((e for e in self.errors if e.channel == channel), SensorError(channel))

    @property
    def is_random(self) -> bool:
        """Whether its readings are drawn in part."""
        drawn = [x for e in self.errors for what in ("noise", "bias", "drift", "scale") for x in getattr(e, what)]
        low, high = self.delay
        is_spread = not (is_constant(low) and is_constant(high) and low == high)
        return is_spread or not is_zero(*drawn, self.jitter, self.dropout, self.misalignment)
