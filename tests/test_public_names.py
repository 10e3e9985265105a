"""`import pliant` imports a name when it is first asked for, and nobody notices."""

import importlib
import pickle
import subprocess
import sys

import pytest

import pliant


def test_import_takes_nothing_with_it() -> None:
    code = "import sys; before = set(sys.modules); import pliant; found = set(sys.modules) - before; "
    code += "print([name for name in found if name.startswith('pliant.') or name == 'numpy'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


def test_every_name_is_that_of_its_layer() -> None:
    for module, names in pliant._LATER.items():
        layer = importlib.import_module(module)
        for name in names:
            assert getattr(pliant, name) is getattr(layer, name)
    homes = [name for names in pliant._LATER.values() for name in names]
    assert len(homes) == len(set(homes)), "a name has one home"
    assert set(homes) | {"__version__", "control"} >= set(pliant.__all__)


def test_star() -> None:
    namespace: dict = {}
    exec("from pliant import *", namespace)
    assert set(pliant.__all__) <= set(namespace)


def test_dir_lists_what_is_not_imported_yet() -> None:
    code = "import pliant; print(set(pliant.__all__) <= set(dir(pliant)), 'dynamics' in dir(pliant), "
    code += "pliant.dynamics.__name__, pliant.spatial.transforms.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "True True pliant.dynamics pliant.spatial.transforms\n"


def test_every_layer_is_there() -> None:
    for name in pliant._LAYERS:
        assert getattr(pliant, name) is importlib.import_module(f"pliant.{name}")


def test_pickles() -> None:
    assert pickle.loads(pickle.dumps(pliant.Robot)) is pliant.Robot
    assert pickle.loads(pickle.dumps(pliant.load)) is pliant.load


def test_no_such_name() -> None:
    with pytest.raises(AttributeError, match="module 'pliant' has no attribute 'sinus'"):
        pliant.sinus  # noqa: B018
    assert not hasattr(pliant, "numpy")
