"""Conventions of text: exit codes, commands in fences, arguments as JSON text, parts."""

import re
from typing import Final

from aw_graders.collectors.normalise import text_in

# The agent itself writes the exit code in front of what a command printed.
_EXIT_CODE: Final = re.compile(r"\s*<returncode>(-?[0-9]{1,9})</returncode>", re.ASCII)
_FENCE: Final = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\n")
_FENCE_END: Final = "\n```"


def has_exit_code(content: object) -> bool:
    """Tell whether a message begins with the exit code of a command."""
    return exit_code_of(content) is not None


def exit_code_of(content: object) -> int | None:
    """Read the exit code at the beginning of a message, None when there is none."""
    text = text_in(content)
    found = None if text is None else _EXIT_CODE.match(text)
    return None if found is None else int(found[1])


def command_in(content: object) -> str | None:
    """Find the only command of an answer; None when it has none or several, which are not run.

    Cost: linear.
    """
    text = text_in(content) or ""
    found: list[str] = []
    place = 0
    while (opening := _FENCE.search(text, place)) is not None:
        # The line end in front of the closing fence may be the one behind the opening fence.
        closing = text.find(_FENCE_END, opening.end() - 1)
        if closing < 0:
            break
        found.append(text[opening.end() : max(closing, opening.end())].strip())
        place = closing + len(_FENCE_END)
    return found[0] if len(found) == 1 else None
