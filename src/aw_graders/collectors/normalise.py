"""Conventions that collectors share: times, numbers, notes that are counted, and events."""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeGuard, cast

import msgspec

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.base import CollectionNote
from aw_graders.session import Event, Provenance, events
from aw_graders.session.limits import EARLIEST_TIME_MS, MAX_SAFE_INTEGER, MAX_TIME_MS
from aw_graders.session.timestamps import iso_ns

# Seconds reach this number in the year 5138, milliseconds reached it in 1973.
_SECONDS_BELOW: Final = 100_000_000_000
_NS_PER_MS: Final = 1_000_000
_MS_PER_SECOND: Final = 1000
_NUMBER_TEXT: Final = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,9})?", re.ASCII)
_COUNT_TEXT: Final = re.compile(r"[0-9]{1,16}", re.ASCII)
_EMPTY: Final = b"{}"

UNREADABLE_TIME: Final = "unreadable-time"
TIME_WITHOUT_ZONE: Final = "time-without-zone"
TIME_IN_SECONDS: Final = "time-in-seconds"
TIME_AS_TEXT: Final = "time-as-number-text"
NUMBER_AS_TEXT: Final = "number-as-text"
INVALID_NUMBER: Final = "invalid-number"

_MESSAGES: Final = {
    UNREADABLE_TIME: "time cannot be read or lies before 2000; the event is untimed",
    TIME_WITHOUT_ZONE: "time has no zone and was read as UTC",
    TIME_IN_SECONDS: "time is in seconds since 1970 and was read as such by its size",
    TIME_AS_TEXT: "time is a number written as text and was read as that number",
    NUMBER_AS_TEXT: "count is a number written as text and was read as that number",
    INVALID_NUMBER: "count is no whole number from 0 and was left out",
}
_LOSSY: Final = frozenset({INVALID_NUMBER})


class Time(msgspec.Struct, frozen=True):
    """A time as a unified session spells it, None when untimed, and the convention applied."""

    value: str | int | float | None
    convention: str | None = None


class Number(msgspec.Struct, frozen=True):
    """A whole number from 0, None when there is none, and the convention applied."""

    value: int | None
    convention: str | None = None


