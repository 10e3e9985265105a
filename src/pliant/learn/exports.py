"""Policies elsewhere: the source of a function in Python or C that needs nothing else, and ONNX."""

import json
import os
from typing import Any

import numpy as np

from pliant.checks import check
from pliant.errors import LearningError, needs
from pliant.files.writing import whole_file
from pliant.learn.policy import Policy

# each activation in Python, in C, and the name of ONNX
_PYTHON = {
    "tanh": "math.tanh(x)",
    "relu": "max(x, 0.0)",
    "elu": "x if x > 0 else math.expm1(x)",
    "softsign": "x / (1 + abs(x))",
    "softplus": "max(x, 0.0) + math.log1p(math.exp(-abs(x)))",
    "sigmoid": "(1 + math.tanh(x / 2)) / 2",
}
_C = {
    "tanh": "tanhf(x)",
    "relu": "fmaxf(x, 0.0f)",
    "elu": "x > 0.0f ? x : expm1f(x)",
    "softsign": "x / (1.0f + fabsf(x))",
    "softplus": "fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x)))",
    "sigmoid": "0.5f * (1.0f + tanhf(0.5f * x))",
}
_ONNX = {"tanh": "Tanh", "relu": "Relu", "elu": "Elu", "softsign": "Softsign", "softplus": "Softplus",
         "sigmoid": "Sigmoid"}  # fmt: skip
_OPSET, _IR = 17, 9


def python_source(policy: Policy, name: str) -> str:
    """A module in plain Python with one function, ``name(observations) -> actions``."""
    _check_name(name)
    lines = [f'"""{_title(policy)}', "", *_entries(policy), '"""', "", "import math", ""]
    lines += [f"MEAN = {_row(policy.mean)}", f"SCALE = {_row(policy.scale)}", f"CLIP = {policy.clip!r}", "LAYERS = ["]
    for weights, offsets in policy.layers:
        rows = ",\n        ".join(map(_row, weights))
        lines += [f"    ([\n        {rows},\n    ], {_row(offsets)}),"]
    lines += [
        "]",
        "",
        "",
        f"def {name}(observations):",
        f'    """{policy.action_size} actions from {policy.observation_size} observations."""',
        f"    if len(observations) != {policy.observation_size}:",
        f'        raise ValueError("{name} takes {policy.observation_size} observations")',
        "    values = [min(max((x - m) * s, -CLIP), CLIP) for x, m, s in zip(observations, MEAN, SCALE)]",
        "    for k, (weights, offsets) in enumerate(LAYERS):",
        "        sums = [b + sum(w * x for w, x in zip(row, values)) for row, b in zip(weights, offsets)]",
        f"        values = sums if k == {len(policy.layers) - 1} else [{_PYTHON[policy.activation]} for x in sums]",
        "    return values",
        "",
    ]
    return "\n".join(lines)


def c_source(policy: Policy, name: str) -> str:
    """A file in C99 with one function, ``void name(const float *observations, float *actions)``."""
    _check_name(name)
    sizes = [policy.observation_size, *(len(offsets) for _, offsets in policy.layers)]
    last, widest = len(policy.layers), max(sizes)
    lines = [f"/* {_title(policy)}", "", *_entries(policy), "*/", "", "#include <math.h>", ""]
    arrays = {"mean": policy.mean, "scale": policy.scale}
    for k, (weights, offsets) in enumerate(policy.layers):
        arrays |= {f"weights_{k}": weights.ravel(), f"offsets_{k}": offsets}
    for own, array in arrays.items():
        numbers = [f"{_shortest(x)}f" for x in array]
        text = ",\n  ".join(", ".join(numbers[i : i + 8]) for i in range(0, len(numbers), 8))
        lines.append(f"static const float {name}_{own}[{len(array)}] = {{\n  {text}}};")
    arguments = "const float *w, const float *b, int inputs, int outputs, const float *x, float *y"
    lines += [
        "",
        f"static void {name}_layer({arguments}) {{",
        "  for (int i = 0; i < outputs; ++i) {",
        "    float sum = b[i];",
        "    for (int k = 0; k < inputs; ++k) sum += w[i * inputs + k] * x[k];",
        "    y[i] = sum;",
        "  }",
        "}",
    ]
    if last > 1:
        lines += [
            "",
            f"static void {name}_between(float *values, int count) {{",
            f"  for (int i = 0; i < count; ++i) {{ const float x = values[i]; values[i] = {_C[policy.activation]}; }}",
            "}",
        ]
    lines += [
        "",
        f"/* {policy.action_size} actions from {policy.observation_size} observations */",
        f"void {name}(const float *observations, float *actions) {{",
        f"  float a[{widest}], b[{widest}];",
        f"  for (int i = 0; i < {sizes[0]}; ++i) {{",
        f"    const float x = (observations[i] - {name}_mean[i]) * {name}_scale[i];",
        f"    a[i] = fminf(fmaxf(x, {_shortest(-policy.clip)}f), {_shortest(policy.clip)}f);",
        "  }",
    ]
    x, y = "a", "b"
    for k in range(last):
        to = "actions" if k == last - 1 else y
        lines.append(f"  {name}_layer({name}_weights_{k}, {name}_offsets_{k}, {sizes[k]}, {sizes[k + 1]}, {x}, {to});")
        if k < last - 1:
            lines.append(f"  {name}_between({to}, {sizes[k + 1]});")
        x, y = y, x
    unused = ["  (void)b;"] if last == 1 else []
    return "\n".join([*lines, *unused, "}", ""])


