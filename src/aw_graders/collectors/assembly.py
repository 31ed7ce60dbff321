"""From what a collector found to a whole session: header, order, warnings, and what was collected.

Source: unified session format 1.8.0, sections 1.1 to 1.5.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from aw_graders import _json
from aw_graders.collectors.base import Collected, CollectionNote
from aw_graders.session import HEADER, Event, Provenance, Session, events, is_header
from aw_graders.session.order import event_time_ns, source_of, write_order

_COMPONENT: Final = "collector"
_PHASE: Final = "conclusion"
_PATH: Final = "usage/aw_session.jsonl"
# Components of which a session says whether nothing of them was collected.
COMPONENTS: Final = (
    *("agent", "mcp", "firewall", "safe_output", "experiment", "grader", "eval", "workflow"),
)


def assemble(collected: Collected) -> Session:
    """Make the session that is written of what a collector found in a recording.

    Returns: the header, the events in written order, one warning for each note of evidence that was
        left out, and the record of the collection. A session that has these already is unchanged.
    Cost: O(n log n).
    """
    found = collected.events
    if found and is_header(found[0]):
        return Session(found)
    ordered = write_order(found)
    lossy = [note for note in collected.notes if note.lossy]
    warnings = [
        _record(number, events.SESSION_COLLECTION_WARNING, _warning(note))
        for number, note in enumerate(lossy, 1)
    ]
    last = _record(len(lossy) + 1, events.SESSION_COLLECTION, _collection(found, len(lossy)))
    return Session((HEADER, *ordered, *warnings, last))


def _record(index: int, kind: str, data: dict[str, Any]) -> Event:
    return Event(kind, Provenance(_COMPONENT, _PHASE, _PATH, index), _json.compact(data))


def _warning(note: CollectionNote) -> dict[str, Any]:
    warning: dict[str, Any] = {"code": note.code, "path": note.name}
    return warning if note.line is None else {**warning, "line": note.line}


def _collection(found: Sequence[Event], warnings: int) -> dict[str, Any]:
    counts = Counter(map(source_of, found))
    return {
        "sources": [
            {"component": component, "phase": phase, "path": path, "events": count}
            for (component, phase, path), count in counts.items()
        ],
        "warnings": warnings,
        "untimedEvents": sum(event_time_ns(event) is None for event in found),
        "absentComponents": [
            component
            for component in COMPONENTS
            if all(source[0] != component for source in counts)
        ],
    }
