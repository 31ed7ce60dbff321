"""Pairing actions with what answers them: by the action's own id first, then by the call's."""

from collections.abc import Mapping
from typing import Any

import msgspec

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import EventWriter
from aw_graders.session import events


class Call(msgspec.Struct, frozen=True):
    """A call under the id that it has in the session."""

    id: str
    name: str


class Calls:
    """The calls of one run so far."""

    def __init__(self, writer: EventWriter) -> None:
        """Begin without calls."""
        self.writer = writer
        self.by_action: dict[str, Call] = {}
        self.by_id: dict[str, Call] = {}
        self.last: Call | None = None
        self.used: set[str] = set()

    def start(
        self,
        action_id: str | None,
        call_id: str | None,
        name: str,
        arguments: Any,
        rest: Mapping[str, JsonValue],
    ) -> None:
        """Write a call; one whose recorded id was used before goes by its action's."""
        made = call_id
        if made is None or made in self.used:
            made = f"action-{len(self.used) + 1}" if action_id is None else f"action-{action_id}"
        while made in self.used:
            made = f"{made}-again"
        self.used.add(made)
        call = Call(made, name)
        if action_id is not None:
            self.by_action[action_id] = call
        if call_id is not None:
            self.by_id[call_id] = call
        self.last = call
        data: dict[str, JsonValue] = {"toolCallId": made, "toolName": name}
        if arguments is not None:
            data["input"] = arguments
        self.writer.add(events.TOOL_START, data, rest)

    def find(self, action_id: str | None, call_id: str | None) -> Call | None:
        """Find the call that something answers.

        An answer that names neither an action nor a call answers the call right before it.
        """
        found = None if action_id is None else self.by_action.get(action_id)
        if found is None and call_id is not None:
            found = self.by_id.get(call_id)
        if action_id is None and call_id is None:
            found, self.last = self.last, None
        return found

    def end(
        self, call: Call, fields: Mapping[str, JsonValue], rest: Mapping[str, JsonValue]
    ) -> None:
        """Write the end of a call with what is known of it."""
        data: dict[str, JsonValue] = {"toolCallId": call.id, "toolName": call.name, **fields}
        self.writer.add(events.TOOL_COMPLETE, data, rest)
