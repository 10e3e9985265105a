"""Values of parts: motors, joints, closures and springs of copies with a change, and what is refused."""

import math
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import pliant
from pliant.errors import Call, RobotError
from pliant.robot import Limits, Robot

ROBOT = pliant.load("quadruped", base="free")
ARM = pliant.load("double_pendulum")
KNEES = ["lf_knee", "lh_knee", "rf_knee", "rh_knee"]


# a change of one knee
def motor(**values) -> Callable[[Robot], Robot]:
    return lambda r: r.with_motor("lf_knee", **values)


def joint(**values) -> Callable[[Robot], Robot]:
    return lambda r: r.with_joint("lf_knee", **values)


# ---- motors


def test_values_for_all_motors() -> None:
    robot = ROBOT.with_motors(control="position", kp=80, kd=2)
    assert {(m.control, m.kp, m.kd) for m in robot.motors.values()} == {("position", 80, 2)}
    assert list(robot.motors) == list(ROBOT.motors)
    assert {m.control for m in ROBOT.motors.values()} == {"torque"}, "the robot itself never changes"
    # everything else stays
    assert [m.effort_limit for m in robot.motors.values()] == [m.effort_limit for m in ROBOT.motors.values()]


@pytest.mark.parametrize("gains", [[10, 20, 30, 40], (10, 20, 30, 40), np.array([10, 20, 30, 40])])
def test_one_value_for_each_of_some_motors(gains) -> None:
    robot = ROBOT.with_motors(KNEES, control="position", kp=gains, kd=1)
    assert [robot.motors[k].kp for k in KNEES] == [10, 20, 30, 40]
    assert robot.motors["lf_hip_roll"] == ROBOT.motors["lf_hip_roll"]


def test_one_motor_by_its_name() -> None:
    robot = ROBOT.with_motors("lf_knee", gear=9)
    assert robot.motors["lf_knee"].gear == 9
    assert robot.motors["rf_knee"].gear == ROBOT.motors["rf_knee"].gear


def test_no_motors_at_all() -> None:
    bare = pliant.load("double_pendulum")
    assert bare.nu == 0
    assert bare.with_motors(kp=3).nu == 0
    assert ROBOT.with_motors([], kp=3).motors["lf_knee"] == ROBOT.motors["lf_knee"]


def test_with_motor_adds_one_or_changes_it() -> None:
    joint = list(ARM.joints)[-1]
    one = ARM.with_motor(joint, gear=9, rotor_inertia=1e-4)
    assert (one.nu, one.motors[joint].gear, one.motors[joint].armature) == (1, 9, pytest.approx(81e-4))
    same = one.with_motor(joint, effort_limit=40)
    assert (same.nu, same.motors[joint].gear, same.motors[joint].effort_limit) == (1, 9, 40)
    two = one.with_motor(joint, name="second", gear=3)
    assert list(two.motors) == [joint, "second"]
    assert two.with_motor(joint, name="second", gear=4).motors["second"].gear == 4
    assert two.motors["second"].joint == joint
    assert one.motors[joint].effort_limit == math.inf


def test_rotors_are_felt_at_the_joint() -> None:
    """gear^2 rotor_inertia on the diagonal of the mass matrix."""
    first, second = (j.name for j in ARM.joints.values() if j.kind.nv)
    robot = ARM.with_motor(first, gear=10, rotor_inertia=2e-3).with_joint(second, armature=0.05)
    q = np.array([0.3, -0.7])
    difference = pliant.mass_matrix(robot, q) - pliant.mass_matrix(ARM, q)
    np.testing.assert_allclose(difference, np.diag([0.2, 0.05]), rtol=0, atol=1e-14)


# ---- joints


def test_values_of_a_joint() -> None:
    robot = ROBOT.with_joint("lf_knee", damping=0.1, friction=0.2, armature=0.3, stiffness=40, rest=0.5)
    robot = robot.with_joint("lf_knee", restitution=0.6, limits=(-1, 2))
    knee = robot.joints["lf_knee"]
    assert (knee.damping, knee.friction, knee.armature) == ((0.1,), (0.2,), (0.3,))
    assert (knee.stiffness, knee.rest, knee.restitution, knee.is_locked) == ((40,), 0.5, 0.6, False)
    assert (knee.limits.lower, knee.limits.upper) == ((-1,), (2,))
    assert list(robot.joints) == list(ROBOT.joints)
    again = robot.with_joint("lf_knee", rest=0)
    assert (again.joints["lf_knee"].rest, again.joints["lf_knee"].stiffness) == (0, (40,)), "None leaves, zero sets"
    assert robot.joints["rf_knee"] == ROBOT.joints["rf_knee"]
    assert ROBOT.joints["lf_knee"].stiffness == (0,)


