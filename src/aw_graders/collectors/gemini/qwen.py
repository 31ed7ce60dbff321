"""Qwen Code session files: a row per message, in Gemini's parts."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.gemini.parts import completion_of, responses_of
from aw_graders.collectors.gemini.tokens import API_KEYS, largest
from aw_graders.collectors.normalise import EventWriter, is_mapping, list_of, mapping_of, text_of
from aw_graders.collectors.records import Record
from aw_graders.session import events

_ENGINE: Final = "qwen-code"
_INJECTED: Final = "injected"
_MESSAGES: Final = frozenset({"user", "assistant", "tool_result"})
# A branch copies rows with these three rewritten.
_REWRITTEN: Final = frozenset({"sessionId", "parentUuid", "forkedFrom"})
# What a person wrote although the row has a subtype.
_BY_PERSON: Final = frozenset({"mid_turn_user_message"})


def is_row(row: Mapping[str, Any]) -> bool:
    """Tell whether an object is a row of a Qwen Code session."""
    kind = row.get("type")
    if not isinstance(row.get("uuid"), str) or not isinstance(row.get("sessionId"), str):
        return False
    if kind == "system":
        return is_mapping(row.get("systemPayload"))
    message = row.get("message")
    has_parts = is_mapping(message) and "parts" in message
    return isinstance(kind, str) and kind in _MESSAGES and (has_parts or "toolCallResult" in row)


class QwenPool:
    """What was already read, over all files."""

    def __init__(self) -> None:
        """Begin without rows."""
        self.rows: set[bytes] = set()
        self.requests: set[str] = set()
        self.sessions: set[str] = set()


class QwenWriter:
    """Writes the events of the Qwen rows of one file."""

    def __init__(self, writer: EventWriter, pool: QwenPool) -> None:
        """Begin with a writer of the file's events."""
        self.writer = writer
        self.notes = writer.notes
        self.pool = pool

    def row(self, record: Record) -> None:
        """Write the events of one row; a copy of an earlier row gives none."""
        row = record.value
        if row.get("type") == "system":
            return
        identity = _json.sorted_text({k: v for k, v in row.items() if k not in _REWRITTEN})
        if identity in self.pool.rows:
            message = "a row stands in the recording twice and counts once"
            self.notes.count("copied-row", message, record.line, lossy=False)
            return
        self.pool.rows.add(identity)
        rest = self._rest(record)
        self._announce(row, rest)
        if row.get("type") == "tool_result":
            self._results(record, rest)
        else:
            self._message(record, rest)

    def _rest(self, record: Record) -> dict[str, JsonValue]:
        rest: dict[str, JsonValue] = {}
        time = self.writer.timestamp(record.value.get("timestamp"), record.line)
        if time is not None:
            rest["timestamp"] = time
        agent_id = text_of(record.value.get("agentId"))
        if agent_id is not None:
            rest["agentId"] = agent_id
        return rest

    def _announce(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        session_id = text_of(row.get("sessionId"))
        if session_id is None or session_id in self.pool.sessions or "agentId" in rest:
            return
        self.pool.sessions.add(session_id)
        data: dict[str, JsonValue] = {"sourceEngine": _ENGINE, "sessionId": session_id}
        for key in ("cwd", "model"):
            text = text_of(row.get(key))
            if text is not None:
                data[key] = text
        self.writer.add(events.SESSION_START, data, rest)

    def _message(self, record: Record, rest: Mapping[str, JsonValue]) -> None:
        row = record.value
        is_user = row.get("type") == "user"
        message = mapping_of(row.get("message")) or {}
        for item in list_of(message.get("parts")):
            part = mapping_of(item)
            if part is None:
                note = "a part of a message is no object and was skipped"
                self.notes.count("part-not-an-object", note, record.line, lossy=True)
                continue
            call = mapping_of(part.get("functionCall"))
            text = text_of(part.get("text"))
            if call is not None:
                self._call(record, call, rest)
            elif text is not None:
                self._say(row, text, _kind(part, is_user=is_user), rest)
        if not is_user:
            self._usage(record, rest)

    def _say(
        self, row: Mapping[str, Any], text: str, kind: str, rest: Mapping[str, JsonValue]
    ) -> None:
        data: dict[str, JsonValue] = {"content": text}
        subtype = text_of(row.get("subtype"))
        if kind == events.USER_MESSAGE and subtype is not None and subtype not in _BY_PERSON:
            data["channel"] = _INJECTED
        self.writer.add(kind, data, rest)

    def _call(self, record: Record, call: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        data = _identity(call)
        if not data:
            message = "a tool call has no id and no name and was skipped"
            self.notes.count("call-without-id-and-name", message, record.line, lossy=True)
            return
        if "args" in call:
            data["input"] = call["args"]
        self.writer.add(events.TOOL_START, data, rest)

    def _usage(self, record: Record, rest: Mapping[str, JsonValue]) -> None:
        row = record.value
        usage = mapping_of(row.get("usageMetadata"))
        counts = largest([usage or {}], API_KEYS, self.notes, record.line)
        if counts.is_empty():
            return
        request_id = text_of(row.get("uuid")) or ""
        if not request_id or request_id in self.pool.requests:
            request_id = f"{self.writer.path}:{record.line}"
        self.pool.requests.add(request_id)
        data: dict[str, JsonValue] = {"requestId": request_id}
        model = text_of(row.get("model"))
        if model is not None:
            data["model"] = model
        is_nested = "agentId" in rest or row.get("isSidechain") is True
        data["purpose"] = "subagent" if is_nested else "agent"
        data["usage"] = counts.usage(self.notes, record.line)
        self.writer.add(events.USAGE_REPORT, data, rest)

    def _results(self, record: Record, rest: Mapping[str, JsonValue]) -> None:
        ended = mapping_of(record.value.get("toolCallResult")) or {}
        message = mapping_of(record.value.get("message")) or {}
        responses = responses_of(message.get("parts"))
        if not responses and text_of(ended.get("callId")) is not None:
            responses = [{"id": ended["callId"]}]
        for response in responses:
            data = _identity(response)
            if not data:
                note = "a tool result has no id and no name and was skipped"
                self.notes.count("result-without-id-and-name", note, record.line, lossy=True)
                continue
            is_of_call = len(responses) == 1 or ended.get("callId") == response.get("id")
            outcome = completion_of(ended.get("status") if is_of_call else None, response)
            if is_of_call and ended.get("error") is not None:
                outcome["success"] = False
            self.writer.add(events.TOOL_COMPLETE, {**data, **outcome}, rest)


def _kind(part: Mapping[str, Any], *, is_user: bool) -> str:
    if is_user:
        return events.USER_MESSAGE
    is_thought = part.get("thought") is True
    return events.ASSISTANT_REASONING if is_thought else events.ASSISTANT_MESSAGE


def _identity(fields: Mapping[str, Any]) -> dict[str, JsonValue]:
    named = (("toolCallId", text_of(fields.get("id"))), ("toolName", text_of(fields.get("name"))))
    return {key: text for key, text in named if text is not None}
