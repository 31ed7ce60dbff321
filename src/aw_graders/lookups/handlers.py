"""What is kept of each type of event. Unknown types are kept nowhere.

A handler takes the source that the event belongs to and the event; it runs for every event of its
type, so the common case is written out and the rare ones call a function.
"""

from collections.abc import Callable, Mapping
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
from aw_graders.lookups.shapes import Shape, Shapes
from aw_graders.session import events as names
from aw_graders.session.limits import MAX_SAFE_INTEGER
from aw_graders.session.timestamps import stamp_ns
from aw_graders.session.wire import WireEvent

# How many distinct types a source may have before their handlers are looked up anew each time.
_MAX_REMEMBERED_TYPES: Final = 1000
_COLLECTOR: Final = "collector"


class OpenSource:
    """A source while it is being read: its rows, and the calls whose ids were met."""

    __slots__ = (
        "component",
        "handlers",
        "ids",
        "is_main",
        "mask",
        "next",
        "observations",
        "phase",
        "rows",
        "shapes",
    )

    def __init__(
        self,
        rows: SourceRows,
        observations: Observations,
        shapes: Shapes,
        mask: Callable[[str], str],
        following: "OpenSource | None",
    ) -> None:
        """Start reading; `following` is another source with the same path."""
        self.rows = rows
        self.component = rows.component
        self.phase = rows.phase
        self.is_main = rows.phase == names.MAIN_PHASE
        self.handlers = _Handlers(_MAIN if self.is_main else _OTHER, is_main=self.is_main)
        self.ids: dict[str, NativeRow] = {}
        self.observations = observations
        self.shapes = shapes
        self.mask = mask
        self.next = following


Handler: TypeAlias = Callable[[OpenSource, WireEvent], None]


class _Handlers(dict[str, "Handler | None"]):
    """Type to handler; a type that is not known is settled once and remembered."""

    def __init__(self, handlers: dict[str, Handler], *, is_main: bool) -> None:
        super().__init__(handlers)
        self._is_main = is_main

    def __missing__(self, kind: str) -> "Handler | None":
        gateway = self._is_main and kind.startswith(names.MCP_PREFIX)
        handler = _gateway_event if gateway else None
        if len(self) < _MAX_REMEMBERED_TYPES:
            self[kind] = handler
        return handler


def _text(value: object) -> str | None:
    """Return `value` when it is text that is not empty: an empty id is no id."""
    return value if isinstance(value, str) and value else None


def _has_own_ids(event: WireEvent) -> bool:
    """Tell whether the envelope itself names a session, an agent or a parent call."""
    return not (
        event.agentId is None
        and event.sessionId is None
        and event.session_id is None
        and event.parent_tool_use_id is None
        and event.parentToolUseId is None
        and event.parentToolCallId is None
    )


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


def _command_arguments(data: dict[str, Any]) -> bytes | None:
    """Spell a bare command as the arguments it stands for."""
    command = data.get("command")
    return _json.sorted_text({"command": command}) if isinstance(command, str) else None


def _step(data: dict[str, Any]) -> int | None:
    step = data.get("stepIndex")
    return step if isinstance(step, int) and not isinstance(step, bool) else None


def _tool_start(source: OpenSource, event: WireEvent) -> None:
    row = _native(START, source, event)
    data = event.data
    value = data.get(source.shapes[tuple(data)].input)
    row.arguments = _command_arguments(data) if value is None else _json.sorted_text(value)
    join(source.rows, source.ids, row)


def _tool_complete(source: OpenSource, event: WireEvent) -> None:
    row = _native(COMPLETION, source, event)
    data = event.data
    shape = source.shapes[tuple(data)]
    get = data.get
    success, duration = get("success"), get(shape.duration)
    if shape.says_outcome or isinstance(get("output"), dict) or isinstance(get("result"), dict):
        row.success = completion_success(data)
    elif isinstance(success, bool):
        row.success = success
    if duration is not None:
        row.duration_ms = metric(duration)
    join(source.rows, source.ids, row)


def _native(kind: int, source: OpenSource, event: WireEvent) -> NativeRow:
    """Read what starts and completions have in common."""
    data = event.data
    shape = source.shapes[tuple(data)]
    get = data.get
    call_id, name, server = get(shape.call_id), get(shape.name), get("mcpServerName")
    row = NativeRow(
        kind,
        event.provenance.index,
        call_id if isinstance(call_id, str) and call_id else None,
        name if isinstance(name, str) and name else None,
    )
    if server is not None:
        row.server = _text(server)
    if shape.is_correlated or _has_own_ids(event):
        row.session_id = _session_id(event)
        row.agent_id = _agent_id(event)
        row.parent_id = _parent_id(event)
    if row.call_id is None:
        row.step = _step(data)
    return row


