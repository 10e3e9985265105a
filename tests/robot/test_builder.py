"""The builder: what it makes, and what it says of robots that cannot exist."""

import math
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import pliant
from pliant.errors import RobotError
from pliant.robot import Fixed, Free, Geometry, Limits, Mimic, Revolute, RobotBuilder
from pliant.robot.part_checks import impossible_inertia, repaired_inertia
from pliant.spatial import Symmetric3

BALL = (0.1, 0, 0, 0.1, 0, 0.1)


def arm() -> RobotBuilder:
    """World, shoulder, elbow."""
    builder = RobotBuilder("arm")
    builder.body("upper", mass=2, com=(0, 0, 0.5), inertia=BALL)
    builder.body("lower", mass=1, com=(0, 0, 0.5), inertia=BALL)
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0))
    return builder.joint("elbow", "revolute", "upper", "lower", (0, 0, 1), axis=(0, 1, 0), limits=(0, 2))


def loose() -> RobotBuilder:
    """Two bodies, the first without a joint."""
    builder = RobotBuilder("loose").body("base", mass=1, inertia=BALL).body("arm", mass=1, inertia=BALL)
    return builder.joint("hip", "revolute", "base", "arm")


# ---- what it makes


def test_parts_arrive() -> None:
    shape = Geometry("sphere", (0.1,))
    builder = RobotBuilder("one").body("ball", mass=2, com=(1, 0, 0), inertia=BALL, visuals=[shape])
    builder.joint("slide", "prismatic", "world", "ball", (1, 2, 3), (0, 0, math.pi / 2), axis=(1, 0, 0), damping=3)
    builder.frame("tip", "ball", (0, 0, 1)).motor("slide", gear=2).gravity(0, 0, -1.62)
    robot = builder.build()
    ball, slide = robot.bodies["ball"], robot.joints["slide"]
    assert (ball.inertia.mass, list(ball.inertia.h), ball.visuals) == (2, [2, 0, 0], (shape,))
    assert list(ball.inertia.J) == [0.1, 0, 0, 2.1, 0, 2.1]
    turn = np.array(slide.placement.homogeneous(), float)[:3, :2].T
    np.testing.assert_allclose(turn, [[0, 1, 0], [-1, 0, 0]], atol=1e-16)
    assert (list(slide.placement.p), slide.damping) == ([1, 2, 3], (3,))
    assert (robot.frames["tip"].body, robot.motors["slide"].gear, list(robot.gravity)) == ("ball", 2, [0, 0, -1.62])


def test_inertia_may_be_given_in_turned_axes() -> None:
    builder = RobotBuilder("one").body("rod", 1, inertia=(1, 0, 0, 2, 0, 2), inertia_rpy=(0, 0, math.pi / 2))
    np.testing.assert_allclose(list(builder.build().bodies["rod"].inertia.J), [2, 0, 0, 1, 0, 2], atol=1e-15)


def test_order_is_depth_first_and_siblings_as_added() -> None:
    builder = RobotBuilder("tree")
    for name in "abcdef":
        builder.body(name, mass=1, inertia=BALL)
    for parent, child in ["be", "ad", "ab", "bc", "af"]:
        builder.joint(parent + child, "revolute", parent, child)
    robot = builder.build()
    assert list(robot.joints) == ["root_joint", "ad", "ab", "be", "bc", "af"]
    assert list(robot.bodies) == list(robot.frames) == list("adbecf")


def test_order_as_given_keeps_parents_first() -> None:
    builder = RobotBuilder("tree")
    for name in "abcdef":
        builder.body(name, mass=1, inertia=BALL)
    for parent, child in ["be", "ad", "ab", "bc", "af"]:
        builder.joint(parent + child, "revolute", parent, child)
    builder.motor("be", rotor_inertia=0.1)
    robot = builder.build(order="given")
    # be waits for ab, which carries its parent
    assert list(robot.joints) == ["root_joint", "ab", "be", "ad", "bc", "af"]
    assert list(robot.bodies) == list(robot.frames) == list("abedcf")
    flexible = robot.with_flexibility("be", stiffness=1)
    assert list(flexible.joints) == ["root_joint", "ab", "be_flexibility", "be", "ad", "bc", "af"]


