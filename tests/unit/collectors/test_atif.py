"""ATIF trajectories to events."""

from typing import Any

import pytest
from hypothesis import given

from aw_graders import _json
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.atif import COLLECTOR
from aw_graders.lookups import Statistics, create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import Session
from tests.strategies.damage import assert_steady, damaged, wrongly_typed

TIME = "2026-03-04T10:00:00Z"


def collect(*contents: bytes, **named: Any) -> Collected:
    """Collect files `0.json` and so on, and files called by name."""
    files = [SourceFile(f"{number}.json", content) for number, content in enumerate(contents)]
    files += [SourceFile(f"{name}.json", _json.compact(value)) for name, value in named.items()]
    return COLLECTOR.collect(files)


def one(value: Any) -> Collected:
    return collect(_json.compact(value))


def data_of(collected: Collected, kind: str) -> list[Any]:
    return [event.to_json()["data"] for event in collected.events if event.type == kind]


def kinds(collected: Collected) -> list[str]:
    return [event.type for event in collected.events]


def codes(collected: Collected) -> list[tuple[str, bool]]:
    return [(note.code, note.lossy) for note in collected.notes]


def stats(collected: Collected) -> Statistics:
    return create_session_lookups(redact(Session.of(collected.events)).session).stats


def trajectory(*steps: Any, version: str = "1.7", **rest: Any) -> dict[str, Any]:
    agent = {"name": "agent-x", "version": "1", "model_name": "m"}
    fields = {"schema_version": f"ATIF-v{version}", "session_id": "s", "agent": agent}
    return {**fields, "steps": [{"step_id": n, **step} for n, step in enumerate(steps, 1)], **rest}


def user(text: Any = "go", **rest: Any) -> dict[str, Any]:
    return {"source": "user", "message": text, "timestamp": TIME, **rest}


def step(*calls: Any, results: Any = None, **rest: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"source": "agent", "message": "ok", "timestamp": TIME}
    if calls:
        made["tool_calls"] = list(calls)
    if results is not None:
        made["observation"] = {"results": results}
    return {**made, **rest}


def call(call_id: str = "c1", name: str = "bash") -> dict[str, Any]:
    return {"tool_call_id": call_id, "function_name": name, "arguments": {"command": call_id}}


def result(call_id: str | None = "c1", content: Any = "x", **rest: Any) -> dict[str, Any]:
    named = {} if call_id is None else {"source_call_id": call_id}
    return {**named, "content": content, **rest}


def tokens(prompt: int, answer: int, cached: int | None = None, **extra: int) -> dict[str, Any]:
    counts: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": answer}
    if cached is not None:
        counts["cached_tokens"] = cached
    return {"metrics": {**counts, **({"extra": extra} if extra else {})}}


FULL = trajectory(
    {"source": "system", "message": "rules"},
    user([{"type": "text", "text": "go"}, {"type": "image", "source": {"path": "a.png"}}]),
    step(
        call("c1"),
        call("c2"),
        results=[
            result("c2", "no", extra={"exit_code": 1}),
            result("c1", "yes", extra={"exit_code": 0, "duration_ms": 5}),
        ],
        reasoning_content="hm",
        **tokens(1000, 20, 800, cache_creation_input_tokens=100, reasoning_tokens=7),
    ),
    step(message="done", timestamp="2026-03-04T10:00:09Z", **tokens(1500, 30, 900)),
    final_metrics={
        "total_prompt_tokens": 2500,
        "total_completion_tokens": 50,
        "total_cached_tokens": 1700,
        "total_cost_usd": 0.5,
    },
)


def test_every_part_of_a_trajectory_becomes_its_event() -> None:
    collected = one(FULL)
    assert kinds(collected) == [
        "session.start",
        "system.message",
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
        "session.result",
    ]
    assert data_of(collected, "session.start") == [
        {"sourceEngine": "agent-x", "model": "m", "sessionId": "s"}
    ]
    assert data_of(collected, "user.message") == [{"content": "go"}]
    assert data_of(collected, "tool.execution_start")[0] == {
        "toolCallId": "c1",
        "toolName": "bash",
        "input": {"command": "c1"},
    }
    assert data_of(collected, "session.result") == [
        {
            "sessionId": "s",
            "totalCostUsd": 0.5,
            "usage": {
                "inputTokens": 2500,
                "outputTokens": 50,
                "cacheReadInputTokens": 1700,
                "inputTokensIncludeCache": True,
            },
        }
    ]
    assert collected.events[2].rest["timestamp"] == TIME
    assert collected.notes == ()


