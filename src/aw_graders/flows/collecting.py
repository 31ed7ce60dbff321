"""From what a person points at to one whole session, not yet redacted."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from aw_graders.collectors import SourceFile
from aw_graders.collectors.assembly import assemble
from aw_graders.collectors.base import Collected
from aw_graders.collectors.gh_aw import collect_root, is_root
from aw_graders.flows.collection import Collection
from aw_graders.flows.evidence import read_evidence
from aw_graders.session import Problem, Session, SessionFormatError
from aw_graders.session.order import SourceKey, source_of, write_order

_RUN: Final = "the evidence of a workflow run"


def collect_run(root: Path) -> Collection:
    """Collect the evidence of a workflow run from its artifact folder.

    Raises: OSError when the folder cannot be listed; anything less is a note.
    """
    collected = collect_root(root)
    return Collection(assemble(collected), _RUN, collected.notes, mask_lines=collected.mask_lines)


def collect_folder(root: Path) -> Collection:
    """Collect the evidence of a workflow run from a folder that a person points at.

    Raises: SessionFormatError for a folder that holds no such evidence; OSError.
    """
    if not is_root(root):
        reason = "holds no evidence of a workflow run"
        hint = "give the folder of a run's artifacts, or a recording's file"
        raise SessionFormatError(Problem(reason, hint=hint))
    return collect_run(root)


def in_written_order(session: Session) -> Session:
    """Order a session as version 1.8.0 of its format does; older files are ordered otherwise.

    Cost: O(n log n).
    """
    ranks: dict[SourceKey, int] = {}
    for event in session.events:
        ranks.setdefault(source_of(event), len(ranks))
    by_source = sorted(
        session.events, key=lambda event: (ranks[source_of(event)], event.provenance.index)
    )
    return Session(write_order(by_source))


def collect_files(
    files: Sequence[SourceFile],
    *,
    kind: str | None = None,
    lenient: bool = False,
    strict: bool = False,
) -> Collection:
    """Read one recording, or a unified session, as a whole session.

    Takes: `kind`, the id of the collector that is to read it whatever it looks like; `lenient` and
        `strict` as in `read_evidence`.
    Raises: SessionFormatError.
    """
    evidence = read_evidence(files, lenient=lenient, strict=strict, kind=kind)
    session = evidence.session
    if not evidence.is_unified:
        session = assemble(Collected(session.events[1:], evidence.notes))
    return Collection(
        session,
        evidence.kind,
        evidence.notes,
        evidence.problems,
        evidence.warnings,
        evidence.mask_lines,
    )
