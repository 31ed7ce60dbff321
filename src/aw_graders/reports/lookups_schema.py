"""What `helpers.createSessionLookups(session)` gives a script, as a JSON Schema of its data."""

from typing import Any, Final

from aw_graders.lookups.trajectory import COLLECTIONS, REFERENCE

_TEXT: Final = {"type": "string"}
_TEXT_OR_NULL: Final = {"type": ["string", "null"]}
_NUMBER_OR_NULL: Final = {"type": ["number", "null"]}
_COUNT: Final = {"type": "integer", "minimum": 0}
_COUNT_OR_NULL: Final = {"type": ["integer", "null"], "minimum": 0}
_EVENTS: Final = {"type": "array", "items": {"type": "object", "required": ["type", "data"]}}

_STATS: Final = {
    **dict.fromkeys(
        (
            "toolCalls",
            "successfulToolCalls",
            "failedToolCalls",
            "unfinishedToolCalls",
            "distinctToolNames",
            "consecutiveRepeats",
        ),
        _COUNT,
    ),
    "retries": _COUNT_OR_NULL,
    "requests": _COUNT_OR_NULL,
    **dict.fromkeys(
        (
            "durationMs",
            "inputTokens",
            "outputTokens",
            "totalTokens",
            "peakInputTokens",
            "cumulativeInputTokens",
            "firstRequestTokens",
        ),
        _NUMBER_OR_NULL,
    ),
    "usageSource": _TEXT_OR_NULL,
    "safeOutputRequests": _COUNT,
    "safeOutputResults": _COUNT_OR_NULL,
    "safeOutputErrors": _COUNT,
}
_CALL: Final = {
    "source": {"enum": ["agent", "gateway"]},
    "name": _TEXT,
    "tool": _TEXT,
    "arguments": True,
    "toolCallId": _TEXT,
    "mcpServerName": _TEXT,
    "completed": {"type": "boolean"},
    "success": {"type": "boolean"},
    "status": {"enum": ["success", "error"]},
    "error": True,
    "durationMs": {"type": "number"},
    "timestamp": {"type": ["string", "number"]},
    "sessionId": _TEXT,
    "agentId": _TEXT,
    "scope": {"type": "array", "items": _TEXT_OR_NULL},
    "path": _TEXT,
    "startIndex": _COUNT,
    "completeIndex": _COUNT,
}
_STEP: Final = {
    "index": _COUNT,
    "path": _TEXT,
    "sourceIndex": _COUNT,
    "model": _TEXT_OR_NULL,
    **dict.fromkeys(
        ("inputTokens", "outputTokens", "totalTokens", "readTokens", "durationMs"), _NUMBER_OR_NULL
    ),
}
_TOTALS: Final = {
    **dict.fromkeys(("inputTokens", "outputTokens", "totalTokens", "durationMs"), _NUMBER_OR_NULL),
    "requests": _COUNT_OR_NULL,
}


def _closed(properties: dict[str, Any], required: tuple[str, ...] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(properties) if required is None else list(required),
        "properties": properties,
        "additionalProperties": False,
    }


def lookups_schema() -> dict[str, Any]:
    """Describe the data of lookups.

    Functions have no schema: `eventsOfType(type)` gives events, and `toolCallsById` has `get(key)`,
    `has(key)`, `keys()` and `size`, where a key is the JSON text of `[...scope, toolCallId]`.
    """
    calls = {
        "type": "array",
        "items": _closed(_CALL, ("source", "name", "tool", "completed", "scope", "path")),
    }
    trajectory = {
        **{key: {"type": "array"} for key in COLLECTIONS},
        REFERENCE: {"type": ["object", "null"]},
    }
    trace = {
        "toolCalls": calls,
        "steps": {"type": "array", "items": _closed(_STEP)},
        "retryEvents": _EVENTS,
        "totals": _closed(_TOTALS),
        "artifacts": _EVENTS,
        "trajectoryIR": _closed(trajectory, ()),
    }
    return _closed(
        {
            "stats": _closed(_STATS),
            "toolCalls": calls,
            "toolCallsById": _closed({"size": _COUNT}),
            "trace": _closed(trace),
        }
    )
