"""Telling a Codex recording from everything else."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders.collectors.codex.rows import (
    ENVELOPES,
    IDLE_ENVELOPES,
    is_message_of_stream,
    is_old_session,
    is_rollout_head,
)
from aw_graders.collectors.codex.transcript import is_transcript
from aw_graders.collectors.normalise import is_mapping
from aw_graders.collectors.records import sample

_ITEM_ROWS: Final = frozenset({"item.started", "item.updated", "item.completed"})


def detect(content: bytes) -> bool:
    """Tell whether `content` is a Codex recording. Raises nothing."""
    return is_transcript(content) or sample(content, _is_row)


def _is_row(row: Mapping[str, Any]) -> bool:
    kind = row.get("type")
    if kind is None:
        return is_rollout_head(row) or is_old_session(row) or is_message_of_stream(row)
    if not isinstance(kind, str):
        return False
    if kind in ENVELOPES or kind in IDLE_ENVELOPES:
        return is_mapping(row.get("payload"))
    if kind == "thread.started":
        return isinstance(row.get("thread_id"), str)
    if kind in _ITEM_ROWS:
        item = row.get("item")
        return is_mapping(item) and ("type" in item or "item_type" in item)
    return kind == "turn.completed" and is_mapping(row.get("usage"))
