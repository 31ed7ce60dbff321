"""Session files of Gemini CLI and Qwen Code, and Gemini's stream, to events."""

from typing import Any

import pytest
from hypothesis import given

from aw_graders import _json
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.gemini import COLLECTOR
from aw_graders.lookups import Statistics, create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import Session
from tests.strategies.damage import assert_steady, damaged, wrongly_typed

TIME = "2026-03-04T10:00:00.000Z"
LATER = "2026-03-04T10:00:04.000Z"


def lines(*rows: Any) -> bytes:
    return b"".join(_json.compact(row) + b"\n" for row in rows)


def head(session: str = "s", **rest: Any) -> dict[str, Any]:
    return {"sessionId": session, "projectHash": "p", "startTime": TIME, **rest}


def user(text: Any, name: str = "u") -> dict[str, Any]:
    return {"id": name, "timestamp": TIME, "type": "user", "content": text}


def answer(name: str = "a", content: Any = "", **rest: Any) -> dict[str, Any]:
    fields = {"id": name, "timestamp": TIME, "type": "gemini", "content": content, "model": "m"}
    return {**fields, **rest}


def tokens(*counts: int) -> dict[str, int]:
    names = ("input", "output", "cached", "thoughts", "tool", "total")
    return dict(zip(names, counts, strict=True))


def call(name: str = "c", **rest: Any) -> dict[str, Any]:
    return {"id": name, "name": "ls", "args": {"p": name}, "status": "success", **rest}


def responded(**body: Any) -> list[Any]:
    return [{"functionResponse": {"id": "c", "name": "ls", "response": body}}]


def session(*messages: Any, **rest: Any) -> bytes:
    return _json.pretty({**head(**rest), "messages": list(messages)})


def qwen(kind: str, *parts: Any, uuid: str = "r", **rest: Any) -> dict[str, Any]:
    role = "model" if kind == "assistant" else "user"
    fields = {"uuid": uuid, "parentUuid": None, "sessionId": "q", "timestamp": TIME, "type": kind}
    return {**fields, "cwd": "/w", "message": {"role": role, "parts": list(parts)}, **rest}


def collect(*contents: bytes) -> Collected:
    files = [SourceFile(f"{number}.json", content) for number, content in enumerate(contents)]
    return COLLECTOR.collect(files)


def data_of(collected: Collected, kind: str) -> list[Any]:
    return [event.to_json()["data"] for event in collected.events if event.type == kind]


def kinds(collected: Collected) -> list[str]:
    return [event.type for event in collected.events]


def codes(collected: Collected) -> list[tuple[str, bool]]:
    return [(note.code, note.lossy) for note in collected.notes]


def stats(collected: Collected) -> Statistics:
    return create_session_lookups(redact(Session.of(collected.events)).session).stats


FULL = session(
    user("do it"),
    answer(
        content="on it",
        thoughts=[{"subject": "plan", "description": "look first", "timestamp": TIME}],
        tokens=tokens(1000, 200, 800, 50, 0, 1250),
        toolCalls=[
            call("c1", timestamp=LATER, result=responded(output="x")),
            call("c2", status="error", result=responded(error="no such file")),
        ],
    ),
    answer("b", "done", tokens=tokens(0, 0, 0, 0, 0, 0)),
)


def test_every_part_of_a_session_becomes_its_event() -> None:
    collected = collect(FULL)
    assert kinds(collected) == [
        "session.start",
        "user.message",
        "assistant.reasoning",
        "assistant.message",
        "usage.report",
        "tool.execution_start",
        "tool.execution_complete",
        "tool.execution_start",
        "tool.execution_complete",
        "assistant.message",
    ]
    assert data_of(collected, "session.start") == [{"sourceEngine": "gemini", "sessionId": "s"}]
    assert data_of(collected, "assistant.reasoning")[0]["content"] == "plan\nlook first"
    assert data_of(collected, "tool.execution_start")[0] == {
        "toolCallId": "c1",
        "toolName": "ls",
        "input": {"p": "c1"},
    }
    ended = data_of(collected, "tool.execution_complete")
    assert [(end["success"], end["output"]) for end in ended] == [
        (True, "x"),
        (False, {"error": "no such file"}),
    ]
    assert collected.events[6].rest["timestamp"] == LATER
    assert {event.provenance.path for event in collected.events} == {"0.json"}


