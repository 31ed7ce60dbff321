"""Inspect logs, their archives and their samples to events."""

import io
import json
import struct
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders._json import pretty
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.inspect_ai import COLLECTOR, archive, texts
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import Session

MODEL = "provider/m"


def stamp(second: float) -> str:
    return f"2026-05-01T10:00:{second:06.3f}+00:00"


def asked(call_id: str, name: str = "bash", **arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "function": name, "arguments": arguments, "type": "function"}


def model(uuid: str, at: float, usage: Any = (), **more: Any) -> dict[str, Any]:
    message = {"id": f"m-{uuid}", "role": "assistant", "content": more.pop("content", "ok")}
    if "calls" in more:
        message["tool_calls"] = more.pop("calls")
    output: dict[str, Any] = {"model": "m-dated", "choices": [{"message": message}]}
    if usage:
        names = ("input_tokens", "output_tokens", "total_tokens", "input_tokens_cache_read")
        output["usage"] = dict(zip(names, usage, strict=False))
    event = {
        "uuid": uuid,
        "event": "model",
        "model": MODEL,
        "timestamp": stamp(at),
        "completed": stamp(at + 1),
        "output": output,
        **more,
    }
    return {key: value for key, value in event.items() if value is not None}


def tool(call_id: str, at: float, name: str = "bash", **more: Any) -> dict[str, Any]:
    event = {
        "event": "tool",
        "id": call_id,
        "function": name,
        "arguments": {"cmd": "ls"},
        "result": "out",
        "timestamp": stamp(at),
        "completed": stamp(at + 1),
        **more,
    }
    return {key: value for key, value in event.items() if value is not None}


def begin(span: str, kind: str, parent: str | None = None, name: str = "n") -> dict[str, Any]:
    return {"event": "span_begin", "id": span, "type": kind, "parent_id": parent, "name": name}


def sample(*events: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": 1,
        "epoch": 1,
        "uuid": "s1",
        "input": "do",
        "target": "x",
        "messages": [{"role": "user", "content": "do"}, {"role": "assistant", "content": "ok"}],
        "events": list(events),
        **more,
    }


def log(*samples: Any, **more: Any) -> bytes:
    head = {"version": 2, "status": "success", "eval": {"model": MODEL}, "plan": {}}
    return json.dumps({**head, **more, "samples": list(samples)}).encode()


def packed(*samples: Any, method: int = zipfile.ZIP_DEFLATED, **entries: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        file.writestr("_journal/start.json", json.dumps({"version": 2, "eval": {"model": MODEL}}))
        for number, item in enumerate(samples, 1):
            content = item if isinstance(item, bytes) else json.dumps(item).encode()
            file.writestr(f"samples/{number}_epoch_1.json", content)
        for name, content in entries.items():
            file.writestr(f"samples/{name}.json", content)
    return buffer.getvalue()


def collect(*contents: bytes) -> Collected:
    return COLLECTOR.collect(
        [SourceFile(f"{number}.json", content) for number, content in enumerate(contents)]
    )


def stats_of(*contents: bytes):
    session = Session.of(collect(*contents).events)
    return create_session_lookups(redact(session).session).stats


def data_of(collected: Collected, kind: str) -> list[Any]:
    return [event.to_json()["data"] for event in collected.events if event.type == kind]


def codes(collected: Collected) -> list[tuple[str, bool]]:
    return [(note.code, note.lossy) for note in collected.notes]


RUN = (
    model("u1", 1, (100, 10, 110), calls=[asked("c1", cmd="ls")]),
    tool("c1", 2),
    model("u2", 4, (200, 20, 220)),
)
ONE = sample(*RUN)


# --- detection ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        log(ONE),
        b"\xef\xbb\xbf" + log(ONE),
        pretty(json.loads(log(ONE))),
        json.dumps(dict(reversed(json.loads(log(ONE)).items()))).encode(),
        json.dumps(ONE).encode(),
        pretty(ONE),
        packed(ONE),
        packed(ONE)[:-30],
        log(ONE)[:100],
    ],
)
def test_logs_archives_and_samples_are_taken(content: bytes) -> None:
    assert COLLECTOR.detect(content)


