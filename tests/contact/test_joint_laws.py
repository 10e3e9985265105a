"""Laws of joints by pieces: for one joint, rounds end on the graph of the law, wherever they begin."""

from typing import Any

import numpy as np
import pytest

from pliant.contact.joint_laws import (
    backlash_impulse, backlash_piece, friction_impulse, friction_piece, limit_piece, motor_line, motor_piece,
)  # fmt: skip


def joint(rng: np.random.Generator) -> tuple[float, float]:
    """Inertia and impulse of a joint without its law: D u = b + p."""
    return np.exp(rng.uniform(-3, 3)), rng.normal() * np.exp(rng.uniform(-2, 2))


def root(D: float, b: float, law: Any) -> float:
    """The u with D u - b = p(u), p a graph that never rises, by bisection."""
    low, high = -1e6, 1e6
    for _ in range(200):
        u = (low + high) / 2
        low, high = (u, high) if D * u - b < law(u) else (low, u)
    return (low + high) / 2


@pytest.mark.parametrize("start", [-1, 0, 1])
def test_dry_friction(start: int) -> None:
    rng = np.random.default_rng(start + 5)
    for _ in range(100):
        (D, b), bound, piece = joint(rng), abs(rng.normal()), start
        for _ in range(6):
            p = -b if piece == 0 else -piece * bound
            u = 0.0 if piece == 0 else (b + p) / D
            new = friction_piece(piece, u, p, bound)
            if new == piece:
                break
            piece = new
        assert new == piece
        assert u == pytest.approx(root(D, b, lambda u, bound=bound: -np.sign(u) * bound), abs=1e-6)
        assert friction_impulse(piece, p, bound) == pytest.approx(D * u - b, abs=1e-9)


@pytest.mark.parametrize("start", [-1, 0, 1])
def test_limits(start: int) -> None:
    rng = np.random.default_rng(start + 9)
    for _ in range(100):
        (D, b), (low, high), piece = joint(rng), np.sort(rng.normal(size=2)), start
        for _ in range(6):
            u = {0: b / D, 1: low, -1: high}[piece]
            p = D * u - b
            new = limit_piece(piece, u, p, low, high)
            if new == piece:
                break
            piece = new
        assert new == piece
        assert u == pytest.approx(min(max(b / D, low), high))


@pytest.mark.parametrize("start", [-1, 0, 1])
def test_motors(start: int) -> None:
    """A line in u that is cut off at the limits, however light the joint and however large its gains."""
    rng = np.random.default_rng(start + 2)
    for _ in range(200):
        (D, b), piece = joint(rng), start
        upper = abs(rng.normal())
        drive = {"torque": rng.normal() * 5, "gain": np.exp(rng.uniform(-2, 8)), "is limited": True}
        drive |= {"lower": -upper, "upper": upper, "supply": None, "drag": 0}
        for _ in range(8):
            torque, gain = motor_line(piece, drive)
            u = (b + torque) / (D + gain)
            new = motor_piece(piece, drive, u)
            if new == piece:
                break
            piece = new
        assert new == piece
        cut = lambda u, d=drive: min(max(d["torque"] - d["gain"] * u, d["lower"]), d["upper"])  # noqa: E731
        assert u == pytest.approx(root(D, b, cut), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("start", [-2, -1, 0, 1, 2])
def test_backlash(start: int) -> None:
    """A spring and damper beyond each end of a free way; a damper may push on arrival, and must not pull."""
    rng = np.random.default_rng(start + 20)
    for _ in range(300):
        D, b = joint(rng)
        low, high = -abs(rng.normal()), abs(rng.normal())
        rate = np.exp(rng.uniform(-2, 3))
        bounds = {"above": rng.normal() - rate * high, "below": rng.normal() - rate * low, "rate": rate}
        bounds |= {"low": low, "high": high}

        def law(u: float, bounds: dict = bounds) -> float:
            if u > bounds["high"]:
                return -max(0.0, bounds["above"] + bounds["rate"] * u)
            return -min(0.0, bounds["below"] + bounds["rate"] * u) if u < bounds["low"] else 0.0

        piece = start
        for _ in range(8):
            if abs(piece) == 2:
                u = high if piece > 0 else low
            elif piece:
                u = (b - bounds["above" if piece > 0 else "below"]) / (D + rate)
            else:
                u = b / D
            p = D * u - b
            new = backlash_piece(piece, u, p, bounds)
            if new == piece:
                break
            piece = new
        assert new == piece
        assert u == pytest.approx(root(D, b, law), abs=1e-6)
        assert backlash_impulse(piece, u, p, bounds) == pytest.approx(D * u - b, abs=1e-9)