def test_thoughts_are_output_and_cached_tokens_are_inside_the_input() -> None:
    collected = collect(FULL)
    assert data_of(collected, "usage.report") == [
        {
            "requestId": "s/a",
            "model": "m",
            "purpose": "agent",
            "usage": {
                "inputTokens": 1000,
                "outputTokens": 250,
                "reasoningOutputTokens": 50,
                "cacheReadInputTokens": 800,
                "totalTokens": 1250,
                "inputTokensIncludeCache": True,
            },
        }
    ]
    found = stats(collected)
    assert (found.tokens.input_tokens, found.tokens.output_tokens) == (1000, 250)
    assert found.tokens.total_tokens == 1250
    assert found.peak_input_tokens == 1000


def test_a_row_of_zero_tokens_is_no_request() -> None:
    found = stats(collect(FULL))
    assert found.requests == 1
    assert (found.tool_calls, found.failed_tool_calls) == (2, 1)


@pytest.mark.parametrize(
    ("counts", "input_tokens", "output_tokens"),
    [
        (tokens(10, 5, 0, 2, 0, 17), 10, 7),
        (tokens(10, 5, 0, 2, 0, 15), 10, 5),
        (tokens(10, 5, 0, 2, 3, 20), 13, 7),
        (tokens(10, 5, 0, 2, 3, 17), 10, 7),
        (tokens(10, 5, 0, 2, 3, 18), 13, 5),
        (tokens(10, 5, 0, 2, 3, 15), 10, 5),
        (tokens(10, 5, 0, 2, 3, 0), 13, 7),
    ],
)
def test_the_rows_own_total_places_thoughts_and_tool_prompts(
    counts: Any, input_tokens: int, output_tokens: int
) -> None:
    collected = collect(session(answer(tokens=counts)))
    usage = data_of(collected, "usage.report")[0]["usage"]
    assert (usage["inputTokens"], usage["outputTokens"]) == (input_tokens, output_tokens)
    assert collected.notes == ()


def test_a_total_that_fits_nothing_is_noted() -> None:
    collected = collect(session(answer(tokens=tokens(10, 5, 0, 2, 0, 99))))
    assert codes(collected) == [("token-total-differs", False)]


def test_more_cached_tokens_than_input_stand_beside_it() -> None:
    collected = collect(session(answer(tokens=tokens(10, 5, 90, 0, 0, 15))))
    assert data_of(collected, "usage.report")[0]["usage"]["inputTokensIncludeCache"] is False
    assert stats(collected).peak_input_tokens == 100


def test_no_tokens_are_not_zero_tokens() -> None:
    found = stats(collect(session(answer(tokens=None), answer("b"))))
    assert (found.requests, found.tokens.total_tokens) == (None, None)


def test_a_message_that_lines_repeat_counts_once_with_all_it_learned() -> None:
    first = answer(tokens=None)
    counted = answer(tokens=tokens(100, 10, 0, 0, 0, 110))
    running = answer(tokens=counted["tokens"], toolCalls=[call(status="executing")])
    ended = answer(tokens=counted["tokens"], toolCalls=[call(result=responded(output="x"))])
    collected = collect(lines(head(), user([{"text": "go"}]), first, counted, running, ended))
    found = stats(collected)
    assert (found.requests, found.tokens.total_tokens) == (1, 110)
    assert (found.tool_calls, found.successful_tool_calls) == (1, 1)
    assert collected.notes == ()


def test_growing_copies_of_one_session_count_once_in_any_order() -> None:
    begun = answer(tokens=tokens(100, 10, 0, 0, 0, 110), toolCalls=[call(status="executing")])
    ended = {**begun, "toolCalls": [call(result=responded(output="x"))]}
    more = answer("b", "done", tokens=tokens(120, 5, 100, 0, 0, 125))
    short = session(user("go"), begun)
    long = session(user("go"), ended, more)
    for files in ((short, long), (long, short), (long, long), (short, short, long)):
        found = stats(collect(*files))
        assert (found.requests, found.tokens.total_tokens) == (2, 235)
        assert (found.tool_calls, found.successful_tool_calls) == (1, 1)


