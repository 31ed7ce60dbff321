"""Finds in an awk program what writes a file or starts a command."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

_TOKEN: Final = re.compile(
    r"""
    (?P<blank>[ \t\r]+|\\\n)
    | (?P<comment>\#[^\n]*)
    | (?P<newline>\n)
    | (?P<string>"(?:[^"\\\n]|\\.|\\\n)*")
    | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
    | (?P<name>[A-Za-z_]\w*(?:::\w+)*)
    | (?P<operator>\|\||&&|>>|\|&|\+\+|--|[<>=!+\-*/%^]=|[^\s\w"])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
# A slash within square brackets ends a regular expression for old implementations alone: both
# readings are judged.
_REGEX: Final = re.compile(
    r"/(?:[^/\\\n\[]|\\.|\[\^?\]?(?:\[[:.=][^\]\n]*\]|[^\]\\\n\[]|\\.|\[(?![:.=]))*\])*/", re.DOTALL
)
_OLD_REGEX: Final = re.compile(r"/(?:[^/\\\n]|\\.)*/", re.DOTALL)
# Behind these a slash divides; behind `)` it does unless the bracket closes a condition.
_VALUE_ENDS: Final = frozenset((")", "]", "$", "++", "--"))
_CONDITIONS: Final = frozenset(("if", "while", "for", "switch"))
_NO_VALUES: Final = frozenset(
    (
        *("print", "printf", "return", "case", "else", "do", "in", "delete", "exit", "if"),
        *("while", "for", "switch", "BEGIN", "END"),
    )
)
# Where two readings of a slash are possible.
_UNCERTAIN: Final = frozenset(("length", "getline"))
# A line does not end behind these.
_CONTINUING: Final = frozenset((",", "{", "&&", "||", "?", ":", "do", "else"))
_PRINTING: Final = frozenset(("print", "printf"))
_OPENING: Final = frozenset("([")
_CLOSING: Final = frozenset(")]")
_ENDING: Final = frozenset(";}\n")
_REDIRECTS: Final = frozenset((">", ">>"))


@dataclass(frozen=True, slots=True)
class Danger:
    """Something that a program does; `is_write` tells a file from what cannot be judged."""

    what: str
    is_write: bool = False


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


_NOTHING: Final = _Token("", "")


class _UncertainError(Exception):
    """A program that may be read in two ways, or that this module cannot read."""


def find_dangers(program: str, sinks: frozenset[str]) -> list[Danger]:
    """Give what is refused in a program.

    Takes: its text, and the files that may be written.
    Raises: nothing; a program that cannot be read is refused itself.
    Cost: O(length).
    """
    readings: list[list[_Token]] = []
    failed = ""
    for regex in (_REGEX, _OLD_REGEX):
        try:
            readings.append(list(_tokens(program, regex)))
        except _UncertainError as failure:
            failed = failed or str(failure)
    if not readings:
        return [Danger(f"{failed} of awk may be read in another way")]
    dangers = (
        found for tokens in readings for found in (*_commands(tokens), *_outputs(tokens, sinks))
    )
    return list(dict.fromkeys(dangers))


def _tokens(program: str, regex: re.Pattern[str]) -> Iterator[_Token]:
    at = 0
    last = _Token("newline", "\n")
    brackets: list[bool] = []
    closes_condition = False
    while at < len(program):
        if program[at] == "/" and not _ends_value(last, closes_condition=closes_condition):
            match = regex.match(program, at)
            if match is None:
                msg = "a regular expression"
                raise _UncertainError(msg)
            token = _Token("regex", match[0])
        else:
            match = _TOKEN.match(program, at)
            if match is None:
                msg = "this text"
                raise _UncertainError(msg)
            token = _Token(match.lastgroup or "", match[0])
        at = match.end()
        if token.kind in ("blank", "comment"):
            continue
        if token.text == "(":
            brackets.append(last.text in _CONDITIONS)
        elif token.text == ")":
            closes_condition = brackets.pop() if brackets else False
        yield token
        last = token


def _ends_value(token: _Token, *, closes_condition: bool) -> bool:
    """Tell whether a slash behind a token divides."""
    if token.text in _UNCERTAIN:
        msg = "a slash"
        raise _UncertainError(msg)
    if token.text == ")" and closes_condition:
        return False
    if token.kind == "name":
        return token.text not in _NO_VALUES
    return token.kind in ("number", "string", "regex") or token.text in _VALUE_ENDS


def _commands(tokens: list[_Token]) -> Iterator[Danger]:
    for token, following in zip_longest(tokens, tokens[1:], fillvalue=_NOTHING):
        if token.kind == "name" and token.text.rpartition(":")[2] == "system":
            yield Danger("system() of awk runs a command")
        elif token.text in ("|", "|&"):
            yield Danger("a pipe in awk runs a command")
        elif token.text == "@" and following.kind != "regex":
            yield Danger("@ in awk loads other code, or calls what nobody sees")
        elif token.kind == "string" and "/inet" in token.text:
            yield Danger("awk connects to another machine")


def _outputs(tokens: list[_Token], sinks: frozenset[str]) -> Iterator[Danger]:
    """Find redirections: `>` behind print, outside of brackets."""
    depth: int | None = None
    for at, token in enumerate(tokens):
        if token.kind == "name" and token.text in _PRINTING:
            depth = 0
        elif depth is None or token.kind in ("string", "regex"):
            continue
        elif token.text in _OPENING:
            depth += 1
        elif token.text in _CLOSING:
            depth -= 1
        elif token.text in _ENDING and depth <= 0:
            is_continued = token.text == "\n" and tokens[at - 1].text in _CONTINUING
            depth = depth if is_continued else None
        elif token.text in _REDIRECTS and depth <= 0:
            yield from _target(tokens[at + 1 : at + 3], sinks)


def _target(tokens: list[_Token], sinks: frozenset[str]) -> Iterator[Danger]:
    target = tokens[0] if tokens else _NOTHING
    is_whole = len(tokens) == 1 or (len(tokens) > 1 and tokens[1].text in _ENDING)
    if target.kind == "string" and target.text[1:-1] in sinks and is_whole:
        return
    if target.kind == "string" and is_whole:
        yield Danger(f"print in awk writes to {target.text}", is_write=True)
    else:
        yield Danger("print in awk writes to a file", is_write=True)
