"""Telling a Claude Code recording from everything else."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders.collectors.records import sample

# Rows that carry one of these fields beside their type; a session that holds nothing else is
# still a session.
_MARKS: Final = {
    "user": ("message",),
    "assistant": ("message",),
    "result": ("num_turns", "duration_ms", "total_cost_usd"),
    "summary": ("leafUuid",),
    "file-history-snapshot": ("snapshot",),
    "queue-operation": ("operation",),
    "progress": ("toolUseID", "parentToolUseID"),
}
# Rows of type system: Claude Code's own, not those of the tools that took over its rows.
_SUBTYPES: Final = (
    "init",
    "compact_boundary",
    "session_start",
    "turn_duration",
    "stop_hook_summary",
    "local_command",
    "api_error",
)


def detect(content: bytes) -> bool:
    """Tell whether `content` is a Claude Code recording. Raises nothing."""
    return sample(content, _is_row)


def _is_row(row: Mapping[str, Any]) -> bool:
    kind = row.get("type")
    if kind == "system":
        return row.get("subtype") in _SUBTYPES
    marks = _MARKS.get(kind) if isinstance(kind, str) else None
    if marks is None or not any(mark in row for mark in marks):
        return False
    if "message" not in marks:
        return True
    # Qwen Code writes rows of the same outline with Gemini's messages in them.
    message = row["message"]
    return isinstance(message, Mapping) and "parts" not in message
