"""Folders: layouts of artifacts, what is never read, links, limits, and damage."""

import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders.collectors.assembly import assemble
from aw_graders.collectors.gh_aw import collect_root, is_root, limits, run, source, tree
from aw_graders.session import Session, encode_jsonl, read_session
from aw_graders.session.order import order_problem
from aw_graders.session.validate import validate
from tests.unit.collectors.gh_aw.runs import (
    INIT,
    PROXY,
    START,
    codes,
    collect,
    complete,
    data_of,
    lines,
    lookups,
    places,
    request,
    start,
    write,
)

AGENT = {
    "agent-session.jsonl": lines(INIT, start("c"), complete("c")),
    "mcp-logs/gateway.jsonl": "",
    PROXY: lines(request("r", 10)),
    "safeoutputs.jsonl": lines({"type": "noop"}),
}
OTHERS = {
    "activation": {"aw_info.json": {"run_id": 1}},
    "detection": {"detection_result.json": {"conclusion": "success"}},
    "evals": {"evals.jsonl": lines({"id": "q", "answer": "NO"})},
    "experiment": {"assignments.json": {"a": "b"}},
    "safe-outputs-items": {"safe-output-items.jsonl": lines({"type": "x"})},
}


@pytest.mark.parametrize("prefix", ["", "abc123-"])
@pytest.mark.parametrize("inner", ["", "tmp/gh-aw/"])
def test_artifacts_in_folders_of_their_own(tmp_path: Path, prefix: str, inner: str) -> None:
    files = {f"{prefix}agent/{inner}{name}": content for name, content in AGENT.items()}
    for folder, contents in OTHERS.items():
        files |= {f"{prefix}{folder}/{name}": content for name, content in contents.items()}
    collected = collect(tmp_path, files)
    assert {(component, path) for component, _, path, _ in places(collected)} == {
        ("agent", f"{prefix}agent/{inner}agent-session.jsonl"),
        ("mcp", f"{prefix}agent/{inner}mcp-logs/gateway.jsonl"),
        ("firewall", f"{prefix}agent/{inner}{PROXY}"),
        ("safe_output", f"{prefix}agent/{inner}safeoutputs.jsonl"),
        ("safe_output", f"{prefix}safe-outputs-items/safe-output-items.jsonl"),
        ("workflow", f"{prefix}activation/aw_info.json"),
        ("detection", f"{prefix}detection/detection_result.json"),
        ("eval", f"{prefix}evals/evals.jsonl"),
        ("experiment", f"{prefix}experiment/assignments.json"),
    }
    assert not collected.notes
    assert is_root(tmp_path)


def test_the_same_run_merged_into_one_folder_gives_the_same_numbers(tmp_path: Path) -> None:
    merged = {**AGENT, **OTHERS["activation"], **OTHERS["safe-outputs-items"]}
    collected = collect(tmp_path / "a", merged)
    apart = {f"agent/{name}": content for name, content in AGENT.items()}
    apart |= {f"info/{name}": content for name, content in OTHERS["activation"].items()}
    apart |= {
        f"safe-outputs-items/{name}": content
        for name, content in OTHERS["safe-outputs-items"].items()
    }
    one, other = (lookups(item).stats for item in (collected, collect(tmp_path / "b", apart)))
    assert (one.tool_calls, one.requests, one.retries, one.safe_output_results) == (1, 1, 0, 1)
    assert (one.tokens, one.duration) == (other.tokens, other.duration)
    assert (other.tool_calls, other.requests, other.safe_output_results) == (1, 1, 1)


def test_files_in_folders_of_their_own_name(tmp_path: Path) -> None:
    files = {
        "aw_info.json/aw_info.json": {"run_id": 1},
        "agent_output.json/agent_output.json": {"items": []},
    }
    assert places(collect(tmp_path, files)) == {
        ("workflow", "activation", "aw_info.json/aw_info.json", 1),
        ("safe_output", "agent", "agent_output.json/agent_output.json", 0),
    }


def test_the_small_copy_of_the_agents_artifact_stands_in(tmp_path: Path) -> None:
    small = {f"agent-output-fallback/{name}": AGENT[name] for name in ("safeoutputs.jsonl", PROXY)}
    collected = collect(tmp_path, small)
    assert places(collected) == {
        ("firewall", "agent", f"agent-output-fallback/{PROXY}", 1),
        ("safe_output", "agent", "agent-output-fallback/safeoutputs.jsonl", 1),
    }


