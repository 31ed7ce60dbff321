"""One pass over the events of a session, keeping the rows that statistics need.

The loop runs once per event and is the part of grading that grows with the session, so it does no
more than find the source and, for the few types that matter, call their handler.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias, cast

from aw_graders import _json
from aw_graders.lookups.outcome import completion_success, gateway_failed, metric, token_count
from aw_graders.lookups.rows import (
    ANNOUNCED,
    CALL_RECORD,
    COMPLETION,
    RPC_REQUEST,
    RPC_RESPONSE,
    SPAWNED,
    START,
    GatewayRow,
    NativeRow,
    Observations,
    ResultRow,
    SourceRows,
    UsageRow,
)
from aw_graders.lookups.spans import span_of
from aw_graders.session import events as names
from aw_graders.session.timestamps import stamp_ns
from aw_graders.session.wire import WireEvent, WireProvenance

_Handler: TypeAlias = Callable[[Observations, SourceRows, WireEvent], None]
# How many distinct types a source may have before their handlers are looked up anew each time.
_MAX_REMEMBERED_TYPES: Final = 1000
_MISSING: Final = object()


class Observer:
    """Collects rows, batch by batch. Batches may be any slices of the session, in order."""

    def __init__(self) -> None:
        """Start with nothing observed."""
        self.observations = Observations()
        self._by_path: dict[str, _Open] = {}

    def feed(self, batch: Iterable[WireEvent]) -> None:
        """Take the next events of the session.

        Cost: O(events) with a small constant. Raises nothing for any decoded event.
        """
        observations = self.observations
        by_path = self._by_path
        stamps: list[Any] = []
        count = 0
        for event in batch:
            count += 1
            provenance = event.provenance
            opened = by_path.get(provenance.path)
            if (
                opened is None
                or opened.phase != provenance.phase
                or opened.component != provenance.component
            ):
                opened = self._open(provenance)
            rows = opened.rows
            index = provenance.index
            if index < rows.last_index:
                rows.in_order = False
            rows.last_index = index
            rows.events += 1
            handler = opened.dispatch[event.type]
            if handler is not None:
                handler(observations, rows, event)
            if opened.is_main:
                stamp = event.timestamp
                stamps.append(_other_stamp(event) if stamp is None else stamp)
        observations.events += count
        span = span_of(stamps)
        if span is not None:
            observations.spans.append(span)

    def _open(self, provenance: WireProvenance) -> "_Open":
        """Find or start the source of an event; sources that share a path are told apart."""
        path = provenance.path
        head = self._by_path.get(path)
        opened = head
        while opened is not None:
            if opened.phase == provenance.phase and opened.component == provenance.component:
                return opened
            opened = opened.next
        rows = SourceRows(provenance.component, provenance.phase, path, provenance.index)
        self.observations.sources.append(rows)
        opened = _Open(rows, head)
        self._by_path[path] = opened
        return opened


class _Open:
    """A source while it is being read."""

    __slots__ = ("component", "dispatch", "is_main", "next", "phase", "rows")

    def __init__(self, rows: SourceRows, following: "_Open | None") -> None:
        self.rows = rows
        self.component = rows.component
        self.phase = rows.phase
        self.is_main = rows.phase == names.MAIN_PHASE
        self.dispatch = _Dispatch(_MAIN if self.is_main else _OTHER, is_main=self.is_main)
        self.next = following


class _Dispatch(dict[str, "_Handler | None"]):
    """Type to handler; a type that is not known is settled once and remembered."""

    def __init__(self, handlers: dict[str, _Handler], *, is_main: bool) -> None:
        super().__init__(handlers)
        self._is_main = is_main

    def __missing__(self, kind: str) -> "_Handler | None":
        gateway = self._is_main and kind.startswith(names.MCP_PREFIX)
        handler = _gateway_event if gateway else None
        if len(self) < _MAX_REMEMBERED_TYPES:
            self[kind] = handler
        return handler


def _first(data: dict[str, Any], keys: tuple[str, ...]) -> Any:
    """Return the value of the first key that is present, whatever it is, else None."""
    value = data.get(keys[0], _MISSING)
    if value is not _MISSING:
        return value
    for key in keys[1:]:
        if key in data:
            return data[key]
    return None


def _text(value: object) -> str | None:
    """Return `value` when it is text that is not empty: an empty id is no id."""
    return value if isinstance(value, str) and value else None


def _other_stamp(event: WireEvent) -> Any:
    """Read the time of an event that has no `timestamp`."""
    for value in (event.ts, event.time, event.created_at):
        if value is not None:
            return value
    message = event.message
    if isinstance(message, dict):
        return cast("dict[str, Any]", message).get("timestamp")
    return None


def _session_id(event: WireEvent) -> str | None:
    data = event.data
    return (
        _text(event.session_id)
        or _text(event.sessionId)
        or _text(data.get("sessionId"))
        or _text(data.get("session_id"))
    )


def _agent_id(event: WireEvent) -> str | None:
    return _text(event.agentId) or _text(event.data.get("agentId"))


def _parent_id(event: WireEvent) -> str | None:
    for key in names.PARENT_TOOL_ID:
        found = _text(getattr(event, key))
        if found is not None:
            return found
    data = event.data
    for key in names.PARENT_TOOL_ID:
        found = _text(data.get(key))
        if found is not None:
            return found
    return None


def _arguments(data: dict[str, Any]) -> bytes | None:
    """Spell a call's input, or its bare command, as JSON text with sorted keys."""
    value = _first(data, names.TOOL_INPUT)
    if value is not None:
        return _json.sorted_text(value)
    command = data.get("command")
    return _json.sorted_text({"command": command}) if isinstance(command, str) else None


