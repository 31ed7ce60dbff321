"""Masking twice is masking once, whatever is put together with whatever."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from aw_graders.redaction import known_values, mask_text, redact
from aw_graders.session import Event, Provenance, Session
from tests.unit.redaction.planted import planted

_ITEMS = planted(("idempotent",))
_KNOWN = known_values(["deadbeef", "github-token", "REDACTED", "s3cret with space", 'quo"ted\\'])
_GLUE = (
    "",
    " ",
    "=",
    ":",
    "@",
    "-",
    "_",
    ".",
    "/",
    '"',
    "'",
    "\\",
    "\n",
    "\\n",
    "[",
    "]",
    "(",
    "a1",
)
_NAMES = (
    "password=",
    'password: "',
    "token: ",
    '"api_key": "',
    "secret = ",
    "Authorization: ",
    "Authorization: Basic ",
    "Bearer ",
    "https://",
    "://u:",
    "--token ",
    "sig=",
    "::add-mask::",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "\\u0067hp_",
    "[REDACTED:github-token:",
    "[REDACTED:known-value:abc]",
)
_VALUES = ("hunter2", "deadbeef", "c7Qd0Gateway0FakeToken0x91", "s3cret with space", "@host", "x")
_PIECES = st.sampled_from(
    (*(item.text for item in _ITEMS), *(item.secret for item in _ITEMS), *_GLUE, *_NAMES, *_VALUES)
)


def _wrapped(text, levels):
    for _ in range(levels):
        text = json.dumps({"password": text, "b": [text]})
    return text


_TEXTS = st.builds(
    _wrapped, st.lists(_PIECES | st.text(max_size=3), max_size=9).map("".join), st.integers(0, 2)
)


@settings(max_examples=400, deadline=None)
@given(_TEXTS)
def test_masking_a_text_twice_is_masking_it_once(text):
    once = mask_text(text)
    assert mask_text(once) == once

    known = mask_text(text, _KNOWN)
    assert mask_text(known, _KNOWN) == known


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(_TEXTS, _TEXTS | st.lists(_TEXTS, max_size=2), max_size=4))
def test_masking_a_session_twice_is_masking_it_once(data):
    session = Session.of(
        [Event("a.b", Provenance("agent", "agent", "p", 0), json.dumps(data).encode())]
    )

    once = redact(session, _KNOWN)
    twice = redact(once.session.session, _KNOWN)

    assert twice.session.session == once.session.session
    assert len(once.session.events[1].data) == len(data)


@settings(max_examples=200, deadline=None)
@given(_TEXTS)
def test_json_inside_a_text_stays_json(text):
    given_ = json.dumps([text, {"a": text}, text + " password='x", "it's"])

    assert len(json.loads(mask_text(given_, _KNOWN))) == 4
