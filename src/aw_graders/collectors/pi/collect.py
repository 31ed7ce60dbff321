"""Pi rows to unified-session events, file by file, in file order."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.base import Collected, CollectionNote, SourceFile
from aw_graders.collectors.normalise import (
    EventWriter,
    Notes,
    is_list,
    is_mapping,
    list_of,
    mapping_of,
    text_of,
)
from aw_graders.collectors.records import Record, read_records
from aw_graders.session import Event, events

_ENGINE: Final = "pi"
_INJECTED: Final = "injected"
# In JSON mode a message is repeated while it grows; only its end is read.
_MESSAGE_ROWS: Final = frozenset({"message", "message_end"})
_INJECTED_ROLES: Final = frozenset({"custom", "hookMessage"})
_SUMMARIES: Final = frozenset({"compaction", "branch_summary"})
_FAILED_STOPS: Final = frozenset({"error", "aborted"})
# Rows that hold nothing for a session. Any other type that is not converted is noted.
_IDLE_ROWS: Final = frozenset(
    {
        "agent_end", "agent_start", "auto_compaction_end", "auto_compaction_start",
        "auto_retry_end", "auto_retry_start", "context_transform", "custom", "ephemeral", "label",
        "message_start", "message_update", "model_change", "queue_update", "session_info",
        "thinking_level_change", "tool_execution_end", "tool_execution_start",
        "tool_execution_update", "turn_end", "turn_start",
    }
)  # fmt: skip
# Messages of the person's own commands, and of summaries that stand in rows of their own.
_IDLE_ROLES: Final = frozenset({"bashExecution", "branchSummary", "compactionSummary"})
_USAGE_FIELDS: Final = (
    ("input", "inputTokens"),
    ("output", "outputTokens"),
    ("cacheRead", "cacheReadInputTokens"),
    ("cacheWrite", "cacheCreationInputTokens"),
    ("totalTokens", "totalTokens"),
)


def collect(files: Sequence[SourceFile]) -> Collected:
    """Convert Pi recordings, each file a source of its own; a row's copy gives no event.

    Raises: nothing.
    Cost: linear in the content.
    """
    notes: list[CollectionNote] = []
    writers: list[EventWriter] = []
    known = _Known()
    for file in files:
        read = read_records(file)
        converter = _Converter(Notes(file.name), known)
        for record in read.records:
            converter.row(record)
        writers.append(converter.writer)
        notes.extend((*read.notes, *converter.notes.all()))
    found: list[Event] = [event for writer in writers for event in writer.events]
    return Collected(tuple(found), tuple(notes))


class _Known:
    """What was already read, over all files."""

    def __init__(self) -> None:
        self.rows: set[bytes] = set()
        self.requests: set[str] = set()
        self.opened_in: dict[str, EventWriter] = {}


class _Converter:
    """Writes the events of one file."""

    def __init__(self, notes: Notes, known: _Known) -> None:
        self.notes = notes
        self.known = known
        self.writer = EventWriter(notes.name, notes)

    def row(self, record: Record) -> None:
        """Write the events of one row."""
        kind = text_of(record.value.get("type")) or ""
        # What JSON mode repeats of a message must not pass for the message's first copy.
        if kind in _IDLE_ROWS or self._is_copy(record):
            return
        if kind == "session":
            self._start(record)
        elif kind in _MESSAGE_ROWS:
            self._message(record)
        elif kind in _SUMMARIES:
            message = text_of(record.value.get("summary")) or ""
            data: dict[str, JsonValue] = {"message": message, "status": kind}
            self.writer.add("session.info", data, self._rest(record))
        elif kind == "custom_message":
            self._say(record, events.USER_MESSAGE, record.value.get("content"), is_injected=True)
        else:
            message = "a row is of a type that is not known and gave no event"
            self.notes.count("unknown-row", message, record.line, lossy=False)

    def _is_copy(self, record: Record) -> bool:
        """Tell whether an equal row was read before, as a branched session copies its parent's.

        Rows without any time are never taken for copies: a person may well say the same twice.
        """
        identity = _identity_of(record.value)
        if identity is None:
            return False
        if identity in self.known.rows:
            text = "a row stands in the recording twice and counts once"
            self.notes.count("copied-row", text, record.line, lossy=False)
            return True
        self.known.rows.add(identity)
        return False

    def _rest(self, record: Record) -> dict[str, JsonValue]:
        row = record.value
        time = row.get("timestamp")
        if time is None:
            time = (mapping_of(row.get("message")) or {}).get("timestamp")
        timestamp = self.writer.timestamp(time, record.line)
        return {} if timestamp is None else {"timestamp": timestamp}

    def _start(self, record: Record) -> None:
        data: dict[str, JsonValue] = {"sourceEngine": _ENGINE}
        for key, name in (("id", "sessionId"), ("modelId", "model"), ("cwd", "cwd")):
            text = text_of(record.value.get(key))
            if text is not None:
                data[name] = text
        self.writer.add(events.SESSION_START, data, self._rest(record))

    def _message(self, record: Record) -> None:
        message = mapping_of(record.value.get("message"))
        role = None if message is None else text_of(message.get("role"))
        if message is None or role is None:
            text = "a row has no message object with a role and was skipped"
            self.notes.count("row-without-message", text, record.line, lossy=True)
        elif role == "assistant":
            self._answer(record, message)
        elif role == "toolResult":
            self._result(record, message)
        elif role == "user":
            self._say(record, events.USER_MESSAGE, message.get("content"))
        elif role in _INJECTED_ROLES:
            self._say(record, events.USER_MESSAGE, message.get("content"), is_injected=True)
        elif role not in _IDLE_ROLES:
            text = "a message is of a role that is not known and gave no event"
            self.notes.count("unknown-role", text, record.line, lossy=False)

    def _say(
        self, record: Record, kind: str, content: object, *, is_injected: bool = False
    ) -> None:
        """Write what a person or an extension said, one event for a message."""
        texts = [content] if isinstance(content, str) else list(_texts(content))
        if not isinstance(content, str) and not is_list(content):
            text = "a message has no readable content and was skipped"
            self.notes.count("message-without-content", text, record.line, lossy=True)
        if not any(texts):
            return
        data: dict[str, JsonValue] = {"content": "\n".join(texts)}
        if is_injected:
            data["channel"] = _INJECTED
        self.writer.add(kind, data, self._rest(record))

    def _answer(self, record: Record, message: Mapping[str, Any]) -> None:
        rest = self._rest(record)
        for item in list_of(message.get("content")):
            block = mapping_of(item)
            if block is None:
                text = "a content block is no object and was skipped"
                self.notes.count("content-not-an-object", text, record.line, lossy=True)
                continue
            self._block(record, block, rest)
        self._usage(record, message, rest)
        stop = text_of(message.get("stopReason"))
        if stop in _FAILED_STOPS:
            data: dict[str, JsonValue] = {"message": text_of(message.get("errorMessage")) or ""}
            data["errorType"] = stop
            self.writer.add("session.error", data, rest)

    def _block(
        self, record: Record, block: Mapping[str, Any], rest: Mapping[str, JsonValue]
    ) -> None:
        kind = block.get("type")
        if kind == "text":
            self._piece(record, events.ASSISTANT_MESSAGE, block.get("text"), rest)
        elif kind == "thinking":
            self._piece(record, events.ASSISTANT_REASONING, block.get("thinking"), rest)
        elif kind == "toolCall":
            self._call(record, block, rest)
        else:
            text = "a content block is of a type that is not known and gave no event"
            self.notes.count("unknown-block", text, record.line, lossy=False)

    def _piece(
        self, record: Record, kind: str, text: object, rest: Mapping[str, JsonValue]
    ) -> None:
        if isinstance(text, str):
            if text:
                self.writer.add(kind, {"content": text}, rest)
            return
        message = "a text block holds no text and was skipped"
        self.notes.count("content-not-text", message, record.line, lossy=True)

    def _call(
        self, record: Record, block: Mapping[str, Any], rest: Mapping[str, JsonValue]
    ) -> None:
        data = _identity(block.get("id"), block.get("name"))
        if not data:
            text = "a tool call has no id and no name and was skipped"
            self.notes.count("call-without-id-and-name", text, record.line, lossy=True)
            return
        if "arguments" in block:
            data["input"] = block["arguments"]
        call_id = text_of(block.get("id"))
        if call_id is not None:
            self.known.opened_in[call_id] = self.writer
        self.writer.add(events.TOOL_START, data, rest)

    def _result(self, record: Record, message: Mapping[str, Any]) -> None:
        data = _identity(message.get("toolCallId"), message.get("toolName"))
        if not data:
            text = "a tool result has no id and no name and was skipped"
            self.notes.count("result-without-id-and-name", text, record.line, lossy=True)
            return
        is_error = message.get("isError")
        if isinstance(is_error, bool):
            data["success"] = not is_error
        if "content" in message:
            data["output"] = message["content"]
        # A call id counts within one source: a branched session may answer its parent's call.
        writer = self.known.opened_in.get(text_of(message.get("toolCallId")) or "", self.writer)
        writer.add(events.TOOL_COMPLETE, data, self._rest(record))

    def _usage(
        self, record: Record, message: Mapping[str, Any], rest: Mapping[str, JsonValue]
    ) -> None:
        """Report a request; one that was stopped before anything was counted stays unknown."""
        fields = mapping_of(message.get("usage")) or {}
        counts: dict[str, JsonValue] = {}
        for key, name in _USAGE_FIELDS:
            count = self.notes.whole(fields.get(key), record.line)
            if count is not None:
                counts[name] = count
        if not any(counts.values()):
            text = "an answer counts no tokens and is no request of zero tokens"
            self.notes.count("answer-without-tokens", text, record.line, lossy=False)
            return
        data: dict[str, JsonValue] = {"requestId": self._request_id(record)}
        for key in ("model", "provider"):
            text_found = text_of(message.get(key))
            if text_found is not None:
                data[key] = text_found
        data["purpose"] = "agent"
        data["usage"] = {**counts, "inputTokensIncludeCache": False}
        self.writer.add(events.USAGE_REPORT, data, rest)

    def _request_id(self, record: Record) -> str:
        """Name a request after its row; a provider's own id may come again."""
        request_id = text_of(record.value.get("id"))
        if request_id is None or request_id in self.known.requests:
            request_id = f"{self.writer.path}:{record.line}"
        self.known.requests.add(request_id)
        return request_id


def _identity_of(row: Mapping[str, Any]) -> bytes | None:
    """Return what copies of a row have in common; None when nothing tells.

    A message with a time of its own is the same in a session and in the output of JSON mode. The
    row's own id does not count, since old sessions were given theirs later.
    """
    message = mapping_of(row.get("message")) or {}
    if message.get("timestamp") is not None:
        return _json.sorted_text(message)
    if row.get("timestamp") is None:
        return None
    ignored = {"parentId"} if row.get("type") == "session" else {"id", "parentId"}
    return _json.sorted_text({key: row[key] for key in row if key not in ignored})


def _identity(call_id: object, name: object) -> dict[str, JsonValue]:
    named = (("toolCallId", text_of(call_id)), ("toolName", text_of(name)))
    return {key: text for key, text in named if text is not None}


def _texts(content: object) -> list[str]:
    blocks = (item for item in list_of(content) if is_mapping(item))
    return [text for block in blocks if isinstance(text := block.get("text"), str)]
