"""ATIF files to one session: the trajectory, its continuations and its sub-agents."""

import math
from collections.abc import Sequence
from typing import Final

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.atif.convert import Writing
from aw_graders.collectors.atif.family import Family, Member, Trajectory, read_document
from aw_graders.collectors.atif.usage import (
    Accounting,
    added_usage,
    note_difference,
    survey,
    total_usage,
)
from aw_graders.collectors.base import Collected, CollectionNote, SourceFile
from aw_graders.collectors.normalise import Notes, mapping_of, metric
from aw_graders.collectors.records import read_records
from aw_graders.session import Event, events

_SEVERAL: Final = (
    "holds {} trajectories that do not belong together, and one session is one of them; "
    "give its own file"
)


def collect(files: Sequence[SourceFile]) -> Collected:
    """Convert the only trajectory that the files hold, with its parts and its sub-agents.

    Returns: the events of each file in file order. Trajectories that do not belong together are
        never mixed: they give no events and a note.
    Raises: nothing.
    Cost: linear in the content.
    """
    documents: list[Trajectory] = []
    notes: list[CollectionNote] = []
    all_notes: list[Notes] = []
    known: set[bytes] = set()
    for file in files:
        read = read_records(file)
        broken = _broken_from(read.notes)
        notes.extend(_first_trouble(read.notes))
        file_notes = Notes(file.name)
        all_notes.append(file_notes)
        for record in read.records:
            if record.line >= broken:
                message = "an object behind a broken one may be a part of it and was skipped"
                file_notes.count("behind-broken", message, record.line, lossy=True)
                continue
            found = read_document(len(documents), file.name, record.line, record.value, file_notes)
            if found is None:
                continue
            content = _json.sorted_text(found.value)
            if content in known:
                message = "a trajectory is there twice and counts once"
                file_notes.count("copied-trajectory", message, record.line, lossy=False)
                continue
            known.add(content)
            documents.append(found)
    made = _session(documents)
    notes.extend(note for file_notes in all_notes for note in file_notes.all())
    return Collected(made, tuple(notes))


def _first_trouble(notes: Sequence[CollectionNote]) -> list[CollectionNote]:
    """Keep the first note on what could not be read: all others follow from it."""
    first = next((note for note in notes if note.lossy), None)
    return [note for note in notes if not note.lossy or note is first]


def _broken_from(notes: Sequence[CollectionNote]) -> float:
    """Find the first line of what could not be read, else infinity.

    A trajectory is one document, and what can still be read of a broken one is a part of it, such
    as a sub-agent, that would pass for the whole.
    """
    return min((note.line for note in notes if note.lossy and note.line), default=math.inf)


def _session(documents: Sequence[Trajectory]) -> tuple[Event, ...]:
    if not documents:
        return ()
    family = Family(documents)
    roots = family.roots()
    root = roots[0]
    if len(roots) > 1:
        message = _SEVERAL.format(len(roots))
        root.notes.add("several-trajectories", message, None, lossy=True)
        return ()
    members = family.members(root)
    accounting = survey(members)
    _note_accounting(root, accounting)
    writing = Writing(family, members, accounting)
    writing.write()
    _result(writing, members, accounting)
    return tuple(event for writer in writing.writers.values() for event in writer.events)


def _note_accounting(root: Trajectory, accounting: Accounting) -> None:
    if not accounting.single:
        message = "a step adds up several requests, so that no single request is known"
        root.notes.add("requests-aggregated", message, root.line, lossy=False)
    if accounting.beside:
        message = "cached tokens outnumber the prompt and were read as standing beside it"
        root.notes.add("cache-beside-prompt", message, root.line, lossy=False)


def _result(writing: Writing, members: Sequence[Member], accounting: Accounting) -> None:
    """Write the totals of the session, behind the root's last step.

    What the totals of a continued trajectory include is not said, so that they are not read.
    """
    root = members[0].trajectory
    parts = [member for member in members if member.agent_id is None]
    final = mapping_of(root.value.get("final_metrics")) or {}
    data: dict[str, JsonValue] = {}
    session_id = root.text("session_id")
    if session_id is not None:
        data["sessionId"] = session_id
    usage = None
    if len(parts) == 1:
        usage = total_usage(root, final, accounting)
        cost = metric(final.get("total_cost_usd"))
        if cost is not None:
            data["totalCostUsd"] = cost
        if usage is not None:
            note_difference(members, root, usage)
    if usage is None and not accounting.single:
        usage = added_usage(members, root, accounting)
    if usage is not None:
        data["usage"] = dict(usage)
    if usage is not None or "totalCostUsd" in data:
        writing.writer(members[0]).add(events.SESSION_RESULT, data)
