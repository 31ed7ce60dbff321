"""OpenHands events, of both generations, to events."""

from typing import Any

import pytest
from hypothesis import given

from aw_graders import _json
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.openhands import COLLECTOR
from aw_graders.lookups import Statistics, create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import Session
from tests.strategies.damage import assert_steady, damaged, wrongly_typed

TIME = "2026-03-04T10:00:00"


def lines(*rows: Any) -> bytes:
    return b"".join(_json.compact(row) + b"\n" for row in rows)


def collect(*contents: bytes, **named: Any) -> Collected:
    files = [SourceFile(f"{number}.jsonl", content) for number, content in enumerate(contents)]
    files += [SourceFile(f"{name}.json", _json.compact(value)) for name, value in named.items()]
    return COLLECTOR.collect(files)


def data_of(collected: Collected, kind: str) -> list[Any]:
    return [event.to_json()["data"] for event in collected.events if event.type == kind]


def kinds(collected: Collected) -> list[str]:
    return [event.type for event in collected.events]


def codes(collected: Collected) -> list[tuple[str, bool]]:
    """List the notes, but for the one on times, which every event has without a zone."""
    notes = [(note.code, note.lossy) for note in collected.notes]
    return [note for note in notes if note[0] != "time-without-zone"]


def stats(collected: Collected) -> Statistics:
    return create_session_lookups(redact(Session.of(collected.events)).session).stats


# --- the first generation ---------------------------------------------------


def event(number: int, source: str = "agent", **rest: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": f"{TIME[:-2]}{number:02}", "source": source, **rest}


def response(name: str, prompt: int, *calls: tuple[str, str]) -> dict[str, Any]:
    made = [
        {"id": call_id, "type": "function", "function": {"name": "x", "arguments": arguments}}
        for call_id, arguments in calls
    ]
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": prompt // 2},
    }
    choices = [{"message": {"tool_calls": made}}]
    return {"id": name, "model": "m", "usage": usage, "choices": choices}


def action(number: int, call_id: str, answer: Any, **rest: Any) -> dict[str, Any]:
    metadata = {
        "function_name": "execute_bash",
        "tool_call_id": call_id,
        "model_response": answer,
        "total_calls_in_response": 1,
    }
    args = {"command": "ls", "thought": "I look", "hidden": False, "blocking": False}
    fields = {"action": "run", "tool_call_metadata": metadata, "args": args}
    return event(number, **{**fields, **rest})


def observed(number: int, cause: int, code: Any = 0, **rest: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "observation": "run",
        "cause": cause,
        "content": "out",
        "extras": {"command": "ls", "metadata": {"exit_code": code}},
        "success": code == 0,
    }
    return event(number, **{**fields, **rest})


R1 = response("r1", 100, ("c1", '{"command": "ls -a"}'), ("c2", '{"command": "pwd"}'))
R2 = response("r2", 300, ("c3", "{}"))
LEGACY = [
    event(0, action="system", args={"content": "rules"}),
    event(1, "user", action="message", args={"content": "go"}),
    event(2, "user", action="recall", args={"query": "go"}),
    event(3, "environment", observation="recall", cause=2, content="", extras={}),
    action(4, "c1", R1),
    action(5, "c2", R1),
    observed(6, 5, 2),
    observed(7, 4, 0),
    action(8, "c3", R2, action="think", args={"thought": "hm"}),
    event(9, observation="think", cause=8, content="logged", extras={}),
    event(
        10,
        action="finish",
        args={"final_thought": "all done", "task_completed": "true", "thought": "end"},
        tool_call_metadata={"function_name": "finish", "model_response": response("r3", 400)},
    ),
]


def test_every_event_of_the_first_generation_becomes_its_events() -> None:
    collected = collect(lines(*LEGACY))
    assert kinds(collected) == [
        "session.start",
        "system.message",
        "user.message",
        "assistant.message",
        "tool.execution_start",
        "usage.report",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_complete",
        "tool.execution_complete",
        "tool.execution_start",
        "usage.report",
        "tool.execution_complete",
        "assistant.message",
        "session.task_complete",
        "usage.report",
    ]
    # The arguments are those that the model gave.
    assert data_of(collected, "tool.execution_start")[0] == {
        "toolCallId": "c1",
        "toolName": "execute_bash",
        "input": {"command": "ls -a"},
    }
    assert data_of(collected, "session.task_complete") == [{"summary": "all done", "success": True}]
    assert collected.events[2].rest["timestamp"] == "2026-03-04T10:00:01Z"


