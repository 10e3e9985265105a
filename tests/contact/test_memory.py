"""Laws with a memory: their form, the memory at the end of a step, laws of the user, and bad input."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import sympy

import pliant
from pliant import AnchoredSpringDamper, CompliantContact
from pliant.compiler import kernel_from_function
from pliant.contact import check_law
from pliant.contact.constraint_rows import tangents_of
from pliant.contact.memory import Axes, Memory, ahead, partials, solved
from pliant.errors import ContactError, PliantError, SimulationError, TraceError
from pliant.scalar import Graph, maximum, select, sqrt
from pliant.scalar.evaluation import interpret
from pliant.spatial import Matrix3, MatrixRotation, Symmetric3, Vector
from simple_bodies import G, point_mass

POINT = point_mass()


@dataclass(frozen=True)
class LuGre:
    """Friction by bristles, s' = v - |v| K s / (mu N), f = -K s - D s' [Canudas de Wit et al. 1995]."""

    stiffness: Any = 1e4
    damping: Any = 100.0
    friction: Any = 0.5
    bristles: Any = 1e4
    bristle_damping: Any = 30.0

    memory: ClassVar = ((0, 0),)

    def __call__(self, depth, rate, slip, memory):
        (s,) = memory
        normal = select(depth > 0, maximum(self.stiffness * depth + self.damping * rate, 0), 0)
        speed = sqrt(slip[0] * slip[0] + slip[1] * slip[1] + 1e-20)
        share = self.bristles * speed / maximum(self.friction * normal, 1e-9)
        rates = [slip[k] - share * s[k] for k in range(2)]
        return normal, [-self.bristles * s[k] - self.bristle_damping * rates[k] for k in range(2)], [rates]


@dataclass(frozen=True)
class Warm:
    """Ground that is heated by what is pushed into it, with a number and no vector to remember; friction is viscous."""

    memory: ClassVar = (20.0,)

    def __call__(self, depth, rate, slip, memory):
        normal = select(depth > 0, maximum(1e4 * depth + 100 * rate, 0), 0)
        viscous = 5 * normal
        heat = viscous * (slip[0] * slip[0] + slip[1] * slip[1])
        return normal, (-viscous * slip[0], -viscous * slip[1]), [heat - 0.5 * (memory[0] - 20)]


class Plain:
    """The anchored law as a user would write it, without the impulse in closed form."""

    memory = ((0, 0),)

    def __init__(self, law: AnchoredSpringDamper):
        self.law = law

    def __call__(self, depth, rate, slip, memory):
        return self.law(depth, rate, slip, memory)

    def settled(self, depth, rate, slip, memory):
        return self.law.settled(depth, rate, slip, memory)


def simulated(law, robot=POINT, **options) -> pliant.Simulation:
    given = {"dt": 1e-3, "ground": pliant.flat(), "contact": CompliantContact(law), **options}
    return pliant.Simulation(robot, **given)


# ---- the anchored law itself


def test_the_law_in_closed_form() -> None:
    law = AnchoredSpringDamper(1e4, 50, 0.5, tangential_stiffness=2e3, tangential_damping=10)
    normal, friction, (rate,) = law(0.01, 0.2, (0.1, -0.2), [(1e-3, 2e-3)])
    assert normal == pytest.approx(110)
    assert list(friction) == pytest.approx([-3, -2])
    assert list(rate) == [0.1, -0.2]
    # beyond the cone, along the same direction
    _, friction, _ = law(0.01, 0.2, (0, 0), [(0.3, 0.4)])
    assert list(friction) == pytest.approx([-33, -44])
    (kept,) = law.settled(0.01, 0.2, (0, 0), [(0.3, 0.4)])
    assert list(kept) == pytest.approx([33 / 2e3, 44 / 2e3])
    (kept,) = law.settled(0.01, 0.2, (9, 9), [(1e-3, 2e-3)])
    assert list(kept) == [1e-3, 2e-3]
    # in the air, and pulled out faster than the damper lets it
    for depth, rate in ((-1e-9, 5.0), (0.01, -3.0)):
        normal, friction, _ = law(depth, rate, (1, 1), [(0.3, 0.4)])
        assert normal == 0
        assert list(friction) == [0, 0]
        assert list(law.settled(depth, rate, (1, 1), [(0.3, 0.4)])[0]) == [0, 0]


def test_one_stiffness_is_for_all_directions() -> None:
    law = AnchoredSpringDamper(1e4, 50, 2.0)
    assert law(0.01, 0, (0.1, 0), [(1e-3, 0)])[1][0] == pytest.approx(-15)


def test_every_scalar_alike() -> None:
    law = AnchoredSpringDamper(1e4, 50, 0.5)

    def forces(d, r, x, y, sx, sy):
        normal, friction, rates = law(d, r, (x, y), [(sx, sy)])
        return [normal, *friction, *rates[0], *law.settled(d, r, (x, y), [(sx, sy)])[0]]

    names = ("d", "r", "x", "y", "sx", "sy")
    rows = np.random.default_rng(0).normal(size=(50, 6)) * [0.01, 0.3, 0.3, 0.3, 3e-3, 3e-3]
    kernel = kernel_from_function(forces, {name: () for name in names})
    found = np.array(kernel(*rows.T)).T if isinstance(kernel(*rows.T), tuple) else kernel(*rows.T)
    expected = np.array([forces(*row) for row in rows.tolist()], dtype=float)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    symbols = sympy.symbols("d r x y sx sy", real=True)
    formulas = [sympy.sympify(f) for f in forces(*symbols)]
    for row, numbers in zip(rows[:5].tolist(), expected, strict=False):
        values = dict(zip(symbols, row, strict=True))
        np.testing.assert_allclose([float(f.subs(values)) for f in formulas], numbers, rtol=1e-12, atol=1e-12)


def test_the_impulse_is_that_of_the_law() -> None:
    """`AnchoredSpringDamper.impulse` ends where p = dt law(end of the step), for any G, stuck, sliding, or open."""
    rng = np.random.default_rng(1)
    dt, seen = 1e-3, set()
    for _ in range(200):
        stiffness, damping, K = (10 ** rng.uniform([2, 0, 2], [5, 3, 5])).tolist()
        law = AnchoredSpringDamper(stiffness, damping, rng.uniform(0.1, 1), K, 50)
        A = rng.normal(size=(3, 3)) * 0.5
        M = A @ A.T + 0.5 * np.eye(3)
        G3 = Symmetric3(*(M[a, b] for a in range(3) for b in range(a, 3)))
        free, stretch = rng.normal(size=3) * [0.3, 0.3, 0.5], rng.normal(size=2) * 1e-3
        gap = rng.uniform(-2e-3, 5e-4)
        p = Vector(0, 0, 0)
        for _ in range(60):
            u = Vector(*(free + M @ np.array(list(p))))
            p = law.impulse(gap, u, p, G3, stretch.tolist(), dt, 1, "float64")
        u = free + M @ np.array(list(p))
        end, s = gap + dt * u[2], stretch + dt * u[:2]
        normal, friction, _ = law(-end, -u[2], (u[0], u[1]), [s])
        wanted = np.array([*friction, normal]) * dt
        if abs(end) < 1e-12:
            # the damper would throw it out again at touch-down: it stops at the surface
            assert 0 <= p.z <= law.damping * gap * (1 + 1e-9)
            seen.add("stops")
            continue
        np.testing.assert_allclose(list(p), wanted, atol=1e-9 * (1 + abs(wanted).max()))
        slides = np.hypot(*friction) > law.friction * normal * (1 - 1e-9)
        seen.add("open" if normal == 0 else "slides" if slides else "sticks")
    assert seen == {"open", "slides", "sticks", "stops"}


# ---- the form of a memory


def test_form_and_places() -> None:
    memory = Memory((3, (0, 0), 5))
    assert (memory.size, memory.stored) == (4, [3, 0, 0, 0, 5, 0, 0, 0])
    assert memory.shaped([1, 2, 3, 4]) == [1, (2, 3), 4]
    assert memory.flat([1, (2, 3), 4]) == [1, 2, 3, 4]
    assert Memory((3,)).stored == [3]
    assert not Memory.of(pliant.SpringDamper(1, 1))
    c, s = math.cos(0.4), math.sin(0.4)
    R = MatrixRotation(Matrix3((c, -s, 0, s, c, 0, 0, 0, 1)))
    axes, other = (Axes(*tangents_of(n), n, R) for n in (Vector(0.8, 0, 0.6), Vector(0.6, 0.64, 0.48)))
    stored = memory.write([1, 2, 3, 4], axes)
    assert memory.read(stored, axes) == pytest.approx([1, 2, 3, 4])
    # for the normal that is kept, read again with another
    back = memory.write_back([1, 2, 3, 4], other, stored)
    assert back[-3:] == stored[-3:]
    assert memory.read(back, other) == pytest.approx([1, 2, 3, 4])
    assert memory.write_rate([1, 2, 3, 4], other, stored) == pytest.approx([*back[:-3], 0, 0, 0])
    # at touch-down no normal is kept yet
    begun = memory.write_back([1, 2, 3, 4], axes, memory.stored)
    assert memory.read(begun, axes) == pytest.approx([1, 2, 3, 4])


def test_the_memory_ahead_solves_its_equation() -> None:
    """m = m0 + dt rate(m), linear at once and otherwise by Newton's method; on floats and traced."""
    dt, start = 0.1, [0.3, -0.2]

    def linear(m):
        return [1 - 30 * m[0] + 2 * m[1], -5 * m[1]]

    def cubic(m):
        return [1 - m[0] * m[0] * m[0], m[0] - m[1]]

    for rate in (linear, cubic, lambda m: [1.0, 2.0]):
        found = ahead(rate, start, dt)
        assert found == pytest.approx([a + dt * r for a, r in zip(start, rate(found), strict=True)], rel=1e-7)
        graph = Graph()
        nodes = ahead(rate, [graph.input("a"), graph.input("b")], dt)
        values = interpret([graph.lift(x) for x in nodes], {"a": start[0], "b": start[1]})
        assert values == pytest.approx(found, rel=1e-6)


