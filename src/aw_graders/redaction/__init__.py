"""Removal of secrets before grading."""

from aw_graders.redaction.engine import (
    Masked,
    Redaction,
    mask_text,
    merge_redacted,
    pack,
    redact,
    redact_observations,
    unpack,
)
from aw_graders.redaction.known import (
    MIN_KNOWN_LENGTH,
    NOTHING_KNOWN,
    KnownValues,
    add_mask_values,
    known_values,
)

__all__ = [
    "MIN_KNOWN_LENGTH",
    "NOTHING_KNOWN",
    "KnownValues",
    "Masked",
    "Redaction",
    "add_mask_values",
    "known_values",
    "mask_text",
    "merge_redacted",
    "pack",
    "redact",
    "redact_observations",
    "unpack",
]
