"""Telling a Droid recording from everything else.

The first row of the stream is like Claude Code's, so it decides nothing.
"""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders.collectors.normalise import is_mapping, list_of, mapping_of, text_of
from aw_graders.collectors.records import sample

_TOOL_BLOCKS: Final = frozenset({"tool_use", "tool_result"})


def detect(content: bytes) -> bool:
    """Tell whether `content` is a Droid recording. Raises nothing."""
    return sample(content, _is_row)


def _is_row(row: Mapping[str, Any]) -> bool:
    kind = row.get("type")
    if kind == "tool_call":
        return isinstance(row.get("toolName"), str) and "parameters" in row
    if kind == "completion":
        return isinstance(row.get("finalText"), str)
    if kind == "session_start":
        return isinstance(row.get("id"), str) and ("owner" in row or "title" in row)
    if kind != "message":
        return False
    message = row.get("message")
    if message is None:
        return "role" in row and isinstance(row.get("text"), str) and "id" in row
    return is_mapping(message) and any(map(_is_tool_block, list_of(message.get("content"))))


def _is_tool_block(item: object) -> bool:
    return text_of((mapping_of(item) or {}).get("type")) in _TOOL_BLOCKS
