"""Walking robots that are ready: those that ship with Pliant, and some of example-robot-data."""

import dataclasses
from functools import cache
from typing import Any

from pliant.catalogue import load
from pliant.environment import Velocity
from pliant.tasks.judging import VelocityJudge
from pliant.tasks.task import Task, register
from pliant.tasks.walking import Walker, environment, standing
from pliant.terrain import Kind, Terrain, grid

STIFFNESS, DAMPING, ROTOR = 150.0, 0.5, 5e-3
"""Of the springs of the elastic quadruped [N m/rad, N m s/rad], and inertia of its rotors behind the gear [kg m^2].

A torque of 15 N m turns a spring by 0.1 rad; a knee carries 4 N m when the robot stands on four feet."""

TROT = (0.0, 0.5, 0.5, 0.0)

QUADRUPED_COMMANDS = (
    (0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.6, 0.0, 0.0), (0.9, 0.0, 0.0), (-0.4, 0.0, 0.0), (0.0, 0.3, 0.0),
    (0.0, 0.0, 0.7), (0.5, 0.0, 0.5),
)  # fmt: skip
HOPPER_COMMANDS = (
    (0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.6, 0.0, 0.0), (-0.4, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, -0.3, 0.0),
    (0.4, 0.3, 0.0), (-0.3, -0.3, 0.0),
)  # fmt: skip
TURNING_COMMANDS = (
    (0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.5, 0.0, 0.0), (-0.2, 0.0, 0.0), (0.0, 0.15, 0.0), (0.0, -0.15, 0.0),
    (0.0, 0.0, 0.5), (0.3, 0.0, -0.4),
)  # fmt: skip
BIPED_COMMANDS = ((0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.4, 0.0, 0.0), (0.5, 0.0, 0.0))


@cache
def quadruped() -> Walker:
    """The quadruped that ships with Pliant."""
    feet = ("lf_foot", "lh_foot", "rf_foot", "rh_foot")
    robot = load("quadruped").with_contacts(*feet, radius=0.02).with_motors(control="position", kp=40, kd=1)
    return Walker(robot, standing(robot, (0.0, 0.8, -1.6) * 4), feet, TROT, floor=0.14)


@cache
def go2() -> Walker:
    """Unitree's Go2, of example-robot-data."""
    feet = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
    robot = load("go2", base="free").with_contacts(*feet, radius=0.022)
    robot = robot.with_motors(control="position", kp=40, kd=1)
    return Walker(robot, standing(robot, (0.0, 0.8, -1.6) * 4), feet, TROT, floor=0.15)


@cache
def anymal_c() -> Walker:
    """ANYmal C, of example-robot-data; its feet are the balls of its file."""
    feet = ("LF_FOOT", "LH_FOOT", "RF_FOOT", "RH_FOOT")
    robot = load("anymal_c_simple/anymal", base="free")
    for foot in feet:
        robot = robot.with_contact(foot, points=[(0, 0, 0.0225)], radius=0.03)
    robot = robot.with_motors(control="position", kp=80, kd=2)
    front, hind = (0.0, 0.4, -0.8), (0.0, -0.4, 0.8)
    # it weighs four times as much as the others, and torques are squared
    return Walker(
        robot, standing(robot, (front + hind) * 2), feet, TROT, floor=0.3, weights={"torques": -1e-5},
    )  # fmt: skip


@cache
def hopper() -> Walker:
    """The hopping robot of the source document: a leg with a spring, and two hips."""
    robot = load("hopper").with_motors(control="position", kp=[150, 150, 3e4], kd=[10, 10, 350])
    springs = tuple(robot.flexibilities)
    return Walker(
        robot, standing(robot, (0.0, 0.0, 0.0)), ("foot",), (0.0,), floor=0.4, scale=(0.5, 0.5, 0.08),
        down=0.4, upright=0.6, hops=True, springs=springs, width=0.1**0.5, pushes=0.3,
        velocity=Velocity((-0.7, 0.7), (-0.4, 0.4), (0.0, 0.0), (0.8, 0.6, 0.0), 0.5),
        weights={"alive": 0.5, "bounce": 0.0, "torques": 0.0, "wobble": -0.02, "action rate": -0.02},
    )  # fmt: skip


@cache
def biped() -> Walker:
    """The biped that ships with Pliant, on three points a foot."""
    robot = load("biped").without_contacts()
    corners = [(0.13, 0.04, -0.06), (0.13, -0.04, -0.06), (-0.07, 0, -0.06)]
    for side in ("left", "right"):
        robot = robot.with_contact(f"{side}_foot", points=corners, radius=0.01)
    for motor in robot.motors.values():
        robot = robot.with_joint(motor.joint, armature=0.05)
    kp, kd = [150, 250, 250, 250, 150, 100], [6, 10, 10, 10, 6, 4]
    robot = robot.with_motors(control="position", kp=[*kp, *kp, 150], kd=[*kd, *kd, 6])
    leg = (0.0, 0.0, -0.3, 0.6, -0.3, 0.0)
    return Walker(
        robot, standing(robot, (*leg, *leg, 0.0)), ("left_foot", "right_foot"), (0.0, 0.5), floor=0.55, scale=0.4,
        frequency=1.4, down=0.6, upright=0.6, dt=1e-2, substeps=2, timeout=4.0, start={"velocity": 0.4},
        velocity=Velocity((0.0, 0.6), (0.0, 0.0), (0.0, 0.0), (0.85, 0.0, 0.0), None),
        weights={"alive": 0.5, "height": -2.0, "wobble": -0.1, "torques": -2e-6},
    )  # fmt: skip


