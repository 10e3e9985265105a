"""Instructions as LLVM assembly: one vector of lanes per value.

A piece is a function of one pointer, the workspace of a group of lanes; slot k is its k-th vector.
Loads and stores sit where the values are used and made; registers are LLVM's business.
"""

import math
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.compiler.draw import draw_lines
from pliant.compiler.elementary import Precision, precision_of
from pliant.compiler.lower import MOVES, Instruction, Piece, Straight
from pliant.scalar import Table
from pliant.scalar.ops import CONDITIONS, DRAWS, TABLE

# how many arguments, from the first, are conditions; all other arguments are numbers
_CONDITIONS_TAKEN = {"and": 2, "or": 2, "not": 1, "select": 1}

# with the number of their arguments
_INTRINSICS = {"sqrt": 1, "fabs": 1, "floor": 1, "rint": 1, "copysign": 2, "fma": 3}


class Vectors:
    """Types and constants for ``width`` lanes of a precision.

    Attributes:
        type, integers, conditions: of a vector of numbers, of integers as wide as these, of conditions.
        bytes: the size of a vector.
        templates: of each operation, its LLVM with fields for the names of its result and its arguments.
    """

    def __init__(self, width: int, precision: Precision):
        self.width = width
        self.precision = p = precision
        self.type = f"<{width} x {p.llvm}>"
        self.integers = f"<{width} x i{p.bits}>"
        self.conditions = f"<{width} x i1>"
        self.suffix = f"v{width}f{p.bits}"
        self.bytes = width * p.bits // 8
        base, bias = 2.0**p.mantissa_bits, 1023 if p.bits == 64 else 127
        words = {
            "r": "{0}", "a": "{1}", "b": "{2}", "c": "{3}",
            "T": self.type, "I": self.integers, "B": self.conditions, "N": self.suffix,
            "lowest": self.integer(p.bits - 1), "second": self.integer(p.bits - 2),
            "shift": self.integer(p.mantissa_bits), "mask": self.integer((1 << p.mantissa_bits) - 1),
            "magic": self.constant(p.magic), "one": self.integer(self.bits_of(1.0)),
            "base": self.integer(self.bits_of(base)), "biased": self.constant(base + bias),
        }  # fmt: skip
        texts = {op: f"  {{r}} = {row.llvm}" for op, row in TABLE.items() if row.llvm is not None} | SEVERAL
        self.templates = {op: text.format(**words) for op, text in texts.items()}

    def __repr__(self) -> str:
        return f"Vectors({self.width}, {self.precision!r})"

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
    return "\n".join(
        f"declare {v.type} @llvm.{name}.{v.suffix}({', '.join([v.type] * arity)})"
        for name, arity in _INTRINSICS.items()
    )


def piece_function(name: str, code: Straight, piece: Piece, v: Vectors) -> str:
    """One piece as an LLVM function ``void name(ptr workspace)``."""
    writer = _Writer(v, code.instructions, piece)
    early, late = _stores(code.instructions, piece)
    for first, last in piece.blocks(code.instructions):
        writer.new_block(first, last)
        for n in range(first, last):
            if code.instructions[n].op not in ("const", "input"):
                writer.instruction(n)
                for made, slot in early.get(n, ()):
                    writer.store(writer.operand(made), made, slot)
                    writer.keep(made, slot)
    for k, moves in enumerate(_moves(late, piece)):
        if k % MOVES == 0:
            writer.new_block(piece.last, piece.last)
        values = [writer.operand(n) for n, _ in moves]
        for (n, slot), value in zip(moves, values, strict=True):
            writer.store(value, n, slot)
    head = f"define void @{name}(ptr noalias nocapture align {v.bytes} %w) noinline nounwind"
    return "\n".join([f"{head} {{", *writer.lines, "  ret void", "}", ""])


def table_name(table: Table) -> str:
    """Its name in a module."""
    return f"@table.{table.digest[:16]}"


def table_declaration(table: Table) -> str:
    """What a module says of a table that another one has."""
    return f"{table_name(table)} = external constant i8"


