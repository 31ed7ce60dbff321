"""Grading as a workflow asks for it: which graders, over which session, and where one failed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from aw_graders.analysis.model import ParserMissingError
from aw_graders.cli.exits import Exit, stop
from aw_graders.cli.inputs import STDIN, session_files
from aw_graders.config.workflow import Workflow
from aw_graders.diagnostics import printable, render
from aw_graders.flows.collecting import collect_files, in_written_order
from aw_graders.flows.custom import CustomRun, run_custom
from aw_graders.flows.evidence import UNIFIED, Observed
from aw_graders.flows.linting import LintInputError, UnknownWorkflowError, find_workflow
from aw_graders.flows.workflow_graders import (
    ChoiceError,
    Chosen,
    RefusedError,
    choose,
    place_of,
    read_graders,
)
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import mask_text, redact
from aw_graders.redaction.named import known_in
from aw_graders.session import SessionFormatError

if TYPE_CHECKING:
    from aw_graders.redaction import KnownValues


class Asked(msgspec.Struct, frozen=True):
    """A workflow, and what of it is to run."""

    workflow: Workflow
    chosen: Chosen


def ask(name: str, grader: str | None) -> Asked:
    """Read a workflow and choose its graders, or end with what is wrong."""
    try:
        workflow = read_graders(find_workflow(name))
        return Asked(workflow, choose(workflow, grader))
    except RefusedError as refused:
        _show(refused)
    except (UnknownWorkflowError, ChoiceError) as failure:
        stop(Exit.USAGE, str(failure))
    except (LintInputError, ParserMissingError) as failure:
        stop(Exit.FAILED, str(failure))
    raise SystemExit(int(Exit.USAGE))


def _show(refused: RefusedError) -> None:
    """Show the errors of a workflow; its warnings are the linter's."""
    for finding in refused.analysed.findings:
        diagnostic = finding.diagnostic
        if diagnostic.severity == "error":
            text = refused.analysed.texts.get(diagnostic.location.path, "")
            click.echo(mask_text(render(diagnostic, text)).rstrip("\n"), err=True)


def observe_and_run(
    asked: Asked,
    sessions: tuple[Path, ...],
    named: "KnownValues | None",
    *,
    lenient: bool,
    strict: bool,
) -> tuple[str, Observed, tuple[CustomRun, ...]]:
    """Read a session whole, redact it, and run the custom graders over it.

    Returns: how the session is called, what was observed in it, and the runs.
    """
    name = str(sessions[0]) if sessions else STDIN
    try:
        _, files = session_files(sessions)
        found = collect_files(files, lenient=lenient, strict=strict)
        session = found.session if found.kind == UNIFIED else in_written_order(found.session)
        redaction = redact(session, known_in(session, named, found.mask_lines))
        lookups = create_session_lookups(redaction.session)
        runs = run_custom(asked.chosen.graders, redaction, lookups)
    except SessionFormatError as failure:
        stop(Exit.FAILED, failure.problem.text(name))
    except OSError as failure:
        stop(Exit.FAILED, f"{name}: cannot be staged or read: {failure.strerror or failure}")
    observed = Observed(
        lookups=lookups,
        kind=found.kind,
        is_unified=found.kind == UNIFIED,
        problems=found.problems,
        notes=found.notes,
        warnings=found.warnings,
    )
    return name, observed, runs


def say_failures(asked: Asked, runs: Sequence[CustomRun]) -> None:
    """Say on standard error which fences stood, and where each grader failed."""
    sources = {item.grader.id: item for item in asked.chosen.custom}
    for run in runs:
        id_ = run.grader.id
        fences = ", ".join(run.fences) or "none"
        click.echo(f"aw: grader {id_}: fences: {fences}", err=True)
        place = None if run.failure is None else place_of(run.failure, sources[id_], asked.workflow)
        if run.failure is not None and place is not None:
            where = f"{place.path}:{place.line}:{place.column}"
            line = f"aw: {where}: grader {id_}: {run.failure.error}"
            click.echo(printable(mask_text(line)), err=True)
        elif run.result.status == "unavailable":
            said = f"aw: grader {id_} is unavailable: {run.result.message}"
            click.echo(printable(mask_text(said)), err=True)
