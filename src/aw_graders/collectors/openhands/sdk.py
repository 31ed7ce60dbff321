"""Events of the second generation: each names its class, and a result names its action."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import EventWriter, decoded_arguments, mapping_of, text_of
from aw_graders.collectors.openhands.calls import Calls
from aw_graders.collectors.openhands.texts import id_of, text_in
from aw_graders.session import events

# Events that hold nothing for a session. Any other class that is not converted is noted.
_IDLE: Final = frozenset(
    {
        "CondensationRequest", "CondensationSummaryEvent", "ConversationStateUpdateEvent",
        "HookExecutionEvent", "InterruptEvent", "LLMCompletionLogEvent", "PauseEvent",
        "StreamingDeltaEvent", "TokenEvent",
    }
)  # fmt: skip
# The code of a command that still runs when its time is up.
_NO_CODE: Final = -1
_ENDED: Final = {"completed": True, "failed": False}


class Sdk:
    """Writes events of the second generation."""

    def __init__(self, writer: EventWriter, calls: Calls, line: int) -> None:
        """Begin with nothing said."""
        self.writer = writer
        self.notes = writer.notes
        self.calls = calls
        self.line = line
        self.running: set[str] = set()
        self._of_kind: Final[
            dict[str, Callable[[Mapping[str, Any], Mapping[str, JsonValue]], None]]
        ] = {
            "ActionEvent": self._action,
            "ObservationEvent": self._observation,
            "AgentErrorEvent": self._error,
            "UserRejectObservation": self._error,
            "MessageEvent": self._message,
            "SystemPromptEvent": self._system,
            "Condensation": self._condensation,
            "ConversationErrorEvent": self._conversation_error,
            "ACPToolCallEvent": self._protocol_call,
        }

    def row(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        """Write one event."""
        kind = text_of(row.get("kind")) or ""
        convert = self._of_kind.get(kind)
        if convert is not None:
            convert(row, rest)
        elif kind not in _IDLE:
            message = "an event is of a class that is not known and gave no event"
            self.notes.count("unknown-event", message, self.line, lossy=False)

    def _say(self, kind: str, content: object, rest: Mapping[str, JsonValue]) -> None:
        text = text_in(content)
        if text:
            self.writer.add(kind, {"content": text}, rest)

    def _system(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        self._say("system.message", row.get("system_prompt"), rest)

    def _message(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        message = mapping_of(row.get("llm_message")) or {}
        if row.get("source") != "agent":
            self._say(events.USER_MESSAGE, message.get("content"), rest)
            return
        self._say(events.ASSISTANT_REASONING, message.get("reasoning_content"), rest)
        self._say(events.ASSISTANT_MESSAGE, message.get("content"), rest)

    def _action(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        self._say(events.ASSISTANT_REASONING, row.get("reasoning_content"), rest)
        self._say(events.ASSISTANT_MESSAGE, row.get("thought"), rest)
        called = mapping_of(row.get("tool_call")) or {}
        name = text_of(row.get("tool_name")) or text_of(called.get("name"))
        if name is None:
            message = "an action names no tool and was skipped"
            self.notes.count("call-without-name", message, self.line, lossy=True)
            return
        action = mapping_of(row.get("action"))
        if action is None:
            arguments: JsonValue = decoded_arguments(called.get("arguments"))
        else:
            arguments = {key: action[key] for key in action if key != "kind"}
        call_id = text_of(row.get("tool_call_id"))
        self.calls.start(id_of(row.get("id")), call_id, name, arguments, rest)

    def _observation(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        self._end(row, _outcome(mapping_of(row.get("observation")) or {}), rest)

    def _error(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        error = text_of(row.get("error")) or text_of(row.get("rejection_reason")) or ""
        self._end(row, {"success": False, "error": error}, rest)

    def _end(
        self,
        row: Mapping[str, Any],
        fields: Mapping[str, JsonValue],
        rest: Mapping[str, JsonValue],
    ) -> None:
        action_id, call_id = id_of(row.get("action_id")), text_of(row.get("tool_call_id"))
        is_named = action_id is not None or call_id is not None
        call = self.calls.find(action_id, call_id) if is_named else None
        if call is not None:
            self.calls.end(call, fields, rest)
            return
        name = text_of(row.get("tool_name"))
        if name is None:
            message = "an observation answers no recorded call and was skipped"
            self.notes.count("result-of-no-call", message, self.line, lossy=True)
            return
        message = "an observation answers no recorded call; it was kept as its own call"
        self.notes.count("stray-result", message, self.line, lossy=False)
        data: dict[str, JsonValue] = {"toolName": name, **fields}
        if call_id is not None:
            data = {"toolCallId": call_id, **data}
        self.writer.add(events.TOOL_COMPLETE, data, rest)

    def _condensation(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        data: dict[str, JsonValue] = {"message": text_in(row.get("summary"))}
        self.writer.add("session.info", {**data, "status": "condensation"}, rest)

    def _conversation_error(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        data: dict[str, JsonValue] = {"message": text_in(row.get("detail"))}
        code = text_of(row.get("code"))
        if code is not None:
            data["errorType"] = code
        self.writer.add("session.error", data, rest)

    def _protocol_call(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        """Write a call of another agent behind the protocol, which is told again as it goes on."""
        call_id = text_of(row.get("tool_call_id"))
        name = text_of(row.get("tool_kind")) or text_of(row.get("title"))
        if call_id is None or name is None:
            message = "an action names no tool and was skipped"
            self.notes.count("call-without-name", message, self.line, lossy=True)
            return
        if call_id not in self.calls.by_id:
            self.running.add(call_id)
            self.calls.start(None, call_id, name, row.get("raw_input"), rest)
        status = text_of(row.get("status")) or ""
        call = self.calls.by_id[call_id]
        if status in _ENDED and call_id in self.running:
            self.running.discard(call_id)
            fields: dict[str, JsonValue] = {
                "success": _ENDED[status] and row.get("is_error") is not True,
                "output": row.get("raw_output"),
            }
            self.calls.end(call, fields, rest)


def _outcome(observation: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Read an observation's error flag and exit code; one that still runs has no outcome."""
    content = observation.get("content", observation.get("output"))
    fields: dict[str, JsonValue] = {} if content is None else {"output": content}
    code = _exit_code(observation)
    is_error = observation.get("is_error")
    if isinstance(is_error, bool) and (is_error or code != _NO_CODE):
        fields["success"] = not is_error
    if code is not None and code != _NO_CODE:
        fields["exitCode"] = code
        fields["success"] = code == 0 and fields.get("success") is not False
    return fields


def _exit_code(observation: Mapping[str, Any]) -> int | None:
    """Find the exit code; the one in the metadata is -1 when there is none."""
    metadata = mapping_of(observation.get("metadata")) or {}
    for place in (observation, metadata):
        code = place.get("exit_code")
        if isinstance(code, int) and not isinstance(code, bool):
            return code
    return None
