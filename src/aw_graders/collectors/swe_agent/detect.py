"""Telling trajectories of SWE-agent and mini-SWE-agent from everything else."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders.collectors.normalise import is_list, is_mapping, list_of, mapping_of, text_of
from aw_graders.collectors.records import sample
from aw_graders.collectors.swe_agent.texts import has_exit_code

_MARKS: Final = (b'"trajectory', b'"history"', b"returncode", b'"mini_version"', b'"attempts"')
_MINI_FORMAT: Final = "mini-swe-agent"
_ROLES: Final = frozenset({"system", "user", "assistant", "tool", "exit"})
_STEP_KEYS: Final = frozenset({"action", "observation"})
_STEP_TEXTS: Final = frozenset({"thought", "response"})
_LOOKED_AT: Final = 4


def detect(content: bytes) -> bool:
    """Tell whether `content` is such a trajectory. Raises nothing.

    Cost: searches; content that holds one of the names is sampled.
    """
    return any(mark in content for mark in _MARKS) and sample(content, _is_own)


def _is_own(value: Mapping[str, Any]) -> bool:
    return is_swe_agent(value) or is_mini(value) or _is_marked_message(value)


def is_swe_agent(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a trajectory or a history of SWE-agent."""
    attempts = list_of(value.get("attempts"))
    if attempts and is_mapping(attempts[0]):
        return _has_steps(attempts[0])
    return _has_steps(value)


def _has_steps(value: Mapping[str, Any]) -> bool:
    steps = list_of(value.get("trajectory"))[:_LOOKED_AT]
    if any(is_mapping(step) and _is_step(step) for step in steps):
        return True
    items = list_of(value.get("history"))[:_LOOKED_AT]
    return any(is_mapping(item) and _is_history_item(item) for item in items)


def _is_step(step: Mapping[str, Any]) -> bool:
    return step.keys() >= _STEP_KEYS and not step.keys().isdisjoint(_STEP_TEXTS)


def _is_history_item(item: Mapping[str, Any]) -> bool:
    role = item.get("role")
    is_said = isinstance(role, str) and role in _ROLES
    return is_said and isinstance(item.get("agent"), str) and "content" in item


def is_mini(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a trajectory of mini-SWE-agent."""
    if not is_list(value.get("messages")):
        return False
    version = text_of(value.get("trajectory_format"))
    if version is not None:
        return version.startswith(_MINI_FORMAT)
    return "mini_version" in (mapping_of(value.get("info")) or {})


def is_message(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a message, as an early trajectory is a list of."""
    role = value.get("role")
    return isinstance(role, str) and role in _ROLES and "content" in value


def _is_marked_message(value: Mapping[str, Any]) -> bool:
    """Tell whether a message is one that mini-SWE-agent wrote: the result of a command."""
    return is_message(value) and value.get("role") == "user" and has_exit_code(value.get("content"))
