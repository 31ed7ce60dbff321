"""What Gemini CLI and Qwen Code have in common: message parts, tool results and their outcome."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import is_list, is_mapping, mapping_of, text_of

MODEL_KINDS: Final = frozenset({"gemini", "qwen"})
MESSAGE_KINDS: Final = frozenset({"user", "info", "error", "warning", *MODEL_KINDS})

_SUCCEEDED: Final = "success"
_FAILED: Final = frozenset({"error", "cancelled"})


class Text(msgspec.Struct, frozen=True):
    """A piece of text, and whether the model only thought it."""

    text: str
    is_thought: bool = False


def texts_of(content: object) -> Iterator[Text]:
    """Walk the texts of a message's content: text alone, one part, or a list of either."""
    parts = content if is_list(content) else [content]
    for part in parts:
        if isinstance(part, str):
            if part:
                yield Text(part)
        elif is_mapping(part):
            text = text_of(part.get("text"))
            if text is not None:
                yield Text(text, part.get("thought") is True)


def joined_text(content: object) -> str:
    """Join what a message says, without thoughts."""
    return "".join(piece.text for piece in texts_of(content) if not piece.is_thought)


def responses_of(parts: object) -> list[dict[str, Any]]:
    """List the function responses among the parts of a tool's result."""
    found = (mapping_of(part) for part in (parts if is_list(parts) else [parts]))
    responses = ((part or {}).get("functionResponse") for part in found)
    return [response for response in responses if is_mapping(response)]


def is_finished(status: object) -> bool:
    """Tell whether a call with this status will not change any more."""
    return isinstance(status, str) and (status == _SUCCEEDED or status in _FAILED)


def completion_of(
    status: object, response: Mapping[str, Any] | None, fallback: JsonValue = None
) -> dict[str, JsonValue]:
    """Say how a call ended: by its status and by the keys of the function's response.

    Gemini answers a function with `output` when it succeeded and with `error` when it failed. Any
    explicit failure wins; what neither decides stays unknown. Words are never read.
    """
    data: dict[str, JsonValue] = {}
    body = None if response is None else response.get("response")
    fields = mapping_of(body) or {}
    success: bool | None = None
    if isinstance(status, str) and is_finished(status):
        success = status == _SUCCEEDED
        data["status"] = status
    elif fields.get("output") is not None:
        success = True
    if fields.get("error") is not None:
        success = False
    if success is not None:
        data["success"] = success
    output = fields.get("output", body) if body is not None else fallback
    if output is not None:
        data["output"] = output
    return data
