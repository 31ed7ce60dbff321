"""`aw graders`: run, job, verify, list, explain."""

import fnmatch
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec

from aw_graders import _json
from aw_graders.cli.exits import SECRET_NAMES, Exit, stop
from aw_graders.cli.options import secret_options
from aw_graders.flows.evidence import Observed
from aw_graders.graders import (
    BUILT_IN,
    GraderSettings,
    GraderSpec,
    Result,
    default_settings,
    grade_lookups,
    results_document,
    settings_of,
)
from aw_graders.session.limits import MAX_CONFIG_BYTES, MAX_SHOWN_PROBLEMS

if TYPE_CHECKING:
    from aw_graders.config import CustomGrader
    from aw_graders.redaction import KnownValues


@click.group("graders")
def COMMAND() -> None:  # noqa: N802 - the name the lazy group looks for
    """Grade sessions; list and explain the graders."""


@COMMAND.command("run")
@click.argument("workflow", required=False)
@click.argument("grader", required=False)
@click.argument("run_id", required=False)
@click.option(
    "--session", "sessions", multiple=True, type=click.Path(path_type=Path), metavar="FILE"
)
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="A `graders:` map.")
@click.option("--grader", "picked", multiple=True, metavar="ID", help="Only these; patterns work.")
@click.option("--json", "as_json", is_flag=True, help="Print the results document.")
@click.option("--check", is_flag=True, help="Exit 1 when a grader fails or errors.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--lenient", is_flag=True, help="Skip malformed events of a unified session.")
@secret_options
@click.option("--strict", is_flag=True, help="Refuse a recording of which something is skipped.")
def run(  # noqa: PLR0917 - one parameter per option
    workflow: str | None,
    grader: str | None,
    run_id: str | None,
    sessions: tuple[Path, ...],
    config: Path | None,
    picked: tuple[str, ...],
    as_json: bool,
    check: bool,
    output: Path | None,
    lenient: bool,
    strict: bool,
    secret_values: Path | None,
) -> None:
    """Grade one session with the ten default graders, or as --config or a workflow says.

    WORKFLOW is the path or the id of a workflow; its graders run, custom ones in their cage. GRADER
    is one of them: its result is printed alone.

    The session comes from --session FILE, or from standard input. Give --session more than once
    for the files of one recording.
    """
    if run_id is not None:
        stop(
            Exit.USAGE,
            f"{run_id}: a run cannot be downloaded yet; use --session FILE with its session",
        )
    if workflow is not None and (config is not None or picked):
        stop(Exit.USAGE, "WORKFLOW says which graders run; leave out --config and --grader")
    named = _named_secrets(secret_values)
    reading = _Reading(sessions, named, lenient=lenient, strict=strict)
    if workflow is None:
        graded = _grade(_settings(config, picked), reading)
    else:
        graded = _grade_by_workflow(workflow, grader, reading)
    if output is not None:
        _write(output, graded)
    _print(graded, alone=grader is not None, as_json=as_json)
    if check and any(result.status in {"fail", "error"} for result in graded.results):
        raise SystemExit(int(Exit.FOUND))


class _Reading(msgspec.Struct, frozen=True):
    """Which session, and how it is read."""

    sessions: tuple[Path, ...]
    named: "KnownValues | None"
    lenient: bool
    strict: bool


class _Graded(msgspec.Struct, frozen=True):
    """The graders that ran, and what they found."""

    settings: tuple[GraderSettings, ...]
    results: tuple[Result, ...]
    observed: Observed
    custom: "tuple[CustomGrader, ...]" = ()

    def document(self) -> dict[str, Any]:
        """Make the results document."""
        context = self.observed.lookups.context
        return results_document(self.results, context, partial=self.observed.partial)


def _grade(settings: tuple[GraderSettings, ...], reading: _Reading) -> _Graded:
    """Grade with built-ins alone, a large session as a stream."""
    from aw_graders.cli.inputs import load_observed  # noqa: PLC0415 - not for usage errors

    whole = any(item.enabled and BUILT_IN[item.id].needs_events for item in settings)
    name, observed = load_observed(
        reading.sessions,
        lenient=reading.lenient,
        strict=reading.strict,
        whole=whole,
        named=reading.named,
    )
    _say(name, observed, reading.named)
    return _Graded(settings, grade_lookups(observed.lookups, settings), observed)


def _grade_by_workflow(workflow: str, grader: str | None, reading: _Reading) -> _Graded:
    """Grade as a workflow says."""
    # Settings, parsers and runtimes are loaded for those who have a workflow.
    from aw_graders.cli.workflows import ask, observe_and_run, say_failures  # noqa: PLC0415

    asked = ask(workflow, grader)
    settings = asked.chosen.settings
    if not asked.chosen.custom:
        return _grade(settings, reading)
    name, observed, runs = observe_and_run(
        asked, reading.sessions, reading.named, lenient=reading.lenient, strict=reading.strict
    )
    _say(name, observed, reading.named)
    say_failures(asked, runs)
    results = (*grade_lookups(observed.lookups, settings), *(run.result for run in runs))
    registered = tuple(item.registered() for item in asked.chosen.graders)
    return _Graded(settings, results, observed, registered)


def _print(graded: _Graded, *, alone: bool, as_json: bool) -> None:
    document = graded.document()
    if alone or as_json:
        shown = document["results"][0] if alone else document
        sys.stdout.buffer.write(_json.pretty(shown))
        sys.stdout.buffer.flush()
        return
    from aw_graders.reports.results import render_results  # noqa: PLC0415

    context = graded.observed.lookups.context
    table = render_results(graded.results, context, partial=graded.observed.partial)
    click.echo(table, nl=False)


