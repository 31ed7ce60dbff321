"""Tool calls as both agents know them, and the events of their start and end."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import (
    EventWriter,
    decoded_arguments,
    list_of,
    mapping_of,
    text_of,
)
from aw_graders.session import events

# Both agents act in a shell, and call that tool by this name when they call it by any.
SHELL: Final = "bash"


class Call(msgspec.Struct, frozen=True):
    """A call: its id, which was given or made of its place, its tool and its arguments."""

    id: str
    name: str
    input: Any = None
    is_named: bool = False


class Ids:
    """Makes an id for each call: the recorded one when it is there and new, else its place."""

    def __init__(self) -> None:
        """Begin without ids."""
        self._known: set[str] = set()
        self._made = 0

    def next(self, recorded: object) -> tuple[str, bool]:
        """Return an id, and whether it is the recorded one."""
        self._made += 1
        text = text_of(recorded)
        if text is not None and text not in self._known:
            self._known.add(text)
            return text, True
        made = f"call-{self._made}"
        while made in self._known:
            made = f"{made}-again"
        self._known.add(made)
        return made, False


def tool_calls(value: object, ids: Ids) -> list[Call]:
    """Read calls in the form of chat messages."""
    calls: list[Call] = []
    for item in list_of(value):
        function = mapping_of((mapping_of(item) or {}).get("function"))
        name = None if function is None else text_of(function.get("name"))
        if function is None or name is None:
            continue
        call_id, is_named = ids.next((mapping_of(item) or {}).get("id"))
        calls.append(Call(call_id, name, decoded_arguments(function.get("arguments")), is_named))
    return calls


def shell_call(command: str, recorded_id: object, ids: Ids) -> Call:
    """Make the call that runs a command."""
    call_id, is_named = ids.next(recorded_id)
    return Call(call_id, SHELL, {"command": command}, is_named)


def write_start(writer: EventWriter, call: Call, rest: Mapping[str, JsonValue]) -> None:
    """Write the start of a call."""
    data: dict[str, JsonValue] = {"toolCallId": call.id, "toolName": call.name}
    if call.input is not None:
        data["input"] = call.input
    writer.add(events.TOOL_START, data, rest)


def write_end(
    writer: EventWriter,
    call: Call,
    fields: Mapping[str, JsonValue],
    rest: Mapping[str, JsonValue],
) -> None:
    """Write the end of a call with what is known of it."""
    data: dict[str, JsonValue] = {"toolCallId": call.id, "toolName": call.name, **fields}
    writer.add(events.TOOL_COMPLETE, data, rest)
