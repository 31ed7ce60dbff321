"""One JSON document, as Inspect writes them: numbers that are none may stand in it."""

import re
from typing import Final

import msgspec

from aw_graders import _json
from aw_graders._json import Decoded, JsonError

BOM: Final = b"\xef\xbb\xbf"
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|-?\bInfinity\b|\bNaN\b', re.DOTALL)
_QUOTE: Final = b'"'
_NOT_NUMBERS: Final = (b"NaN", b"Infinity")


class Document(msgspec.Struct, frozen=True):
    """What a text holds: a value, or why there is none and on which line."""

    value: object = None
    duplicate_keys: int = 0
    lone_surrogates: int = 0
    not_numbers: int = 0
    failure: JsonError | None = None
    line: int | None = None


def decode(text: bytes) -> Document:
    """Decode one document; `NaN` and infinities, which Inspect writes for scores, become null.

    Raises: nothing.
    Cost: linear.
    """
    try:
        return _document(_json.decode_counting(text), 0)
    except JsonError as failure:
        if not any(token in text for token in _NOT_NUMBERS):
            return _failed(text, failure)
    replaced = 0

    def null(match: re.Match[bytes]) -> bytes:
        nonlocal replaced
        if match[0].startswith(_QUOTE):
            return match[0]
        replaced += 1
        return b"null"

    mended = _TOKEN.sub(null, text)
    try:
        return _document(_json.decode_counting(mended), replaced)
    except JsonError as failure:
        return _failed(mended, failure)


def _document(decoded: Decoded, replaced: int) -> Document:
    return Document(decoded.value, decoded.duplicate_keys, decoded.lone_surrogates, replaced)


def _failed(text: bytes, failure: JsonError) -> Document:
    # The column counts characters, of which the first so many bytes hold at least the lines.
    before = text.decode("utf-8", "replace")[: failure.column - 1]
    return Document(failure=failure, line=before.count("\n") + 1)
