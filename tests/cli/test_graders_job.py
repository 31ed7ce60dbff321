"""`aw graders job`: frozen graders over what conclusion published."""

import base64
import json

import pytest

from tests.cli.custom import (
    EVALUATOR,
    SCRIPT,
    THROWS,
    entry,
    frozen,
    published,
    repository,
)
from tests.cli.test_graders_run import aw

_CLEAN, _USAGE, _FAILED = 0, 2, 3
_PART = 48


class _Run:
    """A workflow, what its conclusion published, and its frozen graders."""

    def __init__(self, folder, graders, evaluator=EVALUATOR):
        self.folder = folder
        self.workflow = repository(folder / "repo", graders, evaluator)
        self.usage = published(self.workflow, folder / "run")
        self.manifest = frozen(self.workflow, folder / "frozen.json")
        self.output = folder / "graders"

    def job(self, *more):
        return aw(
            *("graders", "job", "--usage", self.usage, "--manifest", self.manifest),
            *("-o", self.output, *more),
        )

    def read(self, name, folder=None):
        return json.loads(((folder or self.output) / name).read_bytes())


@pytest.fixture
def run(tmp_path):
    return _Run(tmp_path, entry("calls-per-step", SCRIPT) + entry("throws", THROWS))


def _files(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.spec(
    *("G-5-30", "G-5-31", "G-5-87", "G-5-89", "G-5-90", "G-8-9", "D-0-5", "D-8-8", "D-8-11")
)
def test_results_of_built_ins_are_taken_over_and_custom_ones_follow(run):
    before = _files(run.usage)

    done = run.job()

    usage = run.read("graders/grader_results.json", run.usage)
    results = run.read("grader_results.json")
    assert done.returncode == _CLEAN, done.stderr
    assert _files(run.usage) == before
    assert [row["id"] for row in results["results"]][-3:] == [
        "calls-per-step",
        "operational-value",
        "throws",
    ]
    assert [row["status"] for row in results["results"]][-3:] == ["pass", "pass", "error"]
    assert {**results, "results": results["results"][:-3]} == usage
    assert _entries_text(run.output / "grader_results.json").startswith(
        _entries_text(run.usage / "graders" / "grader_results.json")
    )


def _entries_text(path):
    """The text of the entries, up to the end of the last one."""
    text = path.read_text()
    return text[text.index('"results": [') :].rstrip("}\n] ")


def test_what_stood_around_the_graders_is_said_apart_from_the_results(run):
    done = run.job("--json")

    runtime = run.read("runtime.json")
    assert done.stdout == (run.output / "grader_results.json").read_bytes()
    assert [(row["id"], row["runtime"]) for row in runtime["graders"]] == [
        ("calls-per-step", "javascript"),
        ("operational-value", "bash"),
        ("throws", "javascript"),
    ]
    assert "no-new-privileges" in runtime["graders"][0]["fences"]
    assert "no-new-privileges" not in (run.output / "grader_results.json").read_text()
    assert b"aw: grader throws: error: TypeError" in done.stderr
    assert b"::warning" in done.stderr


@pytest.mark.spec("G-5-88", "G-5-91", "D-6-13")
def test_the_manifest_describes_custom_graders_as_data(run):
    run.job()

    rows = run.read("grader_manifest.json")["graders"]
    usage = run.read("graders/grader_manifest.json", run.usage)["graders"]
    custom = [row for row in usage if row["source"] != "builtin"]
    assert rows[: -len(custom)] == [row for row in usage if row["source"] == "builtin"]
    assert [(row["id"], row["digest"]) for row in rows[-3:]] == [
        (row["id"], row["digest"]) for row in custom
    ]
    assert rows[-3]["direction"] == "lower_is_better"
    assert not any("script" in row or "run" in row or "code" in row for row in rows)


def test_the_result_is_that_of_grading_the_published_session_by_hand(run, monkeypatch):
    run.job()
    monkeypatch.chdir(run.folder / "repo")

    for row in run.read("grader_results.json")["results"][-3:]:
        session = run.usage / "aw_session.jsonl"
        by_hand = aw("graders", "run", "demo", row["id"], "--session", session)
        assert json.loads(by_hand.stdout) == row


@pytest.mark.spec("D-6-14")
def test_no_part_of_a_source_is_in_the_artifact(tmp_path):
    said = "the quick brown fox jumps over the lazy dog and over it again, and then once more"
    script = f'const said = "{said}";\nthrow new Error(said + String(() => said + said));\n'
    quoting = f'#!/usr/bin/env bash\nset -x\necho "{said} {said}" >&2\nexit 4\n'
    config = f'    config: {{said: "{said}"}}\n'
    run = _Run(tmp_path, entry("quotes", script, config), quoting)

    done = run.job()

    assert done.returncode == _CLEAN, done.stderr
    texts = [path.read_text() for path in _files(run.output)]
    for source in (script.rstrip(), quoting):
        for spelled in (source, base64.b64encode(source.encode()).decode()):
            for start in range(len(spelled) - _PART):
                assert all(spelled[start : start + _PART] not in text for text in texts)
    assert "the quick brown fox" in texts[1]


def test_running_again_gives_the_same_bytes(run):
    run.job()
    first = _files(run.output)
    run.job()

    assert _files(run.output) == first


@pytest.mark.parametrize(
    "name", ["aw_session.jsonl", "graders/grader_manifest.json", "graders/grader_results.json"]
)
@pytest.mark.parametrize("fault", ["missing", "empty", "cut", "a link", "a folder"])
@pytest.mark.spec("G-5-33")
def test_what_conclusion_did_not_publish_ends_the_job(run, name, fault):
    run.job()
    file = run.usage / name
    content = file.read_bytes()
    file.unlink()
    if fault == "empty":
        file.write_bytes(b"")
    elif fault == "cut":
        file.write_bytes(content[:-20])
    elif fault == "a link":
        (run.folder / "elsewhere").write_bytes(content)
        file.symlink_to(run.folder / "elsewhere")
    elif fault == "a folder":
        file.mkdir()

    done = run.job()

    assert done.returncode == _FAILED
    assert (done.stdout, done.stderr.count(b"\n")) == (b"", 1)
    assert name.encode() in done.stderr
    assert list(_files(run.output)) == []


def test_frozen_graders_of_another_compilation_are_refused(run):
    other = repository(run.folder / "other", entry("calls-per-step", SCRIPT + "// changed\n"))
    frozen(other, run.manifest)

    done = run.job()

    assert done.returncode == _FAILED
    assert b"registered other custom graders" in done.stderr


def _changed(document, change):
    row = document["graders"][0]
    if change == "code":
        row["code"] = base64.b64encode(b"return 2;").decode()
    elif change == "no base64":
        row["code"] = "%%%"
    elif change == "a field":
        row["env"] = {}
    elif change == "a built-in":
        row["id"] = "operational-value"
    elif change == "twice":
        document["graders"].append(document["graders"][-1])
    elif change == "version":
        document["version"] = 1
    else:
        row["threshold"] = "1"
    return json.dumps(document)


@pytest.mark.parametrize(
    "change", ["code", "no base64", "a field", "a built-in", "twice", "version", "threshold"]
)
def test_a_frozen_manifest_that_was_changed_is_refused(run, change):
    run.manifest.write_text(_changed(json.loads(run.manifest.read_text()), change))

    done = run.job()

    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (_USAGE, b"", 1)
    assert not run.output.exists()


def test_a_changed_byte_of_the_frozen_manifest_never_runs_other_code(run):
    content = run.manifest.read_bytes()
    expected = None
    for at in range(0, len(content), max(1, len(content) // 25)):
        run.manifest.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        done = run.job()
        if done.returncode == _CLEAN:
            # A byte of metadata, of which code and digest know nothing.
            changed = run.read("grader_results.json")["results"][-3:]
            digests = [row["implementation"]["digest"] for row in changed]
            expected = expected or digests
            assert digests == expected
        else:
            assert done.returncode in {_USAGE, _FAILED}
            assert b"Traceback" not in done.stderr
