"""The way from the bytes of a script to its findings."""

from typing import Final

from aw_graders.analysis.bash import report
from aw_graders.analysis.bash.doubts import find_doubts
from aw_graders.analysis.bash.source import unreadable
from aw_graders.analysis.model import Analysis

RULES: Final = (
    report.FILE_WRITE,
    report.FETCH,
    report.CHECKOUT_SCAN,
    report.LEGACY_REQUEST,
    report.LEGACY_STDIN,
    report.UNKNOWN_COMMAND,
)


def analyse_bash(source: bytes) -> Analysis:
    """Find what a script writes, what it hides, and what its author should know.

    Takes: the bytes that will run.
    Returns: findings in the order of their places; `not_checked` is always None.
    Raises: ParserMissingError when the Bash parser does not work.
    Cost: O(length), and one child process, plus one for each different text of a trap.
    """
    faults = unreadable(source)
    if faults:
        return Analysis(faults)
    reporter = report.Reporter(source)
    for doubt in find_doubts(source):
        reporter.refuse_at(doubt.line, doubt.column, report.DYNAMIC, doubt.message, doubt.hint)
    # Parsing is what start-up must not pay for.
    from aw_graders.analysis.bash.judging import judge_script  # noqa: PLC0415
    from aw_graders.analysis.bash.parser import (  # noqa: PLC0415
        SyntaxFaultError,
        TooComplexError,
        parse,
    )
    from aw_graders.analysis.bash.tree import UnknownSyntaxError  # noqa: PLC0415

    try:
        judge_script(parse(source), source, reporter)
    except SyntaxFaultError as fault:
        message = f"this is not Bash: {fault.text}"
        hint = 'check the script with "bash -n"'
        reporter.refuse_at(fault.line, fault.column, report.SYNTAX, message, hint)
    except TooComplexError as fault:
        reporter.refuse_at(1, 1, report.TOO_COMPLEX, str(fault), "split it into smaller functions")
    except UnknownSyntaxError as fault:
        message = f"{fault.what} cannot be judged"
        hint = "write it with plainer means"
        reporter.refuse_at(fault.line, fault.column, report.DYNAMIC, message, hint)
    return Analysis(reporter.findings)
