"""`aw conclude`: the conclusion job's step."""

import os
import sys
from pathlib import Path

import click

from aw_graders import _json
from aw_graders.cli.exits import Exit, stop
from aw_graders.cli.manifests import manifest_at
from aw_graders.cli.options import secret_options
from aw_graders.cli.secrets import known_secrets
from aw_graders.config import read_manifest
from aw_graders.diagnostics import printable
from aw_graders.flows.collecting import collect_run
from aw_graders.flows.conclusion import Conclusion, clean, conclude
from aw_graders.redaction import mask_text, redact
from aw_graders.reports.results import render_results
from aw_graders.reports.summary import annotations, render_summary
from aw_graders.session.limits import MAX_CONFIG_BYTES, MAX_SHOWN_PROBLEMS

_SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


@click.command("conclude")
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Where the run's artifacts were downloaded; usage/ is written here.",
)
@click.option(
    "--manifest",
    "manifest_path",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="The graders as data; a manifest that holds code is refused.",
)
@secret_options
@click.option("--json", "as_json", is_flag=True, help="Print the results document.")
def COMMAND(  # noqa: N802 - the name the lazy group looks for
    root: Path,
    manifest_path: Path,
    secret_values: Path | None,
    as_json: bool,
) -> None:
    """Collect the evidence of a run, redact it, grade it, and publish session and results."""
    manifest = manifest_at(manifest_path, MAX_CONFIG_BYTES, read_manifest)
    if root.is_symlink() or not root.is_dir():
        stop(Exit.FAILED, f"{root}: is no folder; give the run's artifact folder")
    known = known_secrets(secret_values)
    _clean(root)
    try:
        concluded = conclude(
            root,
            manifest,
            collect_run,
            lambda found: redact(found.session, known.of(found.session, found.mask_lines)),
        )
    except OSError as failure:
        where = failure.filename or root
        stop(
            Exit.FAILED,
            f"{where}: {failure.strerror or failure}; nothing was published, mend it and run again",
        )
    notes = [printable(known.mask(note.text())) for note in concluded.notes]
    _say(concluded, notes, as_json=as_json)
    _summarise(concluded, notes)


def _clean(root: Path) -> None:
    """Remove the files of an earlier attempt, or end: they would be taken for this one's."""
    try:
        clean(root)
    except OSError as failure:
        stop(
            Exit.FAILED,
            f"{failure.filename or root}: {failure.strerror or failure}; "
            "nothing was published, and files of an earlier attempt may be left; mend it and run again",
        )


def _say(concluded: Conclusion, notes: list[str], *, as_json: bool) -> None:
    """Print the results, and on standard error what is wrong."""
    for note in notes[:MAX_SHOWN_PROBLEMS]:
        click.echo(f"aw: {note}", err=True)
    if len(notes) > MAX_SHOWN_PROBLEMS:
        click.echo(f"aw: {len(notes) - MAX_SHOWN_PROBLEMS} more notes", err=True)
    if as_json:
        sys.stdout.buffer.write(_json.pretty(dict(concluded.document)))
        sys.stdout.buffer.flush()
    else:
        table = render_results(concluded.results, concluded.context, partial=False)
        click.echo(table, nl=False)
    # Workflow commands are read from either stream; standard output may be the document.
    for line in annotations(concluded.results):
        click.echo(printable(mask_text(line)), err=True)


def _summarise(concluded: Conclusion, notes: list[str]) -> None:
    """Append to the step summary, where the job has one; a job without its page still passes."""
    place = os.environ.get(_SUMMARY_VARIABLE)
    if not place:
        return
    text = render_summary(concluded.results, concluded.context, notes, partial=False)
    try:
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(mask_text(text))
    except OSError as failure:
        click.echo(f"aw: {place}: the step summary cannot be written: {failure.strerror}", err=True)
