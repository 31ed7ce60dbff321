"""The trajectory of a session, read from its evidence or projected from its events.

Source: Graders Specification 0.5.0, section 4; decisions 10 and 44 to 48.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast

import msgspec

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.lookups.model import ToolCall
from aw_graders.lookups.places import Place
from aw_graders.lookups.trajectory import (
    COLLECTIONS,
    EVENTS,
    REFERENCE,
    STATES,
    TOOL_CALLS,
    Collection,
    Trajectory,
)
from aw_graders.session import events as names
from aw_graders.session.model import Event

# Decision 46: members that differ from run to run and are no part of a state.
_VOLATILE: Final = frozenset(
    {
        *("timestamp", "time", "ts", "createdat", "updatedat"),
        *("requestid", "rid", "traceid", "spanid", "correlationid"),
    }
)
_SEPARATORS: Final = str.maketrans("", "", "_-")
_SILENT_PHASES: Final = frozenset({"detection", "evals"})

_SourceKey: TypeAlias = tuple[str, str, str]


def trajectory_of(
    events: Sequence[Event], calls: Sequence[ToolCall], *, agent_observed: bool
) -> Trajectory:
    """Read the recorded evidence of a trajectory, and project what a plain session gives.

    Takes: the events of the session and its tool calls in source order.
    Returns: recorded collections, each of which replaces its projection whole.
    Cost: O(n log n).
    """
    ranks = _source_ranks(events)
    recorded = _recorded(events, ranks)
    projected: dict[str, Collection] = {}
    if agent_observed:
        projected = {
            EVENTS: _projected_events(events, calls, ranks),
            STATES: _projected_states(calls),
            TOOL_CALLS: _projected_calls(events, calls),
        }
    kept = {name: found for name, found in projected.items() if name not in recorded.malformed}
    collections = MappingProxyType({**kept, **recorded.collections})
    return msgspec.structs.replace(recorded, collections=collections)


def _key(event: Event) -> _SourceKey:
    source = event.provenance
    return source.component, source.phase, source.path


def _source_ranks(events: Iterable[Event]) -> dict[_SourceKey, int]:
    """Rank the sources by their first event."""
    ranks: dict[_SourceKey, int] = {}
    for event in events:
        ranks.setdefault(_key(event), len(ranks))
    return ranks


def _recorded(events: Iterable[Event], ranks: Mapping[_SourceKey, int]) -> Trajectory:
    """Join the recorded evidence in source order, without any projection."""
    evidence = sorted(
        (
            event
            for event in events
            if event.type == names.TRAJECTORY_EVIDENCE
            and event.provenance.phase not in _SILENT_PHASES
        ),
        key=lambda event: (ranks[_key(event)], event.provenance.index),
    )
    entries: dict[str, list[JsonValue]] = {}
    pieces: dict[str, list[tuple[int, Place]]] = {}
    malformed: dict[str, Place] = {}
    reference: JsonValue = None
    reference_place: Place | None = None
    for event in evidence:
        data, place = event.data, Place(event.provenance.path, event.provenance.index)
        if REFERENCE in data:
            reference, reference_place = data[REFERENCE], place
        for name in COLLECTIONS:
            piece = data.get(name, _ABSENT)
            if isinstance(piece, list | tuple):
                joined = entries.setdefault(name, [])
                pieces.setdefault(name, []).append((len(joined), place))
                joined.extend(piece)
            elif piece is not _ABSENT:
                malformed.setdefault(name, place)
    recorded = {
        name: Collection(tuple(found), recorded=True, pieces=tuple(pieces[name]))
        for name, found in entries.items()
        if name not in malformed
    }
    return Trajectory(recorded, MappingProxyType(malformed), reference, reference_place)


_ABSENT: Final = cast("JsonValue", object())


def _projected_calls(events: Iterable[Event], calls: Iterable[ToolCall]) -> Collection:
    starts: dict[tuple[str, str, str, int], list[Event]] = {}
    for event in events:
        if event.type == names.TOOL_START:
            starts.setdefault((*_key(event), event.provenance.index), []).append(event)
    entries = [
        _frozen(
            {
                "id": call.tool_call_id,
                "name": call.name,
                "arguments": _as_recorded(call, starts),
                "success": call.success,
                "completed": call.completed,
                "durationMs": call.duration_ms,
            }
        )
        for call in calls
    ]
    return Collection(tuple(entries), recorded=False, places=tuple(call.place for call in calls))


def _as_recorded(
    call: ToolCall, starts: Mapping[tuple[str, str, str, int], list[Event]]
) -> JsonValue:
    """Return a call's arguments with their keys in recorded order; None when it has none."""
    if call.arguments_json is None or call.start_index is None:
        return None
    for event in starts.get((*cast("_SourceKey", call.scope[:3]), call.start_index), ()):
        recorded = next((event.data[key] for key in names.TOOL_INPUT if key in event.data), None)
        # One place may hold several starts; the call's own has its arguments.
        if recorded is not None and _json.sorted_text(_json.thaw(recorded)) == call.arguments_json:
            return recorded
    return call.arguments


