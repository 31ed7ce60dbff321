"""No result carries a longer part of the code that made it, nor of its base64 spelling."""

import base64
import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aw_graders.config.custom import OPERATIONAL_VALUE
from aw_graders.runtimes.bash import run_evaluator
from aw_graders.runtimes.node import run_script
from aw_graders.runtimes.outcome import Answer, Failure, result_of
from aw_graders.runtimes.source_free import MAX_SOURCE_CHARACTERS, SourceGuard
from tests.unit.runtimes.support import grader, lines, plain, small

_SIZE = MAX_SOURCE_CHARACTERS + 1
_WORDS = st.text(st.sampled_from("abcxyz012 _;(){}'\"\\/é😀\n"), max_size=200)


def _texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _shown(code, text):
    """Return what a text shows of a source, in the words or in base64."""
    encoded = base64.b64encode(code.encode("utf-8", "replace")).decode()
    return [
        text[at : at + _SIZE]
        for at in range(len(text) - _SIZE + 1)
        if text[at : at + _SIZE] in code or text[at : at + _SIZE] in encoded
    ]


def _shown_quickly(code, text):
    known = {code[at : at + _SIZE] for at in range(len(code) - _SIZE + 1)}
    return [
        text[at : at + _SIZE]
        for at in range(len(text) - _SIZE + 1)
        if text[at : at + _SIZE] in known
    ]


def _result_of_script(code):
    given = grader(code)
    return plain(result_of(given, run_script(given, small()).answer))


def _result_of_evaluator(code):
    given = grader(f"#!/bin/bash\n{code}", OPERATIONAL_VALUE)
    return plain(result_of(given, run_evaluator(given, lines()).answer))


def _parts(code, result):
    return [part for text in _texts(result) for part in _shown(code, text)]


# --- The function -----------------------------------------------------------


@given(_WORDS, _WORDS, st.data())
def test_no_text_keeps_a_long_part_of_a_source(source, around, data):
    start = data.draw(st.integers(0, len(source)))
    text = around + source[start:] + around + source

    freed = SourceGuard(source).text(text)

    assert _shown(source, freed) == []


@given(_WORDS)
def test_no_text_keeps_a_long_part_of_the_base64(source):
    encoded = base64.b64encode(source.encode()).decode()

    assert _shown(source, SourceGuard(source).text(f"a{encoded}b")) == []


@given(_WORDS, _WORDS)
def test_what_is_no_part_of_a_source_stays(source, text):
    if not _shown(source, text):
        assert SourceGuard(source).text(text) == text


@given(_WORDS, _WORDS)
def test_freeing_twice_changes_nothing_more(source, text):
    once = SourceGuard(source).text(text + source)

    assert SourceGuard(source).text(once) == once


@given(_WORDS)
def test_keys_and_deep_texts_are_freed_too(source):
    value = {"a": [source, {f"k{source}": [1, None, True, source * 2]}], source: source}

    freed = SourceGuard(source).value(value)

    assert [part for text in _texts(freed) for part in _shown(source, text)] == []


def test_a_part_of_47_characters_may_be_said_and_one_of_48_not():
    source = "".join(f"{number:03d};" for number in range(100))

    assert SourceGuard(source).text(source[:47]) == source[:47]
    assert SourceGuard(source).text(source[:48]) == f"{source[:40]}…"


_LONG = {
    "one character": ("x" * 200_000, "x" * 10_000 + "y"),
    "two that alternate": ("xy" * 100_000, "xy" * 5_000),
    "no part of it": ("x" * 200_000, "y" * 10_000),
    "nearly a part": (("x" * 46 + "y") * 4_000, ("x" * 47 + "y") * 200),
}


@pytest.mark.parametrize("kind", _LONG)
def test_a_long_text_over_a_long_source_is_freed_quickly(kind):
    source, text = _LONG[kind]
    started = time.process_time()

    freed = SourceGuard(source).text(text)

    assert _shown_quickly(source, freed) == []
    assert time.process_time() - started < 2


def test_many_texts_over_a_long_source_are_freed_quickly():
    guard = SourceGuard("".join(f"{number};" for number in range(40_000)))
    started = time.process_time()

    guard.value([f"{number} " * 10 for number in range(10_000)])

    assert time.process_time() - started < 2


# --- Scripts ----------------------------------------------------------------

_MARK = "const mark = 'the quick brown fox jumps over the lazy dog, and then over all of it';"
_SCRIPTS = {
    "a function as text": "const f = () => { MARK return mark; };\nthrow new Error(String(f));",
    "a function as a message": "function f() { MARK }\nreturn { value: 1, message: f.toString() };",
    "a class as details": "class A { a() { MARK } }\nreturn { value: 1, details: `${A}` };",
    "a method as a key": "const o = { f() { MARK } };\nreturn { value: 1, diagnostics: { [o.f]: 1 } };",
    "a function in a list": "const f = () => { MARK };\nreturn { value: 1, diagnostics: { a: [['x', `${f}`]] } };",
    "its lines one by one": "const f = () => { MARK };\nreturn { value: 1, diagnostics: { a: `${f}`.match(/.{1,60}/g).join('\\n') } };",
    "thrown as text": "const f = () => { MARK };\nthrow `${f}`;",
    "a name of an error": "const f = () => { MARK };\nthrow Object.assign(new Error('x'), { name: `${f}` });",
    "a stack": "MARK\nthrow Object.assign(new Error('x'), { message: new Error(mark).stack });",
    "what JSON does not read": "const f = () => { MARK };\nJSON.parse(`${f}`);",
    "a pattern that is wrong": "const f = () => { MARK };\nnew RegExp(`(${f}`);",
    "a name that is too long": "MARK\nreturn theQuickBrownFoxJumpsOverTheLazyDogAndThenOverAllOfItAgain;",
    "a syntax error in it": "MARK\nreturn theQuickBrownFoxJumpsOverTheLazyDogAndThen OverAllOfItAgain;",
    "a private name": "MARK\nreturn {}.#theQuickBrownFoxJumpsOverTheLazyDogAndThenOverAllOfIt;",
    "a literal": "MARK\nreturn { value: null, message: mark };",
    "a helper's error": "const f = () => { MARK };\nhelpers.sum({ get length() { throw new Error(`${f}`); } });",
    "a property that is not there": "const f = () => { MARK };\nnull[`${f}`];",
    "a function that is none": "const o = {};\no.theQuickBrownFoxJumpsOverTheLazyDogAndThenOverAllOfItAgain();",
}


