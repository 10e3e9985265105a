"""The electrical and the thermal side of motors: current, voltage, heat.

With k the torque constant, g the gear, v the velocity of the joint and T the temperature, a winding follows

    L di/dt = V - R(T) i - k g v        torque at the joint = g k i
    C dT/dt = R(T) i^2 - (T - T0) / Rth        R(T) = R (1 + a (T - 25 degrees))

Within a step the voltage and the velocity are those of its end, for which both equations have closed forms: with
s = 1 - exp(-dt R / L),

    i+ = (1 - s) i + s (V - k g v+) / R

which is stable for any dt, exact for a rotor that does not change its speed, and a line in v+: what the back-EMF takes
is part of the matrix of the step. Without inductance s is 1.

A motor that is given a torque, gains or a law has a current loop that makes the current it takes, as far as the supply
can drive it: the torques of the least and of the largest voltage bound it, and these are lines in v+, too.
"""

import math

from pliant.checks import is_zero
from pliant.robot import Motor
from pliant.scalar import Scalar, exp, is_constant, maximum, minimum

_REFERENCE = 25
"""Temperature at which resistances are given [degrees Celsius]."""

_COPPER = 0.00393
"""Change of the resistance of copper with its temperature [1/K]."""


def is_infinite(x: Scalar) -> bool:
    """Whether a limit is known to be none."""
    return is_constant(x) and x == math.inf


def has_winding(motor: Motor) -> bool:
    """Whether its current matters."""
    return not is_zero(motor.torque_constant)


def has_temperature(motor: Motor) -> bool:
    """Whether it gets warm."""
    return not is_zero(motor.thermal_capacity)


def has_voltage_limit(motor: Motor) -> bool:
    """Whether the supply bounds the torque of its current loop."""
    return has_winding(motor) and not is_infinite(motor.supply_voltage) and motor.control != "voltage"


def torque_per_current(motor: Motor) -> Scalar:
    """At the joint [N m/A or N/A], and its back-EMF per velocity of the joint."""
    return motor.gear * motor.torque_constant


def warm_resistance(motor: Motor, temperature: Scalar | None) -> Scalar:
    """The resistance of the winding at a temperature, None if it does not get warm [ohm]."""
    if temperature is None:
        return motor.resistance
    return motor.resistance * (1 + _COPPER * (temperature - _REFERENCE))


def derated(motor: Motor, temperature: Scalar | None) -> Scalar:
    """The share of its limits that a motor may use at a temperature."""
    if temperature is None or is_infinite(motor.temperature_limit):
        return 1
    span = motor.temperature_limit - motor.derating_temperature
    return minimum(1, maximum(0, (motor.temperature_limit - temperature) / span))


def torque_limit(motor: Motor, temperature: Scalar | None = None) -> Scalar:
    """The most torque at the joint, of the effort and the current limit [N m or N]; infinite if there is none."""
    limit = motor.effort_limit
    if has_winding(motor) and not is_infinite(motor.current_limit):
        own = maximum(torque_per_current(motor), -torque_per_current(motor)) * motor.current_limit
        limit = own if is_infinite(limit) else minimum(limit, own)
    return limit if is_infinite(limit) else derated(motor, temperature) * limit


def current_after(
    motor: Motor, voltage: Scalar, current: Scalar, temperature: Scalar | None, dt: Scalar | None
) -> tuple[Scalar, Scalar]:
    """The current after a step of dt as a line in the velocity v of the joint, i - b v: i and b [A, A s/rad or A s/m].

    Args:
        voltage: across the winding in the step [V].
        current: at its start [A].
        dt: None for a winding without inductance, or one that has settled.
    """
    R = warm_resistance(motor, temperature)
    share: Scalar = 1
    if dt is not None and not is_zero(motor.inductance):
        share = 1 - exp(-dt * R / motor.inductance)
    emf = torque_per_current(motor) / R
    return (1 - share) * current + share * voltage / R, share * emf


def temperature_after(motor: Motor, temperature: Scalar, current: Scalar, dt: Scalar) -> Scalar:
    """The temperature after a step with a current [degrees Celsius]."""
    heat = warm_resistance(motor, temperature) * current * current
    kept = exp(-dt / (motor.thermal_resistance * motor.thermal_capacity))
    settled = motor.ambient_temperature + motor.thermal_resistance * heat
    return settled + (temperature - settled) * kept
