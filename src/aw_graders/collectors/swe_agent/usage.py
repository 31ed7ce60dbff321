"""Tokens of one request, as a chat completion or a response counts them.

Both count cached tokens inside the prompt.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from aw_graders.collectors.normalise import Notes, mapping_of, whole_number

_COUNTS: Final = (
    ("inputTokens", ("prompt_tokens", "input_tokens")),
    ("outputTokens", ("completion_tokens", "output_tokens")),
    ("totalTokens", ("total_tokens",)),
)
_PROMPT_DETAILS: Final = ("prompt_tokens_details", "input_tokens_details")
_ANSWER_DETAILS: Final = ("completion_tokens_details", "output_tokens_details")


def is_response(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is a provider's whole response."""
    return message.get("object") == "response"


def usage_counts(response: Mapping[str, Any], notes: Notes, line: int) -> dict[str, int]:
    """Read the counts of a response."""
    counts: dict[str, int] = {}
    for name, value in _fields(response).items():
        count = notes.whole(value, line)
        if count is not None:
            counts[name] = count
    return counts


def includes_cache(responses: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether cached tokens can be inside the prompt in every response."""
    for response in responses:
        fields = _fields(response)
        cached = whole_number(fields.get("cacheReadInputTokens")).value
        prompt = whole_number(fields.get("inputTokens")).value
        if cached is not None and prompt is not None and cached > prompt:
            return False
    return True


def _fields(response: Mapping[str, Any]) -> dict[str, Any]:
    """Name the recorded counts as a session does; of several names the first recorded counts."""
    usage = mapping_of(response.get("usage")) or {}
    prompt, answer = _details(usage, _PROMPT_DETAILS), _details(usage, _ANSWER_DETAILS)
    fields: dict[str, Any] = {}
    for name, keys in _COUNTS:
        _keep(fields, name, [usage.get(key) for key in keys])
    cached = [usage.get("cache_read_input_tokens"), prompt.get("cached_tokens")]
    _keep(fields, "cacheReadInputTokens", cached)
    written = [usage.get("cache_creation_input_tokens"), prompt.get("cache_creation_tokens")]
    _keep(fields, "cacheCreationInputTokens", written)
    _keep(fields, "reasoningOutputTokens", [answer.get("reasoning_tokens")])
    return fields


def _details(usage: Mapping[str, Any], keys: Iterable[str]) -> Mapping[str, Any]:
    for key in keys:
        found = mapping_of(usage.get(key))
        if found:
            return found
    return {}


def _keep(fields: dict[str, Any], name: str, values: Iterable[Any]) -> None:
    value = next((value for value in values if value is not None), None)
    if value is not None:
        fields[name] = value
