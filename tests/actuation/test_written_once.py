"""Every force is written once: power is force times velocity, springs give back their energy, and all layers agree."""

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.actuation.body_forces import stretches
from pliant.actuation.joint_forces import (
    drives, joint_forces, joint_spring_energy, motor_torque, motor_torques, torque_bounds,
)  # fmt: skip
from pliant.actuation.joint_springs import flexibility_state
from pliant.dynamics.kinematics import link_poses, link_velocities, root_origin
from pliant.dynamics.pinned_factor import pinned_factor
from pliant.events.constraint_terms import TermsKernel
from pliant.robot import Prismatic, Revolute, Robot, RobotBuilder
from pliant.simulation.model import StepModel
from pliant.simulation.programs import ENERGY_TERMS, POWER_TERMS, energies, powers
from pliant.simulation.smooth_step import smooth_acceleration, smooth_forces
from pliant.simulation.joint_stages import drive_record, law_terms
from pliant.simulation.step import free_motion

SEEDS = range(4)
CONTROLS = {
    "torque": {},
    "position": {"control": "position", "kp": 40.0, "kd": 1.5},
    "velocity": {"control": "velocity", "kd": 1.5},
    "law": {"law": lambda u, q, v, t: u * pliant.math.cos(q) - 0.3 * v + t},
}


def arm(**motor: Any) -> Robot:
    """Two links and a slider, with all kinds of springs and dampers."""
    builder = RobotBuilder("arm")
    for name in ("upper", "lower", "hand"):
        builder.body(name, 1.0, (0.1, 0.02, -0.1), (0.02, 0, 0, 0.03, 0, 0.01))
    builder.joint("shoulder", Revolute((0, 1, 0)), "world", "upper", (0, 0, 1), (0, 0, 0))
    builder.joint("elbow", Revolute((0, 0, 1)), "upper", "lower", (0.3, 0, 0), (0, 0.2, 0))
    builder.joint("slide", Prismatic((1, 0, 0)), "lower", "hand", (0.2, 0, 0), (0, 0, 0))
    robot = builder.build().with_motor("shoulder", viscous_friction=0.2, rotor_inertia=0.01, gear=3, **motor)
    robot = robot.with_joint("elbow", stiffness=20, hardening=300, rest=0.1, damping=0.4)
    robot = robot.with_joint("slide", stiffness=50, law=lambda x: 3 * pliant.math.sin(x), damping=0.7)
    return robot.with_spring("world", "hand", stiffness=30, damping=2, length=0.4, name="band")


def flexible_arm(**motor: Any) -> Robot:
    """The same with a compliant shoulder that has backlash."""
    return arm(**motor).with_flexibility("shoulder", stiffness=200, damping=3).with_backlash("shoulder", 0.05)


def compliant_arm(**motor: Any) -> Robot:
    """The same with a shoulder that is compliant in all directions, unequally."""
    return arm(**motor).with_flexibility("shoulder", stiffness=(80, 120, 200), damping=1)


ARMS = [arm, flexible_arm, compliant_arm]


def state(robot: Robot, seed: int) -> tuple[list[float], list[float], list[float], float]:
    rng = np.random.default_rng(seed)
    q = robot.integrate(robot.neutral(), rng.uniform(-0.6, 0.6, robot.nv).tolist())
    v, u = rng.uniform(-1, 1, robot.nv), rng.uniform(-1, 1, robot.nu)
    return [float(x) for x in q], v.tolist(), u.tolist(), 0.3


# ---- motors


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("limits", [{}, {"effort_limit": 0.4}, {"effort_limit": 5.0, "no_load_speed": 1.2}])
def test_a_motors_torque_is_its_law_within_its_limits(control: str, limits: dict, seed: int) -> None:
    robot = arm(**CONTROLS[control], **limits)
    q, v, u, t = state(robot, seed)
    motor = robot.motors["shoulder"]
    wanted = motor_torque(motor, u[0], q[0], v[0], t)
    low, high = torque_bounds(motor, v[0])
    (torque,) = motor_torques(robot, q, v, u, t)
    assert torque == pytest.approx(min(max(wanted, low), high), rel=1e-12)
    (drive,) = drives(robot, q, v, u, t)
    # the line that the step takes is the torque itself where the motor is not saturated
    assert drive.line.at(v[0]) == pytest.approx(wanted if drive.is_limited else torque, rel=1e-12)


