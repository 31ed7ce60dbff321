"""The steps of a session's trajectories to unified-session events."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from aw_graders._json import JsonValue
from aw_graders.collectors.atif.family import (
    Family,
    Member,
    is_copied,
    references_of,
    results_of,
)
from aw_graders.collectors.atif.outcome import Outcome, outcome_of
from aw_graders.collectors.atif.usage import Accounting, model_of, requests_in, step_usage
from aw_graders.collectors.normalise import (
    EventWriter,
    list_of,
    mapping_of,
    metric,
    text_in,
    text_of,
)
from aw_graders.session import events

_ENGINE: Final = "atif"
# An agent whose own convention is that a result without an error flag succeeded.
_FLAGS_FAILURES: Final = frozenset({"claude-code"})
_SAYING: Final = {"user": events.USER_MESSAGE, "system": "system.message"}
_AGENT: Final = "agent"


class Writing:
    """Writes the events of all trajectories of one session."""

    def __init__(self, family: Family, members: Sequence[Member], accounting: Accounting) -> None:
        """Begin without events; each file is a source of its own."""
        self.family = family
        self.members = members
        self.accounting = accounting
        self.agents = {member.trajectory.number: member.agent_id for member in members}
        self.writers: dict[str, EventWriter] = {}
        self.started: set[int] = set()

    def writer(self, member: Member) -> EventWriter:
        """Return the writer of a trajectory's file."""
        trajectory = member.trajectory
        if trajectory.name not in self.writers:
            self.writers[trajectory.name] = EventWriter(trajectory.name, trajectory.notes)
        return self.writers[trajectory.name]

    def write(self) -> None:
        """Write the steps of every trajectory, in their order."""
        for member in self.members:
            converter = _Converter(self, member)
            converter.start()
            for number, item in enumerate(list_of(member.trajectory.value.get("steps")), 1):
                converter.step(number, item)