def test_order_does_not_change_the_motion() -> None:
    """Legs joint by joint in place of leg by leg: the steps, on its feet, are the same but for rounding."""
    source = pliant.load("quadruped").lumped()
    builder = RobotBuilder("again")
    for body in source.bodies.values():
        com = [h / body.inertia.mass for h in body.inertia.h]
        builder.body(body.name, body.inertia.mass, com, list(body.inertia.about_com()))
    for joint in sorted(source.joints.values(), key=lambda joint: len(source.path(joint.child))):
        builder.joint(joint.name, joint.kind, joint.parent, joint.child, list(joint.placement.p))
    for frame in [f for f in source.frames.values() if f.name not in source.bodies]:
        builder.frame(frame.name, frame.body, list(frame.placement.p))
    for motor in source.motors:
        builder.motor(motor, control="position", kp=50, kd=2)
    ends = []
    for order in ("depth-first", "given"):
        robot = builder.build(order=order).with_contacts("lf_foot", "rf_foot", "lh_foot", "rh_foot", radius=0.02)
        assert (list(robot.joints) == list(source.joints)) == (order == "depth-first")
        sim = pliant.Simulation(robot, ground=pliant.flat())
        sim.reset(q=robot.on_ground(robot.neutral(), height=0.01))
        ends.append(source.q_from(robot, sim.run(0.1, u=np.linspace(-0.3, 0.3, robot.nu)).q[-1]))
    # 100 steps of a hundred roundings each, of numbers of about 1
    np.testing.assert_allclose(*ends, atol=1e-11)


def test_long_chains_need_no_recursion() -> None:
    builder = RobotBuilder("chain").body("0", mass=1, inertia=BALL)
    for k in range(1, 3000):
        builder.body(str(k), mass=1, inertia=BALL).joint(f"j{k}", "revolute", str(k - 1), str(k))
    robot = builder.build()
    assert robot.nv == 2999
    assert len(robot.tree().splitlines()) == 3001


def test_base() -> None:
    assert loose().build().joints["root_joint"].kind == Fixed()
    assert loose().build(base="free").joints["root_joint"].kind == Free()
    assert loose().build(base="free").is_free
    assert "root_joint" not in arm().build().joints


def test_axes_are_normalised() -> None:
    builder = loose().body("hand", mass=1, inertia=BALL).joint("wrist", Revolute((0, 0, -2)), "arm", "hand")
    robot = builder.build()
    assert robot.joints["wrist"].kind == Revolute((0, 0, -1))
    assert [str(f) for f in robot.report] == ["repaired: joint 'wrist': axis of length 2 normalised"]


def test_limits_fill_all_entries() -> None:
    builder = RobotBuilder("one").body("ball", mass=1, inertia=BALL)
    limits = Limits(effort=5, velocity=(1, 2, 3))
    builder.joint("socket", "spherical", "world", "ball", limits=limits, damping=(1, 2, 3))
    joint = builder.build().joints["socket"]
    assert joint.limits == Limits((-math.inf,) * 4, (math.inf,) * 4, (1, 2, 3), (5, 5, 5))
    assert (joint.damping, joint.friction) == ((1, 2, 3), (0, 0, 0))


def test_symbols_are_not_judged() -> None:
    m, x = sympy.symbols("m x")
    builder = RobotBuilder("symbolic").body("rod", mass=m, com=(x, 0, 0), inertia=(0, 0, 0, m, 0, -m))
    robot = builder.joint("pivot", "revolute", "world", "rod", (0, 0, x), damping=m).build()
    assert robot.mass == m
    assert not len(robot.report)


def test_robot_outlives_its_builder() -> None:
    builder = arm()
    robot = builder.build()
    builder.body("more", mass=1).joint("wrist", "fixed", "lower", "more")
    assert list(robot.bodies) == ["upper", "lower"]
    assert list(builder.build().bodies) == ["upper", "lower", "more"]


# ---- what it refuses


def refused(builder_of: object, *fragments: str) -> None:
    with pytest.raises(RobotError) as error:
        builder_of()  # type: ignore[operator]
    for fragment in fragments:
        assert fragment in str(error.value)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_numbers_that_are_none(bad: float) -> None:
    new = RobotBuilder("bad")
    refused(lambda: new.body("a", mass=bad), "mass of body 'a'", str(bad))
    refused(lambda: new.body("a", com=(0, bad, 0)), "centre of mass of body 'a'")
    refused(lambda: new.body("a", inertia=(bad, 0, 0, 1, 0, 1)), "inertia of body 'a'")
    refused(lambda: loose().joint("j", "fixed", "base", "arm", (0, 0, bad)), "position of joint 'j'")
    refused(lambda: loose().joint("j", "revolute", "base", "arm", axis=(bad, 0, 0)), "axis of joint 'j'")
    refused(lambda: loose().frame("f", "arm", rpy=(bad, 0, 0)), "rpy of frame 'f'")
    refused(lambda: loose().gravity(0, 0, bad), "gravity")
    refused(lambda: loose().joint("j", "revolute", "base", "arm", damping=math.nan), "damping of joint 'j'")
    refused(lambda: loose().joint("j", "revolute", "base", "arm", limits=(math.nan, 1)), "lower limit of joint 'j'")


