"""Experiments: which variant this run was given, and how often each was given before."""

from typing import Final

from aw_graders.collectors.gh_aw.fields import fields, project
from aw_graders.collectors.gh_aw.layout import Layout
from aw_graders.collectors.gh_aw.run import Run
from aw_graders.collectors.gh_aw.source import Source, SourceWriter, time_of_row
from aw_graders.collectors.normalise import is_mapping, list_of
from aw_graders.collectors.records import Record
from aw_graders.session import events

_COMPONENT: Final = "experiment"
_PHASE: Final = "activation"
_STATE: Final = "experiment.state"
_FIELDS: Final = fields("runId", "assignments", "counts")
_ROWS: Final = "state.jsonl"


def experiment_sources(run: Run, layout: Layout) -> list[Source]:
    """Read the state and the assignments, from their own artifact, else from usage's copies."""
    return [*_state(run, layout), *_assignments(run, layout)]


def _find(layout: Layout, *names: str) -> str | None:
    own = layout.first(layout.experiment, *names)
    if own is not None:
        return own
    places = tuple(f"{folder}/" if folder else "" for folder in (*layout.agent, *layout.usage))
    named = [f"{place}{kind}" for kind in ("experiments", "experiment") for place in places]
    return layout.first(named, *names)


def _state(run: Run, layout: Layout) -> list[Source]:
    path = _find(layout, _ROWS, "state.json")
    if path is None:
        return []
    if path.endswith(_ROWS):
        return run.source_of_rows(_COMPONENT, _PHASE, path, _row)
    writer = run.writer(_COMPONENT, _PHASE, path)
    document = run.document(path)
    if is_mapping(document):
        data = project(document, _FIELDS)
        if data or "runs" not in document:
            writer.add(_STATE, data, time_of_row(document))
        # The history of assignments, one record for each run as the newer form has it.
        for item in filter(is_mapping, list_of(document.get("runs"))):
            writer.add(_STATE, project(item, _FIELDS), time_of_row(item))
    elif document is not None:
        _not_an_object(writer)
    return run.close(writer)


def _row(writer: SourceWriter, record: Record) -> None:
    data = project(record.value, _FIELDS)
    writer.add(_STATE, data, time_of_row(record.value), line=record.line)


def _assignments(run: Run, layout: Layout) -> list[Source]:
    path = _find(layout, "assignments.json")
    if path is None:
        return []
    writer = run.writer(_COMPONENT, _PHASE, path)
    document = run.document(path)
    if is_mapping(document):
        inner = document.get("assignments")
        assignments = inner if is_mapping(inner) else document
        writer.add(events.EXPERIMENT_ASSIGNMENT, {"assignments": assignments})
    elif document is not None:
        _not_an_object(writer)
    return run.close(writer)


def _not_an_object(writer: SourceWriter) -> None:
    message = "the document is no object and was skipped"
    writer.notes.add("non-object-record", message, None, lossy=True)
