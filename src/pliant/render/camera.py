"""Where pictures are taken from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pliant.errors import PliantError, unknown_name

__all__ = ["AZIMUTH", "Camera", "Eye", "as_camera"]

_NAMED: dict[str, dict[str, Any]] = {
    "perspective": {"elevation": 14},
    "front": {"azimuth": 0, "elevation": 5},
    "back": {"azimuth": 180, "elevation": 5},
    "left": {"azimuth": 90, "elevation": 5},
    "right": {"azimuth": -90, "elevation": 5},
    "top": {"azimuth": 0, "elevation": 89},
}


AZIMUTH = 40.0
"""From where a camera looks unless told [degrees]."""


@dataclass(frozen=True)
class Camera:
    """A camera that looks at the robot.

        log.to_video("run.mp4", camera="left")
        log.to_video("run.mp4", camera=pliant.render.camera.Camera(azimuth=90, elevation=20, follow=False))

    Attributes:
        azimuth: from where it looks, about z and from the x axis on [degrees]: 0 sees the robot's front. None is 40, or
            from below where the ground rises.
        elevation: above the horizon [degrees].
        distance: from the target [m]; None fits the robot.
        target: point in the world that it looks at [m]; None is the middle of the robot.
        follow: whether it moves along with the robot; if not, it sees all of its way, unless told a distance.
        zoom: larger than 1 is nearer, where the distance is chosen by the camera.
        field_of_view: from top to bottom [degrees].
    """

    azimuth: float | None = None
    elevation: float = 14.0
    distance: float | None = None
    target: Sequence[float] | None = None
    follow: bool = True
    zoom: float = 1.0
    field_of_view: float = 28.0

    def __post_init__(self) -> None:
        for name in ("azimuth", "elevation", "zoom", "field_of_view"):
            value = getattr(self, name)
            if name == "azimuth" and value is None:
                continue
            if not isinstance(value, int | float | np.floating | np.integer) or not math.isfinite(value):
                raise PliantError(f"camera: {name} is {value!r}; it takes a finite number")
        if not -89.9 <= self.elevation <= 89.9:
            raise PliantError(f"camera: elevation is {self.elevation}; it takes -89.9 to 89.9 degrees")
        if not 1 <= self.field_of_view <= 150:
            raise PliantError(f"camera: field_of_view is {self.field_of_view}; it takes 1 to 150 degrees")
        if self.zoom <= 0 or (self.distance is not None and not self.distance > 0):
            raise PliantError("camera: zoom and distance must be above zero")
        if self.target is not None:
            target = np.asarray(self.target, dtype=float)
            if target.shape != (3,) or not np.isfinite(target).all():
                raise PliantError(f"camera: target is {self.target!r}; it takes three numbers in m")

    def eye(self, center: np.ndarray, radius: float, width: int, height: int) -> "Eye":
        """The camera at work: it has a ball about ``center`` in the picture, unless its target and distance are told.

        Args:
            center: of what it shows [m], in the world.
            radius: of what it shows [m].
            width, height: of the picture [pixels].
        """
        half = math.radians(self.field_of_view) / 2
        narrow = min(half, math.atan(math.tan(half) * width / height))
        distance = self.distance if self.distance is not None else radius / math.sin(narrow) / self.zoom
        target = center if self.target is None else np.asarray(self.target, dtype=float)
        a, e = math.radians(AZIMUTH if self.azimuth is None else self.azimuth), math.radians(self.elevation)
        back = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
        right = np.array([-math.sin(a), math.cos(a), 0.0])
        up = np.cross(back, right)
        return Eye(target + distance * back, right, up, -back, height / 2 / math.tan(half), width, height)


@dataclass(frozen=True)
class Eye:
    """A camera at its place.

    Attributes:
        place: in the world [m].
        right, up, forward: unit vectors in the world.
        focal: distance of the picture [pixels].
        width, height: of the picture [pixels].
    """

    place: np.ndarray
    right: np.ndarray
    up: np.ndarray
    forward: np.ndarray
    focal: float
    width: int
    height: int

    def scaled(self, k: int) -> "Eye":
        """The same picture with k times the pixels on a side."""
        return replace(self, focal=k * self.focal, width=k * self.width, height=k * self.height)

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Points of the world (..., 3) as (x, y, 1/z), in pixels from the upper left; NaN behind the camera."""
        apart = points - self.place
        z = apart @ self.forward
        z = np.where(z > 1e-3, z, np.nan)
        x = self.width / 2 + self.focal * (apart @ self.right) / z
        y = self.height / 2 - self.focal * (apart @ self.up) / z
        return np.stack([x, y, 1 / z], axis=-1)

    def numbers(self) -> np.ndarray:
        """What the kernels of light take: place, right, up, forward, focal length, half of width and height."""
        own = [self.focal, self.width / 2, self.height / 2]
        return np.concatenate([self.place, self.right, self.up, self.forward, own])


def as_camera(given: Any) -> Camera:
    """A camera from what a user gives: one, a name such as "left", a mapping of its fields, or None."""
    if given is None:
        return Camera()
    if isinstance(given, Camera):
        return given
    if isinstance(given, str):
        if given not in _NAMED:
            raise PliantError(unknown_name("camera", given, _NAMED))
        return Camera(**_NAMED[given])
    if isinstance(given, Mapping):
        valid = [f.name for f in fields(Camera)]
        for name in given:
            if name not in valid:
                raise PliantError(unknown_name("field", name, valid, "Camera"))
        return Camera(**given)
    raise PliantError(f"camera is {given!r}; it takes a Camera, a mapping of its fields, or one of {', '.join(_NAMED)}")
