"""Findings in the Static Analysis Results Interchange Format, version 2.1.0."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from aw_graders import __version__
from aw_graders.diagnostics import Diagnostic
from aw_graders.flows.analysing import RuleFinding

SARIF_VERSION: Final = "2.1.0"
_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_UNRESERVED: Final = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
)
# The name under which GitHub keeps track of a finding from one commit to the next.
_FINGERPRINT: Final = "primaryLocationLineHash"


def sarif_log(
    findings: Sequence[RuleFinding], texts: Mapping[str, str], mask: Callable[[str], str]
) -> dict[str, Any]:
    """Return a log with one run, for upload to code scanning.

    Takes: findings; the texts they are about, for fingerprints that outlive moved lines; `mask`,
        which goes over every text that a file can shape.
    Raises: nothing.
    Source: SARIF 2.1.0, sections 3.14, 3.19, 3.27 and 3.49.
    """
    codes = sorted({finding.diagnostic.code for finding in findings})
    rule_of = {finding.diagnostic.code: finding.rule for finding in findings}
    index = {code: number for number, code in enumerate(codes)}
    seen: Counter[str] = Counter()
    return {
        "$schema": _SCHEMA,
        "version": SARIF_VERSION,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "aw-graders",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "rules": [_rule(code, rule_of[code]) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(finding.diagnostic, index, _line(finding.diagnostic, texts), seen, mask)
                    for finding in findings
                ],
            }
        ],
    }


def _rule(code: str, rule: str) -> dict[str, Any]:
    words = code.replace("-", " ")
    return {
        "id": code,
        "shortDescription": {"text": words[0].upper() + words[1:]},
        "help": {"text": f"See docs/errors/{code}.md"},
        "properties": {"tags": [rule]},
    }


def _line(diagnostic: Diagnostic, texts: Mapping[str, str]) -> str:
    lines = texts.get(diagnostic.location.path, "").split("\n")
    number = diagnostic.location.line
    return lines[number - 1].strip() if number <= len(lines) else ""


def _result(
    diagnostic: Diagnostic,
    index: Mapping[str, int],
    line: str,
    seen: Counter[str],
    mask: Callable[[str], str],
) -> dict[str, Any]:
    place = diagnostic.location
    text = diagnostic.message if diagnostic.hint is None else _with_hint(diagnostic)
    key = f"{diagnostic.code}\0{place.path}\0{line}"
    seen[key] += 1
    digest = hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endColumn": place.column + place.length,
    }
    location = {"artifactLocation": {"uri": _uri(place.path)}, "region": region}
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": index[diagnostic.code],
        "level": diagnostic.severity,
        "message": {"text": mask(text)},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {_FINGERPRINT: digest},
    }


def _with_hint(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.message}. Help: {diagnostic.hint}"


def _uri(path: str) -> str:
    """Spell a path as in an address: RFC 3986, section 2."""
    spelled = "".join(
        chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in path.encode()
    )
    return f"file://{spelled}" if path.startswith("/") else spelled
