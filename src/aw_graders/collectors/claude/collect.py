"""Claude rows to unified-session events, file by file, in file order."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.base import Collected, CollectionNote, SourceFile
from aw_graders.collectors.claude.injected import INJECTED, is_injected
from aw_graders.collectors.claude.rows import (
    TOOL_USES,
    Row,
    blocks_of,
    is_result,
    rows_of,
)
from aw_graders.collectors.claude.survey import Source, Survey, counts_of, request_key
from aw_graders.collectors.normalise import EventWriter, Notes, list_of, mapping_of, metric, text_of
from aw_graders.collectors.records import read_records
from aw_graders.session import Event, events

# The id, the name and the arguments of a call.
_Call: TypeAlias = tuple[str, str, bytes]
_ERROR_SUBTYPES: Final = frozenset({"api_error"})
# Rows that hold nothing for a session. Any other type that is not converted is noted.
_IDLE_ROWS: Final = frozenset(
    {
        "agent-color", "agent-name", "ai-title", "attachment", "auth_status", "content-replacement",
        "control_request", "control_response", "custom-title", "file-history-snapshot", "keep_alive",
        "last-prompt", "mode", "permission-mode", "pr-link", "progress", "prompt_suggestion",
        "queue-operation", "rate_limit_event", "stream_event", "summary", "tag", "tool_progress",
        "tool_use_summary", "worktree-state",
    }
)  # fmt: skip
_IDLE_BLOCKS: Final = frozenset(
    {
        "container_upload",
        "document",
        "image",
        "redacted_thinking",
        "search_result",
        "tool_reference",
    }
)


def collect(files: Sequence[SourceFile]) -> Collected:
    """Convert Claude transcripts or streams, all files as one set of evidence.

    Returns: the events of each file in file order. Copies of rows in another file give no second
        event, and a model request is reported once, where its first row stands.
    Raises: nothing.
    Cost: linear in the content.
    """
    sources: list[Source] = []
    notes: list[CollectionNote] = []
    writers: list[EventWriter] = []
    for file in files:
        read = read_records(file)
        notes.extend(read.notes)
        sources.append(Source(file.name, rows_of(read.records, file.name), Notes(file.name)))
    known = _Known(Survey(sources))
    for source in sources:
        converter = _Converter(source, known)
        for row in source.rows:
            converter.row(row)
        writers.append(converter.writer)
    found: list[Event] = [event for writer in writers for event in writer.events]
    for source in sources:
        notes.extend(source.notes.all())
    return Collected(tuple(found), tuple(notes))


class _Known:
    """What was already written, over all files."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.rows: set[tuple[str, bytes]] = set()
        self.blocks: set[tuple[str, str, str]] = set()
        self.requests: set[str] = set()
        # Calls by what they say, with each message that held them and each agent that made them.
        self.calls: set[tuple[_Call, str, str | None]] = set()
        self.open_calls: dict[str, int] = {}
        self.opened_in: dict[str, EventWriter] = {}
        self.linked: set[str] = set()


