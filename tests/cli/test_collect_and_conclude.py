"""`aw session collect`, `aw session redact` and `aw conclude`, through the real command."""

import json

import pytest

from aw_graders.session.validate import validate
from tests.cli.test_graders_run import aw
from tests.support import ROOT, lines_of

_TRANSCRIPT = ROOT / "examples" / "claude-code.jsonl"
_SESSION = ROOT / "examples" / "workflow-run.jsonl"
# Put together here, so that no scanner takes this file for a leak.
_TOKEN = "ghp_" + "a1B2" * 9
_NAMED = "plain words that are secret here"


def _run_folder(root, *, say="hello"):
    """A small run: two tool calls of a Claude stream, a gateway record, proxy usage, one output."""
    folder = root / "agent"
    (folder / "mcp-logs").mkdir(parents=True)
    (folder / "sandbox" / "firewall" / "logs" / "api-proxy-logs").mkdir(parents=True)
    used = {"input_tokens": 10, "output_tokens": 2}
    call = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": say}}
    message = {"id": "m1", "role": "assistant", "model": "m", "content": [call], "usage": used}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": say}
    rows = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": []},
        {"type": "assistant", "session_id": "s", "message": message},
        {"type": "user", "session_id": "s", "message": {"role": "user", "content": [result]}},
        {
            "type": "result",
            "subtype": "success",
            "session_id": "s",
            "duration_ms": 5,
            "usage": used,
        },
    ]
    (folder / "agent-stdio.log").write_bytes(lines_of(rows))
    proxied = {"request_id": "r1", "model": "m", "input_tokens": 10, "output_tokens": 2}
    proxied |= {"timestamp": "2026-01-01T00:00:00Z", "duration_ms": 7}
    place = folder / "sandbox" / "firewall" / "logs" / "api-proxy-logs" / "token-usage.jsonl"
    place.write_bytes(lines_of([proxied]))
    (folder / "safeoutputs.jsonl").write_bytes(lines_of([{"type": "noop"}]))
    (root / "aw_info.json").write_text(json.dumps({"run_id": 42, "engine_id": "claude"}))
    return root


def _manifest(tmp_path, document=None):
    path = tmp_path / "manifest.json"
    if document is None:
        aw("graders", "run", "--session", _SESSION, "-o", tmp_path / "made")
        document = json.loads((tmp_path / "made" / "grader_manifest.json").read_bytes())
    path.write_text(json.dumps(document))
    return path


def _values(run):
    return {result["id"]: result["value"] for result in json.loads(run.stdout)["results"]}


@pytest.mark.parametrize("recording", [_TRANSCRIPT, _SESSION], ids=lambda path: path.name)
def test_a_collected_session_is_valid_and_grades_as_its_recording(tmp_path, recording):
    collected = tmp_path / "s.jsonl"

    run = aw("session", "collect", recording, "-o", collected)

    assert run.returncode == 0
    assert validate(collected.read_bytes()) == []
    graded = [aw("graders", "run", "--session", path, "--json") for path in (recording, collected)]
    assert graded[0].stdout == graded[1].stdout


def test_what_was_skipped_stands_in_the_collected_session(tmp_path):
    torn = tmp_path / "t.jsonl"
    torn.write_bytes(_TRANSCRIPT.read_bytes() + b'{"type":"assistant","message":{')

    run = aw("session", "collect", torn)

    lines = [json.loads(line) for line in run.stdout.splitlines()]
    warnings = [line for line in lines if line["type"] == "session.collection_warning"]
    assert [(item["data"]["path"], item["data"]["line"]) for item in warnings] == [("t.jsonl", 68)]
    assert lines[-1]["type"] == "session.collection"
    assert lines[-1]["data"]["warnings"] == 1
    graded = [
        aw("graders", "run", "--json", "--session", torn),
        aw("graders", "run", "--json", stdin=run.stdout),
    ]
    assert json.loads(graded[0].stdout)["partial"] is True
    assert graded[0].stdout == graded[1].stdout


def test_a_kind_that_is_named_is_used_and_an_unknown_one_refused(tmp_path):
    assert aw("session", "collect", _TRANSCRIPT, "--from", "claude").returncode == 0
    assert aw("session", "collect", _TRANSCRIPT, "--from", "nope").returncode == 2
    assert aw("session", "collect", _TRANSCRIPT, "--from", "gh_aw").returncode == 2
    assert aw("session", "collect", tmp_path).returncode == 3


def test_named_and_shaped_secrets_leave_nowhere(tmp_path):
    root = _run_folder(tmp_path / "run", say=f"{_TOKEN} {_NAMED} ::add-mask::masked-by-log")
    (root / "agent" / "mcp-logs" / "gateway.jsonl").write_bytes(
        lines_of([{"kind": "event", "message": f"{_NAMED} masked-by-log"}]) + _NAMED.encode()
    )
    values = tmp_path / "values"
    values.write_text(f"{_NAMED}\nabc\n")

    runs = [
        aw("session", "collect", root, "--secret-values", values),
        aw(
            "conclude", "--root", root, "--manifest", _manifest(tmp_path), "--secret-values", values
        ),
        aw("session", "redact", root / "usage" / "aw_session.jsonl", "--secret-values", values),
    ]

    left = b"".join(run.stdout + run.stderr for run in runs)
    left += b"".join(path.read_bytes() for path in (root / "usage").rglob("*") if path.is_file())
    assert {run.returncode for run in runs} == {0}
    assert _TOKEN.encode() not in left
    assert _NAMED.encode() not in left
    assert b"masked-by-log" not in left
    assert b"1 secret value ignored" in runs[0].stderr


