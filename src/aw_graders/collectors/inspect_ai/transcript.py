"""The events of a sample as one list: what stands within what, and what is the scorers' work.

Older logs nest events in tool calls and sub-tasks and mark steps; newer ones have spans.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from aw_graders.collectors.normalise import Notes, is_mapping, list_of, mapping_of, text_of

_SCORING: Final = frozenset({"scorer", "scorers"})
_AGENT: Final = "agent"
_TOOL: Final = "tool"
_MODEL: Final = "model"


class Entry(msgspec.Struct, frozen=True):
    """One event: a model request or a tool call, and whose work it is.

    `agent_id` names the span of a sub-agent, `parent_call_id` the call in which an older log
    nests the event.
    """

    value: Mapping[str, Any]
    kind: str
    agent_id: str | None = None
    parent_call_id: str | None = None


class Transcript(msgspec.Struct, frozen=True):
    """The agent's requests and calls in recorded order, and the calls that began sub-agents.

    `began` and `ended` are the times of the events around all of them, where an older log does not
    say of the first and the last one when it began and ended.
    """

    entries: tuple[Entry, ...]
    spawned_by: Mapping[str, str]
    agent_names: Mapping[str, str]
    began: object = None
    ended: object = None


def transcript_of(sample: Mapping[str, Any], notes: Notes) -> Transcript:
    """List the agent's requests and calls of a sample; those of scorers are counted in a note.

    Cost: linear in the events.
    """
    nested = mapping_of(sample.get("transcript")) or {}
    values = list_of(sample.get("events")) or list_of(nested.get("events"))
    flat = list(_flat(values, None, notes))
    last = {
        uuid: place
        for place, (value, _) in enumerate(flat)
        if (uuid := text_of(value.get("uuid"))) is not None
    }
    spans = _Spans([value for value, _ in flat])
    entries: list[Entry] = []
    places: list[int] = []
    steps: list[str | None] = []
    for place, (value, parent) in enumerate(flat):
        kind = text_of(value.get("event"))
        if kind == "step":
            _step(steps, value)
        if kind not in {_MODEL, _TOOL} or last.get(str(value.get("uuid")), place) != place:
            continue
        span = text_of(value.get("span_id"))
        if not _SCORING.isdisjoint(steps) or span in spans.scoring:
            message = "requests and calls of scorers are no part of the session"
            notes.count("scorer-work", message, None, lossy=False)
            continue
        agent = None if span is None else spans.agent_of.get(span)
        entries.append(Entry(value, kind, agent, parent))
        places.append(place)
    spawned = {
        agent: call
        for entry in entries
        if entry.kind == _TOOL
        and (agent := text_of(entry.value.get("agent_span_id"))) is not None
        and (call := text_of(entry.value.get("id"))) is not None
    }
    around = [value for value, _ in flat]
    return Transcript(
        tuple(entries),
        spawned,
        spans.names,
        began=_time_beside(around, places[0], -1) if places else None,
        ended=_time_beside(around, places[-1], 1) if places else None,
    )


def _time_beside(values: list[dict[str, Any]], place: int, step: int) -> object:
    """Give the time of the event before or behind one that does not say when it ended."""
    beside = place + step
    if values[place].get("completed") is not None or not 0 <= beside < len(values):
        return None
    return values[beside].get("timestamp")


def _step(steps: list[str | None], value: Mapping[str, Any]) -> None:
    if value.get("action") == "begin":
        steps.append(text_of(value.get("type")))
    elif steps:
        steps.pop()


def _flat(
    values: list[Any], parent: str | None, notes: Notes
) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Walk events, each before those nested in it, with the call that they are nested in."""
    waiting = [iter([(value, parent) for value in values])]
    while waiting:
        item = next(waiting[-1], None)
        if item is None:
            waiting.pop()
            continue
        value, call = item
        if not is_mapping(value):
            message = "an event is no object and was skipped"
            notes.count("event-not-an-object", message, None, lossy=True)
            continue
        yield value, call
        inner = list_of(value.get("events"))
        if inner:
            within = text_of(value.get("id")) if value.get("event") == _TOOL else None
            waiting.append(iter([(event, within or call) for event in inner]))


class _Spans:
    """What the spans of a sample are: `scoring` ones, and the sub-agent each belongs to."""

    def __init__(self, values: list[dict[str, Any]]) -> None:
        parents: dict[str, str | None] = {}
        kinds: dict[str, str | None] = {}
        self.names: dict[str, str] = {}
        for value in values:
            span = text_of(value.get("id"))
            if value.get("event") != "span_begin" or span is None:
                continue
            parents[span] = text_of(value.get("parent_id"))
            kinds[span] = text_of(value.get("type"))
            name = text_of(value.get("name"))
            if name is not None:
                self.names[span] = name
        self.scoring: set[str] = set()
        self.agent_of: dict[str, str | None] = {}
        within: dict[str, bool] = {}
        for span in parents:
            for passed in reversed(_way(span, parents, within)):
                above = parents[passed]
                kind = kinds[passed]
                if kind in _SCORING or above in self.scoring:
                    self.scoring.add(passed)
                inside = above is not None and within.get(above, False)
                # An agent within another one, or within a tool call, is a sub-agent.
                own = passed if kind == _AGENT and inside else None
                self.agent_of[passed] = own or (None if above is None else self.agent_of.get(above))
                within[passed] = inside or kind in {_AGENT, _TOOL}


def _way(span: str, parents: Mapping[str, str | None], settled: Mapping[str, bool]) -> list[str]:
    """List the spans from one up to the first that is settled; a circle ends the way."""
    way: list[str] = []
    walked: set[str] = set()
    at: str | None = span
    while at is not None and at in parents and at not in settled and at not in walked:
        way.append(at)
        walked.add(at)
        at = parents[at]
    return way