def test_an_observation_answers_the_action_that_caused_it() -> None:
    collected = collect(lines(*LEGACY))
    ended = data_of(collected, "tool.execution_complete")
    assert [(data["toolCallId"], data["success"]) for data in ended] == [
        ("c2", False),
        ("c1", True),
        ("c3", True),
    ]
    assert [data.get("exitCode") for data in ended] == [2, 0, None]
    found = stats(collected)
    # Finishing is no call, since nothing ever answers it.
    assert (found.tool_calls, found.failed_tool_calls, found.unfinished_tool_calls) == (3, 1, 0)
    assert found.duration.value_ms == 10_000


def test_calls_of_one_response_share_one_request() -> None:
    collected = collect(lines(*LEGACY))
    assert data_of(collected, "usage.report")[0] == {
        "requestId": "r1",
        "model": "m",
        "purpose": "agent",
        "usage": {
            "inputTokens": 100,
            "outputTokens": 5,
            "cacheReadInputTokens": 50,
            "inputTokensIncludeCache": True,
        },
    }
    found = stats(collected)
    assert (found.requests, found.peak_input_tokens, found.cumulative_input_tokens) == (3, 400, 800)
    assert (found.tokens.output_tokens, found.tokens.total_tokens) == (15, 815)


def test_the_list_of_requests_counts_before_what_actions_carry() -> None:
    listed = [
        {"response_id": "r1", "model": "m", "prompt_tokens": 100, "completion_tokens": 5},
        {"response_id": "r1", "model": "m", "prompt_tokens": 110, "completion_tokens": 5},
        {"response_id": "", "prompt_tokens": 20, "completion_tokens": 1},
        {"response_id": "r2", "prompt_tokens": 300, "completion_tokens": 5},
        {"response_id": "", "prompt_tokens": 21, "completion_tokens": 1},
    ]
    total = {"prompt_tokens": 451, "completion_tokens": 12, "cache_read_tokens": 9}
    metrics = {"token_usages": listed, "accumulated_token_usage": total, "accumulated_cost": 0.5}
    result = {"instance_id": "i", "history": LEGACY, "metrics": metrics}
    collected = collect(lines(result))
    ids = [data["requestId"] for data in data_of(collected, "usage.report")]
    assert ids == ["r1", "0.jsonl#2", "r2", "0.jsonl#4"]
    found = stats(collected)
    # 110 as listed last, 20, 300 and 21; the totals are not added.
    assert (found.requests, found.tokens.input_tokens) == (4, 451)
    assert codes(collected) == [("request-again", False)]
    assert data_of(collected, "session.result") == [
        {
            "totalCostUsd": 0.5,
            "usage": {
                "inputTokens": 451,
                "outputTokens": 12,
                "cacheReadInputTokens": 9,
                "inputTokensIncludeCache": True,
            },
        }
    ]


def test_the_list_that_every_event_repeats_counts_once() -> None:
    usage = [
        {"response_id": f"r{n}", "prompt_tokens": n, "completion_tokens": 1} for n in (1, 2, 3)
    ]
    total = {"prompt_tokens": 6, "completion_tokens": 3}
    rows = [
        action(4, "c1", None, llm_metrics={"token_usages": usage[:1]}),
        action(5, "c2", None, llm_metrics={"token_usages": usage[:2]}),
        action(
            6,
            "c3",
            None,
            llm_metrics={"token_usages": usage, "accumulated_token_usage": total},
        ),
    ]
    collected = collect(lines(*rows))
    found = stats(collected)
    assert (found.requests, found.tokens.input_tokens) == (3, 6)
    assert data_of(collected, "session.result")[0]["usage"]["inputTokens"] == 6


def test_cached_tokens_that_outnumber_the_prompt_stand_beside_it() -> None:
    usage = [
        {"model": "m", "prompt_tokens": 10, "completion_tokens": 1, "cache_read_tokens": 90},
        {"model": "m", "prompt_tokens": 50, "completion_tokens": 1, "cache_read_tokens": 40},
    ]
    result = {"history": LEGACY, "metrics": {"token_usages": usage}}
    # 10 + 90, and 50 + 40.
    assert stats(collect(lines(result))).cumulative_input_tokens == 190


