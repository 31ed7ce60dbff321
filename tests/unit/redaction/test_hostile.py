"""Text that was built to blow up a search takes no longer than harmless text of the same size."""

import json
import statistics
import time

import pytest

from aw_graders._json import MAX_DEPTH, compact
from aw_graders.redaction import known_values, mask_text, redact
from aw_graders.session import Event, Provenance, Session

_BYTES = 2_000_000
_KNOWN = known_values(["c7Qd0Gateway0FakeToken0x91"])


def _run(text):
    return (text * (_BYTES // len(text) + 1))[:_BYTES]


_HARMLESS = _run("The quick brown fox reads src/main.py, line 12, and says ok. ")
_RUNS = {
    "begin": _run("-----BEGIN "),
    "dashes": _run("-"),
    "eyJ": "eyJ" + "a" * (_BYTES - 3),
    "eyJ repeated": _run("eyJ"),
    "authorization": _run("Authorization: "),
    "bearer": _run("Authorization: Bearer "),
    "assignments": _run("a=a=a="),
    "escapes": _run('\\\\\\"'),
    "quotes": _run('"'),
    "backslashes": _run("\\"),
    "addresses": _run("://a:"),
    "one address": "://" + _run("a:"),
    "base64": _run("QUJDRA"),
    "prefixes": _run("sk- ghp_ AIza xox npm_ "),
    "names": _run("token password secret "),
    "names of passwords": _run("password="),
    "names of quoted": _run('password: "'),
    "refused phrases": _run("secret: 'x "),
    "hidden": _run("\\u0067"),
    "key blocks": _run("-----BEGIN PRIVATE " + "KEY-----\n"),
    "jwt": _run("eyJ" + "a" * 20 + "."),
    "almost known": _run("c7Qd0Gateway0FakeToken0x9"),
}


def _seconds(text):
    session = Session.of([Event("a.b", Provenance("agent", "agent", "p", 0), compact({"t": text}))])
    times = []
    for _ in range(3):
        start = time.perf_counter()
        redact(session, _KNOWN)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


# These are decoded or masked besides being searched; of the whole command that is little.
_DEAR = {"hidden", "jwt", "key blocks", "refused phrases", "names of quoted"}


@pytest.mark.parametrize("name", _RUNS)
def test_a_hostile_run_takes_little_more_than_harmless_text(name):
    # What others do on the machine is no part of it: one of a few tries has to be undisturbed.
    ratios = []
    for _ in range(4):
        ratios.append(_seconds(_RUNS[name]) / _seconds(_HARMLESS))
        if ratios[-1] < (6 if name in _DEAR else 3):
            return
    pytest.fail(f"took {min(ratios):.1f} times as long")


# These meet rules that refuse each time, or mask each time; that costs more, in proportion.
_BUSY = {
    "refused quoted": 'password: "true" ',
    "refused": "token=token2 ",
    "refused, no space": "token=token=",
    "refused, one run": "Authorization:your-",
    "refused commands": "::add-mask::$",
    "refused calls": "token=a1",
    "masked": "password=hunter22 ",
    "nested": json.dumps({"a": json.dumps({"password": 'a"b1 c'})}),
}


@pytest.mark.parametrize("name", _BUSY)
def test_what_meets_rules_takes_time_in_proportion(name):
    def seconds(size):
        text = (_BUSY[name] * (size // len(_BUSY[name]) + 1))[:size] + "("
        start = time.perf_counter()
        mask_text(text)
        return time.perf_counter() - start

    seconds(1000)
    # Four times the text; a square would be sixteen times the time.
    assert any(seconds(200_000) < 10 * seconds(50_000) for _ in range(4))


def test_json_text_at_the_deepest_level_is_masked():
    text = 'x password="a\\"b1"'
    for _ in range(7):
        text = json.dumps({"a": text})
    depth = MAX_DEPTH - 2
    nested = '{"k":' * depth + json.dumps(text) + "}" * depth

    redaction = redact(
        Session.of([Event("a.b", Provenance("agent", "agent", "p", 0), nested.encode())])
    )

    assert {item.kind for item in redaction.masked} == {"assigned-secret"}


def test_ever_deeper_json_text_is_masked():
    text = "ghp" + "_" + "a1B2" * 9
    for _ in range(16):
        text = json.dumps({"a": text})

    assert "a1B2" not in mask_text(text)
