"""All rules over one script."""

from collections.abc import Collection
from typing import Final

from aw_graders.analysis.javascript.capabilities import refuse_capabilities
from aw_graders.analysis.javascript.certainty import refuse_uncertain, uncertain_parts
from aw_graders.analysis.javascript.engine import check_syntax
from aw_graders.analysis.javascript.report import FILE_IO, Reading, Report
from aw_graders.analysis.javascript.results import RESULT_TYPE, ZERO, warn_result_type, warn_zero
from aw_graders.analysis.javascript.scopes import resolve
from aw_graders.analysis.javascript.tree import TooComplexError, parse
from aw_graders.analysis.javascript.usage import (
    PROMISE,
    UNAVAILABLE,
    UNKNOWN_NAME,
    UNUSED,
    warn_promises,
    warn_unavailable,
    warn_unknown_names,
    warn_unused_config,
)
from aw_graders.analysis.javascript.values import Values
from aw_graders.analysis.model import Analysis, Finding, ParserMissingError

RULES: Final = (FILE_IO, ZERO, PROMISE, UNUSED, UNAVAILABLE, UNKNOWN_NAME, RESULT_TYPE)

_TOO_COMPLEX: Final = Finding(
    1,
    1,
    1,
    FILE_IO,
    FILE_IO,
    "the script is too long or too tangled to be read before it runs",
    "make it shorter, and write plain JavaScript",
)
_RULES: Final = (
    refuse_capabilities,
    warn_zero,
    warn_promises,
    warn_unavailable,
    warn_unknown_names,
    warn_result_type,
)


def analyse_javascript(source: str, config_keys: Collection[str] | None = None) -> Analysis:
    """Judge the script of a custom grader, without running it.

    Takes: the text of the script, and the keys that the configuration gives it, when known.
    Returns: what is refused and what its author may not have meant, in the order of the places;
        syntax errors are not among them. `not_checked` when the parser is not installed.
    Raises: nothing.
    Cost: O(length).
    """
    try:
        script = parse(source)
    except TooComplexError:
        return Analysis((_TOO_COMPLEX,))
    except ParserMissingError as failure:
        return Analysis((), f"{failure}; install tree-sitter and tree-sitter-javascript")
    names = resolve(script)
    reading = Reading(script, names, Values(script, names))
    report = Report(script)
    for rule in _RULES:
        rule(reading, report)
    warn_unused_config(reading, report, config_keys)
    uncertain = uncertain_parts(script)
    if uncertain and _compiles(source):
        refuse_uncertain(uncertain, report)
    return Analysis(report.findings())


def _compiles(source: str) -> bool:
    """Tell whether the engine takes the script; when it cannot be asked, it may."""
    try:
        return not check_syntax(source)
    except ParserMissingError:
        return True
