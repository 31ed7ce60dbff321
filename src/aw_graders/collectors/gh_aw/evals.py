"""The answers that the evals of a run got."""

from typing import Final

from aw_graders.collectors.gh_aw.fields import error_of, fields, project
from aw_graders.collectors.gh_aw.layout import Layout
from aw_graders.collectors.gh_aw.run import Run
from aw_graders.collectors.gh_aw.source import Source, SourceWriter, time_of_row
from aw_graders.collectors.records import Record
from aw_graders.session import events

_PHASE: Final = "evals"
_FILE: Final = "evals.jsonl"
_ANSWER: Final = fields("id", "answer", "model", "error")


def eval_sources(run: Run, layout: Layout) -> list[Source]:
    """Read the answers from the evals' own artifact, else from the copy for usage."""
    path = layout.first(layout.evals, _FILE) or layout.first(layout.usage, _FILE)
    return [] if path is None else run.source_of_rows("eval", _PHASE, path, _convert)


def _convert(writer: SourceWriter, record: Record) -> None:
    data = project(record.value, _ANSWER)
    if "error" in data:
        data["error"] = error_of(data["error"])
    writer.add(events.EVAL_RESULT, data, time_of_row(record.value), line=record.line)
