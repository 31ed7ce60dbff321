"""Closed payloads: which fields of a record survive, and under which names they may stand."""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import Notes, is_list, is_mapping
from aw_graders.session import events

# The name of a field in a session, and the names it may have in a record, its own one first.
Fields: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]

_CAPITAL: Final = re.compile("(?<=[a-z0-9])([A-Z])")


def fields(*names: str, **others: tuple[str, ...]) -> Fields:
    """List fields by name; each may also be spelled with underscores, or as `others` say."""
    return tuple(
        (name, tuple(dict.fromkeys((name, snake_case(name), *others.get(name, ())))))
        for name in dict.fromkeys((*names, *others))
    )


def snake_case(name: str) -> str:
    """Spell `toolName` as `tool_name`."""
    return _CAPITAL.sub(lambda match: f"_{match[1].lower()}", name)


def project(row: Mapping[str, Any], chosen: Fields) -> dict[str, JsonValue]:
    """Keep the chosen fields of a record; presence decides, whatever the value.

    Cost: linear in the fields.
    """
    found: dict[str, JsonValue] = {}
    for name, spellings in chosen:
        for spelling in spellings:
            if spelling in row:
                found[name] = row[spelling]
                break
    return found


_COUNTS: Final = fields(
    "totalTokens",
    "inputTokens",
    "outputTokens",
    "reasoningOutputTokens",
    totalTokens=events.TOTAL_TOKENS,
    inputTokens=events.INPUT_TOKENS,
    outputTokens=events.OUTPUT_TOKENS,
    reasoningOutputTokens=("reasoningTokens", "reasoning_tokens"),
    cacheReadInputTokens=events.CACHE_READ_TOKENS,
    cacheCreationInputTokens=events.CACHE_CREATION_TOKENS,
)
_INCLUDES: Final = fields(inputTokensIncludeCache=events.INPUT_INCLUDES_CACHE)
_OVERFLOWED: Final = fields("overflowedTokens")


def usage_of(counts: Mapping[str, Any], notes: Notes, line: int | None) -> dict[str, JsonValue]:
    """Keep the token counts of a record; what is no count is left out and noted."""
    found: dict[str, JsonValue] = {}
    for name, value in project(counts, _COUNTS).items():
        count = notes.whole(value, line)
        if count is not None:
            found[name] = count
    includes = project(counts, _INCLUDES).get("inputTokensIncludeCache")
    if isinstance(includes, bool):
        found["inputTokensIncludeCache"] = includes
    overflowed = project(counts, _OVERFLOWED).get("overflowedTokens")
    if is_list(overflowed):
        found["overflowedTokens"] = [name for name in overflowed if isinstance(name, str)]
    return found


_REQUEST: Final = fields(
    "provider",
    "model",
    "purpose",
    "path",
    "requestId",
    "status",
    "aic",
    "totalAic",
    "premiumRequests",
    "durationMs",
    "xInitiator",
    "stepIndex",
    "sessionId",
    "agentId",
    "parentToolUseId",
    "parentToolCallId",
    model=("primary_model",),
    requestId=events.REQUEST_ID,
    aic=("ai_credits_this_response", "ai_credits"),
    totalAic=("ai_credits_total",),
    durationMs=events.DURATION_MS,
)
_STEERING: Final = fields("type", "threshold")


def request_of(row: Mapping[str, Any], notes: Notes, line: int | None) -> dict[str, JsonValue]:
    """Keep what a record says of a model request, or of several; counts may lie flat in it."""
    data = project(row, _REQUEST)
    if not data.get("purpose"):
        # An empty purpose says as little as none.
        data.pop("purpose", None)
    steering = row.get("steering")
    if is_mapping(steering):
        data["steering"] = project(steering, _STEERING)
    if "usage" in row and not is_mapping(row["usage"]):
        data["usage"] = None
        return data
    counts = row.get("usage", row)
    usage = usage_of(counts, notes, line)
    if usage or "usage" in row:
        data["usage"] = usage
    return data


def error_of(value: object) -> JsonValue:
    """Cut an error to its code and message; text stays text."""
    if is_mapping(value):
        return {key: value[key] for key in ("code", "message") if key in value}
    return value if isinstance(value, str) or value is None else True