class _Converter:
    """Writes the events of one trajectory."""

    def __init__(self, writing: Writing, member: Member) -> None:
        self.writing = writing
        self.member = member
        self.trajectory = member.trajectory
        self.notes = member.trajectory.notes
        self.writer = writing.writer(member)
        self.called: set[str] = set()
        self.assumes_success = self._flags_failures()

    def start(self) -> None:
        """Announce the session; a sub-agent's has no announcement that could be the root's."""
        agent = mapping_of(self.trajectory.value.get("agent")) or {}
        data: dict[str, JsonValue] = {"sourceEngine": text_of(agent.get("name")) or _ENGINE}
        fields = (("model", agent.get("model_name")), ("sessionId", self._session_id()))
        data.update({key: text for key, value in fields if (text := text_of(value)) is not None})
        self.writer.add(events.SESSION_START, data, self._origin())

    def step(self, number: int, item: object) -> None:
        """Write the events of one step."""
        step = mapping_of(item)
        source = None if step is None else step.get("source")
        if step is None or not isinstance(source, str):
            self._skipped("step-not-readable", "a step is no object with a source")
            return
        if is_copied(step):
            message = "a step was copied from another trajectory and gave no event"
            self.notes.count("copied-step", message, self.trajectory.line, lossy=False)
            return
        rest = self._rest(step)
        if source == _AGENT:
            self._agent_step(number, step, rest)
        elif source in _SAYING:
            self._say(_SAYING[source], step.get("message"), rest)
        else:
            self._skipped("unknown-source", "a step is of a source that is not known")
            return
        self._results(step, rest)

    def _skipped(self, code: str, message: str) -> None:
        text = f"{message} and was skipped"
        self.notes.count(code, text, self.trajectory.line, lossy=True)

    def _session_id(self) -> str | None:
        return self.trajectory.text("session_id")

    def _origin(self) -> dict[str, JsonValue]:
        return {} if self.member.agent_id is None else {"agentId": self.member.agent_id}

    def _rest(self, step: Mapping[str, Any]) -> dict[str, JsonValue]:
        rest = self._origin()
        time = self.writer.timestamp(step.get("timestamp"), self.trajectory.line)
        if time is not None:
            rest["timestamp"] = time
        return rest

    def _agent_step(
        self, number: int, step: Mapping[str, Any], rest: Mapping[str, JsonValue]
    ) -> None:
        if text_of(step.get("reasoning_content")) is not None:
            self._say(events.ASSISTANT_REASONING, step["reasoning_content"], rest)
        self._say(events.ASSISTANT_MESSAGE, step.get("message"), rest)
        for item in list_of(step.get("tool_calls")):
            self._call(item, rest)
        self._usage(number, step, rest)

    def _say(self, kind: str, content: object, rest: Mapping[str, JsonValue]) -> None:
        text = text_in(content)
        if text is None and content is not None:
            self._skipped("message-not-readable", "a message is neither text nor parts")
        if text:
            self.writer.add(kind, {"content": text}, rest)

    def _call(self, item: object, rest: Mapping[str, JsonValue]) -> None:
        call = mapping_of(item) or {}
        call_id, name = text_of(call.get("tool_call_id")), text_of(call.get("function_name"))
        if call_id is None and name is None:
            self._skipped("call-without-id-and-name", "a tool call has no id and no name")
            return
        data: dict[str, JsonValue] = {}
        if call_id is not None:
            self.called.add(call_id)
            data["toolCallId"] = call_id
        if name is not None:
            data["toolName"] = name
        if "arguments" in call:
            data["input"] = call["arguments"]
        self.writer.add(events.TOOL_START, data, rest)

    def _usage(self, number: int, step: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        if not self.writing.accounting.single:
            return
        usage = step_usage(self.member, step, self.writing.accounting)
        if not requests_in(step):
            if usage is not None:
                self._skipped("tokens-without-request", "a step of no request counts tokens, which")
            return
        data: dict[str, JsonValue] = {"requestId": f"{self.member.label}#{number}"}
        model = model_of(self.trajectory, step)
        if model is not None:
            data["model"] = model
        data["purpose"] = "agent" if self.member.agent_id is None else "subagent"
        data["usage"] = cast("JsonValue", usage)
        self.writer.add(events.USAGE_REPORT, data, rest)

    def _results(self, step: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        """Write what a step observed: results of calls, and what belongs to no call."""
        loose: list[Mapping[str, Any]] = []
        answered: set[str] = set()
        for item in results_of(step):
            result = mapping_of(item)
            if result is None:
                self._skipped("result-not-an-object", "a result is no object")
                continue
            call_id = text_of(result.get("source_call_id"))
            self._subagents(call_id, result, rest)
            if call_id is None:
                loose.append(result)
            elif call_id in self.called:
                answered.add(call_id)
                self._complete(call_id, result, rest)
            else:
                self._skipped("result-of-no-call", "a result names a call that is not recorded")
        if loose:
            self._loose(step, loose, answered, rest)

    def _loose(
        self,
        step: Mapping[str, Any],
        loose: Sequence[Mapping[str, Any]],
        answered: set[str],
        rest: Mapping[str, JsonValue],
    ) -> None:
        """Write results without a call's id: they answer, together, the step's other calls."""
        calls = [mapping_of(item) or {} for item in list_of(step.get("tool_calls"))]
        waiting = [call for call in calls if text_of(call.get("tool_call_id")) not in answered]
        is_told = any("content" in result for result in loose)
        if waiting and is_told:
            message = "results name no call; they were read as those of their step's calls"
            self.notes.count("results-without-call-id", message, self.trajectory.line, lossy=False)
        elif step.get("source") == _AGENT and is_told:
            message = "an action is no tool call, so that only its result is known"
            self.notes.count("action-without-call", message, self.trajectory.line, lossy=False)
        # Which of several calls a result is about, or which one failed, is not known.
        only = loose[0] if len(waiting) == len(loose) == 1 else None
        for call in waiting if is_told else []:
            self._answer(call, only, rest)
        if not waiting:
            for result in loose:
                text = text_in(result.get("content"))
                if text:
                    self.writer.add("session.info", {"message": text}, rest)

    def _answer(
        self,
        call: Mapping[str, Any],
        only: Mapping[str, Any] | None,
        rest: Mapping[str, JsonValue],
    ) -> None:
        data: dict[str, JsonValue] = {}
        for key, value in (("toolCallId", "tool_call_id"), ("toolName", "function_name")):
            text = text_of(call.get(value))
            if text is not None:
                data[key] = text
        if not data:
            return
        if only is not None:
            self._fill(data, only, outcome_of(only))
        self.writer.add(events.TOOL_COMPLETE, data, rest)

    def _complete(
        self, call_id: str, result: Mapping[str, Any], rest: Mapping[str, JsonValue]
    ) -> None:
        data: dict[str, JsonValue] = {"toolCallId": call_id}
        outcome = outcome_of(result)
        if outcome.success is None and self.assumes_success:
            outcome = Outcome(success=True)
            message = "a result without an error flag succeeded, as the agent's convention is"
            self.notes.count("unflagged-success", message, self.trajectory.line, lossy=False)
        self._fill(data, result, outcome)
        self.writer.add(events.TOOL_COMPLETE, data, rest)

    def _fill(
        self, data: dict[str, JsonValue], result: Mapping[str, Any], outcome: Outcome
    ) -> None:
        if outcome.success is not None:
            data["success"] = outcome.success
        if "content" in result:
            data["output"] = result["content"]
        if outcome.exit_code is not None:
            data["exitCode"] = outcome.exit_code
        if outcome.error is not None:
            data["error"] = cast("JsonValue", outcome.error)
        duration = metric((mapping_of(result.get("extra")) or {}).get("duration_ms"))
        if duration is not None:
            data["durationMs"] = duration

    def _flags_failures(self) -> bool:
        """Tell whether the agent's convention holds, which at least one flag has to show."""
        agent = mapping_of(self.trajectory.value.get("agent")) or {}
        if text_of(agent.get("name")) not in _FLAGS_FAILURES:
            return False
        return any(
            outcome_of(mapping_of(item) or {}).flagged
            for step in self.trajectory.steps()
            for item in results_of(step)
        )

    def _subagents(
        self, call_id: str | None, result: Mapping[str, Any], rest: Mapping[str, JsonValue]
    ) -> None:
        """Say once of each sub-agent which call it came from."""
        for reference in references_of(result):
            inner = self.writing.family.referred(self.trajectory, reference)
            agent_id = None if inner is None else self.writing.agents.get(inner.number)
            if inner is None or agent_id is None or inner.number in self.writing.started:
                continue
            self.writing.started.add(inner.number)
            data: dict[str, JsonValue] = {"invocationId": agent_id}
            if call_id is not None:
                data["toolCallId"] = call_id
            self.writer.add(events.SUBAGENT_STARTED, data, {**rest, "agentId": agent_id})
