"""Events of the first generation: actions, and the observations that they caused."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import (
    EventWriter,
    decoded_arguments,
    list_of,
    mapping_of,
    text_of,
)
from aw_graders.collectors.openhands.calls import Calls
from aw_graders.collectors.openhands.texts import id_of, text_in
from aw_graders.collectors.openhands.usage import response_of
from aw_graders.session import events

_TOOLS: Final = frozenset(
    {
        "browse", "browse_interactive", "call_tool_mcp", "delegate", "edit", "mcp", "read", "run",
        "run_ipython", "task_tracking", "think", "write",
    }
)  # fmt: skip
# Actions that end the run; nothing answers them.
_ENDS: Final = frozenset({"finish", "reject"})
# Actions of the framework itself, and of whoever operates it.
_IDLE_ACTIONS: Final = frozenset(
    {
        "change_agent_state", "condensation_request", "loop_recovery", "null", "pause", "push",
        "recall", "resume", "send_pr", "start", "stop",
    }
)  # fmt: skip
_IDLE_OBSERVATIONS: Final = frozenset(
    {
        "chat", "condense", "llm_response", "loop_detection", "message", "null", "recall",
        "user_message",
    }
)  # fmt: skip
_STATE: Final = "agent_state_changed"
_THINK: Final = "think"
# What an action holds besides the arguments of its tool. A thought is the argument of thinking.
_NOT_ARGUMENTS: Final = frozenset(
    {
        "action", "action_risk", "blocking", "cause", "confirmation_state", "hidden", "id",
        "is_confirmed", "is_static", "keep_prompt", "kernel_init_code", "llm_metrics", "message",
        "security_risk", "source", "thought", "timeout", "timestamp", "tool_call_metadata",
    }
)  # fmt: skip
_FAILED: Final = frozenset({"error", "user_rejected"})
# The code of a command that has not ended.
_NO_CODE: Final = -1
_ANSWERS: Final = {"true": True, "false": False}


class Legacy:
    """Writes events of the first generation."""

    def __init__(self, writer: EventWriter, calls: Calls, line: int) -> None:
        """Begin with nothing said."""
        self.writer = writer
        self.notes = writer.notes
        self.calls = calls
        self.line = line
        self.others: set[str] = set()
        self.is_opened = False

    def row(self, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        """Write one event."""
        action = text_of(row.get("action"))
        if action is not None:
            self._action(action, row, rest)
            return
        observation = text_of(row.get("observation"))
        if observation is not None:
            self._observation(observation, row, rest)
            return
        message = "an event is neither an action nor an observation and was skipped"
        self.notes.count("unknown-event", message, self.line, lossy=True)

    def _action(self, action: str, row: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        # Early histories keep the arguments beside the action, and no source.
        args = mapping_of(row.get("args")) or row
        source = text_of(row.get("source"))
        if action == "message":
            self._say(self._speaker(source), args.get("content"), rest)
        elif action == "system":
            self._say("system.message", args.get("content"), rest)
        elif action == "condensation":
            data: dict[str, JsonValue] = {"message": text_in(args.get("summary")), "status": action}
            self.writer.add("session.info", data, rest)
        elif action in _ENDS:
            self._end_of_run(action, args, rest)
        elif action in _TOOLS or mapping_of(row.get("tool_call_metadata")) is not None:
            self._tool(action, source, row, args, rest)
        elif action not in _IDLE_ACTIONS:
            message = "an action is of a type that is not known and gave no event"
            self.notes.count("unknown-action", message, self.line, lossy=False)
        self.is_opened = True

    def _speaker(self, source: str | None) -> str:
        """Tell who says something; without a source it is the user who opens the run."""
        if source == "agent" or (source is None and self.is_opened):
            return events.ASSISTANT_MESSAGE
        return events.USER_MESSAGE

    def _say(self, kind: str, content: object, rest: Mapping[str, JsonValue]) -> None:
        text = text_in(content)
        if text:
            self.writer.add(kind, {"content": text}, rest)

    def _end_of_run(
        self, action: str, args: Mapping[str, Any], rest: Mapping[str, JsonValue]
    ) -> None:
        self._say(events.ASSISTANT_MESSAGE, args.get("thought"), rest)
        summary = text_of(args.get("final_thought"))
        data: dict[str, JsonValue] = {} if summary is None else {"summary": summary}
        completed = args.get("task_completed")
        success = _ANSWERS.get(completed) if isinstance(completed, str) else None
        if action == "reject":
            success = False
        if success is not None:
            data["success"] = success
        self.writer.add("session.task_complete", data, rest)

    def _tool(
        self,
        action: str,
        source: str | None,
        row: Mapping[str, Any],
        args: Mapping[str, Any],
        rest: Mapping[str, JsonValue],
    ) -> None:
        action_id = id_of(row.get("id"))
        if source is not None and source != "agent":
            # What a person or the framework runs is no call of the agent.
            if action_id is not None:
                self.others.add(action_id)
            return
        if action != _THINK:
            self._say(events.ASSISTANT_MESSAGE, args.get("thought"), rest)
        metadata = mapping_of(row.get("tool_call_metadata")) or {}
        call_id = text_of(metadata.get("tool_call_id"))
        name = text_of(metadata.get("function_name")) or action
        said = _said_arguments(row, call_id)
        arguments = _arguments(action, args) if said is None else said
        self.calls.start(action_id, call_id, name, arguments, rest)

    def _observation(
        self, observation: str, row: Mapping[str, Any], rest: Mapping[str, JsonValue]
    ) -> None:
        extras = mapping_of(row.get("extras")) or row
        if observation == _STATE:
            if extras.get("agent_state") == "error":
                data: dict[str, JsonValue] = {"message": text_in(extras.get("reason"))}
                self.writer.add("session.error", data, rest)
            return
        if observation in _IDLE_OBSERVATIONS:
            return
        cause = id_of(row.get("cause"))
        if cause is not None and cause in self.others:
            return
        metadata = mapping_of(row.get("tool_call_metadata")) or {}
        has_envelope = "extras" in row
        call_id = text_of(metadata.get("tool_call_id"))
        # An event with an envelope that names nothing answers nothing.
        named = not has_envelope or cause is not None or call_id is not None
        call = self.calls.find(cause, call_id) if named else None
        if call is not None:
            self.calls.end(call, _outcome(observation, row, extras), rest)
        elif observation == "error":
            self.writer.add("session.error", {"message": text_in(row.get("content"))}, rest)
        else:
            message = "an observation answers no recorded call and was skipped"
            self.notes.count("result-of-no-call", message, self.line, lossy=True)


def _said_arguments(row: Mapping[str, Any], call_id: str | None) -> JsonValue:
    """Find the arguments as the model gave them, in the response that an action carries."""
    for item in list_of((response_of(row) or {}).get("choices")):
        message = mapping_of((mapping_of(item) or {}).get("message")) or {}
        for call in list_of(message.get("tool_calls")):
            fields = mapping_of(call) or {}
            function = mapping_of(fields.get("function")) or {}
            if call_id is not None and fields.get("id") == call_id and "arguments" in function:
                return decoded_arguments(function["arguments"])
    return None


def _arguments(action: str, args: Mapping[str, Any]) -> dict[str, JsonValue]:
    kept = {"thought"} if action == _THINK else set[str]()
    return {key: args[key] for key in args if key in kept or key not in _NOT_ARGUMENTS}


def _outcome(
    observation: str, row: Mapping[str, Any], extras: Mapping[str, Any]
) -> dict[str, JsonValue]:
    """Read what an observation says of its call's outcome; its words say nothing.

    Files that could not be read or edited are observed like others, so that these say nothing.
    """
    content = row.get("content")
    fields: dict[str, JsonValue] = {} if content is None else {"output": content}
    code = _exit_code(row, extras)
    if code is not None and code != _NO_CODE:
        fields["exitCode"] = code
        fields["success"] = code == 0
    if isinstance(row.get("success"), bool):
        fields["success"] = row["success"]
    elif isinstance(extras.get("error"), bool):
        fields["success"] = not extras["error"]
    elif observation == _THINK:
        fields["success"] = True
    if observation in _FAILED:
        fields["success"] = False
        fields["error"] = text_in(content)
    return fields


def _exit_code(row: Mapping[str, Any], extras: Mapping[str, Any]) -> int | None:
    metadata = mapping_of(extras.get("metadata")) or {}
    for place in (metadata, extras, row):
        code = place.get("exit_code")
        if isinstance(code, int) and not isinstance(code, bool):
            return code
    return None
