"""Iterations that go on begin where the last two point at: Anderson's method with one step of memory.

The first two times there is nothing to go by yet, and only what an iteration made of its start is remembered. Few
robots need more. What they remember is scratch: it is of no use to one whose iterations have ended.
"""

from typing import Any

from pliant.scalar import Scalar, Scalars, equal, maximum, minimum, negation, select
from pliant.simulation.model import StepModel
from pliant.simulation.step_program import StepProgram


def accelerate(step: StepProgram) -> None:
    """Where iterations go on, the next begins from what the last two point at.

    Anderson's method with one step of memory [Walker and Ni 2011]: with x what an iteration began with and
    g(x) what it made of it, f = g - x and df the change of f since the iteration before, the next one begins
    with g - c (g - g'), c = df . f / df . df, where g' is the g before. Impulses and w go together,
    since w depends linearly on them; the product is that of the kinetic energy.
    """
    model = step.model
    if not model.has_sweeps:
        return
    names = [f"impulse {k}" for k in range(len(model.groups))]
    sizes = {f"last {name}": step.stages.variables[name] for name in names}
    sizes |= dict.fromkeys(("w start", "last w", "last f"), model.robot.nv)
    for name, size in sizes.items():
        step.stages.variable(name, size, is_scratch=True)

    def guessed(m: StepModel, ldl, w, w_start, last_f, last_w, impulse, last_impulse):
        f = [a - b for a, b in zip(w, w_start, strict=True)]
        change = [a - b for a, b in zip(f, last_f, strict=True)]
        scaled = [a * d for a, d in zip(change, ldl["D"], strict=True)]
        size = sum((a * b for a, b in zip(scaled, change, strict=True)), 0)
        c = sum((a * b for a, b in zip(scaled, f, strict=True)), 0) / select(size > 0, size, 1)
        c = select(size > 0, minimum(maximum(c, -20), 0.5), 0)
        ahead = [_ahead(c, *parts) for parts in zip(impulse, last_impulse, strict=True)]
        return {"guess": {"w": _ahead(c, w, last_w), "impulse": ahead}}

    def begun(m: StepModel, guesses, guess, w, w_start, impulse):
        is_known = negation(equal(guesses[0], 0))

        def next_of(guess: Any, now: Any) -> list[Scalar]:
            return [select(is_known, a, b) for a, b in zip(guess, now, strict=True)]

        next_w, f = next_of(guess["w"], w), [a - b for a, b in zip(w, w_start, strict=True)]
        return {
            "w": next_w, "w start": next_w, "last f": f, "last w": w,
            "impulse": [next_of(*parts) for parts in zip(guess["impulse"], impulse, strict=True)],
            "last impulse": impulse,
        }  # fmt: skip

    with step.only_if("slow"):
        with step.only_if("guesses"):
            step.add(guessed)
        step.add(begun)


def _ahead(c: Scalar, now: Scalars, before: Scalars) -> list[Scalar]:
    return [a - c * (a - b) for a, b in zip(now, before, strict=True)]
