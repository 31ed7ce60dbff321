"""`aw graders run WORKFLOW`: the graders that a workflow asks for, custom ones in their cage."""

import json
import os

import pytest
from jsonschema import Draft202012Validator

from tests.cli.custom import EVALUATOR, SCRIPT, SESSION, THROWS, entry, repository
from tests.cli.test_graders_run import aw

_CLEAN, _FOUND, _USAGE, _FAILED = 0, 1, 2, 3


@pytest.fixture
def workflow(tmp_path, monkeypatch):
    """A workflow with a script, an evaluator, and two built-ins that it changes."""
    monkeypatch.chdir(tmp_path)
    repository(
        tmp_path / "repo",
        "  loops: {enabled: false}\n  recurrence-rate: {}\n" + entry("calls-per-step", SCRIPT),
    )
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


def _entries(run):
    return {row["id"]: row for row in json.loads(run.stdout)["results"]}


@pytest.mark.usefixtures("workflow")
@pytest.mark.spec("G-6-2", "G-6-3", "D-8-12")
def test_all_enabled_graders_of_a_workflow_run_and_custom_ones_come_last():
    run = aw("graders", "run", "demo", "--session", SESSION, "--json")
    default = aw("graders", "run", "--session", SESSION, "--json")

    entries = _entries(run)
    assert run.returncode == _CLEAN, run.stderr
    assert list(entries)[-2:] == ["calls-per-step", "operational-value"]
    assert "loops" not in entries
    assert "recurrence-rate" in entries
    assert entries["retries"] == _entries(default)["retries"]
    assert entries["calls-per-step"]["value"] == pytest.approx(37 / 27)
    assert entries["calls-per-step"]["diagnostics"] == {"calls": 37}
    assert entries["operational-value"]["value"] == len(SESSION.read_bytes().splitlines())
    assert [row["id"] for row in entries["operational-value"]["metrics"]] == ["events", "other"]


@pytest.mark.usefixtures("workflow")
@pytest.mark.spec("G-6-5", "G-6-6", "G-6-15", "D-8-2", "D-8-3")
@pytest.mark.parametrize("grader", ["calls-per-step", "operational-value", "retries"])
def test_one_grader_is_printed_alone_and_is_the_same_from_file_pipe_and_array(tmp_path, grader):
    content = SESSION.read_bytes()
    array = tmp_path / "array.json"
    array.write_bytes(b"[" + b",".join(content.splitlines()) + b"]")

    from_file = aw("graders", "run", "demo", grader, "--session", SESSION)
    from_pipe = aw("graders", "run", "demo", grader, stdin=content)
    from_array = aw("graders", "run", "demo", grader, "--session", array)
    whole = _entries(aw("graders", "run", "demo", "--session", SESSION, "--json"))

    assert from_file.returncode == _CLEAN, from_file.stderr
    assert json.loads(from_file.stdout) == whole[grader]
    assert from_file.stdout.startswith(b'{\n  "id": ')
    assert from_file.stdout == from_pipe.stdout == from_array.stdout


@pytest.mark.usefixtures("workflow")
@pytest.mark.parametrize(
    ("grader", "said"),
    [
        ("loops", '"loops" is disabled'),
        ("recurrence-determinism", "is opt-in"),
        ("calls-per-stop", 'did you mean "calls-per-step"'),
    ],
)
def test_a_grader_that_does_not_run_says_which_it_is(grader, said):
    run = aw("graders", "run", "demo", grader, "--session", SESSION)

    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (_USAGE, b"", 1)
    assert said in run.stderr.decode()


def test_a_failure_is_shown_where_the_script_stands_in_the_workflow(tmp_path, monkeypatch):
    repository(tmp_path / "repo", entry("throws", THROWS), evaluator=None)
    monkeypatch.chdir(tmp_path / "repo")

    run = aw("graders", "run", "demo", "throws", "--session", SESSION, "--check")

    assert run.returncode == _FOUND
    assert json.loads(run.stdout)["status"] == "error"
    assert b".github/workflows/demo.md:10:22: grader throws: TypeError" in run.stderr
    lines = (tmp_path / "repo" / ".github" / "workflows" / "demo.md").read_text().splitlines()
    assert lines[9][21:].startswith("length")


