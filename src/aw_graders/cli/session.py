"""`aw session`: validate and show."""

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from aw_graders import _json
from aw_graders.artifacts import publish
from aw_graders.cli.exits import Exit, stop
from aw_graders.cli.inputs import load, read_path, session_files
from aw_graders.cli.options import secret_options
from aw_graders.cli.secrets import known_secrets
from aw_graders.collectors.registry import COLLECTORS
from aw_graders.diagnostics import printable
from aw_graders.diagnostics.words import counted
from aw_graders.flows.collecting import collect_files, collect_folder, in_written_order
from aw_graders.flows.collection import Collection
from aw_graders.flows.conclusion import session_lines
from aw_graders.redaction import Redaction, mask_text, redact
from aw_graders.reports.timeline import render_timeline, timeline_rows
from aw_graders.session import Problem, SessionFormatError
from aw_graders.session.limits import MAX_SHOWN_PROBLEMS
from aw_graders.session.validate import validate

_FOLDER = "gh_aw"


@click.group("session")
def COMMAND() -> None:  # noqa: N802 - the name the lazy group looks for
    """Check and show sessions."""


@COMMAND.command("validate")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of problems.")
def validate_file(file: Path, as_json: bool) -> None:
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


@COMMAND.command("collect")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--from", "kind", metavar="KIND", help="Read it as this kind of recording.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found instead of lines.")
@secret_options
def collect(
    path: Path, output: Path | None, kind: str | None, secret_values: Path | None, as_json: bool
) -> None:
    """Make a unified session, redacted, of a recording or of a run's artifact folder."""
    known = known_secrets(secret_values)
    collection = _collected(path, kind)
    session, mask_lines = collection.session, collection.mask_lines
    redaction = redact(session, known.of(session, mask_lines))
    for line in _said(path, collection):
        click.echo(f"aw: {printable(known.mask(line))}", err=True)
    _write_session(redaction, output, as_json=as_json)


def _collected(path: Path, kind: str | None) -> Collection:
    kinds = [collector.id for collector in COLLECTORS]
    if kind is not None and kind not in {*kinds, _FOLDER}:
        stop(Exit.USAGE, f'no kind is called "{kind}"; use one of: {", ".join([_FOLDER, *kinds])}')
    try:
        if path.is_dir() and not path.is_symlink():
            if kind not in {None, _FOLDER}:
                stop(Exit.USAGE, f"{path}: is a directory; a {kind} recording is a file")
            return collect_folder(path)
        if kind == _FOLDER:
            stop(Exit.USAGE, f"{path}: is no directory; the evidence of a workflow run is one")
        _, files = session_files((path,))
        collection = collect_files(files, kind=kind)
        return msgspec.structs.replace(collection, session=in_written_order(collection.session))
    except SessionFormatError as failure:
        stop(Exit.FAILED, failure.problem.text(str(path)))
    except OSError as failure:
        stop(Exit.FAILED, f"{path}: cannot be read: {failure.strerror or failure}")


def _said(path: Path, collection: Collection) -> list[str]:
    """List what a person should know of a collection."""
    lines = [f"{path}: taken for {collection.kind}"]
    lines += [f"{path}: {warning}" for warning in collection.warnings]
    notes = [note.text() for note in collection.notes]
    lines += notes[:MAX_SHOWN_PROBLEMS]
    if len(notes) > MAX_SHOWN_PROBLEMS:
        lines.append(f"{path}: {counted(len(notes) - MAX_SHOWN_PROBLEMS, 'more note')}")
    return lines


def _write_session(redaction: Redaction, output: Path | None, *, as_json: bool) -> None:
    """Write the redacted session to a file or to standard output; say what was masked."""
    events = redaction.session.events
    if output is not None:
        try:
            publish({output: session_lines(events)})
        except OSError as failure:
            stop(Exit.FAILED, f"{output}: cannot be written: {failure.strerror or failure}")
    elif not as_json:
        sys.stdout.buffer.writelines(session_lines(events))
        sys.stdout.buffer.flush()
    if as_json:
        sys.stdout.buffer.write(_json.pretty(_masked(redaction)))
        return
    if redaction.masked:
        click.echo(f"aw: {counted(len(redaction.masked), 'secret')} masked", err=True)


def _masked(redaction: Redaction) -> dict[str, Any]:
    return {
        "events": len(redaction.session.events),
        "masked": [
            {
                "path": redaction.session.events[item.event].provenance.path,
                "index": redaction.session.events[item.event].provenance.index,
                "pointer": item.pointer,
                "kind": item.kind,
            }
            for item in redaction.masked
        ],
    }


@COMMAND.command("redact")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--lenient", is_flag=True, help="Skip malformed events of a unified session.")
@click.option("--json", "as_json", is_flag=True, help="Print what was masked instead of lines.")
@secret_options
def redact_file(
    file: Path, output: Path | None, lenient: bool, secret_values: Path | None, as_json: bool
) -> None:
    """Write a session with its secrets masked, and say how many there were."""
    known = known_secrets(secret_values)
    try:
        _, files = session_files((file,))
        collection = collect_files(files, lenient=lenient)
    except SessionFormatError as failure:
        stop(Exit.FAILED, failure.problem.text(str(file)))
    for problem in collection.problems[:MAX_SHOWN_PROBLEMS]:
        click.echo(f"aw: {printable(known.mask(problem.text(str(file))))}", err=True)
    session, mask_lines = collection.session, collection.mask_lines
    redaction = redact(session, known.of(session, mask_lines))
    _write_session(redaction, output, as_json=as_json)


@COMMAND.command("show")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of rows.")
@click.option("--lenient", is_flag=True, help="Skip malformed events of a unified session.")
def show(file: Path, as_json: bool, lenient: bool) -> None:
    """Show a session as a timeline, secrets masked."""
    name, evidence = load((file,), lenient=lenient, strict=False)
    redacted = redact(evidence.session).session
    if not redacted.events:
        stop(Exit.FAILED, f"{name}: holds no events")
    if as_json:
        sys.stdout.buffer.write(_json.pretty(timeline_rows(redacted)))
    else:
        click.echo(render_timeline(redacted), nl=False)
