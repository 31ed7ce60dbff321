"""From the observed rows to the lookups that all graders share."""

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, islice, pairwise
from types import MappingProxyType
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders.lookups.gateway import GatewayCall, absorb, gateway_calls
from aw_graders.lookups.lazily import Lazily
from aw_graders.lookups.model import RunContext, SessionLookups, Statistics, ToolCall
from aw_graders.lookups.observe import Observer, in_source_order
from aw_graders.lookups.pairing import Paired, native_calls, pair_native
from aw_graders.lookups.places import MAX_PLACES, Evidence, Place
from aw_graders.lookups.projection import trajectory_of
from aw_graders.lookups.rows import COMPLETION, Observations, RedactedObservations, SourceRows
from aw_graders.lookups.spans import needs_times
from aw_graders.lookups.timing import run_duration
from aw_graders.lookups.tokens import (
    Requests,
    model_requests,
    readings,
    spell_requests,
    token_totals,
)
from aw_graders.session.events import MAIN_PHASE, SAFE_OUTPUTS_PHASE
from aw_graders.session.model import Event, Redacted
from aw_graders.session.packed import selected
from aw_graders.session.wire import to_wire

_BATCH_EVENTS: Final = 500
_ANSWERS: Final = ("yes", "no")


def create_session_lookups(session: Redacted) -> SessionLookups:
    """Index `session` once for all graders.

    Takes: a redacted session of n events, in any accepted order.
    Returns: tool calls in source order, requests, statistics and what was observed. Durations are
        milliseconds; token counts are whole numbers below 2**53.
    Raises: nothing; what cannot be paired stays an unfinished or an orphan call.
    Cost: O(n) time and memory, plus a sort of sources whose indexes go backwards.
    Source: Graders Specification 0.5.0, section 2.
    """
    by_type: dict[str, list[int]] = {}
    for position, event in enumerate(session.events):
        by_type.setdefault(event.type, []).append(position)
    index = MappingProxyType(
        {kind: selected(session.events, positions) for kind, positions in by_type.items()}
    )
    lookups = conclude(_observe(session))
    return msgspec.structs.replace(
        lookups,
        events_by_type=index,
        made_trajectory=Lazily(
            lambda: trajectory_of(
                session.events, lookups.tool_calls, agent_observed=lookups.agent_observed
            )
        ),
    )


def _observe(session: Redacted) -> Observations:
    found = _fed(Observer(), session.events)
    if needs_times(found.spans, found.collection_ns):
        found = _fed(Observer(keep_times=True), session.events)
    return found


def _fed(observer: Observer, events: Sequence[Event]) -> Observations:
    """Observe all events, of which only a few are decoded at a time."""
    for start in range(0, len(events), _BATCH_EVENTS):
        observer.feed([to_wire(event) for event in events[start : start + _BATCH_EVENTS]])
    return observer.observations


def build_lookups(observed: RedactedObservations) -> SessionLookups:
    """Conclude lookups from what was observed of a session that was read in parts.

    Takes: the rows of the whole session, redacted. `needs_times` is false for their spans.
    Returns: what `create_session_lookups` gives for the same session, without `events_by_type`.
    Raises: TypeError for rows that were not redacted.
    Cost: O(rows).
    """
    # Callers without a type checker are the ones this line is for.
    if not isinstance(observed, RedactedObservations):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = "build_lookups takes RedactedObservations; use redact_observations(observations)"
        raise TypeError(msg)
    return conclude(observed.observations)


def conclude(observations: Observations) -> SessionLookups:
    """Conclude lookups from rows that hold no secret; whole sessions and streams meet here.

    Cost: O(rows); their lists are put into source order.
    """
    sources = in_source_order(observations)
    paired = [pair_native(source) for source in sources if source.native]
    own = _own_gateway_calls(sources, paired)
    requests = model_requests(sources)
    observed = _observed(observations)
    calls = Lazily(lambda: _in_order(sources, paired, own))
    return SessionLookups(
        statistics=_statistics(
            observations, sources, paired, _columns(paired, own, calls), requests
        ),
        made_calls=calls,
        made_requests=Lazily(lambda: spell_requests(requests)),
        requests_source=requests.source,
        observed=observed,
        context=_context(observations),
        events=observations.events,
    )


