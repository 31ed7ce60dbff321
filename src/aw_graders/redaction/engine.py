"""From a session to a redacted one, and the list of what was masked.

The only maker of a `Redacted` session. Pure and idempotent: a placeholder matches no rule, and the
same secret always becomes the same placeholder, so that equal calls stay equal.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, cast

import msgspec

from aw_graders import _json
from aw_graders.lookups import Observations, RedactedObservations, merge
from aw_graders.redaction.rules import TRIGGER, compiled
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


def redact_observations(observations: Observations) -> RedactedObservations:
    """Mask every known shape of a secret in the rows of a session that is read in parts.

    Takes: rows of events as they were recorded; they are changed in place. Rows hold names, ids and
        arguments; what else a session holds was never kept.
    Returns: the rows that observing the redacted session would have given.
    Cost: O(kept text).
    """
    for source in observations.sources:
        for field in ("component", "phase", "path"):
            setattr(source, field, mask_text(getattr(source, field)))
        for rows in (source.native, source.gateway, source.proxy, source.reports):
            _mask_rows(rows)
        _mask_rows(source.results)
        _mask_rows([result.usage for result in source.results if result.usage is not None])
    observations.listed = [
        (mask_text(component), mask_text(phase)) for component, phase in observations.listed
    ]
    observations.experiments = [_walk(item, "", []) for item in observations.experiments]
    observations.evals = [_walk(item, "", []) for item in observations.evals]
    observations.workflow = _walk(observations.workflow, "", [])
    return RedactedObservations(observations, seal())


def merge_redacted(parts: Sequence[RedactedObservations]) -> RedactedObservations:
    """Join redacted rows of consecutive parts of one session into those of the whole.

    Cost: O(rows); the first part is changed.
    """
    return RedactedObservations(merge(part.observations for part in parts), seal())


def pack(redacted: RedactedObservations) -> bytes:
    """Spell redacted rows as bytes for another process of the same program."""
    return msgspec.msgpack.encode(redacted.observations)


def unpack(packed: bytes) -> RedactedObservations:
    """Read the rows that `pack` spelled in a copy of this process.

    No other bytes may be given: they are taken to be redacted.
    Raises: msgspec.DecodeError for bytes that hold no rows.
    """
    return RedactedObservations(msgspec.msgpack.decode(packed, type=Observations), seal())


def _mask_rows(rows: Sequence[msgspec.Struct]) -> None:
    """Mask the texts of rows of one kind; one search a field settles nearly all of them at once."""
    for field, is_json in _text_fields(type(rows[0])) if rows else ():
        column = filter(None, map(attrgetter(field), rows))
        joined = b"\n".join(column) if is_json else "\n".join(column).encode()
        if TRIGGER.search(joined) is None:
            continue
        for row in rows:
            value = getattr(row, field)
            if value is not None:
                setattr(row, field, _mask_arguments(value) if is_json else mask_text(value))


@cache
def _text_fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, bool], ...]:
    """Name the fields of a row that hold text, and whether that is JSON text in bytes."""
    return tuple(
        (field.name, "bytes" in str(field.type))
        for field in msgspec.structs.fields(kind)
        if "str" in str(field.type) or "bytes" in str(field.type)
    )


def _mask_arguments(text: bytes) -> bytes:
    found: list[tuple[str, str]] = []
    value = _walk(_json.decode(text), "", found)
    return _json.sorted_text(value) if found else text


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
    """Mask texts at every depth; depth is bounded by the decoder, one frame for each level."""
    if isinstance(value, str):
        return _mask(value, pointer, found)
    if isinstance(value, Mapping):
        fields: dict[str, Any] = {}
        for key, item in cast("Mapping[str, Any]", value).items():
            masked = _mask(key, f"{pointer}/(key)", found)
            fields[masked] = _walk(item, f"{pointer}/{_escape(masked)}", found)
        return fields
    if isinstance(value, list | tuple):
        items = list(cast("list[Any]", value))
        for place, item in enumerate(items):
            items[place] = _walk(item, f"{pointer}/{place}", found)
        return items
    return value


def _escape(key: str) -> str:
    """Escape a key for a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _mask(text: str, pointer: str, found: list[tuple[str, str]]) -> str:
    if TRIGGER.search(text) is None:
        return text
    # Loading the hash functions costs more than most sessions take to grade.
    import hashlib  # noqa: PLC0415

    for kind, pattern in compiled():
        if pattern.search(text) is None:
            continue

        def placeholder(match: Any, kind: str = kind) -> str:
            found.append((pointer, kind))
            # Shaped secrets are long and random, so eight digits of a digest give nothing away.
            digest = hashlib.sha256(match.group(0).encode()).hexdigest()[:8]
            return f"[REDACTED:{kind}:{digest}]"

        text = pattern.sub(placeholder, text)
    return text