def test_partial_derivatives_of_arguments_that_depend_on_one_another() -> None:
    """Arguments of a trace may be the same node, or one a part of another: derivatives are partial all the same."""
    graph = Graph()
    x = graph.input("x")
    values, rows = partials(lambda a: [a[0] * a[1] * a[2], a[2]], [x, x, 2 * x])
    found = interpret([graph.lift(e) for row in ([*values], *rows) for e in row], {"x": 3.0})
    assert found == pytest.approx([54, 6, 18, 18, 9, 0, 0, 1])


def test_linear_systems() -> None:
    A = np.eye(4) + np.random.default_rng(0).normal(size=(4, 4)) * 0.2
    b = [1.0, 2.0, 3.0, 4.0]
    np.testing.assert_allclose(solved(A.tolist(), b), np.linalg.solve(A, b))


# ---- laws of the user


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_newton_finds_what_the_closed_form_finds(precision: str) -> None:
    """The anchored law with and without its own impulse: the same motion, in each of the four regimes."""
    law = AnchoredSpringDamper(2e4, 0, 0.5, 1e4, 40)
    v = np.random.default_rng(0).normal(size=(16, 3)) * 0.3
    sims = [simulated(x, batch=16, precision=precision) for x in (law, Plain(law))]
    for sim in sims:
        sim.reset(q=[0, 0, 2e-3], v=v)
        sim.run(0.3)
    tolerance = 1e-7 if precision == "float64" else 1e-3
    np.testing.assert_allclose(sims[0].q, sims[1].q, atol=tolerance)
    assert sims[1].diagnostics.is_converged.all()


