"""Cassie, from the SDF files of example-robot-data: mass, tree, springs and closures by hand-written figures."""

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.dynamics import center_of_mass, frame_pose
from pliant.dynamics.kinematics import link_poses
from pliant.formats import load_sdf
from pliant.robot import Joint, Robot
from pliant.spatial import Vector

MOTORS = ("*-roll-op", "*-yaw-op", "*-pitch-op", "*-knee-op", "*-foot-op")
# the pelvis, and the links of a leg as cassie_v2.sdf has them [kg]
PELVIS, LEG = 10.33, (1.82, 1.171, 5.52, 0.1567, 0.7578, 0.577, 0.782, 0.126, 0.1261, 0.1186, 0.1498)
# what cassie.sdf has in addition: rotors of hip and knee, a foot's, the leaf spring of the knee [kg]
MORE = (0.145608, 0.145608, 0.27228, 0.27228, 0.001, 0.186)


def cassie(name: str) -> Robot:
    return load_sdf(pliant.robots()[name].path, motors=None if name == "cassie" else MOTORS)  # type: ignore[arg-type]


def test_mass() -> None:
    # sums of some thirty numbers of up to 10: a few roundings
    assert cassie("cassie_v2").mass == pytest.approx(PELVIS + 2 * sum(LEG), rel=1e-14)
    assert cassie("cassie").mass == pytest.approx(PELVIS + 2 * sum(LEG) + 2 * sum(MORE), rel=1e-14)
    assert sum(LEG) * 2 + PELVIS == pytest.approx(32.94, rel=1e-14)


def test_tree_springs_and_closures() -> None:
    robot = cassie("cassie_v2")
    assert (robot.is_free, robot.nq, robot.nv, robot.nu) == (True, 7 + 22, 6 + 22, 10)
    toe = [joint.name for joint in robot.path("left-foot")]
    assert toe == [
        "left-foot-op", "left-shin-tarsus-joint", "left-knee-shin-joint", "left-knee-op", "left-pitch-op",
        "left-yaw-op", "left-roll-op", "root_joint",
    ]  # fmt: skip
    springs = {name: robot.joints[name].stiffness for name in robot.flexibilities}
    assert springs == {
        f"{side}-{joint}": (k,)
        for side in ("left", "right") for joint, k in (("knee-shin-joint", 1500), ("tarsus-spring-joint", 1250))
    }  # fmt: skip
    closures = {name: (c.kind, *(robot.frame(end).body for end in (c.a, c.b))) for name, c in robot.closures.items()}
    loops = ("pitch-rod-joint", "achilles-rod", "hip-pitch"), ("plantar-foot-joint", "plantar-rod", "foot")
    assert closures == {
        f"{side}-{name}": ("point", f"{side}-{a}", f"{side}-{b}")
        for side in ("left", "right") for name, a, b in loops
    }  # fmt: skip


def test_gearboxes_and_leaf_springs_of_the_full_model() -> None:
    robot = cassie("cassie")
    ratios = {"roll": 25, "yaw": 25, "pitch": 16, "knee": 16, "foot": 50}
    for joint, ratio in ratios.items():
        mimic = robot.joints[f"right-{joint}-ip"].mimic
        assert mimic is not None
        assert (mimic.joint, mimic.multiplier) == (f"right-{joint}-op", -ratio)
    assert len(robot.motors) == 10
    kinds = {name.removeprefix("left-"): c.kind for name, c in robot.closures.items() if name.startswith("left")}
    # the leaf of the knee slides on the shin, which no closure can stand for: its hinge closes that loop
    assert kinds == {"knee-spring-joint": "hinge", "achilles-spring-joint": "hinge", "plantar-foot-joint": "point"}
    assert robot.joints["left-shin-spring-joint"].kind.name == "prismatic"


@pytest.mark.parametrize("name", ["cassie", "cassie_v2", "cassie_simple", "cassie_reduced", "cassie_wo_gearbox_spring"])
def test_links_and_loops_are_where_the_file_has_them(name: str) -> None:
    robot = cassie(name)
    q = robot.neutral().tolist()

    def position(frame: str) -> np.ndarray:
        return np.array(frame_pose.algorithm(robot, q, frame), dtype=float).reshape(4, 4)[:3, 3]

    # <pose> of these links in the file, the pelvis at 0 0 1.01; sums of a dozen numbers of about 1
    offset = position("pelvis") - [0, 0, 1.01]
    for link, expected in (("left-foot", (-0.29886, 0.1305, -0.0045361)), ("right-tarsus", (-0.35166, -0.1305, 0.402))):
        np.testing.assert_allclose(position(link) - offset, expected, atol=1e-14)
    for closure in robot.closures.values():
        np.testing.assert_allclose(position(closure.a), position(closure.b), atol=1e-13)


