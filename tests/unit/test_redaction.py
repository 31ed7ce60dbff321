"""Secrets are masked wherever they stand, once and for all, and change no number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders import _json
from aw_graders.graders import grade
from aw_graders.redaction import mask_text, redact
from aw_graders.session import Event, Provenance, Session, encode_jsonl, read_session
from tests.support import ROOT, lines_of

# Put together here, so that no scanner takes this file for a leak.
_SECRETS = {
    "github-token": "ghp_" + "a1B2" * 9,
    "aws-access-key": "AKIA" + "ABCD" * 4,
    "anthropic-key": "sk-ant-" + "api03-" + "x" * 40,
    "openai-key": "sk-" + "proj-" + "y" * 40,
    "slack-token": "xoxb-" + "1234567890-abcdef",
    "npm-token": "npm_" + "z" * 36,
    "pypi-token": "pypi-" + "A" * 60,
    "jwt": "eyJ" + "hbGciOiJI" + ".eyJ" + "zdWIiOiIx" + ".c2lnbmF0dXJl",
    "private-key": "-----BEGIN " + "RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
}


def _session(secret: str) -> Session:
    provenance = {"component": "agent", "phase": "agent", "path": f"{secret}.jsonl", "index": 0}
    given_ = {
        "toolCallId": secret,
        "toolName": "x",
        "input": {secret: [secret, {"a": f"say {secret}!"}]},
    }
    header = {"type": "session.format", "data": {"version": 1}}
    header["provenance"] = {
        "component": "collector",
        "phase": "conclusion",
        "path": "usage/aw_session.jsonl",
        "index": 0,
    }
    event = {"type": "tool.execution_start", "id": secret, "data": given_, "provenance": provenance}
    return read_session(lines_of([header, event])).session


@pytest.mark.parametrize("kind", _SECRETS)
def test_a_secret_is_masked_in_keys_ids_paths_and_values(kind):
    result = redact(_session(_SECRETS[kind]))
    text = encode_jsonl(result.session.session).decode()

    assert _SECRETS[kind].split("\n")[0] not in text
    assert f"[REDACTED:{kind}:" in text
    assert {masked.kind for masked in result.masked} == {kind}
    assert redact(result.session.session).session.events == result.session.events


def test_an_escaped_secret_is_masked():
    secret = _SECRETS["github-token"]
    escaped = encode_jsonl(_session(secret)).replace(b"ghp_", rb"\u0067hp_")

    text = encode_jsonl(redact(read_session(escaped).session).session.session)

    assert secret.encode() not in text
    assert b"hp_" not in text


def test_two_secrets_keep_apart_and_one_stays_one():
    one, two = "ghp_" + "a" * 36, "ghp_" + "b" * 36

    assert mask_text(one) == mask_text(one)
    assert mask_text(one) != mask_text(two)


def test_redaction_changes_no_number():
    session = read_session((ROOT / "examples" / "workflow-run.jsonl").read_bytes()).session

    assert redact(session).session.session is session
    assert all(result.status != "error" for result in grade(redact(session).session))


@given(st.text())
def test_masking_twice_is_masking_once(text):
    once = mask_text(text + _SECRETS["slack-token"] + text)

    assert mask_text(once) == once


def test_hostile_text_is_masked_in_linear_time():
    for text in ("a" * 1_000_000, "-----BEGIN " * 50_000, "eyJ." * 200_000, '"' * 1_000_000):
        mask_text(text)


def test_a_secret_at_the_deepest_level_is_masked():
    depth = _json.MAX_DEPTH - 2
    nested = '{"k":' * depth + '"' + _SECRETS["github-token"] + '"' + "}" * depth
    event = Event("a.b", Provenance("agent", "agent", "p", 0), nested.encode())

    masked = redact(Session.of([event])).session.events[1].data_json

    assert _SECRETS["github-token"].encode() not in masked
    assert b"[REDACTED:github-token:" in masked
