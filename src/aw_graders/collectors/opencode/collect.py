"""OpenCode parts to unified-session events, file by file, in file order."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aw_graders._json import JsonValue
from aw_graders.collectors.base import Collected, CollectionNote, SourceFile
from aw_graders.collectors.normalise import EventWriter, Notes, mapping_of, metric, text_of
from aw_graders.collectors.opencode.rows import (
    STEP_FINISH,
    Failure,
    Item,
    Message,
    Part,
    Pool,
    Reader,
    Session,
)
from aw_graders.collectors.opencode.tokens import usage_of
from aw_graders.collectors.records import read_records
from aw_graders.session import Event, events

_ENGINE: Final = "opencode"
_INJECTED: Final = "injected"
_COMPLETED: Final = "completed"
_ERROR: Final = "error"
# Parts that hold nothing for a session. Any other type that is not converted is noted.
_IDLE_PARTS: Final = frozenset(
    {"agent", "compaction", "file", "patch", "retry", "snapshot", "step-start", "subtask"}
)


def collect(files: Sequence[SourceFile]) -> Collected:
    """Convert OpenCode recordings, all files as one set of evidence.

    Returns: the events of each file in file order; a part that several files hold gives events
        once, in the first of them.
    Raises: nothing.
    Cost: linear in the content.
    """
    pool = Pool()
    readers: list[Reader] = []
    notes: list[CollectionNote] = []
    for file in files:
        read = read_records(file)
        reader = Reader(Notes(file.name), pool)
        for record in read.records:
            reader.row(record)
        readers.append(reader)
        notes.extend(read.notes)
    found: list[Event] = []
    for reader in readers:
        converter = _Converter(reader.notes, pool)
        for item in reader.own:
            converter.item(item)
        found.extend(converter.writer.events)
        notes.extend(reader.notes.all())
    return Collected(tuple(found), tuple(notes))


class _Converter:
    """Writes the events of one file."""

    def __init__(self, notes: Notes, pool: Pool) -> None:
        self.notes = notes
        self.pool = pool
        self.writer = EventWriter(notes.name, notes)

    def item(self, item: Item) -> None:
        """Write the events of one item."""
        if isinstance(item, Session):
            self._start(item)
        elif isinstance(item, Message):
            self._message(item)
        elif isinstance(item, Failure):
            self._error(item.session, item.error, item.time, item.line)
        else:
            self._part(item)

    def _rest(self, session: Session, time: object, line: int) -> dict[str, JsonValue]:
        rest: dict[str, JsonValue] = {}
        timestamp = self.writer.timestamp(time, line)
        if timestamp is not None:
            rest["timestamp"] = timestamp
        if session.agent_id is not None:
            rest["agentId"] = session.agent_id
        return rest

    def _start(self, session: Session) -> None:
        data: dict[str, JsonValue] = {"sourceEngine": _ENGINE}
        if session.session_id is not None:
            data["sessionId"] = session.session_id
        cwd = text_of(session.info.get("directory"))
        if cwd is not None:
            data["cwd"] = cwd
        time = (mapping_of(session.info.get("time")) or {}).get("created") or session.begun
        rest = self._rest(session, time, 1)
        call_id = self.pool.spawned_by.get(session.agent_id or "")
        if session.agent_id is not None and call_id is not None:
            link: dict[str, JsonValue] = {"invocationId": session.agent_id, "toolCallId": call_id}
            self.writer.add(events.SUBAGENT_STARTED, link, rest)
        self.writer.add(events.SESSION_START, data, rest)

    def _message(self, message: Message) -> None:
        """Write what a message says as a whole: its counts when no step has any, its error."""
        if message.is_user:
            return
        time = message.time("completed") or message.time("created")
        if not message.has_steps:
            key = f"{message.session.session_id}/{text_of(message.info.get('id'))}"
            self._usage(message, message.info.get("tokens"), key, time, message.line)
        error = message.info.get("error")
        if error is not None:
            self._error(message.session, error, time, message.line)

    def _error(self, session: Session, error: object, time: object, line: int) -> None:
        fields = mapping_of(error) or {}
        about = mapping_of(fields.get("data")) or fields
        text = error if isinstance(error, str) else text_of(about.get("message"))
        data: dict[str, JsonValue] = {"message": text or ""}
        name = text_of(fields.get("name"))
        if name is not None:
            data["errorType"] = name
        self.writer.add("session.error", data, self._rest(session, time, line))

    def _part(self, part: Part) -> None:
        kind = text_of(part.value.get("type")) or ""
        if kind == "tool":
            self._tool(part)
        elif kind == STEP_FINISH:
            time = part.time or part.message.time("completed") or part.message.time("created")
            self._usage(part.message, part.value.get("tokens"), part.key, time, part.line)
        elif kind == "text":
            is_user = part.message.is_user
            self._say(part, events.USER_MESSAGE if is_user else events.ASSISTANT_MESSAGE)
        elif kind == "reasoning":
            self._say(part, events.ASSISTANT_REASONING)
        elif kind not in _IDLE_PARTS:
            message = "a part is of a type that is not known and gave no event"
            self.notes.count("unknown-part", message, part.line, lossy=False)

    def _say(self, part: Part, kind: str) -> None:
        text = part.value.get("text")
        if not isinstance(text, str):
            message = "a text part holds no text and was skipped"
            self.notes.count("content-not-text", message, part.line, lossy=True)
            return
        if not text:
            return
        data: dict[str, JsonValue] = {"content": text}
        message_id = text_of(part.value.get("messageID"))
        if message_id is not None:
            data["messageId"] = message_id
        if part.value.get("synthetic") is True and kind == events.USER_MESSAGE:
            data["channel"] = _INJECTED
        times = mapping_of(part.value.get("time")) or {}
        time = part.time or times.get("start") or part.message.time("created")
        self.writer.add(kind, data, self._rest(part.message.session, time, part.line))

    def _usage(
        self, message: Message, tokens: object, request_id: str, time: object, line: int
    ) -> None:
        usage = usage_of(tokens, self.notes, line)
        if usage is None:
            return
        data: dict[str, JsonValue] = {"requestId": request_id}
        for key, name in (("modelID", "model"), ("providerID", "provider")):
            text = text_of(message.info.get(key))
            if text is not None:
                data[name] = text
        data["purpose"] = "agent" if message.session.agent_id is None else "subagent"
        data["usage"] = usage
        self.writer.add(events.USAGE_REPORT, data, self._rest(message.session, time, line))

    def _tool(self, part: Part) -> None:
        identity = _identity(part.value)
        if not identity:
            message = "a tool call has no id and no name and was skipped"
            self.notes.count("call-without-id-and-name", message, part.line, lossy=True)
            return
        state = mapping_of(part.value.get("state")) or {}
        times = mapping_of(state.get("time")) or {}
        began = times.get("start") or part.time or part.message.time("created")
        start = {**identity, "input": state["input"]} if "input" in state else identity
        session = part.message.session
        self.writer.add(events.TOOL_START, start, self._rest(session, began, part.line))
        if text_of(state.get("status")) not in {_COMPLETED, _ERROR}:
            return
        ended = times.get("end") or part.time or began
        data = {**identity, **_outcome(state), **_duration(times)}
        self.writer.add(events.TOOL_COMPLETE, data, self._rest(session, ended, part.line))


def _identity(part: Mapping[str, Any]) -> dict[str, JsonValue]:
    named = (("toolCallId", text_of(part.get("callID"))), ("toolName", text_of(part.get("tool"))))
    return {key: text for key, text in named if text is not None}


def _outcome(state: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Say how a call ended: by its status, and a command by its exit code as well."""
    status = state["status"]
    data: dict[str, JsonValue] = {"success": status == _COMPLETED, "status": status}
    exit_code = (mapping_of(state.get("metadata")) or {}).get("exit")
    if isinstance(exit_code, int) and not isinstance(exit_code, bool):
        data["exitCode"] = exit_code
        data["success"] = status == _COMPLETED and exit_code == 0
    if "output" in state:
        data["output"] = state["output"]
    if status == _ERROR and state.get("error") is not None:
        data["error"] = state["error"]
    return data


def _duration(times: Mapping[str, Any]) -> dict[str, JsonValue]:
    began, ended = metric(times.get("start")), metric(times.get("end"))
    if began is None or ended is None or ended < began:
        return {}
    return {"durationMs": ended - began}
