"""Pi sessions and JSON mode to events."""

from typing import Any

import pytest
from hypothesis import given

from aw_graders import _json
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.pi import COLLECTOR
from aw_graders.lookups import Statistics, create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import Session
from tests.strategies.damage import assert_steady, damaged, wrongly_typed

TIME = "2026-03-04T10:00:00.000Z"
STAMP = 1772618400000


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


def head(**rest: Any) -> dict[str, Any]:
    return {"type": "session", "id": "s", "timestamp": TIME, "cwd": "/w", **rest}


def row(message: Any, **rest: Any) -> dict[str, Any]:
    return {"type": "message", "timestamp": TIME, "message": message, **rest}


def user(text: Any, stamp: int | None = STAMP) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": stamp}


def usage(*counts: int) -> dict[str, Any]:
    names = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
    return dict(zip(names, counts, strict=True))


def answer(*blocks: Any, stamp: int = STAMP + 1, **rest: Any) -> dict[str, Any]:
    fields = {"role": "assistant", "content": list(blocks), "provider": "p", "model": "m"}
    return {**fields, "stopReason": "stop", "timestamp": stamp, **rest}


def call(name: str = "c") -> dict[str, Any]:
    return {"type": "toolCall", "id": name, "name": "bash", "arguments": {"command": name}}


def result(name: str = "c", **rest: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": "x"}]
    fields = {"role": "toolResult", "toolCallId": name, "toolName": "bash", "content": content}
    return {**fields, "isError": False, "timestamp": STAMP + 2, **rest}


FULL = lines(
    head(modelId="m"),
    row(user([{"type": "text", "text": "go"}, {"type": "image"}])),
    row(
        answer(
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "ok"},
            call("c1"),
            call("c2"),
            usage=usage(10, 5, 1000, 200, 1215),
        )
    ),
    row(result("c1")),
    row(result("c2", isError=True)),
    row(
        answer({"type": "text", "text": "done"}, stamp=STAMP + 9, usage=usage(3, 4, 1200, 0, 1207))
    ),
)


def test_every_part_of_a_session_becomes_its_event() -> None:
    collected = collect(FULL)
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
        "assistant.message",
        "usage.report",
    ]
    assert data_of(collected, "session.start") == [
        {"sourceEngine": "pi", "sessionId": "s", "model": "m", "cwd": "/w"}
    ]
    assert data_of(collected, "tool.execution_start")[0] == {
        "toolCallId": "c1",
        "toolName": "bash",
        "input": {"command": "c1"},
    }
    assert data_of(collected, "tool.execution_complete")[1] == {
        "toolCallId": "c2",
        "toolName": "bash",
        "success": False,
        "output": [{"type": "text", "text": "x"}],
    }
    assert collected.events[1].rest["timestamp"] == TIME


def test_cached_tokens_stand_beside_the_input() -> None:
    collected = collect(FULL)
    assert data_of(collected, "usage.report")[0] == {
        "requestId": "0.jsonl:3",
        "model": "m",
        "provider": "p",
        "purpose": "agent",
        "usage": {
            "inputTokens": 10,
            "outputTokens": 5,
            "cacheReadInputTokens": 1000,
            "cacheCreationInputTokens": 200,
            "totalTokens": 1215,
            "inputTokensIncludeCache": False,
        },
    }
    found = stats(collected)
    assert found.requests == 2
    # 10 + 1000 + 200, and 3 + 1200.
    assert (found.peak_input_tokens, found.cumulative_input_tokens) == (1210, 2413)
    assert (found.tokens.input_tokens, found.tokens.output_tokens) == (13, 9)
    assert found.tokens.total_tokens == 2422
    assert (found.tool_calls, found.failed_tool_calls) == (2, 1)


def test_an_answer_stopped_before_anything_was_counted_is_no_request_of_zero_tokens() -> None:
    stopped = answer(
        stopReason="aborted", errorMessage="stopped", usage=usage(0, 0, 0, 0, 0), stamp=STAMP + 20
    )
    collected = collect(FULL + lines(row(stopped)))
    assert stats(collected).requests == 2
    assert codes(collected) == [("answer-without-tokens", False)]
    assert data_of(collected, "session.error") == [{"message": "stopped", "errorType": "aborted"}]


def test_an_answer_stopped_half_way_counts_and_its_calls_stay_unfinished() -> None:
    stopped = answer(
        call("c3"), stopReason="aborted", usage=usage(1, 1, 9, 0, 11), stamp=STAMP + 20
    )
    found = stats(collect(FULL + lines(row(stopped))))
    assert (found.requests, found.tool_calls, found.unfinished_tool_calls) == (3, 3, 1)


