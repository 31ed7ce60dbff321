"""Token counts of one step, which is one model request.

Cached tokens stand beside the input. Reasoning tokens stood inside the output in older versions and
stand beside it in newer ones, which the total tells.
"""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import Notes, mapping_of


def usage_of(tokens: object, notes: Notes, line: int) -> dict[str, JsonValue] | None:
    """Spell counts as a unified session does; None when nothing was counted."""
    fields = mapping_of(tokens) or {}
    cache = mapping_of(fields.get("cache")) or {}
    found: dict[str, int] = {}
    for name, value in (
        ("inputTokens", fields.get("input")),
        ("outputTokens", fields.get("output")),
        ("reasoningOutputTokens", fields.get("reasoning")),
        ("cacheReadInputTokens", cache.get("read")),
        ("cacheCreationInputTokens", cache.get("write")),
        ("totalTokens", fields.get("total")),
    ):
        count = notes.whole(value, line)
        if count is not None:
            found[name] = count
    if not any(found.values()):
        return None
    return {**_with_reasoning(found, notes, line), "inputTokensIncludeCache": False}


_SUMMED: Final = (
    "inputTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
)


def _with_reasoning(found: Mapping[str, int], notes: Notes, line: int) -> dict[str, Any]:
    """Put reasoning tokens into the output where they stood beside it."""
    counts = dict(found)
    reasoning, total = found.get("reasoningOutputTokens", 0), found.get("totalTokens")
    known = sum(found.get(name, 0) for name in _SUMMED)
    if not total:
        counts.pop("totalTokens", None)
        if reasoning:
            message = "nothing tells whether reasoning tokens are in the output; none were added"
            notes.count("reasoning-not-placed", message, line, lossy=False)
    elif known + reasoning == total:
        counts["outputTokens"] = found.get("outputTokens", 0) + reasoning
    elif known != total:
        message = "the total of a request is not the sum of its counts; all stay as recorded"
        notes.count("token-total-differs", message, line, lossy=False)
    return counts
