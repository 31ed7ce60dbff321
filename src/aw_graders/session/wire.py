"""The shape in which events are decoded for reading fields: typed envelope, plain data.

Shared by the array form and the stream, so that both accept exactly the same envelopes.
"""

from typing import Annotated, Any, cast

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
