"""Trajectories and histories of SWE-agent to events."""

from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any, Final

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import (
    EventWriter,
    Notes,
    is_list,
    is_mapping,
    list_of,
    mapping_of,
    metric,
    text_in,
    text_of,
    whole_number,
)
from aw_graders.collectors.swe_agent.calls import (
    Call,
    Ids,
    shell_call,
    tool_calls,
    write_end,
    write_start,
)
from aw_graders.session import events

_ENGINE: Final = "swe-agent"
_MS_PER_SECOND: Final = 1000
_STAT_COUNTS: Final = (("tokens_sent", "inputTokens"), ("tokens_received", "outputTokens"))


def attempt_of(value: Mapping[str, Any], notes: Notes, line: int) -> Mapping[str, Any] | None:
    """Find the attempt that is the run; None when several were made and none was chosen.

    A run with several attempts repeats the chosen one, with the counts of all of them.
    """
    attempts = [item for item in list_of(value.get("attempts")) if is_mapping(item)]
    if not attempts:
        return value
    info = mapping_of(value.get("info")) or {}
    chosen = whole_number(info.get("best_attempt_idx")).value
    if len(attempts) == 1:
        return attempts[0]
    if chosen is None or chosen >= len(attempts):
        message = f"holds {len(attempts)} attempts, none of them chosen, and gave no events"
        notes.add("several-attempts", message, line, lossy=True)
        return None
    message = f"{len(attempts) - 1} attempts that were not chosen are no part of the run"
    notes.add("other-attempts", message, line, lossy=False)
    return attempts[chosen]


def convert(value: Mapping[str, Any], writer: EventWriter, line: int) -> None:
    """Write the events of one run."""
    _Run(value, writer, line).write()


