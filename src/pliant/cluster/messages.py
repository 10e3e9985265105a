"""Calls to workers and their answers: what travels, and how it goes through a pipe.

Arrays go beside the pickle, without a copy, and arrive writable. What a script that is run defines is found by workers
in its file, which they import under another name, as `multiprocessing` does.
"""

import io
import os
import pickle
import struct
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

import numpy as np

from pliant.errors import PliantError

SCRIPT = "__pliant_main__"
"""The name under which a worker imports the script; those of other files a number behind it."""

_scripts: dict[str, ModuleType] = {}


@dataclass(frozen=True)
class Call:
    """Work for a worker: ``function(held, *arguments)``, where ``held`` is a dict that the worker keeps between calls.

    Attributes:
        limit: after so many seconds the worker ends itself; None for no limit.
        trace: file into which it then writes where it was; "" for none.
        attempt: how often a worker has been given it, with this time; in ``held`` under "attempt".
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    limit: float | None = None
    trace: str = ""
    attempt: int = 1


@dataclass(frozen=True)
class Answer:
    """What came of a call.

    Attributes:
        kind: "done", "raised", "killed" or "timeout".
        value: of the function, if it is done.
        error: what it raised.
        text: traceback, or where the worker was when its time was over.
    """

    kind: str
    value: Any = None
    error: BaseException | None = None
    text: str = ""


def raised(error: BaseException) -> Answer:
    """The answer of a function that raised, with an error that can travel."""
    text = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever a user's error does
        error = PliantError(f"{type(error).__name__}: {error}", subject="worker")
    return Answer("raised", error=error.with_traceback(None), text=text)


# ---- through a pipe


class _Reader(pickle.Unpickler):
    def __init__(self, head: bytes, buffers: list[np.ndarray], script: str | None):
        super().__init__(io.BytesIO(head), buffers=buffers)
        self._script = script

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if self._script is not None and module_name == "__main__":
            return part_of_script(self._script, global_name)
        if self._script is None and module_name == SCRIPT:
            module_name = "__main__"
        return super().find_class(module_name, global_name)


def send(pipe: Any, thing: Any) -> None:
    """Send a thing through a connection."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    pipe.send_bytes(struct.pack(f"<{len(views) + 1}Q", len(head), *(view.nbytes for view in views)))
    pipe.send_bytes(head)
    for view in views:
        if view.nbytes:
            pipe.send_bytes(view)


def receive(pipe: Any, script: str | None = None) -> Any:
    """The next thing from a connection; ``script`` in a worker is the file of the program that it works for."""
    lengths = [size for (size,) in struct.iter_unpack("<Q", pipe.recv_bytes())]
    head, buffers = pipe.recv_bytes(), []
    for size in lengths[1:]:
        buffer = np.empty(size, np.uint8)
        if size:
            pipe.recv_bytes_into(buffer)
        buffers.append(buffer)
    return _Reader(head, buffers, script).load()


# ---- the script


def script_path() -> str | None:
    """The file of the program that runs; None if there is none, as in a console or a notebook."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return None if path is None else os.path.abspath(path)


def part_of_script(path: str, name: str) -> Any:
    """What a script defines under a (dotted) name."""
    if path not in _scripts:
        own = SCRIPT if not _scripts else f"{SCRIPT}{len(_scripts)}"
        spec = spec_from_file_location(own, path)
        if spec is None or spec.loader is None:
            raise PliantError(f"{path} cannot be imported", subject=path, cure="give it a name that ends in .py")
        _scripts[path] = sys.modules[own] = module = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[own], _scripts[path]
            raise
    found: Any = _scripts[path]
    for part in name.split("."):
        found = getattr(found, part)
    return found


@dataclass(frozen=True)
class ScriptFunction:
    """A function of a script, by the file and its name: it pickles for workers that do not run the script."""

    path: str
    name: str

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function."""
        return part_of_script(self.path, self.name)(*arguments, **options)
