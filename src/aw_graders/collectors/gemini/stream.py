"""Gemini CLI's output in `stream-json`: a row per event of a run without a terminal.

It counts tokens once, for the whole run.
"""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.gemini.parts import completion_of
from aw_graders.collectors.normalise import EventWriter, is_mapping, mapping_of, metric, text_of
from aw_graders.collectors.records import Record
from aw_graders.session import events

_ENGINE: Final = "gemini"
_CALL_KINDS: Final = frozenset({"tool_use", "tool_result"})
_USAGE_FIELDS: Final = (
    ("input_tokens", "inputTokens"),
    ("output_tokens", "outputTokens"),
    ("cached", "cacheReadInputTokens"),
    ("total_tokens", "totalTokens"),
)


def is_mark(row: Mapping[str, Any]) -> bool:
    """Tell whether an object can only be a row of this output."""
    kind = row.get("type")
    if kind == "init":
        return isinstance(row.get("session_id"), str) and isinstance(row.get("model"), str)
    if text_of(kind) in _CALL_KINDS:
        return isinstance(row.get("tool_id"), str) and "timestamp" in row
    return kind == "result" and is_mapping(row.get("stats")) and "timestamp" in row


def is_row(row: Mapping[str, Any]) -> bool:
    """Tell whether an object is a row of this output and none of a session file."""
    kind = row.get("type")
    if kind == "message":
        return isinstance(row.get("role"), str) and isinstance(row.get("content"), str)
    return is_mark(row) or (kind == "error" and isinstance(row.get("severity"), str))


class StreamWriter:
    """Writes the events of the stream's rows of one file."""

    def __init__(self, writer: EventWriter) -> None:
        """Begin with a writer of the file's events."""
        self.writer = writer
        self.notes = writer.notes
        self._said: list[str] = []
        self._said_rest: dict[str, JsonValue] = {}

    def row(self, record: Record) -> None:
        """Write the events of one row; pieces of one answer become one message."""
        row = record.value
        if _json.is_too_deep(b"[" + _json.compact(row) + b"]"):
            text = "a row is nested so deeply that no event can hold it; it was skipped"
            self.notes.count("nested-too-deeply", text, record.line, lossy=True)
            return
        rest: dict[str, JsonValue] = {}
        time = self.writer.timestamp(row.get("timestamp"), record.line)
        if time is not None:
            rest["timestamp"] = time
        kind = row.get("type")
        if kind == "message" and row.get("role") == "assistant" and row.get("delta") is True:
            if not self._said:
                self._said_rest = rest
            self._said.append(row["content"])
            return
        self.finish()
        if kind == "message":
            self._message(row, rest)
        elif kind == "init":
            self._init(row, rest)
        elif kind == "tool_use":
            self._call(row, rest)
        elif kind == "tool_result":
            self._ended(row, rest)
        elif kind == "error":
            message = text_of(row.get("message")) or ""
            self.writer.add(
                "session.error", {"message": message, "severity": row["severity"]}, rest
            )
        else:
            self._result(record, rest)

    def finish(self) -> None:
        """Write the answer whose pieces were gathered so far."""
        if self._said:
            text = "".join(self._said)
            self.writer.add(events.ASSISTANT_MESSAGE, {"content": text}, self._said_rest)
            self._said = []

    def _message(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        is_user = row.get("role") == "user"
        kind = events.USER_MESSAGE if is_user else events.ASSISTANT_MESSAGE
        self.writer.add(kind, {"content": row["content"]}, rest)

    def _init(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        data: dict[str, JsonValue] = {"sourceEngine": _ENGINE, "sessionId": row["session_id"]}
        data["model"] = row["model"]
        self.writer.add(events.SESSION_INIT, data, rest)

    def _call(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        data: dict[str, JsonValue] = {"toolCallId": row["tool_id"]}
        name = text_of(row.get("tool_name"))
        if name is not None:
            data["toolName"] = name
        if "parameters" in row:
            data["input"] = row["parameters"]
        self.writer.add(events.TOOL_START, data, rest)

    def _ended(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        ended = completion_of(row.get("status"), None, row.get("output"))
        if row.get("error") is not None:
            ended["error"] = row["error"]
            ended["success"] = False
        self.writer.add(events.TOOL_COMPLETE, {"toolCallId": row["tool_id"], **ended}, rest)

    def _result(self, record: Record, rest: Mapping[str, JsonValue]) -> None:
        stats = mapping_of(record.value.get("stats")) or {}
        data: dict[str, JsonValue] = {}
        status = text_of(record.value.get("status"))
        if status is not None:
            data["status"] = status
        duration = metric(stats.get("duration_ms"))
        if duration is not None:
            data["durationMs"] = duration
        counts: dict[str, JsonValue] = {}
        for key, name in _USAGE_FIELDS:
            count = self.notes.whole(stats.get(key), record.line)
            if count is not None:
                counts[name] = count
        if any(counts.values()):
            data["usage"] = {**counts, "inputTokensIncludeCache": True}
        self.writer.add(events.SESSION_RESULT, data, rest)
