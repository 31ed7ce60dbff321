"""OpenCode streams and exported sessions to events."""

from typing import Any

import pytest
from hypothesis import given

from aw_graders import _json
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.opencode import COLLECTOR
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


def part(kind: str, name: str, **rest: Any) -> dict[str, Any]:
    return {"id": name, "sessionID": "s", "messageID": "m1", "type": kind, **rest}


def streamed(kind: str, item: dict[str, Any], stamp: int = STAMP) -> dict[str, Any]:
    return {"type": kind, "timestamp": stamp, "sessionID": "s", "part": item}


def tool(name: str = "c", status: str = "completed", **state: Any) -> dict[str, Any]:
    fields = {"status": status, "input": {"command": name}, "output": "x", **state}
    return part("tool", f"p-{name}", callID=name, tool="bash", state=fields)


def tokens(*counts: int, **rest: int) -> dict[str, Any]:
    input_tokens, output, reasoning, read, write = counts
    cache = {"read": read, "write": write}
    return {"input": input_tokens, "output": output, "reasoning": reasoning, "cache": cache, **rest}


def finish(name: str, counts: Any) -> dict[str, Any]:
    return part("step-finish", name, reason="stop", tokens=counts)


def message(name: str, role: str, *parts: Any, **info: Any) -> dict[str, Any]:
    about = {"id": name, "sessionID": "s", "role": role, "time": {"created": STAMP}, **info}
    return {"info": about, "parts": [{**item, "messageID": name} for item in parts]}


def exported(*messages: Any, session: str = "s", **info: Any) -> bytes:
    about = {"id": session, "directory": "/w", "time": {"created": STAMP}, **info}
    return lines({"info": about, "messages": list(messages)})


STREAM = lines(
    streamed("step_start", part("step-start", "p1")),
    streamed("reasoning", part("reasoning", "p2", text="hm")),
    streamed("text", part("text", "p3", text="ok")),
    streamed("tool_use", tool("c1", time={"start": STAMP, "end": STAMP + 40}), STAMP + 41),
    streamed("tool_use", tool("c2", "error", error="denied")),
    streamed("tool_use", tool("c3", metadata={"exit": 1})),
    streamed("step_finish", finish("p4", tokens(2, 30, 0, 900, 68, total=1000))),
    streamed("step_finish", finish("p5", tokens(1, 9, 0, 990, 0, total=1000))),
    {"type": "error", "timestamp": STAMP, "sessionID": "s", "error": {"name": "E", "data": {}}},
)
SAID = message(
    "m1",
    "assistant",
    part("text", "p1", text="ok"),
    tool("c1"),
    finish("p2", tokens(2, 30, 5, 900, 68, total=1005)),
    tokens=tokens(2, 30, 5, 900, 68),
    modelID="m",
    providerID="p",
)
EXPORT = exported(message("m0", "user", part("text", "p0", text="go")), SAID)


def test_every_row_of_the_stream_becomes_its_event() -> None:
    collected = collect(STREAM)
    assert kinds(collected) == [
        "session.start",
        "assistant.reasoning",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_complete",
        "tool.execution_start",
        "tool.execution_complete",
        "tool.execution_start",
        "tool.execution_complete",
        "usage.report",
        "usage.report",
        "session.error",
    ]
    assert data_of(collected, "tool.execution_start")[0] == {
        "toolCallId": "c1",
        "toolName": "bash",
        "input": {"command": "c1"},
    }
    ended = data_of(collected, "tool.execution_complete")
    assert ended[0]["durationMs"] == 40
    assert [(end["success"], end.get("exitCode")) for end in ended] == [
        (True, None),
        (False, None),
        (False, 1),
    ]
    assert (collected.events[3].rest["timestamp"], collected.events[4].rest["timestamp"]) == (
        STAMP,
        STAMP + 40,
    )


def test_every_step_is_one_request_with_cached_tokens_beside_the_input() -> None:
    collected = collect(STREAM)
    assert data_of(collected, "usage.report")[0] == {
        "requestId": "s/p4",
        "purpose": "agent",
        "usage": {
            "inputTokens": 2,
            "outputTokens": 30,
            "reasoningOutputTokens": 0,
            "cacheReadInputTokens": 900,
            "cacheCreationInputTokens": 68,
            "totalTokens": 1000,
            "inputTokensIncludeCache": False,
        },
    }
    found = stats(collected)
    assert found.requests == 2
    # 2 + 900 + 68, and 1 + 990.
    assert (found.peak_input_tokens, found.cumulative_input_tokens) == (991, 1961)
    assert (found.tokens.input_tokens, found.tokens.output_tokens) == (3, 39)
    assert found.tokens.total_tokens == 2000
    assert (found.tool_calls, found.failed_tool_calls) == (3, 2)


