"""Contact shapes from code: where they are, what carries them, what cannot be, and defaults."""

import pickle
from typing import Any

import numpy as np
import pytest
import sympy

import pliant
from pliant import Simulation
from pliant.errors import RobotError
from pliant.robot import ContactPoint, Geometry, Prismatic, Robot, RobotBuilder
from pliant.robot.contacts import with_default_contacts
from pliant.spatial import MatrixRotation, Transform, Vector
from simulated_robots import BALL, QUADRUPED, started

INERTIA = (1, 0, 0, 1, 0, 1)


@pytest.fixture
def leg() -> Robot:
    """A trunk with a thigh on a hinge, a foot fixed to it a quarter turn about x, and a frame on the foot."""
    builder = pliant.RobotBuilder("leg")
    for name in ("trunk", "thigh", "foot", "tail"):
        builder.body(name, mass=1, inertia=INERTIA)
    builder.joint("hip", "revolute", "trunk", "thigh", (1, 0, 0), axis=(0, 1, 0))
    builder.joint("ankle", "fixed", "thigh", "foot", (0, 0, -2), (np.pi / 2, 0, 0))
    builder.joint("root", "revolute", "trunk", "tail", (-1, 0, 0), axis=(0, 1, 0))
    builder.frame("toe", "foot", (3, 0, 0))
    return builder.build(base="free")


def refused(robot: Robot, *words: str, **options: object) -> None:
    with pytest.raises(RobotError) as caught:
        robot.with_contact(**options)  # type: ignore[arg-type]
    for word in words:
        assert word in str(caught.value)


# ---- shapes


def test_a_robot_has_none_by_itself(leg: Robot) -> None:
    assert len(leg.contacts) == len(leg.contact_points) == len(leg.contact_pairs) == 0
    assert len(pliant.load("quadruped").contacts) == 0


@pytest.mark.parametrize(("frame", "options", "body", "kind", "expected"), [
    ("toe", {}, "foot", "points", [[3, 0, 0]]),
    ("ankle", {"radius": 0.1, "friction": 0.5, "restitution": 1}, "foot", "sphere", [[0, 0, 0]]),
    # a capsule is along z of the frame
    ("side", {"radius": 0.1, "length": 4}, "thigh", "capsule", [[-2, 0, 1], [2, 0, 1]]),
    ("toe", {"box": (2, 4, 6)}, "foot", "box", [[x, y, z] for x in (2, 4) for y in (-2, 2) for z in (-3, 3)]),
    ("toe", {"points": [(0, 1, 0), (1, 0, 0)], "radius": 0.01}, "foot", "points", [[3, 1, 0], [4, 0, 0]]),
    ("side", {"rim": 0.1, "radius": 0.02}, "thigh", "rim", [[0, 0, 1]]),
    ("side", {"rim": 0.1, "length": 4}, "thigh", "cylinder", [[-2, 0, 1], [2, 0, 1]]),
    ("side", {"ellipsoid": (0.1, 0.2, 0.3)}, "thigh", "ellipsoid", [[0, 0, 1]]),
])  # fmt: skip
def test_shapes(leg: Robot, frame: str, options: dict[str, Any], body: str, kind: str, expected: list) -> None:
    robot = leg.with_frame("side", "thigh", (0, 0, 1), (0, np.pi / 2, 0))
    (shape,) = robot.with_contact(frame, **options).contacts.values()
    assert (shape.name, shape.body, shape.kind, shape.radius) == (frame, body, kind, options.get("radius", 0))
    assert (shape.friction, shape.restitution) == (options.get("friction"), options.get("restitution"))
    # rounding of cos(pi/2)
    np.testing.assert_allclose(sorted(tuple(c) for c in shape.centers), expected, rtol=0, atol=1e-15)
    assert len(robot.contacts) == 0  # the original is as it was


def test_contact_points(leg: Robot) -> None:
    robot = leg.with_contact("toe", points=[(1, 0, 0), (0, 1, 0)], friction=0.3).with_contact("tail", radius=0.2)
    a, b, c = robot.contact_points
    assert isinstance(a, ContactPoint)
    assert [(p.name, p.shape, p.body) for p in (a, b, c)] == [
        ("toe.0", "toe", "foot"), ("toe.1", "toe", "foot"), ("tail", "tail", "tail"),
    ]  # fmt: skip
    assert (a.radius, a.friction, a.restitution, c.radius, c.friction) == (0, 0.3, None, 0.2, None)
    assert tuple(b.center) == (3, 1, 0)


