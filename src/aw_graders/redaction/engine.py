"""From a session to a redacted one, and the list of what was masked.

The only maker of a `Redacted` session. Pure and idempotent: a placeholder matches no rule, and the
same secret always becomes the same placeholder, so that equal calls stay equal.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, Final, cast

import msgspec

from aw_graders import _json
from aw_graders.lookups import Observations, RedactedObservations, merge
from aw_graders.redaction.known import KnownValues, Matcher, is_clean, matcher
from aw_graders.session.model import Event, Provenance, Redacted, Session, seal
from aw_graders.session.packed import replaced

# As many events are searched at once; it pays to have few searches, and few to repeat.
_BATCH: Final = 64
_EMPTY: Final = b"{}"


class Masked(msgspec.Struct, frozen=True):
    """One masked text: the event's position in the session, where in it, and the kind of secret."""

    event: int
    pointer: str
    kind: str


class Redaction(msgspec.Struct, frozen=True):
    """A redacted session and what was masked in it; never the values."""

    session: Redacted
    masked: tuple[Masked, ...]


def redact(session: Session, known: KnownValues | None = None) -> Redaction:
    """Mask every known value and every shape of a secret, in keys, ids and values alike.

    Takes: `known`, the values that are secrets whatever they look like.
    Returns: a session with the same events but for those that held a secret.
    Raises: nothing.
    Cost: O(text), in a linear-time engine whatever the text is.
    Source: Graders Specification 0.5.0, section 5; decision 21.
    """
    search = matcher(known)
    masked: list[Masked] = []
    changes: dict[int, Event] = {}
    clean_texts: set[str] = set()
    for first in range(0, len(session.events), _BATCH):
        batch = session.events[first : first + _BATCH]
        if _are_clean(batch, search, clean_texts):
            continue
        for position, event in enumerate(batch, first):
            if is_clean(b"\n".join(_texts(event)), search):
                continue
            found: list[tuple[str, str]] = []
            masked_event = _Walk(search, found).event(event)
            if found:
                changes[position] = masked_event
            masked += [Masked(position, pointer, kind) for pointer, kind in found]
    result = Session(replaced(session.events, changes)) if masked else session
    return Redaction(Redacted(result, seal()), tuple(masked))


def redact_observations(
    observations: Observations, known: KnownValues | None = None
) -> RedactedObservations:
    """Mask every known value and shape of a secret in the rows of a session read in parts.

    Takes: rows of events as they were recorded; they are changed in place. Rows hold names, ids and
        arguments; what else a session holds was never kept.
    Returns: the rows that observing the redacted session would have given.
    Cost: O(kept text).
    """
    search = matcher(known)
    walk = _Walk(search, [])
    for source in observations.sources:
        for field in ("component", "phase", "path"):
            setattr(source, field, walk.text(getattr(source, field), ""))
        for rows in (source.native, source.gateway, source.proxy, source.reports):
            _mask_rows(rows, search)
        _mask_rows(source.results, search)
        _mask_rows([result.usage for result in source.results if result.usage is not None], search)
    observations.listed = [
        (walk.text(component, ""), walk.text(phase, "")) for component, phase in observations.listed
    ]
    observations.experiments = [walk.fields(item) for item in observations.experiments]
    observations.evals = [walk.fields(item) for item in observations.evals]
    observations.workflow = walk.fields(observations.workflow)
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


def mask_text(text: str, known: KnownValues | None = None) -> str:
    """Mask every known value and every shape of a secret in one text that is about to leave."""
    return _Walk(matcher(known), []).text(text, "")


def _mask_rows(rows: Sequence[msgspec.Struct], search: Matcher | None) -> None:
    """Mask the texts of rows of one kind; one search a field settles nearly all of them at once."""
    for field, is_json in _text_fields(type(rows[0])) if rows else ():
        column = filter(None, map(attrgetter(field), rows))
        joined = b"\n".join(column) if is_json else _encoded("\n".join(column))
        if is_clean(joined, search):
            continue
        for row in rows:
            value = getattr(row, field)
            if value is not None:
                setattr(
                    row,
                    field,
                    _mask_arguments(value, search)
                    if is_json
                    else _Walk(search, []).text(value, ""),
                )


