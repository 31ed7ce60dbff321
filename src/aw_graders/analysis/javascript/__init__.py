"""Reads custom graders written in JavaScript; nothing here runs one."""

from aw_graders.analysis.javascript.analyse import RULES, analyse_javascript
from aw_graders.analysis.javascript.engine import check_syntax, check_syntax_many

__all__ = ["RULES", "analyse_javascript", "check_syntax", "check_syntax_many"]
