"""Trajectories of mini-SWE-agent to events, from its first list of messages to its second version.

A message of the model is one request and may hold several calls. What follows it answers them: by
id, or in order when a version has no ids.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import (
    EventWriter,
    decoded_arguments,
    list_of,
    mapping_of,
    metric,
    text_in,
    text_of,
)
from aw_graders.collectors.swe_agent.calls import (
    Call,
    Ids,
    shell_call,
    tool_calls,
    write_end,
    write_start,
)
from aw_graders.collectors.swe_agent.texts import command_in, exit_code_of
from aw_graders.collectors.swe_agent.usage import includes_cache, is_response, usage_counts
from aw_graders.session import events

_ENGINE: Final = "mini-swe-agent"
_INJECTED: Final = "injected"
_SUBMITTED: Final = "Submitted"
# What the agent writes for a call that it did not get to.
_NOT_RUN: Final = "action was not executed"
_Message: TypeAlias = Mapping[str, Any]


def convert(
    messages: Sequence[Any], info: Mapping[str, Any], writer: EventWriter, line: int
) -> None:
    """Write the events of one run."""
    _Run(messages, info, writer, line).write()


class _Run:
    """Writes the events of one run."""

    def __init__(
        self, messages: Sequence[Any], info: Mapping[str, Any], writer: EventWriter, line: int
    ) -> None:
        self.messages = messages
        self.info = info
        self.config = mapping_of(info.get("config")) or {}
        self.writer = writer
        self.notes = writer.notes
        self.line = line
        self.ids = Ids()
        self.waiting: OrderedDict[str, Call] = OrderedDict()
        # Calls that were not run, as far as their results say: one of them may have submitted.
        self.held: list[tuple[Call, _Message]] = []
        self.by_person = 0
        self.requests: set[str] = set()
        self.reported = 0
        self.beside = not includes_cache(self._responses())

    def write(self) -> None:
        self._start()
        for item in self.messages:
            message = mapping_of(item)
            if message is None:
                self._skipped("message-not-an-object", "a message is no object")
            else:
                self._message(message)
        self._release()
        self._result()

    def _skipped(self, code: str, text: str) -> None:
        self.notes.count(code, f"{text} and was skipped", self.line, lossy=True)

    def _responses(self) -> list[Mapping[str, Any]]:
        return [
            response
            for item in self.messages
            if (response := _response(mapping_of(item) or {})) is not None
        ]

    def _model(self) -> str | None:
        return text_of((mapping_of(self.config.get("model")) or {}).get("model_name"))

    def _start(self) -> None:
        environment = mapping_of(self.config.get("environment")) or {}
        known = {"model": self._model(), "cwd": text_of(environment.get("cwd"))}
        data = {name: text for name, text in known.items() if text is not None}
        self.writer.add(events.SESSION_START, {"sourceEngine": _ENGINE, **data})

    def _message(self, message: _Message) -> None:
        role = _role(message)
        rest = self._rest(message)
        if role == "assistant":
            self._release()
            self._answer(message, rest)
        elif role == "tool":
            self._result_by_id(message, rest)
        elif role == "exit":
            self._exit(message, rest)
        elif role == "user":
            self._user(message, rest)
        elif role == "system":
            self._say("system.message", message, rest)
        else:
            self._skipped("unknown-role", "a message is of a role that is not known")

    def _rest(self, message: _Message) -> dict[str, JsonValue]:
        extra = mapping_of(message.get("extra")) or {}
        time = self.writer.timestamp(extra.get("timestamp"), self.line)
        return {} if time is None else {"timestamp": time}

    def _say(
        self,
        kind: str,
        message: _Message,
        rest: Mapping[str, JsonValue],
        channel: str | None = None,
    ) -> None:
        text = text_in(message.get("content"))
        if text:
            data: dict[str, JsonValue] = {"content": text}
            if channel is not None:
                data["channel"] = channel
            self.writer.add(kind, data, rest)

    def _answer(self, message: _Message, rest: Mapping[str, JsonValue]) -> None:
        for kind, text in _said(message):
            self.writer.add(kind, {"content": text}, rest)
        calls = self._calls(message)
        for call in calls:
            write_start(self.writer, call, rest)
        self.waiting = OrderedDict((call.id, call) for call in calls)
        self.by_person = 0
        self._usage(message, rest)

    def _calls(self, message: _Message) -> list[Call]:
        calls = tool_calls(message.get("tool_calls"), self.ids)
        if not calls:
            calls = self._response_calls(message)
        if calls:
            return calls
        extra = mapping_of(message.get("extra")) or {}
        if "actions" in extra:
            actions = [mapping_of(item) or {} for item in list_of(extra["actions"])]
            return [
                shell_call(command, action.get("tool_call_id"), self.ids)
                for action in actions
                if (command := text_of(action.get("command"))) is not None
            ]
        command = command_in(message.get("content"))
        return [] if not command else [shell_call(command, None, self.ids)]

    def _response_calls(self, message: _Message) -> list[Call]:
        calls: list[Call] = []
        for item in list_of(message.get("output")):
            output = mapping_of(item) or {}
            name = text_of(output.get("name"))
            if output.get("type") != "function_call" or name is None:
                continue
            recorded = text_of(output.get("call_id")) or output.get("id")
            call_id, is_named = self.ids.next(recorded)
            calls.append(Call(call_id, name, decoded_arguments(output.get("arguments")), is_named))
        return calls

    def _usage(self, message: _Message, rest: Mapping[str, JsonValue]) -> None:
        """Report a request; a message without the provider's response says nothing of one."""
        response = _response(message)
        if response is None:
            return
        self.reported += 1
        request_id = text_of(response.get("id"))
        if request_id is None or request_id in self.requests:
            request_id = f"{self.writer.path}#{self.reported}"
        self.requests.add(request_id)
        data: dict[str, JsonValue] = {"requestId": request_id}
        model = text_of(response.get("model")) or self._model()
        if model is not None:
            data["model"] = model
        data["purpose"] = "agent"
        counts = usage_counts(response, self.notes, self.line)
        usage: dict[str, JsonValue] = {**counts, "inputTokensIncludeCache": not self.beside}
        data["usage"] = usage if any(counts.values()) else None
        self.writer.add(events.USAGE_REPORT, data, rest)

    def _result_by_id(self, message: _Message, rest: Mapping[str, JsonValue]) -> None:
        call_id = text_of(message.get("tool_call_id")) or text_of(message.get("call_id"))
        call = self.waiting.pop(call_id or "", None) or self._next_unnamed()
        if call is None:
            self._skipped("result-of-no-call", "a result names no call that waits for one")
        else:
            self._end(call, message, rest)

    def _next_unnamed(self) -> Call | None:
        """Take the next call that waits, unless results name such calls by their ids."""
        first = next(iter(self.waiting.values()), None)
        if first is None or first.is_named:
            return None
        return self.waiting.popitem(last=False)[1]

    def _user(self, message: _Message, rest: Mapping[str, JsonValue]) -> None:
        """Tell the results of commands from what a person or the agent itself says."""
        extra = mapping_of(message.get("extra")) or {}
        if "interrupt_type" in extra:
            self._unusable_answer(message, extra, rest)
            self._say(events.USER_MESSAGE, message, rest, _INJECTED)
        elif "actions" in extra:
            self._release()
            self.by_person = len(list_of(extra["actions"]))
            self.waiting.clear()
            self._say(events.USER_MESSAGE, message, rest)
        elif self.by_person and "returncode" in extra:
            self.by_person -= 1
        else:
            call = self._next_unnamed()
            if call is None:
                self._say(events.USER_MESSAGE, message, rest)
            else:
                self._end(call, message, rest)

    def _unusable_answer(
        self, message: _Message, extra: Mapping[str, Any], rest: Mapping[str, JsonValue]
    ) -> None:
        """Report the request whose answer could not be used and stands in its refusal alone."""
        response = _response(message)
        if response is None:
            return
        self._release()
        for choice in list_of(response.get("choices")):
            said = mapping_of((mapping_of(choice) or {}).get("message")) or {}
            self._say(events.ASSISTANT_MESSAGE, said, rest)
        self._usage({"extra": extra}, rest)

    def _end(self, call: Call, message: _Message, rest: Mapping[str, JsonValue]) -> None:
        extra = mapping_of(message.get("extra")) or {}
        if extra.get("exception_info") == _NOT_RUN:
            self.held.append((call, message))
            return
        write_end(self.writer, call, _outcome(message), rest)

    def _release(self) -> None:
        """Write the calls that were not run, now that none of them turned out to have submitted."""
        for call, message in self.held:
            write_end(self.writer, call, _outcome(message), self._rest(message))
        self.held.clear()

    def _exit(self, message: _Message, rest: Mapping[str, JsonValue]) -> None:
        """Settle the call that submitted: it printed the mark and its exit code was 0.

        It leaves no result of its own: it waits still, or passes for the first that was not run.
        """
        extra = mapping_of(message.get("extra")) or {}
        if extra.get("exit_status") == _SUBMITTED:
            submitted: Call | None = None
            if self.held:
                submitted = self.held.pop(0)[0]
            elif len(self.waiting) == 1:
                submitted = self.waiting.popitem()[1]
            elif self.waiting:
                text = "which of several calls submitted is not known; all of them have no result"
                self.notes.count("submitted-among-several", text, self.line, lossy=False)
            if submitted is not None:
                output = text_of(extra.get("submission")) or text_in(message.get("content")) or ""
                fields: dict[str, JsonValue] = {"success": True, "exitCode": 0, "output": output}
                write_end(self.writer, submitted, fields, rest)
        elif text_of(extra.get("exception_str")) is not None:
            data: dict[str, JsonValue] = {"message": extra["exception_str"]}
            self.writer.add("session.error", data, rest)
        self._release()

    def _result(self) -> None:
        stats = mapping_of(self.info.get("model_stats")) or {}
        data: dict[str, JsonValue] = {}
        status = text_of(self.info.get("exit_status"))
        if status is not None:
            data["status"] = status
        turns = self.notes.whole(stats.get("api_calls"), self.line)
        if turns is not None:
            data["numTurns"] = turns
            if self.reported and turns != self.reported:
                text = f"{turns} requests were made and {self.reported} are recorded"
                self.notes.add("requests-differ", text, self.line, lossy=False)
        cost = metric(stats.get("instance_cost"))
        if cost is not None:
            data["totalCostUsd"] = cost
        if data:
            self.writer.add(events.SESSION_RESULT, data)