def test_lugre_holds_and_slides() -> None:
    """Pushed below mu N it settles at f / K; above, it slides with mu N: what the bristles do in steady motion."""
    law = LuGre()
    check_law(law)
    robot = POINT.with_motor("x").with_motor("y")
    for integrator in ("semi-implicit", "rk4"):
        sim = simulated(law, robot, batch=2, integrator=integrator, dt=2e-4)
        limit = law.friction * G
        push = np.array([[0.3 * limit, 0.4 * limit], [0.9 * limit, 1.2 * limit]])
        sim.reset(q=[0, 0, -G / law.stiffness])
        sim.run(1.0, u=push)
        # presliding of LuGre drifts with its load, here at rest in the end
        np.testing.assert_allclose(sim.state.part("contact memory")[0, :2], push[0] / law.bristles, rtol=1e-6)
        assert abs(sim.v[0]).max() < 1e-6
        before = sim.v.copy()
        sim.run(0.5, u=push)
        gained = np.linalg.norm(sim.v[1] - before[1]) / 0.5
        assert gained == pytest.approx(1.5 * limit - limit, rel=1e-4)
        np.testing.assert_allclose(sim.v[1, 1] / sim.v[1, 0], 4 / 3, rtol=1e-4)


@pytest.mark.parametrize(("integrator", "order"), [("semi-implicit", 1), ("rk4", 4), ("midpoint", 2)])
def test_a_number_to_remember(integrator: str, order: int) -> None:
    """x' = -c v with c = 5 m g: v = v0 e^(-ct), and the heat h' = c v^2 - h / 2 is known, too."""
    t, v0, c = 0.1, 2.0, 5 * G
    exact = 20 + c * v0 * v0 * (math.exp(-0.5 * t) - math.exp(-2 * c * t)) / (2 * c - 0.5)
    errors = []
    for dt in (1e-3, 5e-4):
        sim = simulated(Warm(), integrator=integrator, dt=dt)
        sim.reset(q=[0, 0, -G / 1e4], v=[v0 * 0.6, v0 * 0.8, 0])
        assert sim.state.part("contact memory").tolist() == [20]
        sim.run(t)
        errors.append(float(sim.state.part("contact memory")[0]) - exact)
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)
    assert pytest.approx(0, abs=0.2) == errors[1]