def test_the_same_ids_in_two_sessions_are_two_messages() -> None:
    one = session(answer(tokens=tokens(1, 1, 0, 0, 0, 2), toolCalls=[call()]))
    other = session(answer(tokens=tokens(2, 2, 0, 0, 0, 4), toolCalls=[call()]), session="t")
    found = stats(collect(one, other))
    assert (found.requests, found.tokens.total_tokens, found.tool_calls) == (2, 6, 2)


def test_a_rewritten_history_adds_nothing_twice_and_takes_nothing_back() -> None:
    said = answer(content="long", tokens=tokens(100, 10, 0, 0, 0, 110), toolCalls=[call()])
    masked = {**said, "content": "short"}
    summary = user("summary", "n")
    update = {"$set": {"messages": [summary, masked], "lastUpdated": TIME}}
    collected = collect(lines(head(), user("go"), said, update, {"$rewindTo": "u"}))
    found = stats(collected)
    assert (found.requests, found.tool_calls) == (1, 1)
    assert [data["content"] for data in data_of(collected, "user.message")] == ["go", "summary"]
    assert data_of(collected, "assistant.message")[0]["content"] == "long"
    assert codes(collected) == [("rewound", False)]


@pytest.mark.parametrize(
    ("fields", "success"),
    [
        ({"status": "success"}, True),
        ({"status": "error"}, False),
        ({"status": "cancelled"}, False),
        ({"status": "success", "result": responded(output="failed: error")}, True),
        ({"status": "success", "result": responded(error="x")}, False),
        ({"status": "success", "result": responded(error=None, output="x")}, True),
        ({"status": None, "result": responded(output="x")}, True),
        ({"status": None, "result": responded(error="x")}, False),
    ],
)
def test_only_status_and_response_keys_decide_an_outcome(*, fields: Any, success: bool) -> None:
    ended = data_of(collect(session(answer(toolCalls=[call(**fields)]))), "tool.execution_complete")
    assert ended[0]["success"] is success


def test_an_unknown_outcome_stays_unknown_and_a_running_call_unfinished() -> None:
    unknown = call("c1", status=None, result=responded(data=1))
    running = [call(f"r{status}", status=status) for status in ("executing", "scheduled", None, 5)]
    found = stats(collect(session(answer(toolCalls=[unknown, *running]))))
    assert (found.tool_calls, found.unknown_outcomes, found.unfinished_tool_calls) == (5, 1, 4)


def test_a_call_without_id_counts_each_time() -> None:
    nameless = {"name": "ls", "args": {}, "status": "success"}
    collected = collect(session(answer(toolCalls=[nameless, nameless, {"status": "success"}])))
    assert stats(collected).tool_calls == 2
    assert codes(collected) == [("call-without-id-and-name", True)]


def test_a_sub_agents_session_keeps_its_id_and_its_call() -> None:
    parent = session(answer(toolCalls=[call("c1", agentId="child")]))
    child = lines(
        head("child", kind="subagent"), answer(tokens=tokens(5, 5, 0, 0, 0, 10), toolCalls=[call()])
    )
    collected = collect(parent, child)
    assert data_of(collected, "subagent.started") == [{"invocationId": "child", "toolCallId": "c1"}]
    nested = [event for event in collected.events if event.provenance.path == "1.json"]
    assert {event.rest.get("agentId") for event in nested} == {"child"}
    assert data_of(collected, "usage.report")[0]["purpose"] == "subagent"


def test_messages_of_the_tool_itself() -> None:
    notices = [
        {"id": kind, "timestamp": TIME, "type": kind, "content": kind}
        for kind in ("info", "warning", "error")
    ]
    collected = collect(session(*notices))
    assert kinds(collected) == ["session.start", "session.info", "session.info", "session.error"]


def test_a_users_turn_of_tool_results_alone_is_no_message() -> None:
    collected = collect(session(user(responded(output="x")), user(["a", {"text": "b"}], "v")))
    assert [data["content"] for data in data_of(collected, "user.message")] == ["ab"]


def test_pretty_printed_and_in_one_line_are_the_same() -> None:
    assert collect(FULL).events == collect(_json.compact(_json.decode(FULL))).events


