"""A whole program as LLVM modules.

    void run(ptr arrays, ptr strides, ptr counts, i64 batch, i64 begin, i64 end)

runs groups ``begin`` to ``end`` of the batch. For each group the rows of its robots are turned into
lanes (`pack`), the pieces of the blocks run over the workspace, and lanes are turned back into rows
(`unpack`). In the last group, lanes past the end of the batch repeat the last robot.
"""

from collections.abc import Iterable, Iterator

from pliant.compiler.llvm import (
    Machine,
    Vectors,
    declarations,
    piece_function,
    table_data,
    table_declaration,
    table_name,
    table_precision,
)
from pliant.compiler.lower import PIECE_SIZE, Piece, Straight, cut, lower
from pliant.compiler.program import Block, Loop, Program, TracedBlock, innermost, left
from pliant.errors import KernelError
from pliant.scalar import Expr, Table

# the workspace is on the stack, of which a thread has 8 MB, or less
_MOST_WORKSPACE = 4 << 20

# operations in a module, at least: threads compile one each, and the last one keeps the others waiting
_MODULE_SIZE = 2000


class Assembly:
    """A program as LLVM modules, written when they are asked for: for `Kernel.show` and for the code generator.

    Each module has the functions of a few pieces, and the last one has the entry and the tables.
    """

    def __init__(self, program: Program, vectors: Vectors, machine: Machine, piece_size: int = PIECE_SIZE):
        self.program = program
        self.v = vectors
        self.machine = machine
        self.piece_size = piece_size
        self.slot: dict[str, int] = {}
        top = 0
        for name, size in (*program.variables.items(), *((left(depth), 1) for depth in range(program.depth))):
            self.slot[name] = top
            top += size
        self.first_free = top
        self._top = top
        self._blocks: list[Straight] = []
        self.lines: list[str] = []
        self.helpers: dict[str, str] = {}
        self.tables: dict[str, Table] = {}  # by digest
        self.labels = 0
        self.fixed: dict[str, dict[int, float]] = {}  # results that are constants, by variable and slot
        self._calls: list[list[str]] = []  # names of the functions of each block, in the order of the program
        self._written: list[str] = []
        self._to_write = self._modules()

    def modules(self) -> Iterator[str]:
        """The modules, one after the other as they are written."""
        yield from self._written
        for text in self._to_write:
            self._written.append(text)
            yield text

    @property
    def text(self) -> str:
        """All modules."""
        return "\n\n".join(self.modules())

    @property
    def blocks(self) -> list[Straight]:
        """The lowered blocks."""
        self._write_all()
        return self._blocks

    @property
    def pieces(self) -> int:
        """How many functions the blocks became."""
        self._write_all()
        return sum(map(len, self._calls))

    @property
    def slots(self) -> int:
        """How many the workspace has."""
        self._write_all()
        return self._top

    def _write_all(self) -> None:
        for _ in self.modules():
            pass

    def _modules(self) -> Iterator[str]:
        functions: dict[str, str] = {}  # of the module that is being written, by name
        tables: dict[str, Table] = {}
        count = 0
        for block in self.program.traced:
            for name, code, piece in self._lowered(block):
                if count >= _MODULE_SIZE:
                    yield self._module(map(table_declaration, tables.values()), functions.values())
                    functions, tables, count = {}, {}, 0
                functions[name] = piece_function(name, code, piece, self.v)
                used = code.tables(piece)
                tables |= used
                self.tables |= used
                count += code.operations(piece)
        if self._top * self.v.bytes > _MOST_WORKSPACE:
            size = self._top * self.v.bytes / 2**20
            problem = f"the program needs a workspace of {size:.1f} MB"
            raise KernelError(problem, field="workspace", cure="it must fit on the stack, in 4 MB")
        self._entry()
        elsewhere = [name for names in self._calls for name in names if name not in functions]
        outside = [f"declare void @{name}(ptr) nounwind" for name in elsewhere]
        data = [table_data(table, self.v) for table in self.tables.values()]
        yield self._module([*outside, *data], [*functions.values(), *self.lines, *self.helpers.values()])

    def _module(self, head: Iterable[str], functions: Iterable[str]) -> str:
        intrinsics = [
            declarations(self.v),
            f"declare i1 @llvm.vector.reduce.and.v{self.v.width}i1({self.v.conditions})",
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        ]
        return "\n".join([f'target triple = "{self.machine.triple}"', *intrinsics, *head, *functions])

    def _lowered(self, traced: TracedBlock) -> Iterator[tuple[str, Straight, Piece]]:
        """The pieces of a block, with the names of their functions."""
        inputs = [node for _, _, node in traced.inputs]
        outputs = [(name, k, node) for name, k, node in traced.outputs if not self._is_fixed(name, k, node)]
        code = lower(inputs, [node for _, _, node in outputs], self.v.precision, self.machine.has_fma)
        where = [self.slot[name] + k for name, k, _ in traced.inputs]
        for i in code.instructions:
            if i.op == "input":
                i.value = where[int(i.value or 0)]
        pieces, top = cut(code, [self.slot[n] + k for n, k, _ in outputs], self.first_free, self.piece_size)
        self._top = max(self._top, top)
        first = sum(map(len, self._calls))
        self._blocks.append(code)
        self._calls.append([f"piece{first + k}" for k in range(len(pieces))])
        for name, piece in zip(self._calls[-1], pieces, strict=True):
            yield name, code, piece

    def _is_fixed(self, name: str, k: int, node: Expr) -> bool:
        """Notes a result that is the same number for every robot: it is stored once, not for each group."""
        if node.op != "const" or name not in self.program.written_once:
            return False
        self.fixed.setdefault(name, {})[self.slot[name] + k] = node.value
        return True

    def _store_fixed(self) -> None:
        for name, values in self.fixed.items():
            self._zero(name)
            for slot, value in values.items():
                if value != 0:
                    self.lines.append(f"  %k{slot} = getelementptr i8, ptr %w, i64 {slot * self.v.bytes}")
                    self.lines.append(f"  store {self.v.type} {self.v.constant(value)}, ptr %k{slot}")

    def _zero(self, name: str) -> None:
        where, size = self._variable(name), self.program.variables[name] * self.v.bytes
        self.lines.append(f"  call void @llvm.memset.p0.i64(ptr {where}, i8 0, i64 {size}, i1 false)")

    # The entry: a loop over groups with the program's control flow inside.

    def _entry(self) -> None:
        v = self.v
        arrays = [*self.program.inputs, *self.program.outputs]
        out = self.lines
        arguments = "ptr %arrays, ptr %strides, ptr %counts, i64 %batch, i64 %begin, i64 %end"
        out.append(f"define void @run({arguments}) nounwind {{")
        out.append("entry:")
        out.append(f"  %w = alloca [{max(self._top, 1)} x {v.type}], align {v.bytes}")
        for k in range(len(arrays)):
            out.append(f"  %ap{k} = getelementptr ptr, ptr %arrays, i64 {k}")
            out.append(f"  %a{k} = load ptr, ptr %ap{k}")
            out.append(f"  %sp{k} = getelementptr i64, ptr %strides, i64 {k}")
            out.append(f"  %s{k} = load i64, ptr %sp{k}")
        for k in range(len(self.program.counts)):
            out.append(f"  %cp{k} = getelementptr i64, ptr %counts, i64 {k}")
            out.append(f"  %count{k} = load i64, ptr %cp{k}")
        self._store_fixed()
        out.append("  %last = sub i64 %batch, 1")
        out.append("  %some = icmp slt i64 %begin, %end")
        out.append("  br i1 %some, label %group, label %exit")
        out.append("group:")
        out.append("  %g = phi i64 [ %begin, %entry ], [ %g.next, %group.end ]")
        out.append(f"  %first = mul i64 %g, {v.width}")
        for k, name in enumerate(self.program.inputs):
            if name not in self.program.rounds:
                self._transfer("pack", name, f"%a{k}", f"%s{k}")
        for name in self.program.unset:
            self._zero(name)
        self._body(self.program.body, (), iter(self._calls))
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
        size = self.program.size(name)
        if size == 0:
            return
        function = f"{kind}_{size}"
        if function not in self.helpers:
            self.helpers[function] = transfer_function(function, kind == "pack", size, self.v)
        where = self._variable(self.program.parts(name)[0])
        self.lines.append(f"  call void @{function}(ptr {base}, i64 {stride}, i64 %first, i64 %last, ptr {where})")

    def _variable(self, name: str) -> str:
        """The address of a variable's first slot."""
        n = self._label()
        self.lines.append(f"  %t{n} = getelementptr i8, ptr %w, i64 {self.slot[name] * self.v.bytes}")
        return f"%t{n}"

    def _body(self, body, loops: tuple[Loop, ...], calls: Iterator[list[str]]) -> None:
        for statement in body:
            if isinstance(statement, Block):
                self.lines.extend(f"  call void @{name}(ptr %w)" for name in next(calls))
            else:
                self._loop(statement, loops, calls)

    def _loop(self, loop: Loop, loops: tuple[Loop, ...], calls: Iterator[list[str]]) -> None:
        out, n = self.lines, self._label()
        outer, own = innermost(loops), left(len(loops))
        over = self._open(loop, own, outer) if loop.can_be_left else ""
        count = str(loop.count) if isinstance(loop.count, int) else f"%count{self.program.counts.index(loop.count)}"
        if loop.when:
            out.append(f"  br i1 {self._all(over)}, label %after{n}, label %before{n}")
        else:
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
        for part, whole in loop.slices.items():
            self._slice(part, whole, n, is_back=False)
        self._body(loop.body, (*loops, loop), calls)
        for part, whole in loop.kept_slices.items():
            self._slice(part, whole, n, is_back=True)
        for name in loop.writes:
            self._round("unpack", name, len(self.program.inputs) + list(self.program.outputs).index(name), n)
        out.append(f"  %i{n}.next = add i64 %i{n}, 1")
        over = self._leave(loop.until, own, outer) if loop.until else ""
        if over and not (loop.reads or loop.writes):
            out.append(f"  br i1 {self._all(over)}, label %after{n}, label %next{n}")
        else:
            out.append(f"  br label %next{n}")
        out.append(f"next{n}:")
        out.append(f"  br label %head{n}")
        out.append(f"after{n}:")

    def _round(self, kind: str, name: str, k: int, n: int) -> None:
        """The row of round n, so many rows further in the array; none of an output that is left out."""
        m, is_output = self._label(), kind == "unpack"
        step = self.program.size(name) * self.v.precision.bits // 8
        if is_output:
            self.lines.append(f"  %null{m} = icmp eq ptr %a{k}, null")
            self.lines.append(f"  br i1 %null{m}, label %past{m}, label %row{m}")
            self.lines.append(f"row{m}:")
        self.lines.append(f"  %o{m} = mul i64 %i{n}, {step}")
        self.lines.append(f"  %r{m} = getelementptr i8, ptr %a{k}, i64 %o{m}")
        self._transfer(kind, name, f"%r{m}", f"%s{k}")
        if is_output:
            self.lines.append(f"  br label %past{m}")
            self.lines.append(f"past{m}:")

    def _slice(self, part: str, whole: str | Table, n: int, *, is_back: bool) -> None:
        """The part of round n of a variable, or of a table, into another one, or back.

        A robot that is frozen has it unchanged by then, since blocks leave the variables of such robots alone.
        """
        if isinstance(whole, Table):
            self._constants(part, whole, n)
            return
        size = self.program.variables[part] * self.v.bytes
        if size == 0:
            return
        m, here, start = self._label(), self._variable(part), self._variable(whole)
        self.lines.append(f"  %o{m} = mul i64 %i{n}, {size}")
        self.lines.append(f"  %r{m} = getelementptr i8, ptr {start}, i64 %o{m}")
        to, source = (f"%r{m}", here) if is_back else (here, f"%r{m}")
        where = f"ptr align {self.v.bytes} {to}, ptr align {self.v.bytes} {source}"
        self.lines.append(f"  call void @llvm.memcpy.p0.p0.i64({where}, i64 {size}, i1 false)")

    def _constants(self, part: str, table: Table, n: int) -> None:
        """The entries of round n of a table into a variable."""
        m, v, out, size = self._label(), self.v, self.lines, self.program.variables[part]
        number, kept = v.precision.llvm, table_precision(table, v)
        item = kept.bits // 8
        self.tables[table.digest] = table
        here = self._variable(part)
        out.append(f"  %o{m} = mul i64 %i{n}, {size * item}")
        for k in range(size):
            name = f"{m}.{k}"
            out.append(f"  %j{name} = add i64 %o{m}, {k * item}")
            out.append(f"  %r{name} = getelementptr i8, ptr {table_name(table)}, i64 %j{name}")
            out.append(f"  %e{name} = load {kept.llvm}, ptr %r{name}, align {item}")
            entry = f"%e{name}"
            if kept.llvm != number:
                out.append(f"  %w{name} = fpext {kept.llvm} {entry} to {number}")
                entry = f"%w{name}"
            out.append(f"  %h{name} = insertelement {v.type} poison, {number} {entry}, i32 0")
            out.append(
                f"  %u{name} = shufflevector {v.type} %h{name}, {v.type} poison, <{v.width} x i32> zeroinitializer"
            )
            out.append(f"  %b{name} = getelementptr i8, ptr {here}, i64 {k * v.bytes}")
            out.append(f"  store {v.type} %u{name}, ptr %b{name}, align {v.bytes}")

    # A loop's flag is not zero for lanes that have left it, or one around it, as what is around does not end before.

    def _open(self, loop: Loop, own: str, outer: str | None) -> str:
        """Set the flag of a loop as it begins: who has left it are those that do not enter; gives their condition."""
        v = self.v
        gone = over = self._has_left(self._load(outer)) if outer else ""
        start = "zeroinitializer"
        if loop.when:
            m = self._label()
            self.lines.append(f"  %d{m} = fcmp oeq {v.type} {self._load(loop.when)}, zeroinitializer")
            start = self._as_number(f"%d{m}")
            if gone:
                self.lines.append(f"  %e{m} = or {v.conditions} {gone}, %d{m}")
            over = f"%e{m}" if gone else f"%d{m}"
        self._store(own, self._as_number(over) if over else start)
        if loop.until:
            self._store(loop.until, self._chosen(gone, self._load(loop.until), start) if gone else start)
        return over

    def _leave(self, until: str, own: str, outer: str | None) -> str:
        """Set the flag of a loop at the end of a round; gives the condition of those that have left."""
        value = self._load(until)
        if outer:
            before = self._load(own)
            value = self._chosen(self._has_left(before), before, value)
        self._store(own, value)
        return self._has_left(value)

    def _load(self, name: str) -> str:
        where, m = self._variable(name), self._label()
        self.lines.append(f"  %f{m} = load {self.v.type}, ptr {where}, align {self.v.bytes}")
        return f"%f{m}"

    def _store(self, name: str, value: str) -> None:
        where = self._variable(name)
        self.lines.append(f"  store {self.v.type} {value}, ptr {where}, align {self.v.bytes}")

    def _has_left(self, flag: str) -> str:
        m = self._label()
        self.lines.append(f"  %g{m} = fcmp une {self.v.type} {flag}, zeroinitializer")
        return f"%g{m}"

    def _as_number(self, condition: str) -> str:
        return self._chosen(condition, self.v.constant(1.0), "zeroinitializer")

    def _chosen(self, condition: str, a: str, b: str) -> str:
        m, v = self._label(), self.v
        self.lines.append(f"  %x{m} = select {v.conditions} {condition}, {v.type} {a}, {v.type} {b}")
        return f"%x{m}"

    def _all(self, condition: str) -> str:
        """Whether it holds for every lane."""
        m, v = self._label(), self.v
        self.lines.append(f"  %z{m} = call i1 @llvm.vector.reduce.and.v{v.width}i1({v.conditions} {condition})")
        return f"%z{m}"