@pytest.mark.parametrize(
    ("fields", "success", "code"),
    [
        ({}, True, 0),
        ({"success": None, "extras": {"exit_code": 3}}, False, 3),
        ({"success": None, "extras": {}}, None, None),
        ({"success": False, "extras": {"metadata": {"exit_code": -1}}}, False, None),
        ({"success": None, "extras": {"metadata": {"exit_code": -1}}}, None, None),
        ({"success": True, "extras": {"metadata": {"exit_code": 4}}}, True, 4),
        ({"observation": "edit", "success": None, "extras": {"path": "a"}}, None, None),
        ({"observation": "browse", "success": None, "extras": {"error": True}}, False, None),
        ({"observation": "error", "success": None, "extras": {}}, False, None),
        ({"observation": "user_rejected", "success": None, "extras": {}}, False, None),
    ],
)
def test_an_outcome_is_what_the_observation_records(fields: Any, success: Any, code: Any) -> None:
    collected = collect(lines(action(4, "c1", None), {**observed(5, 4), **fields}))
    ended = data_of(collected, "tool.execution_complete")[0]
    assert (ended.get("success"), ended.get("exitCode")) == (success, code)
    # Any explicit failure wins.
    failed = success is False or bool(code)
    assert stats(collected).unknown_outcomes == (1 if success is None and not failed else 0)


def test_words_of_an_observation_say_nothing() -> None:
    rows = [
        action(4, "c1", None, action="edit", args={"path": "a", "command": "create"}),
        event(5, observation="edit", cause=4, content="ERROR:\nno", extras={"path": "a"}),
    ]
    found = stats(collect(lines(*rows)))
    assert (found.unknown_outcomes, found.tool_calls) == (1, 1)


def test_what_no_model_asked_for_is_no_call() -> None:
    rows = [
        event(0, "user", action="run", args={"command": "ls"}),
        observed(1, 0, 1),
        event(2, "environment", action="change_agent_state", args={}),
        event(
            3,
            "environment",
            observation="agent_state_changed",
            content="",
            extras={"agent_state": "error", "reason": "limit"},
        ),
        event(4, observation="error", content="no such tool", extras={"error_id": ""}),
        event(5, action="message", args={"content": "hello"}),
        event(6, action="condensation", args={"summary": "short"}),
        event(7, action="reject", args={}),
    ]
    collected = collect(lines(*rows))
    assert stats(collected).tool_calls == 0
    assert [data["message"] for data in data_of(collected, "session.error")] == [
        "limit",
        "no such tool",
    ]
    assert data_of(collected, "assistant.message") == [{"content": "hello"}]
    assert data_of(collected, "session.info") == [{"message": "short", "status": "condensation"}]
    assert data_of(collected, "session.task_complete") == [{"success": False}]


def test_without_a_response_arguments_are_those_of_the_action() -> None:
    rows = [
        action(1, "c1", None),
        action(2, "c2", None, action="think", args={"thought": "a"}),
        event(3, action="run_ipython", args={"code": "1", "thought": "", "is_confirmed": "y"}),
    ]
    inputs = [data["input"] for data in data_of(collect(lines(*rows)), "tool.execution_start")]
    assert inputs == [{"command": "ls"}, {"thought": "a"}, {"code": "1"}]


FLAT = [
    {"action": "message", "content": "go", "wait_for_response": False},
    {"action": "run", "command": "ls", "thought": "I look", "keep_prompt": True},
    {"observation": "run", "content": "a", "command": "ls", "command_id": -1, "exit_code": 1},
    {"action": "run_ipython", "code": "1", "thought": "", "kernel_init_code": "x"},
    {"observation": "run_ipython", "content": "1", "code": "1"},
    {"action": "finish", "outputs": {}, "thought": "done"},
]


def test_early_histories_have_no_envelope_and_what_follows_an_action_answers_it() -> None:
    for history in (FLAT, [FLAT[:1], FLAT[1:3], FLAT[3:]]):
        result = {"issue": {}, "history": history, "metrics": {"costs": [1]}, "error": "late"}
        collected = collect(lines(result))
        assert data_of(collected, "user.message") == [{"content": "go"}]
        inputs = [data["input"] for data in data_of(collected, "tool.execution_start")]
        assert inputs == [{"command": "ls"}, {"code": "1"}]
        found = stats(collected)
        assert (found.tool_calls, found.failed_tool_calls, found.unknown_outcomes) == (2, 2, 1)
        assert found.requests is None
        assert data_of(collected, "session.error") == [{"message": "late"}]


