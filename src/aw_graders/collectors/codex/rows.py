"""The rows of all generations of Codex recordings, brought to one form."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeGuard

import msgspec

from aw_graders.collectors.normalise import is_list, is_mapping, list_of, mapping_of, text_of
from aw_graders.collectors.records import Record

META: Final = "session_meta"
CONTEXT: Final = "turn_context"
ITEM: Final = "response_item"
EVENT: Final = "event_msg"
COMPACTED: Final = "compacted"
STREAM: Final = "stream"
IDLE: Final = "idle"
UNKNOWN: Final = "unknown"
BROKEN: Final = "broken"

ENVELOPES: Final = frozenset({META, CONTEXT, ITEM, EVENT, COMPACTED})
IDLE_ENVELOPES: Final = frozenset(
    {"world_state", "inter_agent_communication", "inter_agent_communication_metadata"}
)
STREAM_ROWS: Final = frozenset(
    {
        "thread.started", "turn.started", "turn.completed", "turn.failed", "item.started",
        "item.updated", "item.completed", "error",
    }
)  # fmt: skip
CALL_ITEMS: Final = frozenset({"function_call", "custom_tool_call", "tool_call"})
OUTPUT_ITEMS: Final = frozenset(
    {
        "function_call_output", "custom_tool_call_output", "tool_result", "function_result",
        "tool_search_output", "local_shell_call_output", "mcp_tool_call_output",
    }
)  # fmt: skip
# Calls that the model's provider ran: the item says by itself how they ended.
HOSTED_ITEMS: Final = frozenset({"web_search_call", "image_generation_call"})
LOCAL_ITEMS: Final = frozenset({"local_shell_call", "tool_search_call"})
_BARE_ITEMS: Final = (
    CALL_ITEMS | OUTPUT_ITEMS | HOSTED_ITEMS | LOCAL_ITEMS | {"message", "reasoning"}
)
# What the first form of the stream always holds some of.
_MESSAGES: Final = frozenset(
    {
        "agent_message", "agent_reasoning", "exec_command_begin", "exec_command_end",
        "mcp_tool_call_begin", "mcp_tool_call_end", "patch_apply_begin", "patch_apply_end",
        "session_configured", "task_complete", "task_started", "token_count", "turn_aborted",
    }
)  # fmt: skip
_TIMES: Final = ("timestamp", "created_at")


class Row(msgspec.Struct, frozen=True):
    """One row: its line, its time as recorded, what it is, and what it holds."""

    line: int
    time: object
    kind: str
    payload: Mapping[str, Any]

    @property
    def type(self) -> str:
        """The payload's type, empty when it has none."""
        return text_of(self.payload.get("type")) or ""

    @property
    def call_id(self) -> str | None:
        """The id of the call that the row is about; it has two spellings."""
        payload = self.payload
        return text_of(payload.get("call_id")) or text_of(payload.get("callId"))


def rows_of(records: Iterable[Record]) -> list[Row]:
    """Bring the records of one file to one form, in file order. Cost: linear."""
    return [row for record in records for row in _rows(record)]


def is_rollout_head(value: Mapping[str, Any]) -> bool:
    """Tell whether a row without a type is one of the first rollouts' heads or state rows."""
    if value.get("record_type") == "state":
        return True
    keys = value.keys()
    return "role" not in keys and {"id", "timestamp", "instructions"} <= keys


def is_old_session(value: Mapping[str, Any]) -> bool:
    """Tell whether a document is a whole session of the first Codex CLI."""
    session = value.get("session")
    return is_mapping(session) and "id" in session and _are_items(value.get("items"))


def is_message_of_stream(value: Mapping[str, Any]) -> bool:
    """Tell whether a row is of the first form of `exec --json`: an id and a message with a type."""
    message = value.get("msg")
    return (
        isinstance(value.get("id"), str)
        and is_mapping(message)
        and text_of(message.get("type")) in _MESSAGES
    )


def _are_items(value: object) -> TypeGuard[list[Any]]:
    return is_list(value) and all(is_mapping(item) and "type" in item for item in value)


def _rows(record: Record) -> Iterator[Row]:
    value = record.value
    kind = text_of(value.get("type"))
    time = next((value[key] for key in _TIMES if key in value), None)
    if kind is None:
        yield from _untyped(record, time)
    elif kind in ENVELOPES:
        yield _enveloped(record.line, time, kind, mapping_of(value.get("payload")))
    elif kind in STREAM_ROWS:
        yield Row(record.line, time, STREAM, value)
    elif kind in _BARE_ITEMS:
        yield Row(record.line, time, ITEM, value)
    else:
        yield Row(record.line, time, IDLE if kind in IDLE_ENVELOPES else UNKNOWN, value)


def _enveloped(line: int, time: object, kind: str, payload: Mapping[str, Any] | None) -> Row:
    if payload is None:
        return Row(line, time, BROKEN, {})
    # Some versions put rows of the stream into the rollout.
    if kind == EVENT and text_of(payload.get("type")) in STREAM_ROWS - {"error"}:
        kind = STREAM
    return Row(line, time, kind, payload)


def _untyped(record: Record, time: object) -> Iterator[Row]:
    """Read rows of generations that wrote no type."""
    value, line = record.value, record.line
    message = mapping_of(value.get("msg"))
    session = mapping_of(value.get("session"))
    if message is not None:
        yield Row(line, time, EVENT, message)
    elif session is not None and is_old_session(value):
        yield Row(line, session.get("timestamp"), META, session)
        yield from (Row(line, None, ITEM, item) for item in list_of(value.get("items")))
    elif value.get("record_type") == "state":
        yield Row(line, time, IDLE, value)
    elif is_rollout_head(value):
        yield Row(line, time, META, value)
    elif isinstance(value.get("role"), str):
        content = value.get("content", value.get("message"))
        yield Row(line, time, ITEM, {**value, "type": "message", "content": content})
    elif "workdir" in value and "model" in value:
        yield Row(line, time, CONTEXT, {"model": value["model"], "cwd": value["workdir"]})
    elif isinstance(value.get("prompt"), str):
        yield Row(line, time, EVENT, {"type": "user_message", "message": value["prompt"]})
    else:
        yield Row(line, time, UNKNOWN, value)


def parts_of(content: object, kinds: frozenset[str]) -> list[str]:
    """List the texts of a message or an output: text alone, or its parts of the given kinds."""
    if isinstance(content, str):
        return [content]
    single = mapping_of(content)
    parts = list_of(content) if single is None else [single]
    return [
        part["text"]
        for part in parts
        if is_mapping(part)
        and text_of(part.get("type")) in kinds
        and isinstance(part.get("text"), str)
    ]
