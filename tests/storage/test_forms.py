"""Forms follow from the dataclasses: each field is stored, and what does not fit is an error that names the place."""

from dataclasses import dataclass, fields
from typing import Any, Literal

import msgspec
import pytest

import pliant
from pliant.errors import PliantError
from pliant.spatial import Vector
from pliant.storage.forms import LEFT_OUT, checked, form_of, made, robot_form


@dataclass(frozen=True)
class Sensor:
    """As one that is added to the robot some day."""

    name: str
    kind: Literal["gyroscope", "encoder"]
    noise: Any
    axis: Vector
    gains: tuple[Any, ...] = ()
    body: str | None = None


PLAIN = {"name": "imu", "kind": "gyroscope", "noise": 0, "axis": [0, 0.5, 1], "gains": [1, 2.5], "body": None}


def test_a_new_dataclass_has_a_form() -> None:
    found = made(checked(PLAIN, form_of(Sensor), "the sensor"))
    assert isinstance(found, Sensor) and isinstance(found.axis, Vector) and list(found.axis) == [0, 0.5, 1]
    assert (found.name, found.noise, found.gains) == ("imu", 0, (1, 2.5)) and type(found.noise) is int


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"name": 7}, r"`str`, got `int` - at `\$\.name`"),
        ({"kind": "camera"}, r"'camera' - at `\$\.kind`"),
        ({"noise": True}, r"got `bool` - at `\$\.noise`"),
        ({"noise": [1]}, r"got `array` - at `\$\.noise`"),
        ({"axis": [0, 1]}, r"\$\.axis"),
        ({"axis": [0, 1, 2, 3]}, r"\$\.axis"),
        ({"gains": [1, "2"]}, r"`str` - at `\$\.gains\[1\]`"),
        ({"code": "import os"}, "unknown field `code`"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, Any], place: str) -> None:
    with pytest.raises(PliantError, match=f"the sensor in the log is damaged: .*{place}") as error:
        checked(PLAIN | change, form_of(Sensor), "the sensor")
    assert error.value.subject == "the sensor"


def test_all_of_a_robot_is_stored() -> None:
    stored = {f.name for f in msgspec.structs.fields(robot_form())}
    assert stored == {f.name for f in fields(pliant.Robot)} - LEFT_OUT | {"digest"}
