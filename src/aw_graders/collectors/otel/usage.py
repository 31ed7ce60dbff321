"""Token counts of a span, in the conventions' present and former spellings.

Source: OpenTelemetry semantic conventions for generative AI: cached tokens are inside the input.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import Notes

_PREFIXES: Final = ("gen_ai.usage.", "gen_ai.usage.details.", "llm.usage.")
INPUT: Final = "inputTokens"
OUTPUT: Final = "outputTokens"
TOTAL: Final = "totalTokens"
CACHE_READ: Final = "cacheReadInputTokens"
CACHE_WRITE: Final = "cacheCreationInputTokens"
_REASONING: Final = "reasoningOutputTokens"
# The present spelling first; the first one that is there counts.
_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    INPUT: ("input_tokens", "prompt_tokens"),
    OUTPUT: ("output_tokens", "completion_tokens"),
    TOTAL: ("total_tokens",),
    CACHE_READ: (
        "cache_read.input_tokens",
        "cache_read_input_tokens",
        "cache_read_tokens",
        "input_tokens.cached",
        "input_cached_tokens",
        "cached_input_tokens",
        "cached_tokens",
        "prompt_tokens_details.cached_tokens",
        "input_tokens_details.cached_tokens",
    ),
    CACHE_WRITE: (
        "cache_creation.input_tokens",
        "cache_creation_input_tokens",
        "cache_creation_tokens",
        "cache_write_tokens",
        "cache_write_input_tokens",
        "input_tokens.cache_write",
    ),
    _REASONING: (
        "reasoning.output_tokens",
        "reasoning_tokens",
        "reasoning_output_tokens",
        "output_tokens.reasoning",
    ),
}
_KEYS: Final = {
    name: tuple(prefix + spelling for spelling in spellings for prefix in _PREFIXES)
    for name, spellings in _SPELLINGS.items()
}
_COUNTED: Final = tuple(key for name in (INPUT, OUTPUT, TOTAL) for key in _KEYS[name])


def has_usage(attributes: Mapping[str, JsonValue]) -> bool:
    """Tell whether a span says how many tokens it read or wrote, readable or not."""
    return any(attributes.get(key) is not None for key in _COUNTED)


def counts_of(attributes: Mapping[str, JsonValue], notes: Notes, line: int) -> dict[str, int]:
    """Read the counts of a span, noting those that are none."""
    counts: dict[str, int] = {}
    for name, keys in _KEYS.items():
        value = next((attributes[key] for key in keys if attributes.get(key) is not None), None)
        count = notes.whole(value, line)
        if count is not None:
            counts[name] = count
    return counts


def is_beside(counts: Mapping[str, int]) -> bool:
    """Tell whether the counts prove that cached tokens stand beside the input.

    They do when they outnumber it, and when the total holds input, output and them.
    """
    cached = counts.get(CACHE_READ, 0) + counts.get(CACHE_WRITE, 0)
    if not cached or INPUT not in counts:
        return False
    added = counts[INPUT] + counts.get(OUTPUT, 0) + cached
    return cached > counts[INPUT] or counts.get(TOTAL) == added


def added(all_counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add up counts, field by field."""
    total: dict[str, int] = {}
    for counts in all_counts:
        for name, count in counts.items():
            total[name] = total.get(name, 0) + count
    return total
