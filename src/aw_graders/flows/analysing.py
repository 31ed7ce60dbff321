"""Everything that can be said of a workflow before it runs: one engine for lint and compile."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

import msgspec

from aw_graders.analysis.bash import RULES as BASH_RULES
from aw_graders.analysis.bash import analyse_bash, check_evaluator_bytes
from aw_graders.analysis.javascript import RULES as JAVASCRIPT_RULES
from aw_graders.analysis.javascript import analyse_javascript, check_syntax_many
from aw_graders.analysis.model import Finding, ParserMissingError
from aw_graders.config.scripts import ScriptPlaces
from aw_graders.config.workflow import CustomSource, Workflow
from aw_graders.diagnostics import Diagnostic, Location, Severity, quoted

CONFIGURATION: Final = "configuration"
FILE_IO: Final = "grader-file-io"
FILE_WRITE: Final = "grader-shell-file-write"
METADATA: Final = "grader-metadata"
NOT_CHECKED: Final = "grader-not-checked"
RULES: Final = (CONFIGURATION, METADATA, *BASH_RULES, *JAVASCRIPT_RULES)
# Diagnostics of the configuration that can be left out by a name of their own.
_OWN_RULES: Final = frozenset({METADATA})


class RuleFinding(msgspec.Struct, frozen=True):
    """One diagnostic, under the rule that `--rules` selects it by."""

    rule: str
    diagnostic: Diagnostic


class Analysed(msgspec.Struct, frozen=True):
    """What was found in one workflow, in the order of files, lines and columns.

    `texts` has every text that a finding is about, by the path that is shown.
    """

    findings: tuple[RuleFinding, ...]
    texts: Mapping[str, str]


def analyse_workflow(
    workflow: Workflow, rules: Collection[str] = RULES, *, strict_coverage: bool = False
) -> Analysed:
    """Gather the diagnostics of a workflow and of all the code that it brings.

    Takes: a workflow as read; the rules that count; `strict_coverage` makes an error of what
        could not be checked.
    Raises: ParserMissingError when a Bash file is there and no Bash parser works: nothing may
        take that for approval.
    Cost: one start of Node for all scripts together, one of the Bash parser.
    """
    texts = dict(workflow.sources.texts())
    findings = [_of_configuration(item, strict=strict_coverage) for item in workflow.diagnostics]
    scripts = [item for item in workflow.custom if item.node is not None]
    for item in workflow.custom:
        if item.node is None:
            texts[item.path] = item.grader.code.decode("utf-8", "replace")
            findings += _of_evaluator(item, rules)
    findings += _of_scripts(workflow, scripts, rules, strict=strict_coverage)
    order = {path: index for index, path in enumerate(texts)}
    kept = {finding for finding in findings if finding.rule in rules}
    return Analysed(tuple(sorted(kept, key=lambda item: _place(item, order))), texts)


def _place(finding: RuleFinding, order: Mapping[str, int]) -> tuple[int, Location, str, str]:
    diagnostic = finding.diagnostic
    place = diagnostic.location
    return order.get(place.path, len(order)), place, diagnostic.code, diagnostic.message


def _of_configuration(diagnostic: Diagnostic, *, strict: bool) -> RuleFinding:
    if strict and diagnostic.code == "import-not-checked":
        diagnostic = msgspec.structs.replace(diagnostic, severity="error")
    is_own = diagnostic.code in _OWN_RULES
    return RuleFinding(diagnostic.code if is_own else CONFIGURATION, diagnostic)


def _of_evaluator(item: CustomSource, rules: Collection[str]) -> list[RuleFinding]:
    code = item.grader.code
    found = list(check_evaluator_bytes(code))
    if any(rule in rules for rule in BASH_RULES):
        found += analyse_bash(code).findings
    return [_located(finding, _in_file(item.path)) for finding in dict.fromkeys(found)]


def _in_file(path: str) -> Callable[[int, int, int], Location]:
    return lambda line, column, length: Location(path, line, column, length)


def _of_scripts(
    workflow: Workflow, scripts: list[CustomSource], rules: Collection[str], *, strict: bool
) -> Iterable[RuleFinding]:
    """Analyse the inline scripts; what could not be checked is said, and is no approval."""
    if not scripts:
        return
    severity: Severity = "error" if strict else "warning"
    texts = [item.grader.code.decode("utf-8") for item in scripts]
    syntax: tuple[tuple[Finding, ...], ...] = ((),) * len(scripts)
    if CONFIGURATION in rules:
        try:
            syntax = check_syntax_many(texts)
        except ParserMissingError as failure:
            for item in scripts:
                yield _unchecked(workflow, item, CONFIGURATION, str(failure), severity)
    wanted = any(rule in rules for rule in JAVASCRIPT_RULES)
    for item, text, faults in zip(scripts, texts, syntax, strict=True):
        found = list(faults)
        if wanted:
            analysis = analyse_javascript(text, tuple(item.grader.settings.config) or None)
            # Of what does not compile, only what is refused anyway is worth saying.
            found += [one for one in analysis.findings if not faults or one.severity == "error"]
            if analysis.not_checked is not None:
                yield _unchecked(workflow, item, FILE_IO, analysis.not_checked, severity)
        if found and item.node is not None:
            places = ScriptPlaces(item.node, workflow.sources)
            yield from (_located(finding, places.at) for finding in found)


def _located(finding: Finding, at: Callable[[int, int, int], Location]) -> RuleFinding:
    place = at(finding.line, finding.column, finding.length)
    diagnostic = Diagnostic(finding.code, finding.message, place, finding.hint, finding.severity)
    return RuleFinding(finding.rule, diagnostic)


def _unchecked(
    workflow: Workflow, item: CustomSource, rule: str, reason: str, severity: Severity
) -> RuleFinding:
    assert item.node is not None  # noqa: S101 - only inline scripts come here
    place = workflow.sources.at(*item.node.span)
    message = f"the script of grader {quoted(item.grader.id)} was not checked: {reason}"
    hint = "not checked is no approval"
    return RuleFinding(rule, Diagnostic(NOT_CHECKED, message, place, hint, severity))
