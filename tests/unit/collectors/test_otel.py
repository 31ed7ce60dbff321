"""Exported traces to events."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders._json import pretty
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.otel import COLLECTOR
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import Session

BEGIN = 1_777_555_053_780_274_700
MS = 1_000_000


def tagged(value: Any) -> Any:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [tagged(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    return {"stringValue": value}


def pairs(values: Any) -> list[Any]:
    return [{"key": key, "value": tagged(value)} for key, value in values.items()]


def span(name: str, operation: str | None, *, parent: str = "", at: Any = (0, 1), **more: Any):
    attributes = dict(more.pop("attributes", {}))
    if operation is not None:
        attributes["gen_ai.operation.name"] = operation
    begin, end = at
    return {
        "traceId": "t1",
        "spanId": name,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(BEGIN + begin * MS),
        "endTimeUnixNano": "0" if end is None else str(BEGIN + end * MS),
        "attributes": pairs(attributes),
        **more,
    }


def chat(name: str, read: int, written: int, **more: Any):
    usage = {
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": read,
        "gen_ai.usage.output_tokens": written,
        **more.pop("attributes", {}),
    }
    return span(name, "chat", attributes=usage, **more)


def tool(name: str, called: str | None = "grep", call_id: str | None = None, **more: Any):
    attributes = more.pop("attributes", {})
    if called is not None:
        attributes = {"gen_ai.tool.name": called, **attributes}
    if call_id is not None:
        attributes = {"gen_ai.tool.call.id": call_id, **attributes}
    return span(name, "execute_tool", attributes=attributes, **more)


def export(*spans: Any) -> Any:
    resource = {"attributes": pairs({"service.name": "demo"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


def line(*spans: Any) -> bytes:
    return json.dumps(export(*spans)).encode() + b"\n"


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
    span("a", "invoke_agent", at=(0, 9), attributes={"gen_ai.conversation.id": "c"}),
    chat("m1", 100, 10, parent="a", at=(1, 3)),
    tool("x1", call_id="c1", parent="a", at=(3, 4)),
    chat("m2", 200, 20, parent="a", at=(4, 8)),
)


# --- detection ---------------------------------------------------------------------------------


JAEGER = {
    "data": [
        {
            "traceID": "t1",
            "spans": [
                {
                    "traceID": "t1",
                    "spanID": "m1",
                    "operationName": "openai.chat",
                    "references": [{"refType": "CHILD_OF", "traceID": "t1", "spanID": "a"}],
                    "startTime": BEGIN // 1000,
                    "duration": 2000,
                    "tags": [
                        {"key": "gen_ai.request.model", "type": "string", "value": "m"},
                        {"key": "gen_ai.usage.prompt_tokens", "type": "int64", "value": 50},
                        {"key": "gen_ai.usage.completion_tokens", "type": "int64", "value": 5},
                    ],
                    "logs": [],
                    "processID": "p1",
                },
                {
                    "traceID": "t1",
                    "spanID": "x1",
                    "operationName": "execute_tool grep",
                    "references": [],
                    "startTime": BEGIN // 1000 + 2000,
                    "duration": 1000,
                    "tags": [
                        {"key": "gen_ai.operation.name", "type": "string", "value": "execute_tool"},
                        {"key": "error", "type": "bool", "value": True},
                    ],
                    "processID": "p1",
                },
            ],
            "processes": {"p1": {"serviceName": "demo"}},
        }
    ]
}


@pytest.mark.parametrize(
    "content",
    [
        line(*RUN),
        b"\xef\xbb\xbf" + line(*RUN),
        pretty(export(*RUN)),
        json.dumps([export(*RUN)]).encode(),
        line(RUN[0]) + line(*RUN[1:]),
        json.dumps({"resourceLogs": []}).encode() + b"\n" + line(*RUN),
        json.dumps({"schema": 1, **export(*RUN)}).encode(),
        json.dumps(JAEGER).encode(),
    ],
)
def test_traces_with_genai_attributes_are_taken(content: bytes) -> None:
    assert COLLECTOR.detect(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\x01\xff",
        b"{}",
        b"[]",
        line(span("s", None, attributes={"http.method": "GET"})),
        json.dumps({"text": json.dumps(export(*RUN))}).encode(),
        json.dumps({"type": "user", "uuid": "u", "message": {"content": "gen_ai.x"}}).encode(),
        json.dumps({"data": [{"id": 1}], "gen_ai.x": 1, "operationName": "q"}).encode(),
        b'{"type":"session.format","data":{"version":1},"provenance":{"component":"collector"}}\n'
        + json.dumps(
            {"type": "otel.span", "data": export(*RUN), "provenance": {"component": "otel"}}
        ).encode(),
    ],
)
def test_anything_else_is_not_taken(content: bytes) -> None:
    assert not COLLECTOR.detect(content)


# --- requests and tokens -----------------------------------------------------------------------


def test_chat_spans_are_the_requests_and_the_agent_span_holds_their_sum() -> None:
    agent = span("a", "invoke_agent", at=(0, 9), attributes={"gen_ai.usage.input_tokens": 300})
    stats = stats_of(line(agent, *RUN[1:]))
    assert (stats.requests, stats.tokens.input_tokens, stats.tokens.output_tokens) == (2, 300, 30)
    assert (stats.tool_calls, stats.failed_tool_calls) == (1, 0)
    assert (stats.peak_input_tokens, stats.first_request_tokens) == (200, 110)
    assert (stats.duration.value_ms, stats.duration.source) == (9, "session")


def test_without_chat_spans_the_agent_span_gives_tokens_and_no_requests() -> None:
    usage = {"gen_ai.usage.input_tokens": 300, "gen_ai.usage.output_tokens": 30}
    stats = stats_of(line(span("a", "invoke_agent", at=(0, 9), attributes=usage)))
    assert stats.requests is None
    assert (stats.tokens.source, stats.tokens.input_tokens) == ("session", 300)
    assert (stats.tokens.output_tokens, stats.peak_input_tokens) == (30, None)


def test_an_agent_whose_requests_are_unknown_beside_known_ones_is_noted() -> None:
    usage = {"gen_ai.usage.input_tokens": 300}
    sub = span("b", "invoke_agent", parent="a", at=(5, 6), attributes=usage)
    collected = collect(line(*RUN, sub))
    assert codes(collected) == [("agent-without-requests", True)]
    assert stats_of(line(*RUN, sub)).tokens.input_tokens == 300


def test_a_request_seen_by_two_instruments_counts_once() -> None:
    outer = chat("outer", 100, 10, parent="a", at=(1, 3))
    outer["attributes"] = [
        item for item in outer["attributes"] if item["key"] != "gen_ai.operation.name"
    ]
    inner = chat("inner", 100, 10, parent="outer", at=(1, 2))
    stats = stats_of(line(RUN[0], inner, outer))
    assert (stats.requests, stats.tokens.input_tokens) == (1, 100)


def test_an_attempt_without_counts_beside_one_with_counts_is_a_request_of_its_own() -> None:
    outer = chat("outer", 100, 10, parent="a", at=(1, 4))
    failed = span(
        "failed", "chat", parent="outer", at=(1, 2), attributes={"error.type": "429"}, status={}
    )
    inner = chat("inner", 100, 10, parent="outer", at=(2, 3))
    collected = collect(line(RUN[0], outer, failed, inner))
    reports = data_of(collected, "usage.report")
    assert [report["usage"] and report["usage"]["inputTokens"] for report in reports] == [None, 100]
    assert data_of(collected, "session.error") == [{"errorType": "429"}]


def test_spans_with_counts_win_over_spans_within_them_that_have_none() -> None:
    outer = chat("outer", 100, 10, parent="a", at=(1, 4))
    stats = stats_of(line(RUN[0], outer, span("inner", "chat", parent="outer", at=(2, 3))))
    assert (stats.requests, stats.tokens.input_tokens) == (1, 100)


def test_one_answer_with_the_same_counts_in_two_traces_of_telemetry_counts_once() -> None:
    answer = {"gen_ai.response.id": "r"}
    twice = [chat(name, 7, 1, parent="a", attributes=answer) for name in ("p", "q")]
    assert stats_of(line(RUN[0], *twice)).requests == 1
    other = chat("q", 8, 1, parent="a", attributes=answer)
    assert stats_of(line(RUN[0], twice[0], other)).requests == 2


@pytest.mark.parametrize(
    ("read", "written"),
    [
        ("cache_read.input_tokens", "cache_creation.input_tokens"),
        ("cache_read_input_tokens", "cache_creation_input_tokens"),
        ("input_cached_tokens", "cache_write_tokens"),
        ("cache_read_tokens", "cache_creation_tokens"),
        ("input_tokens.cached", "input_tokens.cache_write"),
        ("details.cache_read_tokens", "details.cache_write_tokens"),
    ],
)
def test_cached_tokens_are_inside_the_input(read: str, written: str) -> None:
    cached = {f"gen_ai.usage.{read}": 100, f"gen_ai.usage.{written}": 20}
    content = line(chat("m1", 130, 9, attributes=cached))
    assert data_of(collect(content), "usage.report")[0]["usage"] == {
        "inputTokens": 130,
        "outputTokens": 9,
        "cacheReadInputTokens": 100,
        "cacheCreationInputTokens": 20,
        "inputTokensIncludeCache": True,
    }
    stats = stats_of(content)
    assert (stats.peak_input_tokens, stats.tokens.total_tokens) == (130, 139)


@pytest.mark.parametrize(
    "proof",
    [
        {"gen_ai.usage.cache_read.input_tokens": 100},
        {"gen_ai.usage.cache_read.input_tokens": 5, "gen_ai.usage.total_tokens": 16},
    ],
)
def test_cached_tokens_are_beside_the_input_of_a_model_when_its_counts_prove_it(
    proof: dict[str, int],
) -> None:
    other = {"gen_ai.usage.cache_read.input_tokens": 1}
    content = line(
        chat("m1", 10, 1, attributes=proof),
        chat("m2", 10, 1, attributes=other),
        chat("m3", 10, 1, attributes={**other, "gen_ai.response.model": "n"}),
    )
    reports = data_of(collect(content), "usage.report")
    flags = [report["usage"]["inputTokensIncludeCache"] for report in reports]
    assert flags == [False, False, True]
    added = proof["gen_ai.usage.cache_read.input_tokens"] + 1
    assert stats_of(content).as_read.cumulative_input == 30 + added


def test_older_spellings_of_counts_are_read() -> None:
    usage = {
        "gen_ai.system": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.usage.prompt_tokens": 50,
        "gen_ai.usage.completion_tokens": 5,
        "gen_ai.usage.reasoning_tokens": 3,
        "llm.usage.total_tokens": 55,
    }
    report = data_of(collect(line(span("openai.chat", None, attributes=usage))), "usage.report")[0]
    assert report["usage"] == {
        "inputTokens": 50,
        "outputTokens": 5,
        "totalTokens": 55,
        "reasoningOutputTokens": 3,
        "inputTokensIncludeCache": True,
    }


def test_embeddings_and_other_operations_are_no_requests() -> None:
    usage = {"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 5}
    spans = [span(name, name, attributes=usage) for name in ("embeddings", "create_agent")]
    assert stats_of(line(*RUN, *spans)).requests == 2


def test_integers_as_text_and_as_numbers_give_the_same_session() -> None:
    text = line(*RUN)
    numbers = json.loads(text)
    for item in numbers["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        item["startTimeUnixNano"] = int(item["startTimeUnixNano"])
        item["endTimeUnixNano"] = int(item["endTimeUnixNano"])
        for attribute in item["attributes"]:
            if "intValue" in attribute["value"]:
                attribute["value"] = {"intValue": int(attribute["value"]["intValue"])}
    assert collect(json.dumps(numbers).encode()) == collect(text)


def test_times_keep_every_nanosecond() -> None:
    one = chat("m1", 25, 7)
    one["startTimeUnixNano"], one["endTimeUnixNano"] = "1777555053780274701", "1777555053781172001"
    collected = collect(line(one))
    stamps = [event.timestamp for event in collected.events]
    assert stamps == ["2026-04-30T13:17:33.780274701Z", "2026-04-30T13:17:33.781172001Z"]
    assert data_of(collected, "usage.report")[0]["durationMs"] == 0.8973
    assert stats_of(line(one)).duration.value_ms == 0.8973


@pytest.mark.parametrize("stamp", ["-5", "x", "7", 1.5, True, "9" * 30, [], {}])
def test_times_that_cannot_be_read_leave_events_untimed(stamp: Any) -> None:
    one = {**chat("m1", 25, 7), "startTimeUnixNano": stamp}
    collected = collect(line(one))
    assert codes(collected) == [("unreadable-time", False)]
    assert collected.events[0].timestamp is None


def test_a_count_that_is_none_is_left_out() -> None:
    one = chat("m1", 25, 7, attributes={"gen_ai.usage.output_tokens": "many"})
    collected = collect(line(one))
    assert codes(collected) == [("invalid-number", True)]
    assert "outputTokens" not in data_of(collected, "usage.report")[0]["usage"]


# --- calls -------------------------------------------------------------------------------------


def test_events_stand_in_the_order_of_their_times_not_of_the_file() -> None:
    kinds = [event.type for event in collect(line(*reversed(RUN))).events]
    assert kinds == [event.type for event in collect(line(*RUN)).events]
    assert kinds == [
        "session.start",
        "usage.report",
        "tool.execution_start",
        "tool.execution_complete",
        "usage.report",
        "session.result",
    ]


def test_a_call_has_its_name_arguments_result_and_time() -> None:
    attributes = {
        "gen_ai.tool.call.arguments": '{"q": 1}',
        "gen_ai.tool.call.result": {"found": ["x"]},
    }
    collected = collect(line(tool("x1", "grep", "c1", attributes=attributes)))
    assert data_of(collected, "tool.execution_start") == [
        {"toolCallId": "c1", "toolName": "grep", "input": {"q": 1}}
    ]
    assert data_of(collected, "tool.execution_complete") == [
        {"toolCallId": "c1", "success": True, "output": {"found": ["x"]}, "durationMs": 1}
    ]


def test_calls_fail_by_status_or_error_type_and_never_by_words() -> None:
    calls = [
        tool("x1", status={"code": 2}),
        tool("x2", status={"code": "STATUS_CODE_ERROR"}),
        tool("x3", attributes={"error.type": "timeout"}),
        tool("x4", attributes={"gen_ai.tool.call.result": '{"isError": true}'}),
        tool("x5", attributes={"gen_ai.tool.call.result": "error: failed"}),
        tool("x6", status={"code": 1}),
        tool("x7", status={"code": 0}),
        tool("x8", at=(0, None)),
    ]
    stats = stats_of(line(*calls))
    assert (stats.tool_calls, stats.successful_tool_calls) == (8, 3)
    assert (stats.failed_tool_calls, stats.unfinished_tool_calls) == (5, 1)


def test_a_call_within_a_call_of_the_same_tool_is_the_same_one() -> None:
    inner = tool("x2", parent="x1", at=(3, 4))
    stats = stats_of(line(*RUN, inner))
    assert stats.tool_calls == 1
    other = tool("x2", call_id="c2", parent="x1", at=(3, 4))
    assert stats_of(line(*RUN, other)).tool_calls == 2
    assert stats_of(line(*RUN, tool("x2", "ls", parent="x1"))).tool_calls == 2


def test_the_summary_span_of_parallel_calls_is_no_call() -> None:
    assert stats_of(line(*RUN, tool("x9", "(merged tools)", "e1"))).tool_calls == 1


def test_the_name_of_a_tool_stands_in_the_name_of_the_span_as_well() -> None:
    collected = collect(line(tool("execute_tool ls", None)))
    assert data_of(collected, "tool.execution_start")[0]["toolName"] == "ls"


def test_calls_at_once_without_ids_are_kept_apart() -> None:
    stats = stats_of(
        line(
            tool("x1", at=(0, 5), status={"code": 2}), tool("x2", at=(0, 3)), tool("x3", at=(1, 2))
        )
    )
    assert (stats.tool_calls, stats.failed_tool_calls, stats.unfinished_tool_calls) == (3, 1, 0)


def test_sub_agents_are_linked_and_their_work_counts() -> None:
    spans = [
        *RUN,
        tool("x2", "ask", "c2", parent="a", at=(5, 8)),
        span("b", "invoke_agent", parent="x2", at=(5, 7), attributes={"gen_ai.agent.name": "n"}),
        chat("m3", 50, 5, parent="b", at=(5, 6)),
        tool("x3", call_id="c3", parent="b", at=(6, 7)),
    ]
    collected = collect(line(*spans))
    assert data_of(collected, "subagent.started") == [
        {"invocationId": "b", "agentName": "n", "toolCallId": "c2"}
    ]
    assert [dict(event.rest).get("agentId") for event in collected.events].count("b") == 4
    stats = stats_of(line(*spans))
    assert (stats.requests, stats.tokens.input_tokens, stats.tool_calls) == (3, 350, 3)


def test_an_agent_around_an_agent_that_does_nothing_itself_is_a_wrapper() -> None:
    wrapper = span("w", "invoke_agent", at=(0, 10))
    collected = collect(line(wrapper, {**RUN[0], "parentSpanId": "w"}, *RUN[1:]))
    assert data_of(collected, "subagent.started") == []
    assert all("agentId" not in event.rest for event in collected.events)


# --- messages ----------------------------------------------------------------------------------


def said(*messages: Any) -> str:
    return json.dumps([{"role": role, "parts": list(parts)} for role, *parts in messages])


def text(content: str) -> dict[str, str]:
    return {"type": "text", "content": content}


ASKED = {"type": "tool_call", "id": "c9", "name": "ls", "arguments": {"p": "."}}


def test_messages_are_written_once_though_every_request_repeats_them() -> None:
    first = {
        "gen_ai.input.messages": said(("user", text("do"))),
        "gen_ai.output.messages": said(
            ("assistant", {"type": "reasoning", "content": "hm"}, text("yes"))
        ),
    }
    second = {"gen_ai.input.messages": said(("user", text("do")), ("user", text("more")))}
    collected = collect(
        line(chat("m1", 1, 1, attributes=first), chat("m2", 1, 1, at=(2, 3), attributes=second))
    )
    assert [data["content"] for data in data_of(collected, "user.message")] == ["do", "more"]
    assert data_of(collected, "assistant.message") == [{"content": "yes"}]
    assert data_of(collected, "assistant.reasoning") == [{"content": "hm"}]


def test_messages_stand_in_events_of_spans_and_in_numbered_attributes_as_well() -> None:
    event = {"attributes": pairs({"gen_ai.output.messages": said(("assistant", text("a")))})}
    numbered = {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "u",
        "gen_ai.completion.0.content": "b",
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "grep",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"q": 2}',
    }
    collected = collect(
        line(
            chat("m1", 1, 1, events=[event]),
            chat("m2", 1, 1, at=(1, 2), attributes=numbered),
            tool("x1", call_id="c1", at=(3, 4)),
        )
    )
    assert [data["content"] for data in data_of(collected, "assistant.message")] == ["a", "b"]
    assert data_of(collected, "user.message") == [{"content": "u"}]
    starts = data_of(collected, "tool.execution_start")
    assert starts == [{"toolCallId": "c1", "toolName": "grep", "input": {"q": 2}}]


def test_a_call_without_a_span_is_known_from_the_messages() -> None:
    asked = {"gen_ai.output.messages": said(("assistant", ASKED))}
    answered = {
        "gen_ai.input.messages": said(
            ("user", text("do")),
            ("assistant", ASKED),
            ("tool", {"type": "tool_call_response", "id": "c9", "response": "out"}),
        )
    }
    content = line(
        chat("m1", 1, 1, attributes=asked), chat("m2", 1, 1, at=(2, 3), attributes=answered)
    )
    assert data_of(collect(content), "tool.execution_complete") == [
        {"toolCallId": "c9", "output": "out"}
    ]
    stats = stats_of(content)
    assert (stats.tool_calls, stats.unknown_outcomes, stats.unfinished_tool_calls) == (1, 1, 0)


def test_a_call_that_messages_cannot_tell_the_end_of_is_noted_and_left_out() -> None:
    asked = {"gen_ai.output.messages": said(("assistant", ASKED))}
    collected = collect(line(chat("m1", 1, 1, attributes=asked)))
    assert codes(collected) == [("call-without-span", True)]
    assert data_of(collected, "tool.execution_start") == []


def test_a_span_without_an_id_is_the_call_that_was_asked_for_by_name() -> None:
    asked = {"gen_ai.output.messages": said(("assistant", ASKED))}
    collected = collect(line(chat("m1", 1, 1, attributes=asked), tool("x1", "ls", at=(2, 3))))
    assert data_of(collected, "tool.execution_start") == [
        {"toolCallId": "span:x1", "toolName": "ls", "input": {"p": "."}}
    ]
    assert codes(collected) == []


# --- sessions and files ------------------------------------------------------------------------


def in_trace(trace: str, *spans: Any) -> list[Any]:
    return [{**item, "traceId": trace, "spanId": item["spanId"] + trace} for item in spans]


def test_traces_of_one_conversation_are_one_session_and_others_are_refused() -> None:
    conversation = {"gen_ai.conversation.id": "c"}
    turns = [
        in_trace(trace, chat("m", 10, 1, at=(at, at + 1), attributes=conversation))
        for at, trace in enumerate("pq")
    ]
    assert stats_of(line(*turns[0], *turns[1])).requests == 2
    stranger = in_trace("z", chat("m", 10, 1))
    collected = collect(line(*turns[0], *turns[1], *stranger))
    assert collected.events == ()
    assert codes(collected) == [("several-sessions", True)]
    assert "2 sessions" in collected.notes[0].message


def test_conversations_in_one_trace_are_one_session_only_when_a_span_links_them() -> None:
    agents = [
        span(name, "invoke_agent", attributes={"gen_ai.conversation.id": name}) for name in "pq"
    ]
    assert codes(collect(line(*agents))) == [("several-sessions", True)]
    root = span("root", None)
    linked = [{**agent, "parentSpanId": "root"} for agent in agents]
    assert codes(collect(line(root, *linked))) == []


def test_traces_without_an_agent_are_ignored_beside_one_with() -> None:
    other = in_trace("z", span("http", None, attributes={"http.method": "GET"}))
    assert stats_of(line(*RUN, *other)).requests == 2


def test_files_of_one_session_are_put_in_order_and_a_span_counts_once() -> None:
    late, early = line(*RUN[2:]), line(*RUN[:3])
    collected = collect(late, early)
    assert codes(collected) == [("span-again", False)]
    stats = stats_of(late, early)
    assert (stats.requests, stats.tool_calls, stats.first_request_tokens) == (2, 1, 110)
    for name in ("0.json", "1.json"):
        places = [e.provenance.index for e in collected.events if e.provenance.path == name]
        assert places == list(range(len(places)))


def test_the_session_is_named_after_its_conversation_else_its_trace() -> None:
    start = data_of(collect(line(*RUN)), "session.start")[0]
    assert start == {"sessionId": "c", "sourceEngine": "demo", "model": "m"}
    assert data_of(collect(line(chat("m1", 1, 1))), "session.start")[0]["sessionId"] == "t1"


def test_older_and_original_spellings_of_the_protocol_are_read() -> None:
    expected = collect(line(*RUN))
    resource = export(*RUN)["resourceSpans"][0]
    older = {
        "batches": [
            {
                "resource": resource["resource"],
                "instrumentationLibrarySpans": resource["scopeSpans"],
            }
        ]
    }
    original = line(*RUN)
    for name, spelled in [
        ("resourceSpans", "resource_spans"),
        ("scopeSpans", "scope_spans"),
        ("traceId", "trace_id"),
        ("parentSpanId", "parent_span_id"),
        ("spanId", "span_id"),
        ("startTimeUnixNano", "start_time_unix_nano"),
        ("endTimeUnixNano", "end_time_unix_nano"),
        ("stringValue", "string_value"),
        ("intValue", "int_value"),
    ]:
        original = original.replace(f'"{name}"'.encode(), f'"{spelled}"'.encode())
    for content in (json.dumps(older).encode(), original):
        assert COLLECTOR.detect(content)
        assert collect(content) == expected


def test_jaeger_exports_are_read() -> None:
    content = json.dumps(JAEGER).encode()
    stats = stats_of(content)
    assert (stats.requests, stats.tokens.input_tokens, stats.tokens.output_tokens) == (1, 50, 5)
    assert (stats.tool_calls, stats.failed_tool_calls, stats.duration.value_ms) == (1, 1, 3)
    assert data_of(collect(content), "tool.execution_start")[0]["toolName"] == "grep"


def test_a_file_without_an_agent_says_so() -> None:
    assert codes(collect(b"")) == [("no-agent-spans", True)]
    collected = collect(line(span("http", None)), b'{"x": 1}\n{"resourceLogs": []}\n')
    assert codes(collected) == [
        ("no-agent-spans", True),
        ("other-signal", False),
        ("row-without-spans", True),
    ]
    assert COLLECTOR.collect([]) == Collected(())


# --- broken inputs -----------------------------------------------------------------------------


FULL = line(
    *RUN,
    chat(
        "m3",
        5,
        1,
        parent="a",
        attributes={
            "gen_ai.input.messages": said(("user", text("do"))),
            "gen_ai.output.messages": said(("assistant", text("a"), ASKED)),
        },
    ),
    tool("x5", attributes={"gen_ai.tool.call.arguments": {"a": [1, True]}}),
)


def replaced(value: Any, others: list[Any]) -> Any:
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


WRONG = [None, True, 1.5, "x", [], {}, [[]], [None], 10**40, {"key": [], "intValue": "9" * 5000}]


def test_wrong_types_anywhere_give_no_error() -> None:
    for document in itertools.chain(replaced(json.loads(FULL), WRONG), replaced(JAEGER, WRONG[:6])):
        content = json.dumps(document).encode()
        COLLECTOR.detect(content)
        collect(content)


def test_wrong_values_of_attributes_give_no_error() -> None:
    names = [item["key"] for one in RUN for item in one["attributes"]]
    names += ["gen_ai.input.messages", "gen_ai.output.messages", "error.type"]
    messages = [{"role": "user", "parts": [{**ASKED}, {"type": "tool_call_response", "id": "i"}]}]
    for name in names:
        for wrong in [*replaced(messages, WRONG[:6]), -1, 2**70]:
            one = chat("m1", 1, 1)
            one["attributes"].append({"key": name, "value": tagged(json.dumps(wrong))})
            collect(line(one))


def test_files_cut_anywhere_give_no_error() -> None:
    for content in (FULL, pretty(export(*RUN[:2]))):
        for end in range(len(content)):
            COLLECTOR.detect(content[:end])
            collect(content[:end])


def test_lines_are_read_past_broken_ones() -> None:
    whole = collect(line(*RUN))
    content = b"\xef\xbb\xbf\0\0" + line(*RUN[:2]).replace(b"\n", b"\r\n") + b'{"resourceSp\n'
    collected = collect(content + b"\r\n" + line(*RUN[2:]))
    assert [event.type for event in collected.events] == [event.type for event in whole.events]
    assert ("not-json", True) in codes(collected)


def test_parents_in_a_circle_and_deep_trees_give_no_error() -> None:
    circle = [chat(name, 1, 1, parent=parent) for name, parent in ("pq", "qr", "rp", "ss")]
    assert codes(collect(line(*circle))) == [("parents-in-a-circle", False)]
    assert stats_of(line(*circle)).requests == 2
    deep = [span("d0", "invoke_agent")]
    deep += [chat(f"d{n}", 1, 1, parent=f"d{n - 1}", at=(n, n + 1)) for n in range(1, 5000)]
    assert stats_of(line(*reversed(deep))).requests == 1


def test_spans_without_ids_are_kept_apart() -> None:
    spans = [{**chat("", 5, 1), "traceId": None}, {**chat("", 6, 1), "traceId": None}]
    assert stats_of(line(*spans)).tokens.input_tokens == 11


def test_text_that_would_nest_too_deeply_stays_text() -> None:
    deep = "[" * 511 + "]" * 511
    collected = collect(line(tool("x1", attributes={"gen_ai.tool.call.arguments": deep})))
    assert data_of(collected, "tool.execution_start")[0]["input"] == deep
    assert stats_of(line(tool("x1"))).tool_calls == 1


@given(st.binary(max_size=200), st.integers(0, len(FULL)), st.integers(0, 40))
def test_damaged_files_give_no_error(junk: bytes, place: int, dropped: int) -> None:
    damaged = FULL[:place] + junk + FULL[place + dropped :]
    COLLECTOR.detect(damaged)
    assert collect(damaged) == collect(damaged)
