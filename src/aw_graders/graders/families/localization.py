"""Which files a run found, read and edited, against those that a reference patch changes.

Files are compared, never lines: a recorded region of a file says nothing here.
"""

from collections.abc import Mapping
from typing import Final, NoReturn

from aw_graders.graders.model import (
    HIGHER,
    GraderInput,
    GraderSpec,
    Measured,
    Outcome,
)
from aw_graders.graders.trajectory import (
    Record,
    as_list,
    bounded,
    evidence_of,
    give_up,
    labels,
    malformed_reference,
    not_applicable,
    records,
    reference_list,
    spelled,
)
from aw_graders.lookups.trajectory import PATCH, RESOURCES, Trajectory

_FILE: Final = "file"
_OPERATIONS: Final = "operations"
_READ: Final = "read"
_EDIT: Final = "edit"
# What a producer records a file resource for.
_KNOWN: Final = frozenset({"search", "list", _READ, _EDIT})
_UNAVAILABLE: Final = (
    "without a reference patch, or with a file in it that has no path; without resources, or with "
    "one that is no object; when no file records operations, only some do, or one has other words "
    "than search, list, read and edit; when a file that was {0} has no path; when none was {0}"
)
_SOURCE: Final = (
    "Li et al., ContextBench: A benchmark for context retrieval in coding agents, 2026, "
    "file level; ADR 6"
)


def _path(value: str) -> str:
    """Spell a path as both sides are compared: relative to the repository."""
    return value.strip().removeprefix("./").lstrip("/")


def _reference_paths(trajectory: Trajectory) -> list[str]:
    """Read the distinct files of the reference patch, in order.

    Raises: MissingError when there is none, or one has no path.
    """
    found: dict[str, None] = {}
    for entry in reference_list(trajectory, PATCH, "files"):
        recorded = entry.get("path") if isinstance(entry, Mapping) else entry
        path = _path(recorded) if isinstance(recorded, str) else ""
        if not path:
            malformed_reference(trajectory, "a file of the reference patch has no path")
        found[path] = None
    return list(found)


