"""Droid streams and sessions to events."""

from typing import Any

import pytest
from hypothesis import given

from aw_graders import _json
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.droid import COLLECTOR
from aw_graders.lookups import Statistics, create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import Session
from tests.strategies.damage import assert_steady, damaged, wrongly_typed

TIME = "2026-03-04T10:00:00.000Z"


def lines(*rows: Any) -> bytes:
    return b"".join(_json.compact(row) + b"\n" for row in rows)


def collect(*contents: bytes) -> Collected:
    files = [SourceFile(f"{number}.jsonl", content) for number, content in enumerate(contents)]
    return COLLECTOR.collect(files)


def data_of(collected: Collected, kind: str) -> list[Any]:
    return [event.to_json()["data"] for event in collected.events if event.type == kind]


def kinds(collected: Collected) -> list[str]:
    return [event.type for event in collected.events]


def codes(collected: Collected) -> list[tuple[str, bool]]:
    return [(note.code, note.lossy) for note in collected.notes]


def stats(collected: Collected) -> Statistics:
    return create_session_lookups(redact(Session.of(collected.events)).session).stats


def row(kind: str, **rest: Any) -> dict[str, Any]:
    return {"type": kind, "session_id": "s", "timestamp": TIME, **rest}


def call(name: str, **rest: Any) -> dict[str, Any]:
    fields = {"id": name, "toolName": "Shell", "parameters": {"command": name}}
    return row("tool_call", **{**fields, **rest})


def result(name: str | None, **rest: Any) -> dict[str, Any]:
    return row("tool_result", **({} if name is None else {"id": name}), **rest)


def message(role: str, *blocks: Any, name: str = "m") -> dict[str, Any]:
    said = {"role": role, "content": list(blocks)}
    return {"type": "message", "id": name, "timestamp": TIME, "message": said}


STREAM = lines(
    row("system", subtype="init", model="m", cwd="/w"),
    row("message", role="user", text="go", id="1"),
    row("reasoning", text="hm", id="2"),
    row("message", role="assistant", text="ok", id="3"),
    call("c1"),
    result("c1", isError=False, value="x"),
    call("c2"),
    result("c2", isError=True, error={"message": "denied"}),
    row("error", message="slow"),
    row(
        "completion",
        finalText="done",
        numTurns=2,
        durationMs=70,
        usage={
            "input_tokens": 10,
            "output_tokens": 5,
            "cache_read_input_tokens": 900,
            "cache_creation_input_tokens": 20,
        },
    ),
)
SESSION = lines(
    {"type": "session_start", "id": "s", "title": "t", "owner": "o", "cwd": "/w"},
    message("user", {"type": "text", "text": "go"}, name="1"),
    message(
        "assistant",
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "ok"},
        {"type": "tool_use", "id": "c1", "name": "Read", "input": {"p": 1}},
        {"type": "tool_use", "id": "c2", "name": "Read", "input": {"p": 2}},
        name="2",
    ),
    message(
        "user",
        {"type": "tool_result", "tool_use_id": "c1", "content": "failed: 0"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "x", "is_error": True},
        name="3",
    ),
)
SETTINGS = _json.pretty(
    {
        "model": "m",
        "tokenUsage": {
            "inputTokens": 100,
            "outputTokens": 50,
            "cacheCreationTokens": 20,
            "cacheReadTokens": 900,
            "thinkingTokens": 5,
        },
    }
)


def test_every_row_of_the_stream_becomes_its_event() -> None:
    collected = collect(STREAM)
    assert kinds(collected) == [
        "session.start",
        "user.message",
        "assistant.reasoning",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_complete",
        "tool.execution_start",
        "tool.execution_complete",
        "session.error",
        "session.task_complete",
        "session.result",
    ]
    assert data_of(collected, "session.start") == [
        {"sourceEngine": "droid", "sessionId": "s", "model": "m", "cwd": "/w"}
    ]
    assert data_of(collected, "tool.execution_start")[0] == {
        "toolCallId": "c1",
        "toolName": "Shell",
        "input": {"command": "c1"},
    }


def test_the_stream_counts_tokens_once_for_the_run() -> None:
    found = stats(collect(STREAM))
    assert (found.requests, found.tool_calls, found.failed_tool_calls) == (None, 2, 1)
    assert (found.tokens.input_tokens, found.tokens.output_tokens) == (10, 5)
    # More cached tokens than input stand beside it: 10 + 5 + 900 + 20.
    assert found.tokens.total_tokens == 935
    assert found.duration.value_ms == 70


def test_a_sessions_blocks_become_events() -> None:
    collected = collect(SESSION)
    assert kinds(collected) == [
        "session.start",
        "user.message",
        "assistant.reasoning",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_start",
        "tool.execution_complete",
        "tool.execution_complete",
    ]
    found = stats(collected)
    assert (found.tool_calls, found.successful_tool_calls, found.failed_tool_calls) == (2, 1, 1)
    assert (found.requests, found.tokens.total_tokens) == (None, None)


def test_the_settings_beside_a_session_count_its_tokens() -> None:
    collected = collect(SESSION, SETTINGS)
    assert data_of(collected, "session.result") == [
        {
            "usage": {
                "inputTokens": 100,
                "outputTokens": 50,
                "reasoningOutputTokens": 5,
                "cacheReadInputTokens": 900,
                "cacheCreationInputTokens": 20,
                "inputTokensIncludeCache": False,
            }
        }
    ]
    assert stats(collected).tokens.total_tokens == 1070


def test_where_cached_tokens_stand_is_not_said_without_evidence() -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 9}
    collected = collect(lines(row("completion", finalText="x", usage=usage)))
    assert "inputTokensIncludeCache" not in data_of(collected, "session.result")[0]["usage"]