@cache
def _text_fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, bool], ...]:
    """Name the fields of a row that hold text, and whether that is JSON text in bytes."""
    return tuple(
        (field.name, "bytes" in str(field.type))
        for field in msgspec.structs.fields(kind)
        if "str" in str(field.type) or "bytes" in str(field.type)
    )


def _mask_arguments(text: bytes, search: Matcher | None) -> bytes:
    found: list[tuple[str, str]] = []
    value = _Walk(search, found).value(_json.decode(text), "")
    return _json.sorted_text(value) if found else text


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _texts(event: Event) -> Iterator[bytes]:
    """Yield every text of an event, those in JSON as they are spelled there."""
    source = event.provenance
    yield event.data_json
    yield event.rest_json
    yield source.rest_json
    for text in (event.type, source.component, source.phase, source.path):
        yield _encoded(text)


def _are_clean(batch: Sequence[Event], search: Matcher | None, clean_texts: set[str]) -> bool:
    """Tell, by one search, that no rule can match in any of several events.

    Takes: the types, components, phases and paths that were found clean; new ones are added.
    """
    short: set[str] = set()
    texts: list[bytes] = []
    for event in batch:
        source = event.provenance
        texts.append(event.data_json)
        if event.rest_json != _EMPTY:
            texts.append(event.rest_json)
        if source.rest_json != _EMPTY:
            texts.append(source.rest_json)
        short.update((event.type, source.component, source.phase, source.path))
    short -= clean_texts
    if not is_clean(b"\n".join((*texts, *map(_encoded, short))), search):
        return False
    clean_texts |= short
    return True


class _Walk:
    """Masks values at every depth and notes where and what; never the masked text itself."""

    def __init__(self, search: Matcher | None, found: list[tuple[str, str]]) -> None:
        self._search = search
        self._found = found

    def event(self, event: Event) -> Event:
        """Mask every part of an event."""
        source = event.provenance
        return Event(
            type=self.text(event.type, "/type"),
            provenance=Provenance(
                self.text(source.component, "/provenance/component"),
                self.text(source.phase, "/provenance/phase"),
                self.text(source.path, "/provenance/path"),
                source.index,
                self._json(source.rest_json, "/provenance"),
            ),
            data_json=self._json(event.data_json, "/data"),
            rest_json=self._json(event.rest_json, ""),
        )

    def text(self, text: str, pointer: str, key: str = "") -> str:
        """Mask one text, which stands under `key` in an object, or under none."""
        if not key and is_clean(_encoded(text), self._search):
            return text
        # Most sessions are clean and never need the rules.
        from aw_graders.redaction.text import mask  # noqa: PLC0415

        kinds: list[str] = []
        masked = mask(text, key, self._search, kinds)
        self._found += [(pointer, kind) for kind in kinds]
        return masked

    def fields(self, value: dict[str, Any]) -> dict[str, Any]:
        """Mask an object of which most are clean."""
        clean = is_clean(_json.compact(value), self._search)
        return value if clean else cast("dict[str, Any]", self.value(value, ""))

    def value(self, value: Any, pointer: str, key: str = "") -> Any:
        """Mask texts at every depth; the decoder bounds depth, and each level is one frame."""
        if isinstance(value, str):
            return self.text(value, pointer, key)
        if isinstance(value, Mapping):
            fields: dict[str, Any] = {}
            for name, item in cast("Mapping[str, Any]", value).items():
                masked = self.text(name, f"{pointer}/(key)")
                # Two spellings of one secret are one placeholder, but stay two keys.
                while masked in fields:
                    masked += "'"
                fields[masked] = self.value(item, f"{pointer}/{_escape(masked)}", name)
            return fields
        if isinstance(value, list | tuple):
            items = list(cast("list[Any]", value))
            for place, item in enumerate(items):
                items[place] = self.value(item, f"{pointer}/{place}", key)
            return items
        return value

    def _json(self, text: bytes, pointer: str) -> bytes:
        before = len(self._found)
        value = self.value(_json.decode(text), pointer)
        return text if len(self._found) == before else _json.compact(value)


def _escape(key: str) -> str:
    """Escape a key for a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
