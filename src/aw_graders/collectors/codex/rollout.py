"""The rows of a session's rollout file."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from aw_graders._json import JsonValue
from aw_graders.collectors.codex.outcome import Outcome, outcome_of_output, outcome_of_status
from aw_graders.collectors.codex.replay import Replay
from aw_graders.collectors.codex.rows import (
    BROKEN,
    CALL_ITEMS,
    COMPACTED,
    CONTEXT,
    EVENT,
    HOSTED_ITEMS,
    IDLE,
    ITEM,
    LOCAL_ITEMS,
    META,
    OUTPUT_ITEMS,
    STREAM,
    Row,
    parts_of,
)
from aw_graders.collectors.codex.scribe import Scribe
from aw_graders.collectors.codex.stream import SOURCE_ENGINE, Stream
from aw_graders.collectors.codex.survey import SUMMARY_TEXTS, Source, Survey
from aw_graders.collectors.codex.tokens import Counter, Counts, Snapshot, snapshot_of
from aw_graders.collectors.normalise import decoded_arguments, is_list, mapping_of, text_of
from aw_graders.session import events

INJECTED: Final = "injected"
_TEXTS: Final = frozenset({"input_text", "output_text", "text"})
_ROLES: Final = {"user": events.USER_MESSAGE, "assistant": events.ASSISTANT_MESSAGE}
# What Codex puts before, or between, what a person wrote.
_WRAPPERS: Final = frozenset(
    {
        "app-context", "collaboration_mode", "environment_context", "permissions instructions",
        "skill", "skills_instructions", "subagent_notification", "turn_aborted",
        "user_instructions", "user_shell_command",
    }
)  # fmt: skip
_INSTRUCTIONS: Final = ("# AGENTS.md instructions for ", "</INSTRUCTIONS>")
_ELEMENT: Final = re.compile(r"\s*<([a-z_ -]{1,40})>.*</\1>\s*", re.DOTALL)
_EVENT_TEXTS: Final = {
    "user_message": ("message", "user", events.USER_MESSAGE),
    "agent_message": ("message", "assistant", events.ASSISTANT_MESSAGE),
}
_REASONING_EVENTS: Final = frozenset({"agent_reasoning", "agent_reasoning_raw_content"})
# Events of a call that may stand alone: the call's name when the event has none of its own, and
# the keys that are its arguments.
_EVENT_CALLS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "exec_command": ("exec_command", ("command", "cwd")),
    "patch_apply": ("apply_patch", ("changes",)),
    "web_search": ("web_search", ("query", "action")),
    "image_generation": ("image_generation", ("revised_prompt",)),
    "mcp_tool_call": ("mcp_tool_call", ()),
    "dynamic_tool_call": ("dynamic_tool_call", ()),
}
_BEGINS: Final = ("_begin", "_request")
_ENDS: Final = ("_end", "_response")
_EVENT_OUTPUTS: Final = ("aggregated_output", "stdout", "result", "content_items", "results")
_IDLE_ITEMS: Final = frozenset({"agent_message", "compaction", "ghost_snapshot", "other"})


class Known:
    """What is shared by all files: the counters of sessions, and who spawned whom."""

    def __init__(self, spawned_by: Mapping[str, str]) -> None:
        """Begin with nothing counted."""
        self.spawned_by = spawned_by
        self.counters: dict[str, Counter] = {}


class Rollout:
    """Converts the rows of one file."""

    def __init__(self, source: Source, replay: Replay, known: Known) -> None:
        """Begin before the first row."""
        self.source = source
        self.replay = replay
        self.known = known
        self.notes = source.notes
        self.scribe = Scribe(source.name, source.notes)
        self.stream = Stream(self.scribe)
        self.survey = Survey(source)
        self.key = source.session_id or f"file {source.name}"
        self.counter = known.counters.setdefault(self.key, Counter())
        self.model: str | None = None
        self.names: dict[str, str] = {}
        self.copied_calls: set[str] = set()
        self.started: set[str] = set()
        self.ended: set[str] = set()
        self.inherits = replay.inherits
        if source.is_subagent:
            self.scribe.agent_id = source.session_id
        self._of_kind: Final[dict[str, Callable[[Row], None]]] = {
            ITEM: self._item,
            EVENT: self._event,
            COMPACTED: self._compacted,
            STREAM: self.stream.row,
            META: self._head,
        }

    def row(self, place: int, row: Row) -> None:
        """Write the events of one row; `place` is its own among the rows of the file."""
        if row.kind == CONTEXT:
            self.model = text_of(row.payload.get("model")) or self.model
        elif row.kind == META or place >= self.replay.rows:
            convert = self._of_kind.get(row.kind)
            if convert is not None:
                self.scribe.turn_to(row)
                convert(row)
            elif row.kind == BROKEN:
                message = "a row has no payload object and was skipped"
                self.notes.count("payload-not-an-object", message, row.line, lossy=True)
            elif row.kind != IDLE:
                message = "a row is of a type that is not known and gave no event"
                self.notes.count("unknown-row", message, row.line, lossy=False)
        else:
            self._copied(row)

    def finish(self) -> None:
        """Note what only the end of the file tells."""
        difference = self.counter.settle()
        if difference is not None:
            field, requested, moved = difference
            message = (
                f"the requests add up to {requested} {field}, but the cumulative counter"
                f" moved by {moved}"
            )
            self.notes.add("counter-mismatch", message, None, lossy=True)

    def _copied(self, row: Row) -> None:
        """Take of a copied row only where the counter stands and which calls are no own ones."""
        if row.kind in (ITEM, EVENT, COMPACTED):
            message = "a row is a copy out of another session or file and gave no event"
            self.notes.count("replayed-row", message, row.line, lossy=False)
        if row.kind == ITEM and row.call_id is not None:
            self.copied_calls.add(row.call_id)
        if row.kind == EVENT and row.type == "token_count":
            snapshot = self._snapshot(row)
            if snapshot is not None:
                self.counter.carry(snapshot)

    def _head(self, row: Row) -> None:
        """Announce the session once; further heads are copies of other sessions' heads."""
        session_id = self.source.session_id
        if row.payload is not self.source.meta:
            return
        data: dict[str, JsonValue] = {"sourceEngine": SOURCE_ENGINE}
        if session_id is not None:
            data["sessionId"] = session_id
        model = self.survey.model or text_of(row.payload.get("model"))
        if model is not None:
            data["model"] = model
        cwd = text_of(row.payload.get("cwd"))
        if cwd is not None:
            data["cwd"] = cwd
        self.scribe.write(events.SESSION_START, data)
        call_id = None if session_id is None else self.known.spawned_by.get(session_id)
        if call_id is not None and session_id is not None and self.scribe.agent_id is not None:
            link: dict[str, JsonValue] = {"invocationId": session_id, "toolCallId": call_id}
            self.scribe.write(events.SUBAGENT_STARTED, link)

    def _compacted(self, _: Row) -> None:
        self.scribe.write("session.info", {"message": "compacted", "status": "compacted"})

    def _item(self, row: Row) -> None:
        kind = row.type
        if kind == "message":
            self._message(row)
        elif kind == "reasoning":
            self._say_parts(events.ASSISTANT_REASONING, row.payload.get("summary"), SUMMARY_TEXTS)
        elif kind in CALL_ITEMS or kind in LOCAL_ITEMS:
            self._start(row, kind)
        elif kind in OUTPUT_ITEMS:
            self._complete(row)
        elif kind in HOSTED_ITEMS:
            self._hosted(row, kind)
        elif kind not in _IDLE_ITEMS:
            message = "an item is of a type that is not known and gave no event"
            self.notes.count("unknown-item", message, row.line, lossy=False)

    def _message(self, row: Row) -> None:
        role = text_of(row.payload.get("role"))
        content = row.payload.get("content")
        if role is None or not (isinstance(content, str) or is_list(content)):
            message = "a message has no role or no readable content and was skipped"
            self.notes.count("message-without-content", message, row.line, lossy=True)
            return
        kind = _ROLES.get(role)
        if kind is None:
            text = "\n".join(parts_of(content, _TEXTS))
            self.scribe.write("system.message", {"content": text, "role": role})
        else:
            self._say_parts(kind, content, _TEXTS)

    def _say_parts(self, kind: str, content: object, kinds: frozenset[str]) -> None:
        """Write the texts of one message as one event, and none when it has no text."""
        texts = parts_of(content, kinds)
        if texts:
            self._say(kind, "\n".join(texts))

    def _say(self, kind: str, text: str) -> None:
        data: dict[str, JsonValue] = {"content": text}
        if kind == events.USER_MESSAGE and _is_injected(text):
            data["channel"] = INJECTED
        self.scribe.write(kind, data)

    def _start(self, row: Row, kind: str) -> None:
        payload, call_id = row.payload, row.call_id
        function = mapping_of(payload.get("function")) or {}
        name = text_of(payload.get("name")) or text_of(function.get("name"))
        if kind in LOCAL_ITEMS:
            name = kind.removesuffix("_call")
            call_id = call_id or text_of(payload.get("id"))
        if call_id is None and name is None:
            message = "a tool call has no id and no name and was skipped"
            self.notes.count("call-without-id-and-name", message, row.line, lossy=True)
            return
        if call_id is not None:
            self.started.add(call_id)
            if name is not None:
                self.names[call_id] = name
        outcome = self.survey.outcomes.get(call_id or "", Outcome())
        self.scribe.start(call_id, name, _arguments(payload, kind), outcome.server)
        if kind == "local_shell_call" and call_id not in self.survey.answered:
            self._complete_with(call_id, name, outcome, {})

    def _complete_with(
        self,
        call_id: str | None,
        name: str | None,
        outcome: Outcome,
        output: Mapping[str, JsonValue],
    ) -> None:
        if outcome != Outcome():
            self.scribe.complete(call_id, name, outcome, output)

    def _complete(self, row: Row) -> None:
        payload, call_id = row.payload, row.call_id
        if call_id is not None and call_id in self.copied_calls and call_id not in self.started:
            return
        name = text_of(payload.get("name"))
        if call_id is None and name is None:
            message = "a tool result names no call and was skipped"
            self.notes.count("result-without-id-and-name", message, row.line, lossy=True)
            return
        known = self.names.get(call_id or "") or name
        if call_id is not None and call_id not in self.started:
            message = "a tool result belongs to no recorded call; it was kept as its own call"
            self.notes.count("stray-tool-result", message, row.line, lossy=False)
        output = payload.get("output", payload.get("result", payload.get("tools")))
        outcome = outcome_of_output(output, known)
        if row.type in ("tool_result", "function_result"):
            outcome = _outcome_of_result(output)
        elif row.type in ("tool_search_output", "local_shell_call_output"):
            said = Outcome(success=outcome_of_status(payload.get("status")))
            outcome = outcome.merged(said)
        outcome = outcome.merged(self.survey.outcomes.get(call_id or "", Outcome()))
        self.scribe.complete(call_id, known, outcome, {} if output is None else {"output": output})

    def _hosted(self, row: Row, kind: str) -> None:
        """Write a call that the model's provider ran, and its end when the item says it."""
        payload = row.payload
        call_id = text_of(payload.get("id")) or row.call_id
        name = kind.removesuffix("_call")
        outcome = Outcome(success=outcome_of_status(payload.get("status")))
        self.scribe.start(call_id, name, _arguments(payload, kind))
        output: dict[str, JsonValue] = {}
        if payload.get("result") is not None:
            output["output"] = payload["result"]
        self._complete_with(call_id, name, outcome, output)

    def _event(self, row: Row) -> None:
        kind, payload = row.type, row.payload
        if kind == "token_count":
            self._usage(row)
        elif kind in _EVENT_TEXTS:
            key, role, event = _EVENT_TEXTS[kind]
            text = payload.get(key)
            if role not in self.survey.spoken and isinstance(text, str):
                self._say(event, text)
        elif kind in _REASONING_EVENTS:
            text = payload.get("text")
            if not self.survey.has_reasoning and isinstance(text, str):
                self._say(events.ASSISTANT_REASONING, text)
        elif kind in ("error", "stream_error"):
            self._error(payload)
        elif kind == "session_configured":
            self._configured(payload)
        elif kind == "turn_aborted":
            reason = text_of(payload.get("reason"))
            message: dict[str, JsonValue] = {} if reason is None else {"message": reason}
            self.scribe.write("session.info", {**message, "status": "turn_aborted"})
        else:
            self._event_of_call(row)

    def _configured(self, payload: Mapping[str, Any]) -> None:
        """Announce the session of a stream that has no head."""
        self.model = text_of(payload.get("model")) or self.model
        if self.source.meta:
            return
        data: dict[str, JsonValue] = {"sourceEngine": SOURCE_ENGINE}
        for key, name in (("session_id", "sessionId"), ("model", "model"), ("cwd", "cwd")):
            text = text_of(payload.get(key))
            if text is not None:
                data[name] = text
        self.scribe.write(events.SESSION_START, data)

    def _error(self, payload: Mapping[str, Any]) -> None:
        error = mapping_of(payload.get("error")) or {}
        message = text_of(payload.get("message")) or text_of(error.get("message"))
        data: dict[str, JsonValue] = {} if message is None else {"message": message}
        kind = text_of(payload.get("codex_error_info")) or text_of(error.get("kind"))
        if kind is not None:
            data["errorType"] = kind
        self.scribe.write("session.error", data)

    def _event_of_call(self, row: Row) -> None:
        """Write a call that only events record; of any other they only tell how it ended."""
        family, is_end = _family(row.type)
        call_id = row.call_id
        if family not in _EVENT_CALLS or call_id is None or call_id in self.copied_calls:
            return
        if family == "web_search" and self.survey.has_searches:
            return
        if call_id in self.survey.answered:
            return
        name, arguments = _call_of_event(row.payload, family)
        name = self.names.get(call_id) or name
        outcome = self.survey.outcomes.get(call_id, Outcome())
        if call_id not in self.started and call_id not in self.survey.called:
            self.started.add(call_id)
            self.scribe.start(call_id, name, arguments, _server(row.payload))
        if is_end and call_id not in self.ended:
            self.ended.add(call_id)
            self.scribe.complete(call_id, name, outcome, _output_of_event(row.payload))

    def _snapshot(self, row: Row) -> Snapshot | None:
        """Read the counter; a row whose `info` is null only tells of rate limits."""
        info = row.payload.get("info")
        if "info" in row.payload and info is None:
            return None
        fields = mapping_of(info)
        snapshot = None if fields is None else snapshot_of(fields, self.notes, row.line)
        if snapshot is None:
            message = "a row of the token counter has no readable total and was left out"
            self.notes.count("unreadable-usage", message, row.line, lossy=True)
        return snapshot

    def _usage(self, row: Row) -> None:
        if self.replay.unknown:
            message = "nothing tells the fork's own requests from its parent's; none were counted"
            self.notes.count("unknown-replay", message, row.line, lossy=True)
            return
        snapshot = self._snapshot(row)
        if snapshot is None:
            return
        if self.inherits:
            self.inherits = False
            self.counter.inherit(snapshot)
        usage = self.counter.advance(snapshot)
        if usage is None:
            return
        if snapshot.last is None:
            message = "a request's own counts are missing; the counter's advance was taken"
            self.notes.count("usage-from-counter", message, row.line, lossy=False)
        self._report(row, usage)

    def _report(self, row: Row, usage: Counts) -> None:
        data: dict[str, JsonValue] = {"requestId": f"{self.key}:{self.counter.requests}"}
        info = mapping_of(row.payload.get("info")) or {}
        model = text_of(info.get("model")) or self.model
        if model is not None:
            data["model"] = model
        data["purpose"] = "subagent" if self.source.is_subagent else "agent"
        data["usage"] = {**usage, "inputTokensIncludeCache": True}
        self.scribe.write(events.USAGE_REPORT, data)


