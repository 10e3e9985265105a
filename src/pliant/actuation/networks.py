"""Learned motors: a small network, given as arrays, as the law of a motor.

The torque of a motor with a gear, a drive and a cable differs from its command. A network learns it from measurements
[Hwangbo et al. 2019, "Learning agile and dynamic motor skills for legged robots"]. Its inputs are errors and velocities
of the joint, now and some steps ago; its output is the torque. The weights are constants of the compiled step.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.checks import check, check_known, is_whole, numbers
from pliant.errors import RobotError
from pliant.networks import Network
from pliant.robot import MotorLaw
from pliant.scalar import Scalar
from pliant.signatures import explained

INPUTS: dict[str, Callable[[Scalar, Scalar, Scalar], Scalar]] = {
    "error": lambda u, q, v: u - q,
    "control": lambda u, q, v: u,
    "position": lambda u, q, v: q,
    "velocity": lambda u, q, v: v,
}
"""What a network may see of the control u, and of the joint's position and velocity."""


@explained
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
        activation: one of `pliant.networks.ACTIVATIONS`, after each layer but the last.
        inputs: names of `INPUTS`; the network sees the first at all lags, then the second, and so on.
        lags: steps ago, each 0 or more; before the first step all was 0. A network is trained for one length of step.
        input_scales: by which inputs are multiplied, one for all or one for each name.
        output_scale: torque of an output of 1 [N m or N].

    Returns:
        a function (u, q, v, t) -> torque, or a `MotorLaw` if it looks back.
    """
    names, back = _checked_inputs(inputs, lags)
    scales = numbers("input_scales", input_scales)
    is_right = scales.ndim == 0 or scales.shape == (len(names),)
    takes = f"a number, or one for each of the {len(names)} inputs"
    check("input_scales", input_scales, takes, is_right, subject="network_law", error=RobotError)
    each = np.broadcast_to(scales, (len(names),)).tolist()
    size = len(names) * len(back)
    made = Network.checked(layers, activation, inputs=size, subject="network_law", error=RobotError)
    if made.sizes[-1] != 1:
        problem = f"layer {len(made.layers) - 1} of network_law has {made.sizes[-1]} outputs"
        raise RobotError(problem, subject="network_law", field="layers", cure="the last layer has one, the torque")

    def seen(u: Scalar, q: Scalar, v: Scalar) -> list[Scalar]:
        return [scale * INPUTS[name](u, q, v) for name, scale in zip(names, each, strict=True)]

    def torque(x: list[Scalar]) -> Scalar:
        return output_scale * made(x)[0]

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
