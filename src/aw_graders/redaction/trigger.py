"""The one search that settles clean text, and what it has in common with the rules.

`TRIGGER` is a necessary condition for a match of any rule, on a text and on the JSON spelling of it
alike. Most sessions meet it nowhere, so nothing else of the rules is loaded before.
"""

from collections.abc import Sequence
from typing import Any, Final, cast

import re2


def linear(pattern: str | bytes) -> Any:
    """Compile an expression that finds bytes in linear time, whatever they are.

    Each byte counts by itself, which keeps automata small; no class here tells the bytes of one
    character apart.
    """
    options: Any = cast("Any", re2).Options()
    options.encoding = options.Encoding.LATIN1
    options.max_mem = _MAX_MEMORY
    # The package wants bytes for bytes.
    spelled = pattern if isinstance(pattern, bytes) else pattern.encode()
    return cast("Any", re2).compile(spelled, options)


def first_spans(search: Any, raw: bytes, at: int) -> Sequence[tuple[int, int]]:
    """Find the first match from `at` on: its span and those of its groups, (-1, -1) for none.

    The package's own match objects take three times as long to make as the search takes.
    """
    spans: Sequence[tuple[int, int]] = search._regexp.Match(_UNANCHORED, raw, at, len(raw))  # noqa: SLF001
    return spans


_UNANCHORED: Final = cast("Any", re2)._re2.RE2.Anchor.UNANCHORED  # noqa: SLF001
_MAX_MEMORY: Final = 1 << 28
PLACEHOLDER: Final = r"\[REDACTED:[a-z0-9-]{1,32}:[0-9a-f]{3,8}\]"
# A name that ends in one of these is followed by a secret. After the first, words will do.
STRONG_NAMES: Final = r"passw(?:or)?d|passphrase|pwd"
WEAK_NAMES: Final = (
    r"secret|token|credential|_pass"
    r"|(?:api|access|account|private|secret|signing|encryption|auth|client|master)[_-]?key"
)
NUMBERED: Final = r"(?:[_-]?(?:value|[0-9]{1,2}))?"

# On JSON text a tab is `\t`. An escape that hides a plain character stands only in JSON text that
# is itself inside a string; such a text is looked at in full.
_GAP: Final = r"""(?:[\s"'`\]]|\\t?)*"""
TRIGGER: Final = linear(
    r"-----(?:BEGIN|END) [A-Z0-9 ]*PRIVATE KEY|AGE-SECRET-KEY-1"
    r"|gh[pousr]_[A-Za-z0-9_]{10}|github_pat_[A-Za-z0-9_]{10}|A(?:KI|SI|BI|CC)A[A-Z0-9]{10}"
    r"|sk-(?:ant|proj|svcacct|admin|service|or-v1|None)-|sk-[A-Za-z0-9]{10}"
    r"|xox[abceoprs][.-]|xapp-[0-9]|hooks\.slack"
    r"|[sr]k_(?:live|test)_|whsec_|npm_[A-Za-z0-9]{16}|pypi-[A-Za-z0-9_-]{10}"
    r"|AIza[A-Za-z0-9_-]{10}|GOCSPX-|ya29\.[A-Za-z0-9_-]{10}|[0-9]Q~[A-Za-z0-9_~.-]{10}"
    r"|gl(?:pat|dt|rt|ptt|cbt)-|hf_[A-Za-z0-9]{10}|SG\.[A-Za-z0-9_-]{10}|dop_v1_|dckr_pat_"
    r"|gsk_[A-Za-z0-9]{10}|xai-[A-Za-z0-9]{10}|hvs\.[A-Za-z0-9_-]{16}"
    r"|shp(?:at|ss|ca|pa)_|lin_api_|dapi[a-f0-9]{32}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\."
    r"|(?i:sig=[A-Za-z0-9%+/_-]{10}|x-(?:amz|goog)-signature=)"
    r"""|:\\*/\\*/(?:[^\s/@:"'\[<>{}$]*:[^\s/"'<>{}]+|[A-Za-z0-9_.~-]{20,})@"""
    rf"|(?i:authorization){_GAP}[:=](?:[:=>]|{_GAP})*(?:[A-Za-z][A-Za-z0-9-]*(?:\s|\\t)+)?"
    r"[A-Za-z+/_.~:-]*(?:[0-9=]|[A-Za-z+/_.~:-]{16})"
    r"|(?i:bearer) +[A-Za-z._~+/-]*[0-9=]|::add-mask::"
    rf"|(?i:(?:{STRONG_NAMES}|{WEAK_NAMES}){NUMBERED}){_GAP}[:=]"
    rf"|--(?i:[a-z0-9-]*(?:{STRONG_NAMES}|{WEAK_NAMES})) "
    r"|\\u00[2-7][0-9a-fA-F]"
)