def test_results_answer_the_calls_they_name_in_whatever_order() -> None:
    collected = one(FULL)
    assert data_of(collected, "tool.execution_complete") == [
        {"toolCallId": "c2", "success": False, "output": "no", "exitCode": 1},
        {"toolCallId": "c1", "success": True, "output": "yes", "exitCode": 0, "durationMs": 5},
    ]
    found = stats(collected)
    assert (found.tool_calls, found.successful_tool_calls, found.failed_tool_calls) == (2, 1, 1)
    assert found.duration.value_ms == 9000


def test_cached_tokens_are_inside_the_prompt() -> None:
    collected = one(FULL)
    assert data_of(collected, "usage.report")[0] == {
        "requestId": "0.json#3",
        "model": "m",
        "purpose": "agent",
        "usage": {
            "inputTokens": 1000,
            "outputTokens": 20,
            "cacheReadInputTokens": 800,
            "cacheCreationInputTokens": 100,
            "reasoningOutputTokens": 7,
            "inputTokensIncludeCache": True,
        },
    }
    found = stats(collected)
    assert (found.requests, found.peak_input_tokens) == (2, 1500)
    assert (found.cumulative_input_tokens, found.tokens.total_tokens) == (2500, 2550)


def test_before_version_1_2_the_format_does_not_say_where_cached_tokens_stand() -> None:
    collected = one(trajectory(step(**tokens(1000, 20, 800)), version="1.1"))
    assert "inputTokensIncludeCache" not in data_of(collected, "usage.report")[0]["usage"]


@pytest.mark.parametrize("version", ["1.0", "1.7"])
def test_cached_tokens_that_outnumber_the_prompt_stand_beside_it(version: str) -> None:
    steps = (step(**tokens(10, 5, 800)), step(**tokens(900, 5, 800)))
    collected = one(trajectory(*steps, version=version))
    declared = [
        data["usage"]["inputTokensIncludeCache"] for data in data_of(collected, "usage.report")
    ]
    assert declared == [False, False]
    assert ("cache-beside-prompt", False) in codes(collected)
    # 10 + 800, and 900 + 800.
    assert stats(collected).cumulative_input_tokens == 2510


def test_steps_count_and_totals_are_not_added_to_them() -> None:
    found = stats(one(FULL))
    assert (found.tokens.source, found.tokens.input_tokens) == ("report", 2500)


def test_totals_that_no_steps_explain_are_noted() -> None:
    final = {"total_prompt_tokens": 999, "total_completion_tokens": 5}
    collected = one(trajectory(step(**tokens(100, 5)), final_metrics=final))
    assert [note.message for note in collected.notes] == [
        "the totals count 999 input tokens, the steps 100"
    ]
    assert codes(collected) == [("totals-differ", False)]


def test_without_metrics_of_steps_only_the_totals_are_known() -> None:
    final = {"total_prompt_tokens": 90, "total_completion_tokens": 9, "total_cached_tokens": 40}
    found = stats(one(trajectory(user(), step(), final_metrics=final)))
    assert (found.requests, found.tokens.source) == (None, "session")
    assert (found.tokens.input_tokens, found.tokens.total_tokens) == (90, 99)


def test_a_step_of_several_requests_leaves_no_single_request_known() -> None:
    steps = (step(llm_call_count=1, **tokens(10, 1)), step(llm_call_count=3, **tokens(60, 6)))
    collected = one(trajectory(*steps))
    assert codes(collected) == [("requests-aggregated", False)]
    found = stats(collected)
    assert (found.requests, found.tokens.input_tokens, found.tokens.output_tokens) == (None, 70, 7)


def test_a_step_says_itself_whether_it_was_a_request() -> None:
    steps = (
        step(llm_call_count=0),
        step(),
        step(llm_call_count=1),
        step(llm_call_count=1, **tokens(0, 0)),
        step(**tokens(0, 0, 0)),
        step(**tokens(10, 1)),
    )
    collected = one(trajectory(*steps))
    # One that says so without tokens is a request of unknown size, not one of zero tokens.
    assert [data["requestId"] for data in data_of(collected, "usage.report")] == [
        "0.json#3",
        "0.json#4",
        "0.json#6",
    ]
    found = stats(collected)
    assert (found.requests, found.cumulative_input_tokens) == (3, 10)


