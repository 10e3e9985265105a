"""Trials of sweeps, in a module that workers import."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np


def square(x: float, seed: int = 0) -> dict[str, Any]:
    """What most trials return: numbers, and an array."""
    return {"y": x * x + seed, "path": np.arange(3) * x}


def noted(x: float, folder: str) -> dict[str, Any]:
    """Notes that it was computed, one file a time."""
    (Path(folder) / f"{x}-{time.time_ns()}").touch()
    return {"y": 2 * x}


def fate(k: int, folder: str, plan: str) -> dict[str, Any]:
    """A trial that does what a letter of the plan says: "." returns, "r" raises, "h" hangs, "k" is killed."""
    (Path(folder) / f"{k}-{os.getpid()}-{time.time_ns()}").touch()
    what = plan[k]
    if what == "r":
        raise ValueError(f"trial {k} had to fail")
    if what == "h":
        time.sleep(600)
    if what == "k":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.002 * (k % 5))
    return {"y": float(np.sin(k)), "word": "odd" if k % 2 else "even"}


def infinite(x: float) -> dict[str, Any]:
    return {"y": x / 0.0 if x == 0 else float("inf") * x, "nan": float("nan")}


def wrong(x: float) -> Any:
    return object()


def leaves(x: float) -> None:
    raise SystemExit(3)


def once_killed(x: float, folder: str) -> float:
    """The first attempt is killed."""
    mark = Path(folder) / f"tried-{x}"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 3 * x


def echo(held: dict[str, Any], x: Any) -> Any:
    """For crews: what it was given."""
    return x


def end(held: dict[str, Any]) -> None:
    """For crews: the worker is killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(held: dict[str, Any], seconds: float) -> float:
    """For crews: takes so long."""
    time.sleep(seconds)
    return seconds


def slow_once(held: dict[str, Any], k: int, folder: str) -> int:
    """For crews: the first one to have number 0 takes very long."""
    mark = Path(folder) / "slow"
    if k == 0 and not mark.exists():
        mark.touch()
        time.sleep(60)
    return k


def remember(held: dict[str, Any], x: Any) -> None:
    """For crews: a first call."""
    held["x"] = x


def remembered(held: dict[str, Any]) -> Any:
    """For crews: what the first call kept."""
    return held["x"]


def process_id(held: dict[str, Any]) -> int:
    """For crews: who it is."""
    return os.getpid()
