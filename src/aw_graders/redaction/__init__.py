"""Removal of secrets before grading."""

from aw_graders.redaction.engine import Masked, Redaction, mask_text, redact

__all__ = ["Masked", "Redaction", "mask_text", "redact"]
