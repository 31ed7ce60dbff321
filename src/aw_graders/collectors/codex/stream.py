"""The rows of `codex exec --json`: threads, turns and items."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders._json import JsonValue
from aw_graders.collectors.codex.outcome import Outcome, outcome_of_code, outcome_of_status
from aw_graders.collectors.codex.rows import Row
from aw_graders.collectors.codex.scribe import Scribe
from aw_graders.collectors.codex.tokens import Counts, counts_of
from aw_graders.collectors.normalise import mapping_of, text_of
from aw_graders.session import events

SOURCE_ENGINE: Final = "codex"
_COMPLETED: Final = "item.completed"
_MESSAGES: Final = {
    "agent_message": events.ASSISTANT_MESSAGE,
    "assistant_message": events.ASSISTANT_MESSAGE,
    "reasoning": events.ASSISTANT_REASONING,
    "user_message": events.USER_MESSAGE,
}
# The keys of an item that are its call's arguments; an item of another type is no call.
_ARGUMENTS: Final = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "mcp_tool_call": ("arguments",),
    "collab_tool_call": ("prompt", "receiver_thread_ids"),
    "web_search": ("query", "action"),
}
_OUTPUTS: Final = ("aggregated_output", "result", "agents_states")
_IDLE_ITEMS: Final = frozenset({"todo_list"})
_IDLE_ROWS: Final = frozenset({"turn.started"})


class Stream:
    """Converts the rows of one stream."""

    def __init__(self, scribe: Scribe) -> None:
        """Begin before the first row."""
        self.scribe = scribe
        self.notes = scribe.notes
        self.thread_id: str | None = None
        self.used: dict[str | None, Counts] = {}
        self.turns: dict[str | None, int] = {}
        self.started: set[str] = set()
        self.ended: set[str] = set()

    def row(self, row: Row) -> None:
        """Write the events of one row."""
        kind = row.type
        if kind == "thread.started":
            self._thread(row)
        elif kind == "turn.completed":
            self._turn(row)
        elif kind == "turn.failed":
            error = mapping_of(row.payload.get("error")) or {}
            self._error(error.get("message"))
        elif kind == "error":
            self._error(row.payload.get("message"))
        elif kind not in _IDLE_ROWS:
            self._item(row)

    def _thread(self, row: Row) -> None:
        # A resumed run counts its items from the beginning.
        self.started.clear()
        self.ended.clear()
        thread_id = text_of(row.payload.get("thread_id"))
        if thread_id is None or thread_id == self.thread_id:
            return
        self.thread_id = thread_id
        data: dict[str, JsonValue] = {"sourceEngine": SOURCE_ENGINE, "sessionId": thread_id}
        self.scribe.write(events.SESSION_START, data)

    def _turn(self, row: Row) -> None:
        """Say what the thread used so far: each turn counts all requests of its own."""
        usage = row.payload.get("usage")
        if usage is None:
            return
        counts = counts_of(usage, self.notes, row.line)
        if not counts:
            message = "the usage of a turn cannot be read and was left out"
            self.notes.count("unreadable-usage", message, row.line, lossy=True)
            return
        before = self.used.get(self.thread_id)
        used = counts if before is None else _sum(before, counts)
        self.used[self.thread_id] = used
        turns = self.turns[self.thread_id] = self.turns.get(self.thread_id, 0) + 1
        if turns > 1:
            message = "usage is counted by turn; that of several turns was added up"
            self.notes.count("turns-added", message, row.line, lossy=False)
        data: dict[str, JsonValue] = {"usage": {**used, "inputTokensIncludeCache": True}}
        if self.thread_id is not None:
            data["sessionId"] = self.thread_id
        self.scribe.write(events.SESSION_RESULT, data)

    def _error(self, message: object) -> None:
        data: dict[str, JsonValue] = {} if text_of(message) is None else {"message": str(message)}
        self.scribe.write("session.error", data)

    def _item(self, row: Row) -> None:
        item = mapping_of(row.payload.get("item"))
        if item is None:
            message = "a row has no item object and was skipped"
            self.notes.count("payload-not-an-object", message, row.line, lossy=True)
            return
        kind = text_of(item.get("type")) or text_of(item.get("item_type")) or ""
        if kind in _ARGUMENTS:
            self._call(row, item, kind)
        elif row.type != _COMPLETED or kind in _IDLE_ITEMS:
            return
        elif kind in _MESSAGES:
            self._say(row, item, _MESSAGES[kind])
        elif kind == "error":
            self._error(item.get("message"))
        else:
            message = "an item is of a type that is not known and gave no event"
            self.notes.count("unknown-item", message, row.line, lossy=False)

    def _say(self, row: Row, item: Mapping[str, Any], kind: str) -> None:
        text = item.get("text")
        if not isinstance(text, str):
            message = "a message holds no text and was skipped"
            self.notes.count("content-not-text", message, row.line, lossy=True)
            return
        item_id = text_of(item.get("id"))
        if item_id is not None:
            if item_id in self.ended:
                return
            self.ended.add(item_id)
        self.scribe.write(kind, {"content": text})

    def _call(self, row: Row, item: Mapping[str, Any], kind: str) -> None:
        """Write a call's start where its item is first seen, and its end where it is completed."""
        item_id = text_of(item.get("id"))
        is_end = row.type == _COMPLETED
        # Without an id, an item that is completed is the one that was said to start.
        key = item_id or f" {kind}"
        name = text_of(item.get("tool")) or kind
        if key not in self.started:
            self.started.add(key)
            self.scribe.start(item_id, name, _arguments(item, kind), text_of(item.get("server")))
        if not is_end or (item_id is not None and item_id in self.ended):
            return
        if item_id is None:
            self.started.discard(key)
        else:
            self.ended.add(item_id)
        self.scribe.complete(item_id, name, _outcome(item), _output(item))


def _sum(before: Counts, counts: Counts) -> Counts:
    """Add up what both turns count; a sum that leaves one of them out would be too small."""
    return {name: before[name] + counts[name] for name in counts if name in before}


def _arguments(item: Mapping[str, Any], kind: str) -> dict[str, JsonValue]:
    keys = _ARGUMENTS[kind]
    if kind == "mcp_tool_call":
        return {"input": item["arguments"]} if "arguments" in item else {}
    found = {key: item[key] for key in keys if key in item}
    return {"input": found} if found else {}


def _outcome(item: Mapping[str, Any]) -> Outcome:
    """Read how an item ended: any sign of failure wins."""
    outcome = outcome_of_code(item.get("exit_code"))
    outcome = outcome.merged(Outcome(success=outcome_of_status(item.get("status"))))
    return outcome.merged(Outcome(success=None if item.get("error") is None else False))


def _output(item: Mapping[str, Any]) -> dict[str, JsonValue]:
    output: dict[str, JsonValue] = {}
    key = next((key for key in _OUTPUTS if item.get(key) is not None), None)
    if key is not None:
        output["output"] = item[key]
    if item.get("error") is not None:
        output["error"] = item["error"]
    return output
