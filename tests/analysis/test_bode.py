"""Frequency responses against the formulas of two masses on a spring, and of a pendulum."""

import numpy as np
import pytest

import pliant
from pliant.analysis import Bode, bode

LINK, ROTOR, STIFFNESS, DAMPING = 1.0, 0.1, 100.0, 2.0
SIDES = {"motor": "motor_velocity.knee", "link": "link_velocity.knee"}
W = np.geomspace(2, 100, 9)


def rigid(**motor) -> pliant.Robot:
    builder = pliant.RobotBuilder("joint").gravity(0, 0, 0)
    builder.body("link", mass=1, inertia=(LINK, 0, 0, LINK, 0, LINK))
    return builder.joint("knee", "revolute", "world", "link", axis=(0, 0, 1)).motor("knee", **motor).build()


def joint() -> pliant.Robot:
    return rigid(rotor_inertia=ROTOR).with_flexibility("knee", stiffness=STIFFNESS, damping=DAMPING)


def transfer(side: str, w: np.ndarray) -> np.ndarray:
    """Velocity over torque of I (x1'' + x2'') = -k x1 - nu x1', I (x1'' + x2'') + J x2'' = u."""
    s = 1j * w
    spring = STIFFNESS + DAMPING * s
    return (LINK * s**2 + spring if side == "motor" else spring) / (s * (LINK * ROTOR * s**2 + (LINK + ROTOR) * spring))


@pytest.mark.parametrize(("method", "tolerance"), [("linearization", 1e-11), ("simulation", 1e-5)])
def test_two_masses_on_a_spring(method: str, tolerance: float) -> None:
    """The linearization to rounding; the simulation to what is left of the motion before, and of its integrator."""
    found = bode(joint(), W, outputs=list(SIDES.values()), method=method)
    assert found.input == "knee" and found.method == method
    for side, output in SIDES.items():
        np.testing.assert_allclose(found.response[output], transfer(side, W), rtol=tolerance)
        np.testing.assert_allclose(found.magnitude(output), abs(transfer(side, W)), rtol=tolerance)
        np.testing.assert_allclose(found.phase(output), np.degrees(np.unwrap(np.angle(transfer(side, W)))), atol=1e-2)


@pytest.mark.parametrize("method", ["linearization", "simulation"])
def test_a_position_loop(method: str) -> None:
    """A rigid joint under kp (u - q) - kd v, about a position: q / u = kp / (I s^2 + kd s + kp)."""
    robot = rigid(control="position", kp=40, kd=8)
    found = bode(robot, W, outputs="q.knee", q=[0.3], method=method, amplitude=0.1)
    s = 1j * W
    np.testing.assert_allclose(found.response["q.knee"], 40 / (s**2 + 8 * s + 40), rtol=1e-5)


def test_a_pendulum_about_its_equilibria() -> None:
    robot = pliant.load("pendulum")
    M, g = float(pliant.mass_matrix(robot, [0.0])[0, 0]), float(pliant.gravity_forces(robot, [0.3])[0]) / np.sin(0.3)
    damping = float(robot.joints["hinge"].damping[0])
    for q, sign in ((0.0, 1), (np.pi, -1)):
        found = bode(robot, W, q=[q])
        expected = 1j * W / (-M * W**2 + damping * 1j * W + sign * g)
        np.testing.assert_allclose(found.response["v.hinge"], expected, rtol=1e-9)
    # held to the side by its motor
    u = pliant.gravity_forces(robot, [0.3])
    held = bode(robot, W, q=[0.3], u=u).response["v.hinge"]
    np.testing.assert_allclose(held, 1j * W / (-M * W**2 + damping * 1j * W + g * np.cos(0.3)), rtol=1e-9)


