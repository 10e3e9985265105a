"""Cameras: where pictures are taken from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pliant.checks import check, check_known, is_real
from pliant.errors import PliantError, bad_value

_TINY = float(np.finfo(float).tiny)
_RANGES = (
    ("azimuth", -math.inf, math.inf, "a number [degrees]"), ("elevation", -89.9, 89.9, "-89.9 to 89.9 degrees"),
    ("field_of_view", 1, 150, "1 to 150 degrees"), ("zoom", _TINY, math.inf, "a number above 0"),
    ("distance", _TINY, math.inf, "a number above 0 [m]"),
)  # fmt: skip
_NAMED: dict[str, dict[str, Any]] = {
    "perspective": {"elevation": 14},
    "front": {"azimuth": 0, "elevation": 5},
    "back": {"azimuth": 180, "elevation": 5},
    "left": {"azimuth": 90, "elevation": 5},
    "right": {"azimuth": -90, "elevation": 5},
    "top": {"azimuth": 0, "elevation": 89},
}


AZIMUTH = 40.0
"""The default direction of a camera [degrees]."""


@dataclass(frozen=True)
class Camera:
    """A camera that looks at the robot.

        log.to_video("run.mp4", camera="left")
        log.to_video("run.mp4", camera=pliant.render.camera.Camera(azimuth=90, elevation=20, follow=False))

    Attributes:
        azimuth: direction from the target to the camera, about z from the x axis on [degrees]: 0 sees the robot's
            front. None (default): 40, or from downhill where the ground rises.
        elevation: above the horizon [degrees].
        distance: from the target [m]; None (default): the robot fits into the picture.
        target: point in the world to look at [m]; None (default): the middle of the robot.
        follow: whether the camera moves along with the robot; if not, it sees the whole path, unless ``distance`` is
            given.
        zoom: above 1, the camera is nearer; without effect if ``distance`` is given.
        field_of_view: vertical [degrees].
    """

    azimuth: float | None = None
    elevation: float = 14.0
    distance: float | None = None
    target: Sequence[float] | None = None
    follow: bool = True
    zoom: float = 1.0
    field_of_view: float = 28.0

    def __post_init__(self) -> None:
        for name, low, high, takes in _RANGES:
            value: Any = getattr(self, name)
            can_be_free = name in ("azimuth", "distance")
            is_right = can_be_free if value is None else is_real(value) and low <= value <= high
            check(name, value, takes, is_right, subject="the camera", error=PliantError)
        if self.target is not None:
            target = np.asarray(self.target)
            is_point = target.shape == (3,) and target.dtype.kind in "fiu" and bool(np.isfinite(target).all())
            check("target", self.target, "three numbers [m]", is_point, subject="the camera", error=PliantError)

    def eye(self, center: np.ndarray, radius: float, width: int, height: int) -> "Eye":
        """The camera at its place: a ball about ``center`` fits into the picture, unless target and distance are given.

        Args:
            center, radius: of the ball, in the world [m].
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

    def rays(self, points: np.ndarray) -> list[np.ndarray]:
        """x, y and z of the directions through points of the picture (n, 2), with 1 along the camera's forward."""
        x, y = (points[:, 0] - self.width / 2) / self.focal, (self.height / 2 - points[:, 1]) / self.focal
        axes = zip(self.forward.tolist(), self.right.tolist(), self.up.tolist(), strict=True)
        return [f + x * r + y * u for f, r, u in axes]

    def numbers(self) -> np.ndarray:
        """For `pliant.render.shading`: place, right, up, forward, focal length, half of width and height."""
        own = [self.focal, self.width / 2, self.height / 2]
        return np.concatenate([self.place, self.right, self.up, self.forward, own])


def as_camera(given: Any) -> Camera:
    """A camera from a `Camera`, a name such as "left", a mapping of its fields, or None for the default."""
    if given is None or isinstance(given, Camera):
        return given or Camera()
    if isinstance(given, str):
        check_known("camera", given, _NAMED)
        return Camera(**_NAMED[given])
    if isinstance(given, Mapping):
        valid = [f.name for f in fields(Camera)]
        for name in given:
            check_known("field", name, valid, "Camera")
        return Camera(**given)
    raise PliantError(bad_value("camera", given, f"a Camera, a mapping of its fields, or one of {', '.join(_NAMED)}"))
