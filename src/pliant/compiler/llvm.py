"""Instructions as LLVM assembly: one vector of lanes per value.

A piece is a function of one pointer, the workspace of a group of lanes; slot k is its k-th vector.
Loads and stores sit where the values are used and made; registers are LLVM's business.
"""

import math
import struct
from dataclasses import dataclass

import numpy as np

from pliant.compiler.elementary import Precision
from pliant.compiler.lower import Instruction, Piece, Straight
from pliant.scalar import Table
from pliant.scalar.ops import CONDITIONS, TABLE

__all__ = ["Machine", "Vectors", "declarations", "piece_function"]

# how many arguments, from the first, are conditions; all other arguments are numbers
_CONDITIONS_TAKEN = {"and": 2, "or": 2, "not": 1, "select": 1}

_INTRINSICS = ("sqrt", "fabs", "floor", "rint", "copysign", "fma")


@dataclass(frozen=True)
class Vectors:
    """Types and constants for ``width`` lanes of a precision."""

    width: int
    precision: Precision

    @property
    def type(self) -> str:
        return f"<{self.width} x {self.precision.llvm}>"

    @property
    def integers(self) -> str:
        return f"<{self.width} x i{self.precision.bits}>"

    @property
    def conditions(self) -> str:
        return f"<{self.width} x i1>"

    @property
    def suffix(self) -> str:
        return f"v{self.width}f{self.precision.bits}"

    @property
    def bytes(self) -> int:
        return self.width * self.precision.bits // 8

    def constant(self, value: float) -> str:
        return f"splat ({self.precision.llvm} {self.number(value)})"

    def number(self, value: float) -> str:
        """A float in LLVM's spelling: the bits of the double it equals."""
        if self.precision.bits == 32:
            value = _as_float32(value)
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"

    def integer(self, value: int) -> str:
        return f"splat (i{self.precision.bits} {value})"

    def bits_of(self, value: float) -> int:
        """The integer with the bits of a float of the precision."""
        whole, real = ("<q", "<d") if self.precision.bits == 64 else ("<i", "<f")
        return struct.unpack(whole, struct.pack(real, value))[0]


