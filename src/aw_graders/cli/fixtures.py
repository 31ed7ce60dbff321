"""`aw graders verify`: fixtures through the runtime that a workflow has."""

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from aw_graders import _json
from aw_graders.analysis.bash import check_evaluator_bytes
from aw_graders.cli.exits import Exit, stop
from aw_graders.cli.inputs import read_path
from aw_graders.cli.workflows import ask
from aw_graders.config.custom import INLINE, OPERATIONAL_VALUE, OPERATIONAL_VALUE_NAME
from aw_graders.config.executable import Executable, executable
from aw_graders.diagnostics import printable
from aw_graders.diagnostics.words import counted
from aw_graders.flows.fixtures import (
    Direction,
    Fixture,
    FixtureError,
    Verified,
    difference,
    gaps,
    read_fixtures,
    verify,
)
from aw_graders.graders import GraderSettings
from aw_graders.redaction import mask_text
from aw_graders.session.limits import MAX_RECORDING_BYTES

_HIGHER: Direction = "higher_is_better"
# Of an evaluator one byte more than allowed is enough to say that it is too large.
_MAX_FILE_BYTES = 1 << 20


class _Report(msgspec.Struct, frozen=True):
    """What trying all fixtures gave."""

    subject: str
    direction: Direction
    verified: tuple[Verified, ...]
    gaps: tuple[str, ...]

    @property
    def wrong(self) -> int:
        """How many fixtures were answered otherwise, and how much the set does not show."""
        return sum(item.problem is not None for item in self.verified) + len(self.gaps)


def verify_fixtures(arguments: Sequence[str], direction: Direction | None, *, as_json: bool) -> int:
    """Try every fixture twice and print what came of it.

    Returns: the exit status.
    """
    grader, file, subject = _subject(arguments, direction)
    is_script = grader.source == INLINE
    try:
        fixtures = read_fixtures(read_path(file, MAX_RECORDING_BYTES), is_script=is_script)
    except FixtureError as failure:
        stop(Exit.USAGE, f"{file}: {failure}")
    better = direction or _declared(grader) or _HIGHER
    if direction is None and _declared(grader) is None:
        click.echo(f"aw: no direction is declared; {_HIGHER} is taken", err=True)
    report = _tried(subject, grader, fixtures, better)
    if as_json:
        sys.stdout.buffer.write(_json.pretty(_document(report)))
        sys.stdout.buffer.flush()
    else:
        _print(report)
    return int(Exit.FOUND if report.wrong else Exit.CLEAN)


def _tried(
    subject: str, grader: Executable, fixtures: Sequence[Fixture], better: Direction
) -> _Report:
    try:
        verified = tuple(verify(grader, fixture) for fixture in fixtures)
    except OSError as failure:
        stop(Exit.FAILED, f"{subject}: cannot be staged: {failure.strerror or failure}")
    return _Report(subject, better, verified, gaps(fixtures, better))


def _subject(arguments: Sequence[str], direction: Direction | None) -> tuple[Executable, Path, str]:
    """Return the grader, the file of its fixtures, and what to call it."""
    if len(arguments) == 2:  # noqa: PLR2004 - EVALUATOR.sh FIXTURES.json
        path = Path(arguments[0])
        return _evaluator(path, direction), Path(arguments[1]), str(path)
    if len(arguments) != 3:  # noqa: PLR2004 - WORKFLOW GRADER FIXTURES.json
        stop(Exit.USAGE, "give EVALUATOR.sh FIXTURES.json, or WORKFLOW GRADER FIXTURES.json")
    workflow, id_, fixtures = arguments
    if direction is not None:
        stop(
            Exit.USAGE, f"--direction is for EVALUATOR.sh alone; {workflow} says it of its graders"
        )
    chosen = ask(workflow, id_).chosen
    if not chosen.custom:
        stop(Exit.USAGE, f"grader {id_} is a built-in; fixtures are for custom graders")
    return chosen.custom[0].grader, Path(fixtures), id_


def _evaluator(path: Path, direction: Direction | None) -> Executable:
    """Read an evaluator as it is; where it lies and what it writes is the linter's."""
    code = read_path(path, _MAX_FILE_BYTES)
    for finding in check_evaluator_bytes(code):
        stop(Exit.USAGE, f"{path}:{finding.line}:{finding.column}: {finding.message}")
    settings = GraderSettings(
        OPERATIONAL_VALUE, name=OPERATIONAL_VALUE_NAME, unit=None, direction=direction
    )
    return executable(settings, OPERATIONAL_VALUE, code)


def _declared(grader: Executable) -> Direction | None:
    declared = grader.settings.direction
    return "lower_is_better" if declared == "lower_is_better" else _HIGHER if declared else None


def _document(report: _Report) -> dict[str, Any]:
    return {
        "version": 1,
        "grader": _spelled(report.subject),
        "direction": report.direction,
        "fixtures": len(report.verified),
        "wrong": [difference(item, _spelled) for item in report.verified if item.problem],
        "gaps": [_spelled(text) for text in report.gaps],
    }


def _print(report: _Report) -> None:
    for item in report.verified:
        name = _spelled(item.fixture.name)
        click.echo(f"ok    {name}" if item.problem is None else f"WRONG {name}: {item.problem}")
        if item.problem is not None:
            click.echo(_spelled_lines(_diff(item)), nl=False)
    for text in report.gaps:
        click.echo(f"GAP   {_spelled(text)}")
    total = counted(len(report.verified), "fixture")
    click.echo(f"aw: {total}, each tried twice, {report.wrong or 'none'} wrong", err=True)


def _diff(item: Verified) -> list[str]:
    """Compare what differs, line by line."""
    first, second = item.answers
    sides = [("expected", item.expected), ("answer", first)]
    if first != second:
        sides = [("first run", first), ("second run", second)]
    (old, left), (new, right) = sides
    before, after = (_json.pretty(side).decode().splitlines() for side in (left, right))
    return list(difflib.unified_diff(before, after, old, new, lineterm=""))


def _spelled(text: str) -> str:
    return printable(mask_text(text))


def _spelled_lines(lines: Sequence[str]) -> str:
    return "".join(f"      {_spelled(line)}\n" for line in lines)