@bounded
def _code_search_recall(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the files of the reference patch that the run located by all of them."""
    wanted = _reference_paths(trajectory)
    located = {
        _path(uri)
        for record in records(trajectory, RESOURCES)
        if record.get("kind") == _FILE and isinstance(uri := record.get("uri"), str)
    }
    missed = [path for path in wanted if path not in located]
    details = f"{len(wanted) - len(missed)} of {len(wanted)} files of the reference were located"
    if missed:
        details += f"; missed: {labels(missed)}"
    return Measured((len(wanted) - len(missed)) / len(wanted), details)


def _malformed(trajectory: Trajectory, position: int, what: str) -> NoReturn:
    place = spelled(trajectory.collections[RESOURCES].place_of(position))
    give_up("malformed-resources", f'entry {position} of "{RESOURCES}" {what} ({place})')


def _operations(trajectory: Trajectory, position: int, record: Record) -> frozenset[str] | None:
    """Read what was done with a file; None when its resource does not say.

    Raises: MissingError for anything but a list of the known words.
    """
    if _OPERATIONS not in record:
        return None
    listed = as_list(record[_OPERATIONS])
    found = frozenset(word for word in listed or () if isinstance(word, str) and word in _KNOWN)
    if listed is None or not all(isinstance(word, str) and word in found for word in listed):
        known = ", ".join(sorted(_KNOWN))
        _malformed(trajectory, position, f'has "{_OPERATIONS}" that are no list of: {known}')
    return found


def _touched(trajectory: Trajectory, operation: str) -> dict[str, int]:
    """Read the distinct files that an operation was recorded for, and the first entry of each.

    Raises: MissingError when files do not say what was done with them, and when one of those that
    count has no path.
    """
    files = [
        (position, record, _operations(trajectory, position, record))
        for position, record in enumerate(records(trajectory, RESOURCES))
        if record.get("kind") == _FILE
    ]
    silent = [position for position, _, operations in files if operations is None]
    if silent and len(silent) == len(files):
        give_up("no-operations", f'no file of "{RESOURCES}" records its "{_OPERATIONS}"')
    if silent:
        # A share of the files that happen to say so would be a guess at the share of all.
        _malformed(trajectory, silent[0], f'has no "{_OPERATIONS}", and other files have some')
    found: dict[str, int] = {}
    for position, record, operations in files:
        if operations is None or operation not in operations:
            continue
        uri = record.get("uri")
        path = _path(uri) if isinstance(uri, str) else ""
        if not path:
            _malformed(trajectory, position, "is a file without a path")
        found.setdefault(path, position)
    return found


def _precision(trajectory: Trajectory, operation: str, done: str) -> Outcome:
    wanted = set(_reference_paths(trajectory))
    touched = _touched(trajectory, operation)
    if not touched:
        return not_applicable(f"no file was recorded as {done}")
    beside = [path for path in touched if path not in wanted]
    hits = len(touched) - len(beside)
    details = f"{hits} of {len(touched)} files {done} are in the reference patch"
    if beside:
        details += f"; not: {labels(beside)}"
    evidence = evidence_of(trajectory, RESOURCES, (touched[path] for path in beside))
    return Measured(hits / len(touched), details, evidence)


@bounded
def _code_read_precision(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the files read that the reference patch changes by all files read.

    Counts: distinct paths of file resources whose `operations` hold `read`, spelled as the paths of
    the reference patch are; regions within files are not looked at.
    Evidence: where the files stand that the patch does not change.
    """
    return _precision(trajectory, _READ, "read")


@bounded
def _code_edit_precision(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the files edited that the reference patch changes by all files edited.

    Counts: distinct paths of file resources whose `operations` hold `edit`, spelled as the paths of
    the reference patch are; regions within files are not looked at.
    Evidence: where the files stand that the patch does not change.
    """
    return _precision(trajectory, _EDIT, "edited")


GRADERS: Final = (
    GraderSpec(
        id="code-search-recall",
        name="Code Search Recall",
        summary="Files of the reference patch that were located / all of them",
        formula="distinct reference files among the located ones / distinct reference files",
        reading="0.5 means that the run located half of the files that the reference patch changes.",
        example="reference a.py, b.py; located a.py, c.py: 1 / 2 = 0.5",
        evidence="reference.patch.files and resources in trajectory.evidence events",
        unavailable="without a reference patch or with a file in it that has no path; without resources, or with one that is no object",
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_code_search_recall,
        default=False,
        needs_events=True,
        cost="O(files + resources)",
        source="recall at file level: Li et al., ContextBench: A benchmark for context retrieval in coding agents, 2026",
    ),
    GraderSpec(
        id="code-read-precision",
        name="Code Read Precision",
        summary="Files read that the reference patch changes / all files read",
        formula="distinct files read and in the reference patch / distinct files read",
        reading="0.25 means that one of four files that the run read is a file that the reference patch changes; some reading around is part of the work, so that 1 is rare.",
        example="reference a.py, b.py; read a.py, c.py, d.py, ./a.py: 1 of 3 files, 1 / 3 = 0.333",
        evidence="reference.patch.files, and resources with operations, in trajectory.evidence events",
        unavailable=_UNAVAILABLE.format("read"),
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_code_read_precision,
        default=False,
        needs_events=True,
        cost="O(files + resources)",
        source=_SOURCE,
    ),
    GraderSpec(
        id="code-edit-precision",
        name="Code Edit Precision",
        summary="Files edited that the reference patch changes / all files edited",
        formula="distinct files edited and in the reference patch / distinct files edited",
        reading="0.5 means that every second file that the run edited is one that the reference patch leaves alone.",
        example="reference a.py, b.py; edited a.py, c.py: 1 / 2 = 0.5",
        evidence="reference.patch.files, and resources with operations, in trajectory.evidence events",
        unavailable=_UNAVAILABLE.format("edited"),
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_code_edit_precision,
        default=False,
        needs_events=True,
        cost="O(files + resources)",
        source=_SOURCE,
    ),
)
