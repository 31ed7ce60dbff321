"""The shape in which events are decoded for reading fields: typed envelope, plain data.

Shared by the array form and the stream, so that both accept exactly the same envelopes.
"""

from typing import Annotated, Any, Final, cast

import msgspec

from aw_graders import _json
from aw_graders.session.limits import MAX_SAFE_INTEGER
from aw_graders.session.model import Event


class WireProvenance(msgspec.Struct, gc=False):
    """Where an event comes from, as it stands on the line."""

    component: str
    phase: str
    path: str
    index: Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE_INTEGER)]


class LongWireEvent(msgspec.Struct, gc=False):
    """A long event as it stands on the line, its data validated and not yet made into values."""

    type: Annotated[str, msgspec.Meta(min_length=1)]
    provenance: WireProvenance
    data: dict[str, msgspec.Raw]
    timestamp: Any = None
    ts: Any = None
    time: Any = None
    created_at: Any = None
    message: Any = None
    agentId: Any = None  # noqa: N815 - the recorded key
    sessionId: Any = None  # noqa: N815
    session_id: Any = None
    parent_tool_use_id: Any = None
    parentToolUseId: Any = None  # noqa: N815
    parentToolCallId: Any = None  # noqa: N815


class WireEvent(msgspec.Struct, gc=False):
    """One event with its data decoded; values that graders never look at stay what they are."""

    type: Annotated[str, msgspec.Meta(min_length=1)]
    provenance: WireProvenance
    data: dict[str, Any]
    timestamp: Any = None
    ts: Any = None
    time: Any = None
    created_at: Any = None
    message: Any = None
    agentId: Any = None  # noqa: N815 - the recorded key
    sessionId: Any = None  # noqa: N815
    session_id: Any = None
    parent_tool_use_id: Any = None
    parentToolUseId: Any = None  # noqa: N815
    parentToolCallId: Any = None  # noqa: N815


def shorten(event: LongWireEvent) -> tuple[WireEvent, int]:
    """Make values of a long event's data, but for long texts that statistics never read.

    Such a text becomes the empty one, which tells as little about the outcome of a call. Its
    escapes have been validated; whether it is UTF-8 is for the caller to know.
    Returns: the event, and how many bytes of its line were left out.
    Raises: msgspec.MsgspecError for a number that is too large.
    """
    data: dict[str, Any] = {}
    left_out = 0
    for key, raw in event.data.items():
        if key in _UNREAD_TEXTS and len(raw) > _LONG_TEXT_BYTES and memoryview(raw)[0] == _QUOTE:
            left_out += len(raw)
            data[key] = ""
        else:
            data[key] = _DECODE(raw)
    short = WireEvent(
        event.type,
        event.provenance,
        data,
        event.timestamp,
        event.ts,
        event.time,
        event.created_at,
        event.message,
        event.agentId,
        event.sessionId,
        event.session_id,
        event.parent_tool_use_id,
        event.parentToolUseId,
        event.parentToolCallId,
    )
    return short, left_out


_QUOTE: Final = ord('"')
_LONG_TEXT_BYTES: Final = 256
# As text, what a tool returned or a message says decides nothing.
_UNREAD_TEXTS: Final = frozenset({"output", "result", "content", "deltaContent", "text"})
_DECODE: Final = msgspec.json.Decoder().decode


def to_wire(event: Event) -> WireEvent:
    """Decode an event's data and correlation keys.

    Cost: linear in the event's text. Raises nothing: the text was written by the project's decoder.
    """
    source = event.provenance
    rest = cast("dict[str, Any]", _json.decode(event.rest_json)) if len(event.rest_json) > 2 else {}  # noqa: PLR2004 - more than "{}"
    return WireEvent(
        type=event.type,
        provenance=WireProvenance(source.component, source.phase, source.path, source.index),
        data=cast("dict[str, Any]", _json.decode(event.data_json)),
        **{key: rest[key] for key in _CORRELATION if key in rest},
    )


_CORRELATION = frozenset(WireEvent.__struct_fields__) - {"type", "provenance", "data"}
