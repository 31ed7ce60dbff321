"""The command line. Verbs are imported when they are called, so that each loads only its own."""

import importlib
import sys
from typing import Final

import click

from aw_graders.cli.exits import Exit

_GROUPS: Final = {
    "graders": ("aw_graders.cli.graders", "Grade sessions; list and explain the graders."),
    "session": ("aw_graders.cli.session", "Check and show unified sessions."),
    "conclude": ("aw_graders.cli.conclude", "Collect, redact, grade and publish a run."),
    "lint": ("aw_graders.cli.lint", "Check workflows and their graders before they run."),
    "schema": ("aw_graders.cli.schema", "Print a JSON Schema."),
}


class _Lazy(click.Group):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """List the verbs."""
        return list(_GROUPS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the verb that was asked for."""
        if cmd_name not in _GROUPS:
            return None
        module = importlib.import_module(_GROUPS[cmd_name][0])
        command: click.Command = module.COMMAND
        return command


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        from aw_graders import __version__  # noqa: PLC0415

        click.echo(f"aw {__version__}")
        ctx.exit()


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version)
@click.option("--debug", is_flag=True, help="Show the traceback of an internal error.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Measure recorded runs of coding agents."""
    ctx.obj = {"debug": debug}


def run() -> int:  # noqa: PLR0911 - one for each way to end
    """Run `aw` and return its exit status; nobody sees a traceback unless they ask for one."""
    debug = "--debug" in sys.argv
    try:
        # Not by `main`, which would spell a reader that went away as 1, as a found failure is.
        with cli.make_context("aw", sys.argv[1:]) as context:
            cli.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as failure:
        failure.show()
        return failure.exit_code
    except click.Abort:
        return int(Exit.FAILED)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BrokenPipeError:
        # The reader went away, as `head` does; there is nobody left to tell.
        return int(Exit.FAILED)
    except OSError as failure:
        if debug:
            raise
        click.echo(f"aw: cannot write the answer: {failure.strerror or failure}", err=True)
        return int(Exit.FAILED)
    except Exception as failure:
        if debug:
            raise
        click.echo(
            f"aw: internal error ({type(failure).__name__}); run again with --debug", err=True
        )
        return int(Exit.FAILED)
    return int(Exit.CLEAN)
