"""What sensors read: the truth at a state, errors on it, and the way from a sample to a reading."""

from pliant.robot.sensors import Sensor, SensorError
from pliant.sensors.readings import Reader, Timing
from pliant.sensors.truth import Moment, truth_of

__all__ = ["Moment", "Reader", "Sensor", "SensorError", "Timing", "truth_of"]
