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

__all__ = [
    "Masked",
    "Redaction",
    "mask_text",
    "merge_redacted",
    "pack",
    "redact",
    "redact_observations",
    "unpack",
]
