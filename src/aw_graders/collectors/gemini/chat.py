"""Gemini CLI session files: one object with all messages, or a line per message.

Messages are merged by session and id over all files, since a session in lines repeats a message
whenever it learns more of it, and copies of a growing session repeat all that came before.
"""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders._json import JsonValue
from aw_graders.collectors.gemini.parts import (
    MESSAGE_KINDS,
    MODEL_KINDS,
    completion_of,
    is_finished,
    joined_text,
    responses_of,
    texts_of,
)
from aw_graders.collectors.gemini.tokens import SESSION_KEYS, largest
from aw_graders.collectors.normalise import (
    EventWriter,
    Notes,
    is_mapping,
    list_of,
    mapping_of,
    text_of,
)
from aw_graders.collectors.records import Record
from aw_graders.session import events

_SUBAGENT: Final = "subagent"
_ENGINE: Final = "gemini"
_COPIED: Final = "copied-message"
_HEADER_KEYS: Final = ("sessionId", "projectHash", "startTime", "kind")


class Chat:
    """A session's own facts, over all its files."""

    def __init__(self, session_id: str | None) -> None:
        """Begin a session of which only its id is known."""
        self.session_id = session_id
        self.start_time: object = None
        self.is_subagent = False
        self.is_announced = False

    def learn(self, fields: Mapping[str, Any]) -> None:
        """Take what a head of the session says; the first say counts."""
        if self.start_time is None:
            self.start_time = fields.get("startTime")
        if fields.get("kind") == _SUBAGENT:
            self.is_subagent = True

    @property
    def agent_id(self) -> str | None:
        """The id of the sub-agent whose session this is."""
        return self.session_id if self.is_subagent else None


class Message:
    """A message, merged from every copy of it."""

    def __init__(self, chat: Chat, line: int, value: Mapping[str, Any], request_id: str) -> None:
        """Begin with the first copy."""
        self.chat = chat
        self.line = line
        self.value = value
        self.request_id = request_id
        self.usages: list[Mapping[str, Any]] = []
        self.calls: dict[str, dict[str, Any]] = {}
        self._take(value)

    def merge(self, value: Mapping[str, Any], *, is_rewritten: bool) -> None:
        """Learn from a later copy.

        A history that was rewritten, say after it was compressed, only adds what was missing.
        """
        if is_rewritten:
            self.value = {**value, **self.value}
        else:
            kept = {key: item for key, item in self.value.items() if value.get(key) is None}
            self.value = {**value, **kept}
        self._take(value)

    def _take(self, value: Mapping[str, Any]) -> None:
        usage = mapping_of(value.get("tokens"))
        if usage is not None:
            self.usages.append(usage)
        seen: dict[str, int] = {}
        for item in list_of(value.get("toolCalls")):
            call = mapping_of(item)
            if call is None:
                continue
            # Calls of one message are matched with their copies by id, repeats by their place.
            identity = text_of(call.get("id")) or f"\0{text_of(call.get('name'))}"
            seen[identity] = seen.get(identity, 0) + 1
            key = f"{identity}\0{seen[identity]}"
            known = self.calls.get(key)
            if known is None:
                self.calls[key] = dict(call)
            elif not is_finished(known.get("status")) or is_finished(call.get("status")):
                known.update(call)


class ChatPool:
    """Every session and message, over all files."""

    def __init__(self) -> None:
        """Begin without sessions."""
        self.chats: dict[str, Chat] = {}
        self.messages: dict[tuple[str, str], Message] = {}
        self.spawned_by: dict[str, str] = {}
        self.linked: set[str] = set()

    def link(self, message: Message) -> None:
        """Remember which calls name a sub-agent that they spawned."""
        for call in message.calls.values():
            agent_id, call_id = text_of(call.get("agentId")), text_of(call.get("id"))
            if agent_id is not None and call_id is not None:
                self.spawned_by.setdefault(agent_id, call_id)


class ChatReader:
    """Reads the rows of one file into the pool; keeps the messages first met in it."""

    def __init__(self, notes: Notes, pool: ChatPool) -> None:
        """Begin a file; its rows belong to no known session yet."""
        self.notes = notes
        self.pool = pool
        self.chat = Chat(None)
        self.own: list[Chat | Message] = []
        self._met: set[int] = set()

    def row(self, record: Record) -> None:
        """Read one object."""
        value = record.value
        update = value.get("$set")
        if is_mapping(update):
            self._head(update)
            self._all(record.line, update.get("messages"), is_rewritten=True)
        elif "$rewindTo" in value:
            message = "the conversation was rewound; what was taken back still happened and counts"
            self.notes.count("rewound", message, record.line, lossy=False)
        elif "messages" in value:
            self._head(value)
            self._all(record.line, value["messages"], is_rewritten=False)
        elif "type" in value:
            self._message(record.line, value, is_rewritten=False)
        elif any(map(value.__contains__, _HEADER_KEYS)):
            self._head(value)
        else:
            message = "a row is neither a session nor a message and was skipped"
            self.notes.count("unknown-row", message, record.line, lossy=True)

    def _head(self, fields: Mapping[str, Any]) -> None:
        session_id = text_of(fields.get("sessionId"))
        if session_id is not None and session_id != self.chat.session_id:
            self.chat = self.pool.chats.setdefault(session_id, Chat(session_id))
        self.chat.learn(fields)
        if session_id is not None and not self.chat.is_announced:
            self.chat.is_announced = True
            self.own.append(self.chat)

    def _all(self, line: int, messages: object, *, is_rewritten: bool) -> None:
        for item in list_of(messages):
            self._message(line, item, is_rewritten=is_rewritten)

    def _message(self, line: int, item: object, *, is_rewritten: bool) -> None:
        value = mapping_of(item)
        if value is None or text_of(value.get("type")) not in MESSAGE_KINDS:
            message = "a message is no object of a known type and was skipped"
            self.notes.count("unknown-message", message, line, lossy=True)
            return
        message_id = text_of(value.get("id"))
        session = self.chat.session_id or f"{self.notes.name}:"
        if message_id is None:
            request_id = f"{self.notes.name}:{line}:{len(self.own)}"
            self._keep(Message(self.chat, line, value, request_id))
            return
        known = self.pool.messages.get((session, message_id))
        if known is None:
            known = Message(self.chat, line, value, f"{session}/{message_id}")
            self.pool.messages[session, message_id] = known
            self._keep(known)
            return
        known.merge(value, is_rewritten=is_rewritten)
        if id(known) not in self._met:
            self._met.add(id(known))
            message = "a message stands in another file as well and counts once"
            self.notes.count(_COPIED, message, line, lossy=False)

    def _keep(self, message: Message) -> None:
        self._met.add(id(message))
        self.own.append(message)


