"""What was said to a model and by it, where the telemetry holds it, in present and former forms.

Source: OpenTelemetry semantic conventions for generative AI, input and output messages.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import is_list, is_mapping, list_of, mapping_of, text_of
from aw_graders.collectors.otel.spans import Span
from aw_graders.collectors.otel.values import decoded

_INPUT: Final = "gen_ai.input.messages"
_OUTPUT: Final = "gen_ai.output.messages"
# Before there were messages, every field of one had an attribute of its own, numbered.
_INDEXED: Final = re.compile(
    r"gen_ai\.(prompt|completion)\.([0-9]{1,6})\."
    r"(?:(role|content|tool_call_id)|tool_calls\.([0-9]{1,6})\.(id|name|arguments))",
    re.ASCII,
)
_PROMPT: Final = "prompt"
_ANSWER_ROLE: Final = "assistant"
_TOOL_ROLE: Final = "tool"


class Asked(msgspec.Struct, frozen=True):
    """A tool call that a model asked for."""

    call_id: str | None
    name: str | None
    arguments: JsonValue = None


class Answered(msgspec.Struct, frozen=True):
    """A tool's answer that was given back to a model."""

    call_id: str
    output: JsonValue = None


class Message(msgspec.Struct, frozen=True):
    """One message: who said it, its texts, thoughts, and tool calls asked for or answered."""

    role: str
    texts: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()
    asked: tuple[Asked, ...] = ()
    answered: tuple[Answered, ...] = ()


class Said(msgspec.Struct, frozen=True):
    """The messages of one request, None where the telemetry does not hold them."""

    given: tuple[Message, ...] | None = None
    returned: tuple[Message, ...] | None = None


def said_in(span: Span) -> Said:
    """Read the messages of a request from its span's attributes or from those of its events.

    Cost: linear in the attributes.
    """
    given = _structured(span, _INPUT, "")
    returned = _structured(span, _OUTPUT, _ANSWER_ROLE)
    if given is None and returned is None:
        return _numbered(span.attributes)
    return Said(given, returned)


def _structured(span: Span, key: str, role: str) -> tuple[Message, ...] | None:
    for attributes in (span.attributes, *span.details):
        if key in attributes:
            found = decoded(attributes[key])
            if is_list(found):
                return tuple(_message(item, role) for item in found if is_mapping(item))
    return None


def _message(value: Mapping[str, Any], role: str) -> Message:
    parts = [part for part in list_of(value.get("parts")) if is_mapping(part)]
    if isinstance(value.get("content"), str):
        parts.append({"type": "text", "content": value["content"]})
    return Message(
        role=text_of(value.get("role")) or role,
        texts=tuple(_contents(parts, "text")),
        thoughts=tuple(_contents(parts, "reasoning")),
        asked=tuple(
            Asked(text_of(part.get("id")), text_of(part.get("name")), part.get("arguments"))
            for part in parts
            if part.get("type") == "tool_call"
        ),
        answered=tuple(
            Answered(call_id, part.get("response", part.get("result")))
            for part in parts
            if part.get("type") == "tool_call_response" and (call_id := text_of(part.get("id")))
        ),
    )


def _contents(parts: list[dict[str, Any]], kind: str) -> Iterator[str]:
    for part in parts:
        content = part.get("content")
        if part.get("type") == kind and isinstance(content, str):
            yield content


def _numbered(attributes: Mapping[str, JsonValue]) -> Said:
    """Put numbered attributes together; what was asked for is sorted by its numbers."""
    fields: dict[str, dict[int, dict[str, Any]]] = {}
    for key, value in attributes.items():
        match = _INDEXED.fullmatch(key)
        if match is None:
            continue
        side, number, name, call, part = match.groups()
        message = fields.setdefault(side, {}).setdefault(int(number), {"calls": {}})
        if name is not None:
            message[name] = value
        else:
            message["calls"].setdefault(int(call), {})[part] = value
    sides = {
        side: tuple(_from_fields(message) for _, message in sorted(found.items()))
        for side, found in fields.items()
    }
    return Said(sides.get(_PROMPT), sides.get("completion"))


def _from_fields(fields: Mapping[str, Any]) -> Message:
    role = text_of(fields.get("role")) or _ANSWER_ROLE
    content = text_of(fields.get("content"))
    call_id = text_of(fields.get("tool_call_id"))
    answers = role == _TOOL_ROLE and call_id is not None
    calls = (mapping_of(call) or {} for _, call in sorted(fields["calls"].items()))
    return Message(
        role=role,
        texts=() if content is None or answers else (content,),
        asked=tuple(
            Asked(text_of(call.get("id")), text_of(call.get("name")), call.get("arguments"))
            for call in calls
        ),
        answered=(Answered(call_id, content),) if answers and call_id is not None else (),
    )