def _is_injected(text: str) -> bool:
    """Tell whether a user's text is one that Codex wrote: it lies whole in one of its wrappers."""
    if text.startswith(_INSTRUCTIONS[0]) and text.rstrip().endswith(_INSTRUCTIONS[1]):
        return True
    element = _ELEMENT.fullmatch(text)
    return element is not None and element[1] in _WRAPPERS


def _arguments(payload: Mapping[str, Any], kind: str) -> dict[str, JsonValue]:
    """Read a call's arguments; those of a custom tool are text, whatever stands in it."""
    if kind == "custom_tool_call":
        return {"input": payload["input"]} if "input" in payload else {}
    for key in ("arguments", "action", "revised_prompt"):
        if payload.get(key) is not None:
            return {"input": decoded_arguments(payload[key])}
    return {}


def _outcome_of_result(result: object) -> Outcome:
    fields = mapping_of(result) or {}
    code = fields.get("exitCode", fields.get("exit_code"))
    if not isinstance(code, int) or isinstance(code, bool):
        return Outcome()
    return Outcome(success=code == 0, exit_code=code)


def _family(kind: str) -> tuple[str, bool]:
    """Split an event's type into the kind of call and whether it tells of the call's end."""
    for suffix in (*_BEGINS, *_ENDS):
        if kind.endswith(suffix):
            return kind.removesuffix(suffix), suffix in _ENDS
    return "", False


def _call_of_event(
    payload: Mapping[str, Any], family: str
) -> tuple[str | None, dict[str, JsonValue]]:
    """Read the name and the arguments of a call out of its event."""
    fallback, keys = _EVENT_CALLS[family]
    invocation = mapping_of(payload.get("invocation"))
    fields = payload if invocation is None else invocation
    name = text_of(fields.get("tool")) or fallback
    if not keys:
        return name, {"input": fields["arguments"]} if "arguments" in fields else {}
    found = {key: fields[key] for key in keys if key in fields}
    return name, {"input": found} if found else {}


def _server(payload: Mapping[str, Any]) -> str | None:
    return text_of((mapping_of(payload.get("invocation")) or {}).get("server"))


def _output_of_event(payload: Mapping[str, Any]) -> dict[str, JsonValue]:
    key = next((key for key in _EVENT_OUTPUTS if payload.get(key) is not None), None)
    output: dict[str, JsonValue] = {} if key is None else {"output": payload[key]}
    if payload.get("error") is not None:
        output["error"] = payload["error"]
    return output
