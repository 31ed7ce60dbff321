"""One sample of an Inspect log to unified-session events."""

import heapq
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from aw_graders._json import JsonValue
from aw_graders.collectors.base import Collected, SourceFile
from aw_graders.collectors.inspect_ai.logs import Sample, only_sample
from aw_graders.collectors.inspect_ai.texts import Texts
from aw_graders.collectors.inspect_ai.transcript import Entry, Transcript, transcript_of
from aw_graders.collectors.inspect_ai.usage import (
    added,
    agreed,
    cached_in,
    counts_of,
    includes_cache,
)
from aw_graders.collectors.normalise import (
    EventWriter,
    Notes,
    is_mapping,
    list_of,
    mapping_of,
    metric,
    text_of,
    time_of,
)
from aw_graders.session import events
from aw_graders.session.timestamps import stamp_ns

_ENGINE: Final = "inspect_ai"
_INCLUDES_CACHE: Final = "inputTokensIncludeCache"
_SESSION_ERROR: Final = "session.error"
_MODEL: Final = "model"
_MS_PER_SECOND: Final = 1000
_USER: Final = "user"
_ASSISTANT: Final = "assistant"
_TOOL: Final = "tool"

# When a call ended, its place, and the data and the other keys of its completion.
_Waiting: TypeAlias = tuple[int, int, dict[str, JsonValue], dict[str, JsonValue]]


def collect(files: Sequence[SourceFile]) -> Collected:
    """Convert the only sample of an Inspect log; several samples give no events and a note.

    Raises: nothing.
    Cost: linear in the content.
    """
    notes = [Notes(file.name) for file in files]
    sample = only_sample(files, notes)
    written: tuple[Any, ...] = ()
    if sample is not None:
        own = notes[sample.file]
        writer = EventWriter(own.name, own)
        _Converter(sample, writer, own).write()
        written = tuple(writer.events)
    return Collected(written, tuple(note for item in notes for note in item.all()))


