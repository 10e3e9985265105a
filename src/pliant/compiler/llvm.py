"""Instructions as LLVM assembly: one vector of lanes per value.

A piece is a function of one pointer, the workspace of a group of lanes; slot k is its k-th vector.
Loads and stores sit where the values are used and made; registers are LLVM's business.
"""

import struct
from dataclasses import dataclass

from pliant.compiler.elementary import Precision
from pliant.compiler.lower import Instruction, Piece, Straight
from pliant.scalar.ops import CONDITIONS, TABLE

__all__ = ["Machine", "Vectors", "declarations", "piece_function"]

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
            value = struct.unpack("<f", struct.pack("<f", _clipped(value)))[0]
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"

    def integer(self, value: int) -> str:
        return f"splat (i{self.precision.bits} {value})"


def _clipped(value: float) -> float:
    limit = 3.4028234663852886e38
    return value if not abs(value) > limit or abs(value) == float("inf") else float("inf") * (1 if value > 0 else -1)


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
    """One piece as an LLVM function ``void name(ptr workspace)``."""
    writer = _Writer(v, code.instructions, piece)
    for n in range(piece.first, piece.last):
        if code.instructions[n].op not in ("const", "input"):
            writer.instruction(n)
    for n, slot in piece.stores:
        writer.store(n, slot)
    body = "\n".join(writer.lines)
    return f"define internal void @{name}(ptr noalias nocapture align {v.bytes} %w) noinline nounwind {{\n{body}\n  ret void\n}}\n"


class _Writer:
    """Writes a piece line by line; loads a value the first time it is asked for."""

    def __init__(self, v: Vectors, instructions: list[Instruction], piece: Piece):
        self.v = v
        self.instructions = instructions
        self.piece = piece
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.stored: dict[int, list[int]] = {}
        for n, slot in piece.stores:
            self.stored.setdefault(n, []).append(slot)

    def operand(self, n: int) -> str:
        name = self.names.get(n)
        if name is not None:
            return name
        instruction = self.instructions[n]
        if instruction.op == "const":
            is_condition = False
            name = self.v.constant(float(instruction.value or 0)) if not is_condition else ""
        else:
            name = self._load(n, self.piece.loads[n])
        self.names[n] = name
        return name

    def _load(self, n: int, slot: int) -> str:
        t, align = self.v.type, self.v.bytes
        self.lines.append(f"  %p{n} = getelementptr i8, ptr %w, i64 {slot * align}")
        self.lines.append(f"  %l{n} = load {t}, ptr %p{n}, align {align}")
        if self.instructions[n].op in CONDITIONS:
            self.lines.append(f"  %c{n} = fcmp one {t} %l{n}, zeroinitializer")
            return f"%c{n}"
        return f"%l{n}"

    def store(self, n: int, slot: int) -> None:
        t, align = self.v.type, self.v.bytes
        value = self.operand(n)
        if self.instructions[n].op in CONDITIONS:
            one = self.v.constant(1.0)
            self.lines.append(f"  %s{n}.{slot} = select {self.v.conditions} {value}, {t} {one}, {t} zeroinitializer")
            value = f"%s{n}.{slot}"
        self.lines.append(f"  %q{n}.{slot} = getelementptr i8, ptr %w, i64 {slot * align}")
        self.lines.append(f"  store {t} {value}, ptr %q{n}.{slot}, align {align}")

    def instruction(self, n: int) -> None:
        instruction = self.instructions[n]
        op = instruction.op
        args = [self.operand(a) for a in instruction.args]
        name = self.names[n] = f"%v{n}"
        template = TABLE[op].llvm if op in TABLE else None
        if template is not None:
            a, b, c = (*args, "", "", "")[:3]
            line = template.format(T=self.v.type, N=self.v.suffix, B=self.v.conditions, a=a, b=b, c=c)
            self.lines.append(f"  {name} = {line}")
        else:
            getattr(self, f"_{op}")(name, *args)

    def _fused(self, name: str, a: str, b: str, c: str) -> None:
        t = self.v.type
        self.lines.append(f"  {name} = call {t} @llvm.fma.{self.v.suffix}({t} {a}, {t} {b}, {t} {c})")

    def _fms(self, name: str, a: str, b: str, c: str) -> None:
        self.lines.append(f"  {name}.n = fneg {self.v.type} {c}")
        self._fused(name, a, b, f"{name}.n")

    def _fnma(self, name: str, a: str, b: str, c: str) -> None:
        # a negated constant is a constant: negate the other factor only if it must be
        self.lines.append(f"  {name}.n = fneg {self.v.type} {a}")
        self._fused(name, f"{name}.n", b, c)

    def _min(self, name: str, a: str, b: str) -> None:
        self._extreme(name, a, b, f"fcmp olt {self.v.type} {b}, {a}")

    def _max(self, name: str, a: str, b: str) -> None:
        self._extreme(name, a, b, f"fcmp olt {self.v.type} {a}, {b}")

    def _extreme(self, name: str, a: str, b: str, better: str) -> None:
        self.lines.append(f"  {name}.c = {better}")
        self.lines.append(f"  {name} = select {self.v.conditions} {name}.c, {self.v.type} {b}, {self.v.type} {a}")

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
        one = struct.unpack("<q", struct.pack("<d", 1.0))[0] if p.bits == 64 else struct.unpack("<i", struct.pack("<f", 1.0))[0]
        self.lines.append(f"  {name}.m = fadd {t} {a}, {self.v.constant(p.magic)}")
        self.lines.append(f"  {name}.i = bitcast {t} {name}.m to {i}")
        self.lines.append(f"  {name}.s = shl {i} {name}.i, {shift}")
        self.lines.append(f"  {name}.e = add {i} {name}.s, {self.v.integer(one)}")
        self.lines.append(f"  {name} = bitcast {i} {name}.e to {t}")

    def _exponent(self, name: str, a: str) -> None:
        """The biased exponent is read as the low bits of a float near 2^mantissa_bits."""
        p, i, t = self.v.precision, self.v.integers, self.v.type
        base = 2.0**p.mantissa_bits
        bias = 1023 if p.bits == 64 else 127
        pattern = struct.unpack("<q", struct.pack("<d", base))[0] if p.bits == 64 else struct.unpack("<i", struct.pack("<f", base))[0]
        self.lines.append(f"  {name}.i = bitcast {t} {a} to {i}")
        self.lines.append(f"  {name}.s = lshr {i} {name}.i, {self.v.integer(p.mantissa_bits)}")
        self.lines.append(f"  {name}.o = or {i} {name}.s, {self.v.integer(pattern)}")
        self.lines.append(f"  {name}.f = bitcast {i} {name}.o to {t}")
        self.lines.append(f"  {name} = fsub {t} {name}.f, {self.v.constant(base + bias)}")

    def _mantissa(self, name: str, a: str) -> None:
        p, i, t = self.v.precision, self.v.integers, self.v.type
        mask = (1 << p.mantissa_bits) - 1
        one = (1023 << 52) if p.bits == 64 else (127 << 23)
        self.lines.append(f"  {name}.i = bitcast {t} {a} to {i}")
        self.lines.append(f"  {name}.m = and {i} {name}.i, {self.v.integer(mask)}")
        self.lines.append(f"  {name}.o = or {i} {name}.m, {self.v.integer(one)}")
        self.lines.append(f"  {name} = bitcast {i} {name}.o to {t}")
