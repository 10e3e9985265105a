"""Programs of robots as object files for another processor, and what is in such a file (ELF, relocatable)."""

import struct
from dataclasses import dataclass

import pliant
from pliant.compiler import native
from pliant.compiler.assembly import Assembly
from pliant.compiler.elementary import precision_of
from pliant.compiler.llvm import Machine, Vectors
from pliant.compiler.program import Program

ROBOTS = ("pendulum", "two_link_arm", "quadruped")


def simulation(name: str, precision: str = "float64") -> pliant.Simulation:
    """A robot that may hit the floor."""
    return pliant.Simulation(pliant.load(name), ground=pliant.flat(), precision=precision, progress=False)


def period(sim: pliant.Simulation) -> Program:
    """A control period: dynamics, contacts, limits, integration."""
    return sim.kernels.plan.program()


def assembly(program: Program, machine: Machine, precision: str) -> Assembly:
    """For vectors as wide as the processor's."""
    kind = precision_of(precision)
    return Assembly(program, Vectors(machine.vector_bytes * 8 // kind.bits, kind), machine)


def objects(program: Program, machine: Machine, precision: str) -> list[bytes]:
    return native.object_codes(assembly(program, machine, precision).modules(), target=machine)


@dataclass(frozen=True)
class Elf:
    """The head and the symbols of an object file.

    Attributes:
        bits: 32 or 64.
        machine: number of the family of processors, 62 for x86-64 and 183 for AArch64.
        kind: 1 for an object file that is yet to be linked.
        defined, undefined: names of its symbols that other files see, and of those that it needs from others.
    """

    bits: int
    machine: int
    kind: int
    defined: frozenset[str]
    undefined: frozenset[str]


def read_elf(data: bytes) -> Elf:
    """Read it by the layout of the ELF-64 object file format, little end first."""
    assert data[:4] == b"\x7fELF"
    assert data[5] == 1, "little-endian"
    kind, machine = struct.unpack_from("<HH", data, 16)
    start = struct.unpack_from("<Q", data, 40)[0]
    size, count = struct.unpack_from("<HH", data, 58)
    # of each section: name, type, flags, address, offset, size, link, info, alignment, size of an entry
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * k) for k in range(count)]
    defined, undefined = set(), set()
    for section in sections:
        if section[1] != 2:  # not the table of symbols
            continue
        names = sections[section[6]][4]
        for at in range(section[4] + 24, section[4] + section[5], 24):  # the first one says nothing
            word, info, _, where = struct.unpack_from("<IBBH", data, at)
            text = data[names + word : data.index(b"\0", names + word)].decode()
            if info >> 4:  # not local
                (defined if where else undefined).add(text)
    return Elf(32 * data[4], machine, kind, frozenset(defined), frozenset(undefined))