@cache
def biped_turning() -> Walker:
    """The biped, asked for steps sideways and back and for turns, too."""
    walker = biped()
    commands = Velocity((-0.3, 0.6), (-0.2, 0.2), (-0.6, 0.6), (0.7, 0.4, 0.45), None)
    # a base that sways with each step is judged by its mean; without lifted feet it learns to stand and shuffle
    weights = {"velocity": 0.5, "turning": 0.25, "mean velocity": 1.5, "mean turning": 1.0, "gait": 1.0}
    lift = {"hip_pitch": -0.25, "knee": 0.5, "ankle_pitch": -0.25}
    return dataclasses.replace(
        walker, velocity=commands, weights={**walker.weights, **weights}, mean_widths=(0.22, 0.3), mean_time=0.35,
        lift={f"{side}_{joint}": x for side in ("left", "right") for joint, x in lift.items()},
    )  # fmt: skip


@cache
def elastic(stiffness: float | None = STIFFNESS) -> Walker:
    """The shipped quadruped with rotors, and springs between gears and links at hips that pitch and at knees.

    Args:
        stiffness: [N m/rad]; None for rigid joints, to compare with.
    """
    rigid = quadruped()
    robot = rigid.robot.with_motors(rotor_inertia=ROTOR)
    for motor in robot.motors.values():
        if stiffness is not None and not motor.joint.endswith("roll"):
            robot = robot.with_flexibility(motor.joint, stiffness=stiffness, damping=DAMPING)
    joints = [rigid.stance[rigid.robot.q_slice(motor.joint).start] for motor in rigid.robot.motors.values()]
    return dataclasses.replace(
        rigid, robot=robot, stance=standing(robot, joints), springs=tuple(robot.flexibilities),
    )  # fmt: skip


@cache
def climbing() -> Walker:
    """The shipped quadruped where the ground tilts and lifts it."""
    weights = {
        "velocity": 0.5, "turning": 0.25, "mean velocity": 0.75, "mean turning": 0.4, "gait": 1.0, "bounce": -0.2,
        "tilt": -0.5, "wobble": -0.03,
    }  # fmt: skip
    lift = {"hip_pitch": 0.25, "knee": -0.5}
    return dataclasses.replace(
        quadruped(), weights=weights,
        lift={f"{leg}_{joint}": x for leg in ("lf", "lh", "rf", "rh") for joint, x in lift.items()},
    )  # fmt: skip


@cache
def uneven() -> Terrain:
    """Ground for the shipped quadruped: hills, waves, rubble and steps, from flat to as high as a fifth of its legs."""
    kinds = {
        "hills": Kind("pyramid", angle=(0.0, 0.3)),
        "waves": Kind("waves", amplitude=(0.0, 0.06), length=1.0),
        "rubble": Kind("rough", rms=(0.0, 0.025)),
        "steps": Kind("steps", rise=(0.0, 0.06), run=0.4),
    }
    return grid(kinds, levels=6, size=4.0, spacing=0.05, seed=3)


def _walking(
    name: str, what: str, walker: Any, commands: Any, turning: float | None = 0.1, given: Any = dict, **more: Any
) -> None:  # fmt: skip
    """Register a task; ``given()`` has options of its environment, made when they are needed."""

    def made(**options: Any) -> Any:
        return environment(walker(), **{**given(), **options})

    def judge(seed: int = 1000, **options: Any) -> VelocityJudge:
        limits = {k: options.pop(k) for k in ("robots", "seconds", "linear") if k in options}

        def judged(**sizes: Any) -> Any:
            return environment(walker(), is_judged=True, **sizes, **{**given(), **options})

        return VelocityJudge(judged, commands, turning=turning, seed=seed, **limits)

    register(Task(name, what, made, judge, **more))


_walking("quadruped", "the shipped quadruped follows eight commands of velocity", quadruped, QUADRUPED_COMMANDS)
_walking("go2", "Unitree Go2 follows eight commands of velocity", go2, QUADRUPED_COMMANDS)
_walking("anymal-c", "ANYmal C follows eight commands of velocity", anymal_c, QUADRUPED_COMMANDS)
_walking(
    "quadruped-elastic", "the shipped quadruped with series-elastic joints follows eight commands of velocity", elastic,
    QUADRUPED_COMMANDS,
)  # fmt: skip
_walking(
    "quadruped-rough", "the shipped quadruped on rough ground, from sensors", climbing, QUADRUPED_COMMANDS,
    given=lambda: {"terrain": uneven(), "sensors": True, "noise": True},
    settings={"hidden": (64, 64), "symmetry": True}, minutes=4.0,
)  # fmt: skip
_walking("hopper", "the hopping robot follows eight commands of velocity", hopper, HOPPER_COMMANDS, None)
_walking(
    "biped-turning", "the shipped biped walks ahead, back, sideways and turns", biped_turning, TURNING_COMMANDS,
    settings={"hidden": (64, 64), "std": 0.4, "entropy": 0.001, "symmetry": True, "averaging": 20.0}, minutes=3.0,
)  # fmt: skip
_walking(
    "biped", "the shipped biped walks straight ahead at several velocities", biped, BIPED_COMMANDS,
    settings={"hidden": (64, 64), "std": 0.4, "entropy": 0.0},
)  # fmt: skip
