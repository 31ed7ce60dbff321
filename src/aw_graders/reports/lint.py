"""What linting found, as text for a terminal and as JSON."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aw_graders.diagnostics import render
from aw_graders.diagnostics.words import counted
from aw_graders.flows.analysing import RuleFinding
from aw_graders.flows.linting import count

LINT_VERSION = 1


def render_findings(findings: Sequence[RuleFinding], texts: Mapping[str, str]) -> str:
    """Spell findings with the lines they are about, an empty line between two."""
    blocks = [
        render(finding.diagnostic, texts.get(finding.diagnostic.location.path, ""))
        for finding in findings
    ]
    return "".join(f"{block}\n\n" for block in blocks)


def summary(findings: Sequence[RuleFinding], files: int) -> str:
    """Say in one line how much was found."""
    found = count(findings)
    where = counted(files, "workflow")
    if not findings:
        return f"no findings in {where}"
    return f"{counted(found.errors, 'error')}, {counted(found.warnings, 'warning')} in {where}"


def lint_document(
    findings: Sequence[RuleFinding], files: Sequence[str], mask: Callable[[str], str]
) -> dict[str, Any]:
    """Return findings as data for JSON; `mask` goes over every text that a file can shape."""
    found = count(findings)
    return {
        "version": LINT_VERSION,
        "files": list(files),
        "errors": found.errors,
        "warnings": found.warnings,
        "findings": [_row(finding, mask) for finding in findings],
    }


def _row(finding: RuleFinding, mask: Callable[[str], str]) -> dict[str, Any]:
    diagnostic = finding.diagnostic
    place = diagnostic.location
    return {
        "rule": finding.rule,
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "length": place.length,
        "message": mask(diagnostic.message),
        "hint": None if diagnostic.hint is None else mask(diagnostic.hint),
    }