class _Converter:
    """Writes the events of one file."""

    def __init__(self, source: Source, known: _Known) -> None:
        self.source = source
        self.notes = source.notes
        self.known = known
        self.writer = EventWriter(source.name, source.notes)
        self.unnamed: dict[str | None, deque[str]] = {}
        self.time: JsonValue = None
        self._of_kind: Final[dict[str, Callable[[Row], None]]] = {
            "user": self._message,
            "assistant": self._message,
            "system": self._system,
            "result": self._result,
            "tool_use": self._bare_block,
            "tool_result": self._bare_block,
        }

    def row(self, row: Row) -> None:
        """Write the events of one row; a copy of an earlier row gives none."""
        convert = self._of_kind.get(row.kind)
        if convert is None:
            if row.kind not in _IDLE_ROWS:
                message = "a row is of a type that is not known and gave no event"
                self.notes.count("unknown-row", message, row.line, lossy=False)
            return
        identity = row.identity()
        if identity is not None:
            if identity in self.known.rows:
                return
            self.known.rows.add(identity)
        self.time = self.writer.timestamp(row.value.get("timestamp"), row.line)
        convert(row)

    def _write(
        self,
        row: Row,
        kind: str,
        data: Mapping[str, JsonValue],
        writer: EventWriter | None = None,
    ) -> None:
        """Write an event with the row's time and origin, among this file's when not told where."""
        rest: dict[str, JsonValue] = {}
        if self.time is not None:
            rest["timestamp"] = self.time
        if row.agent_id is not None:
            rest["agentId"] = row.agent_id
        if row.parent_tool_id is not None:
            rest["parentToolUseId"] = row.parent_tool_id
        (writer or self.writer).add(kind, data, rest)

    def _link(self, agent_id: str | None) -> None:
        """Say once which call spawned a sub-agent, before the first event of it."""
        if agent_id is None or agent_id in self.known.linked:
            return
        call_id = self.known.survey.spawned_by.get(agent_id)
        if call_id is None:
            return
        self.known.linked.add(agent_id)
        rest: dict[str, JsonValue] = {"agentId": agent_id}
        if self.time is not None:
            rest["timestamp"] = self.time
        data = {"invocationId": agent_id, "toolCallId": call_id}
        self.writer.add(events.SUBAGENT_STARTED, data, rest)

    def _message(self, row: Row) -> None:
        message = row.message
        if message is None:
            self._unusable(row, "row-without-message", "a row has no message object")
            return
        content = message.get("content")
        if not isinstance(content, str | list):
            self._unusable(row, "message-without-content", "a message has no readable content")
        self._link(row.agent_id)
        if row.is_error:
            self._api_error(row)
            return
        for block in blocks_of(row):
            fields = mapping_of(block)
            if fields is not None:
                self._block(row, fields)
            else:
                self._unusable(row, "content-not-an-object", "a content block is no object")
        if row.kind == "assistant":
            self._usage(row, message)

    def _unusable(self, row: Row, code: str, message: str) -> None:
        self.notes.count(code, f"{message} and was skipped", row.line, lossy=True)

    def _bare_block(self, row: Row) -> None:
        """Older transcripts have calls and results as rows of their own."""
        self._block(row, row.value)

    def _block(self, row: Row, block: Mapping[str, Any]) -> None:
        kind = text_of(block.get("type")) or ""
        if kind in TOOL_USES:
            self._start(row, block)
        elif is_result(kind):
            self._complete(row, block, kind)
        elif kind == "text":
            user = row.kind == "user"
            self._say(
                row,
                events.USER_MESSAGE if user else events.ASSISTANT_MESSAGE,
                block.get("text"),
            )
        elif kind == "thinking":
            self._say(row, events.ASSISTANT_REASONING, block.get("thinking"))
        elif kind not in _IDLE_BLOCKS:
            message = "a content block is of a type that is not known and gave no event"
            self.notes.count("unknown-block", message, row.line, lossy=False)

    def _say(self, row: Row, kind: str, text: object) -> None:
        if not isinstance(text, str):
            self._unusable(row, "content-not-text", "a text block holds no text")
            return
        data: dict[str, JsonValue] = {"content": text}
        message_id = text_of((row.message or {}).get("id"))
        if message_id is not None:
            block = (message_id, kind, text)
            if block in self.known.blocks:
                return
            self.known.blocks.add(block)
            data["messageId"] = message_id
        if kind == events.USER_MESSAGE and is_injected(row, text):
            data["channel"] = INJECTED
        self._write(row, kind, data)

    def _start(self, row: Row, block: Mapping[str, Any]) -> None:
        call_id = text_of(block.get("id"))
        name = text_of(block.get("name"))
        if call_id is None and name is None:
            self._unusable(row, "call-without-id-and-name", "a tool call has no id and no name")
            return
        data: dict[str, JsonValue] = {}
        if call_id is not None:
            if self._is_seen(row, (call_id, name or "", _json.canonical(block.get("input")))):
                return
            self.known.open_calls[call_id] = self.known.open_calls.get(call_id, 0) + 1
            self.known.opened_in[call_id] = self.writer
            data["toolCallId"] = call_id
        elif name is not None:
            self.unnamed.setdefault(row.agent_id, deque()).append(name)
        if name is not None:
            data["toolName"] = name
        if "input" in block:
            data["input"] = block["input"]
        server = text_of(block.get("server_name"))
        if server is not None:
            data["mcpServerName"] = server
        self._write(row, events.TOOL_START, data)

    def _is_seen(self, row: Row, call: _Call) -> bool:
        """Tell whether a block shows a call that was already written.

        It does in the same message, and in another message of the same agent, unless the call was
        answered before the block and is answered again after it.
        """
        calls = self.known.calls
        message_id = text_of((row.message or {}).get("id"))
        in_message = (call, "message", message_id)
        of_agent = (call, "agent", row.agent_id or row.parent_tool_id)
        seen = in_message in calls
        if not seen and of_agent in calls:
            again = self.known.survey.last_answers.get((self.source.name, call[0]), 0) > row.line
            seen = message_id is None or not again or self.known.open_calls.get(call[0], 0) > 0
        calls.update((in_message, of_agent))
        return seen

    def _complete(self, row: Row, block: Mapping[str, Any], kind: str) -> None:
        call_id = text_of(block.get("tool_use_id"))
        data: dict[str, JsonValue] = {}
        name = text_of(block.get("name"))
        # A call id counts within one source, so an answer goes where the call was written.
        writer = None if call_id is None else self.known.opened_in.get(call_id)
        if call_id is not None:
            open_calls = self.known.open_calls.get(call_id)
            if open_calls == 0:
                return
            if open_calls is None:
                message = "a tool result belongs to no recorded call; it was kept as its own call"
                self.notes.count("stray-tool-result", message, row.line, lossy=False)
            self.known.open_calls[call_id] = max(0, (open_calls or 0) - 1)
            data["toolCallId"] = call_id
        elif name is None:
            # Without an id the agent's oldest open call that has none either is the one answered.
            waiting = self.unnamed.get(row.agent_id)
            name = waiting.popleft() if waiting else None
        if name is not None:
            data["toolName"] = name
        data["success"] = not _failed(block, kind)
        if isinstance(block.get("is_error"), bool):
            data["isError"] = block["is_error"]
        for key in ("content", "output"):
            if key in block:
                data["output"] = block[key]
                break
        self._write(row, events.TOOL_COMPLETE, data, writer)
        self._link_unseen(call_id)

    def _link_unseen(self, call_id: str | None) -> None:
        """Link a sub-agent whose own rows are not among the files, at the result naming it."""
        survey = self.known.survey
        for agent_id in survey.agents_of(call_id):
            if agent_id not in survey.has_rows:
                self._link(agent_id)

    def _usage(self, row: Row, message: Mapping[str, Any]) -> None:
        if message.get("usage") is not None and mapping_of(message["usage"]) is None:
            self._unusable(row, "usage-not-an-object", "the usage of a message is no object")
        key = request_key(self.source.name, row)
        if key is None or key in self.known.requests:
            return
        self.known.requests.add(key)
        data: dict[str, JsonValue] = {"requestId": key}
        model = text_of(message.get("model"))
        if model is not None:
            data["model"] = model
        data["purpose"] = "subagent" if row.is_nested else "agent"
        counts = self.known.survey.usage[key]
        data["usage"] = {**counts, "inputTokensIncludeCache": False} if counts else None
        self._write(row, events.USAGE_REPORT, data)

    def _api_error(self, row: Row) -> None:
        texts = [
            text
            for block in blocks_of(row)
            if isinstance(text := (mapping_of(block) or {}).get("text"), str)
        ]
        data: dict[str, JsonValue] = {"message": "\n".join(texts)}
        kind = text_of(row.value.get("error"))
        if kind is not None:
            data["errorType"] = kind
        status = row.value.get("apiErrorStatus")
        if isinstance(status, int) and not isinstance(status, bool):
            data["statusCode"] = status
        self._write(row, "session.error", data)

    def _system(self, row: Row) -> None:
        subtype = row.value.get("subtype")
        if subtype == "init":
            data: dict[str, JsonValue] = {"sourceEngine": "claude"}
            for key, name in (("model", "model"), ("session_id", "sessionId"), ("cwd", "cwd")):
                text = text_of(row.value.get(key))
                if text is not None:
                    data[name] = text
            self._write(row, events.SESSION_INIT, data)
        elif subtype == "compact_boundary":
            content = row.value.get("content")
            message = content if isinstance(content, str) else "compact_boundary"
            self._write(row, "session.info", {"message": message, "status": "compact_boundary"})
        elif isinstance(subtype, str) and subtype in _ERROR_SUBTYPES:
            self._write(row, "session.error", {"errorType": subtype})

    def _result(self, row: Row) -> None:
        value = row.value
        data: dict[str, JsonValue] = {}
        session_id = text_of(value.get("session_id"))
        if session_id is not None:
            data["sessionId"] = session_id
        turns = self.notes.whole(value.get("num_turns"), row.line)
        if turns is not None:
            data["numTurns"] = turns
        for key, name in (("duration_ms", "durationMs"), ("total_cost_usd", "totalCostUsd")):
            number = metric(value.get(key))
            if number is not None:
                data[name] = number
        status = text_of(value.get("subtype"))
        if value.get("is_error") is True and status in {None, "success"}:
            status = "error"
        if status is not None:
            data["status"] = status
        for key, name in (("errors", "errors"), ("permission_denials", "permissionDenials")):
            if list_of(value.get(key)):
                data[name] = value[key]
        if mapping_of(value.get("usage")) is not None:
            counts = dict(counts_of(value["usage"], self.notes, row.line))
            data["usage"] = {**counts, "inputTokensIncludeCache": False}
        self._write(row, events.SESSION_RESULT, data)


def _failed(block: Mapping[str, Any], kind: str) -> bool:
    """Tell whether a result says that its call failed; the words of an output say nothing."""
    if block.get("is_error") is True:
        return True
    content = mapping_of(block.get("content")) or {}
    return content.get("type") == f"{kind}_error"
