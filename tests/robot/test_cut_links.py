"""Links cut in two at a frame: nothing is lost, all is on its side, and a beam of many pieces bends like a beam."""

import math

import numpy as np
import pytest
from scipy.linalg import eigh

import pliant
from pliant.errors import RobotError
from pliant.robot import Geometry, Robot, RobotBuilder
from pliant.spatial import Transform, Vector
from random_robots import close

L, WIDTH, MASS = 0.8, 0.06, 2.4


def rod(length: float = L, width: float = WIDTH, mass: float = MASS) -> dict:
    """A box along x from the origin."""
    long, thin = mass * (length**2 + width**2) / 12, mass * width**2 / 6
    return {"mass": mass, "com": (length / 2, 0, 0), "inertia": (thin, 0, 0, long, 0, long)}


def shape(x: float) -> Geometry:
    return Geometry("box", (0.1, 0.1, 0.1), Transform(Transform.identity().R, Vector(x, 0, 0)))


def arm(at: float = 0.3, base: str = "fixed") -> Robot:
    """A link with what hangs on it, on both sides of the frame "cut"."""
    builder = RobotBuilder("arm")
    builder.body("base", 3, (0.1, 0, 0), (0.1, 0, 0, 0.2, 0, 0.3))
    builder.body("link", **rod(), visuals=[shape(0.1), shape(0.7)], collisions=[shape(0.6)])
    for name in ("near", "far"):
        builder.body(name, 0.5, (0, 0.1, 0), (0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("shoulder", "revolute", "base", "link", (0, 0, 0.2), (0.1, 0.4, 0), axis=(0, 1, 0))
    builder.joint("j_near", "revolute", "link", "near", (0.1, 0.05, 0), (0.3, 0, 0), axis=(0, 0, 1))
    builder.joint("j_far", "revolute", "link", "far", (L, 0, 0), (0, 0.2, 0), axis=(1, 0, 0))
    builder.frame("cut", "link", (at, 0, 0), (0.2, 0.5, 0.1))
    builder.frame("f_near", "link", (0.2, 0, 0.1)).frame("f_far", "link", (0.5, -0.1, 0), (0, 0, 1))
    robot = builder.build(base=base).with_contact("f_near", radius=0.02, name="c_near")
    return robot.with_contact("f_far", radius=0.02, name="c_far")


CUTS = [
    {"stiffness": (100, 200, 300)},
    {"stiffness": 100, "axis": (0, 1, 0)},
    {"stiffness": 100, "axis": (0, 1, 0), "kind": "prismatic"},
    {"stiffness": (1e3,) * 3 + (10,) * 3},
    {"stiffness": (100, 200, 300), "share": 0.3},
    {"stiffness": (100, 200, 300), "normal": (1, 0.3, 0)},
]


@pytest.mark.parametrize("values", CUTS)
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_without_deflection_nothing_has_changed(values, base):
    whole = arm(base=base)
    robot = whole.with_flexibility("cut", **values)
    rng = np.random.default_rng(5)
    q, v = whole.random(rng), rng.standard_normal(whole.nv)
    q2, v2 = robot.q_from(whole, q), robot.v_from(whole, v)
    assert robot.mass == pytest.approx(whole.mass, rel=1e-14)
    close(pliant.center_of_mass(robot, q2), pliant.center_of_mass(whole, q), 1e-13)
    own = [k for n, j in whole.joints.items() if j.kind.nv for k in range(robot.nv)[robot.v_slice(n)]]
    close(pliant.mass_matrix(robot, q2)[np.ix_(own, own)], pliant.mass_matrix(whole, q), 1e-13)
    close(pliant.bias_forces(robot, q2, v2)[own], pliant.bias_forces(whole, q, v), 1e-12)
    close(pliant.centroidal_momentum(robot, q2, v2), pliant.centroidal_momentum(whole, q, v), 1e-12)
    for name in whole.frames:
        close(pliant.frame_pose(robot, q2, name), pliant.frame_pose(whole, q, name), 1e-13)
    assert np.linalg.eigvalsh(pliant.mass_matrix(robot, q2)).min() > 0


def test_everything_is_on_its_side():
    whole = arm()
    robot = whole.with_flexibility("cut", stiffness=(100, 200, 300), damping=1)
    new = "cut_flexibility"
    assert robot.joints[new].parent == "link" and robot.joints[new].child == new
    assert [(f.name, f.joint) for f in robot.flexibilities.values()] == [(new, None)]
    assert robot.joints["j_near"].parent == "link" and robot.joints["j_far"].parent == new
    assert robot.frames["f_near"].body == "link" and robot.frames["f_far"].body == new
    assert robot.frames["cut"].body == new and robot.frames["link"].body == "link"
    assert robot.contacts["c_near"].body == "link" and robot.contacts["c_far"].body == new
    assert [len(robot.bodies[b].visuals) for b in ("link", new)] == [1, 1]
    assert [len(robot.bodies[b].collisions) for b in ("link", new)] == [0, 1]
    # the shape that went along is where it was
    moved = robot.bodies[new].collisions[0].placement.p
    placed = whole.frames["cut"].placement.transform_point(moved)
    np.testing.assert_allclose([*placed], [0.6, 0, 0], atol=1e-14)


def test_what_is_beyond_can_be_said():
    robot = arm().with_flexibility("cut", stiffness=(1, 2, 3), beyond=["j_near", "f_near", "c_near"])
    new = "cut_flexibility"
    assert robot.joints["j_near"].parent == new and robot.joints["j_far"].parent == "link"
    assert robot.frames["f_near"].body == new and robot.frames["f_far"].body == "link"
    assert robot.contacts["c_near"].body == new and robot.contacts["c_far"].body == "link"


def test_masses_of_the_parts():
    robot = arm(at=0.3).with_flexibility("cut", stiffness=(1, 2, 3))
    near, far = robot.bodies["link"].inertia, robot.bodies["cut_flexibility"].inertia
    np.testing.assert_allclose([near.mass, far.mass], [MASS * 0.3 / L, MASS * 0.5 / L], rtol=1e-12)
    np.testing.assert_allclose([*near.com()], [0.15, 0, 0], atol=1e-14)
    piece = rod(0.3, WIDTH, MASS * 0.3 / L)["inertia"]
    np.testing.assert_allclose([*near.about_com()], piece, atol=1e-14)
    # the far part is in the axes of the frame
    about = np.array([*far.about_com().full()], float).reshape(3, 3)
    piece = rod(0.5, WIDTH, MASS * 0.5 / L)["inertia"]
    np.testing.assert_allclose(np.linalg.eigvalsh(about), sorted(piece[k] for k in (0, 3, 5)), rtol=1e-10)
    shared = arm().with_flexibility("cut", stiffness=(1, 2, 3), share=0.25)
    np.testing.assert_allclose(shared.bodies["cut_flexibility"].inertia.mass, MASS / 4, rtol=1e-14)


def test_loops_springs_and_pushes_follow_their_frames():
    whole = arm().with_spring("world", "f_far", stiffness=50, length=0.1)
    robot = whole.with_flexibility("cut", stiffness=(1e9,) * 3, damping=10)
    push = pliant.ExternalForce("f_far", force=(3, 1, -2))
    before, after = (
        pliant.Simulation(r, dt=1e-3, forces=[push], integrator="midpoint").run(0.3, channels=("q", "v"))
        for r in (whole, robot)
    )
    for name in ("shoulder", "j_near", "j_far"):
        np.testing.assert_allclose(after["q", name], before["q", name], atol=1e-6)


# ---- a beam


def beam(n: int, EI: float) -> Robot:
    """A cantilever of n elements, each with a spring in its middle; thin, so that its sections have no inertia."""
    builder = RobotBuilder("beam").gravity(0, 0, 0)
    builder.body("beam", **rod(width=1e-4))
    for i in range(n):
        builder.frame(f"cut{i}", "beam", ((i + 0.5) * L / n, 0, 0))
    robot = builder.build()
    for i in range(n):
        robot = robot.with_flexibility(f"cut{i}", stiffness=n * EI / L, axis=(0, 1, 0))
    return robot


def test_a_cantilever_swings_as_euler_and_bernoulli_say():
    """w = 1.8751^2 sqrt(EI / (rho A L^4)), approached with the square of the length of the pieces."""
    EI, roots = 20.0, (1.8751040687119611, 4.694091132974174)
    found = []
    for n in (4, 8, 16):
        robot = beam(n, EI)
        assert robot.nv == n
        M = np.array(pliant.mass_matrix.algorithm(robot, [0.0] * n), float)
        found.append(np.sqrt(eigh(n * EI / L * np.eye(n), M, eigvals_only=True)[:2]))
    expected = np.array(roots) ** 2 * math.sqrt(EI / (MASS / L * L**4))
    errors = np.array(found) / expected - 1
    slopes = np.log2(abs(errors[:-1] / errors[1:]))
    np.testing.assert_allclose(slopes, 2, atol=0.25)
    assert abs(errors[-1]).max() < 5e-3 and abs(errors[-1, 0]) < 1e-3


def test_a_cantilever_bends_under_a_weight_at_its_end():
    """F L^3 / (3 EI), small: the springs in the middles of the elements give it up to 1 / n^2."""
    EI, force, n = 20.0, 0.01, 8
    robot = beam(n, EI).with_frame("end", f"cut{n - 1}_flexibility", (L / n / 2, 0, 0))
    J = pliant.frame_jacobian(robot, robot.neutral(), "end")
    sag = J[2] @ (J[2] * force) / (n * EI / L)
    np.testing.assert_allclose(sag, force * L**3 / (3 * EI) * (1 - 1 / (4 * n * n)), rtol=1e-10)


# ---- bad input


@pytest.mark.parametrize(("values", "message"), [
    ({"share": 0}, "share of the flexibility at frame 'cut' is 0; it takes a number above 0 and below 1"),
    ({"share": 1.0}, "share of the flexibility at frame 'cut' is 1.0; it takes a number above 0 and below 1"),
    ({"share": math.nan}, "share of the flexibility at frame 'cut' is nan; it takes a finite number"),
    ({"inertia": 1}, "has an inertia, but the parts of the link have their own"),
    ({"name": "link"}, "there is a joint, body or frame named 'link' already"),
    ({"name": "shoulder"}, "there is a joint, body or frame named 'shoulder' already"),
    ({"share": 1j}, "share of the flexibility at frame 'cut' is 1j; it takes a number"),
    ({"share": [0.3]}, r"share of the flexibility at frame 'cut' is \[0.3\]; it takes a number"),
    ({"normal": (0, 0, 0)}, r"normal of the flexibility at frame 'cut' is \(0, 0, 0\); it takes a direction"),
    ({"normal": 5}, "normal of the flexibility at frame 'cut' is 5; it takes three numbers"),
    ({"beyond": 5}, "beyond of the flexibility at frame 'cut' is 5; it takes a list of names"),
    ({"beyond": "j_far"}, r"beyond of .* is 'j_far'; it takes a list of names, as in beyond=\['j_far'\]"),
    ({"beyond": [["j_far"]]}, r"no joint or frame named \['j_far'\] in beyond"),
    ({"name": 5}, "name of the flexibility at 'cut' is 5; it takes a name"),
    ({"normal": (0, 1)}, "normal of the flexibility at frame 'cut' has 2 entries"),
    ({"beyond": ["j_fra"]}, "'j_fra'.*'j_far'"),
    ({"stiffness": 10}, "one stiffness and no axis; .* axis="),
])  # fmt: skip
def test_impossible_cuts(values, message):
    with pytest.raises(RobotError, match=message):
        arm().with_flexibility("cut", **({"stiffness": (1, 2, 3)} | values))


def test_places_where_a_link_cannot_be_cut():
    with pytest.raises(RobotError, match=r"at the origin of its link.* normal="):
        arm(at=0).with_flexibility("cut", stiffness=(1, 2, 3))
    with pytest.raises(RobotError, match="leaves nothing of the flexibility at frame 'cut' beyond"):
        arm(at=0.9).with_flexibility("cut", stiffness=(1, 2, 3))
    with pytest.raises(RobotError, match="in the world, which is rigid"):
        arm().with_frame("corner", "world", (1, 0, 0)).with_flexibility("corner", stiffness=(1, 2, 3))
    cut = arm().with_flexibility("cut", stiffness=(1, 2, 3))
    with pytest.raises(RobotError, match="named 'cut_flexibility' already"):
        cut.with_flexibility("cut", stiffness=(1, 2, 3), normal=(1, 0, 0))


@pytest.mark.parametrize("values", [{}, {"share": 0.5}, {"beyond": []}])
@pytest.mark.parametrize("body", ["hand", "base"])
def test_a_link_without_mass_gives_way_only_before_something(values, body):
    """Neither the tip of the arm nor a stand with nothing beyond; but a stand with the arm beyond does."""
    robot = pliant.load("two_link_arm").with_frame("cut", body, (0, 0, 0.1))
    with pytest.raises(RobotError, match=f"'cut' moves no mass: the part of body '{body}' beyond .*; give it mass"):
        robot.with_flexibility("cut", stiffness=(1, 2, 3), **values)
    if body == "base":
        stand = robot.with_flexibility("cut", stiffness=(1, 2, 3), beyond=["shoulder"])
        assert np.linalg.eigvalsh(pliant.mass_matrix(stand, [0.1, 0, 0, 0.9, 0.2, 0.3])).min() > 0
