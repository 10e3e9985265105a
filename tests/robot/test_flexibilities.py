"""Robots that give way: their mass matrix, coordinates and names, and what cannot be."""

import math
import pickle

import numpy as np
import pytest
import sympy

import pliant
from pliant.errors import RobotError
from pliant.robot import Mimic, Robot, RobotBuilder
from random_robots import close
from simulated_robots import QUADRUPED

I, J = 0.3, 0.7


def hinge(*, rotor: float = J, kind="revolute", **motor) -> Robot:
    builder = RobotBuilder("hinge")
    builder.body("base", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1))
    builder.body("link", 2, (0, 0, 0), (I, 0, 0, I, 0, I))
    builder.body("tool", 0.5, (0, 0, 0.1), (0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("axle", kind, "base", "link", (0.1, 0.2, 0.3), (0.4, 0.5, 0.6), axis=(0, 0, 1), limits=(-2, 1.5))
    builder.joint("flange", "fixed", "link", "tool", (0, 0, 0.2))
    builder.frame("middle", "link", (0, 0, 0.1))
    return builder.build().with_motor("axle", rotor_inertia=rotor, **motor)


def pair() -> Robot:
    builder = RobotBuilder("pair")
    for name in ("a", "b"):
        builder.body(name, 1, (0.2, 0, 0), (I, 0, 0, I, 0, I))
    builder.joint("lead", "revolute", "world", "a", axis=(0, 0, 1))
    builder.joint("follow", "revolute", "a", "b", (0.3, 0, 0), axis=(0, 0, 1), mimic=Mimic("lead", -2, 0.1))
    return builder.build().with_motor("lead", rotor_inertia=J)


# ---- what it is


@pytest.mark.parametrize("If", [0, 0.05])
def test_mass_matrix(If):
    """[[I + If, I], [I, I + J]]."""
    robot = hinge().with_flexibility("axle", stiffness=100, inertia=If)
    about = I + 0.01
    expected = [[about + If, about], [about, about + J]]
    np.testing.assert_allclose(pliant.mass_matrix(robot, [0.2, -0.5]), expected, rtol=1e-14)


@pytest.mark.parametrize("stiffness", [10, (10, 20, 30), (1, 2, 3, 10, 20, 30)])
def test_without_deflection_it_is_the_robot_without(stiffness):
    rigid = QUADRUPED.with_motors(rotor_inertia=0.01)
    robot = rigid
    for name in list(rigid.motors):
        robot = robot.with_flexibility(name, stiffness=stiffness)
    per = np.size(stiffness)
    assert robot.nv == rigid.nv + 12 * per and len(robot.flexibilities) == 12 and robot.nu == rigid.nu
    rng = np.random.default_rng(3)
    q, v = rigid.random(rng), rng.standard_normal(rigid.nv)
    soft_q, soft_v = robot.q_from(rigid, q), robot.v_from(rigid, v)
    for name in list(rigid.frames)[::4]:
        close(pliant.frame_pose(robot, soft_q, name), pliant.frame_pose(rigid, q, name), 1e-13)
        close(pliant.frame_velocity(robot, soft_q, soft_v, name), pliant.frame_velocity(rigid, q, v, name), 1e-12)
    close(pliant.dynamics.kinetic_energy(robot, soft_q, soft_v), pliant.dynamics.kinetic_energy(rigid, q, v), 1e-12)
    close(pliant.dynamics.potential_energy(robot, soft_q), pliant.dynamics.potential_energy(rigid, q), 1e-12)
    own = [k for n, j in rigid.joints.items() if j.kind.nv for k in range(robot.nv)[robot.v_slice(n)]]
    M = pliant.mass_matrix(robot, soft_q)
    close(M[np.ix_(own, own)], pliant.mass_matrix(rigid, q), 1e-12)
    close(pliant.bias_forces(robot, soft_q, soft_v)[own], pliant.bias_forces(rigid, q, v), 1e-11)
    assert np.linalg.eigvalsh(M).min() > 0
    assert robot.mass == pytest.approx(rigid.mass, rel=1e-14)


def test_forward_dynamics_undoes_inverse_dynamics():
    robot = pliant.load("arm7").with_motors(rotor_inertia=0.05)
    assert robot.motors
    for k, name in enumerate(list(robot.motors)):
        robot = robot.with_flexibility(name, stiffness=(100, 200, 300) if k % 2 else 50, inertia=1e-3 * k)
    rng = np.random.default_rng(1)
    q, v, vd = robot.random(rng), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)
    tau = pliant.inverse_dynamics(robot, q, v, vd)
    # light bodies on the wrist: M has a condition number of 1e4
    close(pliant.forward_dynamics(robot, q, v, tau), vd, 1e-9)


def test_names_and_places():
    robot = hinge().with_flexibility("axle", stiffness=(1, 2, 3))
    assert robot.coordinate_names[-1] == "axle" and robot.joints["axle_flexibility"].kind.name == "spherical"
    assert robot.joints["axle"].parent == "axle_flexibility" and robot.joints["axle_flexibility"].parent == "base"
    assert robot.joints["axle"].limits.upper == (1.5,)
    assert [(f.name, f.joint) for f in robot.flexibilities.values()] == [("axle_flexibility", "axle")]
    named = hinge().with_flexibility("axle", stiffness=1, name="spring")
    assert "spring" in named.joints and "spring" in named.bodies and "spring" in named.frames
    assert named.carrier("axle").name == "spring"


def test_kinds_and_axes():
    for joint, options, kind in (
        ("revolute", {}, "revolute"), ("prismatic", {}, "prismatic"), ("continuous", {}, "revolute"),
        ("revolute", {"kind": "prismatic", "axis": (1, 0, 0)}, "prismatic"),
    ):  # fmt: skip
        soft = hinge(kind=joint).with_flexibility("axle", stiffness=1, **options)
        assert soft.joints["axle_flexibility"].kind.name == kind
    other = hinge().with_flexibility("axle", stiffness=1, axis=(0, 3, 4)).joints["axle_flexibility"]
    assert other.kind.axis == (0, 0.6, 0.8)
    six = hinge(kind="prismatic").with_flexibility("axle", stiffness=[1] * 6)
    assert six.joints["axle_flexibility"].kind.name == "free" and six.nq == 8 and not six.is_free


def test_several_flexibilities_before_one_joint():
    """A bearing that gives way across, and a gear about the axis."""
    robot = hinge().with_flexibility("axle", stiffness=50)
    robot = robot.with_flexibility("axle", stiffness=80, axis=(1, 0, 0), name="bearing")
    assert robot.carrier("axle").name == "axle_flexibility"
    assert [f.name for f in robot.flexibilities.values()] == ["axle_flexibility", "bearing"]
    assert np.linalg.eigvalsh(pliant.mass_matrix(robot, robot.neutral())).min() > 0
    with pytest.raises(RobotError, match="'twin' at joint 'axle' has no inertia of its own"):
        hinge().with_flexibility("axle", stiffness=50).with_flexibility("axle", stiffness=80, name="twin")
    hinge().with_flexibility("axle", stiffness=50).with_flexibility("axle", stiffness=8, name="twin", inertia=1e-3)


def test_a_leader_gives_way_and_its_follower_does_not_feel_the_deflection():
    robot = pair().with_flexibility("lead", stiffness=40)
    assert robot.nq == 2
    q = np.array([0.3, 0.2])
    X = pliant.frame_pose(robot, q, "b")
    angle = 0.3 + 0.2 + (-2 * 0.2 + 0.1)
    np.testing.assert_allclose(X[0, :2], [math.cos(angle), -math.sin(angle)], atol=1e-14)


def test_coordinates_of_the_robot_before():
    rigid, soft = hinge(), hinge().with_flexibility("axle", stiffness=(1, 2, 3))
    np.testing.assert_array_equal(soft.q_from(rigid, [0.7]), [0, 0, 0, 1, 0.7])
    np.testing.assert_array_equal(soft.q_from(rigid, [[0.7], [0.1]]), [[0, 0, 0, 1, 0.7], [0, 0, 0, 1, 0.1]])
    np.testing.assert_array_equal(rigid.q_from(soft, [0, 0, 0, 1, 0.7]), [0.7])
    np.testing.assert_array_equal(soft.v_from(rigid, [0.7]), [0, 0, 0, 0.7])
    with pytest.raises(RobotError, match=r"q has shape \(2,\), but the other robot's has 1 entries"):
        soft.q_from(rigid, [1, 2])


def test_a_fixed_joint_that_gives_way():
    rigid = hinge()
    robot = rigid.with_flexibility("flange", stiffness=(100, 100, 50), damping=1)
    assert robot.joints["flange"].kind.name == "spherical" and robot.joints["flange"].child == "tool"
    assert robot.nv == 4 and [(f.name, f.joint) for f in robot.flexibilities.values()] == [("flange", None)]
    q = robot.q_from(rigid, [0.4])
    close(pliant.mass_matrix(robot, q)[0, 0], pliant.mass_matrix(rigid, [0.4])[0, 0], 1e-14)
    about = robot.with_flexibility("root_joint", stiffness=(1e3,) * 6)
    assert about.nv == 10 and not about.is_free
    assert np.linalg.eigvalsh(pliant.mass_matrix(about, about.neutral())).min() > 0


def test_pickle_and_digest():
    def law(x):
        return x * x * x

    values = {"stiffness": 10, "damping": 1, "inertia": 1e-3, "hardening": 2, "backlash": 0.01}
    robot = hinge().with_flexibility("axle", **values)
    assert pickle.loads(pickle.dumps(robot)).digest == robot.digest
    others = [hinge().with_flexibility("axle", **(values | {k: 2 * x})) for k, x in values.items()]
    others += [hinge().with_flexibility("axle", **values, **more) for more in ({"law": law}, {"axis": (1, 0, 0)})]
    others += [hinge(**motor).with_flexibility("axle", **values) for motor in ({"gyroscopic": True}, {"rotor": 0.1})]
    assert len({r.digest for r in [robot, *others]}) == 1 + len(others)


# ---- what cannot be


@pytest.mark.parametrize(("where", "values", "message"), [
    ("axle", {"stiffness": -1}, "stiffness of the flexibility at joint 'axle' is -1; it takes 0 or more"),
    ("axle", {"stiffness": math.nan}, "stiffness of the flexibility at joint 'axle' is nan; it takes"),
    ("axle", {"stiffness": math.inf}, "stiffness of the flexibility at joint 'axle' is inf; it takes"),
    ("axle", {"stiffness": 0}, "has no spring: stiffness is zero; give it some"),
    ("axle", {"stiffness": (1, 2)}, "has 2 entries; give one .*, three .* or six"),
    ("axle", {"stiffness": (1,) * 4}, "has 4 entries; give one"),
    ("axle", {"stiffness": (1,) * 5}, "has 5 entries; give one"),
    ("axle", {"stiffness": (1, -2, 3)}, "stiffness of .* is -2; it takes 0 or more"),
    ("axle", {"stiffness": (1, 2, 3), "axis": (0, 0, 1)}, "has 3 stiffnesses, about all axes; axis is for one"),
    ("axle", {"stiffness": (1, 2, 3), "kind": "revolute"}, "kind is for one"),
    ("axle", {"stiffness": 1, "damping": -1}, "damping of the flexibility at joint 'axle' is -1"),
    ("axle", {"stiffness": 1, "damping": (1, 2, 3)}, "damping of .* has 3 entries; it takes"),
    ("axle", {"stiffness": 1, "damping": math.inf}, "damping of .* is inf; it takes"),
    ("axle", {"stiffness": 1, "inertia": -1}, "inertia of the flexibility at joint 'axle' is -1"),
    ("axle", {"stiffness": 1, "inertia": math.nan}, "inertia of .* is nan; it takes a finite number"),
    ("axle", {"stiffness": 1, "inertia": (1, 2)}, "inertia of .* has 2 entries; it takes one moment, or three"),
    ("axle", {"stiffness": (1,) * 6, "inertia": 1}, "takes a mass and three moments"),
    ("axle", {"stiffness": 1, "hardening": -1}, "hardening of .* is -1"),
    ("axle", {"stiffness": 1, "backlash": -0.1}, "backlash of .* is -0.1; it takes 0 or more"),
    ("axle", {"stiffness": (1, 2, 3), "backlash": 0.1}, "backlash takes a joint with one degree of freedom"),
    ("axle", {"stiffness": 1, "law": 3}, "law of the spring .* is 3; it takes a function of the deflection"),
    ("axle", {"stiffness": 1, "kind": "helical"}, "kind .*'helical'"),
    ("axle", {"stiffness": 1, "axis": (0, 0, 0)}, r"axis of .* is \(0, 0, 0\)"),
    ("axle", {"stiffness": 1, "share": 0.5}, "takes no share, which is for a link that is cut at a frame"),
    ("axle", {"stiffness": 1, "name": "link"}, "there is a joint, body or frame named 'link' already"),
    ("flange", {"stiffness": 1, "axis": (1, 0, 0), "name": "x"}, "keeps its name"),
    ("flange", {"stiffness": 1}, "one stiffness and no axis; .* axis="),
    ("flange", {"stiffness": (1, 2, 3), "inertia": 1}, "has an inertia, but there is no body between"),
    ("axel", {"stiffness": 1}, "'axel'.*'axle'"),
    # no numbers at all
    ("axle", {"stiffness": 1j}, "stiffness of the flexibility at joint 'axle' is 1j; it takes a number"),
    ("axle", {"stiffness": {1, 2, 3}}, r"stiffness of .* is \{1, 2, 3\}; it takes"),
    ("axle", {"stiffness": (x for x in (1, 2, 3))}, "stiffness of .* is <generator .*it takes a number"),
    ("axle", {"stiffness": np.ones((3, 1))}, r"stiffness of .* is array\(\[1\.\]\); .* list of 3"),
    ("axle", {"stiffness": sympy.Matrix([1, 2, 3])}, r"(?s)stiffness of .* is Matrix.*it takes a number"),
    ("axle", {"stiffness": sympy.I}, "stiffness of .* is I; it takes a number"),
    ("axle", {"stiffness": sympy.nan}, "stiffness of .* is nan; it takes a finite number"),
    ("axle", {"stiffness": None}, "stiffness of .* is None; it takes a number"),
    ("axle", {"stiffness": 1, "damping": 1j}, "damping of .* is 1j; it takes a number"),
    ("axle", {"stiffness": 1, "inertia": 1j}, "inertia of .* is 1j; it takes a number"),
    ("axle", {"stiffness": 1, "inertia": {1, 2}}, r"inertia of .* is \{1, 2\}; it takes"),
    ("axle", {"stiffness": 1, "inertia": (1, 2, 30)}, r"inertia of .*: .*\(1, 2, 30\) .* triangle inequal"),
    ("axle", {"stiffness": (1,) * 6, "inertia": (1, 1, 2, 30)}, "inertia of .* triangle inequality"),
    ("axle", {"stiffness": 1, "backlash": math.nan}, "backlash of the flexibility at joint 'axle' is nan"),
    ("axle", {"stiffness": 1, "backlash": math.inf}, "backlash of .* at joint 'axle' is inf; it takes"),
    ("axle", {"stiffness": 1, "hardening": math.inf}, "hardening of the flexibility at joint 'axle' is"),
    ("axle", {"stiffness": 1, "axis": 5}, "axis of the flexibility at joint 'axle' is 5; it takes three numbers"),
    ("axle", {"stiffness": 1, "axis": {1, 2, 3}}, "axis of .* is .*; it takes three numbers"),
    ("axle", {"stiffness": 1, "kind": ["revolute"]}, r"no kind named \['revolute'\]"),
    ("axle", {"stiffness": 1, "name": ["a"]}, r"name of the flexibility at 'axle' is \['a'\]; it takes a name"),
    ("axle", {"stiffness": 1, "name": 5}, "name of the flexibility at 'axle' is 5; it takes a name"),
    ("axle", {"stiffness": 1, "name": ""}, "name of the flexibility at 'axle' is ''; it takes a name"),
    (["axle"], {"stiffness": 1}, r"place of a flexibility is \['axle'\]; it takes a name"),
    (5, {"stiffness": 1}, "place of a flexibility is 5; it takes a name"),
])  # fmt: skip
def test_impossible_flexibilities(where, values, message):
    with pytest.raises(RobotError, match=message):
        hinge().with_flexibility(where, **values)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: hinge(kind="prismatic").with_flexibility("axle", stiffness=(1, 2, 3)),
     "three stiffnesses, of turns, but the joint is prismatic"),
    (lambda: pair().with_flexibility("follow", stiffness=1),
     "joint 'follow' mimics 'lead'; put the flexibility at that one"),
    (lambda: pliant.load("double_pendulum").with_flexibility("shoulder", stiffness=1),
     "joint 'shoulder' has no motor, so a flexibility has nothing to be between"),
    (lambda: hinge().with_flexibility("axle", stiffness=1).with_flexibility("axle", stiffness=1),
     "there is a joint, body or frame named 'axle_flexibility' already"),
    (lambda: hinge().with_backlash("axle", 1j), "width of .* 'axle' is 1j; it takes a number"),
    (lambda: hinge().with_backlash("axle", -1), "width of .* is -1"),
    (lambda: hinge().with_backlash(5, 0.1), "joint of a backlash is 5; it takes a name"),
    (lambda: hinge().with_backlash("axle", 0.1, name=""), "name of the backlash at joint 'axle' is ''.* a name"),
])  # fmt: skip
def test_other_joints_and_backlash_that_cannot_be(call, message):
    with pytest.raises(RobotError, match=message):
        call()