def test_an_open_contact_begins_anew() -> None:
    sim = simulated(Warm())
    sim.reset(q=[0, 0, -G / 1e4], v=[1, 0, 0])
    sim.run(0.05)
    assert sim.state.part("contact memory")[0] > 20.1
    state = sim.state
    state.q[2] = 0.5
    sim.state = state
    sim.step()
    assert sim.state.part("contact memory")[0] == 20


def test_each_robot_has_its_own_bristles() -> None:
    sim = simulated(LuGre(), batch=3, varying=["law.bristles", "law.friction"])
    sim.parameters["law.bristles"] = [5e3, 1e4, 2e4]
    sim.reset(q=[0, 0, -G / 1e4], v=[0.02, 0, 0])
    sim.run(0.002)
    assert (np.diff(sim.contact_forces[:, 0, 0]) < 0).all()


# ---- bad input


class Law:
    """A law without force, with any memory, result, and method to settle it."""

    def __init__(self, memory: Any, result: Any = None, settled: Any = None):
        self.memory, self.result = memory, result
        if settled is not None:
            self.settled = settled

    def __call__(self, depth, rate, slip, memory):
        return (0 * depth, (0, 0), [0 * depth for _ in memory]) if self.result is None else self.result


@pytest.mark.parametrize(
    ("memory", "says"),
    [
        (3, "its memory is 3"),
        ("ab", "its memory is 'ab'"),
        (((0, 0, 0),), r"has \(0, 0, 0\)"),
        (("x",), "has 'x'"),
        ((True,), "has True"),
        ((math.nan,), "begins with nan"),
        ((math.inf, (0, 0)), "begins with inf"),
        (((1, 0),), r"has the vector \(1, 0\)"),
    ],
)
def test_a_memory_that_cannot_be(memory, says: str) -> None:
    with pytest.raises(ContactError, match=says) as caught:
        CompliantContact(Law(memory))
    assert "contact law Law" in str(caught.value)
    assert caught.value.cure
    assert caught.value.fault.field == "memory"


@pytest.mark.parametrize(
    "result",
    [(1, (0, 0)), (1, (0, 0), []), (1, (0, 0), [1, 2]), (1, (0, 0), [None]), (1, (0, 0), [(0, 0)]), (1, (0, 0), 0.0)],
)
def test_a_law_that_returns_no_rate(result) -> None:
    with pytest.raises(ContactError, match="it returned") as caught:
        CompliantContact(Law((0,), result))
    assert "memory_rate" in caught.value.cure


def test_a_law_that_settles_wrongly() -> None:
    with pytest.raises(ContactError, match="settled returned"):
        CompliantContact(Law((0,), settled=lambda d, r, s, m: None))
    with pytest.raises(ContactError, match="settled is 3"):
        CompliantContact(Law((0,), settled=3))


def test_a_law_that_takes_no_memory() -> None:
    class Forgetful:
        memory = (0,)

        def __call__(self, depth, rate, slip):
            return 0 * depth, (0, 0)

    with pytest.raises(TraceError, match="Forgetful") as caught:
        CompliantContact(Forgetful())
    assert "memory" in caught.value.cure


@pytest.mark.parametrize(
    ("name", "value"),
    [("stiffness", 0), ("stiffness", -1), ("damping", -1), ("friction", -0.1), ("tangential_stiffness", 0),
     ("tangential_damping", math.nan)],
)  # fmt: skip
def test_parameters_that_cannot_be(name: str, value: float) -> None:
    given = {"stiffness": 1e4, "damping": 10.0} | {name: value}
    with pytest.raises(PliantError, match=name):
        AnchoredSpringDamper(**given)


def test_a_state_of_another_law() -> None:
    """A state without a memory does not fit a simulation whose law has one."""
    with pytest.raises(SimulationError, match="contact memory"):
        simulated(AnchoredSpringDamper(1e4, 10)).state = simulated(pliant.SpringDamper(1e4, 10)).state
