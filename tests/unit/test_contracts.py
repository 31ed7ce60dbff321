"""Registry, docs, vectors, example and exports name the same things."""

import ast
import re
import subprocess
import sys

import pytest

import aw_graders
from aw_graders.graders import BUILT_IN
from tests.support import ROOT, grader_cases, trajectory_cases


@pytest.mark.spec("G-4-16")
def test_every_grader_has_a_page_that_is_fresh():
    command = [sys.executable, str(ROOT / "tools" / "make_docs.py"), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert all((ROOT / "docs" / "graders" / f"{id_}.md").exists() for id_ in BUILT_IN)


def test_every_grader_has_a_vector():
    cases = (*grader_cases(), *trajectory_cases())
    named = {id_ for case in cases for id_ in case["expected"]}

    assert set(BUILT_IN) <= named


def test_only_the_redaction_engine_holds_the_seal():
    users = []
    for file in (ROOT / "src").rglob("*.py"):
        names = {
            alias.name
            for node in ast.walk(ast.parse(file.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        if "seal" in names or "_SEAL" in names:
            users.append(file.relative_to(ROOT / "src" / "aw_graders").as_posix())

    assert users == ["redaction/engine.py"]


def test_the_example_is_what_its_tool_makes():
    command = [
        sys.executable,
        "-c",
        "import sys; sys.path.insert(0, 'tools'); import make_example; sys.stdout.write(make_example.make_example())",
    ]
    made = subprocess.run(command, capture_output=True, cwd=ROOT, check=True).stdout

    assert made == (ROOT / "examples" / "workflow-run.jsonl").read_bytes()
    assert made.count(b"\n") >= 150


def test_public_names_exist():
    assert sorted(aw_graders.__all__) == list(aw_graders.__all__)
    assert all(getattr(aw_graders, name) is not None for name in aw_graders.__all__)


_CODE = re.compile(
    r"(?:config|evaluator|frontmatter|import|workflow|lint|grader)(?:-[a-z0-9]+)+", re.ASCII
)


def _codes_in(room):
    for file in (ROOT / "src" / "aw_graders" / room).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text and _CODE.fullmatch(node.value):
                yield node.value


@pytest.mark.parametrize("room", ["config", "analysis", "flows"])
def test_every_code_of_a_diagnostic_has_a_page(room):
    codes = set(_codes_in(room))

    assert codes
    assert codes <= _pages()


def test_every_page_is_about_a_code():
    codes = {code for room in ("config", "analysis", "flows") for code in _codes_in(room)}

    assert _pages() <= codes
    assert all(
        (ROOT / "docs" / "errors" / f"{page}.md").read_text("utf-8").startswith(f"# {page}\n")
        for page in _pages()
    )


def _pages():
    return {file.stem for file in (ROOT / "docs" / "errors").glob("*.md")}


@pytest.mark.spec("G-5-85", "G-6-16")
def test_it_is_said_what_no_fence_stops():
    text = " ".join((ROOT / "docs" / "threats.md").read_text("utf-8").split())

    assert "Node's permission model does not sandbox Bash" in text
    assert "they are bounded, not caged" in text
    assert "no process of the graders job may hold a token" in text
    lint = " ".join((ROOT / "docs" / "lint.md").read_text("utf-8").split())
    assert "A clean result is no proof of safety" in lint


def test_tests_that_the_threat_page_names_exist():
    text = (ROOT / "docs" / "threats.md").read_text("utf-8")
    named = re.findall(r"`(tests/[^`]+)`", text)

    assert len(named) > 5
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.spec("G-6-13")
def test_built_ins_start_no_process(monkeypatch):
    def refuse(*_, **__):
        pytest.fail("a built-in started a process")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr("os.fork", refuse)
    content = (ROOT / "examples" / "workflow-run.jsonl").read_bytes()
    session = aw_graders.redact(aw_graders.read_session(content).session).session

    results = aw_graders.grade(session)

    assert len(results) == 10
    assert {result.status for result in results} == {"pass"}
