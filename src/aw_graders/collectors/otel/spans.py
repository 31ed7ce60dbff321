"""Spans out of exported traces: OTLP JSON, its older spellings, and Jaeger's JSON.

All are read into one shape, so that everything behind sees only spans.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders._json import JsonError, JsonValue
from aw_graders.collectors.base import CollectionNote, SourceFile
from aw_graders.collectors.normalise import (
    UNREADABLE_TIME,
    Notes,
    is_list,
    is_mapping,
    list_of,
    mapping_of,
    text_of,
)
from aw_graders.collectors.otel.values import (
    attributes_of,
    field,
    integer_of,
    is_time,
    plain_value,
)
from aw_graders.collectors.records import Record, read_records

# Jaeger lists traces under this key.
JAEGER_ROWS: Final = "data"
_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n"
# A first line of so few bytes, such as a lone bracket, begins a document that spans lines.
_BRACKETS: Final = 2
_RESOURCES: Final = ("resourceSpans", "batches")
_SCOPES: Final = ("scopeSpans", "instrumentationLibrarySpans")
_OTHER_SIGNALS: Final = frozenset(
    {"resourceLogs", "resourceMetrics", "resource_logs", "resource_metrics"}
)
_ERROR_CODES: Final = frozenset({"2", "STATUS_CODE_ERROR", "ERROR"})
_NS_PER_US: Final = 1000
_PARENT: Final = "CHILD_OF"


class Span(msgspec.Struct, frozen=True):
    """One span. `file` is the place of its file; times are nanoseconds since 1970.

    `details` holds the attributes of its events. `is_failed` is true when its status is an error.
    """

    file: int
    line: int
    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    start: int | None
    end: int | None
    attributes: Mapping[str, JsonValue]
    is_failed: bool
    service: str | None = None
    details: tuple[Mapping[str, JsonValue], ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """What tells the span from all others: an id counts within its trace."""
        return self.trace_id, self.span_id


class Export(msgspec.Struct, frozen=True):
    """The spans of one file in file order, and notes on what could not be read."""

    spans: tuple[Span, ...]
    notes: tuple[CollectionNote, ...] = ()


def read_export(file: SourceFile, number: int, notes: Notes) -> Export:
    """Read the spans of one file, the `number`-th from 0; more notes are added to `notes`.

    Raises: nothing.
    Cost: linear in the content.
    """
    records, found = _documents(file)
    reader = _Reader(number, notes)
    for record in records:
        reader.row(record)
    return Export(tuple(reader.spans), found)


def resources_of(row: Mapping[str, Any]) -> list[Any]:
    """List what a row of OTLP JSON holds of single resources."""
    for name in _RESOURCES:
        found = field(row, name)
        if is_list(found):
            return found
    return []


def is_jaeger_trace(value: object) -> bool:
    """Tell whether `value` is a trace as Jaeger spells it."""
    trace = mapping_of(value)
    return trace is not None and "traceID" in trace and isinstance(trace.get("spans"), list)


def _documents(file: SourceFile) -> tuple[Sequence[Record], tuple[CollectionNote, ...]]:
    """Read one document over many lines at the fast decoder's speed, anything else by lines."""
    text = file.content.removeprefix(_BOM).strip(_BLANK)
    first_line = text.find(b"\n")
    if first_line < 0 or len(text[:first_line].strip(_BLANK)) <= _BRACKETS:
        try:
            whole = _json.decode_counting(text)
        except JsonError:
            pass
        else:
            if not whole.duplicate_keys and not whole.lone_surrogates and is_mapping(whole.value):
                return (Record(1, whole.value),), ()
    read = read_records(file)
    return read.records, read.notes