def test_several_at_once(leg: Robot) -> None:
    robot = leg.with_contacts("toe", "tail", radius=0.1, friction=2)
    assert [(s.name, s.radius, s.friction) for s in robot.contacts.values()] == [("toe", 0.1, 2), ("tail", 0.1, 2)]
    # without names, the bodies that carry no other
    assert list(leg.with_contacts(radius=0.1).contacts) == ["foot", "tail"]


def test_symbols_stay(leg: Robot) -> None:
    r, l, mu = sympy.symbols("r l mu", positive=True)
    shape = leg.with_contact("thigh", radius=r, length=l, friction=mu).contacts["thigh"]
    assert (shape.radius, shape.friction, shape.kind) == (r, mu, "capsule")
    assert shape.centers[1].z == l / 2


# ---- pairs


def test_pairs(leg: Robot) -> None:
    robot = leg.with_contact("toe", radius=0.1).with_contact("tail", radius=0.1, length=1)
    robot = robot.with_contact_pair("toe", "tail")
    assert robot.contact_pairs == (("toe", "tail"),)
    assert robot.without_contacts("toe").contact_pairs == ()
    assert list(robot.without_contacts("toe").contacts) == ["tail"]
    assert len(robot.without_contacts().contacts) == 0
    assert robot.lumped().contact_pairs == (("toe", "tail"),)


@pytest.mark.parametrize(("a", "b", "words"), [
    ("toe", "heel", "both are on body 'foot'"),
    ("toe", "thigh", "fixed to each other"),
    ("toe", "box", "'box' is of kind box"),
    ("toe", "point", "'point' is of kind points"),
    ("toe", "rim", "'rim' is of kind rim"),
    ("toe", "tial", "did you mean 'tail'"),
    ("toe", "toe", "both are on body"),
    ("tail", "trunk", "declared already"),
    ("trunk", "tail", "declared already"),
])  # fmt: skip
def test_impossible_pairs(leg: Robot, a: str, b: str, words: str) -> None:
    robot = leg.with_contacts("toe", "tail", "thigh", "trunk", radius=0.1).with_contact("foot", radius=1, name="heel")
    robot = robot.with_contact("tail", box=(1, 1, 1), name="box").with_contact("tail", name="point")
    robot = robot.with_contact("tail", rim=1, name="rim")
    robot = robot.with_contact_pair("trunk", "tail")
    with pytest.raises(RobotError, match=words):
        robot.with_contact_pair(a, b)


# ---- what follows the robot


def test_lumped_bodies_hand_their_contacts_on(leg: Robot) -> None:
    """A point is where it was: the pose of the body that has it now takes it to the same place in the world."""
    robot = leg.with_contact("toe", box=(1, 2, 3)).with_contact("tail", radius=0.2)
    lumped = robot.lumped()
    assert [s.body for s in lumped.contacts.values()] == ["thigh", "tail"]
    q = robot.random(rng=3)
    for before, after in zip(robot.contact_points, lumped.contact_points, strict=True):
        assert (before.name, before.radius) == (after.name, after.radius)
        places = []
        for owner, point in ((robot, before), (lumped, after)):
            pose = np.array(pliant.frame_pose(owner, q, point.body), dtype=float).reshape(4, 4)
            places.append(pose[:3, :3] @ [float(x) for x in point.center] + pose[:3, 3])
        # a dozen products of numbers up to 4
        np.testing.assert_allclose(places[0], places[1], atol=1e-13)


def test_digest_sees_contacts(leg: Robot) -> None:
    robots = [
        leg, leg.with_contact("toe"), leg.with_contact("toe", radius=0.1), leg.with_contact("toe", friction=0.5),
        leg.with_contact("toe", restitution=0.5), leg.with_contact("toe", name="a"), leg.with_contact("tail"),
        leg.with_contacts("toe", "tail", radius=1), leg.with_contact("toe", points=[(0, 0, 1)]),
        leg.with_contacts("toe", "tail", radius=1).with_contact_pair("toe", "tail"),
    ]  # fmt: skip
    assert len({robot.digest for robot in robots}) == len(robots)
    assert leg.with_contact("toe").without_contacts().digest == leg.digest
    assert pickle.loads(pickle.dumps(robots[-1])).digest == robots[-1].digest


