"""MJCF to arrays: MuJoCo's compiler in a process of its own, which cannot open files and cannot take ours with it."""

import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from pliant.errors import Place, PliantError, RobotError, needs
from pliant.formats import mjcf_process
from pliant.formats.mjcf_files import MjcfFiles

SECONDS = 120
MEMORY = 8_000_000_000
"""Limits of time [s] and of address space [bytes] for one file."""
MAX_BODIES = 20_000
_MAX_ANSWER = 2_000_000_000
_KINDS = {"f", "i", "u", "b"}
_CHUNK = 1 << 20


class Compiled:
    """A compiled model: arrays by the names that MuJoCo's `mjModel` gives them, sizes, options and names of things."""

    def __init__(self, arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int], options: Mapping[str, Any]):
        self._arrays = dict(arrays)
        self.sizes = dict(sizes)
        self.options = dict(options)
        self._texts = arrays["names"].tobytes(), arrays["paths"].tobytes()

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_arrays"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def name_of_model(self) -> str:
        """That the file gives; "" if none."""
        return self._text(0, 0)

    def count(self, what: str) -> int:
        """How many there are: of "body", "jnt", "geom" and so on."""
        return len(self._arrays[f"name_{what}adr"])

    def name(self, what: str, index: int) -> str:
        """The name of a thing; "" if the file gives none."""
        return self._text(0, int(self._arrays[f"name_{what}adr"][index]))

    def mesh_path(self, mesh: int) -> str:
        """The file of a mesh as the model names it; "" if it has none."""
        at = int(self.mesh_pathadr[mesh])
        return self._text(1, at) if at >= 0 else ""

    def _text(self, which: int, start: int) -> str:
        text = self._texts[which]
        return text[start : text.index(b"\0", start)].decode("utf-8", "replace")


class CompilerProcess(AbstractContextManager["CompilerProcess"]):
    """A process that compiles MJCF files, one after the other; each in a child of its own where the system can fork.

        with CompilerProcess() as compiler:
            robots = [load_mjcf(path, compiler=compiler) for path in paths]

    Starting one takes about half a second, so that it is worth keeping for many files.
    """

    def __init__(self, *, seconds: int = SECONDS, memory: int = MEMORY):
        self.seconds, self.memory = seconds, memory
        self._process: subprocess.Popen[bytes] | None = None

    def compile(self, files: MjcfFiles) -> Compiled:
        """The compiled model; raises `RobotError` with what the compiler says, or how it ended."""
        contents = list(files.contents.items())
        about = {
            "main": files.main, "files": [(path, len(data)) for path, data in contents], "seconds": self.seconds,
            "memory": self.memory,
        }  # fmt: skip
        try:
            head, read = self._asked(mjcf_process.message(about, [data for _, data in contents]))
        except (OSError, EOFError, ValueError):
            self._stop()
            raise _ended(files.main, "without an answer") from None
        if "ended" in head:
            raise _ended(files.main, f"with {head['ended']}")
        if "error" in head:
            said = " ".join(str(head["error"]).split()).removeprefix("Error: ")
            cure = "it is the message of MuJoCo's compiler, which reads the file"
            raise RobotError(said, subject=files.main, cure=cure, place=Place(files.main, _line(said)))
        try:
            return _checked(head, read)
        except (KeyError, TypeError, ValueError, EOFError, OverflowError) as error:
            self._stop()
            raise _ended(files.main, f"with an answer that makes no sense ({error})") from None

    def _asked(self, request: bytes) -> tuple[dict[str, Any], Any]:
        process = self._started()
        stdin, stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        stdin.write(request)
        stdin.flush()
        size = int.from_bytes(_exactly(stdout, 8), "little")
        if size > _CHUNK * 64:
            raise ValueError("too long")
        return json.loads(_exactly(stdout, size)), lambda length: _exactly(stdout, length)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            needs("mujoco", "mjcf", "an MJCF file")
            # -P: no folder of ours among those that imports search
            command = [sys.executable, "-P", str(Path(mjcf_process.__file__))]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    cast("IO[bytes]", stream).close()
            process.wait()

    def __exit__(self, *_: object) -> None:
        self._stop()


def _checked(head: dict[str, Any], read: Any) -> Compiled:
    """The arrays of an answer, as far as they can be those of a model: the process read a file that is not trusted."""
    sizes = {str(name): int(size) for name, size in head["sizes"].items()}
    if not 0 < sizes["nbody"] <= MAX_BODIES:
        raise ValueError(f"{sizes['nbody']} bodies")
    arrays, total = {}, 0
    for name, dtype, shape in head["arrays"]:
        kind = np.dtype(dtype)
        if kind.kind not in _KINDS or any(n < 0 for n in shape):
            raise ValueError(f"array {name}")
        length = kind.itemsize * int(np.prod(shape, dtype=object))
        total += length
        if total > _MAX_ANSWER:
            raise ValueError("too long")
        arrays[str(name)] = np.frombuffer(read(length), kind).reshape(shape)
    missing = {*mjcf_process.FIELDS} - arrays.keys()
    if missing:
        raise ValueError(f"no {', '.join(sorted(missing))}")
    return Compiled(arrays, sizes, head["options"])


def _exactly(stream: IO[bytes], size: int) -> bytes:
    found = stream.read(size)
    if len(found) < size:
        raise EOFError
    return found


def _ended(path: str, how: str) -> PliantError:
    problem = f"MuJoCo's compiler ended {how} on this file"
    cure = f"it may be damaged, or need more than {SECONDS} s or {MEMORY // 10**9} GB"
    return RobotError(problem, subject=path, cure=cure, place=Place(path))


def _line(said: str) -> int | None:
    """The line that the compiler names at the end of what it says."""
    _, found, rest = said.rpartition("line ")
    digits = rest.strip().rstrip(".")
    return int(digits) if found and digits.isdigit() else None
