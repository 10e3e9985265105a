"""Comparisons of contact models tell errors that are known by hand."""

import functools
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant
from pliant.analysis import ContactComparison, compare_contacts
from pliant.analysis.compare_contacts import impact_damping
from simple_bodies import ball
from simulated_robots import started

G, RADIUS, HEIGHT = 9.81, 0.1, 0.2
LANDING = math.sqrt(2 * HEIGHT / G)
DROPPED = [0, 0, RADIUS + HEIGHT, 0, 0, 0, 1]


BALL = ball(mass=2, radius=RADIUS)


def make_mast(limits: tuple[float, float] | None = None) -> pliant.Robot:
    """A point on a vertical slide, driven."""
    builder = pliant.RobotBuilder("mast").body("mast", mass=2)
    builder.joint("slide", "prismatic", "world", "mast", axis=(0, 0, 1), limits=limits)
    return builder.motor("slide").build().with_contact("mast", radius=RADIUS)


def column(found: ContactComparison, method: str, name: str) -> np.ndarray:
    return np.array([getattr(row, name) for row in found.of(method)])


@pytest.fixture(scope="module")
def drop() -> ContactComparison:
    return compare_contacts(BALL, q=DROPPED, duration=0.5, stiffness=(1e5, 1e6, 1e7))


def fall(t: Any) -> np.ndarray:
    """Height of the ball by hand."""
    return np.where(t < LANDING, RADIUS + HEIGHT - G * np.square(t) / 2, RADIUS)


# ---- the damping of impacts


@pytest.mark.parametrize("restitution", [0.01, 0.1, math.exp(-2), 0.15, 0.5, 0.9, 1.0])
def test_impact_damping_gives_the_speed_back(restitution: float) -> None:
    k, m, v = 3e4, 0.7, 1.3
    c = impact_damping(k, m, restitution)

    def push(t: float, y: np.ndarray) -> float:
        return k * y[0] + c * y[1] if t > 0 else 1.0

    push.terminal = True  # type: ignore[attr-defined]
    run = solve_ivp(lambda t, y: [y[1], -(k * y[0] + c * y[1]) / m], (0, 1), [0, v], events=push, rtol=1e-11,
                    atol=1e-13, max_step=1e-3, method="LSODA")  # fmt: skip
    # the instant at which the push ends is known to the integrator's tolerance; near z = 1 the formula is its limit
    assert -run.y[1, -1] / v == pytest.approx(restitution, rel=1e-5)


# ---- a ball that falls


def test_the_reference_is_the_fall_by_hand(drop: ContactComparison) -> None:
    t = np.linspace(0, 0.5, 301)
    # the fall is a polynomial, exact in any step; the touch-down is found to 1e-12 s
    assert abs(drop.reference.at(t)[0][:, 2] - fall(t)).max() < 1e-10
    row = drop.rows[0]
    assert (row.method, row.error, row.error_at_end) == ("event-driven", 0, 0)
    assert row.steps == drop.reference.metadata["steps"]
    assert row.penetration < 1e-11


def test_rigid_steps_are_of_first_order(drop: ContactComparison) -> None:
    dt, error = column(drop, "rigid", "setting"), column(drop, "rigid", "error")
    assert dt.tolist() == [4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4]
    # the ball lands within a step of its time, and falls by v dt in one
    assert (error <= 1.01 * G * LANDING * dt).all()
    assert np.polyfit(np.log(dt), np.log(error), 1)[0] == pytest.approx(1, abs=0.1)
    # it rests on the ground itself, to the tolerance of the solver
    assert column(drop, "rigid", "error_at_end").max() < 1e-9
    assert column(drop, "rigid", "steps").tolist() == [125, 250, 500, 1000, 2000]


