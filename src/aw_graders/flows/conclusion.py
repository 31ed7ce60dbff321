"""The conclusion job's step: collect, redact, grade, persist, one after the other.

Each is a step of its own with its own type between, and none of them can reach a runtime.
Source: Graders Specification 0.5.0, section 5; decisions 20, 21 and 54.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders.artifacts import (
    MANIFEST_PATH,
    RESULTS_PATH,
    SESSION_PATH,
    publish,
    remove,
)
from aw_graders.collectors import CollectionNote
from aw_graders.config import Manifest, manifest_document
from aw_graders.flows.collection import Collection
from aw_graders.graders import Result, grade_lookups, results_document
from aw_graders.lookups import RunContext, create_session_lookups
from aw_graders.redaction import Redaction
from aw_graders.session import Event, Provenance, events
from aw_graders.session.packed import joined

_COMPONENT: Final = "grader"
_PHASE: Final = "conclusion"
# The reduced form in which graders and results stand in a session, section 1.5 of its format.
_REDUCED: Final = (
    *(
        "id",
        "name",
        "status",
        "value",
        "score",
        "unit",
        "passed",
        "direction",
        "threshold",
        "error",
    ),
)


class Conclusion(msgspec.Struct, frozen=True):
    """What conclusion published: results, what they say of the run, notes, what was masked."""

    results: tuple[Result, ...]
    context: RunContext
    document: Mapping[str, Any]
    notes: tuple[CollectionNote, ...]
    masked: int
    events: int


def clean(root: Path) -> None:
    """Remove what an earlier attempt published, so that nothing of it is taken for this one's.

    Raises: OSError.
    """
    remove(root / path for path in (SESSION_PATH, RESULTS_PATH, MANIFEST_PATH))


def conclude(
    root: Path,
    manifest: Manifest,
    collect: Callable[[Path], Collection],
    redact: Callable[[Collection], Redaction],
) -> Conclusion:
    """Collect the evidence below `root`, redact it, grade it, and publish all three files.

    Takes: the manifest, which holds no code; how evidence is collected and redacted.
    Returns: what was published.
    Raises: OSError, when evidence cannot be listed or a file not be written; nothing is published
        then. A grader that fails is a result.
    Cost: that of collecting and of grading.
    """
    collection = collect(root)
    redaction = redact(collection)
    lookups = create_session_lookups(redaction.session)
    results = grade_lookups(lookups, manifest.settings)
    document = results_document(results, lookups.context)
    graders = manifest_document(manifest.settings, manifest.custom)
    published = joined(redaction.session.events, grader_events(graders, document))
    publish(
        {
            root / MANIFEST_PATH: [_json.pretty(graders)],
            root / RESULTS_PATH: [_json.pretty(document)],
            root / SESSION_PATH: session_lines(published),
        }
    )
    return Conclusion(
        results, lookups.context, document, collection.notes, len(redaction.masked), len(published)
    )


def grader_events(manifest: Mapping[str, Any], results: Mapping[str, Any]) -> tuple[Event, Event]:
    """Spell what was graded, and with which result, as the last events of a session.

    Takes: the documents that are written; values are the same in both.
    """
    return (
        _event(events.GRADER_MANIFEST, MANIFEST_PATH, {"graders": _reduced(manifest["graders"])}),
        _event(events.GRADER_RESULT, RESULTS_PATH, {"results": _reduced(results["results"])}),
    )


def _event(kind: str, path: str, data: dict[str, Any]) -> Event:
    return Event(kind, Provenance(_COMPONENT, _PHASE, path, 0), _json.compact(data))


def _reduced(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{key: row[key] for key in _REDUCED if key in row} for row in rows]


def session_lines(published: Iterable[Event]) -> Iterator[bytes]:
    """Spell events as the lines of a session file."""
    return (_json.compact(event.to_json()) + b"\n" for event in published)
