"""The program ``pliant``: its commands, and what becomes of errors."""

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pliant.cli.options import Base, Json, Robot, Xacro
from pliant.cli.terminal import STOPPED
from pliant.errors import PliantError, SimulationWarning

__all__ = ["app", "main"]


class _Program(TyperGroup):
    """The group of commands; Ctrl-C is one line and exit code 130."""

    def get_params(self, ctx: Any) -> Any:
        found = super().get_params(ctx)
        for parameter in found:
            # typer imports pydantic, half of the time that help takes, to see that a flag without a value is none
            if parameter.name == "help" and parameter.default is None:
                parameter.default = False
        return found

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _complain("stopped")
            raise typer.Exit(STOPPED) from None


app = typer.Typer(
    name="pliant",
    cls=_Program,
    help="Robot simulation in readable Python, compiled.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(is_asked: bool) -> None:
    if is_asked:
        # the package on top of all layers, which has been imported before any of them
        typer.echo(f"pliant {sys.modules['pliant'].__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version and leave")
    ] = False,
) -> None:
    # one command or many, each has its name
    pass


@app.command()
def run(
    robot: Annotated[
        str | None, typer.Argument(metavar="ROBOT|FILE", help="name of a robot, or a .urdf, .xacro or .toml file")
    ] = None,
    time: Annotated[float | None, typer.Option(help="to simulate [s]; 5 unless told")] = None,
    dt: Annotated[float | None, typer.Option(help="length of a step [s]; 0.001 unless told")] = None,
    substeps: Annotated[int | None, typer.Option(help="steps in a control period")] = None,
    ground: Annotated[
        str | None,
        typer.Option(
            help="none, flat, slope=DEGREES, stairs=RISE,RUN[,STEPS] or waves=HEIGHT,LENGTH; flat under a free base"
        ),
    ] = None,
    contact: Annotated[
        str | None, typer.Option(help="rigid, compliant[=STIFFNESS,DAMPING] or hunt-crossley=STIFFNESS,DISSIPATION")
    ] = None,
    friction: Annotated[float | None, typer.Option(help="coefficient of friction")] = None,
    restitution: Annotated[float | None, typer.Option(help="of rigid contacts, 0 to 1")] = None,
    controller: Annotated[
        str | None,
        typer.Option(
            help="none, hold (the pose at the start), raibert (hopping robots), or FILE.py:FUNCTION, "
            "a function (t, q, v) -> u of your own; that file is run as code, so name only one you trust"
        ),
    ] = None,
    command: Annotated[
        str | None, typer.Option(help="numbers for the controller; of raibert VX,VY,HEIGHT [m/s, m/s, m]")
    ] = None,
    gains: Annotated[str | None, typer.Option(help="KP,KD of hold [N m/rad, N m s/rad]")] = None,
    flexible: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JOINT=K[,D[,INERTIA]]", help="a spring and damper between motor and link; may be repeated"
        ),
    ] = None,
    base: Base = None,
    xacro: Annotated[
        bool | None, typer.Option("--xacro", help="run a .xacro file, which is a program; only one you trust")
    ] = None,
    height: Annotated[
        float | None, typer.Option(help="of the lowest point of a free robot above the ground at the start [m]")
    ] = None,
    q: Annotated[
        list[str] | None,
        typer.Option("--q", metavar="JOINT=VALUE,...", help="pose at the start, or all numbers in order"),
    ] = None,
    v: Annotated[
        list[str] | None, typer.Option("--v", metavar="JOINT=VALUE,...", help="velocities at the start, likewise")
    ] = None,
    push: Annotated[
        list[str] | None,
        typer.Option(metavar="BODY=FX,FY,FZ[@T0[:T1]]", help="a force in the world's axes [N, s]; may be repeated"),
    ] = None,
    batch: Annotated[int | None, typer.Option(help="how many robots, each from a pose a little different")] = None,
    spread: Annotated[
        float | None, typer.Option(help="how different [rad, and a tenth of it in m]; 0.05 in a batch")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="of these differences; 0 unless told")] = None,
    threads: Annotated[int | None, typer.Option(help="that share a batch")] = None,
    precision: Annotated[str | None, typer.Option(help="float64 or float32")] = None,
    integrator: Annotated[str | None, typer.Option(help="semi-implicit, rk4, dormand-prince or midpoint")] = None,
    event_driven: Annotated[
        bool | None, typer.Option("--event-driven", help="from event to event, with rigid ground and one robot")
    ] = None,
    every: Annotated[int | None, typer.Option(help="keep one of so many periods in the log")] = None,
    view: Annotated[bool | None, typer.Option("--view", help="show the run in the browser, until Ctrl-C")] = None,
    log: Annotated[str | None, typer.Option(help="file for the log: .h5, or .csv, .npz, .parquet, .mcap")] = None,
    plot: Annotated[str | None, typer.Option(help="file for a plot: .png, .pdf, .svg")] = None,
    video: Annotated[str | None, typer.Option(help="file for a video: .mp4")] = None,
    html: Annotated[str | None, typer.Option(help="file for a replay that opens in a browser")] = None,
    report: Annotated[str | None, typer.Option(help="file for a page with summary, plots and replay")] = None,
    settings: Annotated[
        str | None, typer.Option(metavar="FILE.toml", help="the same options by the same names; the command line wins")
    ] = None,
    quiet: Annotated[bool | None, typer.Option("--quiet", help="print nothing but errors")] = None,
    json: Annotated[bool | None, typer.Option("--json", help="print the summary as JSON and nothing else")] = None,
) -> None:
    """Simulate a robot; write log, plot, video, replay, report."""
    given = {name: value for name, value in locals().items() if name != "settings"}
    from pliant.cli.run import run_robot

    raise typer.Exit(run_robot(given, settings))


