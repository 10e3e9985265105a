"""Random robots, grounds and starts for `bench.random_soak`: robot k of a seed is always the same.

What is drawn, all independently unless said otherwise:

- **tree**: 1 to 7 joints, each on one of the three bodies before it; base on the world (two in five) or floating.
- **joints**: revolute (36 %), continuous (14), spherical (18), prismatic (12), planar (8), helical (6), free (6), with
  any axis.
- **bodies**: 0.1 to 5 kg, ellipsoids of any proportions up to 1 : 5 in any attitude, 8 to 40 cm long, with the centre
  of mass anywhere within.
- **limits**: prismatic and helical joints all, of a few cm; half of the revolute ones, 0.3 to 1.5 rad. A third of them
  bounces, e up to 0.8.
- **damping** in half of the joints with one dof and in all others, dry friction in a quarter of those with one. Planar
  joints are damped more, and free ones hang on springs of six axes, 1 to 10 Hz: what nothing holds flies away from a
  body that turns, and how fast it seems to fly as seen from there grows with the distance.
- **motors** on four of five joints with one dof, limits 0.5 to 4 times the weight of all that hangs on the joint times
  its length. A torque alone would accelerate a link without bound, so motors end at 15 to 40 rad/s: half by their
  speed-torque line, half by viscous friction. Half of them have a rotor of up to the link's own inertia, some of these
  gyroscopic; rotors are so heavy that none is at full speed within 10 ms. One in six holds a position with gains.
- **flexible joints**: a spring behind one motor of three, of one axis or of three, 5 to 60 Hz, with none to a tenth of
  critical damping; its rotor or the body between has a tenth of the link's inertia or more. Springs of several axes
  are as stiff as it takes to carry the robot: they bend by a fraction of a radian.
- **contact shapes**: box, capsule or sphere on two of three bodies, 24 points at most, friction 0 to 1.2, restitution
  in half of the robots, up to 0.9.
- **ground**: flat, slope, waves, stairs, height map in turn.
- **starts**: any attitude, joints within their limits, all shapes off the ground by up to 30 cm; at rest, or with up
  to 1 m/s, 6 rad/s of the base and 4 rad/s of the joints, or three times that.
- **controls**: a third of the starts is passive (u = 0); the others have torques of either sign at half and at the
  whole of the limits, drawn anew every 0.1 s.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import pliant
from pliant.compiler import Kernel, kernel_from_function
from pliant.contact.ground import Ground
from pliant.dynamics.implicit_coriolis import half_way
from pliant.dynamics.joint_space_inertia import composite_inertia
from pliant.dynamics.kinematics import link_poses, root_origin
from pliant.robot import (
    Continuous, Free, Helical, JointKind, Planar, Prismatic, Revolute, Robot, RobotBuilder, Spherical,
)  # fmt: skip
from pliant.scalar import Scalar, Scalars
from pliant.simulation.model import StepModel
from pliant.simulation.programs import energies

GRAVITY = 9.81
GROUNDS = ("flat", "slope", "waves", "stairs", "height map")
HOLD = 0.1
"""Time for which a control is held [s]."""

_SHARES = (0.0, 0.5, 1.0)
_MOST_POINTS = 24
_KINDS = {
    "revolute": 0.36, "continuous": 0.14, "spherical": 0.18, "prismatic": 0.12, "planar": 0.08, "helical": 0.06,
    "free": 0.06,
}  # fmt: skip
_ONE_DOF = ("revolute", "continuous", "prismatic", "helical")


@dataclass(frozen=True, eq=False)
class Case:
    """One random robot with its ground and starts.

    Attributes:
        number: k.
        q, v: starts, one in each row.
        shares: of the limits of the motors at which each start is driven; 0 for passive ones.
        size: length of all bodies in a row [m].
    """

    number: int
    robot: Robot
    ground: Ground
    q: np.ndarray
    v: np.ndarray
    shares: np.ndarray
    size: float
    seed: int

    @cached_property
    def energies(self) -> Kernel:
        """(q, v, dt) -> kinetic, potential and elastic energy half a step before q [J], where v leads to q from.

        That is the place of the energy of a step: half-way between two kicks (`pliant.dynamics.implicit_coriolis`).
        """
        robot, model = self.robot, StepModel(self.robot, 1e-3, None)
        shapes: dict[str, tuple[int, ...]] = {"q": (robot.nq,), "v": (robot.nv,), "dt": ()}

        def found(q: Scalars, v: Scalars, dt: Scalar) -> list[Scalar]:
            return list(energies(model, *half_way(robot, q, v, composite_inertia(robot, q), -dt)))

        return kernel_from_function(found, shapes, name="energies")

    def controls(self, dt: float, duration: float) -> np.ndarray:
        """Controls of each start and step, (starts, steps, nu): torques, or the places of motors with gains."""
        rng = np.random.default_rng([self.seed, self.number, 2])
        steps, hold = round(duration / dt), max(round(HOLD / dt), 1)
        tops = [1.0 if m.control == "position" else float(m.effort_limit) for m in self.robot.motors.values()]
        signs = rng.choice([-1.0, 1.0], (len(self.q), math.ceil(steps / hold), self.robot.nu))
        held = signs * np.array(tops) * self.shares[:, None, None]
        return np.repeat(held, hold, axis=1)[:, :steps]

    def __str__(self) -> str:
        kinds = [j.kind.name for j in self.robot.joints.values() if j.kind.nv]
        springs = f", {len(self.robot.flexibilities)} flexible" if self.robot.flexibilities else ""
        return f"{self.ground.name}: {' '.join(kinds)}{springs}, {len(self.robot.contact_points)} points"


def random_case(seed: int, number: int, starts: int) -> Case:
    """Robot ``number`` of a seed, with so many starts."""
    rng = np.random.default_rng([seed, number, 0])
    plan = _Plan(rng)
    ground = _ground(GROUNDS[number % len(GROUNDS)], rng)
    chance = np.random.default_rng([seed, number, 1])
    robot = plan.robot(0.0)
    q, v = _states(robot, chance, starts if robot.is_free else 4 * starts)
    model = StepModel(robot, 1e-3, ground)
    low = np.array([_lowest(model, row) for row in q])
    if robot.is_free:
        for row, gap in zip(q, low, strict=True):
            clear = chance.uniform(0.005, 0.3)
            while gap < clear:
                row[2] += clear - gap + 1e-3
                gap = _lowest(model, row)
    else:
        # so high that a quarter of the starts is off the ground
        deepest = float(np.sort(-low)[starts - 1])
        height = deepest + 0.3 * abs(deepest) + 0.02
        robot = plan.robot(height)
        model = StepModel(robot, 1e-3, ground)
        low = np.array([_lowest(model, row) for row in q])
        chosen = np.argsort(-low)[:starts]
        q, v = q[chosen], v[chosen]
    return Case(number, robot, ground, q, v, np.resize(_SHARES, starts), plan.size, seed)


# ---- robots


class _Plan:
    """The numbers of a robot, drawn once; `robot` builds it with its base at a height."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self.is_free = bool(rng.random() < 0.6)
        count = int(rng.integers(1, 8))
        self.kinds = [str(k) for k in rng.choice(list(_KINDS), count, p=list(_KINDS.values()))]
        self.parents = [int(rng.integers(max(-1, k - 3), k)) for k in range(count)]
        self.lengths = rng.uniform(0.08, 0.4, count + 1)
        self.masses = 0.1 * 50 ** rng.random(count + 1)
        self.size = float(self.lengths.sum())
        self.seed = int(rng.integers(2**32))

    def robot(self, height: float) -> Robot:
        """The robot, with the base at a height if it is fixed."""
        rng = np.random.default_rng(self.seed)
        builder = RobotBuilder("random")
        self._add_body(builder, -1, rng)
        if not self.is_free:
            builder.joint("mount", "fixed", "world", "base", (0, 0, height))
        for k, (kind, parent) in enumerate(zip(self.kinds, self.parents, strict=True)):
            self._add_body(builder, k, rng)
            self._add_joint(builder, k, kind, parent, rng)
        robot = builder.build(base="free" if self.is_free else "fixed")
        robot = self._with_motors(robot, rng)
        return self._with_contacts(robot, rng)

    def _name(self, k: int) -> str:
        return "base" if k < 0 else f"body{k}"

    def _half_sizes(self, k: int, rng: np.random.Generator) -> np.ndarray:
        return self.lengths[k] / 2 * np.array([1, *rng.uniform(0.2, 1, 2)])

    def _add_body(self, builder: RobotBuilder, k: int, rng: np.random.Generator) -> None:
        a, b, c = self._half_sizes(k, rng) ** 2
        m = float(self.masses[k])
        com = rng.uniform(-0.3, 0.3, 3) * self.lengths[k]
        inertia = (m * (b + c) / 5, 0, 0, m * (a + c) / 5, 0, m * (a + b) / 5)
        builder.body(self._name(k), m, com.tolist(), inertia, rng.uniform(-3, 3, 3).tolist())

    def _beyond(self, k: int) -> list[int]:
        """Body k and all that hang on it."""
        found = {k}
        for child, parent in enumerate(self.parents):
            if parent in found:
                found.add(child)
        return sorted(found)

    def _weight(self, k: int) -> float:
        return GRAVITY * float(sum(self.masses[i] for i in self._beyond(k)))

    def _moment(self, k: int) -> float:
        """Weight of all that hangs on joint k, times its length [N m]."""
        return self._weight(k) * float(sum(self.lengths[i] for i in self._beyond(k)))

    def _add_joint(self, builder: RobotBuilder, k: int, kind: str, parent: int, rng: np.random.Generator) -> None:
        place = rng.standard_normal(3)
        place *= self.lengths[parent] / 2 / np.linalg.norm(place)
        turns, has_one = kind != "prismatic", kind in _ONE_DOF
        arm = float(self.lengths[k]) if turns else 1.0
        reach = {"prismatic": rng.uniform(0.03, 0.2), "helical": rng.uniform(0.5, 3), "revolute": rng.uniform(0.3, 1.5)}
        has_limits = kind in ("prismatic", "helical") or (kind == "revolute" and rng.random() < 0.5)
        is_damped, is_dry, bounces = rng.random() < 0.5 or not has_one, rng.random() < 0.25, rng.random() < 1 / 3
        # a weight that stops from 10 rad/s or 1 m/s within a second or so
        damping = self._weight(k) * arm * (0.1 if turns else 1) * rng.uniform(0.01, 0.3) if is_damped else 0.0
        held: dict[str, Any] = {"damping": damping}
        mass = self._weight(k) / GRAVITY
        if kind == "planar":
            rates = mass * rng.uniform(3, 20) * np.array([1, 1, arm**2 / 10])
            held = {"damping": rates.tolist()}
        elif kind == "free":
            rate, share = 2 * math.pi * rng.uniform(1, 10), rng.uniform(0, 0.1)
            turning = np.maximum(mass * (rate * arm) ** 2 / 10 * rng.uniform(0.2, 1, 3), 6 * self._moment(k))
            stiffness = np.array([*[mass * rate**2] * 3, *turning])
            held = {"stiffness": stiffness.tolist(), "damping": (2 * share * stiffness / rate).tolist()}
        builder.joint(
            f"joint{k}", _kind(kind, rng), self._name(parent), self._name(k), place.tolist(),
            rng.uniform(-3, 3, 3).tolist(), **held,
            friction=self._weight(k) * arm * rng.uniform(0.01, 0.2) if is_dry and has_one else 0.0,
            limits=(-reach[kind], reach[kind]) if has_limits else None,
            restitution=float(rng.uniform(0, 0.8)) if bounces and has_limits else 0.0,
        )  # fmt: skip

    def _with_motors(self, robot: Robot, rng: np.random.Generator) -> Robot:
        for k, kind in enumerate(self.kinds):
            if kind not in _ONE_DOF or rng.random() < 0.2:
                continue
            length, mass = float(self.lengths[k]), float(self.masses[k])
            turns = kind != "prismatic"
            own = mass * length**2 / 10 if turns else mass
            limit = self._weight(k) * (length if turns else 1) * rng.uniform(0.5, 4)
            fastest = rng.uniform(15, 40) * (1 if turns else 0.1)
            ends: dict[str, Any] = (
                {"no_load_speed": fastest} if rng.random() < 0.5 else {"viscous_friction": limit / fastest}
            )
            # no motor is at full speed within less than 10 ms
            least = limit / fastest * 0.01
            rotor, gear = max(own * rng.uniform(0.05, 1), least), float(rng.choice([1, 5, 20]))
            has_rotor, spins = rng.random() < 0.5 or least > own, turns and rng.random() < 0.5
            # a gyroscopic rotor is part of the body that carries it, so no more than a part of its inertia
            carrier = self.parents[k]
            spins = spins and rotor / gear**2 < 1e-3 * self.masses[carrier] * self.lengths[carrier] ** 2
            if has_rotor:
                ends |= {"rotor_inertia": rotor / gear**2, "gear": gear, "gyroscopic": spins}
            if rng.random() < 1 / 6:
                kp = limit / rng.uniform(0.05, 0.5) / (1 if turns else 0.1)
                ends |= {"control": "position", "kp": kp, "kd": rng.uniform(0.1, 1) * math.sqrt(kp * own)}
            robot = robot.with_motor(f"joint{k}", effort_limit=float(limit), **ends)
            if rng.random() < 1 / 3:
                rate, share = 2 * math.pi * rng.uniform(5, 60), rng.choice([0, 0.1]) * rng.random()
                shares = rng.uniform(0.2, 1, 3 if rng.random() < 0.5 and kind in ("revolute", "continuous") else 1)
                stiffness = shares * own * rate**2
                if len(shares) == 3:
                    # what hangs on it bends it by a fraction of a radian; at half a turn its force changes sides
                    stiffness = np.maximum(stiffness, 6 * self._moment(k) + 6 * limit)
                options = {
                    "damping": (2 * share * stiffness / rate).tolist(),
                    "inertia": max(own * rng.uniform(0.1, 0.5), least),
                }
                robot = robot.with_flexibility(f"joint{k}", stiffness=stiffness.tolist(), **options)
        return robot

    def _with_contacts(self, robot: Robot, rng: np.random.Generator) -> Robot:
        is_elastic, left = rng.random() < 0.5, _MOST_POINTS
        for k in range(-1, len(self.kinds)):
            shape, friction, restitution = rng.random(), float(rng.uniform(0, 1.2)), float(rng.uniform(0, 0.9))
            turn, half = rng.uniform(-3, 3, 3), self._half_sizes(k, rng)
            is_last = k == len(self.kinds) - 1
            if (rng.random() < 1 / 3 and not (is_last and left == _MOST_POINTS)) or (k < 0 and not self.is_free):
                continue
            options: dict[str, Any] = {"friction": friction, "restitution": restitution if is_elastic else 0.0}
            name = f"shape{k + 1}"
            robot = robot.with_frame(name, self._name(k), (0, 0, 0), turn.tolist())
            if shape < 1 / 3 and left >= 8:
                robot, left = robot.with_contact(name, box=(2 * half).tolist(), **options), left - 8
            elif shape < 2 / 3 and left >= 2:
                robot, left = (
                    robot.with_contact(name, radius=float(half[1]), length=float(half[0]), **options),
                    left - 2,
                )
            elif left >= 1:
                robot, left = robot.with_contact(name, radius=float(half[0]), **options), left - 1
        return robot