class _Run:
    """Writes the events of one run."""

    def __init__(self, value: Mapping[str, Any], writer: EventWriter, line: int) -> None:
        self.value = value
        self.writer = writer
        self.notes = writer.notes
        self.line = line
        self.ids = Ids()
        self.history: list[Mapping[str, Any]] = [
            item for item in list_of(value.get("history")) if self._is_own(item)
        ]
        self.acted = deque(item for item in self.history if _action(item))
        self.has_tool_calls = any(list_of(item.get("tool_calls")) for item in self.history)

    def write(self) -> None:
        data: dict[str, JsonValue] = {"sourceEngine": _ENGINE}
        model = _model(self.value.get("replay_config"))
        if model is not None:
            data["model"] = model
        self.writer.add(events.SESSION_START, data)
        steps = list_of(self.value.get("trajectory"))
        if steps:
            self._opening()
            for item in steps:
                step = mapping_of(item)
                if step is None:
                    self._skipped("step-not-an-object", "a step is no object")
                else:
                    self._step(step)
        else:
            self._history()
        self._result()

    def _is_own(self, item: object) -> bool:
        """Leave out demonstrations, whose actions belong to another run."""
        if not is_mapping(item):
            self._skipped("message-not-an-object", "a message of the history is no object")
            return False
        if item.get("is_demo") is True:
            message = "a demonstration is no part of the run and gave no event"
            self.notes.count("demonstration", message, self.line, lossy=False)
            return False
        return True

    def _skipped(self, code: str, message: str) -> None:
        self.notes.count(code, f"{message} and was skipped", self.line, lossy=True)

    def _opening(self) -> None:
        """Write what was said before the first answer, which no step repeats."""
        for item in self.history:
            if item.get("role") == "assistant":
                return
            self._say(item)

    def _say(self, item: Mapping[str, Any]) -> None:
        kind = "system.message" if item.get("role") == "system" else events.USER_MESSAGE
        text = text_in(item.get("content"))
        if text:
            self.writer.add(kind, {"content": text})

    def _step(self, step: Mapping[str, Any]) -> None:
        response = text_of(step.get("response")) or text_of(step.get("thought"))
        if step.get("query") == [{}]:
            # No model was asked: the agent itself ends the run and says why.
            self.writer.add("session.error", {"message": response or ""})
            return
        action = text_of(step.get("action"))
        item = self._recorded(action)
        self._think(item)
        if response is not None:
            self.writer.add(events.ASSISTANT_MESSAGE, {"content": response})
        calls = tool_calls(item.get("tool_calls"), self.ids)
        if not calls and action is not None and action.strip():
            calls = [shell_call(action, None, self.ids)]
            if self.has_tool_calls:
                message = "an action is not in the history, which would name its tool"
                self.notes.count("action-not-in-history", message, self.line, lossy=False)
        for call in calls:
            write_start(self.writer, call, {})
        for call in calls if _was_run(step) else []:
            write_end(self.writer, call, _observed(step), {})

    def _recorded(self, action: str | None) -> Mapping[str, Any]:
        """Find an action in the history, where answers that were asked for again are not."""
        if action is not None and self.acted and _action(self.acted[0]) == action:
            return self.acted.popleft()
        return {}

    def _think(self, item: Mapping[str, Any]) -> None:
        for block in list_of(item.get("thinking_blocks")):
            text = text_of((mapping_of(block) or {}).get("thinking"))
            if text is not None:
                self.writer.add(events.ASSISTANT_REASONING, {"content": text})

    def _history(self) -> None:
        """Write a history that has no steps beside it, as a demonstration does."""
        waiting: OrderedDict[str, Call] = OrderedDict()
        for item in self.history:
            role = item.get("role")
            if role == "assistant":
                waiting = OrderedDict((call.id, call) for call in self._answer(item))
            elif role == "tool":
                self._tool_message(item, waiting)
            elif role == "user" and waiting:
                self._end(list(waiting.values()), item)
                waiting.clear()
            else:
                self._say(item)

    def _answer(self, item: Mapping[str, Any]) -> list[Call]:
        self._think(item)
        text = text_in(item.get("content"))
        if text:
            self.writer.add(events.ASSISTANT_MESSAGE, {"content": text})
        calls = tool_calls(item.get("tool_calls"), self.ids)
        action = _action(item)
        if not calls and action is not None:
            calls = [shell_call(action, None, self.ids)]
        for call in calls:
            write_start(self.writer, call, {})
        return calls

    def _tool_message(self, item: Mapping[str, Any], waiting: OrderedDict[str, Call]) -> None:
        """Write the result of the calls that a message names, of all that wait when it names none.

        A call whose id came a second time goes by another, and only waits for the next result.
        """
        named = [name for name in list_of(item.get("tool_call_ids")) if isinstance(name, str)]
        ids = [name for name in named if name in waiting]
        if not ids and not (named and any(call.is_named for call in waiting.values())):
            ids = list(waiting)
        if not ids:
            self._skipped("result-of-no-call", "a result names no call that waits for one")
        self._end([waiting.pop(call_id) for call_id in dict.fromkeys(ids)], item)

    def _end(self, calls: list[Call], item: Mapping[str, Any]) -> None:
        for call in calls:
            write_end(self.writer, call, {"output": item.get("content")}, {})

    def _result(self) -> None:
        info = mapping_of(self.value.get("info")) or {}
        stats = mapping_of(info.get("model_stats")) or {}
        data: dict[str, JsonValue] = {}
        status = text_of(info.get("exit_status"))
        if status is not None:
            data["status"] = status
        turns = self.notes.whole(stats.get("api_calls"), self.line)
        if turns is not None:
            data["numTurns"] = turns
        cost = metric(stats.get("instance_cost"))
        if cost is not None:
            data["totalCostUsd"] = cost
        counts: dict[str, JsonValue] = {}
        for key, name in _STAT_COUNTS:
            count = self.notes.whole(stats.get(key), self.line)
            if count is not None:
                counts[name] = count
        if any(counts.values()):
            data["usage"] = counts
        if data:
            self.writer.add(events.SESSION_RESULT, data)


def _action(item: Mapping[str, Any]) -> str | None:
    """Return the action of an answer in the history, None when it has none."""
    action = text_of(item.get("action")) if item.get("role") == "assistant" else None
    return action if action is not None and action.strip() else None


def _was_run(step: Mapping[str, Any]) -> bool:
    """Tell whether the action of a step was run.

    One that was blocked, or that the shell could not read, took no time and has no result.
    """
    observation = step.get("observation")
    if observation is None:
        return False
    took = metric(step.get("execution_time"))
    return took is None or took > 0 or observation != ""


def _observed(step: Mapping[str, Any]) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {"output": step.get("observation")}
    took = metric(step.get("execution_time"))
    if took:
        fields["durationMs"] = took * _MS_PER_SECOND
    return fields


def _model(config: object) -> str | None:
    """Find the model in the configuration that a run can be repeated with: JSON text."""
    if isinstance(config, str):
        try:
            config = _json.decode(config.encode("utf-8", "replace"))
        except _json.JsonError:
            return None
    agent = mapping_of((mapping_of(config) or {}).get("agent")) or {}
    model = mapping_of(agent.get("model")) or {}
    return text_of(model.get("name"))


def is_run(value: Mapping[str, Any]) -> bool:
    """Tell whether an object has the parts of a run, whatever they hold."""
    return any(is_list(value.get(key)) for key in ("trajectory", "history", "attempts"))