def test_negative_numbers() -> None:
    refused(lambda: RobotBuilder("bad").body("a", mass=-1), "mass of body 'a' is -1; it takes 0 or more")
    refused(lambda: loose().joint("j", "revolute", "base", "arm", armature=-1), "armature of joint 'j'", "0 or more")
    refused(lambda: arm().motor("elbow", rotor_inertia=-1).build(), "rotor_inertia of motor 'elbow'")


def test_wrong_lengths() -> None:
    refused(lambda: RobotBuilder("bad").body("a", inertia=(1, 1, 1)), "inertia of body 'a'", "ixx")
    refused(lambda: loose().frame("f", "arm", (1, 2)), "position of frame 'f' has 2 entries")
    refused(lambda: loose().joint("j", "spherical", "base", "arm", damping=(1, 2)), "damping of joint 'j'", "list of 3")


def test_axes_and_motors_that_are_none() -> None:
    refused(lambda: loose().joint("j", "revolute", "base", "arm", axis=(0, 0, 0)), "joint 'j'", "(0, 0, 0)")
    refused(lambda: loose().joint("j", Revolute(), "base", "arm", axis=(1, 0, 0)), "joint 'j'", "Revolute(axis)")
    ball = RobotBuilder("one").body("ball").joint("socket", "spherical", "world", "ball").motor("socket")
    refused(ball.build, "motor 'socket'", "spherical", "3 dofs")


def test_duplicate_names() -> None:
    refused(lambda: loose().body("arm"), "a body named 'arm' already")
    refused(lambda: loose().joint("hip", "fixed", "base", "arm"), "a joint named 'hip' already")
    refused(lambda: loose().frame("arm", "base"), "a body named 'arm' already")
    refused(lambda: loose().frame("tip", "arm").body("tip"), "a frame named 'tip' already")
    refused(lambda: loose().motor("hip").motor("hip"), "a motor named 'hip' already")
    refused(lambda: loose().body("world"), "'world'", "always there")
    refused(lambda: arm().frame("elbow", "upper").build(), "a frame and a joint are named 'elbow'", "rename the frame")


@pytest.mark.parametrize("name", [5, "", None, ["a"]])
def test_names_that_are_none(name: Any) -> None:
    for call in (
        lambda: RobotBuilder(name), lambda: loose().body(name), lambda: loose().frame(name, "arm"),
        lambda: loose().joint(name, "fixed", "base", "arm"), lambda: loose().motor("hip", name=name or 0),
    ):  # fmt: skip
        refused(call, "it takes a name, a non-empty string")


def test_unknown_names_list_near_ones() -> None:
    refused(lambda: loose().joint("j", "fixed", "bass", "arm").build(), "no body named 'bass'", "'base'", "joint 'j'")
    refused(lambda: loose().frame("f", "arn").build(), "no body named 'arn' in frame 'f'", "'arm'")
    refused(lambda: loose().motor("hop").build(), "no joint named 'hop'", "'hip'")
    refused(lambda: loose().joint("j", "revolut", "base", "arm"), "'revolut'", "'revolute'")


def test_trees_that_are_none() -> None:
    refused(RobotBuilder("empty").build, "no bodies")
    refused(loose().body("other").build, "2 roots, 'base', 'other'")
    refused(loose().joint("second", "fixed", "world", "arm").build, "body 'arm'", "'hip' and 'second'")
    refused(arm().joint("back", "fixed", "lower", "world").build, "joint 'back'", "the parent")
    ring = RobotBuilder("ring").body("a").body("b").body("c")
    ring.joint("ab", "fixed", "a", "b").joint("bc", "fixed", "b", "c").joint("ca", "fixed", "c", "a")
    refused(ring.build, "cycle: a -> b -> c -> a")
    apart = loose().body("x").body("y").joint("xy", "fixed", "x", "y").joint("yx", "fixed", "y", "x")
    refused(apart.build, "cycle: x -> y -> x")
    two = RobotBuilder("r").body("a", mass=1).body("c", mass=1).joint("j", "fixed", "world", "a")
    refused(two.build, "two roots: joint 'j' stands on the world, no joint carries body 'c'")
    refused(lambda: arm().build(base="free"), "joint 'shoulder' attaches it to the world")
    refused(lambda: loose().build(base="floating"), "'floating'")  # type: ignore[arg-type]


