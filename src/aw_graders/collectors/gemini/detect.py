"""Telling a recording of Gemini CLI or Qwen Code from everything else."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders.collectors.gemini import qwen, stream
from aw_graders.collectors.gemini.parts import MESSAGE_KINDS, MODEL_KINDS
from aw_graders.collectors.normalise import is_list, is_mapping, text_of
from aw_graders.collectors.records import sample

_HEADER_MARKS: Final = ("projectHash", "startTime", "lastUpdated")


def detect(content: bytes) -> bool:
    """Tell whether `content` is a recording of Gemini CLI or Qwen Code. Raises nothing."""
    return sample(content, _is_row)


def _is_row(row: Mapping[str, Any]) -> bool:
    return _is_session(row) or _is_message(row) or qwen.is_row(row) or stream.is_mark(row)


def _is_session(row: Mapping[str, Any]) -> bool:
    """Tell whether an object is a session with its messages, or the head of one in lines."""
    if not isinstance(row.get("sessionId"), str) or not any(map(row.__contains__, _HEADER_MARKS)):
        return False
    if "messages" not in row:
        return isinstance(row.get("projectHash"), str) and "type" not in row
    messages = row["messages"]
    if not is_list(messages):
        return False
    return "projectHash" in row if not messages else any(map(_is_of_session, messages))


def _is_of_session(message: object) -> bool:
    return (
        is_mapping(message)
        and text_of(message.get("type")) in MESSAGE_KINDS
        and "timestamp" in message
        and "content" in message
    )


def _is_message(row: Mapping[str, Any]) -> bool:
    """Tell whether a line is an answer of the model; other messages are not telling enough."""
    kind = row.get("type")
    return isinstance(kind, str) and kind in MODEL_KINDS and _is_of_session(row)