def test_of_two_agents_one_is_read_and_the_other_is_said(tmp_path: Path) -> None:
    files = {f"{prefix}-agent/agent-session.jsonl": lines(INIT) for prefix in "ab"}
    collected = collect(tmp_path, files)
    assert places(collected) == {("agent", "agent", "a-agent/agent-session.jsonl", 1)}
    assert codes(collected) == [("several-artifacts", "b-agent", None, True)]


def test_artifacts_of_another_agent_are_not_mixed_in(tmp_path: Path) -> None:
    files = {
        "b-agent/agent-session.jsonl": lines(INIT),
        "a-detection/detection_result.json": {"conclusion": "x"},
        "b-detection/detection_result.json": {"conclusion": "y"},
        "a-evals/evals.jsonl": lines({"id": "q"}),
        "usage/agent_usage.jsonl": lines({"input_tokens": 1}),
        "flow-experiment/assignments.json": {"a": "b"},
    }
    collected = collect(tmp_path, files)
    assert {path for _, _, path, _ in places(collected)} == {
        "b-agent/agent-session.jsonl",
        "b-detection/detection_result.json",
        "usage/agent_usage.jsonl",
        "flow-experiment/assignments.json",
    }
    assert codes(collected) == [
        ("several-artifacts", folder, None, True) for folder in ("a-detection", "a-evals")
    ]


def test_without_an_agent_the_artifacts_of_one_prefix_are_read(tmp_path: Path) -> None:
    files = {
        "usage/evals.jsonl": "",
        "b-detection/detection_result.json": {},
        "a-safe-outputs-items/safe-output-items.jsonl": "",
        "b-safe-outputs-items/safe-output-items.jsonl": "",
    }
    assert {path for _, _, path, _ in places(collect(tmp_path, files))} == {
        "usage/evals.jsonl",
        "a-safe-outputs-items/safe-output-items.jsonl",
    }


def test_what_graders_wrote_is_never_evidence(tmp_path: Path) -> None:
    session = encode_jsonl(Session.of(collect(tmp_path / "a", AGENT).events))
    never = {
        "usage/aw_session.jsonl": session,
        "usage/graders/grader_results.json": {"results": []},
        "agent/graders/grader_manifest.json": {},
        "graders/agent-session.jsonl": lines(INIT),
        "x-graders/agent-session.jsonl": lines(INIT),
        "mcp-logs/aw_session.jsonl": lines({"event": "tool_call", "tool_name": "t"}),
    }
    collected = collect(tmp_path / "b", never)
    assert len(collected.events) == 2
    assert not collected.notes
    write(tmp_path / "c", {name: never[name] for name in list(never)[:5]})
    assert not is_root(tmp_path / "c")


def test_collecting_twice_gives_the_same(tmp_path: Path) -> None:
    first = collect(tmp_path, {**AGENT, "usage/agent_usage.jsonl": lines({"input_tokens": 1})})
    write(tmp_path, {"usage/aw_session.jsonl": encode_jsonl(Session.of(first.events))})
    assert collect_root(tmp_path) == first


def test_a_collected_session_is_whole_and_valid(tmp_path: Path) -> None:
    files = {**AGENT, "otel.jsonl": "oops\n", "aw_info.json": {"created_at": START}}
    collected = collect(tmp_path, files)
    session = Session.of(collected.events)
    assert validate(encode_jsonl(session)) == []
    assert order_problem(session.events) is None
    assert read_session(encode_jsonl(session)).session == session
    assert assemble(collected) == session
    assert [event.type for event in (session.events[0], *session.events[-2:])] == [
        "session.format",
        "session.collection_warning",
        "session.collection",
    ]
    assert session.events[-2].to_json() == {
        "type": "session.collection_warning",
        "data": {"code": "malformed_jsonl", "path": "otel.jsonl", "line": 1},
        "provenance": {
            "component": "collector",
            "phase": "conclusion",
            "path": "usage/aw_session.jsonl",
            "index": 1,
        },
    }
    last = session.events[-1].to_json()
    assert last["provenance"]["index"] == 2
    assert last["data"]["warnings"] == 1
    assert last["data"]["untimedEvents"] == 3
    assert last["data"]["absentComponents"] == ["experiment", "grader", "eval"]


