"""Policies elsewhere: Python, C and ONNX give the actions that the policy gives."""

import ctypes
import json
import re
import shutil
import subprocess

import numpy as np
import onnxruntime
import pytest

from pliant.errors import LearningError
from pliant.learn import Policy
from pliant.networks import ACTIVATIONS
from toy_tasks import example_policy as example

SIZES = [(5, 8, 6, 3), (4, 2)]
X = np.random.default_rng(1).normal(size=(9, 5)) * 3
# float32 rounds sums of ten numbers near 1, in another order
NEAR = {"atol": 3e-6}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_python(activation: str, sizes: tuple) -> None:
    policy = example(sizes=sizes, activation=activation)
    space: dict = {}
    exec(policy.python("act"), space)
    x = X[:, : sizes[0]]
    np.testing.assert_allclose([space["act"](row.tolist()) for row in x], policy(x), **NEAR)
    with pytest.raises(ValueError, match=f"takes {sizes[0]} observations"):
        space["act"]([0.0])


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_c(tmp_path, activation: str, sizes: tuple) -> None:
    policy = example(sizes=sizes, activation=activation)
    source, library = tmp_path / "act.c", tmp_path / "act.so"
    source.write_text(policy.c("act"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    act = ctypes.CDLL(str(library)).act
    found = np.zeros((len(X), sizes[-1]), dtype=np.float32)
    x = np.ascontiguousarray(X[:, : sizes[0]], dtype=np.float32)
    for row, out in zip(x, found, strict=True):
        act(row.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p))
    np.testing.assert_allclose(found, policy(x), **NEAR)


def test_numbers_of_the_c_source_are_those_of_the_policy() -> None:
    """Also where there is no compiler: each array, to the bit."""
    policy = example(sizes=SIZES[0])
    arrays = dict(re.findall(r"static const float act_(\w+)\[\d+\] = \{([^}]*)\};", policy.c("act")))
    wanted = {"mean": policy.mean, "scale": policy.scale}
    for k, (weights, offsets) in enumerate(policy.layers):
        wanted |= {f"weights_{k}": weights.ravel(), f"offsets_{k}": offsets}
    assert arrays.keys() == wanted.keys()
    for name, text in arrays.items():
        found = np.array([float(x.strip().removesuffix("f")) for x in text.split(",")], dtype=np.float32)
        assert np.array_equal(found, wanted[name])


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_onnx(tmp_path, activation: str, sizes: tuple) -> None:
    policy, path = example(sizes=sizes, activation=activation), tmp_path / "act.onnx"
    policy.to_onnx(path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    x = X[:, : sizes[0]].astype(np.float32)
    for rows in (x, x[:1]):
        (found,) = session.run(None, {"observations": rows})
        np.testing.assert_allclose(found, policy(rows), **NEAR)
    about = session.get_modelmeta().custom_metadata_map
    assert json.loads(about["action_names"]) == list(policy.action_names) and about["digest"] == "a task"


def test_names_cannot_break_out_of_the_source() -> None:
    about, arrays = example().as_plain()
    names = ['"""; import os #', "*/ int x; /*", "\n", "\\", "über"]
    policy = Policy.from_plain(about | {"observation_names": names, "digest": '*/"""'}, arrays)
    space: dict = {}
    exec(policy.python(), space)
    assert "os" not in space and "*/ int" not in policy.c()
    for bad in ("1a", "a b", "", None, "def()"):
        with pytest.raises(LearningError):
            policy.c(bad)