@pytest.mark.parametrize(
    ("begun", "ended"),
    [
        (call("a", toolCallId="c"), result("b", toolCallId="c", isError=False)),
        (call("c"), result("c", isError=False)),
        (call("a", toolId="t"), result("b", toolId="t", isError=False)),
        (call("a"), result(None, toolName="Shell", isError=False)),
    ],
)
def test_a_result_is_matched_by_whatever_it_shares_with_its_call(begun: Any, ended: Any) -> None:
    found = stats(collect(lines(begun, ended)))
    assert (found.tool_calls, found.successful_tool_calls) == (1, 1)


def test_results_without_ids_close_the_oldest_call_of_their_tool() -> None:
    ended = [result(None, toolName="Shell", isError=flag) for flag in (True, False)]
    collected = collect(lines(call("c1"), call("c2"), *ended))
    assert [
        (data["toolCallId"], data["success"])
        for data in data_of(collected, "tool.execution_complete")
    ] == [("c1", False), ("c2", True)]


@pytest.mark.parametrize(
    ("fields", "success"),
    [
        ({"isError": False}, True),
        ({"isError": True}, False),
        ({"value": {"exitCode": 0}}, True),
        ({"value": {"exitCode": 2}}, False),
        ({"isError": False, "value": {"exitCode": 2}}, False),
        ({"isError": True, "value": {"exitCode": 0}}, False),
        ({"isError": False, "error": "x"}, False),
        ({"value": "error: failed"}, None),
    ],
)
def test_flags_and_exit_codes_decide_an_outcome_and_words_do_not(
    *, fields: Any, success: bool | None
) -> None:
    ended = data_of(collect(lines(call("c"), result("c", **fields))), "tool.execution_complete")
    assert ended[0].get("success") is success


def test_a_call_without_result_stays_unfinished() -> None:
    found = stats(collect(lines(call("c"))))
    assert (found.tool_calls, found.unfinished_tool_calls) == (1, 1)


def test_copies_of_rows_give_no_events() -> None:
    for files in ((SESSION, SESSION), (SESSION + SESSION,)):
        collected = collect(*files)
        assert stats(collected).tool_calls == 2
        assert ("copied-row", False) in codes(collected)


def test_what_cannot_be_used_is_noted() -> None:
    collected = collect(
        lines(
            {"type": "new"},
            {"type": "message"},
            message("user", 5, {"type": "new"}, {"type": "text"}, {"type": "tool_use"}),
            message("user", {"type": "tool_result"}),
            row("tool_result"),
        )
    )
    assert collected.events == ()
    assert codes(collected) == [
        ("call-without-id-and-name", True),
        ("content-not-an-object", True),
        ("content-not-text", True),
        ("message-without-content", True),
        ("result-without-id-and-name", True),
        ("unknown-block", False),
        ("unknown-row", False),
    ]


def test_rows_nested_to_the_limit_give_no_event_that_is_nested_deeper() -> None:
    deep: Any = 0
    for _ in range(510):
        deep = [deep]
    assert len(collect(lines(call("c", parameters=deep))).events) == 1
    collected = collect(lines(call("c", parameters=[deep])))
    assert (collected.events, codes(collected)) == ((), [("nested-too-deeply", True)])


CONTENTS = [STREAM, SESSION]


OTHERS: list[Any] = [
    {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": ""}},
    {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "cwd": "/w"},
    {"type": "result", "num_turns": 1, "duration_ms": 1, "session_id": "s"},
    {"type": "session.start", "data": {}, "timestamp": TIME, "parentId": None},
    {"type": "session_meta", "payload": {"id": "x"}, "timestamp": TIME},
    {"sessionId": "s", "projectHash": "p", "startTime": TIME, "messages": []},
    {"type": "gemini", "id": "a", "content": "", "timestamp": TIME},
    {"type": "init", "session_id": "s", "model": "m", "timestamp": TIME},
    {"type": "tool_use", "tool_id": "c", "tool_name": "t", "timestamp": TIME},
    {"type": "message", "id": "x", "message": {"role": "toolResult"}, "timestamp": TIME},
    {"type": "tool_use", "sessionID": "s", "part": {"type": "tool"}, "timestamp": 1},
    {"info": {"id": "s"}, "messages": []},
    {},
]


@pytest.mark.parametrize("row", OTHERS)
def test_other_recordings_are_not_detected(row: Any) -> None:
    assert not COLLECTOR.detect(lines(row))
    assert not COLLECTOR.detect(_json.pretty(row))


@pytest.mark.parametrize("content", CONTENTS)
def test_own_recordings_are_detected_and_unified_sessions_are_not(content: bytes) -> None:
    assert COLLECTOR.detect(content)
    assert COLLECTOR.detect(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))
    assert not COLLECTOR.detect(content + lines({"type": "a.b", "data": {}, "provenance": {}}))


@pytest.mark.parametrize("content", [b"", b"\0\0", b"\xff\xfe\x00", b"plain", b"[1]", b"null"])
def test_no_recordings_are_not_detected(content: bytes) -> None:
    assert not COLLECTOR.detect(content)
    assert collect(content).events == ()


def test_a_cut_recording_never_raises() -> None:
    for content in CONTENTS:
        for place in range(0, len(content), 7):
            collect(content[:place])
            collect(content[place:])


def test_wrong_types_anywhere_never_raise() -> None:
    for content in CONTENTS:
        for line in content.splitlines():
            for spoilt in wrongly_typed(line):
                COLLECTOR.detect(spoilt)
                stats(collect(spoilt))


@given(damaged(tuple(CONTENTS)))
def test_damaged_recordings_give_no_error(contents: tuple[bytes, ...]) -> None:
    for content in contents:
        COLLECTOR.detect(content)
        assert_steady(content, collect, stats)
