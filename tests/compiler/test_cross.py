"""Code for a processor that is not here: what an ARM machine would be given, made on any machine.

`tests/aarch64.py` runs it, in an emulator.
"""

import functools
import re

import pytest

from cross_compiled import ROBOTS, assembly, objects, period, read_elf, simulation
from pliant.compiler import native
from pliant.compiler.program import Program

ARM = native.level("aarch64")

# what the linker finds in every process
C_LIBRARY = {"memset", "memcpy"}


@functools.cache
def program(robot: str) -> Program:
    return period(simulation(robot))


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_robot_becomes_objects_for_arm(robot: str, precision: str) -> None:
    found = [read_elf(code) for code in objects(program(robot), ARM, precision)]
    assert {(elf.bits, elf.machine, elf.kind) for elf in found} == {(64, 183, 1)}, "ELF-64, AArch64, to be linked"
    defined = frozenset().union(*[elf.defined for elf in found])
    assert "run" in defined
    assert sum(len(elf.defined) for elf in found) == len(defined), "nothing is there twice"
    # a function that the processor lacks would be a call of one that nobody has (fma, floor, ...)
    assert frozenset().union(*[elf.undefined for elf in found]) - defined <= C_LIBRARY


def test_lanes_fill_the_registers_and_products_are_fused(precision: str) -> None:
    made = assembly(program("two_link_arm"), ARM, precision)
    lanes = {"float64": 2, "float32": 4}[precision]
    assert made.v.width == lanes
    text = native.disassembly(made.modules(), ARM)
    arrangement = {2: "2d", 4: "4s"}[lanes]
    for instruction in ("fmla", "fmls", "fmul", "fadd", "fdiv"):
        assert re.search(rf"\t{instruction}\tv\d+\.{arrangement},", text), instruction
    assert not re.search(r"\tbl\t(?!piece|pack|unpack|mem)", text), "no other calls"


@pytest.mark.parametrize(
    ("triple", "features", "vector_bytes", "has_fma"),
    [
        ("aarch64-unknown-linux-gnu", {"neon": True, "sve": True}, 16, True),
        ("arm64-apple-darwin24.1.0", {}, 16, True),
        ("x86_64-unknown-linux-gnu", {"sse2": True}, 16, False),
        ("x86_64-unknown-linux-gnu", {"avx": True}, 32, False),
        ("x86_64-pc-windows-msvc", {"avx": True, "avx2": True, "fma": True}, 32, True),
        ("x86_64-unknown-linux-gnu", {"avx": True, "fma": True, "avx512f": True}, 64, True),
        ("riscv64-unknown-linux-gnu", {}, 16, False),
    ],
)
def test_the_target_chooses_the_width(triple: str, features: dict, vector_bytes: int, has_fma: bool) -> None:
    machine = native.machine_of(triple, "generic", features)
    assert (machine.vector_bytes, machine.has_fma) == (vector_bytes, has_fma)


def test_levels_are_those_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lowest level of its family runs everywhere; one of another family nowhere."""
    family = native.family(native.machine().triple)
    lowest, other = ("x86-64", "aarch64") if family == "x86-64" else ("aarch64", "x86-64")
    monkeypatch.setenv("PLIANT_PROCESSOR", lowest)
    assert native.machine.__wrapped__().cpu == native.level(lowest).cpu
    monkeypatch.setenv("PLIANT_PROCESSOR", other)
    with pytest.raises(native.KernelError, match=f"PLIANT_PROCESSOR of the environment is '{other}'"):
        native.machine.__wrapped__()


def test_other_targets_leave_this_machine_as_it_is(precision: str) -> None:
    made = assembly(program("pendulum"), native.machine(), precision)
    before = native.object_codes(made.modules())
    objects(program("pendulum"), ARM, precision)
    assert native.object_codes(made.modules()) == before


def test_a_function_that_is_not_there_would_be_seen() -> None:
    text = f"""target triple = "{ARM.triple}"
declare <2 x double> @llvm.sin.v2f64(<2 x double>)
define <2 x double> @wave(<2 x double> %x) {{
  %y = call <2 x double> @llvm.sin.v2f64(<2 x double> %x)
  ret <2 x double> %y
}}
"""
    elf = read_elf(native.object_code(text, ARM))
    assert (elf.defined, elf.undefined) == ({"wave"}, {"sin"})
