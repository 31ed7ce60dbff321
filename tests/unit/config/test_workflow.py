"""What a workflow says about its graders, with all the files that it imports."""

import hashlib
import json
from pathlib import Path

import pytest

from aw_graders.config.executable import ExecutableManifest
from aw_graders.config.manifest import manifest_document
from aw_graders.config.workflow import MAX_EVALUATOR_BYTES, read_workflow
from aw_graders.graders import DEFAULT_IDS, default_settings
from tests.unit.config.memory import MemoryFiles

_PATH = ".github/workflows/demo.md"
_EVALUATOR = "#!/usr/bin/env bash\nprintf '[]'\n"
_META = "    description: d\n    unit: ratio\n    direction: higher_is_better\n"
_MINE = f"graders:\n  mine:\n    script: return 1;\n{_META}"
_VALUE = f"graders:\n  operational-value:\n    run: ./value.sh\n{_META}"
_FOUND = {".github/workflows/value.sh": _EVALUATOR}
_FAULTS = json.loads(
    (Path(__file__).parents[2] / "vectors" / "config" / "workflow-faults.json").read_text("utf-8")
)


def _read(settings, files=(), **options):
    return read_workflow(_PATH, f"---\n{settings}\n---\nBody\n", MemoryFiles(files, **options))


def _codes(workflow):
    return [diagnostic.code for diagnostic in workflow.diagnostics]


@pytest.mark.spec("G-3-1", "G-3-2", "G-3-3")
@pytest.mark.parametrize("settings", ["on: push", "graders:", "graders: {}", "graders: ~", ""])
def test_a_workflow_that_says_nothing_gets_the_defaults(settings):
    workflow = _read(settings)

    assert workflow.settings == default_settings()
    assert workflow.diagnostics == ()


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(
            item,
            id=item["name"],
            marks=[pytest.mark.spec(*item["spec"])] if "spec" in item else [],
        )
        for item in _FAULTS
    ],
)
def test_every_fault_is_told_at_its_place(fault):
    workflow = _read(fault["settings"], fault.get("files", {}))

    found = [
        [item.code, item.location.line, item.location.column, item.severity]
        for item in workflow.diagnostics
    ]
    assert found == fault["found"]
    assert (workflow.settings == ()) == any(item[3] == "error" for item in found)


@pytest.mark.spec("G-3-8")
def test_a_script_is_frozen_with_its_digest():
    workflow = _read(_MINE)

    (custom,) = workflow.custom
    assert workflow.diagnostics == ()
    assert custom.grader.code == b"return 1;"
    assert custom.grader.digest == hashlib.sha256(b"return 1;").hexdigest()
    assert [item.id for item in workflow.settings] == list(DEFAULT_IDS)


def test_conclusion_gets_no_part_of_the_code():
    workflow = _read(_MINE)
    manifest = ExecutableManifest(tuple(item.grader for item in workflow.custom))

    document = manifest_document(
        workflow.settings, [item.registered() for item in manifest.graders]
    )

    assert document["graders"][-1] == {
        "id": "mine",
        "source": "inline",
        "enabled": True,
        "digest": manifest.graders[0].digest,
    }


@pytest.mark.spec("G-3-12")
def test_an_evaluator_is_read_once_beside_the_file_that_declares_it():
    files = MemoryFiles(_FOUND)
    workflow = read_workflow(_PATH, f"---\n{_VALUE}---\n", files)

    assert _codes(workflow) == []
    assert workflow.custom[0].grader.code == _EVALUATOR.encode()
    assert workflow.custom[0].path == ".github/workflows/value.sh"
    assert files.asked == [".github/workflows/value.sh"]


@pytest.mark.spec("G-5-63", "G-5-64", "D-C-2")
@pytest.mark.parametrize(
    ("run", "path"),
    [
        ("evaluator.sh", "evaluator.sh"),
        (".github/workflows/graders/test.sh", ".github/workflows/graders/test.sh"),
        ("./graders/test.sh", ".github/workflows/graders/test.sh"),
        ("scripts/nested/evaluator.sh", "scripts/nested/evaluator.sh"),
        (".github/workflows/graders/..secret.sh", ".github/workflows/graders/..secret.sh"),
    ],
)
def test_paths_start_at_the_root_or_at_the_declaring_file(run, path):
    workflow = _read(_VALUE.replace("./value.sh", run), {path: _EVALUATOR})

    assert _codes(workflow) == []
    assert workflow.custom[0].path == path


