"""What a program takes to be compiled, and the bound above which it is refused.

LLVM ends the whole process when it gets no memory, so a program that will not fit is refused before. One operation
takes about 75 us of a processor and 900 bytes, measured on steps of chains with 25 to 100 joints, each with limits. The
number of operations grows with the cube of the joints where joints have limits or the robot touches something.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

from pliant.errors import KernelError
from pliant.scalar.graph import MOST_OPERATIONS, most_operations

_SECONDS, _BYTES = 75e-6, 1000
# programs that are smaller than this fit wherever Python and NumPy do
_SMALL = 100_000


def check_size(name: str, operations: int) -> None:
    """Raise if a program of so many operations, the kernel of that name, would take too much to compile."""
    if operations <= _SMALL:
        return
    need = f"about {operations * _SECONDS / 60:.1f} minutes and {operations * _BYTES / 1e9:.1f} GB to compile"
    problem = f"{name} is a program of {operations:,} operations, which would take {need}"
    fewer = "take a smaller robot: fewer joints with limits, contacts or closed loops"
    if operations > most_operations():
        cure = f"{fewer}; or set PLIANT_MOST_OPERATIONS above {MOST_OPERATIONS:,}"
        raise KernelError(problem, subject=name, field="operations", cure=cure)
    free = free_bytes()
    if free is not None and operations * _BYTES > free:
        problem += f", and {free / 1e9:.1f} GB are free"
        raise KernelError(problem, subject=name, field="memory", cure=f"{fewer}; or free some memory")


def free_bytes() -> float | None:
    """Memory that this process can still get, by the machine and by its own limit; None where that is not known."""
    if sys.platform != "linux":
        return None
    found: list[float] = []
    with suppress(OSError, ValueError, IndexError):
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        swap = float(lines["SwapFree"].split()[0])
        found.append(1024 * (float(lines["MemAvailable"].split()[0]) + swap))
    with suppress(OSError, ValueError, IndexError, ImportError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            found.append(max(0, most - used))
    return min(found, default=None)
