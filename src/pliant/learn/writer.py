"""Functions in LLVM assembly, written instruction by instruction: vectors of numbers, addresses, and loops."""

from collections.abc import Callable, Sequence

from pliant.compiler.elementary import precision_of
from pliant.compiler.llvm import Vectors

WIDTH = 16
"""Numbers in a vector; rows of matrices are padded to whole vectors."""


class Function:
    """Writes a function: instructions one by one, loops with the values that they carry on."""

    def __init__(self, name: str, arguments: Sequence[str], number: str, has_fma: bool):
        self.number, self.vector = number, f"<{WIDTH} x {number}>"
        self._has_fma = has_fma
        self.suffix = f"v{WIDTH}{'f32' if number == 'float' else 'f64'}"
        self.lines = [f"define void @{name}({', '.join(arguments)}) nounwind {{", "entry:"]
        self._block, self._count = "entry", 0

    @property
    def text(self) -> str:
        return "\n".join([*self.lines, "  ret void", "}"])

    def op(self, text: str) -> str:
        """An instruction; returns the name of its result."""
        self._count += 1
        self.lines.append(f"  %v{self._count} = {text}")
        return f"%v{self._count}"

    def row(self, kinds: str) -> list[str]:
        """Arguments in the row of the tape, after the address of the function: "p" for pointers, "i" for integers."""
        found = []
        for k, kind in enumerate(kinds, start=1):
            at = self.op(f"getelementptr i64, ptr %row, i64 {k}")
            found.append(self.op(f"load {'ptr' if kind == 'p' else 'i64'}, ptr {at}"))
        return found

    def at(self, base: str, *offsets: str | int) -> str:
        """An address so many numbers after another one."""
        for offset in offsets:
            if offset != 0:
                base = self.op(f"getelementptr {self.number}, ptr {base}, i64 {offset}")
        return base

    def times(self, a: str | int, b: str | int) -> str:
        return self.op(f"mul i64 {a}, {b}")

    def load(self, address: str) -> str:
        return self.op(f"load {self.vector}, ptr {address}, align {4 if self.number == 'float' else 8}")

    def store(self, value: str, address: str) -> None:
        self.lines.append(f"  store {self.vector} {value}, ptr {address}, align {4 if self.number == 'float' else 8}")

    def mask(self, count: str) -> str:
        """Which places of a vector come before ``count``."""
        first = self.op(f"insertelement <{WIDTH} x i64> poison, i64 {count}, i32 0")
        wide = f"<{WIDTH} x i64>"
        counts = self.op(f"shufflevector {wide} {first}, {wide} poison, <{WIDTH} x i32> zeroinitializer")
        places = ", ".join(f"i64 {k}" for k in range(WIDTH))
        return self.op(f"icmp slt {wide} <{places}>, {counts}")

    def load_some(self, address: str, mask: str) -> str:
        """A vector of which only some places are read; the others are 0."""
        v = self.vector
        call = f"call {v} @llvm.masked.load.{self.suffix}.p0(ptr {address}, i32 4, <{WIDTH} x i1> {mask}, "
        return self.op(f"{call}{v} zeroinitializer)")

    def store_some(self, value: str, address: str, mask: str) -> None:
        """Write some places of a vector."""
        call = f"call void @llvm.masked.store.{self.suffix}.p0({self.vector} {value}, ptr {address}, i32 4, "
        self.lines.append(f"  {call}<{WIDTH} x i1> {mask})")

    def load_number(self, address: str) -> str:
        return self.op(f"load {self.number}, ptr {address}")

    def store_number(self, value: str, address: str) -> None:
        self.lines.append(f"  store {self.number} {value}, ptr {address}")

    def spread(self, number: str) -> str:
        """A vector of one number."""
        first = self.op(f"insertelement {self.vector} poison, {self.number} {number}, i32 0")
        return self.op(f"shufflevector {self.vector} {first}, {self.vector} poison, <{WIDTH} x i32> zeroinitializer")

    def constant(self, value: float) -> str:
        """A vector of one known number."""
        return Vectors(WIDTH, precision_of("float32" if self.number == "float" else "float64")).constant(value)

    def two(self, op: str, a: str, b: str) -> str:
        """Two vectors in one operation: "fadd", "fsub" or "fmul"."""
        return self.op(f"{op} {self.vector} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        """Vectors a b + c."""
        v = self.vector
        if not self._has_fma:
            return self.two("fadd", self.two("fmul", a, b), c)
        return self.op(f"call {v} @llvm.fma.{self.suffix}({v} {a}, {v} {b}, {v} {c})")

    def total(self, vector: str) -> str:
        """The sum of the numbers of a vector: halves are added until one is left."""
        width = WIDTH
        while width > 1:
            width //= 2
            kind = f"<{2 * width} x {self.number}>"
            parts = []
            for first in (0, width):
                places = ", ".join(f"i32 {k}" for k in range(first, first + width))
                parts.append(self.op(f"shufflevector {kind} {vector}, {kind} poison, <{width} x i32> <{places}>"))
            vector = self.op(f"fadd <{width} x {self.number}> {parts[0]}, {parts[1]}")
        return self.op(f"extractelement <1 x {self.number}> {vector}, i32 0")

    def loop(self, count: str, carried: Sequence[tuple[str, str]], body: Callable[..., Sequence[str]]) -> list[str]:
        """Repeat: ``body(k, *values)`` returns the values of the next round; those after the last one are returned.

        Args:
            count: of rounds.
            carried: type and first value of each.
        """
        self._count += 1
        n, before = self._count, self._block
        enters = self.op(f"icmp sgt i64 {count}, 0")
        self.lines += [f"  br i1 {enters}, label %loop{n}, label %done{n}", f"loop{n}:"]
        self._block, place = f"loop{n}", len(self.lines)
        values = [f"%carried{n}.{k}" for k in range(len(carried))]
        made = body(f"%round{n}", *values)
        after = self.op(f"add i64 %round{n}, 1")
        goes_on = self.op(f"icmp slt i64 {after}, {count}")
        last = self._block
        head = [f"  %round{n} = phi i64 [0, %{before}], [{after}, %{last}]"]
        tail = []
        for k, ((kind, first), following) in enumerate(zip(carried, made, strict=True)):
            head.append(f"  {values[k]} = phi {kind} [{first}, %{before}], [{following}, %{last}]")
            tail.append(f"  %found{n}.{k} = phi {kind} [{first}, %{before}], [{following}, %{last}]")
        self.lines[place:place] = head
        self.lines += [f"  br i1 {goes_on}, label %loop{n}, label %done{n}", f"done{n}:", *tail]
        self._block = f"done{n}"
        return [f"%found{n}.{k}" for k in range(len(carried))]
