"""LLVM assembly to machine code, machine code into this process, and onto disk for the next one.

Code is made for the processor at hand. The environment variable ``PLIANT_PROCESSOR`` names a smaller one, whose code
is the same on every machine that has it: "x86-64" (2 lanes of float64, no fused multiply-add), "x86-64-v3" (4 lanes)
or "x86-64-v4" (8 lanes).

An entry of the cache is named after everything that its machine code depends on. It is written to a temporary
file and moved into place, so readers in other processes see all of it or none; it carries its name
and a checksum of name and code, and one that does not match is compiled again, never loaded. The
folder is the platform's for caches, or ``PLIANT_CACHE_DIR``; set that to ``off`` to do without.
"""

import ctypes
import functools
import hashlib
import itertools
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pliant.compiler.llvm import Machine
from pliant.errors import KernelError, bad_value

# Instruction selection, scheduling and register allocation, without the passes that search for
# structure in loops: the folding at birth has done what they could do.
_CODEGEN_LEVEL = 1


@functools.cache
def _llvm() -> Any:
    import llvmlite.binding as llvm  # slow to import, so only when something is compiled

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


# the levels of x86-64: what tells that a machine has it, bytes of a vector, fused multiply-add
_LEVELS = {
    "x86-64": ((), 16, False),
    "x86-64-v3": (("avx2", "bmi2", "f16c", "fma", "lzcnt", "movbe"), 32, True),
    "x86-64-v4": (("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "fma"), 64, True),
}


@functools.cache
def machine() -> Machine:
    """The processor of this process, or the one that ``PLIANT_PROCESSOR`` names."""
    llvm = _llvm()
    features = llvm.get_host_cpu_features()
    triple = llvm.get_process_triple()
    chosen = os.environ.get("PLIANT_PROCESSOR", "native").strip() or "native"
    if chosen != "native":
        is_x86 = triple.startswith("x86_64")
        here = [name for name, (needed, _, _) in _LEVELS.items() if is_x86 and all(map(features.get, needed))]
        if chosen not in here:
            raise KernelError(bad_value("PLIANT_PROCESSOR", chosen, " or ".join(["native", *here]), "the environment"))
        return Machine(triple, chosen, "", *_LEVELS[chosen][1:])
    if features.get("avx512f"):
        vector_bytes = 64
    elif features.get("avx"):
        vector_bytes = 32
    else:
        vector_bytes = 16
    has_fma = bool(features.get("fma")) or "aarch64" in triple or "arm64" in triple
    return Machine(triple, llvm.get_host_cpu_name(), features.flatten(), vector_bytes, has_fma)


@functools.cache
def _target_machine() -> Any:
    llvm, m = _llvm(), machine()
    target = llvm.Target.from_triple(m.triple)
    # code finds its constants relative to itself: one instruction less for each, and safe because
    # `Loaded` keeps code and data in one stretch of memory
    return target.create_target_machine(
        cpu=m.cpu, features=m.features, opt=_CODEGEN_LEVEL, reloc="pic", codemodel="small"
    )


def versions() -> str:
    """What the machine code depends on besides the program."""
    import llvmlite

    return f"llvmlite {llvmlite.__version__} llvm {_llvm().llvm_version_info} level {_CODEGEN_LEVEL}"


def object_code(text: str) -> bytes:
    """An object file from LLVM assembly."""
    module = _llvm().parse_assembly(text)
    return _target_machine().emit_object(module)


def disassembly(text: str) -> str:
    """The processor's assembly for LLVM assembly."""
    return _target_machine().emit_assembly(_llvm().parse_assembly(text))


@functools.cache
def _linker() -> Any:
    """One for the process. It checks that every reference reaches what it points to."""
    llvm = _llvm()
    target = llvm.Target.from_triple(machine().triple)
    return llvm.create_lljit_compiler(target.create_target_machine(reloc="pic", codemodel="small"), use_jit_link=True)


_numbers = itertools.count()


class Loaded:
    """Machine code in memory, with the addresses of some of its functions; lives as long as this object."""

    def __init__(self, code: bytes, names: Sequence[str] = ("run",)):
        library = _llvm().JITLibraryBuilder().add_object_img(code).add_current_process()
        for name in names:
            library = library.export_symbol(name)
        for name, address in symbols.items():
            library = library.import_symbol(name, address)
        self._tracker = library.link(_linker(), f"pliant{next(_numbers)}")

    def address(self, name: str) -> int:
        """Where a function starts."""
        return self._tracker[name]


def loaded(key: str, text: Callable[[], str], names: Sequence[str] = ("run",)) -> Loaded:
    """The code of that key from the cache, or compiled from ``text()`` and kept."""
    code = read_cached(key)
    if code is not None:
        try:
            return Loaded(code, names)
        except RuntimeError:
            _warn_of_damage(key)  # not the object file that it should be
    code = object_code(text())
    write_cached(key, code)
    return Loaded(code, names)


symbols: dict[str, int] = {}
"""Functions of this process that compiled code may call: their addresses."""


RUN = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
)


# ---- the cache on disk

_MAGIC = b"pliant-object-2\n"
_log = logging.getLogger("pliant")


def cache_folder() -> Path | None:
    """The folder of the entries, or None without a cache."""
    chosen = os.environ.get("PLIANT_CACHE_DIR")
    if chosen is not None:
        return None if chosen.strip().lower() in ("", "off", "0") else Path(chosen).expanduser()
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "pliant"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "pliant" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "pliant"


def read_cached(key: str) -> bytes | None:
    """The entry of that name, or None if there is none that is whole."""
    where = cache_folder()
    if where is None:
        return None
    try:
        data = (where / f"{key}.o").read_bytes()
    except OSError:
        return None
    head = _head(key, data[len(_head(key, b"")) :])
    if not data.startswith(head):
        _warn_of_damage(key)
        return None
    return data[len(head) :]


def _head(key: str, code: bytes) -> bytes:
    """What stands before the code of an entry: whose it is, and that all of it is there."""
    name = key.encode() + b"\n"
    return _MAGIC + hashlib.sha256(name + code).digest() + name


def _warn_of_damage(key: str) -> None:
    _log.warning("cache entry %s is damaged; compiling again", key[:16])


def write_cached(key: str, code: bytes) -> None:
    """Keep an entry; a folder that cannot be written costs a warning, not the result."""
    where = cache_folder()
    if where is None:
        return
    temporary = None
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=where, prefix=".writing-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(_head(key, code) + code)
        os.replace(temporary, where / f"{key}.o")
    except OSError as error:
        _warn_once(where, error.strerror)
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


@functools.cache
def _warn_once(where: Path, reason: str) -> None:
    cure = "set PLIANT_CACHE_DIR to a folder you can write to, or to off"
    _log.warning("compiled code is not kept in %s: %s; %s", where, reason, cure)


@functools.cache
def source_digest() -> str:
    """Of the source of compiler and scalars: code from another version of them must not be loaded."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for path in [*sorted(here.glob("*.py")), *sorted((here.parent / "scalar").glob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()
