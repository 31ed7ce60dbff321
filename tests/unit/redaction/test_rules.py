"""What is a secret and what is not, row by row; and the values that are known to be some."""

import json
import pathlib

import pytest

from aw_graders import _json
from aw_graders.lookups import Observer
from aw_graders.redaction import (
    KnownValues,
    add_mask_values,
    known_values,
    mask_text,
    merge_redacted,
    pack,
    redact,
    redact_observations,
    unpack,
)
from aw_graders.redaction.known import matcher
from aw_graders.redaction.rules import RULES
from aw_graders.session import Event, Provenance, Session, encode_jsonl
from aw_graders.session.wire import to_wire
from tests.unit.redaction.planted import planted

_SHA = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

_LEFT = (
    "token = get_token()",
    "token = self.tokens[index1]",
    "password: str",
    "password: string;",
    "def login(user, password=None, token=token):",
    "password = user.password",
    "secret = os.environ['SECRET_1']",
    "API_KEY=$API_KEY",
    "API_KEY=${{ secrets.API_KEY }}",
    "password: ${DB_PASSWORD}",
    'api_key: "<your-api-key>"',
    '"token": null, "secret": true',
    '{"token": " function", "logprob": -0.1}',
    '{"token": "hello"}',
    '{"password": "string"}',
    '{"password": "must have at least 8 characters"}',
    '{"password": "********"}',
    "next_token: abc",
    "token: 12345",
    "inputTokens: 1200, max_tokens=100",
    "Unexpected token: } at line 3",
    "The password: it is never stored.",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    'f"Authorization: Bearer {token}"',
    "Authorization: none",
    "a bearer of bad news",
    "basic functionality",
    "https://localhost:8080/@scope/package",
    "https://user:password@example.com",
    "https://${USER}:${PASS}@example.com",
    "git@github.com:owner/name.git",
    "PWD=/home/runner1/work/x",
    f"commit {_SHA[:40]}",
    f"sha256:{_SHA}",
    "id 0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f",
    "class='sk-fading-circle sk-circle-wrapper-inner-box'",
    "task-sk-management-of-many-things",
    "the header -----BEGIN and a dash",
    "eyJhbGciOi is how they begin",
    "echo ::add-mask::$TOKEN",
    "ghp_ is a prefix, AKIA too",
    "secret_name: my-secret-name",
    "secret: my-secret-name",
    "-----BEGIN PUBLIC KEY-----",
    "token=token2",
    "token=my_long_name_2",
    "token=abc1",
    "token=parse1(text)",
    "authorization = base64.decodebytes(authorization)",
    "authorization: none",
    '{"authorization": "none"}',
    'broken "a\\qb" and token=x',
)

