"""Actuators of a compiled MJCF model as motors.

MuJoCo's force is gain * (control or activation) + bias, each affine in the actuator's length and velocity, clipped, and
acts on the joint by way of a gear. A force that is proportional to the control, and position and velocity servos, are
motors of Pliant as they are; other affine laws become a `law`, and activation a `MotorLaw` that remembers. Of the
first, the control is at the joint: a torque, an angle or a rate, for which `MjcfRobot.u` converts MuJoCo's controls.
"""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pliant.formats.journal import Journal
from pliant.formats.mjcf_compiler import Compiled
from pliant.robot import MotorLaw, Robot
from pliant.scalar import Scalar, exp, maximum, minimum

NONE, INTEGRATOR, FILTER, FILTER_EXACT, MUSCLE, DC_MOTOR, PID, USER = range(8)
FIXED, AFFINE = 0, 1
JOINT, JOINT_IN_PARENT, SLIDER_CRANK, TENDON, SITE, BODY, SO3 = range(7)
_ACTS_ON = {
    SLIDER_CRANK: "a slider-crank", SITE: "a site", BODY: "the contacts of a body", SO3: "an orientation",
}  # fmt: skip
_DYNAMICS = ("none", "integrator", "filter", "filterexact", "muscle", "dcmotor", "pid", "user")
_GAINS = ("fixed", "affine", "muscle", "dcmotor", "so3", "pid", "user")
Range = tuple[float, float]
_ALL: Range = (-math.inf, math.inf)


@dataclass(frozen=True)
class AffineLaw:
    """The torque of an actuator of MuJoCo: gear clip(gain u + bias), gain and bias affine in length and velocity.

    Attributes:
        gain, bias: constant, factor of the length, factor of the velocity.
        gear: length and velocity are those of the joint times it.
        control, force: ranges of u and of the force.
    """

    gain: tuple[float, float, float]
    bias: tuple[float, float, float]
    gear: float = 1.0
    control: Range = _ALL
    force: Range = _ALL

    def __call__(self, u: Scalar, q: Scalar, v: Scalar, t: Scalar) -> Scalar:
        return self.torque(clipped(u, self.control), q, v)

    def torque(self, act: Scalar, q: Scalar, v: Scalar) -> Scalar:
        """The torque for a control within its range, or an activation."""
        x, xd = self.gear * q, self.gear * v
        gain, bias = (c[0] + c[1] * x + c[2] * xd for c in (self.gain, self.bias))
        return self.gear * clipped(gain * act + bias, self.force)


@dataclass(frozen=True)
class ActivatedLaw:
    """An affine law of an activation, which follows the control: a' = u, or a' = (u - a) / tau.

    What it remembers is the activation, and the control and time of the step before, from which it moves on as MuJoCo
    does: by Euler's method, or exactly.

    Attributes:
        kind: "integrator", "filter" or "filterexact".
        tau: [s].
        range: of the activation.
    """

    law: AffineLaw
    kind: str
    tau: float
    range: Range = _ALL

    def __call__(self, u: Scalar, q: Scalar, v: Scalar, t: Scalar, memory: Any) -> tuple[Scalar, tuple[Scalar, ...]]:
        act, before, since = memory
        dt = t - since
        if self.kind == "integrator":
            act = act + before * dt
        elif self.kind == "filter":
            act = act + (before - act) * (dt / self.tau)
        else:
            act = act + (before - act) * (1 - exp(-dt / self.tau))
        act = clipped(act, self.range)
        return self.law.torque(act, q, v), (act, clipped(u, self.law.control), t)


def clipped(x: Scalar, limits: Range) -> Scalar:
    """A number within limits, which may be infinite."""
    low, high = limits
    x = x if low == -math.inf else maximum(x, low)
    return x if high == math.inf else minimum(x, high)


class Control(NamedTuple):
    """How a control of MuJoCo becomes one of ours: clipped to a range, and times a scale.

    Attributes:
        motor: its name.
        place: of MuJoCo's control in ctrl.
        scale: of ours to MuJoCo's.
        range: of MuJoCo's.
    """

    motor: str
    place: int
    scale: float
    range: Range


