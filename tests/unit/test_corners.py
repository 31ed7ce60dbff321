"""Rare answers of the parts that commands are made of: one fact each."""

from types import MappingProxyType
from typing import Any

import msgspec
import pytest

from aw_graders import _json
from aw_graders.artifacts.writer import RESULTS_FILE, write_documents
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.claude import COLLECTOR as CLAUDE
from aw_graders.collectors.copilot import COLLECTOR as COPILOT
from aw_graders.collectors.records import read_records
from aw_graders.collectors.registry import detect
from aw_graders.config import check
from aw_graders.diagnostics import Diagnostic, Location, closest, did_you_mean, render
from aw_graders.graders import BUILT_IN, default_settings, grade, result_entry
from aw_graders.lookups import RunContext
from aw_graders.reports.results import render_results
from tests.support import lines_of, redacted

_TIME = "2026-05-01T10:00:00Z"
_AGENT = {"component": "agent", "phase": "agent", "path": "p"}


# --- JSON -------------------------------------------------------------------


def test_an_integer_is_read_up_to_the_largest_double():
    assert _json.decode(b"1" * 309) == int("1" * 309)
    for text in (b"9" * 309, b"-" + b"9" * 309):
        with pytest.raises(_json.JsonError, match="too large"):
            _json.decode(text)


def test_fractions_beside_half_a_surrogate_pair_keep_their_value():
    assert _json.decode(rb'[1.5,-2e3,"\ud83d"]') == [1.5, -2000.0, "\ufffd"]


def test_a_prefix_may_fill_a_window_to_its_last_character():
    document = '{"a":"' + "x" * (4096 - len('{"a":""}')) + '"}'

    assert _json.decode_prefix(f"{document}tail", 0)[1] == len(document) == 4096


@pytest.mark.parametrize("lead", range(3700, 4100, 50))
def test_a_number_that_a_window_cuts_is_read_whole(lead):
    # The digits alone are no double; the exponent behind the cut makes them one.
    number = "1" * 400 + "e-200"
    document = f'{{"a":"{"x" * lead}","b":{number}}}'

    decoded, end = _json.decode_prefix(f"{document} tail", 0)

    assert end == len(document)
    assert decoded.value["b"] == float(number)


def test_what_holds_read_only_parts_is_thawed_at_every_depth():
    frozen = MappingProxyType({"b": (1, MappingProxyType({"c": ()}))})
    plain = {"b": [1, {"c": []}]}

    assert _json.thaw([frozen, 2]) == [plain, 2]
    assert _json.thaw({"a": [frozen]}) == {"a": [plain]}


# --- diagnostics ------------------------------------------------------------


def test_a_place_outside_the_text_shows_no_line():
    for line in (0, 2):
        diagnostic = Diagnostic("a-code", "message", Location("f.yml", line, 1), hint="act")

        assert render(diagnostic, "one line").split("\n") == [
            f"f.yml:{line}:1: error: message [a-code]",
            "  = help: act",
        ]


def test_a_long_line_is_shown_around_the_place():
    source = "a" * 200 + "HERE" + "b" * 200
    shown, mark = render(Diagnostic("c", "m", Location("f", 1, 201, 4)), source).split("\n")[2:]

    assert len(shown) == len("1 | ") + 100 + len("……")
    assert shown.startswith("1 | …a")
    assert shown.endswith("b…")
    assert shown[mark.index("^") : mark.rindex("~") + 1] == "HERE"


def test_a_word_too_long_for_a_slip_has_no_near_word():
    word = "loops" + "s" * 60

    assert closest(word, ["loops", word[:-1]]) is None
    assert did_you_mean(word, ["loops", "retries"]) == "use one of: loops, retries"


# --- graders ----------------------------------------------------------------


def test_a_grader_that_returns_no_outcome_is_an_error():
    registry = {"loops": msgspec.structs.replace(BUILT_IN["loops"], compute=lambda _: "ghp_x")}

    (result,) = grade(redacted([]), None, registry)

    assert (result.status, result.value, result.passed) == ("error", None, None)
    assert result.error == "the grader returned str, not an outcome"


def test_a_result_without_a_description_has_none_in_the_document():
    (first, *_) = default_settings()
    settings = [msgspec.structs.replace(first, description=None), first]

    without, with_one = (result_entry(result) for result in grade(redacted([]), settings))

    assert "description" not in without
    assert with_one["description"] == BUILT_IN[first.id].description


def test_safe_output_errors_are_said_beside_the_results():
    source = _AGENT | {"component": "safe_output", "phase": "safe_outputs"}
    kinds = ("safe_output.request", "safe_output.result", "safe_output.error")
    session = redacted(
        [
            {"type": kind, "data": {}, "provenance": source | {"index": index}}
            for index, kind in enumerate(kinds)
        ]
    )

    results = {result.id: result for result in grade(session)}

    assert results["artifact-production"].value == 1
    assert results["artifact-production"].details == "1 result, 1 request, 1 error"


