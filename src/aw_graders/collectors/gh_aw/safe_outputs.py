"""Safe outputs: what the agent asked for, what was done of it, and what failed."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders._json import JsonValue
from aw_graders.collectors.gh_aw.fields import error_of, fields, project
from aw_graders.collectors.gh_aw.layout import Layout
from aw_graders.collectors.gh_aw.run import Run
from aw_graders.collectors.gh_aw.source import Source, SourceWriter, time_of_row
from aw_graders.collectors.normalise import is_list, is_mapping, list_of
from aw_graders.collectors.records import Record
from aw_graders.session import events

_COMPONENT: Final = "safe_output"
_ITEM: Final = fields(
    *("type", "repo", "number", "provider", "identifier", "url", "status", "message", "error"),
    *("errorCode",),
)
_FROM_TARGET: Final = ("repo", "number", "url")


def safe_output_sources(run: Run, layout: Layout) -> list[Source]:
    """Read requests, results and errors. What a request says in title and body is not kept."""
    return [*_requests(run, layout), *_results(run, layout), *_errors(run, layout)]


def _requests(run: Run, layout: Layout) -> list[Source]:
    path = layout.first(layout.agent, "safeoutputs.jsonl", "safe_output.jsonl")
    if path is not None:
        return run.source_of_rows(_COMPONENT, events.MAIN_PHASE, path, _request)
    path = layout.first(layout.agent, "agent_output.json")
    if path is None:
        return []
    writer = run.writer(_COMPONENT, events.MAIN_PHASE, path)
    document = run.document(path)
    items = document.get("items") if is_mapping(document) else None
    if is_list(items):
        for item in items:
            _add(writer, events.SAFE_OUTPUT_REQUEST, item)
    elif document is not None:
        message = "the document has no list of items and was skipped"
        writer.notes.add("non-object-record", message, None, lossy=True)
    return run.close(writer)


def _results(run: Run, layout: Layout) -> list[Source]:
    path = layout.first(layout.safe_outputs, "safe-output-items.jsonl")
    if path is None:
        return []
    return run.source_of_rows(_COMPONENT, events.SAFE_OUTPUTS_PHASE, path, _result)


def _errors(run: Run, layout: Layout) -> list[Source]:
    path = layout.first(layout.safe_outputs, "safe-output-errors.json")
    if path is None:
        return []
    writer = run.writer(_COMPONENT, events.SAFE_OUTPUTS_PHASE, path)
    document = run.document(path)
    for item in document if is_list(document) else [] if document is None else [document]:
        _add(writer, events.SAFE_OUTPUT_ERROR, item)
    return run.close(writer)


def _request(writer: SourceWriter, record: Record) -> None:
    _add(writer, events.SAFE_OUTPUT_REQUEST, record.value, record.line)


def _result(writer: SourceWriter, record: Record) -> None:
    _add(writer, events.SAFE_OUTPUT_RESULT, record.value, record.line)


def _add(writer: SourceWriter, kind: str, item: object, line: int | None = None) -> None:
    if not is_mapping(item):
        message = "an item is no object and was skipped"
        writer.notes.count("non-object-record", message, line, lossy=True)
        return
    data = _item(item)
    if kind == events.SAFE_OUTPUT_ERROR and "errors" in item:
        data["errors"] = [
            _item(error) if is_mapping(error) else error_of(error)
            for error in list_of(item["errors"])
        ]
    writer.add(kind, data, time_of_row(item), line=line)


def _item(item: Mapping[str, Any]) -> dict[str, JsonValue]:
    data = project(item, _ITEM)
    target = item.get("target")
    if is_mapping(target):
        for key in _FROM_TARGET:
            if key in target:
                data.setdefault(key, target[key])
    if "error" in data:
        data["error"] = error_of(data["error"])
    return data