def time_of(value: object) -> Time:
    """Read a recorded time.

    Returns: ISO 8601 text with a zone and milliseconds since 1970 unchanged; text without a zone
        as UTC; seconds since 1970, by size, as milliseconds; number text as that number.
    """
    if value is None:
        return Time(None)
    if isinstance(value, str):
        return _time_of_text(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _time_of_number(value)
    return Time(None, UNREADABLE_TIME)


def _time_of_text(text: str) -> Time:
    nanoseconds = iso_ns(text, zone_required=True)
    if nanoseconds is not None:
        early = nanoseconds < EARLIEST_TIME_MS * _NS_PER_MS
        return Time(None, UNREADABLE_TIME) if early else Time(text)
    nanoseconds = iso_ns(text, zone_required=False)
    if nanoseconds is not None and nanoseconds >= EARLIEST_TIME_MS * _NS_PER_MS:
        return Time(f"{text}Z", TIME_WITHOUT_ZONE)
    if _NUMBER_TEXT.fullmatch(text) is None:
        return Time(None, UNREADABLE_TIME)
    number = _time_of_number(float(text) if "." in text else int(text))
    return number if number.value is None else Time(number.value, TIME_AS_TEXT)


def _time_of_number(number: float) -> Time:
    in_seconds = abs(number) < _SECONDS_BELOW
    milliseconds = number * _MS_PER_SECOND if in_seconds else number
    if not EARLIEST_TIME_MS <= milliseconds <= MAX_TIME_MS:
        return Time(None, UNREADABLE_TIME)
    whole = int(milliseconds)
    return Time(
        whole if whole == milliseconds else milliseconds, TIME_IN_SECONDS if in_seconds else None
    )


def whole_number(value: object) -> Number:
    """Read a count: a whole number from 0 that every JSON reader holds exactly, also as text."""
    if value is None:
        return Number(None)
    if isinstance(value, str) and _COUNT_TEXT.fullmatch(value) is not None:
        number = int(value)
        return Number(number, NUMBER_AS_TEXT) if number <= MAX_SAFE_INTEGER else _NO_NUMBER
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SAFE_INTEGER:
        return Number(value)
    return _NO_NUMBER


_NO_NUMBER: Final = Number(None, INVALID_NUMBER)


def metric(value: object) -> int | float | None:
    """Read a finite number from 0, such as a duration or a cost; anything else is None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    return value


def text_of(value: object) -> str | None:
    """Return `value` when it is text with something in it; an empty id is no id."""
    return value if isinstance(value, str) and value else None


def mapping_of(value: object) -> Mapping[str, Any] | None:
    """Return `value` when it is an object."""
    return value if is_mapping(value) else None


def list_of(value: object) -> list[Any]:
    """Return `value` when it is a list, else an empty one."""
    return value if is_list(value) else []


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Tell whether `value` is a JSON array."""
    return isinstance(value, list)


def is_mapping(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether `value` is a JSON object."""
    return isinstance(value, dict)


class _Tally(msgspec.Struct):
    """How often one thing was met in one file, and where first."""

    message: str
    line: int | None
    lossy: bool
    count: int = 0


class Notes:
    """The notes of one file: single ones, and ones that are counted."""

    def __init__(self, name: str) -> None:
        """Begin without notes on the file called `name`."""
        self.name = name
        self._notes: list[CollectionNote] = []
        self._tallies: dict[str, _Tally] = {}

    def add(self, code: str, message: str, line: int | None, *, lossy: bool) -> None:
        """Note one thing."""
        self._notes.append(CollectionNote(code, message, self.name, line, lossy))

    def count(self, code: str, message: str, line: int | None, *, lossy: bool) -> None:
        """Note one of possibly many: they become one note with a number and the first place."""
        tally = self._tallies.setdefault(code, _Tally(message, line, lossy))
        tally.count += 1

    def convention(self, code: str | None, line: int | None) -> None:
        """Count a convention of `time_of` or `whole_number`; None says that there was none."""
        if code is not None:
            self.count(code, _MESSAGES[code], line, lossy=code in _LOSSY)

    def whole(self, value: object, line: int | None) -> int | None:
        """Read a count, noting the convention applied."""
        number = whole_number(value)
        self.convention(number.convention, line)
        return number.value

    def all(self) -> tuple[CollectionNote, ...]:
        """List the notes: single ones in the order met, then the counted ones by their code."""
        counted = [
            CollectionNote(code, _counted(tally), self.name, tally.line, tally.lossy)
            for code, tally in sorted(self._tallies.items())
        ]
        return (*self._notes, *counted)


def _counted(tally: _Tally) -> str:
    if tally.count == 1:
        return tally.message
    return f"{tally.message} ({tally.count} times, here first)"


class EventWriter:
    """Collects the events of one source, numbered from 0 in the order they were added."""

    def __init__(self, path: str, notes: Notes) -> None:
        """Begin without events for the agent's recording called `path`."""
        self.path = path
        self.notes = notes
        self.events: list[Event] = []

    def add(
        self,
        kind: str,
        data: Mapping[str, JsonValue],
        rest: Mapping[str, JsonValue] | None = None,
    ) -> None:
        """Add one event with its data and its other top-level keys."""
        provenance = Provenance("agent", events.MAIN_PHASE, self.path, len(self.events))
        self.events.append(
            Event(
                type=kind,
                provenance=provenance,
                data_json=_json.compact(data) if data else _EMPTY,
                rest_json=_json.compact(rest) if rest else _EMPTY,
            )
        )

    def timestamp(self, value: object, line: int | None) -> JsonValue:
        """Read a row's time, noting the convention applied; None when it is untimed."""
        time = time_of(value)
        self.notes.convention(time.convention, line)
        return time.value


def decoded_text(text: str) -> JsonValue:
    """Read text that is JSON of an object or a list; other text stays as it is.

    So does text that nests so deeply that the event around it, two levels more, would be too deep.
    """
    raw = text.encode("utf-8", "replace")
    try:
        decoded = _json.decode(raw)
    except _json.JsonError:
        return text
    if not isinstance(decoded, Mapping | list) or _json.is_too_deep(b"[[" + raw + b"]]"):
        return text
    return decoded


def decoded_arguments(value: object) -> JsonValue:
    """Read a call's arguments when they are JSON text of an object; anything else stays as it is."""
    if not isinstance(value, str):
        return cast("JsonValue", value)
    decoded = decoded_text(value)
    return decoded if isinstance(decoded, Mapping) else value


def text_in(content: object) -> str | None:
    """Read text, or the text of parts, joined by line ends; None when it is neither."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [mapping_of(item) or {} for item in cast("list[object]", content)]
    return "\n".join(text for part in parts if isinstance(text := part.get("text"), str))
