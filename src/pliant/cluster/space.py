"""What a sweep tries: grids, lists, and samples of distributions."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.chance import check_seed, stream_of, uniforms_at
from pliant.checks import check, check_name, check_one_of, is_whole
from pliant.errors import PliantError, bad_value

Values = dict[str, Any]
"""Arguments of a trial, plain data by name."""

_SUBJECT = "the space of the sweep"


def points_of(space: Any, *, samples: int | None = None, method: str = "latin", seed: int = 0) -> list[Values]:
    """All points of a space, in order.

    Args:
        space: a mapping from names to values, or a list of mappings that is taken as it is. In a mapping, lists and
            ranges span a grid, the last name fastest; one value is the same in all points; and distributions
            (`Uniform`, `LogUniform`, `Normal`, `Exponential` of `pliant.environment`) are sampled at each point of it.
        samples: how many samples at each point of the grid.
        method: "latin" for a Latin hypercube, where each of as many slices of equal likelihood of each distribution
            has one sample [McKay, Beckman and Conover 1979], or "random".
        seed: of the samples; the same on every machine.
    """
    if isinstance(space, Mapping):
        return _of_mapping(space, samples, method, seed)
    is_list = isinstance(space, Iterable) and not isinstance(space, str | bytes)
    check("space", space, "a dict of lists and distributions, or a list of dicts", is_list, error=PliantError)
    found: list[Any] = list(space)
    for k, point in enumerate(found):
        check(f"point {k}", point, "a dict", isinstance(point, Mapping), subject=_SUBJECT, error=PliantError)
    check("samples", samples, "None: a list of points is taken as it is", samples is None, error=PliantError)
    return [{_name(name): _plain(name, value) for name, value in point.items()} for point in found]


def _of_mapping(space: Mapping[str, Any], samples: int | None, method: str, seed: int) -> list[Values]:
    check_one_of("method", method, ("latin", "random"), subject=_SUBJECT, error=PliantError)
    # those of `pliant.environment`, which is not imported for a grid
    drawn = {_name(name): x for name, x in space.items() if hasattr(x, "draw")}
    axes = {_name(name): _axis(name, x) for name, x in space.items() if name not in drawn}
    grid = [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values())]
    if not drawn:
        check("samples", samples, "None: nothing of the space is a distribution", samples is None, error=PliantError)
        return grid
    is_count = is_whole(samples) and int(samples or 0) > 0
    check("samples", samples, f"1 or more, since {next(iter(drawn))!r} is a distribution", is_count, error=PliantError)
    count, found = int(samples or 0), []
    for place, point in enumerate(grid):
        columns = {name: _samples(x, name, count, method, check_seed(seed), place) for name, x in drawn.items()}
        rows = zip(*columns.values(), strict=True)
        # in the order of the space
        found += [{n: {**point, **dict(zip(columns, row, strict=True))}[n] for n in space} for row in rows]
    return found


def _samples(distribution: Any, name: str, count: int, method: str, seed: int, place: int) -> list[float]:
    """Samples of a distribution at a point of the grid; those of one name do not hang on other names."""
    stream = stream_of(f"sweep.{name}")
    u, order, *_ = uniforms_at(seed, stream, place, np.arange(count))
    if method == "latin":
        u = (np.argsort(order, kind="stable") + u) / count
    return [_quantile(distribution, float(x)) for x in u]


def _quantile(distribution: Any, u: float) -> float:
    """The number below which a share u of a distribution is."""
    from pliant.environment.distributions import Exponential, LogUniform, Normal, Uniform

    if isinstance(distribution, Normal):
        from statistics import NormalDist

        return distribution.mean + distribution.deviation * NormalDist().inv_cdf(u)
    if isinstance(distribution, Exponential):
        return -distribution.mean * math.log1p(-u)
    if isinstance(distribution, LogUniform):
        low, high = math.log(distribution.low), math.log(distribution.high)
        return math.exp(low + (high - low) * u)
    is_known = isinstance(distribution, Uniform)
    takes = "lists, Uniform, LogUniform, Normal or Exponential"
    check("distribution", distribution, takes, is_known, subject=_SUBJECT, error=PliantError)
    return distribution.low + (distribution.high - distribution.low) * u


def _name(name: Any) -> str:
    check_name("name", name, subject=_SUBJECT, error=PliantError)
    is_argument = name.isidentifier()
    check("name", name, "the name of an argument of the trial", is_argument, subject=_SUBJECT, error=PliantError)
    return name


def _axis(name: str, value: Any) -> list[Any]:
    is_several = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    found = list(value) if is_several else [value]
    check(name, value, "one value or more", bool(found), subject=_SUBJECT, error=PliantError)
    return [_plain(name, x) for x in found]


def _plain(name: str, value: Any) -> Any:
    """A value that a file can hold; what cannot be told apart a year later is refused."""
    if isinstance(value, np.generic):
        value = value.item()
    is_number = isinstance(value, int | float) and math.isfinite(value)
    if value is None or isinstance(value, bool | str) or is_number:
        return value
    if isinstance(value, list | tuple):
        return [_plain(name, x) for x in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(name, x) for key, x in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(name, value.tolist())
    fault = bad_value(name, value, "finite numbers, texts, lists and dicts of these", _SUBJECT)
    raise PliantError(fault).with_cure("give a name or numbers, of which the trial makes the thing itself")
