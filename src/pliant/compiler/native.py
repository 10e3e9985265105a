"""LLVM assembly to machine code, and machine code into this process; `cache` keeps it on disk for the next one.

Code is made for the processor at hand. The environment variable ``PLIANT_PROCESSOR`` names a smaller one, whose code
is the same on every machine that has it: "x86-64" (2 lanes of float64, no fused multiply-add), "x86-64-v3" (4 lanes)
or "x86-64-v4" (8 lanes); on ARM "aarch64" (2 lanes, fused multiply-add). `level` has each of them on every machine, to
compile for another one.

A program is several modules, which threads compile side by side, each to an object file that does not depend on how
many threads there are. Linked together they are one library.
"""

import ctypes
import dataclasses
import functools
import hashlib
import itertools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pliant.compiler.cache import read_cached, turn, warn_of_damage, write_cached
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


# by name: what tells that a machine has it, and the code that is made for it
_X86, _ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
_LEVELS = {
    "x86-64": ((), Machine(_X86, "x86-64", "", 16, False)),
    "x86-64-v3": (("avx2", "bmi2", "f16c", "fma", "lzcnt", "movbe"), Machine(_X86, "x86-64-v3", "", 32, True)),
    "x86-64-v4": (
        ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "fma"), Machine(_X86, "x86-64-v4", "", 64, True),
    ),
    "aarch64": ((), Machine(_ARM, "generic", "", 16, True)),  # NEON and fused multiply-add are part of it
}  # fmt: skip


def family(triple: str) -> str:
    """The family of processors of a target triple: "x86-64", "aarch64", or the first word of another triple."""
    first = triple.partition("-")[0]
    return {"x86_64": "x86-64", "amd64": "x86-64", "arm64": "aarch64"}.get(first, first)


def level(name: str) -> Machine:
    """The processor of that name on Linux, to compile for it on any machine."""
    return _LEVELS[name][1]


def machine_of(triple: str, cpu: str, features: Mapping[str, bool], flattened: str = "") -> Machine:
    """A processor with these features: vectors as wide as its registers."""
    if family(triple) == "aarch64":
        return Machine(triple, cpu, flattened, 16, True)
    vector_bytes = 64 if features.get("avx512f") else 32 if features.get("avx") else 16
    return Machine(triple, cpu, flattened, vector_bytes, bool(features.get("fma")))


@functools.cache
def machine() -> Machine:
    """The processor of this process, or the one that ``PLIANT_PROCESSOR`` names."""
    llvm = _llvm()
    features = llvm.get_host_cpu_features()
    triple = llvm.get_process_triple()
    chosen = os.environ.get("PLIANT_PROCESSOR", "native").strip() or "native"
    if chosen == "native":
        return machine_of(triple, llvm.get_host_cpu_name(), features, features.flatten())
    here = [
        name
        for name, (needed, made) in _LEVELS.items()
        if family(made.triple) == family(triple) and all(map(features.get, needed))
    ]
    if chosen not in here:
        raise KernelError(bad_value("PLIANT_PROCESSOR", chosen, " or ".join(["native", *here]), "the environment"))
    return dataclasses.replace(level(chosen), triple=triple)


def _target_machine(m: Machine) -> Any:
    """Another one each time: it must not be shared by threads."""
    # code finds its constants relative to itself: one instruction less for each, and safe because
    # `Loaded` keeps code and data in one stretch of memory
    return _target(m.triple).create_target_machine(
        cpu=m.cpu, features=m.features, opt=_CODEGEN_LEVEL, reloc="pic", codemodel="small"
    )


@functools.cache
def _target(triple: str) -> Any:
    llvm = _llvm()
    if family(triple) != family(llvm.get_process_triple()):
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(triple)


def versions() -> str:
    """What the machine code depends on besides the program."""
    import llvmlite

    return f"llvmlite {llvmlite.__version__} llvm {_llvm().llvm_version_info} level {_CODEGEN_LEVEL}"


def object_code(text: str, target: Machine | None = None) -> bytes:
    """An object file from LLVM assembly; other threads may compile meanwhile.

    Args:
        target: the processor; None for `machine`.
    """
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
        buffer = _unlocked("LLVMPY_TargetMachineEmitToMemory")(_target_machine(target or machine()), module, 1, problem)
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


def object_codes(texts: Iterable[str], threads: int | None = None, target: Machine | None = None) -> list[bytes]:
    """The object files of several modules: compiled by threads, while the next one is being written.

    Args:
        threads: how many; None for as many as this process has processors.
        target: the processor; None for `machine`.
    """
    threads = threads or _processors()
    if threads == 1:
        return [object_code(text, target) for text in texts]
    waiting: list[Future[bytes]] = []
    with ThreadPoolExecutor(threads, thread_name_prefix="pliant-compiler") as pool:
        try:
            for text in texts:
                waiting.append(pool.submit(object_code, text, target))
            return [future.result() for future in waiting]
        finally:
            pool.shutdown(cancel_futures=True)


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def disassembly(texts: Iterable[str], target: Machine | None = None) -> str:
    """The processor's assembly for LLVM assembly."""
    return "\n".join(_target_machine(target or machine()).emit_assembly(_llvm().parse_assembly(text)) for text in texts)


@functools.cache
def _linker() -> Any:
    """One for the process. It checks that every reference reaches what it points to."""
    llvm = _llvm()
    target = _target(machine().triple).create_target_machine(reloc="pic", codemodel="small")
    return llvm.create_lljit_compiler(target, use_jit_link=True)


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
    with turn(key) as has_waited:
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
            warn_of_damage(key)  # not the object files that they should be
    return None


symbols: dict[str, int] = {}
"""Functions of this process that compiled code may call: their addresses."""


RUN = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
)


@functools.cache
def source_digest() -> str:
    """Of the source of compiler and scalars: code from another version of them must not be loaded."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for path in [*sorted(here.glob("*.py")), *sorted((here.parent / "scalar").glob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()
