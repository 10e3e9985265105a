"""The stages of a compilation as text, for a curious reader."""

import re
from typing import TYPE_CHECKING

from pliant.compiler import native
from pliant.errors import KernelError
from pliant.scalar.evaluation import nodes_of

if TYPE_CHECKING:
    from pliant.compiler.kernel import Kernel

__all__ = ["STAGES", "stages"]

# the numbers of a table, past the first few
_TABLE_DATA = re.compile(r'( c"[^"]{48})[^"]{48,}"')

STAGES = ("summary", "graph", "llvm", "assembly")


def stages(kernel: "Kernel", stage: str, lines: int | None) -> str:
    """One stage, or "all" of them, each cut to so many lines."""
    if stage not in (*STAGES, "all"):
        problem, cure = f"no stage named {stage!r}", f"there are {', '.join(STAGES)} and all"
        raise KernelError(problem, subject=kernel.name, field="stage", cure=cure)
    wanted = STAGES if stage == "all" else (stage,)
    return "\n\n".join(_cut(_MAKE[s](kernel), lines) for s in wanted)


def _cut(text: str, lines: int | None) -> str:
    rows = text.splitlines()
    if lines is None or len(rows) <= lines:
        return text
    return "\n".join([*rows[:lines], f"... {len(rows) - lines} more lines (show(..., lines=None) prints them)"])


def _summary(kernel: "Kernel") -> str:
    made = kernel.assembly
    operations = kernel.operations()
    nodes = sum(len(b.outputs[0][2].graph.nodes) for b in kernel.program.traced if b.outputs)
    counted = ", ".join(f"{n} {op}" for op, n in operations.items())
    return "\n".join(
        [
            repr(kernel),
            f"  traced      {nodes} nodes, folded and interned",
            f"  lowered     {sum(operations.values())} instructions: {counted}",
            f"  cut         {made.pieces} functions, {made.slots} workspace slots of {kernel.lanes} lanes",
            f"  processor   {native.machine().cpu}",
        ]
    )


def _graph(kernel: "Kernel") -> str:
    rows = ["graph:"]
    for k, block in enumerate(kernel.program.traced):
        rows.append(f"  block {k}")
        needed = nodes_of([node for _, _, node in block.outputs])
        rows.extend(f"    {node!r}" for node in needed if node.args)
        rows.extend(f"    {name}[{i}] <- {_reference(node)}" for name, i, node in block.outputs)
    return "\n".join(rows)


def _reference(node) -> str:
    return f"%{node.index}" if node.args else repr(node)


def _llvm(kernel: "Kernel") -> str:
    return "LLVM:\n" + _TABLE_DATA.sub(r'\1..."', kernel.assembly.text)


def _assembly(kernel: "Kernel") -> str:
    return "assembly:\n" + native.disassembly(kernel.assembly.text)


_MAKE = {"summary": _summary, "graph": _graph, "llvm": _llvm, "assembly": _assembly}
