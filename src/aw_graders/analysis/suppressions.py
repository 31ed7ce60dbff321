"""Comments by which an author says that a warning was seen, and why it stays."""

import re
from typing import Final

import msgspec

_COMMENT: Final = re.compile(
    r"(?:\#|//)[ \t]*(?P<word>aw-lint-ignore)\b(?P<colon>:?)[ \t]*(?P<rule>[a-z-]*)(?P<rest>[^\r\n]*)"
)
_MARK: Final = "aw-lint-ignore"


class Suppression(msgspec.Struct, frozen=True):
    """One comment `# aw-lint-ignore RULE: reason`; `line` and `column` count from 1.

    It is about its own line and the one below. `rule` and `reason` are empty when missing.
    """

    line: int
    column: int
    length: int
    rule: str
    reason: str


def read_suppressions(text: str) -> tuple[Suppression, ...]:
    """Find the comments of a text, whatever its language.

    Raises: nothing.
    Cost: O(length).
    """
    if _MARK not in text:
        return ()
    found: list[Suppression] = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _COMMENT.search(line) if _MARK in line else None
        if match is not None:
            reason = match["rest"].strip().removeprefix(":").strip()
            start, end = match.start(), len(line.rstrip())
            found.append(Suppression(number, start + 1, end - start, match["rule"], reason))
    return tuple(found)
