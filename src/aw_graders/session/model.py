"""A session: the ordered, typed events of one run, deeply read-only."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, cast

import msgspec

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.session import events

EMPTY_OBJECT: Final = b"{}"


class Provenance(msgspec.Struct, frozen=True, gc=False):
    """What observed an event, in which phase, in which file, at which place of it.

    `index` counts from 0 in the source's own list of events; it is not a line number.
    `rest_json` holds every other key of the recorded object (`timestampMs`, `native`) as JSON text.
    """

    component: str
    phase: str
    path: str
    index: int
    rest_json: bytes = EMPTY_OBJECT

    @property
    def timestamp_ms(self) -> int | float | None:
        """The observed time in milliseconds, for ordering and display only."""
        if self.rest_json == EMPTY_OBJECT:
            return None
        value = cast("dict[str, object]", _json.decode(self.rest_json)).get("timestampMs")
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None


class Event(msgspec.Struct, frozen=True, gc=False):
    """One recorded fact. `data` stays JSON text until somebody asks for a field of it.

    `data_json` and `rest_json` were written by the project's decoder, so they are strict JSON.
    `rest_json` holds the top-level keys other than `type`, `data` and `provenance`.
    """

    type: str
    provenance: Provenance
    data_json: bytes = EMPTY_OBJECT
    rest_json: bytes = EMPTY_OBJECT

    @property
    def data(self) -> Mapping[str, JsonValue]:
        """The event's data, decoded now and deeply read-only."""
        return cast("Mapping[str, JsonValue]", _json.freeze(_json.decode(self.data_json)))

    @property
    def rest(self) -> Mapping[str, JsonValue]:
        """The other top-level keys: `id`, `parentId`, `timestamp`, `agentId`, `ephemeral`, more."""
        return cast("Mapping[str, JsonValue]", _json.freeze(_json.decode(self.rest_json)))

    @property
    def timestamp(self) -> JsonValue:
        """The native time, unchanged: text, a number, or None when there is none."""
        return self.rest.get("timestamp")

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain JSON data, in the order in which lines are written."""
        return {
            "type": self.type,
            **cast("dict[str, Any]", _json.decode(self.rest_json)),
            "data": _json.decode(self.data_json),
            "provenance": {
                "component": self.provenance.component,
                "phase": self.provenance.phase,
                "path": self.provenance.path,
                "index": self.provenance.index,
                **cast("dict[str, Any]", _json.decode(self.provenance.rest_json)),
            },
        }


HEADER: Final = Event(
    type=events.SESSION_FORMAT,
    provenance=Provenance("collector", "conclusion", "usage/aw_session.jsonl", 0),
    data_json=b'{"version":1}',
)


class Session(msgspec.Struct, frozen=True):
    """All events of one run, in recorded order. The first one is always the format header."""

    events: Sequence[Event]

    @classmethod
    def of(cls, items: Sequence[Event]) -> "Session":
        """Make a session of `items`, with a header in front when they have none."""
        if items and is_header(items[0]):
            return cls(tuple(items))
        return cls((HEADER, *items))

    def __len__(self) -> int:
        """Count the events, the header included."""
        return len(self.events)

    def __iter__(self) -> Iterator[Event]:
        """Walk the events in recorded order."""
        return iter(self.events)


def is_header(event: Event) -> bool:
    """Tell whether `event` is the collector's format header, and not a source's own event."""
    provenance = event.provenance
    return event.type == events.SESSION_FORMAT and provenance.component == "collector"


class Seal:
    """A key that only the redaction engine holds; see the contract test on its users."""

    __slots__: ClassVar[tuple[str, ...]] = ()


_SEAL: Final = Seal()


class Redacted(msgspec.Struct, frozen=True):
    """A session without secrets. Only the redaction engine makes one; grading accepts no other."""

    session: Session
    seal: Seal

    def __post_init__(self) -> None:
        """Refuse a redacted session that was not made by the redaction engine."""
        check_seal(self.seal)

    @property
    def events(self) -> Sequence[Event]:
        """The events, masked, in recorded order."""
        return self.session.events


def check_seal(given: Seal) -> None:
    """Raise TypeError unless `given` is the redaction engine's own key."""
    if given is not _SEAL:
        msg = "only the redaction engine makes a Redacted session"
        raise TypeError(msg)


def seal() -> Seal:
    """Hand out the key. Called by `redaction.engine` alone, which a contract test checks."""
    return _SEAL