@app.command()
def view(
    what: Annotated[str, typer.Argument(metavar="LOG|ROBOT|FILE", help="a log, or a robot's name or file")],
    port: Annotated[int, typer.Option(help="of the page; the next free one if it is taken")] = 8080,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="only say where the page is")] = False,
    base: Base = None,
    xacro: Xacro = False,
) -> None:
    """Show a log or a robot in the browser."""
    from pliant.cli.viewing import view_file

    view_file(what, port=port, opens=not no_browser, base=base, xacro=xacro)


@app.command()
def plot(
    log: Annotated[str, typer.Argument(metavar="LOG", help="file of a log")],
    channels: Annotated[
        list[str] | None, typer.Argument(help="as q, tau, q.knee, forces.foot; `pliant info LOG` lists them")
    ] = None,
    out: Annotated[str | None, typer.Option(help="file: .png, .pdf, .svg; LOG with .png unless told")] = None,
    robot: Annotated[int | None, typer.Option(help="which one of a batch")] = None,
) -> None:
    """Draw channels of a log over time."""
    from pliant.cli.viewing import plot_file

    plot_file(log, tuple(channels or ()), out, robot)


@app.command()
def info(robot: Robot, base: Base = None, xacro: Xacro = False, json: Json = False) -> None:
    """Print what is in a robot or a log, and what is odd in it."""
    from pliant.cli.info import show_info

    show_info(robot, base, xacro, json)


@app.command()
def robots(json: Json = False) -> None:
    """List the robots that have a name."""
    from pliant.cli.robots import list_robots

    list_robots(json)


@app.command()
def equations(
    robot: Robot,
    latex: Annotated[bool, typer.Option("--latex", help="as LaTeX")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="as Markdown with LaTeX in it")] = False,
    python: Annotated[bool, typer.Option("--python", help="as a Python function")] = False,
    c: Annotated[bool, typer.Option("--c", help="as a C function")] = False,
    matlab: Annotated[bool, typer.Option("--matlab", help="as a Matlab function")] = False,
    format: Annotated[
        str | None, typer.Option(help="text, latex, markdown, python, c or matlab: the same by name")
    ] = None,
    method: Annotated[str, typer.Option(help="newton-euler, projected or lagrange")] = "newton-euler",
    symbols: Annotated[
        str | None,
        typer.Option(help="numbers to make symbols of, with commas: all, masses, lengths, m_rod, m_rod=m, ..."),
    ] = None,
    names: Annotated[
        str | None, typer.Option(help="names of coordinates: 'joints', or joint=name with commas: knee=x1")
    ] = None,
    rotations: Annotated[
        str | None, typer.Option(help="'euler' for roll, pitch and yaw in place of quaternions")
    ] = None,
    base: Base = None,
    xacro: Xacro = False,
    raw: Annotated[bool, typer.Option("--raw", help="formulas as the algorithm gives them: quick, and long")] = False,
) -> None:
    """Print the equations of motion of a robot."""
    from pliant.cli.equations import printed_equations

    forms = {"latex": latex, "markdown": markdown, "python": python, "c": c, "matlab": matlab}
    chosen = [form for form, is_chosen in forms.items() if is_chosen]
    text = printed_equations(
        robot,
        chosen,
        format,
        method=method,
        symbols=symbols,
        names=names,
        rotations=rotations,
        base=base,
        is_raw=raw,
        xacro=xacro,
    )
    typer.echo(text)


@app.command()
def bench(
    robot: Annotated[str, typer.Argument(metavar="ROBOT|FILE", help="name or file of a robot")] = "quadruped",
    batch: Annotated[int, typer.Option(min=1, help="how many robots at a time")] = 1024,
    threads: Annotated[int, typer.Option(min=1, help="that share them")] = 1,
    base: Base = None,
    xacro: Xacro = False,
    json: Json = False,
) -> None:
    """Measure how fast a robot is simulated on this machine."""
    from pliant.cli.bench import show_bench

    show_bench(robot, base, batch, threads, json, xacro)


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="remove them")] = False,
    json: Json = False,
) -> None:
    """Say where compiled kernels are kept, how many and how large."""
    from pliant.cli.cache import show_cache

    show_cache(clear, json)


def main(arguments: list[str] | None = None) -> Any:
    """Run the program; an error that the user can mend is one line, without a traceback, and exit code 1."""
    with warnings.catch_warnings(), _brief():
        warnings.simplefilter("always", SimulationWarning)
        warnings.showwarning = _show_warning
        try:
            app(args=arguments, prog_name="pliant")
        except PliantError as error:
            _complain(str(error))
            sys.exit(1)
        except BrokenPipeError:
            # the reader, such as `head`, has seen enough; nothing is left to flush to it
            sys.stdout = None  # type: ignore[assignment]
            sys.exit(0)
        except OSError as error:
            _complain(str(error))
            sys.exit(1)
        except MemoryError as error:
            told = str(error).splitlines()
            _complain(f"memory does not suffice{': ' + told[0] if told else ''}; ask for fewer robots or a shorter run")
            sys.exit(1)
        except ModuleNotFoundError as error:
            if error.name != "sympy":
                raise
            _complain("formulas need SymPy; install it with: pip install 'pliant[symbolic]'")
            sys.exit(1)


def _complain(text: str) -> None:
    typer.echo(f"pliant: {text}", err=True)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    _complain(f"warning: {message}")


@contextmanager
def _brief() -> Iterator[None]:
    """Readers of files log their findings; the program has them from the robot's report, see `pliant info`."""
    logger = logging.getLogger("pliant.findings")
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = False
