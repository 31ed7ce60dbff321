"""Telling recordings of OpenHands from everything else."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders.collectors.normalise import is_list, is_mapping, list_of, mapping_of, text_of
from aw_graders.collectors.records import sample

_MARKS: Final = (b'"observation"', b'"action"', b'"kind"', b'"usage_to_metrics"')
_SOURCES: Final = frozenset({"agent", "user", "environment", "hook"})
_KINDS: Final = frozenset(
    {
        "ACPToolCallEvent", "ActionEvent", "AgentErrorEvent", "Condensation", "CondensationRequest",
        "CondensationSummaryEvent", "ConversationErrorEvent", "ConversationStateUpdateEvent",
        "HookExecutionEvent", "InterruptEvent", "LLMCompletionLogEvent", "MessageEvent",
        "ObservationEvent", "PauseEvent", "StreamingDeltaEvent", "SystemPromptEvent", "TokenEvent",
        "UserRejectObservation",
    }
)  # fmt: skip
_LOOKED_AT: Final = 6


def detect(content: bytes) -> bool:
    """Tell whether `content` is a recording of OpenHands. Raises nothing.

    Cost: searches; content that holds one of the names is sampled.
    """
    return any(mark in content for mark in _MARKS) and sample(content, _is_own)


def _is_own(value: Mapping[str, Any]) -> bool:
    return is_event(value) or is_result(value) or is_state(value)


def is_event(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is an event with its envelope, of either generation."""
    source = value.get("source")
    if not isinstance(source, str) or source not in _SOURCES or "timestamp" not in value:
        return False
    return is_sdk_event(value) or _is_action(value) or _is_observation(value)


def is_sdk_event(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is an event of the second generation, which names its class."""
    kind = value.get("kind")
    return isinstance(kind, str) and kind in _KINDS and isinstance(value.get("id"), str)


def _is_action(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("action"), str) and is_mapping(value.get("args"))


def _is_observation(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("observation"), str) and is_mapping(value.get("extras"))


def is_result(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is the result of one run, with its events as a history."""
    history = value.get("history")
    if not is_list(history):
        return False
    return any(map(_is_history_item, events_in(history[:_LOOKED_AT])))


def _is_history_item(item: object) -> bool:
    row = mapping_of(item) or {}
    if is_sdk_event(row):
        return True
    # A message of a history of another agent has a role beside its action.
    return "role" not in row and any(
        text_of(row.get(key)) is not None for key in ("action", "observation")
    )


def events_in(history: list[Any]) -> list[Any]:
    """List the events of a history, which early results keep in pairs."""
    found: list[Any] = []
    for item in history:
        found.extend(list_of(item) if is_list(item) else [item])
    return found


def is_state(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is the saved state of a conversation, which holds its counts."""
    stats = mapping_of(value.get("stats"))
    return stats is not None and is_mapping(stats.get("usage_to_metrics"))
