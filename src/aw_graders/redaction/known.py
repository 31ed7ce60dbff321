"""Secrets whose values are known, and the forms in which a recording may hold them.

Nothing here reads a variable or a file: a command hands over what it has read.
"""

import binascii
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, cast

import msgspec

from aw_graders import _json
from aw_graders.redaction.trigger import PLACEHOLDER, TRIGGER, linear
from aw_graders.session import events
from aw_graders.session.model import Session

MIN_KNOWN_LENGTH: Final = 6
_MIN_LINE: Final = 16
_MAX_LEVELS: Final = 4
_ASCII: Final = 0x7F
_COMMAND: Final = b"::add-mask::"
_UNRESERVED: Final = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
)
_ESCAPES: Final = {
    **{code: f"\\u{code:04x}" for code in range(0x20)},
    **{
        ord(plain): f"\\{escape}" for plain, escape in zip('\b\t\n\f\r"\\', 'btnfr"\\', strict=True)
    },
}
_PART_BYTES: Final = 1 << 18

# Words of the session format. Who masks one of them would mask evidence, and no secret is one.
_FORMAT_WORDS: Final = "\n".join(
    (
        *(
            value
            for name, value in vars(events).items()
            if name.isupper() and isinstance(value, str)
        ),
        "actions agent agentId arguments assignments attempt cacheCreationInputTokens",
        "cacheReadInputTokens cacheReadTokens cacheWriteTokens collector command component",
        "conclusion content correlationId createdAt deltaContent detection duration durationMs",
        "ephemeral eventName execution exitCode experiment failed failure firewall gateway input",
        "inputTokens inputTokensIncludeCache isError mcpServerName message messageId method model",
        "native objectives observations outcome output outputTokens outputs parameters",
        "parentId parentToolCallId parentToolUseId partial phase provenance provenanceEdges",
        "purpose reference requestId resources response result safeoutputs server serverName",
        "sessionId source sources states status stepIndex structuredContent subagent success",
        "timestamp timestampMs toolCallId toolCalls toolName totalTokens unknown usage version",
    )
)


class KnownValues(msgspec.Struct, frozen=True):
    """Values that are secrets whatever they look like. Its text form never shows one.

    `too_short` counts the values that were ignored because they are under `MIN_KNOWN_LENGTH`
    characters, `ordinary` those that are words of the session format.
    """

    values: tuple[str, ...] = ()
    too_short: int = 0
    ordinary: int = 0

    def __repr__(self) -> str:
        """Say how many values there are, and no more."""
        return f"KnownValues({len(self.values)} values)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Say how many values there are, and no more."""
        return [("values", len(self.values))]


NOTHING_KNOWN: Final = KnownValues()


def known_values(
    values: Iterable[str] = (),
    *,
    names: str = "",
    variables: Mapping[str, str] | None = None,
    file_text: str = "",
) -> KnownValues:
    """Gather known secret values.

    Takes: `values` as they are; `names`, separated by commas, of `variables` that hold one, each
        under its own name or under `SECRET_` and its name; `file_text`, one value on each line.
        Of a value of several lines, each line of at least 16 characters is a value, too.
    Returns: every value once, and how many were ignored.
    Raises: nothing.
    """
    given = [*values, *_of_variables(names, variables or {}), *file_text.splitlines()]
    kept: dict[str, None] = {}
    too_short = ordinary = 0
    for value in (item.strip() for item in given):
        if len(value) < MIN_KNOWN_LENGTH:
            too_short += bool(value)
        elif value in _FORMAT_WORDS:
            ordinary += 1
        else:
            kept[value] = None
            lines = [line.strip() for line in value.splitlines()]
            kept.update(dict.fromkeys(line for line in lines if len(line) >= _MIN_LINE))
    return KnownValues(tuple(kept), too_short, ordinary)


def _of_variables(names: str, variables: Mapping[str, str]) -> Iterator[str]:
    for name in filter(None, map(str.strip, names.split(","))):
        for key in (name, f"SECRET_{name}"):
            if key in variables:
                yield variables[key]


def add_mask_values(session: Session) -> tuple[str, ...]:
    """List the values of the `::add-mask::VALUE` lines that `session` holds, in recorded order.

    Returns: raw values, for `known_values`. A line whose value is a variable's name has none.
    Cost: one search over the session; events that hold such a line are decoded.
    """
    found: dict[str, None] = {}
    for event in session.events:
        for text in (event.data_json, event.rest_json):
            if _COMMAND in text:
                for value in _texts(_json.decode(text)):
                    found.update(dict.fromkeys(_masked_in(value)))
    return tuple(found)


