"""Removal of secrets before grading."""

from aw_graders.redaction.engine import Masked, Redaction, mask_text, mask_value, redact

__all__ = ["Masked", "Redaction", "mask_text", "mask_value", "redact"]
