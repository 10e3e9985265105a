"""From an expression graph to a list of instructions, cut into pieces that compile fast.

The steps: keep the nodes that the results need, spell out elementary functions, fuse multiply-adds, and cut the
list into pieces, each a function of its own, and these into basic blocks. Values needed
after the next block go through slots of a workspace, which are used again when their value is dead.
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pliant.compiler.elementary import FUNCTIONS, Precision
from pliant.scalar import Expr, Graph, Table
from pliant.scalar.evaluation import nodes_of

PIECE_SIZE = 2000

# LLVM selects and schedules instructions one basic block at a time. Short blocks keep it near the order
# of the trace, which needs fewer registers than the order it would choose.
BASIC_BLOCK = 100

# a piece with so many operations is one block: there, loading inputs again costs more than it saves
ONE_BLOCK = 500

# one that does little but move values has blocks of so many: in a longer one LLVM would load all of them first
MOVES = 25


@dataclass(slots=True)
class Instruction:
    """``op`` applied to the results of earlier instructions.

    Attributes:
        op: an operation that is one instruction, or "const", "input", "fma", "fms" (a b - c) or
            "fnma" (c - a b).
        args: numbers of the instructions it uses.
        value: the number of a "const", the slot of an "input".
        table: that of a "lookup".
    """

    op: str
    args: tuple[int, ...]
    value: float | int | None = None
    table: Table | None = None


@dataclass
class Straight:
    """Straight-line code: instructions in order, and which of them are the results."""

    instructions: list[Instruction]
    results: list[int]

    def count(self) -> Counter[str]:
        """How many of each operation, constants and inputs left out."""
        return Counter(i.op for i in self.instructions if i.op not in ("const", "input"))

    def operations(self, piece: "Piece") -> int:
        """How many operations a piece has."""
        return sum(i.op not in ("const", "input") for i in self.instructions[piece.first : piece.last])

    def tables(self, piece: "Piece") -> dict[str, Table]:
        """The tables that a piece looks up, by digest."""
        return {i.table.digest: i.table for i in self.instructions[piece.first : piece.last] if i.table is not None}


@dataclass
class Piece:
    """A run of instructions compiled as one function, with what it loads and stores.

    Attributes:
        first, last: its instructions, the last one not included.
        loads: where the values are that it does not make: instruction -> slot.
        stores: instructions and slots.
    """

    first: int
    last: int
    loads: dict[int, int] = field(default_factory=dict)
    stores: list[tuple[int, int]] = field(default_factory=list)

    def blocks(self, instructions: list[Instruction]) -> Iterator[tuple[int, int]]:
        """First and last instruction of each of its basic blocks."""
        start, count = self.first, 0
        total = sum(i.op not in ("const", "input") for i in instructions[self.first : self.last])
        size = BASIC_BLOCK if total > ONE_BLOCK else MOVES if 2 * len(self.stores) > total else ONE_BLOCK
        for n in range(self.first, self.last):
            if count == size:
                yield start, n
                start, count = n, 0
            count += instructions[n].op not in ("const", "input")
        yield start, self.last


def lower(inputs: Sequence[Expr], outputs: Sequence[Expr], precision: Precision, fuse: bool = True) -> Straight:
    """Instructions that compute ``outputs`` from ``inputs``; input number k is read from slot k."""
    nodes, results = _spelled_out(inputs, outputs, precision)
    fused = _fused(nodes, results) if fuse else {}
    return _ordered(inputs, nodes, results, fused)


def _spelled_out(inputs: Sequence[Expr], outputs: Sequence[Expr], precision: Precision):
    """The same graph without elementary functions; itself if there are none."""
    nodes = nodes_of(outputs)
    if not any(n.op in FUNCTIONS for n in nodes):
        return nodes, list(outputs)
    graph = Graph()
    new: dict[int, Expr] = {}
    other: set[int] = set()  # nodes that have become another operation, so that what uses them is to be folded again
    for node in nodes:
        op, k = node.op, node.index
        if op == "const":
            new[k] = graph.constant(node.value)
        elif op == "input":
            new[k] = graph.input(node.value)
        elif op == "lookup":
            index, *beside = node.args
            new[k] = graph.lookup(node.value, new[index.index], *(int(a.value) for a in beside))
        else:
            args, rule = tuple(new[a.index] for a in node.args), FUNCTIONS.get(op)
            if rule:
                new[k] = rule(precision, *args)
            elif op in _COPIED and other.isdisjoint([a.index for a in node.args]):
                new[k] = graph.copied(op, args)
            else:
                new[k] = graph.apply(op, *args)
            if new[k].op != op:
                other.add(k)
    results = [new[n.index] for n in outputs]
    return nodes_of(results), results


# operations whose folding depends on no more than what their arguments are
_COPIED = frozenset(("add", "sub", "mul", "div", "neg", "sqrt"))


def _fused(nodes: list[Expr], results: list[Expr]) -> dict[int, tuple[str, tuple[Expr, ...]]]:
    """Sums that take a product in: sum's index -> fused op and its arguments.

    A product is taken in only if every use of it is, so that it need not be computed at all.
    """
    size = 1 + nodes[-1].index if nodes else 0
    depth, uses, in_sums = [0] * size, [0] * size, [0] * size
    all_sums = []
    for node in nodes:
        is_sum = node.op in ("add", "sub")
        if is_sum:
            all_sums.append(node)
        deepest = 0
        for a in node.args:
            k = a.index
            uses[k] += 1
            in_sums[k] += is_sum
            if depth[k] > deepest:
                deepest = depth[k]
        depth[node.index] = deepest + 1
    for r in results:
        uses[r.index] += 1
    fused: dict[int, tuple[str, tuple[Expr, ...]]] = {}
    for node in all_sums:
        a, b = node.args
        can_a = a.op == "mul" and uses[a.index] == in_sums[a.index]
        can_b = b.op == "mul" and uses[b.index] == in_sums[b.index]
        if not (can_a or can_b):
            continue
        # with two products, the one that is ready later goes into the fused operation
        use_a = can_a and (not can_b or depth[a.index] >= depth[b.index])
        product, other = (a, b) if use_a else (b, a)
        op = "fma" if node.op == "add" else "fms" if use_a else "fnma"
        fused[node.index] = (op, (*product.args, other))
    return fused


def _ordered(inputs: Sequence[Expr], nodes: list[Expr], results: list[Expr], fused) -> Straight:
    """In the order of the trace, which follows the robot outward and inward: neighbours stay close."""
    slot_of = {x.value: k for k, x in enumerate(inputs)}
    number = [0] * (1 + nodes[-1].index if nodes else 0)
    out: list[Instruction] = []
    for node in _needed(nodes, results, fused):
        op, args = fused.get(node.index, (node.op, node.args))
        number[node.index] = len(out)
        if args:
            table = node.value if op == "lookup" else None
            out.append(Instruction(op, tuple([number[a.index] for a in args]), None, table))
        else:
            out.append(Instruction(op, (), slot_of[node.value] if op == "input" else node.value))
    return Straight(out, [number[r.index] for r in results])


def _needed(nodes: list[Expr], results: list[Expr], fused) -> list[Expr]:
    """Nodes still used after products went into fused operations."""
    is_needed = bytearray(1 + nodes[-1].index if nodes else 0)
    for r in results:
        is_needed[r.index] = 1
    found = []
    for node in reversed(nodes):
        k = node.index
        if is_needed[k]:
            found.append(node)
            for a in fused[k][1] if k in fused else node.args:
                is_needed[a.index] = 1
    return found[::-1]


def cut(
    code: Straight, output_slots: Sequence[int], first_free: int, size: int = PIECE_SIZE
) -> tuple[list[Piece], int]:
    """Pieces of at most ``size`` operations, and the number of workspace slots in use.

    A result is stored by the piece that makes it; one that goes where an input is, only when that has
    been read for the last time.

    Args:
        output_slots: where each result must end up.
        first_free: slots below it hold inputs and outputs.
        size: operations in a piece. A value needed beyond the next basic block has a slot.

    Returns:
        The pieces, and one past the highest slot used.
    """
    instructions = code.instructions
    bounds = _bounds(instructions, size)
    home = {n: k for k, (first, last) in enumerate(bounds) for n in range(first, last)}
    last_use: dict[int, int] = {}
    for n, instruction in enumerate(instructions):
        for a in instruction.args:
            last_use[a] = n
    storing = _storing(code, output_slots, home, last_use, len(bounds) - 1)
    for n, k, _ in storing:
        last_use[n] = max(last_use.get(n, 0), bounds[k][1] - 1)
    pieces = [Piece(first, last) for first, last in bounds]
    slot, top = _slots(instructions, pieces, home, last_use, first_free)
    for k, piece in enumerate(pieces):
        for n in range(piece.first, piece.last):
            if n in slot:
                piece.stores.append((n, slot[n]))
            for a in instructions[n].args:
                _load(piece, k, a, instructions, home, slot)
    for n, k, s in storing:
        _load(pieces[k], k, n, instructions, home, slot)
        pieces[k].stores.append((n, s))
    return pieces, top


def _load(piece: Piece, k: int, n: int, instructions: list[Instruction], home: dict[int, int], slot: dict[int, int]):
    """Note where piece k finds the value of instruction n, unless it makes it itself."""
    if instructions[n].op == "input":
        piece.loads[n] = int(instructions[n].value)  # type: ignore[arg-type]
    elif home[n] != k and instructions[n].op != "const":
        piece.loads[n] = slot[n]


def _slots(
    instructions: list[Instruction], pieces: list[Piece], home: dict[int, int], last_use: dict[int, int], first: int
) -> tuple[dict[int, int], int]:
    """Slots of the values that outlive the next basic block or their piece; and one past the highest."""
    slot: dict[int, int] = {}
    free: list[int] = []
    top = first
    by_end: list[tuple[int, int]] = []  # last use, slot
    for piece in pieces:
        for start, stop in piece.blocks(instructions):
            # slots whose value is read for the last time before this block are used again
            while by_end and by_end[0][0] < start:
                free.append(heapq.heappop(by_end)[1])
            for n in range(start, stop):
                end = last_use.get(n, -1)
                is_value = instructions[n].op not in ("input", "const")
                if is_value and (end >= stop + BASIC_BLOCK or (end >= stop and home[end] != home[n])):
                    if free:
                        slot[n] = free.pop()
                    else:
                        slot[n], top = top, top + 1
                    heapq.heappush(by_end, (end, slot[n]))
    return slot, top


def _storing(
    code: Straight, output_slots: Sequence[int], home: dict[int, int], last_use: dict[int, int], last: int
) -> list[tuple[int, int, int]]:
    """For each result: its instruction, the piece that stores it, and its slot."""
    instructions = code.instructions
    # results that are inputs or constants are read by the last piece
    handed_on = {n for n in code.results if instructions[n].op in ("input", "const")}
    last_read = {int(i.value or 0): home[last_use.get(n, 0)] for n, i in enumerate(instructions) if i.op == "input"}
    last_read.update({int(instructions[n].value or 0): last for n in handed_on if instructions[n].op == "input"})
    return [
        (n, last if n in handed_on else max(home[n], last_read.get(s, 0)), s)
        for n, s in zip(code.results, output_slots, strict=True)
    ]


def _bounds(instructions: list[Instruction], size: int) -> list[tuple[int, int]]:
    total = sum(i.op not in ("const", "input") for i in instructions)
    pieces = max(1, -(-total // size))
    per_piece = -(-total // pieces) if total else 1
    bounds, first, count = [], 0, 0
    for n, i in enumerate(instructions):
        count += i.op not in ("const", "input")
        if count == per_piece:
            bounds.append((first, n + 1))
            first, count = n + 1, 0
    if first < len(instructions) or not bounds:
        bounds.append((first, len(instructions)))
    return bounds
