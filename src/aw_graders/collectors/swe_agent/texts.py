"""Conventions of text: exit codes, commands in fences, arguments as JSON text, parts."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import is_list, mapping_of

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


def text_in(content: object) -> str | None:
    """Read text, or the text of parts; None when it is neither."""
    if isinstance(content, str):
        return content
    if not is_list(content):
        return None
    parts = [mapping_of(item) or {} for item in content]
    return "\n".join(text for part in parts if isinstance(text := part.get("text"), str))


def arguments_of(value: Any) -> JsonValue:
    """Read arguments that are JSON text of an object; anything else stays as it is.

    So does text that nests so deeply that the event around it, two levels more, would be too deep.
    """
    if not isinstance(value, str):
        return cast("JsonValue", value)
    text = value.encode("utf-8", "replace")
    try:
        decoded = _json.decode(text)
    except _json.JsonError:
        return value
    if _json.is_too_deep(b"[[" + text + b"]]"):
        return value
    return decoded if isinstance(decoded, Mapping) else value