_MASKED = (
    ("password=hunter2", "hunter2", "assigned-secret"),
    ("passwd: s3cr3t!", "s3cr3t!", "assigned-secret"),
    ("PGPASSWORD=pa$$w0rd psql", "pa$$w0rd", "assigned-secret"),
    ("password=a1:b=c&x=1", "a1:b=c", "assigned-secret"),
    ('password = "correct horse"', "correct horse", "assigned-secret"),
    ("password: str = 'hunter2'", "hunter2", "assigned-secret"),
    ("{'password': 'swordfish'}", "swordfish", "assigned-secret"),
    ('{"password":"zeb\\"ra f"}', "zeb", "assigned-secret"),
    ("secret=0123456789abcdef", "0123456789abcdef", "assigned-secret"),
    ('x password="ze\\"b1" y', "b1", "assigned-secret"),
    ("secret=AbcdEfghIjklMnop12", "AbcdEfghIjklMnop12", "assigned-secret"),
    ("X-API-Key: 1a2b3c4d5e6f", "1a2b3c4d5e6f", "assigned-secret"),
    ("--token=1a2b3c4d5e6f", "1a2b3c4d5e6f", "assigned-secret"),
    ('--password "swordfish"', "swordfish", "assigned-secret"),
    ("//registry/:_authToken=1a2b-3c4d-5e6f", "1a2b-3c4d-5e6f", "assigned-secret"),
    ("token=password=hunter2", "hunter2", "assigned-secret"),
    ("Authorization: c7Qd0Gateway0FakeToken0x91", "c7Qd0Gateway0FakeToken0x91", "auth-header"),
    ('{\\"Authorization\\":\\"Basic dTpw\\"}x', "dTpw", None),
    ("redis://:s3cret@cache:6379", "s3cret", "url-credential"),
    ("https://u:p@ss@host/x", "p@ss", "url-credential"),
    ("https://" + "a1B2c3D4e5" * 4 + "@github.com/x", "a1B2c3D4e5", "url-credential"),
    ("https:\\/\\/u:pa55@host", "pa55", None),
    ("::add-mask::not-a-shape", "not-a-shape", "masked-line"),
    ("Bearer abcdef0123456789", "abcdef0123456789", "auth-header"),
    ("?X-Amz-Signature=" + "ab12" * 16, "ab12ab12", "signed-url"),
    ("AGE-" + "SECRET-KEY-1" + "QPZRY9X8" * 8, "QPZRY9X8", "private-key"),
    ("MIIE" * 16 + "\n-----END " + "PRIVATE KEY-----", "MIIEMIIE", "private-key"),
    (
        "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIE" * 16 + "\n" + "Abcd" * 16,
        "Abcd",
        "private-key",
    ),
    ("\\u0067h" + "p_" + "a1B2" * 9, "a1B2a1B2", "github-token"),
    ('{"a":"\\u0067h' + "p_" + "a1B2" * 9 + '"}', "a1B2a1B2", "github-token"),
    ('{"a":"{\\"b\\":\\"x\\\\ng' + "hp_" + "a1B2" * 9 + '\\"}"}', "a1B2a1B2", "github-token"),
)


@pytest.mark.parametrize("text", _LEFT)
def test_code_prose_and_hashes_stay(text):
    assert mask_text(text) == text


@pytest.mark.parametrize(("text", "secret", "kind"), _MASKED)
def test_a_secret_is_masked(text, secret, kind):
    masked = mask_text(text)

    if kind is None:
        return
    assert secret not in masked
    assert f"[REDACTED:{kind}:" in masked
    assert mask_text(masked) == masked


def _one(data, path="p"):
    return Session.of([Event("a.b", Provenance("agent", "agent", path, 0), _json.compact(data))])


@pytest.mark.parametrize(
    "data",
    [
        {"password": "zebrafish"},
        {"a": [{"clientSecret": "1a2b3c4d5e6f"}]},
        {"headers": {"Authorization": "c7Qd0Gateway0FakeToken0x91"}},
        {"headers": {"authorization": "Basic dTpwYXNzdw=="}, "authorization": "none"},
        {"content": json.dumps({"headers": {"Authorization": "c7Qd0Gateway0FakeToken0x91"}})},
        {"a": json.dumps({"b": json.dumps({"password": 'zebra "fish'})})},
    ],
)
def test_a_key_tells_that_its_value_is_secret(data):
    redaction = redact(_one(data))

    text = encode_jsonl(redaction.session.session).decode()
    assert len(redaction.masked) == 1
    assert not any(word in text for word in ("zebra", "fish", "1a2b", "c7Qd", "dTpw"))


def test_what_was_masked_is_listed_without_the_value():
    (masked,) = redact(_one({"a": {"b/c": ["x", "password=hunter2"]}})).masked

    assert (masked.event, masked.pointer, masked.kind) == (1, "/data/a/b~1c/1", "assigned-secret")


def test_a_short_secret_shows_less_of_its_digest():
    assert mask_text("password=hunter2").endswith(":f52]")
    assert (
        len(mask_text("password=" + "a1" * 15)) == len("password=[REDACTED:assigned-secret:]") + 8
    )


def test_two_spellings_of_a_secret_stay_two_keys():
    known = known_values(['a"bcdef'])
    redaction = redact(_one({'a"bcdef': 1, 'a\\"bcdef': 2}), known)

    assert len(redaction.session.events[1].data) == 2
    assert redact(redaction.session.session, known).session == redaction.session


