"""The program of a step under construction, and what all of its stages share.

A stage is a function of a `*_stages.py` that reads and writes variables and records of the program by their names.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import reduce
from typing import Any

from pliant.compiler.tracing import Stages
from pliant.contact.touching import Touch
from pliant.scalar import Scalar, Scalars, either, select
from pliant.simulation.model import StepModel
from pliant.simulation.parameters import Parameters
from pliant.spatial import Matrix3, MatrixRotation, Transform, Vector

Record = dict[str, Any]
Swing = tuple[str, list[float]]
"""A joint, and the share of each of its axes that swings."""

# names that every group of contacts has, and every island of loops, with its number
_OF_GROUPS = (
    "near", "rows", "target", "impulse", "last impulse", "push", "slides", "rounding", "visit", "slid",
    "heading", "length", "long",
)  # fmt: skip
_OF_ISLANDS = ("basis", "chord", "opening", "weak", "strong", "factor", "aims")


class StepProgram:
    """The program of a step under construction: the stages so far, the model, and its numbers that vary."""

    def __init__(self, stages: Stages, model: StepModel, parameters: Parameters):
        self.stages, self.model, self.parameters = stages, model, parameters
        self.swings: list[Swing] = []
        nv, limits, pinned = model.robot.nv, len(model.stop_rows), len(model.pinned_dofs)
        sizes = dict.fromkeys(("w", "v next", "v mean", "shift", "change"), nv)
        sizes |= {"saturated": model.robot.nu + len(model.bristled_motors), "frictions": len(model.bristled_motors)}
        sizes |= dict.fromkeys(("held", "stop low", "stop high"), limits) | {"grips": len(model.steady_rows)}
        sizes |= dict.fromkeys(("pushed", "reaction", "left"), pinned)
        sizes |= dict.fromkeys(("error", "converged", "residual", "iterations", "scale", "slow", "guesses"), 1)
        sizes["labours"] = 1
        sizes |= dict.fromkeys(("settled", "deep", "landed", "plastic", "unsolved"), 1)
        sizes |= dict.fromkeys(("agreed", "changed", "pins", "rounds", "misfit"), 1)
        sizes |= dict.fromkeys(("patience", "circles", "goal", "tries", "sweeping"), 1)
        sizes["free"] = nv if model.can_fail else 0
        sizes |= dict.fromkeys(("forces", "gained", "approach"), nv if model.is_elastic else 0)
        if model.can_be_fast:
            sizes |= {"fast": 1, "whirls": 1, "expects": 1, "turns": 2, "ahead": nv, "turning": nv}
        if model.has_impacts:
            sizes |= {"lag": nv, "lags": 1}
        for k, group in enumerate(model.groups):
            contacts = len(group.names)
            sizes |= {
                f"near {k}": 1,
                f"target {k}": contacts,
                f"impulse {k}": group.size,
                f"push {k}": contacts,
                f"rounding {k}": 1,
            }
            if is_together(model, k):
                sizes |= {f"length {k}": 1, f"long {k}": 1}
        if model.closures:
            sizes |= {
                "w open": nv,
                "w pushed": nv,
                "last shift": nv,
                "open": 1,
                "reach": 1,
                "closed": 1,
                "gaping": 1,
                "bends": 1,
            }
        for k, island in enumerate(model.islands):
            rows = len(island.locks) + sum(model.closures[c].size for c in island.closures)
            sizes |= {f"weak {k}": 1, f"strong {k}": 1, f"aims {k}": rows}
        for name, size in sizes.items():
            stages.variable(name, size)

    def add(self, function: Callable[..., Mapping[str, Any]], k: int | None = None) -> None:
        """Add a stage, which reads what its parameters name and returns what it writes, by name.

        The first parameter is the model, with the numbers of the robot at hand. ``v_next`` stands for "v next". What
        each contact group and each island of loops has, such as ``near``, is a list of all; with ``k`` it is that of
        number k, and ``bases`` are those of all islands. A parameter with a default takes it where there is no such
        variable or record.
        """
        wanted = {}
        for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
            names = self._names(name.replace("_", " "), k)
            is_there = isinstance(names, list) or names in self.stages
            if is_there or parameter.default is inspect.Parameter.empty:
                wanted[name] = names
        reads = [one for names in wanted.values() for one in (names if isinstance(names, list) else [names])]
        by_chance = ["disturbances"] if self.model.disturbances else []

        def stage(p: Scalars, *values: Any) -> dict[str, Any]:
            left = iter(values)
            model = self.parameters.applied(p)
            model = model.disturbed(next(left)) if by_chance else model
            given = {
                name: [next(left) for _ in names] if isinstance(names, list) else next(left)
                for name, names in wanted.items()
            }
            written: dict[str, Any] = {}
            for name, value in function(model, **given).items():
                names = self._names(name, k)
                written |= dict(zip(names, value, strict=True)) if isinstance(names, list) else {names: value}
            return written

        self.stages.add(stage, ("parameters", *by_chance, *reads))

    def _names(self, name: str, k: int | None) -> str | list[str]:
        """The names of the program for one of a stage."""
        counts = dict.fromkeys(_OF_GROUPS, len(self.model.groups)) | dict.fromkeys(_OF_ISLANDS, len(self.model.islands))
        if name == "bases":
            return [f"basis {i}" for i in range(len(self.model.islands))]
        if name not in counts:
            return name
        return [f"{name} {i}" for i in range(counts[name])] if k is None else f"{name} {k}"

    def only_if(self, flag: str) -> AbstractContextManager[None]:
        """Stages that only robots with a flag take."""
        return self.stages.loop(1, when=flag)


def is_together(m: StepModel, k: int) -> bool:
    """Whether the contacts of group k are solved together, by Newton's method."""
    group = m.groups[k]
    return m.is_rigid and len(group.names) > 1 and not group.turning


def poses_of(motion: Record) -> Any:
    """Poses of the links that constraints are made of."""
    return {
        i: Transform(MatrixRotation(Matrix3(tuple(entries[:9]))), Vector(*entries[9:]))
        for i, entries in motion["poses"].items()
    }


def touches_of(motion: Record, k: int) -> list[Touch]:
    """Where the contacts of group k are."""
    return [Touch(t[0], Vector(*t[1:4]), Vector(*t[4:7]), t[7], Vector(*t[8:11])) for t in motion["touches"][k]]


def parts_of(values: Scalars, sizes: Sequence[int]) -> list[list[Scalar]]:
    """Values cut into parts of these sizes."""
    left = iter(values)
    return [[next(left) for _ in range(size)] for size in sizes]


def any_of(conditions: Scalars) -> Scalar:
    """Whether one of the conditions holds."""
    known = [c for c in conditions if c is not False]
    return reduce(either, known) if known else 0


def largest_known(values: Scalars) -> Scalar:
    """The largest of numbers that are not negative, without regard to NaN: one instruction for each."""
    found: Scalar = 0
    for x in values:
        found = select(x > found, x, found)
    return found
