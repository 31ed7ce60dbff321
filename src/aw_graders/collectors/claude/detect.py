"""Telling a Claude Code recording from everything else."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders.collectors.records import sample

# Rows that carry one of these fields beside their type; a session that holds nothing else is
# still a session.
_MARKS: Final = {
    "user": ("message",),
    "assistant": ("message",),
    "system": ("subtype",),
    "result": ("num_turns", "duration_ms", "total_cost_usd"),
    "summary": ("leafUuid",),
    "file-history-snapshot": ("snapshot",),
    "queue-operation": ("operation",),
    "progress": ("toolUseID", "parentToolUseID"),
}


def detect(content: bytes) -> bool:
    """Tell whether `content` is a Claude Code recording. Raises nothing."""
    return sample(content, _is_row)


def _is_row(row: Mapping[str, Any]) -> bool:
    kind = row.get("type")
    marks = _MARKS.get(kind) if isinstance(kind, str) else None
    if marks is None or not any(mark in row for mark in marks):
        return False
    return "message" not in marks or isinstance(row["message"], Mapping)