# ---- springs


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", ARMS)
def test_springs_give_back_their_energy(make: Any, seed: int) -> None:
    """dU/dt = -power of the elastic forces, by a difference of order h^2."""
    robot = make()
    q, v, _, _ = state(robot, seed)
    h = 1e-5
    before, after = (robot.integrate(q, [x * step for x in v]) for step in (-h, h))
    rate = (joint_spring_energy(robot, after) - joint_spring_energy(robot, before)) / (2 * h)
    still = [0.0] * robot.nv
    f = joint_forces(robot, q, still, [0.0] * robot.nu, 0.0).at(still)
    assert rate == pytest.approx(-np.dot(f, v), rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_spring_between_frames(seed: int) -> None:
    """Its rate is that of its length, its forces do the work -pull s', and its energy is given back."""
    robot = arm()
    q, v, _, _ = state(robot, seed)

    def at(q: Any) -> Any:
        mechanism = robot.mechanism
        return stretches(robot, link_poses(mechanism, q, about_root=True), root_origin(mechanism, q))[0]

    h = 1e-6
    before, after = (at(robot.integrate(q, [x * step for x in v])) for step in (-h, h))
    velocities = link_velocities(robot.mechanism, q, v)
    stretch = at(q)
    rate = stretch.rate(velocities)
    assert rate == pytest.approx((after.length - before.length) / (2 * h), rel=1e-7)
    elastic = stretch.pull(0)
    assert stretch.forces(elastic).power(velocities) == pytest.approx(-elastic * rate, rel=1e-12)
    assert (after.energy - before.energy) / (2 * h) == pytest.approx(elastic * rate, rel=1e-6)
    assert stretch.damper_pull(rate) * rate >= 0


# ---- all layers


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("make", ARMS)
def test_power_is_the_rate_of_the_energy(make: Any, control: str, seed: int) -> None:
    """d/dt of all energies along the motion is the power of everything else."""
    push = pliant.ExternalForce("hand", force=(1, -2, 3), torque=(0.1, 0.2, 0))
    model = StepModel(make(**CONTROLS[control]), 1e-3, None, forces=(push,))
    q, v, u, t = state(model.robot, seed)
    vd = smooth_acceleration(model, t, q, v, u)
    h = 1e-6
    ends = [
        (model.robot.integrate(q, [x * s + a * s * s / 2 for x, a in zip(v, vd, strict=True)]),
         [x + a * s for x, a in zip(v, vd, strict=True)])
        for s in (-h, h)
    ]  # fmt: skip
    before, after = (sum(energies(model, *end)) for end in ends)
    # differences of energies of order 10 over 1e-6 carry rounding of order 1e-9
    power = sum(powers(model, t, q, v, v, motor_torques(model.robot, q, v, u, t), [], None))
    assert (after - before) / (2 * h) == pytest.approx(float(power), rel=1e-6, abs=1e-6)
    assert len(ENERGY_TERMS) == 3
    assert len(POWER_TERMS) == 8


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("make", ARMS)
def test_equations_step_and_events_have_the_same_force(make: Any, control: str) -> None:
    robot = make(**CONTROLS[control])
    model = StepModel(robot, 1e-9, None, has_limits=False)
    terms = TermsKernel(model)
    eq = pliant.equations(robot, simplify=False)
    for seed in SEEDS:
        q, v, u, t = state(robot, seed)
        smooth = np.array(smooth_forces(model, t, q, v, u), dtype=float)

        # event-driven simulation: M vd = f - h where nothing touches
        h = np.array(pliant.bias_forces(robot, np.array(q), np.array(v)))
        found = terms(t, np.array(q), np.array(v), np.array(u))
        np.testing.assert_allclose(found.M @ found.free + h, smooth, rtol=1e-10, atol=1e-10)

        # the equations of motion, as formulas
        values = dict(zip((*eq.q, *eq.v, *eq.u), (*q, *v, *u), strict=True)) | {eq.symbols["t"]: t}
        Q = [float(e.xreplace(values).evalf()) for e in eq.Q]
        np.testing.assert_allclose(Q, smooth, rtol=1e-9, atol=1e-9)

        # the step, so short that nothing is implicit: M (v+ - v) / dt = f - h; backlash is a constraint of its solver
        if any(joint.backlash for joint in robot.joints.values()):
            continue
        motion = free_motion(model, q, v, u, t)
        laws = law_terms(
            model, [drive_record(d, model.dt) for d in motion.joints.drives], (), v, [0] * robot.nu, *[()] * 4
        )
        factor = pinned_factor(robot.mechanism, laws.matrix(motion.A))
        change = factor.velocity(factor.eliminated(laws.impulses(motion.change))[1])
        M = np.array(pliant.mass_matrix(robot, np.array(q)))
        # of a change of 1e-9, differences have seven digits
        np.testing.assert_allclose(M @ np.array(change, dtype=float) / model.dt + h, smooth, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_sensors_of_a_flexible_joint_feel_the_same_spring(seed: int) -> None:
    robot = flexible_arm()
    q, v, u, t = state(robot, seed)
    measured = flexibility_state(robot, np.array(q), np.array(v)).spring_force
    name = next(iter(robot.flexibilities))
    d = robot.v_slice(name).start
    free = joint_forces(robot, q, v, u, t).at(v)
    assert measured[0] == pytest.approx(free[d], rel=1e-12, abs=1e-12)


# ---- no second law

SOURCE = Path(pliant.__file__).parent
NUMBERS = {
    "kp", "kd", "viscous_friction", "dry_friction", "effort_limit", "no_load_speed", "stiffness", "hardening",
    "damping",
}  # fmt: skip
"""Numbers of motors, springs and dampers."""

OTHERS = {
    "contact/models.py": "laws of compliant ground",
    "contact/constraint_rows.py": "lines of `backlash_sides`, taken at the end of a step",
    "simulation/step.py": "lines of `JointForces`, taken at the end of a step",
    "contact/anchored.py": "the law of a contact, not of a joint",
    "control/raibert.py": "models that controllers are made from",
    "control/slip.py": "models that controllers are made from",
    "control/trot.py": "targets at which the law of a motor gives the torque that is wanted",
    "control/attitude.py": "gains of a filter, not of a motor",
    "control/deflection.py": "gains of a filter, not of a motor",
}
"""Files outside actuation that may multiply with such a number, and why."""


def products(tree: ast.AST) -> list[str]:
    """Products and quotients of such a number."""

    def is_number(e: ast.expr) -> bool:
        while isinstance(e, ast.Subscript):
            e = e.value
        return isinstance(e, ast.Attribute) and e.attr in NUMBERS

    return [
        f"{node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)
        and (is_number(node.left) or is_number(node.right))
    ]  # fmt: skip


def test_no_other_layer_has_a_law_of_its_own() -> None:
    found = []
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("actuation/") and name not in OTHERS:
            found += [f"{name}:{line}" for line in products(ast.parse(path.read_text(encoding="utf-8")))]
    assert not found, "a law outside actuation: " + "\n".join(found)


def test_every_exception_is_one() -> None:
    for name in OTHERS:
        assert products(ast.parse((SOURCE / name).read_text(encoding="utf-8"))), name


def test_the_check_sees_a_law() -> None:
    assert products(ast.parse("torque = motor.kp * (u - q)")) == ["1: motor.kp * (u - q)"]
    assert products(ast.parse("f = -x * joint.stiffness[0]"))
