r"""Masking of one text, with the JSON text inside it.

Known values come first, then the strings of JSON text inside the text, deepest first, then shapes
and names, last what an escape such as `\u0067` hides. What is masked lies within one
string of JSON text inside a text and ends with no half an escape, so that stays JSON text.
"""

import re
from collections.abc import Iterator
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
    authorization_value,
    compiled,
    expression,
    names_authorization,
    names_password,
    names_secret,
)
from aw_graders.redaction.trigger import PLACEHOLDER, TRIGGER

KNOWN_KIND: Final = "known-value"
_NAMED_KIND: Final = "assigned-secret"
_HEADER_KIND: Final = "auth-header"
# Each level of JSON text inside a string doubles its backslashes, so deeper ones are very long.
_MAX_LEVELS: Final = 8
# A masked text is looked at again until nothing changes, so that masking twice is masking once.
_MAX_ROUNDS: Final = 4
_LONG: Final = 20
_JUDGED: Final = 64
_STRING: Final = re.compile(rb'"((?:[^"\\]++|\\.)*+)("(?=(\s*:)?))?', re.DOTALL)
_WIDE: Final = re.compile(rb"""[^\s"'\\,;&<>(){}\[\]|`]+""")
_PLACED: Final = re.compile(PLACEHOLDER.encode())
_CALLED: Final = (b"(", b"[")
_HIDDEN: Final = re.compile(rb"(?<!\\)\\++u00([2-7][0-9a-fA-F])")
_KEPT: Final = frozenset(b'"\\\x7f')


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
    bare = _PLACED.sub(b"", raw)
    if TRIGGER.search(bare) is None:
        return raw
    lowered = bare.lower()
    for rule, search in compiled():
        if any(needle in lowered for needle in rule.needles):
            masked = _apply(rule, search, raw, kinds)
            if masked is not raw:
                raw = masked
                lowered = _PLACED.sub(b"", raw).lower()
    return raw


def _apply(rule: Rule, search: Any, raw: bytes, kinds: list[str]) -> bytes:
    parts: list[bytes] = []
    end = 0
    for start, stop in _places(rule, search, raw):
        parts += (raw[end:start], placeholder(rule.kind, raw[start:stop]))
        end = stop
    if not parts:
        return raw
    kinds += [rule.kind] * (len(parts) // 2)
    return b"".join((*parts, raw[end:]))


def _places(rule: Rule, search: Any, raw: bytes) -> Iterator[tuple[int, int]]:
    """Yield where secrets of one kind begin and end."""
    groups = search.groups
    if not groups:
        for match in search.finditer(raw):
            start, stop = match.span()
            # An escape before a word was met with it.
            yield start + 2 * raw.startswith(b"\\", start), stop
        return
    numbers = range(1, groups + 1)
    at = 0
    while (match := search.search(raw, at)) is not None:
        spans: list[tuple[int, int]] = [match.span(number) for number in numbers]
        start, stop = max(spans)
        if start < 0:
            at = match.end()
            continue
        if rule.is_secret is not None:
            stop = _secret_end(rule, raw, start, stop)
        if stop < 0:
            # What was refused may hold another name with its own secret.
            at = start
            continue
        at = stop
        yield start, stop


def _secret_end(rule: Rule, raw: bytes, start: int, stop: int) -> int:
    """Answer where the secret that begins at `start` ends, or -1 when there is none."""
    is_secret = rule.is_secret
    if rule.wide:
        head = _WIDE.match(raw, start, start + _JUDGED)
        stop = start if head is None else head.end()
    if is_secret is None or not is_secret(raw[start:stop]):
        return -1
    if not rule.wide:
        return -1 if _whole().search(raw[start:stop]) is not None else stop
    whole = _WIDE.match(raw, start)
    stop = start if whole is None else whole.end()
    # A name that is called or indexed is code. What is too long for a name is not searched again.
    is_code = stop - start < _JUDGED and raw.startswith(_CALLED, stop)
    return -1 if is_code and not _is_placeholder_at(raw, stop) else stop


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
    byte = int(match.group(1), 16)
    return match.group() if byte in _KEPT else bytes((byte,))
