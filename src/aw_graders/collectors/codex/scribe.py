"""Writing the events of one file: what rollouts and streams have in common."""

from collections.abc import Mapping

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.codex.outcome import Outcome
from aw_graders.collectors.codex.rows import Row
from aw_graders.collectors.normalise import EventWriter, Notes
from aw_graders.session import events


class Scribe:
    """Writes events with the time of the row at hand and the agent that the file belongs to."""

    def __init__(self, name: str, notes: Notes) -> None:
        """Begin without events."""
        self.notes = notes
        self.writer = EventWriter(name, notes)
        self.agent_id: str | None = None
        self._line: int | None = None
        self._time: JsonValue = None

    def turn_to(self, row: Row) -> None:
        """Take the time of the row whose events follow."""
        self._line = row.line
        self._time = self.writer.timestamp(row.time, row.line)

    def write(self, kind: str, data: Mapping[str, JsonValue]) -> None:
        """Write one event."""
        rest: dict[str, JsonValue] = {}
        if self._time is not None:
            rest["timestamp"] = self._time
        if self.agent_id is not None:
            rest["agentId"] = self.agent_id
        self.writer.add(kind, data, rest)
        # An event nests a little deeper than some rows do.
        if _json.is_too_deep(b"[" + self.writer.events[-1].data_json + b"]"):
            self.writer.events.pop()
            message = "an event would nest too deeply and was left out"
            self.notes.count("nested-too-deeply", message, self._line, lossy=True)

    def start(
        self,
        call_id: str | None,
        name: str | None,
        arguments: Mapping[str, JsonValue],
        server: str | None = None,
    ) -> None:
        """Write the start of a call; `arguments` holds `input` when the call recorded any."""
        data: dict[str, JsonValue] = {}
        if call_id is not None:
            data["toolCallId"] = call_id
        if name is not None:
            data["toolName"] = name
        data.update(arguments)
        if server is not None:
            data["mcpServerName"] = server
        self.write(events.TOOL_START, data)

    def complete(
        self,
        call_id: str | None,
        name: str | None,
        outcome: Outcome,
        output: Mapping[str, JsonValue],
    ) -> None:
        """Write the end of a call; `output` holds `output` and `error` where they are recorded."""
        data: dict[str, JsonValue] = {}
        if call_id is not None:
            data["toolCallId"] = call_id
        if name is not None:
            data["toolName"] = name
        if outcome.success is not None:
            data["success"] = outcome.success
        data.update(output)
        if outcome.exit_code is not None:
            data["exitCode"] = outcome.exit_code
        if outcome.duration_ms is not None:
            data["durationMs"] = outcome.duration_ms
        if outcome.server is not None:
            data["mcpServerName"] = outcome.server
        self.write(events.TOOL_COMPLETE, data)