class _Converter:
    """Writes the events of one sample."""

    def __init__(self, sample: Sample, writer: EventWriter, notes: Notes) -> None:
        self.sample = sample.value
        self.model = sample.model
        self.writer = writer
        self.notes = notes
        self.texts = Texts(sample.value, notes)
        self.transcript: Transcript = transcript_of(sample.value, notes)
        entries = self.transcript.entries
        self.executed = Counter(
            call_id
            for entry in entries
            if entry.kind == _TOOL and (call_id := text_of(entry.value.get("id"))) is not None
        )
        self.messages = [item for item in list_of(sample.value.get("messages")) if is_mapping(item)]
        self.answers: dict[str, deque[dict[str, Any]]] = {}
        for message in self.messages:
            call_id = text_of(message.get("tool_call_id"))
            if message.get("role") == _TOOL and call_id is not None:
                self.answers.setdefault(call_id, deque()).append(message)
        self.counts = [self._counts(entry.value) for entry in entries]
        self.verdicts = self._verdicts(entries)
        self.prompts: dict[str, list[str]] = {}
        self.first_prompts = self._prompts()
        self.waiting: list[_Waiting] = []
        self.linked: set[str] = set()

    def write(self) -> None:
        """Write the session: its start, what the agent did, and how it ended."""
        entries = self.transcript.entries
        start: dict[str, JsonValue] = {"sourceEngine": _ENGINE, "sessionId": self._session_id()}
        model = self.model or next(
            (name for entry in entries if (name := text_of(entry.value.get("model")))), None
        )
        if model is not None:
            start["model"] = model
        began = self._timed(self.transcript.began)
        if entries and not began:
            began = self._timed(entries[0].value.get("timestamp"))
        self.writer.add(events.SESSION_START, start, began)
        if not entries:
            self._conversation()
            self._ended(self._totals())
            return
        for text in self.first_prompts:
            self._say(events.USER_MESSAGE, text, began)
        for place, entry in enumerate(entries):
            now = stamp_ns(time_of(entry.value.get("timestamp")).value)
            if now is not None:
                self._flush(now)
            self._link(entry)
            if entry.kind == _MODEL:
                self._request(entry, place)
            else:
                self._call(entry, place)
        self._flush(None)
        self._ended({})

    def _timed(self, value: object) -> dict[str, JsonValue]:
        time = self.writer.timestamp(value, None)
        return {} if time is None else {"timestamp": time}

    def _session_id(self) -> str:
        """Name the sample: its own id, else its place in the data set and its epoch."""
        uuid = text_of(self.sample.get("uuid"))
        if uuid is not None:
            return uuid
        return f"{self.sample.get('id')}_epoch_{self.sample.get('epoch')}"[:256]

    def _time(self, value: Mapping[str, Any], *keys: str) -> JsonValue:
        found = next((value[key] for key in keys if value.get(key) is not None), None)
        return self.writer.timestamp(found, None)

    def _rest(self, entry: Entry, *keys: str) -> dict[str, JsonValue]:
        """Give an event its time, by the first of the keys that is there, and its origin."""
        rest: dict[str, JsonValue] = {}
        time = self._time(entry.value, *keys)
        if time is not None:
            rest["timestamp"] = time
        if entry.agent_id is not None:
            rest["agentId"] = entry.agent_id
        elif entry.parent_call_id is not None:
            rest["parentToolCallId"] = entry.parent_call_id
        return rest

    def _link(self, entry: Entry) -> None:
        """Say once which call began a sub-agent, before the first event of it."""
        agent = entry.agent_id
        if agent is None or agent in self.linked:
            return
        self.linked.add(agent)
        data: dict[str, JsonValue] = {"invocationId": agent}
        name = self.transcript.agent_names.get(agent)
        if name is not None:
            data["agentName"] = name
        call = self.transcript.spawned_by.get(agent)
        if call is not None:
            data["toolCallId"] = call
        self.writer.add(events.SUBAGENT_STARTED, data, self._rest(entry, "timestamp"))

    def _counts(self, value: Mapping[str, Any]) -> dict[str, int]:
        output = mapping_of(value.get("output")) or {}
        return counts_of(mapping_of(output.get("usage")) or {}, self.notes)

    def _verdicts(self, entries: Sequence[Entry]) -> dict[str | None, bool | None]:
        """Settle for each model whether its input holds the cached tokens, by all its requests."""
        told: dict[str | None, list[bool | None]] = {}
        for entry, counts in zip(entries, self.counts, strict=True):
            told.setdefault(text_of(entry.value.get("model")), []).append(includes_cache(counts))
        return {model: agreed(verdicts) for model, verdicts in told.items()}

    def _request(self, entry: Entry, place: int) -> None:
        value = entry.value
        rest = self._rest(entry, "completed", "timestamp")
        message = self._answer(value)
        for text in self.prompts.pop(text_of(message.get("id")) or "", ()):
            self._say(events.USER_MESSAGE, text, self._rest(entry, "timestamp"))
        if value.get("cache") == "read":
            note = "an answer came out of the log's own cache; no request was made"
            self.notes.count("answer-from-cache", note, None, lossy=False)
        else:
            self.writer.add(events.USAGE_REPORT, self._report(value, place), rest)
        error = text_of(value.get("error"))
        if error is not None:
            self.writer.add(_SESSION_ERROR, {"message": error}, rest)
        self._said(message, rest)
        for call in list_of(message.get("tool_calls")):
            if is_mapping(call):
                self._asked(call, rest)

    @staticmethod
    def _answer(value: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the message of a model's first choice, the one that the run goes on with."""
        choices = list_of((mapping_of(value.get("output")) or {}).get("choices"))
        first = mapping_of(choices[0]) if choices else None
        return mapping_of((first or {}).get("message")) or {}

    def _report(self, value: Mapping[str, Any], place: int) -> dict[str, JsonValue]:
        counts = self.counts[place]
        report: dict[str, JsonValue] = {
            "requestId": text_of(value.get("uuid")) or f"request-{place}"
        }
        model = text_of(value.get("model"))
        if model is not None:
            report["model"] = model
        usage: dict[str, JsonValue] = {**counts}
        if cached_in(counts):
            own = includes_cache(counts)
            verdict = self.verdicts.get(model) if own is None else own
            if verdict is not None:
                usage[_INCLUDES_CACHE] = verdict
        report["usage"] = usage or None
        return report

    def _say(self, kind: str, text: str, rest: Mapping[str, JsonValue]) -> None:
        self.writer.add(kind, {"content": text}, rest)

    def _said(self, message: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        """Write what a model said and thought, and the calls that its provider made for it."""
        for part in self.texts.parts(message.get("content")):
            kind = part.get("type")
            if kind == "text":
                self._say(events.ASSISTANT_MESSAGE, self.texts.plain(part.get("text")), rest)
            elif kind == "reasoning":
                key = "summary" if part.get("redacted") is True else "reasoning"
                thought = self.texts.plain(part.get(key))
                if thought:
                    self._say(events.ASSISTANT_REASONING, thought, rest)
            elif kind == "tool_use":
                self._provider_call(part, rest)

    def _provider_call(self, part: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        start = _call_data(text_of(part.get("id")), text_of(part.get("name")))
        if not start:
            return
        if part.get("arguments") is not None:
            start["input"] = self.texts.value(part["arguments"])
        self.writer.add(events.TOOL_START, start, rest)
        done = _call_data(text_of(part.get("id")), text_of(part.get("name")))
        error = text_of(part.get("error"))
        done["success"] = error is None
        if error is not None:
            done["error"] = error
        if part.get("result") is not None:
            done["output"] = self.texts.value(part["result"])
        self.writer.add(events.TOOL_COMPLETE, done, rest)

    def _asked(self, call: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        """Write a call that a model asked for and that no event shows to have been made."""
        call_id = text_of(call.get("id"))
        if call_id is not None and self.executed[call_id] > 0:
            self.executed[call_id] -= 1
            return
        start = _call_data(call_id, text_of(call.get("function")))
        if not start:
            return
        self._start(start, call, rest)
        answers = self.answers.get(call_id or "")
        if answers:
            self._answered(answers.popleft(), {})

    def _start(
        self, start: dict[str, JsonValue], call: Mapping[str, Any], rest: Mapping[str, JsonValue]
    ) -> None:
        if call.get("arguments") is not None:
            start["input"] = self.texts.value(call["arguments"])
        self.writer.add(events.TOOL_START, start, rest)

    def _answered(self, message: Mapping[str, Any], rest: Mapping[str, JsonValue]) -> None:
        """Write what a tool's message says of its call."""
        call_id = text_of(message.get("tool_call_id"))
        done = _call_data(call_id, text_of(message.get("function")))
        if done:
            self._outcome(done, message.get("error"), message.get("content"))
            self.writer.add(events.TOOL_COMPLETE, done, rest)

    def _outcome(self, done: dict[str, JsonValue], error: JsonValue, output: JsonValue) -> None:
        """Add how a call ended: Inspect records an error of every call that failed."""
        done["success"] = error is None
        if error is not None:
            done["error"] = error
        if output is not None:
            done["output"] = self.texts.value(output)

    def _call(self, entry: Entry, place: int) -> None:
        value = entry.value
        call_id, name = text_of(value.get("id")), text_of(value.get("function"))
        start = _call_data(call_id, name)
        if not start:
            message = "a tool call has no id and no name and was skipped"
            self.notes.count("call-without-id-and-name", message, None, lossy=True)
            return
        self._start(start, value, self._rest(entry, "timestamp"))
        answers = self.answers.get(call_id or "")
        answer = answers.popleft() if answers else None
        if not _is_complete(value, answer):
            return
        done = _call_data(call_id, name)
        error = value.get("error")
        if error is None and value.get("failed") is True:
            error = "failed"
        self._outcome(done, error, value.get("result"))
        rest = self._rest(entry, "completed", "timestamp")
        # A completion stands behind whatever the call did meanwhile, such as a sub-agent's work.
        ended = stamp_ns(rest.get("timestamp"))
        heapq.heappush(self.waiting, (-1 if ended is None else ended, place, done, rest))

    def _flush(self, until: int | None) -> None:
        """Write the completions whose time has come; all of them when no time is given."""
        while self.waiting and (until is None or self.waiting[0][0] <= until):
            _, _, done, rest = heapq.heappop(self.waiting)
            self.writer.add(events.TOOL_COMPLETE, done, rest)

    def _prompts(self) -> list[str]:
        """Find the user's texts by the id of the answer that follows them; return the first ones."""
        first: list[str] | None = None
        texts: list[str] = []
        for message in self.messages:
            if message.get("role") == _USER:
                texts.extend(self.texts.all(message.get("content")))
            elif message.get("role") == _ASSISTANT:
                if first is None:
                    first = texts
                else:
                    answer = text_of(message.get("id")) or ""
                    self.prompts.setdefault(answer, []).extend(texts)
                texts = []
        return texts if first is None else first

    def _conversation(self) -> None:
        """Write the messages of a sample that has no events."""
        for message in self.messages:
            role = message.get("role")
            if role == _USER:
                for text in self.texts.all(message.get("content")):
                    self._say(events.USER_MESSAGE, text, {})
            elif role == _ASSISTANT:
                self._said(message, {})
                for call in filter(is_mapping, list_of(message.get("tool_calls"))):
                    start = _call_data(text_of(call.get("id")), text_of(call.get("function")))
                    if start:
                        self._start(start, call, {})
            elif role == _TOOL:
                self._answered(message, {})

    def _ended(self, totals: dict[str, JsonValue]) -> None:
        """Say how the sample ended, and when, where that is not when its last event ended."""
        data = dict(totals)
        error = mapping_of(self.sample.get("error"))
        if error is not None:
            message = self.texts.plain(error.get("message"))
            self.writer.add(_SESSION_ERROR, {"message": message})
            data["status"] = "error"
        elif is_mapping(self.sample.get("limit")):
            data["status"] = "limit"
        ended = self._timed(self.transcript.ended)
        if data or ended:
            self.writer.add(events.SESSION_RESULT, data, ended)

    def _totals(self) -> dict[str, JsonValue]:
        """Give the time and the tokens of a sample without events, its scorers' among them."""
        totals: dict[str, JsonValue] = {}
        seconds = metric(self.sample.get("total_time"))
        if seconds is not None:
            totals["durationMs"] = round(seconds * _MS_PER_SECOND)
        models = mapping_of(self.sample.get("model_usage")) or {}
        all_counts = [
            counts_of(usage, self.notes) for usage in models.values() if is_mapping(usage)
        ]
        usage: dict[str, JsonValue] = {**added(all_counts)}
        verdict = agreed(map(includes_cache, all_counts))
        if verdict is not None:
            usage[_INCLUDES_CACHE] = verdict
        if usage:
            totals["usage"] = usage
        return totals


def _call_data(call_id: str | None, name: str | None) -> dict[str, JsonValue]:
    """Begin the data of a call's event; empty when nothing tells it from others."""
    data: dict[str, JsonValue] = {}
    if call_id is not None:
        data["toolCallId"] = call_id
    if name is not None:
        data["toolName"] = name
    return data


def _is_complete(value: Mapping[str, Any], answer: Mapping[str, Any] | None) -> bool:
    """Tell whether a call ended: older logs have no time of it, but a result or an answer."""
    if value.get("pending") is True:
        return False
    if value.get("completed") is not None or value.get("error") is not None:
        return True
    return bool(value.get("result")) or value.get("failed") is True or answer is not None
