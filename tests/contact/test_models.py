"""The answer of a compliant contact within the solver: p = dt law(depth - dt u_n, -u_n, u_t) at the end of the step."""

import math

import numpy as np
import pytest

from pliant.compiler import kernel_from_function
from pliant.contact.models import CompliantContact
from pliant.contact.models import HuntCrossley, SpringDamper
from pliant.errors import ContactError
from pliant.scalar import maximum, select
from pliant.spatial import Symmetric3, Vector

DT = 1e-3


def quadratic(depth, rate, slip):
    normal = select(depth > 0, 1e7 * depth * depth + maximum(0, 100 * rate), 0)
    return normal, (-20 * slip[0], -20 * slip[1])


LAWS = {
    "soft": SpringDamper(1e4, 100, friction=0.5),
    "stiff": SpringDamper(1e8, 1e4, friction=0.5),
    "hertz": HuntCrossley(1e7, 0.5, friction=0.5),
    "own": quadratic,
}


def symmetric(G: np.ndarray) -> Symmetric3:
    return Symmetric3(*(float(G[r, c]) for r in range(3) for c in range(r, 3)))


def solved(law, gap: float, b: np.ndarray, G: np.ndarray, visits: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Impulse and velocity where the law holds, by Newton's steps from no impulse; on floats."""
    answer = CompliantContact(law).answer(DT)
    p = np.zeros(3)
    for _ in range(visits):
        p = np.array([*answer({"gap": gap}, Vector(*(b + G @ p)), Vector(*p), symmetric(G))])
    return p, b + G @ p


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("gap", [-1e-3, -1e-4])
def test_the_law_holds_at_the_end_of_the_step(name: str, gap: float) -> None:
    """With a matrix like that of a body of 2 kg, hit off its centre; slips well above the smooth part of friction."""
    law = LAWS[name]
    G = np.array([[0.6, 0.05, 0.1], [0.05, 0.5, -0.05], [0.1, -0.05, 0.7]])
    for b in ([1.0, 0.5, -0.2], [-2.0, 0.1, 0.0], [0.5, -0.5, -1.0]):
        p, u = solved(law, gap, np.array(b), G)
        normal, friction = law(-gap - DT * u[2], -u[2], (u[0], u[1]))
        # derivatives by differences of 1e-7 slow the last steps down; forces reach 1e3 N
        np.testing.assert_allclose(p, np.array([*friction, normal]) * DT, atol=1e-7)


def test_closed_form_of_a_linear_spring() -> None:
    """p_n = dt (k depth - (k dt + d) b_n) / (1 + dt (k dt + d) G)."""
    k, d, depth, b, g = 1e4, 100.0, 2e-3, -0.3, 0.5
    p, u = solved(SpringDamper(k, d, friction=0), -depth, np.array([0, 0, b]), np.eye(3) * g)
    gain = DT * (k * DT + d)
    assert p[2] == pytest.approx((DT * k * depth - gain * b) / (1 + gain * g), rel=1e-8)
    assert u[2] == pytest.approx(b + g * p[2], rel=1e-12)


def test_nothing_happens_far_from_the_ground() -> None:
    p, _ = solved(LAWS["soft"], 0.5, np.array([1.0, 2, -3]), np.eye(3))
    np.testing.assert_array_equal(p, 0)


def test_kernel_and_floats_agree() -> None:
    """The traced answer has exact derivatives, that on floats those by differences: one step from the same place."""
    contact = CompliantContact(LAWS["hertz"])

    def answer(gap, u, p, G):
        return list(contact.answer(DT)({"gap": gap[0]}, Vector(*u), Vector(*p), Symmetric3(*G)))

    kernel = kernel_from_function(answer, {"gap": (1,), "u": (3,), "p": (3,), "G": (6,)}, name="answer")
    G = symmetric(np.array([[0.6, 0.05, 0.1], [0.05, 0.5, -0.05], [0.1, -0.05, 0.7]]))
    u, p = np.array([0.3, -0.2, -0.1]), np.array([-0.01, 0.01, 0.1])
    found = kernel(np.array([-1e-3]), u, p, np.array([float(x) for x in G]))
    expected = contact.answer(DT)({"gap": -1e-3}, Vector(*u), Vector(*p), G)
    np.testing.assert_allclose(found, [*expected], rtol=1e-5)


def test_the_force_has_the_normal_last() -> None:
    f = CompliantContact(SpringDamper(1e4, 0, friction=0.5)).force(-1e-3, Vector(2.0, 0.0, 0.0))
    np.testing.assert_allclose([*f], [-5, 0, 10])


@pytest.mark.parametrize(
    "values",
    [{"law": 3}, {"sweeps": 0}, {"tolerance": 0}, {"tolerance": math.nan}, {"law": lambda depth, rate, slip: depth}],
)
def test_settings_that_cannot_be(values: dict) -> None:
    with pytest.raises(ContactError) as error:
        CompliantContact(**values)
    assert error.value.field == next(iter(values))
    assert error.value.cure
