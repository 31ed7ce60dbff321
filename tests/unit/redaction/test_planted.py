"""A secret planted anywhere in a session is in nothing that leaves, and no grade tells of it."""

import base64
import json
from urllib.parse import quote

import msgspec
import pytest

from aw_graders import _json
from aw_graders.graders import grade, results_document
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import known_values, mask_text, redact
from aw_graders.session import encode_jsonl, read_session
from tests.support import lines_of
from tests.unit.redaction.planted import Planted, planted, random_text

PLANTED = planted(("one", "two3", "three"))
KNOWN = tuple(random_text(f"known{number}", 20 + number) for number in range(3))


def _nested(text, levels):
    for _ in range(levels):
        text = json.dumps({"inner": text, "n": [1]})
    return text


def _provenance(component, path, index):
    return {"component": component, "phase": "agent", "path": path, "index": index}


def _events(texts):
    """The texts in every position that an event has, in calls that fail, repeat and end."""
    header = {"type": "session.format", "data": {"version": 1}}
    yield header | {
        "provenance": _provenance("collector", "usage/aw_session.jsonl", 0)
        | {"phase": "conclusion"}
    }
    index = 0
    for text in texts:
        for repeat in range(2):
            call = {
                "toolCallId": f"{text}-{repeat}",
                "toolName": f"run {text}",
                "sessionId": text,
                "input": {
                    "plain": text,
                    "list": [text, {"deep": [[text]]}],
                    f"key {text}": 1,
                    "json": _nested(text, 3),
                    "lines": f"first\n{text}\nlast",
                    "command": f"set -e; curl 'https://example.com/?q={text}&x=1' | tee out",
                    "log": f'{{"a": 1}}\n{_nested(text, 1)}\n{{"b": 2}}',
                },
            }
            yield {
                "type": "tool.execution_start",
                "id": text,
                "agentId": text,
                "data": call,
                "provenance": _provenance("agent", "agent.jsonl", index)
                | {"native": {"raw": text}},
            }
            yield {
                "type": "tool.execution_complete",
                "timestamp": "2026-05-01T10:00:00Z",
                "agentId": text,
                "data": {
                    "sessionId": text,
                    "toolCallId": f"{text}-{repeat}",
                    "success": repeat == 0,
                    "output": f"said: {text}.",
                },
                "provenance": _provenance("agent", "agent.jsonl", index + 1),
            }
            index += 2
        yield {"type": f"x.{text}", "data": {}, "provenance": _provenance("agent", "a", index)}
        index += 1
        yield {"type": "a.b", "data": {}, "provenance": _provenance(f"my {text}", "a", 0)}
        yield {"type": "a.b", "data": {}, "provenance": _provenance("agent", f"logs/{text}.txt", 0)}
        yield {
            "type": "firewall.token_usage",
            "data": {"model": text, "requestId": text, "usage": {"inputTokens": index}},
            "provenance": _provenance("firewall", "token-usage.jsonl", index),
        }


def _session(texts):
    return read_session(lines_of(list(_events(texts)))).session


def _survives(secret, content):
    """Tell whether a secret stands in bytes, or in the JSON spelling of it."""
    spelled = json.dumps(secret)[1:-1]
    return secret.encode() in content or spelled.encode() in content


def _numbers(results):
    """What results say but for their words, which name tools."""
    return [msgspec.structs.replace(result, details=None) for result in results]


def test_there_are_sixty_secrets_of_twenty_kinds():
    assert len(PLANTED) >= 60
    assert len({item.name for item in PLANTED}) >= 20
    assert len({item.secret for item in PLANTED}) == len(PLANTED)


def test_no_planted_secret_survives_anywhere():
    redaction = redact(_session([item.text for item in PLANTED]))

    lines = encode_jsonl(redaction.session.session)
    lookups = create_session_lookups(redaction.session)
    document = _json.pretty(results_document(grade(redaction.session), lookups.context))
    masked = repr(redaction.masked).encode()

    for item in PLANTED:
        assert not _survives(item.secret, lines), item.name
        assert not _survives(item.secret, document), item.name
        assert not _survives(item.secret, masked), item.name
        assert item.kind in {found.kind for found in redaction.masked}, item.name
    assert redact(redaction.session.session).session.session == redaction.session.session


@pytest.mark.parametrize("item", PLANTED, ids=lambda item: item.name)
def test_a_message_that_quotes_a_secret_is_masked(item: Planted):
    message = mask_text(f'a.jsonl:3:7: "{item.text}" is no event ({item.text!r})')

    assert item.secret not in message
    assert f"[REDACTED:{item.kind}:" in message


def test_grades_are_those_of_harmless_words():
    secret = grade(redact(_session([item.text for item in PLANTED])).session)
    words = grade(redact(_session([f"word {n}" for n in range(len(PLANTED))])).session)

    assert _numbers(secret) == _numbers(words)


def test_structure_stays():
    session = _session([item.text for item in PLANTED])
    redacted = redact(session).session

    assert len(redacted.events) == len(session.events)
    for before, after in zip(session.events, redacted.events, strict=True):
        assert list(before.data) == list(after.data)
        assert before.provenance.index == after.provenance.index
        given = before.data.get("input")
        if given is not None:
            assert len(given) == len(after.data["input"])
            assert json.loads(json.loads(after.data["input"]["json"])["inner"])["n"] == [1]


def test_known_values_are_masked_in_every_spelling():
    value = KNOWN[0] + '/+"é\\~ §'
    known = known_values([value, *KNOWN])
    spellings = [value, *KNOWN, value.encode().hex(), value.encode().hex().upper()]
    spellings.append(quote(value, safe=""))
    cores = []
    for before in ("", "a", "ab", "abc"):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(f"{before}{value}:after".encode()).decode()
            spellings.append(text)
            cores.append(text[8:-12])
    spellings = list(dict.fromkeys(spellings))
    session = _session(spellings)

    redaction = redact(session, known)
    lines = encode_jsonl(redaction.session.session)

    for secret in (*KNOWN, *cores, *spellings[:7]):
        assert not _survives(secret, lines), secret
    assert {item.kind for item in redaction.masked} == {"known-value"}
    assert redact(redaction.session.session, known).session.session == redaction.session.session
    words = redact(_session([f"word {n}" for n in range(len(spellings))])).session
    assert _numbers(grade(redaction.session)) == _numbers(grade(words))
