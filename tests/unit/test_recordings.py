"""Recordings of other tools keep their numbers right."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders.collectors import SourceFile
from aw_graders.collectors.registry import COLLECTORS, detect
from aw_graders.flows.evidence import read_evidence
from aw_graders.graders import grade
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import redact


def _assistant(message_id, content=(), written=1, read=10, **row):
    usage = {
        "input_tokens": read,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": written,
    }
    message = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": list(content),
        "usage": usage,
    }
    return {
        "type": "assistant",
        "uuid": f"u-{message_id}-{written}",
        "sessionId": "s",
        "isSidechain": False,
        "message": message,
        **row,
    }


def _result(call_id, **more):
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "x", **more}
    return {
        "type": "user",
        "uuid": f"r-{call_id}",
        "sessionId": "s",
        "message": {"role": "user", "content": [block]},
    }


def _use(call_id, name="Bash", **given_):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given_}


def _read(*rows, joint=b"\n"):
    content = joint.join(
        row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows
    )
    return read_evidence([SourceFile("t.jsonl", content)], lenient=False, strict=False)


def _lookups(evidence):
    return create_session_lookups(redact(evidence.session).session)


@pytest.mark.parametrize("request_id", [None, "req_1"])
def test_a_repeated_message_id_is_one_request_with_its_largest_counts(request_id):
    more = {} if request_id is None else {"requestId": request_id}
    stats = _lookups(
        _read(_assistant("m", written=2), _assistant("m", written=417, **more), _assistant("n"))
    ).stats

    assert (stats.requests, stats.tokens.input_tokens, stats.tokens.output_tokens) == (2, 20, 418)


def test_an_interrupted_tool_is_unfinished_and_no_error_flag_is_success():
    rows = [_assistant("m", [_use("a", command="x"), _use("b", command="y")]), _result("a")]
    values = {result.id: result.value for result in grade(redact(_read(*rows).session).session)}

    assert (values["tool-success-rate"], values["tool-failure-count"]) == (0.5, 1)


def test_error_words_are_not_read_and_the_flag_is():
    rows = [
        _assistant("m", [_use("a"), _use("b", n=1)]),
        _result("a", content="Error: old"),
        _result("b", is_error=True),
    ]

    assert _lookups(_read(*rows)).stats.failed_tool_calls == 1


def test_broken_lines_are_named_and_the_rest_counts():
    evidence = _read(
        _assistant("m"),
        b"not json",
        b'{"type":"assistant","mess',
        _assistant("n"),
        b"\0\0\0",
        b"[1]",
    )

    assert evidence.partial
    assert {note.line for note in evidence.notes if note.lossy} >= {2, 3, 5}
    assert _lookups(evidence).stats.requests == 2


def test_glued_objects_blank_lines_and_crlf_are_read_without_a_note():
    glued = json.dumps(_assistant("m")).encode() + json.dumps(_assistant("n")).encode()
    evidence = _read(glued, b"", b"  ", _assistant("o"), joint=b"\r\n")

    assert not evidence.partial
    assert _lookups(evidence).stats.requests == 3


def test_a_stream_result_is_not_added_to_its_messages():
    init = {"type": "system", "subtype": "init", "session_id": "s", "model": "m-1", "tools": []}
    usage = {"input_tokens": 20, "output_tokens": 2}
    done = {
        "type": "result",
        "subtype": "success",
        "session_id": "s",
        "num_turns": 2,
        "duration_ms": 4200,
        "usage": usage,
    }
    stats = _lookups(_read(init, _assistant("m"), _assistant("n"), done)).stats

    assert (stats.requests, stats.tokens.input_tokens, stats.duration.value_ms) == (2, 20, 4200)


def test_copilot_events_give_calls_but_no_requests():
    rows = [
        {
            "type": "session.start",
            "data": {"sessionId": "s", "producer": "copilot-agent"},
            "id": "1",
            "parentId": None,
        },
        {
            "type": "tool.execution_start",
            "data": {"toolCallId": "c", "toolName": "bash", "arguments": {"command": "ls"}},
            "id": "2",
            "parentId": "1",
        },
        {
            "type": "tool.execution_complete",
            "data": {"toolCallId": "c", "success": True, "result": {"content": "a"}},
            "id": "3",
            "parentId": "2",
        },
    ]
    rows = [{**row, "timestamp": "2026-03-01T10:00:00.000Z"} for row in rows]
    lookups = _lookups(_read(*rows))

    assert (lookups.stats.tool_calls, lookups.stats.failed_tool_calls, lookups.stats.requests) == (
        1,
        0,
        None,
    )
    assert lookups.tool_calls[0].arguments == {"command": "ls"}


@given(st.binary(max_size=300))
def test_no_bytes_raise_in_a_collector(content):
    detect(content)
    for collector in COLLECTORS:
        collector.collect([SourceFile("f", content)])


@given(
    st.lists(st.integers(0, 400), max_size=6),
    st.sampled_from([b"", b"0", b"null", b"[", b'"', b"\0"]),
)
def test_mutated_rows_raise_nothing(cuts, patch):
    content = b"\n".join(
        json.dumps(row).encode()
        for row in (_assistant("m", [_use("a", x=1)]), _result("a"), _assistant("n"))
    )
    for cut in cuts:
        place = cut * 3 % len(content)
        content = content[:place] + patch + content[place + 1 :] or b"{"
    detect(content)
    for collector in COLLECTORS:
        collector.collect([SourceFile("f", content)])
