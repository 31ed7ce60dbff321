"""Bash evaluators that the analysis has to let pass or refuse, one verdict each."""

import json

import pytest

from aw_graders.analysis.bash import RULES, analyse_bash
from tests.support import VECTORS

_CASES = json.loads((VECTORS / "analysis" / "bash-cases.json").read_text("utf-8"))


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["why"])
def test_a_script_gets_its_verdict(case):
    findings = analyse_bash(case["source"].encode()).findings

    refused = [finding for finding in findings if finding.severity == "error"]
    assert bool(refused) == (case["verdict"] == "reject"), refused
    assert all(finding.rule == "grader-shell-file-write" for finding in refused)


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["why"])
def test_every_finding_has_a_place_in_the_script_and_says_what_to_do(case):
    lines = case["source"].split("\n")

    for finding in analyse_bash(case["source"].encode()).findings:
        line = lines[finding.line - 1]
        assert 1 <= finding.column <= len(line) + 1
        assert finding.column - 1 + finding.length <= max(len(line), finding.column)
        assert finding.rule in RULES
        assert finding.hint


def test_each_case_is_there_once():
    assert len(_CASES) == 196
    for key in ("source", "why"):
        assert len({case[key] for case in _CASES}) == len(_CASES)