def other_archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("usage/aw_session.jsonl", "{}")
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\x01\xff",
        b"{}",
        b"[]",
        b"PK\x03\x04",
        other_archive(),
        json.dumps({"version": 1, "status": "x", "eval": 1, "samples": []}).encode(),
        json.dumps({"id": 1, "epoch": 1, "target": 1, "messages": "x", "input": 1}).encode(),
        json.dumps({**ONE, "provenance": {"component": "agent"}}).encode(),
        json.dumps({"text": log(ONE).decode()}).encode(),
        json.dumps({"type": "user", "uuid": "u", "message": {"content": "x"}}).encode(),
        json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": []}]}).encode(),
        b'{"type":"session.format","data":{"version":1},"provenance":{"component":"collector"}}\n'
        + json.dumps({"type": "x.y", "data": json.loads(log(ONE)), "provenance": {}}).encode(),
    ],
)
def test_anything_else_is_not_taken(content: bytes) -> None:
    assert not COLLECTOR.detect(content)


# --- one sample is one session -----------------------------------------------------------------


def test_the_only_sample_of_a_log_an_archive_or_a_file_is_the_session() -> None:
    expected = collect(log(ONE))
    assert [event.type for event in expected.events] == [
        "session.start",
        "user.message",
        "usage.report",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_complete",
        "usage.report",
        "assistant.message",
    ]
    assert data_of(expected, "session.start") == [
        {"sourceEngine": "inspect_ai", "sessionId": "s1", "model": MODEL}
    ]
    for content in (packed(ONE), json.dumps(ONE).encode(), packed(ONE, method=zipfile.ZIP_STORED)):
        assert collect(content) == expected


@pytest.mark.parametrize("content", [log(ONE, ONE, ONE), packed(ONE, ONE, ONE)])
def test_several_samples_are_refused_and_counted(content: bytes) -> None:
    collected = collect(content)
    assert collected.events == ()
    assert codes(collected) == [("several-samples", True)]
    assert "3 samples" in collected.notes[0].message


def test_samples_of_several_files_are_not_mixed() -> None:
    collected = collect(log(ONE), packed(ONE))
    assert collected.events == ()
    assert codes(collected) == [("several-samples", True)]
    assert "2 samples" in collected.notes[0].message


@pytest.mark.parametrize("content", [log(), packed(), b"{}", b"", log()[:50]])
def test_a_log_without_a_sample_says_so(content: bytes) -> None:
    collected = collect(content)
    assert collected.events == ()
    assert ("no-sample", True) in codes(collected)
    assert COLLECTOR.collect([]) == Collected(())


def test_a_sample_that_is_no_object_is_noted() -> None:
    assert codes(collect(log(None, ONE))) == [("sample-not-an-object", True)]


def test_a_sample_without_an_id_of_its_own_is_named_by_place_and_epoch() -> None:
    item = {key: value for key, value in ONE.items() if key != "uuid"}
    assert data_of(collect(log(item)), "session.start")[0]["sessionId"] == "1_epoch_1"


# --- requests and tokens -----------------------------------------------------------------------


def test_every_model_event_is_one_request() -> None:
    stats = stats_of(log(ONE))
    assert (stats.requests, stats.tokens.input_tokens, stats.tokens.output_tokens) == (2, 300, 30)
    assert (stats.peak_input_tokens, stats.first_request_tokens) == (200, 110)
    assert (stats.tool_calls, stats.successful_tool_calls) == (1, 1)
    assert (stats.duration.value_ms, stats.duration.source) == (4000, "span")


def test_the_totals_of_a_sample_do_not_count_beside_its_requests() -> None:
    item = {**ONE, "model_usage": {MODEL: {"input_tokens": 999}}, "total_time": 60.0}
    stats = stats_of(log(item))
    assert (stats.tokens.input_tokens, stats.duration.value_ms) == (300, 4000)


@pytest.mark.parametrize(
    "scoring",
    [
        [begin("p", "scorers"), begin("q", "scorer", "p"), begin("r", "tool", "q")],
        [begin("r", "scorer")],
    ],
)
def test_requests_of_scorers_are_not_the_agents(scoring: list[Any]) -> None:
    judge = model("u3", 8, (5000, 1, 5001), span_id="r", calls=[asked("j1")])
    collected = collect(log(sample(*RUN, *scoring, judge, tool("j1", 9, span_id="r"))))
    assert codes(collected) == [("scorer-work", False)]
    stats = stats_of(log(sample(*RUN, *scoring, judge)))
    assert (stats.requests, stats.tokens.input_tokens, stats.tool_calls) == (2, 300, 1)
    assert stats.duration.value_ms == 4000