def test_an_evaluator_that_ends_badly_says_why_and_the_others_go_on(tmp_path, monkeypatch):
    broken = EVALUATOR.replace("printf", "missing-command; exit 3; printf")
    repository(tmp_path / "repo", entry("calls-per-step", SCRIPT), broken)
    monkeypatch.chdir(tmp_path / "repo")

    run = aw("graders", "run", "demo", "--session", SESSION, "--json")

    entries = _entries(run)
    assert entries["operational-value"]["status"] == "error"
    assert "missing-command" in entries["operational-value"]["error"]
    assert entries["calls-per-step"]["status"] == "pass"
    assert b".github/workflows/value.sh:4:" in run.stderr


def test_what_would_not_compile_does_not_run(tmp_path, monkeypatch):
    repository(tmp_path / "repo", entry("reads", "return require('fs');"), evaluator=None)
    monkeypatch.chdir(tmp_path / "repo")

    run = aw("graders", "run", "demo", "--session", SESSION)

    assert (run.returncode, run.stdout) == (_USAGE, b"")
    assert b"[grader-file-io]" in run.stderr


@pytest.mark.usefixtures("workflow")
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["demo", "--config", "x.yml"], _USAGE, "leave out --config"),
        (["demo", "retries", "12345", "--session", SESSION], _USAGE, "cannot be downloaded yet"),
        (["dem", "--session", SESSION], _USAGE, 'did you mean "demo"'),
        (["none.md", "--session", SESSION], _FAILED, "none.md: does not exist"),
        (["demo", "--session", "none.jsonl"], _FAILED, "none.jsonl: does not exist"),
    ],
)
def test_what_cannot_be_asked_is_one_line(arguments, status, said):
    run = aw("graders", "run", *arguments)

    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (status, b"", 1)
    assert said in run.stderr.decode()


@pytest.mark.usefixtures("workflow")
def test_a_recording_is_graded_as_the_session_that_collecting_makes_of_it(tmp_path):
    recording = SESSION.parent / "claude-code.jsonl"
    collected = tmp_path / "collected.jsonl"
    aw("session", "collect", recording, "-o", collected)

    direct = _entries(aw("graders", "run", "demo", "--session", recording, "--json"))
    through = _entries(aw("graders", "run", "demo", "--session", collected, "--json"))

    assert direct == through


@pytest.mark.usefixtures("workflow")
def test_custom_code_gets_no_secret(tmp_path, monkeypatch):
    secret = "not a shape but a secret"
    script = "return {value: 1, diagnostics: {said: JSON.stringify(session)}};"
    folder = tmp_path / "other"
    repository(folder, entry("says", script), evaluator=None)
    monkeypatch.chdir(folder)
    session = tmp_path / "secret.jsonl"
    session.write_bytes(SESSION.read_bytes().replace(b"bash", secret.encode()))
    values = tmp_path / "values"
    values.write_text(secret)

    run = aw("graders", "run", "demo", "says", "--session", session, "--secret-values", values)

    assert secret.encode() in session.read_bytes()
    assert run.returncode == _CLEAN, run.stderr
    assert secret.encode() not in run.stdout + run.stderr


@pytest.mark.usefixtures("workflow")
def test_written_files_register_custom_graders_without_their_code(tmp_path):
    run = aw("graders", "run", "demo", "--session", SESSION, "--json", "-o", tmp_path / "out")

    manifest = json.loads((tmp_path / "out" / "grader_manifest.json").read_bytes())
    assert (tmp_path / "out" / "grader_results.json").read_bytes() == run.stdout
    assert [set(row) for row in manifest["graders"][-2:]] == [
        {"id", "source", "enabled", "digest"}
    ] * 2
    assert os.listdir(tmp_path / "out")


_EVERYTHING = """\
const {stats, toolCalls, toolCallsById, trace} = helpers.createSessionLookups(session);
const seen = {stats, toolCalls, toolCallsById, trace};
return {value: 1, diagnostics: JSON.parse(JSON.stringify(seen))};
"""


@pytest.mark.spec("G-2-2", "G-5-44", "D-0-2", "D-0-8", "D-7-3", "D-7-5", "D-7-6", "D-7-7")
@pytest.mark.parametrize("name", ["workflow-run.jsonl", "claude-code.jsonl"])
def test_the_lookups_of_a_script_hold_their_schema(tmp_path, monkeypatch, name):
    folder = tmp_path / "other"
    repository(folder, entry("everything", _EVERYTHING), evaluator=None)
    monkeypatch.chdir(folder)

    run = aw("graders", "run", "demo", "everything", "--session", SESSION.parent / name)

    schema = json.loads(aw("schema", "lookups").stdout)
    lookups = json.loads(run.stdout)["diagnostics"]
    faults = [fault.message for fault in Draft202012Validator(schema).iter_errors(lookups)]
    assert faults == []
    assert lookups["stats"]["toolCalls"] == len(lookups["toolCalls"]) > 0
    assert set(lookups["stats"]) == set(schema["properties"]["stats"]["properties"])