def test_arrays_without_axes_are_numbers():
    values = {"stiffness": 5.0, "damping": 0.1, "inertia": 0.2, "hardening": 3.0, "backlash": 0.01}
    arrays = {name: np.array(x) for name, x in values.items()}
    assert hinge().with_flexibility("axle", **arrays).digest == hinge().with_flexibility("axle", **values).digest
    assert hinge().with_backlash("axle", np.array(0.1)).digest == hinge().with_backlash("axle", 0.1).digest


def test_a_joint_that_no_motor_drives_is_told_what_it_can_have():
    """The cures work: a free joint takes springs of its own."""
    message = r"'root_joint' is free, which no motor drives.*with_joint\('root_joint', stiffness=.*'lf_hip_roll'"
    with pytest.raises(RobotError, match=message) as caught:
        QUADRUPED.with_flexibility("root_joint", stiffness=1)
    call = caught.value.fault.call
    assert call is not None
    changed = getattr(QUADRUPED, call.method)(call.name, **call.options)
    assert changed.joints["root_joint"].stiffness == (1e4,) * 3 + (100,) * 3
    with pytest.raises(RobotError, match=r"'root_joint' is free.* a backlash has nothing to be between; put it at"):
        QUADRUPED.with_backlash("root_joint", 0.1)