def test_event_files_are_put_in_order_by_their_numbers() -> None:
    rows = {f"e{row['id']}": row for row in LEGACY}
    names = sorted(rows)
    assert names[2] == "e10"
    collected = collect(**{name: rows[name] for name in names})
    assert stats(collected) == stats(collect(e0=rows["e0"], **dict(sorted(rows.items())[1:])))
    assert kinds(collected) == kinds(collect(lines(*LEGACY)))
    assert {found.provenance.path for found in collected.events} == {"e0.json"}


def test_a_call_id_that_comes_again_is_another_call() -> None:
    rows = [action(1, "c1", None), action(2, "c1", None), observed(3, 2, 1), observed(4, 1, 0)]
    collected = collect(lines(*rows))
    found = stats(collected)
    assert (found.tool_calls, found.successful_tool_calls, found.failed_tool_calls) == (2, 1, 1)
    assert (found.reused_ids, found.unfinished_tool_calls) == (0, 0)


def test_copied_events_count_once() -> None:
    collected = collect(lines(*LEGACY, *LEGACY))
    assert stats(collected).tool_calls == 3
    assert codes(collected) == [("copied-event", False)]


def test_runs_are_never_mixed() -> None:
    results = [{"instance_id": name, "history": LEGACY} for name in ("a", "b")]
    collected = collect(lines(*results))
    assert collected.events == ()
    assert codes(collected) == [("several-runs", True)]
    collected = collect(lines(results[0], results[0]))
    assert stats(collected).tool_calls == 3
    assert codes(collected) == [("copied-run", False)]


# --- the second generation --------------------------------------------------


def sdk(kind: str, name: str, source: str = "agent", **rest: Any) -> dict[str, Any]:
    return {"id": name, "timestamp": TIME, "source": source, "kind": kind, **rest}


def text(content: str) -> list[Any]:
    return [{"type": "text", "text": content}]


def act(name: str, call_id: str, answer: str, **rest: Any) -> dict[str, Any]:
    fields = {
        "thought": text("I look"),
        "reasoning_content": "hm",
        "action": {"command": "ls", "kind": "TerminalAction"},
        "tool_name": "terminal",
        "tool_call_id": call_id,
        "tool_call": {"id": call_id, "name": "terminal", "arguments": '{"command": "ls"}'},
        "llm_response_id": answer,
    }
    return sdk("ActionEvent", name, **{**fields, **rest})


def seen(name: str, action_id: str, call_id: str, **rest: Any) -> dict[str, Any]:
    observation = {"content": text("out"), "is_error": False, "exit_code": 0, **rest}
    fields = {"tool_name": "terminal", "tool_call_id": call_id, "action_id": action_id}
    return sdk("ObservationEvent", name, "environment", observation=observation, **fields)


def counted(
    name: str, prompt: int, answer: int, cached: int, turn: int, *, usage_id: str = "default"
) -> dict[str, Any]:
    usage = {
        "model": "m",
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "cache_read_tokens": cached,
        "per_turn_token": turn,
    }
    value = {"usage_to_metrics": {usage_id: {"accumulated_token_usage": usage}}}
    return sdk("ConversationStateUpdateEvent", name, "environment", key="stats", value=value)


SDK = [
    sdk("SystemPromptEvent", "e0", system_prompt={"type": "text", "text": "rules"}, tools=[]),
    sdk("MessageEvent", "e1", "user", llm_message={"role": "user", "content": text("go")}),
    counted("s1", 100, 10, 0, 110),
    act("e2", "c1", "r1"),
    act("e3", "c2", "r1", thought=[], reasoning_content=None),
    seen("e4", "e3", "c2", is_error=True, exit_code=None, metadata={"exit_code": -1}),
    seen("e5", "e2", "c1"),
    counted("s2", 300, 25, 90, 215),
    counted("s3", 300, 25, 90, 215),
    act("e6", "c3", "r2", action=None, tool_name="nothing"),
    sdk("AgentErrorEvent", "e7", tool_name="nothing", tool_call_id="c3", error="unknown tool"),
    counted("s4", 40, 5, 0, 45, usage_id="condenser"),
    sdk("Condensation", "e8", "environment", summary="short", llm_response_id="r9"),
    sdk("MessageEvent", "e9", llm_message={"content": text("done"), "reasoning_content": "hm"}),
    sdk("ConversationErrorEvent", "e10", "environment", code="X", detail="late"),
    sdk("PauseEvent", "e11", "user"),
]