# ---- rows to lanes and back
#
# A robot's numbers are a row in memory; a kernel wants one number of several robots side by side. Square tiles of
# numbers are turned by log2(width) rounds of shuffles; rows too short for a tile go number by number.
#
#     void pack(ptr base, i64 stride, i64 first, i64 last, ptr lanes)
#
# reads rows ``first`` to ``first + width - 1``, ``stride`` bytes apart; rows past ``last`` repeat it. `unpack` is its
# inverse.


def transfer_function(name: str, is_pack: bool, size: int, v: Vectors) -> str:
    """A function that turns rows of ``size`` numbers into lanes (pack), or lanes into rows."""
    item = v.precision.bits // 8
    lines = []
    for j in range(v.width):
        lines.append(f"  %n{j} = add i64 %first, {j}")
        lines.append(f"  %past{j} = icmp sgt i64 %n{j}, %last")
        lines.append(f"  %i{j} = select i1 %past{j}, i64 %last, i64 %n{j}")
        lines.append(f"  %o{j} = mul i64 %i{j}, %stride")
        lines.append(f"  %row{j} = getelementptr i8, ptr %base, i64 %o{j}")
    if size < v.width:
        for c in range(size):
            lines += _pack_column(c, v) if is_pack else _unpack_column(c, v)
    else:
        # tiles in a loop; the last one overlaps the one before it, with the same values
        last = size - v.width
        lines.append("  br label %tile")
        lines.append("tile:")
        lines.append("  %c = phi i64 [ 0, %entry ], [ %c.next, %tile ]")
        lines.append(f"  %at = mul i64 %c, {item}")
        lines.append(f"  %to = mul i64 %c, {v.bytes}")
        lines += _tile(v, is_pack)
        lines.append(f"  %c.step = add i64 %c, {v.width}")
        lines.append(f"  %c.over = icmp sgt i64 %c.step, {last}")
        lines.append(f"  %c.next = select i1 %c.over, i64 {last}, i64 %c.step")
        lines.append(f"  %end = icmp eq i64 %c, {last}")
        lines.append("  br i1 %end, label %out, label %tile")
        lines.append("out:")
    arguments = "ptr %base, i64 %stride, i64 %first, i64 %last, ptr noalias %w"
    head = f"define internal void @{name}({arguments}) noinline nounwind {{"
    return "\n".join([head, "entry:", *lines, "  ret void", "}"])


