"""A step summary and its annotations hold no markup and no command of the session's own."""

import msgspec

from aw_graders.graders import default_settings, grade
from aw_graders.lookups import RunContext
from aw_graders.redaction import redact
from aw_graders.reports.summary import MAX_SUMMARY_BYTES, annotations, render_summary
from aw_graders.session import Session, read_session
from tests.support import ROOT

_EXAMPLE = read_session((ROOT / "examples" / "workflow-run.jsonl").read_bytes()).session


def _results(session=_EXAMPLE):
    return grade(redact(session).session)


def test_a_summary_lists_every_grader_in_one_row():
    text = render_summary(_results(), RunContext(run_id="7001"), [], partial=False)

    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert text.startswith("## Graders of run 7001\n")
    assert len(rows) == 2 + 10
    assert {row.count(" | ") for row in rows} == {5}


def test_text_of_a_session_is_shown_and_never_marked_up():
    result = msgspec.structs.replace(
        _results()[0], details="<script>alert(1)</script> | ![x](http://x) `a` \n# b"
    )
    note = "p:1: <img src=x>\x1b[31m"

    text = render_summary([result], RunContext(), [note], partial=True)

    assert "<script" not in text
    assert "<img" not in text
    assert "\x1b" not in text
    assert r"\!\[x\]\(http://x\)" in text
    assert text.count("\n# b") == 0
    assert "Partial" in text


def test_a_summary_of_endless_notes_is_cut_and_says_so():
    text = render_summary(_results(), RunContext(), ["é" * 400] * 5000, partial=False)

    assert len(text.encode()) <= MAX_SUMMARY_BYTES
    assert "The rest is left out" in text.splitlines()[-1]


def test_errors_and_unavailable_graders_with_a_threshold_are_annotated():
    results = _results(Session.of([]))
    errors = [msgspec.structs.replace(results[0], status="error", error="a%b\r\n::add-mask::x")]

    lines = annotations(results)

    thresholds = [item.id for item in default_settings() if item.threshold is not None]
    assert [line.split("title=grader ")[1].split("%3A")[0] for line in lines] == thresholds
    assert annotations(errors) == [
        "::warning title=grader tool-success-rate%3A error::a%25b%0D%0A::add-mask::x"
    ]
    assert annotations(_results()) == []
