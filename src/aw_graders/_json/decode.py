"""Strict JSON decoding: one set of rules for every path of the project.

`NaN`, `Infinity` and numbers beyond the range of a double are malformed, nesting has a fixed limit,
a lone surrogate becomes U+FFFD and is counted, of duplicate keys the last wins and they are counted,
integers keep their exact value. Invalid UTF-8 is malformed.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from aw_graders._json.encode import compact
from aw_graders._json.guards import MAX_DEPTH, has_oversized_number, is_too_deep
from aw_graders._json.values import JsonValue

_MAX_FLOAT: Final = int(1.7976931348623157e308)
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
_FAST: Final = msgspec.json.Decoder()
_SHOWN_NUMBER_CHARS: Final = 24


class JsonError(ValueError):
    """Text that is not JSON under the project's rules.

    `reason` is a clause such as "NaN is not JSON"; `column` counts characters from 1.
    """

    def __init__(self, reason: str, column: int) -> None:
        """Keep the reason and the place apart, so that a caller can add its own line number."""
        super().__init__(f"{reason} (column {column})")
        self.reason = reason
        self.column = column


class Decoded(msgspec.Struct, frozen=True):
    """A decoded document and what had to be settled while reading it."""

    value: JsonValue
    duplicate_keys: int = 0
    lone_surrogates: int = 0


def decode(text: bytes) -> JsonValue:
    """Decode one JSON document from UTF-8 bytes.

    Raises: JsonError, and nothing else.
    Cost: linear; text that the fast decoder cannot settle is read a second time.
    """
    value = _fast(text)
    return _slow(text).value if value is _UNSETTLED else cast("JsonValue", value)


def decode_counting(text: bytes) -> Decoded:
    """Decode one JSON document and count duplicate keys and lone surrogates.

    Raises: JsonError, and nothing else.
    Cost: linear. Text whose re-encoding has the same length has no duplicate key, which is seen at
    the encoder's speed; only other text is read by the slower counting decoder.
    """
    value = _fast(text)
    if value is not _UNSETTLED and len(compact(cast("JsonValue", value))) == len(text.strip()):
        return Decoded(cast("JsonValue", value))
    return _slow(text)


def decode_prefix(characters: str, start: int) -> tuple[Decoded, int]:
    """Decode the one JSON document that begins at `start`, whatever text follows it.

    Returns: the document, counted as by `decode_counting`, and the place right behind it.
    Raises: JsonError, and nothing else; its column counts from the beginning of `characters`.
    Cost: linear in what the document, or its readable part, spans; never in `characters`.
    """
    width = _FIRST_WINDOW
    while True:
        window = characters[start : start + width]
        whole = start + len(window) >= len(characters)
        counts = _Counts(window)
        try:
            value, end = cast("tuple[object, int]", counts.decoder.raw_decode(window))
        except json.JSONDecodeError as failure:
            # What a window cuts off is not yet known to be wrong.
            if whole or not _may_be_cut(failure, window):
                raise JsonError(_clause(failure.msg), start + failure.pos + 1) from None
        except JsonError as failure:
            if whole or failure.column + _CUT_CHARS < len(window):
                raise JsonError(failure.reason, start + failure.column) from None
        except RecursionError:
            raise JsonError(_TOO_DEEP, start + 1) from None
        else:
            if whole or end < len(window):
                return _settled(counts, value, window[:end], start), start + end
        width *= _WINDOW_GROWTH


_UNSETTLED: Final = object()
_FIRST_WINDOW: Final = 4 * 1024
_WINDOW_GROWTH: Final = 8
# A token other than a string that touches the end of a window: a number, a literal, an escape.
_CUT_CHARS: Final = 2048
_TOO_DEEP: Final = f"nested too deeply, over {MAX_DEPTH} levels"


def _may_be_cut(failure: json.JSONDecodeError, window: str) -> bool:
    """Tell whether more text could mend the failure."""
    return failure.pos + _CUT_CHARS >= len(window) or failure.msg.startswith("Unterminated string")


def _settled(counts: "_Counts", value: object, text: str, start: int) -> Decoded:
    """Apply the rules that the standard library leaves open to a decoded prefix."""
    raw = text.encode("utf-8", "surrogatepass")
    if is_too_deep(raw):
        raise JsonError(_TOO_DEEP, start + 1)
    if "\\u" in text or _SURROGATE.search(text) is not None:
        value = counts.replace_surrogates(value)
    return Decoded(cast("JsonValue", value), counts.duplicate_keys, counts.lone_surrogates)


def _fast(text: bytes) -> object:
    """Decode at full speed, or answer `_UNSETTLED` when the slow decoder has to look."""
    if is_too_deep(text):
        msg = f"nested too deeply, over {MAX_DEPTH} levels"
        raise JsonError(msg, 1)
    if has_oversized_number(text):
        return _UNSETTLED
    try:
        return cast("object", _FAST.decode(text))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _UNSETTLED


def _slow(text: bytes) -> Decoded:
    """Decode with the standard library, which accepts lone surrogates and says where it stopped."""
    try:
        characters = text.decode("utf-8")
    except UnicodeDecodeError as failure:
        column = len(text[: failure.start].decode("utf-8", "replace")) + 1
        msg = f"invalid UTF-8, byte 0x{text[failure.start]:02x}"
        raise JsonError(msg, column) from None
    counts = _Counts(characters)
    try:
        value = counts.decoder.decode(characters)
    except json.JSONDecodeError as failure:
        raise JsonError(_clause(failure.msg), failure.pos + 1) from None
    except RecursionError:
        msg = f"nested too deeply, over {MAX_DEPTH} levels"
        raise JsonError(msg, 1) from None
    if _SURROGATE.search(characters) is not None or "\\u" in characters:
        value = counts.replace_surrogates(value)
    return Decoded(cast("JsonValue", value), counts.duplicate_keys, counts.lone_surrogates)


def _clause(message: str) -> str:
    """Spell the standard library's message as a lower-case clause."""
    clause = message[:1].lower() + message[1:].removesuffix(" at").removesuffix(" starting")
    return "more text after the end of the value" if clause == "extra data" else clause


