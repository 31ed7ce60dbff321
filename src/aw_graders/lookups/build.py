"""From the observed rows to the lookups that all graders share."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders.lookups.gateway import absorb, gateway_calls
from aw_graders.lookups.model import (
    MAX_PLACES,
    Evidence,
    Place,
    RunContext,
    SessionLookups,
    Statistics,
    ToolCall,
)
from aw_graders.lookups.observe import Observer, in_source_order
from aw_graders.lookups.pairing import Paired, pair_native
from aw_graders.lookups.rows import Observations, SourceRows
from aw_graders.lookups.timing import run_duration
from aw_graders.lookups.tokens import Requests, model_requests, request_tokens, token_totals
from aw_graders.session.events import MAIN_PHASE, SAFE_OUTPUTS_PHASE
from aw_graders.session.model import Event, Redacted
from aw_graders.session.wire import to_wire

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
    observer = Observer()
    observer.feed(map(to_wire, session.events))
    by_type: dict[str, list[Event]] = {}
    for event in session.events:
        by_type.setdefault(event.type, []).append(event)
    index = MappingProxyType({kind: tuple(events) for kind, events in by_type.items()})
    return msgspec.structs.replace(build_lookups(observer.observations), events_by_type=index)


def build_lookups(observations: Observations) -> SessionLookups:
    """Conclude lookups from rows; the array form and the stream meet here.

    Takes: the rows of the whole session; their lists are put into source order.
    Cost: O(rows).
    """
    sources = in_source_order(observations)
    paired = {id(source): pair_native(source) for source in sources if source.native}
    calls = _ordered_calls(sources, paired)
    requests = model_requests(sources)
    observed = _observed(observations)
    return SessionLookups(
        statistics=_statistics(observations, sources, paired.values(), calls, requests, observed),
        tool_calls=calls,
        requests=requests.requests,
        requests_source=requests.source,
        observed=observed,
        context=_context(observations),
        events=observations.events,
    )


def _ordered_calls(
    sources: Sequence[SourceRows], paired: dict[int, Paired]
) -> tuple[ToolCall, ...]:
    """Put native calls and the gateway's own calls in source order."""
    native = [call for item in paired.values() for call in item.calls]
    seen = gateway_calls(sources)
    absorb(native, seen)
    own = [call for call in seen if not call.absorbed]
    if not own:
        return tuple(native)
    own_of: dict[int, list[ToolCall]] = {}
    for call in own:
        own_of.setdefault(id(call.source), []).append(call.tool_call())
    ordered: list[ToolCall] = []
    for source in sources:
        pair = paired.get(id(source))
        both = [*(pair.calls if pair else ()), *own_of.get(id(source), ())]
        # Stable, and only ever needed where one file holds native and gateway records.
        ordered += sorted(both, key=lambda call: call.place.index) if pair else both
    return tuple(ordered)


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


def evidence_of(places: Sequence[Place]) -> Evidence:
    """Keep the first places and count all of them."""
    return Evidence(tuple(places[:MAX_PLACES]), len(places))


def _repeats(calls: Sequence[ToolCall]) -> list[Place]:
    """Find the calls that equal the call just before them, by name and arguments.

    A call that only the gateway saw has unknown arguments: it neither continues nor starts one.
    Source: decision 40.
    """
    return [
        call.place
        for before, call in pairwise(calls)
        if call.name == before.name
        and call.source == before.source == "agent"
        and _json.same_value(before.arguments_json, call.arguments_json)
    ]


def _places(sources: Sequence[SourceRows], field: str) -> list[Place]:
    return [Place(source.path, index) for source in sources for index in getattr(source, field)]


def _statistics(  # noqa: PLR0917 - the six sources of statistics, called once
    observations: Observations,
    sources: Sequence[SourceRows],
    paired: Iterable[Paired],
    calls: Sequence[ToolCall],
    requests: Requests,
    observed: frozenset[tuple[str, str]],
) -> Statistics:
    pairs = list(paired)
    failures = [call.place for call in calls if call.failed]
    repeats = _repeats(calls)
    again = [place for item in pairs for place in item.observed_again]
    retries = _places(sources, "retries")
    safe_results = _places(sources, "safe_results")
    reads = [r.read_tokens for r in requests.requests if r.read_tokens is not None]
    firsts = (request_tokens(request) for request in requests.requests)
    proxy = requests.requests if requests.source == "proxy" else ()
    return Statistics(
        tool_calls=len(calls),
        successful_tool_calls=len(calls) - len(failures),
        failed_tool_calls=len(failures),
        unfinished_tool_calls=sum(not call.completed for call in calls),
        unknown_outcomes=sum(call.completed and call.success is None for call in calls),
        distinct_tool_names=len({call.name for call in calls}),
        consecutive_repeats=len(repeats),
        repeated_observations=len(again),
        reused_ids=sum(item.reused_ids for item in pairs),
        nameless_calls=sum(item.nameless for item in pairs),
        retries=len(retries) if ("mcp", MAIN_PHASE) in observed else None,
        requests=len(requests.requests) if requests.source is not None else None,
        router_requests=requests.router,
        duration=run_duration(observations, sources, proxy),
        tokens=token_totals(sources, requests),
        peak_input_tokens=max(reads, default=None),
        cumulative_input_tokens=sum(reads) if reads else None,
        first_request_tokens=next((count for count in firsts if count is not None), None),
        safe_output_requests=observations.safe_requests,
        safe_output_results=len(safe_results)
        if ("safe_output", SAFE_OUTPUTS_PHASE) in observed
        else None,
        safe_output_errors=observations.safe_errors,
        failures=evidence_of(failures),
        repeats=evidence_of(repeats),
        observed_again=evidence_of(again),
        retry_records=evidence_of(retries),
        safe_results=evidence_of(safe_results),
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
    )


def _attempt(workflow: dict[str, Any]) -> int | str | None:
    for key in ("attempt", "runAttempt"):
        value = workflow.get(key)
        if isinstance(value, int | str) and not isinstance(value, bool):
            return value
    return None