def table_data(table: Table, v: Vectors) -> str:
    """The numbers as a string of bytes: LLVM reads that ten times faster than a list of numbers."""
    kept = table_precision(table, v)
    with np.errstate(over="ignore", under="ignore"):
        data = table.numbers.astype(kept.name).tobytes()
    written = "\\" + data.hex("\\")
    return f'{table_name(table)} = constant [{len(data)} x i8] c"{written}", align {kept.bits // 8}'


def table_precision(table: Table, v: Vectors) -> Precision:
    """That of the numbers in memory: float32 if it has them exactly, since a large table is read from far away."""
    return precision_of("float32") if table.is_single else v.precision


def _stores(
    instructions: list[Instruction], piece: Piece
) -> tuple[dict[int, list[tuple[int, int]]], list[tuple[int, int]]]:
    """Values with their slots: those that are stored after an instruction, by its number; and those at the end.

    A value is stored as soon as it is made and its slot has been read for the last time: kept for longer, it would take
    a register, or a place on the stack. What the piece hands on without making it comes at the end.
    """
    late = [(n, slot) for n, slot in piece.stores if n in piece.loads or instructions[n].op == "const"]
    read = {slot: -1 for n, slot in piece.loads.items() if instructions[n].op == "input"}
    for n in range(piece.first, piece.last):
        for a in instructions[n].args:
            if a in piece.loads:
                read[piece.loads[a]] = n
    kept = {piece.loads[n] for n, _ in late if n in piece.loads}
    early: dict[int, list[tuple[int, int]]] = {}
    for n, slot in piece.stores:
        if n in piece.loads or instructions[n].op == "const":
            continue
        if slot in kept:
            late.append((n, slot))
        else:
            early.setdefault(max(n, read.get(slot, -1)), []).append((n, slot))
    return early, late


def _moves(late: list[tuple[int, int]], piece: Piece) -> Iterator[list[tuple[int, int]]]:
    """The stores at the end, such that none overwrites what a later one reads; those of one list are read first."""
    waiting = list(late)
    while waiting:
        sources = Counter(piece.loads[n] for n, _ in waiting if n in piece.loads)
        blocked = [(n, slot) for n, slot in waiting if sources[slot] > (piece.loads.get(n) == slot)]
        if len(blocked) == len(waiting):
            yield blocked  # they take each other's places
            return
        taken = {slot for _, slot in blocked}
        for move in waiting:
            if move[1] not in taken:
                yield [move]
        waiting = blocked


# ---- operations that take several instructions: {r} is the result, and {r}.x a step on the way

_FUSED = "call {{T}} @llvm.fma.{{N}}({{T}} {a}, {{T}} {b}, {{T}} {c})"
# a NaN is handed on, which for the second number must be asked for
_EXTREME = """\
  {{r}}.b = fcmp olt {{T}} {better}
  {{r}}.m = select {{B}} {{r}}.b, {{T}} {{b}}, {{T}} {{a}}
  {{r}}.u = fcmp uno {{T}} {{b}}, {{b}}
  {{r}} = select {{B}} {{r}}.u, {{T}} {{b}}, {{T}} {{r}}.m"""
# the bit is moved to the sign, where a blend looks for it
_LOW_BIT = """\
  {{r}}.i = bitcast {{T}} {{a}} to {{I}}
  {{r}}.s = shl {{I}} {{r}}.i, {{{place}}}
  {{r}} = icmp slt {{I}} {{r}}.s, zeroinitializer"""