def _projected_states(calls: Sequence[ToolCall]) -> Collection:
    entries = [_frozen({"id": state_id(call), "label": call.name}) for call in calls]
    return Collection(tuple(entries), recorded=False, places=tuple(call.place for call in calls))


def state_id(call: ToolCall) -> str:
    """Name the state that a call visits: its tool and its arguments, but for volatile members.

    Absent and null arguments name the state of the tool alone.
    """
    if call.arguments_json is None:
        return call.name
    arguments = _steady(_json.decode(call.arguments_json))
    return call.name if arguments is None else f"{call.name} {_json.canonical(arguments).decode()}"


def _steady(value: Any) -> Any:
    """Leave volatile members out, at any depth; one frame of the stack for each level."""
    if isinstance(value, dict):
        kept: dict[str, Any] = {}
        for key, item in cast("dict[str, Any]", value).items():
            if key.lower().translate(_SEPARATORS) not in _VOLATILE:
                kept[key] = _steady(item)
        return kept
    if isinstance(value, list):
        items = list(cast("list[Any]", value))
        for place, item in enumerate(items):
            items[place] = _steady(item)
        return items
    return value


def _projected_events(
    events: Sequence[Event], calls: Sequence[ToolCall], ranks: Mapping[_SourceKey, int]
) -> Collection:
    """List calls, observations, messages and outputs in source order."""
    found = [*_call_events(calls, ranks), *_said_events(events, ranks)]
    found.sort(key=lambda item: item[0])
    entries = [
        _frozen({"index": index, "kind": kind, **({} if ref is None else {"ref": ref})})
        for index, (_, kind, ref, _) in enumerate(found)
    ]
    return Collection(tuple(entries), recorded=False, places=tuple(item[3] for item in found))


# Where an entry stands (rank of its source, index, order at one place), its kind, ref and place.
_Entry: TypeAlias = tuple[tuple[int, int, int], str, str | None, Place]


def _call_events(calls: Iterable[ToolCall], ranks: Mapping[_SourceKey, int]) -> Iterator[_Entry]:
    for call in calls:
        rank = ranks[cast("_SourceKey", call.scope[:3])]
        place = call.place
        yield (rank, place.index, 0), "tool_call", call.name, place
        if call.source == "agent" and call.complete_index is not None:
            closed = Place(call.path, call.complete_index)
            yield (rank, call.complete_index, 1), "observation", None, closed


def _said_events(events: Iterable[Event], ranks: Mapping[_SourceKey, int]) -> Iterator[_Entry]:
    for event in events:
        source = event.provenance
        if source.phase != names.MAIN_PHASE:
            continue
        position = (ranks[_key(event)], source.index, 0)
        place = Place(source.path, source.index)
        if event.type == names.SAFE_OUTPUT_REQUEST:
            yield position, "safe_output", None, place
        elif event.type == names.ASSISTANT_MESSAGE and event.data.get("partial") is not True:
            yield position, "message", None, place


def _frozen(record: dict[str, Any]) -> JsonValue:
    return cast("JsonValue", MappingProxyType(record))
