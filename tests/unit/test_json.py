"""The one decoder: what it refuses, what it settles, what it keeps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders import _json


@pytest.mark.parametrize(
    "text",
    [
        b"NaN", b"[Infinity]", b"-Infinity", b"1e999", b"[-1e400]", b"1" * 400, b"1" * 5000, b"01", b"+1",
        b'"\xff"', b"[1,]", b"{", b'"a\tb"', b"1 2", b"[" * 513 + b"]" * 513, b"[" * 100_000, b"",
    ],
)  # fmt: skip
def test_malformed_text_is_refused_with_a_place(text):
    with pytest.raises(_json.JsonError) as caught:
        _json.decode(text)
    assert caught.value.column >= 1


def test_nesting_of_512_is_read():
    assert _json.decode(b"[" * 512 + b"]" * 512)


def test_brackets_inside_strings_do_not_nest():
    assert _json.decode(b'"' + b"[" * 2000 + b'"') == "[" * 2000


@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"k":', "}"), ('[{"k":', "}]")])
@pytest.mark.parametrize("core", ["1.0", r'"\ud83d"'])
def test_every_walk_over_a_value_reaches_the_limit_of_nesting(opened, closed, core):
    levels = _json.MAX_DEPTH // (opened.count("[") + opened.count("{"))
    text = (opened * levels + core + closed * levels).encode()

    value = _json.decode(text)

    assert _json.decode_counting(text).value == value
    frozen = _json.freeze(value)
    assert _json.compact(frozen) == _json.compact(value)
    assert _json.compact(_json.thaw(frozen)) == _json.compact(value)
    assert _json.decode(_json.pretty(frozen)) == value
    assert _json.canonical(frozen) == _json.canonical(value)
    assert _json.same_value(_json.sorted_text(value), _json.canonical(value))


def test_a_lone_surrogate_is_replaced_and_counted():
    decoded = _json.decode_counting(rb'{"a":"ok \ud83d... \uD83Eade9","b":"\ud83d\ude00"}')

    assert decoded.value == {"a": "ok �... �ade9", "b": "😀"}
    assert decoded.lone_surrogates == 2


def test_of_duplicate_keys_the_last_wins_and_they_are_counted():
    decoded = _json.decode_counting(b'{"a":1,"a":2,"b":{"c":1,"c":1}}')

    assert decoded.value == {"a": 2, "b": {"c": 1}}
    assert decoded.duplicate_keys == 2


def test_keys_that_replacement_makes_equal_are_duplicate_keys():
    decoded = _json.decode_counting(rb'[{"\ud83d":1,"\ud83e":2,"a":{"\udc00":3,"\ufffd":4}}]')

    assert decoded.value == [{"\ufffd": 2, "a": {"\ufffd": 4}}]
    assert (decoded.duplicate_keys, decoded.lone_surrogates) == (2, 3)


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        (b'{"a":"b', "unterminated string", 6),
        (b'"a\tb"', "invalid control character", 3),
        (b"[1 2]", "expecting ',' delimiter", 4),
    ],
)
def test_a_reason_is_a_clause_and_the_place_stands_apart(text, reason, column):
    with pytest.raises(_json.JsonError) as caught:
        _json.decode(text)
    assert (caught.value.reason, caught.value.column) == (reason, column)


def test_integers_keep_their_exact_value():
    assert _json.decode(b"123456789012345678901234567890") == 123456789012345678901234567890


def test_prototype_keys_are_ordinary():
    assert _json.decode(b'{"__proto__":{"a":1},"constructor":2}') == {
        "__proto__": {"a": 1},
        "constructor": 2,
    }


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(_VALUES)
def test_what_was_encoded_is_decoded_again(value):
    assert _json.decode(_json.compact(value)) == value
    assert _json.decode(_json.pretty(value)) == value
    assert _json.decode_counting(_json.compact(value)).duplicate_keys == 0


@given(_VALUES)
def test_equal_values_have_equal_canonical_bytes(value):
    again = _json.decode(_json.canonical(value))
    assert _json.canonical(again) == _json.canonical(value)
    assert _json.same_value(_json.sorted_text(value), _json.sorted_text(again))


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_a_json_error(text):
    try:
        _json.decode_counting(text)
    except _json.JsonError:
        return