class ChatWriter:
    """Writes the events of what was first met in one file."""

    def __init__(self, writer: EventWriter, pool: ChatPool) -> None:
        """Begin with a writer of the file's events."""
        self.writer = writer
        self.notes = writer.notes
        self.pool = pool

    def write(self, item: Chat | Message) -> None:
        """Write a session's start or the events of a message."""
        if isinstance(item, Chat):
            self._start(item)
        elif item.value.get("type") in MODEL_KINDS:
            self._answer(item)
        elif item.value.get("type") == "user":
            self._say(item, events.USER_MESSAGE, joined_text(item.value.get("content")))
        else:
            self._inform(item)

    def _start(self, chat: Chat) -> None:
        data: dict[str, JsonValue] = {"sourceEngine": _ENGINE}
        if chat.session_id is not None:
            data["sessionId"] = chat.session_id
        rest = self._rest(chat, chat.start_time, 1)
        call_id = self.pool.spawned_by.get(chat.agent_id or "")
        if chat.agent_id is not None and call_id is not None:
            link = {"invocationId": chat.agent_id, "toolCallId": call_id}
            self.writer.add(events.SUBAGENT_STARTED, link, rest)
        self.writer.add(events.SESSION_START, data, rest)

    def _rest(self, chat: Chat, time: object, line: int) -> dict[str, JsonValue]:
        rest: dict[str, JsonValue] = {}
        timestamp = self.writer.timestamp(time, line)
        if timestamp is not None:
            rest["timestamp"] = timestamp
        if chat.agent_id is not None:
            rest["agentId"] = chat.agent_id
        return rest

    def _say(self, item: Message, kind: str, text: str, time: object = None) -> None:
        if not text:
            return
        data: dict[str, JsonValue] = {"content": text}
        message_id = text_of(item.value.get("id"))
        if message_id is not None:
            data["messageId"] = message_id
        time = item.value.get("timestamp") if time is None else time
        self.writer.add(kind, data, self._rest(item.chat, time, item.line))

    def _inform(self, item: Message) -> None:
        kind = text_of(item.value.get("type")) or ""
        data: dict[str, JsonValue] = {"message": joined_text(item.value.get("content"))}
        if kind != "error":
            data["status"] = kind
        name = "session.error" if kind == "error" else "session.info"
        rest = self._rest(item.chat, item.value.get("timestamp"), item.line)
        self.writer.add(name, data, rest)

    def _answer(self, item: Message) -> None:
        for thought in list_of(item.value.get("thoughts")):
            fields = mapping_of(thought) or {}
            texts = (text_of(fields.get(key)) for key in ("subject", "description"))
            text = "\n".join(text for text in texts if text is not None)
            self._say(item, events.ASSISTANT_REASONING, text, fields.get("timestamp"))
        for piece in texts_of(item.value.get("content")):
            kind = events.ASSISTANT_REASONING if piece.is_thought else events.ASSISTANT_MESSAGE
            self._say(item, kind, piece.text)
        self._usage(item)
        for call in item.calls.values():
            self._call(item, call)

    def _usage(self, item: Message) -> None:
        counts = largest(item.usages, SESSION_KEYS, self.notes, item.line)
        if counts.is_empty():
            return
        data: dict[str, JsonValue] = {"requestId": item.request_id}
        model = text_of(item.value.get("model"))
        if model is not None:
            data["model"] = model
        data["purpose"] = _SUBAGENT if item.chat.is_subagent else "agent"
        data["usage"] = counts.usage(self.notes, item.line)
        rest = self._rest(item.chat, item.value.get("timestamp"), item.line)
        self.writer.add(events.USAGE_REPORT, data, rest)

    def _call(self, item: Message, call: Mapping[str, Any]) -> None:
        call_id, name = text_of(call.get("id")), text_of(call.get("name"))
        if call_id is None and name is None:
            message = "a tool call has no id and no name and was skipped"
            self.notes.count("call-without-id-and-name", message, item.line, lossy=True)
            return
        identity: dict[str, JsonValue] = {}
        if call_id is not None:
            identity["toolCallId"] = call_id
        if name is not None:
            identity["toolName"] = name
        start = {**identity, "input": call["args"]} if "args" in call else identity
        rest = self._rest(item.chat, item.value.get("timestamp"), item.line)
        self.writer.add(events.TOOL_START, start, rest)
        status, result = call.get("status"), call.get("result")
        if not is_finished(status) and (result is None or isinstance(status, str)):
            return
        responses = responses_of(result)
        response = responses[0] if len(responses) == 1 else None
        ended = completion_of(status, response, result)
        time = call.get("timestamp")
        rest = rest if time is None else self._rest(item.chat, time, item.line)
        self.writer.add(events.TOOL_COMPLETE, {**identity, **ended}, rest)