def _tile(v: Vectors, is_pack: bool) -> list[str]:
    """A square of numbers, read along rows and written along lanes, or the other way."""
    rows = [(f"%p{j}", f"%row{j}", "%at", v.precision.bits // 8) for j in range(v.width)]
    lanes = [(f"%q{j}", "%w.at", str(j * v.bytes), v.bytes) for j in range(v.width)]
    source, target = (rows, lanes) if is_pack else (lanes, rows)
    lines, names = ["  %w.at = getelementptr i8, ptr %w, i64 %to"], [f"%x{j}" for j in range(v.width)]
    for name, (place, base, offset, align) in zip(names, source, strict=True):
        lines.append(f"  {place} = getelementptr i8, ptr {base}, i64 {offset}")
        lines.append(f"  {name} = load {v.type}, ptr {place}, align {align}")
    for name, (place, base, offset, align) in zip(_transposed(names, v, lines), target, strict=True):
        lines.append(f"  {place} = getelementptr i8, ptr {base}, i64 {offset}")
        lines.append(f"  store {v.type} {name}, ptr {place}, align {align}")
    return lines


def _transposed(names: list[str], v: Vectors, lines: list[str]) -> list[str]:
    """Transpose a square of vectors by swapping blocks of half, a quarter, ... of its side."""
    width, half = v.width, v.width // 2
    while half >= 1:
        swapped = list(names)
        low = [n for k in range(0, width, 2 * half) for n in (*range(k, k + half), *range(width + k, width + k + half))]
        high = [n + half for n in low]
        for k in range(width):
            if k & half:
                continue
            for mask, place in ((low, k), (high, k + half)):
                label = f"%t{half}.{place}"
                indices = ", ".join(f"i32 {n}" for n in mask)
                pair = f"{v.type} {names[k]}, {v.type} {names[k + half]}"
                lines.append(f"  {label} = shufflevector {pair}, <{width} x i32> <{indices}>")
                swapped[place] = label
        names, half = swapped, half // 2
    return names


def _pack_column(c: int, v: Vectors) -> list[str]:
    scalar, item, lines, name = v.precision.llvm, v.precision.bits // 8, [], "poison"
    for j in range(v.width):
        lines.append(f"  %p{c}.{j} = getelementptr i8, ptr %row{j}, i64 {c * item}")
        lines.append(f"  %x{c}.{j} = load {scalar}, ptr %p{c}.{j}, align {item}")
        lines.append(f"  %y{c}.{j} = insertelement {v.type} {name}, {scalar} %x{c}.{j}, i32 {j}")
        name = f"%y{c}.{j}"
    lines.append(f"  %q{c} = getelementptr i8, ptr %w, i64 {c * v.bytes}")
    lines.append(f"  store {v.type} {name}, ptr %q{c}, align {v.bytes}")
    return lines


def _unpack_column(c: int, v: Vectors) -> list[str]:
    scalar, item = v.precision.llvm, v.precision.bits // 8
    lines = [f"  %q{c} = getelementptr i8, ptr %w, i64 {c * v.bytes}"]
    lines.append(f"  %x{c} = load {v.type}, ptr %q{c}, align {v.bytes}")
    for j in range(v.width):
        lines.append(f"  %y{c}.{j} = extractelement {v.type} %x{c}, i32 {j}")
        lines.append(f"  %p{c}.{j} = getelementptr i8, ptr %row{j}, i64 {c * item}")
        lines.append(f"  store {scalar} %y{c}.{j}, ptr %p{c}.{j}, align {item}")
    return lines
