"""Warnings on scripts: values that the runtime refuses, and zeros that nobody observed."""

import pytest

from aw_graders.analysis.javascript import analyse_javascript

_ZERO = "grader-zero-without-evidence"
_PROMISE = "grader-promise-result"
_TYPE = "grader-result-type"
_NAME = "grader-unknown-name"
_CONFIG = "grader-unused-config"
_WORD = "grader-unavailable-comparison"


def _warned(script, keys=None):
    findings = analyse_javascript(script, keys).findings
    assert {finding.severity for finding in findings} <= {"warning"}
    return [(finding.rule, finding.line, finding.column) for finding in findings]


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("return 'text';", [(_TYPE, 1, 8)]),
        ("return `x`;", [(_TYPE, 1, 8)]),
        ("return [1];", [(_TYPE, 1, 8)]),
        ("return true;", [(_TYPE, 1, 8)]),
        ("return !session;", [(_TYPE, 1, 8)]),
        ("return session.length > 1;", [(_TYPE, 1, 8)]),
        ("return NaN;", [(_TYPE, 1, 8)]),
        ("return () => 1;", [(_TYPE, 1, 8)]),
        ("return;", [(_TYPE, 1, 1)]),
        ("return {};", [(_TYPE, 1, 8)]),
        ("return {a: 1};", [(_TYPE, 1, 8)]),
        ("return {value: 'x'};", [(_TYPE, 1, 16)]),
        ("return {value: [1]};", [(_TYPE, 1, 16)]),
        ("return {value: 1, message: 'm'};", []),
        ("return null;", []),
        ("return -1.5e3;", []),
        ("return Promise.resolve(1);", [(_PROMISE, 1, 8)]),
        ("const f = async () => 1;\nreturn f();", [(_PROMISE, 1, 11)]),
        ("return session.then((x) => x);", [(_PROMISE, 1, 16)]),
        ("return nothing + 1;", [(_NAME, 1, 8)]),
        ("const nothing = 1;\nreturn nothing;", []),
        ("if (config.x === 'unavailable') return null;\nreturn 1;", [(_WORD, 1, 18)]),
        ("return 'unavailable' !== session[0].type ? 1 : null;", [(_WORD, 1, 8)]),
        (
            "const n = session.filter((e) => e.type === 'x').length;\nif (!n) return 0;\nreturn 1;",
            [(_ZERO, 2, 9)],
        ),
        (
            "const n = session.filter((e) => e.type === 'x').length;\nif (!n) return null;\nreturn 1;",
            [],
        ),
    ],
)
def test_what_misleads_is_told_at_its_place(script, found):
    assert _warned(script) == found


@pytest.mark.parametrize(
    ("script", "unused"),
    [
        ("return config.least;", ["more"]),
        ("return config['least'] + config.more;", []),
        ("const {least} = config;\nreturn least;", ["more"]),
        ("const {least, ...rest} = config;\nreturn rest.more;", []),
        ("return Object.keys(config).length;", []),
        ("return session.length;", ["least", "more"]),
    ],
)
def test_a_key_that_no_line_reads_is_named(script, unused):
    findings = analyse_javascript(script, ("least", "more")).findings

    assert [finding.rule for finding in findings] == [_CONFIG] * len(unused)
    for finding, key in zip(findings, unused, strict=True):
        assert f'"{key}"' in finding.message