def test_tokens_of_a_step_that_was_no_request_are_left_out() -> None:
    collected = one(trajectory(step(llm_call_count=0, **tokens(10, 1))))
    assert data_of(collected, "usage.report") == []
    assert codes(collected) == [("tokens-without-request", True)]


def test_copied_steps_happened_elsewhere() -> None:
    copied = step(call(), results=[result()], is_copied_context=True, **tokens(50, 5))
    collected = one(trajectory(copied, user(), step(**tokens(10, 1))))
    found = stats(collected)
    assert (found.tool_calls, found.requests, found.tokens.input_tokens) == (0, 1, 10)
    assert codes(collected) == [("copied-step", False)]


def test_a_continuation_goes_on_and_its_totals_are_not_added() -> None:
    final = {"total_prompt_tokens": 30, "total_completion_tokens": 3}
    first = trajectory(
        user(), step(**tokens(10, 1)), final_metrics=final, continued_trajectory_ref="b.json"
    )
    copied = step(is_copied_context=True)
    second = trajectory(copied, step(**tokens(20, 2)), session_id="s-cont-1", final_metrics=final)
    for files in ({"a": first, "b": second}, {"b": second, "a": first}):
        collected = collect(**files)
        assert data_of(collected, "session.result") == []
        found = stats(collected)
        assert (found.requests, found.tokens.input_tokens) == (2, 30)
        assert next(event.provenance.path for event in collected.events) == "a.json"
    assert ("continuation-not-given", True) in codes(collect(a=first))


CHILD = trajectory(
    user("look"),
    step(call("c1", "read"), results=[result("c1", extra={"is_error": False})], **tokens(40, 4)),
    trajectory_id="t1",
    final_metrics={"total_prompt_tokens": 40, "total_completion_tokens": 4},
)


def parent(reference: Any, **rest: Any) -> dict[str, Any]:
    answer = result("c1", subagent_trajectory_ref=[reference])
    final = {"total_prompt_tokens": 140, "total_completion_tokens": 14}
    return trajectory(
        user(),
        step(call("c1", "delegate"), results=[answer], **tokens(100, 10)),
        final_metrics=final,
        **rest,
    )


def test_an_embedded_sub_agent_counts_once_and_apart() -> None:
    whole = parent({"trajectory_id": "t1"}, subagent_trajectories=[CHILD])
    collected = one(whole)
    assert data_of(collected, "subagent.started") == [{"invocationId": "t1", "toolCallId": "c1"}]
    assert [data["purpose"] for data in data_of(collected, "usage.report")] == ["agent", "subagent"]
    found = stats(collected)
    # Both calls are called c1, and the totals of the whole are not added to the steps.
    assert (found.tool_calls, found.requests, found.tokens.input_tokens) == (2, 2, 140)
    assert (found.tokens.output_tokens, found.unknown_outcomes) == (14, 1)
    assert found.successful_tool_calls == 1
    agents = {event.rest.get("agentId") for event in collected.events}
    assert agents == {None, "t1"}
    assert collected.notes == ()


@pytest.mark.parametrize(
    "reference",
    [
        {"trajectory_id": "t1"},
        {"trajectory_path": "logs/child.json", "session_id": "other"},
        {"session_id": "s2"},
    ],
)
def test_a_sub_agent_in_a_file_of_its_own_is_found_by_what_names_it(reference: Any) -> None:
    child = {**CHILD, "session_id": "s2"}
    for files in (
        {"a": parent(reference), "child": child},
        {"child": child, "a": parent(reference)},
    ):
        collected = collect(**files)
        found = stats(collected)
        assert (found.tool_calls, found.requests, found.tokens.input_tokens) == (2, 2, 140)
        assert len(data_of(collected, "subagent.started")) == 1
        assert collected.notes == ()


def test_a_sub_agent_that_was_not_given_is_noted() -> None:
    collected = one(parent({"trajectory_path": "child.json"}))
    assert ("subagent-not-given", True) in codes(collected)
    assert stats(collected).tokens.input_tokens == 100


def test_an_embedded_sub_agent_that_nothing_refers_to_counts() -> None:
    inner = {**CHILD, "subagent_trajectories": [{**CHILD, "trajectory_id": "t2"}]}
    collected = one(trajectory(step(**tokens(5, 1)), subagent_trajectories=[inner, CHILD]))
    # 5, and three times 40: two trajectories have one id and are two.
    found = stats(collected)
    assert (found.requests, found.tokens.input_tokens, found.tool_calls) == (4, 125, 3)


