"""Token counts of one model request.

Cached tokens are inside the input. Whether thoughts stand beside the output (Gemini's own API) or
inside it (other providers behind Qwen Code), and tool prompts beside the input, the row's own
total decides; without a total that fits they stand beside, as in Gemini's API.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import Notes

TOTAL_DIFFERS: Final = "token-total-differs"

# Tool prompts beside the input, thoughts beside the output: the first pair that fits counts.
_PLACES: Final = ((True, True), (False, True), (True, False), (False, False))


class Keys(msgspec.Struct, frozen=True):
    """What a format calls the counts."""

    input: str
    output: str
    cached: str
    thoughts: str
    tool: str
    total: str

    def all(self) -> tuple[str, ...]:
        """List the names."""
        return (self.input, self.output, self.cached, self.thoughts, self.tool, self.total)


SESSION_KEYS: Final = Keys("input", "output", "cached", "thoughts", "tool", "total")
API_KEYS: Final = Keys(
    "promptTokenCount",
    "candidatesTokenCount",
    "cachedContentTokenCount",
    "thoughtsTokenCount",
    "toolUsePromptTokenCount",
    "totalTokenCount",
)


class Counts:
    """The valid counts of one request."""

    def __init__(self, keys: Keys, found: Mapping[str, int]) -> None:
        """Take counts by the format's own names."""
        self._keys = keys
        self._found = found

    def is_empty(self) -> bool:
        """Tell whether nothing was counted; a row of zeros accounts for no request."""
        return not any(self._found.values())

    def usage(self, notes: Notes, line: int) -> dict[str, JsonValue]:
        """Spell the counts as a unified session does."""
        keys, found = self._keys, self._found
        thoughts, tool = found.get(keys.thoughts, 0), found.get(keys.tool, 0)
        tool_beside, thoughts_beside = self._places(thoughts, tool, notes, line)
        usage: dict[str, JsonValue] = {}
        if keys.input in found:
            usage["inputTokens"] = found[keys.input] + (tool if tool_beside else 0)
        if keys.output in found:
            usage["outputTokens"] = found[keys.output] + (thoughts if thoughts_beside else 0)
        if keys.thoughts in found:
            usage["reasoningOutputTokens"] = thoughts
        if keys.cached in found:
            usage["cacheReadInputTokens"] = found[keys.cached]
        if found.get(keys.total):
            usage["totalTokens"] = found[keys.total]
        # Cached tokens inside the input cannot outnumber it.
        usage["inputTokensIncludeCache"] = found.get(keys.cached, 0) <= found.get(keys.input, 0)
        return usage

    def _places(self, thoughts: int, tool: int, notes: Notes, line: int) -> tuple[bool, bool]:
        total = self._found.get(self._keys.total)
        if not total:
            return True, True
        base = self._found.get(self._keys.input, 0) + self._found.get(self._keys.output, 0)
        for tool_beside, thoughts_beside in _PLACES:
            if base + tool * tool_beside + thoughts * thoughts_beside == total:
                return tool_beside, thoughts_beside
        message = "the total of a request is not the sum of its counts; all stay as recorded"
        notes.count(TOTAL_DIFFERS, message, line, lossy=False)
        return True, True


def largest(usages: Sequence[Mapping[str, Any]], keys: Keys, notes: Notes, line: int) -> Counts:
    """Read the counts of one request seen one or more times: per field the largest."""
    found: dict[str, int] = {}
    for usage in usages:
        for key in keys.all():
            count = notes.whole(usage.get(key), line)
            if count is not None:
                found[key] = max(count, found.get(key, 0))
    return Counts(keys, found)