def test_requests_within_scorer_steps_of_older_logs_are_not_the_agents() -> None:
    steps = [
        {"event": "step", "action": action, "type": kind}
        for action, kind in [("begin", "scorer"), ("end", "scorer"), ("begin", "solver")]
    ]
    events = [steps[0], model("u0", 0, (9, 9, 18)), steps[1], steps[2], *RUN]
    assert stats_of(log(sample(*events))).requests == 2


@pytest.mark.parametrize(
    ("usage", "included", "read"),
    [
        ((100, 10, 110, 40), True, 100),
        ((100, 10, 150, 40), False, 140),
        ((30, 10, 80, 40), False, 70),
        ((30, 10, 40, 40), False, 70),
        ((100, 10, 999, 40), None, 100),
        ((100, 10, None, 40), None, 100),
        ((100, 10, 110, 0), None, 100),
    ],
)
def test_the_sums_of_a_request_say_whether_cached_tokens_are_inside_its_input(
    usage: Any, included: Any, read: int
) -> None:
    content = log(sample(model("u1", 1, usage)))
    reported = data_of(collect(content), "usage.report")[0]["usage"]
    assert reported.get("inputTokensIncludeCache") is included
    assert stats_of(content).peak_input_tokens == read


def test_requests_that_do_not_say_it_follow_those_of_the_same_model_that_do() -> None:
    events = [
        model("u1", 1, (100, 10, 150, 40)),
        model("u2", 3, (100, 10, None, 40)),
        model("u3", 5, (100, 10, None, 40), model="other"),
    ]
    reports = data_of(collect(log(sample(*events))), "usage.report")
    flags = [report["usage"].get("inputTokensIncludeCache") for report in reports]
    assert flags == [False, False, None]


def test_thinking_beside_the_output_does_not_hide_where_the_cache_is() -> None:
    event = model("u1", 1, (100, 10, 117, 40))
    event["output"]["usage"]["reasoning_tokens"] = 7
    usage = data_of(collect(log(sample(event))), "usage.report")[0]["usage"]
    assert (usage["inputTokensIncludeCache"], usage["reasoningOutputTokens"]) == (True, 7)
    event["output"]["usage"]["reasoning_tokens"] = 40
    event["output"]["usage"]["total_tokens"] = 150
    usage = data_of(collect(log(sample(event))), "usage.report")[0]["usage"]
    assert "inputTokensIncludeCache" not in usage


def test_an_answer_from_the_cache_of_the_log_is_no_request() -> None:
    collected = collect(log(sample(*RUN, model("u3", 6, (100, 10, 110), cache="read"))))
    assert codes(collected) == [("answer-from-cache", False)]
    assert len(data_of(collected, "usage.report")) == 2
    assert len(data_of(collected, "assistant.message")) == 3


def test_a_request_that_failed_or_has_no_counts_is_a_request() -> None:
    failed = {**model("u3", 6, error="refused"), "output": {"choices": []}}
    collected = collect(log(sample(*RUN, failed, model("u4", 8))))
    assert [report["usage"] is None for report in data_of(collected, "usage.report")] == [
        False,
        False,
        True,
        True,
    ]
    assert data_of(collected, "session.error") == [{"message": "refused"}]
    assert stats_of(log(sample(*RUN, failed))).requests == 3


def test_an_event_written_again_under_its_id_counts_once_as_written_last() -> None:
    pending = {**RUN[0], "pending": True, "output": {}}
    stats = stats_of(log(sample(pending, *RUN)))
    assert (stats.requests, stats.tokens.input_tokens) == (2, 300)


def test_requests_of_older_logs_without_ids_are_told_apart_by_place() -> None:
    events = [{key: value for key, value in event.items() if key != "uuid"} for event in RUN]
    assert stats_of(log(sample(*events))).requests == 2