class _Reader:
    """Collects the spans of one file."""

    def __init__(self, file: int, notes: Notes) -> None:
        self.file = file
        self.notes = notes
        self.spans: list[Span] = []

    def row(self, record: Record) -> None:
        """Read the spans of one document."""
        row, line = record.value, record.line
        resources = resources_of(row)
        traces = [trace for trace in list_of(row.get(JAEGER_ROWS)) if is_jaeger_trace(trace)]
        for resource in resources:
            self._resource(resource, line)
        for trace in traces:
            self._jaeger(trace, line)
        if resources or traces:
            return
        if _OTHER_SIGNALS.intersection(row):
            message = "logs and metrics are not read"
            self.notes.count("other-signal", message, line, lossy=False)
        else:
            message = "a document holds no spans and was skipped"
            self.notes.count("row-without-spans", message, line, lossy=True)

    def _resource(self, value: object, line: int) -> None:
        resource = mapping_of(value)
        if resource is None:
            self._unusable("a resource is no object", line)
            return
        about = mapping_of(resource.get("resource")) or {}
        service = text_of(attributes_of(about.get("attributes")).get("service.name"))
        for name in _SCOPES:
            for scope in list_of(field(resource, name)):
                spans = None if not is_mapping(scope) else scope.get("spans")
                if spans is not None and not is_list(spans):
                    self._unusable("the spans of a scope are no list", line)
                self._all(list_of(spans), line, lambda span: self._otlp(span, line, service))

    def _all(
        self, values: Iterable[object], line: int, read: Callable[[Mapping[str, Any]], None]
    ) -> None:
        for value in values:
            span = mapping_of(value)
            if span is None:
                self._unusable("a span is no object", line)
            else:
                read(span)

    def _unusable(self, message: str, line: int) -> None:
        self.notes.count("span-not-readable", f"{message} and was skipped", line, lossy=True)

    def _otlp(self, span: Mapping[str, Any], line: int, service: str | None) -> None:
        status = mapping_of(span.get("status")) or {}
        details = [
            attributes_of(event.get("attributes"))
            for event in list_of(span.get("events"))
            if is_mapping(event)
        ]
        self._add(
            Span(
                file=self.file,
                line=line,
                trace_id=text_of(field(span, "traceId")) or "",
                span_id=text_of(field(span, "spanId")) or "",
                parent_id=text_of(field(span, "parentSpanId")),
                name=text_of(span.get("name")) or "",
                start=self._time(field(span, "startTimeUnixNano"), line),
                end=self._time(field(span, "endTimeUnixNano"), line),
                attributes=attributes_of(span.get("attributes")),
                is_failed=_is_error(status.get("code")),
                service=service,
                details=tuple(item for item in details if item),
            )
        )

    def _jaeger(self, trace: Mapping[str, Any], line: int) -> None:
        processes = mapping_of(trace.get("processes")) or {}
        services = {
            key: text_of(process.get("serviceName"))
            for key, process in processes.items()
            if is_mapping(process)
        }
        self._all(
            list_of(trace.get("spans")),
            line,
            lambda span: self._jaeger_span(span, line, services.get(str(span.get("processID")))),
        )

    def _jaeger_span(self, span: Mapping[str, Any], line: int, service: str | None) -> None:
        start = integer_of(span.get("startTime"))
        lasted = integer_of(span.get("duration"))
        started = self._time(None if start is None else start * _NS_PER_US, line)
        tags = _tags(span.get("tags"))
        parents = [
            text_of(reference.get("spanID"))
            for reference in list_of(span.get("references"))
            if is_mapping(reference) and reference.get("refType") == _PARENT
        ]
        self._add(
            Span(
                file=self.file,
                line=line,
                trace_id=text_of(span.get("traceID")) or "",
                span_id=text_of(span.get("spanID")) or "",
                parent_id=parents[0] if parents else None,
                name=text_of(span.get("operationName")) or "",
                start=started,
                end=None if started is None or lasted is None else started + lasted * _NS_PER_US,
                attributes=tags,
                is_failed=tags.get("error") is True or _is_error(tags.get("otel.status_code")),
                service=service,
                details=tuple(
                    _tags(log.get("fields")) for log in list_of(span.get("logs")) if is_mapping(log)
                ),
            )
        )

    def _add(self, span: Span) -> None:
        # A span without an id cannot be a parent; a made-up one keeps it apart from all others.
        if not span.span_id:
            made = f"file {span.file} span {len(self.spans)}"
            span = msgspec.structs.replace(span, span_id=made)
        self.spans.append(span)

    def _time(self, value: object, line: int) -> int | None:
        nanoseconds = integer_of(value)
        if value is None or nanoseconds == 0:
            return None
        if nanoseconds is None or not is_time(nanoseconds):
            self.notes.convention(UNREADABLE_TIME, line)
            return None
        return nanoseconds


def _tags(value: object) -> dict[str, JsonValue]:
    """Read Jaeger's tags, whose values are plain."""
    return {
        tag["key"]: plain_value(tag.get("value"))
        for tag in list_of(value)
        if is_mapping(tag) and isinstance(tag.get("key"), str)
    }


def _is_error(code: object) -> bool:
    if isinstance(code, bool) or not isinstance(code, int | str):
        return False
    return str(code).upper() in _ERROR_CODES
