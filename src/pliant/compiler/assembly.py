"""A whole program as one LLVM module.

    void run(ptr arrays, ptr strides, ptr counts, i64 batch, i64 begin, i64 end)

runs groups ``begin`` to ``end`` of the batch. For each group the rows of its robots are turned into
lanes (`pack`), the pieces of the blocks run over the workspace, and lanes are turned back into rows
(`unpack`). In the last group, lanes past the end of the batch repeat the last robot.
"""

from dataclasses import dataclass

from pliant.compiler.lanes import pack_function, unpack_function
from pliant.compiler.llvm import Machine, Vectors, declarations, piece_function
from pliant.compiler.lower import PIECE_SIZE, Straight, cut, lower
from pliant.compiler.program import Block, Loop, Program

__all__ = ["Assembly", "assemble"]


@dataclass
class Assembly:
    """What the stages made, for `Kernel.show` and for the code generator."""

    text: str
    blocks: list[Straight]
    pieces: int
    slots: int


def assemble(program: Program, vectors: Vectors, machine: Machine, piece_size: int = PIECE_SIZE) -> Assembly:
    """Lower every block and write the module."""
    return _Assembler(program, vectors, machine, piece_size).run()


class _Assembler:
    def __init__(self, program: Program, vectors: Vectors, machine: Machine, piece_size: int):
        self.program = program
        self.v = vectors
        self.machine = machine
        self.piece_size = piece_size
        self.slot: dict[str, int] = {}
        top = 0
        for name, size in program.variables.items():
            self.slot[name] = top
            top += size
        self.first_free = top
        self.top = top
        self.functions: list[str] = []
        self.helpers: dict[str, str] = {}
        self.lines: list[str] = []
        self.labels = 0
        self.blocks: list[Straight] = []
        self.calls: dict[int, list[str]] = {}

    def run(self) -> Assembly:
        traced = iter(self.program.traced)
        for statement, _ in self.program.walk():
            if isinstance(statement, Block):
                self._lower(statement, next(traced))
        self._entry()
        text = "\n".join(
            [
                f'target triple = "{self.machine.triple}"',
                declarations(self.v),
                f"declare i1 @llvm.vector.reduce.and.v{self.v.width}i1({self.v.conditions})",
                *self.helpers.values(),
                *self.functions,
                *self.lines,
            ]
        )
        return Assembly(text, self.blocks, sum(len(c) for c in self.calls.values()), self.top)

    def _lower(self, block: Block, traced) -> None:
        inputs = [node for _, _, node in traced.inputs]
        code = lower(inputs, [node for _, _, node in traced.outputs], self.v.precision, self.machine.has_fma)
        where = [self.slot[name] + k for name, k, _ in traced.inputs]
        for i in code.instructions:
            if i.op == "input":
                i.value = where[int(i.value or 0)]
        pieces, top = cut(code, [self.slot[n] + k for n, k, _ in traced.outputs], self.first_free, self.piece_size)
        self.top = max(self.top, top)
        names = []
        for piece in pieces:
            name = f"piece{len(self.functions)}"
            self.functions.append(piece_function(name, code, piece, self.v))
            names.append(name)
        self.blocks.append(code)
        self.calls[id(block)] = names

    # The entry: a loop over groups with the program's control flow inside.

    def _entry(self) -> None:
        v = self.v
        arrays = [*self.program.inputs, *self.program.outputs]
        out = self.lines
        out.append("define void @run(ptr %arrays, ptr %strides, ptr %counts, i64 %batch, i64 %begin, i64 %end) nounwind {")
        out.append("entry:")
        out.append(f"  %w = alloca [{max(self.top, 1)} x {v.type}], align {v.bytes}")
        for k, name in enumerate(arrays):
            out.append(f"  %ap{k} = getelementptr ptr, ptr %arrays, i64 {k}")
            out.append(f"  %a{k} = load ptr, ptr %ap{k}")
            out.append(f"  %sp{k} = getelementptr i64, ptr %strides, i64 {k}")
            out.append(f"  %s{k} = load i64, ptr %sp{k}")
        for k, name in enumerate(self.program.counts):
            out.append(f"  %cp{k} = getelementptr i64, ptr %counts, i64 {k}")
            out.append(f"  %count.{name} = load i64, ptr %cp{k}")
        out.append("  %last = sub i64 %batch, 1")
        out.append("  %some = icmp slt i64 %begin, %end")
        out.append("  br i1 %some, label %group, label %exit")
        out.append("group:")
        out.append("  %g = phi i64 [ %begin, %entry ], [ %g.next, %group.end ]")
        out.append(f"  %first = mul i64 %g, {v.width}")
        for k, name in enumerate(self.program.inputs):
            if name not in self.program.rounds:
                self._transfer("pack", name, f"%a{k}", f"%s{k}")
        self._body(self.program.body, ())
        for k, name in enumerate(self.program.outputs):
            if name not in self.program.rounds:
                k += len(self.program.inputs)
                self._transfer("unpack", name, f"%a{k}", f"%s{k}")
        out.append("  br label %group.end")
        out.append("group.end:")
        out.append("  %g.next = add i64 %g, 1")
        out.append("  %more = icmp slt i64 %g.next, %end")
        out.append("  br i1 %more, label %group, label %exit")
        out.append("exit:")
        out.append("  ret void")
        out.append("}")

    def _label(self) -> int:
        self.labels += 1
        return self.labels

    def _transfer(self, kind: str, name: str, base: str, stride: str) -> None:
        size = self.program.variables[name]
        if size == 0:
            return
        function = f"{kind}_{size}"
        if function not in self.helpers:
            make = pack_function if kind == "pack" else unpack_function
            self.helpers[function] = make(function, size, self.v)
        n = self._label()
        self.lines.append(f"  %t{n} = getelementptr i8, ptr %w, i64 {self.slot[name] * self.v.bytes}")
        self.lines.append(f"  call void @{function}(ptr {base}, i64 {stride}, i64 %first, i64 %last, ptr %t{n})")

    def _body(self, body, loops: tuple[Loop, ...]) -> None:
        for statement in body:
            if isinstance(statement, Block):
                self.lines.extend(f"  call void @{name}(ptr %w)" for name in self.calls[id(statement)])
            else:
                self._loop(statement, loops)

    def _loop(self, loop: Loop, loops: tuple[Loop, ...]) -> None:
        out, v, n = self.lines, self.v, self._label()
        if loop.until:
            out.append(f"  %u{n} = getelementptr i8, ptr %w, i64 {self.slot[loop.until] * v.bytes}")
            out.append(f"  store {v.type} zeroinitializer, ptr %u{n}, align {v.bytes}")
        count = str(loop.count) if isinstance(loop.count, int) else f"%count.{loop.count}"
        out.append(f"  br label %before{n}")
        out.append(f"before{n}:")
        out.append(f"  br label %head{n}")
        out.append(f"head{n}:")
        out.append(f"  %i{n} = phi i64 [ 0, %before{n} ], [ %i{n}.next, %next{n} ]")
        out.append(f"  %again{n} = icmp slt i64 %i{n}, {count}")
        out.append(f"  br i1 %again{n}, label %body{n}, label %after{n}")
        out.append(f"body{n}:")
        arrays = [*self.program.inputs, *self.program.outputs]
        for name in loop.reads:
            self._round("pack", name, arrays.index(name), n)
        inner = (*loops, loop)
        self._body(loop.body, inner)
        for name in loop.writes:
            self._round("unpack", name, len(self.program.inputs) + list(self.program.outputs).index(name), n)
        out.append(f"  %i{n}.next = add i64 %i{n}, 1")
        if loop.until:
            done = self._all_done([other.until for other in inner if other.until])
            out.append(f"  br i1 {done}, label %after{n}, label %next{n}")
        else:
            out.append(f"  br label %next{n}")
        out.append(f"next{n}:")
        out.append(f"  br label %head{n}")
        out.append(f"after{n}:")

    def _round(self, kind: str, name: str, k: int, n: int) -> None:
        """The row of round n: as many scalars further in the array as a round has."""
        m = self._label()
        step = self.program.variables[name] * self.v.precision.bits // 8
        self.lines.append(f"  %o{m} = mul i64 %i{n}, {step}")
        self.lines.append(f"  %r{m} = getelementptr i8, ptr %a{k}, i64 %o{m}")
        self._transfer(kind, name, f"%r{m}", f"%s{k}")

    def _all_done(self, flags: list[str]) -> str:
        """Whether every lane has left this loop or one around it."""
        v, out = self.v, self.lines
        result = ""
        for flag in flags:
            m = self._label()
            out.append(f"  %fp{m} = getelementptr i8, ptr %w, i64 {self.slot[flag] * v.bytes}")
            out.append(f"  %f{m} = load {v.type}, ptr %fp{m}, align {v.bytes}")
            out.append(f"  %d{m} = fcmp une {v.type} %f{m}, zeroinitializer")
            if result:
                out.append(f"  %e{m} = or {v.conditions} {result}, %d{m}")
                result = f"%e{m}"
            else:
                result = f"%d{m}"
        m = self._label()
        out.append(f"  %z{m} = call i1 @llvm.vector.reduce.and.v{v.width}i1({v.conditions} {result})")
        return f"%z{m}"
