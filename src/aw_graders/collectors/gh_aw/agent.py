"""What the agent itself recorded: its normalised session, else its engine's own logs."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.base import Collector, SourceFile
from aw_graders.collectors.gh_aw.agent_types import own_type, reduced
from aw_graders.collectors.gh_aw.layout import Layout
from aw_graders.collectors.gh_aw.run import Run
from aw_graders.collectors.gh_aw.source import Source, SourceWriter, time_of_row
from aw_graders.collectors.normalise import is_mapping, mapping_of, text_of
from aw_graders.collectors.records import Record
from aw_graders.collectors.registry import detect
from aw_graders.session import Event, events
from aw_graders.session.limits import MAX_RECORDING_BYTES

COMPONENT: Final = "agent"
_NATIVE: Final = "agent-session.jsonl"
_LOGS: Final = "sandbox/agent/logs"
_STATE: Final = "copilot-session-state"
_STATE_FILE: Final = "events.jsonl"
# The engine's output, the more telling one first.
_OUTPUTS: Final = ("pi-streaming.jsonl", "agent-stdio.log")
_LOG_SUFFIXES: Final = (".jsonl", ".json", ".log")
_KEPT: Final = ("id", "parentId", "agentId", "ephemeral")


class Execution(msgspec.Struct, frozen=True):
    """What the agent's normalised session says of how the agent ended."""

    path: str
    data: Mapping[str, Any]


class AgentEvidence(msgspec.Struct, frozen=True):
    """The sources of the agent's own events, and how it ended."""

    sources: tuple[Source, ...] = ()
    execution: Execution | None = None


def agent_evidence(run: Run, layout: Layout) -> AgentEvidence:
    """Read the agent's session. Where it was normalised already, the engine's logs do not count.

    Of Copilot, sessions of the state folder that the normalised one does not hold are added.
    """
    path = layout.first(layout.agent, _NATIVE)
    states = _state_files(layout)
    if path is not None:
        native = _Native(run.writer(COMPONENT, events.MAIN_PHASE, path))
        for record in run.rows(path):
            native.row(record)
        if native.writer.events or native.execution is not None:
            others = [state for state in states if native.lacks(_session_of(state))]
            sources = (*run.close(native.writer), *_recordings(run, others))
            return AgentEvidence(sources, native.execution)
        message = "the normalised session holds no event; the engine's own logs were read instead"
        run.notes.of(path).add("native-session-unusable", message, None, lossy=True)
    return AgentEvidence(tuple(_engine_sources(run, layout, states)))


class _Native:
    """Reads a normalised session."""

    def __init__(self, writer: SourceWriter) -> None:
        self.writer = writer
        self.execution: Execution | None = None
        self._sessions: set[str] = set()

    def row(self, record: Record) -> None:
        row, notes = record.value, self.writer.notes
        kind, data = text_of(row.get("type")), mapping_of(row.get("data"))
        if kind is None or "." not in kind or data is None:
            message = "a row has no type with a dot, or no data, and was skipped"
            notes.count("non-canonical-agent-event", message, record.line, lossy=True)
            return
        if kind == events.AGENT_EXECUTION:
            self.execution = Execution(self.writer.path, data)
            return
        own = own_type(kind)
        if own != kind:
            message = "a type of another observer was marked as the agent's own"
            notes.count("foreign-type", message, record.line, lossy=False)
        native = mapping_of(row.get("provenance"))
        found = reduced(own, row, data, notes, record.line)
        self._know(found, native)
        self.writer.add(own, found, _rest(row), line=record.line, native=native)

    def _know(self, data: Mapping[str, Any], native: Mapping[str, Any] | None) -> None:
        """Remember which sessions the events come from."""
        session_id = text_of(data.get("sessionId"))
        if session_id is not None:
            self._sessions.add(session_id)
        path = text_of((native or {}).get("path"))
        if path is not None and path.endswith(f"/{_STATE_FILE}"):
            self._sessions.add(_session_of(path))

    def lacks(self, session_id: str) -> bool:
        """Tell whether a session is surely not among those that were normalised."""
        return bool(self._sessions) and session_id not in self._sessions


def _rest(row: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Keep a row's identity and its time."""
    kept: dict[str, JsonValue] = {
        key: row[key]
        for key in _KEPT
        if key in row and (isinstance(row[key], str | bool) or row[key] is None)
    }
    return {**kept, **time_of_row(row)}


def _state_files(layout: Layout) -> list[str]:
    """List the event files of Copilot's sessions, each in a folder named after its session."""
    return [
        path
        for path in layout.first_below(layout.agent, _LOGS, f"/{_STATE_FILE}")
        if f"/{_STATE}/" in path
    ]


def _session_of(path: str) -> str:
    return path.rsplit("/", 2)[-2]


def _engine_sources(run: Run, layout: Layout, states: Sequence[str]) -> list[Source]:
    """Read the first of the engine's logs that a collector knows and that holds anything."""
    outputs = [path for name in _OUTPUTS for path in layout.each(layout.agent, name)]
    logs = [
        path
        for suffix in _LOG_SUFFIXES
        for path in layout.first_below(layout.agent, _LOGS, suffix)
        if path not in states
    ]
    for group in (states, *([path] for path in outputs), sorted(logs)):
        found = _recordings(run, group)
        if found:
            return found
    for path in outputs:
        if run.tree.files[path].size:
            message = "the engine's output is of no kind that is known; nothing was read of it"
            run.notes.of(path).add("unrecognized-engine-log", message, None, lossy=True)
    return []


def _recordings(run: Run, paths: Sequence[str]) -> list[Source]:
    """Let the collector of the first recording among some files read all that are of its kind."""
    collector: Collector | None = None
    files: list[SourceFile] = []
    for path in paths:
        content = run.content(path, MAX_RECORDING_BYTES)
        known = None if content is None else detect(content)
        if content is None or known is None:
            continue
        collector = collector or known
        if known is collector:
            files.append(SourceFile(path, content))
        else:
            message = f"a recording of {known.title} beside those of {collector.title}; not read"
            run.notes.of(path).add("other-recording", message, None, lossy=True)
    if collector is None:
        return []
    collected = collector.collect(files)
    del files
    run.notes.extend(collected.notes)
    writers: dict[str, SourceWriter] = {}
    for event in collected.events:
        path = event.provenance.path
        writer = writers.get(path)
        if writer is None:
            writer = writers[path] = run.writer(COMPONENT, events.MAIN_PHASE, path)
        writer.put(_converted(event, writer), {})
    return [writer.source() for writer in writers.values()]


def _converted(event: Event, writer: SourceWriter) -> Event:
    """Reduce an event that a collector made as one of the normalised session would be."""
    data, row = _json.decode(event.data_json), _json.decode(event.rest_json)
    if not is_mapping(data) or not is_mapping(row):
        return event
    kind = own_type(event.type)
    found = reduced(kind, row, data, writer.notes, None)
    return msgspec.structs.replace(event, type=kind, data_json=_json.compact(found))