SEVERAL: dict[str, str] = {
    "fms": "  {r}.n = fneg {T} {c}\n  {r} = " + _FUSED.format(a="{a}", b="{b}", c="{r}.n"),
    "fnma": "  {r}.n = fneg {T} {a}\n  {r} = " + _FUSED.format(a="{r}.n", b="{b}", c="{c}"),
    "min": _EXTREME.format(better="{b}, {a}"),
    "max": _EXTREME.format(better="{a}, {b}"),
    "odd": _LOW_BIT.format(place="lowest"),
    "half_odd": _LOW_BIT.format(place="second"),
    "power_of_two": """\
  {r}.m = fadd {T} {a}, {magic}
  {r}.i = bitcast {T} {r}.m to {I}
  {r}.s = shl {I} {r}.i, {shift}
  {r}.e = add {I} {r}.s, {one}
  {r} = bitcast {I} {r}.e to {T}""",
    # the biased exponent is read as the low bits of a float near 2^mantissa_bits
    "exponent": """\
  {r}.i = bitcast {T} {a} to {I}
  {r}.s = lshr {I} {r}.i, {shift}
  {r}.o = or {I} {r}.s, {base}
  {r}.f = bitcast {I} {r}.o to {T}
  {r} = fsub {T} {r}.f, {biased}""",
    "mantissa": """\
  {r}.i = bitcast {T} {a} to {I}
  {r}.m = and {I} {r}.i, {mask}
  {r}.o = or {I} {r}.m, {one}
  {r} = bitcast {I} {r}.o to {T}""",
}


