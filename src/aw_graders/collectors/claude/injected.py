"""Telling what a person wrote from what Claude Code put into a user's row."""

import re
from typing import Final

from aw_graders.collectors.claude.rows import Row
from aw_graders.collectors.normalise import mapping_of

INJECTED: Final = "injected"
_FLAGS: Final = ("isMeta", "isCompactSummary")
_ORIGIN: Final = "task-notification"
_WRAPPERS: Final = frozenset(
    {
        "bash-input", "bash-stderr", "bash-stdout", "command-args", "command-contents",
        "command-message", "command-name", "local-command-caveat", "local-command-stderr",
        "local-command-stdout", "system-reminder", "task-notification",
    }
)  # fmt: skip
# The whole text lies in elements; a prompt that only quotes one does not.
_ELEMENTS: Final = re.compile(r"\s*<([a-z-]{1,40})>.*</([a-z-]{1,40})>\s*", re.DOTALL)
_INTERRUPTED: Final = re.compile(r"\[Request interrupted by user[^\]\n]{0,80}\]")


def is_injected(row: Row, text: str) -> bool:
    """Tell whether Claude Code put `text` into a user's row, by the row's flags or by wrappers.

    Raises: nothing.
    Cost: linear in the text.
    """
    if any(row.value.get(flag) is True for flag in _FLAGS):
        return True
    if (mapping_of(row.value.get("origin")) or {}).get("kind") == _ORIGIN:
        return True
    elements = _ELEMENTS.fullmatch(text)
    if elements is not None:
        return _WRAPPERS.issuperset(elements.groups())
    return _INTERRUPTED.fullmatch(text) is not None
