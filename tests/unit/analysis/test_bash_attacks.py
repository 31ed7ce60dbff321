"""Bash that hides what it writes, and Bash that only looks as if it did; both are run here.

An attack has to change its folder when it runs: one that does not proves nothing. `needs` names a
command that it cannot do without, `unproved` says why it cannot be run here.
"""

import json
import re
import shutil

import pytest

from aw_graders.analysis.bash import analyse_bash
from tests.support import ROOT, VECTORS
from tests.watched import BASH, HAS_JQ, PATH, WatchedFolder

_CASES = json.loads((VECTORS / "analysis" / "bash-attacks.json").read_text("utf-8"))
_ATTACKS = [case for case in _CASES if case["verdict"] == "reject"]
_HARMLESS = [case for case in _CASES if case["verdict"] == "accept"]
_PROVABLE = [case for case in _ATTACKS if "unproved" not in case]
_PAGES = sorted((ROOT / "docs" / "errors").glob("grader-shell-*.md"))
# Their examples show files, not lines; or they ask for what cannot be shown.
_BYTES = {"grader-shell-too-large", "grader-shell-not-utf8", "grader-shell-shebang"}

needs_bash = pytest.mark.skipif(BASH is None, reason="Bash is not installed")
needs_jq = pytest.mark.skipif(not HAS_JQ, reason="jq is not installed")


@pytest.fixture(scope="module")
def folder():
    with WatchedFolder() as watched:
        yield watched


def _refused(source):
    return [item for item in analyse_bash(source.encode()).findings if item.severity == "error"]


@pytest.mark.parametrize("case", _ATTACKS, ids=lambda case: case["why"])
def test_an_attack_is_refused(case):
    assert _refused(case["source"])


@needs_bash
@pytest.mark.parametrize("case", _PROVABLE, ids=lambda case: case["why"])
def test_an_attack_changes_files_when_it_runs(case, folder):
    tool = case.get("needs", "bash")
    if shutil.which(tool, path=PATH) is None:
        pytest.skip(f"{tool} is not installed")

    assert folder.run(case["source"]).changes


@pytest.mark.parametrize("case", _HARMLESS, ids=lambda case: case["why"])
def test_a_harmless_evaluator_is_not_refused(case):
    assert _refused(case["source"]) == []


@needs_bash
@needs_jq
@pytest.mark.parametrize("case", _HARMLESS, ids=lambda case: case["why"])
def test_a_harmless_evaluator_changes_nothing(case, folder):
    watched = folder.run(case["source"])

    assert watched.changes == ()
    assert watched.status == 0, watched.stderr


@needs_bash
def test_the_watcher_sees_every_kind_of_change(folder):
    assert folder.run(":").changes == ()
    assert folder.run('head -n 1 "$1"; ls').changes == ()
    assert folder.run("> new").changes == (".", "new")
    assert folder.run("> new; rm new").changes == (".",)
    assert folder.run("rm data.txt").changes == (".", "data.txt")
    assert folder.run("chmod 600 data.txt").changes == ("data.txt",)
    assert folder.run('x=$(<"$1"); printf "%s\\n" "$x" > "$1"').changes == ("session.jsonl",)
    assert folder.run("ln -s data.txt bin/new").changes == ("bin", "bin/new")
    assert folder.run("(sleep 0.2; > new) &").changes == (".", "new")


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_are_judged_as_it_says(page):
    wrong, right = re.findall(r"```bash\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    if page.stem in _BYTES:
        wrong = "# its bytes are at fault"
    found = {item.code for item in analyse_bash(wrong.encode()).findings}

    assert (page.stem in found) == (page.stem not in _BYTES | {"grader-shell-too-complex"})
    assert analyse_bash(right.encode()).findings == ()


def test_there_are_enough_of_both_kinds_each_once():
    assert len(_ATTACKS) >= 130
    assert len(_HARMLESS) >= 80
    assert sum(case["source"].count("\n") >= 9 for case in _HARMLESS) >= 20
    for key in ("source", "why"):
        assert len({case[key] for case in _CASES}) == len(_CASES)
