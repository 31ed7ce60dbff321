"""Whether a text that follows a telling name is a secret, or code, prose or an example.

A text with a shape of its own is never judged here. Each answer looks at a bounded part of the text
or passes over it once.
"""

import re
from typing import Final

_MIN_PASSWORD: Final = 5
_MIN_SECRET: Final = 8
_MIN_CREDENTIALS: Final = 6
_MIN_BEARER: Final = 12
_MIN_UNBROKEN: Final = 24
_MIN_MIXED: Final = 16
_MAX_WORDS: Final = 4
_MAX_JUDGED: Final = 256
_ORDINARY: Final = frozenset(
    b"""
    access account admin any apikey api_key api-key array auth base64 basic bearer bool boolean
    bytes char credential credentials default digest disabled empty enabled env example false file
    float hidden int integer key literal masked missing name nil none not null number object
    optional pass passphrase passwd password private public pwd redacted removed required secret
    secrets str string text todo token true type undefined unknown user username utf8 utf-8 value
    varchar void
    """.split()
)
# What stands for a value, or computes it, in code, templates and instructions.
_STANDS_FOR: Final = re.compile(
    rb"^[${<%*),;:\s`}\]]|^\[[^\]]*\]$|^VALUE\b|\$[{(]|\{\{|%[s(]|\*\*\*|\.\.\."
    rb"|^(?:your|my|the|some|an?|insert|replace|enter|example|dummy|fake|test|xxx)[-_ ]"
    rb"|^(?:process\.env|os\.|env\.|secrets\.|self\.|this\.|config\.|settings\.|github\.)"
    rb"|(?i:placeholder|example|redacted|changeme|_here$|-here$)"
)
_PATH: Final = re.compile(
    rb"(?:~|\.{1,2})?/[a-z][a-z0-9_.-]*/|~/|/[A-Za-z]+\Z|[A-Za-z]:[\\/]|/Users/"
)
_IS_TYPE: Final = re.compile(rb"(?i:u?int|float|sha|md|base|utf|varchar|char)-?[0-9]{1,3}\Z")
# One or more words, perhaps numbered: a name, as in `token_2` or `next-page-token`.
_NAME: Final = re.compile(rb"[A-Za-z]+(?:[_.-][A-Za-z]+)*[_-]?[0-9]{0,2}\Z")
_DOTTED: Final = re.compile(rb"[A-Za-z_]+[0-9]{0,2}(?:\.[A-Za-z_]+[0-9]{0,2})+\Z")
_DIGIT: Final = re.compile(rb"[0-9]")
_LETTER: Final = re.compile(rb"[A-Za-z]")
_UPPER: Final = re.compile(rb"[A-Z]")
_LOWER: Final = re.compile(rb"[a-z]")
_SYMBOL: Final = re.compile(rb"[!@#$%^*~+?]")
_BREAK: Final = re.compile(rb"[_.\-\s/:]")
_SPACES: Final = re.compile(rb"\s+")


def is_quoted_password(value: bytes) -> bool:
    """Tell whether a quoted text after the name of a password is one."""
    head = value[:_MAX_JUDGED]
    if _is_ordinary(head) or len(head) < _MIN_PASSWORD or head[-1:].isspace():
        return False
    return len(_SPACES.findall(head)) < _MAX_WORDS


def is_quoted_secret(value: bytes) -> bool:
    """Tell whether a quoted text after `secret`, `token` or `key` is one."""
    head = value[:_MAX_JUDGED]
    return _SPACES.search(head) is None and is_bare_secret(head)


def is_bare_password(value: bytes) -> bool:
    """Tell whether a text without quotes after the name of a password is one.

    Letters alone are a variable, and so is a name with a dot.
    """
    head = value[:_MAX_JUDGED]
    if len(head) < _MIN_PASSWORD or _is_ordinary(head) or _DOTTED.match(head) is not None:
        return False
    return _LETTER.search(head) is not None and (
        _DIGIT.search(head) is not None or _SYMBOL.search(head) is not None
    )


def is_bare_secret(value: bytes) -> bool:
    """Tell whether a text after `secret`, `token` or `key` is random enough for one."""
    head = value[:_MAX_JUDGED]
    if len(head) < _MIN_SECRET or _is_ordinary(head) or _LETTER.search(head) is None:
        return False
    if _NAME.match(head) is not None:
        return _is_unbroken(head)
    return _DIGIT.search(head) is not None and _DOTTED.match(head) is None


def is_bearer(value: bytes) -> bool:
    """Tell whether a text after `Bearer` is random enough for a token."""
    return len(value) >= _MIN_BEARER and is_bare_secret(value.rstrip(b"="))


def is_authorization(value: bytes) -> bool:
    """Tell whether a text in the place of an authorization header's credentials is one."""
    head = value[:_MAX_JUDGED]
    if len(head) < _MIN_CREDENTIALS or _is_ordinary(head) or _DOTTED.match(head) is not None:
        return False
    return _DIGIT.search(head) is not None or head.endswith(b"=") or len(head) >= _MIN_UNBROKEN


def is_url_password(value: bytes) -> bool:
    """Tell whether the text between user and host of an address is a password."""
    return not _is_ordinary(value[:_MAX_JUDGED])


def is_masked_line(value: bytes) -> bool:
    """Tell whether a workflow command that masks a value was given one, not a variable."""
    return len(value) > _MAX_JUDGED or _STANDS_FOR.search(value) is None


def _is_ordinary(head: bytes) -> bool:
    """Tell whether a text is a word of code or stands for something else."""
    return (
        head.lower() in _ORDINARY
        or head.count(head[:1]) == len(head)
        or _STANDS_FOR.search(head) is not None
        or _IS_TYPE.match(head) is not None
        or _PATH.match(head) is not None
    )


def _is_unbroken(head: bytes) -> bool:
    """Tell whether letters are too many, or too mixed, for a name."""
    if _BREAK.search(head) is not None:
        return False
    mixed = _UPPER.search(head) is not None and _LOWER.search(head) is not None
    return len(head) >= (_MIN_MIXED if mixed and _DIGIT.search(head) else 2 * _MIN_MIXED)
