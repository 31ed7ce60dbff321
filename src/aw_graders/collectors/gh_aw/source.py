"""One source of a session: what observed it, in which phase, in which file, and its events."""

from collections.abc import Mapping, Sequence
from sys import intern
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.gh_aw.limits import MAX_ENVELOPE_BYTES
from aw_graders.collectors.normalise import Notes, mapping_of
from aw_graders.session import Event, Provenance
from aw_graders.session.events import TIME_KEYS
from aw_graders.session.limits import MAX_LINE_BYTES
from aw_graders.session.model import EMPTY_OBJECT
from aw_graders.session.order import event_time_ns
from aw_graders.session.packed import Packed
from aw_graders.session.timestamps import ns_to_ms

_MAX_DATA_BYTES: Final = MAX_LINE_BYTES - MAX_ENVELOPE_BYTES


class Source(msgspec.Struct, frozen=True):
    """A file that was read as one kind of evidence; without events it was there and empty."""

    component: str
    phase: str
    path: str
    events: Sequence[Event] = ()


class SourceWriter:
    """Collects the events of one source, numbered from 0."""

    def __init__(self, component: str, phase: str, path: str, notes: Notes) -> None:
        """Begin without events."""
        self.component = component
        self.phase = phase
        self.path = path
        self.notes = notes
        self.events = Packed()

    def add(
        self,
        kind: str,
        data: Mapping[str, JsonValue],
        rest: Mapping[str, JsonValue] | None = None,
        *,
        line: int | None = None,
        native: Mapping[str, JsonValue] | None = None,
    ) -> None:
        """Add one event; one that no reader of sessions would take is left out with a note.

        Takes: `rest`, the other top-level keys; `native`, the provenance that the row had itself.
        """
        provenance = Provenance(self.component, self.phase, self.path, len(self.events))
        extra = {} if native is None else {"native": native}
        event = Event(
            intern(kind),
            provenance,
            _json.compact(data),
            _json.compact(rest) if rest else EMPTY_OBJECT,
        )
        self.put(event, extra, line=line)

    def put(self, event: Event, extra: dict[str, Any], *, line: int | None = None) -> None:
        """Add an event whose place is settled, and give it the time it was observed."""
        time = event_time_ns(event)
        if time is not None:
            extra = {"timestampMs": ns_to_ms(time), **extra}
        parts = (
            event.data_json,
            event.rest_json,
            extra_json := _json.compact(extra) if extra else EMPTY_OBJECT,
        )
        if sum(map(len, parts)) > _MAX_DATA_BYTES:
            message = "a record is too long for one event and was skipped"
            self.notes.count("line-too-long", message, line, lossy=True)
        elif any(_json.is_too_deep(b"[[" + part + b"]]") for part in parts):
            message = "a record nests too deeply for an event and was skipped"
            self.notes.count("nested-too-deeply", message, line, lossy=True)
        else:
            place = event.provenance
            provenance = Provenance(
                place.component, place.phase, place.path, place.index, extra_json
            )
            self.events.append(msgspec.structs.replace(event, provenance=provenance))

    def source(self) -> Source:
        """Close the source."""
        return Source(self.component, self.phase, self.path, self.events)


def time_of_row(row: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Find a record's own time, unchanged, as the one key that an event has for it.

    Source: unified session format 1.8.0, ordering; the first key that is present counts.
    """
    value: object = next((row[key] for key in TIME_KEYS if key in row), None)
    if value is None:
        value = (mapping_of(row.get("message")) or {}).get("timestamp")
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return {"timestamp": value}
    return {}