def _as_float32(value: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


@dataclass(frozen=True)
class Machine:
    """The processor that code is made for."""

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    has_fma: bool


def declarations(v: Vectors) -> str:
    """The intrinsics that pieces call."""
    lines = [f"declare {v.type} @llvm.{n}.{v.suffix}({_repeat(v.type, n)})" for n in _INTRINSICS]
    return "\n".join(lines)


def _repeat(t: str, name: str) -> str:
    return ", ".join([t] * {"fma": 3, "copysign": 2}.get(name, 1))


def piece_function(name: str, code: Straight, piece: Piece, v: Vectors) -> str:
    """One piece as an LLVM function ``void name(ptr workspace)``, after the tables it is the first to use."""
    writer = _Writer(v, code.instructions, piece)
    tables = _tables(name, code, piece)
    writer.tables = {digest: _table_name(code, digest) for digest in tables}
    early, late = _stores(code.instructions, piece)
    for first, last in piece.blocks(code.instructions):
        writer.new_block()
        for n in range(first, last):
            if code.instructions[n].op not in ("const", "input"):
                writer.instruction(n)
                for slot in early.get(n, ()):
                    writer.store(writer.operand(n), n, slot)
                    writer.homes.setdefault(n, slot)
    values = [writer.operand(n) for n, _ in late]
    for (n, slot), value in zip(late, values, strict=True):
        writer.store(value, n, slot)
    head = f"define internal void @{name}(ptr noalias nocapture align {v.bytes} %w) noinline nounwind"
    brought = [_table_data(writer.tables[d], table, v) for d, table in tables.items() if code.tables[d] == name]
    return "\n".join([*brought, f"{head} {{", *writer.lines, "  ret void", "}", ""])


def _tables(name: str, code: Straight, piece: Piece) -> dict[str, Table]:
    """The tables that a piece looks up; it brings those that no other piece of the code has brought."""
    found: dict[str, Table] = {}
    for i in code.instructions[piece.first : piece.last]:
        if i.table is not None:
            found[i.table.digest] = i.table
            code.tables.setdefault(i.table.digest, name)
    return found


def _table_name(code: Straight, digest: str) -> str:
    return f"@{code.tables[digest]}.table.{digest[:16]}"


def _table_data(name: str, table: Table, v: Vectors) -> str:
    """The numbers as a string of bytes: LLVM reads that ten times faster than a list of numbers."""
    with np.errstate(over="ignore", under="ignore"):
        data = table.numbers.astype(v.precision.name).tobytes()
    written = "\\" + data.hex("\\")
    return f'{name} = private unnamed_addr constant [{len(data)} x i8] c"{written}", align {v.precision.bits // 8}'


def _stores(instructions: list[Instruction], piece: Piece) -> tuple[dict[int, list[int]], list[tuple[int, int]]]:
    """Values stored as soon as they are made; and those whose slot still holds an input, stored at the end."""
    read = {slot for n, slot in piece.loads.items() if instructions[n].op == "input"}
    early: dict[int, list[int]] = {}
    late: list[tuple[int, int]] = []
    for n, slot in piece.stores:
        if n not in piece.loads and instructions[n].op != "const" and slot not in read:
            early.setdefault(n, []).append(slot)
        else:
            late.append((n, slot))
    return early, late


class _Writer:
    """Writes a piece line by line; loads a value the first time it is asked for."""

    def __init__(self, v: Vectors, instructions: list[Instruction], piece: Piece):
        self.v = v
        self.instructions = instructions
        self.piece = piece
        self.lines: list[str] = []
        self.numbers: dict[int, str] = {}
        self.conditions: dict[int, str] = {}
        self.homes = dict(piece.loads)  # where values are in the workspace
        self.block = 0
        self.tables: dict[str, str] = {}  # names of the tables' data, by digest

    def new_block(self) -> None:
        """Start another basic block, which loads values from the workspace again: that beats keeping them."""
        self.block += 1
        if self.block > 1:
            self.lines.append(f"  br label %block{self.block}")
            self.lines.append(f"block{self.block}:")
        for n in self.homes:
            self.numbers.pop(n, None)
            self.conditions.pop(n, None)

    def operand(self, n: int) -> str:
        """A value as a number; a condition becomes 1 or 0."""
        name = self.numbers.get(n)
        if name is None:
            name = self.numbers[n] = self._number(n)
        return name

    def _number(self, n: int) -> str:
        instruction, t = self.instructions[n], self.v.type
        if instruction.op == "const":
            return self.v.constant(float(instruction.value or 0))
        if n in self.conditions:
            one, b = self.v.constant(1.0), self.v.conditions
            name = f"%n{n}.{self.block}"
            self.lines.append(f"  {name} = select {b} {self.conditions[n]}, {t} {one}, {t} zeroinitializer")
            return name
        align, name = self.v.bytes, f"{n}.{self.block}"
        self.lines.append(f"  %p{name} = getelementptr i8, ptr %w, i64 {self.homes[n] * align}")
        self.lines.append(f"  %l{name} = load {t}, ptr %p{name}, align {align}")
        return f"%l{name}"

    def condition(self, n: int) -> str:
        """A value as a condition; a number holds if it is not zero."""
        name = self.conditions.get(n)
        if name is None:
            number = self.operand(n)
            name = self.conditions[n] = f"%c{n}.{self.block}"
            self.lines.append(f"  {name} = fcmp une {self.v.type} {number}, zeroinitializer")
        return name

    def store(self, value: str, n: int, slot: int) -> None:
        t, align = self.v.type, self.v.bytes
        self.lines.append(f"  %q{n}.{slot} = getelementptr i8, ptr %w, i64 {slot * align}")
        self.lines.append(f"  store {t} {value}, ptr %q{n}.{slot}, align {align}")

    def instruction(self, n: int) -> None:
        instruction = self.instructions[n]
        op = instruction.op
        taken = _CONDITIONS_TAKEN.get(op, 0)
        args = [self.condition(a) if k < taken else self.operand(a) for k, a in enumerate(instruction.args)]
        name = f"%v{n}"
        (self.conditions if op in CONDITIONS else self.numbers)[n] = name
        template = TABLE[op].llvm if op in TABLE else None
        if template is not None:
            a, b, c = (*args, "", "", "")[:3]
            line = template.format(T=self.v.type, N=self.v.suffix, B=self.v.conditions, a=a, b=b, c=c)
            self.lines.append(f"  {name} = {line}")
        elif instruction.table is not None:
            self._lookup(name, args[0], instruction.table)
        else:
            getattr(self, f"_{op}")(name, *args)

    def _lookup(self, name: str, index: str, table: Table) -> None:
        """A load for each lane. The index is clamped before it becomes an integer: any other would be undefined."""
        v, out, t = self.v, self.lines, self.v.type
        data, chosen = self.tables[table.digest], f"select {v.conditions}"
        last = v.constant(len(table) - 1)
        # a NaN is not above zero, so it reads the first entry
        out.append(f"  {name}.p = fcmp ogt {t} {index}, zeroinitializer")
        out.append(f"  {name}.l = {chosen} {name}.p, {t} {index}, {t} zeroinitializer")
        out.append(f"  {name}.b = fcmp olt {t} {name}.l, {last}")
        out.append(f"  {name}.h = {chosen} {name}.b, {t} {name}.l, {t} {last}")
        out.append(f"  {name}.i = fptosi {t} {name}.h to <{v.width} x i32>")
        row = "poison"
        for k in range(v.width):
            lane, number = f"{name}.{k}", v.precision.llvm
            out.append(f"  {lane}.i = extractelement <{v.width} x i32> {name}.i, i32 {k}")
            out.append(f"  {lane}.o = zext i32 {lane}.i to i64")
            out.append(f"  {lane}.a = getelementptr {number}, ptr {data}, i64 {lane}.o")
            out.append(f"  {lane}.n = load {number}, ptr {lane}.a, align {v.precision.bits // 8}")
            out.append(f"  {lane} = insertelement {t} {row}, {number} {lane}.n, i32 {k}")
            row = lane
        out.append(f"  {name}.u = fcmp uno {t} {index}, {index}")
        out.append(f"  {name} = {chosen} {name}.u, {t} {index}, {t} {row}")

    def _fused(self, name: str, a: str, b: str, c: str) -> None:
        t = self.v.type
        self.lines.append(f"  {name} = call {t} @llvm.fma.{self.v.suffix}({t} {a}, {t} {b}, {t} {c})")

    def _fms(self, name: str, a: str, b: str, c: str) -> None:
        self.lines.append(f"  {name}.n = fneg {self.v.type} {c}")
        self._fused(name, a, b, f"{name}.n")

    def _fnma(self, name: str, a: str, b: str, c: str) -> None:
        self.lines.append(f"  {name}.n = fneg {self.v.type} {a}")
        self._fused(name, f"{name}.n", b, c)

    def _min(self, name: str, a: str, b: str) -> None:
        self._extreme(name, a, b, f"fcmp olt {self.v.type} {b}, {a}")

    def _max(self, name: str, a: str, b: str) -> None:
        self._extreme(name, a, b, f"fcmp olt {self.v.type} {a}, {b}")

    def _extreme(self, name: str, a: str, b: str, better: str) -> None:
        """Of two numbers; a NaN is handed on, which for the second one must be asked for."""
        t, chosen = self.v.type, f"select {self.v.conditions}"
        self.lines.append(f"  {name}.b = {better}")
        self.lines.append(f"  {name}.m = {chosen} {name}.b, {t} {b}, {t} {a}")
        self.lines.append(f"  {name}.u = fcmp uno {t} {b}, {b}")
        self.lines.append(f"  {name} = {chosen} {name}.u, {t} {b}, {t} {name}.m")

    def _odd(self, name: str, a: str) -> None:
        self._low_bit(name, a, 1)

    def _half_odd(self, name: str, a: str) -> None:
        self._low_bit(name, a, 2)

    def _low_bit(self, name: str, a: str, place: int) -> None:
        """The bit is moved to the sign, where a blend looks for it."""
        i, shift = self.v.integers, self.v.integer(self.v.precision.bits - place)
        self.lines.append(f"  {name}.i = bitcast {self.v.type} {a} to {i}")
        self.lines.append(f"  {name}.s = shl {i} {name}.i, {shift}")
        self.lines.append(f"  {name} = icmp slt {i} {name}.s, zeroinitializer")

    def _power_of_two(self, name: str, a: str) -> None:
        p, i, t = self.v.precision, self.v.integers, self.v.type
        shift = self.v.integer(p.mantissa_bits)
        self.lines.append(f"  {name}.m = fadd {t} {a}, {self.v.constant(p.magic)}")
        self.lines.append(f"  {name}.i = bitcast {t} {name}.m to {i}")
        self.lines.append(f"  {name}.s = shl {i} {name}.i, {shift}")
        self.lines.append(f"  {name}.e = add {i} {name}.s, {self.v.integer(self.v.bits_of(1.0))}")
        self.lines.append(f"  {name} = bitcast {i} {name}.e to {t}")

    def _exponent(self, name: str, a: str) -> None:
        """The biased exponent is read as the low bits of a float near 2^mantissa_bits."""
        p, i, t = self.v.precision, self.v.integers, self.v.type
        base = 2.0**p.mantissa_bits
        bias = 1023 if p.bits == 64 else 127
        self.lines.append(f"  {name}.i = bitcast {t} {a} to {i}")
        self.lines.append(f"  {name}.s = lshr {i} {name}.i, {self.v.integer(p.mantissa_bits)}")
        self.lines.append(f"  {name}.o = or {i} {name}.s, {self.v.integer(self.v.bits_of(base))}")
        self.lines.append(f"  {name}.f = bitcast {i} {name}.o to {t}")
        self.lines.append(f"  {name} = fsub {t} {name}.f, {self.v.constant(base + bias)}")

    def _mantissa(self, name: str, a: str) -> None:
        p, i, t = self.v.precision, self.v.integers, self.v.type
        mask = (1 << p.mantissa_bits) - 1
        self.lines.append(f"  {name}.i = bitcast {t} {a} to {i}")
        self.lines.append(f"  {name}.m = and {i} {name}.i, {self.v.integer(mask)}")
        self.lines.append(f"  {name}.o = or {i} {name}.m, {self.v.integer(self.v.bits_of(1.0))}")
        self.lines.append(f"  {name} = bitcast {i} {name}.o to {t}")
