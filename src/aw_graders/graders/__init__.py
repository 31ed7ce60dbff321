"""Graders: pure measurements over the lookups of one redacted session."""

from aw_graders.graders.documents import SCHEMA_VERSION, result_entry, results_document
from aw_graders.graders.engine import Result, default_settings, grade, grade_lookups, settings_of
from aw_graders.graders.model import GraderInput, GraderSpec, Measured, Outcome, Unavailable
from aw_graders.graders.registry import BUILT_IN, DEFAULT_IDS
from aw_graders.graders.settings import GraderSettings
from aw_graders.graders.thresholds import judge

__all__ = [
    "BUILT_IN",
    "DEFAULT_IDS",
    "SCHEMA_VERSION",
    "GraderInput",
    "GraderSettings",
    "GraderSpec",
    "Measured",
    "Outcome",
    "Result",
    "Unavailable",
    "default_settings",
    "grade",
    "grade_lookups",
    "judge",
    "result_entry",
    "results_document",
    "settings_of",
]