def _step(data: dict[str, Any]) -> int | None:
    step = data.get("stepIndex")
    return step if isinstance(step, int) and not isinstance(step, bool) else None


def _tool_start(_: Observations, rows: SourceRows, event: WireEvent) -> None:
    data = event.data
    rows.native.append(
        NativeRow(
            kind=START,
            index=rows.last_index,
            call_id=_text(_first(data, names.TOOL_CALL_ID)),
            name=_text(_first(data, names.TOOL_NAME)),
            arguments=_arguments(data),
            session_id=_session_id(event),
            agent_id=_agent_id(event),
            parent_id=_parent_id(event),
            server=_text(data.get("mcpServerName")),
            step=_step(data),
        )
    )


def _tool_complete(_: Observations, rows: SourceRows, event: WireEvent) -> None:
    data = event.data
    rows.native.append(
        NativeRow(
            kind=COMPLETION,
            index=rows.last_index,
            call_id=_text(_first(data, names.TOOL_CALL_ID)),
            name=_text(_first(data, names.TOOL_NAME)),
            success=completion_success(data),
            session_id=_session_id(event),
            agent_id=_agent_id(event),
            parent_id=_parent_id(event),
            server=_text(data.get("mcpServerName")),
            duration_ms=metric(_first(data, names.DURATION_MS)),
            step=_step(data),
        )
    )


def _session_announced(_: Observations, rows: SourceRows, event: WireEvent) -> None:
    session_id = _session_id(event)
    if session_id is not None:
        rows.native.append(
            NativeRow(
                kind=ANNOUNCED,
                index=rows.last_index,
                session_id=session_id,
                agent_id=_agent_id(event),
                parent_id=_parent_id(event),
            )
        )


def _subagent_started(_: Observations, rows: SourceRows, event: WireEvent) -> None:
    agent_id = _agent_id(event)
    spawning = _text(_first(event.data, names.TOOL_CALL_ID))
    if agent_id is not None and spawning is not None:
        rows.native.append(
            NativeRow(kind=SPAWNED, index=rows.last_index, agent_id=agent_id, parent_id=spawning)
        )


def usage_row(index: int, data: dict[str, Any]) -> UsageRow:
    """Read the token evidence of one request; counts may sit under `usage` or flat in `data`."""
    nested = data.get("usage", _MISSING)
    usage = data if nested is _MISSING else nested
    counts = cast("dict[str, Any]", usage) if isinstance(usage, dict) else {}
    includes = _first(counts, names.INPUT_INCLUDES_CACHE)
    read = token_count(_first(counts, names.INPUT_TOKENS))
    written = token_count(_first(counts, names.OUTPUT_TOKENS))
    total = token_count(_first(counts, names.TOTAL_TOKENS))
    return UsageRow(
        index=index,
        model=_text(data.get("model")),
        request_id=_text(_first(data, names.REQUEST_ID)),
        purpose=_text(data.get("purpose")),
        input_tokens=read,
        output_tokens=written,
        total_tokens=total,
        cache_read=token_count(_first(counts, names.CACHE_READ_TOKENS)),
        cache_creation=token_count(_first(counts, names.CACHE_CREATION_TOKENS)),
        includes_cache=includes if isinstance(includes, bool) else None,
        duration_ms=metric(_first(data, names.DURATION_MS)),
        has_usage=read is not None or written is not None or total is not None,
    )