@dataclass
class Motors:
    """Puts the motors of a model on a robot.

    Attributes:
        joints: names of joints of the robot, by MuJoCo's index.
        tendons: of fixed tendons joints and coefficients, by MuJoCo's index.
        names: of actuators.
    """

    model: Compiled
    joints: dict[int, str]
    tendons: dict[int, tuple[tuple[str, float], ...]]
    names: list[str]
    journal: Journal
    controls: list[Control] = field(default_factory=list)

    def put_on(self, robot: Robot) -> Robot:
        """A copy of the robot with the motors."""
        for k, name in enumerate(self.names):
            values = self._values(robot, k, name)
            if values is not None:
                robot = robot.with_motor(values.pop("joint"), name=name, **values)
        return robot

    def _drop(self, name: str, why: str) -> None:
        message = f"{why}: left out, its force is missing"
        self.journal.note("dropped", f"actuator {name!r}", message)

    def _values(self, robot: Robot, k: int, name: str) -> dict[str, Any] | None:
        """Joint, control, gains, limits of a motor; None if it cannot be one."""
        m = self.model
        kind, target = int(m.actuator_trntype[k]), int(m.actuator_trnid[k, 0])
        dynamics, gain_type, bias_type = (
            int(x[k]) for x in (m.actuator_dyntype, m.actuator_gaintype, m.actuator_biastype)
        )
        if kind in _ACTS_ON:
            return self._drop(name, f"it acts on {_ACTS_ON[kind]}, and motors on joints")
        if kind == TENDON and target not in self.tendons:
            return self._drop(name, "its tendon has a path through space, or joints that are left out")
        if kind != TENDON and target not in self.joints:
            return self._drop(name, "its joint is left out")
        if int(m.options["disableactuator"]) & 1 << max(0, int(m.actuator_group[k])):
            return self._drop(name, "its group is disabled")
        if m.actuator_plugin[k] >= 0:
            return self._drop(name, "it is a plugin")
        if gain_type > AFFINE or bias_type > AFFINE or dynamics > FILTER_EXACT or m.actuator_ctrlnum[k] != 1:
            kinds = f"dynamics {_DYNAMICS[dynamics]}, gain {_GAINS[gain_type]}"
            return self._drop(name, f"no motor has its law ({kinds})")
        gear = [float(g) for g in m.actuator_gear[int(m.actuator_outadr[k])]]
        coupling: tuple[tuple[str, float], ...] | None = None
        if kind == TENDON:
            coupling = tuple((joint, gear[0] * c) for joint, c in self.tendons[target])
            joint, ratio = coupling[0][0], 1.0
            if any(robot.joints[j].kind.nv != 1 for j, _ in coupling) or any(r == 0 for _, r in coupling):
                return self._drop(name, "its tendon has coefficients of 0")
        else:
            joint, ratio = self.joints[target], gear[0]
        if robot.joints[joint].kind.nv != 1:
            kind_name = robot.joints[joint].kind.name
            return self._drop(name, f"it drives the {kind_name} joint {joint!r}, and motors one degree of freedom")
        if ratio == 0:
            return self._drop(name, "its gear is 0")
        if m.actuator_delay[k] > 0:
            self.journal.note("dropped", f"actuator {name!r}", f"its delay of {m.actuator_delay[k]:g} s")
        return {"joint": joint, **self._law(k, name, ratio, joint), **({"coupling": coupling} if coupling else {})}

    def _law(self, k: int, name: str, gear: float, joint: str) -> dict[str, Any]:
        """Control, gains and limits, or a law."""
        m = self.model
        g0, g1, g2 = (float(x) for x in m.actuator_gainprm[k][:3])
        bias = tuple(float(x) for x in m.actuator_biasprm[k][:3])
        if m.actuator_gaintype[k] == FIXED:
            g1 = g2 = 0.0
        b0, b1, b2 = bias if m.actuator_biastype[k] == AFFINE else (0.0, 0.0, 0.0)
        ctrl, force = self._range("ctrl", k), self._range("force", k)
        index = int(m.actuator_ctrladr[k])
        dynamics = int(m.actuator_dyntype[k])
        # a torque limit of the joint holds for the sum of its motors
        delay = {"command_delay": float(m.actuator_delay[k])} if m.actuator_delay[k] > 0 and dynamics == NONE else {}
        if dynamics == NONE and g1 == g2 == b0 == 0 and g0 != 0:
            common = {"effort_limit": abs(gear) * force[1], **delay}
            symmetric = force[0] == -force[1]
            if b1 == b2 == 0 and symmetric and ctrl[0] == -ctrl[1]:
                scale = gear * g0
                self.controls.append(Control(name, index, scale, ctrl))
                most = min(common["effort_limit"], abs(scale) * ctrl[1])
                return {**common, "control": "torque", "effort_limit": most}
            if g0 > 0 and b1 == -g0 and b2 <= 0 and symmetric:
                self.controls.append(Control(name, index, 1 / gear, ctrl))
                return {**common, "control": "position", "kp": gear * gear * g0, "kd": -gear * gear * b2}
            if g0 > 0 and b1 == 0 and b2 == -g0 and symmetric:
                self.controls.append(Control(name, index, 1 / gear, ctrl))
                return {**common, "control": "velocity", "kd": gear * gear * g0}
        law = AffineLaw((g0, g1, g2), (b0, b1, b2), gear, ctrl, force)
        self.controls.append(Control(name, index, 1.0, _ALL))
        if dynamics == NONE:
            message = "no control of a motor: a law, its control is MuJoCo's"
            self.journal.note("repaired", f"actuator {name!r}", message)
            return {"law": law, **delay}
        limits = self._range("act", k)
        kind = _DYNAMICS[dynamics]
        if m.actuator_actearly[k]:
            self.journal.note("dropped", f"actuator {name!r}", "actearly: its activation acts one step later")
        message = f"activation ({kind}): a law that remembers, its control is MuJoCo's"
        self.journal.note("repaired", f"actuator {name!r}", message)
        tau = max(float(m.actuator_dynprm[k][0]), 1e-15)
        return {"law": MotorLaw(ActivatedLaw(law, kind, tau, limits), (0.0, 0.0, 0.0))}

    def _range(self, what: str, k: int) -> Range:
        m = self.model
        if what == "ctrl":
            at = int(m.actuator_ctrladr[k])
            is_clamped = not int(m.options["disableflags"]) & 1 << 8
            limited, (low, high) = m.actuator_ctrllimited[at] and is_clamped, m.actuator_ctrlrange[at]
        else:
            limited, (low, high) = getattr(m, f"actuator_{what}limited")[k], getattr(m, f"actuator_{what}range")[k]
        return (float(low), float(high)) if limited else _ALL