def test_locked_and_unlocked() -> None:
    locked = ROBOT.with_joint("lf_knee", locked=True)
    assert locked.joints["lf_knee"].is_locked
    assert not locked.with_joint("lf_knee", locked=False).joints["lf_knee"].is_locked
    assert locked.with_joint("lf_knee", damping=1).joints["lf_knee"].is_locked


def test_values_for_each_dof() -> None:
    damping = (1, 2, 3, 0.1, 0.2, 0.3)
    assert ROBOT.with_joint("root_joint", damping=damping).joints["root_joint"].damping == damping
    assert ROBOT.with_joint("root_joint", friction=1).joints["root_joint"].friction == (1,) * 6
    limits = ROBOT.with_joint("lf_knee", limits=Limits(-1, 1, velocity=5)).joints["lf_knee"].limits
    assert limits == Limits((-1,), (1,), (5,), (math.inf,))
    limits = ROBOT.with_joint("lf_knee", limits=Limits(-1, 1, velocity=5, effort=6)).joints["lf_knee"].limits
    assert (limits.velocity, limits.effort) == ((5,), (6,))


def test_arrays_without_axes_are_numbers() -> None:
    half = np.array(0.5)
    robot = ROBOT.with_motors(gear=half).with_motor("lf_knee", rotor_inertia=half)
    robot = robot.with_joint("lf_knee", damping=half, stiffness=half, rest=half, limits=(-half, half))
    expected = ROBOT.with_motors(gear=0.5).with_motor("lf_knee", rotor_inertia=0.5)
    expected = expected.with_joint("lf_knee", damping=0.5, stiffness=0.5, rest=0.5, limits=(-0.5, 0.5))
    assert robot.digest == expected.digest
    assert type(robot.joints["lf_knee"].rest) is type(robot.motors["lf_knee"].rotor_inertia) is float


# ---- closures and springs


def test_closures_and_springs_have_names() -> None:
    robot = ROBOT.with_closure("point", "lf_foot", "rf_foot")
    robot = robot.with_closure("distance", "world", "trunk", length=0.4, name="rope")
    assert list(robot.closures) == ["lf_foot-rf_foot", "rope"]
    rope = robot.closures["rope"]
    assert (rope.kind, rope.a, rope.b, rope.length) == ("distance", "world", "trunk", 0.4)
    sprung = robot.with_spring("world", "trunk", stiffness=50, damping=1, length=0.2)
    sprung = sprung.with_spring("lf_foot", "rf_foot", stiffness=3, name="band")
    assert list(sprung.springs) == ["world-trunk", "band"]
    assert (sprung.springs["band"].damping, sprung.springs["band"].length) == (0, 0)
    assert len(ROBOT.closures) == len(ROBOT.springs) == 0


def test_the_axis_of_a_hinge_has_unit_length_and_counts() -> None:
    robots = [ROBOT.with_closure("hinge", "lf_foot", "rf_foot", axis=axis) for axis in ((0, 3, 4), (0, 1, 0))]
    assert robots[0].closures[0].axis == pytest.approx((0, 0.6, 0.8))
    assert robots[0].digest != robots[1].digest
    assert pickle.loads(pickle.dumps(robots[0])).closures[0] == robots[0].closures[0]


# ---- what is refused


