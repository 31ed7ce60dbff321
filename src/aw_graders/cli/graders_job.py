"""`aw graders job`: the graders job's step."""

import sys
from pathlib import Path

import click

from aw_graders import _json
from aw_graders.artifacts import GRADERS_FILES, remove
from aw_graders.cli.exits import Exit, stop
from aw_graders.cli.manifests import manifest_at
from aw_graders.config.frozen import read_frozen
from aw_graders.diagnostics import printable
from aw_graders.flows.graders_job import Job, UsageError, publish_job, read_usage, run_job
from aw_graders.redaction import mask_text
from aw_graders.reports.summary import annotations

# Every script of a workflow at its largest, in base64, is far below this.
_MAX_MANIFEST_BYTES = 64 << 20


def run_graders_job(usage: Path, manifest: Path, output: Path, *, as_json: bool) -> None:
    """Run the frozen graders over what conclusion published, and publish the `graders` artifact."""
    frozen = manifest_at(manifest, _MAX_MANIFEST_BYTES, read_frozen)
    try:
        # Nothing of an earlier attempt may be taken for this one's.
        remove(output / name for name in GRADERS_FILES)
        job = run_job(read_usage(usage), frozen)
        publish_job(job, output)
    except UsageError as failure:
        stop(Exit.FAILED, str(failure))
    except OSError as failure:
        where = failure.filename or output
        stop(Exit.FAILED, f"{where}: {failure.strerror or failure}; nothing was published")
    _say(job)
    if as_json:
        sys.stdout.buffer.write(_json.pretty(dict(job.documents[GRADERS_FILES.results])))
        sys.stdout.buffer.flush()


def _say(job: Job) -> None:
    """Say on standard error which fences stood and what came of each grader."""
    for run in job.runs:
        fences = ", ".join(run.fences) or "none"
        said = run.result.error or run.result.message
        more = f": {said}" if said and run.result.value is None else ""
        line = f"aw: grader {run.grader.id}: {run.result.status}{more} (fences: {fences})"
        click.echo(printable(mask_text(line)), err=True)
    for line in annotations(tuple(run.result for run in job.runs)):
        click.echo(printable(mask_text(line)), err=True)
