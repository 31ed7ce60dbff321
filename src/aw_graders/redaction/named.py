"""The secret values that count for one session."""

from collections.abc import Iterable

import msgspec

from aw_graders.redaction.known import (
    NOTHING_KNOWN,
    KnownValues,
    add_mask_values,
    known_values,
    values_of_lines,
)
from aw_graders.session.model import Session


def known_in(
    session: Session, named: KnownValues | None = None, mask_lines: Iterable[str] = ()
) -> KnownValues:
    """Add the values that add-mask lines of `session` name to those that a person named.

    Takes: `mask_lines`, such lines that stand in the evidence, whether the session holds them or not.
    Returns: all values, and how many of both kinds were ignored.
    Cost: one search over the session.
    """
    found = dict.fromkeys((*add_mask_values(session), *values_of_lines(mask_lines)))
    given = NOTHING_KNOWN if named is None else named
    if not found:
        return given
    known = known_values([*given.values, *found])
    return msgspec.structs.replace(
        known, too_short=known.too_short + given.too_short, ordinary=known.ordinary + given.ordinary
    )
