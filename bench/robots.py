"""The robots of the benchmarks, from example-robot-data, and random states of them."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pinocchio as pin

import pliant

__all__ = ["ROBOTS", "Subject", "subject", "urdf_path"]

ROBOTS: dict[str, tuple[str, Literal["fixed", "free"]]] = {
    "panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", "free"),
    "go2": ("go2_description/urdf/go2.urdf", "free"),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "free"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "free"),
}


def urdf_path(name: str) -> Path:
    """Where example-robot-data keeps a robot's file."""
    found = importlib.util.find_spec("cmeel")
    if found is None or found.origin is None:
        raise SystemExit("the benchmarks need example-robot-data: pip install pliant[test]")
    site = Path(found.origin).parent.parent
    return site / "cmeel.prefix" / "share" / "example-robot-data" / "robots" / ROBOTS[name][0]


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
    path, base = urdf_path(name), ROBOTS[name][1]
    robot = pliant.formats.load_urdf(path, base=base)
    root = [pin.JointModelFreeFlyer()] if base == "free" else []
    model = pin.buildModelFromUrdf(str(path), *root)
    if (robot.nq, robot.nv) != (model.nq, model.nv):
        raise SystemExit(f"{name}: layouts differ, {(robot.nq, robot.nv)} and {(model.nq, model.nv)}")
    rng = np.random.default_rng(seed)
    v, tau = rng.normal(size=(2, batch, robot.nv))
    return Subject(name, robot, model, model.createData(), robot.random(rng, batch=batch), v, tau)
