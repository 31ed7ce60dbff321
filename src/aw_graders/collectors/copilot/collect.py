"""Copilot rows to unified-session events, which they nearly are."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.base import Collected, CollectionNote, SourceFile
from aw_graders.collectors.normalise import (
    EventWriter,
    Notes,
    decoded_arguments,
    list_of,
    mapping_of,
    text_of,
)
from aw_graders.collectors.records import Record, read_records
from aw_graders.session import Event, events

_SHUTDOWN: Final = "session.shutdown"
_ENVELOPE: Final = frozenset({"type", "data", "timestamp", "provenance"})
_USAGE_FIELDS: Final = (
    ("inputTokens", "inputTokens"),
    ("outputTokens", "outputTokens"),
    ("reasoningTokens", "reasoningOutputTokens"),
    ("cacheReadTokens", "cacheReadInputTokens"),
    ("cacheWriteTokens", "cacheCreationInputTokens"),
)
_ORIGIN: Final = ("agentId", "parentToolCallId")
# Families and types by which a unified session tells what other observers saw.
_FOREIGN_FAMILIES: Final = frozenset(
    {
        "agent", "detection", "eval", "execution", "experiment", "firewall", "github_api", "grader",
        "guardrail", "mcp", "otel", "prompt", "safe_output", "trajectory", "usage", "workflow",
    }
)  # fmt: skip
_FOREIGN_TYPES: Final = frozenset(
    {
        events.SESSION_COLLECTION,
        events.SESSION_COLLECTION_WARNING,
        events.SESSION_FORMAT,
        events.SESSION_RESULT,
    }
)


def collect(files: Sequence[SourceFile]) -> Collected:
    """Convert Copilot recordings, each file a source of its own; a row's copy gives no event.

    Raises: nothing.
    Cost: linear in the content.
    """
    found: list[Event] = []
    notes: list[CollectionNote] = []
    known = _Known()
    for file in files:
        read = read_records(file)
        converter = _Converter(Notes(file.name), read.records, known)
        for record in read.records:
            converter.row(record)
        found.extend(converter.writer.events)
        notes.extend((*read.notes, *converter.notes.all()))
    return Collected(tuple(found), tuple(notes))


class _Known:
    """What was already read, over all files: rows, and what each session used so far."""

    def __init__(self) -> None:
        self.rows: set[bytes] = set()
        self.totals: dict[str, dict[str, int]] = {}


class _Converter:
    """Writes the events of one file."""

    def __init__(self, notes: Notes, records: Sequence[Record], known: _Known) -> None:
        self.notes = notes
        self.known = known
        self.session_id: str | None = None
        self.writer = EventWriter(notes.name, notes)
        self.started = {
            call_id
            for record in records
            if record.value.get("type") == events.TOOL_START
            and (call_id := text_of((mapping_of(record.value.get("data")) or {}).get("toolCallId")))
        }

    def row(self, record: Record) -> None:
        """Write the events of one row."""
        kind = text_of(record.value.get("type"))
        data = mapping_of(record.value.get("data"))
        if kind is None or data is None:
            message = "a row has no type or no data object and was skipped"
            self.notes.count("row-without-data", message, record.line, lossy=True)
            return
        if self._is_copy(record):
            return
        if kind == events.SESSION_START:
            self.session_id = text_of(data.get("sessionId")) or self.session_id
        rest = self._rest(record)
        self.writer.add(_named(kind), _converted(kind, data), rest)
        if kind == events.ASSISTANT_MESSAGE:
            self._requested(data, rest)
        elif kind == _SHUTDOWN:
            self._shutdown(data, rest, record.line)

    def _is_copy(self, record: Record) -> bool:
        """Tell whether a row with this id and content was read before."""
        if text_of(record.value.get("id")) is None:
            return False
        row = _json.sorted_text(record.value)
        is_copy = row in self.known.rows
        self.known.rows.add(row)
        return is_copy

    def _rest(self, record: Record) -> dict[str, JsonValue]:
        """Keep the row's other keys, its time as a unified session spells it."""
        rest: dict[str, JsonValue] = {
            key: value for key, value in record.value.items() if key not in _ENVELOPE
        }
        time = self.writer.timestamp(record.value.get("timestamp"), record.line)
        if time is not None:
            rest["timestamp"] = time
        return rest

    def _requested(self, data: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        """Make calls of tool requests that no row says to have started."""
        for item in list_of(data.get("toolRequests")):
            request = mapping_of(item)
            call_id = None if request is None else text_of(request.get("toolCallId"))
            if request is None or call_id is None or call_id in self.started:
                continue
            self.started.add(call_id)
            start: dict[str, JsonValue] = {"toolCallId": call_id}
            name = text_of(request.get("name"))
            if name is not None:
                start["toolName"] = name
            if "arguments" in request:
                start["input"] = decoded_arguments(request["arguments"])
            server = text_of(request.get("mcpServerName"))
            if server is not None:
                start["mcpServerName"] = server
            for key in _ORIGIN:
                if key in data:
                    start[key] = data[key]
            self.writer.add(events.TOOL_START, start, _derived(rest))

    def _shutdown(self, data: Mapping[str, Any], rest: Mapping[str, JsonValue], line: int) -> None:
        """Say what the session used so far: every resume ends with counts of its own."""
        totals = self.known.totals.setdefault(self.session_id or f"file {self.notes.name}", {})
        for metrics in (mapping_of(data.get("modelMetrics")) or {}).values():
            usage = mapping_of((mapping_of(metrics) or {}).get("usage")) or {}
            for key, name in _USAGE_FIELDS:
                count = self.notes.whole(usage.get(key), line)
                if count is not None:
                    totals[name] = totals.get(name, 0) + count
        result: dict[str, JsonValue] = {}
        if self.session_id is not None:
            result["sessionId"] = self.session_id
        status = text_of(data.get("shutdownType"))
        if status is not None:
            result["status"] = status
        if totals:
            result["usage"] = {**totals, "inputTokensIncludeCache": True}
        self.writer.add(events.SESSION_RESULT, result, _derived(rest))


def _named(kind: str) -> str:
    """Give a row's type, marked as Copilot's own when a session knows it from another observer."""
    family, dot, _ = kind.partition(".")
    if dot and family not in _FOREIGN_FAMILIES and kind not in _FOREIGN_TYPES:
        return kind
    return f"copilot.{kind}"


def _derived(rest: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Keep the time and the origin of a row, not its own id, for an event made of it."""
    return {key: rest[key] for key in ("timestamp", "agentId", "parentToolCallId") if key in rest}


def _converted(kind: str, data: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Give the fields of a row their names in a unified session; all others stay."""
    changed = dict(data)
    if kind == events.TOOL_START and "arguments" in changed:
        changed["input"] = decoded_arguments(changed.pop("arguments"))
    elif kind == events.TOOL_COMPLETE and "result" in changed:
        output = changed.pop("result")
        changed["output"] = output
        fields = mapping_of(output) or {}
        if "isError" in fields:
            changed.setdefault("isError", fields["isError"])
    elif kind == events.SESSION_START:
        changed["sourceEngine"] = "copilot"
        model = text_of(changed.get("selectedModel"))
        if model is not None:
            changed.setdefault("model", model)
        cwd = text_of((mapping_of(changed.get("context")) or {}).get("cwd"))
        if cwd is not None:
            changed.setdefault("cwd", cwd)
    return cast("dict[str, JsonValue]", changed)
