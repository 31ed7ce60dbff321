"""Telling a Pi recording from everything else."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders.collectors.normalise import is_mapping
from aw_graders.collectors.records import sample

_MESSAGE_ROWS: Final = frozenset({"message", "message_end"})
_OWN_ROLES: Final = frozenset({"toolResult", "bashExecution"})
_SETTINGS: Final = {"model_change": "modelId", "thinking_level_change": "thinkingLevel"}


def detect(content: bytes) -> bool:
    """Tell whether `content` is a Pi recording. Raises nothing."""
    return sample(content, _is_row)


def _is_row(row: Mapping[str, Any]) -> bool:
    kind = row.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "session":
        return isinstance(row.get("id"), str) and isinstance(row.get("cwd"), str)
    if kind in _SETTINGS:
        return isinstance(row.get(_SETTINGS[kind]), str) and "timestamp" in row
    message = row.get("message")
    if kind not in _MESSAGE_ROWS or not is_mapping(message):
        return False
    role = message.get("role")
    if role == "assistant":
        return "stopReason" in message and "provider" in message
    return isinstance(role, str) and role in _OWN_ROLES
