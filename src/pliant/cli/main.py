"""The program ``pliant``: its commands, and errors as one line."""

import logging
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pliant.cli.bench import bench
from pliant.cli.convert import convert
from pliant.cli.equations import equations
from pliant.cli.info import cache, info, robots
from pliant.cli.learning import play, tasks, train
from pliant.cli.outputs import plot, view
from pliant.cli.run import run
from pliant.cli.sweep import sweep
from pliant.cli.terminal import STOPPED, complain
from pliant.errors import PliantError, SimulationWarning


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
            complain("stopped")
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
        import pliant

        typer.echo(f"pliant {pliant.__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version and exit")
    ] = False,
) -> None:
    # one command or many, each has its name
    pass


for _command in (run, view, plot, info, robots, convert, equations, tasks, train, play, sweep, bench, cache):
    app.command()(_command)


def main(arguments: list[str] | None = None) -> Any:
    """Run the program; an error that the user can fix is one line, without a traceback, and exit code 1."""
    # readers of files log their findings; the program has them from the robot's report, see `pliant info`
    findings = logging.getLogger("pliant.findings")
    was_disabled, findings.disabled = findings.disabled, True
    with warnings.catch_warnings():
        warnings.simplefilter("always", SimulationWarning)
        warnings.showwarning = lambda message, *_, **__: complain(f"warning: {message}")
        try:
            return app(args=arguments, prog_name="pliant")
        except BrokenPipeError:
            # the reader, such as `head`, has seen enough; nothing is left to flush to it
            sys.stdout = None  # type: ignore[assignment]
            sys.exit(0)
        except (PliantError, OSError) as error:
            complain(str(error))
        except MemoryError as error:
            reason = "".join(f": {line}" for line in str(error).splitlines()[:1])
            complain(f"there is not enough memory{reason}; ask for fewer robots or a shorter run")
        except ModuleNotFoundError as error:
            if error.name != "sympy":
                raise
            complain("formulas need SymPy; install it with: pip install 'pliant[symbolic]'")
        finally:
            findings.disabled = was_disabled
        sys.exit(1)
