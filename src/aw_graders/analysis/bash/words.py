"""What a word is once Bash has read it: the exact text when the script alone decides it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from aw_graders.analysis.bash.tree import Node

_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_IN_QUOTES: Final = re.compile(r'\\([$`"\\\n])')
_ANSI: Final = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})"
    r"|U([0-9A-Fa-f]{1,8})|x\{([0-9A-Fa-f]{1,8})\}?|c(.))",
    re.DOTALL,
)
_ANSI_LETTERS: Final = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_LAST_CHARACTER: Final = 0x10FFFF
# The parameter, and the subscript, that stand for several words even within quotes.
_ALL: Final = "@"


@dataclass(frozen=True, slots=True)
class Text:
    """A word as far as the script alone tells it.

    `exact` is the whole text, or None when something else takes part in it; `head` is what it
    begins with for sure; `is_single` says that it stands for exactly one word.
    """

    exact: str | None
    head: str
    is_single: bool


def read_word(word: Node) -> Text:
    """Read a word after quotes and escapes are removed.

    Cost: O(length).
    """
    parts = word.nodes("Parts")
    if len(parts) == 1:
        only = parts[0]
        if only.kind == "SglQuoted" and not only.flag("Dollar"):
            return Text(only.text(), only.text(), is_single=True)
        if only.kind == "Lit" and only.text().isalnum():
            return Text(only.text(), only.text(), is_single=True)
    if is_pattern(word):
        return Text(None, _head_of_pattern(parts), is_single=False)
    head: list[str] = []
    is_exact = True
    is_single = True
    for text, single in _pieces(parts):
        is_single = is_single and single
        is_exact = is_exact and text is not None
        if is_exact and text is not None:
            head.append(text)
    joined = "".join(head)
    return Text(joined if is_exact else None, joined, is_single)


def exact_text(word: Node | None) -> str | None:
    """Give the text of a word that the script alone decides, else None."""
    return None if word is None else read_word(word).exact


def literal_pieces(word: Node) -> Iterator[str]:
    """Give every piece of a word that is written in the script, in order."""
    is_quoted_part = word.kind == "DblQuoted"
    for part in word.nodes("Parts"):
        if part.kind == "DblQuoted":
            yield from literal_pieces(part)
        else:
            text = _piece(part, quoted=is_quoted_part)
            if text is not None:
                yield text


def only_parameter(word: Node) -> Node | None:
    """Give the parameter expansion that is all of a word, quoted or not; else None."""
    parts = word.nodes("Parts")
    if len(parts) == 1 and parts[0].kind == "DblQuoted":
        parts = parts[0].nodes("Parts")
    return parts[0] if len(parts) == 1 and parts[0].kind == "ParamExp" else None


def is_pattern(word: Node) -> bool:
    """Tell whether a word may stand for file names, a home folder or several words."""
    parts = word.nodes("Parts")
    plain = [_ESCAPED.sub("", part.text()) for part in parts if part.kind == "Lit"]
    if not plain:
        return False
    if parts[0].kind == "Lit" and plain[0].startswith("~"):
        return True
    bare = "".join(plain)
    if "*" in bare or "?" in bare or 0 <= bare.find("[") < bare.rfind("]"):
        return True
    braced = bare[bare.find("{") : bare.rfind("}") + 1] if "{" in bare else ""
    return "," in braced or ".." in braced


def is_many(parameter: Node) -> bool:
    """Tell whether an expansion gives any number of words, even within quotes."""
    index = parameter.node("Index")
    if parameter.flag("Length"):
        return False
    if parameter.text("Names"):
        return True
    name = parameter.node("Param")
    if name is not None and name.text() == _ALL:
        return True
    return index is not None and "".join(literal_pieces(index)) == _ALL


def decode_ansi(text: str) -> str:
    r"""Read the escapes of $'...'; a zero byte ends the text, as it does in Bash."""
    return _ANSI.sub(_ansi, text).partition("\0")[0]


def _ansi(match: re.Match[str]) -> str:
    letter, octal, *hexes, control = match.groups()
    if letter:
        return _ANSI_LETTERS.get(letter, letter)
    if control:
        return chr(ord(control) & 0x1F)
    if octal:
        return chr(int(octal, 8) & 0xFF)
    code = int(next(digits for digits in hexes if digits), 16)
    return chr(code) if code <= _LAST_CHARACTER else "\ufffd"


def _head_of_pattern(parts: tuple[Node, ...]) -> str:
    first = parts[0]
    if first.kind != "Lit":
        return "".join(literal_pieces(first)) if first.kind == "SglQuoted" else ""
    if first.text().startswith("~"):
        return "/"
    return re.split(r"[*?\[{\\]", first.text(), maxsplit=1)[0]


def _pieces(parts: tuple[Node, ...]) -> Iterator[tuple[str | None, bool]]:
    """Give each part of a word as its text, if it has one, and whether it stays one word."""
    for part in parts:
        if part.kind == "DblQuoted":
            if part.flag("Dollar"):
                yield None, False
            for inner in part.nodes("Parts"):
                yield _piece(inner, quoted=True), not (inner.kind == "ParamExp" and is_many(inner))
        else:
            text = _piece(part)
            yield text, text is not None or part.kind in ("ArithmExp", "ProcSubst")


def _piece(part: Node, *, quoted: bool = False) -> str | None:
    if part.kind == "Lit":
        value = part.text()
        if "\\" not in value:
            return value
        if quoted:
            return _ESCAPED_IN_QUOTES.sub(_unquoted, value)
        return _ESCAPED.sub(_unquoted, value)
    if part.kind == "SglQuoted":
        return decode_ansi(part.text()) if part.flag("Dollar") else part.text()
    return None


def piece_text(part: Node, *, quoted: bool) -> str:
    """Give the text of a literal part of a word; `quoted` within double quotes."""
    return _piece(part, quoted=quoted) or ""


def _unquoted(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]
