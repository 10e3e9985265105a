"""The robots of example-robot-data, and their states in Pliant's and in Pinocchio's layout."""

import logging
from functools import cache
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pinocchio as pin

from pliant.formats import load_urdf
from pliant.robot import Robot

# by folder and file name, e.g. "panda_description/panda.urdf"
PATHS = {
    f"{file.parts[-3]}/{file.name}": Path(str(file.locate()))
    for file in sorted(files("example-robot-data") or [])
    if file.suffix == ".urdf"
}
LEFT_OUT = {"ur_description/ur3.urdf": "an empty <robot>, which Pinocchio refuses, too"}
# no forward dynamics: fingers without mass
SINGULAR = ("romeo_description/romeo.urdf", "romeo_description/romeo_laas_small.urdf")
# with joints that follow others; the rest of these name leaders that are not there
MIMICS = ("baxter_description/baxter.urdf", "panda_description/panda.urdf", "pr2_description/pr2.urdf",
          "tiago_pro_description/tiago_pro.urdf")  # fmt: skip
ROBOTS = [name for name in PATHS if name not in LEFT_OUT]
# one robot of each folder, for kernels: variants of a robot are much the same
FAMILIES = list({name.split("/")[0]: name for name in ROBOTS if name not in SINGULAR}.values())


@cache
def real_robot(name: str, base: str = "fixed", mimic: bool = False) -> Robot:
    """One of `PATHS`, read once in each process; its oddities are not logged."""
    logging.disable(logging.WARNING)
    try:
        return load_urdf(PATHS[name], base=base, mimic=mimic)  # type: ignore[arg-type]
    finally:
        logging.disable(logging.NOTSET)


def pinocchio_robot(name: str, base: str = "fixed", mimic: bool = False) -> pin.Model:
    """The same robot as Pinocchio reads it; a new one each time, since it can be changed."""
    root = [pin.JointModelFreeFlyer()] if base == "free" else []
    return pin.buildModelFromUrdf(str(PATHS[name]), *root, mimic)


class Pair:
    """One state of a robot, in Pliant's lists and in Pinocchio's arrays and data."""

    def __init__(self, robot: Robot, model: pin.Model, seed: int):
        rng = np.random.default_rng(seed)
        self.robot, self.model, self.data = robot, model, model.createData()
        q = robot.random(rng)
        q = np.where(abs(q) < 1e3, q, np.remainder(q, 2 * np.pi))  # some files have limits of 1e16 rad
        self.v, self.vd, self.tau = rng.standard_normal((3, robot.nv))
        self.q = np.zeros(model.nq)
        for name, joint in zip(list(model.names)[1:], list(model.joints)[1:], strict=True):
            if joint.shortname() == "JointModelMimic":
                continue  # its coordinate is its leader's
            own = q[robot.q_slice(name)]
            # a continuous joint is one angle here, cosine and sine there
            own = [np.cos(own[0]), np.sin(own[0])] if joint.nq == 2 else own
            self.q[joint.idx_q : joint.idx_q + joint.nq] = own
        self.ours = q.tolist(), self.v.tolist(), self.vd.tolist(), self.tau.tolist()