# --- configuration ----------------------------------------------------------


@pytest.mark.parametrize("value", [".nan", "*a", "!mine 1"])
def test_a_field_that_is_no_json_has_one_diagnostic(value):
    settings, found = check(f"loops: {{threshold: {value}}}", "f.yml")

    assert settings == ()
    assert len(found) == 1


def test_a_known_key_of_config_brings_no_warning():
    settings, found = check("context-growth: {config: {inputTokens: recorded}}", "f.yml")

    assert found == []
    assert {item.id: item.config for item in settings}["context-growth"] == {
        "inputTokens": "recorded"
    }


@pytest.mark.parametrize(
    ("value", "name"),
    [("[1]", "a list"), ("{a: 1}", "a map"), ("~", "null"), ("true", "a boolean"), ("a", "text")],
)
def test_a_wrong_type_is_named_as_what_it_is(value, name):
    (found,) = check(f"loops: {{min: {value}}}", "f.yml")[1]

    assert found.message == f'"min" is a number, got {name}'


# --- reports and artifacts --------------------------------------------------


def test_a_partial_table_says_so_in_its_last_line():
    text = render_results((), RunContext(run_id="7"), partial=True)

    assert text.splitlines()[-2:] == [
        "0 graders: 0 judged, 0 passed, 0 failed, 0 unavailable, 0 errors (run 7)",
        "partial: some evidence could not be used, see the notes",
    ]


def test_a_write_that_fails_leaves_no_half_file(tmp_path):
    (tmp_path / RESULTS_FILE).mkdir()

    with pytest.raises(OSError, match=RESULTS_FILE):
        write_documents(tmp_path, {"a": 1}, {"b": 2})

    assert {path.name for path in tmp_path.iterdir()} == {RESULTS_FILE}


# --- records ----------------------------------------------------------------


def _read(content: bytes) -> tuple[list[tuple[int, Any]], list[tuple[str, int | None]]]:
    read = read_records(SourceFile("a.jsonl", content))
    return (
        [(record.line, record.value) for record in read.records],
        [(note.code, note.line) for note in read.notes],
    )


@pytest.mark.parametrize(
    ("content", "records", "notes"),
    [
        # Inside an array, a line may begin with the comma, or close the array, after a bad line.
        (
            b'[\n{"a":1},\nx\n,{"a":2}\n]\n{"a":3}\n',
            [(2, {"a": 1}), (4, {"a": 2}), (6, {"a": 3})],
            [("not-json", 3)],
        ),
        (
            b'[\n{"a":1},\nx\n]\n{"a":3}\n',
            [(2, {"a": 1}), (5, {"a": 3})],
            [("not-json", 3)],
        ),
        # An array over lines that begins with something else than an object.
        (b'[\n1,\n2\n]\n{"a":1}\n', [(5, {"a": 1})], [("not-an-object", 1)]),
        (b'[\n1,\n{"a":2}\n]\n', [(1, {"a": 2})], [("not-an-object", 1)]),
        # An array behind a record that spans lines.
        (b'{"a":\n1}\n[{"a":2}]\n', [(1, {"a": 1}), (3, {"a": 2})], []),
        # A bracket that opens nothing.
        (b'[\n}\n{"a":1}\n', [(3, {"a": 1})], [("not-json", 1), ("not-json", 2)]),
    ],
)
def test_arrays_over_lines_keep_their_objects(content, records, notes):
    assert _read(content) == (records, notes)


def _copilot(kind: str, data: Any, **rest: Any) -> bytes:
    row = {"type": kind, "data": data, "id": "e", "timestamp": _TIME, "parentId": None}
    return _json.compact({**row, **rest}) + b"\n"


def test_glued_rows_of_a_long_recording_are_recognised():
    row = _copilot("user.message", {}).strip()

    assert detect(row * 600) is COPILOT
    assert detect((row + b"\n") * 3000) is COPILOT


def test_the_head_of_a_long_file_decides_that_it_is_a_unified_session():
    head = lines_of([{"type": "a.b", "data": {}, "provenance": {**_AGENT, "index": 0}}])

    assert detect(head + _copilot("user.message", {}) * 3000) is None


# --- Copilot ----------------------------------------------------------------


def _collect(collector: Any, content: bytes) -> Collected:
    return collector.collect([SourceFile("a.jsonl", content)])


def _data_of(collected: Collected, kind: str) -> list[Any]:
    return [event.to_json()["data"] for event in collected.events if event.type == kind]


def test_rows_without_an_id_are_never_copies():
    row = _copilot("user.message", {"content": "x"}, id=None)

    assert len(_data_of(_collect(COPILOT, row * 2), "user.message")) == 2


