"""Learned motors: a small network, given as arrays, as the law of a motor.

The torque of a motor with a gear, a drive and a cable differs from its command. A network learns it from measurements
[Hwangbo et al. 2019, "Learning agile and dynamic motor skills for legged robots"]. Its inputs are errors and velocities
of the joint, now and some steps ago; its output is the torque. The weights are constants of the compiled step.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.checks import check, check_known, check_one_of, is_whole, numbers
from pliant.errors import RobotError
from pliant.robot import MotorLaw
from pliant.scalar import Scalar, abs, exp, log, maximum, minimum, select

Layer = tuple[np.ndarray, np.ndarray]

INPUTS: dict[str, Callable[[Scalar, Scalar, Scalar], Scalar]] = {
    "error": lambda u, q, v: u - q,
    "control": lambda u, q, v: u,
    "position": lambda u, q, v: q,
    "velocity": lambda u, q, v: v,
}
"""What a network may see of the control u, and of the joint's position and velocity."""


def _tanh(x: Scalar) -> Scalar:
    # of the size alone, so that no power overflows
    e = exp(-2 * abs(x))
    size = (1 - e) / (1 + e)
    return select(x < 0, -size, size)


ACTIVATIONS: dict[str, Callable[[Scalar], Scalar]] = {
    "tanh": _tanh,
    "relu": lambda x: maximum(x, 0),
    "elu": lambda x: maximum(x, 0) + exp(minimum(x, 0)) - 1,
    "softsign": lambda x: x / (1 + abs(x)),
    "softplus": lambda x: maximum(x, 0) + log(1 + exp(-abs(x))),
    "sigmoid": lambda x: (1 + _tanh(x / 2)) / 2,
}
"""Functions between the layers, by name."""


def network_law(
    layers: Sequence[tuple[Any, Any]],
    *,
    activation: str = "tanh",
    inputs: Sequence[str] = ("error", "velocity"),
    lags: Sequence[int] = (0,),
    input_scales: Any = 1,
    output_scale: float = 1,
) -> Callable[..., Scalar] | MotorLaw:
    """The law of a motor that a network computes, for ``robot.with_motor(..., law=...)``.

    Args:
        layers: a pair of weights (outputs, inputs) and offsets (outputs,) for each; the last one has one output.
        activation: one of `ACTIVATIONS`, after each layer but the last.
        inputs: names of `INPUTS`; the network sees the first at all lags, then the second, and so on.
        lags: steps ago, each 0 or more; before the first step all was 0. A network is trained for one length of step.
        input_scales: by which inputs are multiplied, one for all or one for each name.
        output_scale: torque of an output of 1 [N m or N].

    Returns:
        a function (u, q, v, t) -> torque, or a `MotorLaw` if it looks back.
    """
    names, back = _checked_inputs(inputs, lags)
    check_one_of("activation", activation, tuple(ACTIVATIONS), subject="network_law", error=RobotError)
    scales = numbers("input_scales", input_scales)
    is_right = scales.ndim == 0 or scales.shape == (len(names),)
    takes = f"a number, or one for each of the {len(names)} inputs"
    check("input_scales", input_scales, takes, is_right, subject="network_law", error=RobotError)
    each = np.broadcast_to(scales, (len(names),)).tolist()
    made = _checked_layers(layers, len(names) * len(back))
    between = ACTIVATIONS[activation]

    def seen(u: Scalar, q: Scalar, v: Scalar) -> list[Scalar]:
        return [scale * INPUTS[name](u, q, v) for name, scale in zip(names, each, strict=True)]

    def torque(x: list[Scalar]) -> Scalar:
        for k, (weights, offsets) in enumerate(made):
            sums = [
                b + sum(w * a for w, a in zip(row, x, strict=True)) for row, b in zip(weights, offsets, strict=True)
            ]
            x = sums if k == len(made) - 1 else [between(s) for s in sums]
        return output_scale * x[0]

    if back == (0,):

        def network(u: Scalar, q: Scalar, v: Scalar, t: Scalar) -> Scalar:
            return torque(seen(u, q, v))

        return network
    n, longest = len(names), max(back)

    def network_with_memory(u: Scalar, q: Scalar, v: Scalar, t: Scalar, memory: Sequence[Scalar]) -> Any:
        steps = [seen(u, q, v), *(list(memory[k * n : (k + 1) * n]) for k in range(longest))]
        inputs = [steps[lag][k] for k in range(n) for lag in back]
        return torque(inputs), [x for step in steps[:longest] for x in step]

    return MotorLaw(network_with_memory, (0.0,) * (n * longest))


def _checked_inputs(inputs: Any, lags: Any) -> tuple[tuple[str, ...], tuple[int, ...]]:
    subject = "network_law"
    is_several = not isinstance(inputs, str) and isinstance(inputs, Sequence) and len(inputs) > 0
    check("inputs", inputs, f"names of {', '.join(INPUTS)}", is_several, subject=subject, error=RobotError)
    for name in inputs:
        check_known("input", name, INPUTS, "a network", error=RobotError)
    is_right = isinstance(lags, Sequence) and len(lags) > 0 and all(is_whole(lag) and lag >= 0 for lag in lags)
    check("lags", lags, "whole numbers of steps, 0 or more, as in (0, 1, 2)", is_right, subject=subject,
          error=RobotError)  # fmt: skip
    return tuple(inputs), tuple(int(lag) for lag in lags)


def _checked_layers(layers: Any, size: int) -> list[tuple[list[list[float]], list[float]]]:
    """Weights and offsets as lists; raises if they do not fit one another."""
    found = []

    def wrong(k: int, problem: str, cure: str) -> RobotError:
        return RobotError(f"layer {k} of network_law {problem}", subject="network_law", field="layers", cure=cure)

    if not isinstance(layers, Sequence) or not layers:
        raise RobotError(f"network_law has the layers {layers!r}", subject="network_law", field="layers",
                         cure="give a list of pairs (weights, offsets)")  # fmt: skip
    for k, layer in enumerate(layers):
        if not isinstance(layer, Sequence) or len(layer) != 2:
            raise wrong(k, "is not a pair", "give weights (outputs, inputs) and offsets (outputs,)")
        weights, offsets = (numbers(f"layer {k} of network_law", part) for part in layer)
        if weights.ndim != 2 or weights.shape[1] != size:
            fed = f"{size} inputs" if k == 0 else f"{size} outputs of the layer before"
            raise wrong(k, f"has weights of shape {weights.shape}", f"it takes (outputs, {size}), for {fed}")
        if offsets.shape != weights.shape[:1]:
            raise wrong(
                k, f"has offsets of shape {offsets.shape}", f"it takes {weights.shape[:1]}, one for each output"
            )
        if not (np.isfinite(weights).all() and np.isfinite(offsets).all()):
            raise wrong(k, "has numbers that are not finite", "give finite weights and offsets")
        found.append((weights.tolist(), offsets.tolist()))
        size = len(offsets)
    if size != 1:
        raise wrong(len(found) - 1, f"has {size} outputs", "the last layer has one, the torque")
    return found