def test_table_lists_contacts(leg: Robot) -> None:
    robot = leg.with_contacts("toe", "tail", radius=1).with_contact("thigh", box=(1, 1, 1)).with_contact("trunk")
    text = repr(robot.with_contact("foot", points=[(0, 0, 0), (0, 0, 1)]).with_contact_pair("toe", "tail"))
    assert "contacts: toe (sphere), tail (sphere), thigh (box), trunk (point), foot (2 points)" in text
    assert "contact pairs: toe with tail" in text
    assert "contact" not in repr(leg)


# ---- what cannot be

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(("options", "words"), [
    ({"frame": "teo"}, ["no frame named 'teo'", "'toe'"]),
    ({"frame": "world"}, ["'world'", "the ground itself"]),
    ({"radius": -0.1}, ["radius of contact 'toe' is -0.1", "0 or more"]),
    ({"radius": NAN}, ["radius of contact 'toe'", "nan"]),
    ({"radius": INF}, ["radius", "inf"]),
    ({"radius": "big"}, ["radius", "'big'", "it takes a number"]),
    ({"friction": -1}, ["friction of contact 'toe' is -1"]),
    ({"friction": NAN}, ["friction", "nan"]),
    ({"restitution": -0.1}, ["restitution of contact 'toe' is -0.1"]),
    ({"restitution": 1.1}, ["restitution of contact 'toe' is 1.1", "0 to 1"]),
    ({"restitution": NAN}, ["restitution", "nan"]),
    ({"box": (1, 0, 1)}, ["box of contact 'toe'", "above 0"]),
    ({"box": (1, -1, 1)}, ["box of contact 'toe'", "-1"]),
    ({"box": (1, NAN, 1)}, ["box of contact 'toe'", "nan"]),
    ({"box": (1, 1)}, ["box of contact 'toe'", "2 entries"]),
    ({"box": (1, 1, 1), "radius": 0.1}, ["boxes are sharp"]),
    ({"points": []}, ["has no points"]),
    ({"points": [(0, 0, 0), (0, NAN, 0)]}, ["point 1 of contact 'toe'", "nan"]),
    ({"points": [(0, 0)]}, ["point 0 of contact 'toe'", "2 entries"]),
    ({"length": 1}, ["a length but no radius"]),
    ({"length": 0, "radius": 1}, ["length of contact 'toe'", "above 0"]),
    ({"length": NAN, "radius": 1}, ["length of contact 'toe'", "nan"]),
    ({"length": 1, "radius": 1, "box": (1, 1, 1)}, ["box and length"]),
    ({"rim": 0}, ["rim of contact 'toe'", "above 0"]),
    ({"rim": NAN}, ["rim of contact 'toe'", "nan"]),
    ({"rim": 1, "length": -1}, ["length of contact 'toe'", "above 0"]),
    ({"rim": 1, "ellipsoid": (1, 1, 1)}, ["rim and ellipsoid", "rim and length for a cylinder"]),
    ({"ellipsoid": (1, 0, 1)}, ["ellipsoid of contact 'toe'", "above 0"]),
    ({"ellipsoid": (1, 1)}, ["ellipsoid", "contact 'toe'"]),
])  # fmt: skip
def test_bad_numbers(leg: Robot, options: dict[str, object], words: list[str]) -> None:
    refused(leg, *words, **{"frame": "toe", **options})


def test_names_are_unique(leg: Robot) -> None:
    refused(leg.with_contact("toe"), "two contacts are named 'toe'", frame="toe", radius=1)
    both = leg.with_contact("foot", points=[(0, 0, 0), (0, 0, 1)])
    refused(both, "'foot' and 'foot.0' both have a point 'foot.0'", frame="toe", name="foot.0")
    with pytest.raises(RobotError, match="no contact named 'teo' in robot 'leg'; did you mean 'toe'"):
        leg.with_contact("toe").without_contacts("teo")


# ---- robots with none of their own: the ends of the tree and the root

BALL_SHAPE = Geometry("sphere", (0.1,))


