"""Random throws of boxes, rods, chains and flails go through, and gain no energy; `python -m bench.throws` has more."""

import pytest

from bench.throws import MOST, random_throw, thrown

# of seed 0: a face that tips over its edge, and a box that rests on stairs
HARD = {29: 1.0, 48: 1.4}
ORDINARY = (6, 8, 15, 47, 53, 64)


@pytest.mark.parametrize(("number", "duration"), [*HARD.items(), *((k, 0.5) for k in ORDINARY)])
def test_throws_go_through(number: int, duration: float) -> None:
    flight = thrown(random_throw(0, number), duration)
    assert flight.error == ""
    assert flight.t == pytest.approx(duration)
    assert flight.events > 0
    assert flight.gain < MOST
