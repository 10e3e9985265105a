"""Rows to lanes and back.

A robot's numbers are a row in memory; a kernel wants one number of several robots side by side. Square
tiles of numbers are turned by log2(width) rounds of shuffles; rows too short for a
tile go number by number.

    void pack(ptr base, i64 stride, i64 first, i64 last, ptr lanes)

reads rows ``first`` to ``first + width - 1``, ``stride`` bytes apart; rows past ``last`` repeat it.
`unpack` is its inverse.
"""

from pliant.compiler.llvm import Vectors

__all__ = ["pack_function", "unpack_function"]


def pack_function(name: str, size: int, v: Vectors) -> str:
    """Rows of ``size`` numbers to lanes."""
    return _function(name, size, v, _pack_tile, _pack_column)


def unpack_function(name: str, size: int, v: Vectors) -> str:
    """Lanes to rows of ``size`` numbers."""
    return _function(name, size, v, _unpack_tile, _unpack_column)


def _function(name: str, size: int, v: Vectors, tile, column) -> str:
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
            lines += column(c, v)
    else:
        # tiles in a loop; the last one overlaps the one before it, with the same values
        last = size - v.width
        lines.append("  br label %tile")
        lines.append("tile:")
        lines.append("  %c = phi i64 [ 0, %entry ], [ %c.next, %tile ]")
        lines.append(f"  %at = mul i64 %c, {item}")
        lines.append(f"  %to = mul i64 %c, {v.bytes}")
        lines += tile(v)
        lines.append(f"  %c.step = add i64 %c, {v.width}")
        lines.append(f"  %c.over = icmp sgt i64 %c.step, {last}")
        lines.append(f"  %c.next = select i1 %c.over, i64 {last}, i64 %c.step")
        lines.append(f"  %end = icmp eq i64 %c, {last}")
        lines.append("  br i1 %end, label %out, label %tile")
        lines.append("out:")
    arguments = "ptr %base, i64 %stride, i64 %first, i64 %last, ptr noalias %w"
    head = f"define internal void @{name}({arguments}) noinline nounwind {{"
    return "\n".join([head, "entry:", *lines, "  ret void", "}"])


def _pack_tile(v: Vectors) -> list[str]:
    lines, names = [], []
    for j in range(v.width):
        lines.append(f"  %p{j} = getelementptr i8, ptr %row{j}, i64 %at")
        lines.append(f"  %x{j} = load {v.type}, ptr %p{j}, align {v.precision.bits // 8}")
        names.append(f"%x{j}")
    lines.append("  %w.at = getelementptr i8, ptr %w, i64 %to")
    for j, name in enumerate(_transposed(names, v, lines)):
        lines.append(f"  %q{j} = getelementptr i8, ptr %w.at, i64 {j * v.bytes}")
        lines.append(f"  store {v.type} {name}, ptr %q{j}, align {v.bytes}")
    return lines


def _unpack_tile(v: Vectors) -> list[str]:
    lines, names = ["  %w.at = getelementptr i8, ptr %w, i64 %to"], []
    for j in range(v.width):
        lines.append(f"  %q{j} = getelementptr i8, ptr %w.at, i64 {j * v.bytes}")
        lines.append(f"  %x{j} = load {v.type}, ptr %q{j}, align {v.bytes}")
        names.append(f"%x{j}")
    for j, name in enumerate(_transposed(names, v, lines)):
        lines.append(f"  %p{j} = getelementptr i8, ptr %row{j}, i64 %at")
        lines.append(f"  store {v.type} {name}, ptr %p{j}, align {v.precision.bits // 8}")
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