def test_a_sample_without_events_has_its_totals_and_no_requests() -> None:
    usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
    cached = {**usage, "total_tokens": 130, "input_tokens_cache_read": 20}
    item = {
        **sample(model_usage={MODEL: usage, "other": cached}, total_time=12.345),
        "messages": [
            {"role": "user", "content": "do"},
            {"role": "assistant", "content": "a", "tool_calls": [asked("c1"), asked("c2"), None]},
            {"role": "tool", "tool_call_id": "c1", "function": "bash", "content": "out"},
        ],
    }
    stats = stats_of(log(item))
    assert (stats.requests, stats.peak_input_tokens) == (None, None)
    assert (stats.tokens.input_tokens, stats.tokens.output_tokens) == (200, 20)
    assert (stats.duration.value_ms, stats.duration.source) == (12_345, "session")
    assert (stats.tool_calls, stats.successful_tool_calls, stats.unfinished_tool_calls) == (2, 1, 1)
    result = data_of(collect(log(item)), "session.result")[0]
    assert result["usage"]["inputTokensIncludeCache"] is False


# --- calls -------------------------------------------------------------------------------------


def test_a_call_has_its_arguments_and_result() -> None:
    collected = collect(log(ONE))
    assert data_of(collected, "tool.execution_start") == [
        {"toolCallId": "c1", "toolName": "bash", "input": {"cmd": "ls"}}
    ]
    assert data_of(collected, "tool.execution_complete") == [
        {"toolCallId": "c1", "toolName": "bash", "success": True, "output": "out"}
    ]


def test_calls_fail_by_recorded_errors_and_never_by_words() -> None:
    events = [
        tool("c1", 1, error={"type": "timeout", "message": "late"}),
        tool("c2", 2, failed=True),
        tool("c3", 3, result="Error: failed, exit code 1"),
        tool("c4", 4, pending=True),
        tool("c5", 5, completed=None, result=""),
        tool("c6", 6, completed=None, result="out"),
        tool("c7", 7, completed=None, error={"type": "parsing", "message": "bad"}),
    ]
    stats = stats_of(log(sample(*events)))
    assert (stats.tool_calls, stats.successful_tool_calls) == (7, 2)
    assert (stats.failed_tool_calls, stats.unfinished_tool_calls) == (5, 2)


def test_a_call_that_was_asked_for_and_never_made_is_unfinished() -> None:
    stats = stats_of(log(sample(*RUN, model("u3", 6, calls=[asked("c2"), asked("c1")]))))
    assert (stats.tool_calls, stats.unfinished_tool_calls) == (3, 2)


def test_a_call_that_only_messages_show_ended_there() -> None:
    answer = {"role": "tool", "tool_call_id": "c1", "content": "x", "error": {"type": "unknown"}}
    item = {**sample(RUN[0]), "messages": [answer]}
    stats = stats_of(log(item))
    assert (stats.tool_calls, stats.failed_tool_calls, stats.unfinished_tool_calls) == (1, 1, 0)


def test_results_without_calls_are_calls_of_their_own() -> None:
    answers = [
        {"role": "tool", "tool_call_id": f"c{n}", "function": "bash", "content": "", "error": {}}
        for n in range(3)
    ]
    stats = stats_of(log({**sample(), "messages": answers}))
    assert (stats.tool_calls, stats.failed_tool_calls) == (3, 3)


def test_one_id_used_again_is_another_call() -> None:
    events = [model("u1", 1, calls=[asked("c")]), tool("c", 2), model("u2", 4, calls=[asked("c")])]
    stats = stats_of(log(sample(*events, tool("c", 5, error={"type": "x"}))))
    assert (stats.tool_calls, stats.successful_tool_calls, stats.failed_tool_calls) == (2, 1, 1)


def test_calls_of_the_provider_stand_in_the_answer() -> None:
    part = {"type": "tool_use", "id": "w1", "name": "web_search", "arguments": "{}", "result": "r"}
    content = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "reasoning", "reasoning": "cipher", "redacted": True},
        part,
        {**part, "id": "w2", "error": "no"},
        {"type": "text", "text": "said"},
    ]
    item = sample(model("u1", 1, content=content))
    stats = stats_of(log(item))
    assert (stats.tool_calls, stats.successful_tool_calls, stats.failed_tool_calls) == (2, 1, 1)
    assert data_of(collect(log(item)), "assistant.reasoning") == [{"content": "hm"}]
    assert data_of(collect(log(item)), "assistant.message") == [{"content": "said"}]


