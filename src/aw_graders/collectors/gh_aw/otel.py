"""OpenTelemetry in its JSON form: spans, their events, and logs, each as one event.

Source: OTLP JSON encoding; unified session format, sections 1.4 and 1.5.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from aw_graders._json import JsonValue
from aw_graders.collectors.gh_aw.layout import Layout
from aw_graders.collectors.gh_aw.run import Run
from aw_graders.collectors.gh_aw.source import Source, SourceWriter
from aw_graders.collectors.normalise import is_mapping, list_of
from aw_graders.collectors.records import Record
from aw_graders.session import events

_FILE: Final = "otel.jsonl"
_COMPONENT: Final = "otel"
_DETECTION: Final = "detection"
_SPAN_TIMES: Final = ("startTimeUnixNano", "endTimeUnixNano")
_LOG_TIMES: Final = ("timeUnixNano", "observedTimeUnixNano")
_SPAN_MARKS: Final = frozenset({"traceId", "spanId", "name"})


def otel_sources(run: Run, layout: Layout) -> list[Source]:
    """Read the exported telemetry of the agent's job and of the detection job."""
    found: list[Source] = []
    for phase, folders in ((events.MAIN_PHASE, layout.agent), (_DETECTION, layout.detection)):
        path = layout.first(folders, _FILE)
        if path is not None:
            found += run.source_of_rows(_COMPONENT, phase, path, _convert)
    return found


def _convert(writer: SourceWriter, record: Record) -> None:
    row = record.value
    known = False
    for context, group in _groups(row, "resourceSpans", "scopeSpans"):
        known = True
        for span in filter(is_mapping, list_of(group.get("spans"))):
            _span(writer, span, context, record.line)
    for context, group in _groups(row, "resourceLogs", "scopeLogs"):
        known = True
        for log in filter(is_mapping, list_of(group.get("logRecords"))):
            writer.add("otel.log", {**log, **context}, _time(log, _LOG_TIMES), line=record.line)
    if known or "resourceSpans" in row or "resourceLogs" in row:
        return
    if row.keys() >= _SPAN_MARKS:
        _span(writer, row, {}, record.line)
        return
    message = "a record is neither a span nor a log in OTLP and was skipped"
    writer.notes.count("unrecognized-otel", message, record.line, lossy=True)


def _groups(
    row: Mapping[str, Any], outer: str, inner: str
) -> Iterator[tuple[dict[str, JsonValue], Mapping[str, Any]]]:
    """Yield each scope's records with the resource and the scope they belong to."""
    for resource in filter(is_mapping, list_of(row.get(outer))):
        for group in filter(is_mapping, list_of(resource.get(inner))):
            context: dict[str, JsonValue] = {}
            if "resource" in resource:
                context["resource"] = resource["resource"]
            if "scope" in group:
                context["scope"] = group["scope"]
            yield context, group


def _span(
    writer: SourceWriter, span: Mapping[str, Any], context: Mapping[str, JsonValue], line: int
) -> None:
    data = {key: value for key, value in span.items() if key != "events"}
    writer.add("otel.span", {**data, **context}, _time(span, _SPAN_TIMES), line=line)
    owner = {key: span[key] for key in ("traceId", "spanId") if key in span}
    for event in filter(is_mapping, list_of(span.get("events"))):
        found = {**owner, **event, **context}
        writer.add("otel.span_event", found, _time(event, _LOG_TIMES[:1]), line=line)


def _time(record: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, JsonValue]:
    """Read a time in nanoseconds; a number is spelled as the text that OTLP has for it."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and value.strip("0"):
            return {"timestamp": value}
    return {}