def test_errors_are_those_of_a_run_by_hand(drop: ContactComparison) -> None:
    log = started(pliant.Simulation(BALL, dt=2e-3, ground=pliant.flat()), q=DROPPED).run(0.5)
    error = abs(log.q[1:, 2] - fall(log.t[1:]))
    # 250 steps are all looked at
    assert drop.of("rigid")[1].error == pytest.approx(error.max(), abs=1e-10)
    assert drop.of("rigid")[1].error_at_end == pytest.approx(error[-1], abs=1e-10)


def test_springs_sink_as_the_law_says(drop: ContactComparison) -> None:
    k, sunk = column(drop, "compliant, adaptive", "setting"), column(drop, "compliant, adaptive", "error")
    for stiffness, found in zip(k, sunk, strict=True):
        # the law of the comparison: N = k depth (1 + rate / 1 cm/s)
        law = lambda t, y, k=stiffness: [y[1], G - k * y[0] * max(0, 1 + 100 * y[1]) / 2]  # noqa: E731
        y = solve_ivp(law, (0, 0.3), [0, G * LANDING], rtol=1e-9, atol=1e-13, max_step=1e-3, method="LSODA").y
        # looked at once a millisecond, in which the ball rises by 10 um at most
        assert y[0].max() - 1.1e-5 < found < 1.001 * y[0].max()
    # at rest it is m g / k deep; what is left of the motion is below a thousandth
    rest = 2 * G / k
    for method in ("compliant", "compliant, adaptive"):
        assert column(drop, method, "error_at_end") == pytest.approx(rest, rel=1e-3)
        assert column(drop, method, "energy_error") == pytest.approx(-2 * G * rest, rel=1e-3)


def test_errors_fall_with_stiffness_until_the_step_has_its_own(drop: ContactComparison) -> None:
    stepped, smooth = column(drop, "compliant", "error"), column(drop, "compliant, adaptive", "error")
    assert (np.diff(stepped) < 0).all() and (np.diff(smooth) < 0).all()
    # the depth of an impact goes with the root of the stiffness
    assert smooth[:-1] / smooth[1:] == pytest.approx([math.sqrt(10)] * 2, rel=0.1)
    # a step of 0.1 ms is 0.2 mm of the fall: the first two springs are deeper, the last is not
    assert stepped[-1] > 1.2 * smooth[-1]
    assert stepped[0] == pytest.approx(smooth[0], rel=0.2)


def test_stiff_springs_lose_their_bounce_in_steps_too_long_for_them() -> None:
    options = {"q": DROPPED, "duration": 0.45, "restitution": 0.6, "friction": 0, "rigid_dt": [1e-3]}
    found = compare_contacts(BALL, stiffness=(1e5, 1e7), **options)
    stepped, smooth = column(found, "compliant", "error"), column(found, "compliant, adaptive", "error")
    assert smooth[1] < smooth[0] / 5 and stepped[1] > 2 * stepped[0]
    # after the first bounce the ball rises to 0.36 of its height
    assert found.reference.at(LANDING * 1.6)[0][2] == pytest.approx(RADIUS + 0.36 * HEIGHT, abs=1e-9)


# ---- friction, frames, grounds


def test_friction_of_the_ground_holds_for_springs_too() -> None:
    options = {"ground": pliant.flat(friction=0.2), "frame": "ball", "rigid_dt": [1e-3], "stiffness": (1e7,)}
    found = compare_contacts(BALL, q=[0, 0, RADIUS, 0, 0, 0, 1], v=[1, 0, 0, 0, 0, 0], duration=0.1, **options)
    q = found.reference.at(0.1)[0]
    assert q[0] == pytest.approx(0.1 - 0.2 * G * 0.1**2 / 2, abs=1e-9)  # slides on
    assert "position of ball" in found.what
    # m g / k deep, with friction that wants that depth first: some micrometres; the friction itself is 98 mm
    assert all(row.error < 1e-5 for row in found.rows if row.method != "rigid")