def test_a_call_without_id_and_name_is_skipped() -> None:
    broken = {**tool("", 1), "function": None}
    assert codes(collect(log(sample(broken)))) == [("call-without-id-and-name", True)]


def test_sub_agents_are_linked_and_end_before_their_call() -> None:
    spans = [
        begin("root", "agent"),
        begin("t", "tool", "root"),
        begin("sub", "agent", "t", "helper"),
    ]
    events = [
        *spans,
        model("u1", 1, (100, 10, 110), span_id="root", calls=[asked("c1")]),
        tool("c1", 2, span_id="root", agent_span_id="sub", completed=stamp(9)),
        model("u2", 3, (50, 5, 55), span_id="sub", calls=[asked("c2")]),
        tool("c2", 5, span_id="sub"),
        model("u3", 10, (200, 20, 220), span_id="root"),
    ]
    collected = collect(log(sample(*events)))
    assert data_of(collected, "subagent.started") == [
        {"invocationId": "sub", "agentName": "helper", "toolCallId": "c1"}
    ]
    done = [data["toolCallId"] for data in data_of(collected, "tool.execution_complete")]
    assert done == ["c2", "c1"]
    assert [dict(event.rest).get("agentId") for event in collected.events].count("sub") == 5
    stats = stats_of(log(sample(*events)))
    assert (stats.requests, stats.tokens.input_tokens, stats.tool_calls) == (3, 350, 2)


def test_events_nested_in_calls_of_older_logs_count_once() -> None:
    inner = [model("u2", 3, (50, 5, 55)), {"event": "subtask", "events": [tool("c2", 4)]}]
    events = [RUN[0], tool("c1", 2, events=inner), RUN[2]]
    stats = stats_of(log(sample(*events)))
    assert (stats.requests, stats.tool_calls) == (2, 2)
    collected = collect(log(sample(*events)))
    parents = [dict(event.rest).get("parentToolCallId") for event in collected.events]
    assert parents.count("c1") == 2


# --- times, texts, ends ------------------------------------------------------------------------


def test_older_logs_that_do_not_say_when_a_request_ended_have_the_events_around_it() -> None:
    events = [
        {"event": "step", "action": "begin", "type": "solver", "timestamp": stamp(1)},
        model("u1", 2, (1, 1, 2), completed=None),
        {"event": "state", "timestamp": stamp(5)},
        {"event": "step", "action": "begin", "type": "scorer", "timestamp": stamp(50)},
    ]
    assert stats_of(log(sample(*events))).duration.value_ms == 4000


def test_prompts_stand_before_the_answers_that_follow_them() -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "do"}, {"type": "image"}]},
        {"role": "assistant", "id": "m-u1", "content": "ok"},
        {"role": "user", "content": "go on"},
        {"role": "assistant", "id": "m-u2", "content": "ok"},
    ]
    collected = collect(log({**ONE, "messages": messages}))
    said = [
        (event.type, event.to_json()["data"]["content"])
        for event in collected.events
        if event.type.endswith(".message")
    ]
    assert said == [
        ("user.message", "do"),
        ("assistant.message", "ok"),
        ("user.message", "go on"),
        ("assistant.message", "ok"),
    ]


def test_attachments_are_put_back() -> None:
    call = tool(
        "c1",
        2,
        arguments={"cmd": "attachment://a", "n": 1},
        result=[{"type": "text", "text": "tc://b"}],
    )
    item = {
        **sample(model("u1", 1, content="attachment://none"), call),
        "attachments": {"a": "long"},
        "transcript": {"content": {"b": "older"}},
    }
    collected = collect(log(item))
    assert data_of(collected, "tool.execution_start")[0]["input"] == {"cmd": "long", "n": 1}
    assert data_of(collected, "tool.execution_complete")[0]["output"][0]["text"] == "older"
    assert data_of(collected, "assistant.message") == [{"content": "attachment://none"}]


