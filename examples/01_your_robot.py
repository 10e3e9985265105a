"""Your own robot: in Python with the builder, or from a URDF, with a report of what was odd in the file.

python examples/01_your_robot.py
"""

import math
import tempfile
from pathlib import Path

import numpy as np

import pliant
from pliant.robot import Limits


def main() -> None:
    robot = build_leg()
    ask_about(robot)
    try_impossible_parts()
    read_dirty_file()


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def build_leg() -> pliant.Robot:
    """A leg that slides on a vertical rail: hip, knee, and a foot as a frame."""
    title("1. A leg, built in Python")
    builder = pliant.RobotBuilder("leg")
    builder.body("carriage", mass=2)
    builder.body("thigh", mass=0.8, com=(0, 0, -0.1), inertia=(3e-3, 0, 0, 3e-3, 0, 4e-4))
    builder.body("shank", mass=0.2, com=(0, 0, -0.09), inertia=(7e-4, 0, 0, 7e-4, 0, 1e-5))
    builder.joint("rail", "prismatic", "world", "carriage", axis=(0, 0, 1))
    builder.joint("hip", "revolute", "carriage", "thigh", axis=(0, 1, 0), limits=(-1.5, 1.5))
    # a joint can have more than limits of its angle
    knee = Limits(lower=-2.6, upper=-0.1, velocity=30, effort=20)
    builder.joint("knee", "revolute", "thigh", "shank", (0, 0, -0.2), axis=(0, 1, 0), limits=knee, damping=0.01)
    builder.frame("foot", "shank", (0, 0, -0.2))
    # the rotor turns 9 times for each turn of the joint, and is felt there with 81 times its inertia
    builder.motor("hip", gear=9, rotor_inertia=2e-5, effort_limit=20)
    builder.motor("knee", gear=9, rotor_inertia=2e-5, effort_limit=20)
    robot = builder.build()
    print(robot)
    return robot


def ask_about(robot: pliant.Robot) -> None:
    title("2. What it weighs on its motors")
    crouch = np.array([0.0, 0.6, -1.2])
    foot = pliant.frame_pose(robot, crouch, "foot")[:3, 3]
    print(f"foot at {foot.round(4)} m, straight below the hip; q is {', '.join(robot.coordinate_names)}")
    # standing still, tau + J^T f = g: the ground pushes with the whole weight at the foot
    weight = robot.mass * 9.81
    J = pliant.frame_jacobian(robot, crouch, "foot")[:3]
    tau = pliant.gravity_forces(robot, crouch) - J.T @ np.array([0, 0, weight])
    print(f"to stand there: rail {tau[0]:.4f} N, hip {tau[1]:.4f} N m, knee {tau[2]:.4f} N m")
    if not abs(tau[0]) < 1e-12:
        raise SystemExit("the ground should carry all the weight")
    heavier = robot.with_motor("rail", name="winch", gear=50, rotor_inertia=1e-4)
    print(f"a winch on the rail would add {heavier.motors['winch'].armature:.3f} kg to M there")


def try_impossible_parts() -> None:
    title("3. What the builder refuses")
    builder = pliant.RobotBuilder("bad").body("plate", mass=1, inertia=(1, 0, 0, 1, 0, 3))
    builder.joint("pivot", "revolute", "world", "plate")
    try:
        builder.build()
    except pliant.RobotError as error:
        print(f"RobotError: {error}")
    repaired = builder.build(repair=True)
    print(f"repair=True: {repaired.report}")


DIRTY = """<robot name="dirty">
  <link name="base"/>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="pivot" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 2 0"/>
    <limit lower="-1" upper="1" effort="10"/>
  </joint>
  <gazebo reference="arm"/>
</robot>
"""


def read_dirty_file() -> None:
    title("4. A URDF as they are found")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dirty.urdf"
        path.write_text(DIRTY, encoding="utf-8")
        robot = pliant.load(path)
        print(robot.report)
        try:
            pliant.load(path, strict=True)
        except pliant.RobotError as error:
            print(f"strict=True: {str(error).replace(folder, '...')}")
        print(f"a quarter turn all the same: {pliant.frame_pose(robot, [math.pi / 2], 'arm')[0, :3].round(3)}")


if __name__ == "__main__":
    main()
