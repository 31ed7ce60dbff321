r"""Which texts are secrets by their shape, or by the name that stands before them.

Every expression runs in a linear-time engine, on bytes. Whatever one of them finds, `TRIGGER`
finds, too; this module is loaded when that was met.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from aw_graders.redaction.plausible import (
    is_authorization,
    is_bare_password,
    is_bare_secret,
    is_bearer,
    is_masked_line,
    is_quoted_password,
    is_quoted_secret,
    is_url_password,
)
from aw_graders.redaction.trigger import NUMBERED, PLACEHOLDER, STRONG_NAMES, WEAK_NAMES, linear


class Rule(msgspec.Struct, frozen=True):
    """One kind of secret.

    `kind` stands in the placeholder. Of a pattern without groups the whole match is the secret, but
    for an escape before it. Else the secret is the one group that is set, and a match without any
    is a placeholder, which is left alone. `needles` are lower-case texts of which every
    match holds one. `is_secret` judges a text that has no shape of its own; `wide` says that a bare
    value that was judged a secret goes on to the next space, quote or bracket.
    """

    kind: str
    pattern: str
    needles: tuple[bytes, ...]
    is_secret: Callable[[bytes], bool] | None = None
    wide: bool = False


# A word starts here; the last letter of an escape, as in `\nghp_`, is no part of it.
_START: Final = r"(?:\b|\\[nrtbf])"
_KEY_BLOCK: Final = r" [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_LINE_END: Final = r"(?:\s|\\+[nr])*"
_QUOTE: Final = r"""\\*["']?\]?"""
# `=`, `:`, `:=`, `=>`, `==`, and `: str =` as in an annotation.
_IS: Final = (
    rf"{_QUOTE}[ \t]*(?::[ \t]*(?:&?str|string|String|Optional\[str\])[ \t]*=|[:=]{{1,2}}>?)[ \t]*"
)


def _quoted(body: str) -> str:
    r"""Write a quoted text; in `body`, `@` stands for one character that is no space.

    Inside quotes that are escaped themselves, the next backslash ends the text; else it escapes. A
    text that was cut off ends with its line.
    """
    escaped = body.replace("@", r"""(?:[^"\\\s]|\\[^\r\n])""")
    plain, single, tick = (body.replace("@", rf"""[^{ends}\\\s]""") for ends in ('"', "'\"", '`"'))
    return (
        rf"""[rbfu]?(?:"({escaped})(?:["\\\r\n]|$)|\\+"({plain})(?:["\\\r\n]|$)"""
        rf"""|\\*'({single})(?:['"\\\r\n]|$)|\\*`({tick})(?:[`"\\\r\n]|$))"""
    )


# The words of a password are few, and other secrets are one. What has more is refused by the
# expression, so that text built of many such places costs no more than any other.
_PHRASE: Final = _quoted(r"@+(?:[ \t]+@+){0,3}")
_WORD: Final = _quoted(r"@{4,}")
# What ends a value without quotes. Such a value is looked at where a digit or sign is near.
_ENDS: Final = r"\s\"'\\,;&<>(){}\[\]|`"
_BARE: Final = rf"([0-9]|[^{_ENDS}:=][^{_ENDS}]{{0,62}}[0-9]|[A-Za-z]{{32}})"
_BARE_PASSWORD: Final = rf"([0-9!@#%^~+?]|[^{_ENDS}:=][^{_ENDS}]{{0,62}}[0-9!@#$%^*~+?])"
# With a digit or a sign, or as long as no word is; `is_authorization` says the rest.
_CREDENTIALS: Final = r"(?:[A-Za-z+/_.~-]*[0-9=]|[A-Za-z+/_.~-]{24})[A-Za-z0-9+/_.~-]*={0,2}"
_BEARER: Final = r"(?:[A-Za-z._~+/-]*[0-9]|[A-Za-z._~+/-]{32})[A-Za-z0-9._~+/-]*={0,2}"
_SCHEME: Final = r"(?:[A-Za-z][A-Za-z0-9-]*[ \t]+)?"


def _shape(kind: str, pattern: str, *needles: str) -> Rule:
    return Rule(kind, pattern, tuple(needle.encode() for needle in needles))


def _word_shape(kind: str, pattern: str, *needles: str) -> Rule:
    return _shape(kind, f"{_START}{pattern}", *needles)


def _named(
    kind: str, pattern: str, is_secret: Callable[[bytes], bool] | None, *needles: str
) -> Rule:
    return Rule(
        kind,
        pattern,
        tuple(needle.encode() for needle in needles),
        is_secret,
        wide=pattern.endswith((_BARE, _BARE_PASSWORD)),
    )


_PASSWORD_NEEDLES: Final = ("passw", "passphrase", "pwd")
_SECRET_NEEDLES: Final = ("secret", "token", "credential", "_pass", "key")

RULES: Final = (
    _shape(
        "private-key",
        rf'(?:-----BEGIN{_KEY_BLOCK}{_LINE_END})+(?:(?:[^-"]|-{{1,4}}[^-"])*-----END{_KEY_BLOCK}'
        rf"|(?:{_LINE_END}[A-Za-z0-9+/=]{{16,}})*)"
        rf"|(?:[A-Za-z0-9+/=]{{16,}}{_LINE_END})+-----END{_KEY_BLOCK}",
        "private key",
    ),
    _word_shape("private-key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}", "age-secret-key-1"),
    _word_shape(
        "github-token",
        r"gh[pousr]_[A-Za-z0-9_]{20,}(?:[.-][A-Za-z0-9_-]{10,})*",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
    ),
    _word_shape("github-token", r"github_pat_[A-Za-z0-9_]{20,}", "github_pat_"),
    _word_shape(
        "aws-access-key",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
        "akia",
        "asia",
        "abia",
        "acca",
    ),
    _word_shape("anthropic-key", r"sk-ant-[A-Za-z0-9_-]{20,}", "sk-ant-"),
    _word_shape(
        "openai-key",
        r"sk-(?:(?:proj|svcacct|admin|service|or-v1|None)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20,})",
        "sk-",
    ),
    _word_shape("slack-token", r"xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}", "xox"),
    _word_shape("slack-token", r"xapp-[0-9]-[A-Za-z0-9-]{10,}", "xapp-"),
    _shape(
        "slack-webhook",
        r"hooks\.slack(?:-gov)?\.com\\*/(?:services|workflows|triggers)[A-Za-z0-9_\\/-]{20,}",
        "hooks.slack",
    ),
    _word_shape(
        "stripe-key",
        r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
        "k_live_",
        "k_test_",
        "whsec_",
    ),
    _word_shape("npm-token", r"npm_[A-Za-z0-9]{36,}", "npm_"),
    _word_shape("pypi-token", r"pypi-[A-Za-z0-9_-]{50,}", "pypi-"),
    _word_shape("gcp-key", r"AIza[A-Za-z0-9_-]{35,}", "aiza"),
    _word_shape(
        "gcp-key", r"(?:GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,})", "gocspx-", "ya29."
    ),
    _shape("azure-secret", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}", "q~"),
    _word_shape("gitlab-token", r"gl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_.-]{20,}", "gl"),
    _word_shape(
        "service-token",
        r"(?:hf_[A-Za-z0-9]{30,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}|dop_v1_[a-f0-9]{64}"
        r"|dckr_pat_[A-Za-z0-9_-]{20,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}"
        r"|hvs\.[A-Za-z0-9_-]{24,}|shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}|lin_api_[A-Za-z0-9]{32,}"
        r"|dapi[a-f0-9]{32}\b)",
        "hf_",
        "sg.",
        "dop_v1_",
        "dckr_pat_",
        "gsk_",
        "xai-",
        "hvs.",
        "shp",
        "lin_api_",
        "dapi",
    ),
    _word_shape(
        "jwt",
        r"eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*"
        r"|[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})",
        "eyj",
    ),
    _named("signed-url", rf"{_START}(?i:sig)=([A-Za-z0-9%+/_-]{{20,}}={{0,2}})", None, "sig="),
    _named(
        "signed-url",
        r"(?i:x-(?:amz|goog)-signature)=([A-Fa-f0-9]{40,})",
        None,
        "-signature=",
    ),
    _named(
        "aws-secret-key",
        rf"(?i:secret[_-]?(?:access[_-]?)?key){_IS}\\*[\"']?([A-Za-z0-9/+]{{40,}}={{0,2}})",
        None,
        "secret",
    ),
    _named(
        "url-credential",
        r"""://[^\s/@:"'\\\[<>{}$]*:([^\s/"'\\<>{}]+)@""",
        is_url_password,
        "@",
    ),
    _named(
        "url-credential",
        r"""://([A-Za-z0-9_.~-]{20,})@""",
        is_bearer,
        "@",
    ),
    _named(
        "auth-header",
        rf"(?i:authorization){_IS}\\*[\"'`]?{_SCHEME}({_CREDENTIALS})",
        is_authorization,
        "authorization",
    ),
    _named(
        "auth-header",
        rf"(?i:\bbearer) +({_BEARER})",
        is_bearer,
        "bearer",
    ),
    _named("masked-line", r"::add-mask::([^\s\"'\\]+)", is_masked_line, "::add-mask::"),
    _named(
        "assigned-secret",
        rf"(?i:(?:{STRONG_NAMES}){NUMBERED}){_IS}{_PHRASE}",
        is_quoted_password,
        *_PASSWORD_NEEDLES,
    ),
    _named(
        "assigned-secret",
        rf"(?i:(?:{WEAK_NAMES}){NUMBERED}){_IS}{_WORD}",
        is_quoted_secret,
        *_SECRET_NEEDLES,
    ),
    _named(
        "assigned-secret",
        rf"(?i:(?:{STRONG_NAMES}){NUMBERED})(?:{_IS}){_BARE_PASSWORD}",
        is_bare_password,
        *_PASSWORD_NEEDLES,
    ),
    _named(
        "assigned-secret",
        rf"{PLACEHOLDER}|(?i:(?:{WEAK_NAMES}){NUMBERED})(?:{_IS}){_BARE}",
        is_bare_secret,
        *_SECRET_NEEDLES,
    ),
    _named(
        "assigned-secret",
        rf"--(?i:[a-z0-9-]*(?:{STRONG_NAMES}|{WEAK_NAMES})) +{_BARE_PASSWORD}",
        is_bare_password,
        "--",
    ),
    _named(
        "assigned-secret",
        rf"--(?i:[a-z0-9-]*(?:{STRONG_NAMES}|{WEAK_NAMES})) +{_PHRASE}",
        is_quoted_password,
        "--",
    ),
)


def applicable(text: bytes) -> Iterator[tuple[Rule, Any]]:
    """Yield the rules of which a needle stands in a text, in their order, with their searches.

    Cost: one pass over the text, whatever is in it; most runs meet no trigger and never get here.
    """
    missing = frozenset(range(len(RULES)))
    at = 0
    while missing and (found := _any_needle(missing).search(text, at)) is not None:
        at, end = found.span()
        missing -= _rules_of(text[at:end].lower())
    for number, rule in enumerate(RULES):
        if number not in missing:
            yield rule, expression(rule.pattern)


@lru_cache(maxsize=256)
def _any_needle(numbers: frozenset[int]) -> Any:
    needles = {needle for number in numbers for needle in RULES[number].needles}
    return linear(b"(?i)" + b"|".join(map(re.escape, sorted(needles))))


@cache
def _rules_of(needle: bytes) -> frozenset[int]:
    return frozenset(number for number, rule in enumerate(RULES) if needle in rule.needles)


@cache
def expression(pattern: str) -> Any:
    """Compile one expression when it is first needed."""
    return linear(pattern)


def names_password(key: str) -> bool:
    """Tell whether a JSON key names a password."""
    return expression(rf"(?i:(?:{STRONG_NAMES}){NUMBERED})$").search(_bytes(key)) is not None


def names_secret(key: str) -> bool:
    """Tell whether a JSON key names a secret that is no password."""
    return expression(rf"(?i:(?:{WEAK_NAMES}){NUMBERED})$").search(_bytes(key)) is not None


def names_authorization(key: str) -> bool:
    """Tell whether a JSON key names the header."""
    return expression(r"(?i:authorization)$").search(_bytes(key)) is not None


def authorization_value(value: bytes) -> tuple[int, int] | None:
    """Find the credentials in the value of an authorization header, after the scheme."""
    match = expression(rf"^{_SCHEME}([A-Za-z0-9+/_.~:-]{{6,}}={{0,2}})$").search(value)
    return None if match is None else match.span(1)


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")
