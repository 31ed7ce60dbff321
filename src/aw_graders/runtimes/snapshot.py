"""What `helpers.createSessionLookups(session)` gives a script: made here, handed over as JSON.

There is no second implementation in JavaScript. Events are named by their position in the session.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aw_graders import _json
from aw_graders._json import JsonValue, thaw
from aw_graders.lookups import SessionLookups, ToolCall
from aw_graders.lookups.handlers import is_retry
from aw_graders.lookups.shapes import Shapes
from aw_graders.session import events as names
from aw_graders.session.model import Event, Redacted


def lookups_snapshot(session: Redacted, lookups: SessionLookups) -> dict[str, Any]:
    """Spell the lookups of a session as plain data.

    Takes: a redacted session that is held whole, and its lookups.
    Returns: `stats`, `toolCalls`, `toolCallsById` as pairs of key and position, `eventsByType` as
        pairs of type and positions, and `trace`.
    Cost: O(events); events of tool calls and of the gateway are decoded.
    Source: Graders Specification 0.5.0, section 2; Operational Value Designer, section 7.
    """
    by_type: dict[str, list[int]] = {}
    tool_events: dict[tuple[str, int], Event] = {}
    retries: list[int] = []
    shapes = Shapes()
    for position, event in enumerate(session.events):
        by_type.setdefault(event.type, []).append(position)
        provenance = event.provenance
        if event.type in {names.TOOL_START, names.TOOL_COMPLETE}:
            tool_events[provenance.path, provenance.index] = event
        elif provenance.phase == names.MAIN_PHASE and event.type.startswith(names.MCP_PREFIX):
            data = event.data
            if is_retry(data, shapes[tuple(data)], lambda text: text):
                retries.append(position)
    calls = lookups.tool_calls
    return {
        "stats": _stats(lookups),
        "toolCalls": [_call(call, tool_events) for call in calls],
        "toolCallsById": _by_id(calls),
        "eventsByType": list(by_type.items()),
        "trace": {
            "steps": [_step(index, lookups) for index in range(len(lookups.requests))],
            "retryEvents": retries,
            "totals": _totals(lookups),
            "artifacts": by_type.get(names.SAFE_OUTPUT_RESULT, []),
            "trajectoryIR": _trajectory(lookups),
        },
    }


def _stats(lookups: SessionLookups) -> dict[str, Any]:
    stats = lookups.statistics
    return {
        "toolCalls": stats.tool_calls,
        "successfulToolCalls": stats.successful_tool_calls,
        "failedToolCalls": stats.failed_tool_calls,
        "unfinishedToolCalls": stats.unfinished_tool_calls,
        "distinctToolNames": stats.distinct_tool_names,
        "consecutiveRepeats": stats.consecutive_repeats,
        "retries": stats.retries,
        "requests": stats.requests,
        "durationMs": stats.duration.value_ms,
        "inputTokens": stats.tokens.input_tokens,
        "outputTokens": stats.tokens.output_tokens,
        "totalTokens": stats.tokens.total_tokens,
        "peakInputTokens": stats.peak_input_tokens,
        "cumulativeInputTokens": stats.cumulative_input_tokens,
        "firstRequestTokens": stats.first_request_tokens,
        "usageSource": stats.tokens.source,
        "safeOutputRequests": stats.safe_output_requests,
        "safeOutputResults": stats.safe_output_results,
        "safeOutputErrors": stats.safe_output_errors,
    }


def _call(call: ToolCall, tool_events: Mapping[tuple[str, int], Event]) -> dict[str, Any]:
    """Spell one tool call; what was not recorded has no key."""
    row: dict[str, Any] = {
        "source": call.source,
        "name": call.name,
        "tool": call.tool,
        "arguments": None if call.arguments_json is None else _json.decode(call.arguments_json),
        "toolCallId": call.tool_call_id,
        "mcpServerName": call.mcp_server_name,
        "completed": call.completed,
        "success": call.success,
        "status": call.status,
        "error": _error(call, tool_events),
        "durationMs": call.duration_ms,
        "timestamp": _timestamp(call, tool_events),
        "sessionId": call.session_id,
        "agentId": call.agent_id,
        "scope": list(call.scope),
        "path": call.path,
        "startIndex": call.start_index,
        "completeIndex": call.complete_index,
    }
    has_arguments = call.arguments_json is not None
    return {
        name: value
        for name, value in row.items()
        if value is not None or (name == "arguments" and has_arguments)
    }


def _event(
    call: ToolCall, index: int | None, tool_events: Mapping[tuple[str, int], Event]
) -> Event | None:
    return None if index is None else tool_events.get((call.path, index))


def _error(call: ToolCall, tool_events: Mapping[tuple[str, int], Event]) -> Any:
    event = _event(call, call.complete_index, tool_events)
    if event is None or call.success is not False:
        return None
    data = _json.decode(event.data_json)
    return data.get("error") if isinstance(data, dict) else None


def _timestamp(call: ToolCall, tool_events: Mapping[tuple[str, int], Event]) -> JsonValue:
    event = _event(call, call.start_index, tool_events)
    stamp = None if event is None else event.timestamp
    return stamp if isinstance(stamp, str | int | float) else None


def _by_id(calls: Sequence[ToolCall]) -> list[tuple[str, int]]:
    """List keys as `SessionLookups.tool_calls_by_id` has them, with positions in `toolCalls`."""
    table: dict[str, int] = {}
    for position, call in enumerate(calls):
        if call.tool_call_id is not None:
            key = _json.compact([*call.scope, call.tool_call_id]).decode()
            table.setdefault(key, position)
    return list(table.items())


def _step(index: int, lookups: SessionLookups) -> dict[str, Any]:
    request = lookups.requests[index]
    return {
        "index": index,
        "path": request.place.path,
        "sourceIndex": request.place.index,
        "model": request.model,
        "inputTokens": request.input_tokens,
        "outputTokens": request.output_tokens,
        "totalTokens": request.total_tokens,
        "readTokens": request.read_tokens,
        "durationMs": request.duration_ms,
    }


def _totals(lookups: SessionLookups) -> dict[str, Any]:
    stats = lookups.statistics
    return {
        "inputTokens": stats.tokens.input_tokens,
        "outputTokens": stats.tokens.output_tokens,
        "totalTokens": stats.tokens.total_tokens,
        "durationMs": stats.duration.value_ms,
        "requests": stats.requests,
    }


def _trajectory(lookups: SessionLookups) -> dict[str, Any]:
    """Spell the collections that the session has; a missing one has no key."""
    trajectory = lookups.trajectory
    collections = {
        name: [thaw(entry) for entry in found.entries]
        for name, found in trajectory.collections.items()
    }
    return {**collections, "reference": thaw(trajectory.reference)}