def write_onnx(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write a model of ONNX: "observations" (batch, n) to "actions" (batch, m), with the normalisation inside."""
    onnx = needs("onnx", "onnx", "policy.to_onnx()")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    nodes, arrays = [], {"mean": policy.mean, "scale": policy.scale}
    arrays |= {"low": np.float32(-policy.clip), "high": np.float32(policy.clip)}
    nodes.append(helper.make_node("Sub", ["observations", "mean"], ["shifted"]))
    nodes.append(helper.make_node("Mul", ["shifted", "scale"], ["scaled"]))
    nodes.append(helper.make_node("Clip", ["scaled", "low", "high"], ["normalised"]))
    x = "normalised"
    for k, (weights, offsets) in enumerate(policy.layers):
        arrays |= {f"weights_{k}": weights, f"offsets_{k}": offsets}
        is_last = k == len(policy.layers) - 1
        y = "actions" if is_last else f"sums_{k}"
        nodes.append(helper.make_node("Gemm", [x, f"weights_{k}", f"offsets_{k}"], [y], transB=1))
        if not is_last:
            x = f"values_{k}"
            nodes.append(helper.make_node(_ONNX[policy.activation], [y], [x]))
    number = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("observations", number, ["batch", policy.observation_size])],
        [helper.make_tensor_value_info("actions", number, ["batch", policy.action_size])],
        [numpy_helper.from_array(np.asarray(array, dtype=np.float32), name) for name, array in arrays.items()],
    )
    imports = [helper.make_opsetid("", _OPSET)]
    model = helper.make_model(graph, producer_name="pliant", opset_imports=imports, ir_version=_IR)
    about: dict[str, Any] = {
        "observation_names": policy.observation_names, "action_names": policy.action_names, "digest": policy.digest,
        "environment": policy.environment, "settings": policy.settings, "std": policy.std.tolist(),
    }  # fmt: skip
    texts = {name: x if isinstance(x, str) else json.dumps(x) for name, x in about.items()}
    helper.set_model_props(model, texts)
    onnx.checker.check_model(model, full_check=True)
    with whole_file(path) as beside:
        beside.write_bytes(model.SerializeToString())


def _check_name(name: Any) -> None:
    is_right = isinstance(name, str) and name.isascii() and name.isidentifier()
    check("name", name, "the name of a function", is_right, subject="policy", error=LearningError)


def _title(policy: Policy) -> str:
    return f"A policy of {len(policy.layers)} layers, trained with Pliant on task {_plain(policy.digest)[:16]!r}."


def _entries(policy: Policy) -> list[str]:
    """What observations and actions are, in their order."""
    found = []
    for what, names in (("Observations", policy.observation_names), ("Actions", policy.action_names)):
        found.append(f"{what}: " + ", ".join(f"{k} {_plain(name)}" for k, name in enumerate(names)) + ".")
    return found


def _plain(text: str) -> str:
    """A text that cannot end a comment or a string: the names of a policy may come from anywhere."""
    return "".join(c if c.isascii() and (c.isalnum() or c in " _.-:[]()") else "?" for c in text)


def _row(numbers: np.ndarray) -> str:
    return "[" + ", ".join(map(_shortest, numbers)) + "]"


def _shortest(x: Any) -> str:
    """The shortest decimal that float32 reads back as the same number."""
    return np.format_float_scientific(np.float32(x), unique=True, trim="0")
