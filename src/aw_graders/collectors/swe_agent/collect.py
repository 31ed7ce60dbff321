"""Files of SWE-agent and mini-SWE-agent to the events of the only run they hold."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders.collectors.base import Collected, CollectionNote, SourceFile
from aw_graders.collectors.normalise import EventWriter, Notes, list_of, mapping_of
from aw_graders.collectors.records import Records, read_records
from aw_graders.collectors.swe_agent import mini, runs
from aw_graders.collectors.swe_agent.detect import is_message, is_mini, is_swe_agent
from aw_graders.session import Event

_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n\0"
_SEVERAL: Final = "holds {} runs, and one session is one run; give its own file"


class _Found(msgspec.Struct, frozen=True):
    """A run: an object, or the messages of a file that is a list of them."""

    value: Mapping[str, Any]
    line: int
    notes: Notes
    messages: Sequence[Mapping[str, Any]] | None = None


def collect(files: Sequence[SourceFile]) -> Collected:
    """Convert the only run that the files hold.

    Returns: its events. Runs are never mixed: several give no events and a note.
    Raises: nothing.
    Cost: linear in the content.
    """
    notes: list[CollectionNote] = []
    all_notes: list[Notes] = []
    found: list[_Found] = []
    known: set[bytes] = set()
    for file in files:
        read = read_records(file)
        broken = _broken_from(read.notes)
        notes.extend(_first_trouble(read.notes))
        file_notes = Notes(file.name)
        all_notes.append(file_notes)
        for run in _runs(read, broken, file_notes):
            content = _json.sorted_text([run.value, run.messages])
            if content in known:
                message = "a run is there twice and counts once"
                file_notes.count("copied-run", message, run.line, lossy=False)
                continue
            known.add(content)
            found.append(run)
    made = _events(found)
    notes.extend(note for file_notes in all_notes for note in file_notes.all())
    return Collected(made, tuple(notes))


def _runs(read: Records, broken: float, notes: Notes) -> list[_Found]:
    found: list[_Found] = []
    messages: list[Mapping[str, Any]] = []
    line = 1
    for record in read.records:
        value = record.value
        if record.line >= broken:
            message = "an object behind a broken one may be a part of it and was skipped"
            notes.count("behind-broken", message, record.line, lossy=True)
            continue
        if is_mini(value) or is_swe_agent(value) or runs.is_run(value):
            found.append(_Found(value, record.line, notes))
        elif is_message(value):
            line = line if messages else record.line
            messages.append(value)
        else:
            message = "an object is no run and was skipped"
            notes.count("not-a-run", message, record.line, lossy=True)
    if messages:
        found.append(_Found({}, line, notes, messages))
    return found


def _first_trouble(notes: Sequence[CollectionNote]) -> list[CollectionNote]:
    """Keep the first note on what could not be read: all others follow from it."""
    first = next((note for note in notes if note.lossy), None)
    return [note for note in notes if not note.lossy or note is first]


def _broken_from(notes: Sequence[CollectionNote]) -> float:
    """Find the first line of what could not be read, else infinity.

    A run is one document, and what can still be read of a broken one is a part of it, such as the
    messages of a demonstration, that would pass for the whole.
    """
    return min((note.line for note in notes if note.lossy and note.line), default=math.inf)


def _events(found: Sequence[_Found]) -> tuple[Event, ...]:
    if not found:
        return ()
    run = found[0]
    if len(found) > 1:
        run.notes.add("several-runs", _SEVERAL.format(len(found)), None, lossy=True)
        return ()
    writer = EventWriter(run.notes.name, run.notes)
    if run.messages is not None or is_mini(run.value):
        messages = list_of(run.value.get("messages")) if run.messages is None else run.messages
        info = mapping_of(run.value.get("info")) or {}
        mini.convert(messages, info, writer, run.line)
    else:
        attempt = runs.attempt_of(run.value, run.notes, run.line)
        if attempt is not None:
            runs.convert(attempt, writer, run.line)
    return tuple(writer.events)
