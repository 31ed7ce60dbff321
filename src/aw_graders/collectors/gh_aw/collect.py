"""A run's folder to one whole session: header, events in written order, warnings, what was read.

Source: unified session format 1.8.0, sections 1.1 to 1.5.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aw_graders import _json
from aw_graders.collectors.assembly import COMPONENTS
from aw_graders.collectors.base import Collected, CollectionNote
from aw_graders.collectors.gh_aw.agent import agent_evidence
from aw_graders.collectors.gh_aw.detection import detection_sources
from aw_graders.collectors.gh_aw.evals import eval_sources
from aw_graders.collectors.gh_aw.execution import execution_sources
from aw_graders.collectors.gh_aw.experiments import experiment_sources
from aw_graders.collectors.gh_aw.firewall import firewall_sources, has_requests
from aw_graders.collectors.gh_aw.gateway import gateway_sources
from aw_graders.collectors.gh_aw.layout import layout_of
from aw_graders.collectors.gh_aw.limits import MAX_TOTAL_BYTES
from aw_graders.collectors.gh_aw.notes import RunNotes
from aw_graders.collectors.gh_aw.otel import otel_sources
from aw_graders.collectors.gh_aw.run import Run
from aw_graders.collectors.gh_aw.safe_outputs import safe_output_sources
from aw_graders.collectors.gh_aw.source import Source
from aw_graders.collectors.gh_aw.tree import Tree, walk
from aw_graders.collectors.gh_aw.usage import usage_sources
from aw_graders.collectors.gh_aw.workflow import (
    info_sources,
    outcome_sources,
    prompt_sources,
    rate_limit_sources,
)
from aw_graders.collectors.mask_lines import mask_lines, pieces_of
from aw_graders.session import HEADER, Event, Provenance, events
from aw_graders.session.order import write_order
from aw_graders.session.packed import joined


def collect_root(root: Path) -> Collected:
    """Collect the evidence of one agentic workflow run.

    Takes: the folder that holds the run's artifacts, however they were downloaded.
    Returns: a whole session: the header; all events in the order of version 1.8.0; a warning for
        each note of evidence that was left out; last, which sources were read. A source that was
        there and held nothing is listed with 0 events, one that was not there is not listed.
    Raises: OSError when `root` itself cannot be listed; anything less is a note.
    Cost: O(n log n) for n events; files of lines are held one line at a time.
    """
    notes = RunNotes()
    run = Run(walk(root, notes), notes)
    sources = _sources(run)
    masked = _mask_lines(run.tree)
    found = write_order(joined(*(source.events for source in sources)))
    every = notes.all()
    lossy = [note for note in every if note.lossy]
    warnings = [
        _record(number, events.SESSION_COLLECTION_WARNING, _warning(note))
        for number, note in enumerate(lossy, 1)
    ]
    last = _record(len(lossy) + 1, events.SESSION_COLLECTION, _collection(sources, len(lossy)))
    return Collected(joined((HEADER,), found, [*warnings, last]), every, masked)


def _sources(run: Run) -> list[Source]:
    """Read every source there is, in the order in which events of one time are written."""
    layout = layout_of(run.tree, run.notes)
    agent = agent_evidence(run, layout)
    firewall = firewall_sources(run, layout)
    return [
        *info_sources(run, layout),
        *prompt_sources(run, layout),
        *agent.sources,
        # Without the agent's own session this record would stand for an agent that did nothing.
        *(outcome_sources(run, layout) if agent.sources else ()),
        *gateway_sources(run, layout),
        *firewall,
        *otel_sources(run, layout),
        *safe_output_sources(run, layout),
        *experiment_sources(run, layout),
        *eval_sources(run, layout),
        *usage_sources(run, layout, has_requests=has_requests(firewall)),
        *execution_sources(run, layout, agent.execution),
        *detection_sources(run, layout),
        *rate_limit_sources(run, layout),
    ]


def _mask_lines(tree: Tree) -> tuple[str, ...]:
    """Search every file, also those that no source is made of, for values that were to be masked.

    A file that cannot be read has been noted by whoever needed it.
    """
    found: dict[str, None] = {}
    left = MAX_TOTAL_BYTES
    for path, entry in tree.files.items():
        left -= entry.size
        file = tree.open(path, RunNotes()) if left >= 0 else None
        if file is not None:
            with file, contextlib.suppress(OSError):
                found.update(dict.fromkeys(mask_lines(pieces_of(file))))
    return tuple(found)


def _record(index: int, kind: str, data: dict[str, Any]) -> Event:
    place = HEADER.provenance
    provenance = Provenance(place.component, place.phase, place.path, index)
    return Event(kind, provenance, _json.compact(data))


def _warning(note: CollectionNote) -> dict[str, Any]:
    """Spell a note as the format does: codes with underscores."""
    warning: dict[str, Any] = {"code": note.code.replace("-", "_"), "path": note.name}
    return warning if note.line is None else {**warning, "line": note.line}


def _collection(sources: Sequence[Source], warnings: int) -> dict[str, Any]:
    seen = {source.component for source in sources}
    return {
        "sources": [
            {
                "component": source.component,
                "phase": source.phase,
                "path": source.path,
                "events": len(source.events),
            }
            for source in sources
        ],
        "warnings": warnings,
        "untimedEvents": sum(
            event.provenance.timestamp_ms is None for source in sources for event in source.events
        ),
        "absentComponents": [component for component in COMPONENTS if component not in seen],
    }