def _kind(name: str, rng: np.random.Generator) -> JointKind:
    axis = rng.standard_normal(3)
    direction = tuple((axis / np.linalg.norm(axis)).tolist())
    if name == "helical":
        return Helical(direction, float(rng.uniform(0.01, 0.1)))
    if name == "planar":
        return Planar(direction)
    turning = {"revolute": Revolute, "continuous": Continuous, "prismatic": Prismatic}
    return turning[name](direction) if name in turning else {"spherical": Spherical(), "free": Free()}[name]


# ---- grounds and starts


def _ground(name: str, rng: np.random.Generator) -> Ground:
    direction = float(rng.uniform(-3, 3))
    match name:
        case "slope":
            return pliant.slope(float(rng.uniform(0.05, 0.5)), direction=direction)
        case "waves":
            length = float(rng.uniform(0.8, 3))
            return pliant.waves(float(rng.uniform(0.01, 0.05)) * length, length)
        case "stairs":
            return pliant.stairs(float(rng.uniform(0.03, 0.15)), float(rng.uniform(0.25, 0.5)), direction=direction)
        case "height map":
            heights = rng.uniform(0, 0.12, (32, 32))
            return pliant.height_map(heights, spacing=0.25, origin=(-4, -4))
    return pliant.flat()


def _states(robot: Robot, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts anywhere: half of the range of the joints, all attitudes; at rest, moving, and fast."""
    q, v = np.zeros((count, robot.nq)), np.zeros((count, robot.nv))
    springs = {f.name for f in robot.flexibilities.values()}
    for i in range(count):
        pace = (0.0, 1.0, 3.0)[int(rng.integers(3))]
        w = np.zeros(robot.nv)
        for joint in robot.joints.values():
            if not joint.kind.nv:
                continue
            at = robot.v_slice(joint.name)
            chance, rates = rng.uniform(-1, 1, joint.kind.nv), rng.uniform(-1, 1, joint.kind.nv)
            if joint.name in springs:
                continue
            if joint.kind.nv == 1:
                top = min(float(joint.limits.upper[0]), 2.0) if joint.limits is not None else 2.0
                w[at] = 0.8 * top * chance
                v[i, at] = pace * rates * (0.3 if joint.kind.name == "prismatic" else 4)
            elif joint.kind.name == "spherical":
                w[at], v[i, at] = 2 * chance, 4 * pace * rates
            elif joint.kind.name == "planar":
                w[at], v[i, at] = chance * [0.1, 0.1, 2], pace * rates * [0.5, 0.5, 4]
            else:
                reach = [0.02, 0.02, 0.02, 0.2, 0.2, 0.2] if any(joint.stiffness) else [0.3, 0.3, 0.1, 3, 3, 3]
                w[at], v[i, at] = chance * reach, pace * rates * [1, 1, 1, 6, 6, 6]
        q[i] = robot.integrate(robot.neutral(), w)
    return q, v


def _lowest(model: StepModel, q: np.ndarray) -> float:
    """The least gap between the shapes and the ground [m]."""
    mechanism, row = model.robot.mechanism, q.tolist()
    poses, origin = link_poses(mechanism, row, about_root=True), root_origin(mechanism, row)
    gaps = [float(t.gap) for g in model.groups for t in g.touches(poses, origin, model.ground)]
    return min(gaps, default=math.inf)