def chain(*with_shapes: str, base: str = "free") -> Robot:
    """root - arm - hand, with a cover on the root and a finger on the hand that do not move against them."""
    builder = RobotBuilder("chain")
    for name in ("root", "cover", "arm", "hand", "finger"):
        shapes = [BALL_SHAPE] if name in with_shapes else []
        builder.body(name, mass=1, inertia=INERTIA, collisions=shapes)
    builder.joint("fix cover", "fixed", "root", "cover", (0, 0, 1))
    builder.joint("a", Prismatic((1, 0, 0)), "root", "arm", (1, 0, 0))
    builder.joint("b", Prismatic((1, 0, 0)), "arm", "hand", (1, 0, 0))
    builder.joint("fix finger", "fixed", "hand", "finger", (1, 0, 0))
    return builder.build(base=base)


@pytest.mark.parametrize("shapes, touching", [
    (["root", "cover", "arm", "hand", "finger"], ["root", "finger"]),
    (["cover", "arm", "hand"], ["cover", "hand"]),
    (["root", "arm"], ["root"]),
    (["arm"], ["arm"]),
    (["hand", "finger"], ["finger"]),
    ([], []),
])  # fmt: skip
def test_which_bodies(shapes: list[str], touching: list[str]) -> None:
    robot = with_default_contacts(chain(*shapes), has_ground=True)
    assert list(robot.contacts) == touching
    remarks = [f.message for f in robot.report if f.subject == "contacts"]
    assert len(remarks) == bool(touching)
    if touching:
        assert f"the collision geometry of {', '.join(touching)}; choose others with" in remarks[0]


def test_a_root_that_is_held() -> None:
    robot = with_default_contacts(chain("root", "arm", "finger", base="fixed"), has_ground=True)
    assert list(robot.contacts) == ["finger"]


def test_a_body_that_a_sensor_feels_touches() -> None:
    """As the torso of a humanoid in MJCF, which is neither an end nor the root."""
    robot = chain("root", "cover", "arm", "finger").with_sensor("contact", ["arm", "cover"])
    touching = with_default_contacts(robot, has_ground=True)
    assert list(touching.contacts) == ["root", "finger", "arm", "cover"]
    sim = pliant.Simulation(robot, ground=pliant.flat())
    assert len(sim.contact_names) == 4


def test_a_body_has_eight_points_at_most() -> None:
    places = [Transform(MatrixRotation.identity(), Vector(0.1 * k, 0.01 * k * k, 0)) for k in range(20)]
    tips = [Geometry("sphere", (0.01,), place) for place in places]
    builder = RobotBuilder("brush").body("brush", mass=1, inertia=INERTIA, collisions=tips)
    assert len(with_default_contacts(builder.build(base="free"), has_ground=True).contact_points) == 8


def test_own_contacts_stay_and_others_are_told() -> None:
    assert with_default_contacts(BALL, has_ground=True) is BALL
    assert not with_default_contacts(BALL, has_ground=False).contacts
    assert "contacts (from collision geometry), float64" in repr(Simulation(QUADRUPED, ground=0))
    assert "1 contacts, float64" in repr(Simulation(BALL, ground=0))
    assert "0 contacts, float64" in repr(Simulation(QUADRUPED))


def test_a_quadruped_falls_on_its_feet_and_trunk() -> None:
    """Its motors are slack: it sinks down, and the ground bears its weight without being entered."""
    q = QUADRUPED.neutral()
    q[2] = 0.45
    sim = started(Simulation(QUADRUPED, ground=pliant.flat()), q=q)
    sim.run(4.0, channels=())
    assert not sim.divergences
    assert sim.contact_forces.sum(axis=0)[2] == pytest.approx(QUADRUPED.mass * 9.81, rel=0.02)  # nearly at rest
    assert sim.diagnostics.penetration < 1e-3
    assert np.abs(sim.v).max() < 1


def test_a_ground_that_nothing_can_touch_is_told() -> None:
    builder = pliant.RobotBuilder("ghost").body("ghost", mass=1, inertia=INERTIA)
    with pytest.warns(pliant.SimulationWarning, match="nothing of robot 'ghost' can touch it"):
        pliant.Simulation(builder.build(base="free"), ground=pliant.flat())
