"""Every character of a script is found where the file has it, however YAML spells the script."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders.config.positions import Report, Sources
from aw_graders.config.reader import read
from aw_graders.config.scripts import ScriptPlaces

_WORDS = st.text("ab'\"\\#:{}é😀\t ", min_size=1, max_size=8).map(lambda word: f"x{word}y")
_LINES = st.lists(_WORDS | st.just(""), min_size=1, max_size=6)


def _scalar(source):
    sources = Sources("f.yml", source)
    report = Report(sources)
    root = read(source, report)
    assert report.sorted() == []
    return root.entries[0].value, sources


def _check(source):
    """Compare each visible character of the value with the one that stands at its place."""
    node, sources = _scalar(source)
    places = ScriptPlaces(node, sources)
    lines = source.split("\n")
    for row, line in enumerate(node.value.split("\n"), 1):
        for column, char in enumerate(line, 1):
            if char in " \t":
                continue
            at = places.at(row, column)
            assert _spelled(lines[at.line - 1][at.column - 1 :], node.style) == char


def _spelled(rest, style):
    """Return the character that a place spells, read without the code under test."""
    if style == '"' and rest[0] == "\\":
        end = {"x": 4, "u": 6, "U": 10}.get(rest[1], 2)
        if rest[1] == "x":
            return chr(int(rest[2:4], 16))
        text = json.loads(f'"{rest[:end]}"')
        if "\ud800" <= text < "\udc00":
            text = json.loads(f'"{rest[:12]}"')
        return text
    return rest[0]


@given(_LINES, st.sampled_from(["|", "|-", "|+", ">", ">-", "| # note"]), st.integers(1, 6))
def test_blocks(lines, header, indent):
    body = "\n".join(" " * indent + line if line else "" for line in ["first", *lines])
    _check(f"script: {header}\n{body}\n")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), st.booleans())
def test_double_quotes(text, ascii_only):
    # Escapes of surrogate pairs stand for one character; JSON spells them as YAML reads them.
    _check(f"script: {json.dumps(text, ensure_ascii=ascii_only)}\n")


@given(_WORDS)
def test_single_quotes(text):
    doubled = text.replace("'", "''").replace("\t", " ")
    _check(f"script: '{doubled}'\n")


@pytest.mark.parametrize(
    ("source", "line", "column", "found"),
    [
        ("script: |\n  a\n    b\n", 2, 3, (3, 5)),
        ("script: |2\n    a\n", 1, 3, (2, 5)),
        ("script: |\r\n  a;\r\n  b;\r\n", 2, 1, (3, 3)),
        ("script: >\n  a\n  b\n", 1, 3, (3, 3)),
        ('script: "a\\n\\\n   b"\n', 2, 1, (2, 4)),
        ('script: "a\n\n   b"\n', 2, 1, (3, 4)),
        ("script: return\n  1\n", 1, 8, (2, 3)),
        ("script: 'it''s x'\n", 1, 6, (1, 16)),
        ("script: ! |\n  a\n", 1, 1, (2, 3)),
        ("script: |\n  a\n", 9, 9, (2, 4)),
    ],
)
def test_places(source, line, column, found):
    node, sources = _scalar(source)

    place = ScriptPlaces(node, sources).at(line, column)

    assert (place.line, place.column) == found


def test_a_length_covers_the_characters_that_are_meant():
    node, sources = _scalar('script: "a \\u0062c d"\n')

    place = ScriptPlaces(node, sources).at(1, 3, 2)

    assert (place.column, place.length) == (12, 7)