def join(rows: SourceRows, ids: dict[str, NativeRow], row: NativeRow) -> None:
    """Keep the next row of a source; a completion that plainly belongs to a start is put on it.

    Takes: `ids`, the calls of the source so far by their id. As soon as one id stands twice, or a
        call has none, the rows are kept as they are and pairing settles them later.
    """
    kind, call_id = row.kind, row.call_id
    if kind < ANNOUNCED:
        if call_id is None:
            rows.joined = False
        else:
            known = ids.get(call_id)
            if known is None:
                ids[call_id] = row
            elif kind == COMPLETION and _belongs(known, row, rows.native_top):
                known.success = row.success
                known.duration_ms = row.duration_ms
                known.end_index = rows.native_top = row.index
                known.end_name = row.name
                known.end_server = row.server
                return
            else:
                rows.joined = False
    elif kind == ANNOUNCED and ids:
        rows.joined = False
    rows.native.append(row)
    rows.native_top = max(rows.native_top, row.index)


def _belongs(start: NativeRow, row: NativeRow, native_top: int) -> bool:
    """Tell whether `row` completes `start` whatever else the source holds.

    Its index is over all before it, so that it stays behind its start in source order.
    """
    return (
        start.kind == START
        and start.end_index is None
        and row.index > native_top
        and start.session_id == row.session_id
        and start.agent_id == row.agent_id
        and start.parent_id == row.parent_id
    )


def _session_announced(source: OpenSource, event: WireEvent) -> None:
    session_id = _session_id(event)
    if session_id is not None:
        row = NativeRow(
            kind=ANNOUNCED,
            index=event.provenance.index,
            session_id=session_id,
            agent_id=_agent_id(event),
            parent_id=_parent_id(event),
        )
        join(source.rows, source.ids, row)


def _subagent_started(source: OpenSource, event: WireEvent) -> None:
    agent_id = _agent_id(event)
    spawning = _text(event.data.get(source.shapes[tuple(event.data)].call_id))
    if agent_id is not None and spawning is not None:
        row = NativeRow(
            kind=SPAWNED, index=event.provenance.index, agent_id=agent_id, parent_id=spawning
        )
        join(source.rows, source.ids, row)


def _count(value: object) -> int | None:
    """Read a token count; nearly every one is a plain integer."""
    return value if type(value) is int and 0 <= value <= MAX_SAFE_INTEGER else token_count(value)


def _usage_row(source: OpenSource, event: WireEvent) -> UsageRow:
    """Read the token evidence of one request; counts may sit under `usage` or flat in `data`."""
    data = event.data
    shape = source.shapes[tuple(data)]
    counts, counted = data, shape
    if "usage" in data:
        nested = data["usage"]
        counts = cast("dict[str, Any]", nested) if isinstance(nested, dict) else {}
        counted = source.shapes[tuple(counts)]
    get = counts.get
    read, written = _count(get(counted.input_tokens)), _count(get(counted.output_tokens))
    duration, purpose = data.get(shape.duration), data.get("purpose")
    row = UsageRow(
        event.provenance.index,
        _text(data.get("model")),
        _text(data.get(shape.request_id)),
        None if purpose is None else _text(purpose),
        read,
        written,
        duration_ms=duration if type(duration) is int and duration >= 0 else metric(duration),
        has_usage=read is not None or written is not None,
    )
    if counted.counts_more:
        row.total_tokens = token_count(get(counted.total_tokens))
        row.cache_read = token_count(get(counted.cache_read))
        row.cache_creation = token_count(get(counted.cache_creation))
        includes = get(counted.includes_cache)
        row.includes_cache = includes if isinstance(includes, bool) else None
        row.has_usage = row.has_usage or row.total_tokens is not None
    return row


def _token_usage(source: OpenSource, event: WireEvent) -> None:
    source.rows.proxy.append(_usage_row(source, event))


def _usage_report(source: OpenSource, event: WireEvent) -> None:
    source.rows.reports.append(_usage_row(source, event))


def _session_result(source: OpenSource, event: WireEvent) -> None:
    data = event.data
    source.rows.results.append(
        ResultRow(
            index=event.provenance.index,
            session_id=_session_id(event),
            nested=_agent_id(event) is not None or _parent_id(event) is not None,
            duration_ms=metric(data.get(source.shapes[tuple(data)].duration)),
            usage=_usage_row(source, event) if isinstance(data.get("usage"), dict) else None,
        )
    )


def _execution_result(source: OpenSource, event: WireEvent) -> None:
    duration = metric(event.data.get(source.shapes[tuple(event.data)].duration))
    if duration is not None:
        source.rows.execution_ms.append((event.provenance.index, duration))