def test_events_of_all_sources_are_written_by_time_and_keep_their_order(tmp_path: Path) -> None:
    def at(second: int) -> str:
        return f"2026-05-01T10:00:{second:02d}Z"

    session = lines(
        start("a", timestamp=at(5)),
        complete("a"),
        start("b", timestamp=at(3)),
        complete("b", timestamp=at(9)),
    )
    gateway = lines(
        {"event": "x", "timestamp": at(4)},
        {"event": "y", "timestamp": at(7)},
    )
    untimed = lines({"event": "z"})
    files = {
        "agent-session.jsonl": session,
        "mcp-logs/a.jsonl": gateway,
        "mcp-logs/b.jsonl": untimed,
    }
    found = [
        (event.provenance.path, event.provenance.index)
        for event in collect(tmp_path, files).events[1:-1]
    ]
    native = "agent-session.jsonl"
    assert found == [
        ("mcp-logs/a.jsonl", 0),
        *((native, index) for index in range(3)),
        ("mcp-logs/a.jsonl", 1),
        (native, 3),
        ("mcp-logs/b.jsonl", 0),
    ]


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"gateway.jsonl": lines({"event": "tool_call"})})
    root = write(tmp_path / "root", {"agent-session.jsonl": lines(INIT)})
    (root / "mcp-logs").symlink_to(outside)
    (root / "safeoutputs.jsonl").symlink_to(root / "agent-session.jsonl")
    (root / "loop").symlink_to(root)
    (root / "aw_info.json").symlink_to("/nowhere")
    collected = collect_root(root)
    assert places(collected) == {("agent", "agent", "agent-session.jsonl", 1)}
    assert codes(collected) == [
        ("symlink-not-read", name, None, True)
        for name in ("aw_info.json", "loop", "mcp-logs", "safeoutputs.jsonl")
    ]


def test_many_links_are_named_up_to_a_limit(tmp_path: Path) -> None:
    for number in range(limits.MAX_NAMED + 5):
        (tmp_path / f"l{number:03d}").symlink_to("/nowhere")
    collected = collect_root(tmp_path)
    assert len(collected.notes) == limits.MAX_NAMED + 1
    assert collected.notes[-1].message.startswith("5 more like it")


def test_a_file_exchanged_for_a_link_after_it_was_found_stays_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"agent-session.jsonl": lines(INIT), "secret": lines(INIT)})
    write(tmp_path, {"mcp-logs/gateway.jsonl": lines({"event": "x"})})
    real = tree.Tree.open

    def exchange(self: tree.Tree, path: str, notes: object) -> object:
        target = tmp_path / path
        target.unlink(missing_ok=True)
        if path == "agent-session.jsonl":
            target.symlink_to(tmp_path / "secret")
        elif (tmp_path / "secret").exists():
            os.link(tmp_path / "secret", target)
        return real(self, path, notes)

    monkeypatch.setattr(tree.Tree, "open", exchange)
    collected = collect_root(tmp_path)
    assert len(collected.events) == 2 + 3
    assert sorted(note.code for note in collected.notes) == [
        "file-exchanged",
        "native-session-unusable",
        "unreadable-file",
    ]


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "agent-session.jsonl")
    assert codes(collect_root(tmp_path)) == [
        ("not-a-regular-file", "agent-session.jsonl", None, True)
    ]


def test_names_that_no_path_can_have(tmp_path: Path) -> None:
    write(tmp_path, {"mcp-logs/..\\up.jsonl": "", "mcp-logs/a\nb.jsonl": ""})
    (tmp_path / os.fsdecode(b"mcp-logs/\xff.jsonl")).write_text("")
    collected = collect_root(tmp_path)
    assert [note.code for note in collected.notes] == ["unusable-name"] * 3
    assert validate(encode_jsonl(Session.of(collected.events))) == []


def test_depth_is_limited(tmp_path: Path) -> None:
    deep = "mcp-logs/" + "/".join("d" * 1 for _ in range(limits.MAX_DEPTH - 1))
    collected = collect(tmp_path, {f"{deep}/a.jsonl": "", f"{deep}/e/b.jsonl": ""})
    assert places(collected) == {("mcp", "agent", f"{deep}/a.jsonl", 0)}
    assert codes(collected) == [("directory-depth-limit", f"{deep}/e", None, True)]


