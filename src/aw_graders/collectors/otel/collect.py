"""Spans to unified-session events, in the order of their times."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from aw_graders._json import JsonValue
from aw_graders.collectors.base import Collected, CollectionNote, SourceFile
from aw_graders.collectors.normalise import EventWriter, Notes, text_of
from aw_graders.collectors.otel.asked import Spoken
from aw_graders.collectors.otel.messages import Asked, Said, said_in
from aw_graders.collectors.otel.roles import (
    Key,
    Tree,
    model_of,
    role_of,
    tool_call_id_of,
    tool_name_of,
)
from aw_graders.collectors.otel.run import Group, Run, sessions_of
from aw_graders.collectors.otel.spans import Span, read_export
from aw_graders.collectors.otel.usage import added, counts_of, is_beside
from aw_graders.collectors.otel.values import decoded, spell_time
from aw_graders.session import Event, events
from aw_graders.session.timestamps import ns_to_ms

_ARGUMENTS: Final = (
    "gen_ai.tool.call.arguments",
    "gcp.vertex.agent.tool_call_args",
    "gen_ai.tool.arguments",
)
_RESULTS: Final = (
    "gen_ai.tool.call.result",
    "gcp.vertex.agent.tool_response",
    "gen_ai.tool.result",
)
_ERROR_TYPE: Final = "error.type"
_SERVER: Final = "mcp.server.name"
_INCLUDES_CACHE: Final = "inputTokensIncludeCache"
# What ends at a time stands before what begins at it.
_ENDS: Final = 0
_BEGINS: Final = 1

# Time, whether it begins or ends there, the span's place, and the place among the span's events.
_Place: TypeAlias = tuple[int, int, int, int]


def collect(files: Sequence[SourceFile]) -> Collected:
    """Convert the traces of one session, all files as one set of evidence.

    Returns: the events in the order of the spans' times, since exporters write a span when it
        ends. When the traces are of several sessions, no events and a note that counts them.
    Raises: nothing.
    Cost: n log n in the spans, linear in the content.
    """
    notes: list[CollectionNote] = []
    counted = [Notes(file.name) for file in files]
    spans: list[Span] = []
    for number, file in enumerate(files):
        export = read_export(file, number, counted[number])
        notes.extend(export.notes)
        spans.extend(export.spans)
    spans = _once(spans, counted)
    roles = {span.key: role for span in spans if (role := role_of(span)) is not None}
    tree = Tree(spans)
    for span in tree.cut:
        message = "spans are each other's parents; the circle was cut"
        counted[span.file].count("parents-in-a-circle", message, span.line, lossy=False)
    groups = sessions_of(tree, [span for span in spans if span.key in roles])
    found: tuple[Event, ...] = ()
    if len(groups) == 1:
        session = [span for span in spans if span.trace_id in groups[0].traces]
        found = _Converter(Run(session, roles), groups[0], session, counted).events()
    elif files:
        counted[0].add(*_refusal(len(groups)), None, lossy=True)
    for item in counted:
        notes.extend(item.all())
    return Collected(found, tuple(notes))


def _refusal(sessions: int) -> tuple[str, str]:
    """Say why there are no events: code and message."""
    if not sessions:
        return "no-agent-spans", "no span tells of an agent's run, a model request or a tool call"
    message = (
        f"the traces are of {sessions} sessions, which share no conversation; "
        "nothing was read: give the traces of one"
    )
    return "several-sessions", message


def _once(spans: Iterable[Span], notes: Sequence[Notes]) -> list[Span]:
    """Keep each span once, where it first stands, as it was written last."""
    found: dict[Key, Span] = {}
    for span in spans:
        if span.key in found:
            message = "a span was written again; the last writing counts"
            notes[span.file].count("span-again", message, span.line, lossy=False)
        found[span.key] = span
    return list(found.values())


class _Point(msgspec.Struct, frozen=True):
    """An event and where in time it stands."""

    place: _Place
    span: Span
    kind: str
    data: Mapping[str, JsonValue]
    time: int | None


class _Converter:
    """Writes the events of one session."""

    def __init__(
        self, run: Run, group: Group, spans: Sequence[Span], notes: Sequence[Notes]
    ) -> None:
        self.run = run
        self.group = group
        self.notes = notes
        self.points: list[_Point] = []
        self.begins: dict[Key, int] = {}
        self.numbers: dict[Key, int] = {}
        last: dict[int, int] = {}
        for number, span in enumerate(spans):
            # A span without a time stands where the file has it.
            begin = span.start if span.start is not None else last.get(span.file, 0)
            self.begins[span.key] = last[span.file] = begin
            self.numbers[span.key] = number
        self.spans = sorted(spans, key=lambda span: (self.begins[span.key], self.numbers[span.key]))
        self.relevant = [span for span in self.spans if span.key in run.roles]
        self.counts = {
            key: counts_of(span.attributes, notes[span.file], span.line)
            for key, span in run.models.items()
        }
        self.beside = {
            model_of(span.attributes)
            for key, span in run.models.items()
            if is_beside(self.counts[key])
        }

    def events(self) -> tuple[Event, ...]:
        """Make the session's events."""
        models = [span for span in self.spans if span.key in self.run.models]
        said = {span.key: said_in(span) for span in models}
        spoken = Spoken(self.run.tools, models, said)
        for span in self.relevant:
            if span.key in self.run.models:
                self._model(span, said[span.key], spoken)
            elif span.key in self.run.tools:
                self._tool(span, spoken.arguments.get(span.key))
            elif span.key in self.run.nested_in:
                self._sub_agent(span)
        for span in spoken.untold:
            message = "a model asked for a tool call of which nothing more is recorded"
            self.notes[span.file].count("call-without-span", message, span.line, lossy=True)
        self._silent()
        return self._written()

    def _written(self) -> tuple[Event, ...]:
        writers = [EventWriter(notes.name, notes) for notes in self.notes]
        found: list[Event] = []

        def write(span: Span, kind: str, data: Mapping[str, JsonValue], time: int | None) -> None:
            rest: dict[str, JsonValue] = {}
            if time is not None:
                rest["timestamp"] = spell_time(time)
            owner = self.run.owner_of(span.key)
            if owner is not None and kind not in {events.SESSION_START, events.SESSION_RESULT}:
                rest["agentId"] = owner
            writer = writers[span.file]
            writer.add(kind, data, rest)
            found.append(writer.events[-1])

        first, last = self.relevant[0], self.relevant[-1]
        write(first, events.SESSION_START, self._start_data(), first.start)
        for point in sorted(self.points, key=lambda point: point.place):
            write(point.span, point.kind, point.data, point.time)
        result = self._result_data()
        if result:
            ends = [span.end for span in self.relevant if span.end is not None]
            write(last, events.SESSION_RESULT, result, max(ends, default=None))
        return tuple(found)

    def _start_data(self) -> dict[str, JsonValue]:
        names = sorted(self.group.conversations)
        traces = sorted(name for name in self.group.traces if name)
        data: dict[str, JsonValue] = {}
        for name in (names or traces)[:1]:
            data["sessionId"] = name
        for service in [span.service for span in self.relevant if span.service is not None][:1]:
            data["sourceEngine"] = service
        models = [text_of(span.attributes.get("gen_ai.request.model")) for span in self.relevant]
        for model in [model for model in models if model is not None][:1]:
            data["model"] = model
        return data

    def _result_data(self) -> dict[str, JsonValue]:
        """Say what only the outermost agent says: its time, and tokens that no request has."""
        data: dict[str, JsonValue] = {}
        outermost = self.run.outermost_agents()
        if len(outermost) == 1:
            (agent,) = outermost
            if agent.start is not None and agent.end is not None and agent.end >= agent.start:
                data["durationMs"] = ns_to_ms(agent.end - agent.start)
        if not any(self.counts.values()):
            sums = [
                counts_of(span.attributes, self.notes[span.file], span.line) for span in outermost
            ]
            usage = added(sums)
            if usage:
                data["usage"] = {**usage, _INCLUDES_CACHE: not any(map(is_beside, sums))}
        return data

    def _silent(self) -> None:
        """Note agents whose tokens are known only as a sum while requests of others are known."""
        if self.run.models:
            for span in self.run.silent_agents():
                message = "an agent's tokens are known as a sum only and its requests not at all"
                self.notes[span.file].count(
                    "agent-without-requests", message, span.line, lossy=True
                )

    def _begin(self, span: Span, kind: str, data: Mapping[str, JsonValue], part: int = 0) -> None:
        place = (self.begins[span.key], _BEGINS, self.numbers[span.key], part)
        self.points.append(_Point(place, span, kind, data, span.start))

    def _end(self, span: Span, kind: str, data: Mapping[str, JsonValue], part: int) -> None:
        begin = self.begins[span.key]
        place = (begin, _BEGINS, self.numbers[span.key], part)
        if span.end is not None and span.end > begin:
            place = (span.end, _ENDS, self.numbers[span.key], part)
        self.points.append(_Point(place, span, kind, data, span.end))

    def _sub_agent(self, span: Span) -> None:
        data: dict[str, JsonValue] = {"invocationId": span.span_id}
        name = text_of(span.attributes.get("gen_ai.agent.name"))
        if name is not None:
            data["agentName"] = name
        around = self.run.tool_of[span.key]
        boss = self.run.nested_in[span.key]
        if around is not None and self.run.agent_of[around] == boss:
            data["toolCallId"] = _call_id(self.run.tree.spans[around])
        self._begin(span, events.SUBAGENT_STARTED, data)

    def _tool(self, span: Span, asked: JsonValue) -> None:
        data: dict[str, JsonValue] = {"toolCallId": _call_id(span)}
        name = tool_name_of(span)
        if name is not None:
            data["toolName"] = name
        given = _first(span.attributes, _ARGUMENTS)
        given = asked if given is None else given
        if given is not None:
            data["input"] = decoded(given)
        server = text_of(span.attributes.get(_SERVER))
        if server is not None:
            data["mcpServerName"] = server
        self._begin(span, events.TOOL_START, data)
        failed = span.is_failed or text_of(span.attributes.get(_ERROR_TYPE)) is not None
        if span.end is None and not failed:
            return
        done: dict[str, JsonValue] = {"toolCallId": _call_id(span), "success": not failed}
        output = _first(span.attributes, _RESULTS)
        if output is not None:
            done["output"] = decoded(output)
        done.update(_duration(span))
        self._end(span, events.TOOL_COMPLETE, done, 1)

    def _model(self, span: Span, said: Said, spoken: Spoken) -> None:
        part = 0
        for text in spoken.prompts.get(span.key, ()):
            self._begin(span, events.USER_MESSAGE, {"content": text}, part)
            part += 1
        for call_id, output in spoken.answers.get(span.key, ()):
            data: dict[str, JsonValue] = {"toolCallId": call_id}
            if output is not None:
                data["output"] = decoded(output)
            self._begin(span, events.TOOL_COMPLETE, data, part)
            part += 1
        self._end(span, events.USAGE_REPORT, self._report(span), part)
        if span.is_failed or text_of(span.attributes.get(_ERROR_TYPE)) is not None:
            error: dict[str, JsonValue] = {}
            kind = text_of(span.attributes.get(_ERROR_TYPE))
            if kind is not None:
                error["errorType"] = kind
            self._end(span, "session.error", error, part + 1)
        for message in said.returned or ():
            for thought in message.thoughts:
                part += 1
                self._end(span, events.ASSISTANT_REASONING, {"content": thought}, part + 1)
            for text in message.texts:
                part += 1
                self._end(span, events.ASSISTANT_MESSAGE, {"content": text}, part + 1)
        for call in spoken.starts.get(span.key, ()):
            part += 1
            self._end(span, events.TOOL_START, _asked_data(call), part + 1)

    def _report(self, span: Span) -> dict[str, JsonValue]:
        model = model_of(span.attributes)
        counts = self.counts[span.key]
        report: dict[str, JsonValue] = {"requestId": f"{span.trace_id}:{span.span_id}"}
        if model is not None:
            report["model"] = model
        usage: dict[str, JsonValue] = {**counts, _INCLUDES_CACHE: model not in self.beside}
        report["usage"] = usage if counts else None
        report.update(_duration(span))
        return report


def _asked_data(call: Asked) -> dict[str, JsonValue]:
    data: dict[str, JsonValue] = {"toolCallId": call.call_id}
    if call.name is not None:
        data["toolName"] = call.name
    if call.arguments is not None:
        data["input"] = decoded(call.arguments)
    return data


def _call_id(span: Span) -> str:
    """Give a call's id; without one, the span's own stands in."""
    return tool_call_id_of(span) or f"span:{span.span_id}"


def _first(attributes: Mapping[str, JsonValue], keys: Sequence[str]) -> Any:
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)


def _duration(span: Span) -> dict[str, JsonValue]:
    if span.start is None or span.end is None or span.end < span.start:
        return {}
    return {"durationMs": ns_to_ms(span.end - span.start)}