def test_redacting_again_changes_nothing(tmp_path):
    once, twice = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    content = _SESSION.read_bytes().replace(b'"data":{', b'"data":{"note":"%b",' % _TOKEN.encode())
    (tmp_path / "0.jsonl").write_bytes(content)

    first = aw("session", "redact", tmp_path / "0.jsonl", "-o", once)
    second = aw("session", "redact", once, "-o", twice)
    listed = aw("session", "redact", tmp_path / "0.jsonl", "--json")

    assert b"secrets masked" in first.stderr
    assert second.stderr == b""
    assert once.read_bytes() == twice.read_bytes()
    masked = json.loads(listed.stdout)["masked"]
    assert {item["kind"] for item in masked} == {"github-token"}
    assert {item["pointer"] for item in masked} == {"/data/note"}


@pytest.mark.spec("G-5-1", "G-5-2", "G-8-24", "G-8-25", "G-8-26")
def test_conclusion_publishes_what_replay_prints(tmp_path):
    root = _run_folder(tmp_path / "run")
    summary = tmp_path / "summary.md"
    manifest = _manifest(tmp_path)

    run = aw("conclude", "--root", root, "--manifest", manifest, GITHUB_STEP_SUMMARY=str(summary))

    published = root / "usage" / "aw_session.jsonl"
    results = (root / "usage" / "graders" / "grader_results.json").read_bytes()
    assert run.returncode == 0, run.stderr
    assert validate(published.read_bytes()) == []
    assert aw("graders", "run", "--session", published, "--json").stdout == results
    assert json.loads(results)["run"]["id"] == "42"
    values = {item["id"]: item["value"] for item in json.loads(results)["results"]}
    assert values["tool-success-rate"] == 1
    assert values["execution-duration"] == 7
    assert values["artifact-production"] is None
    assert "| tool\\-success" in summary.read_text() or "| tool-success" in summary.read_text()
    assert b"::warning title=grader retries" in run.stderr


def test_a_second_conclusion_publishes_the_same_bytes(tmp_path):
    root = _run_folder(tmp_path / "run")
    manifest = _manifest(tmp_path)

    def published():
        aw("conclude", "--root", root, "--manifest", manifest)
        return {path: path.read_bytes() for path in (root / "usage").rglob("*") if path.is_file()}

    assert published() == published()


@pytest.mark.spec("G-5-25", "G-5-26", "G-8-8")
def test_a_manifest_that_holds_code_is_refused_before_anything_happens(tmp_path):
    root = _run_folder(tmp_path / "run")
    (root / "usage").mkdir()
    (root / "usage" / "aw_session.jsonl").write_text("of an earlier attempt")
    row = {"id": "mine", "source": "inline", "enabled": True, "digest": "0" * 64}
    for code in ("script", "run", "inline", "name"):
        manifest = _manifest(tmp_path, {"version": 2, "graders": [{**row, code: "touch x"}]})

        run = aw("conclude", "--root", root, "--manifest", manifest)

        assert run.returncode == 2
        assert f'has no field "{code}"' in run.stderr.decode()
        assert (root / "usage" / "aw_session.jsonl").read_text() == "of an earlier attempt"


def test_a_folder_that_cannot_take_the_files_gets_none_of_them(tmp_path):
    root = _run_folder(tmp_path / "run")
    (root / "usage" / "graders").mkdir(parents=True)
    (root / "usage" / "graders" / "grader_results.json").mkdir()

    run = aw("conclude", "--root", root, "--manifest", _manifest(tmp_path))

    assert run.returncode == 3
    assert run.stderr.count(b"\n") == 1
    assert [path for path in (root / "usage").rglob("*") if path.is_file()] == []


def test_a_root_that_is_none_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(_run_folder(tmp_path / "run"))
    for root in (tmp_path / "nowhere", tmp_path / "link", _manifest(tmp_path)):
        assert aw("conclude", "--root", root, "--manifest", _manifest(tmp_path)).returncode == 3


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("agent/setup.log", "Run setup\n::add-mask::{}\n"),
        ("agent/agent-stdio.log", "::add-mask::{}\n"),
        ("activation/notes.md", "> ::add-mask::{}\n"),
        ("agent/mcp-logs/bodies.jsonl", '{{"request":{{"body":"a\\n::add-mask::{}\\nb"}}}}\n'),
        ("agent/deep/er/document.json", '{{\n "dropped": ["::add-mask::{}"]\n}}\n'),
    ],
)
def test_a_value_that_any_text_of_a_run_masks_is_in_nothing_that_is_published(tmp_path, path, text):
    root = _run_folder(tmp_path / "run", say=f"echo {_NAMED}")
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("a", encoding="utf-8") as file:
        file.write(text.format(_NAMED))

    collected = aw("session", "collect", root)
    concluded = aw("conclude", "--root", root, "--manifest", _manifest(tmp_path))

    assert (collected.returncode, concluded.returncode) == (0, 0)
    published = [file.read_text() for file in (root / "usage").rglob("*") if file.is_file()]
    assert len(published) == 3
    for left in (collected.stdout.decode(), concluded.stdout.decode(), *published):
        assert _NAMED not in left
    assert b"echo " in collected.stdout


def test_a_value_that_a_recording_masks_in_a_row_without_an_event_is_masked(tmp_path):
    recording = tmp_path / "recording.jsonl"
    masked = json.dumps({"type": "no-such-row", "text": f"::add-mask::{_NAMED}"})
    said = _TRANSCRIPT.read_text().replace("Bash", _NAMED)
    recording.write_text(f"{said}{masked}\n")

    run = aw("session", "collect", recording)

    assert _NAMED in said
    assert run.returncode == 0
    assert _NAMED.encode() not in run.stdout