def test_a_requested_call_keeps_only_what_was_recorded_of_it():
    requests = [{"toolCallId": "c", "mcpServerName": "files"}]
    collected = _collect(COPILOT, _copilot("assistant.message", {"toolRequests": requests}))

    assert _data_of(collected, "tool.execution_start") == [
        {"toolCallId": "c", "mcpServerName": "files"}
    ]


@pytest.mark.parametrize(("own", "expected"), [({}, True), ({"isError": False}, False)])
def test_an_error_inside_a_result_counts_unless_the_row_says_otherwise(own, expected):
    data = {"toolCallId": "c", "result": {"isError": True}, **own}
    (complete,) = _data_of(
        _collect(COPILOT, _copilot("tool.execution_complete", data)), "tool.execution_complete"
    )

    assert complete["isError"] is expected
    assert complete["output"] == {"isError": True}


@pytest.mark.parametrize("arguments", [7, None, ["a"], "[1]", "{", "plain"])
def test_arguments_that_are_no_text_of_an_object_stay_as_they_are(arguments):
    data = {"toolCallId": "c", "arguments": arguments}
    collected = _collect(COPILOT, _copilot("tool.execution_start", data))

    assert _data_of(collected, "tool.execution_start") == [{"toolCallId": "c", "input": arguments}]


# --- Claude -----------------------------------------------------------------


def _claude(**row: Any) -> bytes:
    return _json.compact({"timestamp": _TIME, **row}) + b"\n"


def _said(*content: Any, **message: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": list(content), **message}}


def test_a_block_that_is_repeated_under_one_message_id_is_said_once():
    block = {"type": "text", "text": "x"}
    content = _claude(**_said(block, id="m")) + _claude(**_said(block, id="m"), uuid="u")

    assert len(_data_of(_collect(CLAUDE, content), "assistant.message")) == 1


def test_a_call_may_lack_its_name_or_its_input():
    calls = [
        {"type": "tool_use", "id": "c1"},
        {"type": "mcp_tool_use", "id": "c2", "name": "n", "server_name": "files"},
    ]
    collected = _collect(CLAUDE, _claude(**_said(*calls)))

    assert _data_of(collected, "tool.execution_start") == [
        {"toolCallId": "c1"},
        {"toolCallId": "c2", "toolName": "n", "mcpServerName": "files"},
    ]


def test_an_error_of_the_service_may_lack_its_kind_and_status():
    row = _said({"type": "text", "text": "down"}, model="<synthetic>")
    collected = _collect(CLAUDE, _claude(**row, apiErrorStatus=True))

    assert _data_of(collected, "session.error") == [{"message": "down"}]


def test_an_error_that_the_system_reports_is_an_error_of_the_session():
    content = _claude(type="system", subtype="api_error") + _claude(type="system", subtype="other")
    collected = _collect(CLAUDE, content)

    assert [event.type for event in collected.events] == ["session.error"]
    assert _data_of(collected, "session.error") == [{"errorType": "api_error"}]


def test_a_result_row_may_hold_nothing():
    assert _data_of(_collect(CLAUDE, _claude(type="result")), "session.result") == [{}]


def test_lists_of_a_result_row_are_kept_when_they_hold_something():
    row = {"type": "result", "errors": ["e"], "permission_denials": [], "is_error": True}

    assert _data_of(_collect(CLAUDE, _claude(**row)), "session.result") == [
        {"status": "error", "errors": ["e"]}
    ]


def test_a_request_that_nothing_names_is_named_after_its_place():
    usage = {"input_tokens": 1}
    (report,) = _data_of(_collect(CLAUDE, _claude(**_said(usage=usage))), "usage.report")

    assert report["requestId"] == "a.jsonl:1"


def test_a_result_that_names_no_agent_links_none():
    call = {"type": "tool_use", "id": "c", "name": "Task", "input": {"prompt": "p"}}
    content = [{"type": "text", "text": "no agent"}, 7]
    result = {"type": "tool_result", "tool_use_id": "c", "content": content}
    collected = _collect(
        CLAUDE,
        _claude(**_said(call)) + _claude(type="user", message={"content": [result]}),
    )

    assert _data_of(collected, "subagent.started") == []


@pytest.mark.parametrize("missing", ["agent", "call"])
def test_a_progress_row_without_both_ids_links_nothing(missing):
    row = {
        "type": "progress",
        "data": {} if missing == "agent" else {"agentId": "a1"},
        **({} if missing == "call" else {"parentToolUseID": "c"}),
    }
    call = {"type": "tool_use", "id": "c", "name": "Task", "input": {}}
    own = _claude(type="user", agentId="a1", message={"content": "other"})
    collected = _collect(CLAUDE, _claude(**_said(call)) + _claude(**row) + own)

    assert _data_of(collected, "subagent.started") == []