def test_every_event_of_the_second_generation_becomes_its_events() -> None:
    collected = collect(lines(*SDK))
    assert kinds(collected) == [
        "session.start",
        "system.message",
        "user.message",
        "usage.report",
        "assistant.reasoning",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_start",
        "tool.execution_complete",
        "tool.execution_complete",
        "usage.report",
        "assistant.reasoning",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_complete",
        "usage.report",
        "session.info",
        "assistant.reasoning",
        "assistant.message",
        "session.error",
        "session.result",
    ]
    assert data_of(collected, "tool.execution_start")[0] == {
        "toolCallId": "c1",
        "toolName": "terminal",
        "input": {"command": "ls"},
    }
    assert data_of(collected, "session.error") == [{"message": "late", "errorType": "X"}]
    assert codes(collected) == []


def test_an_advance_of_the_cumulative_counts_is_one_request() -> None:
    collected = collect(lines(*SDK))
    counts = [data["usage"] for data in data_of(collected, "usage.report")]
    # 100, then 300 - 100 of which 90 were cached; the same counts again are no request.
    assert [count["inputTokens"] for count in counts] == [100, 200, 40]
    assert [count["outputTokens"] for count in counts] == [10, 15, 5]
    assert [count["cacheReadInputTokens"] for count in counts] == [0, 90, 0]
    assert [data.get("purpose") for data in data_of(collected, "usage.report")] == [
        "agent",
        "agent",
        None,
    ]
    found = stats(collected)
    assert (found.requests, found.tokens.input_tokens, found.tokens.total_tokens) == (3, 340, 370)
    assert data_of(collected, "session.result")[0]["usage"] == {
        "inputTokens": 340,
        "outputTokens": 30,
        "cacheReadInputTokens": 90,
        "inputTokensIncludeCache": True,
    }


def test_counts_that_fall_began_anew() -> None:
    rows = [*SDK, counted("s5", 70, 7, 0, 77)]
    found = stats(collect(lines(*rows)))
    assert (found.requests, found.tokens.input_tokens) == (4, 410)


def test_an_advance_of_several_requests_leaves_only_their_responses_known() -> None:
    rows = [row for row in SDK if row["id"] != "s1"]
    collected = collect(lines(*rows))
    assert codes(collected) == [("requests-aggregated", False)]
    ids = [data["requestId"] for data in data_of(collected, "usage.report")]
    assert ids == ["r1", "r2", "r9"]
    found = stats(collected)
    assert (found.requests, found.peak_input_tokens) == (3, None)
    assert data_of(collected, "session.result")[0]["usage"]["inputTokens"] == 340


def test_without_any_counts_the_responses_are_requests_of_unknown_size() -> None:
    rows = [row for row in SDK if row["kind"] != "ConversationStateUpdateEvent"]
    found = stats(collect(lines(*rows)))
    assert (found.requests, found.tokens.input_tokens) == (3, None)


def test_the_saved_state_lists_the_requests() -> None:
    def listed(name: str, prompt: int) -> dict[str, Any]:
        return {"response_id": name, "model": "m", "prompt_tokens": prompt, "completion_tokens": 1}

    state = {
        "id": "conversation",
        "agent": {"llm": {"model": "p/m"}},
        "stats": {
            "usage_to_metrics": {
                "agent": {
                    "token_usages": [listed("r1", 100), listed("r2", 200)],
                    "accumulated_token_usage": {"prompt_tokens": 300, "completion_tokens": 2},
                    "accumulated_cost": 0.5,
                },
                "condenser": {
                    "token_usages": [listed("r9", 40)],
                    "accumulated_token_usage": {"prompt_tokens": 40, "completion_tokens": 1},
                    "accumulated_cost": 0.25,
                },
            }
        },
    }
    collected = collect(lines(*SDK), base_state=state)
    assert data_of(collected, "session.start") == [
        {"sourceEngine": "openhands", "model": "p/m", "sessionId": "conversation"}
    ]
    ids = [data["requestId"] for data in data_of(collected, "usage.report")]
    assert ids == ["r1", "r2", "r9"]
    found = stats(collected)
    assert (found.requests, found.tokens.input_tokens) == (3, 340)
    assert data_of(collected, "session.result")[0]["totalCostUsd"] == 0.75
    alone = collect(base_state=state)
    assert stats(alone).requests == 3
    assert codes(alone) == []