def test_known_values_come_from_variables_a_file_and_the_command():
    known = known_values(
        ["direct-value"],
        names="ONE, TWO,,MISSING",
        variables={"ONE": "value-of-one", "SECRET_TWO": "value-of-two", "OTHER": "not-named"},
        file_text="in-the-file\n\n  spaced-out  \nin-the-file\nshort\nsuccess\n",
    )

    assert known.values == (
        "direct-value",
        "value-of-one",
        "value-of-two",
        "in-the-file",
        "spaced-out",
    )
    assert (known.too_short, known.ordinary) == (1, 1)
    assert "direct" not in repr(known)
    assert known.__rich_repr__() == [("values", 5)]
    assert known_values() == KnownValues()
    assert mask_text("value-of-one", known_values()) == "value-of-one"
    search = matcher(known)
    assert "direct" not in repr(search)
    assert search.__rich_repr__()[0][0] == "forms"


def test_a_value_of_several_lines_is_known_line_by_line():
    known = known_values(["first-line-that-is-long\nshort\nthird-line-that-is-long"])

    masked = mask_text("cut: third-line-that-is-long", known)
    assert masked.startswith("cut: [REDACTED:known-value:")
    assert mask_text("a short line", known) == "a short line"


def test_the_longest_known_value_wins():
    known = known_values(["abcdefgh", "abcdefgh-and-more"])

    assert mask_text("abcdefgh-and-more", known).count("[REDACTED") == 1
    assert "and-more" not in mask_text("abcdefgh-and-more", known)


def test_many_known_values_are_searched_in_parts():
    values = [f"value-{number:06}" + "x" * 400 for number in range(400)]

    assert "value" not in mask_text(" ".join(values), known_values(values)).replace("-value", "")


def test_a_value_that_is_no_unicode_is_known():
    value = "pass\udcff\udcedword"

    assert value not in mask_text(f"a {value} b", known_values([value]))


def test_values_of_mask_commands_are_found_in_a_session():
    session = _one(
        {
            "log": "2026-01-01 ::add-mask::first-value\nx\n::add-mask::with%25percent%0Aline",
            "number": 1,
            "code": 'echo "::add-mask::$TOKEN"',
            "nested": [json.dumps({"out": "::add-mask::third-value\nok"})],
        }
    )

    assert add_mask_values(session) == ("first-value", "with%percent\nline", "third-value")


def test_a_known_value_without_a_shape_is_masked_and_a_split_one_is_not():
    # A value that is split over two parts is a stated limit.
    secret = "c7Qd0Gateway0FakeToken0x91"
    session = _one({"a": f"the header is {secret}", "b": [secret[:15], secret[15:]]})

    redaction = redact(session, known_values([secret]))

    assert [item.pointer for item in redaction.masked] == ["/data/a"]
    assert redaction.session.events[1].data["b"] == (secret[:15], secret[15:])


def _rows(events):
    observer = Observer(mask=mask_text, keep_times=False)
    observer.feed([to_wire(event) for event in events])
    return observer.observations


def test_rows_are_masked_as_the_session_is():
    known = known_values(["known-value-one"])
    texts = [item.text for item in planted(("rows",))] + ["a known-value-one b"]
    events = []
    for index, text in enumerate(texts):
        where = Provenance("agent", "agent", "agent.jsonl", index)
        data = {"toolCallId": text, "toolName": text, "input": {text: [text], "password": text}}
        events.append(Event("tool.execution_start", where, _json.compact(data)))
        events.append(
            Event("x", Provenance(text, "agent", text, index), b"{}", _json.compact({"id": text}))
        )
    session = Session.of(events)

    rows = unpack(pack(merge_redacted([redact_observations(_rows(session.events), known)])))

    assert rows.observations == _rows(redact(session, known).session.events)


def test_rules_name_their_kind_in_the_docs():
    page = (pathlib.Path(__file__).parents[3] / "docs" / "redaction.md").read_text("utf-8")
    assert [rule.kind for rule in RULES if f"`{rule.kind}`" not in page] == []