def test_attachments_cannot_fill_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MAX_ATTACHED", 10)
    calls = [tool(f"c{n}", n, result="attachment://a") for n in range(3)]
    collected = collect(log({**sample(*calls), "attachments": {"a": "xxxxx"}}))
    outputs = [data["output"] for data in data_of(collected, "tool.execution_complete")]
    assert outputs == ["xxxxx", "xxxxx", "attachment://a"]
    assert codes(collected) == [("attachments-too-large", True)]


def test_a_sample_that_broke_off_says_so() -> None:
    collected = collect(log({**ONE, "error": {"message": "boom"}}))
    assert data_of(collected, "session.error") == [{"message": "boom"}]
    assert data_of(collected, "session.result") == [{"status": "error"}]
    limited = collect(log({**ONE, "limit": {"type": "token", "limit": 5}}))
    assert data_of(limited, "session.result") == [{"status": "limit"}]


def test_the_events_of_the_oldest_logs_are_in_the_transcript() -> None:
    item = {key: value for key, value in ONE.items() if key != "events"}
    assert collect(log({**item, "transcript": {"events": list(RUN)}})) == collect(log(ONE))


def test_numbers_that_are_none_are_read_as_null() -> None:
    text = log({**ONE, "scores": {"a": "NaN is text"}}, results={"v": 1})
    content = text.replace(b'"v": 1', b'"v": NaN, "w": -Infinity, "x": [Infinity]')
    collected = collect(content)
    assert codes(collected) == [("not-a-number", False)]
    assert collected.events == collect(log(ONE)).events


# --- hostile and broken archives ---------------------------------------------------------------


def refused(content: bytes) -> list[str]:
    COLLECTOR.detect(content)
    collected = collect(content)
    assert collected.events == ()
    assert all(note.lossy for note in collected.notes)
    return [note.code for note in collected.notes]


def test_an_entry_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = packed(b" " * 3_000_000 + json.dumps(ONE).encode())
    assert "archive-too-large" in refused(content)
    monkeypatch.setattr(archive, "MAX_ENTRY_BYTES", 100)
    assert "archive-too-large" in refused(packed(ONE))


def test_an_entry_that_lies_about_its_size_is_refused() -> None:
    content = bytearray(packed(json.dumps(ONE).encode() + b" " * 2000))
    place = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 1)
    struct.pack_into("<L", content, place + 24, 5)
    assert "broken-archive" in refused(bytes(content))
    struct.pack_into("<L", content, place + 24, 900_000)
    assert "broken-archive" in refused(bytes(content))


def test_too_many_entries_are_refused_before_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archive, "MAX_ENTRIES", 2)
    assert collect(packed(ONE)).events
    assert "archive-too-large" in refused(packed(ONE, ONE))


def test_encrypted_archives_and_unknown_compression_are_refused() -> None:
    content = bytearray(packed(ONE))
    for place in places_of(b"PK\x01\x02", content):
        content[place + 8] |= 1
    assert "encrypted-archive" in refused(bytes(content))
    content = bytearray(packed(ONE))
    for place in places_of(b"PK\x01\x02", content):
        content[place + 10] = 93
    assert "unknown-compression" in refused(bytes(content))
    assert "unknown-compression" in refused(packed(ONE, method=zipfile.ZIP_BZIP2))


def places_of(mark: bytes, content: bytearray) -> list[int]:
    return [place for place in range(len(content)) if content[place : place + 4] == mark]


