"""The robots of the benchmarks, from example-robot-data, and random states of them."""

import importlib.util
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pinocchio as pin

import pliant
from bench.report import CheckError

__all__ = ["ROBOTS", "Subject", "free_robot", "subject", "urdf_path"]

_FILES = {
    "panda": "panda_description/urdf/panda.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
}
ROBOTS: dict[str, Literal["fixed", "free"]] = {
    "panda": "fixed", "anymal": "free", "go2": "free", "g1": "free", "talos": "free"
}  # fmt: skip
"""Those whose dynamics are timed, and their bases."""


def urdf_path(name: str) -> Path:
    """Where example-robot-data keeps a robot's file."""
    found = importlib.util.find_spec("cmeel")
    if found is None or found.origin is None:
        raise CheckError("the benchmarks need example-robot-data: pip install pliant[test]")
    site = Path(found.origin).parent.parent
    return site / "cmeel.prefix" / "share" / "example-robot-data" / "robots" / _FILES[name]


def free_robot(name: str, *, armature: float = 0) -> pliant.Robot:
    """A robot on a free base, without fixed joints.

    Args:
        armature: of all joints with a motor [kg m^2].
    """
    logging.getLogger("pliant").setLevel(logging.ERROR)  # the file's own faults are in robot.report
    robot = pliant.formats.load_urdf(urdf_path(name), base="free").lumped()
    for motor in robot.motors.values() if armature else ():
        robot = robot.with_joint(motor.joint, armature=armature)
    return robot


@dataclass
class Subject:
    """A robot in both programs, with a batch of random states in the layout they share."""

    name: str
    robot: pliant.Robot
    model: Any
    data: Any
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray


def subject(name: str, batch: int, seed: int = 0) -> Subject:
    """Load a robot into both programs and draw states; it must have no continuous joints."""
    path, base = urdf_path(name), ROBOTS[name]
    robot = pliant.formats.load_urdf(path, base=base)
    root = [pin.JointModelFreeFlyer()] if base == "free" else []
    model = pin.buildModelFromUrdf(str(path), *root)
    if (robot.nq, robot.nv) != (model.nq, model.nv):
        raise CheckError(f"{name}: layouts differ, {(robot.nq, robot.nv)} and {(model.nq, model.nv)}")
    rng = np.random.default_rng(seed)
    v, tau = rng.normal(size=(2, batch, robot.nv))
    return Subject(name, robot, model, model.createData(), robot.random(rng, batch=batch), v, tau)
