"""The table of results on a terminal."""

from collections.abc import Sequence

from aw_graders.diagnostics import printable
from aw_graders.graders import Result
from aw_graders.lookups import RunContext
from aw_graders.reports.numbers import shown

_HEADINGS = ("grader", "value", "unit", "threshold", "verdict", "what decided it")
_SIGNS = {"higher_is_better": ">=", "lower_is_better": "<="}


def verdict(result: Result) -> str:
    """Name the verdict; a value without a threshold was measured, not judged."""
    if result.status in {"error", "unavailable"}:
        return result.status
    if result.passed is None:
        return "not judged"
    return "pass" if result.passed else "FAIL"


def result_rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Make the rows of the table, headings first."""
    rows: list[tuple[str, ...]] = [_HEADINGS]
    for result in results:
        threshold = ""
        if result.threshold is not None:
            sign = _SIGNS.get(result.direction or "", "")
            threshold = f"{sign} {shown(result.threshold)}".strip()
        why = result.details or result.message or result.error or ""
        row = (result.id, shown(result.value), result.unit or "", threshold, verdict(result), why)
        # What a session names must not begin a line, where it could be taken for a command.
        rows.append(tuple(map(printable, row)))
    return rows


def render_results(results: Sequence[Result], context: RunContext, *, partial: bool) -> str:
    """Spell results as an aligned table with a summary line.

    Returns: text without escape sequences, ending in a newline.
    """
    rows = result_rows(results)
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS) - 1)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    ]
    judged = sum(result.passed is not None for result in results)
    failed = sum(result.status == "fail" for result in results)
    missing = sum(result.status == "unavailable" for result in results)
    errors = sum(result.status == "error" for result in results)
    summary = (
        f"{len(results)} graders: {judged} judged, {judged - failed} passed, {failed} failed, "
        f"{missing} unavailable, {errors} errors"
    )
    run = "" if context.run_id is None else f" (run {printable(context.run_id)})"
    tail = ["", summary + run]
    if partial or context.warnings:
        tail.append("partial: some evidence could not be used, see the notes")
    return "\n".join(line.rstrip() for line in [*lines, *tail]) + "\n"