def test_mimics_that_are_none() -> None:
    def hand(leader: str, kind: str = "revolute") -> RobotBuilder:
        return loose().body("hand", mass=1, inertia=BALL).joint("wrist", kind, "arm", "hand", mimic=Mimic(leader))

    assert hand("hip").build().nq == 1
    refused(hand("hop").build, "no joint named 'hop'", "'hip'")
    refused(hand("wrist").build, "joint 'wrist' mimics itself: wrist -> wrist")
    refused(hand("hip", "spherical").build, "joint 'wrist' cannot mimic 'hip'")


# ---- what it judges


def test_impossible_inertia() -> None:
    thin = RobotBuilder("one").body("plate", mass=1, inertia=(1, 0, 0, 1, 0, 3))
    refused(thin.build, "body 'plate'", "(1, 1, 3)", "triangle inequality", "repair=True")
    refused(RobotBuilder("one").body("hole", mass=1, inertia=(1, 0, 0, 1, 0, -1)).build, "not positive")

    kept = thin.build(strict=False)
    assert [f.kind for f in kept.report] == ["odd"]
    assert list(kept.bodies["plate"].inertia.J) == [1, 0, 0, 1, 0, 3]

    repaired = thin.build(repair=True)
    assert [f.kind for f in repaired.report] == ["repaired"]
    # second moments (1.5, 1.5, -0.5) become (1.5, 1.5, 0)
    np.testing.assert_allclose(list(repaired.bodies["plate"].inertia.J), [1.5, 0, 0, 1.5, 0, 3])


def test_rounding_in_files_is_no_fault() -> None:
    robot = RobotBuilder("one").body("plate", mass=1, inertia=(0.123457, 0, 0, 0.123457, 0, 0.2469141)).build()
    assert not len(robot.report)


@given(st.tuples(*[st.floats(-1, 1)] * 6))
def test_mending_gives_a_possible_tensor_and_keeps_possible_ones(entries: tuple) -> None:
    tensor = Symmetric3(*entries)
    repaired = repaired_inertia(tensor)
    assert impossible_inertia(repaired) is None
    np.testing.assert_allclose(list(repaired_inertia(repaired)), list(repaired), atol=1e-14)


def test_limits_the_wrong_way_round() -> None:
    crossed = loose().body("hand", mass=1, inertia=BALL).joint("wrist", "revolute", "arm", "hand", limits=(2, -1))
    refused(crossed.build, "joint 'wrist'", "2 is above the upper one -1", "swap")
    kept = crossed.build(strict=False)
    assert (kept.joints["wrist"].limits.lower, [f.kind for f in kept.report]) == ((2,), ["odd"])
    assert -1 <= kept.random(0)[-1] <= 2
    repaired = crossed.build(repair=True).joints["wrist"].limits
    assert (repaired.lower, repaired.upper) == ((-1,), (2,))


def test_joints_that_move_no_mass_are_reported() -> None:
    builder = arm().body("hand").body("finger").joint("wrist", "revolute", "lower", "hand")
    robot = builder.joint("knuckle", "fixed", "hand", "finger").build()
    assert [f.subject for f in robot.report] == ["joint 'wrist'"]
    assert not len(arm().body("hand").joint("wrist", "fixed", "lower", "hand").build().report)


def test_notes_of_a_reader_are_kept() -> None:
    robot = arm().note("dropped", "sensor 'imu'", "not supported", line=12).build()
    assert str(robot.report) == "dropped: sensor 'imu' (line 12): not supported"
    assert robot.report[0].line == 12


@pytest.mark.parametrize("wrong", [
    {"mass": "1"}, {"com": ("0", 0, 0)}, {"mass": None}, {"mass": 1j}, {"mass": [1]}, {"com": 3}, {"com": "000"},
    {"com": {1, 2, 3}}, {"com": np.ones((3, 1))}, {"inertia": 3}, {"inertia": (1, 0, 0, 1j, 0, 1)},
])  # fmt: skip
def test_text_is_not_a_number(wrong: dict) -> None:
    with pytest.raises(RobotError, match=r"it takes (a number|numbers|three numbers)") as caught:
        RobotBuilder("r").body("a", **{"mass": 1, **wrong}).joint("j", "fixed", "world", "a").build()
    assert caught.value.subject == "body 'a'"
    (what,) = wrong
    assert caught.value.field == {"com": "centre of mass"}.get(what, what)


def test_a_joint_with_the_name_of_another_body_is_reported() -> None:
    builder = RobotBuilder("r").body("a", mass=1, inertia=BALL).body("x", mass=1, inertia=BALL)
    robot = builder.joint("x", "revolute", "world", "a").joint("y", "revolute", "a", "x").build()
    assert robot.frame("x").body == "x"
    assert [(f.kind, f.subject) for f in robot.report] == [("dropped", "joint 'x'")]
    assert "means that body, not 'a'" in str(robot.report)