@pytest.mark.parametrize("how", _SCRIPTS)
def test_a_script_cannot_say_its_own_source(how):
    code = _SCRIPTS[how].replace("MARK", _MARK)

    result = _result_of_script(code)

    assert _parts(code, result) == []


_PIECES = st.sampled_from(
    [
        *("const a = 1; ", "let text = 'some words in it'; ", "/* a comment about nothing */ "),
        *("const grün = '😀'; ", "if (session.length > 1000) { return null; } ", "\n", "  "),
    ]
)
_ENDS = st.sampled_from(
    [
        "throw new Error(`${f}`);",
        "return { value: 1, message: `${f}`, diagnostics: { [f]: [`${f}${f}`] } };",
        "throw { name: `${f}`, message: `${f}`.slice(7) };",
        "JSON.parse(`${f}`);",
        "null[`${f}`];",
        "throw `${f}`.split('').join('');",
        "return { value: null, message: `a${f}b${f}` };",
        "new RegExp(`[${f}`);",
    ]
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_PIECES, min_size=3, max_size=12), _ENDS)
def test_no_script_says_a_long_part_of_itself(pieces, end):
    code = f"function f() {{ {{ {'} {'.join(pieces)} }} }}\n{end}"

    assert _parts(code, _result_of_script(code)) == []


def test_base64_made_by_a_script_is_not_said_either():
    # There is no btoa in the realm: a script brings its own.
    code = """
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const encode = (text) => {
  let bits = "", out = "";
  for (const c of text) bits += c.charCodeAt(0).toString(2).padStart(8, "0");
  for (let i = 0; i + 6 <= bits.length; i += 6) out += letters[parseInt(bits.slice(i, i + 6), 2)];
  return out;
};
"""
    prefix = len(code)
    code += "return { value: 1, message: encode(SOURCE) };"
    quoted = code[:prefix].replace("\\", "\\\\").replace("`", "\\`").replace("$", "\\$")
    whole = code.replace("SOURCE", f"`{quoted}`")

    assert _parts(whole, _result_of_script(whole)) == []


# --- Evaluators -------------------------------------------------------------

_LINE = "word='the quick brown fox jumps over the lazy dog, and then over all of it'"
_EVALUATORS = {
    "traced": "set -x\nLINE\nexit 1",
    "traced word by word": "set -v\nLINE\nexit 1",
    "printed": 'LINE\ncat "$0" >&2\nexit 1',
    "printed in base64": 'LINE\nbase64 -w 0 "$0" >&2\nexit 1',
    "printed in broken base64": 'LINE\nbase64 "$0" >&2\nexit 1',
    "declared": "f() { LINE; }\ndeclare -f f >&2\nexit 1",
    "unfinished": "LINE\nif [ 1 = 1 ]; then echo 'the quick brown fox jumps over the lazy dog and more",
    "a command of it": "the-quick-brown-fox-jumps-over-the-lazy-dog-and-then-over-all-of-it --again",
    "a variable of it": 'set -u\necho "$the_quick_brown_fox_jumps_over_the_lazy_dog_and_then_over_all"',
    "as an id": 'LINE\nprintf \'[{"id":"%s","value":1}]\' "$word"',
    "as another id": 'LINE\nprintf \'[{"id":"a","value":1},{"id":"%s","value":1}]\' "$word"',
    "as an id twice": 'LINE\nprintf \'[{"id":"%s","value":1},{"id":"%s","value":1}]\' "$word" "$word"',
}


@pytest.mark.parametrize("how", _EVALUATORS)
def test_an_evaluator_cannot_say_its_own_source(how):
    code = _EVALUATORS[how].replace("LINE", _LINE)

    result = _result_of_evaluator(code)

    assert _parts(f"#!/bin/bash\n{code}", result) == []


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(["a=1", _LINE, "b='x y z'", ": ok", "[ 1 = 1 ]"]), min_size=2))
def test_no_traced_evaluator_says_a_long_part_of_itself(commands):
    code = "set -xv\n" + "\n".join(commands) + "\nexit 1"

    assert _parts(f"#!/bin/bash\n{code}", _result_of_evaluator(code)) == []


def test_the_digest_is_all_that_stands_for_the_source():
    given = grader("return 1;")

    result = result_of(given, Answer(1))

    assert re.fullmatch("[0-9a-f]{64}", result.digest)
    assert "return 1;" not in str(result)


def test_a_place_is_said_after_the_source_was_taken_out():
    given = grader("x" * 100)

    assert result_of(given, Failure("x" * 100, 1, 2)).error == (
        "x" * 40 + "… (line 1, column 2 of the script)"
    )