@pytest.mark.spec("G-5-58", "G-5-59", "G-8-5", "D-C-1")
@pytest.mark.parametrize(
    "run",
    [
        "''", "/abs/path.sh", "//host/x.sh", "a\\b.sh", "'.'", "..", "./", "../x.sh", "./../x.sh",
        "a/../b.sh", "a//b.sh", "x.js", "x.sh/", "./.", "./..", "'a\\nb.sh'", "a/./b.sh",
        '"a\\0b.sh"', ".//x.sh",
        "bash x", "x.sh --flag",
    ],
)  # fmt: skip
@pytest.mark.parametrize("enabled", ["true", "false"])
def test_a_path_that_could_leave_its_place_is_refused(run, enabled):
    files = MemoryFiles(_FOUND)
    settings = _VALUE.replace("./value.sh", run) + f"    enabled: {enabled}\n"

    workflow = read_workflow(_PATH, f"---\n{settings}---\n", files)

    assert _codes(workflow) == ["config-run-path"]
    assert files.asked == []


@pytest.mark.spec("G-5-64")
def test_an_evaluator_of_an_import_starts_at_the_import():
    shared = f"---\n{_VALUE}---\n"
    files = {
        ".github/workflows/shared/base.md": shared,
        ".github/workflows/shared/value.sh": _EVALUATOR,
    }

    workflow = _read("imports: [shared/base.md]", files)

    assert _codes(workflow) == []
    assert workflow.custom[0].path == ".github/workflows/shared/value.sh"


def test_a_path_that_the_workflow_sets_starts_at_the_workflow():
    files = {".github/workflows/shared/base.md": f"---\n{_VALUE}---\n", **_FOUND}
    settings = "imports: [shared/base.md]\ngraders: {operational-value: {run: ./value.sh}}"

    workflow = _read(settings, files)

    assert _codes(workflow) == []
    assert workflow.custom[0].path == ".github/workflows/value.sh"


def test_one_byte_over_the_limit_is_kept_for_the_analysis_to_see():
    workflow = _read(_VALUE, {".github/workflows/value.sh": b"#" * (MAX_EVALUATOR_BYTES + 9)})

    assert len(workflow.custom[0].grader.code) == MAX_EVALUATOR_BYTES + 1


@pytest.mark.parametrize("enabled", [True, False])
def test_outside_a_repository_an_enabled_evaluator_cannot_be(enabled):
    settings = _VALUE + f"    enabled: {str(enabled).lower()}\n"

    workflow = _read(settings, _FOUND, in_repository=False)

    assert _codes(workflow) == (["evaluator-no-repository"] if enabled else [])


@pytest.mark.spec("G-3-9")
@pytest.mark.parametrize("enabled", ["true", "false"])
def test_a_script_may_have_exactly_256_kib_of_utf_8(enabled):
    most = "ä" * 131_072
    settings = f"graders:\n  mine:\n    script: {{}}\n{_META}    enabled: {enabled}\n"

    assert _codes(_read(settings.replace("{}", most))) == []
    assert _codes(_read(settings.replace("{}", most + "a"))) == ["config-script-too-large"]


def test_the_configuration_of_an_evaluator_fits_a_variable():
    settings = _VALUE + "    config: {text: %s}\n"
    overhead = len('{"text":""}')

    assert _codes(_read(settings % ("a" * (120_000 - overhead)), _FOUND)) == []
    too_large = _read(settings % ("a" * (120_001 - overhead)), _FOUND)
    assert _codes(too_large) == ["config-too-large"]


