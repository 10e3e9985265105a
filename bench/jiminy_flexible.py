"""Jiminy's side of the benchmark of flexible joints, run by the interpreter of Jiminy's own environment.

Reads a job as JSON from the standard input and writes a result to the standard output: for each stepper how far it
came, its steps and its time. Nothing of Pliant is here: Jiminy brings its own Pinocchio, and takes over its name.
"""

import json
import sys
import time
from typing import Any

import jiminy_py.core as jiminy
import numpy as np


def main() -> None:
    """Let the job's pendulum swing with each of its steppers."""
    job = json.load(sys.stdin)
    robot = build(job)
    q = start(robot, job)
    runs = [swing(robot, q, job, **stepper) for stepper in job["steppers"]]
    print(json.dumps({"mass_matrix": mass_matrix(robot, q), "runs": runs}))


def build(job: dict[str, Any]) -> Any:
    """The robot of the job's URDF, with a motor and a spring of three equal axes at each of its joints."""
    robot = jiminy.Robot("robot")
    robot.initialize(job["urdf"], has_freeflyer=False)
    options = robot.get_model_options()
    spring = {key: np.full(3, float(job[key])) for key in ("stiffness", "damping", "inertia")}
    options["dynamics"]["enableFlexibility"] = True
    options["dynamics"]["flexibilityConfig"] = [{"frameName": name, **spring} for name in job["joints"]]
    robot.set_model_options(options)
    for name in job["joints"]:
        motor = jiminy.SimpleMotor(name)
        # options first: those set on an attached motor add its armature to the model once more
        armature = float(job["rotor_inertia"])
        values = {"enableArmature": armature > 0, "armature": armature, "enableVelocityLimit": False}
        motor.set_options(motor.get_options() | values)
        robot.attach_motor(motor)
        motor.initialize(name)
    expected = [name for joint in job["joints"] for name in (f"{joint}Flexibility", joint)]
    names = list(robot.pinocchio_model.names)[1:]
    if names != expected:
        raise SystemExit(f"joints {names}, not {expected}")
    return robot


def start(robot: Any, job: dict[str, Any]) -> np.ndarray:
    """The job's q in Jiminy's layout: an angle is a cosine and a sine."""
    q, model = [], robot.pinocchio_model
    given = list(job["q"])
    for joint in list(model.joints)[1:]:
        if joint.nq == 2:
            angle = given.pop(0)
            q += [np.cos(angle), np.sin(angle)]
        else:
            q += [given.pop(0) for _ in range(joint.nq)]
    return np.array(q)


def angles(robot: Any, q: np.ndarray) -> list[float]:
    """Angles of the job's joints."""
    found = []
    for joint in list(robot.pinocchio_model.joints)[1:]:
        if joint.nq == 2:
            cosine, sine = q[joint.idx_q : joint.idx_q + 2]
            found.append(float(np.arctan2(sine, cosine)))
    return found


def swing(robot: Any, q: np.ndarray, job: dict[str, Any], solver: str, dt: float | None) -> dict[str, Any]:
    """One stepper: the best time of several turns, the angles at the job's moments, and how far it came.

    Args:
        dt: of a stepper with a fixed step [s]; None for Jiminy's own options.
    """
    engine = jiminy.Engine()
    engine.add_robot(robot)
    options = engine.get_options()
    options["stepper"]["odeSolver"] = solver
    if dt is not None:
        options["stepper"]["dtMax"] = dt
    telemetry = options["telemetry"]
    options["telemetry"] = {key: False if key.startswith("enable") else value for key, value in telemetry.items()}
    engine.set_options(options)
    turns, result = [], {}
    for _ in range(job["rounds"]):
        engine.start(q, np.zeros(robot.nv))
        path, cause = [], None
        begin = time.process_time()
        try:
            for _ in range(job["moments"]):
                engine.step(job["duration"] / job["moments"])
                path.append(angles(robot, np.array(engine.robot_states[0].q)))
        except RuntimeError as error:
            cause = str(error).splitlines()[-1]
        turns.append(time.process_time() - begin)
        state = engine.stepper_state
        reached = {"reached": state.t, "steps": state.iter, "rejected": state.iter_failed}
        result = {"solver": solver, **reached, "angles": path, "cause": cause}
        engine.stop()
        if cause is not None:
            break
    return {**result, "time": min(turns), "tolerance": [options["stepper"][key] for key in ("tolRel", "tolAbs")]}


def mass_matrix(robot: Any, q: np.ndarray) -> list[list[float]]:
    """M at q with the rotors, to prove that it is the same robot."""
    model = robot.pinocchio_model
    data = model.createData()  # what crba returns is a view of it
    M = np.triu(jiminy.crba(model, data, q))
    return (M + np.triu(M, 1).T).tolist()


if __name__ == "__main__":
    main()
