"""What a person reads about a run on its page: a step summary in Markdown, and annotations."""

from collections.abc import Sequence
from typing import Final

from aw_graders.graders import Result
from aw_graders.lookups import RunContext
from aw_graders.reports.results import result_rows, verdict

# A step summary may have 1 MiB; this leaves room for the summaries of the job's other steps.
MAX_SUMMARY_BYTES: Final = 128 * 1024
_MAX_CELL_CHARACTERS: Final = 300
_CUT: Final = "\n\n*The rest is left out: a summary is at most 128 KiB.*\n"
_MARKS: Final = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\`*_{}[]()#+!|~>"} | {"<": "&lt;", "&": "&amp;", "\n": " "}
)


def render_summary(
    results: Sequence[Result], context: RunContext, notes: Sequence[str], *, partial: bool
) -> str:
    """Spell results and notes as Markdown that holds no markup of the session's own.

    Takes: `notes`, what collecting could not use, each one line; they are listed below the table.
    Returns: text of at most `MAX_SUMMARY_BYTES` bytes that ends in a newline.
    """
    headings, *rows = result_rows(results)
    title = "## Graders" + ("" if context.run_id is None else f" of run {escaped(context.run_id)}")
    lines = [title, "", _row(headings), _row(["---"] * len(headings))]
    lines += [_row(row) for row in rows]
    if partial or context.warnings:
        lines += ["", "Partial: some evidence could not be used."]
    errors = [result for result in results if result.status == "error"]
    lines += [""] if errors else []
    lines += [f"- {escaped(item.id)}: {escaped(item.error or '')}" for item in errors]
    if notes:
        lines += ["", f"<details><summary>{len(notes)} notes</summary>", ""]
        lines += [f"- {escaped(note)}" for note in notes]
        lines += ["", "</details>"]
    return _cut("\n".join(lines) + "\n")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(escaped(cell) if cell != '---' else cell for cell in cells)} |"


def escaped(text: str) -> str:
    """Spell text so that Markdown shows it as it is, cut when it is very long."""
    if len(text) > _MAX_CELL_CHARACTERS:
        text = text[: _MAX_CELL_CHARACTERS - 1] + "…"
    return "".join(char if char.isprintable() else " " for char in text).translate(_MARKS)


def _cut(text: str) -> str:
    content = text.encode()
    if len(content) <= MAX_SUMMARY_BYTES:
        return text
    kept = content[: MAX_SUMMARY_BYTES - len(_CUT.encode())].decode("utf-8", "ignore")
    return kept[: kept.rfind("\n")] + _CUT


def annotations(results: Sequence[Result]) -> list[str]:
    """Spell a warning command for each error, and for each unavailable grader with a threshold."""
    return [
        f"::warning title={_value(f'grader {item.id}: {verdict(item)}')}::{_message(_said(item))}"
        for item in results
        if item.status == "error" or (item.status == "unavailable" and item.threshold is not None)
    ]


def _said(result: Result) -> str:
    return result.error or result.message or verdict(result)


def _message(text: str) -> str:
    """Escape the data of a workflow command, so that text of the session can start no other."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