class _Counts:
    """What the slow decoder counts while it reads one document."""

    def __init__(self, characters: str) -> None:
        self.characters = characters
        self.duplicate_keys = 0
        self.lone_surrogates = 0
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._pairs,
            parse_constant=self._constant,
            parse_float=self._float,
            parse_int=self._int,
        )

    def _pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        merged = dict(pairs)
        self.duplicate_keys += len(pairs) - len(merged)
        return merged

    def _column(self, token: str) -> int:
        # Blank out strings first: the same letters may stand inside one before the number does.
        outside = _STRING.sub(lambda match: " " * len(match.group(0)), self.characters)
        return outside.find(token) + 1

    def _constant(self, token: str) -> Any:
        msg = f"{token} is not JSON"
        raise JsonError(msg, self._column(token))

    def _too_large(self, token: str) -> JsonError:
        shown = token if len(token) <= _SHOWN_NUMBER_CHARS else f"{token[:_SHOWN_NUMBER_CHARS]}..."
        return JsonError(f"number {shown} is too large", self._column(token))

    def _float(self, token: str) -> float:
        value = float(token)
        if value in {float("inf"), float("-inf")}:
            raise self._too_large(token)
        return value

    def _int(self, token: str) -> int:
        # Longer digit strings overflow anyway, and int() would refuse them on its own terms.
        if len(token) > len(str(_MAX_FLOAT)) + 1:
            raise self._too_large(token)
        value = int(token)
        if abs(value) > _MAX_FLOAT:
            raise self._too_large(token)
        return value

    def replace_surrogates(self, value: Any) -> Any:
        """Rebuild `value` with U+FFFD for every lone surrogate; depth is already bounded.

        Keys that become equal are duplicate keys. One frame of the stack for each level.
        """
        if isinstance(value, str):
            replaced, count = _SURROGATE.subn(_REPLACEMENT, value)
            self.lone_surrogates += count
            return replaced
        if isinstance(value, list):
            items = list(cast("list[Any]", value))
            for place, item in enumerate(items):
                items[place] = self.replace_surrogates(item)
            return items
        if isinstance(value, Mapping):
            fields = cast("Mapping[str, Any]", value)
            merged: dict[str, Any] = {}
            for key, item in fields.items():
                merged[self.replace_surrogates(key)] = self.replace_surrogates(item)
            self.duplicate_keys += len(fields) - len(merged)
            return merged
        return value