def _gateway_event(source: OpenSource, event: WireEvent) -> None:
    """Note that the gateway was seen, and whether it observed a retry."""
    rows = source.rows
    rows.saw_gateway = True
    data = event.data
    if is_retry(data, source.shapes[tuple(data)], source.mask):
        rows.retries.append(event.provenance.index)


def is_retry(data: Mapping[str, Any], shape: Shape, mask: Callable[[str], str]) -> bool:
    """Tell whether a record of the gateway observed a retry.

    "retries" and "retried" do not hold the word. It may stand in a secret alone, which is masked
    before anything is read.
    """
    message = data.get("message")
    return (
        data.get("retry") is True
        or data.get(shape.retry_event) == "retry"
        or (
            isinstance(message, str)
            and "retry" in message.lower()
            and "retry" in mask(message).lower()
        )
    )


def _gateway_row(kind: int, source: OpenSource, event: WireEvent) -> None:
    data = event.data
    shape = source.shapes[tuple(data)]
    get = data.get
    rpc_id = get("rpcId")
    duration = (
        get(shape.duration) if "durationMs" in data or "duration_ms" in data else get("duration")
    )
    source.rows.gateway.append(
        GatewayRow(
            kind=kind,
            index=event.provenance.index,
            name=_text(get(shape.name)),
            server=_text(get(shape.server)),
            call_id=_text(get(shape.call_id)),
            rpc_id=None if rpc_id is None else _json.sorted_text(rpc_id).decode(),
            failed=gateway_failed(data),
            duration_ms=metric(duration),
        )
    )


def _gateway_call(source: OpenSource, event: WireEvent) -> None:
    _gateway_event(source, event)
    _gateway_row(CALL_RECORD, source, event)


def _rpc_request(source: OpenSource, event: WireEvent) -> None:
    _gateway_event(source, event)
    if event.data.get("method") == "tools/call":
        _gateway_row(RPC_REQUEST, source, event)


def _rpc_response(source: OpenSource, event: WireEvent) -> None:
    _gateway_event(source, event)
    _gateway_row(RPC_RESPONSE, source, event)


def _format_header(source: OpenSource, _: WireEvent) -> None:
    if source.component == _COLLECTOR:
        source.observations.headers += 1


def _collection_warning(source: OpenSource, _: WireEvent) -> None:
    source.observations.warnings += 1


def _agent_execution(source: OpenSource, _: WireEvent) -> None:
    source.observations.executions += 1


def _safe_request(source: OpenSource, _: WireEvent) -> None:
    source.observations.safe_requests += 1


def _safe_error(source: OpenSource, _: WireEvent) -> None:
    source.observations.safe_errors += 1


def _safe_result(source: OpenSource, event: WireEvent) -> None:
    if source.phase == names.SAFE_OUTPUTS_PHASE:
        source.rows.safe_results.append(event.provenance.index)


def _experiment(source: OpenSource, event: WireEvent) -> None:
    assignments = event.data.get("assignments")
    if isinstance(assignments, dict):
        source.observations.experiments.append(cast("dict[str, Any]", assignments))


def _eval_result(source: OpenSource, event: WireEvent) -> None:
    source.observations.evals.append({key: event.data.get(key) for key in ("id", "answer")})


def _workflow_info(source: OpenSource, event: WireEvent) -> None:
    workflow = source.observations.workflow
    workflow.update({key: event.data[key] for key in names.RUN_KEYS if key in event.data})


def _collection(source: OpenSource, event: WireEvent) -> None:
    """Note which sources the collector looked at, also those that held nothing."""
    observations = source.observations
    stamp = stamp_ns(event.timestamp)
    if stamp is not None:
        known = observations.collection_ns
        observations.collection_ns = stamp if known is None else max(stamp, known)
    sources = event.data.get("sources")
    for item in cast("list[Any]", sources) if isinstance(sources, list) else []:
        if isinstance(item, dict):
            listed = cast("dict[str, Any]", item)
            component, phase = listed.get("component"), listed.get("phase")
            if isinstance(component, str) and isinstance(phase, str):
                observations.listed.append((component, phase))


# Handlers that read facts of any phase, and those that read main-agent evidence alone.
_OTHER: Final[dict[str, Handler]] = {
    names.SESSION_FORMAT: _format_header,
    names.AGENT_EXECUTION: _agent_execution,
    names.SAFE_OUTPUT_REQUEST: _safe_request,
    names.SAFE_OUTPUT_RESULT: _safe_result,
    names.SAFE_OUTPUT_ERROR: _safe_error,
    names.EXPERIMENT_ASSIGNMENT: _experiment,
    names.EVAL_RESULT: _eval_result,
    names.WORKFLOW_INFO: _workflow_info,
    names.SESSION_COLLECTION: _collection,
    names.SESSION_COLLECTION_WARNING: _collection_warning,
}
_MAIN: Final[dict[str, Handler]] = {
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