def _settings(config: Path | None, picked: Sequence[str]) -> tuple[GraderSettings, ...]:
    settings = default_settings()
    if config is not None:
        from aw_graders.cli.configuration import read_settings  # noqa: PLC0415
        from aw_graders.cli.inputs import read_path  # noqa: PLC0415

        settings = read_settings(config, read_path(config, MAX_CONFIG_BYTES))
    if not picked:
        return settings
    configured = {item.id: item for item in settings}
    chosen = [
        configured.get(spec.id) or settings_of(spec)
        for spec in BUILT_IN.values()
        if any(fnmatch.fnmatchcase(spec.id, pattern) for pattern in picked)
    ]
    for pattern in picked:
        if not fnmatch.filter(BUILT_IN, pattern):
            stop(Exit.USAGE, f'no grader is called "{pattern}"; see aw graders list')
    return tuple(chosen)


def _named_secrets(path: Path | None) -> "KnownValues | None":
    """Read the secret values that a person named; most runs name none."""
    if path is None and SECRET_NAMES not in os.environ:
        return None
    from aw_graders.cli.secrets import known_secrets  # noqa: PLC0415

    return known_secrets(path).named


def _say(name: str, observed: Observed, named: "KnownValues | None") -> None:
    """Say on standard error what the input was taken for, and what could not be used."""
    from aw_graders.diagnostics import printable  # noqa: PLC0415
    from aw_graders.redaction import mask_text  # noqa: PLC0415

    lines: list[str] = []
    if not observed.is_unified:
        lines.append(f"{name}: taken for {observed.kind}")
    lines += [f"{name}: {warning}" for warning in observed.warnings]
    listed = [problem.text(name) for problem in observed.problems]
    listed += [note.text() for note in observed.notes]
    lines += listed[:MAX_SHOWN_PROBLEMS]
    if len(listed) > MAX_SHOWN_PROBLEMS:
        lines.append(f"{name}: {len(listed) - MAX_SHOWN_PROBLEMS} more notes")
    for line in lines:
        click.echo(f"aw: {printable(mask_text(line, named))}", err=True)


def _write(output: Path, graded: _Graded) -> None:
    from aw_graders.artifacts import write_documents  # noqa: PLC0415
    from aw_graders.config import manifest_document  # noqa: PLC0415

    try:
        manifest = manifest_document(graded.settings, graded.custom)
        write_documents(output, manifest, graded.document())
    except OSError as failure:
        stop(Exit.FAILED, f"{output}: cannot be written: {failure.strerror or failure}")


@COMMAND.command("job")
@click.option(
    "--usage",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="The downloaded usage artifact; it is not written to.",
)
@click.option(
    "--manifest",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="The frozen graders, as compiled.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print the combined results document.")
def job(usage: Path, manifest: Path, output: Path, as_json: bool) -> None:
    """Run custom graders over a published session, in their cage: the graders job's step.

    A grader that fails is a result; a missing or foreign session ends the job with status 3.
    """
    from aw_graders.cli.graders_job import run_graders_job  # noqa: PLC0415 - loads the runtimes

    run_graders_job(usage, manifest, output, as_json=as_json)


@COMMAND.command("verify")
@click.argument("arguments", nargs=-1, metavar="(EVALUATOR.sh | WORKFLOW GRADER) FIXTURES.json")
@click.option(
    "--direction",
    type=click.Choice(["higher_is_better", "lower_is_better"]),
    help="Which values of EVALUATOR.sh are better.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what differs as JSON.")
def verify(
    arguments: tuple[str, ...],
    direction: Literal["higher_is_better", "lower_is_better"] | None,
    as_json: bool,
) -> None:
    """Try a custom grader on fixtures, in the runtime that a workflow has, each twice."""
    from aw_graders.cli.fixtures import verify_fixtures  # noqa: PLC0415 - loads the runtimes

    raise SystemExit(verify_fixtures(arguments, direction, as_json=as_json))


@COMMAND.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def list_graders(as_json: bool) -> None:
    """List the graders of the registry."""
    if as_json:
        sys.stdout.buffer.write(_json.pretty([_described(spec) for spec in BUILT_IN.values()]))
        return
    width = max(map(len, BUILT_IN))
    for spec in BUILT_IN.values():
        click.echo(f"{spec.id.ljust(width)}  {spec.unit.ljust(6)}  {spec.summary}")


@COMMAND.command("explain")
@click.argument("grader_id")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def explain(grader_id: str, as_json: bool) -> None:
    """Say what a grader measures, from which evidence, and how to read it."""
    spec = BUILT_IN.get(grader_id)
    if spec is None:
        stop(Exit.USAGE, f'no grader is called "{grader_id}"; see aw graders list')
    if as_json:
        sys.stdout.buffer.write(_json.pretty(_described(spec)))
        return
    click.echo(f"{spec.id} - {spec.name}\n")
    for key, value in _described(spec).items():
        if key not in {"id", "name"} and value is not None:
            click.echo(f"{key.ljust(11)}  {value}")


def _described(spec: GraderSpec) -> dict[str, str | int | float | bool | None]:
    return {
        "id": spec.id,
        "name": spec.name,
        "measures": spec.summary,
        "formula": spec.formula,
        "reading": spec.reading,
        "example": spec.example,
        "unavailable": spec.unavailable or None,
        "unit": spec.unit,
        "direction": spec.direction,
        "threshold": spec.threshold,
        "min": spec.minimum,
        "max": spec.maximum,
        "evidence": spec.evidence,
        "cost": spec.cost,
        "source": spec.source,
        "default": spec.default,
        "version": spec.version,
    }