def _token_usage(_: Observations, rows: SourceRows, event: WireEvent) -> None:
    rows.proxy.append(usage_row(rows.last_index, event.data))


def _usage_report(_: Observations, rows: SourceRows, event: WireEvent) -> None:
    rows.reports.append(usage_row(rows.last_index, event.data))


def _session_result(_: Observations, rows: SourceRows, event: WireEvent) -> None:
    data = event.data
    has_usage = isinstance(data.get("usage"), dict)
    rows.results.append(
        ResultRow(
            index=rows.last_index,
            session_id=_session_id(event),
            nested=_agent_id(event) is not None or _parent_id(event) is not None,
            duration_ms=metric(_first(data, names.DURATION_MS)),
            usage=usage_row(rows.last_index, data) if has_usage else None,
        )
    )


def _execution_result(_: Observations, rows: SourceRows, event: WireEvent) -> None:
    duration = metric(_first(event.data, names.DURATION_MS))
    if duration is not None:
        rows.execution_ms.append((rows.last_index, duration))


def _is_retry(data: dict[str, Any]) -> bool:
    """Recognise a retry observation; "retries" and "retried" do not hold the word."""
    if data.get("retry") is True or _first(data, names.RETRY_EVENT) == "retry":
        return True
    message = data.get("message")
    return isinstance(message, str) and "retry" in message.lower()


def _gateway_event(_: Observations, rows: SourceRows, event: WireEvent) -> None:
    rows.saw_gateway = True
    if _is_retry(event.data):
        rows.retries.append(rows.last_index)


def _gateway_row(kind: int, rows: SourceRows, data: dict[str, Any]) -> None:
    rpc_id = data.get("rpcId")
    rows.gateway.append(
        GatewayRow(
            kind=kind,
            index=rows.last_index,
            name=_text(_first(data, names.TOOL_NAME)),
            server=_text(_first(data, names.SERVER_NAME)),
            call_id=_text(_first(data, names.TOOL_CALL_ID)),
            rpc_id=None if rpc_id is None else _json.sorted_text(rpc_id).decode(),
            failed=gateway_failed(data),
            duration_ms=metric(_first(data, (*names.DURATION_MS, "duration"))),
        )
    )


def _gateway_call(observations: Observations, rows: SourceRows, event: WireEvent) -> None:
    _gateway_event(observations, rows, event)
    _gateway_row(CALL_RECORD, rows, event.data)


def _rpc_request(observations: Observations, rows: SourceRows, event: WireEvent) -> None:
    _gateway_event(observations, rows, event)
    if event.data.get("method") == "tools/call":
        _gateway_row(RPC_REQUEST, rows, event.data)


def _rpc_response(observations: Observations, rows: SourceRows, event: WireEvent) -> None:
    _gateway_event(observations, rows, event)
    _gateway_row(RPC_RESPONSE, rows, event.data)


def _agent_execution(observations: Observations, _: SourceRows, __: WireEvent) -> None:
    observations.executions += 1


def _safe_request(observations: Observations, _: SourceRows, __: WireEvent) -> None:
    observations.safe_requests += 1


def _safe_error(observations: Observations, _: SourceRows, __: WireEvent) -> None:
    observations.safe_errors += 1


def _safe_result(_: Observations, rows: SourceRows, __: WireEvent) -> None:
    if rows.phase == names.SAFE_OUTPUTS_PHASE:
        rows.safe_results.append(rows.last_index)


def _experiment(observations: Observations, _: SourceRows, event: WireEvent) -> None:
    assignments = event.data.get("assignments")
    if isinstance(assignments, dict):
        observations.experiments.append(cast("dict[str, Any]", assignments))


def _eval_result(observations: Observations, _: SourceRows, event: WireEvent) -> None:
    observations.evals.append({key: event.data.get(key) for key in ("id", "answer")})


def _workflow_info(observations: Observations, _: SourceRows, event: WireEvent) -> None:
    observations.workflow = {**observations.workflow, **event.data}