def test_references_in_a_circle_end() -> None:
    first = parent({"trajectory_path": "b.json"})
    second = parent({"trajectory_path": "a.json"}, session_id="s2")
    assert stats(collect(a=first, b=second)).requests == 2
    assert stats(one(parent({"trajectory_path": "0.json"}))).requests == 1


def test_deeply_nested_sub_agents_are_read() -> None:
    value = trajectory(step(**tokens(1, 1)), trajectory_id="deep")
    for _ in range(200):
        value = trajectory(step(**tokens(1, 1)), trajectory_id="t", subagent_trajectories=[value])
    assert stats(one(value)).requests == 201


def test_trajectories_that_do_not_belong_together_are_never_mixed() -> None:
    collected = collect(a=FULL, b=trajectory(step(), session_id="s2"))
    assert collected.events == ()
    assert codes(collected) == [("several-trajectories", True)]
    lines = _json.compact(FULL) + b"\n" + _json.compact(trajectory(step()))
    assert codes(collect(lines)) == [("several-trajectories", True)]


def test_a_trajectory_given_twice_counts_once() -> None:
    collected = collect(a=FULL, b=FULL)
    assert stats(collected).requests == 2
    assert codes(collected) == [("copied-trajectory", False)]


def test_an_outcome_that_is_not_recorded_stays_unknown() -> None:
    found = stats(one(trajectory(step(call(), results=[result(content="error: failed")]))))
    assert (found.unknown_outcomes, found.successful_tool_calls) == (1, 0)


@pytest.mark.parametrize(
    ("fields", "success"),
    [
        ({"extra": {"is_error": True}}, False),
        ({"extra": {"is_error": False}}, True),
        ({"is_error": True}, False),
        ({"extra": {"tool_result_is_error": True}}, False),
        ({"extra": {"exit_code": 0}}, True),
        ({"extra": {"exit_code": 2}}, False),
        ({"extra": {"is_error": False, "exit_code": 2}}, False),
        ({"extra": {"error": "no such file"}}, False),
        ({"extra": {"error": None}}, None),
        ({"extra": {"status": "failed"}}, False),
        ({"extra": {"status": "completed"}}, None),
        ({"extra": {"exit_code": True}}, None),
        ({"extra": 5}, None),
    ],
)
def test_an_outcome_is_read_where_producers_record_it(fields: Any, success: Any) -> None:
    collected = one(trajectory(step(call(), results=[result(**fields)])))
    assert data_of(collected, "tool.execution_complete")[0].get("success") is success


def test_an_agent_whose_convention_is_known_succeeds_without_a_flag_once_flags_are_recorded() -> (
    None
):
    agent = {"name": "claude-code", "version": "2"}
    plain = step(call("c1"), results=[result("c1")])
    flagged = step(call("c2"), results=[result("c2", extra={"tool_result_is_error": True})])
    collected = one(trajectory(plain, flagged, agent=agent))
    found = stats(collected)
    assert (found.successful_tool_calls, found.failed_tool_calls) == (1, 1)
    assert codes(collected) == [("unflagged-success", False)]
    assert stats(one(trajectory(plain, agent=agent))).unknown_outcomes == 1
    assert stats(one(trajectory(plain, flagged))).unknown_outcomes == 1


def test_a_call_without_a_result_stays_unfinished() -> None:
    found = stats(one(trajectory(step(call("c1"), call("c2"), results=[result("c2")]))))
    assert (found.tool_calls, found.unfinished_tool_calls) == (2, 1)


def test_results_that_name_no_call_answer_the_calls_of_their_step() -> None:
    several = one(trajectory(step(call("c1"), call("c2"), results=[result(None, "screen")])))
    found = stats(several)
    assert (found.unfinished_tool_calls, found.unknown_outcomes) == (0, 2)
    assert codes(several) == [("results-without-call-id", False)]
    assert all("output" not in data for data in data_of(several, "tool.execution_complete"))
    single = one(trajectory(step(call(), results=[result(None, "y", extra={"exit_code": 3})])))
    assert data_of(single, "tool.execution_complete") == [
        {
            "toolCallId": "c1",
            "toolName": "bash",
            "success": False,
            "output": "y",
            "exitCode": 3,
        }
    ]