QWEN = lines(
    qwen("user", {"text": "go"}, uuid="1"),
    qwen(
        "assistant",
        {"text": "hm", "thought": True},
        {"text": "ok"},
        {"functionCall": {"id": "c1", "name": "ls", "args": {"p": 1}}},
        {"functionCall": {"id": "c2", "name": "ls", "args": {"p": 2}}},
        uuid="2",
        model="qm",
        usageMetadata={
            "promptTokenCount": 100,
            "candidatesTokenCount": 20,
            "cachedContentTokenCount": 60,
            "thoughtsTokenCount": 5,
            "totalTokenCount": 120,
        },
    ),
    {
        "uuid": "3",
        "sessionId": "q",
        "type": "system",
        "subtype": "ui_telemetry",
        "systemPayload": {"uiEvent": {"input_token_count": 100, "total_token_count": 120}},
    },
    qwen(
        "tool_result",
        {"functionResponse": {"id": "c1", "name": "ls", "response": {"output": "x"}}},
        uuid="4",
        toolCallResult={"callId": "c1", "status": "success"},
    ),
    qwen(
        "tool_result",
        {"functionResponse": {"id": "c2", "name": "ls", "response": {}}},
        uuid="5",
        toolCallResult={"callId": "c2", "status": "error", "error": {}},
    ),
)


def test_qwen_rows_become_events_and_telemetry_is_not_added() -> None:
    collected = collect(QWEN)
    assert kinds(collected) == [
        "session.start",
        "user.message",
        "assistant.reasoning",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_start",
        "usage.report",
        "tool.execution_complete",
        "tool.execution_complete",
    ]
    found = stats(collected)
    assert (found.requests, found.tool_calls, found.failed_tool_calls) == (1, 2, 1)
    assert (found.tokens.input_tokens, found.tokens.output_tokens) == (100, 20)
    assert found.tokens.total_tokens == 120
    assert found.peak_input_tokens == 100


def test_a_qwen_branch_copies_its_parent_and_counts_once() -> None:
    rows = [_json.decode(line) for line in QWEN.splitlines()]
    forked = [{"sessionId": "q", "messageUuid": row["uuid"]} for row in rows]
    branch = [
        {**row, "sessionId": "q2", "parentUuid": "9", "forkedFrom": origin}
        for row, origin in zip(rows, forked, strict=True)
    ]
    more = qwen(
        "assistant",
        {"text": "more"},
        uuid="8",
        sessionId="q2",
        usageMetadata={"promptTokenCount": 7, "candidatesTokenCount": 1, "totalTokenCount": 8},
    )
    found = stats(collect(QWEN, lines(*branch, more)))
    assert (found.requests, found.tool_calls, found.tokens.total_tokens) == (2, 2, 128)


def test_qwen_rows_of_a_sub_agent_and_injected_rows() -> None:
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 1, "totalTokenCount": 8}
    collected = collect(
        lines(
            qwen("assistant", uuid="1", agentId="e", isSidechain=True, usageMetadata=usage),
            qwen("user", {"text": "job ended"}, uuid="2", subtype="notification"),
        )
    )
    assert data_of(collected, "usage.report")[0]["purpose"] == "subagent"
    assert collected.events[0].rest["agentId"] == "e"
    assert data_of(collected, "user.message")[0]["channel"] == "injected"


STREAM = lines(
    {"type": "init", "timestamp": TIME, "session_id": "s", "model": "m"},
    {"type": "message", "timestamp": TIME, "role": "user", "content": "go"},
    {"type": "message", "timestamp": TIME, "role": "assistant", "content": "o", "delta": True},
    {"type": "message", "timestamp": TIME, "role": "assistant", "content": "k", "delta": True},
    {"type": "tool_use", "timestamp": TIME, "tool_name": "ls", "tool_id": "c", "parameters": {}},
    {"type": "tool_result", "timestamp": TIME, "tool_id": "c", "status": "success", "output": "x"},
    {"type": "tool_use", "timestamp": TIME, "tool_name": "ls", "tool_id": "d", "parameters": {}},
    {"type": "tool_result", "timestamp": TIME, "tool_id": "d", "status": "error", "error": {}},
    {"type": "error", "timestamp": TIME, "severity": "warning", "message": "slow"},
    {
        "type": "result",
        "timestamp": TIME,
        "status": "success",
        "stats": {
            "total_tokens": 130,
            "input_tokens": 100,
            "output_tokens": 20,
            "cached": 60,
            "input": 40,
            "duration_ms": 9,
            "tool_calls": 2,
        },
    },
)


