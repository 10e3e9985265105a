"""Controllers and tasks of users' own files, by the words of the command line: FILE.py:NAME.

Such a file is code. It runs because the user names it; nothing that a file of another kind says makes it run.
"""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pliant.errors import PliantError, bad_value, unknown_name


def is_in_file(name: str) -> bool:
    """Whether a name is meant to be FILE.py:NAME, or a part of that."""
    return name.endswith(".py") or ".py:" in name


def in_file(name: str, what: str, example: str) -> Any:
    """The object that FILE.py:NAME names. The file is run: it is code that the user chose, unlike a robot's file.

    Args:
        what: the option or argument that has the name, for errors; ``example`` shows how it looks.
    """
    file, colon, attribute = name.rpartition(":")
    path = Path(file).expanduser()
    if not colon or path.suffix != ".py" or not attribute:
        raise PliantError(bad_value(what, name, f"FILE.py:NAME, as {example}"))
    if not path.is_file():
        raise PliantError(f"{what} {name}: there is no file {file}", field=what.strip("-"))
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    # files beside it can be imported, as when the file itself is run
    sys.path.insert(0, str(path.resolve().parent))
    try:
        with located(name, what):
            spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    if not hasattr(module, attribute):
        own = [n for n, x in vars(module).items() if not n.startswith("_") and _is_of(x, module.__name__)]
        raise PliantError(unknown_name("function", attribute, own, str(path))).within(f"{what} {name}")
    return getattr(module, attribute)


def _is_of(value: Any, module: str) -> bool:
    """Whether a file may mean to offer a value: a function of its own, or an object that is none."""
    home = getattr(value, "__module__", None)
    return home == module if callable(value) else home is not None and not isinstance(value, type(sys))


@contextmanager
def located(name: str, what: str) -> Iterator[None]:
    """Errors of the user's own code as one line, with the place in the file; ``what`` it was meant to be."""
    try:
        yield
    except PliantError:
        raise
    except SyntaxError as error:
        raise PliantError(f"{type(error).__name__}: {error.msg}").at(error.filename, error.lineno) from error
    except Exception as error:
        own = Path(name.rpartition(":")[0]).name
        frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).name == own]
        found = PliantError(f"{type(error).__name__}: {error}", subject=f"{what} {name}")
        raise (found.at(frames[-1].filename, frames[-1].lineno) if frames else found.within(found.subject)) from error