_BREACHES = {
    "a-string": ("return 'unavailable';", "returned text"),
    "a-truth-value": ("return session.length > 0;", "returned a"),
    "an-array": ("return [{id: 'a', value: 1}];", "array"),
    "a-promise": ("return (async () => 1)();", "promise"),
    "nothing": ("const seen = session.length;", "returned nothing"),
    "no-number": ("return 0 / 0;", "NaN"),
    "no-end": ("return 1 / 0;", "Infinity"),
    "no-value": ("return {score: 1};", "value"),
    "a-bad-value": ("return {value: '1'};", "is text"),
    "a-mistake": ("return session.none.length;", "TypeError"),
}


@pytest.mark.spec(
    *("G-5-46", "G-5-47", "D-0-10", "D-7-10", "D-7-11", "D-B-9"),
)
def test_what_is_no_result_is_an_error_that_says_what_came(tmp_path, monkeypatch):
    graders = "".join(entry(id_, script) for id_, (script, _) in _BREACHES.items())
    repository(tmp_path / "repo", graders, evaluator=None)
    monkeypatch.chdir(tmp_path / "repo")

    run = aw("graders", "run", "demo", "--session", SESSION, "--json")

    entries = _entries(run)
    for id_, (_, said) in _BREACHES.items():
        assert (entries[id_]["status"], entries[id_]["value"]) == ("error", None)
        assert said in entries[id_]["error"], id_
        assert f"grader {id_}: " in run.stderr.decode()


@pytest.mark.spec("D-0-9", "D-0-11", "D-7-9", "D-7-12", "D-B-8", "G-5-91")
def test_a_null_is_unavailable_and_keeps_its_message(tmp_path, monkeypatch):
    script = "return {value: null, message: 'no review was recorded', details: 'of 3'};"
    repository(tmp_path / "repo", entry("reviews", script, "    threshold: 0\n"), evaluator=None)
    monkeypatch.chdir(tmp_path / "repo")

    run = aw("graders", "run", "demo", "reviews", "--session", SESSION)

    result = json.loads(run.stdout)
    assert (result["status"], result["value"], result["passed"]) == ("unavailable", None, None)
    assert (result["message"], result["details"]) == ("no review was recorded", "of 3")
    assert (result["id"], result["implementation"]["id"]) == ("reviews", "aw-graders/javascript")
    assert len(result["implementation"]["digest"]) == 64
    assert b"grader reviews is unavailable: no review was recorded" in run.stderr


@pytest.mark.spec("D-7-2", "D-7-4", "D-7-8", "G-5-42", "G-5-43")
def test_inputs_are_what_was_recorded_and_cannot_be_changed(tmp_path, monkeypatch):
    script = """\
const {eventsOfType} = helpers.createSessionLookups(session);
const tried = [session, session[0], session[0].data, config, helpers];
const frozen = tried.every((item) => Object.isFrozen(item));
return {value: eventsOfType("tool.execution_start").length,
        diagnostics: {frozen, isArray: Array.isArray(session), events: session.length, config}};
"""
    more = "    config: {least: 3, names: [a, b]}\n"
    repository(tmp_path / "repo", entry("starts", script, more), evaluator=None)
    monkeypatch.chdir(tmp_path / "repo")

    run = aw("graders", "run", "demo", "starts", "--session", SESSION)

    result = json.loads(run.stdout)
    events = [json.loads(line) for line in SESSION.read_bytes().splitlines()]
    assert result["value"] == sum(event["type"] == "tool.execution_start" for event in events)
    assert result["diagnostics"] == {
        "frozen": True,
        "isArray": True,
        "events": len(events),
        "config": {"least": 3, "names": ["a", "b"]},
    }


@pytest.mark.spec("D-7-1")
@pytest.mark.parametrize(
    "script", ["module.exports = () => 1;", "export default 1;", "import fs from 'fs';\nreturn 1;"]
)
def test_a_module_is_no_script(tmp_path, monkeypatch, script):
    repository(tmp_path / "repo", entry("module", script), evaluator=None)
    monkeypatch.chdir(tmp_path / "repo")

    run = aw("graders", "run", "demo", "module", "--session", SESSION)

    assert (run.returncode, run.stdout) == (_USAGE, b"")
    assert b": error: " in run.stderr