def standing(robot: Robot) -> np.ndarray:
    """A pose with closed loops and springs at rest, feet level beneath the centre of mass, by Newton's method."""
    q = robot.neutral()
    at = {name: k for k, name in enumerate(robot.coordinate_names)}
    for side in ("left", "right"):
        q[[at[f"{side}-foot-op"], at[f"{side}-tarsus-crank-joint"], at[f"{side}-crank-rod-joint"]]] = -1.2, -1.2, 1.2
    rest = ("tarsus-spring-joint", "knee-shin-joint", "roll-op", "yaw-op", "knee-op")
    free = [at[name] for name, joint in zip(robot.coordinate_names, owners(robot), strict=True) if joint.kind.nq == 1]

    def errors(q: np.ndarray) -> np.ndarray:
        """Of many poses at once, (nq, n): without compiling."""
        found = []
        for closure in robot.closures.values():
            found += [a - b for a, b in zip(origin(robot, q, closure.a), origin(robot, q, closure.b), strict=True)]
        com = center_of_mass.algorithm(robot, list(q))
        for side in ("left", "right"):
            # a capsule along its z
            sole = robot.bodies[f"{side}-foot"].collisions[0].placement
            ends = (origin(robot, q, f"{side}-foot", tuple(sole.transform_point(Vector(0, 0, k)))) for k in (0, 1))
            (x, _, z), (_, _, other) = ends
            found += [other - z, x - com[0], *(q[at[f"{side}-{joint}"]] for joint in rest)]
        return np.array(np.broadcast_arrays(*found))

    for _ in range(8):
        e = errors(q[:, None] + 1e-6 * np.hstack([np.zeros((robot.nq, 1)), np.eye(robot.nq)[:, free]]))
        q[free] -= np.linalg.lstsq((e[:, 1:] - e[:, :1]) / 1e-6, e[:, 0], rcond=1e-6)[0]
    # the right foot of the file misses its rod by some 1e-8, which no motion mends
    assert abs(errors(q[:, None])).max() < 1e-7
    return robot.on_ground(q)


def owners(robot: Robot) -> list[Joint]:
    """The joint of each coordinate."""
    return [joint for joint in robot.joints.values() for _ in range(joint.kind.nq if joint.mimic is None else 0)]


def origin(robot: Robot, q: np.ndarray, frame: str, point: tuple[float, ...] = (0, 0, 0)) -> list[Any]:
    """Where a point of a frame is, x, y and z, each for all poses."""
    i, X_BF = robot.mechanism.frame(frame)
    return list(link_poses(robot.mechanism, list(q))[i].transform_point(X_BF.transform_point(Vector(*point))))


def test_stands_on_its_springs() -> None:
    robot = cassie("cassie_v2")
    q = standing(robot)
    held, u = pliant.control.hold(robot, q)
    sim = pliant.Simulation(held, ground=pliant.flat())
    sim.reset(q=q)
    log = sim.run(2.0, u=u)
    end = log.q[-1]
    assert sim.diagnostics.unconverged == 0
    # upright and where it was: it settles by less than a millimetre
    assert abs(end[2] - q[2]) < 2e-3
    assert abs(log.v[-1]).max() < 1e-2
    # the springs bear it: some milliradians, as a knee of some newton metres bends 1500 N m/rad
    for joint in robot.flexibilities:
        assert 1e-3 < abs(end[robot.q_slice(joint)][0]) < 2e-2
    # and carry the weight through the loops, which stay closed
    for closure in robot.closures.values():
        gap = np.subtract(origin(robot, end, closure.a), origin(robot, end, closure.b))
        assert abs(gap).max() < 1e-6
    # pins of the right foot's loop are off by 25 nm, as the digits of a file are; it turns as the left one does
    foot = [motor.endswith("foot-op") for motor in held.motors]
    turned = sim.run(0.1, u=np.add(u, 0.05 * np.array(foot))).q[-1] - end
    left, right = (float(turned[robot.q_slice(f"{side}-foot-op")][0]) for side in ("left", "right"))
    assert left > 0.02
    assert right == pytest.approx(left, rel=0.01)