def test_the_number_of_files_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_ENTRIES", 4)
    collected = collect(tmp_path, {f"mcp-logs/{number}.jsonl": "" for number in range(9)})
    assert len(places(collected)) < 4
    assert codes(collected) == [("files-limit", ".", None, True)]


def test_the_number_of_bytes_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = lines({"event": "x"})
    monkeypatch.setattr(run, "MAX_TOTAL_BYTES", 2 * len(row))
    collected = collect(tmp_path, {f"mcp-logs/{number}.jsonl": row for number in range(4)})
    assert [path for _, _, path, _ in sorted(places(collected))] == [
        "mcp-logs/0.jsonl",
        "mcp-logs/1.jsonl",
    ]
    assert [note.code for note in collected.notes] == ["bytes-limit", "bytes-limit"]


def test_documents_and_lines_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MAX_DOCUMENT_BYTES", 20)
    monkeypatch.setattr(run, "MAX_LINE_BYTES", 40)
    long = lines({"event": "y" * 100})
    files = {
        "aw_info.json": {"run_id": "5" * 30},
        "mcp-logs/a.jsonl": lines({"event": "x"}) + long + long.strip(),
    }
    collected = collect(tmp_path, files)
    assert codes(collected) == [
        ("file-too-large", "aw_info.json", None, True),
        ("line-too-long", "mcp-logs/a.jsonl", 2, True),
    ]
    assert data_of(collected, "mcp.event") == [{"event": "x"}]


def test_a_record_that_would_be_too_deep_as_an_event_is_left_out(tmp_path: Path) -> None:
    deep = "[" * 511 + "]" * 511
    files = {"experiments/assignments.json": f'{{"a":{deep}}}'}
    collected = collect(tmp_path, files)
    assert codes(collected) == [("nested-too-deeply", "experiments/assignments.json", None, True)]
    assert places(collected) == set()


def test_damaged_lines_are_said_and_the_others_are_read(tmp_path: Path) -> None:
    content = (
        b"\xef\xbb\xbf" + lines({"event": "a"}).encode().replace(b"\n", b"\r\n")
        + b"\n\0\0\0\n"
        + b'{"event":"b"}{"event":"c"}\n'
        + b"\0\0" + lines({"event": "d"}).encode()
        + b"[1]\n5\nnot json\n"
        + b'{"event":"e","event":"f","message":"\\ud800"}\n'
        + b'{"event":"cut'
    )  # fmt: skip
    collected = collect(tmp_path, {"mcp-logs/a.jsonl": content})
    assert [data["event"] for data in data_of(collected, "mcp.event")] == ["a", "b", "c", "d", "f"]
    assert codes(collected) == [
        ("duplicate-keys", "mcp-logs/a.jsonl", 9, False),
        ("lone-surrogates", "mcp-logs/a.jsonl", 9, False),
        ("malformed-jsonl", "mcp-logs/a.jsonl", 8, True),
        ("non-object-record", "mcp-logs/a.jsonl", 6, True),
        ("nul-bytes", "mcp-logs/a.jsonl", 3, True),
    ]


@pytest.mark.parametrize("content", ["", "[1]", "null", "{oops", '"x"', "[" * 600])
@pytest.mark.parametrize(
    "name",
    [
        "agent_execution.json",
        "agent_output.json",
        "agent_usage.json",
        "aw_info.json",
        "detection/detection_result.json",
        "experiments/assignments.json",
        "experiments/state.json",
        "agent/awf-routing-outcome.json",
    ],
)
def test_documents_that_are_none_give_no_event(tmp_path: Path, name: str, content: str) -> None:
    collected = collect(tmp_path, {"agent-session.jsonl": lines(INIT), name: content})
    assert [event.type for event in collected.events[1:2]] == ["session.init"]
    found = {note.code for note in collected.notes}
    assert found <= {"malformed-json", "non-object-record"}
    assert found or content == "null"


def test_a_file_that_cannot_be_opened_is_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    write(tmp_path, AGENT)
    monkeypatch.setattr(os, "open", refuse)
    collected = collect_root(tmp_path)
    assert places(collected) == set()
    assert {note.code for note in collected.notes} == {"native-session-unusable", "unreadable-file"}