def _texts(value: object) -> Iterator[str]:
    """Yield every text in decoded JSON, keys too, without recursion."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            fields = cast("dict[str, object]", item)
            left += reversed([part for pair in fields.items() for part in pair])
        elif isinstance(item, list):
            left += reversed(cast("list[object]", item))


def values_of_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """List the values that `::add-mask::VALUE` lines name, as `add_mask_values` does."""
    return tuple(dict.fromkeys(value for line in lines for value in _masked_in(line)))


def _masked_in(text: str) -> Iterator[str]:
    # Judging texts is not loaded for sessions without such a line.
    from aw_graders.redaction.plausible import is_masked_line  # noqa: PLC0415

    command = _COMMAND.decode()
    for line in text.splitlines():
        _, is_there, value = line.partition(command)
        # In JSON text inside a string, the line ends with an escape.
        for mark in ("\\", '"', "'"):
            value = value.partition(mark)[0]
        if is_there and is_masked_line(value.encode("utf-8", "surrogatepass")):
            for escape, plain in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
                value = value.replace(escape, plain)
            yield value


class Matcher(msgspec.Struct, frozen=True):
    """One search for every form of the known values, and what each form is told apart by.

    That is the value for the forms in which text holds it as it is, and the form itself for an
    encoded one, with the length of the value behind it.
    """

    expressions: tuple[Any, ...]
    identity_of: dict[bytes, tuple[bytes, int]]

    def finds(self, text: bytes) -> bool:
        """Tell whether any form stands in `text`."""
        return any(expression.search(text) is not None for expression in self.expressions)

    def __repr__(self) -> str:
        """Say how many forms there are, and no more."""
        return f"Matcher({len(self.identity_of)} forms)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Say how many forms there are, and no more."""
        return [("forms", len(self.identity_of))]


def is_clean(text: bytes, search: Matcher | None) -> bool:
    """Tell, from a text or the JSON spelling of it, that nothing in it can be a secret."""
    return TRIGGER.search(text) is None and (search is None or not search.finds(text))


def matcher(known: KnownValues | None) -> Matcher | None:
    """Make the search for known values, or None when there are none."""
    return None if known is None else _matcher_of(known.values)


@lru_cache(maxsize=4)
def _matcher_of(values: tuple[str, ...]) -> Matcher | None:
    """Make the search for `values`, which leaves placeholders alone.

    Cost: O(text of the values), about eleven literals each.
    """
    identity_of: dict[bytes, tuple[bytes, int]] = {}
    for text in values:
        value = text.encode("utf-8", "surrogatepass")
        for form in _spellings(text):
            identity_of.setdefault(form, (value, len(value)))
        for form in _encodings(value):
            identity_of.setdefault(form, (form, len(value)))
    if not identity_of:
        return None
    parts: list[list[bytes]] = [[]]
    size = 0
    # The longest first, so that a value that begins another one does not win over it.
    for form in sorted(identity_of, key=lambda item: (-len(item), item)):
        if size > _PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(form)
        size += len(form)
    return Matcher(
        tuple(linear(b"|".join([PLACEHOLDER.encode(), *map(_literal, part)])) for part in parts),
        identity_of,
    )


def _literal(form: bytes) -> bytes:
    """Spell bytes as an expression that finds just them."""
    return b"".join(bytes([byte]) if byte in _WORD else b"\\x%02x" % byte for byte in form)


_WORD: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")


def _spellings(text: str) -> Iterator[bytes]:
    """Yield a value as it is, and as in JSON text at each level."""
    yield text.encode("utf-8", "surrogatepass")
    for ascii_only in (False, True):
        spelled = text
        for _ in range(_MAX_LEVELS):
            spelled = _in_json(spelled, ascii_only=ascii_only)
            yield spelled.encode("utf-8", "surrogatepass")


def _encodings(value: bytes) -> Iterator[bytes]:
    """Yield a value as in addresses, in hexadecimal digits and in base64."""
    for template in ("%{:02X}", "%{:02x}"):
        quoted = "".join(
            chr(byte) if byte in _UNRESERVED else template.format(byte) for byte in value
        )
        yield quoted.encode()
        yield quoted.replace("%20", "+").encode()
    digits = value.hex()
    yield digits.encode()
    yield digits.upper().encode()
    for form in _base64_forms(value):
        yield form
        yield form.replace(b"+", b"-").replace(b"/", b"_")
        if b"/" in form:
            yield form.replace(b"/", rb"\/")


def _in_json(text: str, *, ascii_only: bool) -> str:
    """Spell a text as inside a JSON string; a text need not be valid Unicode here."""
    spelled = text.translate(_ESCAPES)
    if not ascii_only or spelled.isascii():
        return spelled
    units = spelled.encode("utf-16-be", "surrogatepass")
    pairs = zip(units[::2], units[1::2], strict=True)
    return "".join(
        f"\\u{high:02x}{low:02x}" if high or low > _ASCII else chr(low) for high, low in pairs
    )


def _base64_forms(value: bytes) -> Iterator[bytes]:
    """Yield what base64 holds of `value` wherever it begins, without what depends on neighbours."""
    for before in range(3):
        encoded = binascii.b2a_base64(bytes(before) + value, newline=False)
        yield encoded[-(-before * 8 // 6) : (before + len(value)) * 8 // 6]