@pytest.mark.parametrize(("q", "message"), [
    ("abc", "q is 'abc'; it takes 1 numbers"),
    ([[1], [1, 2]], "q is .*; it takes 1 numbers, or rows of as many"),
    ([1j], "q is .*; it takes 1 numbers"),
    ([math.nan], "q of 'axle' is nan; it takes a finite number"),
    ([[0], [math.inf]], "q of 'axle' of row 1 is inf; it takes"),
])  # fmt: skip
def test_coordinates_that_are_none(q, message):
    robot = hinge().with_flexibility("axle", stiffness=1)
    with pytest.raises(RobotError, match=message):
        robot.q_from(hinge(), q)
    with pytest.raises(RobotError, match=message.replace("q ", "v ", 1)):
        robot.v_from(hinge(), q)
    with pytest.raises(RobotError, match="q_from takes a Robot first, not 'hinge', a str"):
        robot.q_from("hinge", [0])


def test_followers_of_a_joint_that_gives_way_are_reported():
    (finding,) = pair().with_flexibility("lead", stiffness=100).report
    assert (finding.kind, finding.subject) == ("odd", "flexibility 'lead_flexibility'")
    assert "'follow' mimics joint 'lead' on the motor's side" in finding.message
    assert "'lead_backlash'" in str(pair().with_backlash("lead", 0.1).report)
    assert not len(hinge().with_flexibility("axle", stiffness=1).report)


