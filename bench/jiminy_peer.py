"""Jiminy's side of the benchmarks: its environment, a subprocess that runs it, and a scene's robot as a URDF.

Jiminy has no batch: it is timed one robot at a time, on one thread, over many steps of one call. Its contact is the
constraint model, its stepper explicit Euler with a fixed step. Its points of contact have no size: they lie where the
scene's spheres touch the ground in the pose. Damping of joints is added to kd; dry friction of joints is left out.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

import pliant
from bench.contact_scene import ContactScene, Standing
from bench.report import CheckError
from pliant.robot.model import WORLD
from pliant.spatial import Transform, Vector
from pliant.spatial.vectors import rpy_from_matrix

__all__ = ["environment", "is_installed", "measure", "worked"]

VERSION = "1.8.13"


FOLDER = Path(__file__).resolve().parent.parent / "build" / "jiminy-venv"
STAMP = FOLDER / f".jiminy-{VERSION}"


def is_installed() -> bool:
    """Whether there is an environment with Jiminy."""
    return STAMP.exists()


def environment() -> Path:
    """The interpreter of an environment that has Jiminy, made once in build/."""
    python = FOLDER / "bin" / "python"
    if not is_installed():
        maker = shutil.which("python3.11") or sys.executable
        print(f"installing jiminy-py {VERSION} into {FOLDER} (once)", file=sys.stderr, flush=True)
        subprocess.run([maker, "-m", "venv", str(FOLDER)], check=True)
        install = [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            f"jiminy-py=={VERSION}",
        ]
        subprocess.run(install, check=True)
        STAMP.touch()
    return python


def worked(worker: str, job: dict[str, Any], subject: str) -> dict[str, Any]:
    """What a script beside this file makes of a job, in Jiminy's environment, on one thread.

    Args:
        worker: name of the script; it reads the job as JSON, and its last line is the result.
        subject: of what Jiminy is to be said to have failed.
    """
    single = {**os.environ, "OMP_NUM_THREADS": "1"}
    single.pop("PYTHONPATH", None)
    command = [str(environment()), str(Path(__file__).with_name(worker))]
    done = subprocess.run(command, input=json.dumps(job), env=single, capture_output=True, text=True)
    if done.returncode:
        raise CheckError(f"Jiminy failed on {subject}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def measure(scene: ContactScene, *, steps: int = 2000, rounds: int = 5) -> dict[str, Any]:
    """Time of a step [s], with and without the Python controller, and how the robot stands."""
    robot = scene.robot
    names = [motor.joint for motor in robot.motors.values()]
    joints = [robot.joints[name] for name in names]
    motors = list(robot.motors.values())
    job: dict[str, Any] = {
        "contacts": [f"{p.frame}_touch" for p in scene.points],
        "joints": names,
        "armature": [float(j.armature[0] + m.armature) for j, m in zip(joints, motors, strict=True)],
        "target": scene.q[scene.motor_q].tolist(),
        "kp": scene.kp.tolist(),
        "kd": [float(kd + j.damping[0]) for kd, j in zip(scene.kd, joints, strict=True)],
        "q": scene.q.tolist(),
        "friction": scene.friction,
        "dt": scene.dt,
        "settled": scene.settled,
        "steps": steps,
        "rounds": rounds,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(urdf(scene))
        job["urdf"] = str(path)
        result = worked("jiminy_worker.py", job, scene.name)
    expected = pliant.mass_matrix(robot, scene.q)
    error = np.abs(np.array(result.pop("mass_matrix")) - expected).max() / np.abs(expected).max()
    if not error < 1e-8:
        raise CheckError(f"{scene.name}: Jiminy's mass matrix differs by {error:.1e}, it is not the same robot")
    q0, q1 = (np.array([result.pop(key)]) for key in ("q0", "q1"))
    result["standing"] = Standing.between(scene, q0, q1, 0.25, np.array([result.pop("force")]))
    return result


def urdf(scene: ContactScene) -> str:
    """The scene's robot as a URDF without shapes; each point of contact is a link of no mass, "<frame>_touch"."""
    robot = scene.robot
    root = ElementTree.Element("robot", name=robot.name)
    for body in robot.bodies.values():
        _link(root, body)
    for joint in robot.joints.values():
        if joint.parent != WORLD:
            _joint(root, joint)
    for point in scene.points:
        frame = robot.frame(point.frame)
        # straight down in the pose
        R_WB = pliant.frame_pose(robot, scene.q, frame.body)[:3, :3]
        down = Vector(*(float(x) for x in R_WB.T @ [0, 0, -point.radius]))
        name = f"{point.frame}_touch"
        ElementTree.SubElement(root, "link", name=name)
        fixed = ElementTree.SubElement(root, "joint", name=f"{name}_fix", type="fixed")
        ElementTree.SubElement(fixed, "parent", link=frame.body)
        ElementTree.SubElement(fixed, "child", link=name)
        ElementTree.SubElement(fixed, "origin", xyz=_numbers(frame.placement.p + down), rpy="0 0 0")
    return ElementTree.tostring(root, encoding="unicode")


def _link(root: ElementTree.Element, body: Any) -> None:
    mass = float(body.inertia.mass)
    com = np.array([float(x) for x in body.inertia.h]) / mass
    J = np.array([float(body.inertia.J.entry(r, c)) for r in range(3) for c in range(3)]).reshape(3, 3)
    J -= mass * (com @ com * np.eye(3) - np.outer(com, com))
    inertial = ElementTree.SubElement(ElementTree.SubElement(root, "link", name=body.name), "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=_numbers(com), rpy="0 0 0")
    ElementTree.SubElement(inertial, "mass", value=repr(mass))
    entries = {
        f"i{a}{b}": repr(float(J["xyz".index(a), "xyz".index(b)])) for a, b in ("xx", "xy", "xz", "yy", "yz", "zz")
    }
    ElementTree.SubElement(inertial, "inertia", entries)


def _joint(root: ElementTree.Element, joint: Any) -> None:
    element = ElementTree.SubElement(root, "joint", name=joint.name, type=joint.kind.name)
    placement: Transform = joint.placement
    ElementTree.SubElement(element, "parent", link=joint.parent)
    ElementTree.SubElement(element, "child", link=joint.child)
    rpy = _numbers(rpy_from_matrix(placement.R.matrix()))
    ElementTree.SubElement(element, "origin", xyz=_numbers(placement.p), rpy=rpy)
    ElementTree.SubElement(element, "axis", xyz=_numbers(joint.kind.axis))
    limits = joint.limits
    bounds = {"lower": limits.lower, "upper": limits.upper, "effort": limits.effort, "velocity": limits.velocity}
    # no limit at all cannot be said of a revolute joint: a million is none
    ElementTree.SubElement(
        element, "limit", {k: repr(float(np.clip(value[0], -1e6, 1e6))) for k, value in bounds.items()}
    )


def _numbers(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)