def _own_gateway_calls(
    sources: Sequence[SourceRows], paired: Sequence[Paired]
) -> list[GatewayCall]:
    """List the calls that only the gateway saw."""
    seen = gateway_calls(sources)
    if not seen:
        return []
    absorb([(row, row.server or row.end_server) for item in paired for row in item.calls], seen)
    return [call for call in seen if not call.absorbed]


def _in_order(
    sources: Sequence[SourceRows], paired: Sequence[Paired], own: Sequence[GatewayCall]
) -> tuple[ToolCall, ...]:
    """Put native calls and the gateway's own calls in source order."""
    native = {id(item.source): native_calls(item) for item in paired}
    own_of: dict[int, list[ToolCall]] = {}
    for call in own:
        own_of.setdefault(id(call.source), []).append(call.tool_call())
    ordered: list[ToolCall] = []
    for source in sources:
        calls, more = native.get(id(source), []), own_of.get(id(source), [])
        # Stable, and only ever needed where one file holds native and gateway records.
        ordered += sorted([*calls, *more], key=_place_index) if calls and more else calls + more
    return tuple(ordered)


def _place_index(call: ToolCall) -> int:
    return call.place.index


class _Columns(msgspec.Struct, frozen=True):
    """What the statistics of all calls need, call by call in source order.

    `arguments` are None also for a call that only the gateway saw; `is_native` tells them apart.
    """

    names: list[str]
    successes: list[bool | None]
    completed: list[bool]
    arguments: list[bytes | None]
    is_native: list[bool]
    places: Callable[[int], Place]


def _columns(
    paired: Sequence[Paired], own: Sequence[GatewayCall], calls: Lazily[tuple[ToolCall, ...]]
) -> _Columns:
    """Read the columns off the rows, or off the calls when the gateway has some of its own."""
    if own:
        every = calls()
        return _Columns(
            names=[call.name for call in every],
            successes=[call.success for call in every],
            completed=[call.completed for call in every],
            arguments=[call.arguments_json for call in every],
            is_native=[call.source == "agent" for call in every],
            places=lambda at: every[at].place,
        )
    rows = [row for item in paired for row in item.calls]
    starts = list(accumulate((len(item.calls) for item in paired), initial=0))
    return _Columns(
        names=[row.name or row.end_name or "" for row in rows],
        successes=[row.success for row in rows],
        completed=[row.kind == COMPLETION or row.end_index is not None for row in rows],
        arguments=[row.arguments for row in rows],
        is_native=[True] * len(rows),
        places=lambda at: Place(paired[bisect(starts, at) - 1].source.path, rows[at].index),
    )


def _observed(observations: Observations) -> frozenset[tuple[str, str]]:
    """Collect which component was seen in which phase, also when its source held no event."""
    seen = {(source.component, source.phase) for source in observations.sources}
    seen.update(observations.listed)
    for source in observations.sources:
        # Writers name the gateway's component differently; its event types are the same.
        if source.saw_gateway:
            seen.add(("mcp", MAIN_PHASE))
        if source.safe_results:
            seen.add(("safe_output", SAFE_OUTPUTS_PHASE))
    return frozenset(seen)


def _evidence(positions: Sequence[int], place: Callable[[int], Place]) -> Evidence:
    """Keep the first places and count all of them."""
    return Evidence(tuple(map(place, positions[:MAX_PLACES])), len(positions))