def test_names_of_entries_are_never_paths(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = packed(**{"../../../escaped": json.dumps(ONE).encode()})
    assert collect(content).events == collect(log(ONE)).events
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_entries_with_one_name_the_last_counts() -> None:
    buffer = io.BytesIO(packed(sample()))
    with zipfile.ZipFile(buffer, "a") as file:
        file.writestr("samples/1_epoch_1.json", json.dumps(ONE))
    collected = collect(buffer.getvalue())
    assert codes(collected) == [("entry-again", False)]
    assert collected.events == collect(log(ONE)).events


def test_an_archive_with_a_broken_sample_is_noted() -> None:
    assert refused(packed(b'{"id": 1')) == ["not-json"]
    assert refused(packed(b"[1]")) == ["not-an-object"]


def test_archives_cut_or_changed_anywhere_give_no_error() -> None:
    content = packed(ONE)
    for end in range(len(content)):
        COLLECTOR.detect(content[:end])
        assert collect(content[:end]).notes
    for place in range(len(content)):
        for value in (0, 0xFF, content[place] ^ 1):
            collect(content[:place] + bytes([value]) + content[place + 1 :])


# --- broken inputs -----------------------------------------------------------------------------


def replaced(value: Any, others: list[Any]) -> Iterator[Any]:
    """Give `value` with each of its nodes replaced by each of `others`, one at a time."""
    yield from others
    if isinstance(value, dict):
        for key, item in value.items():
            yield {k: v for k, v in value.items() if k != key}
            yield from ({**value, key: other} for other in replaced(item, others))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            before, behind = value[:place], value[place + 1 :]
            yield from ([*before, other, *behind] for other in replaced(item, others))


RICH = {
    **sample(
        begin("root", "agent"),
        begin("sub", "agent", "root"),
        begin("judge", "scorer"),
        {"event": "step", "action": "begin", "type": "solver"},
        *RUN,
        model("u7", 7, (5, 1, 9, 3), span_id="sub", content=[{"type": "tool_use", "id": "w"}]),
        tool("c7", 8, events=[model("u8", 9)], agent_span_id="sub"),
        model("u9", 9, span_id="judge"),
    ),
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "do"}]},
        {"role": "assistant", "id": "m-u2", "content": "ok", "tool_calls": [asked("c5")]},
        {"role": "tool", "tool_call_id": "c1", "content": "x", "error": {"type": "x"}},
    ],
    "attachments": {"a": "b"},
    "error": {"message": "m"},
    "model_usage": {MODEL: {"input_tokens": 1}},
    "total_time": 1.5,
}
WRONG = [None, True, -1.5, "attachment://a", [], {}, [[]], [None], 10**40, {"events": [[]]}]


def test_wrong_types_anywhere_give_no_error() -> None:
    for document in replaced(RICH, WRONG):
        content = json.dumps(document).encode()
        COLLECTOR.detect(content)
        collect(content)
    without = {**RICH, "events": []}
    for document in replaced(without, WRONG):
        collect(log(document))
    for document in replaced(json.loads(log(sample())), WRONG):
        content = json.dumps(document).encode()
        COLLECTOR.detect(content)
        collect(content)


def test_logs_cut_anywhere_give_no_error() -> None:
    for content in (log(RICH), pretty(ONE).rstrip()):
        for end in range(len(content)):
            COLLECTOR.detect(content[:end])
            collected = collect(content[:end])
            assert collected.events == ()
            assert collected.notes


def test_a_cut_log_names_the_line() -> None:
    content = pretty(json.loads(log(ONE)))[:200]
    note = collect(content).notes[0]
    assert (note.code, note.line) == ("not-json", content.count(b"\n") + 1)


def test_spans_in_a_circle_and_deep_ones_give_no_error() -> None:
    circle = [begin("p", "agent", "q"), begin("q", "agent", "p"), begin("r", "agent", "r")]
    assert stats_of(log(sample(*circle, {**RUN[0], "span_id": "p"}))).requests == 1
    deep = [begin(f"d{n}", "agent", f"d{n - 1}") for n in range(5000)]
    assert stats_of(log(sample(*reversed(deep), {**RUN[0], "span_id": "d4999"}))).requests == 1


def test_settled_oddities_are_noted() -> None:
    content = log(ONE).replace(b'"id": 1', b'"id": 0, "id": 1').replace(b'"x"', b'"\\ud800"')
    assert codes(collect(content)) == [("duplicate-keys", False), ("lone-surrogates", False)]


SMALL = packed(sample(RUN[0]))


@given(st.binary(max_size=100), st.integers(0, len(SMALL)), st.integers(0, 40))
def test_damaged_archives_give_no_error(junk: bytes, place: int, dropped: int) -> None:
    damaged = SMALL[:place] + junk + SMALL[place + dropped :]
    COLLECTOR.detect(damaged)
    assert collect(damaged) == collect(damaged)


@given(st.binary(max_size=100), st.integers(0, 2000), st.integers(0, 40))
def test_damaged_logs_give_no_error(junk: bytes, place: int, dropped: int) -> None:
    content = log(RICH)
    damaged = content[:place] + junk + content[place + dropped :]
    COLLECTOR.detect(damaged)
    collect(damaged)