def _collection(observations: Observations, _: SourceRows, event: WireEvent) -> None:
    """Note which sources the collector looked at, also those that held nothing."""
    stamp = stamp_ns(event.timestamp)
    if stamp is not None:
        observations.collection_ns = max(stamp, observations.collection_ns or stamp)
    sources = event.data.get("sources")
    for source in cast("list[Any]", sources) if isinstance(sources, list) else []:
        if isinstance(source, dict):
            listed = cast("dict[str, Any]", source)
            component, phase = listed.get("component"), listed.get("phase")
            if isinstance(component, str) and isinstance(phase, str):
                observations.listed.append((component, phase))


# Handlers that read facts of any phase, and those that read main-agent evidence alone.
_OTHER: Final[dict[str, _Handler]] = {
    names.AGENT_EXECUTION: _agent_execution,
    names.SAFE_OUTPUT_REQUEST: _safe_request,
    names.SAFE_OUTPUT_RESULT: _safe_result,
    names.SAFE_OUTPUT_ERROR: _safe_error,
    names.EXPERIMENT_ASSIGNMENT: _experiment,
    names.EVAL_RESULT: _eval_result,
    names.WORKFLOW_INFO: _workflow_info,
    names.SESSION_COLLECTION: _collection,
}
_MAIN: Final[dict[str, _Handler]] = {
    **_OTHER,
    names.TOOL_START: _tool_start,
    names.TOOL_COMPLETE: _tool_complete,
    names.SESSION_INIT: _session_announced,
    names.SESSION_START: _session_announced,
    names.SUBAGENT_STARTED: _subagent_started,
    names.FIREWALL_TOKEN_USAGE: _token_usage,
    names.USAGE_REPORT: _usage_report,
    names.SESSION_RESULT: _session_result,
    names.EXECUTION_RESULT: _execution_result,
    names.MCP_TOOL_CALL: _gateway_call,
    names.MCP_RPC_REQUEST: _rpc_request,
    names.MCP_RPC_RESPONSE: _rpc_response,
}


def merge(parts: Iterable[Observations]) -> Observations:
    """Join observations of consecutive parts of one session into those of the whole.

    Cost: O(sources) besides list extension; the first part is changed and returned.
    """
    remaining = iter(parts)
    whole = next(remaining)
    by_key = {(rows.component, rows.phase, rows.path): rows for rows in whole.sources}
    for part in remaining:
        for rows in part.sources:
            key = (rows.component, rows.phase, rows.path)
            mine = by_key.get(key)
            if mine is None:
                by_key[key] = rows
                whole.sources.append(rows)
            else:
                _extend(mine, rows)
        _join_totals(whole, part)
    return whole


def _extend(mine: SourceRows, rows: SourceRows) -> None:
    mine.in_order = mine.in_order and rows.in_order and mine.last_index <= rows.first_index
    mine.last_index = rows.last_index
    mine.events += rows.events
    mine.saw_gateway = mine.saw_gateway or rows.saw_gateway
    mine.native += rows.native
    mine.gateway += rows.gateway
    mine.proxy += rows.proxy
    mine.reports += rows.reports
    mine.results += rows.results
    mine.execution_ms += rows.execution_ms
    mine.retries += rows.retries
    mine.safe_results += rows.safe_results


def _join_totals(whole: Observations, part: Observations) -> None:
    whole.spans += part.spans
    whole.listed += part.listed
    whole.experiments += part.experiments
    whole.evals += part.evals
    whole.workflow = {**whole.workflow, **part.workflow}
    if part.collection_ns is not None:
        whole.collection_ns = max(part.collection_ns, whole.collection_ns or part.collection_ns)
    whole.safe_requests += part.safe_requests
    whole.safe_errors += part.safe_errors
    whole.executions += part.executions
    whole.events += part.events
    whole.duplicate_keys += part.duplicate_keys
    whole.lone_surrogates += part.lone_surrogates


def in_source_order(observations: Observations) -> list[SourceRows]:
    """Put the rows of every source back into the order of `provenance.index`.

    Sources keep the order of their first event. Ties keep session order.
    Source: unified session format 1.8.0; decisions 19 and 41.
    """
    for rows in observations.sources:
        if not rows.in_order:
            for listed in (rows.native, rows.gateway, rows.proxy, rows.reports, rows.results):
                cast("list[Any]", listed).sort(key=_index_of)
            rows.execution_ms.sort(key=_first_of)
            rows.retries.sort()
            rows.safe_results.sort()
    return observations.sources


def _index_of(row: NativeRow | GatewayRow | UsageRow | ResultRow) -> int:
    return row.index


def _first_of(pair: tuple[int, int | float]) -> int:
    return pair[0]
