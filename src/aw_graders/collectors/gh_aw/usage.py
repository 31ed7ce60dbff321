"""Usage reports: sums that a job wrote of its own model requests."""

from typing import Final

from aw_graders.collectors.gh_aw.fields import request_of
from aw_graders.collectors.gh_aw.layout import Layout
from aw_graders.collectors.gh_aw.run import Run
from aw_graders.collectors.gh_aw.source import Source, SourceWriter, time_of_row
from aw_graders.collectors.normalise import is_mapping
from aw_graders.collectors.records import Record
from aw_graders.session import events

_COMPONENT: Final = "usage"
_DETECTION: Final = "detection"
_EVALS: Final = "evals"
_SUM: Final = "agent_usage.json"


def usage_sources(run: Run, layout: Layout, *, has_requests: bool) -> list[Source]:
    """Read the reports of the agent's job, of detection and of evals, each from its first copy.

    Takes: whether the proxy counted the agent's requests. The sum that the agent's job wrote as one
        document is made of those, so it is read only without them.
    """
    agent = (*layout.agent, *layout.usage)
    paths = [
        (events.MAIN_PHASE, layout.first(agent, "agent_usage.jsonl")),
        (
            _DETECTION,
            layout.first((*layout.detection, *layout.usage), "detection_usage.jsonl"),
        ),
        (
            _EVALS,
            layout.first(layout.evals, "token_usage.jsonl", "evals_token_usage.jsonl")
            or layout.first(layout.usage, "evals/token_usage.jsonl", "evals_token_usage.jsonl"),
        ),
    ]
    found: list[Source] = []
    for phase, path in paths:
        if path is not None:
            found += run.source_of_rows(_COMPONENT, phase, path, _convert)
    path = layout.first(agent, _SUM)
    if path is not None and not has_requests and paths[0][1] is None:
        found += _document(run, path)
    return found


def _convert(writer: SourceWriter, record: Record) -> None:
    data = request_of(record.value, writer.notes, record.line)
    writer.add(events.USAGE_REPORT, data, time_of_row(record.value), line=record.line)


def _document(run: Run, path: str) -> list[Source]:
    writer = run.writer(_COMPONENT, events.MAIN_PHASE, path)
    row = run.document(path)
    if is_mapping(row):
        writer.add(events.USAGE_REPORT, request_of(row, writer.notes, None), time_of_row(row))
    elif row is not None:
        message = "the document is no object and was skipped"
        writer.notes.add("non-object-record", message, None, lossy=True)
    return run.close(writer)
