"""From a decoded JSON value to an event, or to the one reason why it is none."""

from sys import intern
from typing import Any, cast

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.session import events
from aw_graders.session.limits import MAX_SAFE_INTEGER
from aw_graders.session.model import EMPTY_OBJECT, Event, Provenance, is_header

_PROVENANCE_TEXTS = ("component", "phase", "path")


class EnvelopeError(ValueError):
    """A JSON value that is not an event. The message is a clause without a place."""


def event_from(value: JsonValue) -> Event:
    """Make an event of one decoded value.

    Raises: EnvelopeError, naming the first thing that is missing or has the wrong type.
    Source: unified session format, section 1.2.
    """
    if not isinstance(value, dict):
        msg = f"an event is a JSON object, this is {_kind(value)}"
        raise EnvelopeError(msg)
    record = cast("dict[str, Any]", value)
    kind = record.get("type")
    if not isinstance(kind, str) or not kind:
        msg = 'the event has no "type"' if "type" not in record else '"type" is no text'
        raise EnvelopeError(msg)
    for key in ("data", "provenance"):
        if not isinstance(record.get(key), dict):
            msg = f'the event has no "{key}"' if key not in record else f'"{key}" is no object'
            raise EnvelopeError(msg)
    rest = {k: v for k, v in record.items() if k not in {"type", "data", "provenance"}}
    # Thousands of events share a few names, of which one copy is enough.
    return Event(
        type=intern(kind),
        provenance=_provenance(record["provenance"]),
        data_json=_json.compact(record["data"]),
        rest_json=_json.compact(rest) if rest else EMPTY_OBJECT,
    )


def _provenance(record: dict[str, Any]) -> Provenance:
    for key in _PROVENANCE_TEXTS:
        if not isinstance(record.get(key), str):
            msg = f'"provenance" has no text "{key}"'
            raise EnvelopeError(msg)
    index = record.get("index")
    if isinstance(index, float) and index.is_integer():
        index = int(index)
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index <= MAX_SAFE_INTEGER:
        msg = '"provenance" has no "index" that is a whole number from 0'
        raise EnvelopeError(msg)
    rest = {k: v for k, v in record.items() if k not in {*_PROVENANCE_TEXTS, "index"}}
    component, phase, path = (intern(record[key]) for key in _PROVENANCE_TEXTS)
    return Provenance(component, phase, path, index, _json.compact(rest) if rest else EMPTY_OBJECT)


def header_problem(event: Event) -> str | None:
    """Say what is wrong with the first event as a format header, or None when nothing is.

    Source: unified session format, section 1.1.
    """
    if event.type != events.SESSION_FORMAT:
        return f'the first event is "{event.type}", not the header "session.format"'
    if not is_header(event):
        return 'the header does not come from the component "collector"'
    version = event.data.get("version")
    if isinstance(version, bool) or version != 1:
        shown = _json.compact(version).decode() if "version" in event.data else "absent"
        return f"the session format version is {shown}; only 1 is supported"
    return None


def _kind(value: JsonValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "text"
    return "a number" if isinstance(value, int | float) else "an array"