def test_a_branched_session_copies_its_parent_and_counts_once() -> None:
    rows = [_json.decode(line) for line in FULL.splitlines()]
    # The branch begins with a head of its own; rows were given ids later.
    copied = [{**item, "id": f"n{number}"} for number, item in enumerate(rows[1:])]
    more = row(answer(stamp=STAMP + 30, usage=usage(1, 1, 0, 0, 2)), id="n9")
    branch = lines(head(id="t", branchedFrom="s.jsonl"), *copied, more)
    for files in ((FULL, branch), (FULL, FULL, branch), (FULL + branch,)):
        found = stats(collect(*files))
        assert (found.requests, found.tool_calls, found.tokens.total_tokens) == (3, 2, 2424)
    assert stats(collect(branch)).requests == 3


def test_a_branch_may_answer_a_call_of_its_parent() -> None:
    parent = lines(head(), row(answer(call())))
    branch = lines(head(id="t"), row(answer(call())), row(result()))
    found = stats(collect(parent, branch))
    assert (found.tool_calls, found.successful_tool_calls) == (1, 1)


def test_json_mode_repeats_a_message_and_counts_it_once() -> None:
    said = answer(call(), usage=usage(10, 5, 0, 0, 15))
    rows = [
        head(),
        {"type": "agent_start"},
        {"type": "message_start", "message": {**said, "content": []}},
        {"type": "message_update", "message": said},
        {"type": "message_end", "message": said},
        {"type": "tool_execution_start", "toolCallId": "c", "toolName": "bash", "args": {}},
        {"type": "tool_execution_end", "toolCallId": "c", "toolName": "bash", "isError": False},
        {"type": "message_end", "message": result()},
        {"type": "turn_end", "message": said, "toolResults": [result()]},
        {"type": "agent_end", "messages": [said, result()]},
    ]
    session = lines(head(), row(said, id="a"), row(result(), id="b"))
    for files in ((lines(*rows),), (session, lines(*rows))):
        collected = collect(*files)
        found = stats(collected)
        assert (found.requests, found.tool_calls, found.successful_tool_calls) == (1, 1, 1)
        assert found.tokens.total_tokens == 15
    assert collect(lines(*rows)).events[1].rest["timestamp"] == STAMP + 1


def test_equal_provider_ids_are_two_requests_and_a_rows_id_names_its_request() -> None:
    first = answer(usage=usage(1, 1, 0, 0, 2), responseId="r")
    second = {**first, "timestamp": STAMP + 5}
    collected = collect(lines(head(), row(first, id="a"), row(second, id="a"), row(second, id="b")))
    ids = [report["requestId"] for report in data_of(collected, "usage.report")]
    assert ids == ["a", "0.jsonl:3"]
    assert stats(collected).requests == 2


def test_rows_without_any_time_are_no_copies() -> None:
    same = {"type": "message", "message": user("yes", None)}
    assert len(data_of(collect(lines(head(), same, same)), "user.message")) == 2


def test_an_outcome_that_is_not_said_stays_unknown() -> None:
    collected = collect(lines(head(), row(answer(call())), row(result(isError=None))))
    found = stats(collected)
    assert (found.unknown_outcomes, found.failed_tool_calls) == (1, 1)


def test_what_no_model_said_or_asked_is_no_call() -> None:
    collected = collect(
        lines(
            head(),
            row({"role": "bashExecution", "command": "ls", "exitCode": 1, "timestamp": STAMP}),
            row({"role": "hookMessage", "content": "hint", "timestamp": STAMP}),
            {"type": "custom_message", "content": "hint", "timestamp": TIME},
            {"type": "compaction", "summary": "short", "timestamp": TIME, "tokensBefore": 9},
            {"type": "model_change", "modelId": "m", "timestamp": TIME},
        )
    )
    assert kinds(collected)[1:] == ["user.message", "user.message", "session.info"]
    assert {data["channel"] for data in data_of(collected, "user.message")} == {"injected"}
    assert collected.notes == ()


def test_what_cannot_be_used_is_noted() -> None:
    collected = collect(
        lines(
            head(),
            {"type": "new"},
            {"type": "message"},
            row({"role": "new", "timestamp": STAMP}),
            row(user(5)),
            row(answer(5, {"type": "new"}, {"type": "text"}, {"type": "toolCall"})),
            row({"role": "toolResult", "timestamp": STAMP}),
        )
    )
    assert kinds(collected) == ["session.start"]
    assert codes(collected) == [
        ("answer-without-tokens", False),
        ("call-without-id-and-name", True),
        ("content-not-an-object", True),
        ("content-not-text", True),
        ("message-without-content", True),
        ("result-without-id-and-name", True),
        ("row-without-message", True),
        ("unknown-block", False),
        ("unknown-role", False),
        ("unknown-row", False),
    ]


CONTENTS = [FULL, lines(row(result())), lines({"type": "message_end", "message": answer()})]


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
    {"type": "tool_use", "sessionID": "s", "part": {"type": "tool"}, "timestamp": 1},
    {"info": {"id": "s"}, "messages": []},
    {"type": "tool_call", "toolName": "t", "parameters": {}, "timestamp": TIME},
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
