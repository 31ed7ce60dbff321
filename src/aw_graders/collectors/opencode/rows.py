"""Sessions, messages and parts of OpenCode, merged from every file that holds them."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from aw_graders import _json
from aw_graders.collectors.normalise import (
    Notes,
    is_list,
    is_mapping,
    list_of,
    mapping_of,
    text_of,
)
from aw_graders.collectors.records import Record

_STREAM_KINDS: Final = frozenset({"tool_use", "step_start", "step_finish", "text", "reasoning"})
_FINISHED: Final = frozenset({"completed", "error"})
# What a copy of a message in a forked session has of its own.
_OWN_KEYS: Final = frozenset({"id", "sessionID", "messageID", "parentID"})
STEP_FINISH: Final = "step-finish"


def is_stream_row(row: Mapping[str, Any]) -> bool:
    """Tell whether an object is a row of the stream."""
    kind = row.get("type")
    if not isinstance(row.get("sessionID"), str) or not isinstance(kind, str):
        return False
    if kind == "error":
        return "error" in row and "timestamp" in row
    part = row.get("part")
    return kind in _STREAM_KINDS and is_mapping(part) and "type" in part


def is_export(row: Mapping[str, Any]) -> bool:
    """Tell whether an object is an exported session."""
    info = row.get("info")
    return is_mapping(info) and isinstance(info.get("id"), str) and is_list(row.get("messages"))


class Session:
    """What is known of a session."""

    def __init__(self, session_id: str | None) -> None:
        """Begin a session of which only its id is known."""
        self.session_id = session_id
        self.info: Mapping[str, Any] = {}
        # The time of a stream's first row; an export says when its session was created.
        self.begun: object = None

    @property
    def agent_id(self) -> str | None:
        """The id of the sub-agent whose session this is: one that has a parent."""
        return None if text_of(self.info.get("parentID")) is None else self.session_id


class Message:
    """What is known of a message; a stream does not tell."""

    def __init__(self, session: Session, line: int, info: Mapping[str, Any]) -> None:
        """Begin with the first copy."""
        self.session = session
        self.line = line
        self.info = info
        self.has_steps = False

    @property
    def is_user(self) -> bool:
        """Whether a person wrote it."""
        return self.info.get("role") == "user"

    def time(self, key: str) -> object:
        """Return a time of the message: `created` or `completed`."""
        return (mapping_of(self.info.get("time")) or {}).get(key)


class Part:
    """A part of a message; a later copy of it may say more."""

    def __init__(
        self, message: Message, line: int, value: Mapping[str, Any], time: object, key: str
    ) -> None:
        """Begin with the first copy."""
        self.message = message
        self.line = line
        self.value = value
        self.time = time
        self.key = key

    def merge(self, value: Mapping[str, Any]) -> None:
        """Take a later copy, unless it knows less."""
        if not _is_finished(self.value) or _is_finished(value):
            self.value = value


class Failure:
    """An error that the stream told."""

    def __init__(self, session: Session, line: int, error: object, time: object) -> None:
        """Take what the row says."""
        self.session = session
        self.line = line
        self.error = error
        self.time = time


Item: TypeAlias = Session | Message | Part | Failure


class Pool:
    """Every session, message and part, over all files."""

    def __init__(self) -> None:
        """Begin without any."""
        self.sessions: dict[str, Session] = {}
        self.messages: dict[tuple[str, str], Message] = {}
        self.parts: dict[tuple[str, str], Part] = {}
        self.spawned_by: dict[str, str] = {}
        self._contents: dict[bytes, str] = {}

    def is_fork(self, session_id: str, message: Mapping[str, Any]) -> bool:
        """Tell whether another session holds the same message, as the one it was forked from.

        A fork gives messages and parts new ids and keeps their times and contents.
        """
        info = mapping_of(message.get("info")) or {}
        if (mapping_of(info.get("time")) or {}).get("created") is None:
            return False
        parts = [mapping_of(part) or {} for part in list_of(message.get("parts"))]
        content = _json.sorted_text([_without_ids(item) for item in (info, *parts)])
        return self._contents.setdefault(content, session_id) != session_id


class Reader:
    """Reads the rows of one file into the pool; keeps what was first met in it."""

    def __init__(self, notes: Notes, pool: Pool) -> None:
        """Begin a file."""
        self.notes = notes
        self.pool = pool
        self.own: list[Item] = []
        self._met: set[int] = set()

    def row(self, record: Record) -> None:
        """Read one object."""
        if is_stream_row(record.value):
            self._stream(record)
        elif is_export(record.value):
            self._export(record)
        else:
            message = "a row is neither a part nor a session and was skipped"
            self.notes.count("unknown-row", message, record.line, lossy=True)

    def _session(self, session_id: str | None, info: Mapping[str, Any]) -> Session:
        key = session_id or ""
        session = self.pool.sessions.get(key)
        if session is None:
            session = Session(session_id)
            self.pool.sessions[key] = session
            self.own.append(session)
        session.info = session.info or info
        return session

    def _stream(self, record: Record) -> None:
        row = record.value
        session = self._session(text_of(row.get("sessionID")), {})
        if session.begun is None:
            session.begun = row.get("timestamp")
        if row["type"] == "error":
            failure = Failure(session, record.line, row["error"], row.get("timestamp"))
            self.own.append(failure)
            return
        part = mapping_of(row.get("part")) or {}
        message = self._message(session, text_of(part.get("messageID")), record.line, {})
        self._part(message, record.line, part, row.get("timestamp"))

    def _export(self, record: Record) -> None:
        info = mapping_of(record.value.get("info")) or {}
        session_id = text_of(info.get("id")) or ""
        session = self._session(session_id, info)
        for item in list_of(record.value.get("messages")):
            fields = mapping_of(item) or {}
            about = mapping_of(fields.get("info"))
            if about is None or not is_list(fields.get("parts")):
                text = "a message has no info or no parts and was skipped"
                self.notes.count("message-without-parts", text, record.line, lossy=True)
            elif self.pool.is_fork(session_id, fields):
                text = "a message stands in the session that this one was forked from"
                self.notes.count("copied-message", text, record.line, lossy=False)
            else:
                self._exported(session, record.line, about, fields["parts"])

    def _exported(
        self, session: Session, line: int, info: Mapping[str, Any], parts: list[Any]
    ) -> None:
        message = self._message(session, text_of(info.get("id")), line, info)
        for item in parts:
            part = mapping_of(item)
            if part is None:
                text = "a part of a message is no object and was skipped"
                self.notes.count("part-not-an-object", text, line, lossy=True)
            else:
                self._part(message, line, part, None)
        # After its parts, a message says what it used as a whole.
        if id(message) not in self._met:
            self._met.add(id(message))
            self.own.append(message)

    def _message(
        self, session: Session, message_id: str | None, line: int, info: Mapping[str, Any]
    ) -> Message:
        if message_id is None:
            return Message(session, line, info)
        key = (session.session_id or "", message_id)
        known = self.pool.messages.get(key)
        if known is None:
            known = Message(session, line, info)
            self.pool.messages[key] = known
        elif info:
            if known.info:
                self._met.add(id(known))
            known.info = {**known.info, **info}
        return known

    def _part(self, message: Message, line: int, value: Mapping[str, Any], time: object) -> None:
        if value.get("type") == STEP_FINISH:
            message.has_steps = True
        session_id = message.session.session_id or ""
        part_id = text_of(value.get("id"))
        name = part_id or f"{self.notes.name}:{line}:{len(self.own)}"
        known = None if part_id is None else self.pool.parts.get((session_id, part_id))
        if known is not None:
            text = "a part stands in the recording twice and counts once"
            self.notes.count("copied-part", text, line, lossy=False)
            known.merge(value)
            self._link(value, known)
            return
        part = Part(message, line, value, time, f"{session_id}/{name}")
        if part_id is not None:
            self.pool.parts[session_id, part_id] = part
        self._link(value, part)
        self.own.append(part)

    def _link(self, value: Mapping[str, Any], part: Part) -> None:
        """Remember which call spawned the session that its result names."""
        state = mapping_of(value.get("state")) or {}
        child = text_of((mapping_of(state.get("metadata")) or {}).get("sessionId"))
        call_id = text_of(value.get("callID"))
        if child is None or call_id is None or child == part.message.session.session_id:
            return
        self.pool.spawned_by.setdefault(child, call_id)


def _is_finished(part: Mapping[str, Any]) -> bool:
    state = mapping_of(part.get("state")) or {}
    status = state.get("status")
    return isinstance(status, str) and status in _FINISHED


def _without_ids(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in _OWN_KEYS}
