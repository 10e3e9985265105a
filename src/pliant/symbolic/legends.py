"""What the functions in formulas mean, said once below them."""

from typing import Any

from pliant.symbolic.writing import Writer

__all__ = ["latex_legend", "text_legend"]

_TEXT = {
    "play": "play(x, w) = x - min(max(x, -w/2), w/2): a stretch x less the play of width w in its middle",
    "push": "push(s, p) = p where it has the sign of s, else 0",
}
_LATEX = {
    "play": [(r"\operatorname{play}(x, w)", r"x - \min(\max(x, -\frac{w}{2}), \frac{w}{2})")],
    "push": [
        (r"\operatorname{push}(s, p)", r"p\;\mathrm{where\;it\;has\;the\;sign\;of}\;s,\;\mathrm{else}\;0"),
    ],
}


def text_legend(writer: Writer) -> list[str]:
    """Lines for the functions that a writer of text has met."""
    found = [_TEXT[name] for name in _TEXT if name in writer.called]
    for joint, e in writer.springs.items():
        before = "" if len(writer.springs) == 1 else f"{joint}: "
        K, F, R, p = (writer.letter(x) for x in "KFRp")
        turn, is_free = f"({', '.join(writer.line(x) for x in e.q[-4:])})", len(e.q) == 7
        if is_free:
            place = ", ".join(writer.line(x) for x in e.q[:3])
            found.append(f"{before}{p} = ({place}), {R} the rotation of {turn}")
        found.append(f"{before}log = the rotation vector of {turn}, at most pi long")
        found.append(f"{before}Jlog: log' = Jlog w, with w the angular velocity of {joint}")
        for number, part in _halves(e):
            if any(e.hardening):
                found.append(f"{before}{F}{number} = ({', '.join(_pulls(writer, e, part))})")
            else:
                found.append(f"{before}{K}{number} = diag({', '.join(writer.line(k) for k in e.stiffness[part])})")
    return found


def latex_legend(writer: Writer) -> list[tuple[str, str]]:
    """Left and right sides for the functions that a writer of LaTeX has met."""
    found = [row for name, rows in _LATEX.items() if name in writer.called for row in rows]
    for joint, e in writer.springs.items():
        words = joint.replace("_", "\\_")
        before = "" if len(writer.springs) == 1 else f"\\mathrm{{{words}}}:\\;"
        K, F, R, p = (writer.letter(x) for x in "KFRp")
        turn, is_free = f"({', '.join(writer.line(x) for x in e.q[-4:])})", len(e.q) == 7
        if is_free:
            place = ", ".join(writer.line(x) for x in e.q[:3])
            found += [(before + p, f"({place})"), (before + R, f"\\mathrm{{rotation\\;of}}\\;{turn}")]
        found.append((f"{before}\\log", f"\\mathrm{{rotation\\;vector\\;of}}\\;{turn}"))
        found.append((f"{before}\\frac{{d}}{{dt}} \\log", f"J_{{\\log}} \\omega_{{\\mathrm{{{words}}}}}"))
        for number, part in _halves(e):
            below = f"_{{{number}}}" if number else ""
            if any(e.hardening):
                found.append((f"{before}{F}{below}", f"({', '.join(_pulls(writer, e, part))})"))
            else:
                numbers = ", ".join(writer.line(k) for k in e.stiffness[part])
                found.append((f"{before}{K}{below}", f"\\mathrm{{diag}}({numbers})"))
    return found


def _halves(e: Any) -> list[tuple[str, slice]]:
    """The springs of a spherical joint; of a free one those of its place and of its turn."""
    return [("", slice(0, 3))] if len(e.q) == 4 else [("1", slice(0, 3)), ("2", slice(3, 6))]


def _pulls(writer: Writer, e: Any, part: slice) -> list[str]:
    """k x + h x^3 for each entry x of a deflection."""
    import sympy

    is_turn = len(e.q) == 4 or part.start == 3
    places = sympy.symbols("log_1 log_2 log_3", real=True) if is_turn else e.q[:3]
    return [writer.line(k * x + h * x**3) for k, h, x in zip(e.stiffness[part], e.hardening[part], places, strict=True)]
