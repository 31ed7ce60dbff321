"""From a session to a redacted one, and the list of what was masked.

The only maker of a `Redacted` session. Pure and idempotent: a placeholder matches no rule, and the
same secret always becomes the same placeholder, so that equal calls stay equal.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from aw_graders import _json
from aw_graders.redaction.rules import COMPILED, TRIGGER
from aw_graders.session.model import Event, Provenance, Redacted, Session, seal


class Masked(msgspec.Struct, frozen=True):
    """One masked text: the event's position in the session, where in it, and the kind of secret."""

    event: int
    pointer: str
    kind: str


class Redaction(msgspec.Struct, frozen=True):
    """A redacted session and what was masked in it; never the values."""

    session: Redacted
    masked: tuple[Masked, ...]


def redact(session: Session) -> Redaction:
    """Mask every known shape of a secret in `session`, in keys, ids and values alike.

    Returns: a session whose clean events are the same objects as before.
    Raises: nothing.
    Cost: O(text), in a linear-time engine whatever the text is.
    Source: Graders Specification 0.5.0, section 5; decision 21.
    """
    masked: list[Masked] = []
    events: list[Event] = []
    changed = False
    for position, event in enumerate(session.events):
        if _is_clean(event):
            events.append(event)
            continue
        found: list[tuple[str, str]] = []
        events.append(_mask_event(event, found))
        masked += [Masked(position, pointer, kind) for pointer, kind in found]
        changed = changed or bool(found)
    result = Session(tuple(events)) if changed else session
    return Redaction(Redacted(result, seal()), tuple(masked))


def mask_text(text: str) -> str:
    """Mask every known shape of a secret in one text that is about to leave."""
    return _mask(text, "", [])


def _is_clean(event: Event) -> bool:
    """Tell, from the JSON text alone, that no rule can match."""
    source = event.provenance
    return (
        TRIGGER.search(event.data_json) is None
        and TRIGGER.search(event.rest_json) is None
        and TRIGGER.search(event.type) is None
        and TRIGGER.search(source.path) is None
        and TRIGGER.search(source.component) is None
        and TRIGGER.search(source.phase) is None
        and TRIGGER.search(source.rest_json) is None
    )


def _mask_event(event: Event, found: list[tuple[str, str]]) -> Event:
    source = event.provenance
    return Event(
        type=_mask(event.type, "/type", found),
        provenance=Provenance(
            _mask(source.component, "/provenance/component", found),
            _mask(source.phase, "/provenance/phase", found),
            _mask(source.path, "/provenance/path", found),
            source.index,
            _mask_json(source.rest_json, "/provenance", found),
        ),
        data_json=_mask_json(event.data_json, "/data", found),
        rest_json=_mask_json(event.rest_json, "", found),
    )


def _mask_json(text: bytes, pointer: str, found: list[tuple[str, str]]) -> bytes:
    before = len(found)
    value = _walk(_json.decode(text), pointer, found)
    return text if len(found) == before else _json.compact(value)


def _walk(value: Any, pointer: str, found: list[tuple[str, str]]) -> Any:
    """Mask texts at every depth; depth is bounded by the decoder."""
    if isinstance(value, str):
        return _mask(value, pointer, found)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {
            (masked := _mask(key, f"{pointer}/(key)", found)): _walk(
                item, f"{pointer}/{_escape(masked)}", found
            )
            for key, item in items
        }
    if isinstance(value, list | tuple):
        listed = cast("list[Any]", value)
        return [_walk(item, f"{pointer}/{i}", found) for i, item in enumerate(listed)]
    return value


def _escape(key: str) -> str:
    """Escape a key for a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _mask(text: str, pointer: str, found: list[tuple[str, str]]) -> str:
    for kind, pattern in COMPILED:
        if pattern.search(text) is None:
            continue

        def placeholder(match: Any, kind: str = kind) -> str:
            found.append((pointer, kind))
            # Shaped secrets are long and random, so eight digits of a digest give nothing away.
            digest = hashlib.sha256(match.group(0).encode()).hexdigest()[:8]
            return f"[REDACTED:{kind}:{digest}]"

        text = pattern.sub(placeholder, text)
    return text