def test_contacts_that_differ_are_told() -> None:
    one = ball(mass=2, radius=RADIUS, friction=0.3)
    both = one.with_contact("ball", name="second", points=[(0, 0, -RADIUS)], friction=0.6)
    found = compare_contacts(both, q=DROPPED, duration=0.05, rigid_dt=[1e-3], stiffness=(1e5,))
    assert found.notes == ("compliant contact has the friction and restitution of 'ball' for all contacts",)
    assert found.notes[0] in found.table()


def test_a_free_robot_is_lifted_out_of_the_ground() -> None:
    options = {"duration": 0.01, "rigid_dt": [1e-3], "stiffness": (1e6,), "is_adaptive": False}
    found = compare_contacts(BALL, q=[0, 0, 0.05, 0, 0, 0, 1], **options)
    assert found.reference.q[0, 2] == pytest.approx(RADIUS, abs=1e-12)
    assert [row.method for row in found.rows] == ["event-driven", "rigid", "compliant"]


# ---- controllers


def test_controllers_in_python_and_compiled_move_alike() -> None:
    def law(t: Any, q: Any, v: Any) -> list[Any]:
        return [200 * (0.15 - q[0]) - 5 * v[0]]

    def with_command(t: Any, q: Any, v: Any, command: Any) -> list[Any]:
        return [200 * (command[0] - q[0]) - 5 * v[0]]

    options = {"q": [0.3], "duration": 0.3, "period": 2e-3, "rigid_dt": [2e-3, 1e-3], "stiffness": (1e4, 1e5)}
    python = compare_contacts(make_mast(), controller=law, **options)
    compiled = compare_contacts(make_mast(), controller=pliant.Controller(law), **options)
    options["controller"] = pliant.Controller(with_command, commands=1)
    told = compare_contacts(make_mast(), commands=[0.15], **options)
    later = compare_contacts(make_mast(), commands=lambda t: [0.15], **options)
    for name in ("error", "error_at_end", "penetration", "energy_error", "steps"):
        expected = [getattr(row, name) for row in python.rows]
        for other in (compiled, told, later):
            # the same arithmetic, but for rounding in the controller
            assert [getattr(row, name) for row in other.rows] == pytest.approx(expected, abs=1e-10)
    assert "height of mast" in python.what
    assert [row.steps for row in python.of("rigid")] == [150, 300]


def test_constant_controls_hold_the_robot_up() -> None:
    found = compare_contacts(make_mast(), q=[0.3], u=[2 * G], duration=0.1, rigid_dt=[1e-3], stiffness=(1e5,))
    # it does not move, and nothing touches
    assert max(row.error for row in found.rows) < 1e-12
    assert not found.reference.events


def test_stops_that_are_touched_leave_no_adaptive_steps() -> None:
    options = {"duration": 0.3, "rigid_dt": [1e-3], "stiffness": (1e5,)}
    found = compare_contacts(make_mast(limits=(0.2, 1)), q=[0.3], **options)
    assert found.notes == ("no adaptive steps: the robot touches its joint limits (slide lower)",)
    assert "compliant, adaptive" not in {row.method for row in found.rows}
    untouched = compare_contacts(make_mast(limits=(0.05, 1)), q=[0.3], **options)
    assert not untouched.notes and untouched.of("compliant, adaptive")


# ---- laws


def test_laws_of_ones_own() -> None:
    def law(k: float) -> Any:
        def spring(depth: Any, rate: Any, slip: Any) -> tuple[Any, tuple[int, int]]:
            return pliant.math.select(depth > 0, pliant.math.maximum(k * depth + 400 * rate, 0), 0), (0, 0)

        return spring

    options = {"q": [RADIUS], "duration": 1.0, "rigid_dt": [1e-3], "stiffness": (1e3, 1e4)}
    own = compare_contacts(make_mast(), law=law, **options)
    known = compare_contacts(make_mast(), law=lambda k: pliant.SpringDamper(k, 400, friction=0), **options)
    anchored = compare_contacts(make_mast(), law=lambda k: pliant.AnchoredSpringDamper(k, 400, friction=0), **options)
    # the one is compiled for each stiffness, the other once for all; what the third remembers is of no use to a mast
    for method in ("compliant", "compliant, adaptive"):
        assert column(own, method, "error") == pytest.approx(column(known, method, "error"), rel=1e-6)
        assert column(anchored, method, "error") == pytest.approx(column(known, method, "error"), rel=1e-4)
    # k x + 400 x' = m g with next to no inertia, after a second; m / c is 5 ms, so the delay is 1.5 % of the time
    sunk = [2 * G / k * -math.expm1(-k / 400) for k in (1e3, 1e4)]
    assert column(own, "compliant, adaptive", "error_at_end") == pytest.approx(sunk, rel=5e-3)


