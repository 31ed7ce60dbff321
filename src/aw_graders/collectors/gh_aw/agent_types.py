"""What survives of the agent's own events, by type; types that are not listed stay untouched.

Source: unified session format 1.8.0, section 1.5.
"""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.gh_aw.fields import Fields, fields, project, request_of, usage_of
from aw_graders.collectors.normalise import Notes, is_mapping
from aw_graders.session import events

_CORRELATION: Final = fields(
    *("sessionId", "agentId", "parentToolUseId", "parentToolCallId", "parentAgentId", "model"),
    *("apiCallId", "interactionId", "turnId"),
)
# What a row may say of itself beside its data.
_OWN: Final = fields("sessionId", "parentToolUseId", "parentToolCallId")
_MESSAGE: Final = fields(
    *("content", "delta", "partial", "messageId", "contentIndex", "channel", "reasoningId"),
    *("originatingMessageId", "parentAgentTaskId"),
)
_DELTA: Final = fields("messageId", "reasoningId", "deltaContent")
_SESSION: Final = fields("sourceEngine", "model", "sessionId", "cwd", "reasoningEffort")
_TASK: Final = fields(
    *("taskId", "toolCallId", "taskType", "workflowName", "status", "sessionId"),
    *("parentToolUseId", "usage", "tasks", "workflowProgress"),
    toolCallId=events.TOOL_CALL_ID,
)
_SUBAGENT: Final = fields(
    *("invocationId", "agentName", "agentDisplayName", "agentType", "toolCallId", "parentId"),
    *("model", "requestedModel", "resolvedModel", "firstDispatchedModel", "outcome", "error"),
    *("errorCode", "workflowRunId"),
    toolCallId=events.TOOL_CALL_ID,
)
_NONE: Final = fields()
_TYPES: Final[dict[str, Fields]] = {
    events.SESSION_INIT: _SESSION,
    events.SESSION_START: _SESSION,
    events.SESSION_RESULT: fields(
        *("sourceEngine", "numTurns", "durationMs", "totalCostUsd", "status", "sourceType"),
        *("errors", "permissionDenials", "agentMetrics", "usage"),
    ),
    "session.error": fields(
        *("error", "message", "content", "code", "statusCode", "errorType", "model", "severity"),
        *("status", "sourceType", "exitCode"),
    ),
    "session.info": fields(
        *("message", "content", "model", "status", "sourceType", "role", "messageId"),
        *("toolCallId", "toolName", "usageSnapshot"),
    ),
    "session.shutdown": fields(
        *("shutdownType", "errorReason", "premiumRequests", "totalNanoAiu", "totalApiDurationMs"),
        *("sessionStartTime", "currentModel"),
        premiumRequests=("totalPremiumRequests",),
    ),
    "session.task_complete": fields("summary", "success"),
    events.USER_MESSAGE: _MESSAGE,
    events.ASSISTANT_MESSAGE: _MESSAGE,
    events.ASSISTANT_REASONING: _MESSAGE,
    "assistant.refusal": (*_MESSAGE, *fields("reason", "policyCategory", "explanation")),
    "assistant.message_delta": _DELTA,
    "assistant.reasoning_delta": _DELTA,
    "assistant.turn_start": _NONE,
    "assistant.turn_end": _NONE,
    "system.message": fields("content", "role"),
    events.TOOL_START: fields(
        *("toolCallId", "toolName", "input", "command", "mcpServerName", "stepIndex"),
        "inputTruncated",
        toolCallId=events.TOOL_CALL_ID,
        input=events.TOOL_INPUT,
    ),
    "tool.execution_update": fields(
        *("toolCallId", "stepIndex", "toolName", "input", "mcpServerName", "output", "partial"),
        *("delta", "contentIndex", "sourceType", "usageSnapshot"),
        toolCallId=events.TOOL_CALL_ID,
        input=events.TOOL_INPUT,
    ),
    events.TOOL_COMPLETE: fields(
        *("toolCallId", "toolName", "success", "output", "result", "error", "durationMs"),
        *("exitCode", "status", "mcpServerName", "isError", "stepIndex", "taskId", "taskType"),
        *("workflowName", "workflowRunId"),
        toolCallId=events.TOOL_CALL_ID,
        output=("result",),
    ),
    **{
        f"dynamicWorkflows.{name}": _TASK
        for name in (
            *("task_started", "task_progress", "task_updated", "task_notification"),
            "background_tasks_changed",
        )
    },
    **{f"subagent.{name}": _SUBAGENT for name in ("started", "configured", "completed", "failed")},
    "subagent.request": fields(
        *("invocationId", "agentName", "model", "inputTokens", "outputTokens"),
        *("cacheReadTokens", "cacheWriteTokens"),
    ),
}
# By these, other observers tell what they saw. An agent's own file cannot speak for them.
_FOREIGN_FAMILIES: Final = frozenset(
    {
        "agent", "detection", "eval", "execution", "experiment", "firewall", "github_api", "grader",
        "guardrail", "mcp", "otel", "prompt", "safe_output", "workflow",
    }
)  # fmt: skip
_FOREIGN_TYPES: Final = frozenset(
    {events.SESSION_FORMAT, events.SESSION_COLLECTION, events.SESSION_COLLECTION_WARNING}
)
OWN_TYPE_PREFIX: Final = "native."


def own_type(kind: str) -> str:
    """Give a type of the agent's own file, marked when it is one of another observer."""
    family = kind.partition(".")[0]
    if family in _FOREIGN_FAMILIES or kind in _FOREIGN_TYPES:
        return f"{OWN_TYPE_PREFIX}{kind}"
    return kind


def reduced(
    kind: str, row: Mapping[str, Any], data: Mapping[str, Any], notes: Notes, line: int | None
) -> Mapping[str, JsonValue]:
    """Reduce the data of one of the agent's events to the fields of its type.

    Takes: `row`, the record around the data, which may name the session and the parent call.
    """
    if kind == events.USAGE_REPORT:
        return request_of(data, notes, line)
    chosen = _TYPES.get(kind)
    if chosen is None:
        return data
    found = {**project(data, chosen), **project(data, _CORRELATION)}
    for name, value in project(row, _OWN).items():
        if isinstance(value, str) and value:
            found.setdefault(name, value)
    if kind == events.SESSION_RESULT and "usage" in found:
        counts = found["usage"]
        found["usage"] = usage_of(counts, notes, line) if is_mapping(counts) else None
    elif kind == events.TOOL_COMPLETE:
        _settle_completion(row, found)
    return found


def _settle_completion(row: Mapping[str, Any], found: dict[str, JsonValue]) -> None:
    """Keep one of two equal results, and a failure that stands beside the data alone."""
    if "result" in found and _json.compact(found["result"]) == _json.compact(found["output"]):
        del found["result"]
    if row.get("isError") is True or row.get("is_error") is True:
        found.setdefault("isError", True)