def test_a_result_in_a_later_step_answers_its_call() -> None:
    later = {"source": "system", "message": "", "observation": {"results": [result("c1")]}}
    found = stats(one(trajectory(step(call("c1")), later)))
    assert (found.tool_calls, found.unfinished_tool_calls) == (1, 0)


def test_actions_that_are_no_calls_and_what_the_system_observes_are_told() -> None:
    observed = {"source": "system", "message": "", "observation": {"results": [result(None)]}}
    collected = one(trajectory(step(results=[result(None, "seen")]), observed))
    assert data_of(collected, "session.info") == [{"message": "seen"}, {"message": "x"}]
    assert codes(collected) == [("action-without-call", False)]
    assert stats(collected).tool_calls == 0


def test_what_cannot_be_used_is_noted() -> None:
    collected = one(
        {
            **trajectory(
                {"source": "robot", "message": ""},
                {"message": ""},
                user(5),
                step({"arguments": {}}, 5, results=[5, result("c9")]),
                step(metrics={"prompt_tokens": -1, "completion_tokens": "7"}),
            ),
            "subagent_trajectories": [5, {"steps": []}],
        }
    )
    assert codes(collected) == [
        ("call-without-id-and-name", True),
        ("invalid-number", True),
        ("message-not-readable", True),
        ("number-as-text", False),
        ("result-not-an-object", True),
        ("result-of-no-call", True),
        ("step-not-readable", True),
        ("subagent-without-steps", True),
        ("unknown-source", True),
    ]


CONTENTS = [
    _json.compact(FULL),
    _json.pretty(parent({"trajectory_id": "t1"}, subagent_trajectories=[CHILD])),
]
OTHERS: list[Any] = [
    {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": ""}},
    {"type": "user", "message": {"role": "user", "content": 'say "ATIF-v1.4"'}},
    {"type": "session.start", "data": {}, "timestamp": TIME, "parentId": None},
    {"type": "session_meta", "payload": {"id": "x"}, "timestamp": TIME},
    {"type": "session", "id": "s", "cwd": "/w"},
    {"schema_version": "1.0", "steps": []},
    {"schema_version": "ATIF-v1.7", "steps": 5},
    {"trajectory": [{"action": "ls", "observation": "", "response": ""}]},
    {"info": {"mini_version": "2"}, "messages": []},
    {"id": 1, "timestamp": TIME, "source": "agent", "action": "run", "args": {}},
    {"version": 2, "status": "success", "eval": {}},
    {},
]


@pytest.mark.parametrize("value", OTHERS)
def test_other_recordings_are_not_detected(value: Any) -> None:
    assert not COLLECTOR.detect(_json.compact(value))
    assert not COLLECTOR.detect(_json.pretty(value))
    assert collect(_json.compact(value)).events == ()


@pytest.mark.parametrize("content", CONTENTS)
def test_own_recordings_are_detected_and_unified_sessions_are_not(content: bytes) -> None:
    assert COLLECTOR.detect(content)
    assert COLLECTOR.detect(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))
    event = {"type": "a.b", "data": {}, "provenance": {}}
    assert not COLLECTOR.detect(content + b"\n" + _json.compact(event))
    assert not COLLECTOR.detect(_json.compact({**event, "data": FULL}))


@pytest.mark.parametrize("content", [b"", b"\0\0", b"\xff\xfe\x00", b"ATIF-v1", b"[1]", b"null"])
def test_no_recordings_are_not_detected(content: bytes) -> None:
    assert not COLLECTOR.detect(content)
    assert collect(content).events == ()


def test_a_marked_or_windows_file_reads_the_same() -> None:
    plain = collect(CONTENTS[1])
    assert collect(b"\xef\xbb\xbf" + CONTENTS[1].replace(b"\n", b"\r\n")).events == plain.events


def test_a_cut_recording_never_raises() -> None:
    for content in CONTENTS:
        for place in range(len(content.rstrip())):
            cut = collect(content[:place])
            assert not cut.events
            assert not place or cut.notes
            if place % 7 == 0:
                collect(content[place:])


def test_wrong_types_anywhere_never_raise() -> None:
    for content in CONTENTS:
        for spoilt in wrongly_typed(content):
            COLLECTOR.detect(spoilt)
            collect(spoilt)


@given(damaged(tuple(CONTENTS)))
def test_damaged_recordings_give_no_error(contents: tuple[bytes, ...]) -> None:
    for content in contents:
        COLLECTOR.detect(content)
        assert_steady(content, collect, stats)
