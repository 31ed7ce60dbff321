"""The order in which a session's events are written, and how to get source order back."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from aw_graders.session.events import TIME_KEYS
from aw_graders.session.limits import MAX_TIME_MS
from aw_graders.session.model import Event, is_header
from aw_graders.session.packed import selected
from aw_graders.session.timestamps import stamp_ns

SourceKey: TypeAlias = tuple[str, str, str]
_OTEL: Final = "otel"
_MAX_OTEL_DIGITS: Final = 22
_FIREWALL_AUDIT: Final = "audit.jsonl"
_MS_PER_SECOND: Final = 1000
_FIREWALL: Final = "firewall"
_MAX_TIME_NS: Final = int(MAX_TIME_MS) * 1_000_000


def source_of(event: Event) -> SourceKey:
    """Name the source of an event: component, phase and path."""
    provenance = event.provenance
    return provenance.component, provenance.phase, provenance.path


def event_time_ns(event: Event) -> int | None:
    """Read the time of an event in nanoseconds, in the unit of its kind of source.

    Source: unified session format 1.8.0, ordering. The unit never comes from the number's size.
    """
    rest = event.rest
    value = next((rest[key] for key in TIME_KEYS if key in rest), None)
    if value is None:
        message = rest.get("message")
        value = message.get("timestamp") if isinstance(message, Mapping) else None
    if event.provenance.component == _OTEL and isinstance(value, str) and value.isascii():
        if value.isdigit() and len(value) <= _MAX_OTEL_DIGITS:
            return int(value) if int(value) <= _MAX_TIME_NS else None
        return stamp_ns(value)
    audit = event.provenance.path.rsplit("/", 1)[-1] == _FIREWALL_AUDIT
    is_audit = audit and event.provenance.component == _FIREWALL
    if is_audit and isinstance(value, int | float) and not isinstance(value, bool):
        value = value * _MS_PER_SECOND
    return stamp_ns(value)


def order_keys(events: Sequence[Event]) -> list[int | None]:
    """Give each event its sort key: the largest time its source has shown so far.

    A clock that runs backwards never reorders a source, and leading untimed events take the
    source's first time. Events of `otel` use their own time.
    """
    times = [event_time_ns(event) for event in events]
    anchors: dict[SourceKey, int] = {}
    for event, time in zip(events, times, strict=True):
        if time is not None:
            anchors.setdefault(source_of(event), time)
    keys: list[int | None] = []
    for event, time in zip(events, times, strict=True):
        source = source_of(event)
        if event.provenance.component == _OTEL:
            keys.append(time)
            continue
        if time is not None and time > anchors[source]:
            anchors[source] = time
        keys.append(anchors.get(source))
    return keys


def write_order(events: Sequence[Event]) -> Sequence[Event]:
    """Sort events as version 1.8.0 writes them: header first, then by anchored time, stable.

    Takes: events with those of each source in source order.
    Returns: a tuple of them; events that are packed stay so.
    Cost: O(n log n).
    """
    start = 1 if events and is_header(events[0]) else 0
    keys = order_keys(events)
    untimed = [key is None for key in keys]
    positions = sorted(range(start, len(events)), key=lambda i: (untimed[i], keys[i] or 0))
    return selected(events, [*range(start), *positions])


def order_problem(events: Sequence[Event]) -> tuple[int, str] | None:
    """Find the first event that breaks the order of version 1.8.0: its position and why.

    Files of version 1.7.0 break it and are still accepted for grading.
    """
    start = 1 if events and is_header(events[0]) else 0
    last_index: dict[SourceKey, int] = {}
    last_key: int | None = None
    untimed_seen = False
    for position, key in enumerate(order_keys(events[start:]), start):
        event = events[position]
        source, index = source_of(event), event.provenance.index
        if event.provenance.component != _OTEL and index < last_index.get(source, -1):
            return position, f"index {index} comes after index {last_index[source]} of its source"
        last_index[source] = index
        if key is None:
            untimed_seen = True
        elif untimed_seen:
            return position, "a timed event comes after untimed ones"
        elif last_key is not None and key < last_key:
            return position, "its time is before the time of the event in front of it"
        else:
            last_key = key
    return None
