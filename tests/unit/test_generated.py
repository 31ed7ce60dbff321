"""Generated files are fresh, and what the command writes is what they say."""

import json
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator

from aw_graders.reports.schemas import SCHEMAS
from tests.cli.test_graders_run import aw
from tests.support import ROOT

_EXAMPLES = ("workflow-run.jsonl", "claude-code.jsonl")


def _schema(name):
    return json.loads((ROOT / "schemas" / f"{name}.schema.json").read_bytes())


def _faults(name, document):
    return [fault.message for fault in Draft202012Validator(_schema(name)).iter_errors(document)]


def _tool(code):
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, 'tools'); {code}"]
    return subprocess.run(command, capture_output=True, cwd=ROOT, check=True).stdout


def test_the_transcript_example_is_made_again_with_the_same_bytes():
    made = _tool("import make_example; sys.stdout.write(make_example.make_transcript())")

    assert made == (ROOT / "examples" / "claude-code.jsonl").read_bytes()


def test_every_example_has_a_tool_that_makes_it():
    names = _tool("import make_example; print(*make_example.EXAMPLES)").decode().split()

    assert names == [*_EXAMPLES]
    assert {path.name for path in (ROOT / "examples").iterdir()} == set(names)


def test_the_schemas_are_fresh():
    command = [sys.executable, str(ROOT / "tools" / "make_schemas.py"), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_file_is_what_the_command_prints_and_a_valid_schema(name):
    schema = _schema(name)

    assert aw("schema", name).stdout == (ROOT / "schemas" / f"{name}.schema.json").read_bytes()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", _EXAMPLES)
def test_results_and_manifest_of_an_example_hold_their_schemas(name, tmp_path):
    run = aw("graders", "run", "--session", ROOT / "examples" / name, "-o", tmp_path)

    assert run.returncode == 0, run.stderr
    assert {path.name for path in tmp_path.iterdir()} == {
        "grader_manifest.json",
        "grader_results.json",
    }
    for kind in ("manifest", "results"):
        document = json.loads((tmp_path / f"grader_{kind}.json").read_bytes())
        assert _faults(kind, document) == []


def test_documents_of_a_configured_run_and_of_an_empty_session_hold_their_schemas(tmp_path):
    config = tmp_path / "graders.yml"
    config.write_text(
        "loops: {enabled: false}\n"
        "retries: {threshold: null, description: none}\n"
        "context-growth: {config: {inputTokens: recorded}, min: 1, max: 9.5, unit: times}\n",
        encoding="utf-8",
    )
    header = (ROOT / "examples" / "workflow-run.jsonl").read_bytes().split(b"\n")[0] + b"\n"

    run = aw("graders", "run", "--config", config, "-o", tmp_path / "out", stdin=header)

    assert run.returncode == 0, run.stderr
    for kind in ("manifest", "results"):
        document = json.loads((tmp_path / "out" / f"grader_{kind}.json").read_bytes())
        assert _faults(kind, document) == []


def test_the_workflow_run_holds_the_session_schema_and_a_faulty_event_does_not():
    lines = (ROOT / "examples" / "workflow-run.jsonl").read_bytes().splitlines()
    events = [json.loads(line) for line in lines]

    assert _faults("session", events) == []
    assert _faults("session", [{**events[1], "type": "nodot"}])
    assert _faults("session", [{**events[1], "provenance": {}}])


def test_a_schema_refuses_a_field_that_is_not_in_it():
    document = json.loads(
        aw("graders", "run", "--json", "--session", ROOT / "examples" / _EXAMPLES[0]).stdout
    )

    assert _faults("results", document) == []
    assert _faults("results", {**document, "version": 1})
    assert _faults("results", {**document, "extra": True})
    document["results"][0]["passed"] = "yes"
    assert _faults("results", document)