def test_results_answer_the_actions_they_name() -> None:
    collected = collect(lines(*SDK))
    found = stats(collected)
    assert (found.tool_calls, found.successful_tool_calls, found.failed_tool_calls) == (3, 1, 2)
    ended = data_of(collected, "tool.execution_complete")
    assert ended[0] == {
        "toolCallId": "c2",
        "toolName": "terminal",
        "output": text("out"),
        "success": False,
    }
    assert ended[2]["error"] == "unknown tool"


@pytest.mark.parametrize(
    ("fields", "success", "code"),
    [
        ({}, True, 0),
        ({"exit_code": 1}, False, 1),
        ({"is_error": True, "exit_code": 0}, False, 0),
        ({"exit_code": -1}, None, None),
        ({"exit_code": None, "metadata": {"exit_code": 5}}, False, 5),
        ({"exit_code": None, "is_error": None}, None, None),
        ({"exit_code": None}, True, None),
    ],
)
def test_an_error_flag_and_an_exit_code_decide(fields: Any, success: Any, code: Any) -> None:
    collected = collect(lines(act("e2", "c1", "r1"), seen("e3", "e2", "c1", **fields)))
    ended = data_of(collected, "tool.execution_complete")[0]
    assert (ended.get("success"), ended.get("exitCode")) == (success, code)


def test_a_rejected_action_failed_and_an_unanswered_one_is_unfinished() -> None:
    rejected = {"tool_name": "terminal", "tool_call_id": "c1", "action_id": "e2"}
    rows = [
        act("e2", "c1", "r1"),
        act("e3", "c2", "r1"),
        sdk("UserRejectObservation", "e4", "user", rejection_reason="no", **rejected),
    ]
    found = stats(collect(lines(*rows)))
    assert (found.failed_tool_calls, found.unfinished_tool_calls) == (2, 1)


def test_a_result_whose_action_is_not_in_the_file_is_a_call_of_its_own() -> None:
    collected = collect(lines(seen("e3", "e2", "c1", exit_code=1)))
    found = stats(collected)
    assert (found.tool_calls, found.failed_tool_calls) == (1, 1)
    assert codes(collected) == [("stray-result", False)]


def test_calls_behind_a_protocol_are_told_as_they_go_on() -> None:
    def told(name: str, status: str, **rest: Any) -> dict[str, Any]:
        fields = {"tool_call_id": "c1", "title": "Read a", "tool_kind": "read", "status": status}
        return sdk("ACPToolCallEvent", name, **fields, **rest)

    rows = [
        told("e1", "pending"),
        told("e2", "in_progress"),
        told("e3", "failed"),
        told("e4", "failed"),
    ]
    found = stats(collect(lines(*rows)))
    assert (found.tool_calls, found.failed_tool_calls, found.repeated_observations) == (1, 1, 0)


def test_event_files_of_the_second_generation_are_put_in_order_by_name() -> None:
    names = [f"event-{number:05}" for number in range(len(SDK))]
    rows = dict(zip(names, SDK, strict=True))
    given_first = names[5]
    others = {name: rows[name] for name in names if name != given_first}
    collected = collect(**{given_first: rows[given_first], **others})
    assert kinds(collected) == kinds(collect(lines(*SDK)))


def test_what_cannot_be_used_is_noted() -> None:
    collected = collect(
        lines(
            event(0, action="dance", args={}),
            observed(2, 99),
            act("e2", "c1", "r1", tool_name=None, tool_call=None),
            sdk("ACPToolCallEvent", "e3", tool_call_id="c"),
            sdk("ObservationEvent", "e4", observation=5),
            {"a": 1},
        )
    )
    assert codes(collected) == [
        ("call-without-name", True),
        ("not-an-event", True),
        ("result-of-no-call", True),
        ("unknown-action", False),
    ]
    usage = {"token_usages": [5, {"prompt_tokens": -1}]}
    collected = collect(
        lines({"history": [*LEGACY, 5, {"id": 1}, sdk("New", "x")], "metrics": usage})
    )
    assert codes(collected) == [
        ("event-not-an-object", True),
        ("invalid-number", True),
        ("unknown-event", True),
        ("usage-not-an-object", True),
    ]


