"""Random numbers as LLVM assembly: the rounds of Philox on a vector of lanes, see `pliant.scalar.philox`."""

from typing import TYPE_CHECKING

from pliant.scalar.philox import FACTORS, ROUNDS, WEYL, WORD_BITS

if TYPE_CHECKING:
    from pliant.compiler.llvm import Vectors


def draw_lines(name: str, args: list[str], v: "Vectors") -> list[str]:
    """The four numbers ``name.draw0`` to ``name.draw3`` of four words of a counter and two of a key.

    A lane of 64 bits holds a word in its lower half, with anything above it; one of 32 bits is widened for products.
    """
    is_wide = v.precision.bits == 64
    t, i = v.type, v.integers
    long = f"<{v.width} x i64>"
    low, half = "splat (i64 4294967295)", "splat (i64 32)"
    base = 2.0**v.precision.mantissa_bits
    out: list[str] = []
    at = 0

    def step(text: str) -> str:
        nonlocal at
        at += 1
        out.append(f"  {name}.{at} = {text}")
        return f"{name}.{at}"

    def word(x: str) -> str:
        # the sum has the whole number in its low bits
        bits = step(f"bitcast {t} {step(f'fadd {t} {x}, {v.constant(base)}')} to {i}")
        return step(f"and {i} {bits}, {v.integer((1 << WORD_BITS) - 1)}")

    def product(x: str, factor: int) -> tuple[str, str]:
        wide = step(f"and {i} {x}, {low}") if is_wide else step(f"zext {i} {x} to {long}")
        both = step(f"mul {long} {wide}, splat (i64 {factor})")
        upper = step(f"lshr {long} {both}, {half}")
        return (upper, both) if is_wide else (step(f"trunc {long} {upper} to {i}"), step(f"trunc {long} {both} to {i}"))

    c0, c1, c2, c3, k0, k1 = map(word, args)
    for n in range(ROUNDS):
        high0, low0 = product(c0, FACTORS[0])
        high1, low1 = product(c2, FACTORS[1])
        c0, c1 = step(f"xor {i} {step(f'xor {i} {high1}, {c1}')}, {k0}"), low1
        c2, c3 = step(f"xor {i} {step(f'xor {i} {high0}, {c3}')}, {k1}"), low0
        if n < ROUNDS - 1:
            k0, k1 = (step(f"add {i} {k}, {v.integer(_signed(x, v))}") for k, x in zip((k0, k1), WEYL, strict=True))
    # whole numbers as the low bits of a float; all but half of that float is taken off again
    kept = 32 if is_wide else WORD_BITS
    for k, c in enumerate((c0, c1, c2, c3)):
        bits = step(f"and {i} {c}, {low}" if is_wide else f"lshr {i} {c}, {v.integer(32 - WORD_BITS)}")
        number = step(f"bitcast {i} {step(f'or {i} {bits}, {v.integer(v.bits_of(base))}')} to {t}")
        middle = step(f"fsub {t} {number}, {v.constant(base - 0.5)}")
        out.append(f"  {name}.draw{k} = fmul {t} {middle}, {v.constant(2.0**-kept)}")
    return out


def _signed(word: int, v: "Vectors") -> int:
    """A word of 32 bits as LLVM writes an integer of the vector's size."""
    return word - (1 << 32) if v.precision.bits == 32 and word >> 31 else word
