"""LLVM assembly to machine code, machine code into this process, and onto disk for the next one.

Code is made for the processor at hand. The environment variable ``PLIANT_PROCESSOR`` names a smaller one, whose code
is the same on every machine that has it: "x86-64" (2 lanes of float64, no fused multiply-add), "x86-64-v3" (4 lanes)
or "x86-64-v4" (8 lanes).

A program is several modules, which threads compile side by side, each to an object file that does not depend on how
many threads there are. Linked together they are one library.

An entry of the cache holds all objects of a program and is named after everything that they depend on. It is written
to a temporary file and moved into place, so readers in other processes see all of it or none; it carries its name
and a checksum of name and code, and one that does not match is compiled again, never loaded. Of several processes
that need an entry one compiles it, and the others wait. The
folder is the platform's for caches, or ``PLIANT_CACHE_DIR``; set that to ``off`` to do without.
"""

import contextlib
import ctypes
import functools
import hashlib
import itertools
import logging
import os
import struct
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
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


def _target_machine() -> Any:
    """Another one each time: it must not be shared by threads."""
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
    """An object file from LLVM assembly; other threads may compile meanwhile."""
    llvm = _llvm()
    ffi = llvm.ffi
    context = llvm.create_context()  # what modules share; not safe for threads to share
    with ffi.OutputString() as problem:
        parsed = _unlocked("LLVMPY_ParseAssembly")(context, ctypes.c_char_p(text.encode()), problem)
        module = llvm.ModuleRef(parsed, context)
        if problem:
            module.close()
            raise RuntimeError(f"LLVM cannot read its assembly: {problem}")
    with module, ffi.OutputString() as problem:
        buffer = _unlocked("LLVMPY_TargetMachineEmitToMemory")(_target_machine(), module, 1, problem)
        if not buffer:
            raise RuntimeError(f"LLVM cannot make an object file: {problem}")
    try:
        return ctypes.string_at(ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer))
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _unlocked(name: str) -> Any:
    """A function of LLVM without the lock that llvmlite puts around each, where nothing is shared with other threads.

    Should llvmlite wrap its functions otherwise one day, it is the function with its lock.
    """
    function = getattr(_llvm().ffi.lib, name)
    return getattr(function, "_cfn", function)


def object_codes(texts: Iterable[str], threads: int | None = None) -> list[bytes]:
    """The object files of several modules: compiled by threads, while the next one is being written.

    Args:
        threads: how many; None for as many as this process has processors.
    """
    threads = threads or _processors()
    if threads == 1:
        return [object_code(text) for text in texts]
    waiting: list[Future[bytes]] = []
    with ThreadPoolExecutor(threads, thread_name_prefix="pliant-compiler") as pool:
        try:
            for text in texts:
                waiting.append(pool.submit(object_code, text))
            return [future.result() for future in waiting]
        finally:
            pool.shutdown(cancel_futures=True)


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def disassembly(texts: Iterable[str]) -> str:
    """The processor's assembly for LLVM assembly."""
    return "\n".join(_target_machine().emit_assembly(_llvm().parse_assembly(text)) for text in texts)


@functools.cache
def _linker() -> Any:
    """One for the process. It checks that every reference reaches what it points to."""
    llvm = _llvm()
    target = llvm.Target.from_triple(machine().triple)
    return llvm.create_lljit_compiler(target.create_target_machine(reloc="pic", codemodel="small"), use_jit_link=True)


_numbers = itertools.count()


class Loaded:
    """Machine code in memory, with the addresses of some of its functions; lives as long as this object."""

    def __init__(self, objects: Sequence[bytes], names: Sequence[str] = ("run",)):
        library = _llvm().JITLibraryBuilder().add_current_process()
        for code in objects:
            library = library.add_object_img(code)
        for name in names:
            library = library.export_symbol(name)
        for name, address in symbols.items():
            library = library.import_symbol(name, address)
        self._tracker = library.link(_linker(), f"pliant{next(_numbers)}")

    def address(self, name: str) -> int:
        """Where a function starts."""
        return self._tracker[name]


def loaded(key: str, texts: Callable[[], Iterable[str]], names: Sequence[str] = ("run",)) -> Loaded:
    """The code of that key from the cache, or compiled from the modules of ``texts()`` and kept."""
    found = _from_cache(key, names)
    if found is not None:
        return found
    with _turn(key) as has_waited:
        # another process has compiled it meanwhile
        found = _from_cache(key, names) if has_waited else None
        if found is None:
            objects = object_codes(texts())
            write_cached(key, objects)
            found = Loaded(objects, names)
    return found


def _from_cache(key: str, names: Sequence[str]) -> Loaded | None:
    objects = read_cached(key)
    if objects is not None:
        try:
            return Loaded(objects, names)
        except RuntimeError:
            _warn_of_damage(key)  # not the object files that they should be
    return None


symbols: dict[str, int] = {}
"""Functions of this process that compiled code may call: their addresses."""


RUN = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
)


# ---- the cache on disk

_MAGIC = b"pliant-object-3\n"
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


def read_cached(key: str) -> list[bytes] | None:
    """The object files of the entry of that name, or None if there is none that is whole."""
    where = cache_folder()
    if where is None:
        return None
    try:
        data = (where / f"{key}.o").read_bytes()
    except OSError:
        return None
    head = _head(key, data[len(_head(key, b"")) :])
    objects = _unjoined(data[len(head) :]) if data.startswith(head) else None
    if objects is None:
        _warn_of_damage(key)
    return objects


def _joined(objects: Sequence[bytes]) -> bytes:
    """Their number, the length of each, then all of them."""
    return struct.pack(f"<{len(objects) + 1}Q", len(objects), *map(len, objects)) + b"".join(objects)


def _unjoined(data: bytes) -> list[bytes] | None:
    """The inverse; None of data that were not joined so."""
    count = int.from_bytes(data[:8], "little")
    begin = 8 * (count + 1)
    if not 0 < count <= len(data) // 8 or begin > len(data):
        return None
    objects = []
    for (size,) in struct.iter_unpack("<Q", data[8:begin]):
        objects.append(data[begin : begin + size])
        begin += size
    return objects if begin == len(data) else None


def _head(key: str, code: bytes) -> bytes:
    """What stands before the code of an entry: whose it is, and that all of it is there."""
    name = key.encode() + b"\n"
    return _MAGIC + hashlib.sha256(name + code).digest() + name


def _warn_of_damage(key: str) -> None:
    _log.warning("cache entry %s is damaged; compiling again", key[:16])


def write_cached(key: str, objects: Sequence[bytes]) -> None:
    """Keep an entry; a folder that cannot be written costs a warning, not the result."""
    where = cache_folder()
    if where is None:
        return
    temporary, code = None, _joined(objects)
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


@contextlib.contextmanager
def _turn(key: str) -> Iterator[bool]:
    """One process of a machine at a time compiles an entry; whether others had to be waited for.

    The system gives the lock back however a process ends. Where there are no locks, everyone compiles.
    """
    where, has_waited = cache_folder(), False
    with contextlib.ExitStack() as stack:
        if where is not None:
            with contextlib.suppress(ImportError, OSError):
                import fcntl

                # a few empty files for all entries, which stay, and not among them
                name = hashlib.sha256(f"{where.absolute()} {key[:2]}".encode()).hexdigest()[:12]
                path = Path(tempfile.gettempdir()) / f"pliant-{os.getuid()}-{name}.turn"
                file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
                stack.callback(os.close, file)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    has_waited = True
                    fcntl.flock(file, fcntl.LOCK_EX)
        yield has_waited


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