def test_no_inertia_names_the_joint_and_both_cures():
    message = r"'axle_flexibility' at joint 'axle'.*with_motor\('axle', rotor_inertia=.*inertia=1e-4"
    with pytest.raises(RobotError, match=message):
        hinge(rotor=0).with_flexibility("axle", stiffness=1)
    hinge(rotor=0).with_flexibility("axle", stiffness=1, inertia=1e-4)
    hinge(rotor=0).with_joint("axle", armature=0.1).with_flexibility("axle", stiffness=1)
    # set to zero afterwards
    robot = hinge().with_flexibility("axle", stiffness=1).with_motor("axle", rotor_inertia=0)
    with pytest.raises(RobotError, match=message):
        pliant.forward_dynamics(robot, [0, 0], [0, 0], [0, 0])


def test_a_flange_without_mass():
    builder = RobotBuilder("bare")
    builder.body("base", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1)).body("link", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1)).body("tip")
    builder.joint("axle", "revolute", "base", "link").joint("end", "fixed", "link", "tip")
    with pytest.raises(RobotError, match="moves no mass: body 'tip' and all that it carries have none; give it mass"):
        builder.build().with_flexibility("end", stiffness=(1, 2, 3))


def test_a_flange_on_a_bracket_without_mass():
    """Where hinge and spring turn the same tool about the same axis, nothing tells one from the other."""

    def bracket(**hinge) -> Robot:
        builder = RobotBuilder("bracket").body("bracket").body("tool", 1, (0.1, 0, 0), (1, 0, 0, 1, 0, 1))
        builder.joint("axle", "revolute", "world", "bracket", **hinge).joint("end", "fixed", "bracket", "tool")
        return builder.build()

    with pytest.raises(RobotError, match=r"body 'bracket', which has no mass, and joint 'axle' moves .* singular"):
        bracket().with_flexibility("end", stiffness=(1, 2, 3))
    for robot in (
        bracket(armature=0.1).with_flexibility("end", stiffness=(1, 2, 3)),
        bracket().with_flexibility("end", stiffness=1, axis=(1, 0, 0)),
        bracket().with_motor("axle", rotor_inertia=0.1).with_flexibility("end", stiffness=(1, 2, 3)),
    ):
        assert np.linalg.eigvalsh(pliant.mass_matrix(robot, robot.neutral())).min() > 1e-3