CONTENTS = [
    lines(*LEGACY),
    lines(*SDK),
    _json.compact(LEGACY),
    _json.pretty(LEGACY),
    lines({"instance_id": "i", "history": LEGACY, "metrics": {"token_usages": []}}),
    lines({"issue": {}, "history": FLAT}),
    lines({"id": "c", "stats": {"usage_to_metrics": {}}}),
]
OTHERS: list[Any] = [
    {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": ""}},
    {"type": "session.start", "data": {}, "timestamp": TIME, "parentId": None},
    {"type": "session_meta", "payload": {"id": "x"}, "timestamp": TIME},
    {"type": "session", "id": "s", "cwd": "/w"},
    {"kind": "SPAN_KIND_CLIENT", "id": "a", "source": "agent", "timestamp": 1},
    {"schema_version": "ATIF-v1.7", "steps": [{"source": "agent"}], "agent": {}},
    {"history": [{"role": "assistant", "agent": "main", "content": "", "action": "ls"}]},
    {"trajectory": [{"action": "ls", "observation": "", "response": ""}], "history": []},
    {"action": "run", "args": {}},
    {"version": 2, "status": "success", "eval": {}, "samples": []},
    {"messages": [], "response": {"id": "r"}, "cost": 1, "latency_sec": 1},
    {},
]


@pytest.mark.parametrize("value", OTHERS)
def test_other_recordings_are_not_detected(value: Any) -> None:
    assert not COLLECTOR.detect(_json.compact(value))
    assert not COLLECTOR.detect(_json.pretty(value))


@pytest.mark.parametrize("content", CONTENTS)
def test_own_recordings_are_detected_and_unified_sessions_are_not(content: bytes) -> None:
    assert COLLECTOR.detect(content)
    assert COLLECTOR.detect(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))
    found = {"type": "a.b", "data": {}, "provenance": {}}
    assert not COLLECTOR.detect(content + b"\n" + _json.compact(found))
    assert not COLLECTOR.detect(_json.compact({**LEGACY[1], "provenance": {}}))


@pytest.mark.parametrize("content", [b"", b"\0\0", b"\xff\xfe\x00", b'"kind"', b"[1]", b"null"])
def test_no_recordings_are_not_detected(content: bytes) -> None:
    assert not COLLECTOR.detect(content)
    assert collect(content).events == ()


def test_a_bad_line_is_skipped_and_the_others_are_read() -> None:
    content = lines(*LEGACY[:4]) + b'{"id": 4, "act\n' + lines(*LEGACY[4:])
    collected = collect(content)
    assert stats(collected).tool_calls == 3
    assert codes(collected) == [("not-json", True)]


def test_a_cut_recording_never_raises_and_is_noted() -> None:
    for content in CONTENTS:
        whole = len(collect(content).events)
        for place in range(0, len(content.rstrip()), 1 if len(content) < 3000 else 3):
            cut = collect(content[:place])
            lines_end = content[place - 1 : place + 1].find(b"\n") >= 0
            noted = any(note.lossy for note in cut.notes)
            assert noted or lines_end or not place
            assert len(cut.events) <= whole + 1
            collect(content[place:])


def test_many_calls_cost_linear_time() -> None:
    answer = response("r", 10, *((f"c{number}", "{}") for number in range(300)))
    rows = [action(number, f"c{number}", answer) for number in range(300)]
    ended = [observed(1000 + number, 299 - number) for number in range(300)]
    found = stats(collect(lines({"history": [*rows, *ended]})))
    assert (found.successful_tool_calls, found.requests) == (300, 1)


def test_wrong_types_anywhere_never_raise() -> None:
    for whole in (LEGACY, SDK, {"issue": {}, "history": FLAT, "metrics": {"token_usages": [{}]}}):
        for spoilt in wrongly_typed(_json.compact(whole)):
            COLLECTOR.detect(spoilt)
            collect(spoilt)


@given(damaged(tuple(CONTENTS)))
def test_damaged_recordings_give_no_error(contents: tuple[bytes, ...]) -> None:
    for content in contents:
        COLLECTOR.detect(content)
        assert_steady(content, collect, stats)
