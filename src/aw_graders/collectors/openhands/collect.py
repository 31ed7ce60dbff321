"""Files of OpenHands to the events of the only run they hold."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.base import Collected, CollectionNote, SourceFile
from aw_graders.collectors.normalise import EventWriter, Notes, list_of, mapping_of, text_of
from aw_graders.collectors.openhands.calls import Calls
from aw_graders.collectors.openhands.detect import (
    events_in,
    is_event,
    is_result,
    is_state,
)
from aw_graders.collectors.openhands.legacy import Legacy
from aw_graders.collectors.openhands.sdk import Sdk
from aw_graders.collectors.openhands.texts import id_of
from aw_graders.collectors.openhands.usage import Reporting, gather, response_of
from aw_graders.collectors.records import read_records
from aw_graders.session import Event, events

_ENGINE: Final = "openhands"
_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n\0"
_SEVERAL: Final = (
    "holds {} runs, and one session is one run; give one alone, such as a line of the file"
)


class _Run(msgspec.Struct, frozen=True):
    """A run: its events, the object that describes it, and where it stands."""

    rows: Sequence[Any]
    about: Mapping[str, Any]
    line: int
    notes: Notes


class _Loose(msgspec.Struct):
    """What stands in files by itself, events and saved states: all of it is one run."""

    rows: list[tuple[str, Mapping[str, Any]]] = []
    states: list[Mapping[str, Any]] = []
    single: bool = True
    line: int = 1
    notes: Notes | None = None
    state_notes: Notes | None = None


def collect(files: Sequence[SourceFile]) -> Collected:
    """Convert the only run that the files hold.

    Returns: its events, as one source called by the first file that has any. Results of several
        runs are never mixed: they give no events and a note.
    Raises: nothing.
    Cost: linear in the content, besides a sort of event files.
    """
    notes: list[CollectionNote] = []
    all_notes: list[Notes] = []
    runs: list[_Run] = []
    loose = _Loose()
    for file in files:
        read = read_records(file)
        notes.extend(read.notes)
        file_notes = Notes(file.name)
        all_notes.append(file_notes)
        found = 0
        for record in read.records:
            value = record.value
            if is_result(value):
                history = events_in(list_of(value.get("history")))
                runs.append(_Run(history, value, record.line, file_notes))
            elif is_event(value):
                found += 1
                if loose.notes is None:
                    loose.notes, loose.line = file_notes, record.line
                loose.rows.append((file.name, value))
            elif is_state(value):
                loose.states.append(value)
                loose.state_notes = loose.state_notes or file_notes
            else:
                message = "an object is no event of the recording and was skipped"
                file_notes.count("not-an-event", message, record.line, lossy=True)
        loose.single = loose.single and found <= 1
    made = _events(_distinct(runs), loose)
    notes.extend(note for file_notes in all_notes for note in file_notes.all())
    return Collected(made, tuple(notes))


def _distinct(runs: Sequence[_Run]) -> list[_Run]:
    known: set[bytes] = set()
    kept: list[_Run] = []
    for run in runs:
        content = _json.sorted_text(run.about)
        if content in known:
            message = "a run is there twice and counts once"
            run.notes.count("copied-run", message, run.line, lossy=False)
            continue
        known.add(content)
        kept.append(run)
    return kept


def _events(runs: list[_Run], loose: _Loose) -> tuple[Event, ...]:
    notes = loose.notes or (None if runs else loose.state_notes)
    if notes is not None:
        runs = [*runs, _Run(_in_order(loose), {}, loose.line, notes)]
    if not runs:
        return ()
    run = runs[0]
    if len(runs) > 1:
        run.notes.add("several-runs", _SEVERAL.format(len(runs)), None, lossy=True)
        return ()
    metrics = [found for state in loose.states if (found := mapping_of(state.get("stats")))]
    result = mapping_of(run.about.get("metrics"))
    if result is not None:
        metrics = [result]
    writer = EventWriter(run.notes.name, run.notes)
    _start(run, loose.states, writer)
    _write(run, metrics, writer)
    return tuple(writer.events)


def _in_order(loose: _Loose) -> list[Mapping[str, Any]]:
    """Order events that have a file each: by their numbers, else by the names of their files."""
    rows = [row for _, row in loose.rows]
    if not loose.single:
        return rows
    numbers = [row.get("id") for row in rows]
    whole = [number for number in numbers if type(number) is int]
    if len(whole) == len(rows):
        return [row for _, row in sorted(zip(whole, rows, strict=True), key=lambda pair: pair[0])]
    names = [name.replace("\\", "/").rsplit("/", 1)[-1] for name, _ in loose.rows]
    return [row for _, row in sorted(zip(names, rows, strict=True), key=lambda pair: pair[0])]


def _start(run: _Run, states: Sequence[Mapping[str, Any]], writer: EventWriter) -> None:
    metadata = mapping_of(run.about.get("metadata")) or {}
    places = [metadata.get("llm_config"), metadata.get("llm")]
    places.extend((mapping_of(state.get("agent")) or {}).get("llm") for state in states)
    models = [text_of((mapping_of(place) or {}).get("model")) for place in places]
    data: dict[str, JsonValue] = {"sourceEngine": _ENGINE}
    model = next((found for found in models if found is not None), None)
    if model is not None:
        data["model"] = model
    session_ids = [text_of(state.get("id")) for state in states]
    session_id = next((found for found in session_ids if found is not None), None)
    if session_id is not None:
        data["sessionId"] = session_id
    writer.add(events.SESSION_START, data)


def _write(run: _Run, metrics: Sequence[Mapping[str, Any]], writer: EventWriter) -> None:
    rows = _rows(run)
    calls = Calls(writer)
    legacy, sdk = Legacy(writer, calls, run.line), Sdk(writer, calls, run.line)
    reporting = Reporting(gather(rows, metrics, run.notes, run.line), writer)
    for number, row in enumerate(rows):
        time = writer.timestamp(row.get("timestamp"), run.line)
        rest: dict[str, JsonValue] = {} if time is None else {"timestamp": time}
        (sdk if "kind" in row else legacy).row(row, rest)
        reporting.row(number, _response_id(row), rest)
    error = text_of(run.about.get("error"))
    if error is not None:
        writer.add("session.error", {"message": error})
    reporting.finish()


def _rows(run: _Run) -> list[Mapping[str, Any]]:
    """List a run's events; an equal event under an id that was read before is a copy."""
    known: set[bytes] = set()
    rows: list[Mapping[str, Any]] = []
    for item in run.rows:
        row = mapping_of(item)
        if row is None:
            message = "an event is no object and was skipped"
            run.notes.count("event-not-an-object", message, run.line, lossy=True)
            continue
        if id_of(row.get("id")) is not None:
            content = _json.sorted_text(row)
            if content in known:
                message = "an event is there twice and counts once"
                run.notes.count("copied-event", message, run.line, lossy=False)
                continue
            known.add(content)
        rows.append(row)
    return rows


def _response_id(row: Mapping[str, Any]) -> str | None:
    """Name the model's response that an event comes from."""
    response = response_of(row)
    if response is not None and "action" in row:
        return text_of(response.get("id"))
    return text_of(row.get("llm_response_id"))