def test_a_message_repeats_the_counts_of_its_steps() -> None:
    collected = collect(EXPORT)
    assert kinds(collected) == [
        "session.start",
        "user.message",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_complete",
        "usage.report",
    ]
    report = data_of(collected, "usage.report")[0]
    assert (report["requestId"], report["model"], report["provider"]) == ("s/p2", "m", "p")
    # The total counts 5 reasoning tokens beside 30 output tokens.
    assert report["usage"]["outputTokens"] == 35
    assert stats(collected).tokens.total_tokens == 1005


def test_a_message_without_steps_counts_itself() -> None:
    said = message("m1", "assistant", tokens=tokens(1, 2, 0, 3, 0, total=6), error={"name": "E"})
    collected = collect(exported(said))
    assert kinds(collected) == ["session.start", "usage.report", "session.error"]
    assert data_of(collected, "usage.report")[0]["requestId"] == "s/m1"


@pytest.mark.parametrize(
    ("counts", "output", "note"),
    [
        (tokens(1, 9, 4, 0, 0, total=14), 13, []),
        (tokens(1, 9, 4, 0, 0, total=10), 9, []),
        (tokens(1, 9, 4, 0, 0, total=99), 9, [("token-total-differs", False)]),
        (tokens(1, 9, 4, 0, 0), 9, [("reasoning-not-placed", False)]),
        (tokens(1, 9, 0, 0, 0), 9, []),
    ],
)
def test_the_total_places_reasoning_tokens(counts: Any, output: int, note: Any) -> None:
    collected = collect(lines(streamed("step_finish", finish("p", counts))))
    assert data_of(collected, "usage.report")[0]["usage"]["outputTokens"] == output
    assert codes(collected) == note


def test_a_step_of_zero_tokens_is_no_request() -> None:
    zero = streamed("step_finish", finish("p", tokens(0, 0, 0, 0, 0, total=0)))
    found = stats(collect(lines(zero)))
    assert (found.requests, found.tokens.total_tokens) == (None, None)


def test_growing_copies_and_repeated_rows_count_once_in_any_order() -> None:
    running = message("m1", "assistant", tool("c1", "running"))
    short = exported(running)
    for files in ((short, EXPORT), (EXPORT, short), (EXPORT, EXPORT), (EXPORT + EXPORT,)):
        found = stats(collect(*files))
        assert (found.requests, found.tool_calls, found.successful_tool_calls) == (1, 1, 1)
    assert stats(collect(STREAM + STREAM)).requests == 2


def test_a_forked_session_copies_its_parent_with_new_ids_and_counts_once() -> None:
    copied = {
        "info": {**SAID["info"], "id": "n1", "sessionID": "t"},
        "parts": [{**item, "id": f"n-{item['id']}", "sessionID": "t"} for item in SAID["parts"]],
    }
    more = message("n2", "assistant", tokens=tokens(1, 1, 0, 0, 0, total=2))
    found = stats(collect(EXPORT, exported(copied, more, session="t")))
    assert (found.requests, found.tool_calls, found.tokens.total_tokens) == (2, 1, 1007)


def test_a_sub_agents_session_keeps_its_id_and_its_call() -> None:
    spawning = tool("c1", metadata={"sessionId": "child"})
    child = exported(
        message("m1", "assistant", tokens=tokens(1, 1, 0, 0, 0, total=2)),
        session="child",
        parentID="s",
    )
    collected = collect(exported(message("m1", "assistant", spawning)), child)
    assert data_of(collected, "subagent.started") == [{"invocationId": "child", "toolCallId": "c1"}]
    assert data_of(collected, "usage.report")[0]["purpose"] == "subagent"
    nested = [event for event in collected.events if event.provenance.path == "1.jsonl"]
    assert {event.rest.get("agentId") for event in nested} == {"child"}


def test_a_call_that_did_not_end_stays_unfinished() -> None:
    states = [tool(status, status) for status in ("pending", "running", "new")]
    found = stats(collect(exported(message("m1", "assistant", *states))))
    assert (found.tool_calls, found.unfinished_tool_calls) == (3, 3)


def test_text_put_into_a_users_message_is_marked() -> None:
    injected = part("text", "p1", text="file", synthetic=True)
    collected = collect(exported(message("m", "user", part("text", "p0", text="go"), injected)))
    assert [data.get("channel") for data in data_of(collected, "user.message")] == [
        None,
        "injected",
    ]


def test_what_cannot_be_used_is_noted() -> None:
    items = [part("new", "p1"), part("text", "p2"), part("tool", "p3")]
    said = message("m1", "assistant", *items)
    said["parts"].append(5)
    collected = collect(exported(said, 5) + lines({"a": 1}))
    assert kinds(collected) == ["session.start"]
    assert codes(collected) == [
        ("call-without-id-and-name", True),
        ("content-not-text", True),
        ("message-without-parts", True),
        ("part-not-an-object", True),
        ("unknown-part", False),
        ("unknown-row", True),
    ]


CONTENTS = [STREAM, EXPORT]


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