@pytest.mark.parametrize("call, message", [
    (lambda r: r.with_motor("knee"), "no joint named 'knee' in robot 'quadruped'; did you mean"),
    (lambda r: r.with_motor("root_joint"), "motor 'root_joint' cannot drive the free joint 'root_joint', of 6 dofs"),
    (lambda r: r.with_motor("lf_ankle"), "cannot drive the fixed joint 'lf_ankle', of 0 dofs"),
    (motor(gears=3), r"no attribute named 'gears' in motor 'lf_knee'; did you mean 'gear'\?"),
    (motor(name="m", gears=3), "no attribute named 'gears' in motor 'm'"),
    (lambda r: r.with_motors(joint="x"), "no attribute named 'joint' in motor"),
    (motor(gear=math.nan), "gear of motor 'lf_knee' is nan; it takes a finite number"),
    (motor(gear="9"), "gear of motor 'lf_knee' is '9'; it takes"),
    (motor(rotor_inertia=-1), "rotor_inertia of motor 'lf_knee' is -1; it takes 0 or more"),
    (motor(effort_limit=-1), "effort_limit of motor 'lf_knee' is -1"),
    (motor(effort_limit=math.nan), "effort_limit of motor 'lf_knee' is nan; it takes"),
    (motor(kp=-1), "kp of motor 'lf_knee' is -1"),
    (motor(kd=math.inf), "kd of motor 'lf_knee' is inf; it takes"),
    (motor(dry_friction=-0.1), "dry_friction of motor 'lf_knee' is -0.1"),
    (motor(viscous_friction=math.nan), "viscous_friction of motor 'lf_knee' is nan; it takes a finite number"),
    (motor(no_load_speed=0), "no_load_speed of motor 'lf_knee' is 0; it takes a number above 0"),
    (motor(control="speed"), "control of motor 'lf_knee' is 'speed'; it takes 'torque', "),
    (motor(control="position"), "position control but kp = 0; .* as in .*kp=80"),
    (motor(control="velocity"), "velocity control but kd = 0"),
    (motor(law=7), "law of motor 'lf_knee' is 7; it takes a function"),
    (lambda r: r.with_motors(KNEES, kp=[1, 2, 3]),
     "kp of the motors: 3 values were given for 4; give one, or one for each"),
    (lambda r: r.with_motors("knee", kp=1), "no motor named 'knee' in robot 'quadruped'; did you mean"),
    (lambda r: r.with_motors(KNEES, kp=[1, 2, -3, 4]), "kp of motor 'rf_knee' is -3"),
    (motor(name="rf_knee"), "two motors are named 'rf_knee'"),
    (motor(gear=0), "gear of motor 'lf_knee' is 0, .* gear=9"),
    (motor(gear=1j), "gear of motor 'lf_knee' is 1j; it takes a number"),
    (motor(no_load_speed="9"), "no_load_speed of motor 'lf_knee' is '9'; it takes"),
    (lambda r: r.with_motor(["lf_knee"]), r"joint of a motor is \['lf_knee'\]; it takes a name, a non-empty string"),
    (motor(name=5), "name of a motor is 5; it takes a name"),
    (motor(name=""), "name of a motor is ''; it takes a name"),
    (lambda r: r.with_motors([["lf_knee"]], kp=1), r"name of a motor is \['lf_knee'\]; it takes a name"),
    (lambda r: r.with_motors(5, kp=1), "names of the motors is 5; it takes a name, a list"),
    # joints, gravity and frames
    (lambda r: r.with_joint("knee", damping=1), "no joint named 'knee'"),
    (joint(damping=-1), "damping of joint 'lf_knee' is -1; it takes 0 or more"),
    (joint(friction=math.nan), "friction of joint 'lf_knee' is nan; it takes"),
    (joint(armature=[1, 2]), "armature of joint 'lf_knee' has 2 entries; it takes"),
    (joint(stiffness=-1), "stiffness of joint 'lf_knee' is -1"),
    (joint(stiffness=math.inf), "stiffness of joint 'lf_knee' is inf; it takes"),
    (joint(stiffness=[1, 2]), "stiffness of joint 'lf_knee' has 2 entries"),
    (joint(rest=math.nan), "rest of joint 'lf_knee' is nan; it takes a finite number"),
    (joint(restitution=1.2), "restitution of joint 'lf_knee' is 1.2; it takes 0 to 1"),
    (joint(restitution=-0.2), "restitution of joint 'lf_knee' is -0.2"),
    (joint(limits=(1, -1)), "joint 'lf_knee': the lower limit 1 is above the upper one -1; swap them"),
    (lambda r: r.with_joint("root_joint", backlash=5), "is free; backlash takes a joint with one degree of freedom"),
    (joint(backlash=0.1), "backlash but no spring"),
    (joint(law=3), "law of the spring of joint 'lf_knee' is 3; it takes a function"),
    (lambda r: r.with_joint("root_joint", restitution=0.5), "restitution takes a joint with one degree of freedom"),
    (lambda r: r.with_joint("root_joint", locked=True), "locked takes a joint with one degree of freedom"),
    (joint(armature=-1), "armature of joint 'lf_knee' is -1"),
    (lambda r: r.with_gravity(0, 0, math.nan), "gravity is nan; it takes a finite number"),
    (lambda r: r.with_joint(["lf_knee"], damping=1), r"name of a joint is \['lf_knee'\]; it takes a name"),
    (joint(damping=1j), "damping of joint 'lf_knee' is 1j; it takes a num"),
    (joint(damping=math.inf), "damping of joint 'lf_knee' is inf; it takes"),
    (joint(stiffness=1, hardening=math.inf), "hardening of joint 'lf_knee' is"),
    (joint(stiffness=1, backlash="a"), "backlash of joint 'lf_knee' is 'a'"),
    (joint(limits=5), r"limits of joint 'lf_knee' is 5; it takes a pair \(lower, upper\)"),
    (joint(limits=(1j, 2)), "lower limit of joint 'lf_knee' is 1j"),
    (joint(locked="no"), "locked of joint 'lf_knee' is 'no'; it takes True or False"),
    (lambda r: r.with_joint("lf_ankle", damping=1),
     r"damping of joint 'lf_ankle' would do nothing: it is fixed; .*with_flexibility\('lf_ankle'"),
    (lambda r: r.with_joint("lf_ankle", locked=True), "locked of joint 'lf_ankle' would do nothing"),
    (lambda r: r.with_frame("lf_knee", "trunk"), "cannot be named 'lf_knee': .* the child of joint 'lf_knee'"),
    (lambda r: r.with_frame("lf_foot", "trunk"), "two frames are named 'lf_foot'"),
    (lambda r: r.with_frame("world", "trunk"), "cannot be named 'world'"),
    (lambda r: r.with_frame(5, "trunk"), "name of a frame is 5; it takes a name"),
    (lambda r: r.with_frame("a", ["trunk"]), r"no frame named \['trunk'\] in robot 'quadruped'"),
    (lambda r: r.with_frame("a", "trunk", 5), "position of frame 'a' is 5; it takes three numbers"),
    # closures and springs
    (lambda r: r.with_closure("glue", "lf_foot", "rf_foot"),
     "no kind of closure named 'glue' in closure 'lf_foot-rf_foot'"),
    (lambda r: r.with_closure("hinge", "lf_foot", "rf_foot", axis=(0, 0, 0)), "axis of closure .* takes a direction"),
    (lambda r: r.with_closure("hinge", "lf_foot", "rf_foot", axis=(1, 0)), "axis of closure .*"),
    (lambda r: r.with_closure("point", "foot", "rf_foot"), "no frame named 'foot' in robot 'quadruped'; did you mean"),
    (lambda r: r.with_closure("point", "lf_foot", "world2"), "no frame named 'world2'"),
    (lambda r: r.with_closure("point", "lf_foot", "lf_foot"), "both ends of closure .* are on body 'lf_foot'"),
    (lambda r: r.with_closure("distance", "lf_foot", "rf_foot"), "is 0; it takes a number above 0 .* use kind 'point'"),
    (lambda r: r.with_closure("distance", "lf_foot", "rf_foot", length=math.nan),
     "length of closure .* is nan; it takes a finite number"),
    (lambda r: r.with_closure("point", "lf_foot", "rf_foot").with_closure("weld", "lf_foot", "rf_foot"),
     "two closures are named 'lf_foot-rf_foot'"),
    (lambda r: r.with_spring("lf_foot", "rf_foo", stiffness=1), "no frame named 'rf_foo'.*did you mean 'rf_foot'"),
    (lambda r: r.with_spring("lf_foot", "lf_foot", stiffness=1), "both ends of spring .* are on body 'lf_foot'"),
    (lambda r: r.with_spring("lf_foot", "rf_foot", stiffness=-1), "stiffness of spring 'lf_foot-rf_foot' is -1"),
    (lambda r: r.with_spring("lf_foot", "rf_foot", stiffness=1, damping=math.inf),
     "damping of spring .* is inf; it takes"),
    (lambda r: r.with_spring("lf_foot", "rf_foot", stiffness="1"), "it takes a number"),
    (lambda r: r.with_spring("lf_foot", "rf_foot", stiffness=1, length=-2),
     "length of spring .* is -2; it takes 0 or more"),
])  # fmt: skip
def test_wrong_values(call: Callable[[Robot], Robot], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        call(ROBOT)


CURES = [
    (motor(control="position"), "motor 'lf_knee'", "kp",
     Call("with_motor", "lf_knee", {"kp": 80, "kd": 2})),
    (motor(gear=0), "motor 'lf_knee'", "gear", Call("with_motor", "lf_knee", {"gear": 9})),
    (lambda r: r.with_flexibility("lf_knee", stiffness=0), "the flexibility at joint 'lf_knee'", "stiffness",
     Call("with_flexibility", "lf_knee", {"stiffness": 10000})),
    (lambda r: r.with_contact("lf_foot", length=1), "contact 'lf_foot'", "radius",
     Call("with_contact", "lf_foot", {"radius": 0.02, "length": 0.1})),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "subject", "field", "call"), CURES)
def test_cures_are_calls(edit, subject: str, field: str, call: Call) -> None:
    with pytest.raises(RobotError) as caught:
        edit(pliant.load("quadruped"))
    error = caught.value
    assert (error.subject, error.field, error.fault.call) == (subject, field, call)
    assert str(call) in str(error)
