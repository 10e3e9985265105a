"""The operations that tapes are made of: matrix products and passes over rows of numbers, in LLVM assembly.

An operation is a function of one pointer, its row of the tape: its own address, then its arguments, 64 bits each.
Vectors have `WIDTH` numbers whatever the processor has, and sums have one order: the same bits on all processors with
fused multiply-adds.

Products are computed in tiles: rows times one or two vectors, whose sums stay in registers,

    y[i, :] = start[i, :] + sum_k x[i, k] w[k, :]

With strides for i and k of x, the same code adds up weights' gradients, where k counts samples.
"""

from collections.abc import Callable

from pliant.compiler.llvm import Machine
from pliant.learn.writer import WIDTH, Function


def tile_shape(machine: Machine) -> tuple[int, int]:
    """Rows and vectors of the largest tile whose sums fit into the registers of a processor."""
    return {64: (12, 2), 32: (6, 1)}.get(machine.vector_bytes, (3, 1))


# ---- products


def tile(f: Function, rows: int, vectors: int) -> None:
    """``rows`` rows of y, as wide as so many vectors: y = start + sum_k x[k] w[k]."""
    starts = [
        f.load(f.at("%s", *([f.times("%si", i)] if i else []), WIDTH * c)) for i in range(rows) for c in range(vectors)
    ]
    # every fourth row has a pointer of its own, the others are beside it: few registers, no arithmetic in the loop
    pointers = [f.at("%x", f.times("%xi", i)) if i else "%x" for i in range(0, rows, 4)]
    beside = [0, "%xi", f.times("%xi", 2), f.times("%xi", 3)]

    def body(k: str, w: str, *values: str) -> list[str]:
        at, sums = values[: len(pointers)], values[len(pointers) :]
        wide = [f.load(f.at(w, WIDTH * c)) for c in range(vectors)]
        made = []
        for i in range(rows):
            one = f.spread(f.load_number(f.at(at[i // 4], beside[i % 4])))
            made += [f.fma(one, wide[c], sums[vectors * i + c]) for c in range(vectors)]
        return [f.at(w, "%wk"), *(f.at(p, "%xk") for p in at), *made]

    carried = [("ptr", "%w"), *(("ptr", p) for p in pointers), *((f.vector, s) for s in starts)]
    _, *found = f.loop("%n", carried, body)
    for n, value in enumerate(found[len(pointers) :]):
        i, c = divmod(n, vectors)
        f.store(value, f.at("%y", *([f.times("%yi", i)] if i else []), WIDTH * c))


TILE = ("ptr %x", "i64 %xi", "i64 %xk", "ptr %w", "i64 %wk", "ptr %s", "i64 %si", "ptr %y", "i64 %yi", "i64 %n")


def matrix(f: Function) -> None:
    """All tiles of a product: some of one height, then some a row lower, each over all columns."""
    names = f.row("pipiiiipiipipipii")
    tall, many, low, all_, height, columns, width, x, xi, xk, w, wk, s, si, y, yi, n = names
    lower = f.op(f"sub i64 {height}, 1")

    def rows(k: str, x: str, s: str, y: str) -> list[str]:
        is_tall = f.op(f"icmp slt i64 {k}, {many}")
        code = f.op(f"select i1 {is_tall}, ptr {tall}, ptr {low}")
        own = f.op(f"select i1 {is_tall}, i64 {height}, i64 {lower}")

        def across(c: str) -> list[str]:
            o = f.times(c, width)
            places = f"ptr {f.at(w, o)}, i64 {wk}, ptr {f.at(s, o)}, i64 {si}, ptr {f.at(y, o)}, i64 {yi}"
            f.lines.append(f"  call void {code}(ptr {x}, i64 {xi}, i64 {xk}, {places}, i64 {n})")
            return []

        f.loop(columns, [], across)
        return [f.at(p, f.times(own, step)) for p, step in ((x, xi), (s, si), (y, yi))]

    f.loop(all_, [("ptr", x), ("ptr", s), ("ptr", y)], rows)


def dots(f: Function) -> None:
    """y[i] = start + x[i] . w, over whole vectors of padded rows."""
    x, xi, w, start, y, rows, vectors = f.row("pipppii")
    first = f.load_number(start)

    def each(i: str, x: str) -> list[str]:
        def along(c: str, s: str) -> list[str]:
            o = f.times(c, WIDTH)
            return [f.fma(f.load(f.at(x, o)), f.load(f.at(w, o)), s)]

        (s,) = f.loop(vectors, [(f.vector, "zeroinitializer")], along)
        f.store_number(f.op(f"fadd {f.number} {first}, {f.total(s)}"), f.at(y, i))
        return [f.at(x, xi)]

    f.loop(rows, [("ptr", x)], each)


def sums(f: Function) -> None:
    """y += sum over rows of x, one vector of each."""
    x, xi, rows, y = f.row("piip")
    (found, _) = f.loop(
        rows, [(f.vector, f.load(y)), ("ptr", x)], lambda i, s, x: [f.two("fadd", s, f.load(x)), f.at(x, xi)]
    )
    f.store(found, y)


def turn(f: Function) -> None:
    """y[j, i] = x[i, j]."""
    x, xi, y, yj, rows, columns = f.row("pipiii")

    def each(i: str, x: str, y: str) -> list[str]:
        def along(j: str, to: str) -> list[str]:
            f.store_number(f.load_number(f.at(x, j)), to)
            return [f.at(to, yj)]

        f.loop(columns, [("ptr", y)], along)
        return [f.at(x, xi), f.at(y, 1)]

    f.loop(rows, [("ptr", x), ("ptr", y)], each)


# ---- samples


def gather(f: Function) -> None:
    """y[i] = x[chosen[i]], rows of n numbers: whole vectors, then the rest one by one."""
    x, xi, chosen, y, yi, rows, vectors, rest = f.row("pippiiii")

    def each(i: str, y: str) -> list[str]:
        index = f.op(f"load i64, ptr {f.op(f'getelementptr i64, ptr {chosen}, i64 {i}')}")
        row = f.at(x, f.times(index, xi))

        def vector(c: str) -> list[str]:
            o = f.times(c, WIDTH)
            f.store(f.load(f.at(row, o)), f.at(y, o))
            return []

        def number(c: str, o: str) -> list[str]:
            f.store_number(f.load_number(f.at(row, o)), f.at(y, o))
            return [f.op(f"add i64 {o}, 1")]

        f.loop(vectors, [], vector)
        f.loop(rest, [("i64", f.times(vectors, WIDTH))], number)
        return [f.at(y, yi)]

    f.loop(rows, [("ptr", y)], each)


def normalise(f: Function) -> None:
    """y = clip((x - shift) * scale) of rows of n numbers; before the clip, numbers and squares are added up."""
    x, y, shift, scale, clip, sums, squares, rows, vectors, rest = f.row("pppppppiii")
    high = f.spread(f.load_number(clip))
    low = f.op(f"fneg {f.vector} {high}")

    # the rest of a row is a vector whose other entries stay as they are
    n = f.op(f"add i64 {f.times(vectors, WIDTH)}, {rest}")
    some = f.op(f"icmp ne i64 {rest}, 0")
    parts = f.op(f"add i64 {vectors}, {f.op(f'zext i1 {some} to i64')}")

    def row(i: str, x: str, y: str) -> list[str]:
        def along(c: str) -> list[str]:
            o = f.times(c, WIDTH)
            is_whole = f.op(f"icmp slt i64 {c}, {vectors}")
            count = f.op(f"select i1 {is_whole}, i64 {WIDTH}, i64 {rest}")
            mask = f.mask(count)
            z = f.two("fsub", f.load_some(f.at(x, o), mask), f.load(f.at(shift, o)))
            z = f.two("fmul", z, f.load(f.at(scale, o)))
            f.store(f.two("fadd", f.load(f.at(sums, o)), z), f.at(sums, o))
            f.store(f.fma(z, z, f.load(f.at(squares, o))), f.at(squares, o))
            z = _where(f, f.op(f"fcmp ogt {f.vector} {z}, {high}"), high, z)
            z = _where(f, f.op(f"fcmp olt {f.vector} {z}, {low}"), low, z)
            f.store_some(z, f.at(y, o), mask)
            return []

        f.loop(parts, [], along)
        return [f.at(x, n), f.at(y, n)]

    f.loop(rows, [("ptr", x), ("ptr", y)], row)


def pick(f: Function) -> None:
    """y[i] = x[chosen[i]], numbers."""
    x, chosen, y, rows = f.row("pppi")

    def each(i: str) -> list[str]:
        index = f.op(f"load i64, ptr {f.op(f'getelementptr i64, ptr {chosen}, i64 {i}')}")
        f.store_number(f.load_number(f.at(x, index)), f.at(y, i))
        return []

    f.loop(rows, [], each)


def each(f: Function) -> None:
    """Call a compiled piece for vector after vector."""
    code, x, count = f.row("ppi")

    def one(k: str, x: str) -> list[str]:
        f.lines.append(f"  call void {code}(ptr {x})")
        return [f.at(x, WIDTH)]

    f.loop(count, [("ptr", x)], one)


# tanh x = x p(x^2) / q(x^2) up to 3e-7 for |x| < 8, where it is 1 up to that: rational, by Lawson's algorithm
_FLAT = 8.0
_TANH_P = (0.9999999699771854, 0.13438179981360368, 0.003564142744455698, 2.177301784063849e-05,
           1.5061471168242352e-08)  # fmt: skip
_TANH_Q = (1.0, 0.46771500754510215, 0.026135965138197628, 0.0003399157212192585, 8.453528570858662e-07)


def tanh(f: Function) -> None:
    """Hyperbolic tangent in place, vector after vector, as good as float32 has it."""
    x, count = f.row("pi")

    def one(k: str, there: str) -> list[str]:
        x = f.load(there)
        x = _where(f, f.op(f"fcmp ogt {f.vector} {x}, {f.constant(_FLAT)}"), f.constant(_FLAT), x)
        x = _where(f, f.op(f"fcmp olt {f.vector} {x}, {f.constant(-_FLAT)}"), f.constant(-_FLAT), x)
        t = f.two("fmul", x, x)
        p, q = (f.constant(c[-1]) for c in (_TANH_P, _TANH_Q))
        for a, b in zip(_TANH_P[-2::-1], _TANH_Q[-2::-1], strict=True):
            p, q = f.fma(p, t, f.constant(a)), f.fma(q, t, f.constant(b))
        f.store(f.two("fdiv", f.two("fmul", x, p), q), there)
        return [f.at(there, WIDTH)]

    f.loop(count, [("ptr", x)], one)


def _slope(f: Function, slope: Callable[[str, str], str]) -> None:
    """g *= slope(h), vector after vector: the derivative of an activation at what it returned."""
    g, h, count = f.row("ppi")

    def one(k: str) -> list[str]:
        o = f.times(k, WIDTH)
        there = f.at(g, o)
        f.store(slope(f.load(there), f.load(f.at(h, o))), there)
        return []

    f.loop(count, [], one)


def slope_tanh(f: Function) -> None:
    """g (1 - h^2)."""
    _slope(f, lambda g, h: f.two("fsub", g, f.two("fmul", f.two("fmul", g, h), h)))


def slope_relu(f: Function) -> None:
    """g where h > 0."""
    _slope(f, lambda g, h: _where(f, f.op(f"fcmp ogt {f.vector} {h}, zeroinitializer"), g, "zeroinitializer"))


def slope_elu(f: Function) -> None:
    """g where h > 0, else g (1 + h)."""
    _slope(f, lambda g, h: _where(f, f.op(f"fcmp ogt {f.vector} {h}, zeroinitializer"), g, f.fma(g, h, g)))


def _where(f: Function, condition: str, then: str, otherwise: str) -> str:
    return f.op(f"select <{WIDTH} x i1> {condition}, {f.vector} {then}, {f.vector} {otherwise}")


def deviations(f: Function) -> None:
    """z = (a - mean) / std in place of the mean, and z.z of each sample."""
    mean, actions, inverse, squares, rows, vectors = f.row("ppppii")

    def sample(i: str, mean: str, actions: str) -> list[str]:
        def along(c: str, s: str) -> list[str]:
            o = f.times(c, WIDTH)
            there = f.at(mean, o)
            z = f.two("fmul", f.two("fsub", f.load(f.at(actions, o)), f.load(there)), f.load(f.at(inverse, o)))
            f.store(z, there)
            return [f.fma(z, z, s)]

        (s,) = f.loop(vectors, [(f.vector, "zeroinitializer")], along)
        f.store_number(f.total(s), f.at(squares, i))
        step = f.times(vectors, WIDTH)
        return [f.at(mean, step), f.at(actions, step)]

    f.loop(rows, [("ptr", mean), ("ptr", actions)], sample)


def pulls(f: Function) -> None:
    """From z and g = d loss / d log p of each sample: g z / std in place of z, and g (z^2 - 1) added up."""
    z, pull, inverse, ones, spread, rows, vectors = f.row("pppppii")

    def sample(i: str, z: str) -> list[str]:
        g = f.spread(f.load_number(f.at(pull, i)))

        def along(c: str) -> list[str]:
            o = f.times(c, WIDTH)
            there, total = f.at(z, o), f.at(spread, o)
            own = f.load(there)
            f.store(f.two("fmul", f.two("fmul", own, g), f.load(f.at(inverse, o))), there)
            f.store(f.fma(g, f.two("fsub", f.two("fmul", own, own), f.load(f.at(ones, o))), f.load(total)), total)
            return []

        f.loop(vectors, [], along)
        return [f.at(z, f.times(vectors, WIDTH))]

    f.loop(rows, [("ptr", z)], sample)


def adam(f: Function) -> None:
    """A step of Adam; ``numbers`` are a factor of the gradient, 1 - beta_1, 1 - beta_2, the least root and the rate."""
    parameters, mean, square, gradient, numbers, count = f.row("pppppi")
    scale, first, second, least, rate = (f.spread(f.load_number(f.at(numbers, k))) for k in range(5))
    root = f"call {f.vector} @llvm.sqrt.{f.suffix}({f.vector} "

    def one(k: str) -> list[str]:
        o = f.times(k, WIDTH)
        at_p, at_m, at_s = (f.at(x, o) for x in (parameters, mean, square))
        g = f.two("fmul", f.load(f.at(gradient, o)), scale)
        m, s = f.load(at_m), f.load(at_s)
        m = f.fma(f.two("fsub", g, m), first, m)
        s = f.fma(f.two("fsub", f.two("fmul", g, g), s), second, s)
        f.store(m, at_m)
        f.store(s, at_s)
        size = f.two("fadd", f.op(f"{root}{s})"), least)
        f.store(f.two("fsub", f.load(at_p), f.two("fdiv", f.two("fmul", m, rate), size)), at_p)
        return []

    f.loop(count, [], one)


def run(f: Function) -> None:
    """Operation after operation of a tape."""

    def one(k: str, row: str) -> list[str]:
        code = f.op(f"load ptr, ptr {row}")
        f.lines.append(f"  call void {code}(ptr {row})")
        return [f.op(f"getelementptr i64, ptr {row}, i64 %size")]

    f.loop("%count", [("ptr", "%tape")], one)


_ALL = (
    matrix, dots, sums, turn, gather, pick, normalise, each, tanh, slope_tanh, slope_relu, slope_elu, deviations, pulls,
    adam,
)  # fmt: skip
OPERATIONS: dict[str, Callable[[Function], None]] = {code.__name__: code for code in _ALL}
"""By name, all that a tape may call."""


def module(precision: str, machine: Machine) -> tuple[str, list[str]]:
    """The text of all operations, tiles and ``run``; and their names."""
    number, suffix = {"float32": ("float", "f32"), "float64": ("double", "f64")}[precision]
    rows, vectors = tile_shape(machine)
    made: dict[str, Function] = {}
    for c in range(1, vectors + 1):
        for i in range(1, rows + 1):
            own = made[f"tile_{i}_{c}"] = Function(f"tile_{i}_{c}", TILE, number, machine.has_fma)
            tile(own, i, c)
    for name, code in OPERATIONS.items():
        code(made.setdefault(name, Function(name, ["ptr %row"], number, machine.has_fma)))
    run(made.setdefault("run", Function("run", ["ptr %tape", "i64 %size", "i64 %count"], number, machine.has_fma)))
    v = f"<{WIDTH} x {number}>"
    head = [
        f'target triple = "{machine.triple}"',
        f"declare {v} @llvm.fma.v{WIDTH}{suffix}({v}, {v}, {v})",
        f"declare {v} @llvm.sqrt.v{WIDTH}{suffix}({v})",
        f"declare {v} @llvm.masked.load.v{WIDTH}{suffix}.p0(ptr, i32, <{WIDTH} x i1>, {v})",
        f"declare void @llvm.masked.store.v{WIDTH}{suffix}.p0({v}, ptr, i32, <{WIDTH} x i1>)",
    ]
    return "\n".join([*head, *(f.text for f in made.values())]), list(made)