def test_a_free_body_in_compliant_contact() -> None:
    """A ball on a spring of the ground and pushed by a motor: v / u = s / (m s^2 + d s + k)."""
    builder = pliant.RobotBuilder("ball")
    builder.body("ball", mass=2, inertia=(0.01, 0, 0, 0.01, 0, 0.01))
    builder.joint("z", "prismatic", "world", "ball", axis=(0, 0, 1))
    robot = builder.motor("z").build().with_contact("ball", radius=0.1)
    law = pliant.SpringDamper(stiffness=1000, damping=20)
    sim = pliant.Simulation(robot, ground=pliant.flat(), contact=pliant.CompliantContact(law), integrator="rk4")
    found = bode(sim, W, q=[0.1 - 2 * 9.81 / 1000])
    s = 1j * W
    np.testing.assert_allclose(found.response["v.z"], s / (2 * s**2 + 20 * s + 1000), rtol=1e-9)


def test_a_spring_that_is_anchored_where_it_touches() -> None:
    """Along the ground, v / u = s / (m s^2 + D s + K): what the contact remembers is part of the linear model."""
    builder = pliant.RobotBuilder("sled")
    for name, mass in (("x", 0.0), ("z", 2.0)):
        builder.body(name, mass, (0, 0, 0), (0, 0, 0, 0, 0, 0))
    builder.joint("x", "prismatic", "world", "x", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "x", "z", axis=(0, 0, 1))
    robot = builder.motor("x").build().with_contact("z")
    law = pliant.AnchoredSpringDamper(1e4, 200, 0.7, tangential_stiffness=1000, tangential_damping=20)
    options = {"ground": pliant.flat(), "contact": pliant.CompliantContact(law), "integrator": "rk4"}
    sim, q = pliant.Simulation(robot, **options), [0, -2 * 9.81 / 1e4]
    s = 1j * W
    expected = s / (2 * s**2 + 20 * s + 1000)
    np.testing.assert_allclose(bode(sim, W, q=q).response["v.x"], expected, rtol=1e-9)
    w = np.array([5.0, 20.0, 40.0])
    shaken = bode(sim, w, q=q, method="simulation", amplitude=0.1).response["v.x"]
    np.testing.assert_allclose(shaken, 1j * w / (1000 - 2 * w**2 + 20j * w), rtol=1e-4)


def test_bad_calls_say_what_is_wrong() -> None:
    robot, hopper = joint(), pliant.Simulation(pliant.load("hopper"), ground=pliant.flat())
    for given, options, message in (
        (robot, {"input": "kne"}, "no motor named 'kne' in robot 'joint'; did you mean 'knee'"),
        (robot, {"outputs": "v.kne"}, r"no output named 'v\.kne'"),
        (robot, {"method": "measure"}, "no method named 'measure'"),
        (robot, {"frequencies": [0.0, 1.0]}, r"frequencies of bode is .* it takes numbers above 0"),
        (pliant.load("pendulum"), {"q": [0.5]}, "does not rest at q with these controls: 'hinge' accelerates by"),
        (pliant.load("quadruped"), {}, r"motors .* name one with input="),
        ("knee", {}, "it takes a Robot or a Simulation"),
        (pliant.load("pendulum"), {"frequencies": W, "method": "simulation"}, "a mode has no damping"),
        (hopper, {"input": "leg"}, "contacts are rigid"),
    ):
        with pytest.raises(pliant.PliantError, match=message):
            bode(given, **options)
    with pytest.raises(pliant.PliantError, match=r"no output named 'v\.nee'"):
        bode(robot, W).magnitude("v.nee")


def test_the_plot_has_lines_and_dots(tmp_path) -> None:
    output = SIDES["link"]
    linear = bode(joint(), W, outputs=output)
    shaken = Bode(W[::3], {output: linear.response[output][::3]}, "knee", "simulation")
    figure = linear.plot(shaken, path=tmp_path / "bode.svg")
    top, bottom = figure.axes
    assert [line.get_marker() for line in top.lines] == ["None", "o"]
    np.testing.assert_array_equal(top.lines[0].get_ydata(), linear.magnitude(output))
    np.testing.assert_array_equal(bottom.lines[1].get_ydata(), shaken.phase(output))
    assert top.get_xscale() == top.get_yscale() == "log"
    assert (tmp_path / "bode.svg").exists()
    assert linear.units == {output: "rad/s per N m"}
    assert top.get_ylabel() == "amplitude [rad/s per N m]"
    # above the curves, not on them
    assert figure.legends[0].get_window_extent().y0 >= top.get_window_extent().y1
