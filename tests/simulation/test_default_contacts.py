"""No vertex of a collision mesh is deeper in the ground than the report states, at rest and in any orientation.

Pinocchio reads the meshes and puts them in the world, without any of our code.
"""

import re

import numpy as np
import pinocchio as pin
import pytest

import pliant
from pliant.robot import Robot
from pliant.robot.contacts import with_default_contacts
from real_robots import PATHS, pinocchio_robot, real_robot

# rigid contact lets points sink by some micrometres; what falls between the directions of choice, a thousandth or so
SLACK = 5e-4


class Meshes:
    """The collision meshes of a robot in the world, by Pinocchio."""

    def __init__(self, name: str, robot: Robot):
        path = PATHS[name]
        self.model = pinocchio_robot(name, "free")
        kind = pin.GeometryType.COLLISION
        folders = [str(path.parents[4])]  # share, with the package example-robot-data
        self.shapes = pin.buildGeomFromUrdf(self.model, str(path), kind, package_dirs=folders)
        self.has_others = any(not hasattr(shape.geometry, "vertices") for shape in self.shapes.geometryObjects)
        self.data, self.placed = self.model.createData(), self.shapes.createData()
        self.order = [robot.q_slice(str(joint)).start for joint in self.model.names[2:]]

    def lowest(self, q: np.ndarray) -> dict[str, float]:
        """The height of the lowest vertex of each body [m]."""
        pin.updateGeometryPlacements(
            self.model, self.data, self.shapes, self.placed, np.concatenate([q[:7], q[self.order]])
        )
        found: dict[str, float] = {}
        for shape, X in zip(self.shapes.geometryObjects, self.placed.oMg, strict=True):
            if not hasattr(shape.geometry, "vertices"):
                continue
            body = self.model.frames[shape.parentFrame].name
            height = float((np.array(shape.geometry.vertices()) @ X.rotation[2]).min() + X.translation[2])
            found[body] = min(found.get(body, np.inf), height)
        return found


def stated(robot: Robot, body: str) -> float:
    """The largest distance that the report states for a body, which is rounded to two digits [m]."""
    about = [f.message for f in robot.report if f.subject == f"contacts of body {body!r}"]
    return max((float(x) for text in about for x in re.findall(r"off by ([\d.e+-]+) mm", text)), default=0) * 1.05e-3


def turned(q: np.ndarray, count: int) -> np.ndarray:
    """A configuration in random orientations."""
    turns = np.random.default_rng(0).standard_normal((count, 4))
    q = np.tile(q, (count, 1))
    q[:, 3:7] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    return q


@pytest.mark.parametrize(("name", "kp", "kd"), [
    ("go2_description/go2.urdf", 40, 2),
    ("solo_description/solo12.urdf", 6, 0.2),
])  # fmt: skip
def test_no_vertex_is_deeper_than_stated_at_rest(name: str, kp: float, kd: float) -> None:
    """Quadrupeds dropped by 5 cm in random orientations, on the contacts that they have by default."""
    robot = with_default_contacts(real_robot(name, "free"), has_ground=True)
    for motor in robot.motors.values():
        robot = robot.with_motor(motor.joint, control="position", kp=kp, kd=kd)
    sim = pliant.Simulation(robot, ground=pliant.flat(), dt=2e-3, batch=48)
    sim.reset(q=robot.on_ground(turned(robot.neutral(), 48), height=0.05))
    sim.run(3, channels=())
    still = np.abs(sim.v).max(axis=1) < 0.05
    assert still.mean() > 0.8
    meshes, touching = Meshes(name, robot), {point.body for point in robot.contact_points}
    heights = [meshes.lowest(q) for q in sim.q[still]]
    for body in touching:
        assert min(height[body] for height in heights) > -stated(robot, body) - SLACK, body
    # nor does it float: some part of it is on the ground
    assert max(min(height[body] for body in touching) for height in heights) < 0.01


@pytest.mark.parametrize("name", [
    "go2_description/go2.urdf",
    "solo_description/solo12.urdf",
    "bolt_description/bolt.urdf",
    "g1_description/g1_29dof_rev_1_0.urdf",
    "icub_description/icub.urdf",
    "romeo_description/romeo_small.urdf",
])  # fmt: skip
def test_robots_put_on_the_ground_touch_it_with_their_meshes(name: str) -> None:
    """With contacts on all bodies, in random orientations and poses: no mesh is deeper than stated, nor all higher."""
    robot = real_robot(name, "free").with_collision_contacts()
    meshes = Meshes(name, robot)
    rng = np.random.default_rng(1)
    poses = np.stack([robot.random(rng) for _ in range(25)])
    poses[:, :7] = turned(poses[0], 25)[:, :7]
    poses = np.where(abs(poses) < 1e3, poses, 0)
    most = max(stated(robot, body) for body in robot.bodies)
    for q in robot.on_ground(poses):
        heights = meshes.lowest(q)
        for body, height in heights.items():
            # what its own contacts fall short by, where they or those it is fixed to touch first
            assert height > -stated(robot, body) - SLACK, body
        # nor does it float, unless it touches with a sphere or the like
        assert min(heights.values()) < most + SLACK or meshes.has_others
