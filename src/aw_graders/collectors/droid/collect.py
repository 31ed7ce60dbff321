"""Droid rows to unified-session events, file by file, in file order."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.base import Collected, CollectionNote, SourceFile
from aw_graders.collectors.droid.calls import OpenCalls
from aw_graders.collectors.normalise import (
    EventWriter,
    Notes,
    is_list,
    list_of,
    mapping_of,
    metric,
    text_of,
)
from aw_graders.collectors.records import Record, read_records
from aw_graders.session import Event, events

_ENGINE: Final = "droid"
# The stream's names of the counts, and those of the settings beside a session.
_USAGE_FIELDS: Final = (
    ("inputTokens", ("input_tokens", "inputTokens")),
    ("outputTokens", ("output_tokens", "outputTokens")),
    ("reasoningOutputTokens", ("thinking_tokens", "thinkingTokens")),
    ("cacheReadInputTokens", ("cache_read_input_tokens", "cacheReadTokens")),
    ("cacheCreationInputTokens", ("cache_creation_input_tokens", "cacheCreationTokens")),
)
_IDLE_BLOCKS: Final = frozenset({"document", "image", "redacted_thinking"})
_IDLE_ROWS: Final = frozenset({"compaction_state", "session_end", "todo_state"})


def collect(files: Sequence[SourceFile]) -> Collected:
    """Convert Droid recordings, each file a source of its own; a row's copy gives no event.

    Raises: nothing.
    Cost: linear in the content.
    """
    found: list[Event] = []
    notes: list[CollectionNote] = []
    rows: set[bytes] = set()
    for file in files:
        read = read_records(file)
        converter = _Converter(Notes(file.name), rows)
        for record in read.records:
            converter.row(record)
        found.extend(converter.writer.events)
        notes.extend((*read.notes, *converter.notes.all()))
    return Collected(tuple(found), tuple(notes))


class _Converter:
    """Writes the events of one file."""

    def __init__(self, notes: Notes, rows: set[bytes]) -> None:
        self.notes = notes
        self.rows = rows
        self.calls = OpenCalls()
        self.writer = EventWriter(notes.name, notes)
        self.rest: dict[str, JsonValue] = {}
        self._of_kind: Final[dict[str, Callable[[Record], None]]] = {
            "system": self._start,
            "session_start": self._start,
            "message": self._message,
            "reasoning": self._reasoning,
            "tool_call": self._call,
            "tool_result": self._result,
            "completion": self._completion,
            "error": self._error,
        }

    def row(self, record: Record) -> None:
        """Write the events of one row."""
        row = record.value
        kind = text_of(row.get("type"))
        if kind is None and mapping_of(row.get("tokenUsage")) is not None:
            self._settings(record)
            return
        convert = self._of_kind.get(kind or "")
        if convert is None:
            if kind not in _IDLE_ROWS:
                message = "a row is of a type that is not known and gave no event"
                self.notes.count("unknown-row", message, record.line, lossy=False)
            return
        if _json.is_too_deep(b"[" + _json.compact(row) + b"]"):
            text = "a row is nested so deeply that no event can hold it"
            self._unusable(record, "nested-too-deeply", text)
            return
        if self._is_copy(record):
            return
        time = self.writer.timestamp(row.get("timestamp"), record.line)
        self.rest = {} if time is None else {"timestamp": time}
        convert(record)

    def _is_copy(self, record: Record) -> bool:
        """Tell whether a row with this id, time and content was read before."""
        row = record.value
        if text_of(row.get("id")) is None or row.get("timestamp") is None:
            return False
        identity = _json.sorted_text(row)
        if identity in self.rows:
            text = "a row stands in the recording twice and counts once"
            self.notes.count("copied-row", text, record.line, lossy=False)
            return True
        self.rows.add(identity)
        return False

    def _start(self, record: Record) -> None:
        row = record.value
        data: dict[str, JsonValue] = {"sourceEngine": _ENGINE}
        session_id = text_of(row.get("session_id" if row["type"] == "system" else "id"))
        named = (("sessionId", session_id), ("model", row.get("model")), ("cwd", row.get("cwd")))
        for name, value in named:
            text = text_of(value)
            if text is not None:
                data[name] = text
        self.writer.add(events.SESSION_START, data, self.rest)

    def _message(self, record: Record) -> None:
        row = record.value
        message = mapping_of(row.get("message"))
        if message is None:
            role, content = text_of(row.get("role")), row.get("text")
        else:
            role, content = text_of(message.get("role")), message.get("content")
        if role is None or not (isinstance(content, str) or is_list(content)):
            self._unusable(record, "message-without-content", "a message has no role or content")
            return
        is_user = role == "user"
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for item in list_of(blocks):
            block = mapping_of(item)
            if block is None:
                self._unusable(record, "content-not-an-object", "a content block is no object")
            else:
                self._block(record, block, is_user=is_user)

    def _block(self, record: Record, block: Mapping[str, Any], *, is_user: bool) -> None:
        kind = text_of(block.get("type")) or ""
        if kind == "text":
            said = events.USER_MESSAGE if is_user else events.ASSISTANT_MESSAGE
            self._say(record, said, block.get("text"))
        elif kind == "thinking":
            self._say(record, events.ASSISTANT_REASONING, block.get("thinking"))
        elif kind == "tool_use":
            identity = _identity(block.get("id"), block.get("name"))
            self._began(record, identity, block, "input")
        elif kind == "tool_result":
            self._ended_block(record, block)
        elif kind not in _IDLE_BLOCKS:
            message = "a content block is of a type that is not known and gave no event"
            self.notes.count("unknown-block", message, record.line, lossy=False)

    def _say(self, record: Record, kind: str, text: object) -> None:
        if not isinstance(text, str):
            self._unusable(record, "content-not-text", "a text block holds no text")
        elif text:
            self.writer.add(kind, {"content": text}, self.rest)

    def _reasoning(self, record: Record) -> None:
        self._say(record, events.ASSISTANT_REASONING, record.value.get("text"))

    def _call(self, record: Record) -> None:
        call = self.calls.begin(record.value)
        self._began(record, _identity(call.call_id, call.name), record.value, "parameters")

    def _began(
        self,
        record: Record,
        identity: dict[str, JsonValue],
        fields: Mapping[str, Any],
        key: str,
    ) -> None:
        if not identity:
            self._unusable(record, "call-without-id-and-name", "a tool call has no id and no name")
            return
        if key in fields:
            identity = {**identity, "input": fields[key]}
        self.writer.add(events.TOOL_START, identity, self.rest)

    def _result(self, record: Record) -> None:
        row = record.value
        call = self.calls.end(row)
        if call is None:
            own_id = text_of(row.get("toolCallId")) or text_of(row.get("id"))
            identity = _identity(own_id, row.get("toolName"))
        else:
            identity = _identity(call.call_id, call.name)
        if not identity:
            self._unusable(
                record, "result-without-id-and-name", "a tool result has no id and no name"
            )
            return
        self.writer.add(events.TOOL_COMPLETE, {**identity, **_outcome(row)}, self.rest)

    def _ended_block(self, record: Record, block: Mapping[str, Any]) -> None:
        identity = _identity(block.get("tool_use_id"), block.get("name"))
        if not identity:
            self._unusable(
                record, "result-without-id-and-name", "a tool result has no id and no name"
            )
            return
        # The blocks are Anthropic's: a result that is not said to be an error is none.
        data = {**identity, "success": block.get("is_error") is not True}
        if "content" in block:
            data["output"] = block["content"]
        self.writer.add(events.TOOL_COMPLETE, data, self.rest)

    def _completion(self, record: Record) -> None:
        row = record.value
        text = text_of(row.get("finalText"))
        data: dict[str, JsonValue] = {"status": "success"}
        session_id = text_of(row.get("session_id"))
        if session_id is not None:
            data["sessionId"] = session_id
        turns = self.notes.whole(row.get("numTurns"), record.line)
        if turns is not None:
            data["numTurns"] = turns
        duration = metric(row.get("durationMs"))
        if duration is not None:
            data["durationMs"] = duration
        usage = self._usage(row.get("usage"), record.line)
        if usage is not None:
            data["usage"] = usage
        if text is not None:
            self.writer.add("session.task_complete", {"summary": text}, self.rest)
        self.writer.add(events.SESSION_RESULT, data, self.rest)

    def _settings(self, record: Record) -> None:
        """Take the counts of a session's settings, which are those of the whole session."""
        usage = self._usage(record.value.get("tokenUsage"), record.line)
        if usage is not None:
            self.writer.add(events.SESSION_RESULT, {"usage": usage})

    def _usage(self, usage: object, line: int) -> dict[str, JsonValue] | None:
        """Read the counts of a run; cached tokens that outnumber the input stand beside it."""
        fields = mapping_of(usage) or {}
        found: dict[str, int] = {}
        for name, keys in _USAGE_FIELDS:
            for key in keys:
                count = self.notes.whole(fields.get(key), line)
                if count is not None:
                    found[name] = count
        if not any(found.values()):
            return None
        counts: dict[str, JsonValue] = {**found}
        cached = found.get("cacheReadInputTokens", 0) + found.get("cacheCreationInputTokens", 0)
        if cached > found.get("inputTokens", 0):
            counts["inputTokensIncludeCache"] = False
        return counts

    def _error(self, record: Record) -> None:
        message = text_of(record.value.get("message")) or ""
        self.writer.add("session.error", {"message": message}, self.rest)

    def _unusable(self, record: Record, code: str, message: str) -> None:
        self.notes.count(code, f"{message} and was skipped", record.line, lossy=True)


def _identity(call_id: object, name: object) -> dict[str, JsonValue]:
    named = (("toolCallId", text_of(call_id)), ("toolName", text_of(name)))
    return {key: text for key, text in named if text is not None}


def _outcome(row: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Say how a call ended: by the error flag, by an error, by a command's exit code."""
    data: dict[str, JsonValue] = {}
    value = row.get("value")
    exit_code = (mapping_of(value) or {}).get("exitCode")
    is_error = row.get("isError")
    if isinstance(is_error, bool):
        data["success"] = not is_error
    if isinstance(exit_code, int) and not isinstance(exit_code, bool):
        data["exitCode"] = exit_code
        data["success"] = exit_code == 0 and is_error is not True
    if row.get("error") is not None:
        data["error"] = row["error"]
        data["success"] = False
    if value is not None:
        data["output"] = value
    return data
