"""Steps, dense output and roots, on functions that are known."""

import math

import numpy as np
import pytest

from pliant.integrators.adaptive import NoStepError, StepControl, Stepper
from pliant.integrators.dense import Chart, first_root
from simulated_robots import BALL, PENDULUM

CHART = Chart(PENDULUM)


def swing(t, q, v):
    return -4 * q


def test_steps_meet_their_tolerance_and_so_does_dense_output() -> None:
    errors = []
    for rtol in (1e-5, 1e-7, 1e-9):
        stepper = Stepper(CHART, StepControl(rtol, rtol / 100, largest=1.0))
        t, q, v, worst = 0.0, np.array([1.0]), np.array([0.0]), 0.0
        while t < 3:
            segment = stepper.step(swing, t, q, v, 3.0)
            for s in np.linspace(segment.t, segment.t + segment.h, 7):
                worst = max(worst, abs(segment(s)[0][0] - math.cos(2 * s)))
            t = segment.t + segment.h
            q, v = segment(t)
        assert t == 3
        errors.append(worst)
        assert worst < 100 * rtol
    assert errors[0] > errors[1] > errors[2]


def test_the_chart_turns_as_the_velocity_says() -> None:
    rng = np.random.default_rng(0)
    chart = Chart(BALL)
    q, w, v = BALL.random(1), 0.5 * rng.standard_normal(6), rng.standard_normal(6)
    moved, rate = chart.integrate(q, w), np.array(chart.chart_rate(w, v))
    h = 1e-6
    ahead, behind = chart.integrate(q, w + h * rate), chart.integrate(q, w - h * rate)
    assert BALL.difference(behind, ahead) / (2 * h) == pytest.approx(v, abs=1e-8)
    assert moved == pytest.approx(BALL.integrate(q, w), abs=1e-14)


def test_no_step_is_short_enough_for_a_pole() -> None:
    stepper = Stepper(CHART, StepControl(1e-8, 1e-10, largest=0.02))
    t, q, v = 0.0, np.zeros(1), np.zeros(1)
    with pytest.raises(NoStepError):
        while t < 1:
            segment = stepper.step(lambda t, q, v: np.array([1 / (0.5 - t) ** 3 if t != 0.5 else math.nan]), t, q, v, 1)
            t = segment.t + segment.h
            q, v = segment(t)
    assert t == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("function, root", [
    (lambda t: 0.3 - t, 0.3),
    (lambda t: math.cos(5 * t), math.pi / 10),
    (lambda t: (0.61 - t) ** 3, 0.61),
    (lambda t: 1e-9 * (0.7 - t), 0.7),
    (lambda t: math.exp(-40 * t) - math.exp(-12), 0.3),
    (lambda t: 1.0 if t < 0.123 else -1.0, 0.123),
])  # fmt: skip
def test_roots(function, root: float) -> None:
    found = first_root(lambda t: np.array([1.0, function(t)]), 0, 1, np.zeros(2, bool), np.full(2, 1e-12))
    assert found is not None
    # the search ends within 1e-12 after the root; triple roots are as flat as 1e-12 in the time's cube
    assert found == (pytest.approx(root, abs=1e-5 if function(root + 1e-6) > -1e-17 else 2e-12), 1)
    assert function(found[0]) <= 0


def test_what_begins_at_zero_counts_once_it_was_above() -> None:
    least, armed = np.full(1, 1e-10), np.zeros(1, bool)
    # a bounce: up, and down again within the interval
    found = first_root(lambda t: np.array([t * (0.1 - t)]), 0, 1, armed, least)
    assert found == (pytest.approx(0.1, abs=1e-12), 0)
    # up and away
    assert first_root(lambda t: np.array([t * t]), 0, 1, armed, least) is None
    assert armed.all()
    # it was above, and has jumped
    assert first_root(lambda t: np.array([t - 0.5]), 0, 1, armed, least) == (0, 0)
