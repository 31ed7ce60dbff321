"""What collecting hands to redaction."""

import msgspec

from aw_graders.collectors import CollectionNote
from aw_graders.session import Problem, Session


class Collection(msgspec.Struct, frozen=True):
    """A whole session, what its evidence was taken for, and what could not be used.

    `mask_lines` are the add-mask commands of all evidence, for whoever redacts the session.
    """

    session: Session
    kind: str
    notes: tuple[CollectionNote, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    mask_lines: tuple[str, ...] = ()