def test_imports_are_laid_over_each_other_field_by_field():
    files = {
        ".github/workflows/a.md": (
            "---\ngraders:\n  mine: {script: return 1;, unit: a, direction: lower_is_better,"
            " description: d, config: {x: 1, y: {z: 1}}}\n  loops: {enabled: false}\n---\n"
        ),
        ".github/workflows/b.md": "---\ngraders:\n  mine: {config: {y: {w: 2}}, unit: b}\n---\n",
    }
    settings = "imports: [a.md, b.md]\ngraders: {' mine ': {threshold: 2}}"

    workflow = _read(settings, files)

    (custom,) = workflow.custom
    got = custom.grader.settings
    assert _codes(workflow) == []
    assert (got.unit, got.direction, got.threshold) == ("b", "lower_is_better", 2)
    assert got.config["x"] == 1
    assert dict(got.config["y"]) == {"z": 1, "w": 2}
    assert [item.id for item in workflow.settings if not item.enabled] == ["loops"]


@pytest.mark.parametrize("value", ["null", "~", "false", "0", "''"])
def test_what_is_false_replaces_what_was_imported(value):
    files = {".github/workflows/a.md": "---\ngraders: {loops: {config: {x: {y: 1}}}}\n---\n"}

    workflow = _read(f"imports: [a.md]\ngraders: {{loops: {{config: {{x: {value}}}}}}}", files)

    loops = next(item for item in workflow.settings if item.id == "loops")
    assert not loops.config["x"]


def test_a_disabled_grader_takes_its_script_from_an_import():
    files = {".github/workflows/a.md": f"---\n{_MINE}---\n"}

    workflow = _read("imports: [a.md]\ngraders: {mine: {enabled: false}}", files)

    assert _codes(workflow) == []
    assert [item.grader.settings.enabled for item in workflow.custom] == [False]


def test_what_lies_in_another_repository_is_said_not_to_be_checked():
    workflow = _read("imports: [octo/shared/base.md@v1]")

    assert _codes(workflow) == ["import-not-checked"]
    assert workflow.unread == ("octo/shared/base.md@v1",)
    assert workflow.settings == default_settings()


def test_a_name_that_others_read_as_true_stays_a_word():
    workflow = _read("on: push\nyes: 1\nlang: no\n1: x\ntrue: y")

    assert [entry.key for entry in workflow.root.entries] == ["on", "yes", "lang", "1", "true"]
    assert workflow.root.entries[2].value.value == "no"


def test_a_word_that_others_read_as_false_is_no_truth_value_and_says_what_to_write():
    workflow = _read('graders:\n  loops: {enabled: off}\n  retries: {enabled: "off"}')

    assert [item.location.line for item in workflow.diagnostics] == [3, 4]
    assert {item.hint for item in workflow.diagnostics} == {"write false, without quotes"}


def test_letters_that_others_read_as_true_stay_keys():
    workflow = _read("on: push\ny: 1\nn: 2\ngraders: {loops: {config: {}}}")

    assert _codes(workflow) == []
    assert [entry.key for entry in workflow.root.entries] == ["on", "y", "n", "graders"]


def test_a_key_that_stands_twice_names_both_lines():
    workflow = _read("graders:\n  loops: {enabled: false}\n  retries: {}\n  loops: {}")

    (found,) = workflow.diagnostics
    assert (found.code, found.location.line) == ("config-duplicate-key", 5)
    assert "line 3" in found.message
    assert workflow.settings == ()


def test_aliases_that_multiply_are_refused_and_a_few_are_not():
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]

    assert _codes(_read("\n".join(rows))) == ["config-anchor"]
    assert _codes(_read("\n".join(rows[:2]))) == []
    assert _codes(_read("jobs: &j\n  work: {steps: *j}"))[0] == "config-anchor"


def test_what_an_import_turned_off_stays_off_and_its_zero_stays_a_zero():
    shared = "---\ngraders: {loops: {enabled: false}, retries: {threshold: 0}}\n---\n"
    files = {".github/workflows/base.md": shared}

    alone = {item.id: item for item in _read("imports: [base.md]", files).settings}
    over = _read("imports: [base.md]\ngraders: {retries: {threshold: 5}}", files).settings

    assert (alone["loops"].enabled, alone["retries"].threshold) == (False, 0)
    assert {item.id: item.threshold for item in over}["retries"] == 5
