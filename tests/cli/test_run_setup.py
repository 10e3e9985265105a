"""From settings to a simulation: grounds, contact models and rows of numbers."""

import numpy as np
import pytest

from pliant.cli.run_setup import as_contact, as_ground, as_row
from pliant.cli.settings import Settings
from pliant.errors import PliantError


def test_grounds_have_the_heights_they_say() -> None:
    assert as_ground("none", Settings()) is None
    x = np.array([0.35, 1.0])
    for word, height in (
        ("flat", [0, 0]),
        ("flat=0.2", [0.2, 0.2]),
        ("slope=45", x),
        ("slope=45,90", [0, 0]),
        ("stairs=0.1,0.3", [0.2, 0.4]),
        ("stairs=0.1,0.3,2", [0.2, 0.2]),
        ("waves=0.1,4", 0.1 * np.sin(np.pi / 2 * x) * 0),
    ):
        # rounding of a tangent
        np.testing.assert_allclose(as_ground(word, Settings()).height(x, 0 * x), height, rtol=0, atol=1e-12)


def test_contacts() -> None:
    rigid = as_contact(Settings(friction=0.3, restitution=0.5))
    assert (rigid.friction, rigid.restitution) == (0.3, 0.5)
    law = as_contact(Settings(contact="compliant=1e4,50", friction=0.3)).law
    assert (law.stiffness, law.damping, law.friction) == (1e4, 50, 0.3)
    assert as_contact(Settings(contact="compliant")).law.friction == 0.7
    law = as_contact(Settings(contact="hunt-crossley=1e5,0.2")).law
    assert (law.stiffness, law.dissipation, law.exponent) == (1e5, 0.2, 1.5)


@pytest.mark.parametrize("settings, words", [
    (Settings(ground="flat=nan"), "--ground: flat is 'nan', where 'nan' is not a number"),
    (Settings(ground="flatt"), "did you mean 'flat'"),
    (Settings(ground="slope"), "slope has 0 numbers; it takes 1 to 2"),
    (Settings(ground="stairs=0.1,0.3,1.5"), "it takes a whole number"),
    (Settings(ground="slope=95"), "--ground: "),
    (Settings(contact="rigd"), "did you mean 'rigid'"),
    (Settings(contact="compliant", restitution=0.5), "--restitution is 0.5; it takes --contact rigid"),
    (Settings(contact="hunt-crossley"), "it takes 2 to 3"),
])  # fmt: skip
def test_errors_name_the_option(settings: Settings, words: str) -> None:
    with pytest.raises(PliantError) as error:
        as_ground(settings.ground, settings) if settings.ground else as_contact(settings)
    assert words in str(error.value)


def test_rows() -> None:
    names = ("a", "b")
    assert as_row(Settings(q={"b": 2.0}), "q", names, [0, 0]).tolist() == [0, 2]
    assert as_row(Settings(q=(1, 2)), "q", names, [0, 0]).tolist() == [1, 2]
    assert as_row(Settings(), "q", names, [3, 4]).tolist() == [3, 4]
    with pytest.raises(PliantError, match=r"--q is \(1,\); it takes 2 numbers \(a, b\), or some by name, b=0.5"):
        as_row(Settings(q=(1,)), "q", names, [0, 0])
    with pytest.raises(PliantError, match="--v: no coordinate named 'c'"):
        as_row(Settings(v={"c": 1}), "v", names, [0, 0])