def test_a_robot_that_diverges_has_no_error() -> None:
    # friction that jumps, on a ball that slips: no step is short enough
    jump = functools.partial(pliant.SpringDamper, damping=5e4, friction=0.7, slip_speed=1e-9)
    options = {"duration": 0.25, "rigid_dt": [1e-3], "stiffness": (1e7,), "law": jump}
    found = compare_contacts(BALL, q=DROPPED, v=[1, 0, 0, 0, 0, 0], **options)
    row = found.of("compliant, adaptive")[0]
    assert math.isnan(row.error) and math.isnan(row.energy_error)
    assert "cannot reach its tolerance" in row.divergence and row.divergence in str(found)


# ---- what is shown


def test_the_table_has_a_line_for_each_row(drop: ContactComparison) -> None:
    lines = drop.table().splitlines()
    assert lines[0] == "ball: height of ball, 0.5 s, 1 event"
    assert len(lines) == 2 + len(drop.rows)
    assert "rtol 1e-08   reference" in lines[2]
    assert "dt 0.004 s" in lines[3] and "k 1e+07 N/m" in lines[-1]
    assert str(drop) == drop.table()


def test_the_plot_has_a_line_for_each_method(drop: ContactComparison) -> None:
    mpl = pytest.importorskip("matplotlib", reason="pip install matplotlib draws plots")
    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    assert drop.plot(axes) is axes
    labels = [line.get_label() for line in axes.get_lines()]
    assert labels == ["rigid", "compliant", "compliant, adaptive", "event-driven, the reference"]
    assert axes.get_lines()[0].get_ydata().tolist() == column(drop, "rigid", "error").tolist()
    assert axes.get_lines()[0].get_xdata().tolist() == column(drop, "rigid", "seconds").tolist()
    plt.close(figure)
    plt.close(drop.plot().figure)


# ---- bad calls


@pytest.mark.parametrize(("options", "message"), [
    ({"duration": 0}, "duration is 0; it takes a positive time"),
    ({"duration": 1e-3, "rigid_dt": [1e-2]}, "no less than a step or period of 0.01 s"),
    ({"stiffness": (-1.0,)}, "stiffness is .* positive numbers"),
    ({"rigid_dt": []}, "rigid_dt is .* positive numbers"),
    ({"period": 1e-3, "rigid_dt": [3e-4]}, "steps of 0.0003 s do not fill a period of 0.001 s"),
    ({"frame": "bell"}, "bell.*did you mean 'ball'"),
])  # fmt: skip
def test_bad_calls_are_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(pliant.PliantError, match=message):
        compare_contacts(BALL, **{"q": DROPPED, "duration": 0.01, **options})


def test_robots_that_touch_nothing_dead_impacts_and_unknown_methods_are_told(drop: ContactComparison) -> None:
    with pytest.raises(pliant.SimulationError, match="restitution is 0; it takes a number above 0"):
        impact_damping(1e4, 1, 0)
    with pytest.raises(pliant.SimulationError, match="'mast' has no contacts to compare"):
        compare_contacts(make_mast().without_contacts(), duration=0.01)
    with pytest.raises(pliant.PliantError, match=r"no method named 'rigit'.*'rigid'"):
        drop.of("rigit")
