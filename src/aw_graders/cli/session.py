"""`aw session`: validate and show."""

import sys
from pathlib import Path

import click

from aw_graders import _json
from aw_graders.cli.exits import Exit, stop
from aw_graders.cli.inputs import load, read_path
from aw_graders.diagnostics import printable
from aw_graders.redaction import mask_text, redact
from aw_graders.reports.timeline import render_timeline, timeline_rows
from aw_graders.session import Problem
from aw_graders.session.validate import validate


@click.group("session")
def COMMAND() -> None:  # noqa: N802 - the name the lazy group looks for
    """Check and show sessions."""


@COMMAND.command("validate")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of problems.")
def validate_file(file: Path, as_json: bool) -> None:  # noqa: FBT001
    """List everything that is wrong with a unified session."""
    problems = validate(read_path(file))
    if as_json:
        sys.stdout.buffer.write(_json.pretty([_shown(problem) for problem in problems]))
    else:
        for problem in problems:
            click.echo(printable(mask_text(problem.text(str(file)))))
        if not problems:
            click.echo(f"{file}: is a valid unified session")
    if problems:
        raise SystemExit(int(Exit.FOUND))


def _shown(problem: Problem) -> dict[str, str | int | None]:
    return {
        "line": problem.line,
        "column": problem.column,
        "reason": mask_text(problem.reason),
        "hint": problem.hint,
    }


@COMMAND.command("show")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of rows.")
@click.option("--lenient", is_flag=True, help="Skip malformed events of a unified session.")
def show(file: Path, as_json: bool, lenient: bool) -> None:  # noqa: FBT001
    """Show a session as a timeline, secrets masked."""
    name, evidence = load((file,), lenient=lenient, strict=False)
    redacted = redact(evidence.session).session
    if not redacted.events:
        stop(Exit.FAILED, f"{name}: holds no events")
    if as_json:
        sys.stdout.buffer.write(_json.pretty(timeline_rows(redacted)))
    else:
        click.echo(render_timeline(redacted), nl=False)
