r"""Masking of one text, with the JSON text inside it.

Known values come first, then the strings of JSON text inside the text, deepest first, then shapes
and names, last what an escape such as `\u0067` hides. What is masked lies within one
string of JSON text inside a text and ends with no half an escape, so that stays JSON text.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, cast

from aw_graders import _json
from aw_graders.redaction.known import Matcher, is_clean
from aw_graders.redaction.plausible import (
    is_authorization,
    is_quoted_password,
    is_quoted_secret,
)
from aw_graders.redaction.rules import (
    Rule,
    applicable,
    authorization_value,
    expression,
    names_authorization,
    names_password,
    names_secret,
)
from aw_graders.redaction.trigger import PLACEHOLDER, TRIGGER, first_spans

KNOWN_KIND: Final = "known-value"
_NAMED_KIND: Final = "assigned-secret"
_HEADER_KIND: Final = "auth-header"
# Each level of JSON text inside a string doubles its backslashes, so deeper ones are very long.
_MAX_LEVELS: Final = 8
# A masked text is looked at again until nothing changes, so that masking twice is masking once.
_MAX_ROUNDS: Final = 4
_LONG: Final = 20
_JUDGED: Final = 64
_MAX_REMEMBERED: Final = 1 << 10
_STRING: Final = re.compile(rb'"((?:[^"\\]++|\\.)*+)("(?=(\s*:)?))?', re.DOTALL)
_WIDE: Final = re.compile(rb"""[^\s"'\\,;&<>(){}\[\]|`]+""")
_PLACED: Final = re.compile(PLACEHOLDER.encode())
_PLACED_START: Final = b"[REDACTED:"
_CALLED: Final = (b"(", b"[")
_ESCAPE: Final = rb"u00[2-7][0-9a-fA-F]"
_HIDDEN: Final = re.compile(rb"(?<!\\)(?:(?:\\%b)++|\\\\++%b)" % (_ESCAPE, _ESCAPE))
_ONE_ESCAPE: Final = re.compile(rb"\\%b" % _ESCAPE)
_KEPT: Final = re.compile(rb'["\\\x7f]')


def mask(text: str, key: str, search: Matcher | None, kinds: list[str]) -> str:
    """Mask one text; the kind of each masked part is added to `kinds`.

    Takes: the `key` under which a JSON object has the text, which may tell that all of it is
        secret; empty for none.
    Raises: nothing.
    Cost: O(text).
    """
    raw = text.encode("utf-8", "surrogatepass")
    masked = raw if is_clean(raw, search) else _settled(raw, search, kinds)
    if key:
        masked = _named(key, masked, kinds)
    return text if masked == raw else masked.decode("utf-8", "surrogatepass")


def placeholder(kind: str, secret: bytes, length: int | None = None) -> bytes:
    """Spell what stands for a secret: the same for the same one.

    A long secret cannot be guessed from eight digits of its digest. Of a short one, which might be
    in a list of words, three digits are shown: they tell two apart and leave thousands of words.
    """
    digits = 8 if (len(secret) if length is None else length) >= _LONG else 3
    return b"[REDACTED:%s:%s]" % (kind.encode(), _digest(secret)[:digits])


def _digest(secret: bytes) -> bytes:
    # Loading the hash functions costs more than most sessions take to grade.
    import hashlib  # noqa: PLC0415

    return hashlib.sha256(secret).hexdigest().encode()


def _settled(raw: bytes, known: Matcher | None, kinds: list[str]) -> bytes:
    for _ in range(_MAX_ROUNDS):
        masked = _once(raw, known, kinds, 0)
        if masked == raw:
            break
        raw = masked
    return raw


def _once(raw: bytes, known: Matcher | None, kinds: list[str], level: int) -> bytes:
    if known is not None:
        raw = _without_known(raw, known, kinds)
    has_escape = b"\\" in raw
    if has_escape and b'"' in raw and level < _MAX_LEVELS:
        raw = _without_nested(raw, known, kinds, level)
    raw = _without_shapes(raw, kinds)
    return _without_hidden(raw, known, kinds) if has_escape else raw


def _without_known(raw: bytes, known: Matcher, kinds: list[str]) -> bytes:
    for search in known.expressions:
        parts: list[bytes] = []
        end = 0
        for match in search.finditer(raw):
            start, stop = match.span()
            identity = known.identity_of.get(raw[start:stop])
            if identity is None:
                continue
            parts += (raw[end:start], placeholder(KNOWN_KIND, *identity))
            kinds.append(KNOWN_KIND)
            end = stop
        if parts:
            raw = b"".join((*parts, raw[end:]))
    return raw


def _without_nested(raw: bytes, known: Matcher | None, kinds: list[str], level: int) -> bytes:
    """Mask inside the strings of JSON text that hold an escape, under their keys."""
    parts: list[bytes] = []
    end = 0
    key = b""
    for match in _STRING.finditer(raw):
        body = match.group(1)
        is_key = match.group(3) is not None
        if b"\\" in body:
            masked = _string(body, b"" if is_key else key, known, kinds, level)
            if masked is not None:
                start, stop = match.span(1)
                parts += (raw[end:start], masked)
                end = stop
        key = body if is_key else b""
    return b"".join((*parts, raw[end:])) if parts else raw


def _string(
    body: bytes, key: bytes, known: Matcher | None, kinds: list[str], level: int
) -> bytes | None:
    """Mask what a JSON string means; None when nothing is masked or it is no JSON string."""
    try:
        text = cast("str", _json.decode(b'"%s"' % body))
    except _json.JsonError:
        return None
    plain = text.encode("utf-8", "surrogatepass")
    masked = plain if is_clean(plain, known) else _once(plain, known, kinds, level + 1)
    if key:
        masked = _named(key.decode("utf-8", "replace"), masked, kinds)
    return None if masked == plain else _json.compact(masked.decode())[1:-1]