def test_the_stream_counts_tokens_once_for_the_run() -> None:
    collected = collect(STREAM)
    assert data_of(collected, "assistant.message") == [{"content": "ok"}]
    found = stats(collected)
    assert (found.requests, found.tool_calls, found.failed_tool_calls) == (None, 2, 1)
    assert (found.tokens.input_tokens, found.tokens.total_tokens) == (100, 130)
    assert found.duration.value_ms == 9


def test_an_answer_that_ends_the_stream_is_kept() -> None:
    collected = collect(b"\n".join(STREAM.splitlines()[:4]))
    assert data_of(collected, "assistant.message") == [{"content": "ok"}]


@pytest.mark.parametrize("content", [FULL, QWEN, STREAM, lines(head()), session()])
def test_own_recordings_are_detected(content: bytes) -> None:
    assert COLLECTOR.detect(content)
    assert COLLECTOR.detect(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))


@pytest.mark.parametrize(
    "row",
    [
        {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": ""}},
        {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "cwd": "/w"},
        {"type": "result", "num_turns": 1, "duration_ms": 1, "session_id": "s"},
        {"type": "session.start", "data": {}, "timestamp": TIME, "parentId": None},
        {"type": "session_meta", "payload": {"id": "x"}, "timestamp": TIME},
        {"type": "session", "id": "x", "timestamp": TIME, "cwd": "/w"},
        {"type": "message", "id": "x", "message": {"role": "toolResult"}, "timestamp": TIME},
        {"type": "tool_use", "sessionID": "s", "part": {"type": "tool"}, "timestamp": 1},
        {"type": "tool_call", "toolName": "t", "parameters": {}, "timestamp": TIME},
        {"info": {"id": "s"}, "messages": []},
        {"sessionId": "s", "history": [], "title": "t"},
        {"sessionId": "s", "messages": [{"role": "user"}], "startTime": TIME},
        {**head(), "messages": [], "provenance": {}},
        {"type": ["gemini"], "messages": 5, "sessionId": "s", "projectHash": []},
        {},
    ],
)
def test_other_recordings_are_not_detected(row: Any) -> None:
    assert not COLLECTOR.detect(lines(row))
    assert not COLLECTOR.detect(_json.pretty(row))


@pytest.mark.parametrize("content", [b"", b"\0\0", b"\xff\xfe\x00", b"plain", b"[1]", b"null"])
def test_no_recordings_are_not_detected(content: bytes) -> None:
    assert not COLLECTOR.detect(content)
    assert collect(content).events == ()


def test_rows_that_cannot_be_used_are_noted() -> None:
    collected = collect(lines(head(), {"a": 1}, {"type": "x"}, {"$set": {"messages": [5]}}))
    assert codes(collected) == [("unknown-message", True), ("unknown-row", True)]
    assert (collected.notes[0].line, collected.notes[1].line) == (3, 2)


def test_a_cut_recording_never_raises() -> None:
    for content in (FULL, QWEN, STREAM):
        for place in range(0, len(content), 7):
            collect(content[:place])
            collect(content[place:])


def test_wrong_types_anywhere_never_raise() -> None:
    for content in (FULL, QWEN, STREAM, lines(head(), answer(toolCalls=[call()]))):
        for line in lines_of(content):
            for spoilt in wrongly_typed(line):
                COLLECTOR.detect(spoilt)
                stats(collect(spoilt))


def lines_of(content: bytes) -> list[bytes]:
    return [content] if content is FULL else content.splitlines()


def test_rows_nested_to_the_limit_give_no_event_that_is_nested_deeper() -> None:
    deep: Any = 0
    for _ in range(510):
        deep = [deep]
    row = {"type": "tool_use", "timestamp": TIME, "tool_name": "n", "tool_id": "c"}
    fits, too_deep = {**row, "parameters": deep}, {**row, "parameters": [deep]}
    assert len(collect(lines(fits)).events) == 1
    collected = collect(lines(too_deep))
    assert (collected.events, codes(collected)) == ((), [("nested-too-deeply", True)])


@given(damaged((FULL, QWEN, STREAM)))
def test_damaged_recordings_give_no_error(contents: tuple[bytes, ...]) -> None:
    for content in contents:
        COLLECTOR.detect(content)
        assert_steady(content, collect, stats)