def test_a_root_that_is_not_there(tmp_path: Path) -> None:
    assert not is_root(tmp_path / "missing")
    with pytest.raises(FileNotFoundError):
        collect_root(tmp_path / "missing")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("aw_info.json", True),
        ("agent/agent-stdio.log", True),
        ("x-agent/mcp-logs/gateway.jsonl", True),
        ("usage/agent/token_usage.jsonl", True),
        ("firewall-logs-flow/audit.jsonl", True),
        ("src/agent-session.jsonl", False),
        ("README.md", False),
        ("session.jsonl", False),
    ],
)
def test_which_folders_are_runs(tmp_path: Path, name: str, expected: bool) -> None:  # noqa: FBT001
    assert is_root(write(tmp_path, {name: ""})) is expected


NAMES = [
    "agent-session.jsonl",
    "agent-stdio.log",
    "agent-errors.jsonl",
    "aw_info.json",
    "evals/evals.jsonl",
    "experiments/state.json",
    "mcp-logs/rpc-messages.jsonl",
    "otel.jsonl",
    "safe-output-errors.json",
    "safeoutputs.jsonl",
    PROXY,
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            [
                "type", "data", "provenance", "timestamp", "usage", "payload", "event", "error",
                "toolCallId", "result", "params", "target", "runs", "resourceSpans", "scopeSpans",
                "spans", "events", "path", "input_tokens", "status", "message",
            ]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.sampled_from(NAMES), st.lists(JSON, max_size=4), st.binary(max_size=20), st.integers(0))
def test_whatever_files_hold_collecting_gives_a_valid_session(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    rows: list[object],
    junk: bytes,
    place: int,
) -> None:
    content = lines(*rows).encode()
    place %= len(content) + 1
    root = tmp_path_factory.mktemp("run")
    for damaged in (content, content[:place] + junk + content[place:]):
        collected = collect(root, {name: damaged})
        session = Session.of(collected.events)
        assert validate(encode_jsonl(session)) == []
        lookups(collected)


@pytest.mark.parametrize("name", NAMES)
def test_files_cut_at_any_byte_give_a_valid_session(tmp_path: Path, name: str) -> None:
    rows = [
        {**INIT, "payload": {"id": 1, "method": "tools/call", "params": {"name": "\u00e9"}}},
        request("r", 5, error={"code": 1}, target={"repo": "o/r"}),
    ]
    content = (json.dumps(rows[1]) if name.endswith(".json") else lines(*rows)).encode()
    for end in range(len(content)):
        collected = collect(tmp_path, {name: content[:end]})
        session = Session.of(collected.events)
        assert read_session(encode_jsonl(session)).session == session


def test_reading_that_fails_halfway_is_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            if not line:
                raise OSError(5, "Input/output error")
            return line

        def read(self, *_: object) -> bytes:
            raise OSError(5, "Input/output error")

    row = lines({"event": "x"}).encode()
    write(tmp_path, {"mcp-logs/a.jsonl": row, "aw_info.json": {}})
    monkeypatch.setattr(tree.Tree, "open", lambda *_: Broken(row))
    collected = collect_root(tmp_path)
    assert codes(collected) == [
        ("unreadable-file", "aw_info.json", None, True),
        ("unreadable-file", "mcp-logs/a.jsonl", 2, True),
    ]
    assert places(collected) == {("mcp", "agent", "mcp-logs/a.jsonl", 1)}


def test_folders_and_entries_that_cannot_be_looked_at_are_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"mcp-logs/a.jsonl": "", "agent-session.jsonl": lines(INIT)})
    real = os.scandir

    def refuse(path: Path) -> object:
        if path.name == "mcp-logs":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert codes(collect_root(tmp_path)) == [("unreadable-folder", "mcp-logs", None, True)]


def test_a_file_that_grew_over_its_limit_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"agent_execution_exit_code.txt": "0"})
    monkeypatch.setattr(tree.Tree, "open", lambda *_: io.BytesIO(b"0" * 100))
    collected = collect_root(tmp_path)
    assert codes(collected) == [("file-too-large", "agent_execution_exit_code.txt", None, True)]


def test_a_record_too_long_for_an_event_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_MAX_DATA_BYTES", 60)
    collected = collect(tmp_path, {"aw-prompts/user.txt": "\x01" * 20})
    assert codes(collected) == [("line-too-long", "aw-prompts/user.txt", None, True)]
    assert places(collected) == set()
