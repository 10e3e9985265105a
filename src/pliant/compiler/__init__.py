"""From expression graphs to machine code: lowering, LLVM, programs, and kernels on NumPy arrays."""

from pliant.compiler.kernel import Kernel, kernel_from_function, lanes_for
from pliant.compiler.program import Block, Loop, Program

__all__ = ["Block", "Kernel", "Loop", "Program", "kernel_from_function", "lanes_for"]
