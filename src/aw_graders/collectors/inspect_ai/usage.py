"""Token counts as Inspect records them, and whether its cached tokens are inside the input.

Providers were read differently from version to version, so only the sums of a record tell.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from aw_graders.collectors.normalise import Notes

_FIELDS: Final = (
    ("input_tokens", "inputTokens"),
    ("output_tokens", "outputTokens"),
    ("total_tokens", "totalTokens"),
    ("input_tokens_cache_read", "cacheReadInputTokens"),
    ("input_tokens_cache_write", "cacheCreationInputTokens"),
    ("reasoning_tokens", "reasoningOutputTokens"),
)


def counts_of(usage: Mapping[str, Any], notes: Notes) -> dict[str, int]:
    """Read the counts of one record of usage."""
    counts: dict[str, int] = {}
    for key, name in _FIELDS:
        count = notes.whole(usage.get(key), None)
        if count is not None:
            counts[name] = count
    return counts


def cached_in(counts: Mapping[str, int]) -> int:
    """Count the cached tokens of a record."""
    return counts.get("cacheReadInputTokens", 0) + counts.get("cacheCreationInputTokens", 0)


def includes_cache(counts: Mapping[str, int]) -> bool | None:
    """Tell whether the input holds the cached tokens, None when the counts do not tell.

    It cannot when they outnumber it. Else the total tells: it is input and output, or these and
    the cached tokens; reasoning may stand beside both.
    """
    cached, read = cached_in(counts), counts.get("inputTokens")
    if not cached or read is None:
        return None
    if cached > read:
        return False
    total = counts.get("totalTokens")
    if total is None:
        return None
    rest = total - read - counts.get("outputTokens", 0)
    thought = counts.get("reasoningOutputTokens", 0)
    inside, beside = rest in {0, thought}, rest in {cached, cached + thought}
    return None if inside == beside else inside


def agreed(verdicts: Iterable[bool | None]) -> bool | None:
    """Return what all verdicts that tell anything agree on."""
    told = {verdict for verdict in verdicts if verdict is not None}
    return told.pop() if len(told) == 1 else None


def added(all_counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add up counts, field by field."""
    total: dict[str, int] = {}
    for counts in all_counts:
        for name, count in counts.items():
            total[name] = total.get(name, 0) + count
    return total
