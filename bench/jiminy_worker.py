"""Jiminy's side of the contact benchmark, run by the interpreter of Jiminy's own environment.

Reads a job as JSON from the standard input and writes a result to the standard output. Nothing of Pliant is here:
Jiminy brings its own Pinocchio, and takes over its name.
"""

import json
import sys
import time
from typing import Any

import jiminy_py
import jiminy_py.core as jiminy
import numpy as np


def main() -> None:
    """Simulate the job's robot until it stands, then time it."""
    job = json.load(sys.stdin)
    engine, robot, controller = build(job)
    q, settled, dt = np.array(job["q"]), job["settled"], job["dt"]
    engine.start(q, np.zeros(robot.nv))
    engine.step(settled - 0.25)
    q0 = np.array(engine.robot_states[0].q)
    engine.step(0.25)
    q1 = np.array(engine.robot_states[0].q)
    # contact forces are in the frames of the contacts; the ground is flat, so the world's z is what counts
    force = vertical_force(robot)
    turns, steps = [], job["steps"]
    for _ in range(job["rounds"]):
        begin = time.process_time()
        engine.step(steps * dt)
        turns.append((time.process_time() - begin) / steps)
    engine.stop()
    result = {
        "version": jiminy_py.__version__,
        "time": min(turns),
        "controller": controller_time(controller, robot),
        "mass_matrix": mass_matrix(robot, q),
        "q0": q0.tolist(),
        "q1": q1.tolist(),
        "force": force,
    }
    print(json.dumps(result))


def build(job: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The engine, the robot and the function that computes its torques."""
    robot = jiminy.Robot("robot")
    robot.initialize(job["urdf"], has_freeflyer=True)
    robot.add_contact_points(job["contacts"])
    for name, armature in zip(job["joints"], job["armature"], strict=True):
        motor = jiminy.SimpleMotor(name)
        # options first: those set on an attached motor add its armature to the model once more
        options = motor.get_options()
        options |= {"enableArmature": armature > 0, "armature": armature, "enableVelocityLimit": False}
        motor.set_options(options)
        robot.attach_motor(motor)
        motor.initialize(name)
    names = list(robot.pinocchio_model.names)[2:]  # after the world and the base
    if names != job["joints"]:
        raise SystemExit(f"joints in another order: {names} and {job['joints']}")
    target, kp, kd = (np.array(job[key]) for key in ("target", "kp", "kd"))
    error = np.empty_like(target)

    def compute_command(t: float, q: np.ndarray, v: np.ndarray, sensors: Any, command: np.ndarray) -> None:
        np.subtract(target, q[7:], out=error)
        np.multiply(kp, error, out=command)
        np.multiply(kd, v[6:], out=error)
        np.subtract(command, error, out=command)

    robot.controller = jiminy.FunctionalController(compute_command)
    engine = jiminy.Engine()
    engine.add_robot(robot)
    options = engine.get_options()
    period = job["dt"]
    options["stepper"] |= {"odeSolver": "euler_explicit", "dtMax": period, "controllerUpdatePeriod": period}
    options["contacts"] |= {"model": "constraint", "friction": job["friction"]}
    telemetry = options["telemetry"]
    options["telemetry"] = {key: False if key.startswith("enable") else value for key, value in telemetry.items()}
    engine.set_options(options)
    return engine, robot, compute_command


def vertical_force(robot: Any) -> float:
    """Sum over the contacts of the force along the world's z [N]."""
    data, total = robot.pinocchio_data, 0.0
    for index, wrench in zip(robot.contact_frame_indices, robot.contact_forces, strict=True):
        total += float((data.oMf[index].rotation @ wrench.linear)[2])
    return total


def mass_matrix(robot: Any, q: np.ndarray) -> list[list[float]]:
    """M at q with the rotors, to prove that it is the same robot."""
    model = robot.pinocchio_model
    data = model.createData()  # what crba returns is a view of it
    M = np.triu(jiminy.crba(model, data, q))
    return (M + np.triu(M, 1).T).tolist()


def controller_time(compute_command: Any, robot: Any, calls: int = 2000) -> float:
    """What the Python controller takes of a step [s]: the best of several turns."""
    q, v = np.zeros(robot.nq), np.zeros(robot.nv)
    command, turns = np.zeros(robot.nmotors), []
    for _ in range(5):
        begin = time.process_time()
        for _ in range(calls):
            compute_command(0.0, q, v, None, command)
        turns.append((time.process_time() - begin) / calls)
    return min(turns)


if __name__ == "__main__":
    main()