class _Writer:
    """Writes a piece line by line; loads a value the first time it is asked for."""

    def __init__(self, v: Vectors, instructions: list[Instruction], piece: Piece):
        self.v = v
        self.instructions = instructions
        self.piece = piece
        self.lines: list[str] = []
        self.numbers: dict[int, str] = {}
        self.conditions: dict[int, str] = {}
        self.comparisons: dict[int, str] = {}  # what conditions compare
        self.homes = dict(piece.loads)  # where values are in the workspace
        self.at_home: list[int] = []  # values of this block that are there, too
        self.drawn: dict[tuple[int, ...], str] = {}  # random numbers: the words they come from, and their common name
        self.block = 0
        self.offsets: dict[_Place, list[int]] = {}  # of lookups in this block, beside each place
        self.places: dict[_Place, _Lanes] = {}  # those of which the lanes have their addresses
        self.entries: dict[tuple[_Place, int], str] = {}  # what has been looked up, by place and offset

    def new_block(self, first: int, last: int) -> None:
        """Start another basic block, of these instructions.

        It loads values from the workspace again: that beats keeping them. And it compares again: if LLVM had to do
        that, which it does to save registers, it would make one block of all.
        """
        self.block += 1
        if self.block > 1:
            self.lines.append(f"  br label %block{self.block}")
            self.lines.append(f"block{self.block}:")
        for n in self.comparisons:
            self.conditions.pop(n, None)
        for n in self.at_home:
            for known in (self.numbers, self.conditions, self.comparisons):
                known.pop(n, None)
        self.at_home.clear()
        for known in (self.offsets, self.places, self.entries):
            known.clear()
        for instruction in self.instructions[first:last]:
            if instruction.table is not None:
                place, offset = self._place(instruction)
                self.offsets.setdefault(place, []).append(offset)

    def keep(self, n: int, slot: int) -> None:
        """Later blocks find a value of this one in that slot."""
        if n not in self.homes:
            self.homes[n] = slot
            self.at_home.append(n)

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
        if n in self.conditions or n in self.comparisons:
            one, b = self.v.constant(1.0), self.v.conditions
            condition, name = self.condition(n), f"%n{n}.{self.block}"
            self.lines.append(f"  {name} = select {b} {condition}, {t} {one}, {t} zeroinitializer")
            return name
        self.at_home.append(n)
        align, name = self.v.bytes, f"{n}.{self.block}"
        self.lines.append(f"  %p{name} = getelementptr i8, ptr %w, i64 {self.homes[n] * align}")
        self.lines.append(f"  %l{name} = load {t}, ptr %p{name}, align {align}")
        return f"%l{name}"

    def condition(self, n: int) -> str:
        """A value as a condition; a number holds if it is not zero."""
        name = self.conditions.get(n)
        if name is None:
            if n not in self.comparisons:
                self.comparisons[n] = f"fcmp une {self.v.type} {self.operand(n)}, zeroinitializer"
            name = self.conditions[n] = f"%c{n}.{self.block}"
            self.lines.append(f"  {name} = {self.comparisons[n]}")
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
        if instruction.table is not None:
            self.numbers[n] = self._lookup(name, args[0], instruction)
            return
        if op in DRAWS:
            if instruction.args not in self.drawn:
                self.drawn[instruction.args] = name
                self.lines += draw_lines(name, args, self.v)
            self.numbers[n] = f"{self.drawn[instruction.args]}.{op}"
            return
        text = self.v.templates[op].format(name, *args)
        if op not in CONDITIONS:
            self.numbers[n] = name
            self.lines.append(text)
            return
        before, _, made = text.rpartition(f"  {name} = ")
        if made.startswith(("fcmp", "icmp")):
            self.comparisons[n] = made  # written where it is used
            text = before.rstrip()
        else:
            self.conditions[n] = name
        if text:
            self.lines.append(text)

    # ---- lookups: the index becomes addresses once for all entries beside it, and neighbours are loaded in one go

    def _place(self, instruction: Instruction) -> tuple["_Place", int]:
        """Where a lookup is, and how far beside that."""
        assert instruction.table is not None
        index, *beside = instruction.args
        offset, last = (int(self.instructions[a].value or 0) for a in beside) if beside else (0, None)
        return _Place(instruction.table, index, len(instruction.table) - 1 if last is None else last), offset

    def _lookup(self, name: str, index: str, instruction: Instruction) -> str:
        """The name of an entry: loaded for each lane, or together with its neighbour before."""
        place, offset = self._place(instruction)
        if (place, offset) not in self.entries:
            if place not in self.places:
                self.places[place] = self._addresses(name, index, place)
            lanes = self.places[place]
            first = self._first_of_pair(place, offset)
            if first is None:
                self.entries[place, offset] = self._loaded(name, lanes, offset)
            else:
                self.entries[place, first], self.entries[place, first + 1] = self._pair_loaded(name, lanes, first)
        return self.entries[place, offset]

    def _first_of_pair(self, place: "_Place", offset: int) -> int | None:
        """The first of two neighbours that are both looked up, of which this is one; None if it stays alone."""
        if self.v.width * table_precision(place.table, self.v).bits < 128:
            return None
        offsets = self.offsets[place]
        first = offset
        while first - 1 in offsets:
            first -= 1
        first += (offset - first) // 2 * 2
        return first if first + 1 in offsets else None

    def _addresses(self, name: str, index: str, place: "_Place") -> "_Lanes":
        """The address of each lane. The index is clamped before it becomes an integer: any other would be undefined."""
        v, out, t = self.v, self.lines, self.v.type
        chosen, last = f"select {v.conditions}", v.constant(place.last)
        # a NaN is not above zero, so it reads the first entry
        out.append(f"  {name}.p = fcmp ogt {t} {index}, zeroinitializer")
        out.append(f"  {name}.l = {chosen} {name}.p, {t} {index}, {t} zeroinitializer")
        out.append(f"  {name}.b = fcmp olt {t} {name}.l, {last}")
        out.append(f"  {name}.h = {chosen} {name}.b, {t} {name}.l, {t} {last}")
        out.append(f"  {name}.i = fptosi {t} {name}.h to <{v.width} x i32>")
        addresses, kept = [], table_precision(place.table, v)
        for k in range(v.width):
            lane = f"{name}.{k}"
            out.append(f"  {lane}.i = extractelement <{v.width} x i32> {name}.i, i32 {k}")
            out.append(f"  {lane}.o = zext i32 {lane}.i to i64")
            out.append(f"  {lane}.a = getelementptr {kept.llvm}, ptr {table_name(place.table)}, i64 {lane}.o")
            addresses.append(f"{lane}.a")
        out.append(f"  {name}.u = fcmp uno {t} {index}, {index}")
        return _Lanes(index, f"{name}.u", addresses, kept)

    def _loaded(self, name: str, lanes: "_Lanes", offset: int) -> str:
        """An entry of each lane; NaN where the index is."""
        v, out, number = self.v, self.lines, lanes.kept.llvm
        row = "poison"
        for k, address in enumerate(lanes.addresses):
            lane = f"{name}.e{k}"
            out.append(f"  {lane}.a = getelementptr {number}, ptr {address}, i64 {offset}")
            out.append(f"  {lane}.n = load {number}, ptr {lane}.a, align {lanes.kept.bits // 8}")
            out.append(f"  {lane} = insertelement <{v.width} x {number}> {row}, {number} {lane}.n, i32 {k}")
            row = lane
        return self._or_nan(name, lanes, row)

    def _pair_loaded(self, name: str, lanes: "_Lanes", offset: int) -> tuple[str, str]:
        """Two neighbouring entries of each lane: loaded as one, collected in two vectors, sorted by one shuffle each.

        The vectors take lanes in turns, as many as 128 bits hold: a shuffle within 128 bits is cheap.
        """
        v, out, number, bits = self.v, self.lines, lanes.kept.llvm, lanes.kept.bits
        loaded = f"<{v.width} x {number}>"
        whole = f"<2 x {number}>" if bits == 64 else "double"
        sides: list[list[str]] = [[], []]
        share = 64 // bits
        for k, address in enumerate(lanes.addresses):
            lane = f"{name}.e{k}"
            out.append(f"  {lane}.a = getelementptr {number}, ptr {address}, i64 {offset}")
            out.append(f"  {lane}.n = load {whole}, ptr {lane}.a, align {bits // 8}")
            if bits == 64:
                sides[k % 2].append(f"{lane}.n")
                continue
            start = "poison" if k % share == 0 else sides[k // share % 2].pop()
            out.append(f"  {lane} = insertelement <2 x double> {start}, double {lane}.n, i32 {k % share}")
            sides[k // share % 2].append(lane)
        rows = [self._joined(f"{name}.{side}", parts) for side, parts in zip("xy", sides, strict=True)]
        if bits == 32:
            for side, row in zip("xy", rows, strict=True):
                out.append(f"  {name}.{side} = bitcast <{v.width // 2} x double> {row} to {loaded}")
            rows = [f"{name}.x", f"{name}.y"]
        found = []
        for second in (0, 1):
            # lane k is in one of the rows, after those before it there
            where = [(k // share % 2, k // (2 * share) * share + k % share) for k in range(v.width)]
            mask = ", ".join(f"i32 {side * v.width + 2 * at + second}" for side, at in where)
            shuffled, both = f"{name}.s{second}", f"{loaded} {rows[0]}, {loaded} {rows[1]}"
            out.append(f"  {shuffled} = shufflevector {both}, <{v.width} x i32> <{mask}>")
            found.append(self._or_nan(f"{name}.{('first', 'second')[second]}", lanes, shuffled))
        return found[0], found[1]

    def _joined(self, name: str, parts: list[str]) -> str:
        """Vectors of two doubles, a power of two of them, one after the other."""
        size = 2
        while len(parts) > 1:
            mask = ", ".join(f"i32 {n}" for n in range(2 * size))
            joined = [f"{name}{2 * size}.{k}" for k in range(len(parts) // 2)]
            for k, label in enumerate(joined):
                both = f"<{size} x double> {parts[2 * k]}, <{size} x double> {parts[2 * k + 1]}"
                self.lines.append(f"  {label} = shufflevector {both}, <{2 * size} x i32> <{mask}>")
            parts, size = joined, 2 * size
        return parts[0]

    def _or_nan(self, name: str, lanes: "_Lanes", row: str) -> str:
        t, kept = self.v.type, lanes.kept
        if kept.bits < self.v.precision.bits:
            self.lines.append(f"  {name}.w = fpext <{self.v.width} x {kept.llvm}> {row} to {t}")
            row = f"{name}.w"
        self.lines.append(f"  {name} = select {self.v.conditions} {lanes.is_nan}, {t} {lanes.at}, {t} {row}")
        return name


class _Place(NamedTuple):
    """Where lookups are: the table, the instruction of the index, and what that is clamped to."""

    table: Table
    at: int
    last: int


class _Lanes(NamedTuple):
    """A place in registers: the index, where it is not a number, the address of each lane, and what is found there."""

    at: str
    is_nan: str
    addresses: list[str]
    kept: Precision