def _repeats(calls: _Columns) -> list[int]:
    """Find the calls that equal the call just before them, by name and arguments.

    A call that only the gateway saw has unknown arguments: it neither continues nor starts one.
    Source: decision 40.
    """
    arguments, is_native = calls.arguments, calls.is_native
    return [
        at
        for at, (before, name) in enumerate(pairwise(calls.names), 1)
        if name == before
        and is_native[at]
        and is_native[at - 1]
        and _json.same_value(arguments[at - 1], arguments[at])
    ]


def _records(sources: Sequence[SourceRows], field: str) -> Evidence:
    """List the records of all sources, in order."""
    listed: list[tuple[str, list[int]]] = [(item.path, getattr(item, field)) for item in sources]
    places = (Place(path, index) for path, indexes in listed for index in indexes)
    return Evidence(tuple(islice(places, MAX_PLACES)), sum(len(indexes) for _, indexes in listed))


def _statistics(
    observations: Observations,
    sources: Sequence[SourceRows],
    paired: Sequence[Paired],
    calls: _Columns,
    requests: Requests,
) -> Statistics:
    observed = _observed(observations)
    failures = [at for at, success in enumerate(calls.successes) if success is not True]
    repeats = _repeats(calls)
    again = [place for item in paired for place in item.observed_again]
    retries = _records(sources, "retries")
    safe_results = _records(sources, "safe_results")
    failed_names = Counter(calls.names[at] for at in failures)
    as_read, as_recorded = readings(requests)
    return Statistics(
        tool_calls=len(calls.names),
        successful_tool_calls=len(calls.names) - len(failures),
        failed_tool_calls=len(failures),
        unfinished_tool_calls=calls.completed.count(False),
        unknown_outcomes=sum(
            calls.completed[at] and calls.successes[at] is None for at in failures
        ),
        distinct_tool_names=len(set(calls.names)),
        consecutive_repeats=len(repeats),
        repeated_observations=len(again),
        reused_ids=sum(item.reused_ids for item in paired),
        nameless_calls=sum(item.nameless for item in paired),
        retries=retries.count if ("mcp", MAIN_PHASE) in observed else None,
        requests=len(requests.placed) if requests.source is not None else None,
        router_requests=requests.router,
        duration=run_duration(observations, sources, requests),
        tokens=token_totals(sources, requests, as_read),
        as_read=as_read,
        as_recorded=as_recorded,
        safe_output_requests=observations.safe_requests,
        safe_output_results=safe_results.count
        if ("safe_output", SAFE_OUTPUTS_PHASE) in observed
        else None,
        safe_output_errors=observations.safe_errors,
        failures=_evidence(failures, calls.places),
        failures_by_tool=tuple(sorted(failed_names.items(), key=lambda item: (-item[1], item[0]))),
        repeats=_evidence(repeats, calls.places),
        observed_again=Evidence(tuple(again[:MAX_PLACES]), len(again)),
        retry_records=retries,
        safe_results=safe_results,
    )


def _context(observations: Observations) -> RunContext:
    """Read what the session says about its run; nothing comes from environment or clock."""
    workflow = observations.workflow
    run_id = workflow.get("runId")
    attempt = _attempt(workflow)
    merged: dict[str, Any] = {}
    for assignments in observations.experiments:
        merged.update(assignments)
    listed: list[tuple[str, str]] = []
    for record in observations.evals:
        question, answer = record.get("id"), record.get("answer")
        said = answer.lower() if isinstance(answer, str) else ""
        pair = (
            question if isinstance(question, str) else "",
            said if said in _ANSWERS else "unknown",
        )
        listed.append(pair)
    return RunContext(
        run_id=str(run_id)
        if isinstance(run_id, str | int) and not isinstance(run_id, bool)
        else None,
        attempt=attempt,
        experiments=_json.freeze(merged),  # type: ignore[arg-type]
        evals=tuple(listed),
        warnings=observations.warnings,
    )


def _attempt(workflow: dict[str, Any]) -> int | str | None:
    for key in ("attempt", "runAttempt"):
        value = workflow.get(key)
        if isinstance(value, int | str) and not isinstance(value, bool):
            return value
    return None
