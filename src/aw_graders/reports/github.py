"""Findings as workflow commands, which GitHub shows beside the lines of a pull request."""

from collections.abc import Callable, Sequence

from aw_graders.diagnostics import Diagnostic
from aw_graders.flows.analysing import RuleFinding


def github_annotations(findings: Sequence[RuleFinding], mask: Callable[[str], str]) -> str:
    """Return one command a line; a text from a file can neither end its command nor begin one."""
    return "".join(_command(finding.diagnostic, mask) for finding in findings)


def _command(diagnostic: Diagnostic, mask: Callable[[str], str]) -> str:
    place = diagnostic.location
    values = {
        "file": place.path,
        "line": str(place.line),
        "col": str(place.column),
        "endColumn": str(place.column + place.length),
        "title": diagnostic.code,
    }
    properties = ",".join(f"{name}={_property(value)}" for name, value in values.items())
    text = diagnostic.message if diagnostic.hint is None else _with_hint(diagnostic)
    return f"::{diagnostic.severity} {properties}::{_data(mask(text))}\n"


def _with_hint(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.message}\nhelp: {diagnostic.hint}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
