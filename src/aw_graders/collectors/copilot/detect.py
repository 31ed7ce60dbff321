"""Telling a Copilot CLI recording from everything else."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders.collectors.records import sample

_FAMILIES: Final = frozenset(
    {"assistant", "hook", "session", "skill", "subagent", "system", "tool", "user"}
)


def detect(content: bytes) -> bool:
    """Tell whether `content` is a Copilot CLI recording. Raises nothing."""
    return sample(content, _is_row)


def _is_row(row: Mapping[str, Any]) -> bool:
    kind = row.get("type")
    if not isinstance(kind, str) or not isinstance(row.get("data"), Mapping):
        return False
    family, dot, _ = kind.partition(".")
    return bool(dot) and family in _FAMILIES and "timestamp" in row and "parentId" in row
