"""Codex rows to unified-session events, file by file, in file order."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from aw_graders import _json
from aw_graders.collectors.base import Collected, CollectionNote, SourceFile
from aw_graders.collectors.codex.replay import Replays
from aw_graders.collectors.codex.rollout import Known, Rollout
from aw_graders.collectors.codex.rows import IDLE, Row, rows_of
from aw_graders.collectors.codex.survey import Source, source_of, spawning_calls
from aw_graders.collectors.codex.transcript import is_transcript, read_transcript
from aw_graders.collectors.records import read_records
from aw_graders.session import Event

_DIGEST_BYTES: Final = 16


def collect(files: Sequence[SourceFile]) -> Collected:
    """Convert Codex rollouts and streams, all files as one set of evidence.

    Returns: the events of each file in file order. Rows that a fork, or a second file of one
        session, copies from another file give no second event.
    Raises: nothing.
    Cost: linear in the content.
    """
    sources: list[Source] = []
    notes: list[CollectionNote] = []
    texts: dict[int, list[Event]] = {}
    for file in files:
        if is_transcript(file.content):
            source = source_of(file.name, ())
            texts[len(sources)] = read_transcript(file.name, file.content, source.notes)
            sources.append(source)
            continue
        read = read_records(file)
        notes.extend(read.notes)
        sources.append(_without_copies(source_of(file.name, rows_of(read.records))))
    replays = Replays(sources)
    known = Known(spawning_calls(sources))
    found: list[Event] = []
    for number, source in enumerate(sources):
        if number in texts:
            found.extend(texts[number])
            notes.extend(source.notes.all())
            continue
        rollout = Rollout(source, replays.of(source), known)
        for place, row in enumerate(source.rows):
            rollout.row(place, row)
        rollout.finish()
        found.extend(rollout.scribe.writer.events)
        notes.extend(source.notes.all())
    return Collected(tuple(found), tuple(notes))


def _without_copies(source: Source) -> Source:
    """Leave out rows that are equal to an earlier one of the file, time included.

    Some versions write every row twice. A row without a time has nothing that makes it one of a
    kind, so it is never taken for a copy.
    """
    seen: set[bytes] = set()
    kept: list[Row] = []
    for row in source.rows:
        if row.time is not None and row.kind != IDLE:
            key = _identity(row)
            if key in seen:
                message = "a row is an exact copy of an earlier one and gave no event"
                source.notes.count("copied-row", message, row.line, lossy=False)
                continue
            seen.add(key)
        kept.append(row)
    return Source(source.name, kept, source.notes, source.meta, source.meta_time)


def _identity(row: Row) -> bytes:
    text = _json.sorted_text([row.kind, row.time, row.payload])
    return blake2b(text, digest_size=_DIGEST_BYTES).digest()