def _named(key: str, raw: bytes, kinds: list[str]) -> bytes:
    """Mask the whole of a text that stands under a telling key."""
    if _whole().search(raw) is not None:
        return raw
    if names_authorization(key):
        span = authorization_value(raw)
        if span is not None and is_authorization(raw[span[0] : span[1]]):
            start, stop = span
            if _whole().search(raw[start:stop]) is None:
                kinds.append(_HEADER_KIND)
                return raw[:start] + placeholder(_HEADER_KIND, raw[start:stop]) + raw[stop:]
        return raw
    if (names_password(key) and is_quoted_password(raw)) or (
        names_secret(key) and is_quoted_secret(raw)
    ):
        kinds.append(_NAMED_KIND)
        return placeholder(_NAMED_KIND, raw)
    return raw


def _without_shapes(raw: bytes, kinds: list[str]) -> bytes:
    bare = _PLACED.sub(b"", raw) if _PLACED_START in raw else raw
    if TRIGGER.search(bare) is None:
        return raw
    for rule, search in applicable(bare):
        raw = _apply(rule, search, raw, kinds)
    return raw


def _apply(rule: Rule, search: Any, raw: bytes, kinds: list[str]) -> bytes:
    parts: list[bytes] = []
    end = 0
    seen: dict[bytes, bytes] = {}
    for start, stop in _places(rule, search, raw):
        secret = raw[start:stop]
        stands_for = seen.get(secret)
        if stands_for is None:
            stands_for = placeholder(rule.kind, secret)
            if len(seen) < _MAX_REMEMBERED:
                seen[secret] = stands_for
        parts += (raw[end:start], stands_for)
        end = stop
    if not parts:
        return raw
    kinds += [rule.kind] * (len(parts) // 2)
    return b"".join((*parts, raw[end:]))


def _places(rule: Rule, search: Any, raw: bytes) -> Iterator[tuple[int, int]]:
    """Yield where secrets of one kind begin and end."""
    judge = None if rule.is_secret is None else _Judge(rule.is_secret, is_wide=rule.wide)
    at = 0
    while True:
        (first, last), *groups = first_spans(search, raw, at)
        if first < 0:
            return
        if not groups:
            at = last
            # An escape before a word was met with it.
            yield first + 2 * raw.startswith(b"\\", first), last
            continue
        start, stop = max(groups)
        if start < 0:
            at = last
            continue
        if judge is not None:
            stop = judge.end(raw, start, stop)
        if stop < 0:
            # What was refused may hold another name with its own secret.
            at = start
            continue
        at = stop
        yield start, stop


class _Judge:
    """Tells where a text that follows a telling name ends when it is a secret."""

    def __init__(self, is_secret: Callable[[bytes], bool], *, is_wide: bool) -> None:
        """Start without any verdict."""
        self._is_secret = is_secret
        self._is_wide = is_wide
        # A text built of one place over and over is judged once.
        self._verdicts: dict[bytes, bool] = {}

    def end(self, raw: bytes, start: int, stop: int) -> int:
        """Answer where the secret that begins at `start` ends, or -1 when there is none."""
        if not self._is_wide:
            return stop if self._verdict(raw[start:stop]) else -1
        head = _WIDE.match(raw, start, start + _JUDGED)
        if head is None or not self._verdict(head.group()):
            return -1
        stop = head.end()
        if stop - start < _JUDGED:
            # A name that is called or indexed is code.
            is_code = raw.startswith(_CALLED, stop)
            return -1 if is_code and not _is_placeholder_at(raw, stop) else stop
        # What is too long for a name is not searched again.
        whole = _WIDE.match(raw, start)
        return stop if whole is None else whole.end()

    def _verdict(self, text: bytes) -> bool:
        known = self._verdicts.get(text)
        if known is None:
            known = self._is_secret(text)
            if known and not self._is_wide:
                known = _whole().search(text) is None
            if len(self._verdicts) < _MAX_REMEMBERED:
                self._verdicts[text] = known
        return known


def _is_placeholder_at(raw: bytes, at: int) -> bool:
    return expression(PLACEHOLDER).match(raw, at) is not None


@cache
def _whole() -> Any:
    """Find a text that is a placeholder and nothing else."""
    return expression(rf"^{PLACEHOLDER}$")


def _without_hidden(raw: bytes, known: Matcher | None, kinds: list[str]) -> bytes:
    """Mask what escapes of plain characters hide; without a secret the text stays as it is."""
    plain = _HIDDEN.sub(_plain, raw)
    if plain == raw or is_clean(plain, known):
        return raw
    found: list[str] = []
    masked = plain if known is None else _without_known(plain, known, found)
    masked = _without_shapes(masked, found)
    kinds += found
    return masked if found else raw


def _plain(match: re.Match[bytes]) -> bytes:
    """Spell escapes as what they mean: one after many backslashes, or a run of single ones."""
    found = match.group()
    if found.startswith(b"\\u"):
        plain = bytes.fromhex(found.replace(b"\\u00", b"").decode())
        return plain if _KEPT.search(plain) is None else _ONE_ESCAPE.sub(_plain_one, found)
    return _plain_one(match)


def _plain_one(match: re.Match[bytes]) -> bytes:
    plain = bytes.fromhex(match.group()[-2:].decode())
    return match.group() if _KEPT.match(plain) else plain
