"""Reads Bash evaluators before they run: what writes a file, and what hides what it does."""

from aw_graders.analysis.bash.analyse import RULES, analyse_bash
from aw_graders.analysis.bash.source import MAX_EVALUATOR_BYTES, check_evaluator_bytes

__all__ = ["MAX_EVALUATOR_BYTES", "RULES", "analyse_bash", "check_evaluator_bytes"]