def _role(message: _Message) -> str | None:
    if is_response(message):
        return "assistant"
    if message.get("type") == "function_call_output":
        return "tool"
    return text_of(message.get("role"))


def _response(message: _Message) -> Mapping[str, Any] | None:
    """Find the provider's response to the request that a message is the answer to."""
    if is_response(message):
        return message
    return mapping_of((mapping_of(message.get("extra")) or {}).get("response"))


def _said(message: _Message) -> list[tuple[str, str]]:
    """List what an answer says: its reasoning, then its text."""
    pieces = [(events.ASSISTANT_REASONING, message.get("reasoning_content"))]
    pieces.append((events.ASSISTANT_MESSAGE, text_in(message.get("content"))))
    for item in list_of(message.get("output")):
        output = mapping_of(item) or {}
        if output.get("type") == "reasoning":
            pieces.append((events.ASSISTANT_REASONING, text_in(output.get("summary"))))
        elif output.get("type") == "message":
            pieces.append((events.ASSISTANT_MESSAGE, text_in(output.get("content"))))
    return [(kind, text) for kind, text in pieces if isinstance(text, str) and text]


def _outcome(message: _Message) -> dict[str, JsonValue]:
    """Read the exit code and the exception of a command, recorded or in front of its output."""
    extra = mapping_of(message.get("extra")) or {}
    content = message.get("content", message.get("output"))
    fields: dict[str, JsonValue] = {"output": extra.get("raw_output", content)}
    code = extra.get("returncode") if "returncode" in extra else exit_code_of(content)
    if isinstance(code, int) and not isinstance(code, bool):
        fields["success"] = code == 0
        fields["exitCode"] = code
    exception = text_of(extra.get("exception_info"))
    if exception is not None:
        fields["success"] = False
        fields["error"] = exception
    return fields
